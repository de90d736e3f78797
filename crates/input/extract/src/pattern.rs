//! Regular expressions in the form of plans: `/id=(\d+)/i`.

use crate::excerpt::excerpt;
use crate::pick::{Occurrence, write_text};
use crate::{NoValue, ParseError};
use regex_automata::meta::{BuildError, Regex};
use regex_automata::{Input, Span};
use std::ops::ControlFlow;

/// The maximum size of a compiled expression, in bytes.
const COMPILED_MAX: usize = 1 << 20;
/// The maximum size of a compiled expression from a body, in bytes.
const FOREIGN_MAX: usize = 1 << 17;
/// A search is linear, but the search for all matches starts again after each match. This is the
/// maximum of matches times bytes, at worst about a quarter of a second of work.
const WORK_MAX: usize = 1 << 28;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Parses `/…/` with the flags `i` (ignores case), `m` (`^` and `$` match at each line) and `s`
    /// (`.` matches line ends).
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let inner = text
            .strip_prefix('/')
            .and_then(|rest| rest.rsplit_once('/'));
        let Some((source, flags)) = inner else {
            let reason = r"write an expression between slashes: `/id=(\d+)/`";
            return Err(ParseError::new(0, reason));
        };
        if source.is_empty() {
            return Err(ParseError::new(1, "there is nothing between the slashes"));
        }
        for (index, flag) in flags.char_indices() {
            if !matches!(flag, 'i' | 'm' | 's') || flags[..index].contains(flag) {
                let flag = flag.escape_debug();
                let reason =
                    format!("invalid flag `{flag}`; use `i`, `m` and `s`, each at most once");
                return Err(ParseError::new(source.len() + 2 + index, reason));
            }
        }
        let prefix = if flags.is_empty() {
            String::new()
        } else {
            format!("(?{flags})")
        };
        let built = build(&format!("{prefix}{source}"), COMPILED_MAX);
        let regex = built.map_err(|error| explain(source, prefix.len(), &error).behind(1))?;
        Ok(Self { regex })
    }

    /// Compiles an expression of a JSON path (RFC 9485), which must match a whole text or a part of
    /// it; `None` if the expression is invalid. Its `.` matches neither line feed nor carriage
    /// return.
    pub(crate) fn of_json_path(source: &str, is_whole: bool) -> Option<Self> {
        let mut translated = String::from(if is_whole { r"\A(?:" } else { "(?:" });
        let (mut is_escaped, mut is_class) = (false, false);
        for c in source.chars() {
            match c {
                '.' if !is_escaped && !is_class => translated.push_str(r"[^\n\r]"),
                c => translated.push(c),
            }
            if !is_escaped {
                is_class = (is_class || c == '[') && c != ']';
            }
            is_escaped = c == '\\' && !is_escaped;
        }
        translated.push_str(if is_whole { r")\z" } else { ")" });
        let regex = build(&translated, FOREIGN_MAX).ok()?;
        Some(Self { regex })
    }

    /// Whether the expression matches anywhere.
    pub(crate) fn is_match(&self, bytes: &[u8]) -> bool {
        self.regex.is_match(bytes)
    }

    /// Appends the selected matches: the first group of each, or the whole match if the expression
    /// has no groups.
    pub(crate) fn write(
        &self,
        pick: Occurrence,
        body: &[u8],
        out: &mut String,
    ) -> Result<(), NoValue> {
        let mut gather = pick.gather(out);
        let mut input = Input::new(body);
        let mut work = 0_usize;
        while let Some(found) = self.find(&input) {
            work = work.saturating_add(body.len() - input.start());
            if work > WORK_MAX {
                let reason = "the body is too large to search for this many matches";
                return Err(NoValue::unreadable(reason));
            }
            let flow = gather.offer(|form, out| {
                let Some(group) = found.group else {
                    let reason = "the expression matches, but its first group does not";
                    return Err(NoValue::missing(reason));
                };
                let text = std::str::from_utf8(&body[group]);
                let text = text.map_err(|_| NoValue::unreadable("the match is not UTF-8"))?;
                write_text(text, form, out);
                Ok(())
            });
            if flow? == ControlFlow::Break(()) {
                break;
            }
            // The next search begins after the match, or one byte later after an empty match.
            let start = found.all.end + usize::from(found.all.is_empty());
            if start > body.len() {
                break;
            }
            input.set_start(start);
        }
        gather.finish(|| {
            let start = excerpt(body);
            NoValue::missing(format!("no match in the body, which begins with {start}"))
        })
    }

    fn find(&self, input: &Input<'_>) -> Option<Match> {
        let mut slots = [None; 4];
        let has_group = self.regex.captures_len() > 1;
        let used = if has_group { 4 } else { 2 };
        self.regex.search_slots(input, &mut slots[..used])?;
        let span = |first: usize| {
            let (start, end) = (slots[first]?.get(), slots[first + 1]?.get());
            Some(Span { start, end })
        };
        let all = span(0)?;
        let group = if has_group { span(2) } else { Some(all) };
        Some(Match { all, group })
    }
}

/// The position of a match.
struct Match {
    all: Span,
    group: Option<Span>,
}

fn build(source: &str, size_max: usize) -> Result<Regex, Box<BuildError>> {
    let config = Regex::config()
        .nfa_size_limit(Some(size_max))
        .onepass_size_limit(Some(size_max));
    let built = Regex::builder().configure(config).build(source);
    built.map_err(Box::new)
}

/// The mistake in an expression that was compiled after a prefix, and its position. The compiler
/// prints the expression, a caret below the position, and the reason in the last line.
fn explain(source: &str, prefix: usize, error: &BuildError) -> ParseError {
    let Some(syntax) = error.syntax_error() else {
        let reason = "the expression is too large: its parts are repeated too often";
        return ParseError::new(0, reason);
    };
    let text = syntax.to_string();
    let caret = text.lines().find_map(|line| {
        let column = line.find('^')?;
        line[..column]
            .trim()
            .is_empty()
            .then(|| column.saturating_sub(4 + prefix))
    });
    let column = caret.unwrap_or(0);
    let at = source
        .char_indices()
        .nth(column)
        .map_or(source.len(), |(at, _)| at);
    let reason = text.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    ParseError::new(at, format!("invalid expression: {reason}"))
}
