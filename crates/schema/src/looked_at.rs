//! Replies that a plan looks at: messages as JSON.

use crate::Method;
use drumfire_plan::{Finding, Inspection, Mismatch, MismatchKind, Response, Taken};
use drumfire_units::ByteSize;
use std::sync::Arc;

/// Looks at the replies of a method as JSON: fields have the names that the schema gives them, those
/// with default values are there, and 64-bit integers are texts (the protobuf JSON mapping). Takes
/// memory for each reply.
#[derive(Debug)]
pub struct JsonReplies {
    method: Method,
    inspection: Arc<dyn Inspection>,
}

impl JsonReplies {
    /// Lets an inspection look at a method's replies.
    #[must_use]
    pub fn new(method: Method, inspection: Arc<dyn Inspection>) -> Self {
        Self { method, inspection }
    }
}

impl Inspection for JsonReplies {
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
        if self.body_max().is_none() {
            return self.inspection.inspect(response, taken);
        }
        let shown = self.method.show_whole_output(response.body);
        let text = shown.map_err(|error| Mismatch {
            kind: MismatchKind::Body,
            reason: error.0,
        })?;
        let as_json = Response {
            body: text.as_bytes(),
            ..*response
        };
        self.inspection.inspect(&as_json, taken)
    }

    fn findings(&self, response: &Response<'_>) -> Vec<Finding> {
        let shown = self.method.show_whole_output(response.body);
        let text = shown.unwrap_or_default();
        self.inspection.findings(&Response {
            body: text.as_bytes(),
            ..*response
        })
    }
}
