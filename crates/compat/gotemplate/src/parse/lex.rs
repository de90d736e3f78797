//! Splits a text into tokens, as Go's `text/template/parse` does.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Assign,
    Bool,
    Char,
    CharConstant,
    Complex,
    Declare,
    End,
    Error,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    Str,
    Text,
    Variable,
    Keyword(Keyword),
}

/// The reserved words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Dot,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

/// A token and its position.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Whether `break` and `continue` are keywords: not if a function has the name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopWords {
    pub(crate) break_is_keyword: bool,
    pub(crate) continue_is_keyword: bool,
}

/// Splits a template into tokens, one at a time.
#[derive(Debug)]
pub(crate) struct Lexer<'t> {
    input: &'t str,
    at: usize,
    start: usize,
    /// The line at the start of the last token.
    line: usize,
    line_at: usize,
    inside_action: bool,
    parens: usize,
    loop_words: LoopWords,
    failed: bool,
}

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

impl<'t> Lexer<'t> {
    pub(crate) const fn new(input: &'t str, loop_words: LoopWords) -> Self {
        Self {
            input,
            at: 0,
            start: 0,
            line: 1,
            line_at: 0,
            inside_action: false,
            parens: 0,
            loop_words,
            failed: false,
        }
    }

    /// The next token; at the end, always [`Kind::End`].
    pub(crate) fn next_token(&mut self) -> Token {
        if self.failed {
            return self.token(Kind::End);
        }
        if self.inside_action {
            self.inside()
        } else {
            self.outside()
        }
    }

