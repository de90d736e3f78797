//! The text of a file in an edition. The compiler's parser accepts the text as proto3, after the
//! edition statement and other edition-only syntax are rewritten. The features are read from the
//! options that the parser leaves uninterpreted.

use super::{EDITIONS, FeatureSet, FieldFeatures, FieldPart, File, FileFeatures, MessagePart};
use crate::tokens::{is_blank, parsed, token_length};
use prost_reflect::prost_types::field_descriptor_proto::Type;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    UninterpretedOption,
};

/// The file of a source in an edition; `None` for other sources.
///
/// # Errors
/// If the edition is unknown, or the source has a mistake.
pub(crate) fn parse(
    name: &str,
    path: &str,
    source: &str,
) -> Result<Option<FileDescriptorProto>, protox::Error> {
    let Some(statement) = Statement::find(source) else {
        return Ok(None);
    };
    let place = format!("{path}:{}:{}", statement.line, statement.column);
    let known = EDITIONS.iter().find(|(_, name)| *name == statement.edition);
    let Some((number, _)) = known else {
        return Err(protox::Error::new(super::refusal(
            &place,
            statement.edition,
        )));
    };
    let parsed = parsed(name, &statement.in_proto3(source))?;
    let mut file = parsed.file_descriptor_proto().clone();
    let enums = file
        .enum_type
        .iter()
        .map(|of| of.name().to_owned())
        .collect();
    let mut reading = Reading {
        enums,
        labelled: None,
    };
    let features = reading.file(&mut file, *number);
    if let Some(field) = reading.labelled {
        let message = format!("{path}: field {field}: editions do not allow the label `optional`");
        return Err(protox::Error::new(message));
    }
    let lowered = features.lower(&mut file);
    lowered.map_err(|error| protox::Error::new(error.0))?;
    Ok(Some(file))
}

/// The edition statement of a source.
#[derive(Debug, PartialEq, Eq)]
struct Statement<'s> {
    edition: &'s str,
    /// The line, from 1.
    line: usize,
    column: usize,
    /// The byte range from `edition` to the end of its text.
    start: usize,
    end: usize,
}

impl<'s> Statement<'s> {
    /// Finds the statement, which must be the first of its source.
    fn find(source: &'s str) -> Option<Self> {
        let statement = after_comments(source);
        let rest = after_comments(statement.strip_prefix("edition")?);
        let value = after_comments(rest.strip_prefix('=')?);
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (edition, rest) = value[1..].split_once(quote)?;
        let start = source.len() - statement.len();
        let before = &source[..start];
        Some(Self {
            edition,
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|&c| c != '\n').count() + 1,
            start,
            end: source.len() - rest.len(),
        })
    }

    /// The source in the syntax of proto3.
    fn in_proto3(&self, source: &str) -> String {
        let mut out = source[..self.start].to_owned();
        out.push_str("syntax = \"proto3\"");
        let lines = source[self.start..self.end].matches('\n').count();
        out.push_str(&"\n".repeat(lines));
        let mut before = TokenContext::Other;
        let mut rest = &source[self.end..];
        while !rest.is_empty() {
            // Visibility to other files changes no bytes.
            if before == TokenContext::Statement
                && let Some(behind) = behind_visibility(rest)
            {
                rest = behind;
                continue;
            }
            let (token, after) = rest.split_at(token_length(rest));
            rest = after;
            let is_name = token.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
            match (before, token) {
                // Reserved names are bare in an edition, and quoted in proto3.
                (TokenContext::Reserved, name) if is_name && !matches!(name, "to" | "max") => {
                    out.push_str(&format!("\"{name}\""));
                }
                // Defaults have no effect on the wire, and do not exist in proto3.
                (TokenContext::Bracket, "default") => out.push_str("features.unused"),
                (_, token) => out.push_str(token),
            }
            before = match (before, token) {
                (before, token) if is_blank(token) => before,
                (_, "reserved") => TokenContext::Reserved,
                (TokenContext::Reserved, token) if token != ";" => TokenContext::Reserved,
                (TokenContext::Bracket | TokenContext::Options, ",") | (_, "[") => {
                    TokenContext::Bracket
                }
                (_, "]") => TokenContext::Other,
                (TokenContext::Bracket | TokenContext::Options, _) => TokenContext::Options,
                (_, ";" | "{" | "}") => TokenContext::Statement,
                _ => TokenContext::Other,
            };
        }
        out
    }
}

