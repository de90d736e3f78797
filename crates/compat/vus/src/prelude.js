// The modules of k6 as far as they are JavaScript: they turn the arguments of scripts into plain values for
// `native`, and its results into the objects that scripts expect. All users of a realm share what is here, so
// that nothing may be kept for a user except under its number.
(function (native) {
"use strict";

const { keys, defineProperty, setPrototypeOf, create, freeze } = Object;
const isBuffer = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);

// Names and values, one after the other.
function flat(object, text) {
  if (object === undefined || object === null) return null;
  const list = [];
  for (const key of keys(object)) {
    const value = object[key];
    if (value !== undefined && value !== null) list.push(key, text(value));
  }
  return list;
}
function tagText(value) {
  if (typeof value === "object" || typeof value === "function") {
    throw new TypeError("invalid value of a tag; use a string, a number or a boolean");
  }
  return String(value);
}
const tagsOf = (tags) => flat(tags, tagText);

// The modules in files of their own, which are compiled when a script first needs them.
const loaded = {};
const load = (name) => (loaded[name] ??= native.load(name)(native, {
  formBody, send, request, bytesOf, isBuffer, awaitEvents, forgetEvents,
}));

// What a user's functions wait for beside timers: the receivers of the events of its sockets and requests, by
// their numbers.
const receivers = new Map();
function awaitEvents(number, receive) {
  const user = native.vu();
  const own = receivers.get(user) ?? new Map();
  receivers.set(user, own);
  own.set(number, receive);
}
function forgetEvents(number) {
  const own = receivers.get(native.vu());
  if (own?.delete(number) && own.size === 0) receivers.delete(native.vu());
}

// ---------------------------------------------------------------- k6

function refuseAsync(fn, where) {
  if (fn !== null && typeof fn === "object" ? typeof fn.then === "function" : false) {
    throw new TypeError(`${where} does not take asynchronous functions`);
  }
}
const AsyncFunction = (async () => {}).constructor;

function check(value, sets, tags) {
  native.running("check()");
  if (sets === undefined || sets === null) throw new TypeError("check() needs an object of conditions");
  const list = tagsOf(tags);
  let all = true;
  for (const name of keys(sets)) {
    if (name.includes("::")) throw new Error(`invalid name of a check: "${name}" contains "::"`);
    let result = sets[name];
    if (typeof result === "function") {
      if (result instanceof AsyncFunction) refuseAsync({ then() {} }, "check()");
      try {
        result = result(value);
      } catch (error) {
        native.check(name, false, list);
        throw error;
      }
      refuseAsync(result, "check()");
    }
    const passed = Boolean(result);
    native.check(name, passed, list);
    all &&= passed;
  }
  return all;
}

function group(name, fn) {
  native.running("group()");
  name = String(name);
  if (name.includes("::")) throw new Error(`invalid name of a group: "${name}" contains "::"`);
  if (typeof fn !== "function") throw new TypeError("group() needs a function");
  if (fn instanceof AsyncFunction) refuseAsync({ then() {} }, "group()");
  const before = native.enter(name);
  try {
    return fn();
  } finally {
    native.leave(before);
  }
}

const k6 = {
  check,
  group,
  sleep(seconds) {
    native.running("sleep()");
    native.sleep(Number(seconds));
  },
  fail(message) {
    throw new Error(message === undefined ? "" : String(message));
  },
  randomSeed(seed) {
    native.seed(Number(seed));
  },
};
k6.default = { ...k6 };

// ---------------------------------------------------------------- k6/metrics

class Metric {
  #id;
  constructor(kind, name, isTime) {
    this.name = String(name);
    this.#id = native.metric(kind, this.name, Boolean(isTime));
    freeze(this);
  }
  add(value, tags) {
    native.running("metric.add()");
    const number = typeof value === "boolean" ? Number(value) : value === null ? NaN : Number(value);
    if (Number.isNaN(number)) {
      return native.refused(`'${value}' is an invalid value for metric '${this.name}', a number or a boolean value is expected`);
    }
    native.add(this.#id, number, tagsOf(tags));
    return true;
  }
}
const metrics = {
  Counter: class Counter extends Metric {
    constructor(name, isTime) {
      super("counter", name, isTime);
    }
  },
  Gauge: class Gauge extends Metric {
    constructor(name, isTime) {
      super("gauge", name, isTime);
    }
  },
  Rate: class Rate extends Metric {
    constructor(name, isTime) {
      super("rate", name, isTime);
    }
  },
  Trend: class Trend extends Metric {
    constructor(name, isTime) {
      super("trend", name, isTime);
    }
  },
};
metrics.default = { ...metrics };

// ---------------------------------------------------------------- k6/http

class FileData {
  constructor(data, filename, type) {
    this.data = data;
    this.filename = filename === undefined ? native.nanos() : String(filename);
    this.content_type = type === undefined ? "application/octet-stream" : String(type);
  }
}

class Statuses {
  constructor(list) {
    this.list = list;
  }
}
function expectedStatuses(...given) {
  const list = [];
  for (const one of given) {
    if (typeof one === "number") list.push(one, one);
    else if (one !== null && typeof one === "object" && Number.isInteger(one.min) && Number.isInteger(one.max)) {
      list.push(one.min, one.max);
    } else throw new TypeError("expectedStatuses() takes statuses and objects such as { min: 200, max: 299 }");
  }
  if (list.length === 0) throw new TypeError("expectedStatuses() needs at least one status");
  return new Statuses(list);
}
const callbacks = new Map();
function statusesOf(callback) {
  if (callback === null) return null;
  if (callback instanceof Statuses) return callback.list;
  throw new TypeError("responseCallback must be null or the result of http.expectedStatuses()");
}

class TaggedUrl {
  constructor(url, name) {
    this.url = url;
    this.name = name;
  }
  toString() {
    return this.url;
  }
}
function url(parts, ...values) {
  if (!Array.isArray(parts)) return new TaggedUrl(String(parts), String(parts));
  let [text, name] = [parts[0], parts[0]];
  values.forEach((value, at) => {
    text += String(value) + parts[at + 1];
    name += "${}" + parts[at + 1];
  });
  return new TaggedUrl(text, name);
}

// Text of a value in a form, as k6's programming language prints it.
function formText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
function escapeForm(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => "%" + letter.charCodeAt(0).toString(16).toUpperCase())
    .replace(/%20/g, "+");
}
function formBody(object) {
  const pairs = [];
  for (const key of keys(object).sort()) {
    const values = Array.isArray(object[key]) ? object[key] : [object[key]];
    for (const value of values) pairs.push(`${escapeForm(key)}=${escapeForm(formText(value))}`);
  }
  return pairs.join("&");
}
function bytesOf(value) {
  if (value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value)) return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
  return native.utf8(String(value));
}
function multipart(object) {
  const boundary = native.boundary();
  const parts = [];
  const quoted = (text) => text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/[\r\n]/g, " ");
  for (const key of keys(object)) {
    const values = Array.isArray(object[key]) ? object[key] : [object[key]];
    for (const value of values) {
      let head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(key)}"`;
      if (value instanceof FileData) {
        head += `; filename="${quoted(value.filename)}"\r\nContent-Type: ${value.content_type}`;
      }
      parts.push(native.utf8(head + "\r\n\r\n"), bytesOf(value instanceof FileData ? value.data : formText(value)), native.utf8("\r\n"));
    }
  }
  parts.push(native.utf8(`--${boundary}--\r\n`));
  return [native.concat(parts), `multipart/form-data; boundary=${boundary}`];
}

