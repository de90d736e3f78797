//! From input to a request, to its plan, to its answer, for connections over HTTP/1.
//!
//! The driver gives a responder the input of a connection, step by step. A step that ends a request
//! leaves the answer in the connection's work, or the plan, where that is due later; the driver then
//! has it performed when its time has come.

use crate::answer::{Act, Afterwards, Answer, Body, Constancy, Counting, Plan, RawEnd};
use crate::cache::{ANSWER_MAX, Cache};
use crate::connection::{Chunks, Closing, Connection, Held, Manner, Pace, Phase, Receiving, Work};
use crate::desk::Desk;
use crate::http1::{self, CONTINUE, Head, HeadRead, Persistence, Refusal, parse_head};
use crate::http2::{Opening, opening};
use crate::request::RequestBody;
use crate::shared::WorkerShared;
use drumfire_units::Nanos;
use std::rc::Rc;

/// The largest body that is copied behind its head, so that one write takes several answers.
const JOINED_BODY_MAX: u64 = 16 * 1024;

/// The result of one step of reading.
pub(crate) enum Step {
    /// More input is needed.
    Starved,
    /// Go on.
    Onward,
    /// The plan is kept, to be performed at this time.
    Due(Nanos),
    /// This is no HTTP/1 at all.
    Http2,
}

/// Answers a worker's requests over HTTP/1, known ones from memory.
pub(crate) struct Responder {
    desk: Rc<Desk>,
    cache: Cache,
    /// The number of answers after which a connection ends.
    close_after: Option<u32>,
}

impl Responder {
    pub(crate) fn new(desk: Rc<Desk>, close_after: Option<u32>) -> Self {
        Self {
            desk,
            cache: Cache::default(),
            close_after,
        }
    }

    /// This worker's counters and log.
    #[inline]
    pub(crate) fn own(&self) -> &WorkerShared {
        self.desk.own()
    }

    /// The answer to the known request that the input starts with, and that request's length.
    #[inline]
    pub(crate) fn known(&self, input: &[u8]) -> Option<(&[u8], usize)> {
        self.cache.find(input)
    }

    /// One step through the input.
    pub(crate) fn read_request(
        &mut self,
        connection: &mut Connection,
        work: &mut Work,
        rest: &mut &[u8],
    ) -> Step {
        if rest.is_empty() {
            return Step::Starved;
        }
        if let Some(receiving) = &mut work.receiving {
            match receiving.body.read(rest) {
                Ok(length) => *rest = &rest[length..],
                Err(refusal) => return self.refuse(work, refusal),
            }
            if !receiving.body.is_complete() {
                return Step::Starved;
            }
            return self.body_received(connection, work);
        }
        if !work.has_output() {
            match opening(rest) {
                Opening::Http2 => return Step::Http2,
                Opening::Unclear => return Step::Starved,
                Opening::Other => {}
            }
        }
        match parse_head(rest) {
            Ok(HeadRead::Partial) => Step::Starved,
            Ok(HeadRead::Whole(head)) => self.head_received(connection, work, head, rest),
            Err(refusal) => self.refuse(work, refusal),
        }
    }

