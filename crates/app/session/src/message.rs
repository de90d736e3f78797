//! The messages between a run and `drumfire ctl`, in the same forms as stored measurements.
//!
//! A client sends one [`Question`] and closes its half of the connection. The run sends one
//! [`Answer`] and closes the other half. Both are values of [`form`], which begin with their
//! version.
//!
//! Both programs belong to the same user, but may have different versions: if a message does not
//! decode, the run refuses it and changes nothing. The reader limits the length of a message.

use drumfire_measure::{RunInfo, form};
use drumfire_plan::Command;

/// A client's request to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Request the facts of the run.
    About,
    /// Change the run.
    Command(Command),
    /// Request the current load of the run, and the folder of its process.
    Status,
    /// Request whether a command has paused the run.
    Pause,
}

/// The state of a run, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStatus {
    /// The folder of runs of the process, whether or not the run is stored; empty if the process
    /// has no such folder.
    pub runs: String,
    /// The load of each pool after the last commands.
    pub load: String,
}

/// The run's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The facts of the run.
    Facts(Box<RunInfo>),
    /// The effect of a command and its time in the run, as text.
    Done(String),
    /// The state of the run.
    Status(RunStatus),
    /// The run has changed nothing, for this reason.
    Refused(String),
    /// Whether a command has paused every pool of the run.
    Pause(bool),
}

form! { enum Question { 0 => About, 1 => Command(command), 2 => Status, 3 => Pause } }
form! { struct RunStatus { runs, load } }
form! {
    enum Answer {
        0 => Facts(info),
        1 => Done(effect),
        2 => Status(status),
        3 => Refused(why),
        4 => Pause(is_paused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Model, PoolInfo};
    use drumfire_plan::{Change, StopReason};
    use drumfire_testkit::check_form;
    use std::fmt::Write as _;

    fn questions() -> [Question; 4] {
        let stop = Change::Stop {
            reason: StopReason::Command,
        };
        [
            Question::About,
            Question::Command(Command::soon(stop)),
            Question::Status,
            Question::Pause,
        ]
    }

    fn answers() -> [Answer; 5] {
        let info = RunInfo::new(vec![PoolInfo::new("p", Model::Open, ["a"])]);
        [
            Answer::Facts(Box::new(info)),
            Answer::Done("rate 300/s from 1.0 s in run \u{e9}".to_owned()),
            Answer::Status(RunStatus {
                runs: "/home/\u{e4}/runs".to_owned(),
                load: "a: 300/s".to_owned(),
            }),
            Answer::Refused("too l\u{e4}te".to_owned()),
            Answer::Pause(true),
        ]
    }

    #[test]
    fn messages_keep_the_properties_of_forms() {
        questions().iter().for_each(check_form);
        answers().iter().for_each(check_form);
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [
            &b""[..],
            b"about\n",
            b"ok\t1\n",
            &[1, 0, 0],
            &[1, 9],
            &[2, 0],
        ] {
            assert!(form::decode::<Question>(bytes).is_err(), "{bytes:?}");
        }
        for bytes in [&b""[..], b"ok\t1\n", &[1, 0], &[1, 1, 1, 0xff], &[1, 9]] {
            assert!(form::decode::<Answer>(bytes).is_err(), "{bytes:?}");
        }
    }

    /// Programs of one version must use exactly these bytes.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment says whether to bless"
    )]
    fn messages_have_the_bytes_of_version_1() {
        let mut all = String::new();
        let questions = questions().map(|question| form::encode(&question));
        let answers = answers().map(|answer| form::encode(&answer));
        for bytes in questions.iter().chain(&answers) {
            bytes
                .iter()
                .for_each(|byte| write!(all, "{byte:02x}").unwrap());
            all.push('\n');
        }
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/src/message.hex");
        if std::env::var_os("DRUMFIRE_BLESS").is_some() {
            std::fs::write(kept, &all).unwrap();
        }
        assert_eq!(all, std::fs::read_to_string(kept).unwrap());
    }
}
