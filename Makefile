# Everything that people run, one line each. `.ci/run` calls `make test`.

# rustup's own folder is not on the PATH of every shell.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)
DEMO = $(TARGET_DIR)/demo/drumfire
FUZZ_SECONDS ?= 600
# Where the inputs of property tests come from. A change is judged by the same ones each time;
# `make unit SEED=2` looks for others.
SEED ?= 1
# How many tests of a program run side by side: more than there are cores, since those that take
# long wait for servers, timeouts and schedules.
TEST_THREADS ?= 8
BIN_DIR ?= $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)/bin
# Where man(1) and the completion of bash look beside a program of BIN_DIR.
SHARE_DIR ?= $(BIN_DIR)/../share
# Tests are compiled from nothing more often than they are debugged: without line tables, without what a
# second build could reuse, and each crate as one module, which takes a tenth less CPU than in parts.
export CARGO_INCREMENTAL ?= 0
export CARGO_PROFILE_DEV_DEBUG ?= none
export CARGO_PROFILE_DEV_CODEGEN_UNITS ?= 1
export CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS ?= 1
# Names under which the program behaves as another tool. Not vllm, which is the name of a server too.
DIALECTS = ghz go-wrk k6 pandora slow_cooker

.PHONY: toolchain demo demo-code install test peers suites receivers autobahn manifests platforms format lint unit web packages dist dist-tools page pictures dialects bench truth tokens llm capture faults soak fuzz docs book tidy drawing reference deny advisories

# One line that names what is missing, before anything compiles.
toolchain:
	@tools/require-toolchain.sh

# Ten seconds of load on the built-in target, and how to read the result. Its profile optimises
# nothing, which costs a tenth of a millisecond of a core for each request, and its program is one for
# one machine.
demo: toolchain
	@echo 'Builds drumfire, which takes about two minutes the first time, then loads a built-in server for ten seconds.'
	cargo build --profile demo --locked --package drumfire --no-default-features --features ring
	$(DEMO) demo

# The program with its line tables in a file beside it, a link for each tool that it can stand in for,
# man pages, and completions for shells.
install: export DRUMFIRE_VERSION = $(shell tools/version.sh)
install: toolchain
	cargo install --locked --profile local --path crates/app/cli
	tools/split-debug-info.sh $(BIN_DIR)/drumfire
	for name in $(DIALECTS); do ln -sf drumfire $(BIN_DIR)/$$name; done
	mkdir -p $(SHARE_DIR)/man/man1 $(SHARE_DIR)/bash-completion/completions \
	  $(SHARE_DIR)/zsh/site-functions $(SHARE_DIR)/fish/vendor_completions.d
	$(BIN_DIR)/drumfire man $(SHARE_DIR)/man/man1
	$(BIN_DIR)/drumfire completions bash > $(SHARE_DIR)/bash-completion/completions/drumfire
	$(BIN_DIR)/drumfire completions zsh > $(SHARE_DIR)/zsh/site-functions/_drumfire
	$(BIN_DIR)/drumfire completions fish > $(SHARE_DIR)/fish/vendor_completions.d/drumfire.fish

# What must pass before a change is merged. Most tests wait, and leave the cores to the rest.
test: toolchain format deny
	tools/prepare-tests.sh
	PROPTEST_RNG_SEED=$(SEED) TEST_THREADS=$(TEST_THREADS) tools/run-tests.sh \
	  beside $(MAKE) --no-print-directory --keep-going demo-code platforms web packages

format:
	tools/lint.sh format

# `make test` runs these lints while it compiles the tests.
lint:
	tools/lint.sh clippy

# Licenses, versions and sources of what is linked in, where cargo-deny is installed.
deny:
	tools/check-dependencies.sh

# The same, and known vulnerabilities: each week, and before a release. Fetches RustSec's database.
advisories:
	tools/check-dependencies.sh advisories

# The code of `make demo`, which nothing else reads.
demo-code:
	cargo check --locked --package drumfire --no-default-features --features ring --bin drumfire

# The rooms that other systems have too, checked for these without their compilers.
platforms:
	tools/check-platforms.sh

# Real servers for the tests that speak to them: nginx, haproxy, h2o, Apache httpd, Prometheus,
# InfluxDB.
peers:
	tools/install-peers.sh

# Conformance suites that others have written, and a gRPC server, from Go's module proxy.
suites:
	tools/install-suites.sh

# Receivers of metrics that take minutes to build: VictoriaMetrics, which takes remote write, the lines
# of InfluxDB and OTLP, and a collector of OpenTelemetry.
receivers: SUITES = $(or $(DRUMFIRE_SUITES),$(abspath target/suites))
receivers:
	tools/install-suites.sh victoria-metrics otel-collector
	VICTORIA_METRICS=$(SUITES)/victoria-metrics OTEL_COLLECTOR=$(SUITES)/otel-collector \
	  cargo test --package drumfire --locked --test it -- --ignored victoria_metrics opentelemetry

# WebSockets, judged by Autobahn's fuzzing server, which needs Python 2.7 and minutes.
autobahn:
	tools/install-suites.sh wstest
	cargo test --package drumfire-conformance-client --locked --test autobahn -- --ignored --nocapture

