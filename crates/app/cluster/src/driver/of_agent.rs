//! Drives an agent over NATS.

use super::access::{Refusal, Refusals, Role};
use super::{DriverError, LOOK, NatsCredentials, files, spawn};
use crate::agent::{Agent, AgentAction, Left};
use crate::attachments::FileError;
use crate::clock_facts::ClockFacts;
use crate::courier::Courier;
use crate::from_agent::{FromAgent, Wanted};
use crate::message::{AgentKey, Assignment, MachineFacts};
use crate::offset::CLOCK_AGE;
use crate::redacted::Redacted;
use async_nats::jetstream;
use async_nats::{Client, Request};
use drumfire_engine::{Appointment, Control, ControlError};
use drumfire_measure::RunInfo;
use drumfire_net::{Clock, SystemClock};
use drumfire_plan::{Command, StopReason};
use drumfire_session::Redactor;
use drumfire_units::Nanos;
use futures::StreamExt as _;
use std::io::Write;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc as queue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// The timeout of a request; a later reply would be useless.
const REQUEST: Duration = Duration::from_secs(2);

/// The maximum number of chunks of a file that wait to be written.
const CHUNKS: usize = 8;

/// A task of an agent's holder.
#[derive(Debug)]
pub enum AgentTask {
    /// Wait: the server is connected, and a run may come. This is the first task.
    Wait,
    /// Prepare this share and start its session.
    Prepare(Assignment),
    /// The agent has left: with complete results, or with the reason why they are incomplete.
    Leave(Result<Left, String>),
}

/// An agent over NATS.
#[derive(Debug)]
pub struct AgentDriver {
    clock: Clock,
    tasks: Receiver<AgentTask>,
    joins: Option<Receiver<String>>,
    redactor: Redactor,
    sender: UnboundedSender<FromAgent>,
    thread: JoinHandle<Result<(), DriverError>>,
}

impl AgentDriver {
    /// Connects, and waits for a run. The redactor masks everything that is sent.
    ///
    /// # Errors
    /// If no thread can be started. [`Self::next`] returns later errors.
    pub fn start(
        credentials: NatsCredentials,
        name: (&str, AgentKey),
        program: &str,
        machine: MachineFacts,
        redactor: &Redactor,
    ) -> Result<Self, DriverError> {
        let clock = Clock::aged(CLOCK_AGE);
        let (tasks, received) = mpsc::channel();
        let (joining, joins) = mpsc::channel();
        let (sender, inputs) = queue::unbounded_channel();
        let agent = Agent::new(name, program, machine);
        let own_redactor = redactor.clone();
        let thread = spawn("agent", move || async move {
            let (client, refusals) = credentials.connect(Role::Agent).await?;
            let (replied, replies) = queue::unbounded_channel();
            let driving = Driving {
                clock,
                agent,
                stream: jetstream::new(client.clone()),
                client,
                credentials,
                tasks,
                joining,
                replied,
                run: AgentRun::default(),
                refused: None,
                redactor: own_redactor,
            };
            driving.drive(inputs, replies, refusals).await
        })?;
        Ok(Self {
            clock,
            tasks: received,
            joins: Some(joins),
            redactor: redactor.clone(),
            sender,
            thread,
        })
    }

    /// The next task.
    ///
    /// # Errors
    /// If the driver has ended.
    pub fn next(self) -> Result<(AgentTask, Self), DriverError> {
        match self.tasks.recv() {
            Ok(task) => Ok((task, self)),
            Err(_) => {
                self.join()?;
                let reason = "the connection ended";
                Err(DriverError::Connect(reason.to_owned()))
            }
        }
    }

    /// The names of further agents that this process must start; each takes a lost share in
    /// addition to this agent's. The iterator ends with the driver. A second call returns an empty
    /// iterator.
    pub fn joins(&mut self) -> impl Iterator<Item = String> + Send + use<> {
        self.joins.take().into_iter().flatten()
    }

    /// An appointment by the driver's clock.
    #[must_use]
    pub fn appointment(&self) -> Appointment {
        Appointment::new(self.clock)
    }

    /// The observer that reports the run, and lets the driver control it. The run's workers use
    /// this appointment.
    #[must_use]
    pub fn courier(&self, appointment: Appointment) -> Courier {
        Courier {
            sender: self.sender.clone(),
            redactor: self.redactor.clone(),
            appointment,
        }
    }

    /// Marks the share as prepared. Takes the facts of its run, and the appointment of its workers.
    pub fn prepared(&self, info: &RunInfo, appointment: Appointment) {
        let info = Redacted::info(info, &self.redactor);
        self.tell(FromAgent::Prepared(info, appointment));
    }

    /// Reports that the share cannot be run, or that its run has failed, with the reason.
    pub fn fail(&self, reason: &str) {
        let reason = Redacted::reason(reason, &self.redactor);
        self.tell(FromAgent::Failed(reason));
    }

