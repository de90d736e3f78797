//! Values as expressions of our templates.

use serde_json::Value as Json;

/// A value: an expression, and the form that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) is: String,
    pub(super) form: Form,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A text.
    Text,
    /// A text that is JSON, or a string of JSON without its quotes.
    Json,
    /// A row of a feed with these columns.
    Row(Vec<String>),
    /// What a step has taken from its response.
    Taken {
        /// The step.
        step: usize,
        /// How, without the path: `json` or `html`.
        how: &'static str,
        /// The path.
        path: String,
        /// Whether there is one value, or a list of them.
        count: Count,
    },
}

/// How many values a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// One.
    One,
    /// A list of any length; the expression is a JSON array.
    Many,
    /// One stands for itself, and several are a list; the expression is the first.
    OneOrMany,
}

impl Known {
    pub(super) const fn text(is: String) -> Self {
        let form = Form::Text;
        Self { is, form }
    }

    pub(super) const fn json(is: String) -> Self {
        let form = Form::Json;
        Self { is, form }
    }

    /// A value that never changes.
    pub(super) fn constant(value: &Json) -> Self {
        match value {
            Json::String(text) => Self::text(quoted(text)),
            other => Self::json(quoted(&other.to_string())),
        }
    }

    /// Whether it is computed anew wherever it is read.
    pub(super) fn is_computed(&self) -> bool {
        self.is.contains(['(', '|'])
    }

    /// Whether it is a list, whatever its length.
    pub(super) const fn is_list(&self) -> bool {
        matches!(
            self.form,
            Form::Taken {
                count: Count::Many,
                ..
            }
        )
    }

    /// The member of this name.
    pub(super) fn member(self, name: &str) -> Self {
        match self.form {
            Form::Row(_) => Self::json(column(&self.is, name)),
            _ => Self::json(format!("({} | item({}))", self.is, quoted(name))),
        }
    }

    /// The element at a place, an expression.
    pub(super) fn element(self, place: &str) -> Self {
        Self::json(format!("({} | item({place}))", self.is))
    }
}

/// A text as a literal of templates.
pub(super) fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

/// A value as a literal of templates.
pub(super) fn literal(value: &Json) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Null => "none".to_owned(),
        Json::Array(values) => format!("[{}]", joined(values.iter().map(literal).collect())),
        Json::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| {
                let value = literal(value);
                format!("{}: {value}", quoted(name))
            });
            format!("{{{}}}", joined(members.collect()))
        }
        other => other.to_string(),
    }
}

/// A column of a row.
pub(super) fn column(row: &str, name: &str) -> String {
    match is_identifier(name) {
        true => format!("{row}.{name}"),
        false => format!("{row}[{}]", quoted(name)),
    }
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    letters.next().is_some_and(is_first) && letters.all(|c| is_first(c) || c.is_ascii_digit())
}

/// A name of templates.
pub(super) fn identifier(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(letter).collect()
}
