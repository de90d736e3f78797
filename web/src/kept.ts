// What a reader did to a part of a live page, so that the part's successor looks the same: what was
// opened, where it was scrolled to, what has the focus, what was typed into commands, and the answer to
// the last one.

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

interface Scrolled {
  readonly top: number;
  readonly left: number;
}

export class Kept {
  readonly #opened: readonly boolean[];
  readonly #scrolled: readonly Scrolled[];
  /** The number of the element with the focus among those that can have it. */
  readonly #focus: number;
  /** What was typed, by command and field: another phase of a run has other commands. */
  readonly #typed: ReadonlyMap<string, string>;
  readonly #answer: string;

  constructor(part: Element) {
    this.#opened = opened(part).map((details) => details.open);
    this.#scrolled = scrolled(part).map((box) => ({ top: box.scrollTop, left: box.scrollLeft }));
    const { activeElement } = document;
    this.#focus = focusable(part).findIndex((element) => element === activeElement);
    this.#typed = new Map(fields(part).map((field) => [keyOf(field), field.value]));
    this.#answer = answer(part)?.textContent ?? "";
  }

  /** Opens and scrolls what its predecessor had open and scrolled, and gives it the focus. */
  restore(part: Element): void {
    opened(part).forEach((details, number) => {
      details.open = this.#opened[number] ?? details.open;
    });
    scrolled(part).forEach((box, number) => {
      const { top = 0, left = 0 } = this.#scrolled[number] ?? {};
      box.scrollTo(left, top);
    });
    fields(part).forEach((field) => {
      field.value = this.#typed.get(keyOf(field)) ?? field.value;
    });
    const place = answer(part);
    if (place) {
      place.textContent = this.#answer;
    }
    focusable(part)[this.#focus]?.focus({ preventScroll: true });
  }
}

function opened(part: Element): HTMLDetailsElement[] {
  return [...part.querySelectorAll("details")];
}

function scrolled(part: Element): Element[] {
  return [...part.querySelectorAll(".scroll, pre")];
}

function focusable(part: Element): HTMLElement[] {
  return [...part.querySelectorAll<HTMLElement>(FOCUSABLE)];
}

function fields(part: Element): (HTMLInputElement | HTMLSelectElement)[] {
  return [...part.querySelectorAll<HTMLInputElement | HTMLSelectElement>(
    "form[data-command] :is(input, select)",
  )];
}

function keyOf(field: HTMLInputElement | HTMLSelectElement): string {
  return `${field.form?.dataset["command"]}/${field.name}`;
}

function answer(part: Element): Element | null {
  return part.querySelector(":scope > output");
}
