//! Serves one text that changes, over HTTP/1.1.

use crate::{Page, PageRequest, PageServer};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A text at a path.
#[derive(Clone, Debug)]
pub struct TextServer {
    text: Arc<Mutex<String>>,
}

impl TextServer {
    /// Serves an empty text of this type at `path`, on an address for [`PageServer::start`].
    ///
    /// # Errors
    /// As [`PageServer::start`].
    pub fn start(address: &str, path: &'static str, media_type: &'static str) -> io::Result<Self> {
        let server = Self {
            text: Arc::default(),
        };
        let text = Arc::clone(&server.text);
        let pages = move |request: &PageRequest<'_>| {
            (request.path == path).then(|| Page {
                media_type,
                content: lock(&text).clone().into_bytes(),
                taken: None,
            })
        };
        PageServer::start(address, Arc::new(pages))?;
        Ok(server)
    }

    /// Replaces the text.
    pub fn set(&self, text: String) {
        *lock(&self.text) = text;
    }
}

/// Locks the text, even after a panic, because code under the lock cannot panic.
fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}
