//! Look-ups during a run: of origins to which redirects lead, and of names that are looked up
//! again.
//!
//! Each look-up has its own thread, because a resolver may block up to its timeout. The requesting
//! worker continues its loop, and polls the channel for the answer every
//! [`LOOK_UP`](crate::limits::LOOK_UP). A server can cause look-ups by redirects, but each exchange
//! follows one at a time, and known origins are kept. An answer that no exchange waits for any more
//! is dropped.

use super::{Place, PrepareError, PreparedPool, Route, Seals, place, route, tls_config};
use crate::protocol::Protocol;
use drumfire_net::{TlsConfig, TlsIdentity};
use drumfire_plan::{Origin, Scheme};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

/// The route to an origin, and its TLS settings. The route has no index for them until the worker
/// has added them to its driver.
pub(crate) struct Answer {
    route: Route,
    tls: Option<TlsConfig>,
}

impl Answer {
    /// The route, with its TLS settings under the index that `add_tls` returns.
    pub(crate) fn into_route(self, add_tls: impl FnOnce(TlsConfig) -> usize) -> Route {
        self.route.with_tls(self.tls.map(add_tls))
    }
}

/// The result of a look-up.
pub(crate) type LookedUp = Result<Answer, PrepareError>;

/// The channel that will receive the addresses of a name.
pub(crate) type Sought = Receiver<Result<Place, PrepareError>>;

/// Starts look-ups for one pool.
pub(crate) struct Lookup {
    pool: Arc<PreparedPool>,
}

impl Lookup {
    pub(crate) fn new(pool: &Arc<PreparedPool>) -> Self {
        Self {
            pool: Arc::clone(pool),
        }
    }

    /// Looks up an origin on a new thread, with TLS settings without a client certificate: the
    /// server chose the origin, not the plan.
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
            let seals = Seals::of_proxy(prepared.proxy_tls);
            let found = tls.and_then(|tls| {
                let protocol = Protocol::for_pool(prepared.pool());
                let route = route(
                    prepared.pool(),
                    &origin,
                    protocol,
                    seals,
                    &*prepared.resolver,
                )?;
                Ok(Answer { route, tls })
            });
            // The worker may have ended the exchange in the meantime.
            let _late = send.send(found);
        };
        let thread = std::thread::Builder::new().name("lookup".to_owned());
        thread.spawn(work).map(|_| answer)
    }

    /// Looks up the addresses of a name again.
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
