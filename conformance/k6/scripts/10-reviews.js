// Identifiers from a pattern, and a page with the results.
import http from 'k6/http';
import { check } from 'k6';
import { htmlReport } from 'https://raw.githubusercontent.com/benc-uk/k6-reporter/main/dist/bundle.js';

const uuid = () => 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (letter) => {
  const digit = (Math.random() * 16) | 0;
  return (letter === 'x' ? digit : (digit & 3) | 8).toString(16);
});

export default function () {
  const id = uuid();
  check(id, { 'is a UUID': (text) => /^[0-9a-f-]{36}$/.test(text) });
  http.put(`${__ENV.BASE}/reviews/1`, JSON.stringify({ stars: 5, text: 'ä "quoted" \u2028 text' }), { headers: { 'X-Kind': 'review' } });
  http.get(`${__ENV.BASE}/reviews?limit=10&offset=${__ITER * 10}`);
}

export function handleSummary(data) {
  return { stdout: `${htmlReport(data).startsWith('<!DOCTYPE html>')}\n` };
}
