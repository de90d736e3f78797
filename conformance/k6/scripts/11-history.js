// Batches that end with fail(): the iteration ends, the run goes on.
import http from 'k6/http';
import { check, fail } from 'k6';
import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';

export const options = {
  scenarios: {
    history: {
      executor: 'ramping-arrival-rate', exec: 'history', startRate: 4, timeUnit: '1s', preAllocatedVUs: 5, gracefulStop: '2s',
      stages: [{ duration: '1s', target: 8 }],
    },
  },
};

export function history() {
  const url = (path) => new URL(path, __ENV.BASE).href;
  const answers = http.batch({ one: ['GET', url('/history/1')], two: { method: 'POST', url: url('/history'), body: 'x' } });
  if (!check(answers.one, { 'is read': (r) => r.status === 200 })) {
    fail('not read');
  }
  if (__ITER % 2 === 1) {
    fail(`every second iteration ends here: ${answers.two.status}`);
  }
  http.get(url('/history/end'));
}
