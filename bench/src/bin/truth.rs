//! Which figures of load testers are true: each tool against targets with a known truth.
//!
//! Every installed tool has a row; drumfire's is made like the others. Each figure is compared with
//! the truth, which follows from the target's flags or from the target's own count. One run is
//! enough to see a figure that is wrong by an order of magnitude. Near the bound the result depends
//! on other work on the machine, and a second run is needed. Exits with 1 if a figure of drumfire's
//! is false.

use clap::Parser;
use drumfire_bench::capture::{Capture, Exchange, enter_namespace, exchanges};
use drumfire_bench::machine;
use drumfire_bench::process::Guarded;
use drumfire_bench::server::Server;
use drumfire_bench::tool::Programs;
use drumfire_bench::truth::instrument::Instrument;
use drumfire_bench::truth::{Answer, Case, ServerCounts};
use drumfire_net::Clock;
use drumfire_units::Nanos;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Error, Result, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

/// The maximum length of a tool's run: its load, its waiting after the load, and its report.
const LIMIT: Nanos = Nanos::from_secs(60);
/// The time for which a starved tool is stopped in each [`PERIOD`].
const STOPPED: Duration = Duration::from_millis(60);
/// The time between two stops.
const PERIOD: Duration = Duration::from_millis(500);
/// The time between two checks whether a tool has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Run load testers against targets with known true values, and print which figures are true
#[derive(Debug, Parser)]
struct Flags {
    /// The tools, by their names [default: all that are installed]
    #[arg(long, value_delimiter = ',')]
    tools: Vec<String>,
    /// Only these targets: stall, freeze, capped, drowning, failures, starved, tail, slowbody, quick [default: all]
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The program to judge [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    let is_wanted = |tool: &Instrument| {
        let name = tool.name().to_lowercase();
        flags.tools.is_empty() || flags.tools.contains(&name)
    };
    let is_chosen = |case: &Case| {
        let name = format!("{case:?}").to_lowercase();
        flags.only.is_empty() || flags.only.contains(&name)
    };
    let cases: Vec<Case> = Case::ALL.into_iter().filter(is_chosen).collect();
    let mut out = std::io::stdout();
    writeln!(out, "{}\n", machine::describe())?;
    write!(out, "| |")?;
    for case in &cases {
        write!(out, " {} |", case.name())?;
    }
    write!(out, "\n|---|{}\n| truth |", "---|".repeat(cases.len()))?;
    for case in &cases {
        write!(out, " {} |", case.figure())?;
    }
    writeln!(out)?;
    let mut is_true = true;
    for tool in Instrument::ALL.into_iter().filter(is_wanted) {
        let Some(program) = tool.program(&programs) else {
            writeln!(out, "| {} | not installed |", tool.name())?;
            continue;
        };
        write!(out, "| {} |", tool.name())?;
        for case in cases.iter().copied() {
            // The gRPC service has no body that could be late, and its streams give no pairs of
            // segments.
            let is_asked = tool != Instrument::Ghz || !matches!(case, Case::SlowBody | Case::Quick);
            let answer = match is_asked {
                true if case.is_captured() => apart(case, tool, &program, &programs)?,
                true => judged(case, tool, &program, &programs)?,
                false => Answer::None,
            };
            is_true &= tool != Instrument::Drumfire || matches!(answer, Answer::True(_));
            write!(out, " {answer} |")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(ExitCode::from(u8::from(!is_true)))
}

/// Runs a case in a separate network namespace, if the system allows one.
fn apart(case: Case, tool: Instrument, program: &Path, programs: &Programs) -> Result<Answer> {
    let judged = || match enter_namespace()? {
        true => judged(case, tool, program, programs),
        false => Ok(Answer::None),
    };
    // The namespace belongs to a thread, and to the processes that it starts.
    thread::scope(|scope| scope.spawn(judged).join())
        .unwrap_or_else(|_| Err(Error::other("the thread of a namespace panicked")))
}

/// Runs one tool against one target; a tool without a report has no figure.
fn judged(case: Case, tool: Instrument, program: &Path, programs: &Programs) -> Result<Answer> {
    let mut serving = match (case, tool) {
        // Closing a connection would affect other calls, and these are not among the faults.
        (Case::Failures, Instrument::Ghz) => vec!["--reset", "0.3"],
        _ => case.flags().to_vec(),
    };
    if tool == Instrument::Ghz {
        serving.push("--grpc");
    }
    let server = Server::serving(Ipv4Addr::LOCALHOST, &serving, programs)?;
    let load = case.load(&server.url("/"));
    let folder = server.folder().join("tool");
    fs::create_dir_all(&folder)?;
    let mut command = tool.command(program, &load, &folder)?;
    let capture = case.is_captured().then(Capture::start).transpose()?;
    let running = RunningTool::start(&mut command, &folder)?;
    let mut witness = running.finish(case, &server)?;
    if let Some(capture) = capture {
        witness.captured = median(&exchanges(&capture.finish()?, server.port()));
    }
    let read = |name: &str| {
        let bytes = fs::read(folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    match tool.read(&read("stdout"), &read("stderr"), &folder) {
        Ok(reading) => Ok(case.judge(&reading, witness, tool.closed())),
        Err(error) => {
            writeln!(std::io::stderr(), "{}: {error}", case.name())?;
            Ok(Answer::None)
        }
    }
}

/// The median time from request to response.
fn median(exchanges: &[Exchange]) -> Nanos {
    let mut times: Vec<Nanos> = exchanges.iter().map(|it| it.service()).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A running tool, with the processes that it starts.
struct RunningTool {
    child: Guarded,
    group: Pid,
    clock: Clock,
}

impl RunningTool {
    fn start(command: &mut Command, folder: &Path) -> Result<Self> {
        command.stdin(Stdio::null()).process_group(0);
        command.stdout(File::create(folder.join("stdout"))?);
        command.stderr(File::create(folder.join("stderr"))?);
        let child = Guarded(command.spawn()?);
        let group = Pid::from_raw(i32::try_from(child.0.id()).map_err(Error::other)?);
        Ok(Self {
            child,
            group,
            clock: Clock::start(),
        })
    }

    /// Waits for the tool's end, with the actions of the case; returns the target's data.
    fn finish(mut self, case: Case, server: &Server) -> Result<ServerCounts> {
        let counters = || -> Result<ServerCounts> {
            let text = server.get("/counters")?;
            ServerCounts::parse(&text).ok_or_else(|| Error::other(format!("no counters: {text}")))
        };
        let mut frozen = None;
        let mut stops: u32 = 0;
        while self.child.0.try_wait()?.is_none() {
            let elapsed = Duration::from_nanos(self.clock.now().0);
            if case.freezes_after().is_some_and(|after| elapsed >= after) && frozen.is_none() {
                frozen = Some(counters()?);
                server.freeze()?;
            }
            if case == Case::Starved && elapsed >= PERIOD * stops {
                stops += 1;
                // The process may have ended.
                let _ended = killpg(self.group, Signal::SIGSTOP);
                thread::sleep(STOPPED);
                let _ended = killpg(self.group, Signal::SIGCONT);
            }
            if self.clock.now() > LIMIT {
                let _ended = killpg(self.group, Signal::SIGKILL);
            }
            thread::sleep(LOOK);
        }
        match frozen {
            Some(witness) => {
                server.thaw()?;
                Ok(witness)
            }
            None => counters(),
        }
    }
}
