//! Selection among several values.

use crate::{NoValue, ParseError};
use drumfire_plan::{ValueForm, suggestion};
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// The maximum size of a list of all values, in bytes: nested values are written more than once.
const LIST_MAX: usize = 1 << 20;

/// Which of the found values an extractor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// The n-th value, from 1.
    Nth(usize),
    /// The first value, or an empty text without values.
    Maybe,
    /// The last value.
    Last,
    /// The number of values.
    Count,
    /// All values, as a JSON array.
    All,
}

/// The output form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The plain text.
    Plain,
    /// An element of a JSON array.
    Json,
}

/// The words for selections other than numbers.
const WORDS: [(&str, Occurrence); 4] = [
    ("maybe", Occurrence::Maybe),
    ("last", Occurrence::Last),
    ("count", Occurrence::Count),
    ("all", Occurrence::All),
];

impl Occurrence {
    /// Selects the first value.
    pub(crate) const FIRST: Self = Self::Nth(1);

    /// Parses the text after `#`.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let rest = "write `#2` for the second value, `#last`, `#maybe`, `#count` or `#all`";
        if text == "0" {
            return Err(ParseError::new(0, "values are counted from 1: write `#1`"));
        }
        if let Ok(n) = text.parse() {
            return Ok(Self::Nth(n));
        }
        let word = WORDS.iter().find(|(word, _)| *word == text);
        word.map(|(_, pick)| *pick).ok_or_else(|| {
            let near = suggestion(text, WORDS.map(|(word, _)| word));
            let text = text.escape_debug();
            ParseError::new(0, format!("invalid `#{text}`{near}; {rest}"))
        })
    }

    /// The type of what is picked of texts: a number or a list, or else a text.
    pub(crate) const fn form_of_texts(self) -> ValueForm {
        match self {
            Self::Count | Self::All => ValueForm::Json,
            Self::Nth(_) | Self::Maybe | Self::Last => ValueForm::Text,
        }
    }

    /// Takes values one by one and appends to `out` what is picked of them.
    pub(crate) const fn gather(self, out: &mut String) -> Gather<'_> {
        Gather {
            pick: self,
            start: out.len(),
            found: 0,
            out,
        }
    }
}

/// The selection so far.
pub(crate) struct Gather<'o> {
    pick: Occurrence,
    found: usize,
    start: usize,
    out: &'o mut String,
}

impl Gather<'_> {
    /// Receives the next value, which `write` appends if it is selected. After a break, no more
    /// values are needed.
    pub(crate) fn offer(
        &mut self,
        write: impl FnOnce(Form, &mut String) -> Result<(), NoValue>,
    ) -> Result<ControlFlow<()>, NoValue> {
        self.found += 1;
        match self.pick {
            Occurrence::Nth(n) if n == self.found => {
                write(Form::Plain, self.out)?;
                return Ok(ControlFlow::Break(()));
            }
            Occurrence::Maybe => {
                write(Form::Plain, self.out)?;
                return Ok(ControlFlow::Break(()));
            }
            Occurrence::Nth(_) | Occurrence::Count => {}
            Occurrence::Last => {
                self.out.truncate(self.start);
                write(Form::Plain, self.out)?;
            }
            Occurrence::All => {
                self.out.push(if self.found == 1 { '[' } else { ',' });
                write(Form::Json, self.out)?;
                if self.out.len() - self.start > LIST_MAX {
                    return Err(NoValue::unreadable("`#all` is larger than 1 MiB"));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the selection; `absent` gives the reason if there are no values.
    pub(crate) fn finish(self, absent: impl FnOnce() -> NoValue) -> Result<(), NoValue> {
        match (self.pick, self.found) {
            (Occurrence::Count, found) => push(self.out, found),
            (Occurrence::All, 0) => self.out.push_str("[]"),
            (Occurrence::All, _) => self.out.push(']'),
            (Occurrence::Maybe, _) => {}
            (_, 0) => return Err(absent()),
            (Occurrence::Nth(n), found) if found < n => {
                return Err(NoValue::missing(format!(
                    "there is no `#{n}`, only {found}"
                )));
            }
            (Occurrence::Nth(_) | Occurrence::Last, _) => {}
        }
        Ok(())
    }
}

/// Appends a text in the given form.
pub(crate) fn write_text(text: &str, form: Form, out: &mut String) {
    match form {
        Form::Plain => out.push_str(text),
        Form::Json => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' | '\\' => {
                        out.push('\\');
                        out.push(c);
                    }
                    c if c < ' ' => push(out, format_args!("\\u{:04x}", u32::from(c))),
                    c => out.push(c),
                }
            }
            out.push('"');
        }
    }
}

/// Appends a printable value.
pub(crate) fn push(out: &mut String, value: impl std::fmt::Display) {
    let written = write!(out, "{value}");
    debug_assert!(written.is_ok(), "a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pick_takes_its_own() {
        let check = |pick: &str, values: &[u32], expected: Result<&str, &str>| {
            let mut out = String::from("before ");
            let mut gather = Occurrence::parse(pick).expect("a pick").gather(&mut out);
            for n in values {
                let flow = gather.offer(|_, out| {
                    push(out, n);
                    Ok(())
                });
                if flow.expect("a value").is_break() {
                    break;
                }
            }
            let given = gather.finish(|| NoValue::missing("nothing there"));
            let text = out.strip_prefix("before ").expect("what was there stays");
            let given = given.map(|()| text).map_err(|none| none.to_string());
            assert_eq!(given, expected.map_err(str::to_owned), "#{pick} {values:?}");
        };
        check("1", &[7, 8], Ok("7"));
        check("2", &[7, 8], Ok("8"));
        check("3", &[7, 8], Err("there is no `#3`, only 2"));
        check("3", &[], Err("nothing there"));
        check("maybe", &[7, 8], Ok("7"));
        check("maybe", &[], Ok(""));
        check("last", &[7, 8, 9], Ok("9"));
        check("last", &[], Err("nothing there"));
        check("count", &[7, 8, 9], Ok("3"));
        check("count", &[], Ok("0"));
        check("all", &[7, 8], Ok("[7,8]"));
        check("all", &[], Ok("[]"));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, reason) in [
            ("0", "values are counted from 1"),
            ("lats", "invalid `#lats`"),
            ("cuont", "invalid `#cuont`"),
            ("", "invalid `#`"),
            ("99999999999999999999999", "invalid `#9"),
        ] {
            let error = Occurrence::parse(text).expect_err(text);
            assert!(error.reason.contains(reason), "{error}");
        }
        let near = Occurrence::parse("counts").expect_err("no pick");
        assert!(near.reason.contains("did you mean `count`?"), "{near}");
    }
}
