// Expectations in the style of `k6chaijs` and of the older `expect`. In a `describe` each expectation is a
// check, and the first that does not hold ends the block.

import { check, group } from 'k6';

class AssertionError extends Error {
  constructor(message) {
    super(message);
    this.name = 'AssertionError';
  }
}

let nesting = 0;

/** Whether two values have the same structure. */
function isEqual(one, other) {
  if (Object.is(one, other)) {
    return true;
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other) || one instanceof Date !== other instanceof Date) {
    return false;
  }
  if (one instanceof Date) {
    return one.getTime() === other.getTime();
  }
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.prototype.hasOwnProperty.call(other, key) && isEqual(one[key], other[key]));
}

function shown(value) {
  if (typeof value === 'string') {
    return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  }
  if (typeof value === 'function') {
    return '[Function]';
  }
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    text = undefined;
  }
  text = text === undefined ? String(value) : text;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function typeOf(value) {
  if (value === null) {
    return 'null';
  }
  return Array.isArray(value) ? 'array' : typeof value;
}

const size = (value) => {
  if (value === null || value === undefined) {
    return undefined;
  }
  return value.size === undefined ? value.length : value.size;
};

function includes(value, wanted) {
  if (typeof value === 'string' || Array.isArray(value)) {
    return value.includes(wanted) || (Array.isArray(value) && typeof wanted === 'object' && value.some((each) => isEqual(each, wanted)));
  }
  if (value instanceof Set) {
    return value.has(wanted);
  }
  return value !== null && typeof value === 'object'
    && Object.entries(wanted).every(([key, part]) => isEqual(value[key], part));
}

function jsonOf(response) {
  try {
    return { value: response.json() };
  } catch (error) {
    return null;
  }
}

class Expectation {
  constructor(value, message) {
    this.value = value;
    this.label = message;
    this.isNegated = false;
  }

  /** Count the expectation, and throw if it does not hold. */
  judge(holds, what) {
    const passed = Boolean(holds) !== this.isNegated;
    const not = this.isNegated ? 'not ' : '';
    const text = `${this.label === undefined ? shown(this.value) : this.label} ${not}${what}`;
    this.isNegated = false;
    if (nesting > 0) {
      check(null, { [`expected ${text}`.replace(/::/g, ':')]: passed });
    }
    if (!passed) {
      throw new AssertionError(`expected ${text}, got ${shown(this.value)}`);
    }
    return this;
  }

  get not() {
    this.isNegated = !this.isNegated;
    return this;
  }

  as(label) {
    this.label = label;
    return this;
  }
}

const WORDS = ['to', 'be', 'been', 'is', 'that', 'which', 'has', 'have', 'with', 'at', 'of', 'same', 'but', 'does', 'still', 'deep', 'nested', 'own'];
for (const word of WORDS) {
  Object.defineProperty(Expectation.prototype, word, { get() { return this; } });
}
/** `and` continues a chain, and as a function it begins the next expectation. */
Object.defineProperty(Expectation.prototype, 'and', {
  get() {
    const next = (value) => new Expectation(value);
    return new Proxy(next, { get: (start, key) => { const part = this[key]; return typeof part === 'function' ? part.bind(this) : part; } });
  },
});

const STATES = {
  true: (value) => value === true,
  false: (value) => value === false,
  null: (value) => value === null,
  undefined: (value) => value === undefined,
  ok: (value) => Boolean(value),
  exist: (value) => value !== null && value !== undefined,
  NaN: (value) => Number.isNaN(value),
  empty: (value) => (size(value) === undefined ? Object.keys(value).length === 0 : size(value) === 0),
};
for (const [name, holds] of Object.entries(STATES)) {
  Object.defineProperty(Expectation.prototype, name, { get() { return this.judge(holds(this.value), `to be ${name}`); } });
}

function define(names, make) {
  for (const name of names) {
    Object.defineProperty(Expectation.prototype, name, {
      value(...wanted) {
        const [holds, what] = make.call(this, this.value, ...wanted);
        return this.judge(holds, what);
      },
    });
  }
}

