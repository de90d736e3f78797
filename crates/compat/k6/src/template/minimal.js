import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 10, // users at the same time
  duration: '30s',
};

// What each user does, again and again.
export default function () {
  const response = http.get('http://127.0.0.1:8080/');
  check(response, { 'status is 200': (r) => r.status === 200 });
  sleep(1);
}