    fn rest(&self) -> &'t str {
        &self.input[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn accept(&mut self, set: &str) -> bool {
        let found = self.peek().is_some_and(|c| set.contains(c));
        if found {
            self.next();
        }
        found
    }

    fn accept_run(&mut self, set: &str) {
        while self.accept(set) {}
    }

    /// The token from `start` to the current position; the next token starts here.
    fn token(&mut self, kind: Kind) -> Token {
        let text = match kind {
            Kind::End => "EOF",
            _ => &self.input[self.start..self.at],
        };
        self.token_with(kind, text.to_owned())
    }

    fn token_with(&mut self, kind: Kind, text: String) -> Token {
        self.line += count_lines(&self.input[self.line_at..self.start]);
        self.line_at = self.start;
        let token = Token {
            kind,
            at: self.start,
            line: self.line,
            text,
        };
        self.start = self.at;
        token
    }

    fn error(&mut self, message: impl Into<String>) -> Token {
        self.failed = true;
        self.token_with(Kind::Error, message.into())
    }

    fn ignore(&mut self) {
        self.start = self.at;
    }

    /// Reads plain text and skips comments.
    fn outside(&mut self) -> Token {
        loop {
            let Some(found) = self.rest().find(LEFT) else {
                self.at = self.input.len();
                let kind = match self.at > self.start {
                    true => Kind::Text,
                    false => Kind::End,
                };
                return self.token(kind);
            };
            let open = self.at + found;
            let text = &self.input[self.start..open];
            let kept = match trims_left(&self.input[open + LEFT.len()..]) {
                true => text.trim_end_matches(SPACES).len(),
                false => text.len(),
            };
            self.at = self.start + kept;
            let text = (kept > 0).then(|| self.token(Kind::Text));
            self.at = open;
            self.ignore();
            if let Some(text) = text {
                return text;
            }
            if let Some(token) = self.left_delim() {
                return token;
            }
        }
    }

    /// Reads the opening braces; `None` after a comment, which produces no token.
    fn left_delim(&mut self) -> Option<Token> {
        self.at += LEFT.len();
        let marker = if trims_left(self.rest()) { 2 } else { 0 };
        if self.input[self.at + marker..].starts_with("/*") {
            self.at += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.token(Kind::LeftDelim);
        self.inside_action = true;
        self.at += marker;
        self.ignore();
        self.parens = 0;
        Some(token)
    }

    fn comment(&mut self) -> Option<Token> {
        self.at += 2;
        let Some(end) = self.rest().find("*/") else {
            return Some(self.error("unclosed comment"));
        };
        self.at += end + 2;
        let Some(trim) = self.at_right_delim() else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        self.skip_right_delim(trim);
        self.ignore();
        None
    }

    /// Whether closing braces follow, and whether they trim the text after them.
    fn at_right_delim(&self) -> Option<Trim> {
        let rest = self.rest();
        if trims_right(rest) && rest[2..].starts_with(RIGHT) {
            return Some(Trim::Following);
        }
        rest.starts_with(RIGHT).then_some(Trim::Nothing)
    }

    fn skip_right_delim(&mut self, trim: Trim) {
        self.at += RIGHT.len();
        if trim == Trim::Following {
            self.at += 2;
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(SPACES).len();
        }
    }

    fn right_delim(&mut self, trim: Trim) -> Token {
        if trim == Trim::Following {
            self.at += 2;
            self.ignore();
        }
        self.at += RIGHT.len();
        let token = self.token(Kind::RightDelim);
        if trim == Trim::Following {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(SPACES).len();
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn inside(&mut self) -> Token {
        if let Some(trim) = self.at_right_delim() {
            if self.parens == 0 {
                return self.right_delim(trim);
            }
            return self.error("unclosed left paren");
        }
        let Some(c) = self.peek() else {
            return self.error("unclosed action");
        };
        if SPACES.contains(&c) {
            return self.space();
        }
        if c.is_ascii_digit() || c == '+' || c == '-' {
            return self.number();
        }
        if is_alphanumeric(c) {
            return self.identifier();
        }
        self.next();
        self.punctuation(c)
    }

    fn punctuation(&mut self, c: char) -> Token {
        match c {
            '=' => self.token(Kind::Assign),
            ':' if self.accept("=") => self.token(Kind::Declare),
            ':' => self.error("expected :="),
            '|' => self.token(Kind::Pipe),
            '"' => self.quoted('"', Kind::Str, "unterminated quoted string"),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw_string(),
            '$' => self.field_or_variable(Kind::Variable),
            '.' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                self.at = self.start;
                self.number()
            }
            '.' if self.peek().is_none() => {
                self.at = self.start;
                self.number()
            }
            '.' => self.field_or_variable(Kind::Field),
            '(' => {
                self.parens += 1;
                self.token(Kind::LeftParen)
            }
            ')' if self.parens == 0 => self.error("unexpected right paren"),
            ')' => {
                self.parens -= 1;
                self.token(Kind::RightParen)
            }
            c if c.is_ascii_graphic() => self.token(Kind::Char),
            c => {
                let message = format!(
                    "unrecognized character in action: {}",
                    crate::quote::code_point(c)
                );
                self.error(message)
            }
        }
    }

    fn space(&mut self) -> Token {
        let mut last = self.at;
        let mut count = 0;
        while self.peek().is_some_and(|c| SPACES.contains(&c)) {
            last = self.at;
            count += 1;
            self.next();
        }
        // The last space may belong to a trim marker.
        let from_last = &self.input[last..];
        if trims_right(from_last) && from_last[2..].starts_with(RIGHT) {
            self.at = last;
            if count == 1 {
                return self.right_delim(Trim::Following);
            }
        }
        self.token(Kind::Space)
    }

    fn identifier(&mut self) -> Token {
        while self.peek().is_some_and(is_alphanumeric) {
            self.next();
        }
        if !self.at_terminator() {
            return self.bad_character();
        }
        let kind = match &self.input[self.start..self.at] {
            "true" | "false" => Kind::Bool,
            word => self.keyword(word).map_or(Kind::Identifier, Kind::Keyword),
        };
        self.token(kind)
    }

    fn keyword(&self, word: &str) -> Option<Keyword> {
        Some(match word {
            "block" => Keyword::Block,
            "break" if self.loop_words.break_is_keyword => Keyword::Break,
            "continue" if self.loop_words.continue_is_keyword => Keyword::Continue,
            "define" => Keyword::Define,
            "else" => Keyword::Else,
            "end" => Keyword::End,
            "if" => Keyword::If,
            "nil" => Keyword::Nil,
            "range" => Keyword::Range,
            "template" => Keyword::Template,
            "with" => Keyword::With,
            _ => return None,
        })
    }

    fn bad_character(&mut self) -> Token {
        let c = self.peek().unwrap_or('\u{FFFD}');
        self.error(format!("bad character {}", crate::quote::code_point(c)))
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token {
        if self.at_terminator() {
            return match kind {
                Kind::Variable => self.token(kind),
                _ => self.token(Kind::Keyword(Keyword::Dot)),
            };
        }
        while self.peek().is_some_and(is_alphanumeric) {
            self.next();
        }
        if !self.at_terminator() {
            return self.bad_character();
        }
        self.token(kind)
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(c) => SPACES.contains(&c) || self.rest().starts_with(RIGHT),
        }
    }

    fn quoted(&mut self, quote: char, kind: Kind, unterminated: &str) -> Token {
        loop {
            match self.next() {
                Some('\\') => {
                    if matches!(self.next(), None | Some('\n')) {
                        return self.error(unterminated);
                    }
                }
                None | Some('\n') => return self.error(unterminated),
                Some(c) if c == quote => return self.token(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Token {
        let Some(end) = self.rest().find('`') else {
            return self.error("unterminated raw quoted string");
        };
        self.at += end + 1;
        self.token(Kind::RawString)
    }

    fn number(&mut self) -> Token {
        if !self.scan_number() {
            return self.bad_number();
        }
        if !matches!(self.peek(), Some('+' | '-')) {
            return self.token(Kind::Number);
        }
        // With a second part, the number is complex.
        if !self.scan_number() || !self.input[..self.at].ends_with('i') {
            return self.bad_number();
        }
        self.token(Kind::Complex)
    }

    fn bad_number(&mut self) -> Token {
        let text = crate::quote::quoted(&self.input[self.start..self.at]);
        self.error(format!("bad number syntax: {text}"))
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

/// Whether closing braces trim the white space after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trim {
    Nothing,
    Following,
}

/// Whether `rest`, after opening braces, starts with a trim marker: a minus and a space.
fn trims_left(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next() == Some('-') && chars.next().is_some_and(|c| SPACES.contains(&c))
}

/// Whether `rest` starts with a trim marker: a space and a minus.
fn trims_right(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| SPACES.contains(&c)) && chars.next() == Some('-')
}

/// Whether names may contain the character: letters, digits and underscores of any script.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
