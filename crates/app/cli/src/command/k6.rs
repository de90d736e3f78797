//! `drumfire k6`: runs scripts of k6.

mod flags;
mod machine;
mod outputs;
mod progress;
mod secrets;
mod truth;

use self::flags::{Flags, Wanted};
use self::machine::Machine;
use self::outputs::Outputs;
use self::progress::Narration;
use self::truth::Truth;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::signals::Signals;
use crate::{names, random};
use drumfire_engine::{Client, ClientSettings, Resolver, chooses_http2};
use drumfire_k6::{
    Colors, Detail, Layer, Mode, Options, Output as Stream, Summary, Surroundings as Around,
    TimeUnit, TrendStat,
};
use drumfire_net::{Clock, Native, NativeOptions, Resolved, Stamping, Waiting};
use drumfire_plan::{
    Affinity, Connections, Cookies, Expect, Growth, Guard, HttpOptions, KeepAlive, KeepAliveHints,
    Life, Load, Opening, Pause, Plan, Pool, Program as PlanProgram, Reach, ReusedClosed, Samples,
    Spread, Stop, Timeouts, Tls, TlsEnd, Transcripts, Verify,
};
use drumfire_units::Nanos;
use drumfire_vus::{
    Contexts, Ended, Program, ProgramError, Run, RunError, Settings, Source, Verdict,
};
use serde_json::{Map, Value};
use std::fs;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

/// The exit codes of k6.
mod code {
    pub(super) const THRESHOLD: u8 = 99;
    pub(super) const SETUP_TIMEOUT: u8 = 100;
    pub(super) const TEARDOWN_TIMEOUT: u8 = 101;
    pub(super) const CONFIGURATION: u8 = 104;
    pub(super) const INTERRUPTED: u8 = 105;
    pub(super) const SCRIPT: u8 = 107;
    pub(super) const ABORTED: u8 = 108;
    pub(super) const MARKED_FAILED: u8 = 110;
    pub(super) const OTHER: u8 = 255;
}

/// The User-Agent of requests, unless a script or a flag sets another.
const USER_AGENT: &str = concat!("drumfire/", env!("CARGO_PKG_VERSION"), " (k6)");

/// The maximum size of a response's body, as it is sent.
const BODY_MAX: usize = 256 << 20;

/// The time for a server to show whether it chooses HTTP/2.
const PROBE: Nanos = Nanos::from_secs(3);

const HELP: &str = "\
Run a k6 script, unchanged

Usage: drumfire k6 run [FLAGS] SCRIPT
       drumfire k6 inspect SCRIPT

  drumfire k6 run script.js                     as its options say
  drumfire k6 run -u 10 -d 30s script.js        10 users for 30 seconds
  drumfire k6 run --out json=rows.json script.js

The flags are those of `k6 run`. Not available: k6 cloud, archives, the
modules for browsers and gRPC, extensions; docs/dialects/k6.md has every
difference.
  --html FILE           write drumfire's report as a page with charts
  --json FILE           write drumfire's report as JSON
  --strict              exit with 3 if drumfire does not trust the figures
  --k6-isolate          do not share built-in objects between users
  --i-own-this-target   load public hosts
Exit codes are k6's: 99 a threshold failed, 104 wrong options, 105 interrupted,
107 the script failed, 108 aborted by the script, 255 no script
";

fn failure(code: u8, message: impl Into<String>) -> Failure {
    Failure {
        exit: Exit::from_dialect(code),
        message: message.into(),
        remedy: String::new(),
    }
}

fn configuration(message: impl ToString) -> Failure {
    failure(code::CONFIGURATION, message.to_string())
}

