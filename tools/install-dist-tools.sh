#!/usr/bin/env bash
# Sees to it that the tools are there with which `make dist` makes a release, each in a pinned version,
# in target/dist-tools or the folder that DRUMFIRE_DIST_TOOLS names; what is there stays.
#
#   cargo-zigbuild, zig   link and compile C for any Linux, with any glibc   Python's registry
#   wheel                 wheels                                             Python's registry
#   nfpm                  .deb and .rpm                                      Go's module proxy
#   cargo-cyclonedx       the bill of materials                              crates.io
#
# and by rustup the compiler of a release, with the library of each platform. Named as arguments, only
# some are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=${DRUMFIRE_DIST_TOOLS:-$PWD/target/dist-tools}
rust=1.99.1 nfpm=v2.43.4 cyclonedx=0.5.9
requirements=tools/dist-requirements.txt
pinned() {
  sed -n "s/^$1==\([^ ]*\).*/\1/p" "$requirements"
}
zigbuild=$(pinned cargo-zigbuild) zig=$(pinned ziglang) wheel=$(pinned wheel)
targets=({x86_64,aarch64}-unknown-linux-{musl,gnu})
# Later versions of nfpm have a dependency that the proxy does not give out.
mkdir -p "$tools/bin"

has() {
  [ "$(cat "$tools/$1.version" 2>/dev/null)" = "$2" ]
}

# Installs packages of Python's registry whose files have the sums of the list: NAME…
pip_install() {
  local list
  [ -d "$tools/python" ] || python3 -m venv "$tools/python"
  list=$(mktemp)
  for package in "$@"; do
    sed -n "/^$package==/,/[^\\]\$/p" "$requirements" >>"$list"
  done
  "$tools/python/bin/pip" install --quiet --require-hashes --only-binary :all: --requirement "$list"
  rm "$list"
}

wanted=("$@")
[ "${#wanted[@]}" -gt 0 ] || wanted=(wheel zigbuild nfpm cyclonedx rust)
for name in "${wanted[@]}"; do
  case "$name" in
    wheel)
      has wheel "$wheel" && continue
      pip_install wheel packaging
      echo "$wheel" >"$tools/wheel.version"
      ;;
    zigbuild)
      has zigbuild "$zigbuild $zig" && continue
      pip_install cargo-zigbuild ziglang
      # cargo-zigbuild finds zig as a module of the Python that is first on the PATH.
      printf '#!/bin/sh\nPATH="%s:$PATH" exec cargo-zigbuild "$@"\n' "$tools/python/bin" >"$tools/bin/cargo-zigbuild"
      chmod +x "$tools/bin/cargo-zigbuild"
      echo "$zigbuild $zig" >"$tools/zigbuild.version"
      ;;
    nfpm)
      has nfpm "$nfpm" && continue
      go=$(tools/install-go.sh)
      GOBIN="$tools/bin" GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0 \
        "$go/go" install "github.com/goreleaser/nfpm/v2/cmd/nfpm@$nfpm"
      echo "$nfpm" >"$tools/nfpm.version"
      ;;
    cyclonedx)
      has cyclonedx "$cyclonedx" && continue
      cargo install --debug --quiet --locked --root "$tools" --version "$cyclonedx" cargo-cyclonedx
      echo "$cyclonedx" >"$tools/cyclonedx.version"
      ;;
    rust)
      has rust "$rust" && continue
      rustup toolchain install "$rust" --profile minimal --no-self-update
      rustup target add --toolchain "$rust" "${targets[@]}"
      echo "$rust" >"$tools/rust.version"
      ;;
    *)
      echo "dist-tools: $name is unknown; use wheel, zigbuild, nfpm, cyclonedx or rust" >&2
      exit 1
      ;;
  esac
done
echo "dist-tools: all are in $tools"