define(['equal', 'equals', 'eq'], (value, wanted) => [value === wanted || isEqual(value, wanted), `to equal ${shown(wanted)}`]);
define(['eql', 'eqls', 'toEqual', 'toDeepEqual'], (value, wanted) => [isEqual(value, wanted), `to equal ${shown(wanted)}`]);
define(['above', 'gt', 'greaterThan', 'toBeGreaterThan'], (value, bound) => [value > bound, `to be above ${shown(bound)}`]);
define(['least', 'gte', 'greaterThanOrEqual', 'toBeGreaterThanOrEqual'], (value, bound) => [value >= bound, `to be at least ${shown(bound)}`]);
define(['below', 'lt', 'lessThan', 'toBeLessThan'], (value, bound) => [value < bound, `to be below ${shown(bound)}`]);
define(['most', 'lte', 'lessThanOrEqual', 'toBeLessThanOrEqual'], (value, bound) => [value <= bound, `to be at most ${shown(bound)}`]);
define(['within', 'toBeBetween'], (value, least, most) => [value >= least && value <= most, `to be within ${shown(least)}..${shown(most)}`]);
define(['closeTo', 'approximately'], (value, wanted, delta) => [Math.abs(value - wanted) <= delta, `to be close to ${shown(wanted)}`]);
define(['include', 'includes', 'contain', 'contains', 'string', 'toContain'], (value, wanted) => [includes(value, wanted), `to include ${shown(wanted)}`]);
define(['match', 'matches', 'toMatch'], (value, pattern) => [pattern.test(value), `to match ${pattern}`]);
define(['oneOf'], (value, list) => [list.includes(value), `to be one of ${shown(list)}`]);
define(['a', 'an'], (value, type) => [typeOf(value) === String(type).toLowerCase(), `to be ${type}`]);
define(['instanceof', 'instanceOf'], (value, type) => [value instanceof type, `to be a ${type.name}`]);
define(['lengthOf', 'length'], (value, count) => [size(value) === count, `to have a length of ${count}`]);
define(['property', 'haveOwnProperty'], (value, name, ...wanted) => [
  value !== null && value !== undefined && name in Object(value) && (wanted.length === 0 || isEqual(value[name], wanted[0])),
  `to have property '${name}'${wanted.length === 0 ? '' : ` of ${shown(wanted[0])}`}`,
]);
define(['keys', 'key'], (value, ...names) => {
  const wanted = names.flat();
  return [isEqual([...Object.keys(value)].sort(), [...wanted].sort()), `to have keys ${wanted.join(', ')}`];
});
define(['members'], (value, list) => [
  value.length === list.length && list.every((each) => includes(value, each)),
  `to have the members ${shown(list)}`,
]);
define(['throw', 'throws'], (value, pattern) => {
  try {
    value();
  } catch (error) {
    const text = String(error && error.message !== undefined ? error.message : error);
    return [pattern === undefined || (pattern instanceof RegExp ? pattern.test(text) : typeof pattern !== 'string' || text.includes(pattern)), 'to throw'];
  }
  return [false, 'to throw'];
});
define(['toBeTruthy'], (value) => [Boolean(value), 'to be truthy']);
define(['toBeFalsy'], (value) => [!value, 'to be falsy']);
define(['validJsonBody', 'toHaveValidJson'], function json(response) {
  if (this.label === undefined) {
    this.label = 'response';
  }
  return [jsonOf(response) !== null, 'to have a valid json body'];
});

/** Begin an expectation. */
export function expect(value, message) {
  return new Expectation(value, message);
}

/** Run a block of expectations in a group. False: one did not hold, or the block threw an error. */
export function describe(name, block) {
  let isGood = true;
  nesting += 1;
  try {
    group(name, () => block({ expect }));
  } catch (error) {
    isGood = false;
    if (!(error instanceof AssertionError)) {
      console.error(`exception in "${name}": ${error && error.stack ? error.stack : error}`);
      check(null, { [`exception in ${name}`.replace(/::/g, ':')]: false });
    } else {
      console.error(`"${name}": ${error.message}`);
    }
  } finally {
    nesting -= 1;
  }
  return isGood;
}

/** The settings of `k6chaijs`, which change nothing here. */
export const chai = { config: {}, expect, use() { return chai; } };

export default { chai, describe, expect };
