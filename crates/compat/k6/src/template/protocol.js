import http from 'k6/http';
import { check, group } from 'k6';
import { Trend } from 'k6/metrics';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const orderTime = new Trend('order_time', true);

export const options = {
  scenarios: {
    // Iterations start at this rate, also while the server is slow.
    orders: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 200,
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{name:order}': ['p(95)<300'],
    checks: ['rate>0.99'],
    dropped_iterations: ['count<1'],
  },
};

// Runs once, before the load. Each user receives a copy of the result.
export function setup() {
  const response = http.post(`${BASE}/login`, JSON.stringify({ user: 'test' }), {
    headers: { 'Content-Type': 'application/json' },
  });
  return { token: response.json('token') };
}

export default function (data) {
  const params = { headers: { Authorization: `Bearer ${data.token}` } };

  group('browse', () => {
    const response = http.get(`${BASE}/items`, { ...params, tags: { name: 'items' } });
    check(response, { 'items are listed': (r) => r.status === 200 });
  });

  group('order', () => {
    const response = http.post(`${BASE}/orders`, { item: '1' }, { ...params, tags: { name: 'order' } });
    check(response, { 'order is accepted': (r) => r.status === 201 });
    orderTime.add(response.timings.duration);
  });
}

// Runs once, after the load.
export function teardown(data) {
  http.post(`${BASE}/logout`, null, { headers: { Authorization: `Bearer ${data.token}` } });
}
