//! Origins: the lanes to the origins of redirects.
//!
//! ```text
//!   lane_to ─┬─► Reached::Lane            the plan's own origin, or one that is known
//!            └─► LookUpBegun, or Sought ─► take_answer ─► Answered: submit again, or fail
//! ```
//!
//! An origin is looked up once, on a separate thread; exchanges redirected there meanwhile wait for
//! the same answer, until `forget` removes them. [`DETOURS`] bounds the number of origins that are
//! not the plan's, because servers choose them. Only redirected exchanges use a lane that is added
//! here.

use super::lane::{Lane, Lanes};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::limits::DETOURS;
use crate::prepare::{LookedUp, Lookup, PrepareError, TargetForm};
use crate::wire::Settings;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Origin;
use std::sync::mpsc::{Receiver, TryRecvError};

/// The state of an origin to which a redirect has led.
#[derive(Debug)]
enum State {
    /// A lane leads to the origin.
    Known(LaneId),
    /// The origin's name is being looked up for the exchanges that wait.
    Sought {
        answer: Receiver<LookedUp>,
        /// The settings of the origin's connections.
        settings: Box<Settings>,
        exchanges: Vec<ExchangeId>,
    },
}

/// The origins that redirects have led to.
#[derive(Debug, Default)]
pub(super) struct Origins(Vec<(Origin, State)>);

/// The way of an exchange to an origin.
#[derive(Debug)]
pub(crate) enum Found {
    /// A share's connection carries the exchange there, with its target in this form.
    Share(ShareId, TargetForm),
    /// The origin's name is being looked up; [`super::Transport::looked_up`] will return the
    /// exchange.
    Sought,
}

/// The state of the way to an origin, for one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// This lane leads to the origin.
    Lane(LaneId),
    /// The exchange waits for a look-up that was already running.
    Sought,
    /// The exchange waits for a look-up that it has started.
    LookUpBegun,
}

/// The answer to a look-up.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The exchanges that waited for the answer.
    pub(crate) exchanges: Vec<ExchangeId>,
    /// The failure with which they end; `None` if they can be submitted.
    pub(crate) failure: Option<Failure>,
}

impl Origins {
    /// The lane to an origin, for an exchange whose home is the lane `home`.
    ///
    /// # Errors
    /// If the origin cannot be reached.
    pub(super) fn lane_to(
        &mut self,
        origin: &Origin,
        home: LaneId,
        id: ExchangeId,
        lanes: &mut Lanes,
        lookup: &Lookup,
    ) -> Result<Reached, Failure> {
        let settings = lanes[home].settings;
        if lanes[home].route.origin == *origin {
            return Ok(Reached::Lane(home));
        }
        let known = self.0.iter().position(|(other, _)| other == origin);
        let at = known.map_or_else(|| self.discover(origin, settings, lanes, lookup), Ok)?;
        match &mut self.0[at].1 {
            State::Known(lane) => Ok(Reached::Lane(*lane)),
            State::Sought { exchanges, .. } => {
                exchanges.push(id);
                Ok(match known {
                    Some(_) => Reached::Sought,
                    None => Reached::LookUpBegun,
                })
            }
        }
    }

    /// Adds a new origin: one of the plan's, or one whose name must be looked up. If a connection
    /// carries one exchange, an origin of the plan gets a separate lane for redirects, so that its
    /// planned connections stay with their exchanges.
    fn discover(
        &mut self,
        origin: &Origin,
        settings: Settings,
        lanes: &mut Lanes,
        lookup: &Lookup,
    ) -> Result<usize, Failure> {
        let planned = lanes
            .iter()
            .find(|(_, lane)| lane.route.origin == *origin)
            .map(|(id, lane)| (id, lane.route.clone()));
        let state = match planned {
            Some((_, route)) if settings.protocol.is_exclusive() => {
                State::Known(lanes.add_lane(Lane::for_redirects(route, settings)))
            }
            Some((id, _)) => State::Known(id),
            None if self.0.len() >= DETOURS => {
                let reason = format!("redirects already led to {DETOURS} other origins");
                return Err(Failure::with(Outcome::RedirectBlocked, reason));
            }
            None => State::Sought {
                answer: lookup
                    .start(origin.clone())
                    .map_err(|error| Failure::with(Outcome::LocalMemory, error.to_string()))?,
                settings: Box::new(settings),
                exchanges: Vec::new(),
            },
        };
        self.0.push((origin.clone(), state));
        Ok(self.0.len() - 1)
    }

    /// Takes the answer to one finished look-up; `None` if all were taken.
    pub(super) fn take_answer<I: Io>(&mut self, lanes: &mut Lanes, io: &mut I) -> Option<Answered> {
        for at in (0..self.0.len()).rev() {
            let State::Sought {
                answer,
                settings,
                exchanges,
            } = &mut self.0[at].1
            else {
                continue;
            };
            let settings = **settings;
            let Some(found) = found(answer) else {
                continue;
            };
            let exchanges = std::mem::take(exchanges);
            let failure = match found {
                Ok(answer) => {
                    let route = answer.into_route(|config| io.add_tls(config));
                    let lane = Lane::for_redirects(route, settings);
                    self.0[at].1 = State::Known(lanes.add_lane(lane));
                    None
                }
                Err(failure) => {
                    // The next exchange that is redirected there starts another look-up.
                    self.0.swap_remove(at);
                    Some(failure)
                }
            };
            return Some(Answered { exchanges, failure });
        }
        None
    }

    /// Whether any name is being looked up.
    pub(super) fn seeks(&self) -> bool {
        let sought = |(_, state): &(Origin, State)| matches!(state, State::Sought { .. });
        self.0.iter().any(sought)
    }

    /// Removes an exchange from those that wait for look-ups.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        for (_, state) in &mut self.0 {
            if let State::Sought { exchanges, .. } = state {
                exchanges.retain(|other| *other != id);
            }
        }
    }
}

/// The result of a look-up, or the failure of the exchanges that wait for it; `None` while it is
/// running.
fn found(answer: &Receiver<LookedUp>) -> Option<Result<crate::prepare::Answer, Failure>> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Err(Failure::from_outcome(Outcome::DnsFailed))),
        Ok(answer) => Some(answer.map_err(|error| {
            let outcome = match error {
                // The plan's source addresses or guard exclude the origin.
                PrepareError::Source { .. } | PrepareError::Guarded { .. } => {
                    Outcome::RedirectBlocked
                }
                _ => error.outcome().unwrap_or(Outcome::TlsProtocol),
            };
            Failure::with(outcome, error.to_string())
        })),
    }
}
