//! Operators of a template's expressions, as calls of functions of ours.
//!
//! What a response, a feed or a script gives is a text to the interpreter, which adds no texts:
//! `{{ total + 1 }}` becomes `{{ __compute(total, '+', 1) }}`, and computes as a condition does. What
//! can't be read here stays as it is, for the interpreter to refuse with its own place.

use super::lexer::{Kind, Lexer, Token};
use super::{Tag, next};
use std::borrow::Cow;

/// The function that computes a row of operands with operators of one rank between them.
pub(crate) const COMPUTE: &str = "__compute";
/// The function that compares two values.
pub(crate) const COMPARE: &str = "__compare";
/// The function that negates a value.
pub(crate) const NEGATE: &str = "__negate";
/// The filter that makes a number of a text that is one.
pub(crate) const NUMBER: &str = "__number";

/// Names that stand before an expression, or between two.
const KEYWORDS: [&str; 16] = [
    "if",
    "elif",
    "else",
    "for",
    "in",
    "not",
    "and",
    "or",
    "is",
    "set",
    "with",
    "do",
    "call",
    "include",
    "recursive",
    "as",
];

/// A template whose operators are calls.
pub(crate) fn called(source: &str) -> Cow<'_, str> {
    let mut made = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(tag) = next(source, at) {
        at = tag.start + tag.inside.len();
        if tag.first_word() == "raw" {
            at += source[at..].find("endraw").unwrap_or(source.len() - at);
            continue;
        }
        if let Some(changed) = changed(&tag) {
            made.push_str(&source[copied..tag.start]);
            made.push_str(&changed);
            copied = tag.start + tag.inside.len();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(source);
    }
    made.push_str(&source[copied..]);
    Cow::Owned(made)
}

/// The text of a tag, if it has operators.
fn changed(tag: &Tag<'_>) -> Option<String> {
    let begin = tag.inside.len() - tag.inside.trim_start_matches(['-', '+']).len();
    let (head, rest) = tag.inside.split_at(begin.min(1));
    let end = tag.end().saturating_sub(head.len());
    let (text, tail) = rest.split_at_checked(end)?;
    let mut parser = Parser {
        lexer: Lexer::new(text),
        has_calls: false,
    };
    let whole = parser.sequence()?;
    let is_over = parser.lexer.peek().is_none();
    (is_over && parser.has_calls).then(|| format!("{head}{whole}{}{tail}", parser.lexer.rest()))
}

/// Reads what minijinja's own parser reads, rank by rank, and writes it again. Each method gives
/// `None` where the text is none of the language.
struct Parser<'a> {
    lexer: Lexer<'a>,
    /// Whether anything has become a call.
    has_calls: bool,
}

/// A row of operands: the text, and how it ends.
struct Row {
    text: String,
    /// Operators and operands behind the first.
    links: Vec<Link>,
}

/// An operator and the operand behind it.
struct Link {
    /// With the blanks before it.
    operator: String,
    operand: String,
}

impl Link {
    /// As two arguments of a call; lines keep their numbers.
    fn arguments(&self) -> String {
        let sign = self.operator.trim_start();
        let blanks = &self.operator[..self.operator.len() - sign.len()];
        format!("{blanks}, '{sign}',{}", self.operand)
    }
}

