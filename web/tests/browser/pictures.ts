// The pictures of the manual, made anew: `make pictures`. A shop with a second mode and a stall is
// under load for half a minute, on a terminal and then on the page.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { DRUMFIRE, FOLDER, served } from "./made.js";
import { launched } from "./reader.js";
import { film, terminal } from "./terminal.js";

const PICTURES = fileURLToPath(new URL("../../../../docs/pictures/", import.meta.url));
/** The most bytes of a picture: every clone of the repository holds all of them. */
const BYTES_MAX = 250_000;
/** The film: its terminal, its frames, and the time between them in milliseconds. */
const FILM = { columns: 100, rows: 30, frames: 32, pause: 500, load: "line(100,600,9s) const(450,7s)" } as const;
const LOAD = ["-r", "const(300,10s) line(300,600,12s) const(450,8s)"];
const STEPS = [
  "/list?delay=lognormal:4ms,0.4",
  "/search?delay=lognormal:70ms,0.15",
  "/pay?delay=lognormal:5ms,0.6&status=503:0.01",
];

const browser = await launched();
mkdirSync(PICTURES, { recursive: true });
const { server, url } = await served(["--stall", "600ms/11s"]);
const page = join(FOLDER, "shop.html");
const svgs = join(FOLDER, "svgs");
try {
  const urls = STEPS.map((step) => url + step);
  const shown = await onTerminal([...["http", ...LOAD, "--html", page, "--svg", svgs], ...urls]);
  save("screen.svg", Buffer.from(await filmed(["http", "-r", FILM.load, ...urls])));
  await picture(browser, "terminal.png", async (page) => {
    await page.setContent(
      "<style>b{display:inline-block;width:1ch;font-weight:inherit;line-height:1}</style>" +
        '<body style="margin:0"><pre style="margin:0;display:inline-block;padding:14px 18px;' +
        "background:#16181c;color:#d8d8d8;font:13px/1.2 'DejaVu Sans Mono',monospace\">" +
        `${terminal(shown)}</pre>`,
    );
    return page.locator("pre").screenshot();
  });
} finally {
  server.kill();
}
copyFileSync(join(svgs, "heat.svg"), join(PICTURES, "heat.svg"));
for (const colorScheme of ["light", "dark"] as const) {
  await picture(browser, `page-${colorScheme}.png`, async (of) => {
    await of.emulateMedia({ colorScheme });
    await of.goto(pathToFileURL(page).href);
    await of.locator("#rate .stage").focus();
    for (let point = 0; point < 12; point += 1) {
      await of.keyboard.press("ArrowRight");
    }
    await of.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      scrollTo(0, 0);
    });
    return of.screenshot();
  });
}
await picture(browser, "page-zoom.png", async (of) => {
  await of.goto(pathToFileURL(page).href);
  const box = await of.locator("#latency .stage").boundingBox();
  if (box === null) {
    throw new Error("no picture");
  }
  const down = box.y + box.height / 2;
  await of.mouse.move(box.x + box.width * 0.3, down);
  await of.mouse.down();
  await of.mouse.move(box.x + box.width * 0.65, down);
  await of.mouse.up();
  await of.mouse.move(box.x + box.width * 0.55, down);
  const [first, last] = [of.locator("#latency"), of.locator("#heat")];
  const [top, end] = [await first.boundingBox(), await last.boundingBox()];
  if (top === null || end === null) {
    throw new Error("no pictures");
  }
  // They stand beside each other, or in two rows.
  const [x, y] = [Math.min(top.x, end.x), Math.min(top.y, end.y)];
  const right = Math.max(top.x + top.width, end.x + end.width);
  const bottom = Math.max(top.y + top.height, end.y + end.height);
  const clip = { x, y, width: right - x, height: bottom - y };
  return of.screenshot({ fullPage: true, clip });
});
await browser.close();

/** Makes a picture on a page of a browser. */
async function picture(
  browser: Browser,
  name: string,
  make: (page: Page) => Promise<Buffer>,
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 1080 } });
  const bytes = await make(await context.newPage());
  await context.close();
  save(name, bytes);
}

/** Writes a picture, and refuses one that is too large. */
function save(name: string, bytes: Buffer): void {
  writeFileSync(join(PICTURES, name), bytes);
  console.log(`${name}: ${bytes.length} bytes`);
  if (bytes.length > BYTES_MAX) {
    throw new Error(`${name} has ${bytes.length} bytes, more than ${BYTES_MAX}`);
  }
}

/** What tmux shows of drumfire, which runs until the returned function ends it. */
function onTmux(args: readonly string[], columns: number, rows: number): { shown: () => string; end: () => void } {
  const socket = join(FOLDER, `tmux-${columns}`);
  const tmux = (...of: readonly string[]) => execFileSync("tmux", ["-S", socket, ...of]).toString();
  const quoted = [DRUMFIRE, ...args].map((arg) => `'${arg}'`).join(" ");
  const command = `XDG_STATE_HOME='${FOLDER}' TERM=xterm-256color LC_ALL=C.UTF-8 ${quoted}`;
  tmux("-u", "new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, command);
  return {
    shown: () => tmux("capture-pane", "-e", "-p"),
    end: () => spawn("tmux", ["-S", socket, "kill-server"]),
  };
}

/** A film of a run's screen, from its first second on. */
async function filmed(args: readonly string[]): Promise<string> {
  const tmux = onTmux(args, FILM.columns, FILM.rows);
  try {
    await waited(700);
    const frames: string[] = [];
    while (frames.length < FILM.frames) {
      // The run may end a moment before the last frame.
      try {
        frames.push(tmux.shown().trimEnd());
      } catch {
        break;
      }
      await waited(FILM.pause);
    }
    return film(frames, FILM.columns, (frames.length * FILM.pause) / 1000);
  } finally {
    tmux.end();
  }
}

/** Runs drumfire on a terminal to its end, and gives what the terminal showed before it. */
async function onTerminal(args: readonly string[]): Promise<string> {
  const tmux = onTmux(args, 120, 40);
  try {
    await waited(26_000);
    const shown = tmux.shown();
    while (!existsSync(page)) {
      await waited(250);
    }
    await waited(1_000);
    return shown;
  } finally {
    tmux.end();
  }
}

function waited(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
