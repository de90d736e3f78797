// A large expectation that is compared with each answer.
import http from 'k6/http';
import { check } from 'k6';
import { textSummary } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';

const expected = { id: 1, name: 'item', status: 'ok', token: 't-1', items: [{ id: 1, sku: 'a' }, { id: 2, sku: 'b' }] };
const sorted = (value) => {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return value && typeof value === 'object'
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value;
};
const text = JSON.stringify(sorted(expected));

export const options = { stages: [{ duration: '1s', target: 2 }] };

export default function () {
  const answer = http.post(`${__ENV.BASE}/graphql`, JSON.stringify({ query: '{ items { id sku } }' }), { headers: { 'content-type': 'application/json' } });
  check(answer, {
    'no error': (r) => !r.json().errors,
    'is what is expected': (r) => JSON.stringify(sorted(r.json())) === text,
  });
}

export function handleSummary(data) {
  return { stdout: `${textSummary(data, { enableColors: false }).includes('is what is expected')}\n` };
}
