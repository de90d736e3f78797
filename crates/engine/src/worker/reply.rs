//! What servers say on connections that carry many exchanges.

use super::Worker;
use super::response::judge;
use super::talk::Tools;
use crate::blame::{
    Failure, call_verdict, coding_outcome, grpc_code, http2_failure, stream_failure,
};
use crate::connection::State;
use crate::decoding::decoder;
use crate::limits::{BACKOFF_MIN, RECEIVES_PER_TURN};
use crate::place::{Link, Phase, Place};
use crate::prepare::{CallRequest, Prepared};
use crate::redirect::after_redirect;
use drumfire_grpc::{Code, Status};
use drumfire_http2::{ErrorCode, Event, Headers, StreamError};
use drumfire_measure::{GRPC_STATUS, Interval, Outcome};
use drumfire_net::{Io, Received, Slot};
use drumfire_plan::{Expect, Plan};
use drumfire_units::Nanos;

/// What gRPC's servers add to the GOAWAY for a client that pings too often.
const TOO_MANY_PINGS: &[u8] = b"too_many_pings";

/// What came of a step over received bytes, beyond what it left in its place.
enum Did {
    /// All bytes are used up.
    All,
    /// Nothing that concerns others.
    Nothing,
    /// The server's first SETTINGS.
    Ready,
    /// There may be more room than before.
    Room,
    /// A place's exchange is over.
    Over(u32, Failure),
    /// The same, and its stream is to be reset.
    GiveUp(u32, Failure),
    /// The response of a place's exchange is over, and leads on.
    Redirected(u32),
    /// A place's stream takes more of its body.
    Writable(u32),
    /// The server takes no further streams.
    Going,
    /// The same, because of our pings.
    TooManyPings,
    /// The server has done nothing for a place's request.
    NotProcessed(u32),
    /// The same, for it is refused: it may be sent once more.
    Refused(u32, Failure),
    /// The connection can't go on.
    Lost(Failure),
}

/// What a step needs beside the connection.
struct Ears<'a> {
    places: &'a mut [Place],
    prepared: &'a Prepared,
    interval: &'a mut Interval,
    tools: &'a mut Tools,
    now: Nanos,
}

impl<I: Io> Worker<I> {
    /// Receives until there is nothing more for now, or this turn's portion is used up; then puts
    /// what waits on the connection, and writes what came of it all.
    pub(super) fn receive_frames(&mut self, slot: u32) {
        self.reading = Some(slot);
        let since = self.receive_all(slot);
        self.reading = None;
        // What waited for room since before has it since the first bytes.
        if let Some(since) = since {
            self.fill(self.slots[slot as usize].group as usize, since);
        }
        self.flush(slot);
    }

    /// Receives until there is nothing more for now, or this turn's portion is used up. Gives the
    /// time of the first bytes.
    fn receive_all(&mut self, slot: u32) -> Option<Nanos> {
        let mut since = None;
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut left = RECEIVES_PER_TURN;
        while matches!(
            self.slots[slot as usize].state,
            State::Greeting | State::Open
        ) {
            if left == 0 {
                self.leave_unread(slot);
                break;
            }
            left -= 1;
            match self.io.receive(Slot(slot), &mut buffer) {
                Ok(Received::Bytes { length, drained }) => {
                    let now = self.io.now();
                    since.get_or_insert(now);
                    if let Some(link) = &mut self.slots[slot as usize].link {
                        link.heard = now;
                        link.asked = false;
                    }
                    self.feed_frames(slot, now, &buffer[..length]);
                    if drained && !self.slots[slot as usize].peer_closed {
                        break;
                    }
                }
                Ok(Received::Nothing) => break,
                Ok(Received::End) => self.link_ended(slot),
                Err(error) => self.link_broken(slot, error),
            }
        }
        self.buffer = buffer;
        since
    }

