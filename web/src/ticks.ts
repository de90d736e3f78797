// The choice of two runs in the list: the one ticked first is the base, the other the candidate.
// Ticks are kept from page to page in the addresses of the links that lead to other pages of the
// list, so the server keeps nothing.

/** The names of both sides, in the order of ticks. */
const SIDES = ["base", "candidate"] as const;
/** The field of an address with a tick. */
const TICK = "tick";

export class Ticks {
  readonly #form: HTMLFormElement;
  readonly #boxes: readonly HTMLInputElement[];
  readonly #hint: string;
  /** The ids of the ticked runs, also of those on other pages. */
  #ticked: string[];

  constructor(form: HTMLFormElement) {
    this.#form = form;
    this.#boxes = [...form.querySelectorAll<HTMLInputElement>("input[name=run]")];
    this.#ticked = new URLSearchParams(location.search).getAll(TICK).slice(0, SIDES.length);
    this.#hint = this.#status()?.textContent ?? "";
    // A browser restores boxes of a page that it returns to; the address decides.
    this.#boxes.forEach((box) => {
      box.checked = this.#ticked.includes(box.value);
      box.addEventListener("change", () => this.#change(box));
    });
    form.addEventListener("formdata", ({ formData }) => {
      formData.delete("run");
      this.#ticked.forEach((id, number) => formData.append(SIDES[number] ?? "", id));
    });
    this.#show();
  }

  #change(box: HTMLInputElement): void {
    this.#ticked = this.#ticked.filter((id) => id !== box.value);
    if (box.checked) {
      this.#ticked.push(box.value);
    }
    this.#show();
  }

  #show(): void {
    const isFull = this.#ticked.length === SIDES.length;
    this.#boxes.forEach((box) => {
      const side = this.#ticked.indexOf(box.value);
      const label = box.parentElement?.querySelector(".side");
      if (label) {
        label.textContent = SIDES[side] ?? "";
      }
      box.disabled = isFull && side < 0;
    });
    const button = this.#form.querySelector("button");
    if (button) {
      button.disabled = !isFull;
    }
    const status = this.#status();
    if (status) {
      const sides = this.#ticked.map((id, number) => `${SIDES[number]} ${id}`);
      status.textContent = sides.join(", ") || this.#hint;
    }
    document.querySelectorAll<HTMLAnchorElement>("a[data-keep]").forEach((link) => {
      link.href = this.#keeping(link.href);
    });
    const find = document.querySelector("form.find");
    find?.querySelectorAll(`input[name=${TICK}]`).forEach((field) => field.remove());
    this.#ticked.forEach((id) => {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: TICK, value: id });
      find?.append(field);
    });
  }

  /** An address with the current ticks. */
  #keeping(address: string): string {
    const url = new URL(address);
    url.searchParams.delete(TICK);
    this.#ticked.forEach((id) => url.searchParams.append(TICK, id));
    return url.href;
  }

  #status(): Element | null {
    return this.#form.querySelector("[role=status]");
  }
}

/** Sends the form of a search when one of its boxes is changed. */
export function sendOnChange(form: HTMLFormElement): void {
  form.addEventListener("change", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === "checkbox") {
      form.requestSubmit();
    }
  });
}
