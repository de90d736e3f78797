// The line under a picture: the texts of its table at the cursor, its series, which can be left out,
// and the buttons of the zoom.

import { sign } from "./drawing.js";
import { button, element } from "./element.js";
import type { Figure } from "./figure.js";
import type { Readout } from "./readout.js";

export interface Wishes {
  /** Leaves a series out, or shows it again. */
  toggle(series: number): void;
  /** Changes the part of the time that is shown; `undefined` shows all of it. */
  zoom(factor: number | undefined): void;
}

export class Legend {
  readonly element: HTMLElement;
  readonly #place = element("span", { class: "place" });
  readonly #values: HTMLElement[] = [];
  readonly #buttons: HTMLButtonElement[] = [];

  /** The legend of a figure with this title, whose table has these columns after the place. */
  constructor(figure: Figure, title: string, columns: readonly string[], wishes: Wishes) {
    this.element = element("div", { class: "tools" }, this.#place);
    columns.forEach((name, number) => {
      const series = figure.series.length > 1 ? figure.series[number] : undefined;
      const shown = series ? this.#choice(name, series.role, () => wishes.toggle(number)) : name;
      const value = element("span", { class: "value" });
      this.#values.push(value);
      this.element.append(element("span", { class: "entry" }, shown, value));
    });
    if (figure.time !== undefined) {
      this.element.append(zoomButtons(title, wishes));
    }
  }

  /** Shows the texts at the cursor. */
  show({ place, values }: Readout): void {
    this.#place.textContent = place;
    this.#values.forEach((value, number) => {
      value.textContent = values[number] ?? "";
    });
  }

  /** Shows which series are left out. */
  press(isOut: (series: number) => boolean): void {
    this.#buttons.forEach((button, number) => {
      button.setAttribute("aria-pressed", `${!isOut(number)}`);
    });
  }

  #choice(name: string, role: string, toggle: () => void): HTMLButtonElement {
    const choice = button("", { class: "choice", "aria-pressed": "true" }, toggle);
    choice.append(sign(role), name);
    this.#buttons.push(choice);
    return choice;
  }
}

function zoomButtons(title: string, { zoom }: Wishes): HTMLElement {
  const buttons: readonly (readonly [string, string, number | undefined])[] = [
    ["−", "Zoom out", 0.5],
    ["+", "Zoom in", 2],
    ["⤢", "Whole run", undefined],
  ];
  return element(
    "span",
    { class: "zoom", role: "group", "aria-label": `Zoom: ${title}` },
    ...buttons.map(([text, name, factor]) =>
      button(text, { "aria-label": name, title: name }, () => zoom(factor)),
    ),
  );
}
