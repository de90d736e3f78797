//! The verdict of Autobahn's fuzzing server on the machines of `http1` and `websocket`, for all
//! cases of the suite. The client sends each message back, as the suite requires.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use drumfire_http1::{Event as Http1Event, Machine, Persistence, RequestKind};
use drumfire_websocket::{
    Agreed, Closing, DeflateOffer, Event, Key, Offer, Outgoing, Reader, Shared, Violation, Writer,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The number of cases.
const CASES: usize = 517;
/// The name under which the suite lists us.
const AGENT: &str = "drumfire";
/// The suite sends some messages a thousand times; a busy machine may need long for them.
const SECONDS_MAX: u64 = 3600;

#[test]
fn a_case_on_the_list_has_a_reason() {
    let list = "# words\n\n6.4.1 # the server is wrong\n";
    assert_eq!(known_failing(list), ["6.4.1"]);
    assert!(std::panic::catch_unwind(|| known_failing("6.4.1\n")).is_err());
}

#[test]
#[ignore = "needs Python 2.7 and minutes: make autobahn"]
fn every_case_of_autobahn() {
    let suite = suite("wstest");
    let server = FuzzingServer::start(&suite);
    let count = server.ask("/getCaseCount");
    assert_eq!(count, CASES.to_string(), "other cases than expected");
    for case in 1..=CASES {
        let path = format!("/runCase?case={case}&agent={AGENT}");
        server.converse(&path).unwrap();
    }
    server
        .converse(&format!("/updateReports?agent={AGENT}"))
        .unwrap();
    let verdicts = server.verdicts();
    assert_eq!(verdicts.len(), CASES);
    let list = repository().join("conformance/websocket/known-failing.txt");
    let list = std::fs::read_to_string(list).unwrap();
    let known = known_failing(&list);
    let failed: Vec<_> = verdicts
        .iter()
        .filter(|(_, verdict)| !is_good(verdict))
        .map(|(case, _)| case.as_str())
        .collect();
    assert_eq!(failed, known, "{verdicts:#?}");
    let strict = verdicts
        .values()
        .filter(|verdict| *verdict == "OK, OK")
        .count();
    eprintln!("{strict} of {CASES} are OK; the others are informational");
}

/// Whether a case passed. Some cases have no right behaviour, and are informational.
fn is_good(verdict: &str) -> bool {
    let accepted = ["OK", "INFORMATIONAL"];
    verdict.split(", ").all(|half| accepted.contains(&half))
}

/// The cases on the list; each must have a reason.
fn known_failing(list: &str) -> Vec<&str> {
    let entries = list
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &'_ str| line.split_once(" # ").map(|(case, _)| case.trim().len());
    entries
        .map(|line| &line[..case(line).expect("a reason")])
        .collect()
}

/// The suite's server.
struct FuzzingServer {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl FuzzingServer {
    fn start(suite: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder = std::env::temp_dir().join(format!("drumfire-autobahn-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let specification = serde_json::json!({
            "url": format!("ws://127.0.0.1:{port}"),
            "outdir": folder.join("reports"),
            "cases": ["*"],
            "exclude-cases": [],
            "exclude-agent-cases": {},
        });
        let file = folder.join("specification.json");
        std::fs::write(&file, specification.to_string()).unwrap();
        let child = Command::new("timeout")
            .arg(SECONDS_MAX.to_string())
            .arg(suite)
            .args(["-m", "fuzzingserver", "-s"])
            .arg(&file)
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self {
            child,
            port,
            folder,
        };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "the suite listens"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// The text that the server sends for a path.
    fn ask(&self, path: &str) -> String {
        let texts = self.converse(path).unwrap();
        String::from_utf8(texts).unwrap()
    }

    /// Sends all messages back until the server ends the connection; returns their bytes, at most
    /// the first hundred.
    fn converse(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut conversation = Conversation::open(self.port, path)?;
        conversation.run()?;
        Ok(conversation.first)
    }

    /// What the suite thinks of each case: of the messages, and of the close.
    fn verdicts(&self) -> BTreeMap<String, String> {
        let index = std::fs::read(self.folder.join("reports/index.json")).unwrap();
        let index: Value = serde_json::from_slice(&index).unwrap();
        let cases = index[AGENT].as_object().unwrap();
        let verdict = |case: &Value| {
            let text = |name: &str| case[name].as_str().unwrap().to_owned();
            [text("behavior"), text("behaviorClose")].join(", ")
        };
        cases
            .iter()
            .map(|(name, case)| (name.clone(), verdict(case)))
            .collect()
    }
}

impl Drop for FuzzingServer {
    fn drop(&mut self) {
        // `timeout` passes the signal on to the server.
        let _killed = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ended = self.child.wait();
        let _removed = std::fs::remove_dir_all(&self.folder);
    }
}

/// One connection.
struct Conversation {
    stream: TcpStream,
    /// Received bytes that are not yet read.
    input: Vec<u8>,
    agreed: Agreed,
    first: Vec<u8>,
}

impl Conversation {
    /// Connects, and does the handshake.
    fn open(port: u16, path: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        let offer = Offer::new(Vec::new(), Some(DeflateOffer::default())).unwrap();
        let key = Key::new(
            u128::from(port)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .to_be_bytes(),
        );
        let mut head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n");
        for (name, value) in offer.fields_http1() {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let text = key.text();
        let text = std::str::from_utf8(&text).unwrap();
        head.push_str(&format!("Sec-WebSocket-Key: {text}\r\n\r\n"));
        stream.write_all(head.as_bytes())?;
        let mut machine = Machine::new();
        machine.send(RequestKind::Upgrade, Persistence::KeepAlive);
        let mut shared = drumfire_http1::Shared::default();
        let (mut input, mut agreed) = (Vec::new(), None);
        loop {
            receive(&mut stream, &mut input)?;
            loop {
                let step = machine
                    .handle_input(&input, &mut shared)
                    .map_err(io::Error::other)?;
                let consumed = step.consumed;
                match step.event {
                    Http1Event::NeedInput => {
                        input.drain(..consumed);
                        break;
                    }
                    Http1Event::Head(head) => {
                        let fields = head.headers.iter();
                        let checked = offer.check_http1(&key, head.status, fields);
                        agreed = Some(checked.map_err(io::Error::other)?);
                        input.drain(..consumed);
                    }
                    Http1Event::End(_) => {
                        input.drain(..consumed);
                        return Ok(Self {
                            stream,
                            input,
                            agreed: agreed.unwrap(),
                            first: Vec::new(),
                        });
                    }
                    Http1Event::Interim(_) | Http1Event::Body(_) => {
                        return Err(io::Error::other("not a WebSocket"));
                    }
                }
            }
        }
    }

    /// Sends each message back, until the connection ends.
    fn run(&mut self) -> io::Result<()> {
        let mut reader = Reader::new(&self.agreed, usize::MAX);
        let mut writer = Writer::new(&self.agreed);
        let (mut shared, mut closing) = (Shared::default(), Closing::new());
        let mut state = 1_u32;
        let mut mask = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            state
        };
        let mut out = Vec::new();
        loop {
            let input = std::mem::take(&mut self.input);
            let mut rest = &input[..];
            loop {
                let step = match reader.handle_input(rest, &mut shared) {
                    Ok(step) => step,
                    Err(violation) => return self.fail(violation, &mut out, mask()),
                };
                rest = &rest[step.consumed..];
                match step.event {
                    Event::NeedInput => break,
                    Event::Message(message) => {
                        if self.first.is_empty() {
                            let length = message.payload.len().min(100);
                            self.first.extend_from_slice(&message.payload[..length]);
                        }
                        let payload = message.payload.to_vec();
                        let echo = Outgoing::new(message.kind, &payload);
                        writer.message(&mut out, echo, &mut mask, &mut shared);
                    }
                    Event::Ping(payload) => {
                        let payload = payload.to_vec();
                        Writer::pong(&mut out, &payload, mask()).map_err(io::Error::other)?;
                    }
                    Event::Pong(_) => {}
                    Event::Close(close) => {
                        if let Some(reply) = closing.close_received(close.code) {
                            Writer::close(&mut out, reply.code, "", mask())
                                .map_err(io::Error::other)?;
                            closing.close_sent();
                        }
                    }
                }
            }
            self.stream.write_all(&out).or_else(gone)?;
            out.clear();
            if receive(&mut self.stream, &mut self.input).is_err() {
                return Ok(());
            }
        }
    }

    /// Ends the connection with the reason.
    fn fail(&mut self, violation: Violation, out: &mut Vec<u8>, mask: u32) -> io::Result<()> {
        let code = Some(violation.close_code());
        Writer::close(out, code, &violation.to_string(), mask).map_err(io::Error::other)?;
        self.stream.write_all(out).or_else(gone)?;
        self.stream
            .shutdown(std::net::Shutdown::Write)
            .or_else(gone)?;
        let mut discarded = Vec::new();
        while receive(&mut self.stream, &mut discarded).is_ok() {
            discarded.clear();
        }
        Ok(())
    }
}

/// The suite closes some connections before our last bytes.
fn gone(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ok(()),
        io::ErrorKind::NotConnected => Ok(()),
        _ => Err(error),
    }
}

/// Adds received bytes.
///
/// # Errors
/// If the connection has ended.
fn receive(stream: &mut TcpStream, input: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 65_536];
    match stream.read(&mut buffer)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        length => {
            input.extend_from_slice(&buffer[..length]);
            Ok(())
        }
    }
}

/// The path of a suite, which must be installed.
fn suite(name: &str) -> PathBuf {
    let folder = std::env::var_os("DRUMFIRE_SUITES")
        .map_or_else(|| repository().join("target/suites"), PathBuf::from);
    let path = folder.join(name);
    assert!(
        path.is_file(),
        "{name} is missing; see tools/install-suites.sh"
    );
    path
}

/// The repository's root.
fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
