//! Recognises secrets by name and masks them, so that they never reach a report.

use crate::percent;
use std::ops::Range;

/// The text that replaces a secret.
pub const MASK: &str = "***";

/// The minimum length of a value whose echoes are masked; shorter values occur in any text.
const ECHO_MIN: usize = 8;

/// Words that make a name secret anywhere in it.
const SECRET_WORDS: [&str; 18] = [
    "assertion",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "csrf",
    "key",
    "oauth",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "saml",
    "secret",
    "session",
    "signature",
    "token",
    "xsrf",
];

/// Words that make a name secret only as separate words, because they are too short to search for
/// inside others.
const SECRET_NAMES: [&str; 12] = [
    "auth", "creds", "hmac", "jwt", "otp", "pass", "pin", "pwd", "sas", "sid", "sig", "totp",
];

/// A name that is secret only as a whole, because inside other names it means something else.
const SECRET_WHOLE: &str = "code";

/// The maximum number of characters that are shown of a header line without a colon, because it may
/// be a bare secret.
const WORD_MAX: usize = 20;

/// Whether a header, query parameter or setting with this name contains a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    name == SECRET_WHOLE || end_of_secret_word(&name).is_some()
}

/// The end of the first word that suggests a secret, in a lower-case text.
fn end_of_secret_word(text: &str) -> Option<usize> {
    let words = SECRET_WORDS.iter();
    let inside = words.filter_map(|word| Some(text.find(word)? + word.len()));
    let mut at = 0;
    let alone = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let alone = alone.filter_map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let end = at + word.len();
        at += piece.len();
        SECRET_NAMES.contains(&word).then_some(end)
    });
    inside.chain(alone).min()
}

/// A text of the user, as an error may quote it: cut after the first word that suggests a secret,
/// and without the user information of URLs.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let is_sentence = text.contains(|c: char| c.is_whitespace() || QUOTES.contains(&c));
    let shown = match text.contains(['@', '?', ';']) {
        true if is_sentence => urls_masked(text),
        true => url(text),
        false => text.to_owned(),
    };
    match end_of_secret_word(&shown.to_ascii_lowercase()) {
        Some(end) if end < shown.len() => format!("{}…", &shown[..end]),
        _ => shown,
    }
}

/// Characters that end a URL within a text, in addition to white space.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// A text of several words, in which words are masked that are URLs or may be URLs without a
/// scheme. An `@` alone is not enough.
fn urls_masked(text: &str) -> String {
    let words = text.split_inclusive(|c: char| c.is_whitespace() || QUOTES.contains(&c));
    let word = |word: &str| {
        let user = word.rsplit_once('@').map(|(user, _)| user);
        let has_password = user.is_some_and(|user| user.contains(':'));
        match has_password || word.contains("://") || word.contains(['?', ';']) {
            true => url(word),
            false => word.to_owned(),
        }
    };
    words.map(word).collect()
}

/// A line of the user, with a star for each character of a possible secret: the text after the
/// first word that suggests one, and the user information of URLs. Names stay, including those
/// inside `{{ }}` and `${ }`. The number of characters stays too, so that a mark below the line
/// keeps its position.
#[must_use]
pub fn starred(line: &str) -> String {
    let spans = placeholders(line);
    let is_placeholder = |at: usize| spans.iter().any(|span| span.contains(&at));
    let bare: String = line
        .char_indices()
        .map(|(at, c)| match is_placeholder(at) {
            true => " ".repeat(c.len_utf8()),
            false => c.to_string(),
        })
        .collect();
    let bare = bare.to_ascii_lowercase();
    let code = ["?code=", "&code="];
    let code = code
        .iter()
        .filter_map(|word| Some(bare.find(word)? + word.len()));
    let hidden_from = code.chain(end_of_secret_word(&bare)).min();
    let hidden_from = hidden_from.unwrap_or(line.len());
    let users: Vec<Range<usize>> = bare
        .match_indices('@')
        .map(|(at, _)| {
            let before = bare[..at].rfind(|c: char| c.is_whitespace() || "\"'/,".contains(c));
            before.map_or(0, |before| before + 1)..at
        })
        .collect();
    let is_hidden = |at: usize| at >= hidden_from || users.iter().any(|user| user.contains(&at));
    let stays = |c: char| c.is_whitespace() || "\"'{}[],:".contains(c);
    line.char_indices()
        .map(
            |(at, c)| match is_hidden(at) && !is_placeholder(at) && !stays(c) {
                true => '*',
                false => c,
            },
        )
        .collect()
}

