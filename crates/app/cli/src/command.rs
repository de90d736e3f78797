//! One file for each subcommand.

pub(crate) mod ab;
#[cfg(feature = "cluster")]
pub(crate) mod agent;
mod baseline;
pub(crate) mod capacity;
pub(crate) mod check;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod ctl;
pub(crate) mod demo;
pub(crate) mod dialect;
pub(crate) mod grpc;
pub(crate) mod http;
pub(crate) mod import;
pub(crate) mod install;
#[cfg(feature = "k6")]
pub(crate) mod k6;
pub(crate) mod llm;
#[cfg(feature = "cluster")]
mod local;
pub(crate) mod new;
mod phases;
mod plan_file;
#[cfg(feature = "cluster")]
mod received_files;
pub(crate) mod report;
mod results;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
mod stored;
mod tags;
pub(crate) mod ui;
pub(crate) mod ws;
