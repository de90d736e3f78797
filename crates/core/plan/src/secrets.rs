//! Masks the secrets of a plan in all output.
//!
//! Names that suggest secrets are masked when a report is made ([`crate::secret`]). The secrets
//! here are recognised by their values, so they are found anywhere: in a message that a server sent
//! back, in a body, in an error.
//!
//! A value may be encoded in many ways: percent-encoded in a URL, escaped in JSON or HTML, doubled
//! in CSV, in base64 or hexadecimal as a part of something longer, or cut in its middle. Two
//! searches cover this. [`masked_spellings`] walks the text and accepts any encoding of each
//! character of a secret, so that mixtures are found. [`Secrets::new`] lists the encodings that do
//! not work per character (base64, digits), and the usual ones, whose beginnings are searched for
//! before a cut.
//!
//! Each output text is searched for each spelling, which is why masking is applied to outputs and
//! never on the data plane. A text without a secret is not copied.
//!
//! [`Secrets::masked`] is for plain text. Outputs with a format have a method that preserves it:
//! JSON, HTML, XML and histogram logs are masked only inside their texts and values, so that a
//! secret such as `id` cannot break a key, a tag or a payload. The session calls one of these
//! methods on each output before it is written; reports do not mask by value themselves.

use crate::secret::MASK;
use crate::{is_dangerous, percent, push_escape};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::borrow::Cow;
use std::collections::HashSet;

/// The minimum length, in bytes, of a line of a secret, and of some of its spellings, that is
/// searched for; shorter ones would mask ordinary words.
const PART_MIN: usize = 8;
/// The minimum length of a secret's beginning that is masked before the mark of a cut.
const CUT_MIN: usize = 4;
/// The beginning of a JSON block in a page; other scripts are programs.
const JSON_BLOCK: &str = "<script type=\"application/json\"";
/// The beginning of a long name in a page, which is cut in its middle: its title has the whole name,
/// and the two texts in it are the pieces.
const CUT_NAME: &str = "<span class=\"name\" title=\"";
/// The end of such a name.
const CUT_NAME_END: &str = "</span></span>";
/// The length, in characters, of the pieces of a secret that [`Secrets::masked_closely`] masks.
const PIECE: usize = 4;
/// The marks at the place where a text was cut.
const CUTS: [&str; 3] = ["…", "...", "~"];

/// Texts that no output may contain.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Every secret and its long lines, longest first.
    parts: Vec<String>,
    /// Every spelling of every secret, longest first.
    spellings: Vec<String>,
}

impl Secrets {
    /// The secrets with these values, in every encoding that an output may use. Empty values are
    /// ignored.
    #[must_use]
    pub fn new(values: &[String]) -> Self {
        let parts: Vec<String> = values.iter().flat_map(|value| parts(value)).collect();
        let spellings = parts.iter().flat_map(|part| spellings(part)).collect();
        Self {
            parts: longest_first(parts),
            spellings: longest_first(spellings),
        }
    }

