// The documents of the run, which the page has in compressed form.

const PACKED = ".gz";

/** Makes a link save its document unpacked. A browser that can't unpack saves it as it is. */
export function addUnpacking(link: HTMLAnchorElement): void {
  const name = link.download.slice(0, -PACKED.length);
  if (!link.download.endsWith(PACKED) || typeof DecompressionStream === "undefined") {
    return;
  }
  link.textContent = name;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    void save(name, link.href);
  });
}

async function save(name: string, href: string): Promise<void> {
  const packed = atob(href.slice(href.indexOf(",") + 1));
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const url = URL.createObjectURL(await new Response(unpacked).blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
