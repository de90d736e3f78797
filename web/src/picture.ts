// A figure that can be read with a pointer, a finger or the keyboard.

import { Drawing } from "./drawing.js";
import { element } from "./element.js";
import type { Figure } from "./figure.js";
import { Legend } from "./legend.js";
import { nearest, readout, stops } from "./readout.js";
import { between, holding, zoomed } from "./span.js";
import type { View } from "./view.js";

/** A pointer that moves less than this between its down and its up, in units of the picture, chooses
 * a place and not a part. */
const DRAG = 5;

/** The series that a reader left out, by figure and name. */
export type LeftOut = Set<string>;

export class Picture {
  readonly #figure: Figure;
  readonly #view: View;
  readonly #leftOut: LeftOut;
  readonly #drawing: Drawing;
  readonly #table: Table;
  readonly #stage: HTMLElement;
  readonly #legend: Legend;
  readonly #stops: readonly number[];
  /** Where a pointer that is down came down. */
  #drag: number | undefined;

  /** Adds the stage and the legend to a figure's element, once. A picture in another form than the
   * one that is known here stays as it is. */
  static add(root: Element, figure: Figure, view: View, leftOut: LeftOut): void {
    const svg = root.querySelector<SVGSVGElement>(":scope > svg.area");
    const drawing = svg && Drawing.of(figure, svg);
    const table = root.querySelector("table");
    if (svg && drawing && table) {
      new Picture(svg, drawing, new Table(table), figure, view, leftOut).#show();
    }
  }

