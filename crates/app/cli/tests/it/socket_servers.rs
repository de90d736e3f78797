//! WebSockets of libraries for Python, node and Go, which have no part of ours.

use crate::support::{Process, Report, drumfire, lab, load_of, wait_until};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// The number of requests in each row.
const REQUESTS: u64 = 20;

/// Makes the command that starts a server, without its last argument, the port. `None` if the server
/// is not installed.
type Starter = fn() -> Option<Command>;

const SERVERS: [(&str, Starter); 3] = [
    ("websockets", python),
    ("ws", node),
    ("coder/websocket", go),
];

fn python() -> Option<Command> {
    lab::has_python("websockets").then(|| with_script(lab::python(), "sockets.py"))
}

fn node() -> Option<Command> {
    if !Path::new("/usr/share/nodejs/ws").exists() {
        lab::lacks("node-ws");
        return None;
    }
    lab::has("node").then(|| with_script(lab::program("node"), "sockets.js"))
}

fn go() -> Option<Command> {
    lab::suite("socket-server").map(Command::new)
}

fn with_script(mut program: Command, name: &str) -> Command {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support");
    program.arg(Path::new(folder).join(name));
    program
}

/// A server, and its port.
struct Sockets {
    _process: Process,
    name: &'static str,
    port: u16,
}

impl Sockets {
    /// Starts the servers that are installed.
    fn all() -> Vec<Self> {
        let started = SERVERS.into_iter().filter_map(|(name, command)| {
            let (mut command, port) = (command()?, lab::port());
            let process = Process::start(command.arg(port.to_string()).stdin(Stdio::null()));
            wait_until("the server listens", || {
                TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            Some(Self {
                _process: process,
                name,
                port,
            })
        });
        started.collect()
    }

    fn load(&self, flags: &[&str], path: &str) -> Report {
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        let mut command = drumfire(["ws", "--json", "-", "-q", "--no-store"]);
        command.args(flags).arg(url);
        load_of(Process::start(&mut command))
    }
}

#[test]
fn other_servers_answer_every_message() {
    let count = REQUESTS.to_string();
    let long = "long ".repeat(20_000);
    let subprotocol = ["--subprotocol", "chat.v2"];
    for server in Sockets::all() {
        for flags in [&[][..], &["--no-compression"], &["--binary"], &subprotocol] {
            for message in ["hello {{request_number}}", "", &long] {
                let flags = [flags, &["-c", "4", "-n", &count, "-m", message]].concat();
                let report = server.load(&flags, "/");
                let what = format!("{}: {:#}", server.name, report.short());
                assert_eq!(report.n("requests.ok"), REQUESTS, "{what}");
                assert_eq!(report.n("messages.received"), REQUESTS, "{what}");
            }
        }
    }
}

#[test]
fn other_servers_end_as_they_like() {
    let message = ["-c", "2", "-n", "20", "-m", "hello"];
    for server in Sockets::all() {
        let name = server.name;
        let report = server.load(&message, "/no");
        assert_eq!(report.kind("websocket:refused"), REQUESTS, "{name}");
        // Each connection carries one message, whose answer comes before the close.
        let report = server.load(&[&message[..], &["--replies", "2"]].concat(), "/bye");
        assert_eq!(report.kind("websocket:closed"), REQUESTS, "{name}");
        let report = server.load(&["--listen", "300ms", "-c", "4"], "/ticks");
        let what = format!("{name}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), 4, "{what}");
        assert_eq!(report.n("messages.received"), 20, "{what}");
    }
}
