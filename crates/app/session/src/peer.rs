//! An active run of this user in any process, reached through its socket ([`crate::message`]).

use crate::message::{Answer, Question, RunStatus};
use crate::remote::{SOCKET_EXTENSION, is_socket};
use drumfire_measure::{RunInfo, form};
use drumfire_plan::Command;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit for a run's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum length of an answer, in bytes: the facts of a run contain the names of all its
/// steps.
const ANSWER_MAX: u64 = 1 << 24;

/// A run that answers on its socket.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The name with which the run is addressed.
    pub id: String,
    /// The facts of the run.
    pub info: RunInfo,
    socket: PathBuf,
}

/// The active runs of a user.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The runs that answer, newest first.
    pub live: Vec<Peer>,
    /// The ids of the runs that do not answer.
    pub silent: Vec<String>,
}

impl Peers {
    /// The runs whose sockets are in this folder. Sockets without a listener are removed, because
    /// their runs were killed.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn within(folder: &Path) -> io::Result<Self> {
        let mut peers = Self::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if is_socket(&entry) {
                peers.look_at(&entry.path())?;
            }
        }
        peers
            .live
            .sort_by_key(|run| std::cmp::Reverse(run.info.started_at_unix_ns));
        Ok(peers)
    }

    fn look_at(&mut self, socket: &Path) -> io::Result<()> {
        let id = socket.file_stem().unwrap_or_default().to_string_lossy();
        match ask(socket, &Question::About) {
            Ok(Answer::Facts(info)) => self.live.push(Peer {
                id: id.into_owned(),
                info: *info,
                socket: socket.to_owned(),
            }),
            Ok(Answer::Done(_) | Answer::Status(_) | Answer::Refused(_) | Answer::Pause(_)) => {}
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => fs::remove_file(socket)?,
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    self.silent.push(id.into_owned());
                }
                // The run is ending, or its version has other messages.
                _ => {}
            },
        }
        Ok(())
    }
}

impl Peer {
    /// The active run with this id whose socket is in the folder; `None` if no such run exists.
    ///
    /// # Errors
    /// If the run does not respond in time.
    pub fn of_id(folder: &Path, id: &str) -> Result<Option<Self>, PeerError> {
        let socket = folder.join(id).with_extension(SOCKET_EXTENSION);
        let mut peers = Peers::default();
        match peers.look_at(&socket) {
            Ok(()) if !peers.silent.is_empty() => {
                Err(PeerError::Silent(io::ErrorKind::TimedOut.into()))
            }
            // If the socket cannot be removed, it has no run.
            Ok(()) | Err(_) => Ok(peers.live.pop()),
        }
    }

    /// The current state of the run; `None` if the run does not answer, or its version does not
    /// support the request.
    #[must_use]
    pub fn status(&self) -> Option<RunStatus> {
        match ask(&self.socket, &Question::Status) {
            Ok(Answer::Status(status)) => Some(status),
            _ => None,
        }
    }

    /// Whether a command has paused the run; `None` if the run does not answer, or its version does
    /// not support the request.
    #[must_use]
    pub fn is_paused(&self) -> Option<bool> {
        match ask(&self.socket, &Question::Pause) {
            Ok(Answer::Pause(is_paused)) => Some(is_paused),
            _ => None,
        }
    }

    /// Sends a command to the run. Returns the run's answer.
    ///
    /// # Errors
    /// If the run refuses the command, or does not answer.
    pub fn send(&self, command: Command) -> Result<String, PeerError> {
        match ask(&self.socket, &Question::Command(command)) {
            Ok(Answer::Done(what)) => Ok(what),
            Ok(Answer::Refused(why)) => Err(PeerError::Refused(why)),
            Ok(Answer::Facts(_) | Answer::Status(_) | Answer::Pause(_)) => {
                Err(PeerError::Silent(io::ErrorKind::InvalidData.into()))
            }
            Err(error) => Err(PeerError::Silent(error)),
        }
    }
}

/// Why a command was not carried out.
#[derive(Debug)]
pub enum PeerError {
    /// The run refuses it, for this reason.
    Refused(String),
    /// The run does not answer.
    Silent(io::Error),
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Silent(error) => write!(f, "the run does not respond: {error}"),
        }
    }
}

/// Sends a request to a run, and reads its answer.
fn ask(socket: &Path, question: &Question) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&form::encode(question))?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer)?;
    form::decode(&answer).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
