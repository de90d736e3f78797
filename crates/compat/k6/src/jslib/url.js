// URL and URLSearchParams for `http`, `https`, `ws`, `wss`, `ftp` and other schemes, after the URL Standard.
// Names of hosts are ASCII: a script encodes international names itself.

const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const isSpecial = (protocol) => protocol in PORTS;

/** Percent-encode all but the letters that a part may have, and what is encoded already. */
function encoded(text, more) {
  const kept = new RegExp(`[^\\u0021-\\u007e]|[${more}]`, 'gu');
  return text.replace(kept, (letter) => encodeURIComponent(letter).replace(/^[^%]$/, (plain) =>
    `%${plain.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`));
}

const FRAGMENT = '"<>`';
const QUERY = '"#<>';
const SPECIAL_QUERY = `${QUERY}'`;
const PATH = '"#<>?`{}';
const USER = `${PATH}/:;=@\\[\\]^|\\\\`;

/** A letter of UTF-8 as bytes in percent-encoding, or a single byte. */
const LETTER = /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}|%[\da-f]{2}/gi;

/** Decode `+` and `%xx` of a query; bytes that are no UTF-8 become U+FFFD. */
const decoded = (text) =>
  text.replace(/\+/g, ' ').replace(LETTER, (letter) => {
    try {
      return decodeURIComponent(letter);
    } catch (error) {
      return letter.length > 3 ? '\ufffd'.repeat(letter.length / 3) : '\ufffd';
    }
  });

/** Encode as a form does: a blank is `+`. */
const formEncoded = (text) =>
  encodeURIComponent(text)
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

export class URLSearchParams {
  constructor(init = '') {
    Object.defineProperty(this, 'pairs', { value: [], writable: true });
    Object.defineProperty(this, 'changed', { value: () => {}, writable: true });
    if (init === null || init === undefined) {
      return;
    }
    if (typeof init === 'object') {
      const pairs = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
      for (const pair of pairs) {
        const both = [...pair];
        if (both.length !== 2) {
          throw new TypeError('each pair of URLSearchParams needs a name and a value');
        }
        this.pairs.push(both.map(String));
      }
      return;
    }
    this.read(String(init));
  }

  read(text) {
    this.pairs = text
      .replace(/^\?/, '')
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [decoded(part), ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
      });
  }

  append(name, value) {
    this.pairs.push([String(name), String(value)]);
    this.changed();
  }

  delete(name, value) {
    this.pairs = this.pairs.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
    this.changed();
  }

  get(name) {
    const found = this.pairs.find((pair) => pair[0] === String(name));
    return found ? found[1] : null;
  }

  getAll(name) {
    return this.pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
  }

  has(name, value) {
    return this.pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }

  set(name, value) {
    const at = this.pairs.findIndex((pair) => pair[0] === String(name));
    if (at < 0) {
      this.pairs.push([String(name), String(value)]);
    } else {
      this.pairs[at][1] = String(value);
      this.pairs = this.pairs.filter((pair, place) => place <= at || pair[0] !== String(name));
    }
    this.changed();
  }

  sort() {
    this.pairs.sort((one, other) => (one[0] < other[0] ? -1 : Number(one[0] > other[0])));
    this.changed();
  }

  forEach(each, self) {
    for (const [name, value] of this.pairs) {
      each.call(self, value, name, this);
    }
  }

  get size() {
    return this.pairs.length;
  }

  * entries() {
    yield* this.pairs.map((pair) => [...pair]);
  }

  * keys() {
    yield* this.pairs.map((pair) => pair[0]);
  }

  * values() {
    yield* this.pairs.map((pair) => pair[1]);
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.pairs.map((pair) => pair.map(formEncoded).join('=')).join('&');
  }
}

/** Remove `.` and `..` from a path (RFC 3986, section 5.2.4). */
function withoutDots(path) {
  const out = [];
  const names = path.split('/');
  names.forEach((name, at) => {
    const plain = name.replace(/%2e/gi, '.');
    const isLast = at === names.length - 1;
    if (plain === '..') {
      if (out.length > 1) {
        out.pop();
      }
      if (isLast) {
        out.push('');
      }
    } else if (plain === '.') {
      if (isLast) {
        out.push('');
      }
    } else {
      out.push(name);
    }
  });
  return out.join('/');
}

const PARTS = /^(?:([a-z][a-z0-9+.-]*:))?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/i;

function invalid(text) {
  return new TypeError(`Invalid URL: ${text}`);
}

function readHost(url, authority, text) {
  const at = authority.lastIndexOf('@');
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/.exec(at < 0 ? '' : authority.slice(0, at));
  const found = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d*))?$/i.exec(authority.slice(at + 1));
  if (!found || (found[1] === '' && isSpecial(url.scheme) && url.scheme !== 'file:') || /[\s<>^|%\\]/.test(found[1])) {
    throw invalid(text);
  }
  if (Number(found[2]) > 65535) {
    throw invalid(text);
  }
  url.user = encoded(user, USER);
  url.secret = encoded(password, USER);
  url.host_ = isSpecial(url.scheme) ? found[1].toLowerCase() : found[1];
  url.port_ = found[2] === undefined || found[2] === '' || String(Number(found[2])) === PORTS[url.scheme] ? '' : String(Number(found[2]));
}

