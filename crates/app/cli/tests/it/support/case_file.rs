//! A case file: steps that a shell runs, each with sections that check it.

mod json;
mod pattern;
mod section;
mod servers;
mod step;

use super::turn;
use std::path::Path;
use step::Transcript;

/// Runs the case file with this name; with `DRUMFIRE_BLESS` in the environment, the file is
/// rewritten.
#[track_caller]
pub(crate) fn replay(name: &str) {
    // The servers of the file start on this thread.
    turn::share();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let path = folder.join(format!("{name}.case"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (preamble, sections) = section::read(&text);
    assert!(
        !preamble.trim().is_empty(),
        "{name} begins with its purpose"
    );
    let (again, failures) = Transcript::default().replay(&sections);
    if std::env::var_os("DRUMFIRE_BLESS").is_some() {
        std::fs::write(&path, preamble + &section::print(&again)).unwrap();
    }
    assert!(
        failures.is_empty(),
        "tests/cases/{name}.case; DRUMFIRE_BLESS=1 rewrites what can be rewritten\n{}",
        failures.join("\n")
    );
}
