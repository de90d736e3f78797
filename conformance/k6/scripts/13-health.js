// The two summaries of a library.
import http from 'k6/http';
import { jUnit, textSummary } from 'https://jslib.k6.io/k6-summary/0.0.1/index.js';

export const options = { thresholds: { http_reqs: ['count>0'] } };

export default function () {
  http.get(`${__ENV.BASE}/healthz`);
}

export function handleSummary(data) {
  const text = textSummary(data, { indent: ' ', enableColors: false });
  return { stdout: `${/http_reqs\.+: 3 /.test(text) || /http_reqs\.+: \d+/.test(text)} ${jUnit(data).includes('failures="0"')}\n` };
}
