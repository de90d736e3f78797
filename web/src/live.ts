// A page whose run goes on: parts that a server sends replace those of the page.
//
// Events: `part` has `{id, html, after}`, and replaces the element with that id, or is put behind the
// element `after`, or first; `batch` says that a set of parts is complete; `end` has a note, and
// nothing follows it: commands go, and the note is the progress. A lost connection is opened again by
// the browser.

import { Kept } from "./kept.js";

interface Part {
  readonly id: string;
  readonly html: string;
  readonly after?: string;
}

export class Live {
  readonly #source: EventSource;
  readonly #kept = new Map<string, Kept>();
  readonly #enhance: () => void;

  /** Listens; `enhance` adds the program's elements to parts that are new. */
  constructor(url: string, enhance: () => void) {
    this.#enhance = enhance;
    this.#source = new EventSource(url);
    const on = (name: string, take: (data: string) => void) => {
      this.#source.addEventListener(name, (event: Event) => {
        take(event instanceof MessageEvent ? String(event.data) : "");
      });
    };
    on("part", (data) => this.#part(JSON.parse(data) as Part));
    on("batch", () => this.#batch());
    on("end", (data) => this.#end((JSON.parse(data) as { readonly note: string }).note));
    this.#source.addEventListener("open", () => say(""));
    this.#source.addEventListener("error", () => {
      say("Connection lost: the page shows the last known state. Reconnecting …");
    });
  }

  #part({ id, html, after }: Part): void {
    const made = document.createElement("template");
    made.innerHTML = html;
    const before = document.getElementById(id);
    if (before !== null) {
      // A second part of the same batch replaces one that no reader has seen.
      if (!this.#kept.has(id)) {
        this.#kept.set(id, new Kept(before));
      }
      before.replaceWith(made.content);
      return;
    }
    const place = after === undefined ? null : document.getElementById(after);
    if (place !== null) {
      place.after(made.content);
    } else {
      document.querySelector("main")?.prepend(made.content);
    }
  }

  #batch(): void {
    this.#enhance();
    this.#kept.forEach((kept, id) => {
      const part = document.getElementById(id);
      if (part !== null) {
        kept.restore(part);
      }
    });
    this.#kept.clear();
  }

  #end(note: string): void {
    this.#source.close();
    this.#batch();
    document.getElementById("control")?.remove();
    const progress = document.getElementById("progress");
    if (progress !== null) {
      progress.textContent = note;
      progress.className = "is-over";
    }
  }
}

function say(text: string): void {
  const place = document.getElementById("connection");
  if (place !== null) {
    place.textContent = text;
  }
}
