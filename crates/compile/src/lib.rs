//! From a document to a plan that can run.
//!
//! Knows what each key of a document means, and what holds where nothing was written. Must not know
//! I/O, clocks, or what runs a plan: files, servers, zones and the environment are asked for
//! through [`Host`]. Start reading at [`compile()`].
//!
//! There are two entries. [`compile()`] takes a document that is sound in its form, as flags make
//! it; [`compile_draft`] takes a draft of a text and adds the mistakes of its form to those of its
//! meaning. A setup or a teardown is a document of its own, and [`compile_phase`] gives its plan.
//!
//! Three rules hold in every file:
//!
//! - A mistake is noted in the `Scope` with its place, and the step goes on with a default, so that
//!   one pass finds all of them. A function that returns `None` has noted why. A plan is given only
//!   if nothing was noted.
//! - The same document with the same files gives the same plan on every machine. Cores, descriptors
//!   and addresses are not asked for; `placement` fits a plan to a machine.
//! - Templates are rendered once as the first request would have them, so that a mistake in one is
//!   found before the run, with its place.

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
mod idle_flags;
mod json_template;
mod kept;
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
