// The list of runs in a browser, served by drumfire itself, with long targets, many tags and hostile
// texts: no row is higher than two lines, and nothing is cut off at any width.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { DRUMFIRE, HOSTILE, served } from "./made.js";
import { launched, Reader } from "./reader.js";

/** The number of stored runs: two pages. */
const RUNS = 53;
/** The height of a row of two lines, with its border. */
const ROW = 46;

let browser: Browser;
let list: string;
const programs: ChildProcess[] = [];

before(async () => {
  const [started, target] = await Promise.all([launched(), served()]);
  browser = started;
  const home = mkdtempSync(join(tmpdir(), "drumfire-list-"));
  const env = { ...process.env, XDG_STATE_HOME: home };
  const drumfire = (...args: string[]): string => execFileSync(DRUMFIRE, args, { env }).toString();
  const path = `/api/v2/${"orders/".repeat(12)}?delay=const:1ms&page=`;
  for (let run = 0; run < RUNS; run += 1) {
    const line = ["http", "-q", "-n", "5", "-c", "1", `${target.url}${path}${run}`];
    drumfire(...line);
  }
  drumfire("runs", "tag", "last", "nightly", "<b>v2</b>", "x".repeat(200));
  drumfire("runs", "note", "last", HOSTILE);
  target.server.kill();
  const ui = spawn(DRUMFIRE, ["ui", "-l", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  programs.push(ui);
  list = await new Promise((found) => {
    let text = "";
    ui.stdout.on("data", (data: Buffer) => {
      text += data.toString();
      const [address] = /http:\/\/[\w.:]+\/[0-9a-f]{16,}\//.exec(text) ?? [];
      if (address !== undefined) {
        found(address);
      }
    });
  });
});
after(async () => {
  await browser.close();
  programs.forEach((program) => program.kill("SIGKILL"));
});

for (const width of [390, 768, 1280, 1920]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`rows have two lines at ${width} pixels, ${colorScheme}`, async () => {
      const options = { viewport: { width, height: 900 }, colorScheme };
      const reader = await Reader.opening(browser, list, options);
      const { page } = reader;
      const found = await page.evaluate(() => {
        const rows = [...document.querySelectorAll("#runs tbody tr")];
        const cells = [...document.querySelectorAll("#runs :is(td.n,td.when,td.result,td.trail,thead th)")];
        const visible = cells.filter((cell) => cell.getBoundingClientRect().width > 0);
        return {
          rows: rows.length,
          height: Math.max(...rows.map((row) => row.getBoundingClientRect().height)),
          clipped: visible.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          target: document.querySelector("#runs .what")?.getBoundingClientRect().width ?? 0,
        };
      });
      assert.equal(found.rows, 50);
      assert.ok(found.height <= ROW, `${found.height} px`);
      assert.deepEqual(found.clipped, []);
      assert.equal(found.over, 0);
      assert.ok(found.target >= 190, `${found.target} px`);
      if (process.env["PICTURES"] !== undefined) {
        await page.screenshot({ path: join(process.env["PICTURES"], `list-${width}-${colorScheme}.png`) });
      }
      await reader.assertAccessible();
      await reader.close();
    });
  }
}

test("two runs of two pages are ticked and compared", async () => {
  const reader = await Reader.opening(browser, list);
  const { page } = reader;
  const box = (row: number) => page.locator("#runs tbody input").nth(row);
  const base = await box(3).inputValue();
  await box(3).check();
  assert.equal(await page.locator("#choice button").isDisabled(), true);
  assert.equal(await page.locator("#runs .side", { hasText: "base" }).count(), 1);
  await page.locator("a[rel=next]").click();
  await page.locator("a[rel=prev]").waitFor();
  const candidate = await box(1).inputValue();
  await box(1).check();
  assert.equal(await box(0).isDisabled(), true);
  await page.locator("#choice button").click();
  await page.locator("h1", { hasText: "Two runs" }).waitFor();
  const { searchParams } = new URL(page.url());
  assert.deepEqual([...searchParams], [["base", base], ["candidate", candidate]]);
  await page.locator("#back a", { hasText: "All runs" }).click();
  await page.locator("h1", { hasText: "Runs" }).waitFor();
  await reader.closeServed();
});

test("a search finds runs of all pages, and a filter is sent at once", async () => {
  const reader = await Reader.opening(browser, list);
  const { page } = reader;
  await page.locator("input[type=search]").fill("page=0");
  await page.keyboard.press("Enter");
  await page.locator("#choice nav", { hasText: "1 to 1 of 1" }).waitFor();
  await page.locator("input[name=failed]").check();
  await page.locator("#list p", { hasText: "No stored run matches" }).waitFor();
  await reader.closeServed();
});
