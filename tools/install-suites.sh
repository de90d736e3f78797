#!/usr/bin/env bash
# Sees to it that the conformance suites are there that others have written and some tests run,
# a server that they speak to, and a tool that drumfire is compared with. They come from Go's module
# proxy, each in a pinned version.
#
#   h2specd              HTTP/2 and HPACK, client side       github.com/summerwind/h2spec
#   connectconformance   gRPC, client side                   connectrpc.com/conformance
#   grpc-interop-server  gRPC's interoperability service     google.golang.org/grpc
#   ghz                  gRPC load, for bench and a test     github.com/bojand/ghz
#   nats-server          runs on several machines            github.com/nats-io/nats-server
#   llmock               a mock of language models, with      llmock, from PyPI (Python 3 with venv)
#                        faults in its streams
#   hlog-reader          tools/hlog-reader.go, logs of       github.com/HdrHistogram/hdrhistogram-go
#                        histograms by their own reader
#   socket-server        tools/socket-server.go, a server    github.com/coder/websocket
#                        of WebSockets
#
# and, when they are named as arguments (`make receivers`), receivers of metrics:
#
#   victoria-metrics     github.com/VictoriaMetrics/VictoriaMetrics
#   otel-collector       tools/otel-collector.go, with parts from go.opentelemetry.io/collector
#
# and other load testers (`make truth`):
#
#   hey                  github.com/rakyll/hey
#   vegeta               github.com/tsenart/vegeta
#   fortio               fortio.org/fortio
#   k6                   go.k6.io/k6
#
# and a suite in Python 2, which no distribution has any longer (`make autobahn`); PYTHON2 names its
# interpreter, or pyenv has one:
#
#   wstest               WebSockets                          autobahntestsuite, from PyPI
#
# They are put into the folder that DRUMFIRE_SUITES names, or else into target/suites; what is
# there in the right version stays. Nothing is started: the tests start what they need.
#
# tools/install-go.sh sees to Go. Without it nothing can be installed, and the script says so; with
# CI=true that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=${DRUMFIRE_SUITES:-$PWD/target/suites}

# Each with its package, or a program of ours, its module's version, and the further versions that
# it needs.
h2specd="github.com/summerwind/h2spec/cmd/h2specd github.com/summerwind/h2spec@v2.2.1+incompatible golang.org/x/net@v0.57.0"
connectconformance="connectrpc.com/conformance/cmd/connectconformance connectrpc.com/conformance@v1.0.7"
grpc_interop_server="google.golang.org/grpc/interop/server google.golang.org/grpc@v1.80.0"
# Pinned to this one since what the proxy calls the latest, 0.93.0, can't switch templates off.
ghz="github.com/bojand/ghz/cmd/ghz github.com/bojand/ghz@v0.120.0"
nats_server="github.com/nats-io/nats-server/v2 github.com/nats-io/nats-server/v2@v2.12.2"
hlog_reader="tools/hlog-reader.go github.com/HdrHistogram/hdrhistogram-go@v1.4.0"
socket_server="tools/socket-server.go github.com/coder/websocket@v1.8.15"

victoria_metrics="github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics github.com/VictoriaMetrics/VictoriaMetrics@v1.102.1"
contrib=github.com/open-telemetry/opentelemetry-collector-contrib
otel_collector="tools/otel-collector.go go.opentelemetry.io/collector/otelcol@v0.165.0 go.opentelemetry.io/collector/receiver/otlpreceiver@v0.165.0 go.opentelemetry.io/collector/service@v0.165.0 $contrib/exporter/fileexporter@v0.165.0"

hey="github.com/rakyll/hey github.com/rakyll/hey@v0.1.5"
vegeta="github.com/tsenart/vegeta/v12 github.com/tsenart/vegeta/v12@v12.13.0"
# Later ones need a module that the proxy does not give.
fortio="fortio.org/fortio fortio.org/fortio@v1.63.7"
k6="go.k6.io/k6 go.k6.io/k6@v1.8.1"

wstest="autobahntestsuite==25.10.1"

llmock="llmock==0.2.2"

# Whether this suite is there as it is asked for.
is_there() {
  local name=$1 pinned=$2
  [ -x "$suites/$name" ] && [ "$(cat "$suites/$name.version" 2>/dev/null)" = "$pinned" ]
}

