//! Metadata that varies between calls.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use drumfire_data::{Sources, Template, Text, TextTemplate};
use drumfire_plan::{DataError, Header, RenderedFields, RequestContext};
use serde_json::{Map, Value};
use std::sync::Arc;

/// base64 as gRPC has it in metadata: padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Metadata that varies between calls.
#[derive(Clone, Debug)]
pub struct Metadata {
    form: Form,
    /// For how many calls its feeds last.
    count: Option<u64>,
}

#[derive(Clone, Debug)]
enum Form {
    /// The value of one key in the native language.
    Native(String, Box<Template>),
    /// The value of one key in another.
    Value(String, Arc<dyn TextTemplate>),
    /// A JSON object whose values are texts.
    Object(Arc<dyn TextTemplate>),
}

impl Metadata {
    /// A key and its value in the native template language. Values of `-bin` keys are base64.
    ///
    /// # Errors
    /// When the template can't be compiled, or the key is none.
    pub fn template(key: &str, value: &str, sources: &Arc<Sources>) -> Result<Self, DataError> {
        let key = key.to_ascii_lowercase();
        Header::new(&key, b"").map_err(|error| DataError::new(error.to_string()))?;
        let template = Template::compile(value, Text::Plain, sources)
            .map_err(|error| DataError::new(format!("metadata {key}: {error}")))?;
        let count = template.count();
        let form = Form::Native(key, Box::new(template));
        Ok(Self { form, count })
    }

    /// Any template language, for the value of one key.
    #[must_use]
    pub fn value(key: &str, template: Arc<dyn TextTemplate>) -> Self {
        let form = Form::Value(key.to_ascii_lowercase(), template);
        Self { form, count: None }
    }

    /// Any template language whose text is a JSON object of keys and texts. Values of `-bin` keys
    /// are base64.
    #[must_use]
    pub const fn object(template: Arc<dyn TextTemplate>) -> Self {
        let form = Form::Object(template);
        Self { form, count: None }
    }

    /// The same as another part of its call: what it draws does not depend on what others draw.
    pub(super) fn in_part(self, part: u32) -> Self {
        let form = match self.form {
            Form::Native(key, template) => Form::Native(key, Box::new(template.in_part(part))),
            form => form,
        };
        Self { form, ..self }
    }

    /// For how many calls there is data.
    pub(super) const fn count(&self) -> Option<u64> {
        self.count
    }

    /// Appends the fields of a call.
    pub(super) fn render(
        &self,
        call: &RequestContext,
        out: &mut RenderedFields,
    ) -> Result<(), DataError> {
        match &self.form {
            Form::Native(key, template) => value(key, &**template, call, out),
            Form::Value(key, template) => value(key, &**template, call, out),
            Form::Object(template) => {
                let mut text = String::new();
                template.render(call, 0, &mut text)?;
                let object: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
                    DataError::new(format!("the metadata is no object: {error}"))
                })?;
                for (key, value) in &object {
                    let Some(value) = value.as_str() else {
                        let message = format!("metadata {key}: the value is no text, but {value}");
                        return Err(DataError::new(message));
                    };
                    let key = key.to_ascii_lowercase();
                    check(&key, value)?;
                    out.push(&key, value)?;
                }
                Ok(())
            }
        }
    }
}

/// Appends a field whose value is a template.
fn value(
    key: &str,
    template: &dyn TextTemplate,
    call: &RequestContext,
    out: &mut RenderedFields,
) -> Result<(), DataError> {
    out.push_with(key, |value| {
        let start = value.len();
        template.render(call, 0, value)?;
        check(key, &value[start..])
    })
}

/// Whether a key may have this value, beyond what any field may have.
fn check(key: &str, value: &str) -> Result<(), DataError> {
    if key.ends_with("-bin") && BASE64.decode(value.trim()).is_err() {
        return Err(DataError::new(format!(
            "metadata {key}: the value is not base64"
        )));
    }
    Ok(())
}
