//! Servers to measure against: started on loopback, on a separate core, and killed when their guard
//! is dropped.

use crate::floor::Encryption;
use crate::process::{CLIENT_CORE, Guarded, SERVER_CORE, cpu_so_far, pinned};
use crate::tool::Programs;
use drumfire_net::Clock;
use drumfire_units::Nanos;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{Error, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The time within which a server must listen.
const START_MAX: Nanos = Nanos::from_secs(5);

/// The kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// nginx, one process.
    Nginx,
    /// nginx, a process on each of two cores.
    NginxPair,
    /// `drumfire serve`, one thread.
    Serve,
    /// `drumfire serve` with gRPC, one thread.
    ServeGrpc,
    /// [`crate::answer`]: the minimal work of a server. Without TLS.
    Answer,
    /// nghttpd without TLS, one thread.
    Nghttpd,
    /// grpc-go's server for the interoperability tests. It listens on all addresses.
    Interop,
}

impl Kind {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx | Self::NginxPair => "nginx",
            Self::Serve | Self::ServeGrpc => "`drumfire serve`",
            Self::Answer => "`answer`",
            Self::Nghttpd => "nghttpd",
            Self::Interop => "grpc-go",
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Guarded,
    /// The process on the clients' core, which listens at the same address.
    beside: Option<Guarded>,
    /// The command that starts the server.
    command: Command,
    kind: Kind,
    scheme: Encryption,
    address: SocketAddrV4,
    folder: BenchFolder,
}

impl Server {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    /// If it is not installed or does not listen in time.
    pub fn start(kind: Kind, scheme: Encryption, programs: &Programs) -> Result<Self> {
        let address = free_address(Ipv4Addr::LOCALHOST)?;
        let folder = BenchFolder::new(address)?;
        let command = match kind {
            Kind::Answer => {
                let mut command = pinned(SERVER_CORE, &programs.answer);
                command.arg(address.to_string());
                command
            }
            Kind::Serve | Kind::ServeGrpc => {
                let mut command = serve(programs, address);
                if scheme == Encryption::Tls {
                    command.arg("--tls");
                }
                if kind == Kind::ServeGrpc {
                    command.arg("--grpc");
                }
                command
            }
            Kind::Nginx | Kind::NginxPair => nginx(programs, &folder, address, scheme)?,
            Kind::Nghttpd => nghttpd(programs, &folder, address.port())?,
            Kind::Interop => {
                let mut command = pinned(SERVER_CORE, installed(programs.interop.as_ref(), kind)?);
                command.arg(format!("--port={}", address.port()));
                command
            }
        };
        Self::spawn(kind, scheme, address, folder, command)
    }

    /// Starts `drumfire serve` with these flags at a loopback address.
    ///
    /// # Errors
    /// If it does not listen in time.
    pub fn serving(ip: Ipv4Addr, flags: &[&str], programs: &Programs) -> Result<Self> {
        let address = free_address(ip)?;
        let mut command = serve(programs, address);
        command.args(flags);
        let folder = BenchFolder::new(address)?;
        Self::spawn(Kind::Serve, Encryption::Plain, address, folder, command)
    }

    fn spawn(
        kind: Kind,
        scheme: Encryption,
        address: SocketAddrV4,
        folder: BenchFolder,
        mut command: Command,
    ) -> Result<Self> {
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let beside = match kind {
            Kind::NginxPair => Some(Guarded(on_core(CLIENT_CORE, &command).spawn()?)),
            _ => None,
        };
        let server = Self {
            child: Guarded(command.spawn()?),
            beside,
            command,
            kind,
            scheme,
            address,
            folder,
        };
        server.await_listening()?;
        Ok(server)
    }

    /// Kills the process immediately, like a crash.
    ///
    /// # Errors
    /// If it has already ended.
    pub fn crash(&mut self) -> Result<()> {
        self.child.0.kill()?;
        self.child.0.wait().map(drop)
    }

    /// Starts the server again at the same address, and waits until it listens.
    ///
    /// # Errors
    /// If it does not listen in time.
    pub fn start_again(&mut self) -> Result<()> {
        self.child = Guarded(self.command.spawn()?);
        self.await_listening()
    }

    /// Stops the process, which keeps its sockets.
    ///
    /// # Errors
    /// If it has ended.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Continues a frozen process.
    ///
    /// # Errors
    /// If it has ended.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::SIGCONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.child.0.id()).map_err(Error::other)?;
        Ok(kill(Pid::from_raw(pid), signal)?)
    }

    /// The body of the response to GET.
    ///
    /// # Errors
    /// If the response has no body.
    pub fn get(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        let host = self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (_, body) = text
            .split_once("\r\n\r\n")
            .ok_or_else(|| Error::other(format!("{path}: no response")))?;
        Ok(body.to_owned())
    }

    /// The number of requests that nginx has answered so far, including this one, according to
    /// nginx.
    ///
    /// # Errors
    /// If nginx does not count requests.
    pub fn requests(&self) -> Result<u64> {
        let text = self.get(NGINX_COUNT)?;
        let numbers = text.lines().nth(2);
        numbers
            .and_then(|line| line.split_whitespace().nth(2)?.parse().ok())
            .ok_or_else(|| Error::other(format!("nginx counts `{text}`")))
    }

    /// The URL of a path on this server.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = match self.scheme {
            Encryption::Plain => "http",
            Encryption::Tls => "https",
        };
        format!("{scheme}://{}{path}", self.address)
    }

    /// The address in the form for clients without URLs.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The port of the server.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// A folder that is removed with the server.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// CPU time of the server so far.
    #[must_use]
    pub fn cpu(&self) -> Nanos {
        let processes = [Some(&self.child), self.beside.as_ref()];
        let processes = processes.into_iter().flatten();
        let cpu = processes.map(|process| cpu_so_far(process.0.id()).0);
        Nanos(cpu.sum())
    }

    fn await_listening(&self) -> Result<()> {
        let clock = Clock::start();
        while clock.now() < START_MAX {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            thread::sleep(Nanos::from_millis(20).as_duration());
        }
        Err(Error::other(format!("{} did not start", self.kind.name())))
    }
}

