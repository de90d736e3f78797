//! `cargo run -p xtask`: every tidy check, with the advice that does not fail a test.
//! `cargo run -p xtask draw`: the drawings in ARCHITECTURE.md and docs/parts.md, made anew.

use std::io::Write;
use std::process::ExitCode;
use xtask::{CHECKS, Repository, Severity, parts};

fn main() -> ExitCode {
    let out = &mut std::io::stdout().lock();
    let is_drawing = std::env::args().nth(1).is_some_and(|word| word == "draw");
    match if is_drawing { draw(out) } else { report(out) } {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
}

/// Puts new drawings into their pages; returns how many pages have no place for one.
fn draw(out: &mut dyn Write) -> std::io::Result<usize> {
    let repository = Repository::read()?;
    let pages = parts::redrawn(&repository);
    for (path, page) in &pages {
        std::fs::write(repository.root().join(path), page)?;
    }
    let missing = parts::PAGES.len() - pages.len();
    if missing > 0 {
        writeln!(
            out,
            "{missing} pages lack the lines between which a drawing stands"
        )?;
    }
    Ok(missing)
}

/// Writes all findings and returns how many are violations.
fn report(out: &mut dyn Write) -> std::io::Result<usize> {
    let repository = Repository::read()?;
    let mut violations = 0;
    for (name, check) in CHECKS {
        for finding in check(&repository) {
            violations += usize::from(finding.severity == Severity::Violation);
            writeln!(out, "{name}: {finding}")?;
        }
    }
    writeln!(out, "{violations} violations")?;
    Ok(violations)
}
