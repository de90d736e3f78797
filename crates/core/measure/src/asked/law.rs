//! The law of a load, with the times of a trace only counted.
//!
//! A law may be a trace of a million times, and the facts of a run are copied often. Therefore only
//! the number of a trace's times is kept.

use crate::form;
use drumfire_plan::{Law, Sequence};
use std::fmt;

/// A piece of a load's law.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedLaw {
    /// A law in the plan's form; never a [`Law::Trace`].
    Law(Law),
    /// A trace, as the number of its times. A trace has one time for each request, too many for the
    /// facts of a run.
    Trace {
        /// The number of times.
        times: u64,
    },
}

/// The consecutive pieces of a load's law.
///
/// Prints in the form of plans, so that a reader can use the text in a plan again; only a trace,
/// which prints as `trace(N times)`, cannot be read back.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedSequence(pub Vec<AskedLaw>);

form! { struct AskedSequence(laws) }

form! {
    enum AskedLaw { 0 => Law(law), 1 => Trace { times } }
    check |law| !matches!(law, AskedLaw::Law(Law::Trace { .. })), "the times of a trace";
}

impl AskedSequence {
    /// The facts of a plan's law.
    #[must_use]
    pub fn from_sequence(sequence: &Sequence) -> Self {
        let piece = |law: &Law| match law {
            Law::Trace { times } => AskedLaw::Trace {
                times: times.len() as u64,
            },
            law => AskedLaw::Law(law.clone()),
        };
        Self(sequence.0.iter().map(piece).collect())
    }
}

impl fmt::Display for AskedLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(law) => law.fmt(f),
            Self::Trace { times } => write!(f, "trace({times} times)"),
        }
    }
}

impl fmt::Display for AskedSequence {
    /// Prints in the form of plans, with a trace as the number of its times.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, law) in self.0.iter().enumerate() {
            let space = if k == 0 { "" } else { " " };
            write!(f, "{space}{law}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    #[test]
    fn a_law_reads_as_the_plan_s() {
        let mut sequence: Sequence = "line(1/s,5/s,10s) once(3)".parse().unwrap();
        let asked = AskedSequence::from_sequence(&sequence);
        assert_eq!(asked.to_string(), sequence.to_string());
        sequence.0.push(Law::Trace {
            times: [Nanos(1), Nanos(2)].into(),
        });
        let asked = AskedSequence::from_sequence(&sequence);
        assert_eq!(asked.0[2], AskedLaw::Trace { times: 2 });
        assert_eq!(asked.to_string(), sequence.to_string());
    }
}
