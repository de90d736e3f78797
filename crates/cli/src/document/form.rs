//! The parts of `-F`, in the form of curl.

use super::{at, text};
use crate::exit::Failure;
use drumfire_document::{Diagnostic, Part, PartContent, Payload};

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

/// Parses `NAME=VALUE`, or `NAME=@FILE;type=TYPE;filename=NAME`.
fn part(given: &str) -> Result<Part, Failure> {
    let wrong = |message: String| Failure::usage(Diagnostic::new(&at(KEY), message));
    let Some((name, value)) = given.split_once('=') else {
        let shown = given.escape_default();
        return Err(wrong(format!(
            "`{shown}` is not of the form NAME=VALUE or NAME=@FILE; use one such as upload=@photo.png"
        )));
    };
    let name = text(KEY, &name);
    let Some(value) = value.strip_prefix('@') else {
        return Ok(Part::text(name, text(KEY, &value)));
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
                let shown = option.trim().escape_default();
                return Err(wrong(format!(
                    "unknown option `{shown}` after a file; use `type=TYPE` or `filename=NAME`"
                )));
            }
        }
    }
    Ok(part)
}
