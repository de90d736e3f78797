// The page: what the program adds to it, once to each element. Whatever a reader chose is kept here,
// for a live page replaces its parts.

import { addCopying } from "./copying.js";
import { type Figure, figures } from "./figure.js";
import { type LeftOut, Picture } from "./picture.js";
import { Choices, Sheet } from "./sheet.js";
import { sendOnChange, Ticks } from "./ticks.js";
import { addUnpacking } from "./unpacking.js";
import { View } from "./view.js";

/** The parts whose tables may have many rows. */
const FILTERED: ReadonlySet<string> = new Set(["steps"]);

export class Page {
  readonly #overTime = new View();
  readonly #views = new Map<string, View>();
  readonly #leftOut: LeftOut = new Set();
  readonly #choices = new Choices();
  /** The elements that have what the program adds. */
  readonly #done = new WeakSet<Element>();
  /** The parts that are open for printing alone. */
  readonly #folded = new Set<HTMLDetailsElement>();

  constructor() {
    document.documentElement.classList.add("script");
    // Paper has no cursor, and shows the whole run.
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
  }

  /** Adds what is missing. */
  enhance(): void {
    const data = document.getElementById("data");
    const all = data === null ? [] : figures(data.textContent ?? "");
    for (const figure of all) {
      this.#once(`figure[id="${figure.name}"]`, (root) => {
        Picture.add(root, figure, this.#viewOf(figure), this.#leftOut);
      });
    }
    this.#once('a[href^="#step-"]', (link) => {
      link.addEventListener("click", () => openStep(link));
    });
    this.#once("#downloads a", (link) => {
      if (link instanceof HTMLAnchorElement) {
        addUnpacking(link);
      }
    });
    this.#once("table.grid", (table) => {
      const key = table.closest("[id]")?.id ?? "";
      if (table instanceof HTMLTableElement) {
        Sheet.add(table, key, this.#choices, FILTERED.has(key));
      }
    });
    this.#once("form.find, form#choice", (form) => {
      if (form instanceof HTMLFormElement && form.id === "choice") {
        new Ticks(form);
      } else if (form instanceof HTMLFormElement) {
        sendOnChange(form);
      }
    });
    this.#once("pre", (text) => {
      if (text instanceof HTMLElement) {
        addCopying(text);
      }
    });
  }

  #once(selector: string, add: (element: Element) => void): void {
    document.querySelectorAll(selector).forEach((element) => {
      if (!this.#done.has(element)) {
        this.#done.add(element);
        add(element);
      }
    });
  }

  #viewOf(figure: Figure): View {
    if (figure.time !== undefined) {
      return this.#overTime;
    }
    const view = this.#views.get(figure.name) ?? new View();
    this.#views.set(figure.name, view);
    return view;
  }

  #print(isWhole: boolean): void {
    document.querySelectorAll<HTMLDetailsElement>("details.whole").forEach((details) => {
      if (isWhole && !details.open) {
        details.open = true;
        this.#folded.add(details);
      } else if (!isWhole && this.#folded.delete(details)) {
        details.open = false;
      }
    });
    [this.#overTime, ...this.#views.values()].forEach((view) => {
      view.isWhole = isWhole;
    });
  }
}

/** Opens the pictures of a step, to which a link leads. */
function openStep(link: Element): void {
  const target = document.getElementById(link.getAttribute("href")?.slice(1) ?? "");
  const details = target?.closest("details");
  if (details) {
    details.open = true;
  }
}
