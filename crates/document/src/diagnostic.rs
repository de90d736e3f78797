//! A mistake in a document, with its place.
//!
//! Mistakes are gathered and not returned: each reader and each check is lent the [`Findings`],
//! notes a mistake and goes on with the rest, so that a user reads all mistakes of a document at
//! once. The same mistake is noted once, however many requests share its cause. A check that can
//! only have failed by another's mistake is left out afterwards ([`Findings::drop_from`] and its
//! like), by the number of findings before it.
//!
//! Messages end without a full stop, name the value as it was written, and say what would be right;
//! they may quote text of a stranger's file, with control characters replaced.

use crate::{Place, Placed, Text};
use std::fmt;
use std::str::FromStr;

/// The cause for which there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The document's, or that of a file that it names.
    Document,
    /// An outside source, a server for example, gave no answer to go on with.
    World,
}

/// One reason for which a document is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place at which it was written.
    pub place: Place,
    /// The mistake, and what would be right; below it, with a mark, the text that has it.
    pub message: String,
    /// The place in that text, if a mark stands under it.
    pub mark: Option<Mark>,
    /// The remedy, in words of this program's own command line; it follows the message.
    pub remedy: String,
    /// The cause.
    pub fault: Fault,
}

/// A place within a text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The text.
    pub text: String,
    /// The number of its characters before the mistake.
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

    /// The same on one line, without the marked text: for a reader that is shown the document's own
    /// line below.
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
    /// The place, the message and the remedy. A message that begins with the place is not put
    /// after it once more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() && !self.message.starts_with(&place) {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}{}", self.message, self.remedy)
    }
}

/// The most findings of a document. A user mends a few at a time, and a generated document may have
/// one in each of a million values.
const FINDINGS_MAX: usize = 1_000;

/// Diagnostics, as they are found, of which the first [`FINDINGS_MAX`] are kept.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Diagnostic>,
    /// The keys of a pool, for the advice on an unknown key of another mapping.
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

    /// Notes it, if it is wrong.
    pub fn add_if(&mut self, wrong: bool, place: &Place, message: &str) {
        if wrong {
            self.add(place, message);
        }
    }

    /// Notes a diagnostic, once: a value that many requests share is wrong once. The last one that
    /// there is room for says that there may be more.
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

    /// The value, or `None` when there is an error, which is noted.
    pub fn ok<T, E: fmt::Display>(&mut self, place: &Place, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(place, error);
                None
            }
        }
    }

    /// A text's value, if it was written and is one.
    pub fn parse<T: FromStr<Err: fmt::Display>>(&mut self, text: Option<&Text>) -> Option<T> {
        let Placed { value, place, .. } = text?;
        self.ok(place, value.parse())
    }

    /// Notes a mistake in a text, with a mark under its place.
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

    /// Leaves those from `first` on that are of a value that was written: a value that seems to be
    /// missing may stand in a part that could not be read.
    pub fn keep_values_from(&mut self, first: usize) {
        let mut n = 0;
        self.list.retain(|found| {
            n += 1;
            n <= first || matches!(&found.place, Place::File { key, .. } if !key.is_empty())
        });
    }

    /// Leaves out those from `first` on that stand at one of these places.
    pub fn drop_from(&mut self, first: usize, places: &[Place]) {
        let mut n = 0;
        self.list.retain(|found| {
            n += 1;
            n <= first || !places.contains(&found.place)
        });
    }

    /// Leaves out those from `first` on for which one of these names is missing.
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

    /// Whether nothing was found.
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
