// The picture that Rust drew, and what the program changes in it: the part of the time that its plot
// shows, with ticks and marks; series that are left out; and a layer for the cursor.

import { shape } from "./element.js";
import type { Figure, Time } from "./figure.js";
import { pointAt } from "./readout.js";
import type { Span } from "./span.js";

/** A mark beyond this share of the picture has its name at its left. */
const EDGE = 0.6;
/** The space between two labels, in pixels. */
const BETWEEN = 4;

/** A group of the picture, and its elements as Rust drew them. */
interface Drawn {
  readonly group: Element;
  readonly whole: readonly Element[];
}

export class Drawing {
  readonly #figure: Figure;
  readonly #svg: SVGSVGElement;
  readonly #plot: SVGSVGElement;
  readonly #ticks: Drawn;
  readonly #marks: Drawn;
  readonly #layer = shape("g", { class: "layer" });
  #shown: Span;

  /** `undefined` where a picture has another form than the one that is known here. */
  static of(figure: Figure, svg: SVGSVGElement): Drawing | undefined {
    const plot = svg.querySelector<SVGSVGElement>("svg.plot");
    const [ticks, marks] = ["ticks", "marks"].map((name) => svg.querySelector(`g.${name}`));
    return plot && ticks && marks ? new Drawing(figure, svg, plot, ticks, marks) : undefined;
  }

  private constructor(
    figure: Figure,
    svg: SVGSVGElement,
    plot: SVGSVGElement,
    ticks: Element,
    marks: Element,
  ) {
    this.#figure = figure;
    this.#svg = svg;
    this.#plot = plot;
    this.#ticks = { group: ticks, whole: [...ticks.children] };
    this.#marks = { group: marks, whole: [...marks.children] };
    this.#shown = figure.axis;
    svg.append(this.#layer);
  }

  /** The part of the plot's values that is shown. */
  get shown(): Span {
    return this.#shown;
  }

  /** The place of a pointer in the picture's own units. */
  at(event: PointerEvent | MouseEvent): { readonly x: number; readonly y: number } {
    const box = this.#svg.getBoundingClientRect();
    const [left, , width] = this.#figure.place;
    const x = left + ((event.clientX - box.left) / box.width) * width;
    return { x, y: event.clientY - box.top };
  }

  /** The value at a place along the picture. */
  valueAt(x: number): number {
    const [left, , width] = this.#figure.place;
    const { from, to } = this.#shown;
    return from + Math.min(Math.max((x - left) / width, 0), 1) * (to - from);
  }

  /** Shows a part of the time, or all of it. */
  show(window: Span | undefined): void {
    const { axis, place, time } = this.#figure;
    const { from, to } = window ?? axis;
    if (time === undefined || (from === this.#shown.from && to === this.#shown.to)) {
      return;
    }
    const [, top, , height] = place;
    this.#shown = axis;
    const [begin, end] = [this.#across(from), this.#across(to)];
    this.#shown = { from, to };
    this.#plot.setAttribute("viewBox", `${begin} ${top} ${end - begin} ${height}`);
    this.#plot.setAttribute("overflow", window === undefined ? "visible" : "hidden");
    const [ticks, marks] =
      window === undefined
        ? [this.#ticks.whole, this.#marks.whole]
        : [this.#ticksOf(time), this.#marksOf()];
    this.#ticks.group.replaceChildren(...ticks);
    this.#marks.group.replaceChildren(...marks);
    if (window !== undefined) {
      thin(this.#ticks.group);
      thin(this.#marks.group);
    }
  }

  /** Leaves series out, with the space to their neighbours, by their numbers. */
  leaveOut(isOut: (series: number) => boolean): void {
    const of = (kind: string) => [...this.#plot.querySelectorAll(`:scope > g.${kind}`)];
    of("series").forEach((group, number) => {
      group.classList.toggle("off", isOut(number));
    });
    of("between").forEach((group, number) => {
      group.classList.toggle("off", isOut(number) || isOut(number + 1));
    });
  }

  /** Draws the cursor at a value, with a dot on each series; none beyond what is shown. */
  drawCursor(at: number | undefined, isOut: (series: number) => boolean): void {
    this.#layer.replaceChildren();
    if (at === undefined) {
      return;
    }
    if (this.#figure.isDown) {
      this.#drawBar(at);
      return;
    }
    if (at < this.#shown.from || at > this.#shown.to) {
      return;
    }
    const [, top, , height] = this.#figure.place;
    const x = this.#share(at);
    const [y1, y2] = [top.toFixed(1), (top + height).toFixed(1)];
    this.#layer.append(shape("line", { class: "cursor", x1: x, y1, x2: x, y2 }));
    this.#figure.series.forEach((series, number) => {
      const y = series.ys[pointAt(series, at) ?? -1] ?? null;
      if (y !== null && !isOut(number)) {
        const dot = { class: `at ${series.role}`, cx: x, cy: `${y}`, r: "3.5" };
        this.#layer.append(shape("circle", dot));
      }
    });
  }

  /** Draws the part of the plot that a pointer drags over. */
  drawDrag(from: number, to: number): void {
    const [left, top, width, height] = this.#figure.place;
    const [begin, end] = [Math.min(from, to), Math.max(from, to)];
    const x = Math.max(begin, left);
    this.#drawArea(x, top, Math.max(Math.min(end, left + width) - x, 0), height);
  }

  #drawBar(at: number): void {
    const [left, , width, height] = this.#figure.place;
    const each = height / this.#figure.xs.length;
    this.#drawArea(left, at - each / 2, width, each);
  }

  #drawArea(x: number, y: number, width: number, height: number): void {
    const [left, , all] = this.#figure.place;
    const [begin, wide] = [percent((x - left) / all), percent(width / all)];
    const ends = { x: begin, y: `${y}`, width: wide, height: `${height}` };
    this.#layer.append(shape("rect", { class: "drag", ...ends }));
  }

  /** The ticks of what is shown: copies of a drawn tick, each a line and a label. */
  #ticksOf({ levels }: Time): Element[] {
    const { from, to } = this.#shown;
    const level = levels.find(({ span }) => span >= to - from) ?? levels[levels.length - 1];
    return (level?.labels ?? []).flatMap((label, number) => {
      const value = number * (level?.step ?? 0);
      return value < from || value > to
        ? []
        : this.#ticks.whole.slice(0, 2).map((part) => moved(part, this.#share(value), "middle", label));
    });
  }

  /** The marks of what is shown: each drawn mark's line, and its name or number above it. */
  #marksOf(): Element[] {
    const { whole } = this.#marks;
    return this.#figure.marks.flatMap((mark, number) => {
      const [line, name] = whole.slice(2 * number, 2 * number + 2);
      if (line === undefined || name === undefined || mark < this.#shown.from || mark > this.#shown.to) {
        return [];
      }
      const { from, to } = this.#shown;
      const isAtEdge = (mark - from) / (to - from) > EDGE;
      const isNumber = name.getAttribute("text-anchor") === "middle";
      const anchor = isNumber ? "middle" : isAtEdge ? "end" : "start";
      const x = this.#share(mark);
      return [moved(line, x, anchor), moved(name, x, anchor)];
    });
  }

