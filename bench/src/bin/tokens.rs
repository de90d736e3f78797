//! How true clients of language models' servers are: their times to the first token and between
//! tokens, less those of the mock's own log.
//!
//! Each round starts a mock on one core and a client on the other: a closed loop of some streams.
//! The floor is a client on bare sockets, whose error is that of the machine and the network. Other
//! clients are given as commands, whose JSON of results is read.

use clap::Parser;
use drumfire_bench::machine;
use drumfire_bench::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use drumfire_bench::server::Server;
use drumfire_bench::table::Spread;
use drumfire_bench::tokens::floor::{TokenErrand, run as run_floor};
use drumfire_bench::tokens::{Figures, Truth, millis, quantile};
use drumfire_bench::tool::Programs;
use drumfire_net::raise_descriptor_limit;
use drumfire_units::Nanos;
use std::fs;
use std::io::{Error, Result, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The maximum length of a client's run.
const LIMIT: Nanos = Nanos::from_secs(300);

/// Run clients against the mock of a language model, and print the errors of their figures
#[derive(Debug, Parser)]
struct Flags {
    /// The numbers of concurrent streams
    #[arg(long, value_delimiter = ',', default_value = "1,100,1000")]
    streams: Vec<usize>,
    /// Rounds of each client
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Tokens of an answer
    #[arg(long, default_value_t = 50)]
    tokens: u32,
    /// The law of the time to the first token
    #[arg(long, default_value = "50ms")]
    ttft: String,
    /// The law of the time between tokens
    #[arg(long, default_value = "10ms")]
    itl: String,
    /// A client: NAME=COMMAND, with {base}, {host}, {port}, {streams}, {requests}, {tokens} and {file},
    /// into which it writes JSON of drumfire, vllm, AIPerf or GuideLLM; can be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    client: Vec<String>,
    /// The program to judge [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

/// A client.
enum Client {
    /// Bare sockets, in this process.
    Floor,
    /// `drumfire http --events`.
    Drumfire,
    /// `drumfire llm`.
    DrumfireLlm,
    /// A command.
    Given { name: String, command: String },
}

/// The load of one round.
struct Load<'a> {
    server: &'a Server,
    streams: usize,
    requests: usize,
    tokens: u32,
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    raise_descriptor_limit();
    let mut clients = vec![Client::Floor, Client::Drumfire, Client::DrumfireLlm];
    for given in &flags.client {
        let (name, command) = given
            .split_once('=')
            .ok_or_else(|| Error::other("--client: use NAME=COMMAND"))?;
        clients.push(Client::Given {
            name: name.to_owned(),
            command: command.to_owned(),
        });
    }
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{}; load average {}\n",
        machine::describe(),
        machine::load()
    )?;
    writeln!(
        out,
        "| streams | client | error of the mean TTFT, ms | error of its p99 | gap p99, ms | the mock's gap \
         p99 | the mock's lateness p50, p99, max |\n|---|---|---|---|---|---|---|"
    )?;
    for streams in &flags.streams {
        let mut rows: Vec<TokenRounds> = clients.iter().map(|_| TokenRounds::default()).collect();
        for _ in 0..flags.rounds.max(1) {
            for (client, row) in clients.iter().zip(&mut rows) {
                match round(client, *streams, &flags, &programs) {
                    Ok(round) => row.add(&round),
                    Err(error) => row.errors.push(error.to_string()),
                }
            }
        }
        for (client, row) in clients.iter().zip(&rows) {
            writeln!(out, "| {streams} | {} | {} |", client.name(), row.cells())?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Runs one client against a fresh mock.
fn round(
    client: &Client,
    streams: usize,
    flags: &Flags,
    programs: &Programs,
) -> Result<(Figures, Truth)> {
    let serving = ["--llm", "--role-chunk", "none", "--arrival-log"];
    let mut serving = serving.to_vec();
    serving.extend(["--ttft", &flags.ttft, "--itl", &flags.itl]);
    let server = Server::serving(Ipv4Addr::LOCALHOST, &serving, programs)?;
    let load = Load {
        server: &server,
        streams,
        requests: (2 * streams).max(20),
        tokens: flags.tokens,
    };
    let figures = client.run(&load, programs)?;
    let truth = Truth::parse(&server.get("/llm/log")?)?;
    if truth.other > 0 || truth.done < load.requests {
        let words = format!("{} of {} requests ended well", truth.done, load.requests);
        return Err(Error::other(words));
    }
    Ok((figures, truth))
}

impl Client {
    fn name(&self) -> &str {
        match self {
            Self::Floor => "floor",
            Self::Drumfire => "drumfire http",
            Self::DrumfireLlm => "drumfire llm",
            Self::Given { name, .. } => name,
        }
    }

    fn run(&self, load: &Load<'_>, programs: &Programs) -> Result<Figures> {
        match self {
            Self::Floor => load.floor(),
            Self::Drumfire => load.drumfire(&programs.drumfire),
            Self::DrumfireLlm => load.drumfire_llm(&programs.drumfire),
            Self::Given { command, .. } => load.given(command),
        }
    }
}

impl Load<'_> {
    fn body(&self) -> String {
        format!(
            "{{\"model\":\"m\",\"stream\":true,\"max_tokens\":{},\"messages\":[{{\"role\":\"user\",\
             \"content\":\"one two three\"}}]}}",
            self.tokens
        )
    }

    fn floor(&self) -> Result<Figures> {
        let body = self.body();
        let peer = self.server.address();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {peer}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let errand = TokenErrand {
            peer: peer.parse().map_err(Error::other)?,
            request: (head + &body).into_bytes(),
            connections: self.streams,
            requests: self.requests,
            events: self.tokens,
        };
        Ok(run_floor(&errand)?.figures())
    }

    fn drumfire(&self, program: &Path) -> Result<Figures> {
        let mut command = pinned(CLIENT_CORE, program);
        command.args([
            "http",
            "--events",
            "--json",
            "-",
            "-X",
            "POST",
            "-d",
            &self.body(),
        ]);
        command.args(["-H", "content-type: application/json", "--quiet"]);
        command.args([
            "-c",
            &self.streams.to_string(),
            "-n",
            &self.requests.to_string(),
        ]);
        command.arg(self.server.url("/v1/chat/completions"));
        let finished = process::run(&mut command, LIMIT, MemoryWatch::Nothing)?;
        Figures::parse(&finished.stdout)
    }

    fn drumfire_llm(&self, program: &Path) -> Result<Figures> {
        let mut command = pinned(CLIENT_CORE, program);
        command.args(["llm", "-m", "m", "--json", "-", "--quiet", "--input", "3"]);
        command.args(["--output", &self.tokens.to_string()]);
        command.args([
            "-c",
            &self.streams.to_string(),
            "-n",
            &self.requests.to_string(),
        ]);
        command.arg(self.server.url("/v1/chat/completions"));
        let finished = process::run(&mut command, LIMIT, MemoryWatch::Nothing)?;
        Figures::parse(&finished.stdout)
    }

    fn given(&self, words: &str) -> Result<Figures> {
        let file = self.server.folder().join("figures.json");
        let address = self.server.address();
        let (host, port) = address.rsplit_once(':').unwrap_or((&address, ""));
        let mut words = words.to_owned();
        for (name, value) in [
            ("{base}", self.server.url("")),
            ("{host}", host.to_owned()),
            ("{port}", port.to_owned()),
            ("{streams}", self.streams.to_string()),
            ("{requests}", self.requests.to_string()),
            ("{tokens}", self.tokens.to_string()),
            ("{file}", file.display().to_string()),
        ] {
            words = words.replace(name, &value);
        }
        let mut command = pinned(CLIENT_CORE, "sh");
        command.args(["-c", &words]);
        process::run(&mut command, LIMIT, MemoryWatch::Nothing)?;
        Figures::parse(&fs::read_to_string(&file)?)
    }
}

/// The rounds of one client.
#[derive(Default)]
struct TokenRounds {
    mean: Vec<f64>,
    p99: Vec<f64>,
    gap: Vec<f64>,
    true_gap: Vec<f64>,
    lateness: Vec<Nanos>,
    errors: Vec<String>,
}

impl TokenRounds {
    fn add(&mut self, (client, truth): &(Figures, Truth)) {
        let mock = truth.times.figures();
        self.mean.push(client.first_mean - mock.first_mean);
        if let (Some(client), Some(mock)) = (client.first_p99, mock.first_p99) {
            self.p99.push(client - mock);
        }
        self.gap.extend(client.gap_p99);
        self.true_gap.extend(mock.gap_p99);
        self.lateness.extend(&truth.lateness);
    }

    fn cells(&self) -> String {
        if let Some(error) = self.errors.first() {
            return format!("{error} ({} rounds)", self.errors.len());
        }
        let spread = |figures: &[f64]| {
            let Spread { median, min, max } = Spread::from_values(figures.iter().copied());
            match figures.is_empty() {
                true => "—".to_owned(),
                false => format!("{median:.2} ({min:.2} to {max:.2})"),
            }
        };
        let late = [0.5, 0.99, 1.0].map(|q| quantile(&self.lateness, q).map_or(f64::NAN, millis));
        format!(
            "{} | {} | {} | {} | {:.2}, {:.2}, {:.2}",
            spread(&self.mean),
            spread(&self.p99),
            spread(&self.gap),
            spread(&self.true_gap),
            late[0],
            late[1],
            late[2],
        )
    }
}