# The chart and the manifests of agents by helm and the schemas of Kubernetes, the unit by systemd.
# helm takes minutes to build.
manifests:
	cargo build --locked --package drumfire
	tools/check-manifests.sh

unit:
	PROPTEST_RNG_SEED=$(SEED) TEST_THREADS=$(TEST_THREADS) tools/run-tests.sh

# The page's program, and pages in a browser. `make unit` makes what they need: the debug binary and pages.
web:
	tools/test-web.sh

# What a release has: programs for each platform, packages, the bill of materials and the sums, in
# target/dist (docs/install.md). Two builds of one commit are the same bytes.
dist: dist-tools
	tools/make-dist.sh

dist-tools:
	tools/install-dist-tools.sh

# The files of archives and packages, made of the debug binary of `make unit`.
packages:
	tools/check-dist.sh

# The page's program as the report crate includes it, from its source in web/.
page:
	tools/test-web.sh build

# The manual's pictures of the page and of the screen, from a run of half a minute in tmux.
pictures:
	cargo build --locked --package drumfire
	tools/test-web.sh pictures
	tools/make-guide-pictures.sh $(TARGET_DIR)/debug/drumfire

# drumfire beside the tools that it stands in for: the records of what these did are renewed. ghz comes
# from Go's module proxy. GO_WRK is the path of a go-wrk program, commit 806f06b, PANDORA that of a pandora
# program, v0.5.29, built from its repository, and SLOW_COOKER that of a slow_cooker program, commit
# bda352f; the records of a tool without a program stay.
dialects: SUITES = $(or $(DRUMFIRE_SUITES),$(abspath target/suites))
dialects: suites
	GHZ=$(SUITES)/ghz GO_WRK=$(abspath $(GO_WRK)) PANDORA=$(abspath $(PANDORA)) SLOW_COOKER=$(abspath $(SLOW_COOKER)) \
	  cargo test --package drumfire --locked --test it -- --nocapture ghz_ go_wrk pandora_beside slow_cooker
	git --no-pager diff --stat -- conformance/dialects

# The laws of the code alone, with the advice that fails no test.
tidy:
	cargo run --quiet --locked --package xtask

# Redraws the parts of engine in ARCHITECTURE.md from the imports, and prints those of the other crates.
drawing:
	cargo run --quiet --locked --package xtask draw

# Rewrites the tables of docs/manual that are generated from the code.
reference:
	cargo run --quiet --locked --package xtask reference

# The tables of docs/benchmarks.md. Takes minutes and wants an idle machine.
bench: suites
	cargo build --release --locked --package drumfire --package drumfire-bench
	for name in http1 http2 grpc pandora; do \
	  cargo run --release --locked --package drumfire-bench --bin $$name || exit 1; \
	done

# The table of docs/truth.md: load testers against targets whose truth is known. wrk, oha and h2load are
# those of the PATH; GO_WRK, PANDORA and SLOW_COOKER name programs as for `make dialects`.
truth: suites
	tools/install-suites.sh hey vegeta fortio k6
	cargo build --release --locked --package drumfire --package drumfire-bench
	GO_WRK=$(abspath $(GO_WRK)) PANDORA=$(abspath $(PANDORA)) SLOW_COOKER=$(abspath $(SLOW_COOKER)) \
	  cargo run --release --locked --package drumfire-bench --bin truth

# What the answers of language models cost, and how late requests to them are. Takes minutes and wants
# an idle machine.
llm:
	cargo build --release --locked --package drumfire --package drumfire-bench
	cargo run --release --locked --package drumfire-bench --bin llm

# Times of tokens next to the log of the mock that sent them, as in docs/truth.md#tokens.
tokens:
	cargo build --release --locked --package drumfire --package drumfire-bench
	cargo run --release --locked --package drumfire-bench --bin tokens

# Service times by each clock next to a packet capture of the same runs, as in
# docs/design/01-time-and-blame.md#comparison-with-a-packet-capture.
capture:
	cargo build --release --locked --package drumfire --package drumfire-bench
	cargo run --release --locked --package drumfire-bench --bin capture -- --rounds 5 --svg docs/pictures/clock

# Faults that take minutes: 200 runs are killed, and their records compared with the server's counts.
faults:
	cargo build --release --locked --package drumfire --package drumfire-bench
	cargo run --release --locked --package drumfire-bench --bin kills
	cargo run --release --locked --package drumfire-bench --bin faults

# Half an hour at 20,000 requests a second: memory, descriptors, and what storing and scraping cost.
soak:
	cargo build --release --locked --package drumfire --package drumfire-bench
	cargo run --release --locked --package drumfire-bench --bin soak -- --seconds 10

# Every fuzz target in turn; needs cargo-fuzz and a nightly compiler.
fuzz:
	cd fuzz && cargo +nightly run --release --bin seeds
	cd fuzz && for target in $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs))); do \
	  cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

# Guide, manual, dialects and design as one site with a search, in target/book/html; checks its links.
book:
	tools/make-book.sh
