//! The values of `--form`: `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`, with attributes after `;`.

use crate::exchange::{FormPart, PartBody, Words};
use crate::shape::shown;

/// The attributes of curl that a plan lacks.
const OTHERS: [&str; 2] = ["headers=", "encoder="];

/// The parts of an option, and notes on omissions.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) parts: Vec<FormPart>,
    pub(super) notes: Vec<String>,
}

/// Reads the value of `--form`.
///
/// # Errors
/// If curl would refuse the value, or a plan can't have such a part.
pub(super) fn parts(given: &str) -> Result<Parts, String> {
    let (name, value) = given.split_once('=').ok_or_else(|| {
        let given = shown(given);
        format!("`--form {given}` has no `=`; write it as in `--form 'name=value'`")
    })?;
    let mut made = Parts::default();
    match value.chars().next() {
        Some('(' | ')') if name.is_empty() || value.starts_with('(') => {
            return Err(format!(
                "`--form {}` begins or ends a part of several parts, which a plan can't have; write \
                 each part as a separate `--form`",
                shown(given)
            ));
        }
        Some('<') => made.notes.push(format!(
            "the part `{}` of a multipart body is not imported: it sends the content of a file as \
             text",
            shown(name)
        )),
        Some('@') => files(name, &value[1..], &mut made)?,
        _ => {
            let mut words = Cursor::new(value, None);
            let text = PartBody::Text(Words::Plain(words.word()));
            let part = attributes(name, text, &mut words, &mut made.notes)?;
            made.parts.push(part);
        }
    }
    Ok(made)
}

/// Adds a part for each of the files between commas.
fn files(name: &str, list: &str, made: &mut Parts) -> Result<(), String> {
    let mut words = Cursor::new(list, Some(','));
    loop {
        let path = words.word();
        let file = PartBody::File(path.clone());
        let mut part = attributes(name, file, &mut words, &mut made.notes)?;
        if part.media_type.is_none() {
            let named = part.file_name.as_deref().unwrap_or(&path);
            part.media_type = of_file(named).map(str::to_owned);
        }
        made.parts.push(part);
        if !words.rest.starts_with(',') {
            break;
        }
        words.rest = &words.rest[1..];
    }
    if made.parts.len() > 1 {
        made.notes.push(format!(
            "the files of the part `{}` are parts of the same name in the plan; curl sends them \
             within one part",
            shown(name)
        ));
    }
    Ok(())
}

/// A part with the attributes that follow its content.
fn attributes(
    name: &str,
    content: PartBody,
    words: &mut Cursor<'_>,
    notes: &mut Vec<String>,
) -> Result<FormPart, String> {
    let (mut file_name, mut media_type): (_, Option<String>) = (None, None);
    // Whether the last attribute is the media type, to which further parameters belong.
    let mut is_type_open = false;
    while let Some(next) = words.rest.strip_prefix(';') {
        words.rest = next.trim_start();
        if let Some(rest) = words.rest.strip_prefix("type=").filter(|_| !is_type_open) {
            words.rest = rest.trim_start();
            let given = words.plain();
            let essence = given.split([';', ',']).next().unwrap_or_default();
            let halves = essence.split_once('/');
            if !halves.is_some_and(|(major, minor)| !major.is_empty() && !minor.is_empty()) {
                return Err(format!(
                    "`type={}` of the part `{}` is not a media type; write it as in `type=text/plain`",
                    shown(&given),
                    shown(name)
                ));
            }
            media_type = Some(given);
            is_type_open = true;
        } else if let Some(rest) = words.rest.strip_prefix("filename=") {
            words.rest = rest.trim_start();
            file_name = Some(words.word());
            is_type_open = false;
        } else if let Some(other) = OTHERS.iter().find(|own| words.rest.starts_with(**own)) {
            words.word();
            notes.push(format!("`;{other}` of a part of a form is not imported"));
            is_type_open = false;
        } else if let Some(media_type) = media_type.as_mut().filter(|_| is_type_open) {
            let blanks = &next[..next.len() - words.rest.len()];
            media_type.extend([";", blanks, &words.plain()]);
        } else {
            let unknown = words.word();
            if !unknown.is_empty() {
                notes.push(format!(
                    "`;{}` of the part `{}` is left out, as curl does; to send a `;`, quote the \
                     text: '{}=\"a;b\"'",
                    shown(&unknown),
                    shown(name),
                    shown(name)
                ));
            }
        }
    }
    Ok(FormPart {
        name: name.to_owned(),
        content,
        file_name,
        media_type,
    })
}

