// A saved page in a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type Figure, figures } from "../../src/figure.js";
import { HOSTILE, hostile, kept, usual } from "./made.js";
import { launched, Reader } from "./reader.js";

/** The rate does not vary, so that there is no latency by rate. */
const NAMES = ["rate", "latency", "heat", "tail", "outcomes", "in-flight", "lag", "memory"];
/** Drawn places are rounded to a tenth of a unit. */
const NEAR = 0.06;

/** The most elements of a page of a day with ten steps, and the most bytes of all its paths. */
const ELEMENTS_MAX = 8_000;
const PATH_BYTES_MAX = 400_000;

let browser: Browser;
let path: string;

before(async () => {
  [browser, path] = await Promise.all([launched(), usual()]);
});
after(async () => {
  await browser.close();
});

function open(options = {}): Promise<Reader> {
  return Reader.opening(browser, path, options);
}

async function dataOf(page: Page): Promise<Figure[]> {
  return figures((await page.textContent("#data")) ?? "");
}

/** The places of a series' line and dots as they are drawn. */
function drawn(page: Page, figure: string, series: number): Promise<[number, number][]> {
  return page.evaluate(
    ([figure, series]) => {
      const group = document.querySelectorAll(`#${figure} svg.plot > g.series`)[Number(series)];
      const lines = [...(group?.querySelectorAll("path.line") ?? [])].flatMap((path) => [
        ...(path.getAttribute("d") ?? "").matchAll(/[ML]([\d.]+) ([\d.]+)/g),
      ]);
      const dots = [...(group?.querySelectorAll("path.dot") ?? [])].flatMap((path) => [
        ...(path.getAttribute("d") ?? "").matchAll(/M([\d.]+) ([\d.]+)h0/g),
      ]);
      return [...lines, ...dots].map(([, x, y]) => [Number(x), Number(y)] as [number, number]);
    },
    [figure, `${series}`],
  );
}

test("a run of three seconds has every figure, and the cursor stands where each has its points", async () => {
  const reader = await open();
  const all = await dataOf(reader.page);
  assert.deepEqual(all.map(({ name }) => name), NAMES);
  for (const { name, axis, place, series } of all) {
    const [left, , width] = place;
    for (const [number, { role, xs, ys }] of series.entries()) {
      if (role === "asked") {
        // The intended load has steps between its points.
        continue;
      }
      const are = await drawn(reader.page, name, number);
      const should = xs.flatMap((x, point) => {
        const y = ys[point] ?? null;
        return y === null ? [] : [[left + ((x - axis.from) / (axis.to - axis.from)) * width, y] as const];
      });
      assert.equal(are.length, should.length, `${name} ${number}`);
      should.forEach(([x, y]) => {
        const near = are.some((is) => Math.abs(is[0] - x) < NEAR && Math.abs(is[1] - y) < NEAR);
        assert.ok(near, `${name} ${number} ${x} ${y}`);
      });
    }
    const { length } = await reader.page.locator(`#${name} table`).first().locator("tbody tr").all();
    assert.equal(length, all.find((one) => one.name === name)?.xs.length, name);
  }
  await reader.close();
});

test("the keyboard moves one cursor over all figures over time", async () => {
  const reader = await open();
  const { page } = reader;
  const stage = page.locator("#latency .stage");
  await stage.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  // The values are those of the table behind the picture.
  const row = await page
    .locator("#latency tbody tr")
    .nth(1)
    .locator("th, td")
    .evaluateAll((cells) => cells.map((cell) => cell.textContent));
  const values = () =>
    page.locator("#latency .tools .value").evaluateAll((all) => all.map((one) => one.textContent));
  assert.deepEqual(await values(), row.slice(1));
  assert.equal(await page.textContent("#latency .place"), row[0]);
  assert.match((await stage.getAttribute("aria-valuetext")) ?? "", /: p50 .+, p90 /);
  assert.equal(await stage.getAttribute("aria-valuenow"), "1");
  const cursors = page.locator(".layer .cursor");
  const overTime = (await dataOf(page)).filter(({ time }) => time !== undefined).map(({ name }) => name);
  assert.equal(await cursors.count(), overTime.length);
  assert.equal(await page.locator("#tail .layer .cursor").count(), 0);
  await page.keyboard.press("Home");
  assert.equal(await stage.getAttribute("aria-valuenow"), "0");
  await page.keyboard.press("Shift+ArrowRight");
  const last = await stage.getAttribute("aria-valuemax");
  assert.equal(await stage.getAttribute("aria-valuenow"), last);
  await page.keyboard.press("Escape");
  assert.equal(await cursors.count(), 0);
  // The others have their own.
  await page.locator("#outcomes .stage").focus();
  await page.keyboard.press("ArrowDown");
  assert.match((await page.textContent("#outcomes .tools")) ?? "", /^okrequests[\d,]+share[\d.]+ %$/);
  await page.locator("#heat .stage").focus();
  await page.keyboard.press("End");
  assert.match((await page.textContent("#heat .tools")) ?? "", /most common.+ to .+ \([\d,]+\)/);
  await page.keyboard.press("Escape");
  await page.locator("#tail .stage").focus();
  await page.keyboard.press("End");
  assert.equal(await cursors.count(), 1);
  await reader.close();
});

