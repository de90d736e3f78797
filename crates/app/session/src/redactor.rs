//! The secrets of one plan, masked in all output of its session.
//!
//! There are two kinds of secrets, which become known at two times. Secrets that the plan marks are
//! known when its references are resolved. Secrets whose names suggest one are known when the plan
//! is compiled. A plan with a setup is compiled again after the setup, and may then have more
//! secrets of either kind. Masking is by text: every occurrence of a value is replaced, in any
//! format of output. Each text is searched for each secret, so the per-request path does not use
//! masking.

use drumfire_measure::RunInfo;
use drumfire_plan::Secrets;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Masks the secrets of one plan in texts, in JSON and in the facts of its run.
///
/// Clones share their secrets. The terminal and the machine exist before a plan's references are
/// resolved, so each takes a clone early, and [`Redactor::hide`] affects all clones. Independent
/// redactors share nothing: two plans in one process have separate redactors.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The secrets that the plan marks.
    secrets: Arc<RwLock<Known>>,
    /// The secrets that are recognised by their names.
    named: Arc<RwLock<Known>>,
}

/// The known secrets of one kind.
#[derive(Default)]
struct Known {
    values: Vec<String>,
    secrets: Arc<Secrets>,
}

impl Known {
    /// Adds the values that are not known yet.
    fn add(&mut self, values: &[String]) {
        let known = self.values.len();
        for value in values {
            if !self.values.contains(value) {
                self.values.push(value.clone());
            }
        }
        if self.values.len() > known {
            self.secrets = Arc::new(Secrets::new(&self.values));
        }
    }
}

impl Redactor {
    /// Masks these secrets too from now on. Texts that were shown before are not affected.
    pub fn hide(&self, secrets: &[String]) {
        let known = self.secrets.write();
        known.unwrap_or_else(PoisonError::into_inner).add(secrets);
    }

    /// Masks these values too, whose names suggest secrets. A server may repeat them without the
    /// name.
    pub fn hide_named(&self, values: &[String]) {
        let known = self.named.write();
        known.unwrap_or_else(PoisonError::into_inner).add(values);
    }

    /// The secrets, if there are any.
    fn secrets(&self) -> impl Iterator<Item = Arc<Secrets>> {
        let all = [&self.secrets, &self.named].map(|kind| {
            let known = kind.read().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&known.secrets)
        });
        all.into_iter().filter(|secrets| !secrets.is_empty())
    }

    /// Whether there are secrets to mask.
    #[must_use]
    pub fn has_secrets(&self) -> bool {
        self.secrets().next().is_some()
    }

    /// A text with secrets masked.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets()
            .fold(Cow::Borrowed(text), |text, secrets| match text {
                Cow::Borrowed(text) => secrets.masked(text),
                Cow::Owned(text) => Cow::Owned(secrets.masked(&text).into_owned()),
            })
    }

    /// A text with secrets and pieces of them masked: for messages about mistakes in a plan, which
    /// may quote any part of a value.
    #[must_use]
    pub fn closely(&self, text: &str) -> String {
        self.secrets().fold(text.to_owned(), |text, secrets| {
            secrets.masked_closely(&text)
        })
    }

    /// The bytes of a text with secrets masked. Invalid UTF-8 is replaced only if there are
    /// secrets.
    #[must_use]
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.masked(bytes, |secrets, text| secrets.masked(text).into_owned())
    }

    /// The bytes of JSON with secrets masked; the result is valid JSON.
    #[must_use]
    pub fn json<'b>(&self, json: &'b [u8]) -> Cow<'b, [u8]> {
        self.masked(json, Secrets::masked_json)
    }

    /// The bytes of HTML with secrets masked; the markup is unchanged.
    #[must_use]
    pub fn markup<'b>(&self, html: &'b [u8]) -> Cow<'b, [u8]> {
        self.masked(html, Secrets::masked_markup)
    }

    /// The bytes of XML with secrets masked, including attribute values; the result is valid XML.
    #[must_use]
    pub fn xml<'b>(&self, xml: &'b [u8]) -> Cow<'b, [u8]> {
        self.masked(xml, Secrets::masked_xml)
    }

    /// The bytes of a histogram log with secrets masked; the histograms are unchanged.
    #[must_use]
    pub fn log<'b>(&self, log: &'b [u8]) -> Cow<'b, [u8]> {
        self.masked(log, Secrets::masked_log)
    }

    /// The facts of a run with secrets masked.
    #[must_use]
    pub fn info(&self, info: &RunInfo) -> RunInfo {
        match self.has_secrets() {
            false => info.clone(),
            true => info
                .clone()
                .with_texts(&|text| self.text(text).into_owned()),
        }
    }

    /// Bytes with secrets masked; `mask` is the function for their format.
    fn masked<'b>(
        &self,
        bytes: &'b [u8],
        mask: impl Fn(&Secrets, &str) -> String,
    ) -> Cow<'b, [u8]> {
        self.secrets().fold(Cow::Borrowed(bytes), |bytes, secrets| {
            let masked = mask(&secrets, &String::from_utf8_lossy(&bytes));
            Cow::Owned(masked.into_bytes())
        })
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("has_secrets", &self.has_secrets())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Redactor;

    fn hiding(secret: &str) -> Redactor {
        let redactor = Redactor::default();
        redactor.hide(&[secret.to_owned()]);
        redactor
    }

    /// Two plans in one process have separate redactors.
    #[test]
    fn redactors_of_one_process_do_not_mix() {
        let text = "hunter2 and letmein";
        let json = br#"{"a":"hunter2","b":"letmein"}"#;
        let [first, second] = ["hunter2", "letmein"].map(hiding);
        let none = Redactor::default();
        assert_eq!(first.text(text), "*** and letmein");
        assert_eq!(second.text(text), "hunter2 and ***");
        assert_eq!(none.text(text), text);
        assert_eq!(&*first.json(json), br#"{"a":"***","b":"letmein"}"#);
        assert_eq!(&*second.json(json), br#"{"a":"hunter2","b":"***"}"#);
        assert_eq!(&*none.bytes(text.as_bytes()), text.as_bytes());
    }

    #[test]
    fn pieces_of_a_secret_are_masked_closely() {
        let redactor = hiding("it's a secret-Value");
        for (text, expected) in [
            ("unknown name `secret` here", "unknown name `***` here"),
            // The blank before the value is a part of the secret, too.
            ("no host SECRET-VALUE", "no host***"),
            ("`/?q={{ 'it's a secre…`", "`/?q={{ '***…`"),
            ("rate: `it's a secret-Value`", "rate: `***`"),
            ("its rate is 5/s", "its rate is 5/s"),
        ] {
            assert_eq!(redactor.closely(text), expected);
        }
    }

    #[test]
    fn clones_that_were_taken_before_know_the_secrets() {
        let redactor = Redactor::default();
        let early = redactor.clone();
        assert!(!early.has_secrets());
        redactor.hide(&["hunter2".to_owned()]);
        assert_eq!(early.text("hunter2"), "***");
        redactor.hide(&["letmein".to_owned()]);
        assert_eq!(early.text("letmein of hunter2"), "*** of ***");
        assert!(!format!("{redactor:?}").contains("hunter2"));
    }
}
