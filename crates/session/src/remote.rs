//! Commands from other processes (`drumfire ctl`), over a socket that only its owner can open.
//!
//! Each connection carries one question and its answer ([`crate::message`]). They are served one
//! after the other by one thread, each within [`PATIENCE`] as a whole, so that a client that hangs,
//! or sends byte by byte, does not hold the next one up for long.
//!
//! The folder belongs to the user alone and has mode 0700, which is checked and not only set: a
//! process that can reach a socket may stop and change the load. A socket appears under its name
//! only when it is listened at, by a rename, and goes with its run; one that a killed run has left
//! refuses connections, and is removed by the next run. A process that goes on with another's run
//! takes the name over, and the other leaves it where it is.

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

/// The largest message, in bytes: a law may give users one by one.
const MESSAGE_MAX: u64 = 1 << 24;
/// The time that a client may take for its message and for the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The part of it that a command may take until it is stored.
const KEPT_WITHIN: Duration = Duration::from_secs(1);
/// The extension of a socket's name, whose stem is the id of its run.
pub const SOCKET_EXTENSION: &str = "sock";
/// The extension of a socket's name before its run listens at it.
const UNNAMED_EXTENSION: &str = "new";

/// Takes commands for a run as long as it lasts. A run whose socket can't be opened goes on without
/// it, and has a note of that in its report.
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

/// A run's socket, which is gone with it.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    /// The number of the socket in its file system: another process that goes on with the run puts
    /// its own under this name.
    inode: u64,
}

impl Remote {
    /// Commands through a socket in the folder that [`socket_folder`] has found. Answers have no
    /// secret of `redactor`, and name `runs`, the folder of runs of this process, if it has one.
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
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
        if let State::Closed(folder) = &self.state {
            let info = Arc::new(self.redactor.info(&run.info));
            let runs = self.runs.take().unwrap_or_default();
            let facts = Facts {
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

/// The facts of a run that hold from its beginning to its end.
struct Facts {
    info: Arc<RunInfo>,
    /// The folder of runs of this process.
    runs: String,
}

impl Socket {
    fn open(folder: &Path, facts: Facts, control: Control) -> io::Result<Self> {
        remove_dead(folder);
        let path = folder.join(&facts.info.id).with_extension(SOCKET_EXTENSION);
        // A socket refuses connections until its program listens, and one that refuses is taken for
        // a dead run's: it gets its name when it is listened at.
        let unnamed = path.with_extension(UNNAMED_EXTENSION);
        let listener = UnixListener::bind(&unnamed)?;
        let inode = fs::symlink_metadata(&unnamed)?.ino();
        fs::rename(&unnamed, &path)?;
        let socket = Self { path, inode };
        let mut steering = Steering::of(&facts.info);
        let mut noted = 0;
        let body = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Others command the run too, and another process may have before this one.
                for command in control.commands(noted) {
                    let _words = steering.note(&command, command.at);
                    noted += 1;
                }
                // A client that is gone or sends nothing does not keep others from their answers.
                let _gone = serve(stream, &facts, &control, &mut steering);
            }
        };
        // It ends with the process.
        thread::Builder::new()
            .name("remote".to_owned())
            .spawn(body)?;
        Ok(socket)
    }
}

/// Removes sockets without a listener: their runs were killed.
fn remove_dead(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(is_socket) {
        let connected = UnixStream::connect(entry.path());
        if connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            // Another program may have removed it.
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

/// The folder of the sockets, which belongs to the user alone: in the user's runtime directory
/// where there is one, also where the environment does not name it (cron, sudo), or else below the directory of temporary files.
///
/// # Errors
/// When there is none and it can't be made, or others could write into it.
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
    facts: &Facts,
    control: &Control,
    steering: &mut Steering,
) -> io::Result<()> {
    let mut client = Client {
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
        Ok(Question::Command(command)) => {
            let carried_out = steering.carry_out(&printable(command), control);
            carried_out.map_or_else(Answer::Refused, |words| Answer::Done(kept(words, control)))
        }
        Err(error) => Answer::Refused(error.to_string()),
    };
    client.write_all(&form::encode(&answer))
}

/// The words of an answer to a command, when that is stored as far as the run goes on without this
/// process, or behind [`KEPT_WITHIN`].
fn kept(words: String, control: &Control) -> String {
    match control.await_kept(KEPT_WITHIN) {
        true => words,
        false => format!("{words}; not stored yet, so a coordinator that attaches may miss it"),
    }
}

/// A client's connection. Its reads and writes share one time: with a time for each, a client that
/// sends byte by byte would hold the thread for as long as it likes.
struct Client {
    stream: UnixStream,
    /// Its epoch is the connection's beginning.
    clock: Clock,
}

impl Client {
    /// The time that is left to it.
    fn left(&self) -> io::Result<Duration> {
        let left = PATIENCE.saturating_sub(Duration::from_nanos(self.clock.now().0));
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The same command, with a mark that fits into a line of a report: it is text of another process.
fn printable(mut command: Command) -> Command {
    if let Change::Mark { text } = &mut command.change {
        text.retain(|c| !c.is_control());
    }
    command
}
