//! The parts of `-F`, in the form of curl.

use super::{flag_place, text};
use crate::exit::Failure;
use drumfire_document::{Diagnostic, Part, PartContent, Payload};
use std::path::Path;

/// The key of a multipart body.
const KEY: &str = "multipart";

/// The multipart body; `None` if no parts are given.
pub(super) fn payload(given: &[String]) -> Result<Option<Payload>, Failure> {
    let parts: Vec<Part> = given
        .iter()
        .map(|part| self::part(part))
        .collect::<Result<_, _>>()?;
    Ok((!parts.is_empty()).then_some(Payload::Multipart(parts)))
}

/// Parses `NAME=VALUE;type=TYPE`, or `NAME=@FILE;type=TYPE;filename=NAME`.
fn part(given: &str) -> Result<Part, Failure> {
    let wrong = |message: String| Failure::usage(Diagnostic::new(&flag_place(KEY), message));
    let Some((name, value)) = given.split_once('=') else {
        let shown = given.escape_debug();
        return Err(wrong(format!(
            "`{shown}` is not of the form NAME=VALUE or NAME=@FILE; use one such as upload=@photo.png"
        )));
    };
    let name = text(KEY, &name);
    let Some(value) = value.strip_prefix('@') else {
        if let Some(file) = value
            .strip_prefix('<')
            .filter(|file| Path::new(file).is_file())
        {
            let shown = file.escape_debug();
            return Err(wrong(format!(
                "`<{shown}` would send the content of a file as text, which is not supported; use \
                 @{shown} to send the file"
            )));
        }
        let (value, media_type) = typed(value);
        return Ok(Part {
            media_type: media_type.map(|media_type| text(KEY, &media_type)),
            ..Part::text(name, text(KEY, &value))
        });
    };
    let mut options = value.split(';');
    let mut part = Part {
        content: PartContent::File(text(KEY, &options.next().unwrap_or_default())),
        ..Part::text(name, text(KEY, &""))
    };
    for option in options {
        match option.trim().split_once('=') {
            Some(("type", value)) => part.media_type = Some(text(KEY, &value)),
            Some(("filename", value)) => part.file_name = Some(text(KEY, &value)),
            _ => {
                let shown = option.trim().escape_debug();
                return Err(wrong(format!(
                    "unknown option `{shown}` after a file; use `type=TYPE` or `filename=NAME`"
                )));
            }
        }
    }
    Ok(part)
}

/// A text and the media type at its end, as curl reads it. A `;` may also belong to the text.
fn typed(value: &str) -> (&str, Option<&str>) {
    let is_type = |given: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+/".contains(c);
        given.contains('/') && given.chars().all(is_word)
    };
    match value.rsplit_once(";type=") {
        Some((text, given)) if is_type(given) => (text, Some(given)),
        _ => (value, None),
    }
}
