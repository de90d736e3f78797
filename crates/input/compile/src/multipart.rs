//! Bodies of several parts (RFC 7578), as browsers write them.
//!
//! The body is made once, before the run. If one of its texts is a template, the whole body is one,
//! because a template has one text. `{% raw %}` then protects the heads of parts and the content of
//! files, in which tags have no meaning. A file that is not UTF-8 splits the body, and the text
//! after it is a separate template ([`Multipart::binaries`]).
//!
//! Text in the head of a part cannot end the head: quotes and line ends in names are escaped as
//! browsers do, a media type has no control characters, and the boundary occurs in no part as
//! written. Values that are rendered later are not searched for the boundary.

use drumfire_data::Template;
use drumfire_document::{Diagnostic, Part, PartContent};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The line between two parts. Zeros are appended until no part contains it, so the same parts give
/// the same bytes in each run.
const BOUNDARY: &str = "----drumfire0boundary";

/// A body of several parts, and the media type that contains its boundary.
pub(crate) struct Multipart {
    /// The body, as bytes or as the text of a template.
    pub(crate) bytes: Vec<u8>,
    /// The media type `multipart/form-data` with the boundary of the body.
    pub(crate) media_type: String,
    /// The ranges of non-UTF-8 bytes, if the rest has templates.
    pub(crate) binaries: Vec<Range<usize>>,
}

/// Builds the body from these parts, with the content of each. With `are_templates`, texts may be
/// templates.
///
/// # Errors
/// If a media type has control characters, or a file or a head can't be combined with a template.
pub(crate) fn multipart(
    parts: &[Part],
    contents: &[Arc<[u8]>],
    are_templates: bool,
) -> Result<Multipart, Box<Diagnostic>> {
    let mut boundary = BOUNDARY.to_owned();
    let has =
        |content: &[u8], text: &str| content.windows(text.len()).any(|at| at == text.as_bytes());
    while contents.iter().any(|content| has(content, &boundary)) {
        boundary.push('0');
    }
    let varies = are_templates && parts.iter().any(is_template);
    let mut bytes = Vec::new();
    let mut binaries = Vec::new();
    for (part, content) in parts.iter().zip(contents) {
        let head = head(part, &boundary)?;
        match varies {
            true => {
                let raw = raw(head.as_bytes(), "the head of the part");
                let place = &part.name.place;
                let raw = raw.map_err(|message| Box::new(Diagnostic::new(place, message)))?;
                bytes.extend_from_slice(&raw);
            }
            false => bytes.extend_from_slice(head.as_bytes()),
        }
        match &part.content {
            PartContent::File(_) if varies && std::str::from_utf8(content).is_err() => {
                let start = bytes.len();
                bytes.extend_from_slice(content);
                binaries.push(start..bytes.len());
            }
            PartContent::File(path) if varies => {
                let raw = raw(content, "the file");
                let raw = raw.map_err(|message| Box::new(Diagnostic::new(&path.place, message)))?;
                bytes.extend_from_slice(&raw);
            }
            _ => bytes.extend_from_slice(content),
        }
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Multipart {
        bytes,
        media_type: format!("multipart/form-data; boundary={boundary}"),
        binaries,
    })
}

/// The boundary before a part, and its head: its name, its file's name and its type (RFC 7578
/// sections 4.2 and 4.4).
fn head(part: &Part, boundary: &str) -> Result<String, Box<Diagnostic>> {
    let mut head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
        quoted(&part.name.value)
    );
    if let Some(name) = file_name(part) {
        head.push_str(&format!("; filename=\"{}\"", quoted(&name)));
    }
    head.push_str("\r\n");
    if let Some(written) = &part.media_type
        && written.value.contains(char::is_control)
    {
        let message = "the type of a part can't contain line ends or other control characters";
        return Err(Box::new(Diagnostic::new(
            &written.place,
            message.to_owned(),
        )));
    }
    if let Some(media_type) = media_type(part) {
        head.push_str(&format!("Content-Type: {media_type}\r\n"));
    }
    head.push_str("\r\n");
    Ok(head)
}

/// Whether a part is a text with a template; files never are.
fn is_template(part: &Part) -> bool {
    match &part.content {
        PartContent::Text(text) => !Template::is_static(&text.value),
        PartContent::File(_) => false,
    }
}

/// The content of a file or the head of a part (`noun`) as a part of a template, with its tags
/// disabled. Content that would end `raw` itself is refused instead of split, because it must be
/// sent unchanged.
fn raw(content: &[u8], noun: &str) -> Result<Vec<u8>, String> {
    let Ok(text) = std::str::from_utf8(content) else {
        return Err(format!(
            "{noun} is not text, and another part has a template: such a body can't be rendered; \
             write `templates: none`"
        ));
    };
    if Template::is_static(text) {
        return Ok(content.to_vec());
    }
    if text.contains("endraw") {
        return Err(format!(
            "{noun} has a template with `endraw`, and another part has a template, too; write \
             `templates: none`"
        ));
    }
    Ok(format!("{{% raw %}}{text}{{% endraw %}}").into_bytes())
}