    /// Feeds received bytes to a slot's connection.
    pub(super) fn feed_frames(&mut self, slot: u32, now: Nanos, mut input: &[u8]) {
        while let Some(link) = &mut self.slots[slot as usize].link {
            let mut ears = Ears {
                places: &mut self.places,
                prepared: &self.prepared,
                interval: self.recorder.interval(),
                tools: &mut self.tools,
                now,
            };
            let (consumed, did) = step(link, input, &mut ears);
            input = &input[consumed..];
            match did {
                Did::All => return,
                Did::Nothing => {}
                Did::Over(index, verdict) => {
                    self.answered(slot, index);
                    self.end_place(index, now, verdict);
                    self.after_stream(slot, now);
                }
                other => self.heard(slot, now, other),
            }
        }
    }

    /// A response is over.
    #[inline]
    fn answered(&mut self, slot: u32, index: u32) {
        let connection = &mut self.slots[slot as usize];
        connection.failures = 0;
        if let Some(link) = &mut connection.link {
            link.answered += 1;
        }
        if self.places[index as usize].is_speaking() {
            self.stop_speaking(slot, index);
        }
    }

    /// A response is over that leads on.
    fn redirected(&mut self, slot: u32, index: u32, now: Nanos) {
        self.answered(slot, index);
        self.hop(index, now);
        self.after_stream(slot, now);
    }

    /// A response is over before its request is: nobody wants the rest, and the stream would stay
    /// open for ever.
    #[cold]
    fn stop_speaking(&mut self, slot: u32, index: u32) {
        if let Phase::Open(stream) = self.places[index as usize].phase {
            self.give_up_stream(slot, stream);
        }
    }

    /// What happens seldom.
    #[cold]
    fn heard(&mut self, slot: u32, now: Nanos, did: Did) {
        match did {
            Did::Room => {
                let group = self.slots[slot as usize].group as usize;
                self.fill(group, now);
            }
            Did::GiveUp(index, verdict) => self.give_up(index, now, verdict),
            Did::Redirected(index) => self.redirected(slot, index, now),
            Did::Writable(index) => self.send_body(index),
            Did::Going | Did::TooManyPings => {
                if matches!(did, Did::TooManyPings) {
                    self.ping_less();
                }
                self.retire_if_spent(slot, now);
                self.close_if_done(slot);
            }
            Did::NotProcessed(index) => {
                self.retire_if_spent(slot, now);
                self.not_processed(index, now, (Outcome::H2GoAway, None), Nanos::ZERO);
                self.close_if_done(slot);
            }
            // At once it would meet what it was refused for.
            Did::Refused(index, verdict) => {
                self.not_processed(index, now, verdict, BACKOFF_MIN);
                self.after_stream(slot, now);
            }
            Did::Lost(failure) => {
                // The farewell names what was wrong; over unread bytes the kernel would cut it off.
                self.flush(slot);
                self.empty(slot);
                self.lost(slot, now, failure);
            }
            Did::Ready => self.greeted(slot, now),
            Did::All | Did::Nothing | Did::Over(..) => {}
        }
    }

    /// What kept a place's exchange from being over in time.
    pub(super) fn stream_lateness(&self, index: u32, now: Nanos) -> Outcome {
        let place = &self.places[index as usize];
        let request = &self.prepared.requests[place.exchange.request as usize];
        let whole = place.exchange.started + request.limit(self.prepared.plan.timeouts.total);
        if request.call().is_some() && now >= whole {
            return Outcome::TimeoutTotal;
        }
        place.exchange.lateness(place.status, now)
    }
}

/// Lets a connection take a step, and leaves in the stream's place what it said.
#[inline]
fn step(link: &mut Link, input: &[u8], ears: &mut Ears<'_>) -> (usize, Did) {
    let step = match link.machine.handle_input(input) {
        Ok(step) => step,
        Err(error) => return (input.len(), Did::Lost(http2_failure(&error))),
    };
    let size = step.consumed;
    let did = match step.event {
        Event::NeedInput => Did::All,
        Event::Head {
            token,
            status,
            headers,
            end,
        } => ears.head(token, size, (status, headers, end)),
        Event::Data { token, bytes, end } => ears.data(token, size, bytes, end),
        Event::Trailers { token, headers } => ears.trailers(token, size, headers),
        Event::Interim { token, .. } => {
            let place = &mut ears.places[token as usize];
            place.interim = place.interim.saturating_add(1);
            Did::Nothing
        }
        Event::StreamFailed { token, error } => ears.failed(token, error, link.going.is_some()),
        Event::Unprocessed { token } => Did::NotProcessed(token),
        Event::GoAway { code, debug } => {
            link.going = Some(code.0);
            link.farewell = quoted(debug);
            if debug == TOO_MANY_PINGS {
                Did::TooManyPings
            } else {
                Did::Going
            }
        }
        Event::Writable { token } => Did::Writable(token),
        Event::Ready => Did::Ready,
        Event::Capacity => Did::Room,
        Event::Pong { .. } => Did::Nothing,
    };
    (size, did)
}

