#!/usr/bin/env bash
# Builds guide, manual, dialects and design as one site that also works from its folder, target/book/html,
# and checks every link in it. docs/SUMMARY.md is its table of contents.
#
# mdBook comes from crates.io in a pinned version, into target/book-tools or the folder that
# DRUMFIRE_BOOK_TOOLS names; it takes some minutes to compile the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.5.4
tools=${DRUMFIRE_BOOK_TOOLS:-$PWD/target/book-tools}
book=${CARGO_TARGET_DIR:-target}/book

if [ "$("$tools/bin/mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
  echo "book: installing mdBook $version" >&2
  cargo install --quiet --debug --locked --root "$tools" --version "$version" mdbook
fi

# The pages lie as in the repository, so that their links hold, with the files that they link to.
rm -rf "$book"
mkdir -p "$book/src"
git ls-files --cached --others --exclude-standard '*.md' ':!fuzz' ':!crates' ':!contrib/npm' >"$book/pages"
while read -r page; do
  { grep -oE '\]\([^)# ]+' "$page" || true; } | sed -e 's|^](||' -e '/^[a-z]*:/d' |
    while read -r link; do realpath --relative-to=. "$(dirname "$page")/$link"; done
done <"$book/pages" | sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done >"$book/linked"
sort -u "$book/pages" "$book/linked" | tar --create --files-from - | tar --extract --directory "$book/src"
sed -e 's|](\([a-z0-9]\)|](docs/\1|' -e 's|](\.\./|](|' docs/SUMMARY.md >"$book/src/SUMMARY.md"
rm "$book/src/docs/SUMMARY.md"
# mdBook makes index.html of a README.md, but leaves links to it as they are.
find "$book/src" -name README.md -execdir mv README.md index.md \;
find "$book/src" -name '*.md' -exec sed -i 's|\(](\([^)]*/\)\?\)README\.md|\1index.md|g' {} +
cat >"$book/book.toml" <<'TOML'
[book]
title = "drumfire"
description = "Load-test HTTP, gRPC, WebSocket and LLM services at an exact rate"
src = "src"
[build]
build-dir = "html"
[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
TOML
"$tools/bin/mdbook" build "$book" >"$book/log" 2>&1 || { cat "$book/log" >&2; exit 1; }
if grep -E 'WARN|ERROR' "$book/log" >&2; then exit 1; fi
python3 tools/check-book.py "$book/html"
echo "book: open $book/html/index.html"