/// The file name to send: the file's own name without folders, unless another was written.
fn file_name(part: &Part) -> Option<String> {
    if let Some(name) = &part.file_name {
        return Some(name.value.clone());
    }
    let PartContent::File(path) = &part.content else {
        return None;
    };
    let name = Path::new(&path.value).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// The media type of a part. Files have an unknown type unless one was written.
fn media_type(part: &Part) -> Option<&str> {
    match (&part.media_type, &part.content) {
        (Some(written), _) => Some(&written.value),
        (None, PartContent::File(_)) => Some("application/octet-stream"),
        (None, PartContent::Text(_)) => None,
    }
}

/// A name between quotes, escaped by the HTML standard (multipart/form-data encoding algorithm).
fn quoted(name: &str) -> String {
    let name = name.replace('"', "%22").replace('\r', "%0D");
    name.replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::multipart;
    use drumfire_document::{Part, PartContent, Place, Text};
    use std::sync::Arc;

    fn content(part: &Part) -> Arc<[u8]> {
        match &part.content {
            PartContent::Text(text) => text.value.as_bytes().into(),
            PartContent::File(path) => match path.value.as_str() {
                "folder/a\".txt" => (*b"{{ as it is }}").into(),
                "boundary" => (*b"x----drumfire0boundaryx").into(),
                _ => [0xff].into(),
            },
        }
    }

    fn text(text: &str) -> Text {
        Text::new(text.to_owned(), Place::Nowhere)
    }

    fn file(path: &str) -> Part {
        Part {
            content: PartContent::File(text(path)),
            ..Part::text(text("up"), text(""))
        }
    }

    /// The body of parts, or the mistake in them.
    fn body(parts: &[Part], are_templates: bool) -> Result<String, String> {
        let contents: Vec<Arc<[u8]>> = parts.iter().map(content).collect();
        let made = multipart(parts, &contents, are_templates).map_err(|wrong| wrong.message)?;
        let media_type = "multipart/form-data; boundary=----drumfire0boundary";
        assert!(made.media_type.starts_with(media_type));
        Ok(String::from_utf8_lossy(&made.bytes).into_owned())
    }

    #[test]
    fn parts_are_written_as_browsers_write_them() {
        let parts = [
            Part::text(text("a \"b\""), text("1\r\n2")),
            Part {
                media_type: Some(text("text/plain")),
                ..file("folder/a\".txt")
            },
        ];
        let expected = "------drumfire0boundary\r\n\
            Content-Disposition: form-data; name=\"a %22b%22\"\r\n\r\n1\r\n2\r\n\
            ------drumfire0boundary\r\n\
            Content-Disposition: form-data; name=\"up\"; filename=\"a%22.txt\"\r\n\
            Content-Type: text/plain\r\n\r\n{{ as it is }}\r\n\
            ------drumfire0boundary--\r\n";
        assert_eq!(body(&parts, true).as_deref(), Ok(expected));
    }

    #[test]
    fn a_boundary_stands_in_no_part() {
        let made = body(&[file("boundary")], true).expect("a body");
        assert!(made.ends_with("------drumfire0boundary0--\r\n"), "{made}");
    }

    #[test]
    fn a_file_beside_templates_is_sent_as_it_is() {
        let template = Part::text(text("n"), text("{{ user }}"));
        let made = body(&[template.clone(), file("folder/a\".txt")], true).expect("a body");
        assert!(
            made.contains("{% raw %}{{ as it is }}{% endraw %}"),
            "{made}"
        );
        let made = body(&[template.clone(), file("folder/a\".txt")], false).expect("a body");
        assert!(!made.contains("raw"), "{made}");
        let contents = [Arc::from(*b"{{ user }}"), Arc::from([0xff])];
        let made = multipart(&[template, file("bytes")], &contents, true);
        let Ok(made) = made else {
            panic!("a body");
        };
        let [only] = &made.binaries[..] else {
            panic!("{:?}", made.binaries);
        };
        assert_eq!(made.bytes[only.clone()], [0xff]);
    }

    #[test]
    fn the_head_of_a_part_is_no_template_and_has_no_further_lines() {
        let template = Part::text(text("n"), text("{{ user }}"));
        let named = Part::text(text("a{{ user }}"), text("x"));
        let made = body(&[template.clone(), named], true).expect("a body");
        let head = "{% raw %}------drumfire0boundary\r\n\
            Content-Disposition: form-data; name=\"a{{ user }}\"\r\n\r\n{% endraw %}x\r\n";
        assert!(made.contains(head), "{made}");
        let ended = Part::text(text("{% endraw %}"), text("x"));
        let wrong = body(&[template, ended], true).expect_err("it would end `raw`");
        assert!(
            wrong.starts_with("the head of the part has a template"),
            "{wrong}"
        );
        let typed = Part {
            media_type: Some(text("text/plain\r\nX: y")),
            ..Part::text(text("n"), text("x"))
        };
        let wrong = body(&[typed], false).expect_err("a line end");
        assert!(wrong.contains("can't contain line ends"), "{wrong}");
    }
}
