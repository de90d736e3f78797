//! Command lines as kingpin parses them: `--name=value` or `--name value`, `-n5`, combined switches
//! such as `-eb`, `--no-name`, and arguments from a file after `@`.
//!
//! Prints kingpin's messages, byte for byte, if a command line is invalid.

use crate::go_text::{open_failed, quoted};
use std::collections::VecDeque;
use std::io;

/// The type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No value; `--no-` before the name switches it off.
    Switch,
    /// A value, with its default as the help shows it.
    Value(&'static str),
}

/// How many times a flag may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurs {
    /// Once.
    Once,
    /// Any number of times.
    Often,
}

/// One flag of a tool whose flags are stored in an `A`.
pub(crate) struct Flag<A> {
    /// The name, without the dashes.
    pub(crate) name: &'static str,
    /// The letter, if the flag has one.
    pub(crate) short: Option<char>,
    /// The type of the value.
    pub(crate) kind: Kind,
    /// How many times the flag may occur.
    pub(crate) occurs: Occurs,
    /// The help text.
    pub(crate) help: &'static str,
    /// Stores the value; a switch gets `true` or `false`.
    pub(crate) set: fn(&mut A, &str) -> Result<(), Refusal>,
}

/// The reason why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The parser's message, which is followed by a hint at the help.
    Parser(String),
    /// The tool's message, printed alone.
    Tool(String),
}

/// A parsed command line whose values are not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The indices of the flags in the table, and their values.
    pub(crate) flags: Vec<(usize, String)>,
    /// Words that are not flags.
    pub(crate) words: Vec<String>,
}

/// A piece of a command line.
enum Token {
    Word(String),
    Short(char, Option<String>),
    Long(String, Option<String>),
}

/// The arguments that are not parsed yet.
struct ArgumentTokens<'a> {
    rest: VecDeque<String>,
    read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
    /// True after `--`: all further arguments are words.
    words_only: bool,
    /// The number of argument files read.
    files: usize,
}

/// Argument files may refer to each other; more than this many are taken for a cycle.
const FILES_MAX: usize = 64;

impl ArgumentTokens<'_> {
    /// The next argument; an argument file is replaced by its lines. A single `@` is a word: for
    /// ghz it means standard input.
    fn next_text(&mut self) -> Result<Option<String>, String> {
        loop {
            let Some(text) = self.rest.pop_front() else {
                return Ok(None);
            };
            let path = text.strip_prefix('@').filter(|path| !path.is_empty());
            let Some(path) = path.filter(|_| !self.words_only) else {
                return Ok(Some(text));
            };
            self.files += 1;
            let failed = |why: &str| {
                let path = quoted(path);
                format!("failed to open arguments file {path}: {why}")
            };
            if self.files > FILES_MAX {
                return Err(failed("argument files include each other in a circle"));
            }
            let bytes = (self.read)(path).map_err(|error| failed(&open_failed(path, &error)))?;
            let text = String::from_utf8(bytes).map_err(|_| failed("it is not valid UTF-8"))?;
            let lines = text
                .lines()
                .filter(|line| !line.is_empty() && !line.starts_with('#'));
            for line in lines.rev() {
                self.rest.push_front(line.to_owned());
            }
        }
    }

    fn next(&mut self) -> Result<Option<Token>, String> {
        let Some(text) = self.next_text()? else {
            return Ok(None);
        };
        if self.words_only {
            return Ok(Some(Token::Word(text)));
        }
        if text == "--" {
            self.words_only = true;
            return self.next();
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            return Ok(Some(Token::Long(name.to_owned(), value)));
        }
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            // A list whose first part is a dash is not a flag.
            (Some('-'), Some(letter)) if letter != ',' => {
                let rest = letters.as_str();
                let rest = (!rest.is_empty()).then(|| rest.to_owned());
                Ok(Some(Token::Short(letter, rest)))
            }
            _ => Ok(Some(Token::Word(text))),
        }
    }
}

