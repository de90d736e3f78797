//! Parses a command line as Python's `argparse` does: `--flag VALUE` or `--flag=VALUE`, names may
//! be shortened as long as they are unambiguous, and `_` stands for `-`.

use super::flags::{self, FLAGS, Flag, FlagValues, Support};
use drumfire_plan::suggestion;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// The values of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Args {
    values: BTreeMap<&'static str, Vec<String>>,
}

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Help,
    Args(Args),
}

impl Args {
    /// Parses the words after `bench serve`.
    ///
    /// # Errors
    /// The mistake.
    pub(super) fn parse(words: &[String]) -> Result<Parsed, String> {
        let mut args = Self::default();
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let Some(rest) = word.strip_prefix("--").filter(|rest| !rest.is_empty()) else {
                if word == "-h" {
                    return Ok(Parsed::Help);
                }
                let shown = word.escape_debug();
                return Err(format!(
                    "unrecognized arguments: {shown}; flags begin with --"
                ));
            };
            let (name, inline) = match rest.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (rest, None),
            };
            if name == "help" {
                return Ok(Parsed::Help);
            }
            let flag = named(&name.replace('_', "-"))?;
            let mut values: Vec<&str> = inline.into_iter().collect();
            let most = match (flag.takes, inline) {
                (FlagValues::Nothing, Some(_)) => {
                    return Err(format!("argument --{}: it takes no value", flag.name));
                }
                (_, Some(_)) | (FlagValues::Nothing, None) => 0,
                (FlagValues::One, None) => 1,
                (FlagValues::Many, None) => usize::MAX,
            };
            while values.len() < most
                && let Some(value) = words.next_if(|word| is_value(word))
            {
                values.push(value);
            }
            if flag.takes != FlagValues::Nothing && values.is_empty() {
                return Err(format!("argument --{}: expected a value", flag.name));
            }
            if let Support::Refused(why) = flag.support {
                return Err(format!("--{} is not supported: {why}", flag.name));
            }
            let values = values.into_iter().map(str::to_owned).collect();
            args.values.insert(flag.name, values);
        }
        Ok(Parsed::Args(args))
    }

    /// Whether a flag was given.
    pub(super) fn has(&self, name: &'static str) -> bool {
        debug_assert!(flags::find(name).is_some(), "{name}");
        self.values.contains_key(name)
    }

    /// The value of a flag.
    pub(super) fn text(&self, name: &'static str) -> Option<&str> {
        self.values(name).first().map(String::as_str)
    }

    /// The values of a flag.
    pub(super) fn values(&self, name: &'static str) -> &[String] {
        debug_assert!(flags::find(name).is_some(), "{name}");
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of a flag, or its default.
    pub(super) fn or_default(&self, name: &'static str) -> &str {
        let default = || flags::find(name).map_or("", |flag| flag.default);
        self.text(name).unwrap_or_else(default)
    }

    /// A whole number, or the default of the flag.
    ///
    /// # Errors
    /// If it is not one.
    pub(super) fn count(&self, name: &'static str) -> Result<u64, String> {
        parsed(name, self.or_default(name), "a whole number such as 100")
    }

    /// A whole number without a default.
    ///
    /// # Errors
    /// If it is not one.
    pub(super) fn given_count(&self, name: &'static str) -> Result<Option<u64>, String> {
        self.has(name).then(|| self.count(name)).transpose()
    }

    /// A number, or the default of the flag.
    ///
    /// # Errors
    /// If it is not one.
    pub(super) fn number(&self, name: &'static str) -> Result<f64, String> {
        let number: f64 = parsed(name, self.or_default(name), "a number such as 1.5")?;
        match number.is_nan() {
            true => Err(mistake(name, "it is not a number")),
            false => Ok(number),
        }
    }

    /// Lines about flags without an effect.
    pub(super) fn notes(&self) -> Vec<String> {
        let given = FLAGS
            .iter()
            .filter(|flag| self.values.contains_key(flag.name));
        let notes = given.filter_map(|flag| match flag.support {
            Support::NoEffect(why) => Some(format!("--{} has no effect: {why}", flag.name)),
            Support::Yes | Support::Refused(_) => None,
        });
        notes.collect()
    }
}

/// A mistake in the value of a flag.
pub(super) fn mistake(name: &str, why: impl Display) -> String {
    format!("argument --{name}: {why}")
}

