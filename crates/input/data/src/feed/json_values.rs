//! Where the values of a file of JSON begin and end: the elements of its one array, or values one
//! after the other.
//!
//! Brackets and quotes are followed; what stands between them is checked by the reader of a value.

use memchr::memchr;
use std::ops::Range;

/// A cut of a text into values. It may be given in windows, each of which begins where the last
/// value ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonValues(State);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing was found yet.
    #[default]
    Start,
    /// Values stand one after the other.
    Stream,
    /// Behind an element of an array.
    Array,
    /// Behind the array.
    Closed,
}

/// What follows in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonNext {
    /// A value.
    Value { start: usize, end: usize },
    /// The window ends before the next value does.
    More,
    /// There is no further value.
    End,
    /// A mistake.
    Broken { at: usize, message: &'static str },
}

impl JsonValues {
    /// The next value of a window; `is_last` says that nothing follows the window.
    pub(crate) fn next(&mut self, window: &[u8], is_last: bool) -> JsonNext {
        let mut at = blanks(window, 0);
        let mut state = self.0;
        let missing = |at, message| match is_last {
            true => JsonNext::Broken { at, message },
            false => JsonNext::More,
        };
        let ended = || match is_last {
            true => JsonNext::End,
            false => JsonNext::More,
        };
        match (state, window.get(at)) {
            (State::Array, None) => return missing(at, "the array is not closed"),
            (_, None) => return ended(),
            (State::Start, Some(b'[')) => {
                at = blanks(window, at + 1);
                match window.get(at) {
                    None => return missing(at, "the array is not closed"),
                    Some(b']') => state = State::Closed,
                    Some(_) => state = State::Array,
                }
                at += usize::from(state == State::Closed);
            }
            (State::Array, Some(b']')) => {
                state = State::Closed;
                at += 1;
            }
            (State::Array, Some(b',')) => at = blanks(window, at + 1),
            (State::Array, Some(_)) => {
                let message = "a comma or the end of the array is missing";
                return JsonNext::Broken { at, message };
            }
            (State::Start | State::Stream, Some(_)) => state = State::Stream,
            (State::Closed, Some(_)) => {}
        }
        if state == State::Closed {
            at = blanks(window, at);
            let message = "unexpected text after the end of the array";
            return match window.get(at) {
                Some(_) => JsonNext::Broken { at, message },
                None => ended(),
            };
        }
        if at == window.len() {
            return missing(at, "the array is not closed");
        }
        match value_end(window, at) {
            Some(end) if end < window.len() || is_last || is_closed(window[at]) => {
                self.0 = state;
                JsonNext::Value { start: at, end }
            }
            Some(_) => JsonNext::More,
            None => missing(at, "the value is not closed"),
        }
    }
}

impl JsonValues {
    /// The first line of a window, if it may be an object of its own: of those that stand one after
    /// the other.
    pub(crate) fn line(&self, window: &[u8]) -> Option<Range<usize>> {
        let may_begin = matches!(self.0, State::Start | State::Stream);
        let start = (may_begin).then(|| blanks(window, 0))?;
        (window.get(start) == Some(&b'{')).then_some(())?;
        let end = start + memchr(b'\n', &window[start..])?;
        Some(start..end)
    }

    /// That line was an object.
    pub(crate) const fn note_line(&mut self) {
        self.0 = State::Stream;
    }
}

/// Whether a value that begins so has an end of its own.
const fn is_closed(first: u8) -> bool {
    matches!(first, b'{' | b'[' | b'"')
}

/// The first place from `at` on that is not blank.
fn blanks(window: &[u8], at: usize) -> usize {
    let rest = window.get(at..).unwrap_or_default();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + rest.iter().take_while(|byte| blank(byte)).count()
}

/// Where the value ends that begins in a place; `None` if the window ends within it.
fn value_end(window: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(&byte) = window.get(at) {
        match byte {
            b'"' => {
                at = string_end(window, at)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => {
                // A scalar ends before the bracket that closes what it stands in.
                let own = usize::from(depth == 1 || at == start);
                return Some(at + own);
            }
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => {
                return Some(at.max(start + 1));
            }
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(at)
}

/// Where the string ends that begins in a place.
fn string_end(window: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match window.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonNext, JsonValues};
    use proptest::prelude::*;

    /// The values of a text, cut into windows that grow by `step`.
    fn values(text: &str, step: usize) -> Result<Vec<String>, &'static str> {
        let (mut from, mut to) = (0, step.min(text.len()));
        let mut cut = JsonValues::default();
        let mut found = Vec::new();
        loop {
            match cut.next(&text.as_bytes()[from..to], to == text.len()) {
                JsonNext::Value { start, end } => {
                    found.push(text[from + start..from + end].to_owned());
                    from += end;
                }
                JsonNext::More => to = (to + step).min(text.len()),
                JsonNext::End => return Ok(found),
                JsonNext::Broken { message, .. } => return Err(message),
            }
        }
    }

    #[test]
    fn arrays_and_streams_are_cut_into_values_in_any_window() {
        let right = [
            "{\"a\": [1, {}]}",
            "\"x ] \\\" ,\"",
            "-1.5",
            "null",
            "[2, 3]",
            "{}",
        ];
        let array = format!(" [ {} ] \n", right.join(" ,\n"));
        let stream = right.join("\n");
        for step in 1..40 {
            assert_eq!(
                values(&array, step).as_deref(),
                Ok(&right.map(str::to_owned)[..])
            );
            assert_eq!(
                values(&stream, step).as_deref(),
                Ok(&right.map(str::to_owned)[..])
            );
            for (text, error) in [
                ("[1 2]", "a comma or the end of the array is missing"),
                ("[1, 2", "the array is not closed"),
                ("[1,", "the array is not closed"),
                ("[", "the array is not closed"),
                ("[1] 2", "unexpected text after the end of the array"),
                ("[] []", "unexpected text after the end of the array"),
                ("{\"a\": \"", "the value is not closed"),
            ] {
                assert_eq!(values(text, step), Err(error), "{text} {step}");
            }
            assert_eq!(values("[]", step), Ok(vec![]));
            assert_eq!(values(" ", step), Ok(vec![]));
            assert_eq!(values("{}{}[]", step).map(|found| found.len()), Ok(3));
        }
    }

    proptest! {
        /// Any bytes end, and what is found lies in the text, one behind the other.
        #[test]
        fn any_text_ends(text in "[\\[\\]{}\",: \\\\a1\n]{0,40}", step in 1_usize..9) {
            let whole = values(&text, text.len() + 1);
            prop_assert_eq!(values(&text, step), whole);
        }
    }
}
