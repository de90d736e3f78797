//! JSON texts in which an object has each key once. Otherwise the last value would replace the
//! others without a note.

use drumfire_data::read_unique_json;
use serde_json::Value;
use serde_json::error::Category;

/// Parses JSON.
///
/// # Errors
/// The first mistake, or the first key that occurs twice in an object, with its line and column.
pub(crate) fn parsed(text: &str) -> Result<Value, String> {
    read_unique_json(text).map_err(|error| match error.classify() {
        Category::Data => format!("{error}; remove one, or rename it"),
        Category::Io | Category::Syntax | Category::Eof => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::parsed;
    use serde_json::json;

    #[test]
    fn keys_that_occur_twice_are_refused_with_their_place() {
        for (text, error) in [
            (
                r#"{"a": 1, "a": 1}"#,
                "duplicate key `a` at line 1 column 12; remove one, or rename it",
            ),
            (
                "[{\"b\": {}},\n {\"b\": {\"\\u0061\": null,\n \"a\": []}}]",
                "duplicate key `a` at line 3 column 4; remove one, or rename it",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
            ("[1] x", "trailing characters at line 1 column 5"),
        ] {
            assert_eq!(parsed(text).unwrap_err(), error, "{text}");
        }
        let text = r#"{"a": [-1, 1, 0.5, "x", null, true, {"a": {}}]}"#;
        let value = json!({"a": [-1, 1, 0.5, "x", null, true, {"a": {}}]});
        assert_eq!(parsed(text), Ok(value));
    }
}
