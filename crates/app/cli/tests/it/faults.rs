//! Faults of the network and of this machine: their blame and their remedy.

use crate::support::lab::{self, CpuLimit, Namespace};
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{
    Folder, PATIENCE, Process, Report, Serve, drumfire, load, load_of, wait_until,
};
use rustix::net::{AddressFamily, SocketType, bind, connect, getsockname, listen, socket};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A listener whose queue is full does not answer the next connection.
#[test]
fn a_full_backlog_is_a_timeout_of_the_connection() {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    listen(&listener, 1).unwrap();
    let address = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
    // A queue of one holds two connections; later ones wait.
    let fill = || {
        let one = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        connect(&one, &address).unwrap();
        one
    };
    let _queue = [fill(), fill()];
    let report = load(&format!(
        "-c 4 -n 4 --connect-timeout 500ms http://{address}/"
    ));
    assert_eq!(report.kind("timeout:connect"), 4, "{:#}", report.short());
    check_timeout(&report, 0.5);
}

/// Checks that every failure came after its timeout and that all failures ended. The delay depends
/// on the machine; tests with virtual time check it to the nanosecond.
fn check_timeout(report: &Report, timeout: f64) {
    let ends = ["min", "max"].map(|end| report.number(&format!("latency.failed.{end}")) / 1e9);
    let [least, most] = ends;
    let patience = PATIENCE.as_secs_f64();
    assert!(timeout <= least && most < patience, "{ends:?} s");
}

/// Starts `drumfire http` in a namespace, with JSON on its standard output.
fn start_in(namespace: &Namespace, line: &str) -> Process {
    let mut command = namespace.command(PATH);
    command.args(["http", "--json", "-"]).args(words(line));
    Process::start(&mut command)
}

/// Starts `drumfire serve` in a namespace, on port 9000.
fn serve_in(namespace: &Namespace) -> Process {
    let mut command = namespace.command(PATH);
    let serve = Process::start(command.args(["serve", "-l", "127.0.0.1:9000"]));
    assert_eq!(serve.first_line(PATIENCE), "http://127.0.0.1:9000/");
    serve
}

/// A namespace in which packets to port 9000 can be dropped.
struct Link(Namespace);

impl Link {
    fn new() -> Option<Self> {
        if !lab::has("nft") {
            return None;
        }
        let link = Self(Namespace::new()?);
        link.nft("add table inet t");
        link.nft("add chain inet t c { type filter hook input priority 0 ; }");
        Some(link)
    }

    fn nft(&self, line: &str) {
        let mut command = self.0.command("nft");
        assert!(lab::run(command.args(line.split(' '))), "nft {line}");
    }

    fn cut(&self) {
        self.nft("add rule inet t c tcp dport 9000 drop ; add rule inet t c tcp sport 9000 drop");
    }

    fn heal(&self) {
        self.nft("flush chain inet t c");
    }

    /// Forgets the open connections to port 9000, as a middlebox does: their packets are dropped,
    /// and new connections work.
    fn forget(&self) {
        let mut command = self.0.command("cat");
        let table = command.arg("/proc/net/tcp").output().unwrap().stdout;
        // An address is `HEX:PORT`, and 2328 is 9000.
        let table = String::from_utf8(table).unwrap();
        let rows = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = rows.filter(|row| row.len() > 2 && row[2].ends_with(":2328"));
        let mut count = 0;
        for row in ours {
            let port = u16::from_str_radix(row[1].split_once(':').unwrap().1, 16).unwrap();
            self.nft(&format!(
                "add rule inet t c tcp sport {port} drop ; add rule inet t c tcp dport {port} drop"
            ));
            count += 1;
        }
        assert!(count > 0, "no connection in\n{table}");
    }

    /// Waits until `count` requests have been sent, each with its response and an acknowledgement.
    fn await_requests(&self, count: u64) {
        wait_until("a load", || self.0.tcp("InSegs") >= 3 * count);
    }
}

#[test]
fn a_black_hole_is_a_timeout_of_the_connection() {
    let Some(link) = Link::new() else { return };
    link.cut();
    let line = "-c 4 -n 8 --connect-timeout 400ms http://127.0.0.1:9000/";
    let report = load_of(start_in(&link.0, line));
    assert_eq!(report.kind("timeout:connect"), 8, "{:#}", report.short());
    check_timeout(&report, 0.4);
}

/// A peer that disappears silently: requests time out, and nothing hangs.
#[test]
fn a_vanished_peer_costs_timeouts_and_no_hang() {
    let Some(link) = Link::new() else { return };
    let _serve = serve_in(&link.0);
    let line = "-r 50/s -c 8 -z 4s --timeout 500ms --connect-timeout 500ms http://127.0.0.1:9000/";
    let process = start_in(&link.0, line);
    link.await_requests(50);
    link.cut();
    let report = load_of(process);
    assert_eq!(report.n("requests.intended"), 200);
    assert_eq!(report.n("requests.in_flight"), 0, "{:#}", report.short());
    assert!(report.n("requests.ok") > 20, "{:#}", report.short());
    assert!(report.n("requests.timed_out") >= 8, "{:#}", report.short());
    assert_eq!(report.n("requests.timed_out"), report.n("requests.failed"));
}

