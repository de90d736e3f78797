//! A TLS server that sends given bytes and ends the connection in a given way.

use super::certificates::Identity;
use super::patience::PATIENCE;
use super::script::Script;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

/// How a server ends TLS after its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsEnd {
    /// With a close_notify alert.
    Notified,
    /// Without close_notify, at the end of a record.
    Silent,
    /// In the middle of a record.
    Cut,
}

/// The replies of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TlsReply {
    /// The protocol that the server chooses by ALPN.
    pub(crate) alpn: &'static [u8],
    /// The bytes that the server sends at once.
    pub(crate) greeting: &'static [u8],
    /// Whether these bytes are a complete request.
    pub(crate) is_request: fn(&[u8]) -> bool,
    /// The bytes that the server sends after a request.
    pub(crate) bytes: &'static [u8],
    pub(crate) end: TlsEnd,
}

impl TlsReply {
    /// A server with this certificate that replies once on each connection.
    pub(crate) fn serve(self, identity: &Identity) -> Script {
        let certificate = CertificateDer::from_pem_file(&identity.certificate).unwrap();
        let key = PrivateKeyDer::from_pem_file(&identity.key).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![self.alpn.to_vec()];
        let config = Arc::new(config);
        Script::new(move |peer| {
            // A client that disconnects ends its connection.
            let _gone = self.reply(peer.stream.get_mut(), &config);
        })
    }

    fn reply(self, stream: &mut TcpStream, config: &Arc<ServerConfig>) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut session = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut tls = Stream::new(&mut session, stream);
        tls.write_all(self.greeting)?;
        let (mut request, mut piece) = (Vec::new(), [0; 4096]);
        while !(self.is_request)(&request) {
            match tls.read(&mut piece)? {
                0 => return Ok(()),
                length => request.extend_from_slice(&piece[..length]),
            }
        }
        tls.write_all(self.bytes)?;
        tls.flush()?;
        let mut last = Vec::new();
        match self.end {
            TlsEnd::Silent => {}
            TlsEnd::Notified => session.send_close_notify(),
            TlsEnd::Cut => session.writer().write_all(b"more")?,
        }
        session.write_tls(&mut last)?;
        if self.end == TlsEnd::Cut {
            last.truncate(last.len() / 2);
        }
        stream.write_all(&last)?;
        stream.shutdown(Shutdown::Write)?;
        // Unread bytes would turn the end into a reset.
        io::copy(stream, &mut io::sink()).map(|_| ())
    }
}