  /** The place of a value as a share of the picture's width. */
  #share(value: number): string {
    const { from, to } = this.#shown;
    return percent((value - from) / (to - from));
  }

  #across(value: number): number {
    const [left, , width] = this.#figure.place;
    const { from, to } = this.#shown;
    return left + ((value - from) / (to - from)) * width;
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}

/** A copy of a vertical line or a text at another place along the picture. */
function moved(part: Element, x: string, anchor: string, text?: string): Element {
  const made = part.cloneNode(true) as Element;
  for (const name of ["x", "x1", "x2"]) {
    if (made.hasAttribute(name)) {
      made.setAttribute(name, x);
    }
  }
  if (made instanceof SVGTextElement) {
    made.setAttribute("text-anchor", anchor);
    made.setAttribute("class", "dim");
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

/** Leaves out the labels of a group that overlap one before them. */
function thin(group: Element): void {
  let free = -Infinity;
  for (const text of group.querySelectorAll("text")) {
    const { left, right } = text.getBoundingClientRect();
    const isFree = left >= free;
    text.classList.toggle("never", !isFree);
    free = isFree ? right + BETWEEN : free;
  }
}

/** The sign of a series in a legend: its line, as the picture has it. */
export function sign(role: string): SVGSVGElement {
  const made = shape("svg", { class: "sign", viewBox: "0 0 18 8", "aria-hidden": "true" });
  made.append(shape("path", { class: `line ${role}`, d: "M0 4h18" }));
  return made;
}
