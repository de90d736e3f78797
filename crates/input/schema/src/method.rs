//! A method of a service.

use crate::SchemaError;
use crate::json::{self, FieldNames};
use crate::required::all_set;
use drumfire_plan::{CallKind, DataError, suggestion};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};
use std::fmt;

/// A method of a service: its names, its kind, and its messages.
#[derive(Clone)]
pub struct Method {
    descriptor: MethodDescriptor,
}

/// The output is short: descriptors of recursive messages would be printed without end.
impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Method({})", self.path())
    }
}

impl Method {
    pub(crate) const fn new(descriptor: MethodDescriptor) -> Self {
        Self { descriptor }
    }

    /// `package.Service`.
    #[must_use]
    pub fn service(&self) -> &str {
        self.descriptor.parent_service().full_name()
    }

    /// The name without the service.
    #[must_use]
    pub fn name(&self) -> &str {
        self.descriptor.name()
    }

    /// `/package.Service/Method`, the path of a request.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{}/{}", self.service(), self.name())
    }

    /// Which sides send a stream.
    #[must_use]
    pub fn kind(&self) -> CallKind {
        let client = self.descriptor.is_client_streaming();
        match (client, self.descriptor.is_server_streaming()) {
            (false, false) => CallKind::Unary,
            (true, false) => CallKind::ClientStream,
            (false, true) => CallKind::ServerStream,
            (true, true) => CallKind::Bidirectional,
        }
    }

    /// The message that a client sends.
    #[must_use]
    pub fn input(&self) -> MessageDescriptor {
        self.descriptor.input()
    }

    /// The message that a server sends.
    #[must_use]
    pub fn output(&self) -> MessageDescriptor {
        self.descriptor.output()
    }

    /// Encodes a client message given as protobuf JSON.
    ///
    /// # Errors
    /// If the text is not JSON, is nested more than 100 deep, or does not have the message's form.
    /// The message on an unknown field suggests the most similar one.
    pub fn encode_input(&self, text: &str) -> Result<Vec<u8>, DataError> {
        let mut out = Vec::new();
        json::encode(&self.input(), text, &mut out)?;
        Ok(out)
    }

    /// A server message as protobuf JSON.
    ///
    /// # Errors
    /// If the bytes are not such a message, or are nested more than 100 deep.
    pub fn show_output(&self, message: &[u8]) -> Result<String, DataError> {
        json::show(
            &self.output(),
            message,
            json::Defaults::Skip,
            FieldNames::Schema,
        )
    }

    /// The JSON path (RFC 9535) of a field of a reply, for [`crate::JsonReplies`]: `order.id`,
    /// `items[0].name`, by the names of the schema or of its JSON.
    ///
    /// # Errors
    /// If a message lacks the field; the error suggests the most similar one.
    pub fn reply_path(&self, path: &str) -> Result<String, SchemaError> {
        let mut out = String::from("$");
        let mut message = Some(self.output());
        for part in path.split('.') {
            let (name, rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            let within = message.ok_or_else(|| {
                SchemaError(format!(
                    "`{}` is within a field that is not a message",
                    part.escape_debug()
                ))
            })?;
            let field = within
                .get_field_by_name(name)
                .or_else(|| within.get_field_by_json_name(name));
            let field = field.ok_or_else(|| {
                let fields: Vec<_> = within.fields().collect();
                let near = suggestion(name, fields.iter().map(FieldDescriptor::name));
                let of = within.full_name();
                SchemaError(format!("{of} has no field `{}`{near}", name.escape_debug()))
            })?;
            out.push('.');
            out.push_str(field.name());
            out.push_str(rest);
            // After a map, the path is not checked against the schema.
            message = match field.kind() {
                Kind::Message(message) if !field.is_map() => Some(message),
                _ => None,
            };
        }
        Ok(out)
    }

    /// A server message as protobuf JSON, including fields with default values.
    ///
    /// # Errors
    /// See [`Self::show_output`].
    pub(crate) fn show_whole_output(
        &self,
        message: &[u8],
        names: FieldNames,
    ) -> Result<String, DataError> {
        json::show(&self.output(), message, json::Defaults::Show, names)
    }

    /// Checks that a message from a server has its type.
    ///
    /// # Errors
    /// If the bytes are not such a message, lack a required field, or are nested more than 100
    /// deep.
    pub fn check_output(&self, message: &[u8]) -> Result<(), DataError> {
        let output = self.output();
        let message = json::decode(&output, message)?;
        all_set(&message).map_err(|fault| {
            let (name, words) = (output.full_name(), fault.reason.words());
            DataError::new(format!("the bytes are not a valid {name}: {words}"))
        })
    }
}
