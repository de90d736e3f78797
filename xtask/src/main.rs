//! `cargo run -p xtask`: every tidy check, with the advice that does not fail a test.

use std::io::Write;
use std::process::ExitCode;
use xtask::{CHECKS, Repository, Severity};

fn main() -> ExitCode {
    match report(&mut std::io::stdout().lock()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
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
