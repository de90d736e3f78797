#!/usr/bin/env bash
# Makes what a release has, in target/dist:
#
#     tools/make-dist.sh                      builds the program for each platform and packs it
#     tools/make-dist.sh build PLATFORM       builds it for one, and prints the program's path
#     tools/make-dist.sh pack PLATFORM PROGRAM   packs a program that was built
#     tools/make-dist.sh image PLATFORM PROGRAM   puts a static program into a container image
#     tools/make-dist.sh wheel PLATFORM PROGRAM   packs a program as a wheel for pip
#     tools/make-dist.sh npm [PLATFORM PROGRAM]   packs a static program for npm; the package that starts it
#     tools/make-dist.sh source               packs the sources of this commit
#     tools/make-dist.sh formula URL          writes Homebrew's formula for files below this URL
#     tools/make-dist.sh installer URL        writes the installer of files below this URL, install.sh
#     tools/make-dist.sh sums                 writes the bill of materials and SHA256SUMS
#
# PLATFORM is ARCHITECTURE-musl, a static program, or ARCHITECTURE-glibc2.28, one for every Linux with
# this glibc or a later one, of which a .deb and an .rpm are made too; ARCHITECTURE is x86_64 or aarch64.
# DRUMFIRE_PLATFORMS names those to build, DRUMFIRE_DIST another folder, DRUMFIRE_PROFILE another profile
# of cargo. DRUMFIRE_MAINTAINER, `Name <address>`, is who publishes the packages and answers for them; it
# stands in the packages, which without it name no address. DRUMFIRE_REPOSITORY is the address of the
# repository that the packages of npm name.
#
# Two builds of one commit are to be the same bytes, wherever they are made: no path of this machine and
# no time but that of the commit goes into them. cargo-zigbuild links and compiles C for each platform from any
# machine, nfpm packs; tools/install-dist-tools.sh has them with their versions.
set -euo pipefail
cd "$(dirname "$0")/.."

dist=${DRUMFIRE_DIST:-$PWD/target/dist}
profile=${DRUMFIRE_PROFILE:-release}
tools=${DRUMFIRE_DIST_TOOLS:-$PWD/target/dist-tools}
read -r -a platforms <<<"${DRUMFIRE_PLATFORMS:-x86_64-musl x86_64-glibc2.28}"
PATH="$tools/bin:$PATH"

DRUMFIRE_VERSION=$(tools/version.sh)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/version.sh epoch)}
# Text in one language and one time zone, and files that others may read.
export DRUMFIRE_VERSION SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
version=${DRUMFIRE_VERSION%% *}
maintainer=${DRUMFIRE_MAINTAINER:-The drumfire authors}
summary='Load-test HTTP, gRPC, WebSocket and LLM services at an exact rate'

# The names that a program answers to in the place of another tool.
dialects=(ghz go-wrk k6 pandora slow_cooker vllm)

# Python with the packages of dist-tools.
python_tools() {
  "$tools/python/bin/python" "$@"
}

need() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || {
      echo "dist: $tool is missing; tools/install-dist-tools.sh installs what a release needs" >&2
      exit 1
    }
  done
}

# Cargo's name for a platform, without and with the version of its C library.
triple() {
  case "$1" in
    x86_64-musl | aarch64-musl) echo "${1%-*}-unknown-linux-musl" ;;
    x86_64-glibc2.28 | aarch64-glibc2.28) echo "${1%-*}-unknown-linux-gnu" ;;
    *)
      echo "dist: no platform is called $1; x86_64-musl is one" >&2
      return 1
      ;;
  esac
}

build() {
  local platform=$1 target linked cargo rust places place remap c_flags=''
  need cargo-zigbuild
  [ -f "$tools/rust.version" ] || {
    echo "dist: the compiler of a release is missing; to install it, run tools/install-dist-tools.sh rust" >&2
    exit 1
  }
  # Two builds of one commit have the same bytes only with the same compiler.
  RUSTUP_TOOLCHAIN=$(cat "$tools/rust.version")
  export RUSTUP_TOOLCHAIN
  target=$(triple "$platform")
  linked=$target
  [ "${platform#*-}" = glibc2.28 ] && linked=$target.2.28
  cargo=${CARGO_HOME:-$HOME/.cargo} rust=$(rustc --print sysroot)
  places=("$PWD=/drumfire" "$cargo=/cargo" "$rust=/rust")
  remap=''
  for place in "${places[@]}"; do
    # Words of CARGO_ENCODED_RUSTFLAGS end at this byte, so that paths may have blanks.
    remap+="${remap:+$'\x1f'}--remap-path-prefix=$place"
    c_flags+=" -ffile-prefix-map=$(printf %q "$place")"
  done
  # perf and backtraces need the names of functions; their lines are 50 MB.
  env "CARGO_ENCODED_RUSTFLAGS=$remap" CC_SHELL_ESCAPED_FLAGS=1 "CFLAGS_${target//-/_}=$c_flags" \
    CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=debuginfo \
    cargo zigbuild --profile "$profile" --locked --package drumfire --target "$linked" >&2
  echo "${CARGO_TARGET_DIR:-target}/$target/$profile/drumfire"
}

