//! A change of a run by a command, as it is kept beside the run's intervals.
//!
//! [`Changed::by`] makes one from the command when it holds. A [`Reading`](crate::Reading) takes it
//! before the interval within which it holds, and the store writes it between the same two
//! intervals, so that a run that is read back cuts its stages as they were cut. Its times count
//! from the start of its part of the run: [`Changed::after`] moves them where a part began later.

use crate::codec::stages::{decode_stages, encode_stages};
use crate::codec::{CodecError, Input, put, put_text};
use drumfire_plan::{ChangeKind, Command, Stage};
use drumfire_units::Nanos;

/// The version of a change without its time and its law, which earlier programs stored. A change
/// that was read from it is written as it again.
const VERSION_TIMELESS: u64 = 1;
/// The version that is written here.
const VERSION: u64 = 2;

/// A change of a run: the parts that a summary needs, and its note. The whole command is in the
/// stream of events and not here.
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
    /// The change that a command made, with this note.
    #[must_use]
    pub fn by(command: &Command, note: String) -> Self {
        Self {
            pool: command.pool,
            kind: command.change.kind(),
            order: Some(Ordered {
                at: command.at,
                law: Stage::begun_by(&command.change),
            }),
            note,
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

    /// The change in our own binary form: version, 0 or the pool's number from 1, kind, note, time
    /// and the stages of the law.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let version = match self.order {
            None => VERSION_TIMELESS,
            Some(_) => VERSION,
        };
        put(&mut out, version);
        put(&mut out, self.pool.map_or(0, |pool| u64::from(pool) + 1));
        put_text(&mut out, self.kind.name());
        put_text(&mut out, &self.note);
        if let Some(order) = &self.order {
            put(&mut out, order.at.0);
            encode_stages(&order.law, &mut out);
        }
        out
    }

    /// Reads the bytes of [`Self::encode`].
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

#[cfg(test)]
mod tests {
    use super::*;

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
                let bytes = changed.encode();
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
