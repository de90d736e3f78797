// What a terminal shows, as HTML: texts with the escapes for colours and weights that tmux captures.

/** The sixteen colours of a terminal, as xterm.js has them on a dark paper. */
const COLOURS = [
  "#2e3436", "#ff6b5e", "#8ae234", "#f0c542", "#7aa6da", "#d7a0e0", "#56d6d6", "#e8e8e8",
  "#8a8f98", "#ff8a7d", "#a6f25a", "#ffe07a", "#9cc4f0", "#e8b8f0", "#8af0f0", "#ffffff",
];

/** The text with its colours, as spans of a `pre`. */
export function terminal(captured: string): string {
  let style = "";
  let isDim = false;
  let isBold = false;
  const parts = captured.split(/\x1b\[([\d;]*)m/);
  return parts
    .map((part, number) => {
      if (number % 2 === 0) {
        const weight = (isBold ? "font-weight:700;" : "") + (isDim ? "opacity:.65;" : "");
        return part === "" ? "" : `<span style="${style}${weight}">${escaped(part)}</span>`;
      }
      for (const code of (part === "" ? "0" : part).split(";").map(Number)) {
        if (code === 0) {
          [style, isDim, isBold] = ["", false, false];
        } else if (code === 1) {
          isBold = true;
        } else if (code === 2) {
          isDim = true;
        } else if (code === 22) {
          [isDim, isBold] = [false, false];
        } else if (code === 39) {
          style = "";
        } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
          style = `color:${COLOURS[code < 90 ? code - 30 : code - 82] ?? ""};`;
        }
      }
      return "";
    })
    .join("");
}

/** A text of HTML. Letters outside ASCII come from other fonts: each has a cell of its own width. */
function escaped(text: string): string {
  const plain = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  return plain.replace(/[^\x00-\x7f]/gu, (letter) => `<b>${letter}</b>`);
}
