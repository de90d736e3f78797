#!/usr/bin/env bash
# Sees to it that the real servers are there that some tests speak to, the tools with which tests
# break networks and system calls, and a browser for the page, from Debian's packages.
# Nothing is started: the tests start what they need, on ports of their own.
#
# What is missing is installed when this may be done without a question (root, or sudo without a
# password). Otherwise the script says what is missing; with CI=true that is a failure.
set -euo pipefail

# Each with its package.
declare -A package_of=(
  [nginx]=nginx [haproxy]=haproxy [h2o]=h2o [apache2]=apache2-bin
  [curl]=curl [h2load]=nghttp2-client [nghttp]=nghttp2-client [nghttpd]=nghttp2-server
  [strace]=strace [ip]=iproute2 [nft]=nftables [openssl]=openssl
  [script]=bsdutils [unshare]=util-linux
  [vde_switch]=vde-switch [wirefilter]=vde-wirefilter [ping]=iputils-ping
  [prometheus]=prometheus [promtool]=prometheus [influxd]=influxdb
  [faketime]=faketime
  [node]=nodejs [npm]=npm [chromium]=chromium
)
# Debian's Python, whatever else is on the PATH, for it has Debian's packages.
package_of[python3-grpc]=python3-grpcio
package_of[python3-websockets]=python3-websockets
# A library for Debian's node.
package_of[node-ws]=node-ws
# Environments for the packages of Python that drumfire is packed with.
package_of[python3-venv]=python3-venv
peers=(python3-grpc python3-websockets node-ws python3-venv nginx haproxy h2o apache2 curl h2load nghttp nghttpd strace ip nft openssl script unshare vde_switch wirefilter ping prometheus promtool influxd faketime node npm chromium)
# Debian puts servers where an ordinary user's PATH does not look.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

is_there() {
  case "$1" in
    python3-venv) python3 -c 'import ensurepip' 2>/dev/null ;;
    python3-grpc) /usr/bin/python3 -c 'import grpc' 2>/dev/null ;;
    python3-websockets) /usr/bin/python3 -c 'import websockets' 2>/dev/null ;;
    node-ws) [ -e /usr/share/nodejs/ws ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing_peers() {
  local peer
  for peer in "${peers[@]}"; do
    is_there "$peer" || echo "$peer"
  done
}

# Runs a command as root; fails when that would need a password.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

may_install() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null
}

# Debian asks this file before a package starts its service. Two of the servers want the same port,
# so none may start. A file that is already there has its own reasons and is left alone.
policy=/usr/sbin/policy-rc.d
forbid_services() {
  [ -e "$policy" ] && return
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
  trap 'as_root rm -f "$policy"' EXIT
}

# The packages of these peers.
packages() {
  local peer
  for peer in "$@"; do
    echo "${package_of[$peer]}"
  done
}

install_packages() {
  echo "peers: installing $*"
  forbid_services
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
}

mapfile -t missing < <(missing_peers)
if [ "${#missing[@]}" -gt 0 ] && may_install; then
  mapfile -t wanted < <(packages "${missing[@]}")
  install_packages "${wanted[@]}" || echo "peers: apt-get failed" >&2
  mapfile -t missing < <(missing_peers)
fi

if [ "${#missing[@]}" -eq 0 ]; then
  echo "peers: all installed: ${peers[*]}"
  exit 0
fi

echo "peers: missing: ${missing[*]}" >&2
echo "peers: tests that need them cannot run; on Debian: apt-get install $(packages "${missing[@]}" | xargs)" >&2
if [ "${CI:-}" = true ]; then
  exit 1
fi
