// Metrics of the script's own, and a summary of its own.
import http from 'k6/http';
import { Counter, Gauge, Trend } from 'k6/metrics';

const BASE = __ENV.BASE;
const transfers = new Counter('transfers');
const batchSize = new Gauge('batch_size');
const readTime = new Trend('read_time', true);

export const options = {
  scenarios: { load: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 2 }], gracefulRampDown: '1s' } },
  summaryTrendStats: ['avg', 'p(99)', 'count'],
};

export default function () {
  const list = Array.from({ length: 3 }, (unused, at) => ({ from: at, to: at + 1, amount: 10 * at }));
  const answer = http.post(`${BASE}/transfers`, JSON.stringify(list), { timeout: '5s' });
  transfers.add(list.length, { ok: String(answer.status === 201) });
  batchSize.add(list.length);
  readTime.add(http.get(`${BASE}/totals`, { timeout: 5000 }).timings.waiting);
}

export function handleSummary(data) {
  return { stdout: `transfers: ${data.metrics.transfers.values.count > 0}, ${Object.keys(data.metrics.read_time.values).sort().join()}\n` };
}
