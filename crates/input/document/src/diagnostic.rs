//! A mistake in a document, with its place.
//!
//! Mistakes are collected instead of returned: each reader and each check borrows the [`Findings`],
//! notes a mistake and continues, so that a user sees all mistakes of a document at once. A mistake
//! that several requests share is noted once. A check that can only have failed because of another
//! mistake is removed afterwards ([`Findings::drop_from`] and similar methods), by the number of
//! findings before it.
//!
//! Messages end without a full stop, quote the value as written, and contain the correction. They
//! may quote text from an untrusted file, with control characters replaced.

use crate::{Place, Placed, Text};
use std::fmt;
use std::str::FromStr;

/// The reason why compiling failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A mistake in the document, or in a file that it refers to.
    Document,
    /// An outside source, such as a server, gave no usable answer.
    World,
}

/// One reason why a document is not a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place of the mistake.
    pub place: Place,
    /// The mistake and its correction. Below it, the output shows the text with a mark.
    pub message: String,
    /// The place in that text to mark, if any.
    pub mark: Option<Mark>,
    /// The remedy, in terms of the program's command line; printed after the message.
    pub remedy: String,
    /// The kind of reason.
    pub fault: Fault,
}

/// A place within a text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The text.
    pub text: String,
    /// The number of characters before the mistake.
    pub column: usize,
}

impl Diagnostic {
    /// A mistake in the document itself.
    #[must_use]
    pub fn new(place: &Place, message: impl fmt::Display) -> Self {
        Self {
            place: place.clone(),
            message: message.to_string(),
            mark: None,
            remedy: String::new(),
            fault: Fault::Document,
        }
    }

    /// The diagnostic on one line, without the marked text, for a reader that already shows the
    /// document's line below.
    #[must_use]
    pub fn on_one_line(&self) -> String {
        match &self.mark {
            None => self.to_string(),
            Some(_) => {
                let first = self.message.lines().next().unwrap_or_default();
                let message = format!("{first}{}", self.remedy);
                Self::new(&self.place, message).to_string()
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    /// The place, the message and the remedy. If the message already begins with the place, the
    /// place is not repeated.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() && !self.message.starts_with(&place) {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}{}", self.message, self.remedy)
    }
}

/// The maximum number of findings for a document. A user corrects a few at a time, and a generated
/// document may have a mistake in each of a million values.
const FINDINGS_MAX: usize = 1_000;

/// Diagnostics in the order of their discovery; only the first [`FINDINGS_MAX`] are kept.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Diagnostic>,
    /// The keys of a pool, for the advice on an unknown key in another mapping.
    pub(crate) pool_keys: Vec<&'static str>,
}

impl From<Vec<Diagnostic>> for Findings {
    fn from(list: Vec<Diagnostic>) -> Self {
        Self {
            list,
            pool_keys: Vec::new(),
        }
    }
}

impl Findings {
    /// Notes a mistake at a place.
    pub fn add(&mut self, place: &Place, message: impl fmt::Display) {
        self.push(Diagnostic::new(place, message));
    }

    /// Notes a mistake if `wrong` is true.
    pub fn add_if(&mut self, wrong: bool, place: &Place, message: &str) {
        if wrong {
            self.add(place, message);
        }
    }

    /// Notes a diagnostic, unless it is already noted: a value that many requests share is wrong
    /// once. The last diagnostic within the maximum states that there may be more.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() >= FINDINGS_MAX || self.list.contains(&diagnostic) {
            return;
        }
        self.list.push(match self.list.len() + 1 {
            FINDINGS_MAX => Diagnostic::new(
                &Place::Nowhere,
                format!("there may be more mistakes; these are the first {FINDINGS_MAX}"),
            ),
            _ => diagnostic,
        });
    }

    /// Returns the value, or notes the error and returns `None`.
    pub fn ok<T, E: fmt::Display>(&mut self, place: &Place, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(place, error);
                None
            }
        }
    }

    /// Parses a text if it was written; notes an error.
    pub fn parse<T: FromStr<Err: fmt::Display>>(&mut self, text: Option<&Text>) -> Option<T> {
        let Placed { value, place, .. } = text?;
        self.ok(place, value.parse())
    }

    /// Notes a mistake in a text, with a mark below the byte offset `at`.
    pub fn mark(&mut self, text: &Text, at: usize, message: &str) {
        let before = text.value.get(..at);
        let column = before.map_or(0, |before| before.chars().count());
        let plain = |c: char| if c.is_control() { '?' } else { c };
        let shown: String = text.value.chars().map(plain).collect();
        let message = format!("{message}\n  {shown}\n  {:column$}^", "");
        self.push(Diagnostic {
            mark: Some(Mark {
                text: text.value.clone(),
                column,
            }),
            ..Diagnostic::new(&text.place, message)
        });
    }

    /// The number of findings.
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Keeps only those findings from index `first` on that concern written values: a value that
    /// seems to be missing may be in an unreadable part.
    pub fn keep_values_from(&mut self, first: usize) {
        let mut n = 0;
        self.list.retain(|found| {
            n += 1;
            n <= first || matches!(&found.place, Place::File { key, .. } if !key.is_empty())
        });
    }

    /// Removes the findings from index `first` on at these places.
    pub fn drop_from(&mut self, first: usize, places: &[Place]) {
        let mut n = 0;
        self.list.retain(|found| {
            n += 1;
            n <= first || !places.contains(&found.place)
        });
    }

    /// Removes the findings from index `first` on about one of these missing names.
    pub fn drop_missing_from(&mut self, first: usize, names: &[&str]) {
        let wanted: Vec<String> = names
            .iter()
            .map(|name| format!("no variable `{name}`"))
            .collect();
        let mut n = 0;
        self.list.retain(|found| {
            n += 1;
            n <= first || !wanted.iter().any(|wanted| found.message.contains(wanted))
        });
    }

    /// Whether there are no findings.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The findings.
    pub fn into_inner(self) -> Vec<Diagnostic> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, FINDINGS_MAX, Findings};
    use crate::{Place, Placed};

    #[test]
    fn a_mark_stands_under_what_is_wrong() {
        let mut found = Findings::default();
        let text = Placed::new("é\tx".to_owned(), Place::Flag { name: "-r" });
        found.mark(&text, 3, "no law");
        assert_eq!(
            found.into_inner()[0].to_string(),
            "-r: no law\n  é?x\n    ^"
        );
    }

    #[test]
    fn findings_have_a_bound() {
        let mut found = Findings::default();
        for n in 0..2 * FINDINGS_MAX {
            found.add(&Place::Nowhere, n);
        }
        let found = found.into_inner();
        assert_eq!(found.len(), FINDINGS_MAX);
        assert_eq!(found[FINDINGS_MAX - 2].message, "998");
        assert!(found[FINDINGS_MAX - 1].message.contains("more mistakes"));
    }

    #[test]
    fn a_place_is_said_once() {
        let place = Place::Flag { name: "--x" };
        assert_eq!(Diagnostic::new(&place, "bad").to_string(), "--x: bad");
        assert_eq!(Diagnostic::new(&place, "--x is").to_string(), "--x is");
        assert_eq!(Diagnostic::new(&Place::Nowhere, "bad").to_string(), "bad");
    }
}
