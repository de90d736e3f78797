//! nginx, haproxy, h2o, nghttpd and Apache httpd from Debian's packages.

use super::certificates::Identity;
use super::folder::Folder;
use super::lab;
use super::patience::{PATIENCE, wait_until};
use super::process::{Process, Signal};
use super::script::get;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A server of another project with its folder: `www/` with bodies of known sizes, and `access.log`
/// with one line per request.
#[derive(Debug)]
pub(crate) struct Peer {
    process: Process,
    folder: Folder,
    port: u16,
    tls_port: u16,
}

/// The files in `www/`: a name and a size in bytes.
pub(crate) const FILES: [(&str, usize); 3] = [
    ("10k.txt", 10_000),
    ("100k.txt", 100_000),
    ("10m.txt", 10_000_000),
];

/// The processes of nginx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processes {
    /// A master that can reload, and a worker.
    Master,
    /// One process that can be stopped and killed as a whole.
    One,
}

/// The settings of nginx for a test, in addition to the defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nginx<'a> {
    pub(crate) processes: Processes,
    pub(crate) identity: Option<&'a Identity>,
    /// Directives for the `server` block.
    pub(crate) extra: &'a str,
}

impl Default for Nginx<'_> {
    fn default() -> Self {
        Self {
            processes: Processes::Master,
            identity: None,
            extra: "",
        }
    }
}

impl Nginx<'_> {
    /// Starts nginx; `None` if it is not installed.
    pub(crate) fn start(&self) -> Option<Peer> {
        if !lab::has("nginx") {
            return None;
        }
        let (folder, port, tls_port) = (www(), lab::port(), lab::port());
        folder.write("nginx.conf", self.configuration(&folder, port, tls_port));
        Some(Peer::start(folder, port, tls_port, nginx))
    }

    fn configuration(&self, folder: &Folder, port: u16, tls_port: u16) -> String {
        let master = match self.processes {
            Processes::Master => "on",
            Processes::One => "off",
        };
        let mut listen = format!("listen 127.0.0.1:{port} backlog=4096;\n");
        if let Some(identity) = self.identity {
            let Identity { certificate, key } = identity;
            let _ = write!(
                listen,
                "listen 127.0.0.1:{tls_port} ssl;\nssl_certificate {certificate};\n\
                 ssl_certificate_key {key};\nssl_session_cache shared:s:1m;\n"
            );
        }
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .fold(String::new(), |text, name| {
                text + &format!("{name}_temp_path {}/{name};\n", folder.path().display())
            });
        format!(
            "user root;\ndaemon off;\nmaster_process {master};\nworker_processes 1;\n\
             pid {0}/pid;\nerror_log {0}/error.log warn;\n\
             events {{ worker_connections 4096; }}\n\
             http {{\n{temporary}\
             log_format line '$request_method $uri $status $request_length $msec $ssl_session_reused';\n\
             access_log {0}/access.log line;\n\
             keepalive_requests 100000000;\nclient_max_body_size 64m;\n\
             gzip_types text/plain;\ngzip_min_length 100;\n\
             server {{\n{listen}root {0}/www;\n\
             location = /status {{ stub_status; access_log off; }}\n\
             location = /post {{ proxy_pass http://127.0.0.1:{port}/taken; \
             proxy_pass_request_body off; proxy_set_header Content-Length \"\"; }}\n\
             location = /taken {{ return 200 taken; access_log off; }}\n\
             location = /fast {{ return 200 fast; }}\n\
             {1}\n}}\n}}\n",
            folder.path().display(),
            self.extra
        )
    }
}

