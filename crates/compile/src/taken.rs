//! Values that are taken from responses, kept for what follows the run.

use drumfire_plan::{Finding, Inspection, Mismatch, Response, Taken, VariableId};
use drumfire_units::ByteSize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The last value that was taken under each name.
#[derive(Debug, Default)]
pub struct TakenValues(Mutex<BTreeMap<String, String>>);

impl TakenValues {
    /// The values by their names.
    #[must_use]
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let values = self.0.lock();
        values.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, name: &str, value: &str) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(name.to_owned(), value.to_owned());
    }
}

/// An inspection whose values are kept beside the user's own variables.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) inspection: Arc<dyn Inspection>,
    /// The names of the variables that it gives values.
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

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        let result = self.inspection.inspect(response, taken);
        for (variable, value) in taken.iter() {
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
