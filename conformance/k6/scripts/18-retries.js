// A helper that takes a function with a blocking call.
import http from 'k6/http';
import { check, sleep } from 'k6';

function retried(attempts, run) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = run(attempt);
    if (answer.status < 400 || attempt === attempts) {
      return answer;
    }
    sleep(0.01);
  }
}

export function setup() {
  return ['a', 'b'].map((name) => http.post(`${__ENV.BASE}/files`, { file: http.file('data', name) }).json('id'));
}

export default function (files) {
  for (const file of files) {
    const answer = retried(3, (attempt) => http.get(`${__ENV.BASE}/status/${attempt < 2 ? 503 : 200}?file=${file}`, { responseType: 'binary' }));
    check(answer, { 'is read at last': (r) => r.status === 200 && r.body instanceof ArrayBuffer });
  }
}
