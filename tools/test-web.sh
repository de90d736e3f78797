#!/usr/bin/env bash
# Checks the page's program: its types, that its bundle is what a build gives, its pure parts, and
# pages in Debian's Chromium. These are made by the debug binary and by the tests of the report crate,
# so that `make unit` comes first. With `build`, the bundle is built anew and nothing is tested; with
# `pictures`, the manual's pictures are.
#
# What is missing is said; with CI=true that is a failure. tools/install-peers.sh installs it.
set -euo pipefail
cd "$(dirname "$0")/../web"

needed=(node npm)
[ "${1:-}" = build ] || needed+=(chromium)
[ "${1:-}" = pictures ] && needed+=(tmux)
for tool in "${needed[@]}"; do
  if ! command -v "$tool" >/dev/null; then
    echo "web: $tool is missing; the report page's code cannot be built and tested here" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
  fi
done

# The packages run nothing when they are installed; Playwright's own browsers are not fetched.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi

if [ "${1:-}" = build ]; then
  node_modules/.bin/tsc --noEmit --project .
  exec node build.mjs
fi

# The program itself is checked without the types of Node, which a browser does not have.
node_modules/.bin/tsc --noEmit --project . &
program=$!
rm -rf out
node_modules/.bin/tsc --project tests
wait "$program"
node build.mjs --check
CHROMIUM=$(command -v chromium)
export CHROMIUM
if [ "${1:-}" = pictures ]; then
  exec node out/tests/browser/pictures.js
fi
# The last file prints times, and has the machine for itself.
tests() {
  node --test --test-reporter=spec "${@/%/.test.js}"
}
cd out/tests
tests pure browser/live browser/served browser/list browser/layout
tests browser/page
