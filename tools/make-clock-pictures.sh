#!/usr/bin/env bash
# Makes the pictures of docs/manual/clock.md anew, by drumfire's own --svg: one load on one server by the
# program's clock and on the wire, beside a loop that has the generator's core as well.
# `make pictures` calls it.
#
#   tools/make-clock-pictures.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/debug/drumfire}
folder=docs/pictures/clock

work=$(mktemp -d)
server= loop=
trap 'for it in $server $loop; do kill "$it"; done; rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work
taskset -c 1 "$program" serve -l 127.0.0.1:0 --threads 1 --delay const:500us &>"$work/listens" &
server=$!
for _ in $(seq 100); do
  url=$(grep -oE -m 1 'http://[0-9.:]+/' "$work/listens" || true)
  [ -n "$url" ] && break
  sleep 0.1
done
[ -n "$url" ] || { echo "pictures: the server does not listen" >&2; exit 1; }
taskset -c 0 sh -c 'ulimit -t 60; while :; do :; done' &
loop=$!

mkdir -p "$folder"
for clock in program wire; do
  taskset -c 0 "$program" http -q --threads 1 --clock $clock -r 1000/s -z 10s --svg "$work/$clock" "$url" \
    >"$work/$clock.txt"
  cp "$work/$clock/tail.svg" "$folder/$clock-tail.svg"
done
# The numbers of the manual's table.
grep -E "^(response|service|lag|Generator) " "$work/program.txt" "$work/wire.txt"
