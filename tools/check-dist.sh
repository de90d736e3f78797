#!/usr/bin/env bash
# Checks what `make dist` packs: the files of the archive, of the packages for dpkg, rpm, pip and npm, and of
# the container image; that two runs in different folders give the same bytes; that what pip, npm and the
# installer install runs; and Homebrew's formula. Instead of a release's program it packs a script that
# calls the debug binary, which `make unit` builds: to compress 60 MB three times takes a minute.
#
# nfpm is installed if Go to build it is here or can be fetched, and wheel if Python is here; with CI=true
# both are required. skopeo and umoci read the image, ruby the formula and npm its packages, if they are
# installed; the last line names those that are not.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-$PWD/${CARGO_TARGET_DIR:-target}/debug/drumfire}
PATH="${DRUMFIRE_DIST_TOOLS:-$PWD/target/dist-tools}/bin:$PATH"
if ! command -v nfpm >/dev/null; then
  if ! tools/install-go.sh >/dev/null; then
    echo "dist: not checked, for there is neither nfpm nor Go to build it" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
  fi
  tools/install-dist-tools.sh nfpm >/dev/null
fi

if ! tools/install-dist-tools.sh wheel >/dev/null; then
  echo "dist: skipped: Python with venv, which packs wheels, is missing" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi

left=()
npm=(npm)
command -v npm >/dev/null || { npm=() left+=("npm"); }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexec %q "$@"\n' "$program" >"$work/drumfire"
chmod 755 "$work/drumfire"
version=$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

# Whether a program is the one that was packed. All of its output is read: a pipe that grep -q closes at the
# first match would end the program.
is_ours() {
  "$1" --version >"$work/log"
  grep -q "^drumfire $version" "$work/log"
}

for folder in one other/folder; do
  for platform in x86_64-musl x86_64-glibc2.28; do
    for step in pack wheel; do
      DRUMFIRE_DIST=$work/$folder SOURCE_DATE_EPOCH=1700000000 \
        tools/make-dist.sh "$step" "$platform" "$work/drumfire" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    done
  done
  if [ "${#npm[@]}" -gt 0 ]; then
    DRUMFIRE_DIST=$work/$folder tools/make-dist.sh npm
    DRUMFIRE_DIST=$work/$folder tools/make-dist.sh npm x86_64-musl "$work/drumfire"
  fi
done
certificates=$work/authorities
printf 'authorities\n' >"$certificates"
for folder in one other/folder; do
  DRUMFIRE_DIST=$work/$folder SOURCE_DATE_EPOCH=1700000000 DRUMFIRE_CERTIFICATES=$certificates \
    tools/make-dist.sh image x86_64-musl "$work/drumfire"
done
diff --recursive "$work/one" "$work/other/folder"

cd "$work/one"
expect() {
  diff --unified <(printf '%s\n' "$@" | sort) - || { echo "dist: the files above are wrong" >&2; exit 1; }
}
names=(
  drumfire-"$version"-x86_64-linux-{musl,glibc2.28}.tar.gz
  "drumfire_$version-1_amd64.deb" "drumfire-$version-1.x86_64.rpm" "drumfire-$version-x86_64-oci.tar"
)
wheels=(drumfire-"$version"-py3-none-{musllinux_1_2,manylinux_2_28}_x86_64.whl)
modules=(${npm:+drumfire-"$version".tgz drumfire-linux-x64-"$version".tgz})
find . -type f -printf '%f\n' | sort | expect "${names[@]}" "${wheels[@]}" "${modules[@]}"

# Without the pages of commands, of which each has one.
files=(
  bin/drumfire lib/drumfire/bin/{ghz,go-wrk,k6,pandora,slow_cooker,vllm}
  share/man/man1/drumfire.1.gz
  share/bash-completion/completions/drumfire share/zsh/site-functions/_drumfire
  share/fish/vendor_completions.d/drumfire.fish
  share/doc/drumfire/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT}
  share/doc/drumfire/{THIRD-PARTY-LICENSES,RUST-LIBRARY-LICENSES.html}
)
without_pages() { grep -v '/drumfire-[a-z0-9_-]*\.1\.gz$' | sort; }
tar --list --gzip --file "${names[0]}" | grep -v '/$' | sed 's|^[^/]*/||' | without_pages | expect "${files[@]}"
mkdir deb
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --extract "${names[2]}" deb
  (cd deb/usr && find . ! -type d -printf '%P\n') | without_pages | expect "${files[@]}"
  [ "$(dpkg-deb --field "${names[2]}" Version)" = "$version-1" ]
  # Without somebody who publishes it, a package names no address.
  [ "$(dpkg-deb --field "${names[2]}" Maintainer)" = "${DRUMFIRE_MAINTAINER:-The drumfire authors}" ]
fi
if command -v rpm >/dev/null; then
  rpm --query --list --package "${names[3]}" | sed 's|^/usr/||' | without_pages | expect "${files[@]}"
fi

