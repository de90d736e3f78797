#!/usr/bin/env python3
"""Checks that every link of a site in a folder leads to a file of the folder, and its fragment to an element.

    tools/check-book.py FOLDER

Links to other hosts are not checked.
"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the ids that links may lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(filter(None, [attrs.get("id"), attrs.get("name")]))
        self.links += [(self.getpos()[0], attrs[key]) for key in ("href", "src") if attrs.get(key)]


def main(root):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    broken = 0
    for path, page in pages.items():
        # Both repeat other pages: one on all of them, one for servers alone.
        if path.name in ("print.html", "404.html"):
            continue
        for line, link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            page_of_target = pages.get(target)
            if not target.is_file():
                reason = "there is no such file"
            elif url.fragment and page_of_target and unquote(url.fragment) not in page_of_target.ids:
                reason = "the page has no such heading"
            else:
                continue
            broken += 1
            print(f"{path.relative_to(root)}:{line}: {link}: {reason}", file=sys.stderr)
    print(f"book: {len(pages)} pages, {broken} broken links")
    return broken > 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
