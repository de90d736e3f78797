//! Going where a redirect leads from a stream: on the same connection, or on one to another
//! origin, which is made for each of the plan's connections that is led there.

use super::{Lane, Worker};
use crate::blame::Failure;
use crate::connection::Connection;
use crate::limits::DETOURS;
use crate::place::{Group, Phase};
use crate::prepare::{TargetForm, stream};
use crate::redirect::{Elsewhere, Follow, Next, StreamHop, Way, found};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Origin;
use drumfire_units::Nanos;
use std::collections::VecDeque;

impl<I: Io> Worker<I> {
    /// The response that redirected is over: sends what it asked for.
    pub(super) fn hop(&mut self, index: u32, now: Nanos) {
        let place = &mut self.places[index as usize];
        let next = place.follow.as_mut().and_then(|follow| follow.next.take());
        let (request, number) = match next {
            Some(Next::Hop(request, number)) => (request, number),
            Some(Next::Refused(failure)) => return self.end_place(index, now, failure),
            None => return,
        };
        let stream = match stream(&self.prepared.plan, &request) {
            Ok(stream) => stream,
            Err(reason) => return self.block(index, now, reason),
        };
        let origin = request.url.origin.clone();
        let current = Some(StreamHop {
            request,
            number,
            stream,
        });
        place.decoder = None;
        place.exchange.retried = false;
        place.follow = Some(Box::new(Follow {
            current,
            next: None,
        }));
        self.go_to(index, &origin, now);
    }

    /// The plan follows no such redirect.
    fn block(&mut self, index: u32, now: Nanos, reason: String) {
        self.end_place(index, now, (Outcome::RedirectBlocked, Some(reason)));
    }

    /// Puts a place's exchange on a connection to this origin, or lets it wait for one.
    fn go_to(&mut self, index: u32, origin: &Origin, now: Nanos) {
        let place = &mut self.places[index as usize];
        let home = place.home;
        let at = self.elsewhere.iter().position(|e| e.origin == *origin);
        let group = if self.lane_of(home).route.origin == *origin {
            home
        } else {
            let at = match at.map_or_else(|| self.discover(origin), Ok) {
                Ok(at) => at,
                Err(failure) => return self.end_place(index, now, failure),
            };
            let place = &mut self.places[index as usize];
            match &mut self.elsewhere[at].way {
                Way::Sought { places, .. } => {
                    place.phase = Phase::Resolving;
                    return places.push((index, place.exchange.started));
                }
                Way::Lane(lane) => {
                    let lane = *lane;
                    self.group_to(at, lane, home)
                }
            }
        };
        if self.lane_of(group).route.form == TargetForm::Absolute {
            let reason = "a proxy carries HTTP/2 only to https targets".to_owned();
            return self.block(index, now, reason);
        }
        self.places[index as usize].group = group;
        self.board(index, now);
    }

    /// The lane that a group's connection takes.
    fn lane_of(&self, group: u32) -> &Lane {
        let slot = self.groups[group as usize].slot;
        &self.routes[usize::from(self.slots[slot as usize].route)]
    }

    /// Notes a new origin: one of the plan's, or one whose name has to be looked up.
    fn discover(&mut self, origin: &Origin) -> Result<usize, Failure> {
        let known = self
            .routes
            .iter()
            .position(|lane| lane.route.origin == *origin);
        let way = match known {
            Some(lane) => Way::Lane(lane as u16),
            None if self.elsewhere.len() >= DETOURS => {
                let reason = format!("redirects led to {DETOURS} other origins before");
                return Err((Outcome::RedirectBlocked, Some(reason)));
            }
            None => Way::Sought {
                answer: self
                    .ask_for(origin.clone())
                    .map_err(|error| (Outcome::LocalMemory, Some(error.to_string())))?,
                places: Vec::new(),
            },
        };
        self.elsewhere.push(Elsewhere {
            origin: origin.clone(),
            way,
            groups: Vec::new(),
        });
        Ok(self.elsewhere.len() - 1)
    }

    /// The group that leads elsewhere for those of another one.
    fn group_to(&mut self, at: usize, lane: u16, home: u32) -> u32 {
        let groups = &mut self.elsewhere[at].groups;
        if let Some((_, group)) = groups.iter().find(|(of, _)| *of == home) {
            return *group;
        }
        let (group, slot) = (self.groups.len() as u32, self.slots.len() as u32);
        groups.push((home, group));
        let mut connection = Connection::new(lane, home);
        connection.group = group;
        self.slots.push(connection);
        self.groups.push(Group {
            slot,
            waiting: VecDeque::new(),
        });
        group
    }

    /// Whether the name of an origin is being looked up.
    pub(super) fn is_seeking(&self) -> bool {
        let sought = |elsewhere: &Elsewhere| matches!(elsewhere.way, Way::Sought { .. });
        self.elsewhere.iter().any(sought)
    }

    /// Goes on with the places whose origin has been looked up.
    pub(super) fn poll_elsewhere(&mut self, now: Nanos) {
        for at in (0..self.elsewhere.len()).rev() {
            let Way::Sought { answer, places } = &mut self.elsewhere[at].way else {
                continue;
            };
            let Some(found) = found(answer) else {
                continue;
            };
            let places = std::mem::take(places);
            let origin = self.elsewhere[at].origin.clone();
            let failure = match found {
                Ok((mut route, tls)) => {
                    route.tls = tls.map(|config| self.io.add_tls(config));
                    self.elsewhere[at].way = Way::Lane(self.routes.len() as u16);
                    self.routes.push(Lane::new(&route));
                    None
                }
                Err(failure) => {
                    // It is looked up again for the next who is led there.
                    self.elsewhere.swap_remove(at);
                    Some(failure)
                }
            };
            for (index, started) in places {
                let place = &self.places[index as usize];
                let waits = place.phase == Phase::Resolving && place.exchange.started == started;
                match &failure {
                    _ if !waits => {}
                    Some(failure) => self.end_place(index, now, failure.clone()),
                    None => self.go_to(index, &origin, now),
                }
            }
        }
    }
}