/// A value of a flag.
pub(super) fn parsed<T: FromStr>(name: &str, text: &str, wanted: &str) -> Result<T, String> {
    let wrong = |_| mistake(name, format!("`{}` is not {wanted}", text.escape_debug()));
    text.trim().parse().map_err(wrong)
}

/// Whether a word is a value: not a flag, but perhaps a negative number.
fn is_value(word: &str) -> bool {
    !word.starts_with('-') || word.parse::<f64>().is_ok()
}

/// The flag with this name, or the only one that begins with it.
fn named(name: &str) -> Result<&'static Flag, String> {
    if let Some(flag) = flags::find(name) {
        return Ok(flag);
    }
    let begins: Vec<&Flag> = FLAGS
        .iter()
        .filter(|flag| flag.name.starts_with(name))
        .collect();
    match begins.as_slice() {
        [one] => Ok(one),
        [] => {
            let names = FLAGS.iter().map(|flag| flag.name);
            let near = suggestion_with_dashes(name, names);
            let shown = name.escape_debug();
            Err(format!("unrecognized arguments: --{shown}{near}"))
        }
        several => {
            let several: Vec<String> = several
                .iter()
                .map(|flag| format!("--{}", flag.name))
                .collect();
            let shown = name.escape_debug();
            let several = several.join(", ");
            Err(format!("ambiguous option: --{shown} could match {several}"))
        }
    }
}

fn suggestion_with_dashes(name: &str, names: impl Iterator<Item = &'static str>) -> String {
    suggestion(name, names)
        .replace('`', "")
        .replacen("mean ", "mean --", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match Args::parse(&words)? {
            Parsed::Args(args) => Ok(args),
            Parsed::Help => Err("help".to_owned()),
        }
    }

    #[test]
    fn flags_are_read_as_argparse_reads_them() {
        let line = "--num-prompts=7 --request_rate 2.5 --header a=b c=d --save-result --maxc 4 \
                    --custom-output-len -1";
        let line = line.replace("--maxc", "--max-c");
        let args = parse(&line).expect("a command line");
        assert_eq!(args.count("num-prompts"), Ok(7));
        assert_eq!(args.number("request-rate"), Ok(2.5));
        assert_eq!(args.values("header"), ["a=b", "c=d"]);
        assert!(args.has("save-result"));
        assert_eq!(args.given_count("max-concurrency"), Ok(Some(4)));
        assert_eq!(args.text("custom-output-len"), Some("-1"));
        assert_eq!(args.count("port"), Ok(8000));
    }

    /// Each flag of the original is accepted, or refused with a reason.
    #[test]
    fn every_flag_has_an_answer() {
        for flag in FLAGS {
            let line = match flag.takes {
                FlagValues::Nothing => format!("--{}", flag.name),
                FlagValues::One | FlagValues::Many => format!("--{} 1", flag.name),
            };
            match (parse(&line), flag.support) {
                (Err(error), Support::Refused(why)) => {
                    let expected = format!("--{} is not supported: {why}", flag.name);
                    assert_eq!(error, expected);
                }
                (Ok(args), Support::NoEffect(_)) => assert_eq!(args.notes().len(), 1, "{line}"),
                (Ok(args), Support::Yes) => assert!(args.has(flag.name) && args.notes().is_empty()),
                (found, support) => panic!("{line}: {found:?} {support:?}"),
            }
        }
        assert_eq!(FLAGS.len(), 105);
    }

    #[test]
    fn mistakes_name_the_flag() {
        for (line, part) in [
            (
                "--num-promts 3",
                "unrecognized arguments: --num-promts; did you mean --num-prompts?",
            ),
            (
                "--random 3",
                "ambiguous option: --random could match --random-batch-size",
            ),
            ("--port", "argument --port: expected a value"),
            ("--insecure=1", "argument --insecure: it takes no value"),
            (
                "--hf-name a",
                "--hf-name is not supported: data sets are not downloaded",
            ),
            (
                "model",
                "unrecognized arguments: model; flags begin with --",
            ),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.starts_with(part), "{line}: {error}");
        }
        let args = parse("--port x").expect("a command line");
        let error = args.count("port").expect_err("a word");
        assert_eq!(
            error,
            "argument --port: `x` is not a whole number such as 100"
        );
    }
}
