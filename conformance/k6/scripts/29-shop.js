// Links of a page, a cart that cookies keep, and a form with a file.
import http from 'k6/http';
import { check } from 'k6';
import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';

const BASE = __ENV.BASE;

export const options = {
  scenarios: {
    visit: { executor: 'shared-iterations', vus: 2, iterations: 4, exec: 'visit' },
    order: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'order' },
    bring: { executor: 'constant-arrival-rate', rate: 2, duration: '1s', preAllocatedVUs: 2, exec: 'bring' },
  },
};

export function visit() {
  const links = http.get(`${BASE}/page`).html().find('a').map((at, link) => link.attr('href'));
  check(links, { 'has links': (list) => list.length === 2 });
  links.forEach((link) => http.get(BASE + link));
}

export function order() {
  http.get(`${BASE}/cookies`);
  http.post(`${BASE}/cart`, { product: '1' });
  check(http.get(`${BASE}/checkout`), { 'is shown': (r) => r.status === 200 });
}

export function bring() {
  const form = new FormData();
  form.boundary = 'drumfire-boundary';
  form.append('name', 'x');
  form.append('file', http.file('a,b', 'rows.csv', 'text/csv'));
  http.post(`${BASE}/import`, form.body(), { headers: { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` } });
}
