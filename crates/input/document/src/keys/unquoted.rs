//! Finds a value in a line of a plan that YAML can't parse without quotes.
//!
//! Within `{ }` and `[ ]` a plain value ends at the first of `{}[],`, anywhere it ends at `: ` and
//! at ` #`, and some characters can't begin one. Paths, selectors, expressions and templates
//! contain all of these. In a line that is not YAML, this module finds such a value up to its
//! intended end: brackets that open in the value close in it.

use drumfire_plan::secret;
use std::fmt;

/// The maximum length of a shown value, in characters.
const SHOWN_MAX: usize = 80;

/// The first such value of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unquoted {
    /// The value in the required quotes; `None` if it is long or may be a secret.
    quoted: Option<String>,
    cause: Cause,
}

/// The text that a plain value can't contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A character at the beginning.
    Begins(char),
    /// A bracket or a comma, within a collection.
    Within(char),
    /// `: `, after which another value would begin.
    Colon,
    /// ` #`, which begins a comment.
    Comment,
    /// More text after the closing quote or bracket.
    GoesOn(char),
}

impl Unquoted {
    /// Finds the value, if the line has one. `depth` is the number of open collections at the start
    /// of the line.
    pub(super) fn find(line: &str, depth: usize) -> Option<Self> {
        let chars: Vec<char> = line.chars().collect();
        let mut scan = Scan {
            chars: &chars,
            at: 0,
            depth,
        };
        let (start, end, cause) = scan.first()?;
        let text: String = chars[start..end].iter().collect();
        let starred: Vec<char> = secret::starred(line).chars().collect();
        let is_shown = end - start <= SHOWN_MAX
            && !text.contains(char::is_control)
            && starred.get(start..end) == chars.get(start..end);
        Some(Self {
            quoted: is_shown.then(|| quoted(&text)),
            cause,
        })
    }
}

