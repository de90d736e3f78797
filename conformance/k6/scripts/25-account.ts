// Forms that are filled in and submitted.
import http from 'k6/http';
import { check, group } from 'k6';

export default function () {
  let page = group('sign in', () => http.get(`${__ENV.BASE}/page`));
  page = page.submitForm({ formSelector: 'form', fields: { email: 'a@a.test' }, submitSelector: '#go' });
  check(page, { 'is submitted': (r) => r.status === 200 || r.status === 201 });
  group('account', () => {
    const home = http.get(`${__ENV.BASE}/page`);
    check(home.clickLink({ selector: 'a.next' }), { 'link is followed': (r) => r.url.endsWith('/next') });
  });
}
