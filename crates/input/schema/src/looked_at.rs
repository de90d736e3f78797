//! Inspected replies: messages as JSON.

use crate::Method;
use crate::json::FieldNames;
use drumfire_plan::{Finding, Inspection, Mismatch, MismatchKind, Response, Taken};
use drumfire_units::ByteSize;
use std::sync::Arc;

/// Inspects the replies of a method as JSON: fields with default values are present, and 64-bit
/// integers are texts (the protobuf JSON mapping). Allocates memory for each reply.
#[derive(Debug)]
pub struct JsonReplies {
    method: Method,
    /// The inspection with the field names of the schema.
    by_schema: Option<Arc<dyn Inspection>>,
    /// The inspection with the JSON names of the fields.
    by_json: Option<Arc<dyn Inspection>>,
}

impl JsonReplies {
    /// Creates the inspection of a method's replies from an inspection with the field names of the
    /// schema, and one with their JSON names.
    #[must_use]
    pub const fn new(
        method: Method,
        by_schema: Option<Arc<dyn Inspection>>,
        by_json: Option<Arc<dyn Inspection>>,
    ) -> Self {
        Self {
            method,
            by_schema,
            by_json,
        }
    }

    /// A message as JSON.
    fn as_json(&self, message: &[u8], names: FieldNames) -> Result<String, Mismatch> {
        let shown = self.method.show_whole_output(message, names);
        shown.map_err(|error| Mismatch {
            kind: MismatchKind::Body,
            reason: error.words,
        })
    }

    fn each(&self) -> impl Iterator<Item = (FieldNames, &dyn Inspection)> {
        let by_schema = self
            .by_schema
            .as_deref()
            .map(|looks| (FieldNames::Schema, looks));
        let by_json = self
            .by_json
            .as_deref()
            .map(|looks| (FieldNames::Json, looks));
        by_schema.into_iter().chain(by_json)
    }
}

impl Inspection for JsonReplies {
    fn fields(&self) -> &[String] {
        let looks = self.by_schema.as_deref().or(self.by_json.as_deref());
        looks.map_or(&[], Inspection::fields)
    }

    fn every_field(&self) -> bool {
        self.each().any(|(_, looks)| looks.every_field())
    }

    fn body_max(&self) -> Option<ByteSize> {
        self.each().filter_map(|(_, looks)| looks.body_max()).max()
    }

    fn inspects_messages(&self) -> bool {
        self.each().any(|(_, looks)| looks.inspects_messages())
    }

    fn inspect_message(&self, message: &[u8], taken: &mut Taken) -> Result<(), Mismatch> {
        for (names, looks) in self.each().filter(|(_, looks)| looks.inspects_messages()) {
            let text = self.as_json(message, names)?;
            looks.inspect_message(text.as_bytes(), taken)?;
        }
        Ok(())
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        for (names, looks) in self.each() {
            if looks.body_max().is_none() {
                looks.inspect(response, taken)?;
                continue;
            }
            let text = self.as_json(response.body, names)?;
            let as_json = Response {
                body: text.as_bytes(),
                ..*response
            };
            looks.inspect(&as_json, taken)?;
        }
        Ok(())
    }

    fn findings(&self, response: &Response<'_>) -> Vec<Finding> {
        let findings = self.each().flat_map(|(names, looks)| {
            let shown = self.method.show_whole_output(response.body, names);
            let text = shown.unwrap_or_default();
            looks.findings(&Response {
                body: text.as_bytes(),
                ..*response
            })
        });
        findings.collect()
    }

    fn message_findings(&self, message: &[u8]) -> Vec<Finding> {
        let findings = self.each().flat_map(|(names, looks)| {
            let text = self.as_json(message, names).unwrap_or_default();
            looks.message_findings(text.as_bytes())
        });
        findings.collect()
    }
}
