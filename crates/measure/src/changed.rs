//! A change of a run by a command: the parts that a summary needs.
//!
//! [`Changed::by`] makes one from the command when it holds, and [`Changed::of`] one with its note.
//! A [`Reading`](crate::Reading) takes it before the interval within which it holds. The store
//! writes the command between the same two intervals, so that a run that is read back cuts its
//! stages as they were cut. Its times count from the start of its part of the run:
//! [`Changed::after`] moves them where a part began later.
//!
//! Earlier programs stored the change and not the command. [`Changed::decode`] reads what they
//! wrote; nothing writes it any more.

use crate::RunInfo;
use crate::codec::stages::decode_stages;
use crate::codec::{CodecError, Input};
use drumfire_plan::{Change, ChangeKind, Command, Stage};
use drumfire_units::Nanos;

/// The version of a change without its time and its law.
const VERSION_TIMELESS: u64 = 1;
/// The last version of a change that was stored.
const VERSION: u64 = 2;

/// A change of a run: the parts of a command that a summary needs, and its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The number of the pool that changed, from 0; `None` stands for all of them.
    pub pool: Option<u16>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// When the change held, from the start of its part of the run, with the stages of the law that
    /// began then. `None` of a change that an earlier version stored.
    pub order: Option<Ordered>,
    /// Its sentence in the notes on the run.
    pub note: String,
}

/// The time and the law of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The time from which it held.
    pub at: Nanos,
    /// The stages of the law that began, in the law's own time; none where no law did.
    pub law: Vec<Stage>,
}

impl Changed {
    /// The change that a command made in a run of these facts, with its note.
    #[must_use]
    pub fn of(command: &Command, info: &RunInfo) -> Self {
        Self {
            note: command_note(command, info),
            ..Self::by(command)
        }
    }

    /// The same without a note.
    #[must_use]
    pub fn by(command: &Command) -> Self {
        Self {
            pool: command.pool,
            kind: command.change.kind(),
            order: Some(Ordered {
                at: command.at,
                law: Stage::begun_by(&command.change),
            }),
            note: String::new(),
        }
    }

    /// The change of a part of a run that began `offset` after the run's start.
    #[must_use]
    pub fn after(mut self, offset: Nanos) -> Self {
        if let Some(order) = &mut self.order {
            order.at += offset;
        }
        self
    }

    /// Reads a change that an earlier program stored: version, 0 or the pool's number from 1, kind,
    /// note, and since version 2 the time and the stages of the law.
    ///
    /// # Errors
    /// When the bytes are not that, or of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut input = Input::new(bytes);
        let version = input.number()?;
        if !(VERSION_TIMELESS..=VERSION).contains(&version) {
            return Err(CodecError::Version(version));
        }
        let pool = match input.number()?.checked_sub(1) {
            None => None,
            Some(pool) => {
                let pool = u16::try_from(pool);
                Some(pool.map_err(|_| CodecError::Malformed("the number of a pool"))?)
            }
        };
        let kind = ChangeKind::of_name(input.text()?);
        let changed = Self {
            pool,
            kind: kind.ok_or(CodecError::Malformed("an unknown change"))?,
            note: input.text()?.to_owned(),
            order: match version {
                VERSION_TIMELESS => None,
                _ => Some(Ordered {
                    at: Nanos(input.number()?),
                    law: decode_stages(&mut input)?,
                }),
            },
        };
        input.end()?;
        Ok(changed)
    }
}

/// A report's note on a command that changed a run of these facts. A report of a stored run makes
/// the same words of the stored command.
#[must_use]
pub fn command_note(command: &Command, info: &RunInfo) -> String {
    let at = command.at;
    let pool = command
        .pool
        .and_then(|pool| info.pools.get(usize::from(pool)));
    let of = match pool {
        Some(pool) if info.pools.len() > 1 => format!(" of {}", pool.name),
        _ => String::new(),
    };
    let seconds = at.as_secs_f64();
    match &command.change {
        Change::Rate { law } => format!("at {seconds:.1} s the rate{of} changed to {law}"),
        Change::Users { law } => match law.changes() {
            [(_, count)] => format!("at {seconds:.1} s the users{of} changed to {count}"),
            _ => format!("at {seconds:.1} s the users{of} changed to another law"),
        },
        Change::Pause => format!("at {seconds:.1} s the load{of} was paused"),
        Change::Resume => format!("at {seconds:.1} s the load{of} resumed"),
        Change::Mark { text } => format!("at {seconds:.1} s: {text}"),
        Change::Stop { .. } => format!("at {seconds:.1} s a command ended the load{of}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::stages::encode_stages;
    use crate::codec::{put, put_text};

    /// The bytes that earlier programs stored.
    fn stored(changed: &Changed) -> Vec<u8> {
        let mut out = Vec::new();
        let version = match changed.order {
            None => VERSION_TIMELESS,
            Some(_) => VERSION,
        };
        put(&mut out, version);
        put(&mut out, changed.pool.map_or(0, |pool| u64::from(pool) + 1));
        put_text(&mut out, changed.kind.name());
        put_text(&mut out, &changed.note);
        if let Some(order) = &changed.order {
            put(&mut out, order.at.0);
            encode_stages(&order.law, &mut out);
        }
        out
    }

    #[test]
    fn every_change_comes_back_and_no_part_of_one() {
        for (kind, pool) in ChangeKind::ALL
            .into_iter()
            .zip([None, Some(0), Some(u16::MAX)].repeat(2))
        {
            let stage = |name: &str, start| Stage {
                name: name.to_owned(),
                start: Nanos(start),
            };
            let order = Ordered {
                at: Nanos(7_000_000_000),
                law: vec![stage("9 at once", 0), stage("5/s", 0), stage("7/s", 9)],
            };
            for order in [None, Some(order)] {
                let changed = Changed {
                    pool,
                    kind,
                    order,
                    note: format!("at 7 s: {kind:?}"),
                };
                let bytes = stored(&changed);
                for end in 0..bytes.len() {
                    assert!(Changed::decode(&bytes[..end]).is_err(), "cut at {end}");
                }
                assert_eq!(Changed::decode(&bytes), Ok(changed));
            }
        }
    }

    #[test]
    fn a_change_of_a_later_version_is_refused() {
        assert_eq!(Changed::decode(&[3]), Err(CodecError::Version(3)));
        assert_eq!(Changed::decode(&[0]), Err(CodecError::Version(0)));
    }
}
