// What a reader did to a part of a live page, so that the part's successor looks the same: what was
// opened, where it was scrolled to, and what has the focus.

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

  constructor(part: Element) {
    this.#opened = opened(part).map((details) => details.open);
    this.#scrolled = scrolled(part).map((box) => ({ top: box.scrollTop, left: box.scrollLeft }));
    const { activeElement } = document;
    this.#focus = focusable(part).findIndex((element) => element === activeElement);
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
