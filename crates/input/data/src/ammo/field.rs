//! Header fields of the plan for the requests of a file.

use crate::FieldTemplate;
use drumfire_plan::{DataError, RenderedFields, RequestContext};

/// A header field of the plan for every request of a file.
#[derive(Clone, Debug)]
pub struct AmmoField {
    value: Value,
    precedence: Precedence,
}

/// The field with its value.
#[derive(Clone, Debug)]
enum Value {
    Fixed { name: String, value: String },
    Varies(FieldTemplate),
}

/// Which of two fields with the same name is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// The file's.
    #[default]
    File,
    /// The plan's.
    Plan,
}

impl AmmoField {
    /// A field that is the same for all requests.
    #[must_use]
    pub const fn fixed(name: String, value: String, precedence: Precedence) -> Self {
        let value = Value::Fixed { name, value };
        Self { value, precedence }
    }

    /// A field whose value varies. Fields of other parts draw other random values.
    #[must_use]
    pub fn varying(field: FieldTemplate, part: u32, precedence: Precedence) -> Self {
        let value = Value::Varies(field.in_part(part));
        Self { value, precedence }
    }

    pub(super) fn name(&self) -> &str {
        match &self.value {
            Value::Fixed { name, .. } => name,
            Value::Varies(field) => field.name(),
        }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    /// Whether it stands above the file's fields.
    pub(super) fn is_above(&self) -> bool {
        self.precedence == Precedence::Plan
    }

    /// Its value, where that does not vary.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Fixed { value, .. } => Some(value),
            Value::Varies(_) => None,
        }
    }

    /// Appends it as a request has it.
    pub(super) fn push(
        &self,
        request: &RequestContext,
        out: &mut RenderedFields,
    ) -> Result<(), DataError> {
        match &self.value {
            Value::Fixed { name, value } => out.push(name, value),
            Value::Varies(field) => field.push(request, out),
        }
    }
}
