//! InfluxDB's line protocol: a measurement for each sample of Prometheus' text, with the same name,
//! the field `value`, and the labels as tags.

use super::run_label;
use crate::scalar::{Scalar, each};
use crate::{Label, Snapshot, Value};
use std::fmt::Write as _;

/// One line per number. Writing to a `String` cannot fail.
pub(super) fn lines(snapshots: &[&Snapshot]) -> String {
    let mut out = String::new();
    for snapshot in snapshots {
        let run = run_label(snapshot);
        for family in &snapshot.families {
            each(family, &mut |scalar| {
                line(&scalar, &run, snapshot.at_unix_ns, &mut out)
            });
        }
    }
    out
}

fn line(scalar: &Scalar<'_>, run: &Label, at: u64, out: &mut String) {
    out.push_str(scalar.name);
    let labels = scalar.labels.iter();
    let is_own = scalar.labels.iter().any(|label| label.name == run.name);
    let labels = labels.chain((!is_own).then_some(run));
    let labels = labels.map(|label| (label.name, &*label.value));
    for (name, value) in labels.chain(scalar.le.map(|le| ("le", le))) {
        // A tag must not be empty; omitting it has the same meaning.
        if !value.is_empty() {
            let _ = write!(out, ",{name}=");
            escape(value, out);
        }
    }
    let _ = match scalar.value {
        Value::Count(count) => writeln!(out, " value={count}i {at}"),
        value => writeln!(out, " value={} {at}", value.number()),
    };
}

/// Writes a tag's value, which cannot contain a line end. A backslash is kept, except before a
/// separator, before another backslash and at the end, where receivers differ in how they read it:
/// there it is replaced.
fn escape(value: &str, out: &mut String) {
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ',' | '=' | ' ' => out.extend(['\\', c]),
            '\\' => match chars.peek() {
                None | Some(',' | '=' | ' ' | '\\') => out.push('/'),
                Some(next) if next.is_control() => out.push('/'),
                Some(_) => out.push('\\'),
            },
            c if c.is_control() => out.push_str("\\ "),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::snapshot;
    use super::*;

    #[test]
    fn each_number_is_a_line() {
        let text = lines(&[&snapshot(7, 2), &snapshot(8, 3)]);
        let tags = "pool=a\\ b\\,c\\=\"d\"/,run=r1";
        for line in [
            format!("drumfire_requests_total,{tags} value=2i 7000000000"),
            format!("drumfire_requests_total,{tags} value=3i 8000000000"),
            "drumfire_busy_ratio,run=r1 value=0.5 7000000000".to_owned(),
            format!("drumfire_x_seconds_bucket,{tags},le=0.0025 value=0i 7000000000"),
            format!("drumfire_x_seconds_bucket,{tags},le=+Inf value=2i 7000000000"),
            format!("drumfire_x_seconds_sum,{tags} value=0.006 7000000000"),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_backslash_stays_where_it_escapes_nothing() {
        for (value, tag) in [
            ("a\\b", "a\\b"),
            ("a\\", "a/"),
            ("a\\,b", "a/\\,b"),
            ("\\\\host\\share", "/\\host\\share"),
            ("a\\ b", "a/\\ b"),
            ("a\\\nb", "a/\\ b"),
        ] {
            let mut out = String::new();
            escape(value, &mut out);
            assert_eq!(out, tag, "{value}");
        }
    }
}
