//! gRPC calls: what they say, and when.

use super::Worker;
use super::seat::count_sent;
use crate::place::{Phase, Place};
use crate::prepare::{CallRequest, check_metadata, message_count, too_large};
use drumfire_grpc::{Compressor, Decompressor, Encoding};
use drumfire_http2::EndStream;
use drumfire_measure::{IsFirst, Messages, Outcome};
use drumfire_net::Io;
use drumfire_plan::{CallContext, Header};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// Messages are made until so many bytes of a call wait to be sent.
const AHEAD_BYTES: usize = 64 * 1024;

/// What a worker's calls share.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) decompressor: Decompressor,
    compressors: [Option<Compressor>; 3],
    /// The varying metadata of the call that is being opened.
    pub(super) metadata: Vec<Header>,
    message: Vec<u8>,
}

impl Tools {
    fn compressor(&mut self, encoding: Encoding) -> &mut Compressor {
        let index = match encoding {
            Encoding::Identity => 0,
            Encoding::Gzip => 1,
            Encoding::Zstd => 2,
        };
        self.compressors[index].get_or_insert_with(|| Compressor::new(encoding))
    }
}

impl<I: Io> Worker<I> {
    /// Whether a place's call makes or hears its messages one by one.
    #[inline]
    pub(super) fn is_talking(&self, index: u32) -> bool {
        let place = &self.places[index as usize];
        call_of(place, &self.prepared.requests).is_some_and(|call| call.fixed.is_none())
    }

    /// Makes ready what a call says first. Not the call's own data, nothing is made here.
    ///
    /// # Errors
    /// In words, when its data can't be rendered.
    #[inline]
    pub(super) fn begin_call(&mut self, index: u32, now: Nanos) -> Result<(), String> {
        let place = &mut self.places[index as usize];
        let Some(call) = call_of(place, &self.prepared.requests) else {
            return Ok(());
        };
        place.reply.begin(&call.reply);
        if call.fixed.is_none() {
            self.begin_talk(index)?;
        }
        let place = &mut self.places[index as usize];
        if let Some(call) = call_of(place, &self.prepared.requests)
            && (call.server_streams() || call.plan.streaming.duration.is_some())
        {
            let talk = place.talk.get_or_insert_default();
            talk.heard = now;
            talk.until = Nanos::MAX;
            talk.said_all = call.fixed.is_some();
            if let Some(duration) = call.plan.streaming.duration {
                talk.until = now + duration;
                let started = place.exchange.started;
                self.timers.push(Reverse((talk.until, index, started)));
            }
        }
        Ok(())
    }

    /// The varying metadata and the first messages of a call.
    fn begin_talk(&mut self, index: u32) -> Result<(), String> {
        let context = self.context(index);
        let place = &mut self.places[index as usize];
        let Some(call) = call_of(place, &self.prepared.requests) else {
            return Ok(());
        };
        let talk = place.talk.get_or_insert_default();
        talk.body.clear();
        (talk.taken, talk.told) = (0, 0);
        (talk.made, talk.sent) = (0, 0);
        talk.said_all = false;
        talk.until = Nanos::MAX;
        talk.total = message_count(&call.plan, &context);
        call.plan
            .data
            .metadata(&context, &mut self.tools.metadata)
            .map_err(|error| error.to_string())?;
        for field in &self.tools.metadata {
            check_metadata(field)?;
        }
        self.make_messages(index)
    }

    /// Makes as many messages as may go out now.
    fn make_messages(&mut self, index: u32) -> Result<(), String> {
        let context = self.context(index);
        let place = &mut self.places[index as usize];
        let (Some(call), Some(talk)) = (call_of(place, &self.prepared.requests), &mut place.talk)
        else {
            return Ok(());
        };
        let one_by_one = call.plan.streaming.interval > Nanos::ZERO;
        while talk.made < talk.total && talk.body.len() < AHEAD_BYTES {
            let mut message = std::mem::take(&mut self.tools.message);
            message.clear();
            let made = call.plan.data.message(&context, talk.made, &mut message);
            let made = made.map_err(|error| error.to_string()).and_then(|()| {
                if message.len() as u64 > call.plan.send_limit {
                    return Err(too_large(message.len(), call.plan.send_limit));
                }
                let compressor = self.tools.compressor(call.encoding);
                compressor
                    .write_message(&mut talk.body, &message)
                    .map_err(|_| too_large(message.len(), u64::from(u32::MAX)))
            });
            self.tools.message = message;
            made?;
            talk.made += 1;
            if one_by_one {
                break;
            }
        }
        Ok(())
    }

