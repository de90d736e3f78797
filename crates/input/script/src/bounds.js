// Bounds the native functions of the language, in which the interpreter counts no steps: each is
// charged the steps that its work is worth (20 ns each) before it begins, or what it has made when
// it is done. Takes `charge(steps)`, and the searches `find(text, part)` and `split(text, part)`
// that need no more than one pass over a text.
((charge, find, split) => {
  "use strict";
  const { apply, defineProperty } = Reflect;
  const { floor, min } = Math;
  const { isArray } = Array;
  const native = { test: RegExp.prototype.test, slice: Array.prototype.slice, keys: Object.keys };

  const length = (value) => {
    const count = value === undefined || value === null ? 0 : +value.length;
    return count > 0 ? min(floor(count), Number.MAX_SAFE_INTEGER) : 0;
  };
  const pay = (steps) => { if (steps >= 1) charge(floor(min(steps, Number.MAX_SAFE_INTEGER))); };

  // Puts `make(native)` in the place of a function, under its name and with its length.
  const replace = (holder, name, make) => {
    const old = holder[name];
    if (typeof old !== "function") return;
    const made = make(old);
    defineProperty(made, "name", { value: old.name, configurable: true });
    defineProperty(made, "length", { value: old.length, configurable: true });
    defineProperty(holder, name, { value: made, writable: true, enumerable: false, configurable: true });
  };
  const before = (holder, names, cost) => {
    for (const name of names) replace(holder, name, (old) => ({
      method(...given) { pay(cost(this, given)); return apply(old, this, given); },
    }).method);
  };
  const after = (holder, names, cost) => {
    for (const name of names) replace(holder, name, (old) => ({
      method(...given) { const made = apply(old, this, given); pay(cost(made)); return made; },
    }).method);
  };

  // Lists. One that is longer than memory has holes, each of which is looked for.
  const DENSE_MAX = 2_000_000;
  const list = (value) => { const count = length(value); return count > DENSE_MAX ? count : count / 8; };
  const sparse = (value) => { const count = length(value); return count > DENSE_MAX ? count : 0; };
  const lists = (values) => {
    let sum = 0;
    for (let at = 0; at < values.length; at++) if (isArray(values[at])) sum += list(values[at]);
    return sum;
  };
  const nested = (value, depth) => {
    let sum = list(value);
    pay(sparse(value));
    if (depth >= 1) for (let at = 0; at < length(value); at++) {
      if (isArray(value[at])) sum += nested(value[at], depth - 1);
    }
    return sum;
  };
  before(Array.prototype, [
    "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex",
    "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight",
    "reverse", "shift", "slice", "some", "splice", "toLocaleString", "toReversed", "toSpliced",
    "toString", "unshift", "with",
  ], list);
  before(Array.prototype, ["sort", "toSorted"], (all) => list(all) * 20);
  before(Array.prototype, ["concat"], (all, given) => list(all) + lists(given));
  before(Array.prototype, ["entries", "keys", "values", Symbol.iterator], sparse);
  before(Array.prototype, ["flat"], (all, [depth = 1]) => nested(all, +depth));
  replace(Array.prototype, "flatMap", () => ({
    flatMap(act, self) { return this.map(act, self).flat(); },
  }).flatMap);
  // A text, an object or an iterator has no number of elements before they are there.
  const ELEMENT = 4;
  const elements = (made) => length(made) * ELEMENT;
  replace(Array, "from", (old) => ({
    method(...given) {
      if (typeof given[0] !== "string") pay(list(given[0]));
      const made = apply(old, this, given);
      if (typeof given[0] === "string") pay(elements(made));
      return made;
    },
  }).method);
  before(String, ["raw"], (_, [parts]) => list(parts && parts.raw));

  // Objects, of which each property takes more than an element.
  const PROPERTY = 10;
  const properties = (values) => {
    let sum = 0;
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      if (typeof value === "object" && value !== null) sum += native.keys(value).length * PROPERTY;
    }
    return sum;
  };
  after(Object, ["entries", "getOwnPropertyNames", "keys", "values"], (made) => length(made) * PROPERTY);
  before(Object, ["assign", "freeze", "fromEntries", "getOwnPropertyDescriptors", "isFrozen", "isSealed", "seal"],
    (_, given) => properties(given));
  after(Reflect, ["ownKeys"], (made) => length(made) * PROPERTY);

  // Typed lists.
  const typed = Reflect.getPrototypeOf(Uint8Array.prototype);
  before(typed, [
    "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex",
    "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight",
    "reverse", "set", "slice", "some", "toLocaleString", "toReversed", "toString", "with",
  ], list);
  before(typed, ["sort", "toSorted"], (all) => list(all) * 20);

  // Texts.
  const linear = (text, given) => {
    let sum = length(text);
    for (let at = 0; at < given.length; at++) if (typeof given[at] === "string") sum += given[at].length;
    return sum / 8;
  };
  before(String.prototype, [
    "concat", "isWellFormed", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase", "toUpperCase",
    "toWellFormed",
  ], linear);
  // All that takes what it gives, as a spread does, takes a step of its own for each letter.
  before(String.prototype, [Symbol.iterator], (text) => length(text) * ELEMENT);
  after(String.prototype, [
    "padEnd", "padStart", "repeat", "slice", "substr", "substring", "trim", "trimEnd", "trimStart",
  ], (made) => length(made) / 256);

  // UAX #15 D4: a text is safe for streams when no letter has more than 30 marks. Putting marks in
  // order takes the square of their number.
  const MANY_MARKS = /\p{M}{31}/u;
  const safe = (text) => {
    if (typeof text !== "string" || text.length < 31) return;
    pay(text.length);
    if (apply(native.test, MANY_MARKS, [text])) {
      throw new RangeError("a letter has more than 30 marks: the text is not put into a normal form");
    }
  };
  before(String.prototype, ["normalize", "localeCompare"], (text, given) => {
    safe(`${text}`);
    safe(given[0]);
    return linear(text, given);
  });

  // Searches, whose worst case is the product of both lengths.
  const PRODUCT_MAX = 4_000_000;
  const product = (text, part) => length(text) * length(part);
  const cost = (text, part) => typeof part === "string" ? length(text) / 32 + product(text, part) / 512 : linear(text, []);
  const is_long = (text, given) => typeof text === "string" && given.length === 1
    && typeof given[0] === "string" && product(text, given[0]) > PRODUCT_MAX;
  const search = (name, long, worth = () => 0) => replace(String.prototype, name, (old) => ({
    method(...given) {
      if (is_long(this, given)) {
        pay(linear(this, given));
        const found = long(this, given[0]);
        if (found !== undefined) { pay(worth(found)); return found; }
      }
      pay(cost(this, given[0]));
      const found = apply(old, this, given);
      pay(worth(found));
      return found;
    },
  }).method);
  search("includes", (text, part) => { const at = find(text, part); return at === undefined ? at : at >= 0; });
  search("indexOf", find);
  search("split", split, elements);
  before(String.prototype, ["lastIndexOf", "replace", "replaceAll"], (text, [part]) => cost(text, part));

  // The rest that takes texts of any length.
  const argument = (_, [text]) => typeof text === "string" ? text.length / 2 : 0;
  before(JSON, ["parse"], argument);
  after(JSON, ["stringify"], (made) => length(made) / 2);
  before(globalThis, [
    "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape",
    "base64", "base64url", "sha256",
  ], argument);
  before(globalThis, ["hmac_sha256", "hmac_sha256_base64"], (_, given) => linear("", given));
})
