// Each user sends one batch of three objects.
import http from 'k6/http';
import { check } from 'k6';

const BASE = __ENV.BASE;

export const options = {
  scenarios: { lock: { executor: 'per-vu-iterations', vus: 20, iterations: 1, maxDuration: '30s' } },
};

export default function () {
  const answers = http.batch([1, 2, 3].map((server) => ({
    method: 'POST',
    url: `${BASE}/servers/${server}/lock`,
    body: JSON.stringify({ server }),
    params: { headers: { 'Content-Type': 'application/json' }, tags: { server: String(server) } },
  })));
  check(answers, { 'three answers': (list) => list.length === 3, 'in order': (list) => list.every((r, at) => r.url.includes(`/${at + 1}/`)) });
}
