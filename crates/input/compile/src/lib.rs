//! Compiles a document to a plan that can run.
//!
//! Knows the meaning and the default of each key of a document. Must not know I/O, clocks, or what
//! runs a plan: files, servers, zones and the environment are accessed through [`Host`]. Start
//! reading at [`compile()`].
//!
//! There are two entries. [`compile()`] takes a document of valid form, such as flags produce.
//! [`compile_draft`] takes a draft of a text, and reports mistakes of its form together with
//! mistakes of its meaning. A setup or a teardown is a separate document, and [`compile_phase`]
//! returns its plan.
//!
//! Three rules hold in every file:
//!
//! - A mistake is noted in the `Scope` with its place, and the step continues with a default, so
//!   that one pass finds all mistakes. A function that returns `None` has noted why. A plan is
//!   returned only if nothing was noted.
//! - The same document with the same files gives the same plan on every machine. Compiling reads no
//!   cores, descriptors or addresses; `placement` fits a plan to a machine.
//! - Templates are rendered once, as for the first request, so that a mistake is found before the
//!   run, with its place.

mod ammo;
mod call;
mod check;
mod compile;
mod crew;
mod data;
mod dealer;
mod draft;
mod events;
mod feeds;
mod go_template;
mod host;
mod idle_flags;
mod idle_keys;
mod json_template;
mod kept;
mod llm;
mod load;
mod looks;
mod made;
mod metadata;
mod multipart;
mod proxy;
mod requests;
mod scenario;
mod schema;
mod scope;
mod script;
mod sockets;
mod taken;
mod target;
mod template_scope;
mod templates;
mod trace;
mod transport;
mod web_form;

pub use compile::{compile, schema_of};
pub use draft::{PhasePlan, compile_draft, compile_phase};
pub use drumfire_data::{ReadAt, TraceTotals};
pub use drumfire_gotemplate::ZoneTime;
pub use go_template::is_go_template;
pub use host::{Found, Host, HostError, SchemaQuestion, TlsFault};
pub use idle_flags::is_unsent_over_http2;
pub use llm::{sends_new_prompts, trace_totals};
pub use requests::{HashedLine, lines};
pub use taken::TakenValues;
