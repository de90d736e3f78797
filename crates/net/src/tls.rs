//! TLS by rustls: settings made before the run, and one connection's records during it.

mod config;
mod session;
mod stream;

pub use config::{TlsConfig, TlsOptions, TlsSetupError, TlsVerify};
pub(crate) use stream::{Carrier, TlsIo, TlsStream, Within};