impl Parser<'_> {
    /// Expressions with words, commas, colons and equals signs between them, up to a closing
    /// bracket or the end.
    fn sequence(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(token) = self.lexer.peek() {
            match token.text {
                ")" | "]" | "}" => break,
                "," | ":" | "=" | "|" => out.push_str(self.lexer.take()),
                word if KEYWORDS.contains(&word) => out.push_str(self.lexer.take()),
                _ => out.push_str(&self.comparison()?),
            }
        }
        Some(out)
    }

    /// Two values that are compared; a chain of comparisons keeps its operators.
    fn comparison(&mut self) -> Option<String> {
        let row = self.row(Self::sum, |text| {
            matches!(text, "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not")
        })?;
        let Row { text, links } = row;
        let is_member = |link: &Link| matches!(link.operator.trim(), "in" | "not in");
        if links.is_empty() || links.iter().all(is_member) {
            return Some(joined(text, links, |operand| operand));
        }
        self.has_calls = true;
        if links.len() > 1 {
            let number = |operand: String| format!(" ({operand})|{NUMBER}");
            return Some(joined(number(text), links, number));
        }
        Some(call(COMPARE, &text, &links))
    }

    fn sum(&mut self) -> Option<String> {
        self.computed(Self::concatenation, &["+", "-"])
    }

    /// Values whose texts are joined; numbers need not become any for that.
    fn concatenation(&mut self) -> Option<String> {
        let Row { text, links } = self.row(Self::product, |text| text == "~")?;
        Some(joined(text, links, |operand| operand))
    }

    fn product(&mut self) -> Option<String> {
        self.computed(Self::power, &["*", "/", "//", "%"])
    }

    fn power(&mut self) -> Option<String> {
        self.computed(Self::unary, &["**"])
    }

    /// A row of operands as one call, for calls nest less deep than rows are long.
    fn computed(
        &mut self,
        operand: impl FnMut(&mut Self) -> Option<String>,
        operators: &[&str],
    ) -> Option<String> {
        let Row { text, links } = self.row(operand, |text| operators.contains(&text))?;
        if links.is_empty() {
            return Some(text);
        }
        self.has_calls = true;
        Some(call(COMPUTE, &text, &links))
    }

    fn row(
        &mut self,
        mut operand: impl FnMut(&mut Self) -> Option<String>,
        is_operator: impl Fn(&str) -> bool,
    ) -> Option<Row> {
        let text = operand(self)?;
        let mut links = Vec::new();
        while self
            .lexer
            .peek()
            .is_some_and(|token| is_operator(token.text))
        {
            let is_not = self.lexer.peek()?.text == "not";
            let mut operator = self.lexer.take().to_owned();
            if is_not {
                operator.push_str(self.lexer.take_text("in")?);
            }
            let operand = operand(self)?;
            links.push(Link { operator, operand });
        }
        Some(Row { text, links })
    }

    /// A value with its sign, attributes, filters and tests.
    fn unary(&mut self) -> Option<String> {
        let mut out = self.signed()?;
        loop {
            match self.lexer.peek().map(|token| token.text) {
                Some("|") => {
                    out.push_str(self.lexer.take());
                    self.name(&mut out)?;
                    self.arguments(&mut out)?;
                }
                Some("is") => {
                    out.push_str(self.lexer.take());
                    if self.lexer.peek()?.text == "not" {
                        out.push_str(self.lexer.take());
                    }
                    self.name(&mut out)?;
                    self.test_argument(&mut out)?;
                }
                _ => return Some(out),
            }
        }
    }

    /// A value with its sign and its attributes. The sign of a number that is written stays.
    fn signed(&mut self) -> Option<String> {
        if self.lexer.peek()?.text != "-" {
            return self.postfix();
        }
        let sign = self.lexer.take();
        let is_number = self.lexer.peek()?.kind == Kind::Number;
        let operand = self.signed()?;
        if is_number {
            return Some(format!("{sign}{operand}"));
        }
        self.has_calls = true;
        let blanks = sign.trim_end_matches('-');
        Some(call(NEGATE, &format!("{blanks}{operand}"), &[]))
    }

    /// A name, a text, a number or something in brackets, with its attributes.
    fn postfix(&mut self) -> Option<String> {
        let mut out = String::new();
        let first = self.lexer.peek()?;
        match (first.kind, first.text) {
            (Kind::Text, _) => {
                while self
                    .lexer
                    .peek()
                    .is_some_and(|token| token.kind == Kind::Text)
                {
                    out.push_str(self.lexer.take());
                }
            }
            (Kind::Name, word) if KEYWORDS.contains(&word) => return None,
            (Kind::Name | Kind::Number, _) => out.push_str(self.lexer.take()),
            (Kind::Sign, "(" | "[" | "{") => self.brackets(&mut out)?,
            (Kind::Sign, _) => return None,
        }
        loop {
            match self.lexer.peek().map(|token| token.text) {
                Some("(" | "[") => self.brackets(&mut out)?,
                Some(".") => {
                    out.push_str(self.lexer.take());
                    let attribute = self.lexer.peek()?;
                    matches!(attribute.kind, Kind::Name | Kind::Number).then_some(())?;
                    out.push_str(self.lexer.take());
                }
                _ => return Some(out),
            }
        }
    }

    /// Brackets and what they hold.
    fn brackets(&mut self, out: &mut String) -> Option<()> {
        let close = match self.lexer.peek()?.text {
            "(" => ")",
            "[" => "]",
            _ => "}",
        };
        out.push_str(self.lexer.take());
        out.push_str(&self.sequence()?);
        out.push_str(self.lexer.take_text(close)?);
        Some(())
    }

    /// The name of a filter or a test, which may have dots.
    fn name(&mut self, out: &mut String) -> Option<()> {
        loop {
            (self.lexer.peek()?.kind == Kind::Name).then_some(())?;
            out.push_str(self.lexer.take());
            match self.lexer.peek() {
                Some(Token { text: ".", .. }) => out.push_str(self.lexer.take()),
                _ => return Some(()),
            }
        }
    }

    /// Arguments, if there are any.
    fn arguments(&mut self, out: &mut String) -> Option<()> {
        match self.lexer.peek() {
            Some(Token { text: "(", .. }) => self.brackets(out),
            _ => Some(()),
        }
    }

    /// The argument of a test, which needs no parentheses.
    fn test_argument(&mut self, out: &mut String) -> Option<()> {
        let Some(token) = self.lexer.peek() else {
            return Some(());
        };
        match (token.kind, token.text) {
            (Kind::Sign, "(") => self.brackets(out),
            (Kind::Name, "and" | "or" | "else" | "is") => Some(()),
            // A test without an argument may stand before these: `if a is odd in b` reads so, too.
            (Kind::Name, "if" | "in" | "not" | "recursive") => Some(()),
            (Kind::Name | Kind::Text | Kind::Number, _) | (Kind::Sign, "-" | "[" | "{") => {
                out.push_str(&self.signed()?);
                Some(())
            }
            (Kind::Sign, "+") => None,
            (Kind::Sign, _) => Some(()),
        }
    }
}

