//! Names whose addresses change during a run, with a name server of the test.

use crate::support::program::words;
use crate::support::{Process, Report, Serve, Signal, drumfire, http, load_of, wait_until};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

/// A name server that returns the same addresses for any name.
struct NameServer {
    address: SocketAddr,
    ips: Arc<Mutex<Vec<Ipv4Addr>>>,
}

impl NameServer {
    fn start(ips: &[Ipv4Addr]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let ips = Arc::new(Mutex::new(ips.to_vec()));
        let known = Arc::clone(&ips);
        // The thread ends with the test's process.
        thread::spawn(move || {
            let mut query = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                let ips = known.lock().unwrap().clone();
                let _gone = socket.send_to(&answer(&query[..length], &ips), from);
            }
        });
        Self { address, ips }
    }

    fn lead_to(&self, ips: &[Ipv4Addr]) {
        *self.ips.lock().unwrap() = ips.to_vec();
    }
}

/// RFC 1035 section 4.1: the question again, then for A one record per address, valid for one
/// second. There are no IPv6 records. Without addresses, the name does not exist.
fn answer(query: &[u8], ips: &[Ipv4Addr]) -> Vec<u8> {
    let end = 12 + query[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
    let is_a = query[end - 3] == 1;
    let records: &[Ipv4Addr] = if is_a { ips } else { &[] };
    let mut reply = query[..end].to_vec();
    reply[2] = 0x81;
    reply[3] = if ips.is_empty() { 0x83 } else { 0x80 };
    reply[6..12].copy_from_slice(&[0, records.len() as u8, 0, 0, 0, 0]);
    for ip in records {
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        reply.extend(ip.octets());
    }
    reply
}

const fn local(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, last)
}

/// A target that scales out gets its share, and a target that moves is followed, without a failure.
#[test]
fn connections_follow_a_name_to_new_addresses() {
    let first = Serve::new("-l 127.0.0.2:0");
    let port = first.port();
    let [second, third] = [3, 4].map(|last| Serve::new(&format!("-l 127.0.0.{last}:{port}")));
    let names = NameServer::start(&[local(2)]);
    let line = format!(
        "-r 200 -z 1h -c 6 --lookup ttl --name-server {} http://shop.test:{port}/",
        names.address
    );
    let process = start(&line);
    // All six connections are open and used in turn; the same holds later.
    first.await_requests(100);
    names.lead_to(&[local(2), local(3)]);
    second.await_requests(100);
    wait_until("half of the connections to move", || open(&first) == 3);
    names.lead_to(&[local(4)]);
    third.await_requests(100);
    wait_until("all of them to move", || open(&first) + open(&second) == 0);
    process.signal(Signal::INT);
    let report = load_of(process);
    assert_eq!(report.n("requests.failed"), 0, "{:?}", report.kinds());
    assert_eq!(report.n("requests.ok"), report.n("requests.sent"));
    // Three of the six move to the second server, then all of them to the third.
    assert_eq!(report.n("connections.closed.moved"), 9);
}

/// The open connections of a server, apart from the one that asks.
fn open(serve: &Serve) -> u64 {
    let counters = serve.counters();
    let count = |name: &str| counters[name].as_u64().unwrap();
    count("connections") - count("connections_ended") - 1
}

/// Starts `drumfire http LINE --json -`.
fn start(line: &str) -> Process {
    let mut command = drumfire(["http", "--json", "-"]);
    Process::start(command.args(words(line)))
}

/// A refusal of a name server has its outcome, and a name that disappears during the run changes
/// nothing.
#[test]
fn names_that_are_not_there_have_their_outcome() {
    let names = NameServer::start(&[]);
    let line = format!(
        "-n 1 --lookup 1s --name-server {} http://shop.test/",
        names.address
    );
    let run = http(&line);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr
            .contains("`shop.test` has no address: the name does not exist"),
        "{}",
        run.stderr
    );

    let serve = Serve::new("");
    names.lead_to(&[local(1)]);
    let line = format!(
        "-r 50 -z 3s -c 2 --lookup 1s --name-server {} http://shop.test:{}/",
        names.address,
        serve.port()
    );
    let process = start(&line);
    serve.await_requests(20);
    names.lead_to(&[]);
    let report: Report = load_of(process);
    assert_eq!(
        (report.n("requests.ok"), report.n("requests.failed")),
        (150, 0)
    );
    assert_eq!(report.n("connections.opened"), 2);
}
