// A blocking request in the handler of a socket; the results as JSON.
import http from 'k6/http';
import ws from 'k6/ws';

export default function () {
  ws.connect(__ENV.WS, (socket) => {
    socket.on('open', () => {
      http.post(`${__ENV.BASE}/publish`, JSON.stringify({ message: 1 }));
      socket.close();
    });
  });
}

export function handleSummary(data) {
  return { stdout: `${JSON.stringify(data.metrics.http_reqs.values.count)}\n` };
}
