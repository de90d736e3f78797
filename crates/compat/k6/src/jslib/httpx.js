// A session for requests that share a base URL, headers, tags and a time limit.

import http from 'k6/http';

/** A request of `Httpx.batch`. */
export class Request {
  constructor(method, path, body = null, params = {}) {
    Object.assign(this, { method, path, body, params });
  }
}

const made = (method, hasBody) =>
  function make(path, ...rest) {
    return hasBody ? new Request(method, path, ...rest) : new Request(method, path, null, ...rest);
  };

export const Get = made('GET', false);
export const Head = made('HEAD', false);
export const Post = made('POST', true);
export const Put = made('PUT', true);
export const Patch = made('PATCH', true);
export const Delete = made('DELETE', true);
export const Options = made('OPTIONS', true);
export const Trace = made('TRACE', true);

export class Httpx {
  constructor({ baseURL = '', headers = {}, tags = {}, timeout = 60000, ...rest } = {}) {
    Object.assign(this, { baseURL, headers: { ...headers }, tags: { ...tags }, timeout, rest });
  }

  setBaseUrl(url) {
    this.baseURL = url;
  }

  addHeader(name, value) {
    this.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }

  removeHeader(name) {
    delete this.headers[name];
  }

  clearHeader(name) {
    this.removeHeader(name);
  }

  clearHeaders() {
    this.headers = {};
  }

  addTag(name, value) {
    this.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.tags, tags);
  }

  removeTag(name) {
    delete this.tags[name];
  }

  clearTags() {
    this.tags = {};
  }

  /** Where a path leads: an absolute URL stays as it is. */
  url(path) {
    const text = String(path);
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? path : this.baseURL + text;
  }

  /** The session's parameters under those of a request. */
  params(own = {}) {
    const given = own || {};
    return {
      timeout: this.timeout,
      ...this.rest,
      ...given,
      headers: { ...this.headers, ...given.headers },
      tags: { ...this.tags, ...given.tags },
    };
  }

  request(method, path, body = null, params = {}) {
    return http.request(method, this.url(path), body, this.params(params));
  }

  asyncRequest(method, path, body = null, params = {}) {
    return http.asyncRequest(method, this.url(path), body, this.params(params));
  }

  batch(requests, params = {}) {
    return http.batch(
      requests.map((each) => [
        each.method,
        this.url(each.path),
        each.body,
        this.params({
          ...params,
          ...each.params,
          headers: { ...params.headers, ...(each.params || {}).headers },
          tags: { ...params.tags, ...(each.params || {}).tags },
        }),
      ]),
    );
  }
}

for (const name of ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']) {
  const method = name.toUpperCase();
  const capital = name[0].toUpperCase() + name.slice(1);
  const hasBody = name !== 'get' && name !== 'head';
  const define = (key, send) =>
    Object.defineProperty(Httpx.prototype, key, {
      configurable: true,
      writable: true,
      value(path, ...rest) {
        const [body, params] = hasBody ? rest : [null, ...rest];
        return this[send](method, path, body, params);
      },
    });
  define(name, 'request');
  define(`async${capital}`, 'asyncRequest');
}