    fn tell(&self, message: FromAgent) {
        // Sending fails only if the driver has left, which is a task.
        let _left = self.sender.send(message);
    }

    /// Writes a file of a share's plan, and checks its size and digest.
    ///
    /// # Errors
    /// If the file is incomplete or differs.
    pub fn fetch(
        &self,
        assignment: &Assignment,
        number: usize,
        into: &mut dyn Write,
    ) -> Result<(), FileError> {
        let Some(file) = assignment.attachments.files.get(number) else {
            return Err(FileError::Altered);
        };
        let (chunks, mut received) = queue::channel(CHUNKS);
        if file.size > 0 {
            let run = assignment.run.clone();
            self.tell(FromAgent::Fetch(Wanted {
                run,
                number,
                chunks,
            }));
        } else {
            drop(chunks);
        }
        file.receive(std::iter::from_fn(|| received.blocking_recv()), into)
    }

    /// Waits for the driver's end.
    ///
    /// # Errors
    /// If the driver could not continue.
    pub fn join(self) -> Result<(), DriverError> {
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The state of an agent's driver.
struct Driving {
    clock: Clock,
    agent: Agent,
    client: Client,
    stream: jetstream::Context,
    credentials: NatsCredentials,
    tasks: Sender<AgentTask>,
    joining: Sender<String>,
    replied: UnboundedSender<Vec<u8>>,
    run: AgentRun,
    /// The permission that was found missing.
    refused: Option<Refusal>,
    redactor: Redactor,
}

/// The run of an agent's share.
#[derive(Default)]
struct AgentRun {
    prepared: Option<(Redacted<Vec<u8>>, Appointment)>,
    control: Option<Control>,
    /// Commands that arrived before the run. An agent that takes over a lost share gets all earlier
    /// commands with its first reply.
    early: Vec<Command>,
    appointment: Option<Appointment>,
    reports: String,
    start: Option<Nanos>,
    lease: Nanos,
}

impl Driving {
    async fn drive(
        mut self,
        mut inputs: UnboundedReceiver<FromAgent>,
        mut replies: UnboundedReceiver<Vec<u8>>,
        mut refusals: Refusals,
    ) -> Result<(), DriverError> {
        let mut nudges = self.credentials.subscribe(&self.client, "nudge").await?;
        // The holder may have ended with the whole process.
        let _gone = self.tasks.send(AgentTask::Wait);
        loop {
            self.look_whether_ready();
            self.look_at_clock();
            let now = self.clock.now();
            let wait = (self.agent.next_time() - now).as_duration().min(LOOK);
            let actions = tokio::select! {
                Some(input) = inputs.recv() => self.handle(input),
                Some(reply) = replies.recv() => {
                    let now = self.clock.now();
                    self.agent.handle_reply(&reply, now)
                }
                Some(refusal) = refusals.recv() => self.refuse(refusal)?,
                Some(_) = nudges.next() => self.agent.nudge(self.clock.now()),
                () = tokio::time::sleep(wait) => self.agent.handle_time(self.clock.now()),
            };
            for action in actions {
                if let Some(left) = self.act(action).await {
                    let left = left.map_err(|reason| match &self.refused {
                        Some(refusal) => refusal.to_string(),
                        None => reason,
                    });
                    self.call_off_late(&mut inputs);
                    // The last beat contains that all reports are stored; it is flushed with the
                    // rest.
                    let _gone = self.client.flush().await;
                    let _gone = self.tasks.send(AgentTask::Leave(left));
                    return Ok(());
                }
            }
        }
    }

    /// Handles a missing permission: without a share the agent ends, and with one the share fails.
    fn refuse(&mut self, refusal: Refusal) -> Result<Vec<AgentAction>, DriverError> {
        if self.run.reports.is_empty() {
            return Err(DriverError::Forbidden(refusal));
        }
        let reason = Redacted::reason(&refusal.to_string(), &self.redactor);
        self.refused = Some(refusal);
        Ok(self.agent.fail(reason, self.clock.now()))
    }

    fn handle(&mut self, input: FromAgent) -> Vec<AgentAction> {
        match input {
            FromAgent::Prepared(info, appointment) => {
                self.run.prepared = Some((info, appointment));
                Vec::new()
            }
            FromAgent::Control(control) => {
                self.run.control = Some(control);
                let early = std::mem::take(&mut self.run.early);
                early.into_iter().for_each(|command| self.command(command));
                Vec::new()
            }
            FromAgent::Fetch(wanted) => {
                self.fetch(wanted);
                Vec::new()
            }
            FromAgent::Content(content) => self.agent.report(&content, self.clock.now()),
            FromAgent::Failed(reason) => self.agent.fail(reason, self.clock.now()),
        }
    }

    /// Records the state of the system's clock, and when the load started.
    fn look_at_clock(&mut self) {
        let system = SystemClock::now();
        let appointment = self.run.appointment.as_ref();
        self.agent.note_clock(ClockFacts {
            system: system.map(|clock| clock.is_synchronised.then_some(clock.error)),
            late: appointment.and_then(Appointment::lateness),
            unix_ns: Some(self.clock.unix_epoch()),
        });
    }

    /// Marks the agent as ready when its workers wait for the start and it can control them.
    fn look_whether_ready(&mut self) {
        let is_ready =
            |(_, appointment): &mut (Redacted<Vec<u8>>, Appointment)| appointment.is_ready();
        if self.run.control.is_none() {
            return;
        }
        if let Some((info, appointment)) = self.run.prepared.take_if(is_ready) {
            self.run.appointment = Some(appointment);
            self.agent.ready(info);
        }
    }

    /// Performs an action of the agent. Returns how the agent left, if it did.
    async fn act(&mut self, action: AgentAction) -> Option<Result<Left, String>> {
        match action {
            AgentAction::Beat(bytes) => self.beat(bytes),
            AgentAction::Publish(bytes) => self.publish(bytes).await,
            AgentAction::Prepare(assignment) => {
                let (run, share) = (&assignment.run, assignment.share);
                self.run.reports = self.credentials.subject(&format!("{run}.share.{share}"));
                // An empty report, which the coordinator ignores: a missing permission shows before
                // the load.
                self.publish(Vec::new()).await;
                // The holder may have ended with the whole process.
                let _gone = self.tasks.send(AgentTask::Prepare(assignment));
            }
            AgentAction::Lease(until) => {
                self.run.lease = until;
                self.allow();
            }
            AgentAction::Start(at, begins) => {
                self.run.start = Some(at);
                self.allow();
                if let Some(appointment) = &self.run.appointment {
                    appointment.name_from(at, begins);
                }
            }
            AgentAction::Join(name) => {
                // The holder may not start further agents.
                let _unwanted = self.joining.send(name);
            }
            AgentAction::Command(command) => self.command(command),
            AgentAction::Halt(reason, ends) => self.halt(reason, ends),
            AgentAction::Leave(left) => return Some(left),
        }
        None
    }

    /// Stops the run, if there is one. A run that waits for its start ends immediately.
    fn halt(&self, reason: StopReason, ends: bool) {
        let Some(control) = &self.run.control else {
            return;
        };
        match ends {
            true => control.stop_now(reason),
            false => control.stop(reason),
        }
        if self.run.start.is_none()
            && let Some(appointment) = self.run.appointment.clone().or_else(|| {
                let prepared = self.run.prepared.as_ref();
                prepared.map(|(_, appointment)| appointment.clone())
            })
        {
            control.stop_now(reason);
            appointment.call_off();
        }
    }

    /// Ends a run that the holder started while the agent was leaving, because its start will not
    /// be set. A run that starts later finds the queue closed.
    fn call_off_late(&mut self, inputs: &mut UnboundedReceiver<FromAgent>) {
        inputs.close();
        while let Ok(input) = inputs.try_recv() {
            // The agent has left, and performs no further actions.
            let _nothing = self.handle(input);
        }
        if self.run.start.is_none() {
            self.halt(StopReason::Command, true);
        }
    }

    /// Passes a command to the run, or keeps it until there is a run.
    fn command(&mut self, command: Command) {
        let Some(control) = &self.run.control else {
            return self.run.early.push(command);
        };
        if let Err(ControlError::TooSoon { .. }) = control.send(command) {
            self.agent.refuse();
        }
    }

    /// Fetches a file concurrently with everything else.
    fn fetch(&self, wanted: Wanted) {
        let Wanted {
            run,
            number,
            chunks,
        } = wanted;
        let (context, bucket) = (self.stream.clone(), self.credentials.bucket());
        let object = files::object(&run, number);
        tokio::spawn(files::fetch(context, bucket, object, chunks));
    }

    /// Allows workers to send until the lease expires.
    fn allow(&self) {
        if let (Some(control), Some(start)) = (&self.run.control, self.run.start) {
            // An expired lease has ended the run.
            let _passed = control.allow_until(self.run.lease - start);
        }
    }

    fn beat(&self, bytes: Vec<u8>) {
        let (client, replied) = (self.client.clone(), self.replied.clone());
        let subject = self.credentials.subject("beat");
        tokio::spawn(async move {
            let request = Request::new().payload(bytes.into()).timeout(Some(REQUEST));
            if let Ok(reply) = client.send_request(subject, request).await {
                // The driver has left meanwhile.
                let _left = replied.send(reply.payload.to_vec());
            }
        });
    }

    /// Publishes a report. Errors are ignored, because a report that the coordinator does not
    /// acknowledge is sent again.
    async fn publish(&self, bytes: Vec<u8>) {
        let subject = self.run.reports.clone();
        if let Ok(acknowledged) = self.stream.publish(subject, bytes.into()).await {
            tokio::spawn(async move {
                let _unacknowledged = acknowledged.await;
            });
        }
    }
}