/// Runs a command line of k6, without the name of the program.
pub(crate) fn run(args: &[String], output: &Output) -> Result<Exit, Failure> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["-h" | "--help" | "help", ..] => {
            output.print(HELP.as_bytes())?;
            Ok(Exit::Done)
        }
        ["version" | "--version", ..] => {
            output.print(
                format!("k6 v2.2.0, as drumfire {} runs it\n", crate::flags::VERSION).as_bytes(),
            )?;
            Ok(Exit::Done)
        }
        ["run", ..] if words.iter().any(|word| matches!(*word, "-h" | "--help")) => {
            output.print(HELP.as_bytes())?;
            Ok(Exit::Done)
        }
        ["run", ..] => Session::new(&args[1..], output)?.run(),
        ["inspect", ..] => Session::new(&args[1..], output)?.inspect(),
        ["cloud" | "login", ..] => Err(failure(
            code::OTHER,
            "drumfire sends nothing to Grafana Cloud; use `drumfire k6 run`",
        )),
        [
            "archive" | "new" | "pause" | "resume" | "scale" | "status" | "stats" | "x",
            ..,
        ] => Err(failure(
            code::OTHER,
            format!(
                "`k6 {}` is not available; use `drumfire k6 run SCRIPT`",
                words[0]
            ),
        )),
        [word, ..] if word.contains('.') => Err(failure(
            code::OTHER,
            format!(
                "unknown command `{0}`; to run a script, use `drumfire k6 run {0}`",
                word.escape_debug()
            ),
        )),
        [word, ..] => Err(failure(
            code::OTHER,
            format!(
                "unknown command `{}`; use run or inspect",
                word.escape_debug()
            ),
        )),
    }
}

/// One run of a script.
struct Session<'a> {
    flags: Flags,
    output: &'a Output,
    signals: Signals,
    environment: Vec<(String, String)>,
    name: String,
    text: Option<String>,
}

