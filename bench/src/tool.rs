//! The tools that are compared over HTTP/1.1, and the command line of each.

use crate::claim::{self, Claim};
use crate::machine;
use crate::process::{self, CLIENT_CORE, Finished, Watch, pinned};
use drumfire_units::Nanos;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the programs are; `None` is not installed.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The program that is measured.
    pub drumfire: PathBuf,
    /// The program whose server is fired at.
    pub serve: PathBuf,
    /// An older drumfire, to be measured beside it.
    pub older: Option<PathBuf>,
    /// The floor.
    pub floor: PathBuf,
    /// The server that does the least.
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
    /// grpc-go's server of the interoperability tests, as `make suites` installs it.
    pub interop: Option<PathBuf>,
    /// Pandora. The search path would not do: there it may be drumfire's own link.
    pub pandora: Option<PathBuf>,
    /// k6.
    pub k6: Option<PathBuf>,
}

impl Programs {
    /// Looks for all; ours are beside this program, unless `drumfire` is given. `older` is another
    /// drumfire to measure.
    ///
    /// # Errors
    /// When one of ours is not there, or the older one is not.
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

    /// The same with the older drumfire in the place of the one that is measured; `None` where
    /// there is none. The server stays the same.
    #[must_use]
    pub fn before(&self) -> Option<Self> {
        Some(Self {
            drumfire: self.older.clone()?,
            older: None,
            ..self.clone()
        })
    }

    /// The version of each installed tool, by its own output, or as pinned.
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
        // These were built from source and do not know their version; the installer wrote it down.
        let pinned = [&self.ghz, &self.interop].into_iter().flatten();
        let pinned = pinned.filter_map(|program| {
            let text = fs::read_to_string(program.with_extension("version")).ok()?;
            Some(text.split_whitespace().nth(1)?.to_owned())
        });
        told.chain(pinned).collect()
    }
}

/// A program that `make suites` has put into its folder. The search path would not do: there `ghz`
/// may be drumfire's own link.
pub(crate) fn suite(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DRUMFIRE_SUITES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/suites"),
        PathBuf::from,
    );
    Some(folder.join(name)).filter(|file| file.is_file())
}

/// The older drumfire, as a table names it.
pub const OLDER: &str = "older drumfire";

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The program that is measured.
    Drumfire,
    /// The same, with responses timed by the kernel's stamps.
    Stamped,
    /// The same, with their requests too.
    Wired,
    /// The same of an earlier time.
    Older,
    /// wrk, one thread.
    Wrk,
    /// The floor on bare system calls.
    Floor,
    /// The floor on drumfire's driver.
    FloorNet,
    /// oha, as many threads as it starts on one core.
    Oha,
}

/// Whether connections are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// As long as they last.
    KeepAlive,
    /// `Connection: close` on each request.
    Close,
}

/// A closed loop, as fast as it goes.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Where to.
    pub url: String,
    /// Over how many connections.
    pub connections: u32,
    /// Whether they are used again.
    pub reuse: Reuse,
    /// How long.
    pub seconds: u32,
}

impl Tool {
    /// As a table names it.
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

    /// Whether it can be run at all.
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
    /// When the tool can't be run, fails, or its words are not understood.
    pub fn run(self, workload: &Workload, programs: &Programs) -> Result<(Finished, Claim)> {
        let limit = Nanos::from_secs(u64::from(workload.seconds) + 30);
        let mut command = self.command(workload, programs)?;
        let finished = process::run(&mut command, limit, Watch::Nothing)?;
        let claim = self
            .claim(&finished.stdout)
            .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
        Ok((finished, claim))
    }

    /// Its command line, on the clients' core.
    ///
    /// # Errors
    /// When it is not installed.
    pub(crate) fn command(self, workload: &Workload, programs: &Programs) -> Result<Command> {
        let missing = || Error::other(format!("{} is not installed", self.name()));
        let program = match self {
            Self::Drumfire | Self::Stamped | Self::Wired => &programs.drumfire,
            Self::Older => programs.older.as_ref().ok_or_else(missing)?,
            Self::Floor | Self::FloorNet => &programs.floor,
            Self::Wrk => programs.wrk.as_ref().ok_or_else(missing)?,
            Self::Oha => programs.oha.as_ref().ok_or_else(missing)?,
        };
        let mut command = pinned(CLIENT_CORE, program);
        let seconds = workload.seconds;
        let connections = workload.connections.to_string();
        let closing = workload.reuse == Reuse::Close;
        match self {
            Self::Drumfire | Self::Stamped | Self::Wired | Self::Older => {
                command.args(["http", "--threads=1", "-k", "-q", "--json=-"]);
                command.args(["-c", &connections, "-z", &format!("{seconds}s")]);
                command.args(closing.then_some("--no-keepalive"));
                command.args((self == Self::Stamped).then_some("--clock=receive"));
                command.args((self == Self::Wired).then_some("--clock=wire"));
            }
            Self::Wrk => {
                command.args(["-t1", "-c", &connections, "-d", &format!("{seconds}s")]);
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