class Response {
  json(selector) {
    if (this.body === null || this.body === undefined) {
      throw new Error("the body is null so we can't transform it to JSON - this likely was because of a request error getting the response");
    }
    const text = typeof this.body === "string" ? this.body : native.text(this.body);
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (selector !== undefined) return undefined;
      throw new Error(`cannot parse json due to an error: ${error.message}`);
    }
    return selector === undefined ? value : select(value, String(selector));
  }
  html(selector) {
    return load("html").html(this, selector);
  }
  submitForm(given) {
    return load("html").submitForm(this, given);
  }
  clickLink(given) {
    return load("html").clickLink(this, given);
  }
}

// The parts of a path such as `items.#(id==2).name`.
function pathParts(path) {
  const parts = [];
  let part = "", depth = 0, plain = true;
  for (let at = 0; at < path.length; at++) {
    const letter = path[at];
    if (letter === "\\" && depth === 0) {
      part += path[++at] ?? "";
      continue;
    }
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    if (letter === "." && depth === 0) {
      parts.push([part, plain]);
      [part, plain] = ["", true];
      continue;
    }
    if (letter === "*" || letter === "?") plain = false;
    part += letter;
  }
  parts.push([part, plain]);
  return parts;
}
function wildcard(pattern) {
  return new RegExp("^" + pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".") + "$", "s");
}
function queryHolds(query) {
  const found = /^(.*?)\s*(==|!=|<=|>=|<|>|!%|%)\s*(.*)$/s.exec(query);
  if (found === null) return (value) => select(value, query.trim()) !== undefined;
  const [, path, sign, text] = found;
  let wanted = text.trim();
  try {
    wanted = JSON.parse(wanted);
  } catch {
    // A text without quotes.
  }
  return (value) => {
    const own = path.trim() === "" ? value : select(value, path.trim());
    if (own === undefined) return false;
    switch (sign) {
      case "==": return own === wanted;
      case "!=": return own !== wanted;
      case "<": return own < wanted;
      case ">": return own > wanted;
      case "<=": return own <= wanted;
      case ">=": return own >= wanted;
      case "%": return wildcard(String(wanted)).test(String(own));
      default: return !wildcard(String(wanted)).test(String(own));
    }
  };
}
function select(value, path) {
  return selectParts(value, pathParts(path), 0);
}
function selectParts(value, parts, from) {
  for (let at = from; at < parts.length; at++) {
    const [part, plain] = parts[at];
    if (value === null || typeof value !== "object") return undefined;
    if (Array.isArray(value) && part.startsWith("#")) {
      if (part === "#") {
        if (at + 1 === parts.length) return value.length;
        return value.map((one) => selectParts(one, parts, at + 1)).filter((one) => one !== undefined);
      }
      const every = part.endsWith("#");
      const holds = queryHolds(part.slice(2, every ? -2 : -1));
      if (every) {
        const found = value.filter(holds);
        if (at + 1 === parts.length) return found;
        return found.map((one) => selectParts(one, parts, at + 1)).filter((one) => one !== undefined);
      }
      value = value.find(holds);
    } else if (Array.isArray(value)) {
      value = /^\d+$/.test(part) ? value[part] : undefined;
    } else if (plain) {
      value = Object.hasOwn(value, part) ? value[part] : undefined;
    } else {
      const pattern = wildcard(part);
      const key = keys(value).find((key) => pattern.test(key));
      value = key === undefined ? undefined : value[key];
    }
    if (value === undefined) return undefined;
  }
  return value;
}

