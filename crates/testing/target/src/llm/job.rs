//! A planned answer to a request for tokens, and its course.

use super::api::error_type;
use super::batch::StreamSeats;
use super::behaviour::{LlmBehaviour, RoleChunk};
use super::events::comment;
use super::fault::StreamFaultKind;
use super::generation::{AnswerStream, Step};
use super::log::{LlmLog, LlmRecord, LlmRecording};
use super::metrics::LlmMetrics;
use super::outlet::{LlmHead, Outlet, Rest};
use super::timing::BatchLaw;
use crate::answer::Afterwards;
use crate::clock;
use crate::sleeps::Sleeps;
use crate::stream::Gone;
use drumfire_units::{Nanos, Xoshiro256};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

/// A planned answer.
pub(crate) struct LlmJob {
    pub(crate) record: LlmRecord,
    /// The time from which the law of the first token counts.
    pub(crate) start: Nanos,
    /// The time from the start, or from the seat, to the first token.
    pub(crate) ttft: Nanos,
    pub(crate) behaviour: Arc<LlmBehaviour>,
    /// For the gaps between tokens.
    pub(crate) random: Xoshiro256,
    pub(crate) work: AnswerWork,
    pub(crate) afterwards: Afterwards,
}

/// What an answer consists of.
pub(crate) enum AnswerWork {
    Stream(AnswerStream),
    Whole(AnswerStream),
    /// Vectors or ranks, which take no time after the first token.
    Ready(String),
}

/// The parts of a worker that an answer uses.
#[derive(Clone, Copy)]
pub(crate) struct LlmDesk<'a> {
    pub(crate) sleeps: &'a Rc<Sleeps>,
    pub(crate) batch: &'a Rc<StreamSeats>,
    /// The law of the gaps between tokens that depends on the streams in progress.
    pub(crate) law: Option<BatchLaw>,
    pub(crate) log: &'a Arc<LlmLog>,
    pub(crate) metrics: &'a LlmMetrics,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LlmEnd {
    /// The answer is complete.
    Done,
    /// The body is complete by HTTP, but not the stream of events.
    Cut,
    /// The connection is to be closed within the body.
    Close,
    /// The connection is to be reset within the body.
    Reset,
}

impl LlmEnd {
    /// Whether the end is a deliberate fault.
    pub(crate) fn is_fault(self) -> bool {
        self != Self::Done
    }
}

impl LlmJob {
    /// Sends the answer.
    pub(crate) async fn run<O: Outlet>(
        self,
        desk: LlmDesk<'_>,
        outlet: &mut O,
    ) -> Result<LlmEnd, Gone> {
        let recording = Rc::new(LlmRecording::new(desk.log, self.record.clone()));
        let mut course = StreamCourse {
            desk,
            outlet,
            recording: Rc::clone(&recording),
            read: self.record.read,
            last_written: None,
            ping: None,
        };
        let result = course.run(self).await;
        desk.metrics.set_load(desk.batch);
        if result.is_err() {
            recording.ended("cancelled");
        }
        result
    }
}

/// An answer in progress.
struct StreamCourse<'a, O> {
    desk: LlmDesk<'a>,
    outlet: &'a mut O,
    recording: Rc<LlmRecording>,
    read: Nanos,
    last_written: Option<Nanos>,
    ping: Option<StreamComments>,
}

/// The comments of a stream.
struct StreamComments {
    due: Nanos,
    interval: Nanos,
    bytes: Vec<u8>,
}

impl StreamComments {
    /// The comments of a stream whose head is sent now.
    fn new(behaviour: &LlmBehaviour) -> Option<Self> {
        behaviour.ping.map(|interval| Self {
            due: clock::now() + interval,
            interval,
            bytes: comment(behaviour.line),
        })
    }
}

/// The times at which tokens are due.
struct Schedule {
    due: Nanos,
    behaviour: Arc<LlmBehaviour>,
    batch: Rc<StreamSeats>,
    law: Option<BatchLaw>,
    random: Xoshiro256,
}

impl Schedule {
    /// Advances by this many tokens.
    fn advance(&mut self, tokens: u32) {
        for _ in 0..tokens {
            self.due += match self.law {
                Some(law) => law.gap(self.batch.running()),
                None => self.behaviour.itl.draw(&mut self.random),
            };
        }
    }
}

