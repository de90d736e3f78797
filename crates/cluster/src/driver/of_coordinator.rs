//! A coordinator over NATS.

use super::files::{self, Content};
use super::{Credentials, DriverError, LOOK, spawn};
use crate::attachments::SentFile;
use crate::coordinator::{Coordinator, CoordinatorAction, Setup};
use crate::lease::LEASE;
use crate::relayed::{ClusterEvent, Wish};
use async_nats::Client;
use async_nats::jetstream::{self, consumer, stream};
use drumfire_net::Clock;
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use futures::StreamExt as _;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc as queue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// The time that agents have to learn that the run is over.
const FAREWELL: Nanos = Nanos::from_millis(1_000);
/// The time from the loss of the stream to an attempt to make it anew.
const RENEWAL: Nanos = Nanos::from_millis(200);
/// The most bytes of a run's stream; the oldest go first, and come again from their agents.
const STREAM_BYTES_MAX: i64 = 256 << 20;

/// Appends bytes to the journal and syncs them.
pub type Journal = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send>;

/// A coordinator over NATS.
#[derive(Debug)]
pub struct CoordinatorDriver {
    clock: Clock,
    events: Receiver<ClusterEvent>,
    wishes: UnboundedSender<Wish>,
    agents: Arc<AtomicUsize>,
    is_sending: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), DriverError>>,
}

