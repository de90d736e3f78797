//! The tools of the HTTP/1.1 comparison, and the command line of each.

use crate::claim::{self, Claim};
use crate::machine;
use crate::process::{self, BOTH_CORES, CLIENT_CORE, Finished, MemoryWatch, pinned};
use drumfire_units::Nanos;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths of the programs; `None` means not installed.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The measured program.
    pub drumfire: PathBuf,
    /// The program whose server is the target.
    pub serve: PathBuf,
    /// An older drumfire, measured in addition.
    pub older: Option<PathBuf>,
    /// The floor.
    pub floor: PathBuf,
    /// The server with the minimal work.
    pub answer: PathBuf,
    /// wrk.
    pub wrk: Option<PathBuf>,
    /// oha.
    pub oha: Option<PathBuf>,
    /// nginx.
    pub nginx: Option<PathBuf>,
    /// h2load.
    pub h2load: Option<PathBuf>,
    /// nghttpd.
    pub nghttpd: Option<PathBuf>,
    /// ghz, as `make suites` installs it.
    pub ghz: Option<PathBuf>,
    /// grpc-go's server for the interoperability tests, as `make suites` installs it.
    pub interop: Option<PathBuf>,
    /// Pandora. It is not searched in the search path, because `pandora` there may be drumfire's
    /// link.
    pub pandora: Option<PathBuf>,
    /// k6.
    pub k6: Option<PathBuf>,
}

impl Programs {
    /// Finds all programs. Ours are next to this program, unless `drumfire` is given. `older` is an
    /// additional drumfire to measure.
    ///
    /// # Errors
    /// If one of ours, or the older one, is missing.
    pub fn find(drumfire: Option<PathBuf>, older: Option<PathBuf>) -> Result<Self> {
        let here = std::env::current_exe()?;
        let beside = |name: &str| here.with_file_name(name);
        let drumfire = drumfire.unwrap_or_else(|| beside("drumfire"));
        let programs = Self {
            serve: drumfire.clone(),
            drumfire,
            older,
            floor: beside("floor"),
            answer: beside("answer"),
            wrk: process::find("wrk"),
            oha: process::find("oha"),
            nginx: process::find("nginx"),
            h2load: process::find("h2load"),
            nghttpd: process::find("nghttpd"),
            ghz: suite("ghz"),
            interop: suite("grpc-interop-server"),
            pandora: None,
            k6: process::find("k6"),
        };
        for ours in [&programs.drumfire, &programs.floor, &programs.answer] {
            if !ours.is_file() {
                let words = format!("{} is missing: run `make bench`", ours.display());
                return Err(Error::other(words));
            }
        }
        match &programs.older {
            Some(older) if !older.is_file() => {
                let words = format!("--beside: {} does not exist", older.display());
                Err(Error::other(words))
            }
            _ => Ok(programs),
        }
    }

    /// The programs with the older drumfire as the measured one; `None` without an older drumfire.
    /// The server stays the same.
    #[must_use]
    pub fn before(&self) -> Option<Self> {
        Some(Self {
            drumfire: self.older.clone()?,
            older: None,
            ..self.clone()
        })
    }

    /// The version of each installed tool, from its output, or as pinned.
    #[must_use]
    pub fn versions(&self) -> Vec<String> {
        let told = [
            (Some(&self.drumfire), "--version"),
            (self.older.as_ref(), "--version"),
            (self.wrk.as_ref(), "--version"),
            (self.oha.as_ref(), "--version"),
            (self.nginx.as_ref(), "-v"),
            (self.h2load.as_ref(), "--version"),
            (self.pandora.as_ref(), "-version"),
            (self.k6.as_ref(), "version"),
        ];
        let told = told.into_iter().filter_map(|(program, flag)| {
            let mut command = Command::new(program?);
            command.arg(flag);
            machine::version(command)
        });
        // These were built from source and do not know their version; the installer recorded it.
        let pinned = [&self.ghz, &self.interop].into_iter().flatten();
        let pinned = pinned.filter_map(|program| {
            let text = fs::read_to_string(program.with_extension("version")).ok()?;
            Some(text.split_whitespace().nth(1)?.to_owned())
        });
        told.chain(pinned).collect()
    }
}

/// A program that `make suites` has installed in its folder. It is not searched in the search path,
/// because `ghz` there may be drumfire's link.
pub(crate) fn suite(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DRUMFIRE_SUITES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/suites"),
        PathBuf::from,
    );
    Some(folder.join(name)).filter(|file| file.is_file())
}

/// The name of the older drumfire in tables.
pub const OLDER: &str = "older drumfire";

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The measured program.
    Drumfire,
    /// The measured program, with kernel timestamps for responses.
    Stamped,
    /// The measured program, with kernel timestamps for responses and requests.
    Wired,
    /// The older drumfire.
    Older,
    /// wrk, one thread.
    Wrk,
    /// The floor on bare system calls.
    Floor,
    /// The floor on drumfire's driver.
    FloorNet,
    /// oha, with the threads that it starts on one core.
    Oha,
}

