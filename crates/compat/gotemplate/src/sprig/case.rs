//! Functions for words and letter case: `title`, `camelcase`, `snakecase` and others.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::raw_bytes;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("camelcase", "s", camelcase),
    ("initials", "s", initials),
    ("kebabcase", "s", |call, args| {
        call.text(separated(text(args, 0), '-'))
    }),
    ("snakecase", "s", |call, args| {
        call.text(separated(text(args, 0), '_'))
    }),
    ("swapcase", "s", swapcase),
    ("title", "s", title),
    ("untitle", "s", untitle),
];

/// The uppercase letter; always one character, as in Go.
pub(super) fn upper(c: char) -> char {
    let mut capitals = c.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => whole(capital),
        _ => c,
    }
}

/// The lowercase letter; always one character, as in Go.
pub(super) fn lower(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => whole(small),
        (Some('i'), Some(_)) => 'i', // U+0130
        _ => c,
    }
}

/// Replaces an encoded byte by U+FFFD, as Go does when it iterates over characters.
fn whole(c: char) -> char {
    match raw_bytes::byte_of(c) {
        Some(_) => char::REPLACEMENT_CHARACTER,
        None => c,
    }
}

/// Whether `title` starts a new word after the character. In ASCII, all characters except letters,
/// digits and underscores; beyond ASCII, only white space.
fn separates(c: char) -> bool {
    match c.is_ascii() {
        true => !c.is_ascii_alphanumeric() && c != '_',
        false => !c.is_alphanumeric() && c.is_whitespace(),
    }
}

fn title(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut before = ' ';
    let letters = text(args, 0).chars().map(|c| {
        let starts = separates(before);
        before = c;
        if starts { upper(c) } else { whole(c) }
    });
    call.text(letters.collect::<String>())
}

fn untitle(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut before = ' ';
    let letters = text(args, 0).chars().map(|c| {
        let starts = before.is_whitespace();
        before = c;
        if starts { lower(c) } else { c }
    });
    call.text(letters.collect::<String>())
}

fn initials(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let words = text(args, 0).split_whitespace();
    call.text(
        words
            .filter_map(|word| word.chars().next())
            .collect::<String>(),
    )
}

fn swapcase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut after_space = true;
    let letters = text(args, 0).chars().map(|c| {
        if c.is_uppercase() {
            after_space = false;
            return lower(c);
        }
        if c.is_lowercase() {
            after_space = false;
            return upper(c);
        }
        after_space = c.is_whitespace();
        c
    });
    call.text(letters.collect::<String>())
}

fn connects(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// `some_words here` to `SomeWordsHere`: drops one connector of each run and capitalizes the next
/// letter. Connectors at the start stay.
fn camelcase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let whole = text(args, 0);
    let body = whole.trim_start_matches(connects);
    let mut out = whole[..whole.len() - body.len()].to_owned();
    let mut letters = body.chars();
    let Some(first) = letters.next() else {
        // If the text has only connectors, Go repeats the last one.
        out.extend(whole.chars().next_back());
        return call.text(out);
    };
    let mut last = upper(first);
    let mut word_is_capital = first.is_uppercase();
    for letter in letters {
        let mut c = letter;
        match (connects(c), connects(last)) {
            (true, true) => out.push(last),
            (false, true) => {
                word_is_capital = c.is_uppercase();
                c = upper(c);
            }
            (_, false) => {
                if word_is_capital {
                    match c.is_uppercase() {
                        true => c = lower(c),
                        false => word_is_capital = false,
                    }
                }
                out.push(last);
            }
        }
        last = c;
    }
    out.push(last);
    call.text(out)
}

/// The class of a run of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    None,
    Number,
    Capitals,
    Letters,
    Connector,
    Punctuation,
    Other,
}

