// Options from a file, a digest, and bytes as a body.
import http from 'k6/http';
import crypto from 'k6/crypto';
import { check } from 'k6';

export const options = JSON.parse(open('./lib/load.json'));
const document = open('./lib/people.csv', 'b');

export default function () {
  const digest = crypto.sha256(document, 'base64');
  const made = http.post(`${__ENV.BASE}/documents`, JSON.stringify({ digest }), { headers: { 'Content-Type': 'application/json' } });
  const stored = http.put(`${__ENV.BASE}/echo?id=${made.json('id')}`, document, { headers: { 'Content-Type': 'application/pdf', 'x-digest': digest } });
  check(stored, { 'comes back': (r) => r.body.length === document.byteLength });
}
