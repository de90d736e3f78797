// Tables as text: CSV and its relatives, read and written.

const GUESSES = [',', '\t', '|', ';', '\u001e', '\u001f'];
const NUMBER = /^\s*-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;
const LIMIT = 2 ** 53;

/** The rows of a text, and whether a quote is open at the end. */
function cut(text, { delimiter, quote, escape, comments, preview }) {
  const rows = [];
  const errors = [];
  let row = [];
  let at = 0;
  const full = () => preview > 0 && rows.length >= preview;
  const endRow = () => {
    rows.push(row);
    row = [];
  };
  while (at <= text.length && !full()) {
    if (comments && row.length === 0 && text.startsWith(comments, at)) {
      const end = text.slice(at).search(/\r\n|\n|\r/);
      if (end < 0) {
        return { rows, errors };
      }
      at += end + (text.startsWith('\r\n', at + end) ? 2 : 1);
    } else {
      let field = '';
      if (quote && text[at] === quote) {
        at += 1;
        for (;;) {
          const close = text.indexOf(quote, at);
          if (escape !== quote) {
            const escaped = text.indexOf(escape + quote, at);
            if (escaped >= 0 && escaped < close) {
              field += text.slice(at, escaped) + quote;
              at = escaped + escape.length + 1;
              continue;
            }
          }
          if (close < 0) {
            errors.push({ type: 'Quotes', code: 'MissingQuotes', message: 'Quoted field unterminated', row: rows.length, index: at });
            field += text.slice(at);
            at = text.length;
            break;
          }
          field += text.slice(at, close);
          at = close + 1;
          if (escape === quote && text[at] === quote) {
            field += quote;
            at += 1;
            continue;
          }
          break;
        }
      }
      const rest = at;
      while (at < text.length && !text.startsWith(delimiter, at) && text[at] !== '\n' && text[at] !== '\r') {
        at += 1;
      }
      field += text.slice(rest, at);
      row.push(field);
      if (at >= text.length) {
        endRow();
        break;
      }
      if (text.startsWith(delimiter, at)) {
        at += delimiter.length;
      } else {
        at += text.startsWith('\r\n', at) ? 2 : 1;
        endRow();
        if (at === text.length) {
          row.push('');
          if (!full()) {
            endRow();
          }
          break;
        }
      }
    }
  }
  return { rows, errors };
}

/** The delimiter that cuts the first rows into the most fields, the same number in each. */
function guess(text, config) {
  let best = { delimiter: ',', fields: 1 };
  for (const delimiter of config.delimitersToGuess || GUESSES) {
    const { rows } = cut(text, { ...config, delimiter, preview: 10 });
    const filled = rows.filter((row) => row.length > 1 || row[0] !== '');
    const fields = filled.length > 0 ? filled[0].length : 0;
    if (fields > best.fields && filled.every((row) => row.length === fields)) {
      best = { delimiter, fields };
    }
  }
  return best.delimiter;
}

function typed(value) {
  if (value === 'true' || value === 'TRUE') {
    return true;
  }
  if (value === 'false' || value === 'FALSE') {
    return false;
  }
  if (NUMBER.test(value) && Math.abs(Number(value)) < LIMIT) {
    return Number(value);
  }
  return value === '' ? null : value;
}

function isWanted(row, skip) {
  if (!skip) {
    return true;
  }
  return skip === 'greedy' ? row.join('').trim() !== '' : row.length > 1 || row[0] !== '';
}

/** Names of columns; the second of a name is `name_1`. */
function headings(row, transform) {
  const seen = {};
  return row.map((name, at) => {
    const heading = transform ? transform(name, at) : name;
    seen[heading] = (seen[heading] || 0) + 1;
    return seen[heading] > 1 ? `${heading}_${seen[heading] - 1}` : heading;
  });
}

/** Read a table. The result has `data`, `errors` and `meta`. */
export function parse(input, config = {}) {
  const text = String(input).replace(/^\ufeff/, '');
  const quote = config.quoteChar === undefined ? '"' : config.quoteChar;
  const settings = {
    quote,
    escape: config.escapeChar || quote,
    comments: config.comments === true ? '#' : config.comments || '',
    delimitersToGuess: config.delimitersToGuess,
    preview: 0,
  };
  const given = typeof config.delimiter === 'function' ? config.delimiter(text) : config.delimiter;
  settings.delimiter = given || guess(text, settings);
  const found = cut(text, settings);
  const { errors } = found;
  let rows = text === '' ? [] : found.rows.filter((row) => isWanted(row, config.skipEmptyLines));
  const fields = config.header && rows.length > 0 ? headings(rows.shift(), config.transformHeader) : undefined;
  const truncated = config.preview > 0 && rows.length > config.preview;
  if (config.preview > 0) {
    rows = rows.slice(0, config.preview);
  }
  const dynamic = (column) => {
    const rule = config.dynamicTyping;
    if (typeof rule === 'function') {
      return rule(column);
    }
    return typeof rule === 'object' && rule !== null ? rule[column] : rule;
  };
  const value = (field, column) => {
    const changed = config.transform ? config.transform(field, column) : field;
    return dynamic(column) ? typed(changed) : changed;
  };
  const data = rows.map((row, index) => {
    if (!fields) {
      return row.map(value);
    }
    if (row.length !== fields.length) {
      const many = row.length > fields.length;
      errors.push({
        type: 'FieldMismatch',
        code: many ? 'TooManyFields' : 'TooFewFields',
        message: `${many ? 'Too many' : 'Too few'} fields: expected ${fields.length} fields but parsed ${row.length}`,
        row: index,
      });
    }
    const record = {};
    row.forEach((field, at) => {
      if (at < fields.length) {
        record[fields[at]] = value(field, fields[at]);
      } else {
        (record.__parsed_extra = record.__parsed_extra || []).push(field);
      }
    });
    return record;
  });
  const linebreak = (/\r\n|\n|\r/.exec(text) || ['\n'])[0];
  const meta = { delimiter: settings.delimiter, linebreak, aborted: false, truncated, cursor: text.length };
  if (fields) {
    meta.fields = fields;
  }
  const result = { data, errors, meta };
  if (config.step) {
    for (const each of data) {
      config.step({ data: each, errors: [], meta }, { abort() {}, pause() {}, resume() {} });
    }
  }
  if (config.complete) {
    config.complete(result);
  }
  return result;
}

/** Write a table: a list of lists or of objects, or `{ fields, data }`. */
export function unparse(input, config = {}) {
  const { delimiter = ',', newline = '\r\n', quoteChar = '"', escapeChar = quoteChar, quotes = false, header = true } = config;
  const rows = Array.isArray(input) ? input : input.data;
  let { columns } = config;
  if (!columns && !Array.isArray(input)) {
    columns = input.fields;
  }
  const isRecord = rows.length > 0 && !Array.isArray(rows[0]);
  if (!columns && isRecord) {
    columns = Object.keys(rows[0]);
  }
  const escaped = (value, at) => {
    const text = value === null || value === undefined ? '' : String(value);
    const rule = Array.isArray(quotes) ? quotes[at] : quotes;
    const special = [delimiter, quoteChar, '\n', '\r'].some((each) => text.includes(each)) || /^\s|\s$/.test(text);
    return rule || special ? quoteChar + text.split(quoteChar).join(escapeChar + quoteChar) + quoteChar : text;
  };
  const line = (row) => row.map(escaped).join(delimiter);
  const lines = rows.map((row) => line(Array.isArray(row) ? row : columns.map((column) => row[column])));
  return (columns && header ? [line(columns), ...lines] : lines).join(newline);
}

export default { parse, unparse };
