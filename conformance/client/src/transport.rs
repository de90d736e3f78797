//! Bytes to and from the suite's server, blocking, in plain text or over TLS.

use crate::message::ClientCompatRequest;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a connection, and of a wait in a call without a deadline.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// The size of a read.
const BUFFER_BYTES: usize = 64 * 1024;

/// A connection to the server.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: TcpStream,
    tls: Option<ClientConnection>,
    buffer: Vec<u8>,
}

/// The result of a read.
#[derive(Debug)]
pub(crate) enum ReadOutcome<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// No bytes yet.
    Nothing,
    /// The server has closed or reset the connection.
    End,
}

impl Transport {
    /// Connects with the settings of the request, including the TLS handshake.
    pub(crate) fn connect(request: &ClientCompatRequest) -> Result<Self, String> {
        let port = u16::try_from(request.port).map_err(|error| error.to_string())?;
        let failed = |error: io::Error| format!("failed to connect: {error}");
        let socket = TcpStream::connect((request.host.as_str(), port)).map_err(failed)?;
        socket.set_nodelay(true).map_err(failed)?;
        socket.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut transport = Self {
            socket,
            tls: None,
            buffer: vec![0; BUFFER_BYTES],
        };
        if !request.server_tls_cert.is_empty() {
            let mut tls = client(request)?;
            while tls.is_handshaking() {
                tls.complete_io(&mut transport.socket).map_err(failed)?;
            }
            if tls.alpn_protocol() != Some(b"h2") {
                return Err("the server does not agree to HTTP/2".to_owned());
            }
            transport.tls = Some(tls);
        }
        Ok(transport)
    }

    /// Writes all bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return self.socket.write_all(bytes);
        };
        tls.writer().write_all(bytes)?;
        while tls.wants_write() {
            tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    /// Reads available bytes; waits for them up to `wait`.
    pub(crate) fn read(&mut self, wait: Duration) -> io::Result<ReadOutcome<'_>> {
        // A timeout of zero would mean no timeout.
        let wait = wait.max(Duration::from_micros(1));
        self.socket.set_read_timeout(Some(wait))?;
        let read = match &mut self.tls {
            None => self.socket.read(&mut self.buffer),
            Some(tls) => read_tls(tls, &mut self.socket, &mut self.buffer),
        };
        match read {
            Ok(0) => Ok(ReadOutcome::End),
            Ok(count) => Ok(ReadOutcome::Bytes(&self.buffer[..count])),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => Ok(ReadOutcome::Nothing),
                io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                    Ok(ReadOutcome::End)
                }
                _ => Err(error),
            },
        }
    }
}

/// Reads plain text; records without plain text are followed by another read.
fn read_tls(
    tls: &mut ClientConnection,
    socket: &mut TcpStream,
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        match tls.reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            read => return read,
        }
        if tls.read_tls(socket)? == 0 {
            return Ok(0);
        }
        tls.process_new_packets().map_err(io::Error::other)?;
    }
}

/// The TLS client, which trusts only the certificate of the request.
fn client(request: &ClientCompatRequest) -> Result<ClientConnection, String> {
    let text = |error: &dyn std::fmt::Display| format!("failed to set up TLS: {error}");
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&request.server_tls_cert) {
        let certificate = certificate.map_err(|error| text(&error))?;
        roots.add(certificate).map_err(|error| text(&error))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .with_root_certificates(roots);
    let mut config = match &request.client_tls_creds {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&identity.cert).collect();
            let chain = chain.map_err(|error| text(&error))?;
            let key = PrivateKeyDer::from_pem_slice(&identity.key).map_err(|error| text(&error))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| text(&error))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = ServerName::try_from(request.host.clone()).map_err(|error| text(&error))?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| text(&error))
}
