// The pure parts of the program, without a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Axis, place, ticks, valueAt } from "../src/axis.js";
import type { Figure } from "../src/figure.js";
import { figures } from "../src/figure.js";
import { label, share, type Unit } from "../src/label.js";
import { isOfNumbers, magnitude, ordered } from "../src/order.js";
import { nearest, readout, stops } from "../src/readout.js";
import { matches } from "../src/search.js";
import { between, holding, zoomed } from "../src/span.js";

const SECOND = 1e9;
/** The folder of the repository; tests run from `web/out/tests`. */
const ROOT = new URL("../../../", import.meta.url);

function axis(unit: Unit, scale: Axis["scale"], from: number, to: number): Axis {
  return { title: "", unit, scale, from, to };
}

test("labels are those of Rust", () => {
  const golden = new URL("crates/output/report/tests/golden/labels.json", ROOT);
  const rows = JSON.parse(readFileSync(golden, "utf8")) as [Unit, number, string][];
  assert.ok(rows.length > 300);
  for (const [unit, value, text] of rows) {
    assert.equal(label(unit, value), text, `${unit} ${value}`);
  }
});

test("shares are never rounded to something false", () => {
  const rows: [number, number, string][] = [
    [0, 10, "0 %"],
    [10, 10, "100 %"],
    [1, 100_000, "<0.01 %"],
    [99_999, 100_000, ">99.99 %"],
    [1, 8, "12.5 %"],
    [1, 16, "6.25 %"],
  ];
  for (const [part, whole, text] of rows) {
    assert.equal(share(part, whole), text);
  }
});

test("places and values are each other's reverse", () => {
  for (const of of [
    axis("run_time", "linear", SECOND, 9 * SECOND),
    axis("time", "log", 1e3, 1e8),
    axis("share", "tail", 0, 0.9999),
  ]) {
    for (const at of [0, 0.1, 0.5, 0.99]) {
      assert.ok(Math.abs(place(of, valueAt(of, at)) - at) < 1e-6, `${of.scale} ${at}`);
    }
  }
});

test("ticks are values that people name", () => {
  const labels = (from: number, to: number, most: number) =>
    ticks(axis("run_time", "linear", from * SECOND, to * SECOND), most).map((tick) => tick.label);
  assert.deepEqual(labels(0, 95, 5), ["0", "20 s", "40 s", "1m00s", "1m20s"]);
  assert.deepEqual(labels(0, 3, 4), ["0", "1 s", "2 s", "3 s"]);
  assert.deepEqual(labels(0, 3, 8), ["0", "500 ms", "1 s", "1.5 s", "2 s", "2.5 s", "3 s"]);
  assert.deepEqual(labels(61, 64, 3), ["1m01s", "1m02s", "1m03s", "1m04s"]);
});

test("a zoom keeps its middle and stays within the whole", () => {
  const whole = { from: 0, to: 100 };
  const near = zoomed(whole, whole, 2, 30, 1);
  assert.deepEqual(near, { from: 15, to: 65 });
  assert.deepEqual(zoomed(near ?? whole, whole, 2, 30, 1), { from: 22.5, to: 47.5 });
  assert.equal(zoomed(near ?? whole, whole, 0.5, 30, 1), undefined);
  assert.deepEqual(zoomed(whole, whole, 1000, 0, 10), { from: 0, to: 10 });
  assert.deepEqual(between(70, 20, whole, 1), { from: 20, to: 70 });
  assert.deepEqual(between(99, 99.5, whole, 10), { from: 90, to: 100 });
  assert.deepEqual(holding({ from: 10, to: 20 }, 25), { from: 15, to: 25 });
  assert.deepEqual(holding({ from: 10, to: 20 }, 5), { from: 5, to: 15 });
});

test("the nearest stop is found", () => {
  const all = [1, 4, 10];
  const rows: [number, number][] = [
    [-5, 0],
    [2, 0],
    [3, 1],
    [8, 2],
    [99, 2],
  ];
  for (const [value, stop] of rows) {
    assert.equal(nearest(all, value), stop, `${value}`);
  }
  assert.equal(nearest([], 1), undefined);
});