test("a pointer reads values and chooses a part of the time", async () => {
  const reader = await open();
  const { page } = reader;
  const all = await dataOf(page);
  const rate = all.find(({ name }) => name === "rate") ?? assert.fail();
  await page.locator("#rate").evaluate((figure) => figure.scrollIntoView({ block: "center" }));
  const box = (await page.locator("#rate .stage svg").first().boundingBox()) ?? assert.fail();
  const [left, , wide] = rate.place;
  assert.deepEqual([left, wide], [0, 1000], "the picture is as wide as its plot");
  const at = (share: number): [number, number] => [box.x + share * box.width, box.y + 100];
  await page.mouse.move(...at(0.5));
  assert.notEqual(await page.textContent("#rate .place"), "");
  assert.notEqual(await page.textContent("#memory .place"), "");
  await page.mouse.move(...at(0.3));
  await page.mouse.down();
  await page.mouse.move(...at(0.6));
  assert.equal(await page.locator("#rate .drag").count(), 1);
  await page.mouse.move(...at(1));
  await page.mouse.up();
  assert.equal(await page.locator("#rate .drag").count(), 0);
  const views = () =>
    page.locator("svg.plot").evaluateAll((plots) =>
      plots
        .filter((plot) => plot.closest("figure")?.id !== "")
        .map((plot) => [
        plot.closest("figure")?.id ?? "",
        (plot as SVGSVGElement).viewBox.baseVal.width / 1000,
      ] as const),
    );
  const overTime = new Set(all.filter(({ time }) => time !== undefined).map(({ name }) => name));
  for (const [name, share] of await views()) {
    const shown = overTime.has(name) ? 0.7 : 1;
    assert.ok(Math.abs(share - shown) < 0.02, `${name} shows ${share}`);
  }
  // The cursor stands on the point that is drawn there.
  await page.mouse.move(...at(0.6));
  const offset = await page.evaluate(() => {
    const plot = document.querySelector<SVGSVGElement>("#rate svg.plot");
    const dot = document.querySelector("#rate .layer circle.good")?.getBoundingClientRect();
    const points = [...(plot?.querySelectorAll("g.series path.line.good") ?? [])].flatMap((path) => [
      ...(path.getAttribute("d") ?? "").matchAll(/[ML]([\d.]+) ([\d.]+)/g),
    ]);
    const matrix = plot?.getScreenCTM();
    const places = points.map(([, x, y]) =>
      new DOMPoint(Number(x), Number(y)).matrixTransform(matrix ?? undefined),
    );
    const middle = dot && [dot.left + dot.width / 2, dot.top + dot.height / 2];
    const far = places.map(({ x, y }) =>
      middle ? Math.hypot(x - (middle[0] ?? 0), y - (middle[1] ?? 0)) : 1e9,
    );
    return Math.min(...far);
  });
  assert.ok(offset < 1, `${offset} px`);
  const ticks = () =>
    page.locator("#rate .ticks text").evaluateAll((all) => all.map((one) => one.textContent));
  const near = await ticks();
  assert.ok(!near.includes("0"), `${near}`);
  await page.mouse.dblclick(...at(0.5));
  assert.ok((await ticks()).includes("0"));
  assert.ok((await views()).every(([, share]) => share === 1));
  await page.mouse.move(5, 5);
  assert.equal(await page.locator(".layer .cursor").count(), 0);
  await reader.close();
});