/// A middlebox has forgotten an HTTP/2 connection. After a request on it timed out, drumfire pings
/// the connection and replaces it.
#[test]
fn a_forgotten_connection_is_found_dead_and_replaced() {
    let Some(link) = Link::new() else { return };
    let _serve = serve_in(&link.0);
    // The link can forget late on a busy machine, and the run must be longer than that.
    let line = "--http2 -c 1 --streams 100 -r 50/s -z 15s --timeout 500ms --ping 1h \
                --ping-timeout 1s http://127.0.0.1:9000/";
    let process = start_in(&link.0, line);
    // Some requests share a packet with others.
    link.await_requests(20);
    link.forget();
    let report = load_of(process);
    report.balances();
    let short = report.short();
    assert_eq!(report.n("requests.intended"), 750, "{short:#}");
    assert_eq!(
        report.kinds(),
        ["timeout:head", "timeout:ping"],
        "{short:#}"
    );
    assert_eq!(report.n("connections.closed.silent"), 1, "{short:#}");
    assert_eq!(report.n("connections.opened"), 2, "{short:#}");
    let intervals = report.at("intervals").as_array().unwrap();
    let last = &intervals[intervals.len() - 1];
    assert!(last["failed"] == 0 && last["good"] != 0, "{last:#}");
}

/// A link that is down for half a second costs time, but no request.
#[test]
fn a_flapping_link_costs_time_and_no_request() {
    let Some(link) = Link::new() else { return };
    let _serve = serve_in(&link.0);
    let process = start_in(&link.0, "-r 50/s -c 4 -n 200 http://127.0.0.1:9000/");
    link.await_requests(20);
    for _ in 0..2 {
        sleep(ms(500));
        link.cut();
        sleep(ms(500));
        link.heal();
    }
    let report = load_of(process);
    assert_eq!(report.n("requests.ok"), 200, "{:#}", report.short());
    assert!(
        report.quantile("response_time", "0.95") > 0.2,
        "the outage is in the times"
    );
}

/// The kernel has only 16 ports to assign: the failure to get a 17th is this machine's.
#[test]
fn exhausted_ports_are_our_own_fault() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut command = namespace.command("sh");
    let set = "echo 40000 40015 > /proc/sys/net/ipv4/ip_local_port_range";
    assert!(lab::run(command.args(["-c", set])));
    let _serve = serve_in(&namespace);
    // With fewer connections, whether a port is blocked would depend on which side closes first.
    for more in ["", " --no-keepalive"] {
        let line = format!("-c 32 -n 200 --threads 1{more}");
        let report = load_of(start_in(
            &namespace,
            &format!("{line} http://127.0.0.1:9000/"),
        ));
        let ports = report.kind("local:ports");
        assert!(ports > 0, "{line}: {:#}", report.short());
        assert_eq!(
            report.n("requests.failed"),
            ports,
            "the server did nothing wrong"
        );
        let errors = report.at("errors").as_array().unwrap();
        assert!(
            errors.iter().all(|error| error["blame"] == "generator"),
            "{errors:?}"
        );
        check_limited(&report, "local:ports");
    }
    let mut command = namespace.command(PATH);
    command.args(words("http -c 32 -n 200 http://127.0.0.1:9000/"));
    let text = Process::start(&mut command).finish(LIMIT).stdout;
    assert!(text.contains("--source-ip"), "the remedy: {text}");
    // The suggested remedy helps.
    let line = "-c 32 -n 200 --source-ip 127.0.0.2,127.0.0.3,127.0.0.4 http://127.0.0.1:9000/";
    let report = load_of(start_in(&namespace, line));
    assert_eq!(report.n("requests.ok"), 200, "{:#}", report.short());
}

/// Checks that the report of a run that this machine limited shows the limit.
fn check_limited(report: &Report, kind: &str) {
    assert_eq!(report.validity(), "invalid", "{:#}", report.short());
    assert!(
        report.reasons().contains("generator-limited"),
        "{}",
        report.reasons()
    );
    let limits = report.at("generator.limited_by").as_array().unwrap();
    assert!(limits.iter().any(|limit| limit == kind), "{limits:?}");
}

/// Starts `strace` with these options and `drumfire http`.
fn traced(options: &str, line: &str) -> Option<Process> {
    if !lab::has("strace") {
        return None;
    }
    let mut command = neutral(lab::program("strace"));
    command
        .args(["-f", "-qq", "-o", "/dev/null"])
        .args(words(options))
        .arg(PATH);
    command.args(["http", "--json", "-"]).args(words(line));
    Some(Process::start(&mut command))
}

