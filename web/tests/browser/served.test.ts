// Pages that drumfire itself serves: of a run that goes on, and of all stored runs.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { DRUMFIRE, FOLDER, served } from "./made.js";
import { launched, Reader } from "./reader.js";

/** How long the run lasts, in seconds. */
const LASTS = 15;

let browser: Browser;
let target: Awaited<ReturnType<typeof served>>;
const programs: ChildProcess[] = [];

before(async () => {
  [browser, target] = await Promise.all([launched(), served()]);
});
after(async () => {
  await browser.close();
  [target.server, ...programs].forEach((program) => program.kill("SIGKILL"));
});

/** Starts drumfire, and gives the address of the page that it announces. */
function announced(args: readonly string[]): Promise<string> {
  const program = spawn(DRUMFIRE, args, {
    env: { ...process.env, XDG_STATE_HOME: FOLDER },
    stdio: ["ignore", "pipe", "pipe"],
  });
  programs.push(program);
  return new Promise((found, failed) => {
    let text = "";
    const read = (data: Buffer) => {
      text += data.toString();
      const [address] = /http:\/\/[\w.:]+\/[0-9a-f]{16,}\/\S*/.exec(text) ?? [];
      if (address !== undefined) {
        found(address);
      }
    };
    program.stdout.on("data", read);
    program.stderr.on("data", read);
    program.once("exit", () => failed(new Error(`no page was announced: ${text}`)));
  });
}

test("the page of a run follows it, and commands it", async () => {
  const load = ["http", "-r", "100/s", "-z", `${LASTS}s`, "--ui", "127.0.0.1:0"];
  const reader = await Reader.opening(browser, await announced([...load, target.url]));
  const { page } = reader;
  await page.locator("#rate .stage").waitFor();
  await page.locator("#rate .stage").focus();
  await page.keyboard.press("End");
  const before = Number(await page.locator("#rate .stage").getAttribute("aria-valuemax"));
  await page.locator("#control form[data-command=mark] input").fill("<b>here</b>");
  await page.locator("#control form[data-command=mark] button").click();
  await page.locator("#control output:not(:empty)").waitFor();
  await page.locator("#rate details summary").click();
  assert.equal(await page.locator("#control form[data-command=resume]").count(), 0);
  await page.locator("#control form[data-command=pause] button").click();
  await page.locator("#control form[data-command=resume] button").click();
  await page.locator("#control form[data-command=pause]").waitFor();
  await page.locator("#progress", { hasText: "is over" }).waitFor({ timeout: 30_000 });
  assert.equal(await page.locator("#control").count(), 0);
  const points = Number(await page.locator("#rate .stage").getAttribute("aria-valuemax"));
  assert.ok(points > before, `${points} points after ${before}`);
  assert.ok(await page.locator("#rate details").evaluate((of) => (of as HTMLDetailsElement).open));
  await reader.assertAccessible();
  await reader.closeServed();
});

test("the list of runs is accessible", async () => {
  const reader = await Reader.opening(browser, await announced(["ui", "-l", "127.0.0.1:0"]));
  const { page } = reader;
  assert.ok((await page.locator("#runs tbody tr:visible").count()) > 0);
  await reader.assertAccessible();
  await reader.closeServed();
});
