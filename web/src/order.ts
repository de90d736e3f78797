// The order of a table's rows by the cells of a column.

export type Direction = "ascending" | "descending";

/** What a row is ordered by: the number of its cell, or the text of words; `undefined` for a cell
 * without a value. */
export type Key = number | string | undefined;

/** The numbers of rows in the order of their keys in a column. Rows that are equal keep theirs; a row
 * without a value is last in both directions. */
export function ordered(keys: readonly Key[], direction: Direction): number[] {
  const sign = direction === "ascending" ? 1 : -1;
  const numbers = keys.map((_, number) => number);
  return numbers.sort((one, other) => {
    const [a, b] = [keys[one], keys[other]];
    if (a === undefined || b === undefined) {
      return Number(a === undefined) - Number(b === undefined) || one - other;
    }
    return sign * compared(a, b) || one - other;
  });
}

/** Whether most people want to see the greatest first: a column of numbers. */
export function isOfNumbers(keys: readonly Key[]): boolean {
  return keys.every((key) => typeof key !== "string");
}

function compared(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : `${a}`.localeCompare(`${b}`, "en", { numeric: true });
}