#[test]
fn descriptors_that_run_out_are_our_own_fault() {
    let serve = Serve::new("");
    for (errno, kind) in [
        ("EMFILE", "local:fds"),
        ("ENFILE", "local:fds"),
        ("ENOBUFS", "local:memory"),
        ("ENOMEM", "local:memory"),
    ] {
        let options = format!("-e trace=socket -e inject=socket:error={errno}:when=20+");
        let line = format!("-c 2 -n 60 --no-keepalive --threads 1 {}", serve.url);
        let Some(process) = traced(&options, &line) else {
            return;
        };
        let report = load_of(process);
        assert!(report.kind(kind) > 0, "{errno}: {:#}", report.short());
        assert_eq!(
            report.kind(kind),
            report.n("requests.failed"),
            "{:#}",
            report.short()
        );
        check_limited(&report, kind);
    }
}

/// A call that this machine refuses before the peer is involved is not a fault of the network, even
/// if the number of the error suggests it.
#[test]
fn what_this_machine_refuses_is_our_own_fault() {
    let serve = Serve::new("");
    for (call, errno, words) in [
        ("epoll_ctl", "ENOSPC", "fs.epoll.max_user_watches"),
        (
            "setsockopt",
            "EPERM",
            "setsockopt failed: operation not permitted",
        ),
        (
            "socket",
            "EAFNOSUPPORT",
            "socket failed: address family not supported",
        ),
        ("socket", "EACCES", "socket failed: permission denied"),
    ] {
        let options = format!("-e trace={call} -e inject={call}:error={errno}:when=20+");
        let line = format!("-c 2 -n 60 --no-keepalive --threads 1 {}", serve.url);
        let Some(process) = traced(&options, &line) else {
            return;
        };
        let report = load_of(process);
        let refused = report.kind("local:system");
        assert!(refused > 0, "{call}: {:#}", report.short());
        assert_eq!(refused, report.n("requests.failed"), "{:#}", report.short());
        check_limited(&report, "local:system");
        let errors = report.at("errors").to_string();
        assert!(errors.contains(words), "{errors}");
    }
}

/// A kernel before 5.11, or a sandbox that does not know the call, has no `epoll_pwait2`.
#[test]
fn without_epoll_pwait2_a_run_is_as_any_other() {
    let serve = Serve::new("");
    for errno in ["ENOSYS", "EPERM"] {
        for line in ["-c 4 -n 200 --no-keepalive", "-c 4 -r 300/s -n 200"] {
            let options =
                format!("--seccomp-bpf -e trace=epoll_pwait2 -e inject=epoll_pwait2:error={errno}");
            let Some(process) = traced(&options, &format!("{line} {}", serve.url)) else {
                return;
            };
            let report = load_of(process);
            assert_eq!(report.n("requests.ok"), 200, "{:#}", report.short());
            assert!(report.notes().contains("epoll_pwait2"), "{errno} {line}");
        }
    }
    // If the call exists, the report has no note about it.
    let report = load(&format!("-n 10 {}", serve.url));
    assert_eq!(report.notes(), "");
}

/// A loop that cannot wait has measured only itself. The run ends without a report, and the target
/// is not blamed.
#[test]
fn a_wait_that_fails_ends_the_run_with_its_reason() {
    let serve = Serve::new("");
    let options = "-e trace=epoll_pwait2 -e inject=epoll_pwait2:error=EINVAL:when=9+";
    let line = format!("-c 2 -n 100000 {}", serve.url);
    let Some(process) = traced(options, &line) else {
        return;
    };
    let ended = process.finish(LIMIT);
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""));
    let reason = "the event loop failed: epoll_pwait2 failed: invalid argument";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
}

/// Interrupted calls lose nothing: calls for bytes are repeated, and an early end of a wait is one
/// more turn of the loop.
#[test]
fn interrupted_calls_lose_nothing() {
    let folder = Folder::new();
    let ca = folder.at("ca.pem");
    let plain = Serve::new("");
    let tls = Serve::new(&format!("--tls --tls-ca {ca}"));
    for url in [plain.url, format!("--cacert {ca} {}", tls.url)] {
        for call in ["recvfrom", "sendto", "epoll_pwait2"] {
            let options = format!("-e trace={call} -e inject={call}:error=EINTR:when=3+7");
            let line = format!("-c 4 -n 200 --threads 1 --no-keepalive {url}");
            let Some(process) = traced(&options, &line) else {
                return;
            };
            let report = load_of(process);
            assert_eq!(
                report.n("requests.ok"),
                200,
                "{call} {url}: {:#}",
                report.short()
            );
        }
    }
}

