//! `cargo run -p xtask`: runs every tidy check, and shows the advice that does not fail a test.
//! `cargo run -p xtask draw`: draws the parts of `engine` in ARCHITECTURE.md, and prints the
//! drawings of other crates.
//! `cargo run -p xtask reference`: rewrites the tables of the manual that are generated from the
//! code.
//! `cargo run -p xtask measures [FOLDER]`: prints measures of the code's shape, for this repository
//! or for another checkout.
//! `cargo run -p xtask licenses SYSTEM`: prints the licenses of everything that is linked into the
//! program on a system, such as `x86_64-unknown-linux-musl`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use xtask::{CHECKS, Repository, Severity, measures, parts, reference, third_party};

fn main() -> ExitCode {
    let out = &mut std::io::stdout().lock();
    let mut words = std::env::args().skip(1);
    let done = match words.next().as_deref() {
        Some("draw") => draw(out),
        Some("reference") => regenerate(out),
        Some("measures") => measure(out, words.next().as_deref()),
        Some("licenses") => license(out, words.next().as_deref()),
        _ => report(out),
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
}

/// Redraws the page with the parts of `engine`, and prints the drawings of the other crates.
/// Returns 1 if the page has no place for a drawing.
fn draw(out: &mut dyn Write) -> std::io::Result<usize> {
    let repository = Repository::read()?;
    write!(out, "{}", parts::print(&repository))?;
    let Some(page) = parts::redrawn(&repository) else {
        writeln!(out, "{} lacks the lines around a drawing", parts::PAGE)?;
        return Ok(1);
    };
    std::fs::write(repository.root().join(parts::PAGE), page)?;
    Ok(0)
}

/// Rewrites the pages whose tables differ from the code, and lists them. Returns the number of
/// misplaced tables.
fn regenerate(out: &mut dyn Write) -> std::io::Result<usize> {
    let repository = Repository::read()?;
    for (path, text) in reference::rewritten(&repository) {
        writeln!(out, "{path}")?;
        std::fs::write(repository.root().join(path), text)?;
    }
    let findings = reference::check(&Repository::read()?);
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    Ok(findings.len())
}

/// Writes the measures of the checkout in this folder, or of this repository.
fn measure(out: &mut dyn Write, folder: Option<&str>) -> std::io::Result<usize> {
    let repository = match folder {
        Some(folder) => Repository::read_at(Path::new(folder))?,
        None => Repository::read()?,
    };
    write!(out, "{}", measures::print(&repository))?;
    Ok(0)
}

/// Writes the licenses of everything that is linked on a system. Errors go to stderr.
#[expect(
    clippy::print_stderr,
    reason = "stdout is the text, which goes into a file"
)]
fn license(out: &mut dyn Write, system: Option<&str>) -> std::io::Result<usize> {
    let system =
        system.ok_or_else(|| "give a system, such as x86_64-unknown-linux-musl".to_owned());
    let repository = Repository::read()?;
    match system.and_then(|system| third_party::print(&repository, system)) {
        Ok(text) => out.write_all(text.as_bytes()).map(|()| 0),
        Err(message) => {
            eprintln!("licenses: {message}");
            Ok(1)
        }
    }
}

/// Writes all findings. Returns the number of violations.
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
