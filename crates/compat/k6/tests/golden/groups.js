import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const a = new Trend('ws_custom'), b = new Counter('bytes'), d = new Trend('dur', true), e = new Gauge('gt', true), f = new Counter('ct', true), never = new Counter('never');
export function setup() { check(1, { 'in setup': () => true }); group('gs', () => { check(1, { same: () => true }); a.add(1); }); return 'x'; }
export default function () {
  group('g1', () => check(1, { same: () => true }));
  group('g2', () => check(1, { same: () => false, 'other': () => true }));
  check(1, { same: () => false });
  group('silent', () => { });
  for (const x of [0, 0.0000004, 0.0004, 0.5, 0.9999, 1, 1.005, 999.9999, 1000, 59999, 60000, 61500, 3600000, 3661001.5, 90000000]) { d.add(x); }
  a.add(0.1234567); e.add(1234.5); f.add(61000);
}
export function teardown() { check(1, { 'in teardown': () => false }); }

