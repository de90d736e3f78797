//! The program under test.

use super::folder::Folder;
use super::process::{Process, Run, Signal};
use super::report::Report;
use super::serve::Serve;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The maximum time of a test's run, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(150);

/// The built binary.
pub(crate) const PATH: &str = env!("CARGO_BIN_EXE_drumfire");

/// Variables that would make a run depend on the user's environment.
const PERSONAL: [&str; 25] = [
    // Without a home directory, runs are stored only if a test specifies a place.
    "HOME",
    "XDG_STATE_HOME",
    "TZ",
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "REQUEST_METHOD",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NO_COLOR",
    "LC_ALL",
    "LC_CTYPE",
    "COLUMNS",
    "CLICOLOR_FORCE",
    "CLICOLOR",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
];

/// Makes a command independent of the user's environment.
pub(crate) fn neutral(mut command: Command) -> Command {
    for name in PERSONAL {
        command.env_remove(name);
    }
    command.env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

/// The program with these arguments.
pub(crate) fn drumfire(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = neutral(undeafened(PATH));
    command.args(args);
    command
}

/// A command whose signals are not ignored. Under nohup, in the background of a script and in cron,
/// some signals are ignored from the start, and would have no effect.
pub(crate) fn undeafened(path: &str) -> Command {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP, SIGINT, SIGQUIT and SIGTERM: one bit per signal, the lowest for signal 1.
    if ignored.unwrap_or(0) & 0b100_0000_0000_0111 == 0 {
        return Command::new(path);
    }
    // `env` replaces itself with the program, so the process id stays the same.
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,QUIT,TERM", path]);
    command
}

/// Splits a line at blanks; `'…'` keeps blanks.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Runs `drumfire LINE` to its end.
pub(crate) fn run(line: &str) -> Run {
    Process::start(&mut drumfire(words(line))).finish(LIMIT)
}

/// Runs `drumfire LINE` in this folder to its end.
pub(crate) fn run_in(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    Process::start(command.current_dir(folder.path())).finish(LIMIT)
}

/// Runs `drumfire LINE`, sends a signal when `count` further requests have arrived at the server,
/// and waits for the end.
pub(crate) fn signalled(serve: &Serve, line: &str, count: u64, signal: Signal) -> Run {
    let before = serve.count("requests");
    let process = Process::start(&mut drumfire(words(line)));
    serve.await_requests(before + count);
    process.signal(signal);
    process.finish(LIMIT)
}

/// Runs `drumfire http` with a line of arguments to its end.
pub(crate) fn http(line: &str) -> Run {
    let mut command = drumfire(["http"]);
    command.args(words(line));
    Process::start(&mut command).finish(LIMIT)
}

/// Runs `drumfire http LINE --json -`, and returns its report, whose counts must balance.
pub(crate) fn load(line: &str) -> Report {
    let mut command = drumfire(["http", "--json", "-"]);
    command.args(words(line));
    load_of(Process::start(&mut command))
}

/// The report of a run that writes JSON to its standard output.
pub(crate) fn load_of(process: Process) -> Report {
    let report = Report::from_run(process.finish(LIMIT));
    report.balances();
    report
}
