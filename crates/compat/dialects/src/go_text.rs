//! Values as Go prints them: durations, quoted strings, errors of the operating system.

use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::io;

/// A span as Go prints a duration: `0s`, `98µs`, `46.608ms`, `1.001867s`, `1m0.5s`, `2h0m0s`.
///
/// Below a second, the largest unit with a nonzero whole part, without trailing zeros; from a
/// second on, hours, minutes and seconds.
pub(crate) fn duration(span: Nanos) -> String {
    let ns = span.0;
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(ns, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(ns, 1_000_000)),
        _ => seconds_and_more(ns),
    }
}

/// A span of a second or more.
fn seconds_and_more(ns: u64) -> String {
    const MINUTE: u64 = 60_000_000_000;
    let (minutes, rest) = (ns / MINUTE, decimal(ns % MINUTE, 1_000_000_000));
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{rest}s"),
    }
}

/// `value / scale` (a power of ten) as an exact decimal without trailing zeros.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, fraction) = (value / scale, value % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    let fraction = format!("{fraction:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// Text in Go's double quotes, as `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_quoted(&mut out, c);
    }
    out.push('"');
    out
}

/// One character of a quoted string.
fn push_quoted(out: &mut String, c: char) {
    let short = match c {
        '"' => Some('"'),
        '\\' => Some('\\'),
        '\x07' => Some('a'),
        '\x08' => Some('b'),
        '\x0c' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\x0b' => Some('v'),
        _ => None,
    };
    // Writing to a String can't fail, so the results are ignored.
    match (short, c) {
        (Some(letter), _) => {
            out.push('\\');
            out.push(letter);
        }
        (None, ' ') => out.push(' '),
        (None, c) if c.is_ascii_control() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        (None, c) if c.is_control() || c.is_whitespace() => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        (None, c) => out.push(c),
    }
}

/// Go's error when `path` can't be opened: `open x: no such file or directory`.
pub(crate) fn open_failed(path: &str, error: &io::Error) -> String {
    let verb = if error.kind() == io::ErrorKind::IsADirectory {
        "read"
    } else {
        "open"
    };
    format!("{verb} {path}: {}", reason(error))
}

/// The operating system's reason in Go's spelling: the C library's text in lower case, without the
/// error number.
fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "no such file or directory".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_reads_as_in_go() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (999, "999ns"),
            (1_000, "1µs"),
            (98_000, "98µs"),
            (1_500, "1.5µs"),
            (46_608_000, "46.608ms"),
            (3_830_000, "3.83ms"),
            (5_500_000, "5.5ms"),
            (398_431_000, "398.431ms"),
            (1_000_000_000, "1s"),
            (1_001_867_000, "1.001867s"),
            (1_977_008_843, "1.977008843s"),
            (10_012_950_719, "10.012950719s"),
            (60_000_000_000, "1m0s"),
            (90_500_000_000, "1m30.5s"),
            (7_200_000_000_000, "2h0m0s"),
            (360_000_000_000_001, "100h0m0.000000001s"),
        ] {
            assert_eq!(duration(Nanos(ns)), text);
        }
    }

    #[test]
    fn a_quoted_string_reads_as_in_go() {
        for (text, expected) in [
            ("", r#""""#),
            ("x", r#""x""#),
            ("a\"b\nc", r#""a\"b\nc""#),
            (
                "back\\slash\t\x07\x08\x0b\x0c\r",
                r#""back\\slash\t\a\b\v\f\r""#,
            ),
            ("\x00\x1b\x7f", r#""\x00\x1b\x7f""#),
            ("grün\u{85}\u{a0}", r#""grün\u0085\u00a0""#),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn a_missing_file_reads_as_in_go() {
        let missing = io::Error::from_raw_os_error(2);
        assert_eq!(
            open_failed("urls.txt", &missing),
            "open urls.txt: no such file or directory"
        );
        let denied = io::Error::from_raw_os_error(13);
        assert_eq!(open_failed("k", &denied), "open k: permission denied");
        let folder = io::Error::from_raw_os_error(21);
        assert_eq!(open_failed("/", &folder), "read /: is a directory");
    }
}
