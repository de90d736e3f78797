//! Programs that print tables: the cost of a request to the client, compared with other tools and
//! with the minimum cost of this kind of loop.
//!
//! Knows how to start, pin and account for processes. Must not know the internals of drumfire,
//! which is measured from outside like any other tool. Start reading at [`rows`], then [`tool`].

pub mod answer;
pub mod arrivals;
pub mod capture;
pub mod claim;
pub mod cluster;
pub mod floor;
pub mod machine;
pub mod process;
pub mod program;
pub mod rounds;
pub mod rows;
pub mod scripts;
pub mod server;
pub mod stepper;
pub mod summary;
pub mod symbols;
pub mod table;
pub mod tokens;
pub mod tool;
pub mod truth;
