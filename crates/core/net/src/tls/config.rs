//! TLS settings that connections share, created from PEM texts.

use super::material::{TlsMaterial, TlsTexts};
use super::pem_text;
use super::self_signed::{SelfSigned, is_self_signed};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, InconsistentKeys, OtherError,
    RootCertStore, SignatureScheme,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of sessions that one worker remembers per target.
const SESSIONS: usize = 64;

/// The whole that a share is a part of.
const MILLION: u32 = 1_000_000;

/// Whether the server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVerify {
    /// Verifies it against the roots and the name.
    Yes,
    /// Does not verify it.
    No,
}

/// Whether the client certificate is shown to a server that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsIdentity {
    /// The certificate is shown, if one is configured.
    Shown,
    /// The certificate is not shown.
    Withheld,
}

/// The options of TLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsOptions<'a> {
    /// The name that the certificate must be for, which is also sent to the server (SNI) unless it
    /// is an address.
    pub name: &'a str,
    /// Trusted roots and the client certificate.
    pub material: &'a TlsMaterial,
    /// Whether the client certificate is shown.
    pub identity: TlsIdentity,
    /// Whether the server's certificate is verified.
    pub verify: TlsVerify,
    /// Protocols to offer, best first; if empty, none are offered.
    pub alpn: &'a [&'a [u8]],
    /// How many of a million handshakes may resume a session; the others are full ones.
    pub resumed_per_million: u32,
}

/// Why no connection could ever be secured with these options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsSetupError {
    /// The text of the roots contains no certificate, or a broken one.
    Roots(String),
    /// The system has no trusted roots.
    SystemRoots(String),
    /// The client certificate or key is unusable.
    Identity(String),
    /// The name is neither a DNS name nor an address.
    Name(String),
    /// The cryptography library refused.
    Provider(String),
}

impl TlsSetupError {
    /// The flag to whose file or value the error belongs.
    #[must_use]
    pub const fn flag(&self) -> &'static str {
        match self {
            Self::Roots(_) | Self::SystemRoots(_) => "--cacert",
            Self::Identity(_) => "--cert",
            Self::Name(_) | Self::Provider(_) => "TLS",
        }
    }
}

impl fmt::Display for TlsSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roots(text) => write!(f, "could not use the CA file: {text}"),
            Self::SystemRoots(text) => write!(
                f,
                "could not read the system's trusted certificates ({text}); specify a file with \
                 --cacert, or skip verification with -k"
            ),
            Self::Identity(text) => write!(f, "could not use the client certificate: {text}"),
            Self::Name(text) => write!(f, "`{text}` is not a valid server name"),
            Self::Provider(text) => write!(f, "could not set up TLS: {text}"),
        }
    }
}

impl std::error::Error for TlsSetupError {}

