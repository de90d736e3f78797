//! The manual's page on limits agrees with the program: every number on it is compared.

use crate::table::{self, Row};
use crate::{Finding, Repository};
use drumfire_http1::Limits;
use drumfire_units::{ByteSize, Nanos};

/// The page on limits.
const PAGE: &str = "docs/manual/limits.md";

/// Every number that differs, and every limit that is missing on one side.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let page = repository.text(PAGE);
    let mut findings = defaults(
        &table::rows(page, &["limit", "default", "outcome"]),
        &http1(),
    );
    let rows = table::rows(page, &["HTTP/2 limit", "default", "outcome"]);
    findings.extend(defaults(&rows, &http2()));
    for row in table::rows(page, &["bound", "value", "constant"]) {
        if let Err(message) = constant(repository, &row) {
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    findings
}

/// A limit's name and its default; `None` means no limit.
type Default = (&'static str, Option<u64>);

/// The defaults of HTTP/1.1's limits.
fn http1() -> [Default; 5] {
    // Destructured without `..`, so that a new limit does not compile until it is listed here.
    let Limits {
        head_bytes,
        header_count,
        interim,
        chunk_extension_bytes,
        body_bytes,
    } = Limits::default();
    [
        ("head_bytes", Some(u64::from(head_bytes))),
        ("header_count", Some(u64::from(header_count))),
        ("interim", Some(u64::from(interim))),
        (
            "chunk_extension_bytes",
            Some(u64::from(chunk_extension_bytes)),
        ),
        ("body_bytes", body_bytes),
    ]
}

/// The defaults of HTTP/2's limits.
fn http2() -> [Default; 5] {
    let drumfire_http2::Limits {
        head_bytes,
        header_count,
        interim,
        idle_frames,
        output_bytes,
    } = drumfire_http2::Limits::default();
    [
        ("head_bytes", head_bytes),
        ("header_count", header_count),
        ("interim", interim),
        ("idle_frames", idle_frames),
        ("output_bytes", output_bytes),
    ]
    .map(|(name, default)| (name, Some(u64::from(default))))
}

/// Compares a table with the program's limits.
fn defaults(rows: &[Row<'_>], expected: &[Default]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, default) in expected {
        let row = rows.iter().find(|row| row.code(0) == [*name]);
        let right = row.is_some_and(|row| match default {
            Some(default) => number(row.cell(1)) == Some(*default),
            None => row.cell(1) == "none",
        });
        if !right {
            let line = row.map_or(0, |row| row.line);
            let message = format!("the default of `{name}` is {default:?}");
            findings.push(Finding::violation(PAGE, line, message));
        }
    }
    if rows.len() > expected.len() {
        let message = "lists limits that the program does not have".to_owned();
        findings.push(Finding::violation(PAGE, 0, message));
    }
    findings
}

/// Compares a row of the second table with the constant in it.
fn constant(repository: &Repository, row: &Row<'_>) -> Result<(), String> {
    let &[path, name] = row.code(2).as_slice() else {
        return Err("names no file and constant".to_owned());
    };
    let start = format!("const {name}: ");
    let value = repository
        .text(path)
        .lines()
        .filter_map(|line| {
            line.strip_prefix("pub(crate) ")
                .or_else(|| line.strip_prefix("pub(super) "))
                .or_else(|| line.strip_prefix("pub "))
                .unwrap_or(line)
                .strip_prefix(&start)
        })
        .find_map(|rest| evaluate(rest.split_once('=')?.1.trim_end_matches(';')))
        .ok_or_else(|| format!("{path} has no constant `{name}` that could be read"))?;
    if number(row.cell(1)) == Some(value) {
        Ok(())
    } else {
        Err(format!("`{name}` is {value}, not {}", row.cell(1)))
    }
}

/// A number on the page: plain, a size such as `16 KiB`, or a time such as `1h`.
fn number(cell: &str) -> Option<u64> {
    let text = cell.replace(' ', "");
    let plain = text.parse().ok();
    let size = || text.parse().ok().map(|ByteSize(bytes)| bytes);
    let time = || text.parse().ok().map(|Nanos(nanos)| nanos);
    plain.or_else(size).or_else(time)
}

/// The value of a constant's expression: factors, or a call of `Nanos`.
fn evaluate(expression: &str) -> Option<u64> {
    let expression = expression.trim();
    for (call, scale) in [
        ("Nanos::from_secs(", 1_000_000_000),
        ("Nanos::from_millis(", 1_000_000),
        ("Nanos::from_micros(", 1_000),
    ] {
        if let Some(argument) = expression.strip_prefix(call) {
            return Some(evaluate(argument.strip_suffix(')')?)? * scale);
        }
    }
    if let Some((value, places)) = expression.split_once("<<") {
        return Some(evaluate(value)? << evaluate(places)?);
    }
    expression
        .split('*')
        .map(|factor| factor.trim().replace('_', "").parse::<u64>().ok())
        .product()
}

#[cfg(test)]
mod tests {
    use super::{check, evaluate, number};
    use crate::Repository;

    #[test]
    fn reads_constants_and_numbers() {
        assert_eq!(evaluate("64 * 1_024"), Some(65_536));
        assert_eq!(evaluate("Nanos::from_millis(50)"), Some(50_000_000));
        assert_eq!(evaluate("32 << 20"), Some(33_554_432));
        assert_eq!(evaluate("OTHER * 2"), None);
        assert_eq!(number("16 KiB"), Some(16_384));
        assert_eq!(number("1 h"), Some(3_600_000_000_000));
        assert_eq!(number("64"), Some(64));
        assert_eq!(number("none"), None);
    }

    #[test]
    fn a_page_without_limits_and_a_wrong_number_are_found() {
        let findings = |value: &str| {
            let page = format!(
                "| bound | value | constant |\n|---|---|---|\n| x | {value} | `crates/x/src/a.rs` `A` |\n"
            );
            let files = [
                ("docs/manual/limits.md", page.as_str()),
                (
                    "crates/x/src/a.rs",
                    "/// Doc.\npub const A: usize = 2 * 8;\n",
                ),
            ];
            let found = check(&Repository::in_memory(&files));
            found.iter().filter(|finding| finding.line > 0).count()
        };
        assert_eq!(findings("16"), 0);
        assert_eq!(findings("15"), 1);
        assert!(!check(&Repository::in_memory(&[])).is_empty());
    }
}
