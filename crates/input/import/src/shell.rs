//! Splits a shell's command line into words: quotes, escapes and `$'…'` as in bash.

/// The commands of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// The words of each command.
    pub(crate) words: Vec<Vec<String>>,
    /// The bytes at which they begin, one for each.
    pub(crate) starts: Vec<usize>,
    /// What a shell would replace by a value, such as `$TOKEN`, and is in the words as it is: each once.
    pub(crate) expansions: Vec<String>,
}

/// Splits a text into commands of words; a line end, `;`, `&&` and `|` end a command. Redirections
/// are removed.
///
/// # Errors
/// For a quote without an end, with its line.
pub(crate) fn commands(text: &str) -> Result<Commands, String> {
    let splitter = split(text, Operators::End)?;
    Ok(Commands {
        words: splitter.commands,
        starts: splitter.starts,
        expansions: splitter.expansions.found,
    })
}

/// Splits the line of one command, in which a shell's operators are ordinary characters: a URL's
/// `&` needs no quotes, because the line is already quoted.
///
/// # Errors
/// If a quote is not closed, or the line ends with a backslash.
pub fn shell_words(line: &str) -> Result<Vec<String>, String> {
    let mut commands = split(line, Operators::Letters)?.commands;
    Ok(commands.pop().unwrap_or_default())
}

/// The meaning of `;`, `&`, `|`, `#` and a line end outside of quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operators {
    /// All of them end a command, except that `#` begins a comment.
    End,
    /// All of them are ordinary characters, except that a line end is a blank.
    Letters,
}

fn split(text: &str, operators: Operators) -> Result<Splitter, String> {
    let has_operators = operators == Operators::End;
    let mut splitter = Splitter::default();
    let mut chars = Chars(text);
    loop {
        let at = text.len() - chars.0.len();
        let Some(c) = chars.next() else {
            break;
        };
        splitter.at = at;
        let in_line = |why: String| in_line(text, at, &why);
        match c {
            '\\' => match chars.next() {
                None if !has_operators => return Err("it ends with a backslash".to_owned()),
                Some('\n') | None => {}
                Some('\r') if chars.peek() == Some('\n') => drop(chars.next()),
                Some(c) => splitter.push(c),
            },
            '\'' => single(&mut chars, splitter.word()).map_err(in_line)?,
            '"' => {
                let mut within = String::new();
                double(&mut chars, &mut within, &mut splitter.expansions).map_err(in_line)?;
                splitter.word().push_str(&within);
            }
            '$' if chars.peek() == Some('\'') => {
                chars.next();
                ansi(&mut chars, splitter.word()).map_err(in_line)?;
            }
            '$' if chars.peek() == Some('"') => {}
            '^' if has_operators && (chars.peek() == Some('"') || chars.is_at_line_end()) => {
                let why = "this is a Windows cmd command line; copy it as cURL (bash)";
                return Err(in_line(why.to_owned()));
            }
            '`' if has_operators && chars.is_at_line_end() => {
                let why = "this is a PowerShell command line; copy it as cURL (bash), or end its lines \
                           with `\\`";
                return Err(in_line(why.to_owned()));
            }
            '$' | '`' if has_operators => {
                splitter.expansions.note(c, &chars);
                splitter.push(c);
                let is_command = c == '`' || chars.peek() == Some('(');
                if is_command {
                    substitution(&mut chars, splitter.word());
                    splitter.expansions.is_open = false;
                }
            }
            '<' | '>' if has_operators => {
                splitter.end_redirected();
                while chars
                    .next_if(|c| ['<', '>', '&', '|'].contains(&c))
                    .is_some()
                {}
            }
            '#' if has_operators && splitter.current.is_none() => {
                while chars.next_if(|c| c != '\n').is_some() {}
            }
            '\n' | ';' | '|' | '&' | '(' | ')' if has_operators => splitter.end_command(),
            c if c.is_whitespace() => splitter.end_word(),
            c => splitter.push(c),
        }
    }
    splitter.end_command();
    Ok(splitter)
}

/// A mistake at a byte of a text, with its line if the text has several.
pub(crate) fn in_line(text: &str, at: usize, why: &str) -> String {
    match text.trim_end().contains('\n') {
        true => {
            let line = text[..at].matches('\n').count() + 1;
            format!("line {line}: {why}")
        }
        false => why.to_owned(),
    }
}

/// The rest of a text.
#[derive(Clone)]
struct Chars<'a>(&'a str);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.0 = &self.0[next.len_utf8()..];
        Some(next)
    }
}

