//! The program as a user at a terminal runs it: real processes, real sockets, real servers.
//!
//! One test program for the whole crate, with one module per subject, so that `support` is compiled
//! and linked once and [`support::alone`] applies to all of them.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests have clocks, files and sockets of their own, say what they skip, and fail by \
              panicking"
)]

mod ab;
mod ammo;
mod answers;
mod browser;
mod c_core;
mod capacity;
mod cases;
mod clocks;
mod cluster;
mod cluster_attach;
mod cluster_hostile;
mod cluster_lost_shares;
mod cluster_plans;
mod cluster_rights;
mod cluster_status;
mod compare;
mod conservation_and_arrivals;
mod ctl;
mod dialect_pipes;
mod dialect_words;
mod docs;
mod echoed_secrets;
mod event_servers;
mod examples;
mod faults;
mod feeds;
mod first_use;
mod ghz_differential;
mod go_wrk;
mod go_wrk_beside;
mod grpc_servers;
mod h2spec;
mod hostile;
mod hostile_redirects;
mod http2_servers;
mod intervals;
#[cfg(feature = "k6")]
mod k6;
mod lasting;
mod library;
mod lists;
mod llm;
mod llm_mock;
mod llm_servers;
mod looks;
mod many;
mod metrics;
mod names;
mod output;
mod pandora;
mod pandora_beside;
mod pipelines;
mod plans;
mod proxies;

mod pushes;
mod reflection;
mod rows;
mod scenarios;
mod screen;
mod serve_http2;
mod servers;
mod setup;
mod signals;
mod slow_cooker;
mod slow_cooker_beside;
mod socket_servers;
mod stall;
mod stops;
mod store;
mod support;
mod syscalls;
mod tls_ends;
mod traces;
mod trend;
mod vllm;
mod waits;
mod wire;