# The image: a blob is named by its digest, what refers to one has its digest and size, and the layers
# have the files.
mkdir image layers
tar --extract --directory image --file "${names[4]}"
(cd image/blobs/sha256 && sha256sum ./* | sed 's|\./||' | awk '$1 != $2 { print "a blob is not " $2; exit 1 }')
referred=$(cat image/index.json image/blobs/sha256/* 2>/dev/null | tr -d '\0' |
  grep --text --only-matching '"digest":"sha256:[0-9a-f]*","size":[0-9]*' | sort -u)
[ "$(wc -l <<<"$referred")" = 4 ]
while IFS=: read -r _ _ digest size; do
  [ "$(stat -c %s "image/blobs/sha256/${digest%%\"*}")" = "$size" ]
done < <(sed 's/","size"/"/' <<<"$referred")
for blob in image/blobs/sha256/*; do
  if gzip --test "$blob" 2>/dev/null; then tar --extract --gzip --directory layers --file "$blob"; fi
done
(cd layers && find . ! -type d -printf '%P\n' | sort) |
  expect bin/drumfire etc/ssl/certs/ca-certificates.crt usr/share/doc/drumfire/LICENSE-{APACHE,MIT} \
    usr/share/doc/drumfire/{THIRD-PARTY-LICENSES,RUST-LIBRARY-LICENSES.html}
[ "$(stat -c %a layers/tmp)" = 1777 ]
cmp layers/bin/drumfire "$work/drumfire"
if command -v skopeo >/dev/null; then
  skopeo inspect --config "oci-archive:$PWD/${names[4]}" >config
  grep -q '"User": "65532:65532"' config
else
  left+=("skopeo")
fi
if command -v umoci >/dev/null; then
  umoci unpack --rootless --image "image:$version" bundle 2>/dev/null
  cmp bundle/rootfs/bin/drumfire "$work/drumfire"
else
  left+=("umoci")
fi

tar --extract --gzip --file "${names[1]}"
root=${names[1]%.tar.gz}
is_ours "$root/bin/drumfire"
[ "$(readlink -f "$root/lib/drumfire/bin/ghz")" = "$(readlink -f "$root/bin/drumfire")" ]
gzip --test "$root"/share/man/man1/*.gz
bash -n "$root/share/bash-completion/completions/drumfire"

# The licenses of what is linked: crates that any program has, the libraries in C, and texts.
licensed() {
  local file=$1 part
  shift
  for part in '^rustls [0-9.]*$' '^aws-lc-sys [0-9.]*$' '^rquickjs-sys [0-9.]*$' '^zstd-sys ' '^SQLite$' \
    '^The Rust standard library$' '    MPL-2.0$' 'Mozilla Public License Version 2.0' "$@"; do
    grep -q "$part" "$file" || { echo "dist: $file lacks $part" >&2; exit 1; }
  done
}
licensed "$root/share/doc/drumfire/THIRD-PARTY-LICENSES"
licensed layers/usr/share/doc/drumfire/THIRD-PARTY-LICENSES '^musl$'
grep -q hashbrown "$root/share/doc/drumfire/RUST-LIBRARY-LICENSES.html"

# pip and npm install the program where nothing else is, without a registry.
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --no-index --disable-pip-version-check "./${wheels[1]}"
is_ours "$work/python/bin/drumfire"
if [ "${#npm[@]}" -gt 0 ]; then
  mkdir "$work/node"
  npm install --silent --offline --no-audit --no-fund --omit=optional --prefix "$work/node" "${modules[@]/#/$PWD/}"
  is_ours "$work/node/node_modules/.bin/drumfire"
  code=0
  "$work/node/node_modules/.bin/drumfire" http --nosuch 2>/dev/null || code=$?
  [ "$code" = 2 ]
fi
cd "$OLDPWD"

# The installer takes an archive whose sum is right, and nothing of one whose sum is not.
DRUMFIRE_DIST=$work/one tools/make-dist.sh installer https://example.test/v1
(cd "$work/one" && sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS)
install() { HOME=$work/home DRUMFIRE_URL=file://$work/one sh "$work/one/install.sh"; }
install >"$work/log"
grep -q "^installed: drumfire $version" "$work/log"
is_ours "$work/home/.local/bin/drumfire"
rm -r "$work/home"
sed -i 's/^[0-9a-f]\{8\}/00000000/' "$work/one/SHA256SUMS"
if install >/dev/null 2>&1 || [ -e "$work/home/.local" ]; then
  echo "dist: the installer took an archive with another sum" >&2
  exit 1
fi
tools/version.sh >"$work/log"
grep -Eqx "$version( \([0-9a-f]{12}(-modified)? [0-9]{4}-[0-9]{2}-[0-9]{2}\))?" "$work/log"

# A package of a crate has the files of other folders that the crate embeds.
for embeds in drumfire=schema/drumfire.summary.v1.json drumfire-corpus=cases/00-control.case; do
  cargo package --package "${embeds%%=*}" --list --locked --offline --allow-dirty 2>/dev/null >"$work/list"
  grep -Fqx "${embeds#*=}" "$work/list" || { echo "dist: the package of ${embeds%%=*} lacks ${embeds#*=}" >&2; exit 1; }
done

# The formula, of sources that stand in for those of a release.
printf x | gzip -9n >"$work/one/drumfire-$version-source.tar.gz"
DRUMFIRE_DIST=$work/one tools/make-dist.sh formula https://example.test/v1/
grep -qx "  url \"https://example.test/v1/drumfire-$version-source.tar.gz\"" "$work/one/drumfire.rb"
grep -q "^  sha256 \"$(sha256sum "$work/one/drumfire-$version-source.tar.gz" | cut -d ' ' -f 1)\"$" "$work/one/drumfire.rb"
if grep '@[A-Z0-9]*@' "$work/one/drumfire.rb"; then
  echo "dist: the formula has places that are not filled in" >&2
  exit 1
fi
if command -v ruby >/dev/null; then ruby -c "$work/one/drumfire.rb" >/dev/null; else left+=("ruby"); fi

echo "dist: archives, packages, the image, the installer and the formula are as they should be${left:+; not checked without: ${left[*]}}"
