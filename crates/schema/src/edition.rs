//! Files in an edition of protobuf, which replaced `syntax`. They are refused by their name: what
//! compiles and reflects here knows proto2 and proto3 only.

use crate::SchemaError;
use prost::Message;

/// The part of `FileDescriptorProto` that has the edition.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct File {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "12")]
    syntax: Option<String>,
    #[prost(int32, optional, tag = "14")]
    edition: Option<i32>,
}

impl File {
    /// # Errors
    /// When the file is in an edition.
    pub(crate) fn check(&self) -> Result<(), SchemaError> {
        // `Edition` in protobuf's descriptor.proto.
        let edition = match self.edition {
            Some(1000) => "2023".to_owned(),
            Some(1001) => "2024".to_owned(),
            Some(other) => format!("number {other}"),
            None if self.syntax.as_deref() == Some("editions") => "without a number".to_owned(),
            None => return Ok(()),
        };
        let name = self.name.as_deref().unwrap_or_default();
        Err(SchemaError(refusal(name, &edition)))
    }
}

/// The edition of a source, if its first statement names one, and the statement's line and column,
/// from 1.
pub(crate) fn of_source(source: &str) -> Option<(&str, usize, usize)> {
    let statement = after_comments(source);
    let rest = after_comments(statement.strip_prefix("edition")?);
    let value = after_comments(rest.strip_prefix('=')?);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (edition, _) = value[1..].split_once(quote)?;
    let before = &source[..source.len() - statement.len()];
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    Some((edition, before.matches('\n').count() + 1, column))
}

/// The text behind blanks and comments.
fn after_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches('\u{feff}').trim_start();
        let rest = if let Some(comment) = text.strip_prefix("//") {
            comment.split_once('\n')
        } else if let Some(comment) = text.strip_prefix("/*") {
            comment.split_once("*/")
        } else {
            return text;
        };
        text = rest.map_or("", |(_, rest)| rest);
    }
}

/// The refusal of a file in an edition: `place` is its name, and the line where that is known.
pub(crate) fn refusal(place: &str, edition: &str) -> String {
    let edition: String = edition.chars().take(20).collect();
    format!(
        "{place}: edition {} is not understood, only proto2 and proto3 are; where the file has no \
         features of its own, `syntax = \"proto3\";` may do",
        edition.escape_default()
    )
}

#[cfg(test)]
mod tests {
    use super::of_source;

    #[test]
    fn the_first_statement_tells() {
        for (source, edition) in [
            ("edition = \"2023\";", Some(("2023", 1, 1))),
            (
                "// new\n/* and\nnewer */ edition='2024';",
                Some(("2024", 3, 10)),
            ),
            ("edition /* x */ = // y\n \"2023\";", Some(("2023", 1, 1))),
            ("syntax = \"proto3\"; // edition = \"2023\"", None),
            ("message edition {}", None),
            ("edition", None),
            ("edition = 2023;", None),
            ("// edition = \"2023\";", None),
            ("", None),
        ] {
            assert_eq!(of_source(source), edition, "{source}");
        }
    }
}
