//! The origins that a client has reached: their routes, protocols and lanes.
//!
//! A new origin is looked up on a thread of its own: its name, the guard of public targets, TLS
//! settings, and the protocol that the server selects. Requests wait meanwhile. The number of
//! origins is limited, because a script can make URLs of what servers send.

use super::{ClientSettings, Probe};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId};
use crate::limits::SITES_MAX;
use crate::prepare::{PrepareError, Resolver, Routes, TargetForm, routes_of};
use crate::protocol::Protocol;
use crate::transport::{Lane, Transport};
use crate::wire::Settings;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::{
    ClockChoice, Deflate, Generator, HttpRequest, HttpVersion, Method, Origin, Plan, PlanParts,
    Pool, Scheme, SocketAct, Threads, Url, WaitChoice, Warmup, WebSocket,
};
use drumfire_units::Nanos;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

/// An origin that can be reached.
pub(super) struct Site {
    pub(super) pool: Pool,
    pub(super) target: TargetForm,
    pub(super) lane: LaneId,
    /// Whether a connection carries one request at a time.
    pub(super) exclusive: bool,
}

/// What connections to an origin carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Requests,
    Socket,
}

/// The result of a look-up.
type LookedUp = Result<Box<(Pool, Routes)>, PrepareError>;

enum State {
    /// The index of the site.
    Known(usize),
    Sought {
        answer: Receiver<LookedUp>,
        waiting: Vec<ExchangeId>,
    },
}

/// Where a request goes.
pub(super) enum Found {
    /// To the site with this index.
    Site(usize),
    /// To an origin that is being looked up.
    Sought,
}

/// The end of a look-up.
pub(super) struct Answered {
    pub(super) waiting: Vec<ExchangeId>,
    pub(super) found: Result<usize, Failure>,
}

pub(super) struct Sites {
    settings: ClientSettings,
    sites: Vec<Site>,
    origins: Vec<(Origin, Use, State)>,
}

impl Sites {
    pub(super) const fn new(settings: ClientSettings) -> Self {
        Self {
            settings,
            sites: Vec::new(),
            origins: Vec::new(),
        }
    }

    pub(super) fn site(&self, index: usize) -> &Site {
        &self.sites[index]
    }

    /// The site of an origin. A request to an origin that is being looked up is listed as waiting.
    ///
    /// # Errors
    /// If there are too many origins, or no thread for the look-up.
    pub(super) fn find(
        &mut self,
        origin: &Origin,
        of: Use,
        id: ExchangeId,
    ) -> Result<Found, Failure> {
        let mut origins = self.origins.iter_mut();
        let known = origins.find(|(other, other_use, _)| other == origin && *other_use == of);
        match known {
            Some((.., State::Known(site))) => return Ok(Found::Site(*site)),
            Some((.., State::Sought { waiting, .. })) => {
                waiting.push(id);
                return Ok(Found::Sought);
            }
            None => {}
        }
        if self.origins.len() >= SITES_MAX {
            let reason = format!("requests already went to {SITES_MAX} origins");
            return Err(Failure::with(Outcome::LocalMemory, reason));
        }
        let answer = self.look_up(origin, of)?;
        let waiting = vec![id];
        self.origins
            .push((origin.clone(), of, State::Sought { answer, waiting }));
        Ok(Found::Sought)
    }

    fn look_up(&self, origin: &Origin, of: Use) -> Result<Receiver<LookedUp>, Failure> {
        let (send, answer) = mpsc::channel();
        let mut pool = self.settings.pool.clone();
        pool.requests = vec![first_request(origin, of)];
        let probe = self.settings.probe.clone();
        // A WebSocket is opened over HTTP/1.1.
        let probe = probe.filter(|_| origin.scheme == Scheme::Https && of == Use::Requests);
        let resolver = Arc::clone(&self.settings.resolver);
        let work = move || {
            // The client may be gone.
            let _late = send.send(found(pool, probe.as_deref(), &*resolver));
        };
        let thread = thread::Builder::new().name("lookup".to_owned());
        let started = thread.spawn(work);
        started.map_err(|error| Failure::with(Outcome::LocalMemory, error.to_string()))?;
        Ok(answer)
    }

    /// Whether any origin is being looked up.
    pub(super) fn seek(&self) -> bool {
        let mut origins = self.origins.iter();
        origins.any(|(.., state)| matches!(state, State::Sought { .. }))
    }