# All files of an installation below a folder, for a platform. The man pages and completions come from a program that
# runs here, which for another architecture is DRUMFIRE_HOST.
stage() {
  local platform=$1 program=$2 root=$3 host name system
  system=$(triple "$platform")
  host=${DRUMFIRE_HOST:-$program}
  mkdir -p "$root"/{bin,lib/drumfire/bin,share/man/man1,share/doc/drumfire} \
    "$root"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
  install -m 755 "$program" "$root/bin/drumfire"
  for name in "${dialects[@]}"; do
    ln -s ../../../bin/drumfire "$root/lib/drumfire/bin/$name"
  done
  "$host" man "$root/share/man/man1"
  gzip -9n "$root"/share/man/man1/*
  "$host" completions bash >"$root/share/bash-completion/completions/drumfire"
  "$host" completions zsh >"$root/share/zsh/site-functions/_drumfire"
  "$host" completions fish >"$root/share/fish/vendor_completions.d/drumfire.fish"
  install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$root/share/doc/drumfire"
  tools/licenses.sh "$system" "$root/share/doc/drumfire"
  find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# The files of a package, a line each. Folders such as /usr/bin are other packages' own.
contents() {
  local root=$1 path
  (cd "$root" && find . \( -type f -o -type l \) -printf '%P\n' | sort) | while read -r path; do
    if [ -L "$root/$path" ]; then
      echo "  - { src: $(readlink "$root/$path"), dst: /usr/$path, type: symlink }"
    else
      echo "  - { src: $root/$path, dst: /usr/$path }"
    fi
  done
}

# The Debian and RPM packages of what was staged.
package() {
  local architecture=$1 root=$2 config=$3
  need nfpm
  cat >"$config" <<YAML
name: drumfire
arch: $architecture
platform: linux
version: $version
release: "1"
mtime: "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
section: net
maintainer: "$maintainer"
description: |
  $summary
  drumfire also tells you when its own numbers cannot be trusted.
license: Apache-2.0 OR MIT
contents:
$(contents "$root")
overrides:
  deb: { depends: ["libc6 (>= 2.28)"] }
  rpm: { depends: ["glibc >= 2.28"] }
rpm: { compression: "zstd", buildhost: drumfire, group: Applications/Internet }
deb: { compression: xz }
YAML
  nfpm package --config "$config" --packager deb --target "$dist" >&2
  nfpm package --config "$config" --packager rpm --target "$dist" >&2
}

pack() {
  local platform=$1 program=$2 name work architecture
  triple "$platform" >/dev/null
  name=drumfire-$version-${platform%-*}-linux-${platform#*-}
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$work'" EXIT
  mkdir -p "$dist"
  stage "$platform" "$program" "$work/$name"
  tar --create --directory "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" "$name" | gzip -9n >"$dist/$name.tar.gz"
  case "$platform" in
    x86_64-glibc*) architecture=amd64 ;;
    aarch64-glibc*) architecture=arm64 ;;
    *) architecture= ;;
  esac
  if [ -n "$architecture" ]; then
    package "$architecture" "$work/$name" "$work/nfpm.yaml"
  fi
  rm -rf "$work"
  trap - EXIT
}

# A wheel holds the program as a script of the environment that pip installs into; it runs no Python.
wheel() {
  local platform=$1 program=$2 tag work root info file
  case "$platform" in
    *-musl) tag=py3-none-musllinux_1_2_${platform%-*} ;;
    *-glibc2.28) tag=py3-none-manylinux_2_28_${platform%-*} ;;
  esac
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$work'" EXIT
  root=$work/drumfire-$version info=$work/drumfire-$version/drumfire-$version.dist-info
  mkdir -p "$root/drumfire-$version.data/scripts" "$info/licenses" "$dist"
  install -m 755 "$program" "$root/drumfire-$version.data/scripts/drumfire"
  install -m 644 LICENSE-APACHE LICENSE-MIT "$info/licenses"
  tools/licenses.sh "$(triple "$platform")" "$info/licenses"
  printf 'Wheel-Version: 1.0\nGenerator: drumfire\nRoot-Is-Purelib: false\nTag: %s\n' "$tag" >"$info/WHEEL"
  {
    printf 'Metadata-Version: 2.4\nName: drumfire\nVersion: %s\n' "$version"
    printf 'Summary: %s\n' "$summary"
    printf 'License-Expression: Apache-2.0 OR MIT\nRequires-Python: >=3.8\n'
    for file in "$info"/licenses/*; do printf 'License-File: %s\n' "${file##*/}"; done
    printf 'Description-Content-Type: text/markdown\n\n'
    cat README.md
  } >"$info/METADATA"
  find "$root" -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
  python_tools -m wheel pack "$root" --dest-dir "$dist" >&2
  rm -rf "$work"
  trap - EXIT
}

