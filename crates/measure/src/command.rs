//! A command that changes a run, as bytes: version, time, pool, the kind of the change by its name,
//! and the parameters of that kind.
//!
//! This is the form in which commands travel to a run, and in which the stream of events hands them
//! on. Nothing is left out: a law has every time of a trace, so that another machine can obey it
//! exactly. A pool is its number from 1; 0 stands for all pools.

use crate::asked::law_form as law;
use crate::codec::stop_reason::{decode_reason, encode_reason};
use crate::codec::{CodecError, Input, put, put_text};
use drumfire_plan::{Change, ChangeKind, Command};
use drumfire_units::Nanos;

/// The version of the form that is written here, its first number.
const VERSION: u64 = 1;

/// The bytes of a command: lossless, with every time of a trace.
#[must_use]
pub fn encode_command(command: &Command) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, VERSION);
    put(&mut out, command.at.0);
    put(&mut out, command.pool.map_or(0, |pool| u64::from(pool) + 1));
    put_text(&mut out, command.change.kind().name());
    match &command.change {
        Change::Rate { law } => law::encode(law, &mut out),
        Change::Users { law } => law::encode_users(law, &mut out),
        Change::Pause | Change::Resume => {}
        Change::Mark { text } => put_text(&mut out, text),
        Change::Stop { reason } => encode_reason(*reason, &mut out),
    }
    out
}

/// The command of [`encode_command`]'s bytes.
///
/// # Errors
/// When the bytes are not that, or of a later version.
pub fn decode_command(bytes: &[u8]) -> Result<Command, CodecError> {
    let mut input = Input::new(bytes);
    let input = &mut input;
    input.version(VERSION)?;
    let at = Nanos(input.number()?);
    let pool = match input.number()?.checked_sub(1).map(u16::try_from) {
        None => None,
        Some(Ok(pool)) => Some(pool),
        Some(Err(_)) => return Err(CodecError::Malformed("the number of a pool")),
    };
    let kind = ChangeKind::of_name(input.text()?);
    let change = match kind.ok_or(CodecError::Malformed("an unknown change"))? {
        ChangeKind::Rate => Change::Rate {
            law: law::decode(input)?,
        },
        ChangeKind::Users => Change::Users {
            law: law::decode_users(input)?,
        },
        ChangeKind::Pause => Change::Pause,
        ChangeKind::Resume => Change::Resume,
        ChangeKind::Mark => Change::Mark {
            text: input.text()?.to_owned(),
        },
        ChangeKind::Stop => Change::Stop {
            reason: decode_reason(input)?,
        },
    };
    input.end()?;
    Ok(Command { at, pool, change })
}
