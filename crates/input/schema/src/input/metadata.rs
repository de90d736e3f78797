//! Varying metadata of calls.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use drumfire_data::{Sources, Template, Text, TextTemplate};
use drumfire_plan::{DataError, Header, RenderedFields, RequestContext, VariableId};
use serde_json::{Map, Value};
use std::sync::Arc;

/// base64 in gRPC metadata: padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Varying metadata of calls.
#[derive(Clone, Debug)]
pub struct Metadata {
    form: Form,
    /// The number of calls for which the feeds have rows.
    count: Option<u64>,
    /// Whether the metadata is omitted in a call that already has the key.
    is_beneath: bool,
}

#[derive(Clone, Debug)]
enum Form {
    /// A key and a constant value.
    Fixed(String, String),
    /// The value of one key, in the native language.
    Native(String, Box<Template>),
    /// The value of one key, in another language.
    Value(String, Arc<dyn TextTemplate>),
    /// A JSON object with text values.
    Object(Arc<dyn TextTemplate>),
}

impl Metadata {
    /// A key and its value in the native template language. Values of `-bin` keys are base64.
    ///
    /// # Errors
    /// If the template can't be compiled, or the key is invalid.
    pub fn template(key: &str, value: &str, sources: &Arc<Sources>) -> Result<Self, DataError> {
        let key = key.to_ascii_lowercase();
        Header::new(&key, b"").map_err(|error| DataError::new(error.to_string()))?;
        let template = Template::compile(value, Text::Plain, sources)
            .map_err(|error| DataError::new(format!("metadata {key}: {error}")))?;
        let count = template.count();
        let form = Form::Native(key, Box::new(template));
        Ok(Self {
            count,
            ..Self::new(form)
        })
    }

    const fn new(form: Form) -> Self {
        Self {
            form,
            count: None,
            is_beneath: false,
        }
    }

    /// A key with a constant value.
    #[must_use]
    pub fn fixed(key: &str, value: &str) -> Self {
        Self::new(Form::Fixed(key.to_ascii_lowercase(), value.to_owned()))
    }

    /// Gives the metadata lower precedence: a call that already has the key omits it.
    #[must_use]
    pub const fn beneath(mut self) -> Self {
        self.is_beneath = true;
        self
    }

    /// The value of one key, in any template language.
    #[must_use]
    pub fn value(key: &str, template: Arc<dyn TextTemplate>) -> Self {
        Self::new(Form::Value(key.to_ascii_lowercase(), template))
    }

    /// A JSON object of keys and texts, in any template language. Values of `-bin` keys are base64.
    #[must_use]
    pub const fn object(template: Arc<dyn TextTemplate>) -> Self {
        Self::new(Form::Object(template))
    }

    /// Assigns the metadata to a part of its call, so that its random values are independent of
    /// other parts.
    pub(super) fn in_part(self, part: u32) -> Self {
        let form = match self.form {
            Form::Native(key, template) => Form::Native(key, Box::new(template.in_part(part))),
            form => form,
        };
        Self { form, ..self }
    }

    /// The variables of the user that a template in the native language may read.
    pub(super) fn variables(&self) -> &[VariableId] {
        match &self.form {
            Form::Native(_, template) => template.variables(),
            Form::Fixed(..) | Form::Value(..) | Form::Object(_) => &[],
        }
    }

    /// The key, if there is a single one.
    fn key(&self) -> Option<&str> {
        match &self.form {
            Form::Fixed(key, _) | Form::Native(key, _) | Form::Value(key, _) => Some(key),
            Form::Object(_) => None,
        }
    }

    /// The number of calls for which there is data.
    pub(super) const fn count(&self) -> Option<u64> {
        self.count
    }

    /// Appends the fields of a call.
    pub(super) fn render(
        &self,
        call: &RequestContext,
        out: &mut RenderedFields,
    ) -> Result<(), DataError> {
        if self.is_beneath
            && self
                .key()
                .is_some_and(|key| out.iter().any(|(name, _)| name == key))
        {
            return Ok(());
        }
        match &self.form {
            Form::Fixed(key, value) => out.push(key, value),
            Form::Native(key, template) => value(key, &**template, call, out),
            Form::Value(key, template) => value(key, &**template, call, out),
            Form::Object(template) => {
                let mut text = String::new();
                template.render(call, 0, &mut text)?;
                let object: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
                    DataError::new(format!("the metadata is not a JSON object: {error}"))
                })?;
                for (key, value) in &object {
                    let Some(value) = value.as_str() else {
                        let message =
                            format!("metadata {key}: the value is not a string, but {value}");
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

/// Checks the additional rules of a key for its value.
fn check(key: &str, value: &str) -> Result<(), DataError> {
    if key.ends_with("-bin") && BASE64.decode(value.trim()).is_err() {
        return Err(DataError::new(format!(
            "metadata {key}: the value is not base64"
        )));
    }
    Ok(())
}