/// The context before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenContext {
    Other,
    /// The end of a statement, or the beginning of a block.
    Statement,
    /// Within a `reserved` statement.
    Reserved,
    /// The beginning of an option in brackets.
    Bracket,
    /// Another part of such options.
    Options,
}

/// The text after `export` or `local`, if a text begins with one of these before the definition of
/// a message or an enum.
fn behind_visibility(text: &str) -> Option<&str> {
    fn behind<'s>(text: &'s str, words: [&str; 2]) -> Option<&'s str> {
        let (token, rest) = text.split_at(token_length(text));
        words.contains(&token).then_some(rest)
    }
    let rest = behind(text, ["export", "local"])?;
    let definition = after_comments(rest);
    let name = after_comments(behind(definition, ["message", "enum"])?);
    // `export message = 1` is a field of the type `export`.
    (!name.starts_with('=')).then_some(definition)
}

/// The text after blanks and comments.
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

/// Removes the features from a file's uninterpreted options.
struct Reading {
    /// The names of the enums in the file and in its messages.
    enums: Vec<String>,
    /// A field with a label that does not exist in editions.
    labelled: Option<String>,
}

impl Reading {
    fn file(&mut self, file: &mut FileDescriptorProto, edition: i32) -> File {
        for message in &file.message_type {
            self.add_enums(message);
        }
        let mut features = None;
        if let Some(options) = &mut file.options {
            features = taken(&mut options.uninterpreted_option);
        }
        for service in &mut file.service {
            if let Some(options) = &mut service.options {
                taken(&mut options.uninterpreted_option);
            }
            let methods = service.method.iter_mut();
            for options in methods.filter_map(|method| method.options.as_mut()) {
                taken(&mut options.uninterpreted_option);
            }
        }
        clean_enums(&mut file.enum_type);
        File {
            name: file.name.clone(),
            messages: file
                .message_type
                .iter_mut()
                .map(|of| self.message(of))
                .collect(),
            extensions: file.extension.iter_mut().map(|of| self.field(of)).collect(),
            options: Some(FileFeatures { features }),
            syntax: None,
            edition: Some(edition),
        }
    }

    fn add_enums(&mut self, message: &DescriptorProto) {
        let names = message.enum_type.iter().map(|of| of.name().to_owned());
        self.enums.extend(names);
        for nested in &message.nested_type {
            self.add_enums(nested);
        }
    }

    fn message(&mut self, message: &mut DescriptorProto) -> MessagePart {
        if let Some(options) = &mut message.options {
            taken(&mut options.uninterpreted_option);
        }
        let oneofs = message.oneof_decl.iter_mut();
        for options in oneofs.filter_map(|oneof| oneof.options.as_mut()) {
            taken(&mut options.uninterpreted_option);
        }
        let ranges = message.extension_range.iter_mut();
        for options in ranges.filter_map(|range| range.options.as_mut()) {
            taken(&mut options.uninterpreted_option);
        }
        clean_enums(&mut message.enum_type);
        MessagePart {
            fields: message.field.iter_mut().map(|of| self.field(of)).collect(),
            nested: message
                .nested_type
                .iter_mut()
                .map(|of| self.message(of))
                .collect(),
            extensions: message
                .extension
                .iter_mut()
                .map(|of| self.field(of))
                .collect(),
        }
    }