/// Splits a command line into flags and words. Values are not checked yet.
///
/// # Errors
/// In kingpin's words.
pub(crate) fn split<A>(
    table: &[Flag<A>],
    args: &[String],
    read: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Line, String> {
    let mut tokens = ArgumentTokens {
        rest: args.iter().cloned().collect(),
        read,
        words_only: false,
        files: 0,
    };
    let mut line = Line::default();
    while let Some(token) = tokens.next()? {
        let (place, value) = match token {
            Token::Word(word) => {
                line.words.push(word);
                continue;
            }
            Token::Long(name, value) => long(table, &name, value, &mut tokens)?,
            Token::Short(letter, rest) => short(table, letter, rest, &mut tokens)?,
        };
        let flag = &table[place];
        let repeated = line.flags.iter().any(|(given, _)| *given == place);
        if repeated && flag.occurs == Occurs::Once {
            return Err(format!("flag '{}' cannot be repeated", flag.name));
        }
        line.flags.push((place, value));
    }
    Ok(line)
}

/// Parses a long flag and its value.
fn long<A>(
    table: &[Flag<A>],
    name: &str,
    value: Option<String>,
    tokens: &mut ArgumentTokens<'_>,
) -> Result<(usize, String), String> {
    let find = |name: &str| table.iter().position(|flag| flag.name == name);
    let switched_off = || {
        let place = name.strip_prefix("no-").and_then(find)?;
        (table[place].kind == Kind::Switch).then_some(place)
    };
    let Some(place) = find(name) else {
        return match switched_off() {
            Some(place) => Ok((place, "false".to_owned())),
            None => Err(format!("unknown long flag '--{name}'")),
        };
    };
    let value = match (table[place].kind, value) {
        // kingpin would take the value of a switch for the host; here it belongs to the switch.
        (Kind::Switch, value) => value.unwrap_or_else(|| "true".to_owned()),
        (Kind::Value(_), Some(value)) => value,
        (Kind::Value(_), None) => argument(tokens, &format!("--{name}"))?,
    };
    Ok((place, value))
}

/// Parses a short flag and its value, which may follow immediately; letters after a switch are
/// flags too.
fn short<A>(
    table: &[Flag<A>],
    letter: char,
    rest: Option<String>,
    tokens: &mut ArgumentTokens<'_>,
) -> Result<(usize, String), String> {
    let found = table.iter().position(|flag| flag.short == Some(letter));
    let place = found.ok_or_else(|| format!("unknown short flag '-{letter}'"))?;
    let value = match (table[place].kind, rest) {
        (Kind::Switch, rest) => {
            if let Some(letters) = rest {
                tokens.rest.push_front(format!("-{letters}"));
            }
            "true".to_owned()
        }
        (Kind::Value(_), Some(rest)) => rest,
        (Kind::Value(_), None) => argument(tokens, &format!("-{letter}"))?,
    };
    Ok((place, value))
}

/// The word after a flag, as its value.
fn argument(tokens: &mut ArgumentTokens<'_>, flag: &str) -> Result<String, String> {
    match tokens.next()? {
        Some(Token::Word(word)) => Ok(word),
        _ => Err(format!("expected argument for flag '{flag}'")),
    }
}

/// The columns of the help text.
const WIDTH: usize = 80;
/// The maximum width of the first column, which has the flags; the second has their help.
const LEFT_MAX: usize = 30;

/// The usage text: flags in two columns, then the arguments.
pub(crate) fn usage<A>(program: &str, table: &[Flag<A>], argument: (&str, &str)) -> String {
    let mut out = format!("usage: {program} [<flags>] [<{}>]\n\nFlags:\n", argument.0);
    for flag in table {
        let letter = match flag.short {
            Some(letter) => format!("  -{letter}, --{}", flag.name),
            None => format!("      --{}", flag.name),
        };
        let left = match flag.kind {
            Kind::Switch => letter,
            Kind::Value(default) => format!("{letter}={default}"),
        };
        two_columns(&mut out, &left, flag.help);
    }
    out.push_str(&format!(
        "\nArgs:\n  [<{}>]  {}\n\n",
        argument.0, argument.1
    ));
    out
}

/// A line of the usage text; the right column is wrapped between words.
fn two_columns(out: &mut String, left: &str, right: &str) {
    let indent = LEFT_MAX + 3;
    let mut line = if left.len() > LEFT_MAX {
        out.push_str(left);
        out.push_str("  \n");
        " ".repeat(indent)
    } else {
        format!("{left:indent$}")
    };
    let mut empty = true;
    for word in right.split(' ') {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = " ".repeat(indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(name: &'static str, short: Option<char>, kind: Kind) -> Flag<()> {
        Flag {
            name,
            short,
            kind,
            occurs: Occurs::Once,
            help: "",
            set: |(), _| Ok(()),
        }
    }

    fn read(path: &str) -> io::Result<Vec<u8>> {
        match path {
            "two" => Ok(b"-n\n# what follows\n5\n".to_vec()),
            "circle" => Ok(b"@circle\n".to_vec()),
            _ => Err(io::Error::from_raw_os_error(2)),
        }
    }

    fn line(args: &[&str]) -> Result<Line, String> {
        let table = [
            flag("total", Some('n'), Kind::Value("")),
            flag("data", Some('d'), Kind::Value("")),
            flag("insecure", None, Kind::Switch),
            flag("gzip", Some('e'), Kind::Switch),
        ];
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        split(&table, &args, &read)
    }

    fn given(args: &[&str]) -> Vec<(usize, String)> {
        line(args).unwrap().flags
    }

    #[test]
    fn values_follow_in_every_form() {
        for args in [
            ["-n", "5"].as_slice(),
            &["-n5"],
            &["--total=5"],
            &["--total", "5"],
            &["@two"],
        ] {
            assert_eq!(given(args), [(0, "5".to_owned())], "{args:?}");
        }
        assert_eq!(given(&["-d", "@"]), [(1, "@".to_owned())]);
        assert_eq!(given(&["-d@"]), [(1, "@".to_owned())]);
        assert_eq!(given(&["--total=-5"]), [(0, "-5".to_owned())]);
        assert_eq!(given(&["-d", "-,b"]), [(1, "-,b".to_owned())]);
    }

    #[test]
    fn switches_stand_together_and_are_taken_back() {
        let on = |place| (place, "true".to_owned());
        assert_eq!(given(&["-en5"]), [on(3), (0, "5".to_owned())]);
        assert_eq!(given(&["--insecure"]), [on(2)]);
        assert_eq!(given(&["--no-insecure"]), [(2, "false".to_owned())]);
        assert_eq!(given(&["--insecure=false"]), [(2, "false".to_owned())]);
        assert_eq!(line(&["--", "-n", "@two"]).unwrap().words, ["-n", "@two"]);
    }

    #[test]
    fn mistakes_are_told_in_the_packages_words() {
        for (args, text) in [
            (["--bogus"].as_slice(), "unknown long flag '--bogus'"),
            (&["--no-total"], "unknown long flag '--no-total'"),
            (&["-q"], "unknown short flag '-q'"),
            (&["-n"], "expected argument for flag '-n'"),
            (&["--total", "-5"], "expected argument for flag '--total'"),
            (&["-n1", "--total=2"], "flag 'total' cannot be repeated"),
            (
                &["@none"],
                "failed to open arguments file \"none\": open none: no such file or directory",
            ),
            (
                &["@circle"],
                "failed to open arguments file \"circle\": argument files include each other in a \
                 circle",
            ),
        ] {
            assert_eq!(line(args), Err(text.to_owned()));
        }
    }
}