/// The positions of templates and references in a text.
fn placeholders(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let begins = [("{{", "}}"), ("${", "}")].into_iter();
        let begins = begins.filter_map(|(open, close)| {
            let start = from + text[from..].find(open)?;
            let length = text[start..].find(close)?;
            Some(start..start + length + close.len())
        });
        match begins.min_by_key(|span| span.start) {
            Some(span) => {
                from = span.end;
                found.push(span);
            }
            None => return found,
        }
    }
}

/// A header line without a colon, as an error may quote it: its first word.
#[must_use]
pub fn line_without_colon(line: &str) -> String {
    let shown = excerpt(line);
    let word = shown.split([' ', '\t', '=']).next().unwrap_or_default();
    // A long word is a value without its name.
    match word.chars().count() > WORD_MAX {
        true => "…".to_owned(),
        false if word.len() < shown.len() => format!("{word}…"),
        false => shown,
    }
}

/// A body as a report may quote it: the values of members and pairs with secret names are masked,
/// and so is every occurrence of `values`.
///
/// The body may be invalid or incomplete JSON.
#[must_use]
pub fn body(text: &str, values: &[&str]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(name) = next_name(rest) {
        masked.push_str(&rest[..name.value]);
        let value = &rest[name.value..];
        let end = value_end(value, name.form);
        let is_secret = end > 0 && is_secret_value(&rest[name.start..name.end], &value[..end]);
        masked.push_str(if is_secret { MASK } else { &value[..end] });
        rest = &value[end..];
    }
    masked.push_str(rest);
    echoes(&without_hidden(&masked), values)
}

/// Whether a value with this name is a secret. A number counts as secret if the name ends with the
/// secret's name, such as `pin`; names such as `sessions` or `token_count` describe counts or
/// measurements.
fn is_secret_value(name: &str, value: &str) -> bool {
    match value.trim() {
        "true" | "false" | "null" => false,
        number if number.parse::<f64>().is_ok() => {
            let name = name.to_ascii_lowercase();
            let mut words = SECRET_WORDS.iter().chain(&SECRET_NAMES);
            name == SECRET_WHOLE || words.any(|word| name.ends_with(word))
        }
        _ => is_secret(name),
    }
}

