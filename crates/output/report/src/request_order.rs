//! The order in which a pool goes through its list of requests, in words.

use drumfire_plan::{Choice, Program};

/// The order in which arrivals take the requests of a list, as words behind their number: `3
/// requests in turn`.
pub(crate) const fn words(program: &Program) -> &'static str {
    match program {
        Program::Requests(Choice::Drawn(_)) => "at random",
        Program::Requests(Choice::Cycle(_)) => "in turn, by weight",
        Program::Requests(Choice::By(_)) => "as the data chooses",
        Program::Requests(Choice::InTurn) | Program::Steps(_) => "in turn",
    }
}
