#!/usr/bin/env node
// Starts the program of this platform's package, and ends as the program ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@drumfire/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/drumfire`);
} catch {
  console.error(
    `drumfire: the package ${name} is not installed. If it exists for your platform, install again ` +
      "without --omit=optional or --no-optional; otherwise build drumfire from its sources.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches the child by the terminal; drumfire then ends its run and prints the report.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`drumfire: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal]);
});
