//! The errors of a run, in ghz's words.

use super::options::Options;
use super::setup::{GivenData, GivenMetadata};
use crate::grammar::go_json;
use drumfire_compile::is_go_template;
use drumfire_document::Diagnostic;
use drumfire_document::Place;
use drumfire_plan::secret;

/// The ends of messages for which Go has different words.
const NO_BASE64: &str = "the value of a -bin key must be base64";
const NO_CERTIFICATE: &str = "contains no PEM certificate";

/// The parts of the command line that occur in messages.
pub(super) struct Words<'a> {
    pub(super) options: &'a Options,
    pub(super) data: &'a GivenData,
    pub(super) metadata: &'a GivenMetadata,
}

impl Words<'_> {
    /// The message for the first mistake.
    pub(super) fn first_message(&self, found: &[Diagnostic]) -> String {
        let Some(first) = found.first() else {
            return String::new();
        };
        let message = first.message.as_str();
        match &first.place {
            Place::Dialect { name, .. } => match *name {
                "--data" | "--data-file" | "--binary" | "--binary-file" => self.of_data(message),
                "--metadata-file" => self.of_metadata(message),
                "--metadata" | "--reflect-metadata" => self.of_field(message),
                "--cacert" if message.contains(NO_CERTIFICATE) => {
                    "failed to append ca certs".to_owned()
                }
                "--cert" | "--key" if message.contains(NO_CERTIFICATE) => {
                    let why = "tls: failed to find any PEM data in certificate input";
                    format!("could not load client key pair: {why}")
                }
                "--protoset" => self.of_protoset(message),
                "--threshold" => {
                    let line = message.lines().next().unwrap_or_default();
                    format!("threshold: {line}")
                }
                _ => message.to_owned(),
            },
            _ => message.to_owned(),
        }
    }

    /// Invalid JSON is shown with its mistake; the error of a template is shown alone.
    fn of_data(&self, message: &str) -> String {
        let GivenData::Json(text) = self.data else {
            return message.to_owned();
        };
        if text.trim().is_empty() {
            return "no data provided for request".to_owned();
        }
        if !self.options.no_templates && is_go_template(text) {
            return message.to_owned();
        }
        let path = &self.options.data_file;
        let prefix = format!("{path}: ");
        let why = message.strip_prefix(&prefix).unwrap_or(message);
        let text = secret::excerpt(text);
        format!("Error creating message from data. Data: '{text}' Error: {why}")
    }

    fn of_metadata(&self, message: &str) -> String {
        match self.metadata {
            GivenMetadata::Raw(text) => match go_json::text_map(text) {
                Err(why) if !is_go_template(text) => {
                    let text = secret::excerpt(text.trim());
                    format!("error unmarshaling metadata '{text}': {why}")
                }
                _ => self.of_field(message),
            },
            GivenMetadata::Texts(_) => self.of_field(message),
        }
    }

    /// The message on an invalid field, or on a template in a field.
    fn of_field(&self, message: &str) -> String {
        if message.ends_with(NO_BASE64)
            && let Some(at) = self.base64_fault(message)
        {
            return format!("illegal base64 data at input byte {at}");
        }
        match message.starts_with("metadata") || message.starts_with("template:") {
            true => message.to_owned(),
            false => format!("metadata: {message}"),
        }
    }

    /// The position of the first invalid base64 character in the value of the message's key.
    fn base64_fault(&self, message: &str) -> Option<usize> {
        let key = message.split('`').nth(1)?;
        let texts = match self.metadata {
            GivenMetadata::Texts(texts) => texts.clone(),
            GivenMetadata::Raw(text) => go_json::text_map(text).ok()?,
        };
        let mut texts = texts.iter();
        let (_, value) = texts.find(|(known, _)| known.eq_ignore_ascii_case(key))?;
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        value.bytes().position(|byte| !is_digit(byte))
    }

    fn of_protoset(&self, message: &str) -> String {
        let path = &self.options.protoset;
        let prefix = format!("{path}: ");
        let why = message.strip_prefix(&prefix).unwrap_or(message);
        let path = crate::go_text::quoted(path);
        format!("could not load protoset file {path}: {why}")
    }
}
