//! Requests that a program makes while it runs, such as a script, on connections of its users.
//!
//! A [`Client`] owns a [`Transport`] as a worker does, so that its requests use the connections,
//! TLS, HTTP/2 and checks of every run. Unlike a worker, the client knows no plan of requests: each
//! [`ClientRequest`] has a URL of its own, and the caller decides when it is sent.
//!
//! ```text
//!   send ─► Site (route, protocol) ─► share of the user ─► Transport ─► Desk ─► Reply ─► take_ended
//! ```
//!
//! The caller calls [`Client::send`] and [`Client::take_ended`] between two calls of
//! [`Client::turn`], which waits for sockets. Nothing ends within `send`: a request that fails at
//! once is in the list of ended ones.
//!
//! The route to an origin is looked up once, on a thread of its own; requests to the origin wait
//! for it. Each user has connections of its own to each origin: as many as it has simultaneous
//! requests if a connection carries one, and else one. A WebSocket has a connection of its own.

/// Lends the transport the parts that it needs for one call.
macro_rules! context {
    ($own:ident) => {
        &mut $crate::transport::Context {
            io: &mut $own.io,
            handler: &mut $own.desk,
            timers: &mut $own.timers,
        }
    };
}

mod desk;
mod reply;
mod sites;
mod socket_event;
mod sockets;

pub use reply::{Reply, ReplyTimes, SocketTicket, Ticket};
pub use socket_event::SocketEvent;
pub use sockets::{SocketRequest, SocketSend};

use self::desk::Desk;
use self::sites::{Found, Sites, Use};
use self::sockets::Sockets;
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, Shard, ShareId};
use crate::limits::SITE_LOOK;
use crate::prepare::{Resolver, form};
use crate::timers::{Timers, Wake};
use crate::transport::{Further, Output, Transport};
use drumfire_measure::Outcome;
use drumfire_net::{Fault, Io, Readiness};
use drumfire_plan::{HttpRequest, Plan, Pool};
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::sync::Arc;

/// Whether the origin of a plan's first request selects HTTP/2 in TLS. Called on a thread that may
/// block.
pub type Probe = dyn Fn(&Plan) -> bool + Send + Sync;

/// The settings of a client.
#[derive(Clone)]
pub struct ClientSettings {
    /// How origins are reached: the settings of a plan's pool, whose requests and load are not used.
    pub pool: Pool,
    /// Resolves names.
    pub resolver: Arc<Resolver>,
    /// Decides between HTTP/1.1 and HTTP/2 for each https origin; `None` for HTTP/1.1.
    pub probe: Option<Arc<Probe>>,
    /// The maximum size of a response's body, as it is sent.
    pub body_max: usize,
}

/// A request of a user.
#[derive(Debug)]
pub struct ClientRequest {
    /// The number of the user, as the caller counts.
    pub user: u32,
    /// The request.
    pub request: HttpRequest,
    /// The maximum time until the end of the response, from the call of [`Client::send`].
    pub timeout: Nanos,
    /// Whether the reply contains the body.
    pub body: BodyUse,
}

/// Whether a reply contains the response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// The body is kept.
    Keep,
    /// The body is read and dropped.
    Drop,
}

/// A user's share of a lane.
struct UserShare {
    share: ShareId,
    /// The number of requests that use the share.
    busy: u32,
}

/// Sends requests of users, and returns their replies.
pub struct Client<I> {
    io: I,
    transport: Transport,
    timers: Timers,
    ready: Vec<Readiness>,
    desk: Desk,
    sites: Sites,
    sockets: Sockets,
    shares: HashMap<(u32, LaneId), Vec<UserShare>>,
}

impl<I: Io> Client<I> {
    /// A client without connections, over a driver whose time is the time of all replies.
    pub fn new(io: I, settings: ClientSettings) -> Self {
        Self {
            io,
            transport: Transport::new(Vec::new(), Shard { index: 0, of: 1 }, 0),
            timers: Timers::default(),
            ready: Vec::new(),
            desk: Desk::new(settings.body_max),
            sites: Sites::new(settings),
            sockets: Sockets::default(),
            shares: HashMap::new(),
        }
    }

    /// The present time.
    pub fn now(&self) -> Nanos {
        self.io.now()
    }

    /// Nanoseconds since 1970 by the machine's clock.
    pub fn unix_time(&self) -> u64 {
        self.io.unix_time()
    }

    /// The driver, for its clocks.
    pub const fn io(&mut self) -> &mut I {
        &mut self.io
    }

    /// The number of requests whose replies were not taken.
    pub const fn open(&self) -> usize {
        self.desk.open()
    }

    /// Begins a request. Its ticket is valid until [`Self::take_ended`] returns the reply, or until
    /// [`Self::cancel`].
    pub fn send(&mut self, request: ClientRequest) -> Ticket {
        let now = self.io.now();
        let id = self.desk.begin(request, now);
        self.seek(id, Use::Requests);
        Ticket(id.0)
    }

    /// Puts a request on its way, as soon as its site is known.
    fn seek(&mut self, id: ExchangeId, of: Use) {
        let origin = self.desk.entry_mut(id).request.url.origin.clone();
        match self.sites.find(&origin, of, id) {
            Ok(Found::Site(site)) => self.submit_first(id, site),
            Ok(Found::Sought) => {}
            Err(failure) => self.desk.end(id, failure, self.io.now()),
        }
    }

