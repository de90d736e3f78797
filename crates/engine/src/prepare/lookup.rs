//! Looking up origins during a run: those that redirects lead to.

use super::{Place, PrepareError, PreparedPool, Route, Seals, place, route, tls_config};
use drumfire_net::{TlsConfig, TlsIdentity};
use drumfire_plan::{Origin, Scheme};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

/// The way to an origin, and the TLS settings that it takes.
pub(crate) struct Answer {
    pub(crate) route: Route,
    pub(crate) tls: Option<TlsConfig>,
}

/// The result of a look-up.
pub(crate) type LookedUp = Result<Answer, PrepareError>;

/// The way in which a name's place will come.
pub(crate) type Sought = Receiver<Result<Place, PrepareError>>;

/// The parameters of a look-up.
pub(crate) struct Lookup {
    pool: Arc<PreparedPool>,
}

impl Lookup {
    pub(crate) fn new(pool: &Arc<PreparedPool>) -> Self {
        Self {
            pool: Arc::clone(pool),
        }
    }

    /// Looks an origin up on a thread of its own, so that no other exchange waits for it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub(crate) fn start(&self, origin: Origin) -> io::Result<Receiver<LookedUp>> {
        let (send, answer) = mpsc::channel();
        let prepared = Arc::clone(&self.pool);
        let work = move || {
            let tls = match origin.scheme {
                Scheme::Http => Ok(None),
                Scheme::Https => {
                    let (material, withheld) = (&prepared.material, TlsIdentity::Withheld);
                    tls_config(prepared.pool(), &origin, material, withheld).map(Some)
                }
            };
            let seals = Seals {
                proxy: prepared.proxy_tls,
                origin: None,
            };
            let found = tls.and_then(|tls| {
                let route = route(prepared.pool(), &origin, seals, &*prepared.resolver)?;
                Ok(Answer { route, tls })
            });
            // The worker may have given the exchange up in the meantime.
            let _late = send.send(found);
        };
        let thread = std::thread::Builder::new().name("lookup".to_owned());
        thread.spawn(work).map(|_| answer)
    }

    /// Looks up where a name leads by now, in the same way.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub(crate) fn place_of(&self, origin: Origin) -> io::Result<Sought> {
        let (send, answer) = mpsc::channel();
        let prepared = Arc::clone(&self.pool);
        let work = move || {
            let found = place(prepared.pool(), &origin, &*prepared.resolver);
            // The run may be over.
            let _late = send.send(found);
        };
        let thread = std::thread::Builder::new().name("lookup".to_owned());
        thread.spawn(work).map(|_| answer)
    }
}