# npm has a package for each platform, which holds the program, and one that depends on all of them and
# starts the one that npm has installed. Without a platform this is that one.
npm_package() {
  local platform=${1:-} program=${2:-} work name cpu
  need npm
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/bin" "$dist"
  install -m 644 LICENSE-APACHE LICENSE-MIT contrib/npm/README.md "$work"
  local common="\"version\": \"$version\", \"description\": \"$summary\", \"license\": \"Apache-2.0 OR MIT\""
  [ -z "${DRUMFIRE_REPOSITORY:-}" ] || common+=", \"repository\": { \"type\": \"git\", \"url\": \"git+$DRUMFIRE_REPOSITORY.git\" }"
  if [ -z "$platform" ]; then
    install -m 755 contrib/npm/bin/drumfire.js "$work/bin/drumfire.js"
    cat >"$work/package.json" <<JSON
{ "name": "drumfire", $common, "bin": { "drumfire": "bin/drumfire.js" }, "engines": { "node": ">=18" },
  "optionalDependencies": { "@drumfire/linux-x64": "$version", "@drumfire/linux-arm64": "$version" } }
JSON
  else
    case "$platform" in
      x86_64-musl) cpu=x64 ;;
      aarch64-musl) cpu=arm64 ;;
      *)
        echo "dist: npm packages hold a static program; use x86_64-musl or aarch64-musl instead of $platform" >&2
        return 1
        ;;
    esac
    install -m 755 "$program" "$work/bin/drumfire"
    tools/licenses.sh "$(triple "$platform")" "$work"
    cat >"$work/package.json" <<JSON
{ "name": "@drumfire/linux-$cpu", $common, "os": ["linux"], "cpu": ["$cpu"], "files": ["bin", "*LICENSE*"] }
JSON
  fi
  (cd "$work" && npm pack --silent --ignore-scripts --pack-destination "$dist" >/dev/null)
  rm -rf "$work"
  trap - EXIT
}

image() {
  local platform=$1 program=$2
  case "$platform" in
    *-musl) tools/make-image.sh "${platform%-*}" "$program" "$dist/drumfire-$version-${platform%-*}-oci.tar" ;;
    *)
      echo "dist: an image from scratch needs a static program, and $platform is none" >&2
      return 1
      ;;
  esac
}

source_archive() {
  echo "drumfire-$version-source.tar.gz"
}

# The files of this commit, without those that were changed since.
source_of_commit() {
  mkdir -p "$dist"
  git archive --format=tar --prefix="drumfire-$version/" HEAD | gzip -9n >"$dist/$(source_archive)"
}

formula() {
  local url=${1%/} sum
  sum=$(sha256sum "$dist/$(source_archive)" | cut -d ' ' -f 1)
  sed -e '1,2d' -e "s|@URL@|$url|; s|@VERSION@|$version|; s|@SHA256@|$sum|; s|@SOURCE@|$(source_archive)|" \
    contrib/homebrew/drumfire.rb >"$dist/drumfire.rb"
}

installer() {
  sed -e "s|@URL@|${1%/}|g; s|@VERSION@|$version|g" contrib/install.sh >"$dist/install.sh"
  chmod 755 "$dist/install.sh"
}

# The bill of materials of the program for Linux, in CycloneDX's form, and the sums of all files.
sums() {
  need cargo-cyclonedx
  mkdir -p "$dist"
  # It writes a file beside the Cargo.toml of each member of the workspace.
  trap 'find bench conformance crates xtask -maxdepth 3 -name drumfire-bill.json -delete' EXIT
  cargo cyclonedx --manifest-path crates/app/cli/Cargo.toml --format json --target x86_64-unknown-linux-gnu \
    --override-filename drumfire-bill --quiet >&2
  # The folder of the sources would differ from build to build.
  sed "s|$PWD|/drumfire|g" crates/app/cli/drumfire-bill.json >"$dist/drumfire-$version.cdx.json"
  (cd "$dist" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort | xargs sha256sum >SHA256SUMS)
}

case "${1:-all}" in
  build) build "$2" ;;
  pack) pack "$2" "$3" ;;
  image) image "$2" "$3" ;;
  source) source_of_commit ;;
  wheel) wheel "$2" "$3" ;;
  npm) npm_package "${2:-}" "${3:-}" ;;
  formula) formula "$2" ;;
  installer) installer "$2" ;;
  sums) sums ;;
  all)
    need cargo-zigbuild nfpm cargo-cyclonedx
    rm -rf "$dist"
    for platform in "${platforms[@]}"; do
      program=$(build "$platform")
      case "$platform" in "$(uname -m)"-*) : "${DRUMFIRE_HOST:=$program}" ;; esac
      pack "$platform" "$program"
      wheel "$platform" "$program"
      case "$platform" in
        *-musl)
          image "$platform" "$program"
          npm_package "$platform" "$program"
          ;;
      esac
    done
    npm_package
    # An archive of the sources has no commit, and is packed by others.
    if git rev-parse --verify --quiet HEAD >/dev/null; then source_of_commit; fi
    sums
    ls -l "$dist"
    ;;
  *)
    echo "dist: $1 is no part of making a release; build, pack, wheel, npm, image, source, formula, installer and sums are" >&2
    exit 1
    ;;
esac
