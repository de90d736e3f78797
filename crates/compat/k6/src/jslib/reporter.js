// A page with the results of a run, as `handleSummary` receives them.

import { humanizeValue } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const html = (text) => String(text).replace(/[&<>"']/g, (letter) => HTML[letter]);
const row = (cells, tag = 'td') => `<tr>${cells.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join('')}</tr>`;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;width:100%}td,th{border-bottom:1px solid #8884;padding:.2rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}.bad{color:#b00020}.good{color:#11734b}:root{color-scheme:light dark}`;

function table(title, head, rows) {
  return rows.length === 0 ? '' : `<h2>${html(title)}</h2>\n<table>${row(head, 'th')}\n${rows.join('\n')}\n</table>`;
}

function metrics(data, type, stats) {
  const names = Object.keys(data.metrics).filter((name) => data.metrics[name].type === type).sort();
  return names.map((name) => {
    const metric = data.metrics[name];
    const values = stats.map((stat) => {
      const value = metric.values[stat];
      if (value === undefined) {
        return '';
      }
      return stat === 'passes' || stat === 'fails' ? value : humanizeValue(value, metric) + (stat === 'rate' && type === 'counter' ? '/s' : '');
    });
    return row([name, ...values]);
  });
}

function thresholds(data) {
  return Object.entries(data.metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {}).map(([text, { ok }]) =>
      `<tr class="${ok ? 'good' : 'bad'}"><td>${html(name)}</td><td>${html(text)}</td><td>${ok ? '✓ holds' : '✗ failed'}</td></tr>`));
}

function checks(group) {
  const own = (group.checks || []).map((check) =>
    `<tr class="${check.fails === 0 ? 'good' : 'bad'}"><td>${html(check.path.slice(2))}</td><td>${check.passes}</td><td>${check.fails}</td></tr>`);
  return own.concat(...(group.groups || []).map(checks));
}

/** The page. `title` is shown above the results. */
export function htmlReport(data, options = {}) {
  const { title = new Date().toISOString().slice(0, 16).replace('T', ' ') } = options;
  const trends = (data.options && data.options.summaryTrendStats) || ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
  const parts = [
    table('Thresholds', ['metric', 'threshold', 'result'], thresholds(data)),
    table('Checks', ['check', 'passed', 'failed'], checks(data.root_group)),
    table('Times and other distributions', ['metric', ...trends], metrics(data, 'trend', trends)),
    table('Rates', ['metric', 'rate', 'passes', 'fails'], metrics(data, 'rate', ['rate', 'passes', 'fails'])),
    table('Counters', ['metric', 'count', 'rate'], metrics(data, 'counter', ['count', 'rate'])),
    table('Gauges', ['metric', 'value', 'min', 'max'], metrics(data, 'gauge', ['value', 'min', 'max'])),
  ];
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Load test: ${html(title)}</title><style>${STYLE}</style></head>
<body><h1>Load test: ${html(title)}</h1>
${parts.filter((part) => part !== '').join('\n')}
</body></html>
`;
}

export default { htmlReport };
