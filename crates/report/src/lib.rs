//! Plans, summaries and events to bytes: text for people, JSON and CSV for programs.
//!
//! Knows how results look. Must not know I/O, clocks or the engine: every function is pure, and the
//! caller writes its result. Text from outside passes [`untrusted::Untrusted`], secrets pass
//! [`secret`]. Start reading at [`style::Style`].

mod bar;
mod calendar;
pub mod csv;
mod excerpt;
pub mod interval;
pub mod json;
mod line;
pub mod listing;
pub mod live;
mod lowered;
mod outlook;
mod page;
mod quantity;
mod remedy;
mod request_rows;
mod secrets;
pub mod show;
mod status;
pub mod style;
mod table;
pub mod text;
pub mod untrusted;

pub use drumfire_plan::secret;
pub use excerpt::{Spot, excerpt};
pub use outlook::outlook;
pub use remedy::{Naming, remedy, sentence};
pub use request_rows::{RequestRows, RowForm};
pub use secrets::Secrets;
pub use status::reason_phrase;