/// haproxy in front of another server's port.
pub(crate) fn haproxy(behind: u16, identity: Option<&Identity>) -> Option<Peer> {
    if !lab::has("haproxy") {
        return None;
    }
    let (folder, port, tls_port) = (www(), lab::port(), lab::port());
    let mut binds = format!("bind 127.0.0.1:{port}\n");
    if let Some(Identity { certificate, key }) = identity {
        let both = fs::read_to_string(certificate).unwrap() + &fs::read_to_string(key).unwrap();
        let pem = folder.write("both.pem", both);
        let _ = writeln!(binds, "bind 127.0.0.1:{tls_port} ssl crt {pem}");
    }
    folder.write(
        "haproxy.cfg",
        format!(
            "global\nmaxconn 4096\ndefaults\nmode http\ntimeout connect 5s\ntimeout client 30s\n\
             timeout server 30s\ntimeout http-keep-alive 30s\nfrontend front\n{binds}\
             default_backend behind\nbackend behind\nserver one 127.0.0.1:{behind}\n"
        ),
    );
    Some(Peer::start(folder, port, tls_port, |folder| {
        let mut command = lab::program("haproxy");
        command.args(["-db", "-f", &folder.at("haproxy.cfg")]);
        command
    }))
}

/// h2o with separate files.
pub(crate) fn h2o(identity: Option<&Identity>) -> Option<Peer> {
    if !lab::has("h2o") {
        return None;
    }
    let (folder, port, tls_port) = (www(), lab::port(), lab::port());
    let mut listen = format!("listen: {{host: 127.0.0.1, port: {port}}}\n");
    if let Some(Identity { certificate, key }) = identity {
        let _ = writeln!(
            listen,
            "listen: {{host: 127.0.0.1, port: {tls_port}, ssl: {{certificate-file: {certificate}, key-file: {key}}}}}"
        );
    }
    folder.write(
        "h2o.conf",
        format!(
            "{listen}num-threads: 1\nmax-connections: 4096\naccess-log: {0}/access.log\n\
             error-log: {0}/error.log\nhosts:\n  default:\n    paths:\n      /:\n        \
             file.dir: {0}/www\n",
            folder.path().display()
        ),
    );
    Some(Peer::start(folder, port, tls_port, |folder| {
        let mut command = lab::program("h2o");
        command.args(["-m", "worker", "-c", &folder.at("h2o.conf")]);
        command
    }))
}

/// nghttpd, which speaks only HTTP/2: over TLS if an identity is given, otherwise in the clear.
pub(crate) fn nghttpd(identity: Option<&Identity>, flags: &str) -> Option<Peer> {
    if !lab::has("nghttpd") {
        return None;
    }
    let (folder, port) = (www(), lab::port());
    Some(Peer::start(folder, port, port, |folder| {
        let mut command = lab::program("nghttpd");
        command.args(["-a", "127.0.0.1", "-d", &folder.at("www")]);
        command.args(flags.split_whitespace());
        match identity {
            None => command.args(["--no-tls", &port.to_string()]),
            Some(Identity { certificate, key }) => {
                command.args([&port.to_string(), key, certificate])
            }
        };
        command
    }))
}

/// Apache httpd, which speaks HTTP/1.1 and HTTP/2 on both of its ports.
pub(crate) fn apache(identity: &Identity) -> Option<Peer> {
    if !lab::has("apache2") {
        return None;
    }
    let own = "MaxKeepAliveRequests 0\nProtocols h2 h2c http/1.1\n";
    Some(httpd(identity, &["dir", "http2"], own))
}

/// Apache httpd as a forward proxy: plain on one port, over TLS on the other. The proxy makes
/// tunnels to all ports, and logs the method and target of each request.
pub(crate) fn forward_proxy(identity: &Identity) -> Option<Peer> {
    if !lab::has("apache2") {
        return None;
    }
    let own = "ProxyRequests On\nAllowCONNECT 1-65535\n";
    let modules = ["proxy", "proxy_http", "proxy_connect"];
    Some(httpd(identity, &modules, own))
}

