//! TLS by rustls: settings created before the run, and one connection's records during it.

mod config;
mod material;
mod pem_text;
mod self_signed;
mod session;
mod stream;

pub use config::{TlsConfig, TlsIdentity, TlsOptions, TlsSetupError, TlsVerify, holds_certificate};
pub use material::{TlsMaterial, TlsTexts};
pub(crate) use stream::{Carrier, TlsIo, TlsStream, Within};
