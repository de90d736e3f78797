//! From a document to a plan that can run.
//!
//! Knows what each key of a document means, and what holds where nothing was written. Must not know
//! I/O, clocks, or what runs a plan: files, servers, zones and the environment are asked for through
//! [`Host`]. Start reading at [`compile`].

mod ammo;
mod call;
mod check;
mod compile;
mod crew;
mod data;
mod dealer;
mod draft;
mod feeds;
mod go_template;
mod host;
mod json_template;
mod load;
mod looks;
mod metadata;
mod multipart;
mod proxy;
mod requests;
mod scenario;
mod schema;
mod scope;
mod script;
mod taken;
mod target;
mod template_scope;
mod templates;
mod trace;
mod transport;
mod web_form;

pub use compile::{compile, schema_of};
pub use draft::{PhasePlan, compile_draft, compile_phase};
pub use drumfire_data::ReadAt;
pub use drumfire_gotemplate::ZoneTime;
pub use go_template::is_go_template;
pub use host::{Found, Host, HostError, SchemaQuestion, TlsFault};
pub use requests::{HashedLine, lines};
pub use taken::TakenValues;
