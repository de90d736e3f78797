//! Drives a coordinator over NATS.

use super::access::{Refusal, Refusals, Role, unless_refused};
use super::files::{self, Content};
use super::{DriverError, NatsCredentials, spawn};
use crate::attachments::SentFile;
use crate::coordinator::Coordinator;
use crate::envelope::Message as _;
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::journal::{ClockAxis, Entries, Entry, Head, JournalOutline};
use crate::lease::LEASE;
use crate::relayed::Wish;
use crate::setup::Setup;
use crate::told::{Past, Told};
use async_nats::Client;
use async_nats::jetstream::{self, consumer, stream};
use drumfire_net::Clock;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use futures::{FutureExt as _, StreamExt as _};
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc as queue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

/// The maximum time between two checks for due work: the loss of an agent, and the journal.
const LOOK: Duration = Duration::from_millis(50);
/// The time for agents to learn that the run is over.
const FAREWELL: Nanos = Nanos::from_millis(1_000);
/// The delay from the loss of the stream to an attempt to create it again.
const RENEWAL: Nanos = Nanos::from_millis(200);
/// The maximum size of a run's stream, in bytes. The server drops the oldest reports first, and
/// their agents send them again.
const STREAM_BYTES_MAX: i64 = 256 << 20;

/// The time between two reads of the arrived reports. Agents close their intervals at the same
/// times. All reports that arrive within this time are one write of the journal, because a sync
/// costs as much as dozens of reports.
const REPORTS_PAUSE: Duration = Duration::from_millis(20);
/// The minimum time between two checks for due work. Thousands of messages may arrive per second,
/// and a check covers all agents.
const TICK: Nanos = Nanos::from_millis(10);
/// The maximum number of further reports in one write.
const REPORTS_AT_ONCE: usize = 256;
/// The time between two checks whether this coordinator still owns the journal.
const FENCE_LOOK: Nanos = Nanos::from_millis(250);

/// Appends bytes to the journal and syncs them. If another coordinator has taken over the run,
/// every call fails with [`io::ErrorKind::PermissionDenied`], even one without bytes.
pub type Journal = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send>;

/// The data that a journal has about its run in addition to the machine's.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The id of the machine's boot.
    pub boot: String,
    /// The plan with its setup and teardown, as a text without secrets.
    pub plan: String,
    /// The names and values that the setup produced.
    pub taken: Vec<(String, String)>,
    /// A text that the caller stores for itself.
    pub caller: String,
}

/// The journal of a run to take over.
pub struct PastRun {
    /// The summary of the journal.
    pub outline: JournalOutline,
    /// The id of the machine's current boot.
    pub boot: String,
    /// The journal is read twice: for the state of the coordinator, and for its past events.
    pub readers: [Box<dyn Read + Send>; 2],
}

impl fmt::Debug for PastRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PastRun");
        shown
            .field("outline", &self.outline)
            .finish_non_exhaustive()
    }
}

/// A coordinator over NATS.
#[derive(Debug)]
pub struct CoordinatorDriver {
    clock: Clock,
    told: Told,
    wishes: UnboundedSender<Wish>,
    agents: Arc<AtomicUsize>,
    is_sending: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), DriverError>>,
}

impl CoordinatorDriver {
    /// Connects, sends the contents of the setup's files, and gathers agents.
    ///
    /// # Errors
    /// If no thread can be started, or the journal cannot be written. The events and [`Self::join`]
    /// return later errors.
    pub fn start(
        credentials: NatsCredentials,
        setup: Setup,
        contents: Vec<Content>,
        origin: Origin,
        mut journal: Journal,
    ) -> Result<Self, DriverError> {
        let clock = Clock::start();
        let head = Head {
            run: setup.run.clone(),
            program: setup.program.clone(),
            text: origin.plan,
            taken: origin.taken,
            attachments: setup.attachments.clone(),
            agents: setup.agents as u64,
            on_loss: setup.on_loss,
            url: credentials.url.clone(),
            group: credentials.group.clone(),
            axis: ClockAxis::new(clock, &origin.boot),
            caller: origin.caller,
        };
        journal(&Entry::Head(head).frame()).map_err(DriverError::Journal)?;
        let files: Vec<SentFile> = setup.attachments.files.clone();
        let conducted = Conducted {
            clock,
            run: setup.run.clone(),
            term: 1,
            files: files.len(),
            contents: files.into_iter().zip(contents).collect(),
            coordinator: Coordinator::new(setup),
        };
        Self::conduct(credentials, conducted, journal, None)
    }

