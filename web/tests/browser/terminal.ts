// What a terminal shows, as HTML and as SVG: texts with the escapes for colours and weights that tmux captures.

/** The sixteen colours of a terminal, as xterm.js has them on a dark paper. */
const COLOURS = [
  "#2e3436", "#ff6b5e", "#8ae234", "#f0c542", "#7aa6da", "#d7a0e0", "#56d6d6", "#e8e8e8",
  "#8a8f98", "#ff8a7d", "#a6f25a", "#ffe07a", "#9cc4f0", "#e8b8f0", "#8af0f0", "#ffffff",
];

/** A piece of text in one style. */
interface Run {
  readonly text: string;
  /** A colour of CSS; empty for the default one. */
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

/** The pieces of a captured text, in order. */
function runs(captured: string): Run[] {
  let [colour, isDim, isBold] = ["", false, false];
  const found: Run[] = [];
  captured.split(/\x1b\[([\d;]*)m/).forEach((part, number) => {
    if (number % 2 === 0) {
      if (part !== "") {
        found.push({ text: part, colour, isBold, isDim });
      }
      return;
    }
    for (const code of (part === "" ? "0" : part).split(";").map(Number)) {
      if (code === 0) {
        [colour, isDim, isBold] = ["", false, false];
      } else if (code === 1) {
        isBold = true;
      } else if (code === 2) {
        isDim = true;
      } else if (code === 22) {
        [isDim, isBold] = [false, false];
      } else if (code === 39) {
        colour = "";
      } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
        colour = COLOURS[code < 90 ? code - 30 : code - 82] ?? "";
      }
    }
  });
  return found;
}

/** The text with its colours, as spans of a `pre`. */
export function terminal(captured: string): string {
  const span = ({ text, colour, isBold, isDim }: Run) => {
    const style = [
      colour === "" ? "" : `color:${colour};`,
      isBold ? "font-weight:700;" : "",
      isDim ? "opacity:.65;" : "",
    ];
    return `<span style="${style.join("")}">${celled(text)}</span>`;
  };
  return runs(captured).map(span).join("");
}

/** A text of HTML. Letters outside ASCII come from other fonts: each has a cell of its own width. */
function celled(text: string): string {
  return escaped(text).replace(/[^\x00-\x7f]/gu, (letter) => `<b>${letter}</b>`);
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

/** The size of a cell, in pixels. */
const CELL = { width: 7.8, height: 16 } as const;
/** The space around the cells, in pixels. */
const MARGIN = 14;

/**
 * A film of what a terminal showed, as an SVG that moves without a script. It starts again at its end; where
 * the reader has asked for less motion, it shows its last frame.
 */
export function film(frames: readonly string[], columns: number, seconds: number): string {
  const rows = Math.max(...frames.map((frame) => frame.split("\n").length));
  const [width, height] = [columns * CELL.width + 2 * MARGIN, rows * CELL.height + 2 * MARGIN];
  // Most lines do not change from frame to frame: each is there once.
  const lines = new Map<string, string>();
  const shown = frames.map((frame, number) => {
    const used = frame.split("\n").flatMap((line, row) => {
      if (line.trim() === "") {
        return [];
      }
      const id = lines.get(line) ?? `l${lines.size}`;
      lines.set(line, id);
      return [`<use href="#${id}" y="${MARGIN + (row + 0.8) * CELL.height}"/>`];
    });
    return `<g transform="translate(${number * width})">${used.join("")}</g>`;
  });
  const defined = [...lines].map(([line, id]) => `<g id="${id}">${pieces(line)}</g>`);
  const steps = frames.map((_, number) => {
    const at = ((100 * number) / frames.length).toFixed(2);
    return `${at}%{transform:translate(${-number * width}px)}`;
  });
  const last = `transform:translate(${-(frames.length - 1) * width}px)`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    "<title>drumfire during a run, in a terminal</title>",
    "<style>text{font:13px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}",
    ".b{font-weight:700}.d{opacity:.65}",
    `#film{animation:film ${seconds}s step-end infinite}`,
    `@keyframes film{${steps.join("")}}`,
    `@media(prefers-reduced-motion:reduce){#film{animation:none;${last}}}</style>`,
    `<rect width="${width}" height="${height}" rx="6" fill="#16181c"/>`,
    `<defs>${defined.join("\n")}</defs>`,
    `<g id="film" fill="#d8d8d8">${shown.join("\n")}</g></svg>\n`,
  ].join("\n");
}

/** A line's pieces, each as wide as its cells, whatever the font. */
function pieces(line: string): string {
  let column = 0;
  const text = (run: Run) => {
    const cells = [...run.text].length;
    const x = MARGIN + column * CELL.width;
    column += cells;
    if (run.text.trim() === "") {
      return "";
    }
    const names = [run.isBold ? "b" : "", run.isDim ? "d" : ""].filter((name) => name !== "");
    const parts = [
      `x="${x.toFixed(1)}" textLength="${(cells * CELL.width).toFixed(1)}"`,
      names.length === 0 ? "" : ` class="${names.join(" ")}"`,
      run.colour === "" ? "" : ` fill="${run.colour}"`,
      ' lengthAdjust="spacingAndGlyphs"',
    ];
    return `<text ${parts.join("")}>${escaped(run.text)}</text>`;
  };
  return runs(line).map(text).join("");
}
