// The program of drumfire's page. It makes a page more convenient that is complete without it: see
// docs/design/09-report-page-screen.md#the-pages-program.

import { sendCommands } from "./commands.js";
import { Live } from "./live.js";
import { Page } from "./page.js";

const page = new Page();
page.enhance();

// A page that was served has these; one that was saved has not.
const { events, commands } = document.body.dataset;
if (events !== undefined) {
  new Live(events, () => page.enhance());
}
if (commands !== undefined) {
  sendCommands(commands);
}
