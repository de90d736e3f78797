//! Values with types: from the text of a variable to a value of the interpreter, and back.

use crate::escape_json;
use crate::feed::json_rows::from_json;
use drumfire_plan::ValueForm;
use minijinja::Value;
use minijinja::value::ValueKind;

/// The value of a variable that is kept as text.
pub(crate) fn value(text: &str, form: ValueForm) -> Value {
    match form {
        ValueForm::Text => Value::from(text),
        ValueForm::Json => of_json(text),
    }
}

/// The value of a JSON text; a text that is not JSON is its own value. Integers are exact up to 38
/// digits if they are not part of a list or an object, where they are exact up to 2^64.
fn of_json(text: &str) -> Value {
    let own = || Value::from(text);
    match text.as_bytes() {
        b"true" => Value::from(true),
        b"false" => Value::from(false),
        b"null" => Value::from(()),
        [b'-' | b'0'..=b'9', ..] => number(text).unwrap_or_else(own),
        _ => serde_json::from_str(text).map_or_else(|_| own(), from_json),
    }
}

/// The number of a JSON text, unless it is too large.
fn number(text: &str) -> Option<Value> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(Value::from(number));
    }
    if let Ok(number) = text.parse::<i128>() {
        return Some(Value::from(number));
    }
    let number = text.parse::<f64>().ok();
    number.filter(|number| number.is_finite()).map(Value::from)
}

/// The type of a text without templates that a variable is set to, as YAML has it: `5`, `true` and
/// `null` are not texts.
pub(crate) fn form_of_text(text: &str) -> ValueForm {
    let is_scalar = matches!(
        text.as_bytes(),
        b"true" | b"false" | b"null" | [b'-' | b'0'..=b'9', ..]
    );
    let is_json = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    match is_scalar && is_json() {
        true => ValueForm::Json,
        false => ValueForm::Text,
    }
}

/// The type of a value that is kept as the text that is printed for it.
pub(crate) fn form(value: &Value) -> ValueForm {
    let is_json = match value.kind() {
        ValueKind::Number => {
            let float = f64::try_from(value.clone());
            value.is_integer() || float.is_ok_and(f64::is_finite)
        }
        ValueKind::Bool
        | ValueKind::None
        | ValueKind::Seq
        | ValueKind::Iterable
        | ValueKind::Map => true,
        _ => false,
    };
    match is_json {
        true => ValueForm::Json,
        false => ValueForm::Text,
    }
}

/// Appends a value as JSON without blanks. The depth of the value was checked.
pub(crate) fn push_json(value: &Value, out: &mut String) {
    let items = || value.try_iter().into_iter().flatten();
    match value.kind() {
        ValueKind::String => {
            out.push('"');
            escape_json(value.as_str().unwrap_or_default(), out);
            out.push('"');
        }
        ValueKind::Map => {
            out.push('{');
            for (at, key) in items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                push_json(&key, out);
                out.push(':');
                push_json(&value.get_item(&key).unwrap_or_default(), out);
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (at, item) in items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                push_json(&item, out);
            }
            out.push(']');
        }
        ValueKind::None | ValueKind::Undefined => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        _ => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{form, form_of_text, value};
    use drumfire_plan::ValueForm;

    #[test]
    fn json_keeps_its_types() {
        for (text, shown, is_number) in [
            ("12.50", "12.5", true),
            ("9007199254740993", "9007199254740993", true),
            ("-18446744073709551616", "-18446744073709551616", true),
            ("1e3", "1000.0", true),
            ("1e400", "1e400", false),
            ("[1,\"a\"]", "[1, \"a\"]", false),
            ("{\"a\":1}", "{\"a\": 1}", false),
            ("[", "[", false),
        ] {
            let typed = value(text, ValueForm::Json);
            assert_eq!(typed.to_string().replace('\'', "\""), shown, "{text}");
            assert_eq!(typed.is_number(), is_number, "{text}");
            assert!(value(text, ValueForm::Text).as_str().is_some());
        }
        assert!(value("null", ValueForm::Json).is_none());
        assert_eq!(form(&value("true", ValueForm::Json)), ValueForm::Json);
        assert_eq!(form(&value("true", ValueForm::Text)), ValueForm::Text);
    }

    #[test]
    fn texts_of_plans_have_the_types_of_yaml() {
        for text in ["5", "-1.5", "true", "null", "1e3"] {
            assert_eq!(form_of_text(text), ValueForm::Json, "{text}");
        }
        for text in ["", "007", "done", "1.2.3", "True", "- 1", "1 2", "[1]"] {
            assert_eq!(form_of_text(text), ValueForm::Text, "{text}");
        }
    }
}
