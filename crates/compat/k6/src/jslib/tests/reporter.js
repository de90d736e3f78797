import { equal } from 'assert';
import { htmlReport } from 'https://raw.githubusercontent.com/benc-uk/k6-reporter/1.0.0/index.js';

const page = htmlReport(JSON.parse(globalThis.summaryData), { title: 'a <b>' });
for (const part of [
  '<!DOCTYPE html>', '<h1>Load test: a &lt;b&gt;</h1>', '<tr class="bad"><td>http_req_duration</td><td>avg&lt;1</td><td>✗ failed</td></tr>',
  '<td>g1::inner::deep</td><td>8</td><td>0</td>', '<tr><td>my_rate</td><td>50.00%</td><td>4</td><td>4</td></tr>', '<th>p(95)</th>',
]) {
  equal(page.includes(part), true, part);
}
equal(page.includes('a <b>'), false);
