// A server of a live page, as drumfire's own is one: it serves a saved page with the attributes of a
// live one, sends the events that a test gives, and answers commands.

import { createServer, type Server, type ServerResponse } from "node:http";

export class Stub {
  readonly commands: unknown[] = [];
  readonly #server: Server;
  readonly #readers = new Set<ServerResponse>();

  /** Serves this page of HTML. */
  static async serving(page: string): Promise<Stub> {
    const stub = new Stub(page);
    await new Promise<void>((ready) => stub.#server.listen(0, "127.0.0.1", ready));
    return stub;
  }

  private constructor(page: string) {
    this.#server = createServer((request, response) => {
      const path = request.url ?? "";
      if (path === "/run/events") {
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        response.write("retry: 100\n\n");
        this.#readers.add(response);
        response.on("close", () => this.#readers.delete(response));
      } else if (path === "/run/command" && request.method === "POST") {
        let body = "";
        request.on("data", (data: Buffer) => (body += data.toString()));
        request.on("end", () => {
          this.commands.push(JSON.parse(body));
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ answer: "done <b>so</b>" }));
        });
      } else {
        const isPage = path === "/run/";
        response.writeHead(isPage ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
        response.end(isPage ? page : "");
      }
    });
  }

  get url(): string {
    const address = this.#server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    return `http://127.0.0.1:${port}/run/`;
  }

  /** Sends an event to every reader, of which there must be one. */
  async send(event: string, data: unknown): Promise<void> {
    await this.connected();
    this.#readers.forEach((reader) => {
      reader.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    });
  }

  /** Waits until a page listens. */
  async connected(): Promise<void> {
    for (let tries = 0; this.#readers.size === 0; tries += 1) {
      if (tries > 200) {
        throw new Error("no page listens to the events");
      }
      await new Promise((waited) => setTimeout(waited, 25));
    }
  }

  /** Breaks the connections of all readers. */
  drop(): void {
    this.#readers.forEach((reader) => reader.destroy());
    this.#readers.clear();
  }

  get readers(): number {
    return this.#readers.size;
  }

  close(): void {
    this.drop();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