    /// Takes over a run with its journal, to which this coordinator appends.
    ///
    /// # Errors
    /// If the journal cannot be read, the run has no start, or no thread can be started.
    pub fn attach(
        credentials: NatsCredentials,
        setup: Setup,
        record: PastRun,
        journal: Journal,
    ) -> Result<Self, DriverError> {
        let JournalOutline {
            head,
            term,
            has_begun,
            ..
        } = record.outline;
        if !has_begun {
            let reason = "the run had not started, and no load was sent".to_owned();
            return Err(DriverError::Past(reason));
        }
        let clock = head.axis.clock(&record.boot);
        let [known, told] = record.readers;
        let mut coordinator = Coordinator::of_run(setup.clone(), term);
        let mut entries = Entries::new(known);
        let wrong = |error: &dyn fmt::Display| DriverError::Past(error.to_string());
        while let Some(entry) = entries.next().map_err(|error| wrong(&error))? {
            coordinator.replay(entry).map_err(|error| wrong(&error))?;
        }
        coordinator.go_on(clock.now());
        let past = Past::new(Coordinator::of_run(setup, term), Entries::new(told));
        let conducted = Conducted {
            clock,
            run: head.run,
            term,
            files: head.attachments.files.len(),
            contents: Vec::new(),
            coordinator,
        };
        Self::conduct(credentials, conducted, journal, Some(past))
    }

    fn conduct(
        credentials: NatsCredentials,
        conducted: Conducted,
        journal: Journal,
        past: Option<Past>,
    ) -> Result<Self, DriverError> {
        let clock = conducted.clock;
        let commands = conducted.coordinator.commands().to_vec();
        let (told, coming) = mpsc::channel();
        let (wishes, wished) = queue::unbounded_channel();
        let agents = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&agents);
        let is_sending = Arc::new(AtomicBool::new(true));
        let sending = Arc::clone(&is_sending);
        let thread = spawn("coordinator", move || async move {
            let (client, mut refusals) = credentials.connect(Role::Coordinator).await?;
            let (run, bucket) = (conducted.run, credentials.bucket());
            let context = jetstream::new(client.clone());
            let stored = files::store(&context, &bucket, &run, conducted.contents);
            unless_refused(&mut refusals, stored).await?;
            sending.store(false, Ordering::Relaxed);
            let failing = told.clone();
            let conducting = Conducting {
                clock,
                term: conducted.term,
                coordinator: conducted.coordinator,
                client,
                credentials,
                told,
                journal,
                agents: counted,
                over: None,
                looked: Nanos::ZERO,
                ticked: Nanos::ZERO,
                renewed: Nanos::ZERO,
                refused: Vec::new(),
            };
            let driven = conducting.drive(&run, wished, refusals).await;
            match &driven {
                Ok(()) => files::remove(&context, &bucket, &run, conducted.files).await,
                Err(error) => {
                    // The holder may have given up.
                    let _unheard = failing.send(ClusterEvent::Failed(error.to_string()));
                }
            }
            driven
        })?;
        Ok(Self {
            clock,
            told: Told::new(past, commands, coming),
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

    /// The number of connected agents.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.agents.load(Ordering::Relaxed)
    }

    /// Whether files of the plan are still being sent to the server.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.is_sending.load(Ordering::Relaxed)
    }