/// A text in the kind of quotes that requires the fewest escapes.
fn quoted(text: &str) -> String {
    match text.contains('\'') && !text.contains(['"', '\\']) {
        true => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

impl fmt::Display for Unquoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::Begins(c) => write!(f, "quote a value that begins with `{c}`"),
            Cause::Within(c) => {
                write!(
                    f,
                    "within `{{ }}` or `[ ]`, quote a value that contains `{c}`"
                )
            }
            Cause::Colon => write!(f, "quote a value that contains `: `"),
            Cause::Comment => {
                write!(f, "` #` begins a comment; quote a value that contains it")
            }
            Cause::GoesOn(c) => {
                write!(f, "if a value continues after `{c}`, quote the whole value")
            }
        }?;
        match &self.quoted {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

/// A scanner over the tokens of a line.
struct Scan<'a> {
    chars: &'a [char],
    at: usize,
    /// The number of open collections.
    depth: usize,
}

impl Scan<'_> {
    /// The beginning and the end of the first value that needs quotes, and the cause.
    fn first(&mut self) -> Option<(usize, usize, Cause)> {
        let mut is_value = false;
        loop {
            self.at = self.skip_blanks(self.at);
            let start = self.at;
            match *self.chars.get(start)? {
                '#' => return None,
                '-' if self.depth == 0 && self.is_blank(start + 1) => self.at += 1,
                ',' | '}' | ']' if self.depth > 0 => {
                    self.depth -= usize::from(self.chars[start] != ',');
                    self.at += 1;
                    is_value = false;
                }
                '{' | '[' | '"' | '\'' => {
                    let closed = self.closed(start);
                    if let Some(closed) = closed
                        && self.goes_on(closed)
                    {
                        let cause = Cause::GoesOn(self.chars[closed - 1]);
                        return Some((start, self.end_of_value(start), cause));
                    }
                    is_value = self.pass(start, closed) && !is_value;
                }
                _ if !is_value && let Some(colon) = self.end_of_key() => {
                    self.at = colon + 1;
                    is_value = true;
                }
                _ => {
                    let end = self.end_of_value(start);
                    if let Some(cause) = self.cause(start, end) {
                        return Some((start, end, cause));
                    }
                    self.at = end.max(start + 1);
                    is_value = false;
                }
            }
        }
    }

    /// Skips an opening bracket, or a quoted text and the colon after it. Returns whether there was
    /// a colon, so that a value comes next.
    fn pass(&mut self, start: usize, closed: Option<usize>) -> bool {
        if "{[".contains(self.chars[start]) {
            self.depth += 1;
            self.at = start + 1;
            return false;
        }
        self.at = self.skip_blanks(closed.unwrap_or(self.chars.len()));
        let is_key = self.chars.get(self.at) == Some(&':');
        self.at += usize::from(is_key);
        is_key
    }

    fn skip_blanks(&self, from: usize) -> usize {
        let blanks = self.chars[from..].iter().take_while(|c| c.is_whitespace());
        from + blanks.count()
    }

    /// Whether a blank or the end of the line is here.
    fn is_blank(&self, at: usize) -> bool {
        self.chars.get(at).is_none_or(|c| c.is_whitespace())
    }

    /// Whether a colon here precedes a value.
    fn is_colon(&self, at: usize) -> bool {
        let is_open = || self.depth > 0 && ",[]{}".contains(self.chars[at + 1]);
        self.chars[at] == ':' && (self.is_blank(at + 1) || is_open())
    }

    /// Whether a comment begins here.
    fn is_comment(&self, at: usize) -> bool {
        self.chars[at] == '#' && at > 0 && self.is_blank(at - 1)
    }

    /// The position after the end of the quote or the bracket here, if it is closed.
    fn closed(&self, start: usize) -> Option<usize> {
        let mut closers: Vec<char> = Vec::new();
        let mut at = start;
        loop {
            let c = *self.chars.get(at)?;
            let begins = at == start || " \t([{=^~,:".contains(self.chars[at - 1]);
            match c {
                '"' | '\'' if begins => at = self.behind_quote(at)? - 1,
                '(' => closers.push(')'),
                '[' => closers.push(']'),
                '{' => closers.push('}'),
                _ if closers.last() == Some(&c) => {
                    closers.pop();
                }
                _ => {}
            }
            at += 1;
            if closers.is_empty() {
                return Some(at);
            }
        }
    }

    fn behind_quote(&self, start: usize) -> Option<usize> {
        let quote = self.chars[start];
        let mut at = start + 1;
        while *self.chars.get(at)? != quote {
            at += 1 + usize::from(quote == '"' && self.chars[at] == '\\');
        }
        Some(at + 1)
    }

    /// Whether more text follows the closed quote or bracket.
    fn goes_on(&self, closed: usize) -> bool {
        let ends = match self.depth {
            0 => ":",
            _ => ":,}]",
        };
        let at = self.skip_blanks(closed);
        let next = self.chars.get(at);
        next.is_some_and(|next| !ends.contains(*next)) && !self.is_comment(at)
    }

    /// The colon after a plain key that begins here.
    fn end_of_key(&self) -> Option<usize> {
        let mut places = self.at..self.chars.len();
        let end = places.find(|at| {
            let in_flow = self.depth > 0 && ",[]{}".contains(self.chars[*at]);
            in_flow || self.is_colon(*at) || self.is_comment(*at)
        })?;
        self.is_colon(end).then_some(end)
    }

    /// The intended end of the value that begins here.
    fn end_of_value(&self, start: usize) -> usize {
        let mut end = start;
        while end < self.chars.len() {
            let c = self.chars[end];
            let ends = match self.depth {
                0 => self.is_comment(end),
                _ => ",}]".contains(c),
            };
            if ends {
                break;
            }
            let is_quote = "\"'".contains(c) && (end == start || self.is_blank(end - 1));
            end = match is_quote || "([{".contains(c) {
                true => self.closed(end).unwrap_or(end + 1),
                false => end + 1,
            };
        }
        let value = self.chars[start..end].iter().rev();
        end - value.take_while(|c| c.is_whitespace()).count()
    }

    /// The reason why the value can't be plain.
    fn cause(&self, start: usize, end: usize) -> Option<Cause> {
        let first = *self.chars.get(start)?;
        let rest = self.chars.get(start + 1..end).unwrap_or_default();
        let is_name = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
        let is_header = |c: &char| c.is_ascii_digit() || "+-".contains(*c);
        let is_begun = match first {
            '@' | '`' | '%' => true,
            '*' => !rest.iter().all(is_name) || rest.is_empty(),
            '|' | '>' => self.depth > 0 || !rest.iter().all(is_header),
            _ => false,
        };
        if is_begun {
            return Some(Cause::Begins(first));
        }
        (start..end).find_map(|at| match self.chars[at] {
            c if self.depth > 0 && "{}[],".contains(c) => Some(Cause::Within(c)),
            _ if self.is_colon(at) => Some(Cause::Colon),
            _ if self.is_comment(at) => Some(Cause::Comment),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, advice: Option<&str>) {
        let found = Unquoted::find(line, 0).map(|found| found.to_string());
        assert_eq!(found.as_deref(), advice, "{line}");
    }

    #[test]
    fn a_value_with_brackets_needs_quotes_within_a_collection() {
        for (line, bracket, value) in [
            (
                "- { get: /, take: { t: css input[name=t] @value } }",
                '[',
                "'css input[name=t] @value'",
            ),
            (
                "- { take: { t: css input[name=t] @value, u: css b } }",
                '[',
                "'css input[name=t] @value'",
            ),
            ("take: { t: json $.a[0].b }", '[', "'json $.a[0].b'"),
            ("take: { t: json $['a'] }", '[', "\"json $['a']\""),
            ("take: { t: json $.a[*] }", '[', "'json $.a[*]'"),
            ("take: { t: regex /a{2}/ }", '{', "'regex /a{2}/'"),
            ("take: { t: regex \"a{2}\" }", '{', "'regex \"a{2}\"'"),
            (
                "take: { t: css a[b=\"]\"] c'd }",
                '[',
                "'css a[b=\"]\"] c''d'",
            ),
            (
                "expect: { body: [ contains a, matches a{2} ] }",
                '{',
                "'matches a{2}'",
            ),
            ("- { get: /p/{{ seq }}, name: a }", '{', "'/p/{{ seq }}'"),
            ("- { get: /a?b=[1] }", '[', "'/a?b=[1]'"),
            (
                "{ rate: line(5,200,1m), users: 5 }",
                ',',
                "'line(5,200,1m)'",
            ),
            ("{ a: x[1, b: 2 }", '[', "'x[1'"),
        ] {
            let advice = "within `{ }` or `[ ]`, quote a value that contains";
            check(line, Some(&format!("{advice} `{bracket}`: {value}")));
        }
    }

    #[test]
    fn a_value_with_a_colon_or_a_comment_needs_quotes() {
        for (line, value) in [
            ("take: { t: regex /user: (.*)/ }", "'regex /user: (.*)/'"),
            ("- { name: x: y }", "'x: y'"),
            ("    - get: /a: b", "'/a: b'"),
            ("name: what: now # really", "'what: now'"),
        ] {
            let advice = "quote a value that contains `: `: ";
            check(line, Some(&format!("{advice}{value}")));
        }
        check(
            "- { get: /, name: what #1 }",
            Some("` #` begins a comment; quote a value that contains it: 'what #1'"),
        );
    }

    #[test]
    fn some_characters_cannot_begin_a_value() {
        for (line, c, value) in [
            ("name: @x", '@', "'@x'"),
            ("- { get: /, name: `x` }", '`', "'`x`'"),
            ("name: %x", '%', "'%x'"),
            ("name: *.shop", '*', "'*.shop'"),
            ("time: >5s", '>', "'>5s'"),
            ("- { time: >5s }", '>', "'>5s'"),
        ] {
            let advice = format!("quote a value that begins with `{c}`: {value}");
            check(line, Some(&advice));
        }
        for (line, c, value) in [
            ("- { get: /, name: [GET] home }", ']', "'[GET] home'"),
            ("- get: \"/a\" b", '"', "'\"/a\" b'"),
        ] {
            let advice = "if a value continues after";
            check(
                line,
                Some(&format!("{advice} `{c}`, quote the whole value: {value}")),
            );
        }
    }

    #[test]
    fn a_value_that_is_right_needs_nothing() {
        for line in [
            "",
            "- { get: /, take: { t: \"css input[name=t] @value\" } }",
            "- get: /p/{{ seq }}[0]",
            "- { get: '/', \"name\": 'a: b', list: [ a, b: c, [d] ], map: {e: 1} } # x: y",
            "name: don't",
            "body: |",
            "body: >-",
            "list: *name",
            "target: http://127.0.0.1:8080/a#b",
            "- { time: <500ms, url: http://h:1/ }",
            "# a: b: c",
            "- - x",
            "{ a",
            "'",
            "}",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn lines_of_a_collection_that_began_above_are_read_in_it() {
        assert_eq!(Unquoted::find("take: json $.a[0],", 0), None);
        assert!(Unquoted::find("take: json $.a[0],", 1).is_some());
    }

    #[test]
    fn secrets_and_long_values_are_not_shown() {
        let advice = "quote a value that contains `: `";
        check("headers: { Authorization: Bearer: abcdef }", Some(advice));
        check(&format!("name: {}: x", "y".repeat(200)), Some(advice));
        // The text may be the user of a URL.
        check(
            "take: { t: json $.a[?(@.b == 1)], u: x }",
            Some("within `{ }` or `[ ]`, quote a value that contains `[`"),
        );
    }
}
