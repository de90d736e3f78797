//! The facts of a step of a scenario.
//!
//! They mirror [`drumfire_plan::Step`] without the parts that only a run needs: templates,
//! conditions and rules are left out, and places of steps and requests stay the numbers that they
//! are in the plan. Reports therefore show the form of a scenario and not its texts.

use crate::form;
use drumfire_plan::{Passes, Pause, Step, VariableId};
use drumfire_units::Nanos;

/// The facts of a step. Places of other steps are their numbers, from 0.
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
    /// Goes on at this step where a condition does not hold.
    If(u32),
    /// Goes on at this step.
    Jump(u32),
    /// Repeats the steps behind it this number of times; `None` where a template says how often.
    Repeat(Option<u32>),
    /// Ends a pass of the loop that begins at this step.
    Again(u32),
    /// Ends the iteration.
    End,
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
    }
}

impl AskedStep {
    /// The facts of a step.
    pub(super) const fn of(step: &Step) -> Self {
        match step {
            Step::Request { request, .. } => Self::Request(*request),
            Step::Pause(pause) => Self::Pause(*pause),
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
