//! Texts that match a regular expression.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The maximum number of repetitions that are tried individually.
const PLACES_MAX: usize = 32;

/// The preferred characters of a class.
const USUAL: [char; 6] = ['a', '0', 'A', '-', '_', ' '];

/// A text that matches a pattern, with a length between two bounds; the nth, if several are known.
///
/// # Errors
/// The reason why no text was found.
pub(super) fn matching(
    pattern: &str,
    (least, most): (usize, usize),
    nth: usize,
) -> Result<String, &'static str> {
    let parsed = Parser::new().parse(pattern);
    let pattern = parsed.map_err(|_| "it has parts that are not supported, such as `(?=`")?;
    let text = |more: usize, at: Option<usize>| {
        let mut made = Made {
            text: String::new(),
            length: 0,
            most,
            more,
            at,
            repetitions: 0,
            nth,
        };
        made.add(&pattern).then_some(made)
    };
    // An empty text is of little use, even if it matches.
    let wanted = least.max(1);
    let fits = |made: &Made| made.length >= wanted && made.length <= most;
    let first = text(0, None).ok_or("its texts are too long")?;
    if fits(&first) {
        return Ok(first.text);
    }
    // Try more of each repetition, or of a single one: as few as suffice.
    let places = std::iter::once(None).chain((0..first.repetitions).map(Some));
    for at in places.take(if first.repetitions > 0 { PLACES_MAX } else { 0 }) {
        let suffices = |more: usize| text(more, at).is_none_or(|made| made.length >= wanted);
        let (mut few, mut many) = (0, wanted.min(most));
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            match suffices(middle) {
                true => many = middle,
                false => few = middle,
            }
        }
        if let Some(made) = text(many, at).filter(fits) {
            return Ok(made.text);
        }
    }
    match first.length >= least && first.length <= most {
        true => Ok(first.text),
        false => Err("none was found that has the length that it must have"),
    }
}

/// A text under construction.
struct Made {
    text: String,
    length: usize,
    most: usize,
    /// The number of additional repetitions.
    more: usize,
    /// The only repetition that is extended; all if `None`.
    at: Option<usize>,
    /// The number of repetitions in the pattern.
    repetitions: usize,
    nth: usize,
}

impl Made {
    /// Appends a part; returns whether it fits.
    fn add(&mut self, part: &Hir) -> bool {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => {
                let Ok(text) = std::str::from_utf8(&literal.0) else {
                    return false;
                };
                text.chars().for_each(|c| self.push(c));
                self.length <= self.most
            }
            HirKind::Class(class) => {
                let Some(c) = self.member(class) else {
                    return false;
                };
                self.push(c);
                self.length <= self.most
            }
            HirKind::Repetition(repetition) => {
                let own = self.repetitions;
                self.repetitions += 1;
                let is_meant = self.at.is_none_or(|at| at == own);
                let more = if is_meant { self.more } else { 0 };
                let least = repetition.min as usize;
                let most = repetition.max.map_or(usize::MAX, |max| max as usize);
                let count = least.saturating_add(more).min(most);
                (0..count).all(|_| self.add(&repetition.sub))
            }
            HirKind::Capture(capture) => self.add(&capture.sub),
            HirKind::Concat(parts) => parts.iter().all(|part| self.add(part)),
            HirKind::Alternation(parts) => self.add(&parts[self.nth % parts.len()]),
        }
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.length += 1;
    }

    /// A character of a class: a preferred one, or the nth after it.
    fn member(&self, class: &Class) -> Option<char> {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => class.iter().map(|it| (it.start(), it.end())).collect(),
            Class::Bytes(class) => {
                let ranges = class.iter().map(|it| (it.start().into(), it.end().into()));
                ranges.collect()
            }
        };
        let has = |c: char| {
            ranges
                .iter()
                .any(|(start, end)| (*start..=*end).contains(&c))
        };
        let usual = USUAL.into_iter().find(|c| has(*c));
        let printable = ('!'..='~').find(|c| has(*c));
        let first = usual
            .or(printable)
            .or_else(|| ranges.first().map(|(start, _)| *start))?;
        let varied = char::from_u32(first as u32 + (self.nth % 10) as u32);
        Some(varied.filter(|c| has(*c)).unwrap_or(first))
    }
}

#[cfg(test)]
mod tests {
    use super::matching;

    #[test]
    fn texts_match_their_pattern() {
        for (pattern, bounds, text) in [
            ("^[a-z]+$", (0, 9), "a"),
            ("^[a-z]*$", (0, 9), "a"),
            ("^[a-z]*$", (3, 9), "aaa"),
            (r"^\d{3}-\d{4}$", (0, 9), "000-0000"),
            ("^(GET|PUT)$", (0, 9), "GET"),
            (r"^\+?[1-9]\d{1,14}$", (4, 20), "+100"),
            (r"^\w+@\w+\.com$", (0, 20), "a@a.com"),
            ("^$", (0, 9), ""),
            ("^[^/]+/[^/]+$", (5, 5), "aa/aa"),
            ("a{1,2}b{1,9}", (5, 5), "aabbb"),
            ("^[\\u0041-\\u0043]$", (0, 9), "A"),
        ] {
            assert_eq!(
                matching(pattern, bounds, 0).as_deref(),
                Ok(text),
                "{pattern}"
            );
        }
        assert_eq!(matching("^[a-z]+$", (0, 9), 1).as_deref(), Ok("b"));
        for (pattern, bounds) in [
            ("(?=a)", (0, 9)),
            ("^a$", (2, 9)),
            ("a{1000}{1000}{1000}", (0, 9)),
        ] {
            assert!(matching(pattern, bounds, 0).is_err(), "{pattern}");
        }
    }
}
