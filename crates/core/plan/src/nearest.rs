//! Finds the known name that a misspelt name was probably meant to be.

use crate::url::excerpt;
use std::collections::HashSet;

/// Longer names are not compared.
const LENGTH_MAX: usize = 64;

/// The maximum number of names that are listed.
const LISTED: usize = 8;

/// The candidate with the fewest edits, if at most a third of the letters must change.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(LENGTH_MAX + 1).collect();
    if name.len() > LENGTH_MAX {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LENGTH_MAX)
        .map(|candidate| (edits(&name, candidate), candidate))
        .min_by_key(|&(edits, _)| edits)
        .filter(|&(edits, candidate)| 3 * edits <= name.len().max(candidate.len()))
        .map(|(_, candidate)| candidate)
}

/// The Damerau-Levenshtein distance, ignoring case: swapping two letters is one edit.
fn edits(name: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().collect();
    let is_same = |a: char, b: char| a.eq_ignore_ascii_case(&b);
    // The rows of the previous two letters.
    let mut second: Vec<usize> = Vec::new();
    let mut first: Vec<usize> = (0..=name.len()).collect();
    for (n, letter) in candidate.iter().enumerate() {
        let mut row = vec![n + 1];
        for (k, other) in name.iter().enumerate() {
            let change = usize::from(!is_same(*letter, *other));
            let best = (first[k] + change).min(row[k] + 1).min(first[k + 1] + 1);
            let is_swapped = n > 0
                && k > 0
                && is_same(*letter, name[k - 1])
                && is_same(candidate[n - 1], *other);
            row.push(match is_swapped {
                true => best.min(second[k - 1] + 1),
                false => best,
            });
        }
        second = std::mem::replace(&mut first, row);
    }
    first[name.len()]
}

/// `; did you mean …?`, or an empty text.
#[must_use]
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// `; did you mean …?` followed by the alternatives, or only the alternatives: the text after an
/// unknown word.
pub(crate) fn suggestion_and<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    rest: &str,
) -> String {
    match suggestion(name, candidates) {
        none if none.is_empty() => format!("; {rest}"),
        question => {
            let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            format!("{question} {}{others}", first.to_uppercase())
        }
    }
}

/// `; did you mean …? The steps are …`, or only the list: the nearest names first, at most eight.
/// `nouns` is their kind in the plural. Empty without candidates.
#[must_use]
pub fn suggestion_of<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    nouns: &str,
) -> String {
    let letters: Vec<char> = name.chars().take(LENGTH_MAX).collect();
    let mut seen = HashSet::new();
    let unseen = candidates.into_iter().filter(|name| seen.insert(*name));
    let mut known: Vec<(usize, &str)> = unseen
        .map(|candidate| match candidate.len() <= 4 * LENGTH_MAX {
            true => (edits(&letters, candidate), candidate),
            false => (usize::MAX, candidate),
        })
        .collect();
    known.sort_by_key(|&(edits, _)| edits);
    let shown: Vec<String> = known.iter().take(LISTED).map(|(_, n)| excerpt(n)).collect();
    let more = match known.len().saturating_sub(LISTED) {
        _ if known.is_empty() => return String::new(),
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let rest = format!("the {nouns} are {}{more}", shown.join(", "));
    suggestion_and(name, known.into_iter().map(|(_, name)| name), &rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_from_the_nearest_on() {
        let steps = ["pay", "log in", "log out", "pay", "http://h/?token=abc"];
        for (name, text) in [
            (
                "logn",
                "; did you mean `log in`? The steps are log in, pay, log out, http://h/?token=***",
            ),
            (
                "x",
                "; the steps are pay, log in, log out, http://h/?token=***",
            ),
        ] {
            assert_eq!(suggestion_of(name, steps, "steps"), text);
        }
        let many: Vec<String> = (0..20).map(|n| format!("step {n}")).collect();
        let many = many.iter().map(String::as_str);
        assert!(suggestion_of("x", many, "steps").ends_with("step 7 and 12 more"));
        assert_eq!(suggestion_of("x", [], "steps"), "");
        let long = "y".repeat(1000);
        let text = suggestion_of(&"x".repeat(1000), [&*long], "steps");
        assert!(text.len() < 120, "{text}");
    }

    #[test]
    fn finds_what_was_meant() {
        let laws = [
            "const",
            "line",
            "step",
            "once",
            "unlimited",
            "sine",
            "trace",
        ];
        for (name, meant) in [
            ("lien", Some("line")),
            ("liex", None), // two of four letters differ
            ("lines", Some("line")),
            ("Const", Some("const")),
            ("unlimted", Some("unlimited")),
            ("tarce", Some("trace")),
            ("nuliimtde", Some("unlimited")),
            ("steps", Some("step")),
            ("", None),
            ("wholly different", None),
        ] {
            assert_eq!(nearest(name, laws), meant, "{name}");
        }
        assert_eq!(nearest(&"x".repeat(100), laws), None);
    }
}
