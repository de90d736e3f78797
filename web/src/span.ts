// A part of a run's time, and how a zoom changes it.

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span with its length divided by `factor`, around a value that keeps its place, within the
 * whole. `undefined` where that is the whole. */
export function zoomed(
  span: Span,
  whole: Span,
  factor: number,
  around: number,
  least: number,
): Span | undefined {
  const length = Math.max((span.to - span.from) / factor, least);
  const share = (around - span.from) / (span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

/** The span between two values in any order, at least this long. */
export function between(a: number, b: number, whole: Span, least: number): Span | undefined {
  const middle = (a + b) / 2;
  const half = Math.max(Math.abs(a - b), least) / 2;
  return within({ from: middle - half, to: middle + half }, whole);
}

/** The span moved as little as possible so that it holds a value. */
export function holding(span: Span, value: number): Span {
  const length = span.to - span.from;
  if (value < span.from) {
    return { from: value, to: value + length };
  }
  return value > span.to ? { from: value - length, to: value } : span;
}

/** The span moved into the whole with its length kept; `undefined` where it is as long as the whole. */
function within(span: Span, whole: Span): Span | undefined {
  const length = span.to - span.from;
  if (length >= whole.to - whole.from) {
    return undefined;
  }
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length);
  return { from, to: from + length };
}
