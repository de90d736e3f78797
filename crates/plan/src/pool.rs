//! Requests that share a load, connections and settings.

mod stage;

pub use stage::Stage;

use crate::{
    Connections, Expect, HttpOptions, HttpRequest, Load, Program, Reach, Stop, Timeouts, Users,
};

/// Requests that share a load, connections and settings. A run has one or several, and each has
/// figures of its own.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The name under which its figures are reported.
    pub name: String,
    /// The requests; never empty.
    pub requests: Vec<HttpRequest>,
    /// What an arrival starts: the requests in turn, or steps of which they are part.
    pub program: Program,
    /// When requests start, and how many at a time.
    pub load: Load,
    /// How many users there are over time, where that changes: of a closed load its users, of an
    /// open one those that serve it, each with one request at a time. Where the load is the users',
    /// [`Load::users`] is the largest number.
    pub users: Option<Users>,
    /// How many arrivals it had in earlier parts of its run: numbers go on from there, and with
    /// them the turns of lists and the rows of feeds.
    pub begun: u64,
    /// Its end.
    pub stop: Stop,
    /// How its targets are reached.
    pub reach: Reach,
    /// The protocol.
    pub http: HttpOptions,
    /// How many connections there are and how long they live.
    pub connections: Connections,
    /// How long each phase of an exchange may take.
    pub timeouts: Timeouts,
    /// When a response is ok.
    pub expect: Expect,
    /// Whether users keep cookies.
    pub cookies: Cookies,
    /// Whether every sample is handed on, beside the sums.
    pub samples: Samples,
    /// Whether every exchange is written down in full.
    pub transcripts: Transcripts,
}

impl Pool {
    /// How many users there are at most; with a rate they are those that the plan speaks of.
    #[must_use]
    pub fn users_most(&self) -> Option<u32> {
        let changing = self.users.as_ref().map(Users::most);
        changing.or_else(|| self.load.users())
    }

    /// Whether its load is another at one time than at another, by its law or its users.
    #[must_use]
    pub fn load_changes(&self) -> bool {
        let mut users = self.users.iter();
        self.load.changes() || users.any(|users| users.changes().len() > 1)
    }

    /// How many requests, or iterations of a scenario, its stop conditions let start; `None` where
    /// they count none.
    ///
    /// An iteration of a list is a pass: as many requests as its order takes until it recurs, so
    /// that one of weights 9 and 1 is ten requests.
    #[must_use]
    pub fn starts_most(&self) -> Option<u64> {
        let round = self.program.round(self.requests.len());
        let passes = self.stop.iterations;
        let passes = passes.map(|passes| passes.saturating_mul(round));
        self.stop.requests.into_iter().chain(passes).min()
    }

    /// The parts of its load's law that a report tells of one by one, at least one: a law of more
    /// than a hundred parts is told of as a whole.
    #[must_use]
    pub fn stages(&self) -> Vec<Stage> {
        stage::of_pool(self)
    }

    /// The users over time of a load with this largest number.
    #[must_use]
    pub fn users_over_time(&self, most: u32) -> Users {
        let changing = self.users.clone();
        changing.unwrap_or_else(|| Users::constant(most))
    }
}

/// Whether exchanges are written down in full, for a person to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transcripts {
    /// They are measured and forgotten.
    #[default]
    None,
    /// They are handed on, with heads and bodies. For single requests: each costs memory and time.
    Every,
    /// Those whose response has such a status, or a higher one, are handed on when they are over, as
    /// far as there is room for them. A gRPC status counts from 1000.
    From(u16),
}

/// Whether users keep the cookies that responses give them (RFC 6265bis), and send them back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cookies {
    /// They are not looked at.
    #[default]
    Ignore,
    /// Until the end of an iteration.
    Iteration,
    /// As long as the run lasts.
    User,
}

/// Whether every sample is handed on to who asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// They are counted and forgotten.
    #[default]
    Forget,
    /// They are handed on, at some 80 bytes each.
    Keep,
}
