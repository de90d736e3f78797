//! Receives commands from other processes (`drumfire ctl`) through a socket that only its owner can
//! open.
//!
//! Each connection carries one request and its answer ([`crate::message`]). One thread serves the
//! connections in turn, each within [`PATIENCE`] in total, so that a client that hangs, or sends
//! byte by byte, does not delay the next one for long.
//!
//! The folder belongs to the user and has mode 0700, which is checked and not only set, because a
//! process that can reach a socket may stop and change the load. A socket gets its name by a rename
//! after the run listens on it, and is removed with the run. The socket of a killed run refuses
//! connections, and the next run removes it. If another process takes over a run, it replaces the
//! socket, and this process does not remove the new one.

use crate::message::{Answer, Question, RunStatus};
use crate::steering::Steering;
use crate::{Note, Observer, Redactor, RunContext, SessionError};
use drumfire_engine::Control;
use drumfire_measure::{RunInfo, Summary, form};
use drumfire_net::Clock;
use drumfire_plan::{Change, Command};
use drumfire_store::own_folder;
use std::fs::{self, DirEntry};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The maximum length of a message, in bytes: a law may list users one by one.
const MESSAGE_MAX: u64 = 1 << 24;
/// The time limit for a client's message and the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The part of that time in which a command must be stored.
const KEPT_WITHIN: Duration = Duration::from_secs(1);
/// The extension of a socket's name, whose stem is the id of its run.
pub const SOCKET_EXTENSION: &str = "sock";
/// The extension of a socket's name before its run listens on it.
const UNNAMED_EXTENSION: &str = "new";

/// Receives commands for a run while it is active. If the socket cannot be opened, the run
/// continues without it, and the report contains a note.
#[derive(Debug)]
pub struct Remote {
    state: State,
    redactor: Redactor,
    /// The folder of runs of this process.
    runs: Option<PathBuf>,
}

/// The state of the socket.
#[derive(Debug)]
enum State {
    /// The folder of sockets, before the run.
    Closed(PathBuf),
    Open {
        _socket: Socket,
    },
    Failed(io::Error),
}

/// The socket of a run. Dropping the value removes the socket.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    /// The socket's inode. Another process that takes over the run puts its own socket under this
    /// name.
    inode: u64,
}

impl Remote {
    /// Receives commands through a socket in the folder that [`socket_folder`] returned. Answers
    /// have the secrets of `redactor` masked, and contain `runs`, the folder of runs of this
    /// process, if it has one.
    #[must_use]
    pub fn within(folder: io::Result<PathBuf>, redactor: &Redactor, runs: Option<PathBuf>) -> Self {
        Self {
            state: folder.map_or_else(State::Failed, State::Closed),
            redactor: redactor.clone(),
            runs,
        }
    }
}

impl Observer for Remote {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        if let State::Closed(folder) = &self.state {
            let info = Arc::new(self.redactor.info(&run.info));
            let runs = self.runs.take().unwrap_or_default();
            let facts = RunFacts {
                info,
                runs: runs.to_string_lossy().into_owned(),
            };
            let socket = Socket::open(folder, facts, run.control.clone());
            self.state = socket.map_or_else(State::Failed, |_socket| State::Open { _socket });
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        match self.state {
            State::Closed(_) | State::Open { .. } => Vec::new(),
            State::Failed(error) => vec![Note::Report(format!(
                "drumfire ctl could not reach this run: {error}"
            ))],
        }
    }
}

/// The facts that do not change during a run.
struct RunFacts {
    info: Arc<RunInfo>,
    /// The folder of runs of this process.
    runs: String,
}

impl Socket {
    fn open(folder: &Path, facts: RunFacts, control: Control) -> io::Result<Self> {
        remove_dead(folder);
        let path = folder.join(&facts.info.id).with_extension(SOCKET_EXTENSION);
        // A socket refuses connections until its program listens, and a socket that refuses counts
        // as a dead run's. So it gets its name after the program listens.
        let unnamed = path.with_extension(UNNAMED_EXTENSION);
        let listener = UnixListener::bind(&unnamed)?;
        let inode = fs::symlink_metadata(&unnamed)?.ino();
        fs::rename(&unnamed, &path)?;
        let socket = Self { path, inode };
        let mut steering = Steering::new(&facts.info);
        let mut noted = 0;
        let body = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Other sources control the run too, and another process may have done so before
                // this one.
                for command in control.commands(noted) {
                    let _words = steering.note(&command, command.at);
                    noted += 1;
                }
                // A client that disconnects or sends nothing does not block the others.
                let _gone = serve(stream, &facts, &control, &mut steering);
            }
        };
        // The thread ends with the process.
        thread::Builder::new()
            .name("remote".to_owned())
            .spawn(body)?;
        Ok(socket)
    }
}