# Builds one suite in a module of its own, since the old ones have none and the versions of one
# are not those of another.
install_suite() {
  local name=$1 pinned=$2 package module pin source
  read -r package module <<<"$pinned"
  source=$PWD/$package
  echo "suites: installing $name ($module)"
  (
    cd "$work"
    rm -f go.mod go.sum ./*.go
    go mod init suite
    # The package must not be asked for by name here: that would mean its latest version.
    # shellcheck disable=SC2086 # several modules, each a word
    go get $module || exit
    case "$package" in
      *.go) cp "$source" . && go build -o "$name.new" . || exit ;;
      *) go build -o "$name.new" "$package" || exit ;;
    esac
    for pin in $module; do
      [ "$(go list -m "${pin%@*}")" = "${pin/@/ }" ] || { echo "not built with $pin"; exit 1; }
    done
  ) >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    echo "suites: could not build $name; check that Go's module proxy is reachable (GOPROXY=$(go env GOPROXY))" >&2
    return 1
  }
  rm -f "$suites/$name.version"
  mv "$work/$name.new" "$suites/$name"
  echo "$pinned" >"$suites/$name.version"
}

# Prints the path of an interpreter of Python 2.7 with pip.
python2() {
  local candidate
  for candidate in "${PYTHON2:-}" python2.7 "$HOME"/.pyenv/versions/2.7.*/bin/python; do
    if [ -n "$candidate" ] && "$candidate" -m pip --version >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# Installs Autobahn's suite beside a program that starts it.
install_wstest() {
  local python
  if ! python=$(python2); then
    echo "suites: wstest needs Python 2.7 with pip; set PYTHON2 to its interpreter" >&2
    return 1
  fi
  echo "suites: installing wstest ($wstest)"
  "$python" -m pip install --quiet --target "$work/wstest.packages" "$wstest" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    echo "suites: could not install wstest; check that PyPI is reachable" >&2
    return 1
  }
  rm -rf "$suites/wstest.version" "$suites/wstest.packages"
  mv "$work/wstest.packages" "$suites/wstest.packages"
  # Packages in parts are found only in a folder of sites.
  cat >"$suites/wstest" <<END
#!/bin/sh
exec "$python" -c 'import site; site.addsitedir("$suites/wstest.packages")
from autobahntestsuite.wstest import run
run()' "\$@"
END
  chmod +x "$suites/wstest"
  echo "$wstest" >"$suites/wstest.version"
}

# Installs the mock of language models, in an environment of its own.
install_llmock() {
  echo "suites: installing llmock ($llmock)"
  rm -rf "$suites/llmock.version" "$suites/llmock.packages"
  {
    python3 -m venv "$suites/llmock.packages" &&
      "$suites/llmock.packages/bin/pip" install --quiet "$llmock"
  } >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    echo "suites: could not install llmock; check that Python 3 has venv and that PyPI is reachable" >&2
    return 1
  }
  ln -sf "$suites/llmock.packages/bin/llmock" "$suites/llmock"
  echo "$llmock" >"$suites/llmock.version"
}

wanted=("$@")
[ "${#wanted[@]}" -gt 0 ] || wanted=(h2specd connectconformance grpc-interop-server ghz nats-server hlog-reader socket-server llmock)
missing=()
for name in "${wanted[@]}"; do
  pinned=${name//-/_}
  is_there "$name" "${!pinned}" || missing+=("$name")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "suites: all installed in $suites"
  exit 0
fi

mkdir -p "$suites"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${missing[*]}" = wstest ]; then
  install_wstest
  exit
fi
if [ "${missing[*]}" = llmock ]; then
  install_llmock && exit
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi

if ! go=$(tools/install-go.sh); then
  echo "suites: cannot be built without Go: ${missing[*]}" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi

PATH="$go:$PATH"
# What is built must not depend on the user's own settings; a Go that is too old fetches a newer.
export GOFLAGS=-mod=mod GOTOOLCHAIN=auto GOWORK=off CGO_ENABLED=0
for name in "${missing[@]}"; do
  if [ "$name" = wstest ]; then
    install_wstest || exit
    continue
  fi
  if [ "$name" = llmock ]; then
    install_llmock || [ "${CI:-}" != true ] || exit 1
    continue
  fi
  pinned=${name//-/_}
  if ! install_suite "$name" "${!pinned}"; then
    [ "${CI:-}" = true ] && exit 1
    exit 0
  fi
done
echo "suites: all installed in $suites"