    /// Whether there are no secrets, so that nothing needs to be masked.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// The text with [`MASK`] replacing every secret; borrowed if the text contains none.
    ///
    /// There are three passes: spellings character by character, whole spellings, and beginnings
    /// before the mark of a cut. Each pass masks longer secrets first, so that no part of a longer
    /// one remains.
    #[must_use]
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for part in &self.parts {
            if let Some(masked) = masked_spellings(part, &out) {
                out = Cow::Owned(masked);
            }
        }
        for secret in &self.spellings {
            if out.contains(secret.as_str()) {
                out = Cow::Owned(out.replace(secret.as_str(), MASK));
            }
        }
        for cut in CUTS {
            if !self.is_empty() && out.contains(cut) {
                out = Cow::Owned(self.masked_before(cut, &out));
            }
        }
        out
    }

    /// The text with [`MASK`] replacing every secret and every piece of one, ignoring case: for
    /// messages about mistakes in a plan, which may quote any part of a value. Ordinary words that
    /// are pieces of a secret are masked, too.
    #[must_use]
    pub fn masked_closely(&self, text: &str) -> String {
        let parts = self.parts.iter();
        let of_secrets: HashSet<Piece> = parts.flat_map(|part| pieces(part)).collect();
        let masked = self.masked(text);
        let mut is_secret = vec![false; masked.chars().count()];
        for (at, piece) in pieces(&masked).enumerate() {
            if of_secrets.contains(&piece) {
                is_secret[at..at + PIECE].fill(true);
            }
        }
        let mut out = String::with_capacity(masked.len());
        let mut was_secret = false;
        for (letter, is_secret) in masked.chars().zip(is_secret) {
            match (was_secret, is_secret) {
                (false, true) => out.push_str(MASK),
                (true, true) => {}
                (_, false) => out.push(letter),
            }
            was_secret = is_secret;
        }
        out
    }

    /// The text with [`MASK`] replacing the beginnings of secrets before a cut. If a text was cut
    /// in the middle of a secret, a search for the whole secret does not find its first half.
    fn masked_before(&self, cut: &str, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(cut) {
            let before = &rest[..at];
            let begun = self
                .spellings
                .iter()
                .filter_map(|secret| begun(secret, before));
            match begun.max() {
                Some(length) => out.extend([&before[..before.len() - length], MASK, cut]),
                None => out.extend([before, cut]),
            }
            rest = &rest[at + cut.len()..];
        }
        out.push_str(rest);
        out
    }

    /// JSON with [`MASK`] replacing every secret in strings that are values. Keys, numbers and the
    /// payloads of histograms stay, so that the result is JSON of the same structure.
    #[must_use]
    pub fn masked_json(&self, json: &str) -> String {
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(at) = rest.find('"') {
            out.push_str(&rest[..=at]);
            let inside = &rest[at + 1..];
            let end = end_of_string(inside);
            let (text, behind) = inside.split_at(end);
            let is_key = behind
                .get(1..)
                .is_some_and(|rest| rest.trim_start().starts_with(':'));
            match is_key || is_payload(json, json.len() - rest.len() + at, text) {
                true => out.push_str(text),
                false => out.push_str(&self.masked(text)),
            }
            rest = behind;
            if rest.starts_with('"') {
                out.push('"');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }

    /// An HTML page with [`MASK`] replacing every secret in its texts. Tags, style sheets and
    /// programs stay, because they are ours. Texts contain no `<`, because it is escaped in them. A
    /// JSON block stays JSON of the same structure.
    #[must_use]
    pub fn masked_markup(&self, html: &str) -> String {
        let html = self.with_masked_names(html);
        self.masked_around(&html, |out, markup| {
            match markup.starts_with(JSON_BLOCK).then(|| markup.find('>')) {
                Some(Some(end)) => {
                    let (tag, json) = markup.split_at(end);
                    out.extend([tag, &*self.masked_json(json)]);
                }
                _ => out.push_str(markup),
            }
        })
    }

    /// A page whose cut names have no secret in their titles, and no part of a secret in one of their
    /// pieces.
    fn with_masked_names(&self, html: &str) -> String {
        let mut out = String::with_capacity(html.len());
        let mut parts = html.split(CUT_NAME);
        out.extend(parts.next());
        for part in parts {
            out.push_str(CUT_NAME);
            let (title, pieces) = part.split_once('"').unwrap_or((part, ""));
            let masked = self.masked(title);
            match pieces.split_once(CUT_NAME_END) {
                Some((_, behind)) if masked != title => {
                    out.extend([&*masked, "\"><span>", &masked, "</span><span>"]);
                    out.extend([CUT_NAME_END, behind]);
                }
                _ => out.push_str(part),
            }
        }
        out
    }

    /// XML with [`MASK`] replacing every secret in its texts and in the values of its attributes,
    /// in which every `<` and `>` is escaped. Names of elements and attributes stay.
    #[must_use]
    pub fn masked_xml(&self, xml: &str) -> String {
        self.masked_around(xml, |out, markup| {
            for (number, piece) in markup.split('"').enumerate() {
                match number % 2 {
                    0 if number == 0 => out.push_str(piece),
                    0 => out.extend(["\"", piece]),
                    _ => out.extend(["\"", &*self.masked(piece)]),
                }
            }
        })
    }

    /// A log of rows of numbers, the last of which is a payload, with [`MASK`] replacing every
    /// secret before the payload, and in lines without one.
    #[must_use]
    pub fn masked_log(&self, log: &str) -> String {
        let mut out = String::with_capacity(log.len());
        for line in log.split_inclusive('\n') {
            let payload = line.rfind(',').filter(|_| !line.starts_with('#'));
            let (before, payload) = line.split_at(payload.unwrap_or(line.len()));
            out.extend([&*self.masked(before), payload]);
        }
        out
    }

    /// Masks the texts between pieces of markup, which `markup` appends.
    fn masked_around(&self, text: &str, markup: impl Fn(&mut String, &str)) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            let (text, tag) = rest.split_at(at);
            out.push_str(&self.masked(text));
            let (tag, behind) = tag.split_at(end_of_markup(tag));
            markup(&mut out, tag);
            rest = behind;
        }
        out.push_str(&self.masked(rest));
        out
    }
}