/// Whether connections are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Connections are reused as long as they last.
    KeepAlive,
    /// `Connection: close` on each request.
    Close,
}

/// A closed loop, as fast as possible.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The URL.
    pub url: String,
    /// The number of connections.
    pub connections: u32,
    /// The threads of the tool: 1 on the clients' core, or 2 on both cores.
    pub threads: u32,
    /// Whether connections are reused.
    pub reuse: Reuse,
    /// The length of the run, in seconds.
    pub seconds: u32,
}

impl Tool {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Drumfire => "drumfire",
            Self::Stamped => "drumfire, `--clock receive`",
            Self::Wired => "drumfire, `--clock wire`",
            Self::Older => OLDER,
            Self::Wrk => "wrk",
            Self::Floor => "floor",
            Self::FloorNet => "floor on the driver",
            Self::Oha => "oha",
        }
    }

    /// Whether the tool can run.
    #[must_use]
    pub fn is_installed(self, programs: &Programs) -> bool {
        match self {
            Self::Drumfire | Self::Stamped | Self::Wired | Self::Floor | Self::FloorNet => true,
            Self::Older => programs.older.is_some(),
            Self::Wrk => programs.wrk.is_some(),
            Self::Oha => programs.oha.is_some(),
        }
    }

    /// Runs the workload on the clients' core.
    ///
    /// # Errors
    /// If the tool can't be run, fails, or prints unexpected output.
    pub fn run(self, workload: &Workload, programs: &Programs) -> Result<(Finished, Claim)> {
        let limit = Nanos::from_secs(u64::from(workload.seconds) + 30);
        let mut command = self.command(workload, programs)?;
        let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
        let claim = self
            .claim(&finished.stdout)
            .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
        Ok((finished, claim))
    }

    /// The command line, on the clients' core or on both.
    ///
    /// # Errors
    /// If the tool is not installed.
    pub(crate) fn command(self, workload: &Workload, programs: &Programs) -> Result<Command> {
        let missing = || Error::other(format!("{} is not installed", self.name()));
        let program = match self {
            Self::Drumfire | Self::Stamped | Self::Wired => &programs.drumfire,
            Self::Older => programs.older.as_ref().ok_or_else(missing)?,
            Self::Floor | Self::FloorNet => &programs.floor,
            Self::Wrk => programs.wrk.as_ref().ok_or_else(missing)?,
            Self::Oha => programs.oha.as_ref().ok_or_else(missing)?,
        };
        let mut command = match workload.threads {
            1 => pinned(CLIENT_CORE, program),
            _ => pinned(BOTH_CORES, program),
        };
        let threads = workload.threads;
        let seconds = workload.seconds;
        let connections = workload.connections.to_string();
        let closing = workload.reuse == Reuse::Close;
        match self {
            Self::Drumfire | Self::Stamped | Self::Wired | Self::Older => {
                command.args(["http", "-k", "-q", "--json=-"]);
                command.args(["--threads", &threads.to_string()]);
                command.args(["-c", &connections, "-z", &format!("{seconds}s")]);
                command.args(closing.then_some("--no-keepalive"));
                command.args((self == Self::Stamped).then_some("--clock=receive"));
                command.args((self == Self::Wired).then_some("--clock=wire"));
            }
            Self::Wrk => {
                command.args([
                    "-t",
                    &threads.to_string(),
                    "-c",
                    &connections,
                    "-d",
                    &format!("{seconds}s"),
                ]);
                let header = ["-H", "Connection: close"];
                command.args(header.iter().filter(|_| closing));
            }
            Self::Floor | Self::FloorNet => {
                command.args(["-c", &connections, "-z", &seconds.to_string()]);
                command.args((self == Self::FloorNet).then_some("--net"));
                command.args(closing.then_some("--close"));
            }
            Self::Oha => {
                command.args(["--no-tui", "--insecure", "--output-format", "json"]);
                command.args(["-c", &connections, "-z", &format!("{seconds}s")]);
                command.args(closing.then_some("--disable-keepalive"));
            }
        }
        command.arg(&workload.url);
        Ok(command)
    }

    /// Parses the tool's output; `None` when it has another form.
    pub(crate) fn claim(self, stdout: &str) -> Option<Claim> {
        match self {
            Self::Wrk => claim::wrk(stdout),
            Self::Drumfire | Self::Stamped | Self::Wired | Self::Older => claim::drumfire(stdout),
            Self::Floor | Self::FloorNet => claim::floor(stdout),
            Self::Oha => claim::oha(stdout),
        }
    }
}
