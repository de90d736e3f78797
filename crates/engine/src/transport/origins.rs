//! Origins: the lanes to other origins, to which redirects lead.
//!
//! ```text
//!   lane_to ─┬─► Reached::Lane            the plan's own origin, or one that is known
//!            └─► LookUpBegun, or Sought ─► take_answer ─► Answered: submit again, or fail
//! ```
//!
//! An origin is looked up once, on a separate thread; exchanges that are led there meanwhile wait
//! for the same answer, until `forget` removes them. [`DETOURS`] bounds the number of origins beyond
//! the plan's own, because servers choose them. Only redirected exchanges use a lane that is added
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
    /// A lane leads there.
    Known(LaneId),
    /// Its name is being looked up for the exchanges that wait.
    Sought {
        answer: Receiver<LookedUp>,
        /// The settings of its connections.
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
    /// A share's connection carries it there, with its target in this form.
    Share(ShareId, TargetForm),
    /// Its name is being looked up; the exchange is among those that
    /// [`super::Transport::looked_up`] gives back.
    Sought,
}

/// The state of the way to an origin, for the exchange that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// This lane leads there.
    Lane(LaneId),
    /// The exchange waits for a look-up that was under way.
    Sought,
    /// The exchange waits for a look-up that has begun with it.
    LookUpBegun,
}

/// The answer to a look-up.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The exchanges that waited for it.
    pub(crate) exchanges: Vec<ExchangeId>,
    /// The failure with which they end; `None` where they can be submitted.
    pub(crate) failure: Option<Failure>,
}

impl Origins {
    /// The lane to an origin, for an exchange that left along the lane `home`.
    ///
    /// # Errors
    /// When the origin can't be reached.
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

    /// Notes a new origin: one of the plan's, or one whose name has to be looked up. An origin of
    /// the plan gets a lane of its own for redirects where a connection carries one exchange, so
    /// that its planned connections stay with their exchanges.
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

    /// Takes the answer to one look-up that has come; `None` when no further answer has.
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
                    // It is looked up again for the next exchange that is led there.
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

    /// Takes an exchange out of those that wait for look-ups.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        for (_, state) in &mut self.0 {
            if let State::Sought { exchanges, .. } = state {
                exchanges.retain(|other| *other != id);
            }
        }
    }
}

/// The result of a look-up, or the failure of the exchanges that wait for it; `None` while it is
/// under way.
fn found(answer: &Receiver<LookedUp>) -> Option<Result<crate::prepare::Answer, Failure>> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Err(Failure::of(Outcome::DnsFailed))),
        Ok(answer) => Some(answer.map_err(|error| {
            let outcome = match error {
                // The plan says where connections come from.
                PrepareError::Source { .. } | PrepareError::Guarded { .. } => {
                    Outcome::RedirectBlocked
                }
                _ => error.outcome().unwrap_or(Outcome::TlsProtocol),
            };
            Failure::with(outcome, error.to_string())
        })),
    }
}