    /// A field of a named type contains a message, unless the file has an enum of this name.
    fn field(&mut self, field: &mut FieldDescriptorProto) -> FieldPart {
        if field.proto3_optional() {
            self.labelled = Some(field.name().to_owned());
        }
        let features = match &mut field.options {
            Some(options) => taken(&mut options.uninterpreted_option),
            None => None,
        };
        let of = field.type_name().rsplit('.').next().unwrap_or_default();
        if field.r#type.is_none() && !of.is_empty() && !self.enums.iter().any(|name| name == of) {
            field.set_type(Type::Message);
        }
        FieldPart {
            options: Some(FieldFeatures { features }),
        }
    }
}

/// Removes the features from enums, where they change no bytes.
fn clean_enums(enums: &mut [EnumDescriptorProto]) {
    for of in enums {
        if let Some(options) = &mut of.options {
            taken(&mut options.uninterpreted_option);
        }
        let values = of.value.iter_mut();
        for options in values.filter_map(|value| value.options.as_mut()) {
            taken(&mut options.uninterpreted_option);
        }
    }
}

/// Removes the features from the options of a part: `features.x = Y`, or `features = { x: Y }`.
fn taken(options: &mut Vec<UninterpretedOption>) -> Option<FeatureSet> {
    let mut set = FeatureSet::default();
    options.retain(|option| {
        let mut name = option.name.iter().map(|part| part.name_part.as_str());
        if name.next() != Some("features") {
            return true;
        }
        match (name.next(), &option.aggregate_value) {
            (Some(feature), _) => set_feature(&mut set, feature, option.identifier_value()),
            (None, Some(text)) => {
                let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let mut words = text
                    .split(|c: char| !is_part(c))
                    .filter(|word| !word.is_empty());
                while let (Some(feature), Some(value)) = (words.next(), words.next()) {
                    set_feature(&mut set, feature, value);
                }
            }
            (None, None) => {}
        }
        false
    });
    Some(set)
}

fn set_feature(set: &mut FeatureSet, feature: &str, value: &str) {
    let number = |values: &[&str]| {
        let at = values.iter().position(|known| *known == value)?;
        i32::try_from(at + 1).ok()
    };
    match feature {
        "field_presence" => {
            set.field_presence = number(&["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"]);
        }
        "repeated_field_encoding" => {
            set.repeated_field_encoding = number(&["PACKED", "EXPANDED"]);
        }
        "message_encoding" => {
            set.message_encoding = number(&["LENGTH_PREFIXED", "DELIMITED"]);
        }
        // The others change no bytes.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Statement;

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
            let found = Statement::find(source);
            let found = found.map(|of| (of.edition, of.line, of.column));
            assert_eq!(found, edition, "{source}");
        }
    }

    #[test]
    fn the_source_is_written_in_the_words_of_proto3() {
        for (source, proto3) in [
            (
                "edition = \"2023\"; message A {}",
                "syntax = \"proto3\"; message A {}",
            ),
            (
                "/* c */ edition\n=\n'2023';\nimport 'a';",
                "/* c */ syntax = \"proto3\"\n\n;\nimport 'a';",
            ),
            (
                "edition='2023'; message A { reserved foo, bar; reserved 1 to max; }",
                "syntax = \"proto3\"; message A { reserved \"foo\", \"bar\"; reserved 1 to max; }",
            ),
            (
                "edition='2023'; message A { int32 default = 1 [default = 5, json_name='default'\n, default /**/ = 6]; }",
                "syntax = \"proto3\"; message A { int32 default = 1 [features.unused = 5, json_name='default'\n, features.unused /**/ = 6]; }",
            ),
            (
                "edition = '2026'; export message A { local enum B {} export message = 1; } local message C {}",
                "syntax = \"proto3\"; message A { enum B {} export message = 1; } message C {}",
            ),
            (
                "edition='2023'; // reserved a;\noption x = 'reserved \\' b';",
                "syntax = \"proto3\"; // reserved a;\noption x = 'reserved \\' b';",
            ),
        ] {
            let found = Statement::find(source).unwrap().in_proto3(source);
            assert_eq!(found, proto3);
        }
    }
}