impl<'a> Session<'a> {
    fn new(args: &[String], output: &'a Output) -> Result<Self, Failure> {
        let flags = Flags::parse(args, &|name| std::env::var(name).ok()).map_err(configuration)?;
        for note in &flags.notes {
            output.remark(&format!("{note}\n"));
        }
        let Some(script) = flags.script.clone() else {
            return Err(configuration("no script; use `drumfire k6 run script.js`"));
        };
        let mut environment: Vec<(String, String)> = match flags.has_system_environment {
            true => std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            false => Vec::new(),
        };
        for (name, value) in &flags.environment {
            environment.retain(|(other, _)| other != name);
            environment.push((name.clone(), value.clone()));
        }
        let (name, text) = match script.as_str() {
            "-" => {
                let bytes = crate::input::stdin("a script")?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| failure(code::SCRIPT, "the script is not UTF-8"))?;
                ("./-".to_owned(), Some(text))
            }
            path => {
                if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
                    return Err(failure(
                        code::OTHER,
                        format!(
                            "the script {} does not exist; give the path of a file",
                            path.escape_debug()
                        ),
                    ));
                }
                if path.ends_with(".tar") {
                    return Err(failure(
                        code::SCRIPT,
                        "k6 archives are not read; give the script",
                    ));
                }
                (path.to_owned(), None)
            }
        };
        let signals = Signals::default();
        signals
            .watch()
            .map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
        Ok(Self {
            flags,
            output,
            signals,
            environment,
            name,
            text,
        })
    }

    /// The options of all layers, with those of the script.
    fn options(&self, script: &Map<String, Value>) -> Result<Options, Failure> {
        let mut layers = Vec::new();
        if let Some(config) = self.config()? {
            layers.push((Layer::File, config));
        }
        layers.push((Layer::Script, script.clone()));
        layers.push((Layer::Environment, self.flags.of_environment.clone()));
        layers.push((Layer::CommandLine, self.flags.options.clone()));
        let options = Options::consolidate(&layers).map_err(configuration)?;
        Ok(options)
    }

    /// The options of the file of `-c`, or of the usual file if it exists.
    fn config(&self) -> Result<Option<Map<String, Value>>, Failure> {
        let usual = || {
            let home = std::env::var_os("HOME")?;
            Some(PathBuf::from(home).join(".config/k6/config.json"))
        };
        let (path, is_given) = match &self.flags.config {
            Some(path) => (PathBuf::from(path), true),
            None => match usual() {
                Some(path) => (path, false),
                None => return Ok(None),
            },
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !is_given => return Ok(None),
            Err(error) => {
                return Err(configuration(format!(
                    "can't read {}: {error}",
                    path.display()
                )));
            }
        };
        let parsed = serde_json::from_str(&text);
        parsed
            .map(Some)
            .map_err(|error| configuration(format!("{}: {error}", path.display())))
    }

    /// Prints the options of a script as JSON.
    fn inspect(self) -> Result<Exit, Failure> {
        let program = self.load(Outputs::none(), Detail::Run)?;
        let mut text = serde_json::to_string_pretty(program.options())
            .map_err(|error| failure(code::OTHER, error.to_string()))?;
        text.push('\n');
        self.output.print(text.as_bytes())?;
        Ok(Exit::Done)
    }

    fn load(&self, outputs: Outputs, detail: Detail) -> Result<Program, Failure> {
        let machine = Machine::new(&self.flags, self.signals.clone(), outputs)
            .map_err(|message| failure(code::OTHER, message))?;
        let seed = self.flags.seed();
        let source = Source {
            name: &self.name,
            text: self.text.clone(),
            environment: &self.environment,
            seed,
            detail,
            contexts: match self.flags.isolates {
                true => Contexts::Isolated,
                false => Contexts::Shared,
            },
        };
        let loaded = Program::load(source, Box::new(machine));
        loaded.map_err(|error| match error {
            ProgramError::Script(text) => failure(code::SCRIPT, text),
            ProgramError::Realm(text) => failure(code::OTHER, text),
        })
    }

    fn run(self) -> Result<Exit, Failure> {
        let detail = match self.flags.summary {
            Wanted::Full => Detail::Sections,
            Wanted::Compact | Wanted::None => Detail::Run,
        };
        let program = self.load(Outputs::open(&self.flags)?, detail)?;
        let options = self.options(program.options())?;
        for warning in &options.warnings {
            self.output.remark(&format!("warning: {warning}\n"));
        }
        let settings = Settings::read(&options.others, USER_AGENT).map_err(configuration)?;
        let shown = Shown::of(&options, &self.flags)?;
        self.check_functions(&program, &options)?;
        let truth = Truth::new(&self.flags)?;
        let client = self.client(&settings)?;
        let shares = program.shares();
        let scenarios = options.scenarios.clone();
        let mut run = Run::new(
            program,
            client,
            scenarios,
            settings.clone(),
            self.flags.seed(),
        );
        run.measure(Truth::info(&self.name, self.flags.seed()));
        run.set_options(Value::Object(options.others.clone()).to_string());
        if !settings.no_thresholds {
            run.with_registry(|registry| registry.judge_by(&options.thresholds))
                .map_err(configuration)?;
        }
        let narration = Narration::new(&self.flags, &options, &self.name, self.output);
        narration.begin(shares);
        run.make_users(&self.environment)
            .map_err(|error| self.run_failure(&error))?;
        let result = run.run(&mut |progress| narration.tell(progress));
        let verdict = match result {
            Ok(verdict) => verdict,
            Err(error) => return Err(self.run_failure(&error)),
        };
        self.results(&mut run, &verdict, &shown)?;
        truth.show(&verdict, self.output)?;
        match self.exit(&verdict)? {
            Exit::Done => Ok(truth.exit(&verdict, self.output)),
            exit => Ok(exit),
        }
    }

    /// Checks that the script has the functions that its scenarios call.
    fn check_functions(&self, program: &Program, options: &Options) -> Result<(), Failure> {
        for scenario in &options.scenarios {
            if !program.has(&scenario.exec) {
                if !program.exports().iter().any(|name| program.has(name)) {
                    return Err(failure(
                        code::OTHER,
                        "the script exports no function; use `export default function () { … }`",
                    ));
                }
                return Err(configuration(format!(
                    "scenario {}: the script exports no function `{}`",
                    scenario.name, scenario.exec
                )));
            }
        }
        Ok(())
    }

    /// The client of the run, over sockets.
    fn client(&self, settings: &Settings) -> Result<Client<Native>, Failure> {
        let native = |clock| {
            Native::new(&NativeOptions {
                clock,
                waiting: Waiting::Sleep,
                stamping: Stamping::Off,
                tls: Vec::new(),
            })
        };
        // Each user has connections of its own. A limit that stays low shows as failures under its name.
        drumfire_net::raise_descriptor_limit();
        let io = native(Clock::start())
            .map_err(|error| Failure::failed(format!("can't set up the event loop: {error}")))?;
        let hosts = settings.hosts.clone();
        let resolver: Arc<Resolver> = Arc::new(move |reach: &Reach, host: &str, port, limit| {
            let rule = hosts.iter().find_map(|rule| rule.address(host, port));
            match rule {
                Some(address) => Resolved::from_addresses([address], None),
                None => names::resolve(reach, host, port, limit),
            }
        });
        let for_probe = Arc::clone(&resolver);
        let probe = move |plan: &Plan| {
            let io = native(Clock::start());
            io.is_ok_and(|io| chooses_http2(io, plan, &*for_probe, PROBE))
        };
        let guard = match self.flags.owns_target {
            true => None,
            false => Some(Guard::of_lines(&names::allowed())),
        };
        Ok(Client::new(
            io,
            ClientSettings {
                pool: pool(settings, guard),
                resolver,
                probe: Some(Arc::new(probe)),
                body_max: BODY_MAX,
            },
        ))
    }

    /// Prints the summary, and writes the files of results.
    fn results(
        &self,
        run: &mut Run<Native>,
        verdict: &Verdict,
        shown: &Shown,
    ) -> Result<(), Failure> {
        let seconds = verdict.duration.0 as f64 / 1e9;
        let setup: Option<Value> = verdict
            .setup_data
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok());
        let is_terminal = std::io::stdout().is_terminal();
        let colors = match is_terminal && !self.flags.no_color {
            true => Colors::On,
            false => Colors::Off,
        };
        let stream = |is_terminal: bool| match is_terminal {
            true => Stream::Terminal,
            false => Stream::Other,
        };
        let around = Around {
            setup_data: setup.as_ref(),
            stdout: stream(is_terminal),
            stderr: stream(std::io::stderr().is_terminal()),
            no_color: self.flags.no_color,
        };
        let (text, data, export) = run.with_registry(|registry| {
            let summary = Summary {
                registry,
                seconds,
                stats: &shown.stats,
                unit: shown.unit,
                mode: shown.mode,
                colors,
            };
            (
                summary.text(),
                summary.data(&around).to_string(),
                summary.export(setup.as_ref()),
            )
        });
        if let Some(path) = &self.flags.summary_export {
            outputs::write_json(path, &export)?;
        }
        run.finish_outputs();
        if self.flags.summary == Wanted::None {
            return Ok(());
        }
        self.print_summary(run.summary(&data), &text)
    }

    /// Prints the summary, or writes what the script's own function has made of it.
    fn print_summary(
        &self,
        own: Option<drumfire_vus::OwnSummary>,
        text: &str,
    ) -> Result<(), Failure> {
        match own {
            None => self.output.print(text.as_bytes()),
            Some(Ok(texts)) => {
                for (name, bytes) in texts {
                    match name.as_str() {
                        "stdout" => self.output.print(&bytes)?,
                        "stderr" => self.output.remark(&String::from_utf8_lossy(&bytes)),
                        path => {
                            if let Err(error) = fs::write(path, &bytes) {
                                self.output
                                    .complain(&format!("can't write {path}: {error}"));
                            }
                        }
                    }
                }
                Ok(())
            }
            Some(Err(error)) => {
                self.output
                    .complain(&format!("handleSummary() failed: {error}"));
                self.output.print(text.as_bytes())
            }
        }
    }

    /// The exit code, with the reason on the standard error.
    fn exit(&self, verdict: &Verdict) -> Result<Exit, Failure> {
        match &verdict.ended {
            Ended::Aborted(message) => return Err(failure(code::ABORTED, message.clone())),
            Ended::Signal => {
                return Err(failure(
                    code::INTERRUPTED,
                    "the run was interrupted by a signal",
                ));
            }
            Ended::Threshold(crossed) => {
                return Err(failure(
                    code::THRESHOLD,
                    format!(
                        "thresholds on metrics '{}' were crossed; at least one has abortOnFail enabled, stopping test \
                         prematurely",
                        crossed.join(", ")
                    ),
                ));
            }
            Ended::Done => {}
        }
        if !verdict.crossed.is_empty() {
            let names = verdict.crossed.join(", ");
            return Err(failure(
                code::THRESHOLD,
                format!("thresholds on metrics '{names}' have been crossed"),
            ));
        }
        if let Some(message) = &verdict.failed {
            return Err(failure(
                code::MARKED_FAILED,
                format!("the script marked the test as failed: {message}"),
            ));
        }
        if verdict.completed == 0 {
            self.output.remark(
                "warning: no script iterations fully finished, consider making the test duration longer\n",
            );
        }
        Ok(Exit::Done)
    }

    fn run_failure(&self, error: &RunError) -> Failure {
        let code = match error {
            RunError::Script(_) => code::SCRIPT,
            RunError::SetupTimeout => code::SETUP_TIMEOUT,
            RunError::TeardownTimeout => code::TEARDOWN_TIMEOUT,
            RunError::Interrupted => code::INTERRUPTED,
            RunError::Driver(_) => code::OTHER,
        };
        failure(code, error.to_string().trim_end())
    }
}