    /// Hands to a call's stream what it takes of the messages that are made, and makes more.
    pub(super) fn send_talk(&mut self, index: u32) {
        loop {
            let place = &mut self.places[index as usize];
            let (Phase::Open(opened), slot) = (place.phase, place.slot) else {
                return;
            };
            let started = place.exchange.started;
            let interval = call_of(place, &self.prepared.requests)
                .map_or(Nanos::ZERO, |call| call.plan.streaming.interval);
            let (Some(talk), Some(link)) = (&mut place.talk, &mut self.slots[slot as usize].link)
            else {
                return;
            };
            if talk.said_all {
                return;
            }
            let last = talk.made >= talk.total;
            let end = if last { EndStream::Yes } else { EndStream::No };
            let before = link.machine.output().len();
            let rest = &talk.body[talk.taken..];
            let length = rest.len();
            let Ok(taken) = link.machine.send_data(opened, rest, end) else {
                // The server wants no more; its response says why.
                talk.said_all = true;
                return;
            };
            talk.taken += taken;
            let went = talk.note_sent();
            let grown = link.machine.output().len() - before;
            count_sent(&mut place.exchange, grown);
            self.mark(slot);
            self.count_messages_sent(index, went);
            if taken < length {
                return;
            }
            let Some(talk) = &mut self.places[index as usize].talk else {
                return;
            };
            talk.body.clear();
            (talk.taken, talk.told) = (0, 0);
            talk.said_all = last;
            if last {
                return;
            }
            if interval > Nanos::ZERO {
                let now = self.io.now();
                self.timers.push(Reverse((now + interval, index, started)));
                return;
            }
            if let Err(reason) = self.make_messages(index) {
                return self.abandon(index, reason);
            }
        }
    }

    /// A call's time has come to say its next message, or to say no more.
    pub(super) fn talk_on(&mut self, index: u32, now: Nanos) {
        let place = &mut self.places[index as usize];
        let Phase::Open(_) = place.phase else {
            return;
        };
        let Some(call) = call_of(place, &self.prepared.requests) else {
            return;
        };
        let client_streams = call.plan.kind.client_streams();
        let over = place.talk.as_ref().is_some_and(|talk| now >= talk.until);
        if over && !client_streams {
            // What was asked for has come, which is no failure.
            return self.give_up(index, now, (Outcome::Ok, None));
        }
        if let Some(talk) = &mut place.talk {
            if over {
                talk.total = talk.made;
            } else if talk.said_all || !talk.body.is_empty() {
                return;
            }
        }
        if !over && let Err(reason) = self.make_messages(index) {
            return self.abandon(index, reason);
        }
        self.send_talk(index);
    }

    /// A call that has begun can't go on, for its data can't be rendered.
    #[cold]
    fn abandon(&mut self, index: u32, reason: String) {
        let now = self.io.now();
        self.give_up(index, now, (Outcome::BadData, Some(reason)));
    }

    /// Which call a place's is.
    pub(super) fn context(&self, index: u32) -> CallContext {
        let place = &self.places[index as usize];
        CallContext {
            number: place.exchange.number,
            user: index,
            connection: place.group,
            unix_time: self.io.unix_time(),
            seed: self.prepared.plan.seed,
        }
    }
}

impl Place {
    /// So many messages of a stream have come; `true` where the plan may have had enough.
    pub(super) fn hear(&mut self, came: u64, now: Nanos, mut into: Option<&mut Messages>) -> bool {
        let Some(talk) = &mut self.talk else {
            return false;
        };
        let first = self.reply.messages() == came;
        for n in 0..came {
            let is_first = if first && n == 0 {
                IsFirst::Yes
            } else {
                IsFirst::No
            };
            let before = match is_first {
                IsFirst::Yes => self.exchange.sent.min(now),
                IsFirst::No => talk.heard,
            };
            if let Some(messages) = &mut into {
                messages.record_streamed(is_first, before, now);
            }
            talk.heard = now;
        }
        true
    }
}

/// The call that a place's request makes, if it does.
#[inline]
fn call_of<'a>(place: &Place, requests: &'a [crate::prepare::Request]) -> Option<&'a CallRequest> {
    requests[place.exchange.request as usize].call()
}
