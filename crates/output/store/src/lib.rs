//! The directory of a run: written during the run, and read again complete or cut off.
//!
//! Knows files, and how their contents survive a crash. Must not know how anything is measured or
//! shown: plans, events and summaries come as bytes. Start reading at [`Recording`], then
//! [`Record`].
//!
//! A run is a log of frames with checksums. Each interval is appended and synced, so that every
//! prefix of the log is a run. A record gives the same summary as the run itself; a [`Follower`]
//! reads the frames added since its last call. Texts that `session` made with `report` are stored
//! as bytes, whose content this crate does not know.

mod compaction;
mod directory;
mod error;
mod follower;
mod frame;
mod index;
mod labels;
mod listing;
mod log;
mod own_files;
mod record;
mod recording;
mod teardown;

pub use directory::{Directory, PLAN, read_plan};
pub use error::StoreError;
pub use follower::Follower;
pub use frame::{Break, BreakKind, PAYLOAD_BYTES_MAX};
pub use index::{Index, Newest, PageQuery, RunsPage};
pub use labels::Labels;
pub use listing::RunRow;
pub use own_files::{own_file, own_folder};
pub use record::{Part, Record};
pub use recording::{Beginning, Recording, add_finding, add_teardown_failure};
pub use teardown::TeardownFailure;
