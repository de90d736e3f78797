import http from 'k6/http';
import { Trend } from 'k6/metrics';
import exec from 'k6/execution';
const t = new Trend('odd');
export const options = { tags: { 'sp ace': 'x<&>"y', team: 'a,b' } };
export default function () {
  exec.vu.metrics.metadata.trace = 'a=1&b';
  for (const v of [0, 1e-7, 1e21, 1.5e-9, 123456789.123456789, -2, 1e20, 0.1, 1e6, 1e-6]) t.add(v, { q: ' lead', z: 'é\n"quoted"\t\u0001\u007f\u2028', w: 'a\\.b' });
  http.get('http://127.0.0.1:18777/a?x=1&y=<b>"');
  http.get('http://127.0.0.1:1/refused');
}
