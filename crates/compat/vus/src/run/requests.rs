//! The requests of users.

use super::figures::{RequestResult, RequestTimes};
use super::{Run, Work};
use crate::ask::Answer;
use crate::codes;
use crate::errand::{BodyForm, Errand, Hop, Outcome, Timings};
use crate::jars;
use crate::redirect;
use crate::state::RequestFacts;
use crate::surroundings::Level;
use crate::talk::Happening;
use drumfire_coding::Decoder;
use drumfire_engine::{BodyUse, ClientRequest, Reply, Ticket};
use drumfire_net::Io;
use drumfire_plan::{Body, Header, HttpRequest, Origin};
use drumfire_units::Nanos;

/// The greatest size of a decoded body.
const BODY_MAX: u64 = 256 << 20;

/// The number of the flight that a user waits for; those in the background have others.
pub(super) const BLOCKING: u32 = 0;

/// The requests of one call.
pub(super) struct Flight {
    number: u32,
    legs: Vec<Leg>,
    /// The requests that have no result.
    open: usize,
}

/// One request of a call.
struct Leg {
    errand: Errand,
    hop: Option<Hop>,
    ticket: Option<Ticket>,
    /// When the current hop began, how late the user was then, and the end of the last hop.
    began: Nanos,
    late: Nanos,
    end: Nanos,
    deadline: Nanos,
    followed: u32,
    cookies_sent: String,
    outcome: Option<Outcome>,
}

impl<I: Io> Run<I> {
    /// Begins the requests of a call.
    pub(super) fn begin_flight(&mut self, user: u32, number: u32, errands: Vec<Errand>) {
        let now = self.shared.now.get();
        let late = self.vus[user as usize].late;
        let legs: Vec<Leg> = errands
            .into_iter()
            .map(|errand| {
                let (hop, outcome) = match &errand.hop {
                    Ok(hop) => (Some(hop.clone()), None),
                    Err((error, code)) => {
                        let outcome = Outcome::refused(&errand, error.clone(), *code);
                        (None, Some(outcome))
                    }
                };
                Leg {
                    deadline: Nanos(now.0.saturating_add(errand.timeout.0)),
                    hop,
                    ticket: None,
                    began: now,
                    late,
                    end: now,
                    followed: 0,
                    cookies_sent: String::new(),
                    outcome,
                    errand,
                }
            })
            .collect();
        let open = legs.iter().filter(|leg| leg.outcome.is_none()).count();
        let flight = Flight { number, legs, open };
        self.vus[user as usize].flights.push(flight);
        self.send_more(user, number);
        // Requests that wait for others of the call wait because the script wants it so.
        let flights = self.vus[user as usize].flights.iter_mut();
        let own = flights.filter(|flight| flight.number == number);
        let waiting = own.flat_map(|flight| &mut flight.legs);
        for leg in waiting.filter(|leg| leg.ticket.is_none()) {
            leg.late = Nanos::ZERO;
        }
        self.finish_flight(user, number);
    }

    /// Takes a flight of a user.
    fn take_flight(&mut self, user: u32, number: u32) -> Option<Flight> {
        let flights = &mut self.vus[user as usize].flights;
        let at = flights.iter().position(|flight| flight.number == number)?;
        Some(flights.swap_remove(at))
    }

    /// Sends the requests for which there is room, in their order.
    fn send_more(&mut self, user: u32, number: u32) {
        let Some(mut flight) = self.take_flight(user, number) else {
            return;
        };
        for at in 0..flight.legs.len() {
            let running = |leg: &&Leg| leg.ticket.is_some() && leg.outcome.is_none();
            if flight.legs.iter().filter(running).count() >= self.settings.batch {
                break;
            }
            let leg = &flight.legs[at];
            if leg.ticket.is_some() || leg.outcome.is_some() {
                continue;
            }
            let origin = |leg: &Leg| leg.hop.as_ref().map(|hop| hop.url.origin.clone());
            let own: Option<Origin> = origin(leg);
            let same = flight.legs.iter().filter(running);
            let same = same.filter(|other| origin(other) == own).count();
            if same >= self.settings.batch_per_host {
                continue;
            }
            self.send(user, (number, at), &mut flight.legs[at]);
        }
        self.vus[user as usize].flights.push(flight);
    }

    /// Sends the current hop of a request.
    fn send(&mut self, user: u32, (number, at): (u32, usize), leg: &mut Leg) {
        let Some(hop) = &leg.hop else {
            return;
        };
        let now = self.shared.now.get();
        let request;
        (request, leg.cookies_sent) = self.request_of(user, hop, &leg.errand);
        let body = match leg.errand.body_form {
            BodyForm::None => BodyUse::Drop,
            BodyForm::Text | BodyForm::Binary => BodyUse::Keep,
        };
        let ticket = self.client.send(ClientRequest {
            user,
            request,
            timeout: leg.deadline - now,
            body,
        });
        leg.ticket = Some(ticket);
        leg.began = now;
        self.tickets.insert(ticket, (user, number, at));
        if let (Some(figures), Some(scenario)) =
            (&mut self.figures, self.vus[user as usize].scenario)
        {
            figures.request_begins(scenario);
        }
    }

