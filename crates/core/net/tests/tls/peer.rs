//! A server's side of TLS under the test's control: rustls makes the records, and the test splits
//! them into pieces.

use drumfire_net::{
    Clock, Endpoint, Io, Native, NativeOptions, Progress, Slot, Stamping, TlsConfig, TlsIdentity,
    TlsMaterial, TlsOptions, TlsVerify, Waiting,
};
use drumfire_units::Nanos;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The one connection of a driver.
pub(crate) const SLOT: Slot = Slot(0);

/// The settings of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    /// The only version that it supports.
    pub(crate) version: &'static SupportedProtocolVersion,
    /// The number of names in its certificate; 2,500 of them take 37 kB.
    pub(crate) names: usize,
    /// The longest record, including the header, that it sends; TLS's own limit if `None`.
    pub(crate) record: Option<usize>,
}

impl Server {
    /// The server's TLS settings. They have only one cipher suite per version, for which
    /// [`crate::pen::Pen`] can write.
    fn config(&self, clients: Arc<dyn ClientCertVerifier>) -> ServerConfig {
        let (certificate, key) = identity(self.names);
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[self.version])
            .expect("a version")
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate], key)
            .expect("they fit");
        config.send_half_rtt_data = true;
        config.enable_secret_extraction = true;
        config.max_fragment_size = self.record;
        config
    }

    /// A connection of this server.
    pub(crate) fn connection(&self) -> ServerConnection {
        let config = self.config(Arc::new(NoClientAuth));
        ServerConnection::new(Arc::new(config)).expect("settings")
    }

    /// A connection of this server that asks for a client certificate and continues without one.
    pub(crate) fn asking(&self) -> ServerConnection {
        let mut roots = RootCertStore::empty();
        roots.add(identity(1).0).expect("a certificate");
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
        let clients = clients.allow_unauthenticated().build().expect("roots");
        let config = self.config(clients);
        ServerConnection::new(Arc::new(config)).expect("settings")
    }
}

fn provider() -> Arc<CryptoProvider> {
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites = vec![
        aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ];
    Arc::new(provider)
}

/// A self-signed certificate for a number of names, generated once, and its key.
fn identity(names: usize) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    type Identity = (CertificateDer<'static>, Vec<u8>);
    static SMALL: OnceLock<Identity> = OnceLock::new();
    static LARGE: OnceLock<Identity> = OnceLock::new();
    let made = if names == 1 { &SMALL } else { &LARGE };
    let (certificate, key) = made.get_or_init(|| {
        let name = |n| format!("host-{n:04}.localhost");
        let own = rcgen::generate_simple_self_signed((0..names).map(name).collect::<Vec<_>>())
            .expect("a certificate");
        (own.cert.der().clone(), own.signing_key.serialize_der())
    });
    let key = PrivateKeyDer::try_from(key.clone()).expect("a key");
    (certificate.clone(), key)
}

/// A driver that trusts every certificate.
pub(crate) fn driver() -> Native {
    let config = TlsConfig::new(&TlsOptions {
        name: "localhost",
        material: &TlsMaterial::default(),
        identity: TlsIdentity::Withheld,
        verify: TlsVerify::No,
        alpn: &[],
        resumed_per_million: 1_000_000,
    });
    Native::new(&NativeOptions {
        clock: Clock::start(),
        waiting: Waiting::Sleep,
        stamping: Stamping::Off,
        tls: vec![config.expect("settings")],
    })
    .expect("a driver")
}

/// Waits at most five seconds for something to happen to the connection.
pub(crate) fn wait(io: &mut Native) {
    let mut ready = Vec::new();
    io.wait(io.now() + Nanos::from_secs(5), &mut ready)
        .expect("a wait");
    assert!(!ready.is_empty(), "nothing happens");
}

/// Opens a connection, and returns its other end. The other end can receive bytes as soon as one
/// end has sent them.
pub(crate) fn connect(io: &mut Native) -> UnixStream {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("drumfire-tls-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let listener = UnixListener::bind(&path).expect("a path");
    if io
        .dial(SLOT, &Endpoint::Unix(path.clone()))
        .expect("it listens")
        == Progress::Pending
    {
        wait(io);
    }
    let (socket, _) = listener.accept().expect("it has connected");
    std::fs::remove_file(path).expect("it was there");
    assert_eq!(io.finish_dial(SLOT), Ok(Progress::Done));
    socket
}

/// The server's end of one connection.
pub(crate) struct Peer {
    /// The socket to the client.
    pub(crate) socket: UnixStream,
    /// The server's TLS.
    pub(crate) tls: ServerConnection,
    /// The text that the client has sent.
    pub(crate) heard: Vec<u8>,
}

impl Peer {
    /// The other end of a connection that the driver opens.
    pub(crate) fn new(io: &mut Native, server: &Server) -> Self {
        let socket = connect(io);
        socket.set_nonblocking(true).expect("a socket");
        Self {
            socket,
            tls: server.connection(),
            heard: Vec::new(),
        }
    }

    /// Reads everything that the client has sent.
    ///
    /// # Errors
    /// rustls's error, or the client's alert.
    pub(crate) fn hear(&mut self) -> Result<(), rustls::Error> {
        loop {
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The client has closed without reading everything; bytes that it sent before are
                // lost.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => panic!("{error}"),
            }
            self.tls.process_new_packets()?;
            match self.tls.reader().read_to_end(&mut self.heard) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
                _ => {}
            }
        }
    }

    /// The records that the server has to send.
    pub(crate) fn flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut flight).expect("memory");
        }
        flight
    }

    /// The records of a text.
    pub(crate) fn say(&mut self, text: &[u8]) -> Vec<u8> {
        self.tls.writer().write_all(text).expect("room");
        self.flight()
    }

    /// Sends bytes unchanged.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("it is sent");
    }
}
