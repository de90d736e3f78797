//! The features of the machine that tests need: other programs, namespaces, limits.
//!
//! A test that cannot run prints why and passes; with `CI=true` it fails.

use rustix::net;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// A suite or server that tools/install-suites.sh installs; `None` if it is not installed.
pub(crate) fn suite(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DRUMFIRE_SUITES")
        .map_or_else(|| repository().join("target/suites"), PathBuf::from);
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    lacks_from(name, "tools/install-suites.sh");
    None
}

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// Prints why a test does not run; fails in CI.
pub(crate) fn lacks(what: &str) {
    lacks_from(what, "tools/install-peers.sh");
}

fn lacks_from(what: &str, script: &str) {
    let text = format!("this test needs {what}; see {script}");
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{text}"
    );
    eprintln!("skipped: {text}");
}

/// Whether a program is installed.
pub(crate) fn has(program: &str) -> bool {
    let found = find(program).is_some();
    if !found {
        lacks(program);
    }
    found
}

/// The path of a program. Servers are in folders that are not in an ordinary user's PATH.
pub(crate) fn find(program: &str) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/local/sbin:/usr/sbin:/sbin";
    let mut candidates = path.split(':').map(|folder| format!("{folder}/{program}"));
    candidates.find(|candidate| Path::new(candidate).is_file())
}

/// A program by its full path.
pub(crate) fn program(name: &str) -> Command {
    Command::new(find(name).unwrap_or_else(|| panic!("no {name}")))
}

/// Debian's Python, which has Debian's libraries.
pub(crate) fn python() -> Command {
    Command::new("/usr/bin/python3")
}

/// Whether Debian's Python has a library.
pub(crate) fn has_python(library: &str) -> bool {
    let mut command = python();
    let found = run(command.args(["-c", &format!("import {library}")]));
    if !found {
        lacks(&format!("Python with {library}"));
    }
    found
}

/// Whether the test runs as root.
pub(crate) fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        lacks("root");
    }
    root
}

/// A free port outside of the range from which the kernel assigns ports.
pub(crate) fn port() -> u16 {
    static OURS: Mutex<Vec<Block>> = Mutex::new(Vec::new());
    let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let block = ours.last_mut();
        let free = block.and_then(|block| block.ports.find(|port| listen(*port).is_some()));
        match free {
            Some(port) => return port,
            None => ours.push(Block::reserve()),
        }
    }
}

/// A block of ports that no other program of these tests takes: a program owns a block if it
/// listens on the block's first port.
#[derive(Debug)]
struct Block {
    _first: TcpListener,
    ports: Range<u16>,
}

impl Block {
    const PORTS: u16 = 20;

    fn reserve() -> Self {
        let all = 900;
        let begin = std::process::id() % all;
        let mut firsts = (begin..all)
            .chain(0..begin)
            .map(|n| 10_000 + n as u16 * Self::PORTS);
        let block = firsts.find_map(|first| {
            Some(Self {
                _first: listen(first)?,
                ports: first + 1..first + Self::PORTS,
            })
        });
        block.expect("a free block of ports")
    }
}

fn listen(port: u16) -> Option<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).ok()
}

/// The number of connections of the server at this port.
pub(crate) fn connections(port: u16) -> usize {
    let is_one = |line: &&str| {
        // sl  local_address rem_address   st …
        let mut words = line.split_whitespace().skip(1);
        let (local, state) = (words.next(), words.nth(1));
        local.is_some_and(|local| local.ends_with(&format!(":{port:04X}"))) && state == Some("01")
    };
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .map(|table| table.lines().filter(is_one).count())
        .sum()
}

