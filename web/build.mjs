// Bundles the program into the one file that the report crate includes; with `--check`, says whether
// that file is what a build gives.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const place = local("../crates/output/report/src/html/page.js");

const { outputFiles } = await build({
  entryPoints: [local("src/main.ts")],
  absWorkingDir: local("."),
  bundle: true,
  charset: "ascii",
  format: "iife",
  legalComments: "none",
  minify: true,
  target: "es2022",
  tsconfig: local("tsconfig.json"),
  write: false,
});
const program = outputFiles[0].text;
// These would end the element that the program stands in, or begin a comment in it.
if (/<\/script|<!--|[^\n\x20-\x7e]/i.test(program)) {
  throw new Error("the program has a text that a page can't contain");
}
if (!process.argv.includes("--check")) {
  writeFileSync(place, program);
} else if (readFileSync(place, "utf8") !== program) {
  console.error("crates/output/report/src/html/page.js is not what web/ builds; run `make web` and commit it");
  process.exit(1);
}
console.log(`web: page.js has ${program.length} bytes`);