  private constructor(
    svg: SVGSVGElement,
    drawing: Drawing,
    table: Table,
    figure: Figure,
    view: View,
    leftOut: LeftOut,
  ) {
    this.#figure = figure;
    this.#view = view;
    this.#leftOut = leftOut;
    this.#drawing = drawing;
    this.#table = table;
    this.#stops = stops(figure);
    const title = svg.querySelector("title")?.textContent ?? "";
    this.#legend = new Legend(figure, title, table.columns, {
      toggle: (series) => this.#toggle(series),
      zoom: (factor) => this.#zoom(factor),
    });
    this.#stage = this.#stageAround(svg, title);
    view.watch(() => {
      this.#show();
      return this.#stage.isConnected;
    });
  }

  /** Puts the picture on a stage, which takes the keys. It is a slider to readers of screens: its
   * value is the text of the values at the cursor. */
  #stageAround(svg: SVGSVGElement, title: string): HTMLElement {
    const stage = element("div", {
      class: "stage",
      tabindex: "0",
      role: "slider",
      "aria-label": `${title}: cursor`,
      "aria-orientation": this.#figure.isDown ? "vertical" : "horizontal",
      "aria-valuemin": "0",
      "aria-valuemax": `${Math.max(this.#stops.length - 1, 0)}`,
    });
    svg.before(stage);
    stage.append(svg);
    stage.after(this.#legend.element);
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    stage.addEventListener("pointerup", (event) => this.#up(event));
    stage.addEventListener("pointercancel", () => this.#drop());
    stage.addEventListener("pointerleave", (event) => this.#leave(event));
    stage.addEventListener("dblclick", () => this.#zoom(undefined));
    stage.addEventListener("keydown", (event) => this.#key(event));
    return stage;
  }

  /** Shows what the view says. */
  #show(): void {
    const { cursor, isWhole } = this.#view;
    const isOut = (series: number) => !isWhole && this.#leftOut.has(this.#keyOf(series));
    const stop = cursor === undefined ? undefined : nearest(this.#stops, cursor);
    const at = stop === undefined ? undefined : this.#stops[stop];
    this.#drawing.show(this.#figure.time && this.#view.window);
    this.#drawing.leaveOut(isOut);
    this.#drawing.drawCursor(at, isOut);
    const shown = readout(this.#figure, (row) => this.#table.cellsOf(row), at);
    this.#legend.show(shown);
    this.#legend.press(isOut);
    const texts = shown.values.flatMap((value, number) =>
      isOut(number) ? [] : `${this.#table.columns[number]} ${value}`,
    );
    const text = `${shown.place}: ${texts.join(", ")}`;
    this.#stage.setAttribute("aria-valuenow", `${stop ?? 0}`);
    this.#stage.setAttribute("aria-valuetext", stop === undefined ? "no cursor" : text);
  }

  #keyOf(series: number): string {
    return `${this.#figure.name}/${this.#table.columns[series]}`;
  }

  #toggle(series: number): void {
    const key = this.#keyOf(series);
    if (!this.#leftOut.delete(key)) {
      this.#leftOut.add(key);
    }
    this.#show();
  }

  /** Zooms around the cursor, or the middle where none is shown; `undefined` shows all. */
  #zoom(factor: number | undefined): void {
    const { axis, time } = this.#figure;
    if (time === undefined) {
      return;
    }
    const { shown } = this.#drawing;
    const { cursor } = this.#view;
    const isSeen = cursor !== undefined && cursor >= shown.from && cursor <= shown.to;
    const around = isSeen ? cursor : (shown.from + shown.to) / 2;
    this.#view.window =
      factor === undefined ? undefined : zoomed(shown, axis, factor, around, time.least);
  }

  #down(event: PointerEvent): void {
    if (event.button === 0 && this.#figure.time) {
      this.#drag = this.#drawing.at(event).x;
      this.#stage.setPointerCapture(event.pointerId);
    }
  }

  #move(event: PointerEvent): void {
    this.#view.cursor = this.#pointedAt(event);
    const { x } = this.#drawing.at(event);
    if (this.#drag !== undefined && Math.abs(x - this.#drag) >= DRAG) {
      this.#drawing.drawDrag(this.#drag, x);
    }
  }

  #up(event: PointerEvent): void {
    const from = this.#drag;
    const { time } = this.#figure;
    const { x } = this.#drawing.at(event);
    this.#drop();
    if (from === undefined || time === undefined || Math.abs(x - from) < DRAG) {
      this.#view.cursor = this.#pointedAt(event);
      return;
    }
    const [a, b] = [this.#drawing.valueAt(from), this.#drawing.valueAt(x)];
    this.#view.window = between(a, b, this.#figure.axis, time.least);
  }

  #drop(): void {
    this.#drag = undefined;
    this.#show();
  }

  /** A mouse that leaves takes its cursor along; that of a finger or of the keyboard stays. */
  #leave(event: PointerEvent): void {
    if (event.pointerType === "mouse" && this.#drag === undefined) {
      this.#view.cursor = undefined;
    }
  }

  /** The stop that is nearest to a pointer. */
  #pointedAt(event: PointerEvent): number | undefined {
    const { x, y } = this.#drawing.at(event);
    const stop = nearest(this.#stops, this.#figure.isDown ? y : this.#drawing.valueAt(x));
    return stop === undefined ? undefined : this.#stops[stop];
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const step = event.shiftKey ? 10 : 1;
    const last = this.#stops.length - 1;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#step(-step),
      ArrowRight: () => this.#step(step),
      ArrowUp: () => this.#step(-step),
      ArrowDown: () => this.#step(step),
      Home: () => this.#goTo(0),
      End: () => this.#goTo(last),
      Escape: () => {
        this.#view.cursor = undefined;
      },
      "+": () => this.#zoom(2),
      "=": () => this.#zoom(2),
      "-": () => this.#zoom(0.5),
      "0": () => this.#zoom(undefined),
    };
    const isVertical = event.key === "ArrowUp" || event.key === "ArrowDown";
    const action = actions[event.key];
    // Beside bars, these keys scroll the page.
    if (action && (!isVertical || this.#figure.isDown)) {
      event.preventDefault();
      action();
    }
  }

  /** Moves the cursor by some points; one that is not there yet comes to the edge of what is shown. */
  #step(by: number): void {
    const { cursor } = this.#view;
    const { from, to } = this.#drawing.shown;
    if (cursor === undefined && !this.#figure.isDown) {
      const shown = this.#stops.filter((stop) => stop >= from && stop <= to);
      this.#goTo(this.#stops.indexOf((by > 0 ? shown[0] : shown[shown.length - 1]) ?? -1));
      return;
    }
    const stop = cursor === undefined ? undefined : nearest(this.#stops, cursor);
    const edge = by > 0 ? 0 : this.#stops.length - 1;
    this.#goTo(stop === undefined ? edge : stop + by);
  }

  /** Moves the cursor to a point, and the part that is shown along with it. */
  #goTo(stop: number): void {
    const at = this.#stops[Math.min(Math.max(stop, 0), this.#stops.length - 1)];
    if (at === undefined) {
      return;
    }
    const { window } = this.#view;
    if (window !== undefined && this.#figure.time) {
      this.#view.window = holding(window, at);
    }
    this.#view.cursor = at;
  }
}

/** The table below a picture. */
class Table {
  /** The headings, without that of the places. */
  readonly columns: readonly string[];
  readonly #rows: readonly HTMLTableRowElement[];

  constructor(table: HTMLTableElement) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    this.columns = heads.slice(1).map((head) => head.textContent ?? "");
    this.#rows = [...(table.tBodies[0]?.rows ?? [])];
  }

  /** The texts of a row. */
  cellsOf(row: number): string[] {
    return [...(this.#rows[row]?.cells ?? [])].map((cell) => (cell.textContent ?? "").trim());
  }
}