/// The number of bytes that one end of a connection has received and not read, by its address and
/// the address of the other end (sock_diag(7)); `None` if the kernel does not report it or the
/// connection has ended. On one machine, all sent bytes have been received. `/proc/net/tcp` has the
/// same information, but reading it takes 0.1 s when a whole run of tests has left many closed
/// connections.
pub(crate) fn unread(near: SocketAddr, far: SocketAddr) -> Option<u64> {
    const BY_FAMILY: u16 = 20; // SOCK_DIAG_BY_FAMILY
    const REQUEST: u16 = 1; // NLM_F_REQUEST
    let (ipv4, ipv6, tcp) = (2, 10, 6);
    let octets = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => [ip.octets().as_slice(), &[0; 12]].concat(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let family = if near.is_ipv4() { ipv4 } else { ipv6 };
    let request = [
        72_u32.to_ne_bytes().as_slice(),
        &BY_FAMILY.to_ne_bytes(),
        &REQUEST.to_ne_bytes(),
        &[0; 8], // no sequence, to the kernel
        &[family, tcp, 0, 0],
        &u32::MAX.to_ne_bytes(), // in any state
        &near.port().to_be_bytes(),
        &far.port().to_be_bytes(),
        &octets(near),
        &octets(far),
        &[0; 4],    // on any interface
        &[0xff; 8], // any cookie
    ]
    .concat();
    let kernel = net::socket(
        net::AddressFamily::NETLINK,
        net::SocketType::RAW,
        Some(net::netlink::SOCK_DIAG),
    );
    let kernel = kernel.ok()?;
    net::send(&kernel, &request, net::SendFlags::empty()).ok()?;
    let mut reply = [0; 4096];
    let (_, length) = net::recv(&kernel, &mut reply, net::RecvFlags::empty()).ok()?;
    let word = |at: usize| {
        let bytes = reply[..length].get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    // A refusal has another type, and means that the connection does not exist.
    let is_it = word(4)? & 0xffff == u32::from(BY_FAMILY);
    is_it.then_some(word(72)?.into())
}

/// Whether a program can run with its own mounts, `unshare -m`.
pub(crate) fn mounts() -> bool {
    let can = has("unshare") && is_root() && run(program("unshare").args(["-m", "true"]));
    if !can {
        lacks("mount namespaces");
    }
    can
}

/// A network namespace with its own loopback.
#[derive(Debug)]
pub(crate) struct Namespace(String);

impl Namespace {
    /// Creates a namespace; `None` if the machine does not allow it.
    pub(crate) fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if !has("ip") || !is_root() {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("drumfire-{}-{number}", std::process::id());
        if !run(program("ip").args(["netns", "add", &name])) {
            lacks("network namespaces");
            return None;
        }
        let namespace = Self(name);
        // A container may allow the namespace, but no program in it.
        if !run(namespace.command("ip").args(["link", "set", "lo", "up"])) {
            lacks("network namespaces");
            return None;
        }
        Some(namespace)
    }

    /// A command that runs a program in the namespace.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = super::program::neutral(program("ip"));
        let path = find(name).unwrap_or_else(|| name.to_owned());
        command.args(["netns", "exec", &self.0, &path]);
        command
    }

    /// One of the kernel's TCP counters in the namespace, such as `InSegs`.
    pub(crate) fn tcp(&self, name: &str) -> u64 {
        let mut command = self.command("cat");
        let output = command.arg("/proc/net/snmp").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // One line of names and one of numbers.
        let mut rows = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
        let (names, numbers) = (rows.next().unwrap(), rows.next().unwrap());
        let at = names.split(' ').position(|found| found == name).unwrap();
        numbers.split(' ').nth(at).unwrap().parse().unwrap()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        run(program("ip").args(["netns", "del", &self.0]));
    }
}

/// A control group, which limits the resources of its processes.
#[derive(Debug)]
pub(crate) struct CpuLimit(String);

impl CpuLimit {
    /// Allows `micros` microseconds of one core in each 100 ms.
    pub(crate) fn new(micros: u32) -> Option<Self> {
        if !is_root() {
            return None;
        }
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("drumfire-{}-{number}", std::process::id());
        for (root, file, text) in [
            (
                "/sys/fs/cgroup/cpu",
                "cpu.cfs_quota_us",
                format!("{micros}\n"),
            ),
            ("/sys/fs/cgroup", "cpu.max", format!("{micros} 100000\n")),
        ] {
            let folder = format!("{root}/{name}");
            if std::fs::create_dir(&folder).is_err() {
                continue;
            }
            let limit = Self(folder);
            let file = format!("{}/{file}", limit.0);
            if Path::new(&file).exists() && std::fs::write(&file, text).is_ok() {
                return Some(limit);
            }
        }
        lacks("cgroups with a CPU quota");
        None
    }

    /// Puts a process with all its threads under the limit.
    pub(crate) fn add_process(&self, id: u32) {
        std::fs::write(format!("{}/cgroup.procs", self.0), id.to_string()).unwrap();
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir(&self.0);
    }
}

/// Whether a command succeeds.
pub(crate) fn run(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
