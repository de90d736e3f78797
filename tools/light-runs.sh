#!/usr/bin/env bash
# How often light runs are not called valid on this machine, and why: of those that put next to no
# load on it, fewer than 1 in 50 may be. Takes the program and the number of runs of each kind.
#
#     tools/light-runs.sh target/release/drumfire 50
set -euo pipefail

drumfire=${1:-target/release/drumfire}
runs=${2:-50}
folder=$(mktemp -d)
"$drumfire" serve -l 127.0.0.1:0 > "$folder/url" &
server=$!
trap 'kill "$server"; rm -r "$folder"' EXIT
while ! [ -s "$folder/url" ]; do sleep 0.05; done
url=$(head -n 1 "$folder/url")

while read -r flags; do
  doubted=0
  : > "$folder/reasons"
  for ((run = 0; run < runs; run++)); do
    # shellcheck disable=SC2086
    "$drumfire" http $flags "${url}?delay=lognormal:4ms,0.5" > "$folder/text" || true
    if ! grep -q '^Verdict .*run valid' "$folder/text"; then
      doubted=$((doubted + 1))
      sed -n '/^Verdict/,/^$/p' "$folder/text" | tail -n +2 >> "$folder/reasons"
    fi
  done
  echo "$doubted of $runs not valid: drumfire http $flags"
  sed 's/^ */    /' "$folder/reasons"
done <<'FLAGS'
-r 50 -z 3s
-r 200 -z 3s
-u 20 --think-time 200ms -z 3s
-n 200 -c 50
-n 1000 -c 8
FLAGS
