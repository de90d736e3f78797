// Random event streams, with the events that the npm package `eventsource-parser` finds in them.
//
//     npm install --ignore-scripts && node beside.mjs COUNT SEED >FILE
//
// Each line is a stream and its events, separated by blanks. A stream is hexadecimal. An event is its
// type, its data and its last id, each in hexadecimal, and the stream's reconnection time or `-`,
// separated by commas.

import { createParser } from "eventsource-parser";

const [count, seed] = process.argv.slice(2).map(Number);

/** Numbers from 0 to `below`, by Marsaglia's xorshift of 32 bits. */
let state = (seed * 2654435761 + 1) >>> 0 || 1;
function random(below) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state % below;
}

const pick = (list) => list[random(list.length)];
const bytes = (text) => [...Buffer.from(text)];

const FIELDS = ["data", "data", "data", "data", "event", "id", "retry", "Data", "dat", "datas", "x", "", "\ufeffdata"];
const COLONS = [":", ": ", ":  ", ":\t", "", "::", " :"];
const ENDS = ["\n", "\r", "\r\n", "\n\r", "\n\n", "\r\r", "\r\n\r\n", "\r\n\n", "\n\n", ""];
const VALUES = [
  "a", "é", "漢", "😀", "{\"a\":1}", "[DONE]", " ", "data: b", "1000", "07", "12a", "-1", "\u0000", "x\u0000y",
  "\ufeff", "", "\u2028", "\u0085", "longer text with blanks", ":",
];
// What is no UTF-8: cut sequences, overlong forms, surrogates, and bytes that begin nothing.
const BROKEN = [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0x80], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]];

function stream() {
  const out = [];
  if (random(12) === 0) out.push(0xef, 0xbb, 0xbf);
  for (let lines = random(14); lines > 0; lines--) {
    out.push(...bytes(pick(FIELDS)), ...bytes(pick(COLONS)));
    for (let parts = random(3); parts > 0; parts--) {
      out.push(...(random(9) === 0 ? pick(BROKEN) : bytes(pick(VALUES))));
    }
    out.push(...bytes(pick(ENDS)));
    if (random(4) === 0) out.push(...bytes(pick(ENDS)));
  }
  return Uint8Array.from(out);
}

/** The events of a stream that arrives in random slices. */
function events(all) {
  const found = [];
  let id = "";
  let retry = "-";
  const parser = createParser({
    onId: (given) => (id = given),
    onRetry: (given) => (retry = String(given)),
    onEvent: (event) => found.push([event.event ?? "message", event.data, id, retry]),
  });
  // The parser itself removes the byte order mark.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let at = 0; at < all.length; ) {
    const end = at + 1 + random(random(2) === 0 ? 3 : all.length);
    parser.feed(decoder.decode(all.subarray(at, end), { stream: true }));
    at = end;
  }
  return found;
}

const hex = (data) => Buffer.from(data).toString("hex");
for (let n = 0; n < count; n++) {
  const all = stream();
  const found = events(all).map(([kind, data, last, retry]) => [hex(kind), hex(data), hex(last), retry].join(","));
  process.stdout.write(`${[hex(all), ...found].join(" ")}\n`);
}
