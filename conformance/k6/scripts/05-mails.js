// A setup that awaits, and identifiers.
import http from 'k6/http';
import { check } from 'k6';
import { uuidv4 } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

const BASE = __ENV.BASE;

export async function setup() {
  const answer = await http.asyncRequest('POST', `${BASE}/token`, 'grant_type=client_credentials');
  return answer.json('token');
}

export default function (token) {
  const order = { id: uuidv4(), to: ['a@a.test'] };
  const answer = http.post(`${BASE}/orders`, JSON.stringify(order), { headers: { Authorization: token, 'Content-Type': 'application/json' } });
  check(answer, { accepted: (r) => r.status === 201, 'has an id': (r) => r.json('id') !== undefined });
  http.get(`${BASE}/orders/${answer.json('id')}/status`, { tags: { name: 'status' } });
}
