#!/usr/bin/env bash
# Makes the guide's pictures anew, by drumfire's own --svg: one server that stands still for a second
# of each six, under the same load as an open and as a closed model. `make pictures` calls it.
#
#   tools/make-guide-pictures.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/debug/drumfire}
folder=docs/pictures/guide

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work
"$program" serve -l 127.0.0.1:0 --delay lognormal:4ms,0.4 --stall 1s/6s &>"$work/listens" &
server=$!
for _ in $(seq 100); do
  url=$(grep -oE -m 1 'http://[0-9.:]+/' "$work/listens" || true)
  [ -n "$url" ] && break
  sleep 0.1
done
[ -n "$url" ] || { echo "pictures: the server did not start" >&2; exit 1; }

"$program" http -q -r 200/s -z 15s --svg "$work/open" "$url" >"$work/open.txt"
"$program" http -q -u 8 --think-time 36ms -z 15s --svg "$work/closed" "$url" >"$work/closed.txt"
mkdir -p "$folder"
for picture in latency heat tail; do
  cp "$work/open/$picture.svg" "$folder/open-$picture.svg"
done
cp "$work/closed/latency.svg" "$folder/closed-latency.svg"
# The numbers of the guide's table.
grep -E "^(Requests|Latency|response|service) " "$work/open.txt" "$work/closed.txt"
