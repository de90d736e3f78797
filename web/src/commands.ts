// Commands to a run that goes on: forms whose fields are sent to the page's server as JSON, and whose
// answer is shown beside them.

/** The answer of a server. */
interface Answer {
  readonly answer?: string;
  readonly error?: string;
}

/** Sends the forms of the page, also of parts that come later, to this URL. */
export function sendCommands(url: string): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const command = form instanceof HTMLFormElement ? form.dataset["command"] : undefined;
    if (form instanceof HTMLFormElement && command !== undefined) {
      event.preventDefault();
      void send(url, command, form).then((text) => {
        const output = form.closest("section")?.querySelector("output");
        if (output) {
          output.textContent = text;
        }
      });
    }
  });
}

/** Sends a command, and gives the text to show. */
async function send(url: string, command: string, form: HTMLFormElement): Promise<string> {
  const fields = [...new FormData(form)].filter(([, value]) => value !== "");
  const body = { command, ...Object.fromEntries(fields) };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { answer, error } = (await response.json()) as Answer;
    return answer ?? error ?? "";
  } catch {
    return "The command did not reach the run.";
  }
}
