// What a reader looks at: the place of the cursor, the part of the run's time that is shown, and the
// series that are left out. All figures over time have one view; each other figure has its own.

import type { Span } from "./span.js";

export class View {
  #cursor: number | undefined;
  #window: Span | undefined;
  #isWhole = false;
  readonly #watchers = new Set<() => void>();

  /** The place of the cursor, if it is shown. */
  get cursor(): number | undefined {
    return this.#isWhole ? undefined : this.#cursor;
  }

  /** The part of the time that is shown; `undefined` for all of it. */
  get window(): Span | undefined {
    return this.#isWhole ? undefined : this.#window;
  }

  /** Whether the picture is shown as it was drawn, for printing. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  set cursor(cursor: number | undefined) {
    this.#cursor = cursor;
    this.#changed();
  }

  set window(window: Span | undefined) {
    this.#window = window;
    this.#changed();
  }

  set isWhole(isWhole: boolean) {
    this.#isWhole = isWhole;
    this.#changed();
  }

  /** Calls back after each change. A watcher whose picture is gone says so by `false`. */
  watch(watcher: () => boolean): void {
    const entry = (): void => {
      if (!watcher()) {
        this.#watchers.delete(entry);
      }
    };
    this.#watchers.add(entry);
  }

  #changed(): void {
    this.#watchers.forEach((watcher) => watcher());
  }
}
