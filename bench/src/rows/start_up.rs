//! The time in which the program prints a short text: loading it, and parsing its command line.

use super::Settings;
use crate::process::{CLIENT_CORE, pinned};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_net::Clock;
use std::io::Result;
use std::process::Stdio;

/// The number of starts of each kind; the first finds empty caches.
const STARTS: usize = 20;

/// Measures the wall time from the fork to the reaping, including `taskset`.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for words in [&["--version"][..], &["http", "--help"]] {
        let mut times = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
            command.args(words).stdout(Stdio::null());
            let clock = Clock::start();
            command.status()?;
            times.push(clock.now().as_secs_f64() * 1e3);
        }
        let spread = Spread::from_values(times);
        lines.push(Line::Figure(Figure {
            what: format!("run time of `drumfire {}`", words.join(" ")),
            value: spread.median,
            unit: format!("ms ({:.2}–{:.2})", spread.min, spread.max),
            target: Some(Target::AtMost(10.0)),
        }));
    }
    Ok(lines)
}
