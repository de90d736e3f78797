//! The cost of a unary call with drumfire, h2load with the same message, and ghz: with constant
//! data, and with a request number and a UUID in each message.

use super::Settings;
use crate::claim;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, Finished, MemoryWatch, pinned};
use crate::rounds::{Run, Title, Unit, alternate};
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Spread, Target};
use crate::tool::{OLDER, Programs};
use drumfire_units::Nanos;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The called method.
const METHOD: &str = "grpc.testing.TestService/UnaryCall";

/// The schema, for tools that need one.
const SCHEMA: &str = include_str!("../../proto/interop.proto");

/// The text in the message, as long as the results of the templates.
const TEXT: &str = "1000000 01890a5d-ac96-774b-bcce-b302099a8057";

/// The varying text in drumfire's template language.
const OURS: &str = "{{ request_number }} {{ uuid }}";

/// The varying text in ghz's template language.
const THEIRS: &str = "{{.RequestNumber}} {{newUUID}}";

const CONNECTIONS: u32 = 10;
const STREAMS: u32 = 10;

/// A client, and the form of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrpcCaller {
    /// drumfire with constant data.
    Drumfire,
    /// drumfire with a template for each message.
    DrumfireTemplated,
    /// An older drumfire, with constant data.
    Older,
    /// An older drumfire, with a template for each message.
    OlderTemplated,
    /// h2load with the same bytes, without a schema.
    H2load,
    /// ghz with its templates disabled, which it would evaluate even for constant data.
    Ghz,
    /// ghz with its defaults.
    GhzTemplated,
}

impl GrpcCaller {
    const ALL: [Self; 7] = [
        Self::Drumfire,
        Self::DrumfireTemplated,
        Self::Older,
        Self::OlderTemplated,
        Self::H2load,
        Self::Ghz,
        Self::GhzTemplated,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Drumfire => "drumfire",
            Self::DrumfireTemplated => "drumfire, templated",
            Self::Older => OLDER,
            Self::OlderTemplated => "older drumfire, templated",
            Self::H2load => "h2load",
            Self::Ghz => "ghz, templates off",
            Self::GhzTemplated => "ghz, templated",
        }
    }

    /// The drumfire to compare with, and the target of the ratio.
    fn beside(self) -> Option<(Self, Option<Target>)> {
        let at_most = |ratio| Some(Target::AtMost(ratio));
        match self {
            Self::Drumfire | Self::DrumfireTemplated => None,
            Self::Older => Some((Self::Drumfire, None)),
            Self::OlderTemplated => Some((Self::DrumfireTemplated, None)),
            Self::H2load => Some((Self::Drumfire, at_most(0.45))),
            Self::Ghz => Some((Self::Drumfire, at_most(1.0 / 20.0))),
            Self::GhzTemplated => Some((Self::DrumfireTemplated, at_most(1.0 / 50.0))),
        }
    }

    /// Whether the caller is an older drumfire, which is measured only if it is given.
    fn is_older(self) -> bool {
        matches!(self, Self::Older | Self::OlderTemplated)
    }

    fn program(self, programs: &Programs) -> Option<&PathBuf> {
        match self {
            Self::Drumfire | Self::DrumfireTemplated => Some(&programs.drumfire),
            Self::Older | Self::OlderTemplated => programs.older.as_ref(),
            Self::H2load => programs.h2load.as_ref(),
            Self::Ghz | Self::GhzTemplated => programs.ghz.as_ref(),
        }
    }
}

/// A running server, and files for its clients.
#[derive(Debug)]
pub(super) struct Stage {
    server: Server,
    schema: PathBuf,
    framed: PathBuf,
}

impl Stage {
    /// Starts the server and writes the files.
    pub(super) fn set(programs: &Programs) -> Result<Self> {
        let server = Server::start(Kind::Interop, Encryption::Plain, programs)?;
        let schema = server.folder().join("interop.proto");
        let framed = server.folder().join("framed");
        fs::write(&schema, SCHEMA)?;
        fs::write(&framed, message(TEXT))?;
        Ok(Self {
            server,
            schema,
            framed,
        })
    }

    /// A caller's command line, without its duration.
    pub(super) fn command(&self, caller: GrpcCaller, program: &Path) -> Command {
        let mut command = pinned(CLIENT_CORE, program);
        match caller {
            GrpcCaller::Drumfire | GrpcCaller::Older => {
                self.drumfire(&mut command, TEXT);
                command.arg("--no-templates");
            }
            GrpcCaller::DrumfireTemplated | GrpcCaller::OlderTemplated => {
                self.drumfire(&mut command, OURS)
            }
            GrpcCaller::H2load => {
                command.args(["-t1", "-c", &CONNECTIONS.to_string()]);
                command.args(["-m", &STREAMS.to_string()]);
                command.args(["-H", "content-type: application/grpc"]);
                command.args(["-H", "te: trailers", "-H", "grpc-accept-encoding: gzip"]);
                command.arg("-d").arg(&self.framed);
                command.arg(self.server.url(&format!("/{METHOD}")));
            }
            GrpcCaller::Ghz => {
                self.ghz(&mut command, TEXT);
                command.arg("--disable-template-data");
            }
            GrpcCaller::GhzTemplated => self.ghz(&mut command, THEIRS),
        }
        command
    }

