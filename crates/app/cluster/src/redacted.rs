//! Values that an agent sends to others: the agent's redactor has masked every text in them.
//!
//! A plan's secrets belong to the agent, so the coordinator cannot mask them. Messages therefore
//! take their texts as [`Redacted`], which only this file can construct.

use crate::message::{Content, cut_reason};
use drumfire_measure::{Interval, Kept, RunEvent, RunInfo, Summary, encode_event, form};
use drumfire_plan::{Change, Command};
use drumfire_session::Redactor;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A value without the secrets of an agent's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// The value.
    pub(crate) fn into_inner(self) -> T {
        self.0
    }

    /// A reference to the value.
    pub(crate) const fn get(&self) -> &T {
        &self.0
    }

    /// Any value, for tests.
    #[cfg(test)]
    pub(crate) const fn new_for_test(value: T) -> Self {
        Self(value)
    }
}

impl Redacted<String> {
    /// The reason for which a share failed. A message about a plan may quote any part of the plan,
    /// so pieces of secrets are masked, too.
    #[must_use]
    pub fn reason(reason: &str, redactor: &Redactor) -> Self {
        // Mask before cutting, because a cut leaves pieces of secrets.
        Self(cut_reason(&redactor.closely(reason)))
    }

    /// A constant text of this program, which contains nothing of a plan.
    pub(crate) fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl Redacted<Vec<u8>> {
    /// The encoded facts of a run.
    #[must_use]
    pub fn info(info: &RunInfo, redactor: &Redactor) -> Self {
        Self(form::encode(&redactor.info(info)))
    }
}

impl Redacted<Content> {
    /// An event of a run; `None` if the event must not or need not be sent.
    #[must_use]
    pub fn event(event: &RunEvent, redactor: &Redactor) -> Option<Self> {
        let has_secrets = redactor.has_secrets();
        let mask = |text: &str| redactor.text(text).into_owned();
        let masked = match event {
            // The facts were sent before, and the coordinator sets the time.
            RunEvent::Started(_) => return None,
            RunEvent::Finished(summary) => return Some(Self::ending(summary, redactor)),
            // A body may contain a secret anywhere.
            RunEvent::Failed(_) if has_secrets => return None,
            RunEvent::IntervalClosed(interval) if has_secrets => {
                let mut interval = Interval::clone(interval);
                interval.rewrite_messages(&mask);
                RunEvent::IntervalClosed(Arc::new(interval))
            }
            RunEvent::Kept(kept) if has_secrets => {
                let masked = kept.iter().map(|kept| Kept {
                    detail: kept.detail.as_ref().map(|it| Box::new(it.with_text(&mask))),
                    ..kept.clone()
                });
                RunEvent::Kept(Arc::new(masked.collect()))
            }
            RunEvent::Transcripts(all) if has_secrets => {
                let masked = all.iter().map(|it| it.clone().with_texts(&mask));
                RunEvent::Transcripts(masked.collect())
            }
            RunEvent::Changed(command) if has_secrets => {
                RunEvent::Changed(Arc::new(masked_command(command, &mask)))
            }
            RunEvent::IntervalClosed(_)
            | RunEvent::Kept(_)
            | RunEvent::Transcripts(_)
            | RunEvent::Failed(_)
            | RunEvent::Changed(_)
            | RunEvent::Stopping { .. } => {
                return encode_event(event).map(|bytes| Self(Content::Event(bytes)));
            }
        };
        encode_event(&masked).map(|bytes| Self(Content::Event(bytes)))
    }

    /// The ending of a run. Bodies of failures stay with the agent if there are secrets.
    fn ending(summary: &Summary, redactor: &Redactor) -> Self {
        let mut ending = summary.ending(None);
        if redactor.has_secrets() {
            ending.failed_bodies.take();
        }
        let ending = ending.with_texts(&|text| redactor.text(text).into_owned());
        Self(Content::Ending(form::encode(&ending)))
    }

    /// The reason for which an agent considers its own part invalid.
    pub(crate) fn invalid(reason: &str, redactor: &Redactor) -> Self {
        Self(Content::Invalid(cut_reason(&redactor.text(reason))))
    }

    /// The expiry of a lease at a run time.
    pub(crate) const fn expired(at: Nanos) -> Self {
        Self(Content::Expired(at))
    }
}

/// A command with secrets masked; the text of a mark may contain one.
fn masked_command(command: &Command, mask: &dyn Fn(&str) -> String) -> Command {
    let mut command = command.clone();
    if let Change::Mark { text } = &mut command.change {
        *text = mask(text);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Field, Leniencies, Outcome, Side, Transcript};
    use drumfire_measure::{Model, Particulars, PoolInfo, Sample, decode_event};

    const SECRET: &str = "hunter2-secret";

    fn redactor() -> Redactor {
        let redactor = Redactor::default();
        redactor.hide(&[SECRET.to_owned()]);
        redactor
    }

    fn sample() -> Sample {
        Sample {
            intended: Nanos(1),
            due: Nanos(1),
            sent: Nanos(1),
            first_byte: Nanos(2),
            end: Nanos(2),
            bytes_sent: 1,
            outcome: Outcome::Ok,
            leniencies: Leniencies::default(),
            bytes_received: 1,
            status: 200,
            step: 0,
        }
    }

    /// Every kind of event that an agent sends is free of its secrets.
    #[test]
    fn no_event_has_a_secret() {
        let said = format!("it said {SECRET}!");
        let kept = Kept {
            sample: sample(),
            particulars: Particulars {
                arrival: 0,
                began: Nanos(1),
                written: Nanos(1),
            },
            detail: Some(Box::new(said.clone().into())),
            answer: None,
            pool: 0,
        };
        let field = Field {
            name: "Authorization".to_owned(),
            value: said.clone(),
        };
        let side = Side {
            line: said.clone(),
            fields: vec![field],
            ..Side::default()
        };
        let transcript = Transcript {
            pool: 0,
            sample: sample(),
            request: side.clone(),
            response: Some(side),
            detail: Some(said.clone().into()),
            findings: Vec::new(),
        };
        let mark = Command::soon(Change::Mark { text: said.clone() });
        let info = RunInfo::new(vec![PoolInfo::new("p", Model::Open, ["a"])]);
        for event in [
            RunEvent::Kept(Arc::new(vec![kept])),
            RunEvent::Transcripts(vec![transcript]),
            RunEvent::Changed(Arc::new(mark)),
        ] {
            let has_secret = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(SECRET);
            let whole = encode_event(&event).unwrap();
            assert!(has_secret(&whole), "{event:?}");
            let sent = Redacted::event(&event, &redactor()).unwrap().into_inner();
            let Content::Event(bytes) = &sent else {
                panic!("it is an event");
            };
            assert!(!has_secret(bytes), "{event:?}");
            assert!(decode_event(bytes, &info).is_ok());
        }
        let invalid = Redacted::invalid(&said, &redactor()).into_inner();
        assert_eq!(invalid, Content::Invalid("it said ***!".to_owned()));
    }

    #[test]
    fn a_reason_has_no_piece_of_a_secret_and_a_bound() {
        let reason = format!("unknown name `hunter2` in {}", "x".repeat(5_000));
        let sent = Redacted::reason(&reason, &redactor()).into_inner();
        assert!(sent.starts_with("unknown name `***` in xxx"), "{sent}");
        assert!(sent.len() < 1_100);
    }
}
