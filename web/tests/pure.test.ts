// The pure parts of the program, without a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Figure, figures } from "../src/figure.js";
import { isOfNumbers, ordered } from "../src/order.js";
import { nearest, readout, stops } from "../src/readout.js";
import { matches } from "../src/search.js";
import { between, holding, zoomed } from "../src/span.js";

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

test("tables are ordered by their numbers or words", () => {
  const times = [1.2e6, undefined, 9e5, 2e9];
  assert.deepEqual(ordered(times, "ascending"), [2, 0, 3, 1]);
  assert.deepEqual(ordered(times, "descending"), [3, 0, 2, 1]);
  assert.deepEqual(ordered(["/10", "/9", "/a"], "ascending"), [1, 0, 2]);
  assert.deepEqual(ordered(["b", "b", "a"], "descending"), [0, 1, 2]);
  assert.deepEqual(ordered([undefined, 1, undefined], "descending"), [1, 0, 2]);
  assert.ok(isOfNumbers(times) && !isOfNumbers(["/9"]));
});

test("a search finds words in any order", () => {
  assert.ok(matches("GET /orders 12 ms", "orders get"));
  assert.ok(!matches("GET /orders", "orders post"));
  assert.ok(matches("anything", ""));
});

const PLOT = [100, 50, 600, 200];
const BLOCK = JSON.stringify({
  figures: [
    {
      name: "latency",
      place: PLOT,
      time: [0, 2e9],
      xs: [250, 550],
      marks: [400],
      series: [
        { role: "r0", ys: [120, 110] },
        { role: "r3", ys: [null, 60] },
      ],
    },
    {
      name: "both",
      place: PLOT,
      time: [0, 4e9],
      xs: [175, 180, 325, 475, 625],
      series: [
        { role: "r0", rows: [0, 2], ys: [120, 110] },
        { role: "r3", rows: [1, 2, 3, 4], ys: [90, 80, 70, 60] },
      ],
    },
    { name: "knee", place: PLOT, xs: [500, 200, 500], series: [{ role: "r0", ys: [60, 70, 80] }] },
    { name: "outcomes", place: PLOT, is_down: true, xs: [59, 85] },
  ],
  time: { least: 1e9, edge: 600, levels: [{ span: 2e9, step: 1e9, labels: ["0", "1 s"] }] },
});

/** The figures of the block by name. */
function figure(name: string): Figure {
  return figures(BLOCK).find((one) => one.name === name) ?? assert.fail(name);
}

test("figures over time have times, and others places", () => {
  const { axis, xs, marks, series, time } = figure("latency");
  assert.deepEqual([axis, xs, marks], [{ from: 0, to: 2e9 }, [5e8, 15e8], [1e9]]);
  assert.deepEqual(series[1], { role: "r3", rows: [0, 1], xs: [5e8, 15e8], ys: [null, 60] });
  assert.equal(time?.least, 1e9);
  assert.deepEqual(figure("knee").axis, { from: 100, to: 700 });
  assert.equal(figure("knee").time, undefined);
  assert.deepEqual(stops(figure("knee")), [200, 500]);
  assert.deepEqual(stops(figure("outcomes")), [59, 85]);
});

test("a readout has the texts of the table", () => {
  const cells = [["ok", "3", "75.0 %"], ["dropped", "1", "25.0 %"]];
  const at = (stop: number | undefined) =>
    readout(figure("outcomes"), (row) => cells[row] ?? [], stop);
  assert.deepEqual(at(85), { place: "dropped", values: ["1", "25.0 %"] });
  assert.deepEqual(at(undefined), { place: "", values: [] });
  const rows = (row: number) => [`${row}/s`, `${row} ms`];
  assert.deepEqual(readout(figure("knee"), rows, 200), { place: "1/s", values: ["1 ms"] });
  assert.deepEqual(readout(figure("knee"), rows, 500), { place: "0/s", values: ["0 ms"] });
});

test("a run that ended has no values behind its end", () => {
  const both = figure("both");
  const cells = [
    ["500 ms", "1 ms", "–"],
    ["533 ms", "–", "2 ms"],
    ["1.5 s", "3 ms", "4 ms"],
    ["2.5 s", "–", "5 ms"],
    ["3.5 s", "–", "6 ms"],
  ];
  const values = (stop: number) => {
    const at = stops(both)[stop];
    return readout(both, (row) => cells[row] ?? [], at).values;
  };
  // A run without a point at the other's place has its nearest.
  assert.deepEqual(values(0), ["1 ms", "2 ms"]);
  assert.deepEqual(values(1), ["1 ms", "2 ms"]);
  assert.deepEqual(values(2), ["3 ms", "4 ms"]);
  assert.deepEqual(values(4), ["–", "6 ms"]);
});