test("zoom by keys and buttons, and a picture of everything is drawn as Rust drew it", async () => {
  const reader = await open();
  const { page } = reader;
  const picture = () => page.locator("#in-flight .stage > svg").evaluate((svg) => svg.innerHTML);
  const tidy = (svg: string) =>
    svg.replace(/\s+/g, "").replace(/ (style|overflow)="[^"]*"/g, "").replace(/style="[^"]*"/g, "");
  const before = tidy(await picture());
  await page.locator("#in-flight .stage").focus();
  await page.keyboard.press("+");
  assert.notEqual(tidy(await picture()), before);
  await page.keyboard.press("-");
  assert.equal(tidy(await picture()), before);
  await page.locator("#heat .zoom button", { hasText: "+" }).click();
  assert.notEqual(tidy(await picture()), before);
  await page.locator("#rate .stage").focus();
  await page.keyboard.press("0");
  assert.equal(tidy(await picture()), before);
  await reader.close();
});

test("series are left out and shown again", async () => {
  const reader = await open();
  const { page } = reader;
  const choice = page.locator("#latency .choice", { hasText: "p99" });
  const line = page.locator("#latency g.series").nth(3);
  assert.equal(await choice.getAttribute("aria-pressed"), "true");
  await choice.click();
  assert.equal(await choice.getAttribute("aria-pressed"), "false");
  assert.ok(await line.evaluate((group) => getComputedStyle(group).display === "none"));
  assert.equal(await page.locator("#latency g.between.off").count(), 2);
  await choice.press("Enter");
  assert.equal(await page.locator("#latency .off").count(), 0);
  await reader.close();
});

test("tables are sorted by their headings and filtered", async () => {
  const reader = await open();
  const { page } = reader;
  const column = (number: number) =>
    page
      .locator("#steps tbody tr:visible")
      .evaluateAll(
        (rows, number) => rows.map((row) => row.children[number]?.textContent?.trim()),
        number,
      );
  const before = await column(0);
  assert.equal(before.length, 3);
  const head = page.locator("#steps th", { hasText: "failed" });
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  const failed = (await column(2)).map(Number);
  assert.deepEqual(failed, [...failed].sort((a, b) => b - a));
  assert.ok((failed[0] ?? 0) > 0);
  await head.locator("button").press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  await head.locator("button").press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), null);
  assert.deepEqual(await column(0), before);
  await page.locator("#steps input[type=search]").fill("/b");
  assert.equal((await column(0)).length, 1);
  assert.equal(await page.textContent("#steps .filter output"), "1 of 3");
  await reader.close();
});

test("the command can be copied", async () => {
  const reader = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = reader;
  await page.locator("#plan .copy").first().click();
  await page.locator("#plan .copy", { hasText: "Copied" }).waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /^drumfire run plan\.yaml --seed \d+$/m);
  await reader.close();
});

