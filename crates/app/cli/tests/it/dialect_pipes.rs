//! Standard output without a reader: dialects end as their tools do. The runtime of the tools dies
//! of SIGPIPE if a pipe's reader has closed it, and opens `/dev/null` if standard output is closed.
//! On a full disk, most tools ignore the error.

use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{Folder, Process, Run, Serve};
use std::fs;
use std::process::{Command, Stdio};

/// The number of SIGPIPE.
const SIGPIPE: i32 = 13;

/// A command line of each tool that prints something, and its configuration if it has one.
struct Tools {
    serve: Serve,
    calls: Serve,
    folder: Folder,
}

impl Tools {
    fn new() -> Self {
        let tools = Self {
            serve: Serve::new(""),
            calls: Serve::new("--grpc"),
            folder: Folder::new(),
        };
        let config = format!(
            "pools:\n  - gun: {{type: http, target: '{}'}}\n    \
             ammo: {{type: uri, uris: ['/']}}\n    \
             result: {{type: phout, destination: phout.log}}\n    \
             rps: {{type: const, ops: 20, duration: 300ms}}\n    \
             startup: {{type: once, times: 2}}\nlog: {{level: info}}\n",
            tools.serve.address()
        );
        fs::write(tools.folder.at("load.yaml"), config).unwrap();
        tools
    }

    fn lines(&self) -> Vec<String> {
        let (url, call) = (&self.serve.url, self.calls.address());
        let ghz = "ghz --insecure --call helloworld.Greeter/SayHello -d {} -n 9 -c 1";
        vec![
            format!("slow_cooker -qps 20 -concurrency 1 -interval 100ms -totalRequests 8 {url}"),
            format!("go-wrk -c 1 -d 1 {url}"),
            format!("{ghz} {call}"),
            format!("{ghz} -O csv {call}"),
            "pandora load.yaml".to_owned(),
        ]
    }

    /// Runs `drumfire LINE` with this redirection of standard output.
    fn run(&self, line: &str, redirection: &str, stdout: Stdio) -> Run {
        let mut command = neutral(Command::new("sh"));
        let line = format!("exec $D {line} {redirection}");
        command.args(["-c", &line]).env("D", PATH);
        command.current_dir(self.folder.path());
        command.stdout(stdout).stderr(Stdio::piped());
        Process::start_as_it_is(&mut command).finish(LIMIT)
    }
}

#[test]
fn a_reader_that_has_gone_ends_a_tool_by_sigpipe() {
    let tools = Tools::new();
    let mut lines = tools.lines();
    lines.push("go-wrk -help".to_owned());
    for line in lines {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = tools.run(&line, "", writer.into());
        assert_eq!(
            run.signal,
            Some(SIGPIPE),
            "{line}: {:?} {}",
            run.code,
            run.stderr
        );
        assert!(!run.stderr.contains("pipe"), "{line}: {}", run.stderr);
    }
    // The tool's file has a row for each request, although the log had no reader.
    let rows = fs::read_to_string(tools.folder.at("phout.log")).unwrap();
    assert!(rows.lines().all(|row| row.ends_with("\t0\t200")), "{rows}");
}

#[test]
fn a_closed_stdout_costs_a_tool_nothing() {
    let tools = Tools::new();
    for line in tools.lines() {
        let run = tools.run(&line, ">&-", Stdio::null());
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        assert!(!run.stderr.contains("stdout"), "{line}: {}", run.stderr);
    }
    let rows = fs::read_to_string(tools.folder.at("phout.log")).unwrap();
    assert_eq!(rows.lines().count(), 6, "{rows}");
}

/// The exit codes are the codes of the original tools in their respective versions.
#[test]
fn a_full_disk_ends_a_tool_as_the_original() {
    let tools = Tools::new();
    let (url, call) = (&tools.serve.url, tools.calls.address());
    let slow_cooker = "slow_cooker -qps 20 -concurrency 1 -interval 100ms -totalRequests 8";
    let stdout = "can't write to stdout: no space left";
    for (line, redirection, code, said) in [
        (format!("{slow_cooker} {url}"), ">/dev/full", 0, stdout),
        (format!("{slow_cooker} {url}"), "2>/dev/full", 0, ""),
        (
            format!("{slow_cooker} http://127.0.0.1:1/"),
            "2>/dev/full",
            0,
            "",
        ),
        (
            format!("{slow_cooker} -reportLatenciesCSV /dev/full {url}"),
            "",
            2,
            "can't write /dev/full: no space left",
        ),
        (format!("go-wrk -c 1 -d 1 {url}"), ">/dev/full", 0, stdout),
        (format!("go-wrk -c 0 -d 1 {url}"), ">/dev/full", 0, stdout),
        ("go-wrk -help".to_owned(), ">/dev/full", 0, stdout),
        ("go-wrk -v".to_owned(), ">/dev/full", 0, stdout),
        ("pandora load.yaml".to_owned(), ">/dev/full", 0, stdout),
        (
            format!("ghz --insecure --call helloworld.Greeter/SayHello -d {{}} -n 9 -c 1 {call}"),
            ">/dev/full",
            1,
            stdout,
        ),
    ] {
        let run = tools.run(&line, redirection, Stdio::null());
        assert_eq!(run.code, Some(code), "{line} {redirection}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
        let lost = run.stderr.matches("can't write").count();
        assert_eq!(
            lost,
            usize::from(!said.is_empty()),
            "{line}: {}",
            run.stderr
        );
    }
    let rows = fs::read_to_string(tools.folder.at("phout.log")).unwrap();
    assert_eq!(rows.lines().count(), 6, "{rows}");
}

/// The file of latencies is written even if the text is lost.
#[test]
fn lost_text_takes_no_file_with_it() {
    let tools = Tools::new();
    let line = format!(
        "slow_cooker -qps 20 -concurrency 1 -interval 100ms -totalRequests 8 \
         -reportLatenciesCSV times.csv {}",
        tools.serve.url
    );
    let run = tools.run(&line, ">/dev/full", Stdio::null());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = fs::read_to_string(tools.folder.at("times.csv")).unwrap();
    let counts = rows.lines().map(|row| row.rsplit(", ").next().unwrap());
    let counts = counts.map(|count| count.parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 8, "{rows}");
}
