//! TLS: a certificate created at the start, and its configuration.

use crate::error::StartError;
use crate::options::{ClientCertificate, ServerTlsOptions};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
#[cfg(feature = "aws-lc")]
use rustls::crypto::aws_lc_rs as cryptography;
#[cfg(not(feature = "aws-lc"))]
use rustls::crypto::ring as cryptography;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::fmt;
use std::sync::Arc;

/// The certificates by which clients trust the server and the server trusts clients. All are in
/// PEM, and created at the start for this server only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTlsMaterial {
    /// The authority that signed the server's certificate, which is valid for localhost, 127.0.0.1
    /// and ::1.
    pub authority: String,
    /// A client certificate from the same authority.
    pub client_certificate: String,
    /// The key of the client certificate.
    pub client_key: String,
}

/// The error for a failed step of creating certificates.
fn failed(error: impl fmt::Display) -> StartError {
    StartError::Certificate {
        reason: error.to_string(),
    }
}

/// Creates the certificates and the server's configuration.
pub(crate) fn configure(
    options: &ServerTlsOptions,
) -> Result<(Arc<ServerConfig>, ServerTlsMaterial), StartError> {
    let authority = authority()?;
    let (server, server_key) = leaf(
        &authority,
        "drumfire target",
        &["localhost", "127.0.0.1", "::1"],
        ExtendedKeyUsagePurpose::ServerAuth,
    )?;
    let (client, client_key) = leaf(
        &authority,
        "drumfire client",
        &["client.drumfire.test"],
        ExtendedKeyUsagePurpose::ClientAuth,
    )?;
    let config = server_config(options, &authority, server.der().clone(), &server_key)?;
    let material = ServerTlsMaterial {
        authority: pem("CERTIFICATE", authority.der()),
        client_certificate: pem("CERTIFICATE", client.der()),
        client_key: pem("PRIVATE KEY", &client_key.serialize_der()),
    };
    Ok((Arc::new(config), material))
}

/// Bytes in PEM with a label (RFC 7468): base64 in lines of 64.
fn pem(label: &str, bytes: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    let coded = STANDARD.encode(bytes);
    for (at, letter) in coded.chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(letter);
    }
    text + &format!("\n-----END {label}-----\n")
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Result<Authority, StartError> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name = named("drumfire target authority");
    let key = KeyPair::generate().map_err(failed)?;
    CertifiedIssuer::self_signed(params, key).map_err(failed)
}

fn leaf(
    authority: &Authority,
    name: &str,
    subjects: &[&str],
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(rcgen::Certificate, KeyPair), StartError> {
    let subjects: Vec<String> = subjects.iter().map(|subject| (*subject).into()).collect();
    let mut params = CertificateParams::new(subjects).map_err(failed)?;
    params.distinguished_name = named(name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.signed_by(&key, authority).map_err(failed)?;
    Ok((certificate, key))
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn server_config(
    options: &ServerTlsOptions,
    authority: &Authority,
    certificate: CertificateDer<'static>,
    key: &KeyPair,
) -> Result<ServerConfig, StartError> {
    let provider = Arc::new(cryptography::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match options.client_certificate {
        ClientCertificate::Ignored => builder.with_no_client_auth(),
        ClientCertificate::Required => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).map_err(failed)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().map_err(failed)?)
        }
    };
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(failed)?;
    let mut config = builder
        .with_single_cert(vec![certificate], key)
        .map_err(failed)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject as _;

    #[test]
    fn what_is_written_as_text_is_read_again() {
        for length in [0, 1, 47, 48, 49, 96, 1000] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let text = pem("CERTIFICATE", &bytes);
            let read = CertificateDer::from_pem_slice(text.as_bytes()).unwrap();
            assert_eq!(read.as_ref(), bytes);
            assert!(text.lines().all(|line| line.len() <= 64), "{text}");
        }
    }
}
