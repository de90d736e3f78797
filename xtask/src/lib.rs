//! Tidy checks: the laws of STYLE.md and ARCHITECTURE.md that a machine can enforce.
//!
//! Knows the repository as text and the workspace as cargo describes it; each check has a file.
//! Must not know how the program works: of the product, it uses only the lists that the manual
//! repeats. Start reading at [`Repository`], then at any check; `tests/tidy.rs` runs them with
//! `cargo test`.

pub mod commits;
pub mod crate_docs;
pub mod effects;
pub mod file_length;
pub mod file_names;
pub mod ignored_tests;
pub mod impl_place;
pub mod impl_size;
pub mod layers;
pub mod licenses;
pub mod limits;
pub mod links;
pub mod measures;
pub mod no_runtime;
pub mod parts;
pub mod prose;
pub mod reasons;
pub mod reference;
pub mod sleeping;
pub mod sources;
pub mod third_party;
pub mod tuple_parameters;
pub mod type_size;
pub mod words;

mod architecture;
mod declarations;
mod finding;
mod functions;
mod homes;
mod impl_blocks;
mod imports;
mod mask;
mod metadata;
mod repository;
mod rust_file;
mod table;

pub use finding::{Finding, Severity};
pub use repository::Repository;
pub use rust_file::RustFile;

/// A check: reads the repository and returns its findings, or an empty list.
pub type TidyCheck = fn(&Repository) -> Vec<Finding>;

/// Every check with its name, in the order in which findings are shown.
pub const CHECKS: &[(&str, TidyCheck)] = &[
    ("layers", layers::check),
    ("effects", effects::check),
    ("parts", parts::check),
    ("no runtime", no_runtime::check),
    ("crate docs", crate_docs::check),
    ("file length", file_length::check),
    ("type size", type_size::check),
    ("impl place", impl_place::check),
    ("impl size", impl_size::check),
    ("tuple parameters", tuple_parameters::check),
    ("file names", file_names::check),
    ("words", words::check),
    ("prose", prose::check),
    ("ignored tests", ignored_tests::check),
    ("sleeping", sleeping::check),
    ("dependency reasons", reasons::check),
    ("licenses", licenses::check),
    ("sources", sources::check),
    ("license texts", third_party::check),
    ("links", links::check),
    ("reference", reference::check),
    ("limits", limits::check),
    ("commits", commits::check),
];