    /// The request of a hop with the cookies of its user, and these cookies.
    pub(super) fn request_of(
        &self,
        user: u32,
        hop: &Hop,
        errand: &Errand,
    ) -> (HttpRequest, String) {
        let unix = self.shared.unix_time(self.shared.now.get()).0 / 1_000_000_000;
        let mut users = self.shared.users.borrow_mut();
        let jar = users[user as usize].jars.jar(errand.jar);
        let cookies = cookies(jar, hop, errand, unix);
        drop(users);
        let mut headers = hop.headers.clone();
        if !cookies.is_empty() {
            headers.retain(|header| !header.is("cookie"));
            if let Ok(header) = Header::new("Cookie", cookies.as_bytes()) {
                headers.push(header);
            }
        }
        let request = HttpRequest {
            headers,
            body: Body(hop.body.clone()),
            ..HttpRequest::new(hop.method.clone(), hop.url.clone())
        };
        (request, cookies)
    }

    /// Handles the reply to a request.
    pub(super) fn replied(&mut self, reply: Reply) {
        let Some((user, number, at)) = self.tickets.remove(&reply.ticket) else {
            return;
        };
        let Some(mut flight) = self.take_flight(user, number) else {
            return;
        };
        let leg = &mut flight.legs[at];
        leg.ticket = None;
        if let Some(outcome) = self.judge_reply(user, leg, reply) {
            leg.outcome = Some(outcome);
            flight.open -= 1;
        } else {
            self.send(user, (number, at), leg);
        }
        self.vus[user as usize].flights.push(flight);
        self.send_more(user, number);
        self.finish_flight(user, number);
    }

