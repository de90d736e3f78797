#!/bin/sh
# Installs drumfire @VERSION@ for Linux into ~/.local:
#
#     curl -LsSf @URL@/install.sh | sh
#
# DRUMFIRE_PREFIX names another folder; DRUMFIRE_URL the place of the release's files. The archive is
# unpacked only if its SHA-256 is the one in SHA256SUMS.
set -eu

# All of it is in a function, so that a download that breaks off runs nothing.
main() {
  version=@VERSION@
  url=${DRUMFIRE_URL:-@URL@}
  prefix=${DRUMFIRE_PREFIX:-$HOME/.local}

  [ "$(uname -s)" = Linux ] || fail "there is no program for $(uname -s); build drumfire from its sources"
  case "$(uname -m)" in
    x86_64 | amd64) architecture=x86_64 ;;
    aarch64 | arm64) architecture=aarch64 ;;
    *) fail "there is no program for $(uname -m); build drumfire from its sources" ;;
  esac
  name=drumfire-$version-$architecture-linux-musl

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  fetch "$url/SHA256SUMS" "$work/SHA256SUMS"
  fetch "$url/$name.tar.gz" "$work/$name.tar.gz"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS at $url does not list $name.tar.gz"
  found=$(sha256 "$work/$name.tar.gz")
  [ "$found" = "$expected" ] || fail "$name.tar.gz has the SHA-256 $found, and SHA256SUMS lists $expected; nothing was installed"

  tar -xzf "$work/$name.tar.gz" -C "$work"
  mkdir -p "$prefix"
  cp -R "$work/$name/." "$prefix/"
  echo "installed: $("$prefix/bin/drumfire" --version) in $prefix/bin"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "to put it on your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  echo "to try it: drumfire demo"
}

fail() {
  echo "drumfire: $1" >&2
  exit 1
}

fetch() {
  if command -v curl >/dev/null; then
    curl --location --silent --show-error --fail --output "$2" "$1" || fail "could not download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "could not download $1"
  else
    fail "curl or wget is required"
  fi
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum or shasum is required to verify the download"
  fi
}

main
