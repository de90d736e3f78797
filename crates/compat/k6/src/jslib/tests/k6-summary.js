import { equal } from 'assert';
import { humanizeValue, jUnit, textSummary } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';

const data = JSON.parse(globalThis.summaryData);
// The text is what k6 v1.8 printed for the run of this data.
const lines = textSummary(data, { enableColors: false }).split('\n');
globalThis.summaryText.replace(/\n$/, '').split('\n').forEach((expected, at) => equal(lines[at], expected, `line ${at}`));
equal(`${lines.join('\n')}\n`.length, globalThis.summaryText.length);

const colored = textSummary(data, { indent: '  ' });
equal(colored.includes('\u001b[32m      ✓ two ok\u001b[0m'), true);
equal(colored.replace(/\u001b\[[\d;]*m/g, ''), lines.map((line) => (line === '' ? '' : ` ${line}`)).join('\n'));
equal(textSummary({ ...data, options: { ...data.options, noColor: true } }).includes('\u001b'), false);
equal(textSummary(data, { summaryTrendStats: ['count', 'p(99)'] }).includes('p(90)'), false);

equal(humanizeValue(0.99999, { type: 'rate', contains: 'default' }), '99.99%');
equal(humanizeValue(12345.6, { type: 'trend', contains: 'time' }, 'ms'), '12345.60ms');
equal(humanizeValue(12345.6, { type: 'trend', contains: 'time' }), '12.34s');
equal(humanizeValue(1234, { type: 'counter', contains: 'data' }), '1.2 kB');
equal(humanizeValue(0.12345678, { type: 'gauge', contains: 'default' }), '0.123457');

const metrics = { 'a{b:c}': { thresholds: { 'p(95)<"5"': { ok: true }, 'avg<1': { ok: false } } }, plain: {} };
equal(jUnit({ metrics }, { name: 'x & y' }).split('\n'), [
  '<?xml version="1.0"?>',
  '<testsuites tests="2" failures="1">',
  '<testsuite name="x &amp; y" tests="2" failures="1"><testcase name="a{b:c} - p(95)&lt;&quot;5&quot;" classname="Unnamed folder" />',
  '<testcase name="a{b:c} - avg&lt;1" classname="Unnamed folder"><failure message="failed" /></testcase>',
  '</testsuite>',
  '</testsuites>',
]);