    /// Puts a request whose site is known on a connection of its user.
    fn submit_first(&mut self, id: ExchangeId, site: usize) {
        let now = self.io.now();
        let site = self.sites.site(site);
        let entry = self.desk.entry_mut(id);
        match form(&site.pool, &entry.request, site.target) {
            Ok(form) => entry.form = Some(form),
            Err(reason) => {
                let failure = Failure::with(Outcome::BadData, reason);
                return self.desk.end(id, failure, now);
            }
        }
        let (lane, exclusive) = (site.lane, site.exclusive);
        let of_user = self.shares.entry((entry.user, lane)).or_default();
        let free = of_user
            .iter_mut()
            .find(|share| !exclusive || share.busy == 0);
        let share = match free {
            Some(share) => {
                share.busy += 1;
                share.share
            }
            None => {
                let share = self.transport.add_share(lane);
                of_user.push(UserShare { share, busy: 1 });
                share
            }
        };
        entry.seat = Some((lane, share));
        self.seat_socket(id, (lane, share));
        self.submit(id, share, now);
    }

    fn submit(&mut self, id: ExchangeId, share: ShareId, now: Nanos) {
        self.desk.at_work(None);
        self.transport
            .submit(context!(self), id, share, Further::Expected, now);
    }

    /// Ends a request without a reply.
    pub fn cancel(&mut self, ticket: Ticket) {
        let id = ExchangeId(ticket.0);
        self.release(id);
        self.give_up(id);
    }

    /// Ends an exchange of which nobody wants to know the result.
    fn give_up(&mut self, id: ExchangeId) {
        if self.desk.is_running(id) {
            let now = self.io.now();
            self.transport.cancel(context!(self), id, now);
            self.sites.forget(id);
        }
        self.desk.forget(id);
    }

    /// Returns the seat of a request.
    fn release(&mut self, id: ExchangeId) {
        let entry = self.desk.entry_mut(id);
        if let Some(seat) = entry.seat.take() {
            let user = entry.user;
            self.leave(user, seat);
        }
    }

    /// Returns a seat of a user.
    fn leave(&mut self, user: u32, (lane, share): (LaneId, ShareId)) {
        let of_user = self.shares.get_mut(&(user, lane));
        let mut of_user = of_user.into_iter().flatten();
        if let Some(used) = of_user.find(|used| used.share == share) {
            used.busy -= 1;
        }
    }

    /// Closes the connections of a user that carry no request.
    pub fn close_idle(&mut self, user: u32) {
        let of_user = self.shares.iter().filter(|((of, _), _)| *of == user);
        let idle = of_user.flat_map(|(_, shares)| shares);
        let idle: Vec<ShareId> = idle
            .filter(|share| share.busy == 0)
            .map(|share| share.share)
            .collect();
        for share in idle {
            self.transport.close_share(context!(self), share);
        }
    }

    /// Takes the reply to a request that has ended, in the order of the ends.
    pub fn take_ended(&mut self) -> Option<Reply> {
        let id = self.desk.next_ended()?;
        let seat = self.desk.entry_mut(id).seat;
        let address = seat.and_then(|(_, share)| self.transport.address_of(share));
        self.release(id);
        Some(self.desk.take_reply(id, address))
    }

    /// Waits until something happens, at most until `until`, and handles it. Does not wait while
    /// replies can be taken.
    ///
    /// # Errors
    /// If the driver cannot wait.
    pub fn turn(&mut self, until: Nanos) -> Result<(), Fault> {
        self.transport.flush(context!(self), Output::All);
        let now = self.io.now();
        let mut until = until.min(self.timers.next()).min(self.desk.next_timeout());
        if self.sites.seek() {
            until = until.min(now + SITE_LOOK);
        }
        if self.desk.has_ended()
            || self.desk.has_socket_news()
            || self.sockets.has_events()
            || self.transport.pending.is_pressing()
        {
            until = Nanos::ZERO;
        }
        let mut ready = std::mem::take(&mut self.ready);
        let waited = self.io.wait(until, &mut ready);
        self.transport.pending.begin_turn();
        for readiness in &ready {
            self.desk.at_work(Some(readiness.slot));
            self.transport.handle_ready(context!(self), *readiness);
        }
        self.ready = ready;
        waited?;
        self.desk.at_work(None);
        while self.transport.pending.has_input() {
            self.transport.read_rest(context!(self));
        }
        self.after_sockets();
        self.settle_sockets();
        self.transport.flush(context!(self), Output::All);
        Ok(())
    }

    /// Handles timers, deadlines, further attempts and look-ups.
    fn after_sockets(&mut self) {
        let now = self.io.now();
        while let Some(wake) = self.timers.due(now) {
            if let Wake::Dial(slot) | Wake::Connection(slot, _) = wake {
                self.desk.at_work(Some(slot));
            }
            self.transport.wake(context!(self), wake, now);
        }
        self.desk.at_work(None);
        for id in self.desk.overdue(now) {
            self.transport.cancel(context!(self), id, now);
            self.sites.forget(id);
            self.desk.time_out(id, now);
        }
        while let Some(id) = self.desk.next_resend() {
            if let Some((_, share)) = self.desk.entry_mut(id).seat {
                self.submit(id, share, now);
            }
        }
        while let Some(answered) = self.sites.take_answer(&mut self.transport, &mut self.io) {
            for id in answered.waiting {
                match &answered.found {
                    Ok(site) => self.submit_first(id, *site),
                    Err(failure) => self.desk.end(id, failure.clone(), now),
                }
            }
        }
    }

    /// Closes all connections. Requests that are running have no reply.
    pub fn close(&mut self) {
        self.transport.close_all(context!(self));
    }
}
