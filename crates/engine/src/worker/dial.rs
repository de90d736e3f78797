//! Opening a slot's connection: addresses in turn, a proxy's tunnel, TLS, back-off.

use super::Worker;
use crate::blame::{During, Failure, io_failure};
use crate::connection::{Duty, State};
use crate::keep_alive::Hint;
use crate::limits::{ADDRESS_REST, BACKOFF_MIN};
use crate::prepare::Route;
use drumfire_http1::{Machine, Persistence, RequestKind};
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError, Progress, Slot};
use drumfire_plan::Spread;
use drumfire_units::Nanos;

impl<I: Io> Worker<I> {
    /// The way that a slot's current exchange takes.
    pub(crate) fn route_of(&self, slot: u32) -> &Route {
        let connection = &self.slots[slot as usize];
        match connection.detour() {
            Some(route) => route,
            None => &self.routes[usize::from(connection.route)].route,
        }
    }

    /// Starts to open a slot's connection, at the first address that accepts the attempt.
    pub(crate) fn dial(&mut self, slot: u32, now: Nanos) {
        let width = self.route_of(slot).width() as u32;
        let connection = &mut self.slots[slot as usize];
        // Who gets no connection has not heard what was said on the last one.
        connection.machine = Machine::new();
        connection.tried = 0;
        if self.prepared.plan.connections.spread == Spread::First {
            // Back to the first, which may have returned.
            connection.choice -= connection.choice % width;
        }
        self.dial_next(slot, now);
    }

    /// Tries the route's addresses from the slot's own choice on, each once.
    fn dial_next(&mut self, slot: u32, now: Nanos) {
        let limit = self.prepared.plan.timeouts.connect;
        loop {
            let choice = self.choose_address(slot, now);
            let address = match self.route_of(slot).address(choice) {
                Ok(address) => address,
                Err(reason) => return self.opening_failed(slot, now, (reason, None)),
            };
            let result = self.io.dial(Slot(slot), &address);
            let connection = &mut self.slots[slot as usize];
            connection.phase_start = now;
            connection.peer_closed = false;
            match result {
                Ok(Progress::Done) => return self.connected(slot, now),
                Ok(Progress::Pending) => {
                    connection.state = State::Dialing;
                    return self.set_deadline(slot, now + limit);
                }
                Err(error) => {
                    if !self.try_another(slot, now) {
                        return self.opening_failed(slot, now, io_failure(error, During::Connect));
                    }
                }
            }
        }
    }

    /// The slot's own choice of address, or the next that is not known to refuse.
    fn choose_address(&self, slot: u32, now: Nanos) -> usize {
        let connection = &self.slots[slot as usize];
        let choice = connection.choice as usize;
        if connection.detour().is_some() {
            return choice;
        }
        let down = &self.routes[usize::from(connection.route)].down_until;
        let up = |choice: &usize| down[choice % down.len()] <= now;
        (choice..choice + down.len()).find(up).unwrap_or(choice)
    }

    /// Notes that an address failed; `true` when there is another to try.
    fn try_another(&mut self, slot: u32, now: Nanos) -> bool {
        let choice = self.choose_address(slot, now);
        let width = self.route_of(slot).width();
        let connection = &mut self.slots[slot as usize];
        connection.choice = choice as u32 + 1;
        connection.tried += 1;
        if connection.detour().is_none() {
            let down = &mut self.routes[usize::from(connection.route)].down_until;
            let length = down.len();
            if length > 1 {
                down[choice % length] = now + ADDRESS_REST;
            }
        }
        usize::from(connection.tried) < width
    }

    /// A slot that was being dialed has made progress.
    pub(crate) fn on_dialing(&mut self, slot: u32) {
        match self.io.finish_dial(Slot(slot)) {
            Ok(Progress::Pending) => {}
            Ok(Progress::Done) => {
                let now = self.io.now();
                self.connected(slot, now);
            }
            Err(error) => {
                let now = self.io.now();
                self.io.close(Slot(slot));
                self.slots[slot as usize].state = State::Empty;
                if self.try_another(slot, now) {
                    self.dial_next(slot, now);
                } else {
                    self.opening_failed(slot, now, io_failure(error, During::Connect));
                }
            }
        }
    }

    /// The transport is open: a tunnel, TLS, or the request is next.
    fn connected(&mut self, slot: u32, now: Nanos) {
        let connection = &mut self.slots[slot as usize];
        let interval = self.recorder.interval();
        interval.record_connect(now - connection.phase_start);
        connection.carried = 0;
        connection.hint = Hint::NONE;
        connection.phase_start = now;
        if self.route_of(slot).tunnel.is_some() {
            self.ask_for_tunnel(slot);
        } else {
            self.tunnelled(slot, now);
        }
    }