impl Chars<'_> {
    fn peek(&self) -> Option<char> {
        self.0.chars().next()
    }

    /// Whether the line ends here and another follows.
    fn is_at_line_end(&self) -> bool {
        self.0.starts_with('\n') || self.0.starts_with("\r\n")
    }

    fn next_if(&mut self, is_meant: impl FnOnce(char) -> bool) -> Option<char> {
        self.peek().filter(|c| is_meant(*c))?;
        self.next()
    }
}

/// The state of splitting a text.
#[derive(Default)]
struct Splitter {
    commands: Vec<Vec<String>>,
    /// The bytes at which the commands begin.
    starts: Vec<usize>,
    /// The byte that is read.
    at: usize,
    /// Where the current command begins.
    start: Option<usize>,
    words: Vec<String>,
    current: Option<String>,
    /// Whether the next word is the target of a redirection.
    is_redirected: bool,
    expansions: Expansions,
}

/// The expansions of a shell.
#[derive(Default)]
struct Expansions {
    found: Vec<String>,
    /// Whether a backtick is unclosed.
    is_open: bool,
}

impl Expansions {
    /// Records an expansion at its sign, with the following text.
    fn note(&mut self, sign: char, rest: &Chars<'_>) {
        let rest = rest.clone();
        let end = match (sign, rest.peek()) {
            ('`', _) => {
                self.is_open = !self.is_open;
                if !self.is_open {
                    return;
                }
                '`'
            }
            ('$', Some('(')) => ')',
            ('$', Some('{')) => '}',
            ('$', Some(c)) if c.is_alphabetic() || c == '_' => {
                let name = rest.take_while(|c| c.is_alphanumeric() || *c == '_');
                return self.add(format!("${}", name.collect::<String>()));
            }
            _ => return,
        };
        let mut shown = String::from(sign);
        for c in rest.take(60) {
            shown.push(c);
            if c == end {
                break;
            }
        }
        self.add(shown);
    }

    fn add(&mut self, expansion: String) {
        if !self.found.contains(&expansion) {
            self.found.push(expansion);
        }
    }
}

impl Splitter {
    fn word(&mut self) -> &mut String {
        self.start.get_or_insert(self.at);
        self.current.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.word().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.current.take()
            && !std::mem::take(&mut self.is_redirected)
        {
            self.words.push(word);
        }
    }

    /// Ends the word before a redirection; a number there is the redirection's descriptor.
    fn end_redirected(&mut self) {
        let is_digits = |word: &mut String| word.chars().all(|c| c.is_ascii_digit());
        self.current.take_if(is_digits);
        self.end_word();
        self.is_redirected = true;
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_redirected = false;
        let start = self.start.take();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
            self.starts.extend(start);
        }
    }
}

const NO_END: &str = "a quote is not closed";

fn single(chars: &mut Chars<'_>, word: &mut String) -> Result<(), String> {
    for c in chars.by_ref() {
        match c {
            '\'' => return Ok(()),
            c => word.push(c),
        }
    }
    Err(NO_END.to_owned())
}

fn double(
    chars: &mut Chars<'_>,
    word: &mut String,
    expansions: &mut Expansions,
) -> Result<(), String> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => break,
            },
            c => {
                if matches!(c, '$' | '`') {
                    expansions.note(c, chars);
                }
                word.push(c);
            }
        }
    }
    Err(NO_END.to_owned())
}

/// Appends the rest of `$(…)` or `` `…` `` to a word, with its blanks.
fn substitution(chars: &mut Chars<'_>, word: &mut String) {
    let mut depth = 0;
    let is_quoted = chars.peek() != Some('(');
    for c in chars.by_ref() {
        word.push(c);
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if (is_quoted && c == '`') || (!is_quoted && depth == 0) {
            break;
        }
    }
}

