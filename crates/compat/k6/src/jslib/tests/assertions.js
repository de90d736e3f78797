import { equal, throws } from 'assert';
import chaijs, { chai, describe, expect } from 'https://jslib.k6.io/k6chaijs/1.0.0/index.js';
import { describe as older } from 'https://jslib.k6.io/expect/1.0.0/index.js';

const { checks, groups, errors } = globalThis;
const response = { status: 200, json: () => ({ id: 1 }), headers: { A: 'b' } };

equal(describe('good', () => {
  expect(response.status, 'status').to.equal(200);
  expect(response).to.have.validJsonBody();
  expect([1, 2, { a: [3] }], 'list').to.be.an('array').that.deep.includes({ a: [3] });
  expect('text').to.have.lengthOf(4).and.to.match(/^t/);
  expect({ a: 1, b: null }).to.have.property('a', 1).and.not.to.have.property('z');
  expect(5).to.be.above(4).and.to.be.within(5, 6).and.not.to.be.below(5);
  expect(null).to.be.null;
  expect(true).to.be.true;
  expect([]).to.be.empty;
  expect({ a: { b: [1] } }).to.eql({ a: { b: [1] } });
  expect(() => { throw new Error('boom'); }).to.throw('boo');
}), true);
equal(checks.length > 14 && checks.every(({ result }) => result), true);
equal(checks[0].name, 'expected status to equal 200');
equal(groups, ['good']);

checks.length = 0;
equal(describe('bad', () => {
  expect(1, 'one::two').to.equal(2);
  throw new Error('never reached');
}), false);
equal(checks.map(({ name, result }) => [name, result]), [['expected one:two to equal 2', false]]);
equal(errors.pop(), '"bad": expected one::two to equal 2, got 1');

checks.length = 0;
equal(describe('broken', () => { response.nope(); }), false);
equal(checks.map(({ name, result }) => [name, result]), [['exception in broken', false]]);
throws(() => expect(1).to.equal(2), 'expected 1 to equal 2, got 1');

checks.length = 0;
equal(older('older', (t) => {
  t.expect(response.status).as('status').toEqual(200)
    .and(response).toHaveValidJson()
    .and(response.json().id).as('id').toBeGreaterThan(0);
}), true);
equal(checks.map(({ name }) => name), ['expected status to equal 200', 'expected response to have a valid json body', 'expected id to be above 0']);
chai.config.logFailures = true;
equal(chaijs.describe === describe, true);
