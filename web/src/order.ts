// The order of a table's rows by the texts of a column.

export type Direction = "ascending" | "descending";

/** Units of numbers in tables: of time in nanoseconds, of size in bytes. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9,
  B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
  "%": 1, "/s": 1, "": 1,
};
/** `1m00s`, `2h05m`, `3d04h` */
const LONG = /^(\d+)([dhm])(\d+)([hms])$/;
const LENGTHS: Readonly<Record<string, number>> = { s: 1e9, m: 60e9, h: 3600e9, d: 86_400e9 };
/** A number behind `≥`, `<` or `>`, and its unit. Escaped, for the bundle is ASCII. */
const NUMBER = /^[\u2265<>]?\s*(-?[\d,]+(?:\.\d+)?)\s*([a-zA-Z\u00b5%/]*)$/;

/** The number that a text begins with, in the unit that follows; `undefined` for other texts. */
export function magnitude(text: string): number | undefined {
  const long = LONG.exec(text);
  if (long) {
    const [, greater = "", one = "", less = "", other = ""] = long;
    return Number(greater) * (LENGTHS[one] ?? 0) + Number(less) * (LENGTHS[other] ?? 0);
  }
  const [, digits, unit = ""] = NUMBER.exec(text) ?? [];
  const length = UNITS[unit];
  if (digits === undefined || length === undefined) {
    return undefined;
  }
  return Number(digits.replace(/,/g, "")) * length;
}

/** The numbers of rows in the order of their texts in a column. Rows that are equal keep theirs; a
 * row without a value is last in both directions. */
export function ordered(texts: readonly string[], direction: Direction): number[] {
  const sign = direction === "ascending" ? 1 : -1;
  const keys = texts.map((text) => ({ text, number: magnitude(text), isNone: text === "–" }));
  const numbers = texts.map((_, number) => number);
  return numbers.sort((one, other) => {
    const [a, b] = [keys[one], keys[other]];
    if (a === undefined || b === undefined || a.isNone !== b.isNone) {
      return a?.isNone === true ? 1 : -1;
    }
    return sign * compared(a, b) || one - other;
  });
}

/** Whether most people want to see the greatest first: a column of numbers. */
export function isOfNumbers(texts: readonly string[]): boolean {
  return texts.every((text) => text === "–" || magnitude(text) !== undefined);
}

interface Key {
  readonly text: string;
  readonly number: number | undefined;
}

function compared(a: Key, b: Key): number {
  if (a.number !== undefined && b.number !== undefined) {
    return a.number - b.number;
  }
  return a.text.localeCompare(b.text, "en", { numeric: true });
}
