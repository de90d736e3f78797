// Helpers in modules, basic authentication by hand, and the results as a file of JUnit.
import { check } from 'k6';
import { jUnit } from 'https://jslib.k6.io/k6-summary/0.0.1/index.js';
import { send } from './lib/requests.js';

export const options = { thresholds: { checks: ['rate>0.9'] } };

export default function () {
  const rules = ['read', 'write'].map((action) => ({ action, resource: 'a' }));
  check(send('/policies', { rules }), { 'policy is stored': (r) => r.status === 201 });
  check(send('/decision', { request: rules[0] }), { 'has a decision': (r) => r.json('status') === 'ok' });
}

export function handleSummary(data) {
  return { stdout: `${jUnit(data).split('\n').length} lines\n` };
}
