//! Origins that redirects lead to, beyond the plan's own: looked up once, with a bound on how many.

use super::{Context, Lane, Transport};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::limits::{DETOURS, LOOK_UP};
use crate::prepare::{LookedUp, Lookup, TargetForm};
use crate::timers::Wake;
use crate::wire::{Carriage, Handler, Settings};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Origin;
use drumfire_units::Nanos;
use std::sync::mpsc::{Receiver, TryRecvError};

/// The state of an origin.
#[derive(Debug)]
enum State {
    /// This lane leads there.
    Known(LaneId),
    /// Its name is being looked up, for these exchanges.
    Sought {
        answer: Receiver<LookedUp>,
        /// How its connections will be treated.
        settings: Settings,
        exchanges: Vec<ExchangeId>,
    },
}

/// The origins that redirects have led to.
#[derive(Debug, Default)]
pub(crate) struct Origins(Vec<(Origin, State)>);

/// How an exchange gets to an origin.
#[derive(Debug)]
pub(crate) enum Found {
    /// On this share, with its target in this form.
    Share(ShareId, TargetForm),
    /// Its name is being looked up; the exchange is among those that [`Transport::looked_up`]
    /// gives back.
    Sought,
}

impl Transport {
    /// How an exchange of a share gets to an origin.
    ///
    /// # Errors
    /// When it can't.
    pub(crate) fn reach<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        home: ShareId,
        origin: &Origin,
        lookup: &Lookup,
    ) -> Result<Found, Failure> {
        let home_lane = self.lane_of(home);
        let lane = if self.lanes.get(home_lane).route.origin == *origin {
            home_lane
        } else {
            let known = self.origins.0.iter().position(|(other, _)| other == origin);
            let settings = self.lanes.get(home_lane).settings;
            let at = known.map_or_else(|| self.discover(cx, origin, settings, lookup), Ok)?;
            match &mut self.origins.0[at].1 {
                State::Known(lane) => *lane,
                State::Sought { exchanges, .. } => {
                    exchanges.push(id);
                    self.carriages[id.index()] = Carriage::seeking(home);
                    return Ok(Found::Sought);
                }
            }
        };
        let form = self.lanes.get(lane).route.form;
        Ok(Found::Share(self.detour(cx.io, home, lane), form))
    }

    /// Notes a new origin: one of the plan's, or one whose name has to be looked up.
    fn discover<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        origin: &Origin,
        settings: Settings,
        lookup: &Lookup,
    ) -> Result<usize, Failure> {
        let planned = self
            .lanes
            .iter()
            .find(|(_, lane)| lane.route.origin == *origin)
            .map(|(id, lane)| (id, lane.route.clone()));
        let state = match planned {
            Some((_, route)) if settings.is_exclusive() => {
                let mut lane = Lane::new(route, settings);
                lane.is_transient = true;
                State::Known(self.lanes.add(lane))
            }
            Some((id, _)) => State::Known(id),
            None if self.origins.0.len() >= DETOURS => {
                let reason = format!("redirects led to {DETOURS} other origins before");
                return Err(Failure::with(Outcome::RedirectBlocked, reason));
            }
            None => {
                let answer = lookup
                    .start(origin.clone())
                    .map_err(|error| Failure::with(Outcome::LocalMemory, error.to_string()))?;
                let wake = cx.io.now() + LOOK_UP;
                cx.timers.at(wake, Wake::LookUps);
                State::Sought {
                    answer,
                    settings,
                    exchanges: Vec::new(),
                }
            }
        };
        self.origins.0.push((origin.clone(), state));
        Ok(self.origins.0.len() - 1)
    }

    /// Takes the answer to one look-up that has come: the exchanges that waited for it, and why
    /// they can't go on, if they can't. `None` when no further answer has come.
    pub(crate) fn looked_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Option<(Vec<ExchangeId>, Option<Failure>)> {
        let mut seeks = false;
        for at in (0..self.origins.0.len()).rev() {
            let State::Sought {
                answer,
                settings,
                exchanges,
            } = &mut self.origins.0[at].1
            else {
                continue;
            };
            let settings = *settings;
            let Some(found) = found(answer) else {
                seeks = true;
                continue;
            };
            let exchanges = std::mem::take(exchanges);
            let failure = match found {
                Ok(answer) => {
                    let mut route = answer.route;
                    route.tls = answer.tls.map(|config| cx.io.add_tls(config));
                    let mut lane = Lane::new(route, settings);
                    lane.is_transient = settings.is_exclusive();
                    self.origins.0[at].1 = State::Known(self.lanes.add(lane));
                    None
                }
                Err(failure) => {
                    // It is looked up again for the next exchange that is led there.
                    self.origins.0.swap_remove(at);
                    Some(failure)
                }
            };
            for id in &exchanges {
                self.carriages[id.index()].clear();
            }
            return Some((exchanges, failure));
        }
        if seeks {
            cx.timers.at(now + LOOK_UP, Wake::LookUps);
        }
        None
    }

    /// An exchange waits for no look-up any more.
    pub(super) fn forget_sought(&mut self, id: ExchangeId) {
        for (_, state) in &mut self.origins.0 {
            if let State::Sought { exchanges, .. } = state {
                exchanges.retain(|other| *other != id);
            }
        }
    }
}

/// The result of a look-up, or the failure of the exchanges that wait for it; `None` while it goes
/// on.
fn found(answer: &Receiver<LookedUp>) -> Option<Result<crate::prepare::Answer, Failure>> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Err(Failure::of(Outcome::DnsFailed))),
        Ok(answer) => Some(answer.map_err(|error| {
            let outcome = error.outcome().unwrap_or(Outcome::TlsProtocol);
            Failure::with(outcome, error.to_string())
        })),
    }
}
