//! Values that are taken from responses and kept after the run. The load and the teardown refer to
//! the values of a setup (docs/design/02-schedule-and-users.md#setup-and-teardown).
//!
//! A worker thread writes the values while the phase runs ([`Recorded`]), and the front end reads
//! them after it ended ([`TakenValues::to_map`]). A phase has one user and one iteration, so no
//! thread waits for the lock, and the last value of a name is the value from the last step that
//! takes it.

use drumfire_plan::{Finding, Inspection, Mismatch, Response, Taken, VariableId};
use drumfire_units::ByteSize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The last value taken under each name.
#[derive(Debug, Default)]
pub struct TakenValues(Mutex<BTreeMap<String, String>>);

impl TakenValues {
    /// The values by their names.
    #[must_use]
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let values = self.0.lock();
        values.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a value; replaces an earlier one of the same name.
    fn keep(&self, name: &str, value: &str) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(name.to_owned(), value.to_owned());
    }
}

/// An inspection that additionally records its values outside the user's variables; otherwise it
/// behaves like the inner inspection.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) inspection: Arc<dyn Inspection>,
    /// The variables to which the inspection assigns values, with their names.
    pub(crate) names: Vec<(VariableId, String)>,
    pub(crate) taken: Arc<TakenValues>,
}

impl Inspection for Recorded {
    fn fields(&self) -> &[String] {
        self.inspection.fields()
    }

    fn every_field(&self) -> bool {
        self.inspection.every_field()
    }

    fn body_max(&self) -> Option<ByteSize> {
        self.inspection.body_max()
    }

    fn answer_max(&self) -> Option<ByteSize> {
        self.inspection.answer_max()
    }

    fn inspects_messages(&self) -> bool {
        self.inspection.inspects_messages()
    }

    fn inspect_message(&self, message: &[u8], taken: &mut Taken) -> Result<(), Mismatch> {
        self.inspection.inspect_message(message, taken)
    }

    fn message_findings(&self, message: &[u8]) -> Vec<Finding> {
        self.inspection.message_findings(message)
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        let result = self.inspection.inspect(response, taken);
        // Also where a later rule failed: a teardown may need the id of what a failed setup has
        // made.
        for (variable, _, value) in taken.iter() {
            let mut names = self.names.iter();
            if let Some((_, name)) = names.find(|(known, _)| *known == variable) {
                self.taken.keep(name, value);
            }
        }
        result
    }

    fn findings(&self, response: &Response<'_>) -> Vec<Finding> {
        self.inspection.findings(response)
    }
}
