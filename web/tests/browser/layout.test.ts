// The layout of pages of many kinds of run: no label overlaps another or leaves its picture, at the
// widths of a telephone, a tablet and two screens.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { hostile, kept, kinds, usual } from "./made.js";
import { launched, Reader } from "./reader.js";

const WIDTHS = [390, 768, 1280, 1920];
/** The most pixels of a page of a minute with two steps at 1280. */
const HEIGHT_MAX = 3_500;

let browser: Browser;
let pages: ReadonlyMap<string, string>;
let path: string;

before(async () => {
  browser = await launched();
  path = await usual();
  const others = await kinds();
  pages = new Map([...others, ["usual", path], ["hostile", await hostile()], ["day", kept("long")]]);
});
after(async () => {
  await browser.close();
});

/** What is wrong with the labels of all pictures, and with the page's width. */
function flaws(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const picture of document.querySelectorAll("svg.area")) {
      const frame = picture.closest("figure") ?? picture;
      const around = frame.getBoundingClientRect();
      const texts = [...frame.querySelectorAll("svg.area text, figcaption h2, figcaption h3, figcaption p")]
        .map((text) => ({ name: text.textContent, box: text.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0);
      const where = `${frame.id} at ${innerWidth}`;
      texts.forEach(({ name, box }, number) => {
        const isWithin =
          box.left >= around.left && box.right <= around.right && box.bottom <= around.bottom;
        if (!isWithin) {
          found.push(`${where}: \`${name}\` is clipped`);
        }
        for (const other of texts.slice(number + 1)) {
          const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (across > 0 && down > box.height * 0.3) {
            found.push(`${where}: \`${name}\` overlaps \`${other.name}\``);
          }
        }
      });
    }
    // The buttons of a picture stand beside the lines of its caption.
    for (const figure of document.querySelectorAll("figure")) {
      const lines = [...figure.querySelectorAll("figcaption :is(h2, h3, p)")].flatMap((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return [...range.getClientRects()];
      });
      const buttons = [...figure.querySelectorAll(".zoom, :scope > details > summary")];
      for (const box of buttons.map((button) => button.getBoundingClientRect())) {
        const isOver = lines.some(
          (line) =>
            Math.min(box.right, line.right) > Math.max(box.left, line.left) &&
            Math.min(box.bottom, line.bottom) - Math.max(box.top, line.top) > line.height * 0.3,
        );
        if (isOver && box.width > 0) {
          found.push(`${figure.id} at ${innerWidth}: a button lies on the caption`);
        }
      }
    }
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) {
      found.push(`the page is ${scrollWidth} wide at ${innerWidth}`);
    }
    for (const tile of document.querySelectorAll<HTMLElement>(".numbers div, .answers li")) {
      if (tile.scrollWidth > tile.clientWidth) {
        found.push(`${tile.textContent} is clipped at ${innerWidth}`);
      }
    }
    return found;
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`no label overlaps another or is clipped when ${colorScheme}`, async () => {
    assert.ok(pages.size >= 10);
    for (const [name, place] of pages) {
      const reader = await Reader.opening(browser, place, { colorScheme });
      const { page } = reader;
      await page.evaluate(() => {
        document.querySelectorAll<HTMLDetailsElement>("details.whole, .step").forEach((details) => {
          details.removeAttribute("name");
          details.open = true;
        });
      });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        assert.deepEqual(await flaws(page), [], name);
      }
      if ((await page.locator("#rate .stage").count()) > 0) {
        await page.locator("#rate .stage").focus();
        await page.keyboard.press("+");
        assert.deepEqual(await flaws(page), [], `${name}, zoomed`);
      }
      await reader.close();
    }
  });
}

test("type has one size at every width", async () => {
  const reader = await Reader.opening(browser, path);
  const { page } = reader;
  const sizes = () =>
    page.evaluate(() =>
      ["#rate .ticks text", "#rate h2", "#rate figcaption p", "#steps td"].map((selector) => {
        const element = document.querySelector(selector);
        return element && getComputedStyle(element).fontSize;
      }),
    );
  const heights = async () => (await page.locator("#rate .ticks text").first().boundingBox())?.height;
  const [first, high] = [await sizes(), await heights()];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await sizes(), first);
    assert.equal(await heights(), high);
  }
  await reader.close();
});

// The page is one that a test has kept: a run on a busy machine has more to say of itself.
test("a wide page has two columns of pictures, and is short", async () => {
  const reader = await Reader.opening(browser, kept("minute"), { viewport: { width: 1280, height: 900 } });
  const { page } = reader;
  const [rate, latency] = await Promise.all(
    ["#rate", "#latency"].map((figure) => page.locator(figure).boundingBox()),
  );
  assert.ok(rate && latency && rate.y === latency.y && rate.x < latency.x);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height <= HEIGHT_MAX, `${height} px`);
  await reader.close();
});

test("numbers stay in view beside the longest name", async () => {
  const reader = await Reader.opening(browser, pages.get("long") ?? "");
  const { page } = reader;
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const hidden = await page.locator("#steps tbody tr").evaluateAll((rows) =>
      rows.flatMap((row) =>
        [...row.querySelectorAll("td[data-n]")].flatMap((cell) =>
          cell.getBoundingClientRect().right > innerWidth ? [cell.textContent] : [],
        ),
      ),
    );
    assert.deepEqual(hidden, [], `${width}`);
  }
  const name = page.locator("#steps .name").first();
  assert.ok(((await name.getAttribute("title")) ?? "").length > 100);
  assert.equal(await name.textContent(), await name.getAttribute("title"));
  await reader.close();
});

test("a step's name opens its pictures", async () => {
  const reader = await Reader.opening(browser, path);
  const { page } = reader;
  assert.ok(!(await page.locator("#step-2 svg").first().isVisible()));
  await page.locator("#steps th a").nth(1).click();
  assert.ok(await page.locator("#step-2 svg").first().isVisible());
  await reader.close();
});

test("a document is saved unpacked", async () => {
  const reader = await Reader.opening(browser, path, { acceptDownloads: true });
  const { page } = reader;
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#downloads a", { hasText: "summary.json" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "summary.json");
  const saved = JSON.parse(readFileSync(await download.path(), "utf8")) as { readonly schema: string };
  assert.equal(saved.schema, "drumfire.summary.v1");
  await page.context().close();
});
