// Groups whose tags are judged, and the maximum as a percentile.
import http from 'k6/http';
import { check, group } from 'k6';

const BASE = __ENV.BASE;

export const options = {
  stages: [{ duration: '1s', target: 3 }, { duration: '1s', target: 0 }],
  thresholds: { 'http_req_duration{group:::health}': ['p(100)<5000'], checks: ['rate==1'] },
};

export default function () {
  group('health', () => check(http.get(`${BASE}/health`), { 'is up': (r) => r.status === 200 }));
  group('links', () => {
    const made = http.post(`${BASE}/links`, JSON.stringify({ url: 'http://a.test' }), { headers: { 'Content-Type': 'application/json' } });
    check(made, { 'has an id': (r) => r.json().id === 1 });
    http.get(`${BASE}/links/${made.json('id')}`, { tags: { name: 'link' } });
  });
}
