//! The JSON beside a stored run, for people and scripts: the facts of its beginning, and its
//! events, a line each. The program reads the store's log instead.
//!
//! The session calls [`facts`] before the first request, for `info.json`, and [`event`] for each
//! event in order, for `events.jsonl`. Intervals, samples and transcripts have no line. Each line
//! is appended whole, so that files are readable after a crash. Later versions may add events.

use super::summary::plan;
use super::{bytes, escaped, prose};
use crate::calendar::rfc3339;
use crate::plan_name::plan_name;
use crate::secret;
use drumfire_compare::contract::info::{self, Document, Event, Line, UsersFrom};
use drumfire_compare::contract::{INFO_SCHEMA, Named};
use drumfire_measure::{RunEvent, RunInfo};
use drumfire_plan::Change;

/// The facts of a run that are known when it begins, as one JSON object, indented, with a line feed
/// at its end.
#[must_use]
pub fn facts(info: &RunInfo) -> Vec<u8> {
    let facts = Document {
        schema: INFO_SCHEMA.to_owned(),
        id: info.id.clone(),
        started_at: rfc3339(info.started_at_unix_ns),
        target: secret::url(&info.target),
        name: plan_name(info.name.as_deref()),
        seed: info.seed,
        version: info.version.clone(),
        threads: info.threads,
        interval_ns: info.interval.0,
        pools: info.pools.iter().map(|pool| prose(&pool.name)).collect(),
        plan: plan(info),
        notes: info.notes.iter().map(prose).collect(),
    };
    bytes(&facts)
}

/// An event of a run as a line of JSON, with a line feed; `unix_ns` is the time in nanoseconds
/// since 1970. `None` for events whose content is stored elsewhere.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "string keys only, and its own types never fail to serialize"
)]
pub fn event(event: &RunEvent, unix_ns: u64) -> Option<Vec<u8>> {
    let event = match event {
        RunEvent::Started(info) => Event::Started {
            id: info.id.clone(),
        },
        RunEvent::Changed(command) => Event::Changed {
            at_ns: command.at.0,
            pool: command.pool,
            change: changed(&command.change),
        },
        RunEvent::Stopping { reason } => Event::Stopping {
            reason: Named(*reason),
        },
        RunEvent::Finished(_) => Event::Finished,
        RunEvent::IntervalClosed(_)
        | RunEvent::Kept(_)
        | RunEvent::Transcripts(_)
        | RunEvent::Failed(_) => return None,
    };
    let line = Line {
        time: rfc3339(unix_ns),
        event,
    };
    let text = serde_json::to_string(&line).expect("string keys only");
    Some(escaped(&text).into_bytes())
}

/// A command in the contract's words. A law is written as in a plan, so that the command can be
/// repeated.
fn changed(change: &Change) -> info::Change {
    match change {
        Change::Rate { law } => info::Change::Rate {
            law: law.to_string(),
        },
        Change::Users { law } => info::Change::Users {
            law: law
                .changes()
                .iter()
                .map(|(from, users)| UsersFrom {
                    from_ns: from.0,
                    users: *users,
                })
                .collect(),
        },
        Change::Pause => info::Change::Pause,
        Change::Resume => info::Change::Resume,
        Change::Mark { text } => info::Change::Mark { text: prose(text) },
        Change::Stop { reason } => info::Change::Stop {
            reason: Named(*reason),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::{Command, StopReason};
    use drumfire_units::Nanos;
    use std::sync::Arc;

    #[test]
    fn what_happens_is_a_line_each() {
        let line = |of: &RunEvent| {
            let line = event(of, 1_000_000_000).unwrap();
            String::from_utf8(line).unwrap()
        };
        let stopping = RunEvent::Stopping {
            reason: StopReason::Signal,
        };
        let time = "\"time\":\"1970-01-01T00:00:01.000000000Z\"";
        let expected = format!("{{{time},\"event\":\"stopping\",\"reason\":\"signal\"}}\n");
        assert_eq!(line(&stopping), expected);
        let text = "deploy\n\u{1b}[2J".to_owned();
        let mark = RunEvent::Changed(Arc::new(Command {
            at: Nanos(7),
            ..Command::soon(Change::Mark { text })
        }));
        let expected = format!(
            "{{{time},\"event\":\"changed\",\"at_ns\":7,\"change\":\"mark\",\
             \"text\":\"deploy\\n\\u001b[2J\"}}\n"
        );
        assert_eq!(line(&mark), expected);
        let text = "see https://u:hunter2@h/".to_owned();
        let mark = RunEvent::Changed(Arc::new(Command::soon(Change::Mark { text })));
        assert!(!line(&mark).contains("hunter2"), "{}", line(&mark));
        assert_eq!(event(&RunEvent::Kept(Vec::new().into()), 0), None);
    }
}
