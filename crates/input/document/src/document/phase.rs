//! The steps before and after the load of a run, each of which runs once.
//!
//! Each phase is a separate document, made from the run's: one user runs the steps once, with the
//! run's `defaults`, `feeds` and `vars`. No figure of the run includes a phase.
//!
//! Setup and teardown are therefore compiled and run by the same code as a load, as two small runs
//! around it. The values that the setup takes are known only after it has ended. The document of
//! the load is then resolved again, and the setup's document does not contain these values.

use super::{Document, Pool, Step};
use crate::{CommonFields, Field, Generator, Kept, Load, Place, Placed, Settings, Stop, Text};

/// A part of a run other than its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The part before the load.
    Setup,
    /// The part after the load, regardless of how the load ended.
    Teardown,
}

impl Phase {
    /// The key in a document.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
        }
    }

    /// The steps in a document.
    #[must_use]
    pub fn steps(self, document: &Document) -> &[Step] {
        match self {
            Self::Setup => &document.setup,
            Self::Teardown => &document.teardown,
        }
    }

    /// The document of the phase alone; `None` if the run has no such steps.
    ///
    /// If a field of `defaults` is at one of the places `late`, its value comes from the setup.
    /// Such a field is left out of the setup itself.
    #[must_use]
    pub fn extract(self, document: &Document, late: &[Place]) -> Option<Document> {
        let steps = self.steps(document);
        if steps.is_empty() {
            return None;
        }
        let mut defaults = document.defaults.clone();
        if self == Self::Setup {
            leave_out(late, &mut defaults.fields);
        }
        let one = || Some(Placed::new(1, Place::Nowhere));
        Some(Document {
            name: document.name.clone(),
            vars: document.vars.clone(),
            defaults,
            feeds: document.feeds.clone(),
            pools: vec![Pool {
                name: Text::new(self.key().to_owned(), Place::Nowhere),
                load: Load {
                    users: Some(Text::new("1".to_owned(), Place::Nowhere)),
                    ..Load::default()
                },
                // If a step fails, its exchange is shown in full.
                settings: Settings {
                    kept: Kept::every_exchange(),
                    ..Settings::default()
                },
                scenario: steps.to_vec(),
                ..Pool::default()
            }],
            stop: Stop {
                iterations: one(),
                ..Stop::default()
            },
            generator: Generator {
                threads: one(),
                seed: document.generator.seed.clone(),
                i_own_this_target: document.generator.i_own_this_target.clone(),
                ..Generator::default()
            },
            ..Document::default()
        })
    }
}

/// Removes the fields whose values are at one of these places.
fn leave_out(late: &[Place], fields: &mut CommonFields) {
    let is_early = |field: &Field| !late.contains(&field.value.place);
    fields.headers.retain(is_early);
    fields.metadata.retain(is_early);
}
