//! Values as expressions of our templates.

use serde_json::Value as Json;

/// Go's words for a value that is absent.
pub(super) const NO_VALUE: &str = "<no value>";

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
    /// A text whose value with its type is another expression.
    Typed(String),
    /// The texts of nodes: a JSON array in this variable, where a single one stands for itself.
    Nodes(String),
    /// A value that a step has taken from a JSON body.
    One {
        /// The step.
        step: usize,
        /// The path.
        path: String,
    },
    /// A JSON array of what a step has taken, of any length.
    Many,
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

    /// The value of a header field; the variable is an empty text where there is none.
    pub(super) fn optional(variable: &str, piped: &str) -> Self {
        let none = quoted(NO_VALUE);
        Self {
            is: format!("({piped} if {variable} else {none})"),
            form: Form::Typed(format!("({piped} if {variable} else none)")),
        }
    }

    /// The texts of nodes, of which the variable is a JSON array.
    pub(super) fn nodes(variable: &str) -> Self {
        Self {
            is: single_or(
                variable,
                &format!("(\"{{{{.}}}}\" | go({variable} | fromjson))"),
            ),
            form: Form::Nodes(variable.to_owned()),
        }
    }

    /// The same where a value must be: an absent one fails.
    pub(super) fn needed(self) -> Self {
        let absent = format!(" else {})", quoted(NO_VALUE));
        match self.is.strip_suffix(&absent) {
            Some(there) => Self::text(format!("{there} else (\"[]\" | item(0)))")),
            None => self,
        }
    }

    /// The value as a JSON array, as far as it is a list.
    pub(super) fn into_list(self) -> Self {
        match self.form {
            Form::Nodes(list) => Self::json(list),
            _ => self,
        }
    }

    /// Whether it is a list, whatever its length.
    pub(super) const fn is_list(&self) -> bool {
        matches!(self.form, Form::Many)
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

/// The only text of a JSON array, or what stands for the array where it has not one.
pub(super) fn single_or(variable: &str, array: &str) -> String {
    let list = format!("({variable} | fromjson)");
    format!("({list}[0] if {list} is sequence and ({list} | length) == 1 else {array})")
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
