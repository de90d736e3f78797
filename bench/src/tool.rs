//! The tools that are compared: how each is told what to do, and how it tells what it did.

use crate::process::{self, CLIENT_CORE, Finished, Watch, pinned};
use drumfire_units::Nanos;
use serde_json::Value;
use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

/// Where the programs are; `None` is not installed.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The program that is measured.
    pub drumfire: PathBuf,
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
}

impl Programs {
    /// Looks for all; ours are beside this program, unless `drumfire` is told.
    ///
    /// # Errors
    /// When one of ours is not there.
    pub fn find(drumfire: Option<PathBuf>) -> Result<Self> {
        let here = std::env::current_exe()?;
        let beside = |name: &str| here.with_file_name(name);
        let programs = Self {
            drumfire: drumfire.unwrap_or_else(|| beside("drumfire")),
            floor: beside("floor"),
            answer: beside("answer"),
            wrk: process::find("wrk"),
            oha: process::find("oha"),
            nginx: process::find("nginx"),
        };
        for ours in [&programs.drumfire, &programs.floor, &programs.answer] {
            if !ours.is_file() {
                let words = format!("{} is missing: run `make bench`", ours.display());
                return Err(Error::other(words));
            }
        }
        Ok(programs)
    }
}

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The program that is measured.
    Drumfire,
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

/// What a tool says that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Responses that the tool takes for good.
    pub requests: u64,
    /// Everything else.
    pub failed: u64,
    /// Bytes of each request, where the tool tells.
    pub request_bytes: Option<u64>,
}

impl Tool {
    /// As a table names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Drumfire => "drumfire",
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
            Self::Drumfire | Self::Floor | Self::FloorNet => true,
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
            .ok_or_else(|| Error::other(format!("{command:?} said: {}", finished.stdout)))?;
        Ok((finished, claim))
    }

    fn command(self, workload: &Workload, programs: &Programs) -> Result<Command> {
        let missing = || Error::other(format!("{} is not installed", self.name()));
        let program = match self {
            Self::Drumfire => &programs.drumfire,
            Self::Floor | Self::FloorNet => &programs.floor,
            Self::Wrk => programs.wrk.as_ref().ok_or_else(missing)?,
            Self::Oha => programs.oha.as_ref().ok_or_else(missing)?,
        };
        let mut command = pinned(CLIENT_CORE, program);
        let seconds = workload.seconds;
        let connections = workload.connections.to_string();
        let closing = workload.reuse == Reuse::Close;
        match self {
            Self::Drumfire => {
                command.args(["http", "--threads=1", "-k", "-q", "--json=-"]);
                command.args(["-c", &connections, "-z", &format!("{seconds}s")]);
                command.args(closing.then_some("--no-keepalive"));
            }
            Self::Wrk => {
                command.args(["-t1", "-c", &connections, "-d", &format!("{seconds}s")]);
                let header = ["-H", "Connection: close"];
                command.args(header.iter().filter(|_| closing));
            }
            Self::Floor | Self::FloorNet => {
                command.args(["-c", &connections, "-z", &seconds.to_string()]);
                command.args((self == Self::FloorNet).then_some("--net"));
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

    /// Understands what the tool wrote; `None` when it is not what was expected.
    pub(crate) fn claim(self, stdout: &str) -> Option<Claim> {
        match self {
            Self::Wrk => wrk_claim(stdout),
            Self::Drumfire => {
                let summary: Value = serde_json::from_str(stdout).ok()?;
                let requests = &summary["requests"];
                let sent = requests["sent"].as_u64()?;
                Some(Claim {
                    requests: requests["ok"].as_u64()?,
                    failed: requests["failed"].as_u64()?,
                    request_bytes: summary["bytes"]["sent"].as_u64()?.checked_div(sent),
                })
            }
            Self::Floor | Self::FloorNet => {
                let result: Value = serde_json::from_str(stdout).ok()?;
                Some(Claim {
                    requests: result["requests"].as_u64()?,
                    failed: 0,
                    request_bytes: result["request_bytes"].as_u64(),
                })
            }
            Self::Oha => {
                let result: Value = serde_json::from_str(stdout).ok()?;
                let codes = result["statusCodeDistribution"].as_object()?;
                let count = |ok: bool| {
                    let of = |(code, n): (&String, &Value)| {
                        n.as_u64().filter(|_| code.starts_with('2') == ok)
                    };
                    codes.iter().filter_map(of).sum()
                };
                Some(Claim {
                    requests: count(true),
                    failed: count(false),
                    request_bytes: None,
                })
            }
        }
    }
}

/// wrk tells of requests in one line, and of failures only where there are some.
fn wrk_claim(stdout: &str) -> Option<Claim> {
    let lines = || stdout.lines().map(str::trim);
    let all: u64 = lines()
        .find(|line| line.contains(" requests in "))
        .and_then(|line| line.split(' ').next()?.parse().ok())?;
    let numbers = |prefix: &str| -> u64 {
        let line = lines().find_map(|line| line.strip_prefix(prefix));
        let words = line.unwrap_or("").split([' ', ',']);
        words.filter_map(|word| word.parse::<u64>().ok()).sum()
    };
    let refused = numbers("Non-2xx or 3xx responses:");
    Some(Claim {
        requests: all.saturating_sub(refused),
        failed: refused + numbers("Socket errors:"),
        request_bytes: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Claim, Tool};

    #[test]
    fn each_tools_words_are_understood() {
        let claim = |requests, failed, request_bytes| {
            Some(Claim {
                requests,
                failed,
                request_bytes,
            })
        };
        let wrk = "Running 2s test\n  252811 requests in 2.04s, 40.02MB read\n\
                   Socket errors: connect 0, read 7, write 1, timeout 2\n\
                   Non-2xx or 3xx responses: 11\n";
        assert_eq!(Tool::Wrk.claim(wrk), claim(252_800, 21, None));
        assert_eq!(Tool::Wrk.claim("unable to connect"), None);
        let drumfire = r#"{"requests":{"sent":10,"ok":9,"failed":1},"bytes":{"sent":690}}"#;
        assert_eq!(Tool::Drumfire.claim(drumfire), claim(9, 1, Some(69)));
        let floor = r#"{"requests":5,"request_bytes":69}"#;
        assert_eq!(Tool::Floor.claim(floor), claim(5, 0, Some(69)));
        let oha = r#"{"statusCodeDistribution":{"200":4,"503":2}}"#;
        assert_eq!(Tool::Oha.claim(oha), claim(4, 2, None));
    }
}
