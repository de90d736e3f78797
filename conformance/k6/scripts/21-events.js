// Groups in groups, and all methods.
import http from 'k6/http';
import { check, group } from 'k6';

const BASE = __ENV.BASE;
const json = { headers: { 'Content-Type': 'application/json' } };

export const options = { maxRedirects: 2, userAgent: 'smiles/1' };

export default function () {
  group('front page', () => {
    http.get(`${BASE}/`);
    http.get(`${BASE}/redirect/2`);
    group('API', () => {
      const made = http.request('POST', `${BASE}/events`, JSON.stringify({ title: 'a', topics: [{ id: 1 }] }), json);
      const id = made.json('id');
      http.put(`${BASE}/events/${id}`, JSON.stringify({ title: 'b' }), json);
      http.patch(`${BASE}/events/${id}`, '{}', json);
      http.head(`${BASE}/events/${id}`);
      http.options(`${BASE}/events`);
      check(http.del(`${BASE}/events/${id}`), { 'is deleted': (r) => r.status === 200 });
    });
  });
}