    fn drumfire(&self, command: &mut Command, text: &str) {
        command.args(["grpc", &self.server.address(), "--plaintext", "--proto"]);
        command.arg(&self.schema).args(["--call", METHOD]);
        command.args(["-d", &json(text), "-c", &CONNECTIONS.to_string()]);
        command.args(["--streams", &STREAMS.to_string()]);
        command.args(["--threads=1", "-q", "--json=-"]);
    }

    fn ghz(&self, command: &mut Command, text: &str) {
        command.arg("--insecure").arg("--proto").arg(&self.schema);
        command.args(["--call", METHOD, "-d", &json(text)]);
        command.args(["-c", &(CONNECTIONS * STREAMS).to_string()]);
        command.args(["--connections", &CONNECTIONS.to_string()]);
        // Calls in flight at the end are awaited, as by the other tools, and are not errors.
        command.args(["--duration-stop=wait", &self.server.address()]);
    }
}

/// The data as JSON; the texts need no escapes.
fn json(text: &str) -> String {
    format!("{{\"response_status\":{{\"message\":\"{text}\"}}}}")
}

/// The message in gRPC's framing: no compression, four bytes of length, then field 7, the status,
/// which contains field 2, the text.
fn message(text: &str) -> Vec<u8> {
    let field = |number: u8, content: &[u8]| -> Vec<u8> {
        // Lengths below 128 take one byte, and the texts are far shorter.
        let mut bytes = vec![number << 3 | 2, content.len() as u8];
        bytes.extend(content);
        bytes
    };
    let message = field(7, &field(2, text.as_bytes()));
    let mut framed = vec![0, 0, 0, 0, message.len() as u8];
    framed.extend(message);
    framed
}

/// Runs all callers alternately.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let stage = Stage::set(&settings.programs)?;
    let case = format!("gRPC unary, {CONNECTIONS} × {STREAMS}, grpc-go");
    let mut lines = Vec::new();
    let (callers, missing): (Vec<GrpcCaller>, Vec<GrpcCaller>) = GrpcCaller::ALL
        .into_iter()
        .partition(|caller| caller.program(&settings.programs).is_some());
    for caller in missing.into_iter().filter(|caller| !caller.is_older()) {
        lines.push(Line::Absent {
            what: format!("{case}: {}", caller.name()),
            why: "not installed".to_owned(),
        });
    }
    let runs = alternate(callers.len(), settings.rounds, |index| {
        run(callers[index], &stage, settings)
    })?;
    let title = Title {
        case: &case,
        unit: Unit::PerRequest,
        seconds: settings.seconds,
    };
    for (caller, theirs) in callers.iter().zip(&runs) {
        let beside = caller.beside();
        // The first two runs are always drumfire's, in this order.
        let ours = beside.map(|(ours, _)| runs[ours as usize].as_slice());
        let target = beside.and_then(|(_, target)| target);
        let line = title.compare(caller.name(), theirs, ours, target);
        lines.push(Line::Comparison(line));
    }
    lines.push(difference(&case, &runs[0], &runs[1]));
    Ok(lines)
}

fn run(caller: GrpcCaller, stage: &Stage, settings: &Settings) -> Result<Run> {
    let missing = || Error::other(format!("{} is not installed", caller.name()));
    let program = caller.program(&settings.programs).ok_or_else(missing)?;
    let mut command = stage.command(caller, program);
    let seconds = settings.seconds;
    match caller {
        GrpcCaller::H2load => command.args(["-D", &seconds.to_string()]),
        _ => command.args(["-z", &format!("{seconds}s")]),
    };
    let before = stage.server.cpu();
    let limit = Nanos::from_secs(u64::from(seconds) + 30);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let claim = claim_of(caller, &finished)
        .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
    Run::new(&finished, claim, stage.server.cpu() - before)
}

fn claim_of(caller: GrpcCaller, finished: &Finished) -> Option<claim::Claim> {
    match caller {
        GrpcCaller::Drumfire
        | GrpcCaller::DrumfireTemplated
        | GrpcCaller::Older
        | GrpcCaller::OlderTemplated => claim::drumfire(&finished.stdout),
        GrpcCaller::H2load => claim::h2load(&finished.stdout),
        GrpcCaller::Ghz | GrpcCaller::GhzTemplated => claim::ghz(&finished.stdout),
    }
}

/// The cost of templates, round by round.
fn difference(case: &str, fixed: &[Run], templated: &[Run]) -> Line {
    let pairs = fixed.iter().zip(templated);
    let spread = Spread::from_values(pairs.map(|(a, b)| (b.client_nanos - a.client_nanos) / 1e3));
    Line::Figure(Figure {
        what: format!("{case}: extra cost of a number and a UUID in each message"),
        value: spread.median,
        unit: format!("µs/call {}", spread.ends()),
        target: Some(Target::AtMost(1.5)),
    })
}

#[cfg(test)]
mod tests {
    use super::{GrpcCaller, TEXT, json, message};

    #[test]
    fn the_message_is_framed_as_grpc_wants_it() {
        let framed = message("ab");
        assert_eq!(framed, [0, 0, 0, 0, 6, 0x3a, 4, 0x12, 2, b'a', b'b']);
        assert_eq!(message(TEXT).len(), 5 + 4 + TEXT.len());
        assert_eq!(json("ab"), r#"{"response_status":{"message":"ab"}}"#);
    }

    #[test]
    fn a_caller_that_is_compared_is_compared_with_one_that_is_always_there() {
        for caller in GrpcCaller::ALL {
            let beside = caller.beside().map(|(ours, _)| ours as usize);
            assert!(beside.is_none_or(|index| index < 2));
        }
    }
}
