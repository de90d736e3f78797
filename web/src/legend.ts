// The line under a picture: its series with their values at the cursor, which can be left out, and
// the buttons of the zoom.

import { sign } from "./drawing.js";
import { button, element } from "./element.js";
import type { Figure } from "./figure.js";
import { type Readout, readout } from "./readout.js";

export interface Wishes {
  /** Leaves a series out, or shows it again. */
  toggle(name: string): void;
  /** Changes the part of the time that is shown; `undefined` shows all of it. */
  zoom(factor: number | undefined): void;
}

export class Legend {
  readonly element: HTMLElement;
  readonly #place = element("span", { class: "place" });
  readonly #values: HTMLElement[] = [];
  readonly #buttons = new Map<string, HTMLButtonElement>();
  readonly #bar: HTMLElement | undefined;

  constructor(figure: Figure, hasZoom: boolean, wishes: Wishes) {
    const { kind } = figure.plot;
    this.element = element("div", { class: "tools" }, this.#place);
    if (kind === "bars") {
      this.#bar = element("span", { class: "entry" });
      this.element.append(this.#bar);
    } else {
      const { entries } = readout(figure, undefined);
      const isChoice = kind !== "heat" && entries.length > 1;
      entries.forEach(({ name, role }) => this.#append(name, role, isChoice, wishes));
    }
    if (hasZoom) {
      this.element.append(zoomButtons(figure.title, wishes));
    }
  }

  /** Shows the values at the cursor. */
  show({ place, entries }: Readout): void {
    this.#place.textContent = place;
    this.#values.forEach((value, number) => {
      value.textContent = entries[number]?.value ?? "";
    });
    this.#bar?.replaceChildren(...entries.map(({ name, value }) => `${name}: ${value}`));
  }

  /** Shows which series are left out. */
  press(isOut: (name: string) => boolean): void {
    this.#buttons.forEach((button, name) => {
      button.setAttribute("aria-pressed", `${!isOut(name)}`);
    });
  }

  #append(name: string, role: string, isChoice: boolean, wishes: Wishes): void {
    const value = element("span", { class: "value" });
    const entry = element("span", { class: "entry" });
    if (isChoice) {
      const toggle = () => wishes.toggle(name);
      const choice = button("", { class: "choice", "aria-pressed": "true" }, toggle);
      choice.append(sign(role), name);
      this.#buttons.set(name, choice);
      entry.append(choice);
    } else {
      entry.append(name);
    }
    entry.append(value);
    this.#values.push(value);
    this.element.append(entry);
  }
}

function zoomButtons(title: string, { zoom }: Wishes): HTMLElement {
  const buttons: readonly (readonly [string, string, number | undefined])[] = [
    ["−", "Zoom out", 0.5],
    ["+", "Zoom in", 2],
    ["0", "Whole run", undefined],
  ];
  return element(
    "span",
    { class: "zoom", role: "group", "aria-label": `Zoom: ${title}` },
    ...buttons.map(([text, name, factor]) =>
      button(text, { "aria-label": name, title: name }, () => zoom(factor)),
    ),
  );
}