/// A piece of a secret, in lower case.
type Piece = [char; PIECE];

/// The pieces of a text, each starting one letter later.
fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    let letters: Vec<char> = text.chars().map(|it| it.to_ascii_lowercase()).collect();
    let count = (letters.len() + 1).saturating_sub(PIECE);
    (0..count).map(move |at| std::array::from_fn(|n| letters[at + n]))
}

/// Whether the JSON string at this position is the payload of a histogram: the value of a
/// histogram's key, in base64.
fn is_payload(json: &str, at: usize, text: &str) -> bool {
    const KEY: &str = "\"histogram\"";
    let is_of_histogram = || {
        let before = json[..at].trim_end().strip_suffix(':');
        before.is_some_and(|before| before.trim_end().ends_with(KEY))
    };
    // Payloads begin with this cookie, in base64; texts of others do not.
    text.starts_with("HISTFAAA") && is_of_histogram()
}

/// The length of the markup at the beginning of an HTML text: a tag, and for a style sheet or a
/// script its whole content.
fn end_of_markup(text: &str) -> usize {
    let whole = [("<style>", "</style>"), ("<script", "</script>")];
    let whole = whole.iter().find(|(begin, _)| text.starts_with(begin));
    let end = match whole {
        Some((_, end)) => text.find(end),
        None => text.find('>').map(|at| at + 1),
    };
    end.unwrap_or(text.len())
}

/// The text with [`MASK`] replacing a secret, each of whose characters may be encoded in any way;
/// `None` if the secret does not occur.
///
/// A byte at which no encoding of the first character can start is skipped immediately.
fn masked_spellings(secret: &str, text: &str) -> Option<String> {
    let mut out = None;
    let (mut copied, mut at) = (0, 0);
    let first = secret.bytes().next()?;
    while at < text.len() {
        let byte = text.as_bytes()[at];
        let may_begin = byte.eq_ignore_ascii_case(&first) || b"%+\\&".contains(&byte);
        let length = may_begin.then(|| spelled(secret, &text[at..])).flatten();
        let Some(length) = length else {
            at += 1;
            continue;
        };
        let out: &mut String = out.get_or_insert_default();
        out.extend([&text[copied..at], MASK]);
        at += length;
        copied = at;
    }
    out.map(|out| out + &text[copied..])
}

