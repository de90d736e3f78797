import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('my_counter'), g = new Gauge('my_gauge'), r = new Rate('my_rate'), t = new Trend('my_trend'), tt = new Trend('my_time', true), bytes = new Counter('a_very_long_metric_name_that_pads_all', false);
export const options = {
  scenarios: {
    one: { executor: 'per-vu-iterations', vus: 2, iterations: 2, tags: { team: 'x' } },
    two: { executor: 'constant-arrival-rate', rate: 3, duration: '1s', preAllocatedVUs: 1, maxVUs: 1, exec: 'other' },
  },
  thresholds: {
    'http_req_duration': ['p(95)<500', 'avg<1'],
    'http_req_duration{name:A}': ['p(99)<1000', 'max<0.001'],
    'http_req_duration{group:::g1}': ['p(99)<1000'],
    'checks': ['rate>0.5'],
    'my_counter': ['count<100', 'rate>1000'],
    'my_gauge': ['value<100'],
    'my_trend{k:v}': ['med>0'],
    'my_rate': ['rate>0.9'],
    'http_req_failed{status:777}': ['rate<0.1'],
  },
};
export function setup() { http.get('http://127.0.0.1:18777/setup'); return { token: 'abc', n: [1, 2] }; }
export default function (data) {
  group('g1', () => {
    const res = http.get('http://127.0.0.1:18777/a', { tags: { name: 'A', k: 'v' } });
    check(res, { 'is 200': (r) => r.status === 200, 'is 500': (r) => r.status === 500 });
    group('inner', () => { check(res, { 'deep': () => true }); c.add(2, { x: 'y' }); t.add(3.5, { k: 'v' }); });
    group('zinner', () => { http.get('http://127.0.0.1:18777/404'); });
  });
  group('b group', () => { check(1, { 'half': () => __ITER % 2 == 0 }); });
  check(1, { 'top': () => true });
  g.add(__ITER * 2.5); r.add(__ITER % 3 == 0); tt.add(__ITER * 700.25); t.add(1e6 * __ITER); bytes.add(123456789);
}
export function other() { http.get('http://127.0.0.1:18777/slow'); check(1, { 'two ok': () => true }); sleep(0.3); c.add(1); }
export function teardown() { http.get('http://127.0.0.1:18777/td'); }
