// Rows of a CSV that users share, URLs with parameters, and expectations as checks.
import http from 'k6/http';
import { SharedArray } from 'k6/data';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';
import { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';

const people = new SharedArray('people', () => papaparse.parse(open('./lib/people.csv'), { header: true, skipEmptyLines: true }).data);

export default function () {
  const person = people[__ITER % people.length];
  describe('a person is found', () => {
    const url = new URL(`${__ENV.BASE}/people`);
    url.searchParams.append('name', person.name);
    url.searchParams.append('trace', 'a b');
    const answer = http.get(url.toString());
    expect(answer.status, 'status').to.equal(200);
    expect(answer).to.have.validJsonBody();
    expect(answer.json().items, 'items').to.be.an('array');
  });
  [1, 2].forEach((page) => http.get(`${__ENV.BASE}/people/${person.id}?page=${page}`));
}
