// k6/websockets: WebSockets of the event loop, as browsers have them (WHATWG, WebSockets).
(function (native, k6) {
"use strict";

const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
const EVENTS = ["open", "message", "error", "close", "ping", "pong"];

class Blob {
  #bytes;
  constructor(parts, options) {
    const list = (parts ?? []).map((part) => (part instanceof Blob ? part.#bytes : k6.bytesOf(part)));
    this.#bytes = native.concat(list);
    this.type = options?.type === undefined ? "" : String(options.type);
  }
  get size() {
    return this.#bytes.byteLength;
  }
  async arrayBuffer() {
    return this.#bytes.slice(0);
  }
  async bytes() {
    return new Uint8Array(this.#bytes.slice(0));
  }
  async text() {
    return native.text(this.#bytes);
  }
  slice(from, to, type) {
    return new Blob([this.#bytes.slice(from, to)], { type });
  }
  static bytesOf(blob) {
    return blob.#bytes;
  }
}

class WebSocket {
  #id;
  #state = CONNECTING;
  #handlers = new Map();
  #pings = 0;
  #binaryType = "blob";
  constructor(address, protocols, params) {
    native.running("Using websockets");
    this.url = String(address);
    this.protocol = "";
    this.extensions = [];
    this.bufferedAmount = 0;
    if (!/^wss?:\/\//.test(this.url)) throw new SyntaxError(`the URL of a WebSocket begins with ws:// or wss://, unlike ${this.url}`);
    const list = protocols === undefined || protocols === null ? [] : Array.isArray(protocols) ? protocols.map(String) : [String(protocols)];
    const { compression, ...rest } = params ?? {};
    const request = k6.request("GET", this.url.replace(/^ws/, "http"), null, rest);
    this.#id = native.socketOpen(request, this.url, list, compression ?? "", "websockets");
    for (const event of EVENTS) {
      let own = null;
      Object.defineProperty(this, `on${event}`, {
        get: () => own,
        set: (run) => {
          this.removeEventListener(event, own);
          own = typeof run === "function" ? run : null;
          if (own !== null) this.addEventListener(event, own);
        },
        enumerable: true,
      });
    }
    k6.awaitEvents(this.#id, (event) => this.#handle(event));
  }
  get readyState() {
    return this.#state;
  }
  get binaryType() {
    return this.#binaryType;
  }
  set binaryType(type) {
    if (type !== "blob" && type !== "arraybuffer") throw new TypeError(`unknown binaryType "${type}"; use blob or arraybuffer`);
    this.#binaryType = type;
  }
  addEventListener(event, run) {
    if (!EVENTS.includes(event)) throw new TypeError(`unknown event "${event}" of a WebSocket`);
    if (typeof run !== "function") throw new TypeError("addEventListener() needs a function");
    const list = this.#handlers.get(event) ?? [];
    this.#handlers.set(event, list);
    list.push(run);
  }
  removeEventListener(event, run) {
    const list = this.#handlers.get(event) ?? [];
    const at = list.indexOf(run);
    if (at >= 0) list.splice(at, 1);
  }
  send(data) {
    if (this.#state !== OPEN) throw new Error("InvalidStateError: the WebSocket is not open");
    if (typeof data === "string") native.socketSend(this.#id, "text", k6.bytesOf(data));
    else if (data instanceof Blob) native.socketSend(this.#id, "binary", Blob.bytesOf(data));
    else if (k6.isBuffer(data)) native.socketSend(this.#id, "binary", k6.bytesOf(data));
    else throw new TypeError("send() takes a text, an ArrayBuffer or a Blob");
  }
  ping() {
    if (this.#state !== OPEN) throw new Error("InvalidStateError: the WebSocket is not open");
    native.socketSend(this.#id, "ping", k6.bytesOf(String(++this.#pings)));
  }
  close(code, reason) {
    if (this.#state >= CLOSING) return;
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new Error(`InvalidAccessError: the code of a close must be 1000, or between 3000 and 4999, unlike ${code}`);
    }
    this.#state = CLOSING;
    native.socketClose(this.#id, code === undefined ? 1000 : Number(code), reason === undefined ? "" : String(reason));
  }
  #emit(type, more) {
    const event = { type, timestamp: Date.now(), target: this, ...more };
    for (const run of [...(this.#handlers.get(type) ?? [])]) run(event);
  }
  #handle([, type, first, second]) {
    switch (type) {
      case "opened": {
        this.protocol = first.headers["Sec-Websocket-Protocol"] ?? "";
        const extensions = first.headers["Sec-Websocket-Extensions"];
        this.extensions = extensions === undefined ? [] : extensions.split(/, */);
        if (this.#state === CONNECTING) this.#state = OPEN;
        return this.#emit("open", {});
      }
      case "text": return this.#emit("message", { data: first, origin: this.url });
      case "binary": {
        const data = this.#binaryType === "blob" ? new Blob([first]) : first;
        return this.#emit("message", { data, origin: this.url });
      }
      case "ping":
      case "pong": return this.#emit(type, {});
      default: {
        this.#state = CLOSED;
        k6.forgetEvents(this.#id);
        if (type === "closed") return this.#emit("close", { code: first, reason: second });
        const error = second === "" ? `the server refused the WebSocket with the status ${first?.status}` : second;
        this.#emit("error", { error });
        return this.#emit("close", { reason: "" });
      }
    }
  }
}
for (const [name, value] of Object.entries({ CONNECTING, OPEN, CLOSING, CLOSED })) {
  Object.defineProperty(WebSocket, name, { value, enumerable: true });
  Object.defineProperty(WebSocket.prototype, name, { value, enumerable: true });
}

const module = { WebSocket, Blob };
module.default = { ...module };
return { module };
})
