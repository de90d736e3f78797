// A rate whose starts have an uneven distance, and a spike after it.
import http from 'k6/http';

export const options = {
  scenarios: {
    steady: { executor: 'constant-arrival-rate', rate: 17, duration: '2s', preAllocatedVUs: 10 },
    spike: {
      executor: 'ramping-arrival-rate', startTime: '2s', startRate: 17, preAllocatedVUs: 20,
      stages: [{ duration: '0s', target: 40 }, { duration: '1s', target: 40 }],
    },
  },
};

export default function () {
  http.get(`${__ENV.BASE}/l2`);
}
