// Expectations in the style of `k6-testing`. One that does not hold throws; with `expect.soft` the run goes on
// and ends with exit code 110.

import exec from 'k6/execution';

/** Whether two values have the same structure; `undefined` members count only if `isStrict`. */
function isEqual(one, other, isStrict) {
  if (Object.is(one, other)) {
    return true;
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other) && (isStrict || Array.isArray(one) !== Array.isArray(other))) {
    return false;
  }
  if (one instanceof Date) {
    return other instanceof Date && one.getTime() === other.getTime();
  }
  if (one instanceof Map || one instanceof Set) {
    return one.size === other.size && isEqual([...one], [...other], isStrict);
  }
  const keys = (value) => Object.keys(value).filter((key) => isStrict || value[key] !== undefined);
  const names = keys(one);
  return names.length === keys(other).length
    && names.every((key) => Object.prototype.hasOwnProperty.call(other, key) && isEqual(one[key], other[key], isStrict));
}

function shown(value) {
  if (typeof value === 'function' || typeof value === 'symbol' || value === undefined || value instanceof RegExp) {
    return String(value);
  }
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

const length = (value) => (value === null || value === undefined ? undefined : value.length);

function at(value, path) {
  const names = Array.isArray(path) ? path : String(path).replace(/\[(\w+)\]/g, '.$1').split('.');
  return names.reduce((found, name) => {
    const has = found && found.value !== null && found.value !== undefined && name in Object(found.value);
    return has ? { value: found.value[name] } : null;
  }, { value });
}

function thrown(block) {
  try {
    block();
  } catch (error) {
    return { error };
  }
  return null;
}

function isThrown(block, wanted) {
  const caught = thrown(block);
  if (!caught || wanted === undefined) {
    return caught !== null;
  }
  const text = String(caught.error && caught.error.message !== undefined ? caught.error.message : caught.error);
  if (wanted instanceof RegExp) {
    return wanted.test(text);
  }
  return typeof wanted === 'function' ? caught.error instanceof wanted : text.includes(String(wanted));
}

const MATCHERS = {
  toBe: (value, wanted) => Object.is(value, wanted),
  toEqual: (value, wanted) => isEqual(value, wanted, false),
  toStrictEqual: (value, wanted) => isEqual(value, wanted, true),
  toBeCloseTo: (value, wanted, digits = 2) => value === wanted || Math.abs(value - wanted) < 10 ** -digits / 2,
  toBeDefined: (value) => value !== undefined,
  toBeUndefined: (value) => value === undefined,
  toBeNull: (value) => value === null,
  toBeNaN: (value) => Number.isNaN(value),
  toBeTruthy: (value) => Boolean(value),
  toBeFalsy: (value) => !value,
  toBeGreaterThan: (value, bound) => value > bound,
  toBeGreaterThanOrEqual: (value, bound) => value >= bound,
  toBeLessThan: (value, bound) => value < bound,
  toBeLessThanOrEqual: (value, bound) => value <= bound,
  toBeInstanceOf: (value, type) => value instanceof type,
  toHaveLength: (value, wanted) => length(value) === wanted,
  toHaveProperty: (value, path, ...wanted) => {
    const found = at(value, path);
    return found !== null && (wanted.length === 0 || isEqual(found.value, wanted[0], false));
  },
  toContain: (value, wanted) => (typeof value === 'string' ? value.includes(wanted) : [...value].includes(wanted)),
  toContainEqual: (value, wanted) => [...value].some((each) => isEqual(each, wanted, false)),
  toMatch: (value, pattern) => (pattern instanceof RegExp ? pattern.test(value) : value.includes(pattern)),
  toThrow: isThrown,
};

class AssertionFailed extends Error {
  constructor(message) {
    super(message);
    this.name = 'AssertionFailed';
  }
}

function begin(value, message, isSoft, isNegated) {
  const matchers = {};
  for (const [name, holds] of Object.entries(MATCHERS)) {
    matchers[name] = (...wanted) => {
      if (Boolean(holds(value, ...wanted)) !== isNegated) {
        return;
      }
      const call = `expect(${shown(value)})${isNegated ? '.not' : ''}.${name}(${wanted.map(shown).join(', ')})`;
      const text = message === undefined ? call : `${message}: ${call}`;
      if (!isSoft) {
        throw new AssertionFailed(text);
      }
      console.error(text);
      exec.test.fail(text);
    };
  }
  return matchers;
}

function make(isSoft) {
  return (value, message) => {
    const matchers = begin(value, message, isSoft, false);
    matchers.not = begin(value, message, isSoft, true);
    return matchers;
  };
}

/** Begin an expectation. */
export const expect = make(false);
expect.soft = make(true);

export default { expect };
