//! Starts a run, observes it, and controls it.
//!
//! Knows how a prepared plan becomes a run: the facts that describe it, the observers that follow
//! it and the order in which they end, the sources of commands, the machine's limits, and the
//! secrets that results must not show. Must not know flags, exit codes, the environment or the
//! terminal: a mistake is a [`SessionError`], whose words and exit code the caller chooses, and
//! messages about an active run go to a [`Console`]. Start reading at [`Session`], then at
//! [`Observer`].
//!
//! A caller makes these calls in order. [`prepare`] fits the plan to this machine. [`Session::new`]
//! takes the result, and observers are attached to the session. [`Session::run`] blocks until the
//! run and its observers have ended, and returns the [`Outcome`]. Everything that follows the run
//! is an observer: the store ([`Keeper`]), metrics ([`Meter`]), results of intervals and requests
//! ([`IntervalOutputs`], [`RequestRowsOutput`]), the live line ([`Watch`]), renewed certificates
//! ([`Certificates`]), commands from other processes ([`Remote`]), and the search for a capacity
//! ([`Seeker`]). No observer can delay the workers.
//!
//! Each plan has one [`Redactor`] for its secrets. Everything that leaves the process through an
//! observer (a stored file, a page of metrics, a pushed request, a row) is masked, because servers
//! repeat what they receive.

mod certificates;
mod console;
mod describe;
mod end_requests;
mod error;
mod history;
mod intervals;

mod limits;
mod message;
mod metering;
mod metering_error;
mod new_prompts;
mod observer;
mod order;
mod page_server;
mod peer;
mod redactor;
mod remote;
mod request_rows;
mod seeking;
mod server_metrics;
mod session;
mod standing;
mod steering;
mod storing;
mod streams;
mod text_server;
mod watch;

pub use certificates::{CertificateFault, Certificates, check_certificates};
pub use console::Console;
pub use end_requests::EndRequests;
pub use error::SessionError;
pub use intervals::{IntervalOutput, IntervalOutputs, IntervalShape};

pub use limits::{check_descriptors, prepare, prepare_placed, this_machine};
pub use message::{Answer, Question, RunStatus};
pub use metering::Meter;
pub use metering_error::{MeteringError, why_not_listening};
pub use new_prompts::NewPrompts;
pub use observer::{InferenceBoard, Note, Observer, RunContext};
pub use order::Order;
pub use page_server::{Page, PageRequest, PageServer, Pages, host_and_port};
pub use peer::{Peer, PeerError, Peers};
pub use redactor::Redactor;
pub use remote::{Remote, SOCKET_EXTENSION, socket_folder};
pub use request_rows::RequestRowsOutput;
pub use seeking::Seeker;
pub use server_metrics::{PromptsAre, ServerMetrics};
pub use session::{Outcome, Session};
pub use standing::Standing;
pub use steering::Steering;
pub use storing::{
    Keeper, StorePlace, Storing, finding_of, folder_of, naming_of, store_finding, stored,
    stored_plan,
};
pub use streams::{OutputError, StreamPlace, StreamWriter, Streams};
pub use text_server::TextServer;
pub use watch::{Shown, Watch};
