//! HTTPS with the certificate created at the start.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test ends it")]

use crate::client::{Client, start};
use drumfire_target::{ClientCertificate, Running, ServerOptions, ServerTlsOptions};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::Read as _;
use std::net::TcpStream;
use std::sync::Arc;

fn serve(client_certificate: ClientCertificate) -> Running {
    start(ServerOptions {
        tls: Some(ServerTlsOptions { client_certificate }),
        ..ServerOptions::default()
    })
}

/// A client that trusts the server's authority, with or without a client certificate.
fn connect(server: &Running, name: &'static str, own: ClientCertificate) -> Client {
    let material = server.tls().unwrap();
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(material.authority.as_bytes()).unwrap();
    roots.add(authority).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        ClientCertificate::Ignored => builder.with_no_client_auth(),
        ClientCertificate::Required => {
            let certificate = material.client_certificate.as_bytes();
            let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
            let key = PrivateKeyDer::from_pem_slice(material.client_key.as_bytes()).unwrap();
            builder
                .with_client_auth_cert(vec![certificate], key)
                .unwrap()
        }
    };
    let name = ServerName::try_from(name).unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(server.tcp().unwrap()).unwrap();
    Client::over(StreamOwned::new(session, stream))
}

#[test]
fn serves_by_every_name_of_its_certificate() {
    let server = serve(ClientCertificate::Ignored);
    for name in ["localhost", "127.0.0.1", "::1"] {
        let mut client = connect(&server, name, ClientCertificate::Ignored);
        for _ in 0..3 {
            assert_eq!(client.get("/plaintext").body, b"Hello, World!");
        }
        assert_eq!(client.get("/?size=5MB").body.len(), 5_000_000);
        assert_eq!(client.get("/?size=50&drip=10/1ms").body.len(), 50);
        assert_eq!(client.get("/?delay=1ms").status, 200);
        client.send(&b"GET /plaintext HTTP/1.1\r\nHost: test\r\n\r\n".repeat(50));
        for _ in 0..50 {
            assert_eq!(client.reply().body, b"Hello, World!");
        }
        // The server must announce the end; otherwise rustls reports an error.
        assert_eq!(client.get("/?close=1").status, 200);
        assert_eq!(client.rest().unwrap(), b"");
    }
    let counters = server.stop();
    assert_eq!(
        (counters.requests, counters.responses, counters.tls_failed),
        (171, 171, 0)
    );
}

#[test]
fn demands_a_client_certificate_when_told() {
    let server = serve(ClientCertificate::Required);
    let mut known = connect(&server, "localhost", ClientCertificate::Required);
    assert_eq!(known.get("/").status, 200);
    let mut stranger = connect(&server, "localhost", ClientCertificate::Ignored);
    // In TLS 1.3 the client receives the refusal with its first read.
    stranger.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    let error = stranger.rest().unwrap_err().to_string();
    assert!(error.contains("CertificateRequired"), "{error}");
    assert_eq!(server.stop().tls_failed, 1);
}

#[test]
fn plain_text_to_a_sealed_port_gets_an_alert_and_the_end() {
    let server = serve(ClientCertificate::Ignored);
    let mut stream = TcpStream::connect(server.tcp().unwrap()).unwrap();
    std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // The alert (type 21) arrives; the unread rest may turn the end into a reset.
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(answer.first(), Some(&21), "{answer:?}");
    assert_eq!(server.stop().tls_failed, 1);
}
