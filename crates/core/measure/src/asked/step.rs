//! The facts of a step of a scenario.
//!
//! These facts correspond to [`drumfire_plan::Step`] without the parts that only a run needs:
//! templates, conditions and rules are left out, and steps and requests are given by their numbers
//! in the plan. Reports therefore show the structure of a scenario, not its texts.

use crate::form;
use drumfire_plan::{Passes, Pause, Step, VariableId};
use drumfire_units::Nanos;

/// The facts of a step. Other steps are given by their numbers, from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AskedStep {
    /// Sends the request with this number.
    Request(u32),
    /// Waits.
    Pause(Pause),
    /// Waits until this long after the iteration's intended start.
    Until(Nanos),
    /// Waits until the iteration has lasted this long.
    AtLeast(Nanos),
    /// Keeps a value in this variable.
    Set(VariableId),
    /// Continues at this step if a condition is false.
    If(u32),
    /// Continues at this step.
    Jump(u32),
    /// Repeats the steps after it this number of times; `None` if a template determines the number.
    Repeat(Option<u32>),
    /// Ends a pass of the loop that begins at this step.
    Again(u32),
    /// Ends the iteration.
    End,
    /// Waits for the time that a template determines.
    PauseGiven,
}

form! {
    enum AskedStep {
        0 => Request(request),
        1 => Pause(pause),
        2 => Until(time),
        3 => AtLeast(time),
        4 => Set(variable),
        5 => If(to),
        6 => Jump(to),
        7 => Repeat(times),
        8 => Again(start),
        9 => End,
        10 => PauseGiven,
    }
}

impl AskedStep {
    /// The facts of a step.
    pub(super) const fn from_step(step: &Step) -> Self {
        match step {
            Step::Request { request, .. } => Self::Request(*request),
            Step::Pause(pause) => Self::Pause(*pause),
            Step::PauseGiven(_) => Self::PauseGiven,
            Step::Until(time) => Self::Until(*time),
            Step::AtLeast(time) => Self::AtLeast(*time),
            Step::Set { variable, .. } => Self::Set(*variable),
            Step::If { otherwise, .. } => Self::If(*otherwise),
            Step::Jump(to) => Self::Jump(*to),
            Step::Repeat { passes, .. } => Self::Repeat(match passes {
                Passes::Fixed(times) => Some(*times),
                Passes::Given(_) => None,
            }),
            Step::Again { start, .. } => Self::Again(*start),
            Step::End => Self::End,
        }
    }
}