/// How the summary is shown.
struct Shown {
    stats: Vec<TrendStat>,
    unit: Option<TimeUnit>,
    mode: Mode,
}

impl Shown {
    fn of(options: &Options, flags: &Flags) -> Result<Self, Failure> {
        let stats = match options.others.get("summaryTrendStats") {
            None => TrendStat::defaults(),
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|stat| stat.as_str().unwrap_or_default());
                let stats = texts.map(TrendStat::parse);
                stats.collect::<Result<_, _>>().map_err(configuration)?
            }
            Some(Value::String(list)) => {
                let stats = list.split(',').map(|stat| TrendStat::parse(stat.trim()));
                stats.collect::<Result<_, _>>().map_err(configuration)?
            }
            Some(_) => {
                return Err(configuration(
                    "the option `summaryTrendStats` must be a list",
                ));
            }
        };
        let unit = match options
            .others
            .get("summaryTimeUnit")
            .and_then(Value::as_str)
        {
            None | Some("") => None,
            Some(text) => Some(TimeUnit::parse(text).map_err(configuration)?),
        };
        let mode = match flags.summary {
            Wanted::Full => Mode::Full,
            Wanted::Compact | Wanted::None => Mode::Compact,
        };
        Ok(Self { stats, unit, mode })
    }
}