/// A text in which the values of HTML fields with secret names are masked, such as hidden fields of
/// forms, whose name is an attribute value itself.
fn without_hidden(text: &str) -> String {
    const TAGS: [&str; 2] = ["<input", "<meta"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = TAGS.iter().filter_map(|tag| rest.find(tag)).min() {
        let (before, tag) = rest.split_at(start);
        let (tag, behind) = tag.split_at(tag.find('>').unwrap_or(tag.len()));
        out.push_str(before);
        let value = attribute(tag, "value").or_else(|| attribute(tag, "content"));
        let is_hidden = attribute(tag, "name").is_some_and(|at| is_secret(&tag[at]));
        match value.filter(|_| is_hidden) {
            Some(at) => out.extend([&tag[..at.start], MASK, &tag[at.end..]]),
            None => out.push_str(tag),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The position of an attribute's value in a tag, without its quotes.
fn attribute(tag: &str, name: &str) -> Option<Range<usize>> {
    let starts = tag.match_indices(name).map(|(at, _)| at);
    let mut found = starts.filter(|at| tag[..*at].ends_with(char::is_whitespace));
    found.find_map(|at| {
        let value = tag[at + name.len()..].strip_prefix('=')?;
        let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
        let start = tag.len() - value.len() + usize::from(quote.is_some());
        let length = match quote {
            Some(quote) => tag[start..].find(quote),
            None => tag[start..].find(|c: char| c.is_whitespace() || c == '/'),
        };
        Some(start..length.map_or(tag.len(), |length| start + length))
    })
}

/// A text with every occurrence of these values masked.
#[must_use]
pub fn echoes(text: &str, values: &[&str]) -> String {
    echoed(values).fold(text.to_owned(), |text, word| text.replace(word, MASK))
}

/// Bytes that are not text, with every occurrence of these values masked; the length stays.
#[must_use]
pub fn bytes(bytes: &[u8], values: &[&str]) -> Vec<u8> {
    let mut masked = bytes.to_vec();
    for word in echoed(values).map(str::as_bytes) {
        let mut at = 0;
        while at + word.len() <= masked.len() {
            if masked[at..].starts_with(word) {
                masked[at..at + word.len()].fill(b'*');
            }
            at += 1;
        }
    }
    masked
}

/// The parts of secret values by which their echoes are recognised, without the name of a scheme.
fn echoed<'a>(values: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let words = values.iter().flat_map(|value| value.split_whitespace());
    words.filter(|word| word.len() >= ECHO_MIN)
}

/// The secrets in a text, found by comparison with the masked text. They are used to recognise the
/// secrets elsewhere. For the values of headers and cookies, the result contains their words.
#[must_use]
pub fn values(text: &str, masked: &str) -> Vec<String> {
    let mut pieces = masked.split(MASK);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for piece in pieces {
        let end = match piece.is_empty() {
            true => Some(rest.len()),
            false => rest.find(piece),
        };
        let Some(end) = end else {
            break;
        };
        found.extend(words(&rest[..end]));
        rest = &rest[end + piece.len()..];
    }
    found
}

/// The words of a secret that are long enough to search for, and the values after a name: the value
/// of a cookie, the password of a user.
fn words(secret: &str) -> Vec<String> {
    let cut = |c: char| c.is_whitespace() || [';', ',', '"'].contains(&c);
    let words = secret.split(cut);
    let with_values = words.flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        let password = word.split_once(':').map(|(_, password)| password);
        [Some(word), value, password]
    });
    let whole = std::iter::once(secret.trim());
    let words = whole.chain(with_values.flatten());
    let mut words: Vec<String> = words
        .filter(|word| word.len() >= ECHO_MIN)
        .flat_map(|word| [word.to_owned(), percent::decoded(word).into_owned()])
        .collect();
    words.sort();
    words.dedup();
    words
}

/// A name in a text, and the start of its value.
struct Named {
    start: usize,
    end: usize,
    value: usize,
    form: Form,
}

/// The notation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In quotes; the opening quote was skipped.
    Quoted,
    /// After a colon, to the end of the line.
    Line,
    /// After an equals sign.
    Pair,
}

/// The next `"name": "value"`, `"name": value` or `name=value`.
fn next_name(text: &str) -> Option<Named> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    for (at, sign) in text.match_indices([':', '=']) {
        let head = text[..at].trim_end().trim_end_matches('"');
        let start = head.bytes().rposition(|byte| !is_word(byte));
        let start = start.map_or(0, |before| before + 1);
        let after = at + sign.len();
        let blanks = text[after..].len() - text[after..].trim_start().len();
        let value = after + blanks;
        let quoted = bytes.get(value) == Some(&b'"');
        if start < head.len() && !text[after..].starts_with("//") {
            return Some(Named {
                start,
                end: head.len(),
                value: value + usize::from(quoted),
                form: match (quoted, sign) {
                    (true, _) => Form::Quoted,
                    (false, ":") => Form::Line,
                    (false, _) => Form::Pair,
                },
            });
        }
    }
    None
}

/// The end of a value.
fn value_end(value: &str, form: Form) -> usize {
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if form == Form::Quoted => at += 1,
            b'"' | b'[' | b'{' if form != Form::Quoted => return at,
            b'"' => return at,
            b'\n' | b'\r' | b',' | b'}' | b']' if form != Form::Quoted => return at,
            b'&' | b';' | b'<' | b' ' if form == Form::Pair => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// A header's value, or the mask if its name is secret.
#[must_use]
pub fn header_value<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name) { MASK } else { value }
}

