// A login whose token later requests carry, and a rate of errors.
import http from 'k6/http';
import { check, sleep } from 'k6';
import { Rate } from 'k6/metrics';

const BASE = __ENV.BASE;
const errors = new Rate('errors');

export const options = {
  vus: 2,
  iterations: 6,
  thresholds: { errors: ['rate<0.5'], 'errors{step:book}': ['rate<0.1'] },
};

export function setup() {
  return { started: http.get(`${BASE}/health`).status };
}

export default function (data) {
  const user = { name: `user-${__VU}-${__ITER}`, password: 'p' };
  http.post(`${BASE}/register`, user);
  const token = http.post(`${BASE}/login`, JSON.stringify(user)).json('token');
  const answer = http.post(`${BASE}/bookings`, JSON.stringify({ seat: __ITER }), { headers: { Authorization: `Bearer ${token}` } });
  errors.add(!check(answer, { booked: (r) => r.status === 201 }), { step: 'book' });
  errors.add(data.started !== 200);
  sleep(0.01);
}

export function teardown(data) {
  http.del(`${BASE}/bookings?started=${data.started}`);
}