    /// Counts a reply. Returns the result of the request, or sets the next hop.
    fn judge_reply(&mut self, user: u32, leg: &mut Leg, mut reply: Reply) -> Option<Outcome> {
        let hop = leg.hop.clone()?;
        let outcome = reply.outcome;
        let mut error = match outcome {
            drumfire_measure::Outcome::Ok => (String::new(), codes::of_status(reply.status)),
            outcome => {
                let words = codes::words(outcome, reply.detail.as_deref());
                (words, codes::of_outcome(outcome))
            }
        };
        if error.0.is_empty()
            && leg.errand.body_form != BodyForm::None
            && let Err(text) = decode(&mut reply)
        {
            error = (text, 1701);
        }
        let status = if error.0.is_empty() { reply.status } else { 0 };
        let end = reply.times.end;
        let timings = Timings::of(&reply.times);
        self.measure_reply(user, leg, &reply, status);
        self.shared.count_request(
            user,
            &leg.errand,
            &RequestFacts {
                hop: &hop,
                status,
                version: reply.version,
                timings: &timings,
                error: &error.0,
                code: error.1,
                end,
            },
        );
        let mut users = self.shared.users.borrow_mut();
        let of = &mut users[user as usize];
        of.bytes_sent += reply.bytes_sent;
        of.bytes_received += reply.bytes_received;
        if status != 0 {
            let unix = self.shared.unix_time(end).0 / 1_000_000_000;
            let jar = of.jars.jar(leg.errand.jar);
            let fields = reply.fields.iter();
            for (_, value) in fields.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
                jars::with_site(&hop.url, |site| jar.store(value, site, unix));
            }
        }
        drop(users);
        if status != 0 {
            match self.next_hop(leg, &hop, &reply) {
                Ok(Some(next)) => {
                    leg.hop = Some(next);
                    leg.followed += 1;
                    return None;
                }
                Ok(None) => {}
                Err(text) => error = (text, 1000),
            }
        }
        let mut outcome = Outcome::of(&leg.errand, hop, reply, error);
        outcome.cookies_sent = std::mem::take(&mut leg.cookies_sent);
        Some(outcome)
    }

    /// Adds a reply to drumfire's own figures.
    fn measure_reply(&mut self, user: u32, leg: &mut Leg, reply: &Reply, status: u16) {
        let times = &reply.times;
        let late = std::mem::take(&mut leg.late);
        leg.end = times.end;
        let vu = &mut self.vus[user as usize];
        let (Some(figures), Some(scenario)) = (&mut self.figures, vu.scenario) else {
            return;
        };
        let expected = leg.errand.expected.holds(status);
        let outcome = match (reply.outcome, expected) {
            (drumfire_measure::Outcome::Ok, _) if status == 0 => drumfire_measure::Outcome::Decode,
            (drumfire_measure::Outcome::Ok, Some(false)) => drumfire_measure::Outcome::HttpStatus,
            (outcome, _) => outcome,
        };
        if outcome != drumfire_measure::Outcome::Ok {
            vu.failed.get_or_insert(outcome);
        }
        let request = RequestTimes {
            began: leg.began,
            late,
            sent: times.sent,
            first_byte: times.first_byte,
            end: times.end,
        };
        let result = RequestResult {
            outcome,
            detail: reply.detail.as_deref(),
            status: reply.status,
            bytes_sent: reply.bytes_sent,
            bytes_received: reply.bytes_received,
            connect: times.connect,
        };
        figures.request_ended(scenario, &request, &result);
    }

    /// The request that follows a response, if it is a redirect that is followed.
    fn next_hop(&self, leg: &Leg, hop: &Hop, reply: &Reply) -> Result<Option<Hop>, String> {
        let mut fields = reply.fields.iter();
        let location = fields.find(|(name, _)| name.eq_ignore_ascii_case("location"));
        let location = location.map(|(_, value)| value.as_slice());
        if leg.errand.redirects == 0 {
            return Ok(None);
        }
        let next = redirect::next(hop, reply.status, location)?;
        if next.is_some() && leg.followed >= leg.errand.redirects {
            if !leg.errand.limits_redirects {
                let text = format!(
                    "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params \
                     or set global maxRedirects to silence this: {}",
                    leg.errand.redirects, hop.shown
                );
                self.shared.log(Level::Warning, &text, None);
            }
            return Ok(None);
        }
        Ok(next)
    }

    /// Continues the user, or gives it an event, if all requests of a flight have results.
    fn finish_flight(&mut self, user: u32, number: u32) {
        let flights = &mut self.vus[user as usize].flights;
        let ended = |flight: &Flight| flight.number == number && flight.open == 0;
        let Some(at) = flights.iter().position(ended) else {
            return;
        };
        let flight = flights.swap_remove(at);
        let since = flight.legs.iter().map(|leg| leg.end).max();
        let outcomes = flight.legs.into_iter().filter_map(|leg| leg.outcome);
        if number != BLOCKING {
            let results = Happening::Replied(outcomes.collect());
            return self.happen(user, number, results);
        }
        let answer = Answer::Http(outcomes.collect());
        let turn = self.vus[user as usize].turn;
        let since = since.unwrap_or_else(|| self.shared.now.get());
        let work = Work::Answer(user, turn, answer, since);
        self.work.push_back(work);
    }

    /// Ends the requests of a user without results.
    pub(super) fn cancel_flights(&mut self, user: u32) {
        let flights = std::mem::take(&mut self.vus[user as usize].flights);
        let scenario = self.vus[user as usize].scenario;
        for leg in flights.into_iter().flat_map(|flight| flight.legs) {
            let Some(ticket) = leg.ticket else {
                continue;
            };
            self.tickets.remove(&ticket);
            self.client.cancel(ticket);
            if let (Some(figures), Some(scenario)) = (&mut self.figures, scenario) {
                let times = RequestTimes {
                    began: leg.began,
                    late: leg.late,
                    sent: leg.began,
                    first_byte: Nanos::MAX,
                    end: self.shared.now.get(),
                };
                figures.request_cut(scenario, &times);
            }
        }
    }
}

/// The Cookie field of a request: the cookies of the jar, and its own.
fn cookies(jar: &mut drumfire_cookies::Jar, hop: &Hop, errand: &Errand, now: u64) -> String {
    let of_jar = jars::sent(jar, &hop.url, now);
    if errand.cookies.is_empty() {
        return of_jar;
    }
    let replaced = |name: &str| {
        let mut own = errand.cookies.iter();
        own.any(|cookie| cookie.replaces && cookie.name == name)
    };
    let kept = jars::pairs(&of_jar).filter(|(name, _)| !replaced(name));
    let kept = kept.map(|(name, value)| format!("{name}={value}"));
    let own = errand.cookies.iter();
    let own = own.map(|cookie| format!("{}={}", cookie.name, cookie.value));
    own.chain(kept).collect::<Vec<_>>().join("; ")
}

/// Decodes the body of a response by its Content-Encoding. An unknown coding is left as it is.
fn decode(reply: &mut Reply) -> Result<(), String> {
    let mut fields = reply.fields.iter();
    let coding = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let Some((_, coding)) = coding else {
        return Ok(());
    };
    if reply.body.is_empty() {
        return Ok(());
    }
    let Ok(Some(mut decoder)) = Decoder::new(coding, BODY_MAX) else {
        return Ok(());
    };
    let mut body = Vec::new();
    let mut sink = |bytes: &[u8]| body.extend_from_slice(bytes);
    let decoded = decoder.push(&reply.body, &mut sink);
    decoded
        .and_then(|()| decoder.finish().map(drop))
        .map_err(|error| format!("error decompressing response body: {error}"))?;
    reply.body = body;
    Ok(())
}
