//! Compares the mistakes found with the expected ones.

use drumfire_document::Diagnostic;

/// Checks that exactly these mistakes were found in a text. `expected` has the beginning of each.
#[track_caller]
pub(crate) fn begin_with(found: &[Diagnostic], expected: &[&str], text: &str) {
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let begin_so = found
        .iter()
        .zip(expected)
        .all(|(found, expected)| found.starts_with(expected));
    assert!(
        found.len() == expected.len() && begin_so,
        "{text}\n{found:#?}"
    );
}
