//! A CSV row for each result.

use super::super::result::CallResult;
use drumfire_report::untrusted::Untrusted;

/// The header.
pub(super) const HEAD: &str = "\nduration (ms),status,error\n";

/// One result.
pub(super) fn row(result: &CallResult) -> String {
    let time = result.latency.0 as f64 / 1e6;
    format!("{time:.2},{},{}\n", result.status(), cell(&result.error))
}

/// A cell that may contain commas, quotes and line ends (RFC 4180 section 2). The text may come
/// from a server, so control characters are escaped.
fn cell(text: &str) -> String {
    let text = Untrusted::new(text).escaped_lines();
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    #[test]
    fn what_parts_cells_is_quoted() {
        let row = |error: &str| {
            row(&CallResult {
                end: Nanos(0),
                latency: Nanos(4_830_000),
                code: if error.is_empty() { 0 } else { 13 },
                error: error.to_owned(),
            })
        };
        assert_eq!(row(""), "4.83,OK,\n");
        assert_eq!(row("plain"), "4.83,Internal,plain\n");
        assert_eq!(row("größe\n\t"), "4.83,Internal,\"größe\n\t\"\n");
        assert_eq!(
            row("\u{1b}[31m\r\u{202e}"),
            "4.83,Internal,\\x1b[31m\\r\\u{202e}\n"
        );
        assert_eq!(row("a, \"b\""), "4.83,Internal,\"a, \"\"b\"\"\"\n");
    }
}