/// Settings that all connections of one worker to one target share.
#[derive(Clone)]
pub struct TlsConfig {
    resuming: Arc<ClientConfig>,
    full: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    material: TlsMaterial,
    /// The generation of the material's texts from which these settings were created.
    generation: u64,
    identity: TlsIdentity,
    verifier: Arc<dyn ServerCertVerifier>,
    verify: TlsVerify,
    /// The roots that the verifier trusts.
    roots: Option<Arc<[u8]>>,
    resumed_per_million: u32,
    /// Notes that the target asks for a certificate although none is shown.
    pub(crate) asked: Arc<NoIdentity>,
    /// The remainder of the shares of the connections so far, in millionths.
    due: u32,
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl TlsConfig {
    /// Reads the texts and prepares everything that connections need.
    ///
    /// # Errors
    /// If a text is not PEM of its kind, if key and certificate do not match, or if the name is
    /// invalid.
    pub fn new(options: &TlsOptions<'_>) -> Result<Self, TlsSetupError> {
        let (generation, texts) = options.material.texts();
        let verifier = verifier(texts.roots.as_deref(), options.verify)?;
        let asked = Arc::default();
        let mut client = client(&texts, options.identity, Arc::clone(&verifier), &asked)?;
        client.alpn_protocols = options.alpn.iter().map(|name| name.to_vec()).collect();
        let name = ServerName::try_from(options.name.to_owned())
            .map_err(|_| TlsSetupError::Name(options.name.escape_default().to_string()))?;
        let full = Arc::new(client);
        Ok(Self {
            resuming: Arc::clone(&full),
            full,
            name,
            material: options.material.clone(),
            generation,
            identity: options.identity,
            verifier,
            verify: options.verify,
            roots: texts.roots,
            resumed_per_million: options.resumed_per_million,
            asked,
            due: 0,
        }
        .for_worker())
    }

    /// The settings of the next connection: exactly the configured share of connections may resume
    /// a session.
    pub(crate) fn next(&mut self) -> Arc<ClientConfig> {
        if self.material.generation() != self.generation {
            self.renew();
        }
        self.due += self.resumed_per_million;
        match self.due.checked_sub(MILLION) {
            Some(due) => {
                self.due = due;
                Arc::clone(&self.resuming)
            }
            None => Arc::clone(&self.full),
        }
    }

    /// Switches to the material's current texts. No earlier session is resumed, because the server
    /// associates it with the former certificate. Texts that can't be used change nothing.
    #[cold]
    fn renew(&mut self) {
        let (generation, texts) = self.material.texts();
        self.generation = generation;
        // Reading the system's roots takes milliseconds.
        let verifier = match texts.roots == self.roots {
            true => Ok(Arc::clone(&self.verifier)),
            false => verifier(texts.roots.as_deref(), self.verify),
        };
        let Ok(verifier) = verifier else {
            return;
        };
        let renewed = client(&texts, self.identity, Arc::clone(&verifier), &self.asked);
        if let Ok(mut client) = renewed {
            client.alpn_protocols.clone_from(&self.full.alpn_protocols);
            self.full = Arc::new(client);
            self.resuming = resuming(&self.full);
            (self.verifier, self.roots) = (verifier, texts.roots);
        }
    }

    /// Copies the settings with a separate session store, so that workers share no lock.
    #[must_use]
    pub fn for_worker(&self) -> Self {
        Self {
            resuming: resuming(&self.full),
            ..self.clone()
        }
    }
}

/// Copies the settings with a store of sessions.
fn resuming(full: &ClientConfig) -> Arc<ClientConfig> {
    let mut resuming = full.clone();
    resuming.resumption = Resumption::in_memory_sessions(SESSIONS);
    Arc::new(resuming)
}

/// The cryptography that this program was built with. It is chosen only here, so that no part of
/// the process depends on a default that another part may set.
fn provider() -> Result<Arc<CryptoProvider>, TlsSetupError> {
    #[cfg(feature = "aws-lc")]
    let provider = Ok(rustls::crypto::aws_lc_rs::default_provider());
    #[cfg(all(feature = "ring", not(feature = "aws-lc")))]
    let provider = Ok(rustls::crypto::ring::default_provider());
    #[cfg(not(any(feature = "aws-lc", feature = "ring")))]
    let provider = Err(TlsSetupError::Provider(
        "this program was built without it; build it with the feature `aws-lc` or `ring`"
            .to_owned(),
    ));
    provider.map(Arc::new)
}

/// The verifier of the server's certificate.
fn verifier(
    roots: Option<&[u8]>,
    verify: TlsVerify,
) -> Result<Arc<dyn ServerCertVerifier>, TlsSetupError> {
    let provider = provider()?;
    Ok(match verify {
        TlsVerify::Yes => Arc::new(verified(roots, &provider)?),
        TlsVerify::No => Arc::new(Unverified(provider)),
    })
}

/// Settings of full handshakes, without protocols to offer.
fn client(
    texts: &TlsTexts,
    shown: TlsIdentity,
    verifier: Arc<dyn ServerCertVerifier>,
    asked: &Arc<NoIdentity>,
) -> Result<ClientConfig, TlsSetupError> {
    let provider = provider()?;
    let verified = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsSetupError::Provider(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let pair = texts.identity.as_ref();
    let mut client = match pair.filter(|_| shown == TlsIdentity::Shown) {
        None => verified.with_client_cert_resolver(Arc::<NoIdentity>::clone(asked)),
        Some((chain, key)) => {
            let own = SingleCertAndKey::from(identity(chain, key, verified.crypto_provider())?);
            verified.with_client_cert_resolver(Arc::new(own))
        }
    };
    client.resumption = Resumption::disabled();
    Ok(client)
}

/// Answers servers that ask for a certificate when none can be shown. It notes that one has asked:
/// servers may close such a connection later, without giving a reason.
#[derive(Debug, Default)]
pub(crate) struct NoIdentity(AtomicBool);

impl NoIdentity {
    /// Whether a server has asked.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for NoIdentity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Whether a PEM text contains a certificate.
#[must_use]
pub fn holds_certificate(pem: &[u8]) -> bool {
    CertificateDer::pem_slice_iter(pem_text::strip_byte_order_mark(pem))
        .any(|certificate| certificate.is_ok())
}

/// The given roots, or the system's.
fn roots(pem: Option<&[u8]>) -> Result<RootCertStore, TlsSetupError> {
    let mut store = RootCertStore::empty();
    if let Some(pem) = pem {
        let bad = |text: String| TlsSetupError::Roots(text);
        for certificate in CertificateDer::pem_slice_iter(pem_text::strip_byte_order_mark(pem)) {
            let certificate = certificate.map_err(|error| bad(pem_text::mistake(&error)))?;
            store
                .add(certificate)
                .map_err(|error| bad(error.to_string()))?;
        }
        if store.is_empty() {
            let instead = pem_text::instead(pem);
            return Err(bad(format!("it contains no PEM certificate{instead}")));
        }
        return Ok(store);
    }
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reason = found
            .errors
            .first()
            .map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(TlsSetupError::SystemRoots(reason));
    }
    Ok(store)
}

/// The client's chain and key. Only the server can judge whether the certificate is good: one of
/// X.509 version 1 can't be read here, but servers accept it.
fn identity(
    chain: &[u8],
    key: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsSetupError> {
    let bad = |text: String| TlsSetupError::Identity(text);
    let given = chain;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem_text::strip_byte_order_mark(given))
        .collect::<Result<_, _>>()
        .map_err(|error| bad(format!("certificate: {}", pem_text::mistake(&error))))?;
    if chain.is_empty() {
        let instead = pem_text::instead(given);
        return Err(bad(format!(
            "the certificate file contains no PEM certificate{instead}"
        )));
    }
    let key =
        PrivateKeyDer::from_pem_slice(pem_text::strip_byte_order_mark(key)).map_err(|error| {
            match error {
                _ if is_encrypted(key) => bad(
                    "the key is encrypted; decrypt it with `openssl pkey -in KEY -out PLAIN.key`"
                        .to_owned(),
                ),
                pem::Error::NoItemsFound => {
                    let instead = pem_text::instead(key);
                    bad(format!("the key file contains no PEM private key{instead}"))
                }
                error => bad(format!("key: {}", pem_text::mistake(&error))),
            }
        })?;
    let key = provider.key_provider.load_private_key(key).map_err(|_| {
        let kinds = "RSA, ECDSA (P-256, P-384, P-521) or Ed25519";
        bad(format!("the kind of the key is not supported; use {kinds}"))
    })?;
    let own = CertifiedKey::new(chain, key);
    match own.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(bad("the key does not belong to the certificate".to_owned()))
        }
        _ => Ok(own),
    }
}

