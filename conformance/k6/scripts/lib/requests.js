import http from 'k6/http';
import encoding from 'k6/encoding';

export function withBasic(user, password) {
  return { headers: { Authorization: `Basic ${encoding.b64encode(`${user}:${password}`)}` } };
}

export function send(path, body) {
  return http.post(`${__ENV.BASE}${path}`, JSON.stringify(body), withBasic('u', 'p'));
}
