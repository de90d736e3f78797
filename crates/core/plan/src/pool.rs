//! Requests that share a load, connections and settings.

mod stage;

pub use stage::Stage;

use crate::{
    Connections, Expect, HttpOptions, HttpRequest, Load, Pause, Program, Reach, Stop, Timeouts,
    UserSteps,
};
use drumfire_units::Nanos;

/// Requests that share a load, connections and settings. A run has one or several pools, each with
/// separate figures.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The name under which its figures are reported.
    pub name: String,
    /// The requests; never empty.
    pub requests: Vec<HttpRequest>,
    /// What an arrival starts: the requests in turn, or steps that contain them.
    pub program: Program,
    /// When requests start, and how many run at a time.
    pub load: Load,
    /// The number of users over time, if it changes: in a closed load its users, in an open load
    /// the users that serve it, each with one request at a time. In a closed load, [`Load::users`]
    /// is the maximum.
    pub users: Option<UserSteps>,
    /// The number of arrivals in earlier parts of the run. Numbers continue from there, and so do
    /// the turns of lists and the rows of feeds.
    pub begun: u64,
    /// The stop condition.
    pub stop: Stop,
    /// How its targets are reached.
    pub reach: Reach,
    /// The protocol.
    pub http: HttpOptions,
    /// The number of connections and their lifetime.
    pub connections: Connections,
    /// The time limits of the phases of an exchange.
    pub timeouts: Timeouts,
    /// When a response is ok.
    pub expect: Expect,
    /// Whether users keep cookies.
    pub cookies: Cookies,
    /// Whether every sample is passed on, in addition to the sums.
    pub samples: Samples,
    /// Whether every exchange is recorded in full.
    pub transcripts: Transcripts,
}

impl Pool {
    /// The maximum number of users; for an open load, the users in the plan.
    #[must_use]
    pub fn users_most(&self) -> Option<u32> {
        let changing = self.users.as_ref().map(UserSteps::most);
        changing.or_else(|| self.load.users())
    }

    /// Whether the load changes over time, by its law or its users.
    #[must_use]
    pub fn load_changes(&self) -> bool {
        let mut users = self.users.iter();
        self.load.changes() || users.any(|users| users.changes().len() > 1)
    }

    /// Whether the client's speed limits the load: in a closed load without think time, pace and
    /// pauses, a request starts as soon as an earlier one has ended. Events arrive at the times that
    /// the target chooses, however fast the client is.
    #[must_use]
    pub fn is_at_full_speed(&self) -> bool {
        match &self.load {
            Load::Closed { think, pace, .. } => {
                let rests = *think != Pause::NONE || *pace != Nanos::ZERO || self.program.rests();
                !rests && self.requests.iter().all(|request| request.events.is_none())
            }
            Load::Open { .. } | Load::PerUser { .. } => false,
        }
    }

    /// The maximum number of requests, or of iterations of a scenario, that the stop conditions
    /// allow; `None` if they count neither.
    ///
    /// An iteration of a list is a pass: as many requests as its order takes until it repeats. With
    /// weights 9 and 1, that is ten requests.
    #[must_use]
    pub fn starts_most(&self) -> Option<u64> {
        let round = self.program.round(self.requests.len());
        let passes = self.stop.iterations;
        let passes = passes.map(|passes| passes.saturating_mul(round));
        self.stop.requests.into_iter().chain(passes).min()
    }

    /// The parts of the load's law that a report shows one by one, at least one. A law of more than
    /// a hundred parts counts as one.
    #[must_use]
    pub fn stages(&self) -> Vec<Stage> {
        stage::of_pool(self)
    }

    /// The users over time of a load with this maximum number.
    #[must_use]
    pub fn users_over_time(&self, most: u32) -> UserSteps {
        let changing = self.users.clone();
        changing.unwrap_or_else(|| UserSteps::constant(most))
    }
}

/// Whether exchanges are recorded in full, for a person to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transcripts {
    /// They are only measured.
    #[default]
    None,
    /// All exchanges are passed on, with heads and bodies. For single requests, because each costs
    /// memory and time.
    Every,
    /// Exchanges whose response has this status or a higher one are passed on after they ended, as
    /// far as there is room. A gRPC status counts as 1000 plus its number.
    From(u16),
}

/// Whether users keep the cookies in responses (RFC 6265bis) and send them back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cookies {
    /// Cookies are ignored.
    #[default]
    Ignore,
    /// Cookies are kept until the end of an iteration.
    Iteration,
    /// Cookies are kept during the whole run.
    User,
}

/// Whether every sample is passed on to observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// Samples are only counted.
    #[default]
    Forget,
    /// Samples are passed on, at about 80 bytes each.
    Keep,
}