/// Whether a PEM text contains an encrypted key, in PKCS #8 or the older form.
fn is_encrypted(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

/// Verification against the given roots, or the system's.
fn verified(pem: Option<&[u8]>, provider: &Arc<CryptoProvider>) -> Result<Verified, TlsSetupError> {
    // Each was read once, so none is broken.
    let own = pem.map(pem_text::strip_byte_order_mark).into_iter();
    let own = own.flat_map(CertificateDer::pem_slice_iter);
    let own = own.filter_map(Result::ok).collect();
    Verified::new(roots(pem)?, own, provider)
}

/// Verifies chains up to the roots. As in Go, a server may also show one of the given certificates
/// itself. webpki refuses such certificates: one that `openssl req -x509` makes belongs to an
/// authority and not to a server, and another one's authority may not be given.
#[derive(Debug)]
struct Verified {
    chains: Arc<WebPkiServerVerifier>,
    /// The roots that were given.
    own: Vec<CertificateDer<'static>>,
}

impl Verified {
    fn new(
        roots: RootCertStore,
        own: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, TlsSetupError> {
        let provider = Arc::clone(provider);
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| TlsSetupError::Provider(error.to_string()))?;
        Ok(Self { chains, own })
    }
}

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chains = &self.chains;
        let verified =
            chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // webpki checks the validity of a certificate before it finds that it belongs to an
            // authority.
            Err(error) if may_be_own(&error) && self.own.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) if is_of_issuer(&error) && is_self_signed(end_entity) => {
                let reason = CertificateError::Other(OtherError(Arc::new(SelfSigned)));
                Err(Error::InvalidCertificate(reason))
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Whether a certificate was refused because it belongs to an authority, or because its own
/// authority is not among the roots, and for no other reason.
fn may_be_own(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => true,
        Error::InvalidCertificate(CertificateError::Other(inner)) => {
            inner.0.to_string() == "CaUsedAsEndEntity"
        }
        _ => false,
    }
}

