//! A change of a run by a command, as it is kept beside the run's intervals.

use crate::codec::{CodecError, Input, VERSION, put, put_text};
use drumfire_plan::{ChangeKind, Command};

/// A change of a run: what a summary needs of it, and its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The number of the pool that changed, from 0; `None` stands for all of them.
    pub pool: Option<u16>,
    /// What changed.
    pub kind: ChangeKind,
    /// What the notes on the run say of it.
    pub note: String,
}

impl Changed {
    /// The change that a command made, with this note.
    #[must_use]
    pub const fn by(command: &Command, note: String) -> Self {
        Self {
            pool: command.pool,
            kind: command.change.kind(),
            note,
        }
    }

    /// The change in our own binary form: version, 0 or the pool's number from 1, kind, note.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, VERSION);
        put(&mut out, self.pool.map_or(0, |pool| u64::from(pool) + 1));
        put_text(&mut out, self.kind.name());
        put_text(&mut out, &self.note);
        out
    }

    /// What [`Self::encode`] wrote.
    ///
    /// # Errors
    /// When the bytes are not that, or of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut input = Input::new(bytes);
        input.version()?;
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
            let changed = Changed {
                pool,
                kind,
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