    /// Removes a request from those that wait.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        for (.., state) in &mut self.origins {
            if let State::Sought { waiting, .. } = state {
                waiting.retain(|other| *other != id);
            }
        }
    }

    /// Takes the result of one look-up that has ended. After a failure, the next request to the
    /// origin starts another look-up.
    pub(super) fn take_answer<I: Io>(
        &mut self,
        transport: &mut Transport,
        io: &mut I,
    ) -> Option<Answered> {
        for at in 0..self.origins.len() {
            let State::Sought { answer, waiting } = &mut self.origins[at].2 else {
                continue;
            };
            let looked_up = match answer.try_recv() {
                Ok(looked_up) => looked_up.map_err(|error| failure_of(&error)),
                Err(TryRecvError::Empty) => continue,
                Err(TryRecvError::Disconnected) => Err(Failure::from_outcome(Outcome::DnsFailed)),
            };
            let waiting = std::mem::take(waiting);
            let found = looked_up.and_then(|found| {
                let (pool, routes) = *found;
                self.add(pool, routes, transport, io)
            });
            match &found {
                Ok(site) => self.origins[at].2 = State::Known(*site),
                Err(_) => drop(self.origins.swap_remove(at)),
            }
            return Some(Answered { waiting, found });
        }
        None
    }

    fn add<I: Io>(
        &mut self,
        pool: Pool,
        mut routes: Routes,
        transport: &mut Transport,
        io: &mut I,
    ) -> Result<usize, Failure> {
        let mut first = None;
        for config in routes.tls {
            let index = io.add_tls(config);
            first.get_or_insert(index);
        }
        let Some(route) = routes.list.pop() else {
            return Err(Failure::from_outcome(Outcome::DnsFailed));
        };
        let route = route.behind(first.unwrap_or(0));
        let target = route.form;
        let protocol = match pool.requests.first() {
            Some(request) => Protocol::for_request(&pool, request),
            None => Protocol::for_pool(&pool),
        };
        let mut wire = Settings::for_pool(&pool, 1);
        wire.protocol = protocol;
        // Messages are received whole, also those that come while a message is sent.
        (wire.socket_keep, wire.keeps_messages) = (self.settings.body_max, true);
        let lane = transport.add_lane(Lane::new(route, wire));
        self.sites.push(Site {
            target,
            lane,
            exclusive: protocol.is_exclusive(),
            pool,
        });
        Ok(self.sites.len() - 1)
    }
}

/// The route to the origin of a pool's first request, with the protocol that its server selects.
fn found(mut pool: Pool, probe: Option<&Probe>, resolver: &Resolver) -> LookedUp {
    if let Some(probe) = probe {
        pool.http.version = HttpVersion::Http2;
        pool.connections.streams = STREAMS;
        if !plan_of(pool.clone()).is_some_and(|plan| probe(&plan)) {
            pool.http.version = HttpVersion::Http1;
            pool.connections.streams = 1;
        }
    }
    let routes = routes_of(&pool, resolver)?;
    Ok(Box::new((pool, routes)))
}

/// The number of simultaneous requests of a user on an HTTP/2 connection; servers usually allow
/// this many.
const STREAMS: u32 = 100;

/// A plan with one pool, for a probe.
fn plan_of(pool: Pool) -> Option<Plan> {
    let parts = PlanParts {
        name: None,
        pools: vec![pool],
        generator: Generator {
            threads: Threads::Exactly(1),
            wait: WaitChoice::Sleep,
            clock: ClockChoice::Program,
            seed: 0,
            warmup: Warmup::NONE,
            interval: Nanos::from_secs(1),
        },
        thresholds: Vec::new(),
    };
    Plan::new(parts).ok()
}

/// A request that leads to an origin.
fn first_request(origin: &Origin, of: Use) -> HttpRequest {
    let url = Url {
        origin: origin.clone(),
        target: "/".to_owned(),
        userinfo: None,
    };
    HttpRequest {
        socket: (of == Use::Socket).then(|| {
            Arc::new(WebSocket {
                act: SocketAct::Connect,
                opens: true,
                subprotocols: Vec::new(),
                deflate: Deflate::No,
            })
        }),
        ..HttpRequest::new(Method::get(), url)
    }
}

fn failure_of(error: &PrepareError) -> Failure {
    let outcome = error.outcome().unwrap_or(match error {
        PrepareError::Guarded { .. } => Outcome::BadData,
        _ => Outcome::TlsProtocol,
    });
    let text = match error {
        PrepareError::Guarded { host, address } => format!(
            "{} has a public address, {address}, which is not one of the allowed targets",
            host.escape_default()
        ),
        error => error.to_string(),
    };
    Failure::with(outcome, text)
}