impl Ears<'_> {
    /// A response's head.
    #[inline]
    fn head(&mut self, token: u32, size: usize, head: (u16, Headers<'_>, bool)) -> Did {
        let (status, headers, end) = head;
        let plan = &self.prepared.plan;
        let place = &mut self.places[token as usize];
        let exchange = &mut place.exchange;
        exchange.first_byte = exchange.first_byte.min(self.now);
        exchange.bytes_received += size as u64;
        let request = &self.prepared.requests[exchange.request as usize];
        // The head is there: what remains is the time of the whole.
        place.deadline = exchange.started + request.limit(plan.timeouts.total);
        if request.call().is_some() {
            return if end {
                let status = place.reply.trailers_only(status, headers.iter());
                self.finished(token, status)
            } else {
                match place.reply.head(status, headers.iter()) {
                    Ok(()) => Did::Nothing,
                    Err(violation) => given_up(token, place, violation.into()),
                }
            };
        }
        place.status = status;
        if matches!(status, 300..=399) {
            place.note_redirect(plan, status, headers);
        }
        if end {
            return whole(token, place, plan.expect);
        }
        match decoder(plan.http.compressed, || headers.find("content-encoding")) {
            Ok(decoder) => {
                place.decoder = decoder;
                Did::Nothing
            }
            Err(failure) => Did::GiveUp(token, failure),
        }
    }

    /// A stream that failed. One that is refused is sent once more where the server is going, and
    /// where it is a call's: gRPC's clients do so unasked (proposal A6, transparent retries).
    #[cold]
    fn failed(&self, token: u32, error: StreamError, going: bool) -> Did {
        let exchange = &self.places[token as usize].exchange;
        let is_call = self.prepared.requests[exchange.request as usize]
            .call()
            .is_some();
        match error {
            StreamError::Reset { code } if code == ErrorCode::CANCEL && self.is_late(token) => {
                Did::Over(token, (Outcome::TimeoutTotal, None))
            }
            error if error.is_unprocessed() && (going || is_call) => {
                Did::Refused(token, stream_failure(error))
            }
            error => Did::Over(token, stream_failure(error)),
        }
    }

    /// A call has ended with a status.
    #[inline]
    fn finished(&mut self, token: u32, status: Status) -> Did {
        self.places[token as usize].status = GRPC_STATUS + u16::from(status.code.number());
        if status.is_ok() {
            return Did::Over(token, (Outcome::Ok, None));
        }
        if status.code == Code::DEADLINE_EXCEEDED && self.is_late(token) {
            return Did::Over(token, (Outcome::TimeoutTotal, None));
        }
        Did::Over(token, call_verdict(status))
    }

    /// Whether a call's deadline has passed. A server that keeps it too is often first to say so;
    /// who of the two it was is chance, and the outcome is one.
    #[cold]
    fn is_late(&self, token: u32) -> bool {
        let exchange = &self.places[token as usize].exchange;
        let call = self.prepared.requests[exchange.request as usize].call();
        let limit = call.and_then(|call| call.plan.deadline);
        limit.is_some_and(|limit| self.now >= exchange.sent.min(self.now) + limit)
    }

    /// Bytes of a body.
    #[inline]
    fn data(&mut self, token: u32, size: usize, bytes: &[u8], end: bool) -> Did {
        let place = &mut self.places[token as usize];
        place.exchange.bytes_received += size as u64;
        let request = &self.prepared.requests[place.exchange.request as usize];
        if let Some(call) = request.call() {
            return self.messages(token, call, bytes, end);
        }
        if let Some(decoder) = &mut place.decoder {
            let decoded = decoder.push(bytes, &mut |_| {});
            let decoded = decoded.and_then(|()| if end { decoder.finish() } else { Ok(0) });
            if let Err(error) = decoded {
                let failure = (coding_outcome(&error), Some(error.to_string()));
                return if end {
                    Did::Over(token, failure)
                } else {
                    Did::GiveUp(token, failure)
                };
            }
        }
        if !end {
            return Did::Nothing;
        }
        whole(token, place, self.prepared.plan.expect)
    }

    /// Bytes of a call's messages.
    #[inline]
    fn messages(&mut self, token: u32, call: &CallRequest, bytes: &[u8], end: bool) -> Did {
        let place = &mut self.places[token as usize];
        let mut came = 0;
        let mut wrong = None;
        let check = call.plan.reply_check.as_deref();
        let decompressor = &mut self.tools.decompressor;
        let fed = place.reply.data(bytes, decompressor, |message| {
            came += 1;
            if let Some(check) = check.filter(|_| wrong.is_none()) {
                wrong = check.check(message.payload).err();
            }
        });
        let measured = place.exchange.intended >= self.prepared.plan.warmup;
        let mut into = measured.then_some(&mut self.interval.messages);
        if let Some(messages) = &mut into {
            messages.received += came;
        }
        if let Some(error) = wrong {
            return undecodable(token, place, error.0);
        }
        if let Err(violation) = fed {
            return given_up(token, place, violation.into());
        }
        if came > 0 && call.server_streams() && place.hear(came, self.now, into) {
            // What was asked for has come, which is no failure.
            return match call.plan.streaming.receive {
                Some(wanted) if place.reply.messages() >= wanted => {
                    Did::GiveUp(token, (Outcome::Ok, None))
                }
                _ => Did::Nothing,
            };
        }
        if end {
            let status = place.reply.handle_end();
            return self.finished(token, status);
        }
        Did::Nothing
    }

    /// A response's trailers.
    #[inline]
    fn trailers(&mut self, token: u32, size: usize, headers: Headers<'_>) -> Did {
        let place = &mut self.places[token as usize];
        place.exchange.bytes_received += size as u64;
        let request = &self.prepared.requests[place.exchange.request as usize];
        if request.call().is_some() {
            let status = place.reply.trailers(headers.iter());
            return self.finished(token, status);
        }
        if let Some(decoder) = &mut place.decoder
            && let Err(error) = decoder.finish()
        {
            return Did::Over(token, (coding_outcome(&error), Some(error.to_string())));
        }
        whole(token, place, self.prepared.plan.expect)
    }
}