/** The parts of a text, below those of a base. */
function read(input, base) {
  const text = String(input).trim().replace(/[\t\n\r]/g, '');
  const special = base && isSpecial(base.scheme) ? true : /^(https?|wss?|ftp|file):/i.test(text);
  const slashed = special ? text.replace(/^[^?#]*/, (start) => start.replace(/\\/g, '/')) : text;
  const scheme = /^(https?|wss?|ftp):\/*/i.exec(slashed);
  const [, protocol, authority, path, query, fragment] = PARTS.exec(scheme && !(base && !/^[a-z]+:\/\//i.test(slashed)) ? slashed.replace(/^([a-z]+:)\/*/i, '$1//') : slashed);
  if (!protocol && !base) {
    throw invalid(input);
  }
  const url = { scheme: (protocol || base.scheme).toLowerCase(), user: '', secret: '', host_: null, port_: '' };
  if (authority !== undefined) {
    readHost(url, authority, input);
    url.path = path;
  } else if (protocol) {
    url.path = path;
  } else {
    Object.assign(url, { user: base.user, secret: base.secret, host_: base.host_, port_: base.port_ });
    if (path === '') {
      url.path = base.path;
    } else {
      url.path = path[0] === '/' ? path : base.path.replace(/[^/]*$/, '') + path;
    }
  }
  url.query = query === undefined && !protocol && authority === undefined && path === '' ? base.query : query || '';
  url.fragment = fragment || '';
  if (isSpecial(url.scheme)) {
    url.path = withoutDots(url.path[0] === '/' ? url.path : `/${url.path}`);
  } else if (url.host_ !== null && url.path !== '') {
    url.path = withoutDots(url.path);
  }
  url.path = encoded(url.path, PATH);
  url.query = encoded(url.query, isSpecial(url.scheme) ? SPECIAL_QUERY : QUERY);
  url.fragment = encoded(url.fragment, FRAGMENT);
  return url;
}

export class URL {
  constructor(input, base) {
    const parts = read(input, base === undefined || base === null || base === '' ? null : read(base, null));
    Object.defineProperty(this, 'parts', { value: parts, writable: true });
    Object.defineProperty(this, 'searchParams', { value: new URLSearchParams(parts.query), enumerable: true });
    this.searchParams.changed = () => {
      const text = this.searchParams.toString();
      this.parts.query = text === '' ? '' : `?${text}`;
    };
  }

  static canParse(input, base) {
    try {
      return Boolean(new URL(input, base));
    } catch (error) {
      return false;
    }
  }

  get protocol() {
    return this.parts.scheme;
  }

  set protocol(value) {
    const scheme = `${String(value).replace(/:.*$/, '').toLowerCase()}:`;
    if (/^[a-z][a-z0-9+.-]*:$/.test(scheme) && isSpecial(scheme) === isSpecial(this.parts.scheme)) {
      this.parts.scheme = scheme;
      this.port = this.parts.port_;
    }
  }

  get username() {
    return this.parts.user;
  }

  set username(value) {
    this.parts.user = encoded(String(value), USER);
  }

  get password() {
    return this.parts.secret;
  }

  set password(value) {
    this.parts.secret = encoded(String(value), USER);
  }

  get hostname() {
    return this.parts.host_ || '';
  }

  set hostname(value) {
    this.host = this.port ? `${value}:${this.port}` : String(value);
  }

  get port() {
    return this.parts.port_;
  }

  set port(value) {
    const [digits] = /^\d*/.exec(String(value));
    if (Number(digits) <= 65535) {
      this.parts.port_ = digits === '' || digits === PORTS[this.parts.scheme] ? '' : String(Number(digits));
    }
  }

  get host() {
    return this.port ? `${this.hostname}:${this.port}` : this.hostname;
  }

  set host(value) {
    const { user, secret, port_ } = this.parts;
    readHost(this.parts, String(value), value);
    Object.assign(this.parts, { user, secret });
    if (!/:\d+$/.test(value)) {
      this.parts.port_ = port_;
    }
  }

  get origin() {
    return isSpecial(this.protocol) && this.protocol !== 'file:' ? `${this.protocol}//${this.host}` : 'null';
  }

  get pathname() {
    return this.parts.path;
  }

  set pathname(value) {
    const path = encoded(String(value), PATH);
    this.parts.path = isSpecial(this.protocol) ? withoutDots(path[0] === '/' ? path : `/${path}`) : path;
  }

  get search() {
    return this.parts.query === '?' ? '' : this.parts.query;
  }

  set search(value) {
    const text = String(value).replace(/^\?/, '');
    this.parts.query = text === '' ? '' : `?${encoded(text, isSpecial(this.protocol) ? SPECIAL_QUERY : QUERY)}`;
    this.searchParams.read(text);
  }

  get hash() {
    return this.parts.fragment === '#' ? '' : this.parts.fragment;
  }

  set hash(value) {
    const text = String(value).replace(/^#/, '');
    this.parts.fragment = text === '' ? '' : `#${encoded(text, FRAGMENT)}`;
  }

  get href() {
    const { scheme, user, secret, host_, path, query, fragment } = this.parts;
    const login = user || secret ? `${user}${secret ? `:${secret}` : ''}@` : '';
    const authority = host_ === null ? '' : `//${login}${this.host}`;
    return scheme + authority + path + query + fragment;
  }

  set href(value) {
    this.parts = read(value, null);
    this.searchParams.read(this.parts.query);
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }
}