/// A call with a value and what it is linked with. A blank keeps it apart from a word before it.
fn call(name: &str, first: &str, links: &[Link]) -> String {
    let value = first.trim_start();
    let blanks = &first[..first.len() - value.len()];
    let blanks = if blanks.is_empty() { " " } else { blanks };
    let links: String = links.iter().map(Link::arguments).collect();
    format!("{blanks}{name}({value}{links})")
}

/// Operands with their operators between them.
fn joined(first: String, links: Vec<Link>, operand: impl Fn(String) -> String) -> String {
    links.into_iter().fold(first, |mut out, link| {
        out.push_str(&link.operator);
        out.push_str(&operand(link.operand));
        out
    })
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn operators_become_calls_by_their_ranks() {
        for (source, made) in [
            ("{{ a + 1 }}", "{{ __compute(a , '+', 1) }}"),
            (
                "{{a*2-b/c}}",
                "{{ __compute(__compute(a, '*',2), '-', __compute(b, '/',c))}}",
            ),
            (
                "{{ (a + b) * -c.d[e - 1] }}",
                "{{ __compute(( __compute(a , '+', b)) , '*', __negate(c.d[ __compute(e , '-', 1)])) }}",
            ),
            (
                "{% if a.b|f(1) == 2 and not c < -1 %}x{% endif %}",
                "{% if __compare(a.b|f(1) , '==', 2) and not __compare(c , '<', -1) %}x{% endif %}",
            ),
            ("{{ 1 if-a }}", "{{ 1 if __negate(a) }}"),
            (
                "{%- set x = a\n  + 1 -%}",
                "{%- set x = __compute(a\n  , '+', 1) -%}",
            ),
            (
                "{{ a < b <= 3 }}",
                "{{ ( a)|__number < ( b)|__number <= ( 3)|__number }}",
            ),
            (
                "{{ 'a' 'b' + c if d is divisibleby 2 else e ** 2 }}",
                "{{ __compute('a' 'b' , '+', c) if d is divisibleby 2 else __compute(e , '**', 2) }}",
            ),
            (
                "{% for i in range(n) if i % 2 %}{% endfor %}",
                "{% for i in range(n) if __compute(i , '%', 2) %}{% endfor %}",
            ),
            (
                "{{ 1.5e-3 + a.0 ~ {'k': b // 2}['k'] }}",
                "{{ __compute(1.5e-3 , '+', a.0 ~ {'k': __compute(b , '//', 2)}['k']) }}",
            ),
        ] {
            assert_eq!(called(source), made, "{source}");
        }
    }

    #[test]
    fn what_has_no_operators_stays() {
        for source in [
            "{{ a.b | upper ~ 'x - 1' }}",
            "{{- a -}} 1 + 2 {# {{ a + 1 }} #}",
            "{% raw %}{{ a + 1 }}{% endraw %}",
            "{% for a, b in c %}{% endfor %}",
            "{{ a not in b and 'c' in d }}",
            "{{ a is not none }}",
            "{{ f(-1, x=2) }}",
            // The interpreter refuses these.
            "{{ a + }}",
            "{{ + a }}",
            "{{ (a + 1 }}",
            "{{ f(*a + 1) }}",
        ] {
            assert_eq!(called(source), source, "{source}");
        }
    }
}
