// Cookies that setup takes and that each user sets again.
import http from 'k6/http';

const BASE = __ENV.BASE;

export function setup() {
  const { cookies } = http.get(`${BASE}/cookies`);
  return { token: cookies['XSRF-TOKEN'][0].value };
}

export default function ({ token }) {
  const jar = http.cookieJar();
  jar.set(BASE, 'XSRF-TOKEN', token);
  jar.set(BASE, 'theme', 'dark', { path: '/inner' });
  http.post(`${BASE}/monitors`, { name: 'm' }, { headers: { 'X-XSRF-TOKEN': token } });
  http.get(`${BASE}/inner/page`, { cookies: { extra: '1', theme: { value: 'light', replace: true } } });
  const other = new http.CookieJar();
  other.set(BASE, 'own', 'yes');
  http.get(`${BASE}/page`, { jar: other });
}