impl CoordinatorDriver {
    /// Connects, sends the contents of the setup's files, and gathers agents.
    ///
    /// # Errors
    /// When no thread can be started. What else goes wrong, [`Self::gathered`] has.
    pub fn start(
        credentials: Credentials,
        setup: Setup,
        contents: Vec<Content>,
        journal: Journal,
    ) -> Result<Self, DriverError> {
        let clock = Clock::start();
        let (told, events) = mpsc::channel();
        let (wishes, wished) = queue::unbounded_channel();
        let agents = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&agents);
        let is_sending = Arc::new(AtomicBool::new(true));
        let sending = Arc::clone(&is_sending);
        let thread = spawn("coordinator", move || async move {
            let client = credentials.connect().await?;
            let run = setup.run.clone();
            let files: Vec<SentFile> = setup.attachments.files.clone();
            let count = files.len();
            let context = jetstream::new(client.clone());
            let bucket = credentials.bucket();
            let contents = files.into_iter().zip(contents).collect();
            files::store(&context, &bucket, &run, contents).await?;
            sending.store(false, Ordering::Relaxed);
            let conducting = Conducting {
                clock,
                coordinator: Coordinator::new(setup),
                client,
                credentials,
                told,
                journal,
                agents: counted,
                over: None,
            };
            let driven = conducting.drive(&run, wished).await;
            files::remove(&context, &bucket, &run, count).await;
            driven
        })?;
        Ok(Self {
            clock,
            events,
            wishes,
            agents,
            is_sending,
            thread,
        })
    }

    /// The clock of the start.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// The number of agents that are there.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.agents.load(Ordering::Relaxed)
    }

    /// Whether files of the plan are still on their way to the server.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.is_sending.load(Ordering::Relaxed)
    }

    /// The next event, if one comes within this time; `None` when the driver has ended.
    #[must_use]
    pub fn event(&self, within: Duration) -> Option<Option<ClusterEvent>> {
        match self.events.recv_timeout(within) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Its parts for the run that goes on: the events, the way for wishes, and the driver's end.
    #[must_use]
    pub fn into_parts(
        self,
    ) -> (
        Receiver<ClusterEvent>,
        UnboundedSender<Wish>,
        JoinHandle<Result<(), DriverError>>,
    ) {
        (self.events, self.wishes, self.thread)
    }

    /// Waits for the driver's end.
    ///
    /// # Errors
    /// When it could not go on.
    pub fn join(self) -> Result<(), DriverError> {
        drop(self.wishes);
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// A coordinator's driver at work.
struct Conducting {
    clock: Clock,
    coordinator: Coordinator,
    client: Client,
    credentials: Credentials,
    told: Sender<ClusterEvent>,
    journal: Journal,
    agents: Arc<AtomicUsize>,
    /// The time at which the run was over.
    over: Option<Nanos>,
}

impl Conducting {
    async fn drive(
        mut self,
        run: &str,
        mut wished: UnboundedReceiver<Wish>,
    ) -> Result<(), DriverError> {
        let context = jetstream::new(self.client.clone());
        let name = format!("drumfire-{run}");
        let mut reports = self.reports(&context, &name, run).await?;
        let mut beats = self.credentials.subscribe(&self.client, "beat").await?;
        let (mut holder_is_there, mut left) = (true, None);
        let mut lost_at: Option<Nanos> = None;
        loop {
            let actions = tokio::select! {
                Some(beat) = beats.next() => self.answer(beat).await,
                report = reports.next(), if lost_at.is_none() => match report {
                    Some(Ok(report)) => {
                        let taken = self.coordinator.handle_report(&report.payload);
                        // Only this side reads the stream; what is lost comes again.
                        let _unacknowledged = report.ack().await;
                        taken.unwrap_or_default()
                    }
                    Some(Err(_)) | None => {
                        lost_at = Some(self.clock.now());
                        Vec::new()
                    }
                },
                wish = wished.recv(), if holder_is_there => match wish {
                    Some(Wish::Command(command)) => self.coordinator.command(command),
                    Some(Wish::Halt(reason, ends)) => self.coordinator.halt(reason, ends),
                    None => {
                        holder_is_there = false;
                        let now = self.clock.now();
                        left = (self.over.is_none()).then_some(now);
                        // Nobody is there to look at the run.
                        self.coordinator.halt(StopReason::Command, true)
                    }
                },
                () = tokio::time::sleep(LOOK) => Vec::new(),
            };
            // A server that was killed has lost the stream with what was in it, which comes again.
            if lost_at.is_some_and(|at| self.clock.now() - at > RENEWAL) {
                lost_at = match self.reports(&context, &name, run).await {
                    Ok(renewed) => {
                        reports = renewed;
                        None
                    }
                    Err(_) => Some(self.clock.now()),
                };
            }
            let mut actions = actions;
            actions.extend(self.coordinator.handle_time(self.clock.now()));
            self.act(actions).await?;
            self.agents
                .store(self.coordinator.agents(), Ordering::Relaxed);
            let now = self.clock.now();
            if self.coordinator.is_over() && now - *self.over.get_or_insert(now) > FAREWELL {
                break;
            }
            if left.is_some_and(|left| now - left > LEASE) {
                // Agents that do not know of it leave when their lease has passed.
                break;
            }
        }
        let _gone_by_itself = context.delete_stream(&name).await;
        Ok(())
    }

    /// The run's stream, and the messages of its durable consumer.
    async fn reports(
        &self,
        context: &jetstream::Context,
        name: &str,
        run: &str,
    ) -> Result<consumer::pull::Stream, DriverError> {
        let wrong = |error: &dyn fmt::Display| {
            DriverError::Stream(format!(
                "{error}; is the server started with JetStream (-js)?"
            ))
        };
        let stream = context.create_stream(stream::Config {
            name: name.to_owned(),
            subjects: vec![self.credentials.subject(&format!("{run}.share.*"))],
            storage: stream::StorageType::Memory,
            max_bytes: STREAM_BYTES_MAX,
            ..stream::Config::default()
        });
        let stream = stream.await.map_err(|error| wrong(&error))?;
        let consumer = stream.create_consumer(consumer::pull::Config {
            durable_name: Some("coordinator".to_owned()),
            ack_policy: consumer::AckPolicy::Explicit,
            ..consumer::pull::Config::default()
        });
        let consumer = consumer.await.map_err(|error| wrong(&error))?;
        consumer.messages().await.map_err(|error| wrong(&error))
    }

    async fn answer(&mut self, beat: async_nats::Message) -> Vec<CoordinatorAction> {
        let answered = self
            .coordinator
            .handle_beat(&beat.payload, self.clock.now());
        // What is no beat has no answer; an agent of another version can't read one anyway.
        let Ok((reply, actions)) = answered else {
            return Vec::new();
        };
        if let Some(to) = beat.reply {
            let _lost = self.client.publish(to, reply.into()).await;
        }
        actions
    }

    async fn act(&mut self, actions: Vec<CoordinatorAction>) -> Result<(), DriverError> {
        let mut written = Vec::new();
        let mut events = Vec::new();
        let mut nudges = false;
        for action in actions {
            match action {
                CoordinatorAction::Journal(bytes) => written.extend_from_slice(&bytes),
                CoordinatorAction::Nudge => nudges = true,
                CoordinatorAction::Tell(event) => events.push(event),
            }
        }
        if !written.is_empty() {
            (self.journal)(&written).map_err(DriverError::Journal)?;
            self.coordinator.journaled();
        }
        for event in events {
            // The holder may have given up.
            let _unheard = self.told.send(event);
        }
        if nudges {
            let subject = self.credentials.subject("nudge");
            let _lost = self.client.publish(subject, Vec::new().into()).await;
        }
        Ok(())
    }
}
