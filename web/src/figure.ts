// The numbers of the page's pictures, as Rust wrote them into the page (crates/output/report/src/html/data.rs).
// A picture is drawn without them; they are what the cursor reads.

import type { Axis } from "./axis.js";

/** The place of a plot in its picture: left, top, width and height in the picture's own units. */
export type Place = readonly [left: number, top: number, width: number, height: number];

export interface Mark {
  readonly x: number;
  readonly name: string;
}

export interface Series {
  readonly name: string;
  /** The class of its colour. */
  readonly role: string;
  readonly xs: readonly number[];
  /** A gap is `null`. */
  readonly ys: readonly (number | null)[];
  /** The numbers of the points that are only lower bounds. */
  readonly atLeast: ReadonlySet<number>;
}

export interface Column {
  readonly from: number;
  readonly to: number;
  /** The number of a span of the y axis, and its count of requests. */
  readonly cells: readonly (readonly [span: number, count: number])[];
}

export interface Bar {
  readonly name: string;
  readonly role: string;
  readonly value: number;
}

export type Plot =
  | { readonly kind: "lines" | "bands" | "points"; readonly series: readonly Series[] }
  | {
      readonly kind: "heat";
      readonly spans: readonly (readonly [from: number, to: number])[];
      readonly columns: readonly Column[];
    }
  | { readonly kind: "bars"; readonly bars: readonly Bar[] };

export interface Figure {
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly place: Place;
  readonly marks: readonly Mark[];
  readonly plot: Plot;
}

/** A series as it is written: without places where they are those of the series before it. */
interface WrittenSeries {
  readonly name: string;
  readonly role: string;
  readonly xs?: readonly number[];
  readonly ys: readonly (number | null)[];
  readonly at_least?: readonly number[];
}

/** A figure as it is written. */
interface Written extends Omit<Figure, "plot"> {
  readonly kind: string;
  readonly series?: readonly WrittenSeries[];
  readonly spans?: readonly (readonly [number, number])[];
  readonly columns?: readonly Column[];
  readonly bars?: readonly Bar[];
}

/** The figures of a page's block of JSON. A figure of a kind that is not known here is left out: its
 * picture stays as it is. */
export function figures(json: string): Figure[] {
  const block = JSON.parse(json) as { readonly figures: readonly Written[] };
  return block.figures.flatMap((written) => {
    const plot = plotOf(written);
    return plot === undefined ? [] : [{ ...written, plot }];
  });
}

/** Whether the x axis of a figure is the run's time, so that it shares the cursor and the zoom. */
export function isOverTime(figure: Figure): boolean {
  return figure.x.unit === "run_time";
}

function plotOf({ kind, series, spans, columns, bars }: Written): Plot | undefined {
  switch (kind) {
    case "lines":
    case "bands":
    case "points":
      return series && { kind, series: seriesOf(series) };
    case "heat":
      return spans && columns && { kind, spans, columns };
    case "bars":
      return bars && { kind, bars };
    default:
      return undefined;
  }
}

function seriesOf(written: readonly WrittenSeries[]): Series[] {
  let xs: readonly number[] = [];
  return written.map((series) => {
    xs = series.xs ?? xs;
    const { name, role, ys } = series;
    return { name, role, xs, ys, atLeast: new Set(series.at_least) };
  });
}
