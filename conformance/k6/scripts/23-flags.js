// Timers and sockets of the event loop keep the iteration alive.
import exec from 'k6/execution';
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';

export default function () {
  const socket = new WebSocket(__ENV.WS);
  const sent = [];
  socket.onopen = () => {
    const timer = setInterval(() => {
      sent.push(exec.vu.idInTest);
      socket.send(`flag ${sent.length}`);
      if (sent.length === 3) {
        clearInterval(timer);
        socket.close();
      }
    }, 20);
  };
  socket.addEventListener('close', () => check(sent, { 'three messages': (list) => list.length === 3 }));
}
