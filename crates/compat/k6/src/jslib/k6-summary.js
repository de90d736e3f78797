// The results of a run, as `handleSummary` receives them, as text for people and as JUnit's XML.

const CODES = { green: '32', red: '31', dots: '2', value: '36', extra: '36;2' };
const UNITS = { s: ['s', 0.001], ms: ['ms', 1], us: ['µs', 1000] };

const cut = (value) => Math.trunc(value * 100) / 100;

function humanBytes(bytes) {
  if (bytes < 10) {
    return `${bytes} B`;
  }
  const power = Math.min(6, Math.floor(Math.log(bytes) / Math.log(1000)));
  const part = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${part.toFixed(part < 10 ? 1 : 0)} ${['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'][power]}`;
}

function humanTime(milliseconds) {
  if (milliseconds === 0) {
    return '0s';
  }
  if (milliseconds < 0.001) {
    return `${Math.trunc(milliseconds * 1e6)}ns`;
  }
  if (milliseconds < 1) {
    return `${cut(milliseconds * 1000)}µs`;
  }
  if (milliseconds < 1000) {
    return `${cut(milliseconds)}ms`;
  }
  if (milliseconds < 60000) {
    return `${cut(milliseconds / 1000)}s`;
  }
  const seconds = Math.trunc(milliseconds / 1000);
  const minutes = Math.trunc(seconds / 60);
  const hours = Math.trunc(minutes / 60);
  return `${hours > 0 ? `${hours}h` : ''}${minutes - hours * 60}m${seconds - minutes * 60}s`;
}

/** A value of a metric with its unit; `timeUnit` is `s`, `ms` or `us`. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') {
    return `${cut(value * 100).toFixed(2)}%`;
  }
  if (metric.contains === 'data') {
    return humanBytes(value);
  }
  if (metric.contains === 'time') {
    const unit = UNITS[timeUnit];
    return unit ? (value * unit[1]).toFixed(2) + unit[0] : humanTime(value);
  }
  return String(Number(value.toFixed(6)));
}

const isCrossed = (metric) => Object.values(metric.thresholds || {}).some((threshold) => !threshold.ok);
const width = (text) => [...text].length;
const padded = (text, room, shown = text) => shown + ' '.repeat(room - width(text));

function statOf(value, stat, human) {
  if (value === undefined) {
    return '-';
  }
  return stat === 'count' ? String(value) : human(value);
}

function cells(metric, stats, timeUnit) {
  const human = (value) => humanizeValue(value, metric, timeUnit);
  const { values } = metric;
  switch (metric.type) {
    case 'counter':
      return { value: human(values.count), extras: [`${human(values.rate)}/s`] };
    case 'gauge':
      return { value: human(values.value), extras: [`min=${human(values.min)}`, `max=${human(values.max)}`] };
    case 'rate':
      return { value: human(values.rate), extras: [`${values.passes} out of ${values.passes + values.fails}`] };
    default:
      return { trend: stats.map((stat) => [stat, statOf(values[stat], stat, human)]) };
  }
}

/** Letters without their case first, since the engine's own comparison goes by code points. */
function byName(one, other) {
  const [small, smallOther] = [one.toLowerCase(), other.toLowerCase()];
  if (small !== smallOther) {
    return small < smallOther ? -1 : 1;
  }
  return one === other ? 0 : Number(one < other) * 2 - 1;
}

const longest = (texts) => texts.reduce((most, text) => Math.max(most, width(text)), 0);

function metricLines(data, options, paint) {
  const names = Object.keys(data.metrics).sort(byName);
  const rows = names.map((name) => {
    const metric = data.metrics[name];
    const [, parent, tags] = /^([^{]*)\{(.*)\}$/.exec(name) || [null, name, null];
    return { parent, metric, tags, title: tags === null ? name : `  { ${tags} }`, ...cells(metric, options.stats, options.timeUnit) };
  });
  rows.sort((one, other) => byName(one.parent, other.parent));
  const title = longest(rows.map((row) => row.title));
  const value = longest(rows.filter((row) => !row.trend).map((row) => row.value));
  const extra = [0, 1].map((at) => longest(rows.filter((row) => row.extras && at in row.extras).map((row) => row.extras[at])));
  const trend = options.stats.map((stat, at) => longest(rows.filter((row) => row.trend).map((row) => row.trend[at][1])));
  return rows.map((row) => {
    let shown;
    if (row.trend) {
      shown = row.trend.map(([stat, text], at) => `${stat}=${padded(text, trend[at], paint(text, 'value'))}`);
    } else {
      const extras = row.extras.map((text, at) => padded(text, row.extras.length > 1 ? extra[at] : width(text), paint(text, 'extra')));
      shown = [padded(row.value, value, paint(row.value, 'value')), ...extras];
    }
    let mark = ' ';
    if (row.metric.thresholds) {
      mark = isCrossed(row.metric) ? paint('✗', 'red') : paint('✓', 'green');
    }
    const dots = paint(`${'.'.repeat(title + 3 - width(row.title))}:`, 'dots');
    const name = row.tags === null ? `${mark} ${row.title}` : `  ${mark} ${row.title.slice(2)}`;
    return `${options.indent}  ${name}${dots} ${shown.join(' ')}`;
  });
}

function checkLines(check, indent, paint) {
  if (check.fails === 0) {
    return [paint(`${indent}✓ ${check.name}`, 'green')];
  }
  const percent = Math.floor((100 * check.passes) / (check.passes + check.fails));
  const why = `↳  ${percent}% — ✓ ${check.passes} / ✗ ${check.fails}`;
  return [paint(`${indent}✗ ${check.name}\n${indent} ${why}`, 'red')];
}

function groupLines(group, indent, paint) {
  const lines = group.name === '' ? [] : [`${indent}█ ${group.name}`, ''];
  const inner = group.name === '' ? indent : `${indent}  `;
  for (const check of Object.values(group.checks || {})) {
    lines.push(...checkLines(check, inner, paint));
  }
  if (lines.length > 0 && lines[lines.length - 1] !== '') {
    lines.push('');
  }
  for (const each of Object.values(group.groups || {})) {
    lines.push(...groupLines(each, inner, paint));
  }
  return lines;
}

/** The results as text, in the form of k6 before v2: checks by group, then all metrics by name. */
export function textSummary(data, options = {}) {
  const { indent = ' ', enableColors = true } = options;
  const configured = data.options || {};
  const colored = enableColors && !configured.noColor;
  const paint = (text, kind) => (colored ? `\u001b[${CODES[kind]}m${text}\u001b[0m` : text);
  const stats = options.summaryTrendStats || configured.summaryTrendStats || ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
  const timeUnit = options.summaryTimeUnit || configured.summaryTimeUnit;
  const groups = groupLines(data.root_group, `${indent}    `, paint);
  return [...groups, ...metricLines(data, { indent, stats, timeUnit }, paint)].join('\n');
}

const XML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;' };
const xml = (text) => String(text).replace(/[&<>"']/g, (letter) => XML[letter]);

/** The thresholds as test cases of JUnit. */
export function jUnit(data, options = {}) {
  const { name = 'k6 thresholds', classname = 'Unnamed folder' } = options;
  const cases = [];
  let failures = 0;
  for (const [metric, { thresholds }] of Object.entries(data.metrics)) {
    for (const [threshold, { ok }] of Object.entries(thresholds || {})) {
      const start = `<testcase name="${xml(`${metric} - ${threshold}`)}" classname="${xml(classname)}"`;
      failures += ok ? 0 : 1;
      cases.push(ok ? `${start} />` : `${start}><failure message="failed" /></testcase>`);
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return [
    '<?xml version="1.0"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${xml(name)}" ${counts}>${cases.join('\n')}`,
    '</testsuite>',
    '</testsuites>',
  ].join('\n');
}
