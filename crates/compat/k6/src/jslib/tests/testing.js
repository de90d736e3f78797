import { equal, throws } from 'assert';
import { expect } from 'https://jslib.k6.io/k6-testing/1.0.0/index.js';

expect(1).toBe(1);
expect(NaN).toBe(NaN);
expect({ a: [1, { b: undefined }] }).toEqual({ a: [1, {}] });
expect({ a: undefined }).not.toStrictEqual({});
expect(0.1 + 0.2).toBeCloseTo(0.3, 5);
expect([1, 2]).toHaveLength(2);
expect([1, { a: 2 }]).toContainEqual({ a: 2 });
expect('text').toContain('ex');
expect('text').toMatch(/^t/);
expect({ a: { b: [5] } }).toHaveProperty('a.b[0]', 5);
expect({ a: 1 }).not.toHaveProperty('b');
expect(3).toBeGreaterThan(2);
expect(3).toBeLessThanOrEqual(3);
expect(new Date(5)).toEqual(new Date(5));
expect(() => { throw new TypeError('boom'); }).toThrow(/boom/);
expect(() => {}).not.toThrow();
expect(undefined).toBeUndefined();

throws(() => expect(200, 'status').toBe(201), 'status: expect(200).toBe(201)');
throws(() => expect([1]).not.toHaveLength(1), 'expect([1]).not.toHaveLength(1)');
throws(() => expect({ a: 1 }).toEqual({ a: 1, b: 2 }), '.toEqual({"a":1,"b":2})');
expect.soft(1).toBe(2);
equal(globalThis.errors, ['expect(1).toBe(2)', 'failed: expect(1).toBe(2)']);
