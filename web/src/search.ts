// A search in rows of text.

/** Whether a text has every word of a search, in any case and order. */
export function matches(text: string, search: string): boolean {
  const lower = text.toLowerCase();
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => lower.includes(word));
}
