//! One plan on several machines: the protocol between a coordinator and its agents, and the driver
//! that carries it over NATS.
//!
//! Knows how a plan's shares are divided, how an agent's results reach the coordinator complete and
//! once, how long an agent may send without a reply, and how the clocks differ. Must not know how a
//! request is sent, how a run is shown, flags or the terminal. Start reading at [`Coordinator`] and
//! [`Agent`], which do no I/O, then at [`AgentDriver`] and [`CoordinatorDriver`], which do it for
//! them.
//!
//! Agents run their shares with the unchanged engine. Their reports are merged into one run, which
//! a session observes like any other.
//!
//! ```text
//!   Agent ── Beat ──────────────► Coordinator      request and reply, four times a second
//!         ◄─ Reply ──────────────                  the whole state that concerns the agent
//!         ── Report ── JetStream ►                 numbered, kept until a reply has it as stored
//! ```
//!
//! The methods of a state machine may be called in any order, with a time that does not decrease.
//! Each returns actions for its holder. Messages may be lost, repeated and delayed: the state
//! machines send them again as long as they matter.

mod agent;
mod attachments;
mod clock_facts;
mod contrast;
mod coordinator;
mod courier;
mod division;
mod driver;
mod envelope;
mod event;
mod findings;
mod fitting;
mod from_agent;
mod inbox;
mod journal;
mod lease;
mod merge;
mod message;
mod offers;
mod offset;
mod on_loss;
mod outbox;
mod place;
mod redacted;
mod relayed;
mod room;
mod setup;
#[cfg(test)]
mod simulation;
mod status;
mod succession;
mod tally;
mod told;
#[cfg(test)]
mod version_1;

pub use agent::{Agent, AgentAction, Left};
pub use attachments::{Attachments, FileError, SentFile};
pub use clock_facts::ClockFacts;
pub use coordinator::Coordinator;
pub use courier::Courier;
pub use division::{DivisionError, divide};
pub use driver::{
    AgentDriver, AgentTask, CoordinatorDriver, DriverError, FileContent, Journal, NatsCredentials,
    NatsTls, NatsUser, Origin, PastRun, Refusal, runs_under_way,
};
pub use envelope::Message;
pub use event::{ClusterEvent, CoordinatorAction, Lack, Loss};
pub use fitting::divide_placement;
pub use journal::{ClockAxis, Head, JournalOutline};
pub use lease::{BEAT, LEASE};
pub use merge::Merge;
pub use message::{
    AgentKey, Assignment, Beat, Content, Dismissal, Hold, MachineFacts, Phase, Reply, Report, Word,
};
pub use offset::Offset;
pub use on_loss::OnLoss;
pub use redacted::Redacted;
pub use relayed::{Wish, relayed};
pub use setup::Setup;
pub use status::{AgentStatus, Stage, Status};
pub use told::Told;
