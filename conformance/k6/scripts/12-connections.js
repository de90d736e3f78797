// A connection for each request.
import http from 'k6/http';

export const options = { vus: 5, iterations: 20, noConnectionReuse: true };

export default function () {
  http.get(`${__ENV.BASE}/auth`, { headers: { 'x-forwarded-for': `10.0.0.${__ITER}` } });
}