test("a finger reads and zooms", async () => {
  const reader = await open({ hasTouch: true, viewport: { width: 400, height: 800 } });
  const { page } = reader;
  await page.locator("#rate .stage").tap();
  assert.equal(await page.locator("#rate .layer .cursor").count(), 1);
  await page.locator("#rate .zoom button", { hasText: "+" }).tap();
  assert.equal(await page.locator("#rate svg.plot").getAttribute("overflow"), "hidden");
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(overflow, 0, "the page is as wide as the telephone");
  await reader.close();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the page is accessible when ${colorScheme}, and with a cursor`, async () => {
    const reader = await open({ colorScheme });
    const { page } = reader;
    await page.evaluate(() => {
      document.querySelectorAll("details").forEach((details) => (details.open = true));
    });
    await page.locator("#latency .stage").focus();
    await page.keyboard.press("ArrowRight");
    await reader.assertAccessible();
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(paper, colorScheme === "dark" ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)");
    await reader.close();
  });
}

test("paper has the whole run without the program's parts", async () => {
  const reader = await open();
  const { page } = reader;
  await page.locator("#rate .stage").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  await page.locator("#latency .choice").first().click();
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => {
    (globalThis as unknown as { printed: string[] }).printed = [];
    addEventListener("beforeprint", () => {
      const shown = document.querySelectorAll("svg.plot[overflow=hidden], .off, .cursor").length;
      (globalThis as unknown as { printed: string[] }).printed.push(`${shown}`);
    });
  });
  const pdf = await page.pdf({ format: "A4" });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages > 1 && pages < 30, `${pages} pages`);
  const printed = await page.evaluate(
    () => (globalThis as unknown as { printed: string[] }).printed,
  );
  assert.deepEqual(printed, ["0"], "zoom, cursor and series are undone before paper");
  for (const part of [".tools", "#rate details", ".filter", ".copy", "#files"]) {
    assert.ok(!(await page.locator(part).first().isVisible()), part);
  }
  for (const part of ["#rate .legend", "#steps", "#report pre"]) {
    assert.ok(await page.locator(part).first().isVisible(), part);
  }
  await page.emulateMedia({ media: "screen" });
  assert.equal(await page.locator("#rate svg.plot").getAttribute("overflow"), "hidden");
  await reader.close();
});

test("without scripts everything is there, and nothing that needs one", async () => {
  const reader = await open({ javaScriptEnabled: false });
  await reader.page.locator("#report summary").first().click();
  await reader.page.locator("#steps .step summary").first().click();
  const parts = ["#rate svg", "#rate .legend", "#steps table", "#report pre", "#plan", "#step-1 svg"];
  for (const part of parts) {
    assert.ok(await reader.page.locator(part).first().isVisible(), part);
  }
  for (const part of ["button", "input", "form", "[tabindex='0'].stage"]) {
    assert.equal(await reader.page.locator(part).count(), 0, part);
  }
  await reader.close();
});

test("texts of servers stay texts", async () => {
  const answered = await hostile();
  for (const place of [answered, kept("hostile")]) {
    const reader = await Reader.opening(browser, place);
    const { page } = reader;
    await page.locator("#outcomes .stage").focus();
    await page.keyboard.press("ArrowDown");
    for (const key of await page.locator("th button").all()) {
      await key.click();
    }
    assert.equal(await page.locator("img, main script:not(#data), iframe").count(), 0);
    assert.ok(!(await page.content()).includes("\u202e"));
    await reader.close();
  }
  const reader = await Reader.opening(browser, answered);
  const shown = HOSTILE.replace("\u202e", "\\u{202e}");
  const failures = (await reader.page.textContent("#failures")) ?? "";
  const steps = (await reader.page.textContent("#steps")) ?? "";
  assert.ok(failures.includes("</script><script>alert(1)"), failures);
  assert.ok(steps.includes(shown), steps);
  await reader.close();
});

// What a browser has to lay out is counted; the times are printed, for they are the machine's.
test("a page of a day with ten steps is light", async () => {
  const long = kept("long");
  assert.ok(readFileSync(long).length < 2_000_000);
  const reader = await Reader.opening(browser, long);
  const { page } = reader;
  const drawn = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const paths = [...document.querySelectorAll("path")].map((path) => path.getAttribute("d") ?? "");
    return {
      elements: document.querySelectorAll("*").length,
      path: paths.reduce((sum, path) => sum + path.length, 0),
      ready: entry?.domComplete ?? 0,
    };
  });
  await page.locator("#rate .stage").focus();
  await page.keyboard.press("ArrowRight");
  const ticks = () => page.locator("#rate .ticks text").allTextContents();
  const whole = await ticks();
  const zoom = await page.evaluate(() => {
    const button = document.querySelector<HTMLButtonElement>("#rate .zoom button:nth-child(2)");
    const begin = performance.now();
    button?.click();
    // Layout is done now, and painting begins.
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  });
  console.log(
    `web: a page of a day is ready in ${drawn.ready.toFixed(0)} ms, zooms in ${zoom.toFixed(1)} ms;` +
      ` ${drawn.elements} elements, ${drawn.path} bytes of paths`,
  );
  assert.ok(drawn.elements < ELEMENTS_MAX, `${drawn.elements} elements`);
  assert.ok(drawn.path < PATH_BYTES_MAX, `${drawn.path} bytes of paths`);
  assert.notDeepEqual(await ticks(), whole);
  await reader.close();
});