/// The number of bytes at the beginning of a text that encode a secret, each character in any way;
/// the longest of several.
///
/// A character may have several encodings of different lengths at one position, so all possible
/// ends are tracked together instead of one after the other: hostile text cannot make the search
/// exponential.
fn spelled(secret: &str, text: &str) -> Option<usize> {
    let mut ends = vec![0];
    for c in secret.chars() {
        let mut next: Vec<usize> = Vec::new();
        for at in ends {
            for length in spellings_of(c, &text[at..]).into_iter().flatten() {
                if !next.contains(&(at + length)) {
                    next.push(at + length);
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        ends = next;
    }
    ends.into_iter().max()
}

/// The lengths of the encodings of a character with which a text begins: unchanged, an ASCII letter
/// also in the other case, `+` for a space, `""` for a quote in CSV, percent-encoded, escaped as in
/// JSON, or as in HTML.
fn spellings_of(c: char, text: &str) -> [Option<usize>; 6] {
    let next = text.chars().next();
    let as_it_is = next.filter(|next| next.eq_ignore_ascii_case(&c));
    let as_plus = (c == ' ' && next == Some('+')).then_some(1);
    let as_two = (c == '"' && text.starts_with("\"\"")).then_some(2);
    [
        as_it_is.map(char::len_utf8),
        as_plus,
        as_two,
        escape(c, text),
        json_escape(c, text),
        html_escape(c, text),
    ]
}

/// The length of a percent-encoded character, such as `%C3%A4`.
fn escape(c: char, text: &str) -> Option<usize> {
    let mut rest = text;
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        rest = rest.strip_prefix('%')?;
        rest = hexadecimal(rest, 2, byte.into())?;
    }
    Some(text.len() - rest.len())
}

/// The length of a character that is escaped in JSON, such as `\u00e4` or `\n`, once or several
/// times.
fn json_escape(c: char, text: &str) -> Option<usize> {
    // In a string that was escaped again, each backslash becomes two, or four.
    let again = match c {
        '\\' => 0,
        _ => text
            .bytes()
            .take_while(|byte| *byte == b'\\')
            .count()
            .min(8)
            .saturating_sub(1),
    };
    let once = json_escape_once(c, &text[again..])?;
    Some(again + once)
}

/// The length of an escape in JSON, in a text that was escaped once.
fn json_escape_once(c: char, text: &str) -> Option<usize> {
    const SHORT: [(char, char); 5] = [
        ('n', '\n'),
        ('r', '\r'),
        ('t', '\t'),
        ('b', '\u{8}'),
        ('f', '\u{c}'),
    ];
    let escaped = text.strip_prefix('\\')?.chars().next()?;
    let short = SHORT.iter().find(|(short, _)| *short == escaped);
    match (escaped, short) {
        ('"' | '\\' | '/', _) => (c == escaped).then_some(2),
        (_, Some((_, meant))) => (c == *meant).then_some(2),
        _ => {
            let mut rest = text;
            for unit in c.encode_utf16(&mut [0; 2]) {
                rest = hexadecimal(rest.strip_prefix("\\u")?, 4, u32::from(*unit))?;
            }
            Some(text.len() - rest.len())
        }
    }
}

/// The length of an HTML character reference, such as `&#228;`, `&#xE4;` or `&amp;`.
fn html_escape(c: char, text: &str) -> Option<usize> {
    const NAMED: [(&str, char); 5] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
    ];
    // The longest is `&#x0010FFFF;`.
    let (name, _) = text.strip_prefix('&')?.split_once(';')?;
    let code = match name.strip_prefix('#') {
        None => NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, c)| *c),
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
        .and_then(char::from_u32),
    };
    (code == Some(c)).then_some(name.len() + 2)
}

/// The rest of a text after `digits` hexadecimal digits with this value; `None` if the digits
/// differ.
fn hexadecimal(text: &str, digits: usize, value: u32) -> Option<&str> {
    let (number, rest) = text.split_at_checked(digits)?;
    (u32::from_str_radix(number, 16) == Ok(value)).then_some(rest)
}

/// The length of the longest beginning of a secret, at least [`CUT_MIN`], with which a text ends.
fn begun(secret: &str, text: &str) -> Option<usize> {
    let ends = secret.char_indices().map(|(at, _)| at);
    ends.filter(|at| *at >= CUT_MIN && text.ends_with(&secret[..*at]))
        .max()
}

