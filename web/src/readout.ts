// The texts of a figure at its cursor. A cursor stops at the rows of the figure's table: at their
// values along the x axis, or at the bars.

import type { Figure, Series } from "./figure.js";

/** The cells of a row of a table, of which the first is the place; none of a row beyond the table. */
export type CellsOf = (row: number) => readonly string[];

/** A place, and the texts of the other columns there. */
export interface Readout {
  readonly place: string;
  readonly values: readonly string[];
}

/** The values at which a cursor of the figure may stop, each once and in order. */
export function stops({ xs }: Figure): readonly number[] {
  return [...new Set(xs)].sort((a, b) => a - b);
}

/** The number of the stop that is nearest to a value; `undefined` where there are none. */
export function nearest(stops: readonly number[], value: number): number | undefined {
  let [low, high] = [0, stops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stops[middle] ?? 0) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const [before, after] = [stops[low - 1], stops[low]];
  if (before === undefined || after === undefined) {
    return stops.length === 0 ? undefined : Math.min(low, stops.length - 1);
  }
  return value - before <= after - value ? low - 1 : low;
}

/** The texts at one of the figure's stops. A series without a point there has the text of its nearest
 * point. Behind its end it has that of the row, which is a dash. */
export function readout({ xs, series }: Figure, cellsOf: CellsOf, at: number | undefined): Readout {
  if (at === undefined) {
    return { place: "", values: [] };
  }
  const [place = "", ...values] = cellsOf(xs.indexOf(at));
  const textOf = (column: number): string | undefined => {
    const of = series[column];
    const row = of?.rows[pointAt(of, at) ?? -1];
    return row === undefined ? undefined : cellsOf(row)[column + 1];
  };
  return { place, values: values.map((value, column) => textOf(column) ?? value) };
}

/** The number of a series' point at a place, or of the nearest; none behind the end of a series that
 * is shorter than others of its figure. */
export function pointAt({ xs }: Series, at: number): number | undefined {
  const exact = xs.indexOf(at);
  if (exact >= 0) {
    return exact;
  }
  const inOrder = [...xs].sort((a, b) => a - b);
  const [first = 0, last = 0] = [inOrder[0], inOrder[inOrder.length - 1]];
  const apart = (last - first) / Math.max(xs.length - 1, 1);
  const found = inOrder[nearest(inOrder, at) ?? -1];
  return found === undefined || Math.abs(found - at) > apart ? undefined : xs.indexOf(found);
}