    /// Sends the proxy its CONNECT; a fresh connection has room for it.
    fn ask_for_tunnel(&mut self, slot: u32) {
        let head = self.route_of(slot).tunnel.clone().unwrap_or_default();
        let connection = &mut self.slots[slot as usize];
        connection.state = State::Tunneling;
        connection
            .machine
            .send(RequestKind::Connect, Persistence::KeepAlive);
        let error = match self.io.send(Slot(slot), &head) {
            Ok(sent) if sent == head.len() => return,
            Ok(_) => IoError::Other("the proxy takes no request".to_owned()),
            Err(error) => error,
        };
        let now = self.io.now();
        self.opening_failed(slot, now, io_failure(error, During::Connect));
    }

    /// The way to the origin is open.
    pub(crate) fn tunnelled(&mut self, slot: u32, now: Nanos) {
        let tls = self.route_of(slot).tls;
        let connection = &mut self.slots[slot as usize];
        connection.machine = Machine::new();
        connection.phase_start = now;
        let Some(config) = tls else {
            return self.opened(slot, now);
        };
        connection.state = State::Securing;
        let limit = self.prepared.plan.timeouts.tls;
        self.set_deadline(slot, now + limit);
        let progress = self.io.start_tls(Slot(slot), config);
        self.on_securing(slot, progress);
    }

    /// A handshake has made progress.
    pub(crate) fn on_securing(&mut self, slot: u32, progress: Result<Progress, IoError>) {
        match progress {
            Ok(Progress::Pending) => {}
            Ok(Progress::Done) => {
                let now = self.io.now();
                let start = self.slots[slot as usize].phase_start;
                self.recorder.interval().record_tls(now - start);
                if self.is_multiplexed() && !self.io.agreed(Slot(slot), b"h2") {
                    return self.opening_failed(slot, now, (Outcome::TlsAlpn, None));
                }
                self.opened(slot, now);
            }
            Err(error) => {
                let now = self.io.now();
                self.opening_failed(slot, now, io_failure(error, During::Tls));
            }
        }
    }

    /// The connection can carry requests.
    fn opened(&mut self, slot: u32, now: Nanos) {
        if self.is_multiplexed() {
            return self.greet(slot, now);
        }
        let connection = &mut self.slots[slot as usize];
        connection.failures = 0;
        connection.deadline = Nanos::MAX;
        connection.state = State::Idle;
        match connection.duty {
            Duty::Exchange => {
                // Opening took this long, and that is no lag of ours.
                let exchange = &mut connection.exchange;
                if exchange.sent == Nanos::MAX {
                    exchange.due += now - exchange.started;
                }
                self.begin_sending(slot);
            }
            Duty::None => {
                connection.freed = now;
                self.routes[usize::from(connection.route)]
                    .free
                    .push_back(slot);
            }
        }
    }

    /// The connection can't be opened: the exchange that waits for it has failed, and the slot
    /// rests before it dials again.
    pub(crate) fn opening_failed(&mut self, slot: u32, now: Nanos, failure: Failure) {
        self.close_connection(slot);
        if self.is_multiplexed() {
            return self.greeting_failed(slot, now, failure);
        }
        let rest = self.rest_after_failure(slot, now);
        let connection = &mut self.slots[slot as usize];
        if connection.duty == Duty::Exchange {
            self.record(slot, now, failure);
        }
        self.resting.push((rest, slot));
    }

    /// Until when a slot rests that has failed once more; each pause is twice the last.
    pub(crate) fn rest_after_failure(&mut self, slot: u32, now: Nanos) -> Nanos {
        let backoff_max = self.prepared.plan.connections.backoff_max;
        let connection = &mut self.slots[slot as usize];
        connection.failures = connection.failures.saturating_add(1);
        let doubled = BACKOFF_MIN.0 << (connection.failures - 1).min(20);
        connection.freed = now + Nanos(doubled).min(backoff_max);
        connection.freed
    }

    /// Frees the slots that have rested.
    pub(crate) fn wake_resting(&mut self, now: Nanos) {
        if self.is_multiplexed() {
            return self.wake_groups(now);
        }
        let (routes, slots) = (&mut self.routes, &self.slots);
        self.resting.retain(|(until, slot)| {
            if *until <= now {
                routes[usize::from(slots[*slot as usize].route)]
                    .free
                    .push_back(*slot);
            }
            *until > now
        });
    }

    /// What a timeout means while the connection is being opened.
    pub(crate) fn opening_timed_out(&mut self, slot: u32, now: Nanos) {
        let outcome = match self.slots[slot as usize].state {
            State::Securing => Outcome::TimeoutTls,
            _ => Outcome::TimeoutConnect,
        };
        if outcome == Outcome::TimeoutConnect && self.try_another(slot, now) {
            self.io.close(Slot(slot));
            return self.dial_next(slot, now);
        }
        self.opening_failed(slot, now, (outcome, None));
    }
}