    fn head_received<'a>(
        &mut self,
        connection: &mut Connection,
        work: &mut Work,
        head: Head<'a>,
        rest: &mut &'a [u8],
    ) -> Step {
        let intent = match self.desk.intent(&head.request) {
            Ok(intent) => intent,
            Err(bad) => {
                http1::write_refusal(&mut work.plain, 400, &bad.0);
                return self.refused(work);
            }
        };
        if intent.counting() == Counting::Counted {
            self.desk.arrived();
        }
        let (bytes, behind) = rest.split_at(head.length);
        *rest = behind;
        let manner = Manner {
            persistence: head.persistence,
            chunks: if head.request.protocol == "HTTP/1.0" {
                Chunks::Unknown
            } else {
                Chunks::Known
            },
        };
        if head.body.is_complete() {
            let plan = self.desk.plan(intent, &RequestBody::default());
            return self.schedule(connection, work, plan, manner, bytes);
        }
        if head.expects_continue && rest.is_empty() {
            work.plain.extend_from_slice(CONTINUE);
        }
        work.receiving = Some(Receiving {
            body: head.body.keeping(intent.kept_max()),
            intent,
            manner,
        });
        Step::Onward
    }

    fn body_received(&mut self, connection: &mut Connection, work: &mut Work) -> Step {
        let Some(Receiving {
            intent,
            body,
            manner,
        }) = work.receiving.take()
        else {
            return Step::Starved;
        };
        let plan = self.desk.plan(intent, &body.finish());
        self.schedule(connection, work, plan, manner, &[])
    }

    /// Carries a plan out now or later. `request` is the head that the plan answers, or empty when
    /// there was more to the request.
    fn schedule(
        &mut self,
        connection: &mut Connection,
        work: &mut Work,
        plan: Plan,
        manner: Manner,
        request: &[u8],
    ) -> Step {
        if let Some(due) = self.desk.due(plan.delay, plan.counting) {
            work.phase = Phase::Held(Box::new(Held { plan, manner }));
            return Step::Due(due);
        }
        let known = plan.constancy == Constancy::Constant && !self.desk.is_serial();
        let start = work.plain.len();
        self.perform(connection, work, plan, manner);
        if known && !request.is_empty() && matches!(work.phase, Phase::Reading) {
            self.cache.insert(request, &work.plain[start..]);
        }
        Step::Onward
    }

    /// Carries a plan out, up to the point where bytes are to be sent.
    pub(crate) fn perform(
        &self,
        connection: &mut Connection,
        work: &mut Work,
        plan: Plan,
        manner: Manner,
    ) {
        let constancy = plan.constancy;
        let delay = plan.delay;
        match plan.act {
            Act::Answer(answer) => {
                if answer.afterwards == Afterwards::Cut {
                    self.own().tallies.faults.add(1);
                } else {
                    work.unsent_answers += u32::from(plan.counting == Counting::Counted);
                }
                self.answer(connection, work, answer, delay, (manner, constancy));
            }
            Act::Raw(raw) => {
                self.own().tallies.faults.add(1);
                work.closing = match raw.end {
                    RawEnd::Open => Closing::No,
                    RawEnd::Closed => Closing::Yes,
                    RawEnd::Reset => Closing::Reset,
                };
                work.pace = raw.drip.map(Pace::new);
                work.body = Body::bytes(raw.bytes);
                work.phase = Phase::Sending;
            }
        }
    }

    fn answer(
        &self,
        connection: &mut Connection,
        work: &mut Work,
        mut answer: Answer,
        delay: Option<Nanos>,
        (manner, constancy): (Manner, Constancy),
    ) {
        connection.answered += 1;
        let last = self.close_after.is_some_and(|n| connection.answered >= n);
        if last && answer.afterwards == Afterwards::Stay {
            answer.afterwards = Afterwards::Close;
        }
        if manner.chunks == Chunks::Unknown {
            answer.chunked = None;
        }
        http1::write_answer(&mut work.plain, &mut answer, delay, manner.persistence);
        match (answer.afterwards, manner.persistence) {
            (Afterwards::Cut, _) => {
                answer.body.halve();
                work.closing = Closing::Reset;
            }
            (Afterwards::Close, _) | (_, Persistence::Ends) => work.closing = Closing::Yes,
            (Afterwards::Stay, _) => {}
        }
        let joined_max = match constancy {
            Constancy::Constant => ANSWER_MAX as u64,
            Constancy::Varying => JOINED_BODY_MAX,
        };
        if answer.drip.is_none() && answer.body.len() <= joined_max {
            answer.body.drain_to(&mut work.plain);
            if work.closing == Closing::No && work.plain.len() < ANSWER_MAX {
                return;
            }
        }
        work.pace = answer.drip.map(Pace::new);
        work.body = answer.body;
        work.phase = Phase::Sending;
    }

    fn refuse(&self, work: &mut Work, refusal: Refusal) -> Step {
        refusal.write(&mut work.plain);
        self.refused(work)
    }

    /// A refusal is written; nothing after it is understood any more.
    fn refused(&self, work: &mut Work) -> Step {
        self.own().tallies.refused.add(1);
        work.receiving = None;
        work.closing = Closing::Midway;
        work.phase = Phase::Sending;
        Step::Onward
    }
}