/// Removes sockets without a listener, because their runs were killed.
fn remove_dead(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(is_socket) {
        let connected = UnixStream::connect(entry.path());
        if connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            // Another program may have removed the socket.
            let _gone = fs::remove_file(entry.path());
        }
    }
}

/// Whether an entry of the folder is the socket of a run.
#[must_use]
pub(crate) fn is_socket(entry: &DirEntry) -> bool {
    let path = entry.path();
    let is_named = path
        .extension()
        .is_some_and(|extension| extension == SOCKET_EXTENSION);
    is_named && entry.file_type().is_ok_and(|kind| kind.is_socket())
}

impl Drop for Socket {
    fn drop(&mut self) {
        let named = fs::symlink_metadata(&self.path);
        if named.is_ok_and(|named| named.ino() == self.inode) {
            // A later `drumfire ctl` removes sockets without a listener.
            let _left_behind = fs::remove_file(&self.path);
        }
    }
}

/// The folder of the sockets, which belongs to the user: in the user's runtime directory if it
/// exists, even if the environment does not contain it (cron, sudo), otherwise below the directory
/// of temporary files.
///
/// # Errors
/// If the folder cannot be created, or others could write into it.
pub fn socket_folder(runtime: Option<PathBuf>, temporary: &Path) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let runtime = runtime.or_else(|| Some(PathBuf::from(format!("/run/user/{user}"))));
    let folder = match runtime.filter(|runtime| runtime.is_absolute() && runtime.is_dir()) {
        Some(runtime) => runtime.join("drumfire"),
        None => temporary.join(format!("drumfire-{user}")),
    };
    own_folder(&folder)?;
    Ok(folder)
}

/// Answers one message.
fn serve(
    stream: UnixStream,
    facts: &RunFacts,
    control: &Control,
    steering: &mut Steering,
) -> io::Result<()> {
    let mut client = RemoteClient {
        stream,
        clock: Clock::start(),
    };
    let mut message = Vec::new();
    (&mut client).take(MESSAGE_MAX).read_to_end(&mut message)?;
    let answer = match form::decode::<Question>(&message) {
        Ok(Question::About) => Answer::Facts(Box::new((*facts.info).clone())),
        Ok(Question::Status) => Answer::Status(RunStatus {
            runs: facts.runs.clone(),
            load: steering.load(),
        }),
        Ok(Question::Pause) => Answer::Pause(steering.is_paused()),
        Ok(Question::Command(command)) => {
            let carried_out = steering.carry_out(&printable(command), control);
            carried_out.map_or_else(Answer::Refused, |words| Answer::Done(kept(words, control)))
        }
        Err(error) => Answer::Refused(error.to_string()),
    };
    client.write_all(&form::encode(&answer))
}

/// The answer to a command, once the command is stored so that the run can continue without this
/// process, or after [`KEPT_WITHIN`].
fn kept(words: String, control: &Control) -> String {
    match control.await_kept(KEPT_WITHIN) {
        true => words,
        false => format!("{words}; not stored yet, so a coordinator that attaches may miss it"),
    }
}

/// A client's connection. Its reads and writes share one time limit: with separate limits, a client
/// that sends byte by byte could block the thread indefinitely.
struct RemoteClient {
    stream: UnixStream,
    /// The clock starts with the connection.
    clock: Clock,
}

impl RemoteClient {
    /// The remaining time.
    fn left(&self) -> io::Result<Duration> {
        let left = PATIENCE.saturating_sub(Duration::from_nanos(self.clock.now().0));
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

impl Read for RemoteClient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for RemoteClient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A copy of the command whose mark fits into a line of a report; the mark's text comes from
/// another process.
fn printable(mut command: Command) -> Command {
    if let Change::Mark { text } = &mut command.change {
        text.retain(|c| !c.is_control());
    }
    command
}