/// Whether a certificate was refused for its issuer. webpki compares the signature of a self-signed
/// certificate with the keys of trusted certificates of the same name, which may be of another
/// kind.
fn is_of_issuer(error: &Error) -> bool {
    let is_of_key = matches!(
        error,
        Error::InvalidCertificate(
            CertificateError::BadSignature
                | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
        )
    );
    is_of_key || may_be_own(error)
}

/// Accepts every certificate, but still checks the signatures of the handshake.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IoError;
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, date_time_ymd};
    use std::time::Duration;

    /// A certificate of X.509 version 1, as `openssl x509 -req` makes it without extensions.
    const VERSION_1: &str = "-----BEGIN CERTIFICATE-----
MIIBHjCBxQIUI2bOcRsUtfOPl8f75w2a8w5pkP0wCgYIKoZIzj0EAwIwETEPMA0G
A1UEAwwGY2xpZW50MCAXDTI2MTEzMDAwMzk1N1oYDzIxMjYxMTA2MDAzOTU3WjAR
MQ8wDQYDVQQDDAZjbGllbnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQMPv4T
Q5vYJg8DUAiI45GQvALL866F4AJQhj48L77eZjIpeGKCutzE5i/2pYpXcUBbn+V1
W2meqgW3YoCsJFU0MAoGCCqGSM49BAMCA0gAMEUCIAcv64J35cqIaUdUwupuzj4l
tpChkbu1swctonDh+rsIAiEA6Xg8j6VTlaMsRIkxs37mYmnzBquGO2MJX+evOIL+
8Jk=
-----END CERTIFICATE-----";
    const KEY_OF_VERSION_1: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghTLrXSAykEpNqZl9
prMpjULf8K9ulhNitPmxi9fn+cyhRANCAAQMPv4TQ5vYJg8DUAiI45GQvALL866F
4AJQhj48L77eZjIpeGKCutzE5i/2pYpXcUBbn+V1W2meqgW3YoCsJFU0
-----END PRIVATE KEY-----";

    /// A certificate of X.509 version 3.
    const OF_ANOTHER_KEY: &str = "-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUJVfiqUFMwHM1WIl93F4UQmQDXE8wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBbzAgFw0yNjExMzAwMTA0MzhaGA8yMTI2MTEwNjAxMDQzOFow