/// `$'…'` with C's escapes.
fn ansi(chars: &mut Chars<'_>, word: &mut String) -> Result<(), String> {
    let mut bytes = Vec::new();
    loop {
        match chars.next().ok_or_else(|| NO_END.to_owned())? {
            '\'' => break,
            '\\' => escape(chars, &mut bytes)?,
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    let text = String::from_utf8(bytes);
    word.push_str(&text.map_err(|_| "`$'…'` is not valid UTF-8".to_owned())?);
    Ok(())
}

/// One escape of C.
fn escape(chars: &mut Chars<'_>, bytes: &mut Vec<u8>) -> Result<(), String> {
    let c = chars.next().ok_or_else(|| NO_END.to_owned())?;
    let simple = match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 0x1b,
        'f' => 0x0c,
        'v' => 0x0b,
        '\\' | '\'' | '"' | '?' => c as u8,
        'x' => number(chars, 16, 2, 0) as u8,
        'u' | 'U' => {
            let code = number(chars, 16, if c == 'u' { 4 } else { 8 }, 0);
            let c = unicode(code, chars).unwrap_or(char::REPLACEMENT_CHARACTER);
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(());
        }
        '0'..='7' => number(chars, 8, 2, c.to_digit(8).unwrap_or(0)) as u8,
        c => {
            bytes.push(b'\\');
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(());
        }
    };
    bytes.push(simple);
    Ok(())
}

/// A character; browsers write characters outside the basic plane as two halves.
fn unicode(code: u32, chars: &mut Chars<'_>) -> Option<char> {
    if !(0xd800..0xdc00).contains(&code) {
        return char::from_u32(code);
    }
    let mut ahead = chars.clone();
    if ahead.next() != Some('\\') || ahead.next() != Some('u') {
        return None;
    }
    let low = number(&mut ahead, 16, 4, 0);
    *chars = ahead;
    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    char::from_u32(0x10000 + ((code - 0xd800) << 10) + low)
}

/// Up to `most` digits, continuing the number `start`.
fn number(chars: &mut Chars<'_>, radix: u32, most: usize, start: u32) -> u32 {
    let mut value = start;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        value = value * radix + digit;
        chars.next();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{commands, shell_words};

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, words) in [
            ("a 'b c' \"d\\\"e\" f\\ g", &["a", "b c", "d\"e", "f g"][..]),
            ("a \\\n  -H 'x: y'\\''z'", &["a", "-H", "x: y'z"]),
            (
                r"$'a\nb\'c\x41\u00e9\ud83d\ude00\101\q'",
                &["a\nb'cAé😀A\\q"],
            ),
            ("a \"\" '' # b", &["a", "", ""]),
            ("\"a\\nb\"", &["a\\nb"]),
            ("(a b)", &["a", "b"]),
        ] {
            let found = commands(text).expect(text);
            assert_eq!(found.words, [words], "{text}");
            assert_eq!(found.expansions, [""; 0], "{text}");
        }
        let three = commands("a 1 &&\nb; c").expect("commands");
        assert_eq!(three.words.len(), 3);
        assert_eq!(three.starts, [0, 7, 10]);
        for (text, error) in [
            ("a 'b", "a quote is not closed"),
            ("a\n\nb 'c\n", "line 3: a quote is not closed"),
            ("a \\\n \"b\nc", "line 2: a quote is not closed"),
        ] {
            assert_eq!(commands(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn redirections_are_no_words() {
        for text in [
            "a b > out.html",
            "a >out b",
            "a b 2>/dev/null",
            "a b >> log 2>&1",
            "a b &> all",
            "a < in b",
            "a b >| 'out x'",
        ] {
            let found = commands(text).expect(text);
            assert_eq!(found.words, [["a", "b"]], "{text}");
        }
        let quoted = commands("a '> b' \"<c>\" d\\>e").expect("commands");
        assert_eq!(quoted.words, [["a", "> b", "<c>", "d>e"]]);
    }

    #[test]
    fn what_a_shell_expands_is_told() {
        let text = "a $TOKEN \"x: ${ID}\" \"$(date +%s)\" `id` '$no' \\$no $TOKEN 5$ \"\\$no\"";
        let found = commands(text).expect("commands");
        assert_eq!(found.expansions, ["$TOKEN", "${ID}", "$(date +%s)", "`id`"]);
        let found = commands("a $(b (c) d)e `f g` h; (i $j)").expect("commands");
        let first = ["a", "$(b (c) d)e", "`f g`", "h"].map(str::to_owned);
        let second = ["i", "$j"].map(str::to_owned);
        assert_eq!(found.words, [&first[..], &second[..]]);
        assert_eq!(found.expansions, ["$(b (c)", "`f g`", "$j"]);
    }

    #[test]
    fn a_line_is_one_command() {
        for (line, expected) in [
            ("http -r 5 x", &["http", "-r", "5", "x"][..]),
            ("  a  'b c' ", &["a", "b c"]),
            (r#"-H "A: b" c\ d"#, &["-H", "A: b", "c d"]),
            (r#"-d '{"n":"\u"}'"#, &["-d", r#"{"n":"\u"}"#]),
            (r#"-d "{\"n\":1,\n}""#, &["-d", r#"{"n":1,\n}"#]),
            ("x?a=1&b=2 ''", &["x?a=1&b=2", ""]),
            ("a'b'\"c\"", &["abc"]),
            ("x#y #z;\n|", &["x#y", "#z;", "|"]),
            ("", &[]),
        ] {
            assert_eq!(shell_words(line).unwrap(), expected, "{line}");
        }
        for line in ["'a", "\"a", "a\\"] {
            assert!(shell_words(line).is_err(), "{line}");
        }
    }
}
