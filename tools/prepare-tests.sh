#!/usr/bin/env bash
# Compiles the tests, and meanwhile fetches and builds what others have written and tests need, which
# mostly waits for networks. Prints what that printed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
{
  tools/install-peers.sh
  tools/install-suites.sh
  # `make packages` packs with these; without them it skips what needs them, but not in CI.
  [ "${CI:-}" != true ] || tools/install-dist-tools.sh wheel nfpm
} >"$log" 2>&1 &
fetching=$!
trap 'kill "$fetching" 2>/dev/null || true; rm -f "$log"' EXIT

status=0
tools/run-tests.sh compile || status=$?
wait "$fetching" || status=$?
cat "$log" >&2
exit "$status"
