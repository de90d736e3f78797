//! The messages between a run and `drumfire ctl`, in the forms that measurements are stored in.
//!
//! A client sends one [`Question`] and closes its half of the connection; the run sends one
//! [`Answer`] and closes the other half. A message is a byte for its kind and the content of that
//! kind: the facts of a run and commands as `measure` has them, texts as UTF-8.
//!
//! Both ends are programs of the same user, but not of the same version: a message that does not
//! decode is answered with a refusal and changes nothing. Kinds are numbered and never used for
//! anything else; the length of a message is bounded by its reader.

use drumfire_measure::{CodecError, RunInfo, decode_command, encode_command};
use drumfire_plan::Command;

/// The kinds of questions.
const ABOUT: u8 = 0;
const COMMAND: u8 = 1;
const STATUS: u8 = 2;

/// The kinds of answers.
const FACTS: u8 = 0;
const REFUSED: u8 = 2;
const DONE: u8 = 3;
const STANDS: u8 = 4;

/// A client's question to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// The facts of the run.
    About,
    /// A change of the run.
    Command(Command),
    /// The run's load as it stands, and whose run it is.
    Status,
}

/// A run as it stands, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStatus {
    /// The folder of runs of the process that runs it, whether or not the run is stored; empty where
    /// that has none.
    pub runs: String,
    /// The load of each pool, as the last commands have it.
    pub load: String,
}

/// The run's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The facts of the run.
    Facts(Box<RunInfo>),
    /// The effect of a command and the time of the run from which it holds, in words.
    Done(String),
    /// The run as it stands.
    Status(RunStatus),
    /// The run has changed nothing, for this reason.
    Refused(String),
}

impl Question {
    /// The bytes of the question.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::About => vec![ABOUT],
            Self::Command(command) => message(COMMAND, &encode_command(command)),
            Self::Status => vec![STATUS],
        }
    }

    /// The question of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        match bytes {
            [ABOUT] => Ok(Self::About),
            [STATUS] => Ok(Self::Status),
            [COMMAND, content @ ..] => decode_command(content).map(Self::Command),
            _ => Err(CodecError::Malformed("an unknown request")),
        }
    }
}

impl Answer {
    /// The bytes of the answer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Facts(info) => message(FACTS, &info.encode()),
            Self::Done(what) => message(DONE, what.as_bytes()),
            // A path has no zero byte.
            Self::Status(RunStatus { runs, load }) => {
                message(STANDS, format!("{runs}\0{load}").as_bytes())
            }
            Self::Refused(why) => message(REFUSED, why.as_bytes()),
        }
    }

    /// The answer of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        match bytes {
            [FACTS, content @ ..] => Ok(Self::Facts(Box::new(RunInfo::decode(content)?))),
            [DONE, content @ ..] => text(content).map(Self::Done),
            [STANDS, content @ ..] => match text(content)?.split_once('\0') {
                Some((runs, load)) => Ok(Self::Status(RunStatus {
                    runs: runs.to_owned(),
                    load: load.to_owned(),
                })),
                None => Err(CodecError::Malformed("a status has two texts")),
            },
            [REFUSED, content @ ..] => text(content).map(Self::Refused),
            _ => Err(CodecError::Malformed("an unknown answer")),
        }
    }
}

fn text(content: &[u8]) -> Result<String, CodecError> {
    let text = std::str::from_utf8(content);
    let text = text.map_err(|_| CodecError::Malformed("a text is not UTF-8"))?;
    Ok(text.to_owned())
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(1 + content.len());
    message.push(kind);
    message.extend_from_slice(content);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::{Change, StopReason};

    #[test]
    fn messages_come_back() {
        let stop = Change::Stop {
            reason: StopReason::Command,
        };
        for question in [
            Question::About,
            Question::Command(Command::soon(stop)),
            Question::Status,
        ] {
            assert_eq!(Question::decode(&question.encode()), Ok(question));
        }
        for answer in [
            Answer::Done("rate 300/s from 1.0 s in run é".to_owned()),
            Answer::Refused("too l\u{e4}te".to_owned()),
            Answer::Status(RunStatus {
                runs: "/home/\u{e4}/runs".to_owned(),
                load: "a: 300/s".to_owned(),
            }),
        ] {
            assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
        }
    }

    /// Programs of other versions wrote lines of text.
    #[test]
    fn other_bytes_are_refused() {
        for bytes in [
            &b""[..],
            b"about\n",
            b"ok\t1\n",
            &[ABOUT, 0],
            &[COMMAND],
            &[9],
        ] {
            assert!(Question::decode(bytes).is_err(), "{bytes:?}");
        }
        for bytes in [
            &b""[..],
            b"ok\t1\n",
            &[FACTS],
            &[1, 1],
            &[DONE, 0xff],
            &[REFUSED, 0xff],
            &[STANDS],
            &[STANDS, b'a'],
        ] {
            assert!(Answer::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
