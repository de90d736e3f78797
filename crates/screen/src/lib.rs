//! A run on a terminal: the answers so far, pictures and tables, and keys that command it.
//!
//! Knows how a run looks on a screen, and what keys do. Must not know plans' files, flags or where
//! results go: the report is printed by the caller when the screen has gone. Start reading at
//! [`Screen`], then at `Frame`.
//!
//! A screen is an observer on a thread of its own, which closes the books of each interval as if
//! the run ended there, so that the answers and figures on the screen are those that a report would
//! have. A second thread draws four times a second and takes keys. The two share one value
//! (`Known`) behind a lock; neither is ever waited for by the run.
//!
//! Drawing is pure: a `Frame` puts a `Known` and a `Choice` into a buffer of cells, whatever
//! its size. The terminal is entered in [`Screen`]'s `begin` and left in its `finish`; [`restore`]
//! leaves it from any thread, before a program ends in another way.
//!
//! Keys are commands to the run as `drumfire ctl` gives them. An end is asked for by raising SIGINT,
//! so that a key and a signal are counted by one counter and have one meaning.

mod backend;
mod bars;
mod chart;
mod choice;
mod clipboard;
mod console;
mod frame;
mod heat;
mod key;
mod known;
mod look;
mod notes;
mod pictures;
mod place;
mod prompt;
mod raster;
mod screen;
mod terminal;
mod tile;
mod view;
mod watcher;

pub use screen::Screen;
pub use terminal::{Fitness, fitness, restore};
