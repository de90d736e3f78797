// Requests beside a socket with heartbeats.
import http from 'k6/http';
import ws from 'k6/ws';
import { check } from 'k6';

export const options = {
  scenarios: {
    rest: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'rest' },
    gateway: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'gateway' },
  },
};

export function rest() {
  http.get(`${__ENV.BASE}/channels`);
}

export function gateway() {
  const answer = ws.connect(__ENV.WS, { tags: { kind: 'gateway' } }, (socket) => {
    socket.on('open', () => {
      socket.send(JSON.stringify({ op: 'hello' }));
      socket.setInterval(() => socket.send('beat'), 100);
    });
    socket.on('message', (text) => check(text, { 'is text': (each) => each.length > 0 }));
    socket.setTimeout(() => socket.close(), 450);
  });
  check(answer, { 'is upgraded': (r) => r.status === 101 });
}
