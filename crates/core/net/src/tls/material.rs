//! Roots and a client certificate, which may be renewed between connections.
//!
//! The reader of the files checks that the new texts can be used, and replaces the former ones with
//! them. Each worker's settings notice the change when they begin their next connection.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// A text in PEM.
type PemText = Arc<[u8]>;

/// Certificates and a key.
#[derive(Clone, Default)]
pub struct TlsTexts {
    /// Trusted roots; `None` means the system's.
    pub roots: Option<PemText>,
    /// The client's certificate chain and its private key.
    pub identity: Option<(PemText, PemText)>,
}

/// Omits the texts, because no output may contain a private key.
impl fmt::Debug for TlsTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsTexts").finish_non_exhaustive()
    }
}

/// The current texts, shared by all settings that were created from them.
#[derive(Clone, Debug, Default)]
pub struct TlsMaterial(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    /// The number of times the texts were replaced.
    generation: AtomicU64,
    texts: RwLock<TlsTexts>,
}

impl TlsMaterial {
    /// Creates material with these texts.
    #[must_use]
    pub fn new(texts: TlsTexts) -> Self {
        Self(Arc::new(Held {
            generation: AtomicU64::new(0),
            texts: RwLock::new(texts),
        }))
    }

    /// Replaces the texts: connections that begin from now on use the new ones.
    pub fn renew(&self, texts: TlsTexts) {
        let held = &self.0.texts;
        *held.write().unwrap_or_else(PoisonError::into_inner) = texts;
        // After the texts, so that a reader that sees the new number finds the new texts.
        self.0.generation.fetch_add(1, Ordering::Release);
    }

    /// The number of times the texts were replaced.
    pub(super) fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    /// The texts, with a generation that is not later than theirs.
    pub(super) fn texts(&self) -> (u64, TlsTexts) {
        let generation = self.generation();
        let held = &self.0.texts;
        let texts = held.read().unwrap_or_else(PoisonError::into_inner).clone();
        (generation, texts)
    }
}