/// Apache httpd with additional modules and settings.
fn httpd(identity: &Identity, modules: &[&str], own: &str) -> Peer {
    let (folder, port, tls_port) = (www(), lab::port(), lab::port());
    let usual = ["mpm_event", "authz_core", "ssl"];
    let modules: String = usual
        .iter()
        .chain(modules)
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .collect();
    let Identity { certificate, key } = identity;
    folder.write(
        "httpd.conf",
        format!(
            "{modules}ServerName apache.test\nServerRoot {0}\nPidFile {0}/pid\n\
             DocumentRoot {0}/www\nErrorLog {0}/error.log\nUser www-data\nGroup www-data\n\
             LogFormat \"%m %U %>s\" line\nCustomLog {0}/access.log line\n{own}\
             Listen 127.0.0.1:{port}\nListen 127.0.0.1:{tls_port}\n\
             <VirtualHost 127.0.0.1:{tls_port}>\nSSLEngine on\n{own}\
             SSLCertificateFile {certificate}\nSSLCertificateKeyFile {key}\n</VirtualHost>\n",
            folder.path().display()
        ),
    );
    Peer::start(folder, port, tls_port, |folder| {
        let mut command = lab::program("apache2");
        command.args(["-DFOREGROUND", "-f", &folder.at("httpd.conf")]);
        command
    })
}

fn nginx(folder: &Folder) -> Command {
    let mut command = lab::program("nginx");
    command.args(["-p", folder.path().to_str().unwrap()]);
    command.args([
        "-e",
        &folder.at("error.log"),
        "-c",
        &folder.at("nginx.conf"),
    ]);
    command
}

/// A folder with files to serve.
fn www() -> Folder {
    let folder = Folder::new();
    for (name, size) in FILES {
        let line = b"fire at will, and keep time while you do it, 64 bytes to a line\n";
        let body: Vec<u8> = line.iter().copied().cycle().take(size).collect();
        folder.write(&format!("www/{name}"), body);
    }
    folder.write("www/index.html", "<p>hello</p>\n");
    folder
}

impl Peer {
    fn start(
        folder: Folder,
        port: u16,
        tls_port: u16,
        of: impl FnOnce(&Folder) -> Command,
    ) -> Self {
        let process = Process::start(of(&folder).stdin(Stdio::null()));
        let mut peer = Self {
            process,
            folder,
            port,
            tls_port,
        };
        peer.await_port(port);
        peer
    }

    /// Waits until the server listens on a port of this machine. A server with several ports opens
    /// them in turn.
    pub(crate) fn await_port(&mut self, port: u16) {
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(
                Instant::now() < end && self.process.is_running(),
                "the server does not start: {} {}",
                self.process.stderr(),
                self.process.stdout()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub(crate) fn tls_url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.tls_port)
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// The lines of the access log. A server writes a line just after the response.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.at("access.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until the log has `expected` lines, because a line is written after the response.
    /// Returns the number of lines.
    pub(crate) fn logged(&self, expected: u64) -> u64 {
        wait_until("the log is written", || self.log().len() as u64 >= expected);
        // Check again, for lines beyond the expected ones.
        thread::sleep(Duration::from_millis(20));
        self.log().len() as u64
    }

    /// Waits until the log has `count` more lines.
    pub(crate) fn await_requests(&self, count: u64) {
        self.logged(self.log().len() as u64 + count);
    }

    /// nginx's own count of requests, without this one.
    pub(crate) fn requests(&self) -> u64 {
        let text = get(self.address(), "/status").unwrap();
        let line = text.lines().nth(2).unwrap();
        let count: u64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        count - 1
    }

    /// Makes nginx reload its configuration.
    pub(crate) fn reload(&self) {
        self.process.signal(Signal::HUP);
    }

    /// Kills nginx with SIGKILL, and starts it again after a pause.
    pub(crate) fn kill_and_restart(&mut self, pause: Duration) {
        self.process.signal(Signal::KILL);
        self.process.wait(PATIENCE);
        thread::sleep(pause);
        self.process = Process::start(nginx(&self.folder).stdin(Stdio::null()));
        self.await_port(self.port);
    }
}

impl Drop for Peer {
    /// Send SIGTERM first, so that a master ends its workers.
    fn drop(&mut self) {
        if self.process.is_running() {
            self.process.signal(Signal::CONT);
            self.process.signal(Signal::TERM);
            let end = Instant::now() + Duration::from_secs(10);
            while self.process.is_running() && Instant::now() < end {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