impl Place {
    /// Notes where a redirect leads, which is followed when its response is over.
    #[cold]
    fn note_redirect(&mut self, plan: &Plan, status: u16, headers: Headers<'_>) {
        let original = &plan.requests[self.exchange.request as usize];
        let current = self
            .follow
            .as_ref()
            .and_then(|follow| follow.current.as_ref());
        let current = current.map_or((original, 0), |hop| (&hop.request, hop.number));
        let location = || headers.find("location");
        if let Some(next) = after_redirect(plan, current, status, location) {
            self.follow.get_or_insert_default().next = Some(next);
        }
    }
}

/// A response that is no call's has ended.
#[inline]
fn whole(token: u32, place: &Place, expect: Expect) -> Did {
    match &place.follow {
        Some(follow) if follow.next.is_some() => Did::Redirected(token),
        _ => Did::Over(token, (judge(expect, place.status), None)),
    }
}

/// A call can't be finished: its stream is to be reset.
#[cold]
fn given_up(token: u32, place: &mut Place, status: Status) -> Did {
    place.status = GRPC_STATUS + u16::from(status.code.number());
    Did::GiveUp(token, call_verdict(status))
}

/// What a server says with its GOAWAY, if it does.
#[cold]
fn quoted(words: &[u8]) -> Option<Box<str>> {
    (!words.is_empty()).then(|| String::from_utf8_lossy(words).into())
}

/// A message is not what it should be: as for every client, that is the call's end.
#[cold]
fn undecodable(token: u32, place: &mut Place, detail: String) -> Did {
    place.status = GRPC_STATUS + grpc_code(Outcome::Decode);
    Did::GiveUp(token, (Outcome::Decode, Some(detail)))
}
