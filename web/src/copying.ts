// A button on each text that a reader may want elsewhere.

import { button, element } from "./element.js";

/** How long a button says what it did, in milliseconds. */
const SAID_FOR = 2_000;

/** Adds the button to a text. */
export function addCopying(text: HTMLElement): void {
  const copy = button("Copy", { class: "copy" }, () => {
    void copied(text).then((isCopied) => {
      copy.textContent = isCopied ? "Copied" : "Selected";
      setTimeout(() => {
        copy.textContent = "Copy";
      }, SAID_FOR);
    });
  });
  const frame = element("div", { class: "copied" });
  text.before(frame);
  frame.append(copy, text);
}

/** Copies a text. Where the browser doesn't allow that, it is selected, and Ctrl-C copies it. */
async function copied(text: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text.textContent ?? "");
    return true;
  } catch {
    getSelection()?.selectAllChildren(text);
    return false;
  }
}
