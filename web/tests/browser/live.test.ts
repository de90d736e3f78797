// A live page in a browser, served by a stub.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { usual } from "./made.js";
import { launched, Reader } from "./reader.js";
import { Stub } from "./stub.js";

const CONTROL =
  '<p id="progress" role="status">running 1 s of 3 s</p><section id="control">' +
  '<p id="connection"></p><form data-command="rate">' +
  '<label>Rate <input name="value"></label><select name="pool" aria-label="Pool">' +
  "<option value=''>all</option><option>main</option></select><button>Send</button></form>" +
  "<output></output></section>";

let browser: Browser;
let saved: string;
let stub: Stub;
let reader: Reader;

before(async () => {
  [browser, saved] = await Promise.all([launched(), usual().then((path) => readFileSync(path, "utf8"))]);
  const served = saved
    .replace("base-uri", "connect-src 'self'; base-uri")
    .replace("<body>", '<body data-events="events" data-commands="command">')
    .replace("<main>", `<main>${CONTROL}`);
  stub = await Stub.serving(served);
  reader = await Reader.opening(browser, stub.url);
});
after(async () => {
  await browser.close();
  stub.close();
});

/** A top-level element of the saved page, by its id. */
function part(name: string, id: string): string {
  const begin = saved.indexOf(`<${name} id="${id}"`);
  const end = saved.indexOf(`</${name}>`, begin) + `</${name}>`.length;
  assert.ok(begin > 0);
  return saved.slice(begin, end);
}

test("a batch replaces parts, and what a reader did stays", async () => {
  const { page } = reader;
  await page.locator("#latency details summary").click();
  await page.locator("#latency details .scroll").evaluate((box) => {
    (box as HTMLElement).style.maxHeight = "40px";
    box.scrollTo(0, 12);
  });
  await page.locator("#steps th button", { hasText: "failed" }).click();
  await page.locator("#steps input").fill("/c");
  await page.locator("#latency .choice", { hasText: "max" }).click();
  await page.locator("#latency .stage").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("+");
  const view = await page.locator("#latency svg.plot").getAttribute("viewBox");
  const text = await page.locator("#latency .stage").getAttribute("aria-valuetext");

  const latency = part("figure", "latency").replace("p50 ", "p50 ");
  await stub.send("part", { id: "latency", html: latency, after: "rate" });
  await stub.send("part", { id: "steps", html: part("section", "steps"), after: "memory" });
  await stub.send("part", { id: "news", html: '<p id="news">new</p>', after: "rate" });
  await stub.send("part", { id: "top", html: '<p id="top">first</p>' });
  await stub.send("batch", {});
  await page.locator("#news").waitFor();
  await page.locator("#latency .stage").waitFor();

  assert.equal(await page.locator("#latency .stage").getAttribute("aria-valuetext"), text);
  assert.equal(await page.locator("#latency svg.plot").getAttribute("viewBox"), view);
  assert.ok(await page.locator("#latency details").evaluate((of) => (of as HTMLDetailsElement).open));
  assert.equal(
    await page.locator("#latency .choice", { hasText: "max" }).getAttribute("aria-pressed"),
    "false",
  );
  assert.ok(
    await page.evaluate(() => document.activeElement === document.querySelector("#latency .stage")),
  );
  await page.keyboard.press("Home");
  assert.equal(await page.locator("#latency .stage").getAttribute("aria-valuenow"), "0");
  const head = page.locator("#steps th", { hasText: "failed" });
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.equal(await page.locator("#steps input").inputValue(), "/c");
  assert.equal(await page.locator("#steps tbody tr:visible").count(), 1);
  const order = await page.evaluate(() =>
    [...(document.querySelector("main")?.children ?? [])].map(({ id }) => id),
  );
  assert.equal(order[0], "top");
  assert.equal(order[order.indexOf("rate") + 1], "news");
});

test("a command is sent as JSON, and its answer is a text", async () => {
  const { page } = reader;
  await page.locator("#control input").fill("300/s");
  await page.keyboard.press("Enter");
  await page.locator("#control output", { hasText: "done" }).waitFor();
  assert.equal(await page.textContent("#control output"), "done <b>so</b>");
  await page.locator("#control select").selectOption("main");
  await page.locator("#control button").click();
  for (let tries = 0; stub.commands.length < 2 && tries < 100; tries += 1) {
    await page.waitForTimeout(20);
  }
  assert.deepEqual(stub.commands, [
    { command: "rate", value: "300/s" },
    { command: "rate", value: "300/s", pool: "main" },
  ]);
});

test("a successor of the commands has what was typed, and the last answer", async () => {
  const { page } = reader;
  await page.locator("#control input").fill("400/s");
  const begin = CONTROL.indexOf("<section");
  const html = CONTROL.slice(begin).replace(">Send<", ">Set<");
  await stub.send("part", { id: "control", html, after: "progress" });
  await stub.send("batch", {});
  await page.locator("#control button", { hasText: "Set" }).waitFor();
  assert.equal(await page.locator("#control input").inputValue(), "400/s");
  assert.equal(await page.locator("#control select").inputValue(), "main");
  assert.equal(await page.textContent("#control output"), "done <b>so</b>");
});

test("markup in a part is shown and runs nothing", async () => {
  const { page } = reader;
  const html = '<p id="evil"><img src="x" onerror="alert(1)">text</p>';
  await stub.send("part", { id: "evil", html, after: "rate" });
  await stub.send("batch", {});
  await page.locator("#evil", { hasText: "text" }).waitFor();
});

test("a lost connection is said and opened again, and an end is the end", async () => {
  const { page } = reader;
  await stub.connected();
  stub.drop();
  await page.locator("#connection", { hasText: "lost" }).waitFor();
  await stub.connected();
  await page.locator("#connection:text-is('')").waitFor({ state: "attached" });
  await stub.send("end", { note: "the run is over" });
  await page.locator("#progress", { hasText: "over" }).waitFor();
  assert.equal(await page.locator("#control").count(), 0);
  for (let tries = 0; stub.readers > 0 && tries < 100; tries += 1) {
    await page.waitForTimeout(20);
  }
  assert.equal(stub.readers, 0);
  await reader.page.context().close();
});