/// A URL without its user information and with the values of secret query parameters masked. This
/// applies to every URL inside it, too.
///
/// The URL may be invalid: text before an `@` in the place of the authority is masked too.
#[must_use]
pub fn url(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    if !text.contains("://") {
        rest = mask_user(rest, &mut masked);
    }
    while let Some(at) = rest.find("://") {
        let (scheme, after) = rest.split_at(at + 3);
        masked.push_str(scheme);
        rest = mask_user(after, &mut masked);
    }
    masked.push_str(rest);
    // `;name=value` may occur in a path (RFC 3986 section 3.3).
    let Some(query) = masked.find(['?', '#', ';']) else {
        return masked;
    };
    let mut out = masked[..query].to_owned();
    mask_pairs(&masked[query..], &mut out);
    out
}

/// Copies the authority at the start of `text` without its user information. Returns the rest.
fn mask_user<'a>(text: &'a str, out: &mut String) -> &'a str {
    let end = text.find(['/', '?', '#', '\\']).unwrap_or(text.len());
    let (authority, tail) = text.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => out.extend([MASK, "@", host]),
        None => out.push_str(authority),
    }
    tail
}

/// Copies `;a=1/b?a=1&token=2#key=3` with the values of secret names masked. `/` and `?` end a
/// parameter of the path, but are data in a query and in a fragment (RFC 3986 section 3.4), where a
/// value may contain a URL.
fn mask_pairs(text: &str, out: &mut String) {
    const IN_PATH: [char; 5] = ['?', '&', ';', '#', '/'];
    const IN_QUERY: [char; 3] = ['&', ';', '#'];
    let (mut rest, mut is_path, mut was_secret) = (text, !text.starts_with(['?', '#']), false);
    loop {
        let separators: &[char] = if is_path { &IN_PATH } else { &IN_QUERY };
        // The first character is a separator.
        let end = rest.find(separators).unwrap_or(rest.len());
        let (pair, behind) = rest.split_at(end);
        was_secret = match pair.contains('=') {
            true => mask_pair(pair, out),
            // `a;b` after a secret's name is one value.
            false if was_secret && !is_path && out.ends_with(';') => {
                out.push_str(if pair.is_empty() { "" } else { MASK });
                true
            }
            false => {
                out.push_str(pair);
                false
            }
        };
        let mut behind = behind.chars();
        match behind.next() {
            None => return,
            Some(separator) => {
                out.push(separator);
                is_path &= !['?', '#'].contains(&separator);
            }
        }
        rest = behind.as_str();
    }
}

/// Copies `name=value`, whose value may contain a URL with further parameters. Returns whether the
/// value is masked.
fn mask_pair(pair: &str, out: &mut String) -> bool {
    let Some((name, value)) = pair.split_once('=') else {
        out.push_str(pair);
        return false;
    };
    out.extend([name, "="]);
    // A name is secret in any encoding: `%74oken` is `token`.
    if is_secret(&percent::decoded(name)) {
        out.push_str(if value.is_empty() { "" } else { MASK });
        return true;
    }
    match value.split_once('?') {
        None => out.push_str(value),
        Some((before, query)) => {
            out.extend([before, "?"]);
            mask_pair(query, out);
        }
    }
    false
}

