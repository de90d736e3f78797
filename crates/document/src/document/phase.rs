//! The steps of a run before its load and behind it, each gone through once.
//!
//! Each is a document of its own, made of the run's: one user goes once through the steps, with the
//! run's `defaults`, `feeds` and `vars`. Nothing of it is in a figure of the run.
//!
//! So setup and teardown are compiled and run by the same code as a load, as two small runs around
//! it. The values that the setup takes are known only when it has ended: the document of the load
//! is resolved once more then, and the setup's own document is the one in which they do not occur.

use super::{Document, Pool, Step};
use crate::{CommonFields, Field, Generator, Kept, Load, Place, Placed, Settings, Stop, Text};

/// A part of a run beside its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The part before the load.
    Setup,
    /// The part behind the load, however that ended.
    Teardown,
}

impl Phase {
    /// Its key in a document.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
        }
    }

    /// Its steps in a document.
    #[must_use]
    pub fn steps(self, document: &Document) -> &[Step] {
        match self {
            Self::Setup => &document.setup,
            Self::Teardown => &document.teardown,
        }
    }

    /// The document of the phase alone; `None` where the run has no such steps.
    ///
    /// A field of `defaults` that stands at one of the places `late`, since its value is one that
    /// the setup takes, is left out of the setup itself.
    #[must_use]
    pub fn of(self, document: &Document, late: &[Place]) -> Option<Document> {
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
                // Of a step that fails, the exchange is shown in full.
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

/// Leaves out the fields whose values stand at one of these places.
fn leave_out(late: &[Place], fields: &mut CommonFields) {
    let is_early = |field: &Field| !late.contains(&field.value.place);
    fields.headers.retain(is_early);
    fields.metadata.retain(is_early);
}
