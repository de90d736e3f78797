//! Going where a redirect leads, on the same connection or another.

use super::Worker;
use crate::blame::Failure;
use crate::connection::State;
use crate::limits::DETOURS;
use crate::prepare::{Route, render, route, tls_config};
use crate::redirect::{Follow, Hop, LookedUp, Next, Resolving, found};
use drumfire_http1::{End, Machine};
use drumfire_measure::Outcome;
use drumfire_net::{Io, TlsConfig};
use drumfire_plan::{Origin, Scheme};
use drumfire_units::Nanos;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

impl<I: Io> Worker<I> {
    /// The response that redirected is over: sends what it asked for.
    pub(crate) fn follow(&mut self, slot: u32, now: Nanos, end: End, next: Next) {
        let (request, number) = match next {
            Next::Refused(failing) => return self.complete(slot, now, end, failing),
            Next::Hop(request, number) => (request, number),
        };
        let here = self.route_of(slot).origin == request.url.origin;
        let closed = self.slots[slot as usize].peer_closed;
        if !(here && end.reusable && self.is_written(slot)) || closed {
            self.close_connection(slot);
        }
        let own = &self.slots[slot as usize];
        let own = &self.routes[usize::from(own.route)].route;
        let known = if own.origin == request.url.origin {
            Some(None)
        } else {
            let routes = self
                .routes
                .iter()
                .map(|lane| &lane.route)
                .chain(&self.detours);
            let mut routes = routes.filter(|route| route.origin == request.url.origin);
            routes.next().map(|route| Some(Box::new(route.clone())))
        };
        let form = match &known {
            Some(Some(route)) => route.form,
            _ => own.form,
        };
        let rendered = match render(&self.prepared.plan, &request, form) {
            Ok(rendered) => rendered,
            Err(reason) => return self.fail(slot, now, (Outcome::RedirectBlocked, Some(reason))),
        };
        let origin = request.url.origin.clone();
        let unknown = known.is_none();
        let hop = Hop {
            request,
            number,
            rendered,
            detour: known.flatten(),
        };
        self.slots[slot as usize].follow = Some(Box::new(Follow {
            current: Some(hop),
            next: None,
        }));
        match self.slots[slot as usize].state {
            _ if unknown => self.look_up(slot, origin),
            State::Empty => self.dial(slot, now),
            _ => self.begin_sending(slot),
        }
    }

    /// Looks an origin up on a thread of its own, so that no other request waits for it.
    pub(super) fn ask_for(&self, origin: Origin) -> io::Result<Receiver<LookedUp>> {
        let (send, answer) = mpsc::channel();
        let (plan, resolver) = (
            Arc::clone(&self.prepared.plan),
            Arc::clone(&self.prepared.resolver),
        );
        let work = move || {
            let tls = match origin.scheme {
                Scheme::Http => Ok(None),
                Scheme::Https => tls_config(&plan, &origin).map(Some),
            };
            let found = tls.and_then(|tls| Ok((route(&plan, &origin, None, &*resolver)?, tls)));
            // The worker may have given the exchange up in the meantime.
            let _late = send.send(found);
        };
        let thread = std::thread::Builder::new().name("lookup".to_owned());
        thread.spawn(work).map(|_| answer)
    }

    /// Lets a slot's exchange wait for the address of an origin.
    fn look_up(&mut self, slot: u32, origin: Origin) {
        let connection = &mut self.slots[slot as usize];
        let started = connection.exchange.started;
        // What the redirect said is no answer of the origin that is looked for.
        connection.machine = Machine::new();
        self.set_deadline(slot, Nanos::MAX);
        match self.ask_for(origin) {
            Ok(answer) => self.resolving.push(Resolving {
                slot,
                started,
                answer,
            }),
            Err(error) => {
                let now = self.io.now();
                self.fail(slot, now, (Outcome::LocalMemory, Some(error.to_string())));
            }
        }
    }

    /// Goes on with the slots whose names have been looked up.
    pub(crate) fn poll_resolving(&mut self) {
        for index in (0..self.resolving.len()).rev() {
            let Some(found) = found(&self.resolving[index].answer) else {
                continue;
            };
            let Resolving { slot, started, .. } = self.resolving.swap_remove(index);
            let connection = &self.slots[slot as usize];
            let waits = connection.follow.is_some() && connection.exchange.started == started;
            if waits && connection.state == State::Empty {
                self.looked_up(slot, found);
            }
        }
    }

    /// Dials the origin that was looked up, and remembers it.
    fn looked_up(&mut self, slot: u32, found: Result<(Route, Option<TlsConfig>), Failure>) {
        let now = self.io.now();
        let (mut found, tls) = match found {
            Ok(found) => found,
            Err(failure) => return self.fail(slot, now, failure),
        };
        found.tls = tls.map(|config| self.io.add_tls(config));
        if self.detours.len() < DETOURS {
            self.detours.push(found.clone());
        }
        let plan = Arc::clone(&self.prepared.plan);
        let hop = self.slots[slot as usize]
            .follow
            .as_mut()
            .and_then(|f| f.current.as_mut());
        if let Some(hop) = hop {
            // The form of the target depends on whether a proxy lies on the way.
            if let Ok(rendered) = render(&plan, &hop.request, found.form) {
                hop.rendered = rendered;
            }
            hop.detour = Some(Box::new(found));
        }
        self.dial(slot, now);
    }
}
