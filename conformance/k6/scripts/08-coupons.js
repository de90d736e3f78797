// Arrivals in a spike after a quiet start, and outcomes counted apart.
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';

const outcomes = { 200: new Counter('taken'), 404: new Counter('gone'), other: new Counter('other') };
const waited = new Trend('waited', true);

export const options = {
  scenarios: {
    spike: {
      executor: 'ramping-arrival-rate', startTime: '500ms', startRate: 5, timeUnit: '1s', preAllocatedVUs: 20, maxVUs: 40,
      stages: [{ duration: '1s', target: 20 }, { duration: '1s', target: 0 }],
    },
  },
};

export default function () {
  const start = Date.now();
  const answer = http.get(`${__ENV.BASE}/status/${__ITER % 2 === 0 ? 200 : 404}`, { tags: { name: 'coupon' } });
  waited.add(Date.now() - start);
  (outcomes[answer.status] || outcomes.other).add(1);
}
