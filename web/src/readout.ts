// The values of a figure at its cursor. A cursor stops at the figure's points: a place along the x
// axis, or for bars the number of a bar.

import type { Figure, Plot, Series } from "./figure.js";
import { count, label, share } from "./label.js";

/** A value with its name, as the legend shows it. */
export interface Entry {
  readonly name: string;
  readonly role: string;
  readonly value: string;
}

/** A place, and the values there. */
export interface Readout {
  readonly place: string;
  readonly entries: readonly Entry[];
}

/** The values along the x axis at which a cursor of the figure may stop, in order; numbers of bars. */
export function stops({ plot }: Figure): readonly number[] {
  switch (plot.kind) {
    case "heat":
      return plot.columns.map((column) => (column.from + column.to) / 2);
    case "bars":
      return plot.bars.map((_, number) => number);
    default:
      return sorted(plot.series);
  }
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

/** The values of a figure at one of its stops; names alone where there is no cursor. */
export function readout(figure: Figure, stop: number | undefined): Readout {
  const { plot, x } = figure;
  const at = stop === undefined ? undefined : stops(figure)[stop];
  switch (plot.kind) {
    case "heat":
      return { place: at === undefined ? "" : label(x.unit, at), entries: ofHeat(figure, plot, stop) };
    case "bars":
      return ofBars(plot, stop);
    default:
      return {
        place: at === undefined ? "" : label(x.unit, at),
        entries: plot.series.map((series) => ({
          name: series.name,
          role: series.role,
          value: at === undefined ? "" : valueOf(figure, series, at),
        })),
      };
  }
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

function valueOf(figure: Figure, series: Series, at: number): string {
  const point = pointAt(series, at);
  const value = point === undefined ? null : (series.ys[point] ?? null);
  if (point === undefined || value === null) {
    return "–";
  }
  return (series.atLeast.has(point) ? "≥ " : "") + label(figure.y.unit, value);
}

/** The requests of a column, and the span of latencies that most of them had. */
function ofHeat(
  figure: Figure,
  plot: Extract<Plot, { kind: "heat" }>,
  stop: number | undefined,
): Entry[] {
  const column = stop === undefined ? undefined : plot.columns[stop];
  const entry = (name: string, value: string) => ({ name, role: "good", value });
  if (column === undefined) {
    return [entry("requests", ""), entry("most common", "")];
  }
  const all = column.cells.reduce((sum, [, count]) => sum + count, 0);
  const most = column.cells.reduce<readonly [number, number]>(
    (most, cell) => (cell[1] > most[1] ? cell : most),
    [-1, 0],
  );
  const span = plot.spans[most[0]];
  const [from, to] = span?.map((end) => label(figure.y.unit, end)) ?? [];
  return [
    entry("requests", count(all)),
    entry("most common", span === undefined ? "–" : `${from} to ${to} (${count(most[1])})`),
  ];
}

/** The count of a bar, and its share of all. */
function ofBars(plot: Extract<Plot, { kind: "bars" }>, stop: number | undefined): Readout {
  const bar = stop === undefined ? undefined : plot.bars[stop];
  if (bar === undefined) {
    return { place: "", entries: [] };
  }
  const all = plot.bars.reduce((sum, { value }) => sum + value, 0);
  const value = `${count(bar.value)} (${share(bar.value, all)})`;
  return { place: "", entries: [{ name: bar.name, role: bar.role, value }] };
}

/** The places of all series, each once. */
function sorted(series: readonly Series[]): readonly number[] {
  const all = new Set(series.flatMap(({ xs }) => xs));
  return [...all].sort((a, b) => a - b);
}