/// A value of the lowered plan. It is masked if its key is secret, or if it is a `Name: value`
/// header with a secret name; secrets inside URLs are masked as well.
#[must_use]
pub fn setting(key: &str, value: &str) -> String {
    if is_secret(key) {
        return MASK.to_owned();
    }
    if let Some((name, _)) = value.split_once(':')
        && is_header_name(name)
        && is_secret(name)
    {
        return format!("{name}: {MASK}");
    }
    let words = value.split(' ').map(|word| {
        if word.contains("://") || word.contains('?') || word.contains('@') {
            url(word)
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a text is a valid header name (RFC 9110 section 5.1).
fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_starred_line_keeps_its_names_and_its_length() {
        for (line, starred_line) in [
            (
                "get: \"/?t={{ token }}&x={{ y\"",
                "get: \"/?t={{ token }}&x={{ y\"",
            ),
            (
                "get: /?token=CANARY&x={{ y }}",
                "get: /?token**********{{ y }}",
            ),
            ("{ X-Token: \"CANARY {{\" }", "{ X-Token: \"****** {{\" }"),
            ("to: http://me:CANARY@h/x", "to: http://**:******@h/x"),
            ("a: ${secret:env:SEC} b", "a: ${secret:env:SEC} b"),
            ("a: /?code=CANARY", "a: /?code=******"),
            ("Bearer CANARY", "Bearer ******"),
        ] {
            assert_eq!(starred(line), starred_line);
            assert_eq!(starred(line).chars().count(), line.chars().count());
        }
    }

    #[test]
    fn bytes_keep_their_secrets() {
        let values = ["Bearer abcdefgh"];
        assert_eq!(
            bytes(b"\xffabcdefgh\x00abc", &values),
            b"\xff********\x00abc"
        );
        assert_eq!(bytes(b"Bearer", &values), b"Bearer");
    }

    #[test]
    fn bodies_keep_their_secrets() {
        for (text, masked) in [
            (
                r#"{"user": "ada", "token": "a\"bc", "n": 1}"#,
                r#"{"user": "ada", "token": "***", "n": 1}"#,
            ),
            (
                r#"{"pin":1234,"a":{"password":"x"}}"#,
                r#"{"pin":***,"a":{"password":"***"}}"#,
            ),
            ("user=a&password=b%26&c=d", "user=a&password=***&c=d"),
            ("cookie: a=b; c=d\nhost: x", "cookie: ***\nhost: x"),
            ("authorization: Bearer abc", "authorization: ***"),
            (
                "see http://x/?a=b and \u{e4}: no",
                "see http://x/?a=b and \u{e4}: no",
            ),
            (r#"{"token":["x"]}"#, r#"{"token":["x"]}"#),
            (
                r#"{"sessions": 382, "session_timeout":30,"has_token": true, "key": null}"#,
                r#"{"sessions": 382, "session_timeout":30,"has_token": true, "key": null}"#,
            ),
            (
                r#"{"session": 382, "userPin":1234, "api_key": 12}"#,
                r#"{"session": ***, "userPin":***, "api_key": ***}"#,
            ),
            ("tokens=5&token=5", "tokens=5&token=***"),
            (
                r#"<input name="csrf" value="a&quot;b"><input value='c' type=hidden name='token'>"#,
                r#"<input name="csrf" value="***"><input value='***' type=hidden name='token'>"#,
            ),
            (
                "<meta name=csrf-token content=abc><p name=\"x\" value=\"y\">",
                "<meta name=csrf-token content=***><p name=\"x\" value=\"y\">",
            ),
            (r#"{"token": "cut of"#, r#"{"token": "***"#),
            ("echo: Bearer abcdefgh!", "echo: Bearer ***!"),
        ] {
            assert_eq!(body(text, &["Bearer abcdefgh"]), masked, "{text}");
        }
    }

    #[test]
    fn knows_secret_names() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-Auth-Token",
            "x-api-key",
            "APIKEY",
            "client_secret",
            "password",
            "user_password",
            "sig",
            "X-Auth",
            "x-auth-user",
            "otp",
            "my.pin",
            "code",
            "oauth_verifier",
            "Passphrase",
            "X-XSRF",
            "SAMLResponse",
        ] {
            assert!(is_secret(name), "{name}");
            assert_eq!(header_value(name, "CANARY"), MASK);
        }
        for name in [
            "Accept",
            "Host",
            "Keep-Alive",
            "Content-Type",
            "page",
            "author",
            "Authority",
            "spin",
            "zip_code",
            "passage",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert_eq!(header_value("Accept", "*/*"), "*/*");
    }

    #[test]
    fn masks_urls() {
        for (raw, shown) in [
            ("http://h/p?a=1", "http://h/p?a=1"),
            ("https://me:CANARY@h:1/p", "https://***@h:1/p"),
            ("https://a@CANARY@h/", "https://***@h/"),
            ("http://h/?token=CANARY&b=2", "http://h/?token=***&b=2"),
            (
                "http://h/?a=1;API_KEY=CANARY#frag",
                "http://h/?a=1;API_KEY=***#frag",
            ),
            (
                "http://h/#access_token=CANARY",
                "http://h/#access_token=***",
            ),
            ("http://h/?%74oken=CANARY", "http://h/?%74oken=***"),
            ("http://h?password=CANARY", "http://h?password=***"),
            ("me:CANARY@h/p", "***@h/p"),
            ("http://a/,http://u:CANARY@h/", "http://a/,http://***@h/"),
            (
                "http://h/?next=http://u:CANARY@i/",
                "http://h/?next=http://***@i/",
            ),
            (
                "http://u:CANARY@h?sig=CANARY#http://CANARY@i",
                "http://***@h?sig=***#http://***@i",
            ),
            ("/p?secret=CANARY", "/p?secret=***"),
            ("http://h/p?x=a@b", "http://h/p?x=a@b"),
            (
                "http://h/a;jsessionid=CANARY/b?c",
                "http://h/a;jsessionid=***/b?c",
            ),
            ("http://h/?key=", "http://h/?key="),
            ("http://h/?key=CANARY=x", "http://h/?key=***"),
            ("", ""),
        ] {
            assert_eq!(url(raw), shown);
        }
    }

    #[test]
    fn errors_quote_no_secret() {
        for (text, shown) in [
            ("GET", "GET"),
            ("Authorization Bearer CANARY", "Authorization…"),
            ("Bearer CANARY", "Bearer…"),
            (
                "{\"a\": 1, \"password\":\"CANARY\"",
                "{\"a\": 1, \"password…",
            ),
            ("pass=CANARY&a", "pass…"),
            ("é pin: CANARY", "é pin…"),
            ("/?token={{ CANARY", "/?token…"),
            ("http://me:CANARY@h /?a", "http://***@h /?a"),
            ("http://h\u{1}/?token=CANARY", "http://h\u{1}/?token…"),
            ("me:CANARY@h", "***@h"),
            ("to me:CANARY@h now", "to ***@h now"),
            (
                "{\"u\":\"http://me:CANARY@h/\"}",
                "{\"u\":\"http://***@h/\"}",
            ),
            (
                "{\"s\":5,\"m\":\"mail me@x.org\"}",
                "{\"s\":5,\"m\":\"mail me@x.org\"}",
            ),
            ("{\"@type\": \"a.B\"}", "{\"@type\": \"a.B\"}"),
            ("token", "token"),
        ] {
            assert_eq!(excerpt(text), shown);
        }
    }

    #[test]
    fn a_line_without_a_colon_may_be_a_bare_secret() {
        for (line, shown) in [
            ("Authorization Bearer CANARY", "Authorization…"),
            ("Cookie=CANARY", "Cookie…"),
            ("X-Other CANARY", "X-Other…"),
            ("Basic=CANARY", "Basic…"),
            ("eyJhbGciOiJIUzI1NiJ9CANARY", "…"),
            ("Accept", "Accept"),
        ] {
            assert_eq!(line_without_colon(line), shown);
        }
    }

    #[test]
    fn masks_settings() {
        for (key, value, shown) in [
            (
                "header",
                "Authorization: Bearer CANARY",
                "Authorization: ***",
            ),
            ("header", "x-api-key:CANARY", "x-api-key: ***"),
            ("header", "Accept: text/html", "Accept: text/html"),
            ("password", "CANARY", "***"),
            (
                "request",
                "GET http://u:CANARY@h/?token=CANARY",
                "GET http://***@h/?token=***",
            ),
            ("rate", "const(100,5m)", "const(100,5m)"),
        ] {
            assert_eq!(setting(key, value), shown);
        }
    }

    proptest! {
        #[test]
        fn no_user_information_survives(
            user in "[a-z:%@]{0,12}", host in "[a-z.]{1,9}", path in "(/[a-z]{0,5}){0,2}",
        ) {
            let shown = url(&format!("http://{user}CANARY@{host}{path}"));
            prop_assert_eq!(shown, format!("http://***@{host}{path}"));
        }

        #[test]
        fn any_text_is_taken(text in ".*") {
            let _taken = excerpt(&text);
            let shown = url(&text);
            prop_assert!(shown.len() <= text.len() + 3 * (text.len() + 1));
        }
    }
}