impl<O: Outlet> StreamCourse<'_, O> {
    async fn run(&mut self, job: LlmJob) -> Result<LlmEnd, Gone> {
        let Ok(mut seat) = self.desk.batch.join(job.start) else {
            return self.refuse(&job).await;
        };
        self.desk.metrics.set_load(self.desk.batch);
        let mut work = job.work;
        if let (AnswerWork::Stream(generation), RoleChunk::Now) =
            (&mut work, job.behaviour.role_chunk)
        {
            self.outlet.open(&stream_head(&job.record))?;
            generation.open();
            self.send(generation, Rest::More).await?;
        }
        let admitted = unless_gone(self.outlet, seat.taken()).await?;
        self.recording.admitted(admitted);
        self.desk.metrics.set_load(self.desk.batch);
        let mut schedule = Schedule {
            due: admitted + job.ttft,
            law: self.desk.law,
            behaviour: job.behaviour,
            batch: Rc::clone(self.desk.batch),
            random: job.random,
        };
        let result = match work {
            AnswerWork::Stream(generation) => {
                self.stream(generation, &mut schedule, &job.record).await
            }
            AnswerWork::Whole(generation) => {
                self.whole(generation, &mut schedule, &job.record).await
            }
            AnswerWork::Ready(body) => self.ready(&body, &schedule, &job.record).await,
        };
        seat.leave(match result {
            Ok(_) => schedule.due,
            Err(_) => clock::now(),
        });
        result
    }

    /// Sends a stream of events.
    async fn stream(
        &mut self,
        mut generation: AnswerStream,
        schedule: &mut Schedule,
        record: &LlmRecord,
    ) -> Result<LlmEnd, Gone> {
        let behaviour = Arc::clone(&schedule.behaviour);
        match behaviour.role_chunk {
            RoleChunk::Now => self.ping = StreamComments::new(&behaviour),
            RoleChunk::First => generation.open(),
            RoleChunk::None => {}
        }
        let mut is_first = true;
        loop {
            let step = generation.next();
            match step {
                _ if is_first => self.wait(schedule.due).await?,
                Step::Tokens(tokens) => {
                    schedule.advance(tokens);
                    self.wait(schedule.due).await?;
                }
                Step::Fault(_) | Step::End => {}
            }
            if is_first && behaviour.role_chunk != RoleChunk::Now {
                self.outlet.open(&stream_head(record))?;
                self.ping = StreamComments::new(&behaviour);
            }
            is_first = false;
            match step {
                Step::Tokens(_) => {
                    for tokens in generation.events() {
                        self.recording.event(schedule.due, *tokens);
                    }
                    self.send(&mut generation, Rest::More).await?;
                }
                Step::Fault(kind) => return self.fail(&mut generation, kind).await,
                Step::End => {
                    self.send(&mut generation, Rest::None).await?;
                    self.finish(&generation);
                    return Ok(LlmEnd::Done);
                }
            }
        }
    }

    /// Ends a stream with a fault.
    async fn fail(
        &mut self,
        generation: &mut AnswerStream,
        kind: StreamFaultKind,
    ) -> Result<LlmEnd, Gone> {
        let end = match kind {
            StreamFaultKind::Cut | StreamFaultKind::Error => LlmEnd::Cut,
            StreamFaultKind::Close => LlmEnd::Close,
            StreamFaultKind::Reset => LlmEnd::Reset,
            StreamFaultKind::Stall | StreamFaultKind::BadJson => {
                self.send(generation, Rest::More).await?;
                poll_fn(|cx| self.outlet.poll_gone(cx)).await;
                return Err(Gone);
            }
        };
        let rest = match end {
            LlmEnd::Cut => Rest::None,
            _ => Rest::More,
        };
        self.send(generation, rest).await?;
        self.recording.ended(kind.name());
        Ok(end)
    }

    /// Sends an answer without a stream, after the time of all its tokens.
    async fn whole(
        &mut self,
        mut generation: AnswerStream,
        schedule: &mut Schedule,
        record: &LlmRecord,
    ) -> Result<LlmEnd, Gone> {
        self.wait(schedule.due).await?;
        let tokens = generation.tokens();
        for _ in 1..tokens {
            schedule.advance(1);
            if schedule.law.is_some() {
                // The number of streams may change until the next token.
                self.wait(schedule.due).await?;
            }
        }
        self.wait(schedule.due).await?;
        let body = generation.whole();
        let fault = generation.fault();
        if fault == Some(StreamFaultKind::Stall) {
            return self.fail(&mut generation, StreamFaultKind::Stall).await;
        }
        if fault == Some(StreamFaultKind::Error) {
            self.recording.ended("error");
            return self.error(record, 500, "the server failed").await;
        }
        let (sent, end) = match fault {
            None => (&*body, LlmEnd::Done),
            Some(StreamFaultKind::Reset) => (&body[..body.len() / 2], LlmEnd::Reset),
            Some(StreamFaultKind::Close) => (&body[..body.len() / 2], LlmEnd::Close),
            Some(_) => (&body[..body.len() / 2], LlmEnd::Cut),
        };
        let length = match end {
            LlmEnd::Cut => sent.len(),
            _ => body.len(),
        };
        self.outlet.open(&json_head(200, length, record))?;
        self.recording.event(schedule.due, tokens);
        let rest = match end {
            LlmEnd::Done | LlmEnd::Cut => Rest::None,
            LlmEnd::Close | LlmEnd::Reset => Rest::More,
        };
        self.outlet
            .write(sent.as_bytes(), rest, &self.recording)
            .await?;
        match fault {
            Some(kind) => self.recording.ended(kind.name()),
            None => self.finish(&generation),
        }
        Ok(end)
    }

    /// Sends a body that was made before.
    async fn ready(
        &mut self,
        body: &str,
        schedule: &Schedule,
        record: &LlmRecord,
    ) -> Result<LlmEnd, Gone> {
        self.wait(schedule.due).await?;
        self.outlet.open(&json_head(200, body.len(), record))?;
        self.recording.event(schedule.due, 0);
        self.outlet
            .write(body.as_bytes(), Rest::None, &self.recording)
            .await?;
        self.desk.metrics.ended(None, clock::now() - self.read);
        self.recording.ended("done");
        Ok(LlmEnd::Done)
    }

    /// Refuses a request, because too many wait.
    async fn refuse(&mut self, job: &LlmJob) -> Result<LlmEnd, Gone> {
        self.recording.ended("refused");
        self.error(&job.record, 503, "too many requests wait").await
    }

    async fn error(&mut self, record: &LlmRecord, status: u16, text: &str) -> Result<LlmEnd, Gone> {
        let body = record.api.error(error_type(status), text).to_string();
        let mut head = json_head(status, body.len(), record);
        if status == 503 {
            head.fields.push(("Retry-After", "1".to_owned()));
        }
        self.outlet.open(&head)?;
        self.outlet
            .write(body.as_bytes(), Rest::None, &self.recording)
            .await?;
        Ok(LlmEnd::Done)
    }

    /// Sends the bytes of a stream.
    async fn send(&mut self, generation: &mut AnswerStream, rest: Rest) -> Result<(), Gone> {
        let tokens = generation.events().iter().sum();
        self.outlet
            .write(generation.bytes(), rest, &self.recording)
            .await?;
        generation.sent();
        if tokens > 0 {
            let now = clock::now();
            match self.last_written {
                None => self.desk.metrics.first_token(now - self.read),
                Some(last) => self.desk.metrics.gap(now - last),
            }
            self.desk.metrics.tokens(tokens);
            self.last_written = Some(now);
        }
        Ok(())
    }

    fn finish(&self, generation: &AnswerStream) {
        if self.last_written.is_none() {
            self.desk.metrics.first_token(clock::now() - self.read);
            self.desk.metrics.tokens(generation.counts().output);
        }
        let time = clock::now() - self.read;
        self.desk.metrics.ended(Some(generation.finish()), time);
        self.recording.ended("done");
    }

    /// Sleeps until a time, and sends the comments that are due before.
    async fn wait(&mut self, due: Nanos) -> Result<(), Gone> {
        while let Some(ping) = self.ping.as_mut().filter(|ping| ping.due < due) {
            let sleep = self.desk.sleeps.until(ping.due);
            unless_gone(self.outlet, sleep).await?;
            self.outlet
                .write(&ping.bytes, Rest::More, &self.recording)
                .await?;
            ping.due += ping.interval;
        }
        let sleep = self.desk.sleeps.until(due);
        unless_gone(self.outlet, sleep).await
    }
}

/// Waits for a future, unless the client disconnects in the meantime.
async fn unless_gone<T>(
    outlet: &mut impl Outlet,
    future: impl Future<Output = T>,
) -> Result<T, Gone> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => outlet.poll_gone(cx).map(|()| Err(Gone)),
    })
    .await
}

/// The head of a stream.
fn stream_head(record: &LlmRecord) -> LlmHead {
    let mut fields = vec![
        (
            "Content-Type",
            "text/event-stream; charset=utf-8".to_owned(),
        ),
        ("Cache-Control", "no-store".to_owned()),
    ];
    fields.extend(request_id(record));
    LlmHead {
        status: 200,
        fields,
        length: None,
    }
}

/// The head of a JSON body.
fn json_head(status: u16, length: usize, record: &LlmRecord) -> LlmHead {
    let mut fields = vec![("Content-Type", "application/json".to_owned())];
    fields.extend(request_id(record));
    LlmHead {
        status,
        fields,
        length: Some(length),
    }
}

/// The request's id, which the answer repeats.
fn request_id(record: &LlmRecord) -> Option<(&'static str, String)> {
    record.request_id.clone().map(|id| ("X-Request-Id", id))
}
