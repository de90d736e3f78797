// k6/ws: a WebSocket whose connect() returns when the socket is closed.
(function (native, k6) {
"use strict";

// Timers and handlers of one socket. Its loop runs in connect().
class Socket {
  #id;
  #handlers = new Map();
  #timers = [];
  #lastTimer = 0;
  #pings = 0;
  #isOver = false;
  constructor(id) {
    this.#id = id;
  }
  on(event, run) {
    const list = this.#handlers.get(event) ?? [];
    this.#handlers.set(event, list);
    list.push(run);
  }
  send(text) {
    if (typeof text !== "string") throw new TypeError("socket.send() takes a text; use sendBinary() for an ArrayBuffer");
    native.socketSend(this.#id, "text", k6.bytesOf(text));
  }
  sendBinary(data) {
    if (data === undefined || !k6.isBuffer(data)) throw new TypeError("socket.sendBinary() takes an ArrayBuffer");
    native.socketSend(this.#id, "binary", k6.bytesOf(data));
  }
  ping() {
    native.socketSend(this.#id, "ping", k6.bytesOf(String(++this.#pings)));
  }
  close(code) {
    native.socketClose(this.#id, code === undefined ? 1001 : Number(code), "");
  }
  setTimeout(run, delay) {
    return this.#timer(run, delay, false);
  }
  setInterval(run, delay) {
    return this.#timer(run, delay, true);
  }
  clearTimeout(id) {
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
  }
  clearInterval(id) {
    this.clearTimeout(id);
  }
  #timer(run, delay, repeats) {
    const wait = Number(delay);
    if (!(wait > 0)) throw new RangeError("the delay of a timer must be greater than 0");
    this.#timers.push({ id: ++this.#lastTimer, at: native.clock() + wait, wait: repeats ? wait : null, run });
    return this.#lastTimer;
  }
  #emit(event, ...values) {
    for (const run of this.#handlers.get(event) ?? []) run(...values);
  }
  #handle([, type, first, second]) {
    switch (type) {
      case "text": return this.#emit("message", first);
      case "binary": return this.#emit("binaryMessage", first);
      case "ping": return this.#emit("ping");
      case "pong": return this.#emit("pong");
      case "closed":
        this.#isOver = true;
        return this.#emit("close", first);
      default: {
        this.#isOver = true;
        const error = new Error(second);
        error.error = () => second;
        return this.#emit("error", error);
      }
    }
  }
  run() {
    this.#emit("open");
    while (!this.#isOver) {
      const next = this.#timers.reduce((least, timer) => Math.min(least, timer.at), Infinity);
      const wait = next === Infinity ? -1 : Math.max(0, next - native.clock());
      for (const event of native.nextEvents(wait, this.#id)) {
        this.#handle(event);
        if (this.#isOver) return;
      }
      const now = native.clock();
      for (const timer of [...this.#timers]) {
        if (timer.at > now || !this.#timers.includes(timer)) continue;
        if (timer.wait === null) this.clearTimeout(timer.id);
        else timer.at += timer.wait;
        timer.run();
      }
    }
  }
}

function connect(address, params, run) {
  native.running("Using websockets");
  if (typeof params === "function") [params, run] = [null, params];
  if (typeof run !== "function") throw new TypeError("ws.connect() needs a function");
  const { compression, ...rest } = params ?? {};
  const url = String(address);
  if (!/^wss?:/.test(url)) return { url: "", status: 0, headers: {}, body: "", error: "malformed ws or wss URL" };
  const request = k6.request("GET", url.replace(/^ws/, "http"), null, rest);
  const id = native.socketOpen(request, url, [], compression ?? "", "ws");
  const [, kind, response] = native.nextEvents(-1, id)[0];
  if (kind !== "opened") return response;
  const socket = new Socket(id);
  try {
    run(socket);
    socket.run();
  } finally {
    native.socketDrop(id);
  }
  return response;
}

const module = { connect };
module.default = { ...module };
return { module };
})
