// The picture that Rust drew, and what the program changes in it: the part of the time that its plot
// shows, with ticks and marks; series that are left out; and a layer for the cursor.

import { type Axis, place, ticks } from "./axis.js";
import { shape } from "./element.js";
import { pointAt } from "./readout.js";
import type { Figure } from "./figure.js";
import type { Span } from "./span.js";

/** Ticks along the x axis, and the letters of a mark's name: as in crates/output/report/src/figure/svg.rs. */
const TICKS = 8;
const MARK_WIDTH = 24 * 6.6;
/** The place of a bar, from the top of one to that of the next. */
const BAR = 26;

export class Drawing {
  readonly #figure: Figure;
  readonly #svg: SVGSVGElement;
  readonly #plot: SVGSVGElement;
  readonly #layer = shape("g", { class: "layer" });
  #axis: Axis;

  /** `undefined` where a picture has another form than the one that is known here. */
  static of(figure: Figure, svg: SVGSVGElement): Drawing | undefined {
    const plot = svg.querySelector<SVGSVGElement>("svg.plot");
    return plot === null ? undefined : new Drawing(figure, svg, plot);
  }

  private constructor(figure: Figure, svg: SVGSVGElement, plot: SVGSVGElement) {
    this.#figure = figure;
    this.#svg = svg;
    this.#plot = plot;
    this.#axis = figure.x;
    svg.append(this.#layer);
  }

  /** The part of the x axis that is shown. */
  get shown(): Span {
    return this.#axis;
  }

  /** The place of a pointer in the picture's own units. */
  at(event: PointerEvent | MouseEvent): { readonly x: number; readonly y: number } {
    const box = this.#svg.getBoundingClientRect();
    const scale = this.#svg.viewBox.baseVal.width / box.width;
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  }

  /** The place along the plot, from 0 to 1, of a place in the picture. */
  share(x: number): number {
    const [left, , width] = this.#figure.place;
    return Math.min(Math.max((x - left) / width, 0), 1);
  }

  /** The number of the bar at a place in the picture. */
  bar(y: number): number {
    return Math.floor((y - this.#figure.place[1]) / BAR);
  }

  /** Shows a part of the time, or all of it. */
  show(window: Span | undefined): void {
    const whole = this.#figure.x;
    const { from, to } = window ?? whole;
    if (from === this.#axis.from && to === this.#axis.to) {
      return;
    }
    this.#axis = { ...whole, from, to };
    const [left, top, width, height] = this.#figure.place;
    const [begin, end] = [from, to].map((value) => left + place(whole, value) * width);
    const shown = (end ?? 0) - (begin ?? 0);
    this.#plot.setAttribute("viewBox", `${begin} ${top} ${shown} ${height}`);
    this.#plot.setAttribute("overflow", window === undefined ? "visible" : "hidden");
    // Dots and arrows keep their form.
    this.#plot.style.setProperty("--narrow", `${shown / width}`);
    this.#drawTicks();
    this.#drawMarks();
  }

  /** Leaves series out, with the space to their neighbours. */
  leaveOut(isOut: (name: string) => boolean): void {
    const { plot } = this.#figure;
    if (plot.kind === "heat" || plot.kind === "bars") {
      return;
    }
    const out = plot.series.map((series) => isOut(series.name));
    const of = (kind: string) => [...this.#plot.querySelectorAll(`:scope > g.${kind}`)];
    of("series").forEach((group, number) => {
      group.classList.toggle("off", out[number] === true);
    });
    of("between").forEach((group, number) => {
      group.classList.toggle("off", out[number] === true || out[number + 1] === true);
    });
  }

  /** Draws the cursor at a value, with a dot on each series; none beyond what is shown. */
  drawCursor(at: number | undefined, isOut: (name: string) => boolean): void {
    this.#layer.replaceChildren();
    const { plot, y } = this.#figure;
    if (at === undefined || plot.kind === "bars") {
      this.#drawBar(at);
      return;
    }
    if (at < this.#axis.from || at > this.#axis.to) {
      return;
    }
    this.#line(this.#across(at), "cursor");
    const series = plot.kind === "heat" ? [] : plot.series.filter(({ name }) => !isOut(name));
    for (const one of series) {
      const value = one.ys[pointAt(one, at) ?? -1] ?? null;
      if (value !== null) {
        const [, top, , height] = this.#figure.place;
        const down = top + (1 - place(y, value)) * height;
        this.#layer.append(
          shape("circle", {
            class: `at ${one.role}`,
            cx: this.#across(at).toFixed(2),
            cy: down.toFixed(1),
            r: "3.5",
          }),
        );
      }
    }
  }

  /** Draws the part of the plot that a pointer drags over. */
  drawDrag(from: number, to: number): void {
    const [left, top, width, height] = this.#figure.place;
    const [begin, end] = [Math.min(from, to), Math.max(from, to)];
    const x = Math.max(begin, left);
    this.#layer.append(
      shape("rect", {
        class: "drag",
        x: `${x}`,
        y: `${top}`,
        width: `${Math.max(Math.min(end, left + width) - x, 0)}`,
        height: `${height}`,
      }),
    );
  }

  #drawBar(number: number | undefined): void {
    const [left, top, width] = this.#figure.place;
    if (number !== undefined) {
      const [x, y] = [`${left}`, `${top + number * BAR - 3}`];
      this.#layer.append(shape("rect", { class: "drag", x, y, width: `${width}`, height: `${BAR}` }));
    }
  }

  #drawTicks(): void {
    const [, top, , height] = this.#figure.place;
    const group = this.#svg.querySelector("g.ticks");
    group?.replaceChildren(
      ...ticks(this.#axis, TICKS).flatMap((tick) => {
        const x = this.#acrossShare(tick.place).toFixed(1);
        const [y1, y2] = [top.toFixed(1), (top + height).toFixed(1)];
        const y = (top + height + 16).toFixed(1);
        return [
          shape("line", { class: "grid", x1: x, y1, x2: x, y2 }),
          shape("text", { class: "dim", x, y, "text-anchor": "middle" }, tick.label),
        ];
      }),
    );
  }

  /** Moves each mark's line, and its name behind it. */
  #drawMarks(): void {
    const children = this.#svg.querySelector("g.marks")?.children ?? [];
    this.#figure.marks.forEach((mark, number) => {
      const [line, name] = [children[2 * number], children[2 * number + 1]];
      const x = this.#across(mark.x);
      const isShown = mark.x >= this.#axis.from && mark.x <= this.#axis.to;
      [line, name].forEach((part) => part?.classList.toggle("off", !isShown));
      line?.setAttribute("x1", x.toFixed(1));
      line?.setAttribute("x2", x.toFixed(1));
      const isAtEdge = x > this.#svg.viewBox.baseVal.width - MARK_WIDTH;
      name?.setAttribute("x", (isAtEdge ? x - 4 : x + 4).toFixed(1));
      name?.setAttribute("text-anchor", isAtEdge ? "end" : "start");
    });
  }

  #line(x: number, kind: string): void {
    const [, top, , height] = this.#figure.place;
    const [x1, y1, y2] = [x.toFixed(2), top.toFixed(1), (top + height).toFixed(1)];
    this.#layer.append(shape("line", { class: kind, x1, y1, x2: x1, y2 }));
  }

  #across(value: number): number {
    return this.#acrossShare(place(this.#axis, value));
  }

  #acrossShare(share: number): number {
    const [left, , width] = this.#figure.place;
    return left + share * width;
  }
}

/** The sign of a series in a legend: its line, as the picture has it. */
export function sign(role: string): SVGSVGElement {
  const made = shape("svg", { class: "sign", viewBox: "0 0 18 8", "aria-hidden": "true" });
  made.append(shape("path", { class: `line ${role}`, d: "M0 4h18" }));
  return made;
}

