//! A run on a terminal: the current results, pictures and tables, and keys that control the run.
//!
//! Knows how a run looks on a screen, and what keys do. Must not know plans' files, flags or
//! destinations of results: the caller prints the report after the screen has been left. Start
//! reading at [`Screen`], then at `Frame`.
//!
//! A screen is an observer with its own thread, which closes the books after each interval as if
//! the run ended there. So the results and figures on the screen are those in a report. A second
//! thread draws four times a second and handles keys. The two threads share one value (`Known`)
//! protected by a lock; the run never waits for either.
//!
//! Drawing is pure: a `Frame` draws a `Moment` and a `ViewState` into a buffer of cells of any size.
//! The terminal is entered in [`Screen`]'s `begin` and left in its `finish`. [`restore`] leaves it
//! from any thread, before a program ends in another way.
//!
//! Keys send commands to the run as `drumfire ctl` does. The key that ends the run raises SIGINT,
//! so that keys and signals are counted together and have one meaning.

mod backend;
mod bars;
mod chart;
mod choice;
mod clipboard;
mod console;
mod cursor;
mod failure_history;
mod frame;
mod heat;
mod key;
mod known;
mod look;
mod moment;
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

pub use screen::{End, Screen};
pub use terminal::{Fitness, fitness, restore};
