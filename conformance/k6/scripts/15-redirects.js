// Redirects that are not followed count as expected; parts of the samples are judged.
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const codes = new SharedArray('codes', () => ['a', 'b', 'c']);

export const options = {
  scenarios: {
    read: { executor: 'shared-iterations', vus: 2, iterations: 8, exec: 'read' },
    write: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'write' },
  },
  thresholds: { 'http_req_failed{scenario:read}': ['rate==0'], 'http_req_duration{name:short}': ['max<5000'], 'http_reqs{name:short}': ['count==8'] },
};

export function read() {
  const answer = http.get(`${__ENV.BASE}/redirect/1?code=${codes[__ITER % codes.length]}`, { redirects: 0, tags: { name: 'short' } });
  check(answer, { 'is redirected': (r) => r.status === 302 && r.headers.Location === '/redirect/0' });
}

export function write() {
  http.post(`${__ENV.BASE}/redirect/2`, 'url=x');
}
