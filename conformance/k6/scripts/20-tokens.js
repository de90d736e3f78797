// A signed token, a subscription, and answers to pings.
import ws from 'k6/ws';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import { check } from 'k6';

function signed(claims, secret) {
  const part = (value) => encoding.b64encode(JSON.stringify(value), 'rawurl');
  const text = `${part({ typ: 'JWT', alg: 'HS256' })}.${part(claims)}`;
  return `${text}.${crypto.hmac('sha256', secret, text, 'base64rawurl')}`;
}

export default function () {
  const token = signed({ sub: 'user', exp: 2000000000 }, 'secret');
  check(token, { 'is the known token': (text) => text === 'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyIiwiZXhwIjoyMDAwMDAwMDAwfQ.cPzzwbM2u7NCdx8C9ui-AjySRcWDrwy_44lLQ-k1HWA' });
  ws.connect(__ENV.WS, (socket) => {
    socket.on('open', () => socket.send(JSON.stringify({ connect: { token }, id: 1 })));
    socket.on('message', () => socket.ping());
    socket.on('pong', () => socket.close());
  });
}
