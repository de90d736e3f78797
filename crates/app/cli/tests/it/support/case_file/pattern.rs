//! Expected texts: `[..]` matches any text within a line, and a line `...` matches any lines.

/// Whether a text matches the expected one.
pub(super) fn is_match(expected: &str, actual: &str) -> bool {
    let expected: Vec<&str> = expected.lines().collect();
    let actual: Vec<&str> = actual.lines().collect();
    are_matches(&expected, &actual)
}

fn are_matches(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"...", rest)) => {
            (0..=actual.len()).any(|skipped| are_matches(rest, &actual[skipped..]))
        }
        Some((line, rest)) => actual
            .split_first()
            .is_some_and(|(found, more)| is_line(line, found) && are_matches(rest, more)),
    }
}

/// Whether a line matches the expected one.
fn is_line(expected: &str, actual: &str) -> bool {
    let parts: Vec<&str> = expected.split("[..]").collect();
    let [first, between @ .., last] = &parts[..] else {
        return expected == actual;
    };
    let Some(mut rest) = actual.strip_prefix(first) else {
        return false;
    };
    for part in between {
        let Some((_, after)) = rest.split_once(*part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// The actual text, in which expected lines with `[..]` are kept.
pub(super) fn blessed(expected: &str, actual: &str) -> String {
    let patterns: Vec<&str> = expected
        .lines()
        .filter(|line| line.contains("[..]"))
        .collect();
    let line = |line: &str| {
        let known = patterns.iter().find(|pattern| is_line(pattern, line));
        format!("{}\n", known.unwrap_or(&line))
    };
    actual.lines().map(line).collect()
}

/// A text with single spaces between its words.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a text lacks one of the parts, one per line: `N x PART` is a part that N lines have.
pub(super) fn missing(parts: &str, text: &str) -> Vec<String> {
    let whole = words(text);
    let lacks = |part: &&str| {
        let counted = part
            .split_once(" x ")
            .and_then(|(n, part)| Some((n.parse::<usize>().ok()?, part)));
        match counted {
            Some((count, part)) => {
                let has = |line: &&str| words(line).contains(&words(part));
                text.lines().filter(has).count() != count
            }
            None => !whole.contains(&words(part)),
        }
    };
    parts.lines().filter(lacks).map(str::to_owned).collect()
}

/// The parts, one per line, that a text has.
pub(super) fn present(parts: &str, text: &str) -> Vec<String> {
    let whole = words(text);
    let has = |part: &&str| whole.contains(&words(part));
    parts.lines().filter(has).map(str::to_owned).collect()
}

#[test]
fn texts_are_compared_with_patterns() {
    for (expected, actual, is_same) in [
        ("a\nb\n", "a\nb\n", true),
        ("a\n", "a\nb\n", false),
        ("a [..] c\n", "a b c\n", true),
        ("a [..] c\n", "a b d\n", false),
        ("[..]b[..]\n", "abc\n", true),
        ("ab[..]bc\n", "abc\n", false),
        ("a\n...\nd\n", "a\nb\nc\nd\n", true),
        ("...\n", "", true),
        ("a\n...\nd\n", "a\nb\n", false),
    ] {
        assert_eq!(is_match(expected, actual), is_same, "{expected} {actual}");
    }
    assert_eq!(blessed("x [..]\nold\n", "x 1\nnew\n"), "x [..]\nnew\n");
    assert_eq!(
        missing("b c\n2 x a\n1 x a\nz\n", "a b\nc a\n"),
        ["1 x a", "z"]
    );
    assert_eq!(present("b c\nz\n", "a b\nc a\n"), ["b c"]);
}