/// The rest of a value.
struct Cursor<'a> {
    rest: &'a str,
    /// A further character that ends a word.
    end: Option<char>,
}

impl<'a> Cursor<'a> {
    const fn new(rest: &'a str, end: Option<char>) -> Self {
        Self { rest, end }
    }

    /// The text before the next `;` or end, without blanks around it.
    fn plain(&mut self) -> String {
        let is_end = |c: char| c == ';' || Some(c) == self.end;
        let at = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(at);
        self.rest = rest;
        word.trim().to_owned()
    }

    /// The next word, which quotes may enclose; text after a closing quote is dropped.
    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let Some((word, rest)) = self.rest.strip_prefix('"').and_then(quoted) else {
            return self.plain();
        };
        self.rest = rest;
        self.plain();
        word
    }
}

/// The text up to a closing quote, and the text after the quote.
fn quoted(from: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = from.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((word, &from[at + 1..])),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => word.push(escaped),
                None => word.push(c),
            },
            c => word.push(c),
        }
    }
    None
}

/// The media type that curl assigns to a file by its extension, if it knows the extension.
fn of_file(name: &str) -> Option<&'static str> {
    let types = [
        (".gif", "image/gif"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".jpeg", "image/jpeg"),
        (".jpg", "image/jpeg"),
        (".pdf", "application/pdf"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".xml", "application/xml"),
    ];
    let name = name.to_ascii_lowercase();
    let mut types = types.iter();
    types.find_map(|(end, media_type)| name.ends_with(end).then_some(*media_type))
}

#[cfg(test)]
mod tests {
    use super::{Parts, parts};
    use crate::exchange::PartBody;

    /// `NAME CONTENT [FILENAME] [TYPE]` for each part, then the notes.
    fn shown(made: Parts) -> String {
        let parts = made.parts.into_iter().map(|part| {
            let content = match &part.content {
                PartBody::Text(words) => words.as_str().to_owned(),
                PartBody::File(path) => format!("@{path}"),
            };
            let more = [part.file_name, part.media_type].into_iter().flatten();
            let all = [part.name, content].into_iter().chain(more);
            all.collect::<Vec<_>>().join(" ")
        });
        let all = parts.chain(made.notes);
        all.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn values_are_read_as_curl_reads_them() {
        let lost = "is left out, as curl does; to send a `;`, quote the text: 'a=\"a;b\"'";
        for (given, wanted) in [
            ("a=b", "a b".to_owned()),
            ("a= b ", "a b".to_owned()),
            (r#"a="b;c" "#, "a b;c".to_owned()),
            (
                r#"a="b\"c\\d\e";filename="q\"r""#,
                r#"a b"c\d\e q"r"#.to_owned(),
            ),
            (r#"a="b"#, "a \"b".to_owned()),
            ("a=b;c", format!("a b | `;c` of the part `a` {lost}")),
            ("a=b;type=text/plain", "a b text/plain".to_owned()),
            (
                "a=b; type=text/plain; charset=x;filename=y",
                "a b y text/plain; charset=x".to_owned(),
            ),
            ("a=@f.txt", "a @f.txt text/plain".to_owned()),
            (
                r#"a=@"f;1";filename="x;y.png""#,
                "a @f;1 x;y.png image/png".to_owned(),
            ),
            (
                "a=@f,g.gif;type=a/b",
                "a @f | a @g.gif a/b | the files of the part `a` are parts of the same name in the \
                 plan; curl sends them within one part"
                    .to_owned(),
            ),
            (
                "a=b;headers=\"X: 1\";encoder=base64",
                "a b | `;headers=` of a part of a form is not imported | `;encoder=` of a part of a \
                 form is not imported"
                    .to_owned(),
            ),
        ] {
            assert_eq!(shown(parts(given).unwrap()), wanted, "{given}");
        }
        for (given, error) in [
            (
                "a",
                "`--form a` has no `=`; write it as in `--form 'name=value'`",
            ),
            (
                "a=b;type=x",
                "`type=x` of the part `a` is not a media type; write it as in `type=text/plain`",
            ),
            (
                "=(;type=multipart/mixed",
                "`--form =(;type=multipart/mixed` begins or ends a part of several parts, which a plan \
                 can't have; write each part as a separate `--form`",
            ),
        ] {
            assert_eq!(parts(given).unwrap_err(), error);
        }
    }
}