function compression(name) {
  if (["br", "zstd"].includes(name)) throw new Error(`the compression ${name} of requests is not available in drumfire; it has gzip and deflate`);
  if (!["gzip", "deflate"].includes(name)) throw new Error(`unknown compression algorithm ${name}`);
  return name;
}
const PARAMETERS = new Set(["auth", "compression", "cookies", "headers", "jar", "redirects", "responseCallback", "responseType", "tags", "throw", "timeout"]);
let looks = 0;
// Warns of each unknown parameter once. Scripts write the same ones again and again, so that a look at the first
// requests finds them.
function lookAt(params) {
  looks += 1;
  for (const name of keys(params)) {
    if (PARAMETERS.has(name)) continue;
    PARAMETERS.add(name);
    native.log("warning", `requests have no parameter "${name}"; drumfire ignores it`);
  }
}
// The request as a list, in the order in which the host reads it.
function request(method, address, body, params) {
  const tagged = address instanceof TaggedUrl ? address.name : null;
  if (address === undefined || address === null) throw new TypeError("a request needs a URL");
  let type = null;
  if (body === undefined || body === null) body = null;
  else if (typeof body === "object" && !isBuffer(body)) {
    if (body instanceof String || body instanceof Number || body instanceof Boolean) body = String(body);
    else if (keys(body).some((key) => body[key] instanceof FileData || (Array.isArray(body[key]) && body[key].some((one) => one instanceof FileData)))) {
      [body, type] = multipart(body);
    } else {
      body = formBody(body);
      type = "application/x-www-form-urlencoded";
    }
  } else if (isBuffer(body)) body = bytesOf(body);
  else body = String(body);
  const list = [method, String(address), tagged, body, type];
  let callback = callbacks.size === 0 ? undefined : callbacks.get(native.vu());
  if (params === undefined || params === null) {
    if (callback !== undefined) {
      while (list.length < 14) list.push(undefined);
      list.push(callback);
    }
    return list;
  }
  if (looks < 100) lookAt(params);
  if (params.responseCallback !== undefined) callback = statusesOf(params.responseCallback);
  const headers = flat(params.headers, (value) => Array.isArray(value) ? value.join(", ") : String(value)) ?? [];
  if (params.compression && body !== null) {
    const names = String(params.compression).split(",").map((name) => name.trim());
    for (const name of names) list[3] = native.compress(compression(name), bytesOf(list[3]));
    headers.push("Content-Encoding", names.join(", "));
  }
  if (params.auth !== undefined && params.auth !== "basic") {
    throw new Error(`auth "${params.auth}" is not available in drumfire; it has basic authentication by the URL`);
  }
  const responseType = params.responseType === undefined ? null : String(params.responseType);
  if (responseType !== null && !["text", "binary", "none"].includes(responseType)) {
    throw new Error(`unknown responseType "${responseType}"; use text, binary or none`);
  }
  const cookies = [];
  if (params.cookies) {
    for (const name of keys(params.cookies)) {
      const cookie = params.cookies[name];
      const own = cookie !== null && typeof cookie === "object";
      cookies.push(name, String(own ? cookie.value : cookie), own && cookie.replace ? "1" : "");
    }
  }
  if (params.jar !== undefined && params.jar !== null && !(params.jar instanceof CookieJar)) {
    throw new TypeError("the parameter `jar` must be an http.CookieJar");
  }
  list.push(
    headers,
    tagsOf(params.tags),
    params.timeout === undefined || params.timeout === null ? null : String(params.timeout),
    params.redirects === undefined || params.redirects === null ? null : Number(params.redirects),
    responseType,
    cookies,
    params.jar ? params.jar.id() : 0,
    params.throw === undefined ? null : Boolean(params.throw),
    null,
    callback,
  );
  return list;
}
function send(method, address, body, params) {
  native.running("Making http requests");
  return setPrototypeOf(native.http([request(method, address, body, params)])[0], Response.prototype);
}

