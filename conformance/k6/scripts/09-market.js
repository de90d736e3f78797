// Two scenarios with functions of their own; images as parts of a form.
import http from 'k6/http';
import { check } from 'k6';

const BASE = __ENV.BASE;
const image = open('./lib/people.csv', 'b');

export const options = {
  scenarios: {
    sellers: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'sell', tags: { role: 'seller' } },
    buyers: { executor: 'shared-iterations', vus: 2, iterations: 4, exec: 'buy', startTime: '200ms', env: { CURRENCY: 'EUR' } },
  },
};

export function sell() {
  const form = { title: 'a thing', image: http.file(image, 'image.png', 'image/png') };
  check(http.post(`${BASE}/products`, form), { 'product is stored': (r) => r.status === 201 });
}

export function buy() {
  const answer = http.post(`${BASE}/orders`, { product: '1', currency: __ENV.CURRENCY, tag: ['x', 'y'] });
  check(answer, { 'order is stored': (r) => r.status === 201 }, { step: 'order' });
}