test("tables are ordered by what their texts mean", () => {
  assert.equal(magnitude("≥ 1.20 ms"), 1.2e6);
  assert.equal(magnitude("1m05s"), 65e9);
  assert.equal(magnitude("12,345/s"), 12_345);
  assert.equal(magnitude("<0.01 %"), 0.01);
  assert.equal(magnitude("http_status"), undefined);
  const times = ["1.20 ms", "–", "900 µs", "2.00 s"];
  assert.deepEqual(ordered(times, "ascending"), [2, 0, 3, 1]);
  assert.deepEqual(ordered(times, "descending"), [3, 0, 2, 1]);
  assert.deepEqual(ordered(["/10", "/9", "/a"], "ascending"), [1, 0, 2]);
  assert.deepEqual(ordered(["b", "b", "a"], "descending"), [0, 1, 2]);
  assert.ok(isOfNumbers(times) && !isOfNumbers(["/9"]));
});

test("a search finds words in any order", () => {
  assert.ok(matches("GET /orders 12 ms", "orders get"));
  assert.ok(!matches("GET /orders", "orders post"));
  assert.ok(matches("anything", ""));
});

const BLOCK = JSON.stringify({
  figures: [
    {
      name: "latency",
      title: "Latency",
      kind: "bands",
      x: axis("run_time", "linear", 0, 2e9),
      y: axis("time", "log", 1e5, 1e8),
      place: [76, 66, 666, 210],
      marks: [],
      series: [
        { name: "p50", role: "r0", xs: [5e8, 15e8], ys: [1e6, 2e6] },
        { name: "p99", role: "r3", ys: [null, 5e7], at_least: [1] },
      ],
    },
    {
      name: "heat",
      title: "Heat",
      kind: "heat",
      x: axis("run_time", "linear", 0, 2e9),
      y: axis("time", "log", 1e5, 1e8),
      place: [76, 66, 666, 210],
      marks: [],
      spans: [[1e6, 1.2e6], [5e6, 6e6]],
      columns: [{ from: 0, to: 1e9, cells: [[0, 1200], [1, 3]] }],
    },
    {
      name: "outcomes",
      title: "Outcomes",
      kind: "bars",
      x: axis("count", "linear", 0, 10),
      y: axis("none", "linear", 0, 2),
      place: [190, 66, 552, 52],
      marks: [],
      bars: [
        { name: "ok", role: "good", value: 3 },
        { name: "dropped", role: "lost", value: 1 },
      ],
    },
    { name: "later", title: "", kind: "of-another-version", place: [0, 0, 1, 1], marks: [] },
  ],
});

test("a run that ended has no values behind its end", () => {
  const [one, ...others] = figures(BLOCK);
  assert.ok(one !== undefined && others.length > 0 && one.plot.kind === "bands");
  const longer = { name: "b", role: "r1", xs: [5e8, 15e8, 25e8, 35e8], ys: [1, 2, 3, 4] };
  const [short] = one.plot.series;
  assert.ok(short !== undefined);
  const series = [short, { ...longer, atLeast: new Set<number>() }];
  const both: Figure = { ...one, plot: { kind: "lines", series } };
  const values = (stop: number) => readout(both, stop).entries.map(({ value }) => value);
  assert.equal(stops(both).length, 4);
  assert.deepEqual(values(1), ["2 ms", "2 ns"]);
  assert.deepEqual(values(3), ["–", "4 ns"]);
});

test("a readout has units, bounds and gaps as the tables have them", () => {
  const all = figures(BLOCK);
  assert.deepEqual(all.map(({ name }) => name), ["latency", "heat", "outcomes"]);
  const [latency, heat, outcomes] = all as [Figure, Figure, Figure];
  assert.deepEqual(stops(latency), [5e8, 15e8]);
  const values = (figure: Figure, stop: number) =>
    readout(figure, stop).entries.map(({ value }) => value);
  assert.equal(readout(latency, 0).place, "500 ms");
  assert.deepEqual(values(latency, 0), ["1 ms", "–"]);
  assert.deepEqual(values(latency, 1), ["2 ms", "≥ 50 ms"]);
  assert.deepEqual(values(heat, 0), ["1,203", "1 ms to 1.2 ms (1,200)"]);
  assert.deepEqual(values(outcomes, 1), ["1 (25.0 %)"]);
  assert.deepEqual(readout(outcomes, undefined).entries, []);
});