/// `drumfire serve` without additional flags.
fn serve(programs: &Programs, address: SocketAddrV4) -> Command {
    let mut command = pinned(SERVER_CORE, &programs.serve);
    command.args(["serve", "--listen", &address.to_string()]);
    command
}

/// An unused port with five digits, so that the length of a request does not depend on the port.
fn free_address(ip: Ipv4Addr) -> Result<SocketAddrV4> {
    let port = TcpListener::bind((ip, 0))?.local_addr()?.port();
    Ok(SocketAddrV4::new(ip, port))
}

/// A folder for a server's files, removed with its guard.
#[derive(Debug)]
struct BenchFolder(PathBuf);

impl BenchFolder {
    fn new(address: SocketAddrV4) -> Result<Self> {
        let (ip, port) = (address.ip(), address.port());
        let name = format!("drumfire-bench-{}-{ip}-{port}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for BenchFolder {
    fn drop(&mut self) {
        // A folder left in the temporary directory does no harm.
        let _left_over = fs::remove_dir_all(&self.0);
    }
}

fn installed(program: Option<&PathBuf>, kind: Kind) -> Result<&PathBuf> {
    program.ok_or_else(|| Error::other(format!("{} is not installed", kind.name())))
}

/// nghttpd without TLS, with a body of 100 bytes at `/`.
fn nghttpd(programs: &Programs, folder: &BenchFolder, port: u16) -> Result<Command> {
    let mut command = pinned(
        SERVER_CORE,
        installed(programs.nghttpd.as_ref(), Kind::Nghttpd)?,
    );
    fs::write(folder.0.join("index.html"), [b'x'; 100])?;
    command.args(["--no-tls", "--workers=1", "--address=127.0.0.1", "-d"]);
    command.arg(&folder.0).arg(port.to_string());
    Ok(command)
}

/// The path of nginx's number of answered requests.
const NGINX_COUNT: &str = "/requests";

/// One nginx process, with bodies of 100 bytes at `/` and 1 kB at `/1k` from its configuration, and
/// files of 10 kB and 100 kB.
/// The command of a server, on another core.
fn on_core(core: u32, command: &Command) -> Command {
    let mut other = Command::new(command.get_program());
    let cores = SERVER_CORE.to_string();
    other.args(command.get_args().map(|arg| match arg == cores.as_str() {
        true => core.to_string().into(),
        false => arg.to_owned(),
    }));
    other.stdin(Stdio::null());
    other.stdout(Stdio::null()).stderr(Stdio::null());
    other
}

fn nginx(
    programs: &Programs,
    folder: &BenchFolder,
    address: SocketAddrV4,
    scheme: Encryption,
) -> Result<Command> {
    let program = installed(programs.nginx.as_ref(), Kind::Nginx)?;
    let path = &folder.0;
    for (name, bytes) in [("10k", 10_000), ("100k", 100_000)] {
        fs::write(path.join(name), vec![b'x'; bytes])?;
    }
    let tls = match scheme {
        Encryption::Plain => "",
        Encryption::Tls => {
            certificate(folder)?;
            "ssl_certificate cert.pem; ssl_certificate_key key.pem;"
        }
    };
    let ssl = if scheme == Encryption::Tls {
        " ssl"
    } else {
        ""
    };
    let [small, body] = [100, 1_000].map(|bytes| "x".repeat(bytes));
    let folder = path.display();
    let text = format!(
        "daemon off; master_process off;
         pid {folder}/pid; error_log {folder}/error.log crit;
         events {{ worker_connections 16000; }}
         http {{
           access_log off; default_type text/plain;
           sendfile on; tcp_nopush on; open_file_cache max=100;
           keepalive_requests 1000000000; keepalive_timeout 300s;
           client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
           uwsgi_temp_path {folder}; scgi_temp_path {folder};
           server {{
             listen {address}{ssl} backlog=8192 reuseport; {tls}
             root {folder}; client_max_body_size 0;
             location = {NGINX_COUNT} {{ stub_status; }}
             location = / {{ return 200 {small}; }}
             location = /1k {{ return 200 {body}; }}
           }}
         }}\n"
    );
    fs::write(path.join("nginx.conf"), text)?;
    let mut command = pinned(SERVER_CORE, program);
    command.arg("-e").arg(path.join("error.log"));
    command.arg("-c").arg(path.join("nginx.conf"));
    Ok(command)
}

/// Creates a self-signed certificate that is valid for a day.
fn certificate(folder: &BenchFolder) -> Result<()> {
    let mut command = Command::new("openssl");
    command.args("req -x509 -nodes -days 1 -subj /CN=localhost".split(' '));
    command.args("-newkey ec -pkeyopt ec_paramgen_curve:P-256".split(' '));
    command.args(["-keyout", "key.pem", "-out", "cert.pem"]);
    let output = command.current_dir(&folder.0).output()?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::other(format!(
        "openssl created no certificate: {words}"
    )))
}