/// `SomeWords` to `some_words`.
fn separated(whole: &str, connector: char) -> String {
    let mut out = String::with_capacity(whole.len() + 8);
    let (mut run, mut word, mut rest) = next_run(whole);
    while !rest.is_empty() {
        if run != Run::Connector {
            push_word(&mut out, run, word, connector);
        }
        let (before, last) = (run, word);
        (run, word, rest) = next_run(rest);
        match before {
            Run::Number => {
                while matches!(run, Run::Letters | Run::Number) {
                    push_word(&mut out, run, word, connector);
                    (run, word, rest) = next_run(rest);
                }
                if !matches!(run, Run::None | Run::Punctuation | Run::Connector) {
                    out.push(connector);
                }
            }
            Run::Connector => push_word(&mut out, before, last, connector),
            Run::Punctuation => {}
            _ if run != Run::Number => {
                if !matches!(run, Run::Connector | Run::Punctuation) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => (run, word, rest) = behind_number(&mut out, (run, word, rest), connector),
        }
    }
    push_word(&mut out, run, word, connector);
    out
}

/// Handles digits after a word: they belong to that word, unless small letters follow.
fn behind_number<'t>(
    out: &mut String,
    (_, digits, rest): (Run, &'t str, &'t str),
    connector: char,
) -> (Run, &'t str, &'t str) {
    let (mut run, mut word, mut rest) = next_run(rest);
    if run != Run::Letters {
        push_word(out, Run::Number, digits, connector);
        if !matches!(run, Run::Connector | Run::Punctuation) {
            out.push(connector);
        }
        return (run, word, rest);
    }
    out.push(connector);
    push_word(out, Run::Number, digits, connector);
    while matches!(run, Run::Letters | Run::Number) {
        push_word(out, run, word, connector);
        (run, word, rest) = next_run(rest);
    }
    if !matches!(run, Run::None | Run::Connector | Run::Punctuation) {
        out.push(connector);
    }
    (run, word, rest)
}

fn push_word(out: &mut String, run: Run, word: &str, connector: char) {
    match run {
        Run::Capitals => out.extend(word.chars().map(lower)),
        Run::Connector => out.extend(word.chars().map(|_| connector)),
        _ => out.push_str(word),
    }
}

/// The first run: its class, its characters and the remaining text.
fn next_run(text: &str) -> (Run, &str, &str) {
    let Some(first) = text.chars().next() else {
        return (Run::None, "", "");
    };
    let (run, length) = match run_of(first) {
        Run::Capitals => (Run::Capitals, capitals(text)),
        Run::Letters => (Run::Letters, small_letters(text)),
        run => {
            let end = text.find(|c| run_of(c) != run).unwrap_or(text.len());
            (run, end)
        }
    };
    let (word, rest) = text.split_at(length);
    (run, word, rest)
}

fn run_of(c: char) -> Run {
    match c {
        c if connects(c) => Run::Connector,
        c if is_punctuation(c) => Run::Punctuation,
        c if c.is_uppercase() => Run::Capitals,
        c if c.is_alphabetic() => Run::Letters,
        c if c.is_numeric() => Run::Number,
        _ => Run::Other,
    }
}

/// Whether the character is punctuation. In ASCII according to Unicode, where `$+<=>^|~` and the
/// backtick are symbols.
fn is_punctuation(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c),
        false => {
            matches!(c, '\u{00A1}' | '\u{00A7}' | '\u{00AB}' | '\u{00B6}' | '\u{00B7}' | '\u{00BB}' | '\u{00BF}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}' | '\u{3001}'..='\u{3003}')
        }
    }
}

/// The length of a capital and the letters that belong to it: small letters, or further capitals up
/// to the last one before small letters.
fn capitals(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((second_at, second)) = chars.next() else {
        return text.len();
    };
    if !second.is_uppercase() {
        return match second.is_alphabetic() {
            true => second_at + small_letters(&text[second_at..]),
            false => second_at,
        };
    }
    let mut last = second_at;
    for (at, c) in chars {
        if !c.is_uppercase() {
            return if c.is_alphabetic() { last } else { at };
        }
        last = at;
    }
    text.len()
}

fn small_letters(text: &str) -> usize {
    text.find(|c: char| !c.is_alphabetic() || c.is_uppercase())
        .unwrap_or(text.len())
}