/// The settings of the connections of a script's users.
fn pool(settings: &Settings, guard: Option<Guard>) -> Pool {
    let verify = match settings.skips_verification {
        true => Verify::No,
        false => Verify::Yes,
    };
    Pool {
        name: "k6".to_owned(),
        requests: Vec::new(),
        program: PlanProgram::default(),
        load: Load::Closed {
            users: 1,
            think: Pause::NONE,
            pace: Nanos::ZERO,
        },
        users: None,
        begun: 0,
        stop: Stop::default(),
        reach: Reach {
            tls: Tls {
                verify,
                ..Tls::default()
            },
            guard,
            ..Reach::default()
        },
        http: HttpOptions::default(),
        connections: Connections {
            count: 1,
            growth: Growth::Ahead,
            streams: 1,
            keep_alive: match settings.closes_connections {
                true => KeepAlive::No,
                false => KeepAlive::Yes,
            },
            reused_closed: ReusedClosed::RetryAsGo,
            hints: KeepAliveHints::Ignore,
            tls_end: TlsEnd::Any,
            backoff_max: Nanos::from_millis(1),
            spread: Spread::First,
            affinity: Affinity::Shared,
            ping: None,
            opening: Opening::Waiting,
            life: Life::default(),
        },
        timeouts: Timeouts::default(),
        expect: Expect::default(),
        cookies: Cookies::Ignore,
        samples: Samples::Forget,
        transcripts: Transcripts::None,
    }
}

/// A seed for the random numbers of users.
fn fresh_seed() -> u64 {
    let bits = random::random().unwrap_or_default();
    u64::from_le_bytes([
        bits[0], bits[1], bits[2], bits[3], bits[4], bits[5], bits[6], bits[7],
    ])
}