DDEKMAgGA1UEAwwBbzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKaB9tOGM53Z
ndg/gVF6XUwitWiA4o992/7skjY3LrR9DnAfiWJP4847uSMlaZDx3PJUZn84k2nI
1ob8ZN44L62jUzBRMB0GA1UdDgQWBBSJbhR2hpxNGIPWA0vAxCbZzQsRczAfBgNV
HSMEGDAWgBSJbhR2hpxNGIPWA0vAxCbZzQsRczAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQChdVBtrtU/Ed5csVT4iV+xuXPl+Gp9W6aBsB0cIXQ1
tgIhAMJ48Rpw2YrSPmwaKZMgiQtJR20ejscYRzLdBszbhIQQ
-----END CERTIFICATE-----";

    #[test]
    fn a_clients_certificate_is_for_the_server_to_judge() {
        let provider = provider().expect("cryptography");
        let own = |chain: &str, key: &str| {
            let own = identity(chain.as_bytes(), key.as_bytes(), &provider);
            own.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(own(VERSION_1, KEY_OF_VERSION_1), Ok(()));
        let marked = |pem: &str| format!("\u{feff}{pem}");
        assert_eq!(own(&marked(VERSION_1), &marked(KEY_OF_VERSION_1)), Ok(()));
        let der = roots(Some(b"\x30\x82\x01\x00\x30"))
            .unwrap_err()
            .to_string();
        assert!(der.contains("no PEM certificate; it is in DER"), "{der}");
        let store = roots(Some(b"\x30\x82\x01\x00\x02\x01\x03"))
            .unwrap_err()
            .to_string();
        assert!(
            store.contains("no PEM certificate; it is PKCS #12"),
            "{store}"
        );
    }

    #[test]
    fn files_without_a_certificate_or_its_key_are_named() {
        let provider = provider().expect("cryptography");
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----";
        for (chain, key, error) in [
            (
                OF_ANOTHER_KEY,
                KEY_OF_VERSION_1,
                "the key does not belong to the certificate",
            ),
            (
                VERSION_1,
                encrypted,
                "the key is encrypted; decrypt it with `openssl pkey",
            ),
            (
                VERSION_1,
                VERSION_1,
                "the key file contains no PEM private key",
            ),
            (
                "",
                KEY_OF_VERSION_1,
                "the certificate file contains no PEM certificate",
            ),
            (
                "-----BEGIN CERTIFICATE-----\nAA==\n",
                KEY_OF_VERSION_1,
                "certificate: a section has no end `-----END CERTIFICATE-----`",
            ),
            (
                "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----",
                KEY_OF_VERSION_1,
                "certificate: the content of a section is not base64",
            ),
            (
                "-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----",
                KEY_OF_VERSION_1,
                "no PEM certificate; it is a request",
            ),
            (
                VERSION_1,
                "-----BEGIN OPENSSH PRIVATE KEY-----\nAA==\n-----END OPENSSH PRIVATE KEY-----",
                "no PEM private key; it is a key of OpenSSH",
            ),
            (
                VERSION_1,
                "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----",
                "the kind of the key is not supported; use RSA",
            ),
        ] {
            let own = identity(chain.as_bytes(), key.as_bytes(), &provider);
            let said = own.map(|_| ()).unwrap_err().to_string();
            assert!(said.contains(error), "{said}");
        }
    }

    /// A certificate that is its own authority, for `localhost` and valid until the year 2040.
    fn authority() -> rcgen::Certificate {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(2040, 1, 1);
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate")
    }

    #[test]
    fn a_root_may_be_the_servers_own_certificate() {
        let (own, other) = (authority(), authority());
        let provider = provider().expect("cryptography");
        let mut roots = RootCertStore::empty();
        roots.add(own.der().clone()).expect("a root");
        let given = vec![own.der().clone()];
        let verified = Verified::new(roots, given, &provider).expect("a root");
        let check = |certificate: &rcgen::Certificate, name: &str, year: u64| {
            let name = ServerName::try_from(name.to_owned()).expect("a name");
            let now = Duration::from_secs((year - 1970) * 31_556_952);
            let now = UnixTime::since_unix_epoch(now);
            verified.verify_server_cert(certificate.der(), &[], &name, &[], now)
        };
        assert!(check(&own, "localhost", 2030).is_ok());
        assert!(check(&own, "other.test", 2030).is_err(), "another name");
        assert!(check(&own, "localhost", 2041).is_err(), "it has expired");
        let refused = check(&other, "localhost", 2030).unwrap_err();
        let said = format!("{:?}", IoError::from(refused));
        assert!(said.contains("is self-signed"), "it is no root: {said}");
    }

    /// A trusted certificate of the same name has another key.
    #[test]
    fn a_certificate_of_its_own_issuer_is_called_self_signed() {
        let own_of = |algorithm| {
            let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
            params.not_after = date_time_ymd(2040, 1, 1);
            let key = KeyPair::generate_for(algorithm).expect("a key");
            params.self_signed(&key).expect("a certificate")
        };
        let own = || own_of(&rcgen::PKCS_ECDSA_P256_SHA256);
        let of_other_kind = own_of(&rcgen::PKCS_ED25519);
        let provider = provider().expect("cryptography");
        let now = Duration::from_secs(60 * 31_556_952);
        let now = UnixTime::since_unix_epoch(now);
        for (root, shown) in [
            (authority(), own()),
            (own(), own()),
            (own(), authority()),
            (of_other_kind, own()),
        ] {
            let mut roots = RootCertStore::empty();
            roots.add(root.der().clone()).expect("a root");
            let given = vec![root.der().clone()];
            let verified = Verified::new(roots, given, &provider).expect("a root");
            let name = ServerName::try_from("localhost").expect("a name");
            let refused = verified.verify_server_cert(shown.der(), &[], &name, &[], now);
            match IoError::from(refused.unwrap_err()) {
                IoError::TlsUntrusted(text) => assert!(text.contains("self-signed"), "{text}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_certificate_that_is_given_needs_no_authority() {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        params.not_after = date_time_ymd(2040, 1, 1);
        let issuer = KeyPair::generate().expect("a key");
        let mut of_issuer = CertificateParams::new(Vec::new()).expect("no names");
        of_issuer.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = &mut of_issuer.distinguished_name;
        name.push(DnType::CommonName, "an authority");
        let issuer = rcgen::Issuer::new(of_issuer, issuer);
        let key = KeyPair::generate().expect("a key");
        let leaf = params.signed_by(&key, &issuer).expect("a certificate");
        let provider = provider().expect("cryptography");
        let check = |given: &rcgen::Certificate, name: &str, year: u64| {
            let mut roots = RootCertStore::empty();
            roots.add(given.der().clone()).expect("a root");
            let given = vec![given.der().clone()];
            let verified = Verified::new(roots, given, &provider).expect("a root");
            let name = ServerName::try_from(name.to_owned()).expect("a name");
            let now = Duration::from_secs((year - 1970) * 31_556_952);
            let now = UnixTime::since_unix_epoch(now);
            verified.verify_server_cert(leaf.der(), &[], &name, &[], now)
        };
        assert_eq!(check(&leaf, "localhost", 2030).err(), None);
        assert!(check(&leaf, "other.test", 2030).is_err(), "another name");
        assert!(check(&leaf, "localhost", 2041).is_err(), "it has expired");
        assert!(check(&authority(), "localhost", 2030).is_err(), "not given");
    }
}
