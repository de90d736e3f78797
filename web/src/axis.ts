// An axis: places of values, values of places, and the ticks of a run's time. The rules are those of
// `report::figure::Axis`, so that a picture whose ticks are drawn anew looks as it did.

import { label, type Unit } from "./label.js";

export type Scale = "linear" | "log" | "tail";

export interface Axis {
  readonly title: string;
  readonly unit: Unit;
  readonly scale: Scale;
  readonly from: number;
  readonly to: number;
}

export interface Tick {
  /** From 0 at the axis' beginning to 1 at its end. */
  readonly place: number;
  readonly label: string;
}

const SECOND = 1e9;
/** Steps of a run's time beyond ten seconds, in seconds. */
const TIME_STEPS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
];

/** The place of a value: 0 at the axis' beginning, 1 at its end, and beyond them for values beyond. */
export function place(axis: Axis, value: number): number {
  const [from, to] = [along(axis, axis.from), along(axis, axis.to)];
  return (along(axis, value) - from) / (to - from);
}

/** The value at a place. */
export function valueAt(axis: Axis, place: number): number {
  const [from, to] = [along(axis, axis.from), along(axis, axis.to)];
  const at = from + place * (to - from);
  switch (axis.scale) {
    case "linear":
      return at;
    case "log":
      return 10 ** at;
    case "tail":
      return 1 - 10 ** -at;
  }
}

/** The ticks of an axis in proportion, some `most` and seldom more. */
export function ticks(axis: Axis, most: number): Tick[] {
  const step = stepOf((axis.to - axis.from) / most, axis.unit);
  const first = Math.ceil(axis.from / step);
  const count = Math.floor(axis.to / step + 1e-9) - first;
  return Array.from({ length: Math.max(count, 0) + 1 }, (_, number) => {
    const value = (first + number) * step;
    return { place: place(axis, value), label: label(axis.unit, value) };
  });
}

/** The step of ticks that is at least this wide. */
function stepOf(least: number, unit: Unit): number {
  if (unit !== "run_time" || least <= SECOND) {
    return unit === "count" ? Math.max(decimal(least), 1) : decimal(least);
  }
  const day = 86_400 * SECOND;
  const found = TIME_STEPS.find((step) => step * SECOND >= least);
  return found === undefined ? Math.ceil(least / day) * day : found * SECOND;
}

/** The least of 1, 2 and 5 times a power of ten that is at least this. */
function decimal(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const found = [1, 2, 5].find((step) => step * power >= least * 0.999_999);
  return (found ?? 10) * power;
}

function along(axis: Axis, value: number): number {
  switch (axis.scale) {
    case "linear":
      return value;
    case "log":
      return Math.log10(Math.max(value, axis.from));
    case "tail":
      return -Math.log10(1 - Math.min(Math.max(value, 0), 1 - 1e-9));
  }
}