    /// The next event, if one arrives within this time; `None` if the driver has ended.
    #[must_use]
    pub fn event(&mut self, within: Duration) -> Option<Option<ClusterEvent>> {
        match self.told.next(within) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The parts for the active run: the events, the queue for wishes, and the driver's thread.
    #[must_use]
    pub fn into_parts(
        self,
    ) -> (
        Told,
        UnboundedSender<Wish>,
        JoinHandle<Result<(), DriverError>>,
    ) {
        (self.told, self.wishes, self.thread)
    }

    /// Waits for the driver's end.
    ///
    /// # Errors
    /// If the driver could not continue.
    pub fn join(self) -> Result<(), DriverError> {
        drop(self.wishes);
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The next message of a stream, but not before a time.
async fn next_behind(
    time: Instant,
    reports: &mut consumer::pull::Stream,
) -> Option<Result<jetstream::Message, consumer::pull::MessagesError>> {
    tokio::time::sleep_until(time).await;
    reports.next().await
}

/// A coordinator before its driver starts.
struct Conducted {
    clock: Clock,
    run: String,
    term: u64,
    /// The number of the plan's files.
    files: usize,
    /// The files that still have to be sent.
    contents: Vec<(SentFile, Content)>,
    coordinator: Coordinator,
}

/// The state of a coordinator's driver.
struct Conducting {
    clock: Clock,
    term: u64,
    coordinator: Coordinator,
    client: Client,
    credentials: NatsCredentials,
    told: Sender<ClusterEvent>,
    journal: Journal,
    agents: Arc<AtomicUsize>,
    /// The time at which the run was over.
    over: Option<Nanos>,
    /// The time of the last check whether this coordinator still owns the journal.
    looked: Nanos,
    /// The time of the last check for due work.
    ticked: Nanos,
    /// The time at which the stream of reports was created again, if it was.
    renewed: Nanos,
    /// The permissions that were found missing during the run.
    refused: Vec<Refusal>,
}

impl Conducting {
    async fn drive(
        mut self,
        run: &str,
        mut wished: UnboundedReceiver<Wish>,
        mut refusals: Refusals,
    ) -> Result<(), DriverError> {
        let context = jetstream::new(self.client.clone());
        let name = format!("drumfire-{run}");
        let made = self.reports(&context, &name, run);
        let mut reports = unless_refused(&mut refusals, made).await?;
        let mut beats = self.credentials.subscribe(&self.client, "beat").await?;
        // Waiting agents respond immediately, and a missing permission shows before the run.
        self.nudge().await;
        let mut questions = self.credentials.subscribe(&self.client, "status").await?;
        let (mut holder_is_there, mut left) = (true, None);
        let mut lost_at: Option<Nanos> = None;
        let mut taken = Instant::now();
        loop {
            let actions = tokio::select! {
                Some(beat) = beats.next() => self.answer(beat).await?,
                Some(question) = questions.next() => {
                    self.tell_status(question).await;
                    Vec::new()
                }
                report = next_behind(taken + REPORTS_PAUSE, &mut reports), if lost_at.is_none() => match report {
                    Some(Ok(report)) => {
                        let (actions, goes_on) = self.take_reports(report, &mut reports);
                        lost_at = (!goes_on).then(|| self.clock.now());
                        taken = Instant::now();
                        actions
                    }
                    Some(Err(_)) | None => {
                        lost_at = Some(self.clock.now());
                        Vec::new()
                    }
                },
                wish = wished.recv(), if holder_is_there => match wish {
                    Some(Wish::Command(command)) => self.command(command),
                    Some(Wish::Halt(reason, ends)) => self.halt(reason, ends),
                    None => {
                        holder_is_there = false;
                        let now = self.clock.now();
                        left = (self.over.is_none()).then_some(now);
                        // The holder has gone, so the run has no observer.
                        self.halt(StopReason::Command, true)
                    }
                },
                Some(refusal) = refusals.recv() => self.refuse(refusal)?,
                () = tokio::time::sleep(LOOK) => Vec::new(),
            };
            lost_at = self.renew(lost_at, &mut reports, &context, run).await;
            let mut actions = actions;
            actions.extend(self.tick());
            self.act(actions).await?;
            self.look_at_fence()?;
            self.agents
                .store(self.coordinator.agents(), Ordering::Relaxed);
            let now = self.clock.now();
            if self.coordinator.is_over() && now - *self.over.get_or_insert(now) > FAREWELL {
                break;
            }
            if left.is_some_and(|left| now - left > LEASE) {
                // Agents that do not know this leave after their lease has expired.
                break;
            }
        }
        let _gone_by_itself = context.delete_stream(&name).await;
        Ok(())
    }

    /// Creates the stream of reports again if it was lost some time ago. A killed server has lost
    /// the stream and its reports, which agents send again. Returns the time of the loss while the
    /// stream is lost.
    async fn renew(
        &mut self,
        lost_at: Option<Nanos>,
        reports: &mut consumer::pull::Stream,
        context: &jetstream::Context,
        run: &str,
    ) -> Option<Nanos> {
        let now = self.clock.now();
        // The stream may be lost without a message.
        let is_missed = || now - self.renewed > LEASE && self.coordinator.misses_reports();
        let lost_at = lost_at.or_else(|| is_missed().then_some(now))?;
        if now - lost_at <= RENEWAL {
            return Some(lost_at);
        }
        match self.reports(context, &format!("drumfire-{run}"), run).await {
            Ok(found) => {
                *reports = found;
                self.renewed = self.clock.now();
                None
            }
            Err(_) => Some(self.clock.now()),
        }
    }

    /// Handles due work, at most once per [`TICK`].
    fn tick(&mut self) -> Vec<CoordinatorAction> {
        let now = self.clock.now();
        if now - self.ticked < TICK {
            return Vec::new();
        }
        self.ticked = now;
        self.coordinator.handle_time(now)
    }

    /// Passes a command on. The event for its storage is published after the journal was written,
    /// as all events are.
    fn command(&mut self, command: Command) -> Vec<CoordinatorAction> {
        let mut actions = self.coordinator.command(command);
        actions.push(CoordinatorAction::Tell(ClusterEvent::Kept));
        actions
    }

    fn halt(&mut self, reason: StopReason, ends: bool) -> Vec<CoordinatorAction> {
        self.coordinator.halt(reason, ends, self.clock.now())
    }

    /// Takes a report and those that arrived after it, so that they are one write of the journal:
    /// agents close their intervals at the same times. Also returns whether the stream continues.
    fn take_reports(
        &mut self,
        first: jetstream::Message,
        reports: &mut consumer::pull::Stream,
    ) -> (Vec<CoordinatorAction>, bool) {
        let mut actions = Vec::new();
        let mut next = Some(first);
        for _ in 0..REPORTS_AT_ONCE {
            let Some(report) = next.take() else {
                break;
            };
            actions.extend(self.take_report(&report));
            match reports.next().now_or_never() {
                None => break,
                Some(Some(Ok(report))) => next = Some(report),
                Some(Some(Err(_)) | None) => return (actions, false),
            }
        }
        // The last report that was removed from the stream.
        if let Some(report) = next {
            actions.extend(self.take_report(&report));
        }
        (actions, true)
    }

    /// Takes a report. Bytes that are not a report of this run change nothing, and the coordinator
    /// counts them.
    fn take_report(&mut self, report: &jetstream::Message) -> Vec<CoordinatorAction> {
        let taken = self.coordinator.handle_report(&report.payload);
        taken.unwrap_or_default()
    }

    /// Handles a missing permission: before the start it fails the run, and afterwards it is a
    /// note.
    fn refuse(&mut self, refusal: Refusal) -> Result<Vec<CoordinatorAction>, DriverError> {
        match self.coordinator.has_start() {
            false => Err(DriverError::Forbidden(refusal)),
            // Once per permission, however large the number of subjects.
            true if self
                .refused
                .iter()
                .any(|known| known.right() == refusal.right()) =>
            {
                Ok(Vec::new())
            }
            true => {
                let note = ClusterEvent::Note(refusal.to_string());
                self.refused.push(refusal);
                Ok(vec![CoordinatorAction::Tell(note)])
            }
        }
    }

    /// Creates the run's stream, and returns the messages of its durable consumer.
    async fn reports(
        &self,
        context: &jetstream::Context,
        name: &str,
        run: &str,
    ) -> Result<consumer::pull::Stream, DriverError> {
        let wrong = |error: &dyn fmt::Display| {
            DriverError::Stream(format!(
                "{error}; start the server with JetStream (-js), and enable it for the account"
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
        // Reports that an earlier coordinator received but did not store are sent again by their
        // agents.
        let policy = match self.term {
            1 => consumer::DeliverPolicy::All,
            _ => consumer::DeliverPolicy::New,
        };
        let consumer = stream.create_consumer(consumer::pull::Config {
            durable_name: Some(format!("coordinator-{}", self.term)),
            deliver_policy: policy,
            // A lost report is sent again by its agent, which waits only for the journal.
            ack_policy: consumer::AckPolicy::None,
            ..consumer::pull::Config::default()
        });
        let consumer = consumer.await.map_err(|error| wrong(&error))?;
        consumer.messages().await.map_err(|error| wrong(&error))
    }

    /// Answers a beat, after everything that the reply depends on is in the journal.
    async fn answer(
        &mut self,
        beat: async_nats::Message,
    ) -> Result<Vec<CoordinatorAction>, DriverError> {
        let taken = self
            .coordinator
            .handle_beat(&beat.payload, self.clock.now());
        // Bytes that are not a beat get no reply, and the coordinator counts them. An agent of
        // another version could not decode a reply anyway.
        let Ok((reply, actions)) = taken else {
            return Ok(Vec::new());
        };
        self.act(actions).await?;
        if let (Some(reply), Some(to)) = (reply, beat.reply) {
            let _lost = self.client.publish(to, reply.into()).await;
        }
        Ok(Vec::new())
    }

    async fn tell_status(&self, question: async_nats::Message) {
        if let Some(to) = question.reply {
            let (now, unix_ns) = (self.clock.now(), self.clock.unix_epoch());
            let status = self.coordinator.status(now, unix_ns).encode();
            let _lost = self.client.publish(to, status.into()).await;
        }
    }

    /// Ends the driver if another coordinator has taken over the run.
    fn look_at_fence(&mut self) -> Result<(), DriverError> {
        let now = self.clock.now();
        if now - self.looked < FENCE_LOOK {
            return Ok(());
        }
        self.looked = now;
        self.write(&[])
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DriverError> {
        (self.journal)(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => DriverError::Fenced,
            _ => DriverError::Journal(error),
        })
    }

    async fn act(&mut self, actions: Vec<CoordinatorAction>) -> Result<(), DriverError> {
        let mut written = Vec::new();
        let mut events = Vec::new();
        let mut nudges = false;
        for action in actions {
            match action {
                // Writing fails if there is a successor.
                CoordinatorAction::Fence => self.write(&[])?,
                CoordinatorAction::Journal(bytes) => written.extend_from_slice(&bytes),
                CoordinatorAction::Nudge => nudges = true,
                CoordinatorAction::Tell(event) => events.push(event),
            }
        }
        if !written.is_empty() {
            self.write(&written)?;
            self.coordinator.journaled();
        }
        for event in events {
            // The holder may have given up.
            let _unheard = self.told.send(event);
        }
        if nudges {
            self.nudge().await;
        }
        Ok(())
    }

    /// Makes agents send a beat immediately; a nudge may be lost.
    async fn nudge(&self) {
        let subject = self.credentials.subject("nudge");
        let _lost = self.client.publish(subject, Vec::new().into()).await;
    }
}
