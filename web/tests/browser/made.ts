// Pages to test, made by the debug binary: of a run of three seconds against drumfire's own server,
// and of one against a server that answers with markup.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folder of the repository; tests run from `web/out/tests/browser`. */
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const TARGET = process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target");
export const DRUMFIRE = process.env["DRUMFIRE"] ?? join(TARGET, "debug/drumfire");

/** Markup that would run, end an element, or turn the direction of writing. */
export const HOSTILE = "</script><script>alert(1)</script>]]>\u202e<img src=x onerror=alert(2)>";

/** The folder of all pages of this test run. */
export const FOLDER = mkdtempSync(join(tmpdir(), "drumfire-web-"));

/** A page that a test of the report crate has kept: of a day, of a run with hostile texts. */
export function kept(name: string): string {
  const path = join(TARGET, "tmp/pages", `${name}.html`);
  if (!existsSync(path)) {
    throw new Error(`${path} is missing: \`make unit\` makes it`);
  }
  return path;
}

/** The page of a run of three seconds with three steps, of which one fails at times. */
export async function usual(): Promise<string> {
  const { server, url } = await served();
  try {
    const urls = ["/?delay=lognormal:4ms,0.5", "/b?delay=exp:9ms", "/c?status=503:0.2"];
    return await pageOf("usual", ["http", "-r", "400", "-z", "3s", ...urls.map((at) => url + at)]);
  } finally {
    server.kill();
  }
}

/** A kind of run, by its name: the flags of its server, and its command line after the URL. */
interface Kind {
  readonly server?: readonly string[];
  readonly args: (url: string) => readonly string[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  one: { args: (url) => ["http", "-n", "1", url] },
  slow: { args: (url) => ["http", "-r", "20", "-z", "3s", `${url}/?delay=lognormal:4ms,0.5`] },
  closed: { args: (url) => ["http", "-u", "5", "-z", "2s", `${url}/?delay=const:20ms`] },
  ramp: { args: (url) => ["http", "-r", "step(50,600,50,250ms)", "--warmup", "500ms", url] },
  late: {
    server: ["--serial", "--delay", "const:5ms"],
    args: (url) => ["http", "-r", "300", "-z", "3s", url],
  },
  refused: { args: () => ["http", "-r", "50", "-z", "2s", "http://127.0.0.1:9/"] },
  long: {
    args: (url) => ["http", "-r", "100", "-z", "2s", `${url}/${"a-long-name/".repeat(12)}?status=503`, `${url}/b`],
  },
  rules: {
    args: (url) => [
      ...["http", "-r", "100", "-z", "2s", `${url}/?status=503:0.2`],
      ...Array.from({ length: 12 }, (_, n) => ["--threshold", `p${80 + n}<${n}ms`]).flat(),
    ],
  },
  answers: {
    server: ["--llm", "--ttft", "lognormal:20ms,0.5", "--itl", "exp:2ms", "--stream-fault", "cut:10%@3"],
    args: (url) => [
      ...["llm", `${url}/v1`, "--model", "m", "--input", "uniform:50,900", "--output", "20"],
      ...["-r", "40", "-z", "2s", "--threshold", "ttft.p95<1ms"],
    ],
  },
  stream: {
    server: ["--grpc"],
    args: (url) => [
      ...["grpc", url, "--call", "helloworld.Greeter/SayHelloBidi", "-d", '{"name":"a"}'],
      ...["--stream-count", "5", "--stream-interval", "5ms", "-r", "20", "-z", "2s"],
    ],
  },
};

/** The pages of many kinds of run, by name. */
export async function kinds(): Promise<ReadonlyMap<string, string>> {
  const made = Object.entries(KINDS).map(async ([name, kind]) => {
    const { server, url } = await served(kind.server);
    try {
      return [name, await pageOf(name, kind.args(url))] as const;
    } finally {
      server.kill();
    }
  });
  return new Map(await Promise.all(made));
}

/** The page of a run whose server answers with markup, and whose step has a name of markup. */
export async function hostile(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(`${HOSTILE}\r\n\r\n`));
  });
  const port = await listening(server);
  const plan = join(FOLDER, "hostile.yaml");
  const step = { get: `/${encodeURI("<b>")}`, name: HOSTILE };
  const other = { get: "/other", name: "other" };
  const pool = { target: `http://127.0.0.1:${port}`, rate: "20/s", scenario: [step, other] };
  // JSON is YAML.
  writeFileSync(plan, JSON.stringify({ drumfire: 1, pools: { main: pool }, stop: { after: "1s" } }));
  try {
    return await pageOf("hostile", ["run", plan]);
  } finally {
    server.close();
  }
}

/** Runs drumfire with `--html`. A run whose requests fail still has a page. */
async function pageOf(name: string, args: readonly string[]): Promise<string> {
  if (!existsSync(DRUMFIRE)) {
    throw new Error(`${DRUMFIRE} is missing: \`make unit\` makes it`);
  }
  const page = join(FOLDER, `${name}.html`);
  const env = { ...process.env, XDG_STATE_HOME: FOLDER };
  const all = [...args, "--html", page, "-q"];
  const ended = await promisify(execFile)(DRUMFIRE, all, { env }).catch((error: unknown) => error);
  if (!existsSync(page)) {
    throw new Error(`no page of ${name}: ${String(ended)}`);
  }
  return page;
}

/** drumfire's server on a port that was free a moment ago. */
export async function served(
  flags: readonly string[] = [],
): Promise<{ readonly server: ChildProcess; readonly url: string }> {
  const probe = createServer();
  const port = await listening(probe);
  await new Promise((closed) => probe.close(closed));
  const server = spawn(DRUMFIRE, ["serve", "-l", `${port}`, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  await new Promise<void>((ready, failed) => {
    server.once("error", failed);
    server.once("exit", (code) => failed(new Error(`drumfire serve ended with ${code}`)));
    [server.stdout, server.stderr].forEach((stream) => stream?.once("data", () => ready()));
  });
  return { server, url: `http://127.0.0.1:${port}` };
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address !== null && typeof address === "object") {
        resolve(address.port);
      } else {
        reject(new Error("no port"));
      }
    });
  });
}
