//! Mistakes that clap finds, with our own words: one line with the mistake, its place and a
//! correction, as in the messages of all other mistakes.

use crate::bare_url;
use crate::exit::Failure;
use crate::flags::{self, result_flags};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use drumfire_plan::secret;
use std::error::Error as _;

/// Converts the mistake to a failure. The first argument is the command.
pub(crate) fn failure(error: &clap::Error, args: &[String]) -> Failure {
    let mistake = Mistake { error, args };
    let known = mistake.negative_value().or_else(|| mistake.url_as_file());
    Failure::usage(known.unwrap_or_else(|| mistake.words()))
}

/// A mistake of clap, and the arguments in which it was found.
struct Mistake<'a> {
    error: &'a clap::Error,
    args: &'a [String],
}

impl Mistake<'_> {
    fn words(&self) -> String {
        let text = |kind| self.texts(kind).pop().unwrap_or_default();
        let place = || self.place(&text(ContextKind::InvalidArg));
        let value = || shown(&text(ContextKind::InvalidValue));
        match self.error.kind() {
            ErrorKind::UnknownArgument => self.unknown_argument(&text(ContextKind::InvalidArg)),
            ErrorKind::InvalidSubcommand => self.unknown_command(),
            ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
                self.missing_value(&text(ContextKind::InvalidArg))
            }
            ErrorKind::InvalidValue => {
                format!(
                    "{}: unknown value {}; use {}",
                    place(),
                    value(),
                    self.valid()
                )
            }
            ErrorKind::ValueValidation => {
                let why = self.error.source().map(ToString::to_string);
                let why = why.unwrap_or_else(|| "the value is invalid".to_owned());
                match why.contains(&text(ContextKind::InvalidValue)) {
                    true => format!("{}: {why}", place()),
                    false => format!("{}: {}: {why}", place(), value()),
                }
            }
            ErrorKind::TooManyValues => {
                format!("{} takes no value; leave out {}", place(), value())
            }
            ErrorKind::NoEquals => {
                let whole = text(ContextKind::InvalidArg);
                let (place, name) = (place(), value_name(&whole));
                format!("{place}: the equals sign is missing; write {place}={name}")
            }
            ErrorKind::ArgumentConflict => self.conflict(&text(ContextKind::InvalidArg)),
            ErrorKind::MissingRequiredArgument => self.missing(),
            ErrorKind::InvalidUtf8 => {
                let is_bad = |arg: &&String| arg.contains(char::REPLACEMENT_CHARACTER);
                let typed = self.args.iter().find(is_bad).map_or("", String::as_str);
                format!("{} is not valid UTF-8; write it in UTF-8", shown(typed))
            }
            _ => self.first_line(),
        }
    }

    /// Any other mistake: the first line of clap.
    fn first_line(&self) -> String {
        let text = self.error.render().to_string();
        let line = text.lines().next().unwrap_or_default();
        let line = line.strip_prefix("error: ").unwrap_or(line);
        format!("{line}; {}", self.help())
    }

    /// A flag, or another argument, that the command does not have.
    fn unknown_argument(&self, typed: &str) -> String {
        // A value after the equals sign of a letter.
        let is_letter = |arg: &str| arg.starts_with('-') && !arg.starts_with("--");
        let is_valued = |arg: &&String| is_letter(arg) && arg.contains('=');
        if typed == "-="
            && let Some(arg) = self.args.iter().find(is_valued)
        {
            let (flag, value) = arg.split_once('=').unwrap_or_default();
            let (flag, value) = (flag.escape_debug(), shown(value));
            return format!("{flag} takes no value; leave out {value}");
        }
        if !typed.starts_with('-') {
            return format!("unexpected argument {}; {}", shown(typed), self.usage());
        }
        let unknown = format!("unknown flag {}", shown(typed));
        match self.texts(ContextKind::SuggestedArg).pop() {
            Some(near) => format!("{unknown}; did you mean `{near}`?"),
            None => format!("{unknown}; {}", self.help()),
        }
    }

    fn unknown_command(&self) -> String {
        let typed = self.texts(ContextKind::InvalidSubcommand).pop();
        let unknown = format!("unknown command {}", shown(&typed.unwrap_or_default()));
        // The nearest name is the last.
        match self.texts(ContextKind::SuggestedSubcommand).pop() {
            Some(near) => format!("{unknown}; did you mean `{near}`?"),
            None => format!(
                "{unknown}; to list the commands, use `{} --help`",
                self.command()
            ),
        }
    }

    /// A flag at the end of the line, or before another flag.
    fn missing_value(&self, flag: &str) -> String {
        let place = self.place(flag);
        let missing = format!("{place}: the value is missing");
        match self.valid() {
            any if any.is_empty() => {
                let missing = format!("{missing}; write {place} {}", value_name(flag));
                match result_flags().any(|result| result == place) {
                    true => format!("{missing}, or {place} - for standard output"),
                    false => missing,
                }
            }
            valid => format!("{missing}; use {valid}"),
        }
    }

    /// The values that a flag may have, if they are few.
    fn valid(&self) -> String {
        let valid = self.texts(ContextKind::ValidValue);
        let valid = valid.iter().map(|value| format!("`{value}`"));
        listed(&valid.collect::<Vec<_>>(), "or")
    }

    fn conflict(&self, flag: &str) -> String {
        let place = self.place(flag);
        let others = self.texts(ContextKind::PriorArg);
        let others: Vec<String> = others.iter().map(|other| self.place(other)).collect();
        if others == [place.as_str()] {
            return match flag.starts_with("--data ") {
                true => {
                    format!("{place} is used more than once; join form fields as {place} 'a=1&b=2'")
                }
                false => format!("{place} is used more than once; use it once"),
            };
        }
        let others = match others.is_empty() {
            true => "the other flags".to_owned(),
            false => listed(&others, "and"),
        };
        format!("{place} can't be used with {others}; leave one of them out")
    }

    fn missing(&self) -> String {
        let names = self.texts(ContextKind::InvalidArg);
        let names: Vec<String> = names.iter().map(|name| choice(name)).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        format!("{} {are} missing; {}", listed(&names, "and"), self.usage())
    }

    /// A negative number after a flag, which clap reads as a flag.
    fn negative_value(&self) -> Option<String> {
        let is_number = |arg: &str| {
            let digits = arg.strip_prefix('-');
            digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        };
        let pair = self
            .args
            .windows(2)
            .find(|pair| pair[0].starts_with('-') && is_number(&pair[1]))?;
        (self.error.kind() == ErrorKind::UnknownArgument && !is_number(&pair[0])).then(|| {
            let (flag, value) = (pair[0].escape_debug(), pair[1].escape_default());
            format!("{flag}: `{value}` is below 0, which is not allowed")
        })
    }

    /// A URL after a flag that takes a file, so that the URL is missing.
    fn url_as_file(&self) -> Option<String> {
        if self.error.kind() != ErrorKind::MissingRequiredArgument {
            return None;
        }
        let is_url = |text: &str| text.contains("://") || bare_url::completed(text).is_some();
        let pair = self
            .args
            .windows(2)
            .find(|pair| result_flags().any(|flag| flag == pair[0]) && is_url(&pair[1]))?;
        let (flag, url) = (&pair[0], pair[1].escape_debug());
        Some(format!(
            "{flag} takes a file name, but got the URL; to write to standard output, use {flag} - {url}"
        ))
    }

    /// The texts of a part of the mistake; the usage is one.
    fn texts(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
            _ => Vec::new(),
        }
    }

    /// The name of a flag as the user typed it, or of another argument, without its value.
    fn place(&self, whole: &str) -> String {
        let name = whole.split([' ', '[', '=']).next().unwrap_or_default();
        let Some(long) = name.strip_prefix("--") else {
            return whole.trim_matches(['<', '>', '[', ']', '.']).to_owned();
        };
        let is_typed = |arg: &String| arg.split('=').next() == Some(name);
        let command = self.args.first().map_or("", String::as_str);
        let spellings = flags::spellings(command);
        let letter = spellings.iter().find(|(_, other)| other == long);
        match letter.filter(|_| !self.args.iter().any(is_typed)) {
            Some((letter, _)) => format!("-{letter}"),
            None => name.to_owned(),
        }
    }

    /// The first line that shows how the command is used, without its title.
    fn usage_line(&self) -> String {
        let usage = self.texts(ContextKind::Usage).pop().unwrap_or_default();
        let line = usage.lines().next().unwrap_or_default();
        line.strip_prefix("Usage:")
            .unwrap_or(line)
            .trim()
            .to_owned()
    }

    /// The correction if an argument is missing or in excess.
    fn usage(&self) -> String {
        match self.usage_line() {
            none if none.is_empty() => self.help(),
            line => format!("use `{line}`"),
        }
    }

    /// The command with the names of those above it.
    fn command(&self) -> String {
        let line = self.usage_line();
        let words = line.split(' ');
        let names = words.take_while(|word| !word.starts_with(['-', '<', '[']));
        let names: Vec<&str> = names.collect();
        match names.is_empty() {
            true => "drumfire".to_owned(),
            false => names.join(" "),
        }
    }

    /// The correction for a flag that resembles no other.
    fn help(&self) -> String {
        format!("to list the flags, use `{} --help`", self.command())
    }
}

/// The name of a flag's value: `FILE` of `--csv <FILE>` and of `--lines[=<FILE>]`.
fn value_name(flag: &str) -> &str {
    let name = flag.split_once('<').map_or("VALUE", |(_, name)| name);
    name.split('>').next().unwrap_or_default()
}

/// A text that the user typed, without secrets and control characters.
fn shown(typed: &str) -> String {
    format!("`{}`", secret::excerpt(typed).escape_debug())
}

/// The names of a required argument: `URL` of `<URL>...`, `--older-than or --keep` of
/// `<--older-than <TIME>|--keep <N>>`.
fn choice(required: &str) -> String {
    let bare = required.trim_end_matches('.');
    let group = bare
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let names = group.unwrap_or(bare).split('|').map(|one| {
        let name = one.split(' ').next().unwrap_or_default();
        name.trim_matches(['<', '>']).to_owned()
    });
    listed(&names.collect::<Vec<_>>(), "or")
}

/// `a`, `a or b`, `a, b or c`.
fn listed(names: &[String], last_word: &str) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {last_word} {last}", first.join(", ")),
    }
}
