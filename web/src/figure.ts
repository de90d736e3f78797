// The places of the page's pictures, as Rust wrote them into the page (crates/output/report/src/html/data.rs).
// A picture is drawn without them; the cursor stands on them. The texts at a place are a row of the
// table below the picture.

import type { Span } from "./span.js";

/** The place of a plot: left, top, width and height in its own units. They are pixels from the top to
 * the bottom; from left to right, the picture stretches them. */
export type Place = readonly [left: number, top: number, width: number, height: number];

/** Ticks of the time at the multiples of a step, for parts of the time up to `span`. */
export interface Level {
  readonly span: number;
  readonly step: number;
  /** The labels of 0, of the step, of twice the step, and so on. */
  readonly labels: readonly string[];
}

/** What all pictures over time share. Times are in nanoseconds since the run's start. */
export interface Time {
  /** The shortest part of the time that is shown. */
  readonly least: number;
  /** From the shortest step to the longest. */
  readonly levels: readonly Level[];
}

export interface Series {
  /** The class of its colour. */
  readonly role: string;
  /** The rows of the table that have a point of the series, and the places of the points. */
  readonly rows: readonly number[];
  readonly xs: readonly number[];
  /** Places from the top of the picture; a gap is `null`. */
  readonly ys: readonly (number | null)[];
}

/** A picture whose values along the plot are times, or else places in the picture. */
export interface Figure {
  readonly name: string;
  readonly place: Place;
  /** The values at both ends of the plot. */
  readonly axis: Span;
  /** Only of a picture over time: these share the cursor and the zoom. */
  readonly time: Time | undefined;
  /** Whether the rows stand below each other, as bars do. */
  readonly isDown: boolean;
  /** The value of each row of the table. */
  readonly xs: readonly number[];
  /** The value of each mark. */
  readonly marks: readonly number[];
  readonly series: readonly Series[];
}

/** A series as it is written: without rows if it has a point in each. */
interface WrittenSeries {
  readonly role: string;
  readonly rows?: readonly number[];
  readonly ys: readonly (number | null)[];
}

/** A figure as it is written, with places in the picture. */
interface Written {
  readonly name: string;
  readonly place: Place;
  /** The times at both ends of the plot. */
  readonly time?: readonly [from: number, to: number];
  readonly is_down?: boolean;
  readonly xs: readonly number[];
  readonly marks?: readonly number[];
  readonly series?: readonly WrittenSeries[];
}

/** The figures of a page's block of JSON. */
export function figures(json: string): Figure[] {
  const block = JSON.parse(json) as { readonly figures: readonly Written[]; readonly time?: Time };
  return block.figures.map((written) => figureOf(written, block.time));
}

function figureOf(written: Written, time: Time | undefined): Figure {
  const { name, place, series = [], marks = [] } = written;
  const [left, , width] = place;
  const [from, to] = written.time ?? [left, left + width];
  const valueOf = (x: number) => from + ((x - left) / width) * (to - from);
  const xs = written.xs.map(valueOf);
  return {
    name,
    place,
    axis: { from, to },
    time: written.time && time,
    isDown: written.is_down ?? false,
    xs: written.is_down === true ? written.xs : xs,
    marks: marks.map(valueOf),
    series: series.map(({ role, ys, rows = xs.map((_, row) => row) }) => ({
      role,
      rows,
      xs: rows.flatMap((row) => xs[row] ?? []),
      ys,
    })),
  };
}