/// The end of a JSON string whose content begins here: the index of its quote, or the text's
/// length.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The non-empty texts, without duplicates, longest first: a secret that contains another must be
/// masked as a whole.
fn longest_first(mut texts: Vec<String>) -> Vec<String> {
    texts.retain(|text| !text.is_empty());
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    texts.dedup();
    texts
}

/// A secret and its lines, each unchanged and escaped once, because an escaped text may be escaped
/// again: JSON within JSON, or in base64. Also includes each text as produced by a server that
/// reads UTF-8 as Latin-1.
fn parts(secret: &str) -> Vec<String> {
    let lines = secret.lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= PART_MIN);
    let all = std::iter::once(secret).chain(lines);
    let latin = |text: &str| -> String { text.bytes().map(char::from).collect() };
    let spelled = |text| {
        [
            str::to_owned(text),
            latin(text),
            json_escaped(text),
            percent_encoded(text, "%20"),
        ]
    };
    all.flat_map(spelled).collect()
}

/// The text as written inside a JSON string.
fn json_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// The text as reports print it: with escapes instead of characters that act on a terminal.
fn terminal_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_dangerous(c) {
            true => push_escape(&mut out, c),
            false => out.push(c),
        }
    }
    out
}

/// The usual encodings of a text, whose beginning a cut may leave, and encodings that do not work
/// per character: unchanged, JSON, URLs, base64, hexadecimal digits and our own escapes.
fn spellings(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned(), json_escaped(text)];
    all.push(terminal_escaped(text));
    all.extend([percent_encoded(text, "%20"), percent_encoded(text, "+")]);
    all.extend(base64_cores(text));
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    if digits.len() >= PART_MIN {
        all.extend([digits.to_ascii_uppercase(), digits]);
    }
    all
}

/// The text as encoded in a query, with `space` for a space.
fn percent_encoded(text: &str, space: &str) -> String {
    percent::encoded(text).replace("%20", space)
}

