// Values as the page's tables have them: `report::figure::Axis::label` in TypeScript. Both are held
// together by one file of values and texts (crates/output/report/tests/golden/labels.json).

export type Unit = "run_time" | "time" | "per_second" | "count" | "bytes" | "share" | "none";

/** Units of time, each with its length in nanoseconds. */
const TIMES: readonly (readonly [name: string, length: number])[] = [
  ["ns", 1],
  ["µs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
  ["min", 60e9],
  ["h", 3600e9],
];
const SIZES: readonly (readonly [name: string, length: number])[] = [
  ["kB", 1e3],
  ["MB", 1e6],
  ["GB", 1e9],
  ["TB", 1e12],
];

/** A value of an axis as text. */
export function label(unit: Unit, value: number): string {
  if (value === 0 && unit !== "share" && unit !== "none") {
    return "0";
  }
  switch (unit) {
    case "run_time":
      return span(Math.trunc(value));
    case "time":
      return plain(time(value));
    case "per_second":
      return plain(rate(value));
    case "count":
      return count(Math.trunc(value));
    case "bytes":
      return plain(size(Math.trunc(value)));
    case "share":
      return `${trimmed(fixed(value * 100, 6))} %`;
    case "none":
      return "";
  }
}

/** A count with separators: `1,234,567`. */
export function count(n: number): string {
  return n.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share of a whole: never `0 %` for something, never `100 %` for less than all. */
export function share(part: number, whole: number): string {
  if (part === 0 || part === whole) {
    return part === 0 ? "0 %" : "100 %";
  }
  const percent = (100 * part) / whole;
  if (percent < 0.01) {
    return "<0.01 %";
  }
  if (percent >= 99.995) {
    return ">99.99 %";
  }
  const isAtEdge = percent < 9.995 || percent >= 99.95;
  return `${fixed(percent, isAtEdge ? 2 : 1)} %`;
}

/** A time since the run's start: `250 ms`, `10.3 s`, `5m00s`, `2h05m`, `3d04h`. */
function span(nanos: number): string {
  const tenths = Math.floor((nanos + 5e7) / 1e8);
  const seconds = Math.floor((nanos + 5e8) / 1e9);
  if (tenths < 10) {
    return time(nanos);
  }
  if (tenths < 600) {
    const rest = tenths % 10;
    return rest === 0 ? `${tenths / 10} s` : `${Math.floor(tenths / 10)}.${rest} s`;
  }
  const pair = (greater: number, less: number, names: string) =>
    `${greater}${names[0]}${less.toString().padStart(2, "0")}${names[1]}`;
  if (seconds < 3_600) {
    return pair(Math.floor(seconds / 60), seconds % 60, "ms");
  }
  if (seconds < 86_400) {
    return pair(Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, "hm");
  }
  return pair(Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, "dh");
}

function time(nanos: number): string {
  if (nanos < 0.5) {
    return "0";
  }
  // A value moves on to the next unit as soon as rounding would give it four digits.
  const [name, length] = TIMES.find(([, length]) => nanos / length < 999.5) ?? ["h", 3600e9];
  const value = nanos / length;
  return name === "ns" ? `${fixed(value, 0)} ns` : `${threeDigits(value)} ${name}`;
}

function rate(perSecond: number): string {
  if (perSecond >= 999.5) {
    return `${count(Math.round(perSecond))}/s`;
  }
  const decimals = perSecond < 0.995 ? 3 : decimalsOf(perSecond);
  const text = trimmed(fixed(perSecond, decimals));
  return text === "0" && perSecond > 0 ? "<0.001/s" : `${text}/s`;
}

function size(bytes: number): string {
  if (bytes < 1_000) {
    return `${bytes} B`;
  }
  const [name, length] = SIZES.find(([, length]) => bytes < length * 1e3) ?? ["TB", 1e12];
  return `${threeDigits(bytes / length)} ${name}`;
}

function threeDigits(value: number): string {
  return value < 999.5 ? fixed(value, decimalsOf(value)) : count(Math.round(value));
}

/** The decimals of a value below 1000 that leave it three digits. */
function decimalsOf(value: number): number {
  if (value < 9.995) {
    return 2;
  }
  return value < 99.95 ? 1 : 0;
}

/** A number with this many decimals. What lies in the middle becomes even, as in Rust; `toFixed`
 * would take the greater. */
function fixed(value: number, decimals: number): string {
  const exact = value.toFixed(40);
  const behind = exact.slice(exact.indexOf(".") + 1 + decimals);
  const text = value.toFixed(decimals);
  const isOdd = Number(text[text.length - 1]) % 2 === 1;
  return isOdd && /^50*$/.test(behind) ? (value - 0.1 ** (decimals + 2)).toFixed(decimals) : text;
}

/** A rounded number without the zeros behind its point, as a tick has it: `1 ms` for `1.00 ms`. */
function plain(rounded: string): string {
  return rounded.replace(/\.\d+/, (decimals) => trimmed(decimals));
}

function trimmed(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}
