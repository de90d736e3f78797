#!/usr/bin/env bash
# Checks what `make dist` packs: the files of the archive and of both packages, that two runs in
# different folders give the same bytes, and that what is unpacked runs. In the place of a release's
# program stands a script that calls the debug binary, which `make unit` builds: to compress 60 MB
# three times takes a minute.
#
# nfpm is installed when there is Go to build it; with CI=true it must be.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-$PWD/${CARGO_TARGET_DIR:-target}/debug/drumfire}
PATH="${DRUMFIRE_DIST_TOOLS:-$PWD/target/dist-tools}/bin:$PATH:/usr/local/go/bin:/usr/lib/go/bin"
if ! command -v nfpm >/dev/null; then
  if ! command -v go >/dev/null; then
    echo "dist: not checked, for there is neither nfpm nor Go to build it" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
  fi
  tools/install-dist-tools.sh nfpm >/dev/null
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexec %q "$@"\n' "$program" >"$work/drumfire"
chmod 755 "$work/drumfire"
version=$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

for folder in one other/folder; do
  for platform in x86_64-musl x86_64-glibc2.28; do
    DRUMFIRE_DIST=$work/$folder SOURCE_DATE_EPOCH=1700000000 \
      tools/make-dist.sh pack "$platform" "$work/drumfire" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  done
done
diff --recursive "$work/one" "$work/other/folder"

cd "$work/one"
expect() {
  diff --unified <(printf '%s\n' "$@" | sort) - || { echo "dist: the files above are wrong" >&2; exit 1; }
}
names=(drumfire-"$version"-x86_64-linux-{musl,glibc2.28}.tar.gz "drumfire_$version-1_amd64.deb" "drumfire-$version-1.x86_64.rpm")
find . -type f -printf '%f\n' | sort | expect "${names[@]}"

# Without the pages of commands, of which each has one.
files=(
  bin/drumfire lib/drumfire/bin/{ghz,go-wrk,pandora,slow_cooker}
  share/man/man1/drumfire.1.gz
  share/bash-completion/completions/drumfire share/zsh/site-functions/_drumfire
  share/fish/vendor_completions.d/drumfire.fish
  share/doc/drumfire/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT}
)
without_pages() { grep -v '/drumfire-[a-z_-]*\.1\.gz$' | sort; }
tar --list --gzip --file "${names[0]}" | grep -v '/$' | sed 's|^[^/]*/||' | without_pages | expect "${files[@]}"
mkdir deb
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --extract "${names[2]}" deb
  (cd deb/usr && find . ! -type d -printf '%P\n') | without_pages | expect "${files[@]}"
  [ "$(dpkg-deb --field "${names[2]}" Version)" = "$version-1" ]
fi
if command -v rpm >/dev/null; then
  rpm --query --list --package "${names[3]}" | sed 's|^/usr/||' | without_pages | expect "${files[@]}"
fi

tar --extract --gzip --file "${names[1]}"
root=${names[1]%.tar.gz}
"$root/bin/drumfire" --version | grep -q "^drumfire $version"
[ "$(readlink -f "$root/lib/drumfire/bin/ghz")" = "$(readlink -f "$root/bin/drumfire")" ]
gzip --test "$root"/share/man/man1/*.gz
bash -n "$root/share/bash-completion/completions/drumfire"
cd "$OLDPWD"
tools/version.sh | grep -Eqx "$version( \([0-9a-f]{12}(-modified)? [0-9]{4}-[0-9]{2}-[0-9]{2}\))?"
echo "dist: archives and packages are well"