/// A generator that gets a tenth of a core reports itself as the limit.
#[test]
fn a_starved_generator_says_so() {
    let Some(limit) = CpuLimit::new(5_000) else {
        return;
    };
    let serve = Serve::new("");
    let line = format!("http --json - -r 5000/s -z 3s {}", serve.url);
    let process = Process::start(&mut drumfire(words(&line)));
    limit.add_process(process.id());
    let report = load_of(process);
    assert_ne!(report.validity(), "valid", "{:#}", report.short());
    assert!(!report.reasons().is_empty());
    assert!(
        report.number("latency.lag.max") > 10e6,
        "{:#}",
        report.at("latency.lag")
    );
}

/// A kernel that accepts and returns a few kilobytes at a time: bodies are sent and received in
/// pieces, and every byte arrives.
#[test]
fn short_writes_and_reads_lose_nothing() {
    if !lab::has("strace") {
        return;
    }
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut command = namespace.command("sh");
    let set = "for kind in rmem wmem; do \
               echo 4096 4608 4608 > /proc/sys/net/ipv4/tcp_$kind; done";
    assert!(lab::run(command.args(["-c", set])));
    let _serve = serve_in(&namespace);
    let folder = Folder::new();
    let body = folder.write("body", vec![b'x'; 300_000]);
    let trace = folder.at("trace");
    let mut command = namespace.command("strace");
    let line = format!(
        "-f -qq -e trace=sendto -o {trace} {PATH} http --json - -c 2 -n 6 -d @{body} \
         http://127.0.0.1:9000/?size=200000"
    );
    let report = load_of(Process::start(command.args(words(&line))));
    assert_eq!(report.n("requests.ok"), 6, "{:#}", report.short());
    assert!(report.n("bytes.sent") > 6 * 300_000);
    assert!(report.n("bytes.received") > 6 * 200_000);
    let calls = std::fs::read_to_string(&trace).unwrap();
    // A send with enough room would send everything: six sends would suffice.
    let sends = calls.lines().count();
    assert!(sends > 100, "only {sends} sends");
}

/// A limit on the memory of processes.
struct MemoryLimit(String);

impl MemoryLimit {
    fn new(bytes: u64) -> Option<Self> {
        if !lab::is_root() {
            return None;
        }
        let name = format!("drumfire-memory-{}", std::process::id());
        for (root, file) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ] {
            let folder = format!("{root}/{name}");
            if std::fs::create_dir(&folder).is_err() {
                continue;
            }
            let limit = Self(folder);
            let file = format!("{}/{file}", limit.0);
            let exists = std::path::Path::new(&file).exists();
            if exists && std::fs::write(&file, bytes.to_string()).is_ok() {
                return Some(limit);
            }
        }
        lab::lacks("cgroups with a ceiling for memory");
        None
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir(&self.0);
    }
}

/// A server's bytes do not accumulate: two hundred bodies of 4 MB pass through 24 MiB, and so do
/// decoded ones.
#[test]
fn bodies_pass_through_little_memory() {
    let Some(limit) = MemoryLimit::new(24 << 20) else {
        return;
    };
    let serve = Serve::new("--size 4000000");
    // The bodies arrive in parallel, so each one takes as long as all of them.
    for flags in ["-c 200 -n 200", "-c 50 -n 50 --compressed"] {
        let flags = format!("{flags} --timeout 2m");
        let script = format!(
            "echo $$ > {}/cgroup.procs; exec {PATH} http --json - {flags} {}",
            limit.0, serve.url
        );
        let mut command = neutral(Command::new("sh"));
        let report = load_of(Process::start(command.args(["-c", &script])));
        assert_eq!(report.n("requests.failed"), 0, "{:#}", report.short());
    }
}

/// With too little address space, a run is refused before an allocation fails. With any limit that
/// lets the program start, the run either fails to get a thread, reports the limit, or succeeds.
#[test]
fn a_limit_of_addresses_below_what_a_run_needs_is_named() {
    let limited = |limit: u32, args: &[&str]| {
        let plain = drumfire(args);
        let mut command = Command::new("sh");
        let script = format!("ulimit -v {limit}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]);
        command.arg(plain.get_program()).args(plain.get_args());
        Process::start(&mut command).finish(LIMIT)
    };
    let limits = (40_000..250_000).step_by(8_000);
    let loaded = limits.skip_while(|limit| limited(*limit, &["--version"]).code != Some(0));
    let mut named = 0;
    // With the first limit, even an argument may find no memory.
    for limit in loaded.skip(1) {
        let line = ["http", "-n", "1", "--threads", "2", "http://127.0.0.1:9/"];
        let run = limited(limit, &line);
        assert_eq!(run.code, Some(1), "with {limit} kB: {run:?}");
        named += usize::from(run.stderr.contains("raise `ulimit -v`"));
    }
    assert!(named > 0);
}
