//! The tokens of a `.proto` file, and syntax that the compiler's parser does not support.

use protox::file::File;

/// Parses a source after rewriting it in syntax that the parser supports: since protobuf 26, a
/// single number of an extension range may have options, as in descriptor.proto itself; options may
/// be `-inf`; and edition 2024 has `import option`.
pub(crate) fn parsed(name: &str, source: &str) -> Result<File, protox::Error> {
    File::from_source(name, &in_known_words(source))
}

/// The tokens before a token within a statement of extensions.
#[derive(Clone, Copy)]
enum Before<'s> {
    /// Outside such a statement.
    Other,
    /// `extensions`, or a comma.
    Start,
    /// A single number.
    Alone(&'s str),
    /// A range of two numbers.
    Range,
}

/// Rewrites the source: `extensions 5 [` becomes `extensions 5 to 5 [`, and `-inf` and `-nan`
/// become `0` in options other than defaults, because no byte depends on them. A file that is
/// imported only for its options is imported normally.
fn in_known_words(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut before = Before::Other;
    // The last two tokens that are not blank.
    let mut last = ["", ""];
    let mut rest = source;
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_length(rest));
        rest = after;
        if !is_blank(token) {
            before = match (before, token) {
                (_, "extensions") | (Before::Alone(_) | Before::Range, ",") => Before::Start,
                (Before::Start, number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    Before::Alone(number)
                }
                (Before::Alone(number), "[") => {
                    out.push_str(&format!(" to {number} "));
                    Before::Other
                }
                (Before::Alone(_) | Before::Range, _) => Before::Range,
                _ => Before::Other,
            };
            if token == ";" {
                before = Before::Other;
            }
            let is_value = last[1] == "=" && last[0] != "default";
            if (last[1], token) == ("import", "option") && is_text(rest) {
                continue;
            }
            last = [last[1], token];
            if let ("-", true, Some(behind)) = (token, is_value, behind_not_finite(rest)) {
                out.push('0');
                rest = behind;
                continue;
            }
        }
        out.push_str(token);
    }
    out
}

/// Whether a quoted text is next.
fn is_text(source: &str) -> bool {
    source.trim_start().starts_with(['"', '\''])
}

/// The text after an infinity or a NaN at the start of a text.
fn behind_not_finite(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (word, behind) = text.split_at(token_length(text));
    matches!(word, "inf" | "infinity" | "nan").then_some(behind)
}

/// Whether a token is white space or a comment.
pub(crate) fn is_blank(token: &str) -> bool {
    token.starts_with("//") || token.starts_with("/*") || token.trim().is_empty()
}

/// The length of the token at the start of a text: white space, a comment, a quoted text, a word,
/// or one character.
pub(crate) fn token_length(text: &str) -> usize {
    let run = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    let Some(first) = text.chars().next() else {
        return 0;
    };
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return text.find("*/").map_or(text.len(), |at| at + 2);
    }
    match first {
        '"' | '\'' => {
            let mut escaped = false;
            let mut chars = text.char_indices().skip(1);
            let end = chars.find(|(_, c)| {
                let ends = *c == first && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(text.len(), |(at, _)| at + 1)
        }
        c if c.is_whitespace() => run(char::is_whitespace),
        c if c == '_' || c.is_ascii_alphanumeric() => {
            run(|c| c == '_' || c.is_ascii_alphanumeric())
        }
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_known_words;

    #[test]
    fn sources_are_written_in_known_words() {
        for (source, whole) in [
            ("extensions 5 [x = 1];", "extensions 5  to 5 [x = 1];"),
            ("extensions 5[x = 1];", "extensions 5 to 5 [x = 1];"),
            (
                "extensions 1, 5 // c\n [x = 1];",
                "extensions 1, 5 // c\n  to 5 [x = 1];",
            ),
            (
                "extensions 4 to max [x = 1];",
                "extensions 4 to max [x = 1];",
            ),
            ("extensions 4 to 5 [x = 1];", "extensions 4 to 5 [x = 1];"),
            (
                "extensions 4, 5 to 7 [x = 1];",
                "extensions 4, 5 to 7 [x = 1];",
            ),
            (
                "extensions 5; int32 a = 1 [x = 1];",
                "extensions 5; int32 a = 1 [x = 1];",
            ),
            (
                "int32 extensions = 1 [x = 1];",
                "int32 extensions = 1 [x = 1];",
            ),
            ("// extensions 5 [\n", "// extensions 5 [\n"),
        ] {
            assert_eq!(in_known_words(source), whole);
        }
    }
}