class CookieJar {
  #id;
  constructor(id) {
    this.#id = typeof id === "symbol" ? 0 : native.jar("new");
  }
  id() {
    return this.#id;
  }
  cookiesForURL(address) {
    const found = {};
    const list = native.jar("list", this.#id, String(address));
    for (let at = 0; at < list.length; at += 2) (found[list[at]] ??= []).push(list[at + 1]);
    return found;
  }
  set(address, name, value, options) {
    const { domain, path, expires, max_age, secure, http_only } = options ?? {};
    let text = `${name}=${value}`;
    if (domain) text += `; Domain=${domain}`;
    if (path) text += `; Path=${path}`;
    if (expires) text += `; Expires=${expires}`;
    if (max_age !== undefined) text += `; Max-Age=${max_age}`;
    if (secure) text += "; Secure";
    if (http_only) text += "; HttpOnly";
    return native.jar("set", this.#id, String(address), text);
  }
  clear(address) {
    native.jar("clear", this.#id, String(address));
  }
  delete(address, name) {
    native.jar("delete", this.#id, String(address), String(name));
  }
}
const OWN_JAR = new CookieJar(Symbol());

function batch(items) {
  native.running("Making http requests");
  if (items === null || typeof items !== "object") throw new TypeError("batch() needs a list or an object of requests");
  const names = keys(items);
  const requests = names.map((name) => {
    const item = items[name];
    if (Array.isArray(item)) {
      const [method, address, body, params] = item;
      return request(String(method).toUpperCase(), address, body, params);
    }
    if (typeof item === "string" || item instanceof TaggedUrl) return request("GET", item);
    if (item === null || typeof item !== "object" || item.url === undefined) {
      throw new TypeError(`request ${name} of batch() is not a request`);
    }
    return request(String(item.method ?? "GET").toUpperCase(), item.url, item.body, item.params);
  });
  const responses = Array.isArray(items) ? [] : {};
  native.http(requests).forEach((raw, at) => {
    responses[names[at]] = setPrototypeOf(raw, Response.prototype);
  });
  return responses;
}

const http = {
  get(address, params) {
    return send("GET", address, null, params);
  },
  head(address, params) {
    return send("HEAD", address, null, params);
  },
  post(address, body, params) {
    return send("POST", address, body, params);
  },
  put(address, body, params) {
    return send("PUT", address, body, params);
  },
  patch(address, body, params) {
    return send("PATCH", address, body, params);
  },
  del(address, body, params) {
    return send("DELETE", address, body, params);
  },
  options(address, body, params) {
    return send("OPTIONS", address, body, params);
  },
  request(method, address, body, params) {
    return send(String(method).toUpperCase(), address, body, params);
  },
  asyncRequest(method, address, body, params) {
    native.running("Making http requests");
    const list = request(String(method).toUpperCase(), address, body, params);
    return new Promise((fulfill, reject) => {
      const number = native.start([list]);
      awaitEvents(number, ([, kind, result]) => {
        forgetEvents(number);
        if (kind === "thrown") reject(new Error(result));
        else fulfill(setPrototypeOf(result[0], Response.prototype));
      });
    });
  },
  batch,
  file(data, name, type) {
    return new FileData(data, name, type);
  },
  url,
  cookieJar() {
    return OWN_JAR;
  },
  CookieJar,
  expectedStatuses,
  setResponseCallback(callback) {
    callbacks.set(native.vu(), statusesOf(callback));
  },
};
http.default = { ...http };

// ---------------------------------------------------------------- k6/data

class SharedArray {
  constructor(name, make) {
    native.initOnly("SharedArray");
    name = String(name);
    if (name === "") throw new TypeError("a SharedArray needs a name");
    if (!native.hasShared(name)) {
      if (typeof make !== "function") throw new TypeError("a SharedArray needs a function");
      const list = make();
      if (!Array.isArray(list)) throw new TypeError("only arrays can be made into SharedArray");
      native.share(name, list.map((one) => JSON.stringify(one) ?? "null"));
    }
    const length = native.sharedLength(name);
    const index = (key) => (typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) && Number(key) < length ? Number(key) : -1);
    const refuse = () => {
      throw new TypeError("SharedArray is immutable");
    };
    return new Proxy([], {
      get(target, key) {
        if (key === "length") return length;
        const at = index(key);
        return at < 0 ? target[key] : JSON.parse(native.shared(name, at));
      },
      has: (target, key) => index(key) >= 0 || key in target,
      ownKeys: () => [...Array.from({ length }, (_, at) => String(at)), "length"],
      getOwnPropertyDescriptor(target, key) {
        const at = index(key);
        if (at >= 0) return { value: JSON.parse(native.shared(name, at)), enumerable: true, configurable: true, writable: true };
        if (key === "length") return { value: length, enumerable: false, configurable: false, writable: true };
        return undefined;
      },
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
    });
  }
}
const data = { SharedArray };
data.default = { ...data };

// ---------------------------------------------------------------- k6/execution

const fields = (of, names) => {
  const object = {};
  for (const name of names) {
    defineProperty(object, name, { get: () => native.exec(of, name), enumerable: true });
  }
  return object;
};
const tagsProxy = new Proxy(create(null), {
  get: (_, name) => (typeof name === "string" ? native.tag(name) : undefined),
  set(_, name, value) {
    native.setTag(String(name), tagText(value));
    return true;
  },
  deleteProperty(_, name) {
    native.setTag(String(name), null);
    return true;
  },
  has: (_, name) => native.tag(String(name)) !== undefined,
  ownKeys: () => native.tagNames(),
  getOwnPropertyDescriptor: (_, name) => ({ value: native.tag(String(name)), enumerable: true, configurable: true, writable: true }),
});
const vu = fields("vu", ["iterationInInstance", "iterationInScenario", "idInInstance", "idInTest"]);
defineProperty(vu, "tags", { get: () => tagsProxy, enumerable: true });
defineProperty(vu, "metrics", { value: { tags: tagsProxy, metadata: {} }, enumerable: true });
const execution = {
  instance: fields("instance", ["iterationsInterrupted", "iterationsCompleted", "vusActive", "vusInitialized", "currentTestRunDuration"]),
  scenario: fields("scenario", ["name", "executor", "startTime", "progress", "iterationInInstance", "iterationInTest"]),
  test: {
    abort(message) {
      native.abort(message === undefined ? "test aborted" : `test aborted: ${message}`);
    },
    fail(message) {
      native.failTest(message === undefined ? "" : String(message));
    },
    get options() {
      return JSON.parse(native.options());
    },
  },
  vu,
};
execution.default = { ...execution, vu, test: execution.test };

// ---------------------------------------------------------------- k6/encoding, k6/crypto, k6/timers

const encoding = {
  b64encode(value, alphabet) {
    return native.b64encode(isBuffer(value) ? bytesOf(value) : native.utf8(String(value)), alphabet === undefined ? "std" : String(alphabet));
  },
  b64decode(text, alphabet, format) {
    const bytes = native.b64decode(String(text), alphabet === undefined ? "std" : String(alphabet));
    return format === "s" ? native.text(bytes) : bytes;
  },
};
encoding.default = { ...encoding };

const ALGORITHMS = ["md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256"];
class Hasher {
  #parts = [];
  #algorithm;
  #key;
  constructor(algorithm, key) {
    if (!ALGORITHMS.includes(algorithm)) throw new Error(`unknown hash algorithm "${algorithm}"; drumfire has ${ALGORITHMS.join(", ")}`);
    this.#algorithm = algorithm;
    this.#key = key;
  }
  update(value) {
    this.#parts.push(bytesOf(value));
    return this;
  }
  digest(output) {
    const bytes = native.concat(this.#parts);
    const sum = native.hash(this.#algorithm, bytes, this.#key);
    switch (output) {
      case "hex": return native.hex(sum);
      case "base64": return native.b64encode(sum, "std");
      case "base64url": return native.b64encode(sum, "url");
      case "base64rawurl": return native.b64encode(sum, "rawurl");
      case "binary": return sum;
      default: throw new Error(`unknown output "${output}"; use hex, base64, base64url, base64rawurl or binary`);
    }
  }
}
const crypto = {
  createHash: (algorithm) => new Hasher(String(algorithm)),
  createHMAC: (algorithm, key) => new Hasher(String(algorithm), bytesOf(key)),
  hmac: (algorithm, key, value, output) => new Hasher(String(algorithm), bytesOf(key)).update(value).digest(output),
  randomBytes: (count) => native.randomBytes(Number(count)),
  hexEncode: (value) => native.hex(bytesOf(value)),
};
for (const algorithm of ALGORITHMS) {
  crypto[algorithm] = (value, output) => new Hasher(algorithm).update(value).digest(output);
}
crypto.default = { ...crypto };

// The timers of each user that has some, by its number.
const timers = new Map();
let lastTimer = 0;
function addTimer(run, delay, args, repeat) {
  if (typeof run !== "function") throw new TypeError("a timer needs a function");
  const user = native.vu();
  const list = timers.get(user) ?? [];
  timers.set(user, list);
  const wait = Math.max(0, Number(delay) || 0);
  list.push({ id: ++lastTimer, at: native.clock() + wait, run, args, wait: repeat ? Math.max(wait, 1) : null });
  return lastTimer;
}
function clearTimer(id) {
  const list = timers.get(native.vu());
  const at = list === undefined ? -1 : list.findIndex((timer) => timer.id === id);
  if (at >= 0) list.splice(at, 1);
}
const timing = {
  setTimeout: (run, delay, ...args) => addTimer(run, delay, args, false),
  setInterval: (run, delay, ...args) => addTimer(run, delay, args, true),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
};

// Runs a function of the script until its promise is settled and no timer is left.
function drive(fn, args) {
  const user = native.vu();
  timers.delete(user);
  receivers.delete(user);
  const result = fn(...args);
  const waits = result !== null && typeof result === "object" && typeof result.then === "function";
  if (!waits && !timers.has(user) && !receivers.has(user)) {
    native.jobs();
    if (!timers.has(user) && !receivers.has(user)) return result;
  }
  let settled = !waits, value = result, failed = false;
  if (waits) {
    result.then(
      (fulfilled) => {
        [settled, value] = [true, fulfilled];
      },
      (error) => {
        [settled, failed, value] = [true, true, error];
      },
    );
  }
  for (;;) {
    native.jobs();
    if (failed) break;
    const list = timers.get(user) ?? [];
    const own = receivers.get(user);
    if (list.length === 0 && own === undefined) {
      if (settled) break;
      throw new Error("the promise of the function can never be settled: nothing is left that could do it");
    }
    if (own !== undefined) {
      const due = list.reduce((least, timer) => Math.min(least, timer.at), Infinity);
      for (const event of native.nextEvents(due === Infinity ? -1 : Math.max(0, due - native.clock()), -1)) {
        receivers.get(user)?.get(event[0])?.(event);
        native.jobs();
      }
      if (native.clock() < due) continue;
    }
    let next = 0;
    for (let at = 1; at < list.length; at++) if (list[at].at < list[next].at) next = at;
    const timer = list[next];
    const wait = timer.at - native.clock();
    if (wait > 0) native.sleep(wait / 1000);
    if (list.includes(timer)) {
      if (timer.wait === null) list.splice(list.indexOf(timer), 1);
      else timer.at += timer.wait;
      timer.run(...timer.args);
    }
  }
  timers.delete(user);
  receivers.delete(user);
  if (failed) throw value;
  return value;
}

// ---------------------------------------------------------------- globals

function shown(value, depth) {
  if (value instanceof Error) return String(value);
  switch (typeof value) {
    case "string": return depth === 0 ? value : JSON.stringify(value);
    case "function": return "[object Function]";
    case "object": break;
    default: return String(value);
  }
  if (value === null) return "null";
  if (depth > 8) return "[object Object]";
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.map((one) => shown(one, depth + 1)).join(", ")} ]`;
  if (isBuffer(value)) return `[object ${value.constructor.name}]`;
  const names = keys(value);
  if (names.length === 0) return "{}";
  return `{ ${names.map((name) => `${name}: ${shown(value[name], depth + 1)}`).join(", ")} }`;
}
const print = (level) => (...values) => native.log(level, values.map((value) => shown(value, 0)).join(" "));
const console = { log: print("info"), info: print("info"), warn: print("warning"), error: print("error"), debug: print("debug") };

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text) {
    return new Uint8Array(native.utf8(text === undefined ? "" : String(text)));
  }
}
class TextDecoder {
  constructor(label) {
    const name = label === undefined ? "utf-8" : String(label).trim().toLowerCase();
    if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(name)) {
      throw new RangeError(`the encoding "${label}" is not available in drumfire; it has utf-8`);
    }
  }
  get encoding() {
    return "utf-8";
  }
  decode(bytes) {
    return bytes === undefined ? "" : native.text(bytesOf(bytes));
  }
}
const webCrypto = {
  getRandomValues(view) {
    const bytes = new Uint8Array(native.randomBytes(view.byteLength));
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes);
    return view;
  },
  randomUUID: () => native.uuid(),
  get subtle() {
    return load("webcrypto").subtle;
  },
};

const open = (path, mode) => {
  native.initOnly("open()");
  return native.open(String(path), mode === "b", new Error().stack);
};

for (const [name, value] of Object.entries({ console, TextEncoder, TextDecoder, crypto: webCrypto, open, ...timing })) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
defineProperty(globalThis, "global", { value: globalThis, writable: true, configurable: true, enumerable: false });
for (const [name, get] of [["__VU", native.vu], ["__ITER", native.iter], ["__ENV", native.env]]) {
  defineProperty(globalThis, name, { get, set: undefined, configurable: true, enumerable: false });
}
Math.random = native.random;

return {
  drive,
  modules: {
    "k6": k6,
    "k6/http": http,
    get "k6/html"() {
      return load("html").module;
    },
    get "k6/secrets"() {
      return load("secrets").module;
    },
    get "k6/ws"() {
      return load("ws").module;
    },
    get "k6/websockets"() {
      return load("websockets").module;
    },
    get "k6/experimental/websockets"() {
      return load("websockets").module;
    },
    "k6/metrics": metrics,
    "k6/data": data,
    "k6/execution": execution,
    "k6/encoding": encoding,
    "k6/crypto": crypto,
    "k6/timers": { ...timing, default: timing },
    "k6/options": { default: {} },
  },
};
})