/// The base64 characters that depend only on the text, at any position among other bytes:
/// `user:TOKEN` of basic authentication contains them.
fn base64_cores(text: &str) -> Vec<String> {
    let mut cores = Vec::new();
    for before in 0..3_usize {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(text.as_bytes());
        let (first, bits) = ((before * 8).div_ceil(6), bytes.len() * 8);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            let core = encoded.get(first..bits / 6).unwrap_or_default();
            if core.len() >= PART_MIN {
                cores.push(core.to_owned());
            }
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::Secrets;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn secrets(values: &[&str]) -> Secrets {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Secrets::new(&values)
    }

    #[test]
    fn a_secret_is_found_however_it_is_spelled() {
        let secrets = secrets(&[
            "C\"n y/CANARY",
            "-----BEGIN\nCANARYline1\nCANARYline2\n-----END",
        ]);
        let basic = STANDARD.encode("me:C\"n y/CANARY;and more");
        let in_json = STANDARD.encode(r#"{"k":"C\"n y/CANARY"}"#);
        for text in [
            "Bearer C\"n y/CANARY",
            "/?q=C%22n%20y%2FCANARY&b",
            "q=C%22n+y%2FCANARY",
            r#"{"a":"C\"n y/CANARY"}"#,
            "key: CANARYline2",
            "C\"n y/CAN… and more",
            "C\"n y~",
            "C\"n y/CANAR...",
            "/path/C%22n%20y/CANARY",
            "q=C%22n+y%2fCANARY",
            "C&quot;n y/CANARY",
            "C&#34;n&#x20;y&#x2F;CANARY",
            r#"{"a":"C\u0022n y\/CANARY"}"#,
            "%43%22n%20y/C%41NARY",
            r#"{"a":"{\"b\":\"C\\\"n y/CANARY\"}"}"#,
            "next=%2Fp%3Fq%3DC%2522n%2520y%252FCANARY",
            in_json.as_str(),
            basic.as_str(),
            "\"step(C\"\"n y/CANARY)\",1",
            "c\"N Y/CaNaRy",
            "C%22N+Y%2FCANARY",
            "43226e20792f43414e415259",
            "43226E20792F43414E415259",
        ] {
            let masked = secrets.masked(text);
            assert!(masked.contains("***"), "{text}: {masked}");
            assert!(
                !masked.contains("CAN") && !masked.contains("NARY") && masked != text,
                "{text}: {masked}"
            );
        }
        assert_eq!(secrets.masked("nothing… here"), "nothing… here");
    }

    /// The character of an escape may belong to the secret itself.
    #[test]
    fn secrets_that_look_like_escapes_are_found() {
        let secrets = secrets(&["a%25b&amp;c\\\\d", "%%%%%%%%%%%%%%%%", "\u{e4}\u{1f600}xy"]);
        for text in [
            "a%25b&amp;c\\\\d",
            "a%2525b%26amp;c%5c%5Cd",
            "%%%%%%%%%%%%%%%%",
            "%25%%25%%25%%25%%25%%25%%25%%25%",
            "\\u00e4\\uD83D\\ude00xy",
            "%C3%A4%F0%9F%98%80xy",
            "&#228;&#x1F600;xy",
            "\u{c3}\u{a4}\u{f0}\u{9f}\u{98}\u{80}XY",
            "\\u00c3\\u00a4\\u00f0\\u009f\\u0098\\u0080xy",
        ] {
            assert_eq!(secrets.masked(text), "***", "{text}");
        }
        for text in ["a%25b&amp;c", "%", "\\u00e", "&#", "100%", "%%%%%%%%"] {
            assert_eq!(secrets.masked(text), text);
        }
    }

    #[test]
    fn xml_and_logs_keep_their_form() {
        let secrets = secrets(&["HISTFAAA", "testcase", "a&b>c"]);
        let xml = "<testcase name=\"a&amp;b&gt;c\" time=\"0.1\"/>testcase<testcase>a&amp;b&gt;c</testcase>";
        assert_eq!(
            secrets.masked_xml(xml),
            "<testcase name=\"***\" time=\"0.1\"/>***<testcase>***</testcase>"
        );
        let log = "#[a, testcase]\nTag=step:testcase,0.000,1.000,2.000,HISTFAAA\nTag=a%26b%3Ec,0.0";
        assert_eq!(
            secrets.masked_log(log),
            "#[a, ***]\nTag=step:***,0.000,1.000,2.000,HISTFAAA\nTag=***,0.0"
        );
    }

    /// A secret that occurs in a payload by chance does not damage the payload, and is masked
    /// elsewhere.
    #[test]
    fn payloads_of_histograms_stay() {
        let secrets = secrets(&["AAAA"]);
        for (json, masked) in [
            (
                r#"{"histogram": "HISTFAAAAB9AAAA=", "a": "AAAA"}"#,
                r#"{"histogram": "HISTFAAAAB9AAAA=", "a": "***"}"#,
            ),
            (r#"{"histogram":"AAAA"}"#, r#"{"histogram":"***"}"#),
            (
                r#"{"body":"{\"histogram\":\"HISTFAAAAB9\"}"}"#,
                r#"{"body":"{\"histogram\":\"HISTF***B9\"}"}"#,
            ),
            (r#"["HISTFAAAAB9"]"#, r#"["HISTF***B9"]"#),
        ] {
            assert_eq!(secrets.masked_json(json), masked);
        }
    }

    #[test]
    fn json_keeps_its_form() {
        let secrets = secrets(&["sent", "true", "a\\b"]);
        let json = r#"{"sent": 5, "x": ["I sent \"sent\"", true], "y":{"true":"a\\b"}, "z": ""}"#;
        let masked = secrets.masked_json(json);
        // A JSON body that an error quotes is escaped twice.
        let twice = secrets.masked_json(r#"{"detail": "body is {\"a\": \"a\\\\b\"}"}"#);
        assert_eq!(twice, r#"{"detail": "body is {\"a\": \"***\"}"}"#);
        assert_eq!(
            masked,
            r#"{"sent": 5, "x": ["I *** \"***\"", true], "y":{"true":"***"}, "z": ""}"#
        );
    }
}
