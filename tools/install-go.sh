#!/usr/bin/env bash
# Prints the folder of a `go` that can build what others have written: the one on the PATH or where Debian
# and Go's own installer put it, from 1.21 on, which fetches a newer one where a module asks for it. Where
# there is none, Go is fetched from its module proxy, which has its releases as modules, into target/go or
# the folder that DRUMFIRE_GO names; what is there stays. That takes Linux, curl and Python 3.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${DRUMFIRE_GO:-$PWD/target/go}
version=1.26.8
declare -A sum_of=(
  [x86_64]="amd64 30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7"
  [aarch64]="arm64 02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99"
)

PATH="$PATH:/usr/local/go/bin:/usr/lib/go/bin"
if found=$(command -v go) && "$found" version | grep -qE ' go1\.(2[1-9]|[3-9][0-9])'; then
  dirname "$found"
  exit 0
fi
if [ -x "$folder/$version/bin/go" ]; then
  echo "$folder/$version/bin"
  exit 0
fi

read -r architecture sum <<<"${sum_of[$(uname -m)]:-}"
missing=()
[ "$(uname -s)" = Linux ] && [ -n "$architecture" ] || missing+=("a release of Go for this machine")
for tool in curl python3; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if [ "${#missing[@]}" -gt 0 ]; then
  echo "go: not installed, and fetching it requires: ${missing[*]}" >&2
  echo "go: install Go 1.24 or later (https://go.dev/dl)" >&2
  exit 1
fi

echo "go: fetching Go $version, 70 MB" >&2
mkdir -p "$folder"
work=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
module=golang.org/toolchain
name=v0.0.1-go$version.linux-$architecture
curl --silent --show-error --fail --location --max-time 600 --output "$work/go.zip" \
  "https://proxy.golang.org/$module/@v/$name.zip"
echo "$sum  $work/go.zip" | sha256sum --check --quiet >&2
python3 -m zipfile --extract "$work/go.zip" "$work"
# A module has no modes; Go sets these two folders' when it unpacks one.
chmod +x "$work/$module@$name"/bin/* "$work/$module@$name"/pkg/tool/*/*
rm -rf "${folder:?}/$version"
mv "$work/$module@$name" "$folder/$version"
echo "$folder/$version/bin"
