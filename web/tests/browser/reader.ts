// A reader of a page in a browser: Debian's Chromium, driven by Playwright. Whatever the page asks of
// a network, says on its console or opens as a dialog is kept, and must be nothing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Starts the browser. In a container its sandbox has no rights; it opens nothing but our pages. */
export function launched(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

export class Reader {
  readonly page: Page;
  readonly #trouble: string[] = [];
  readonly #requests: string[] = [];

  static async opening(
    browser: Browser,
    place: string,
    options: BrowserContextOptions = {},
  ): Promise<Reader> {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
    const reader = new Reader(await context.newPage());
    const url = place.startsWith("/") ? pathToFileURL(place).href : place;
    await reader.page.goto(url);
    return reader;
  }

  private constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => this.#requests.push(request.url()));
    page.on("pageerror", (error) => this.#trouble.push(`error: ${error.message}`));
    page.on("console", (message) => this.#trouble.push(`console: ${message.text()}`));
    page.on("dialog", (dialog) => {
      this.#trouble.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  /** Closes the page, which must have asked for itself alone, and said nothing. Links that have
   * their data in themselves are no requests. */
  async close(): Promise<void> {
    assert.deepEqual(this.#trouble, []);
    const others = this.#requests.filter((url) => url !== this.#requests[0] && !url.startsWith("data:"));
    assert.deepEqual(others, []);
    await this.page.context().close();
  }

  /** The same for a page that speaks to its server, to which a connection may be lost: its browser
   * says so on the console. */
  async closeServed(): Promise<void> {
    const lost = "console: Failed to load resource: net::ERR_";
    assert.deepEqual(this.#trouble.filter((text) => !text.startsWith(lost)), []);
    await this.page.context().close();
  }

  /** Accessibility by axe: its violations, none of which may be there. */
  async assertAccessible(): Promise<void> {
    await this.page.evaluate(readFileSync(AXE, "utf8"));
    const found = await this.page.evaluate(async () => {
      const axe = (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe;
      const { violations } = await axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((of) => of.html).join("\n")}`);
    });
    assert.deepEqual(found, []);
  }
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
