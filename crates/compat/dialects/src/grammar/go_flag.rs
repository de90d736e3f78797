//! Go's `flag` package: `-x` and `--x` are equivalent, `-x=v` or `-x v`, booleans only as `-x=v`,
//! `--` ends the flags.
//!
//! Prints the package's messages, byte for byte, if a command line is invalid.

use crate::go_text::quoted;
use drumfire_plan::secret;
use std::fmt::Write as _;

/// The type of a flag's value; decides how the value is parsed and listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No value, or a boolean after `=`.
    Bool,
    /// A whole number.
    Int,
    /// An unsigned whole number.
    Uint,
    /// A floating-point number.
    Float,
    /// A span of time.
    Span,
    /// Any text.
    Text,
    /// Text in a special form; may be repeated.
    Value,
}

/// Whether the tool's listings contain a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Yes: the flag belongs to the original tool.
    Yes,
    /// No: the flag is an addition, and the original's listings stay unchanged.
    No,
}

/// One flag of a tool whose flags are stored in an `A`.
pub(crate) struct Flag<A> {
    /// The name, without the dash.
    pub(crate) name: &'static str,
    /// The type of the value.
    pub(crate) kind: Kind,
    /// The default as the tool prints it.
    pub(crate) default: &'static str,
    /// The help text.
    pub(crate) help: &'static str,
    /// Whether the flag is listed.
    pub(crate) listed: Listed,
    /// Stores the value; a boolean without one gets `true`.
    pub(crate) set: fn(&mut A, &str) -> Result<(), BadValue>,
}

/// The reason why a flag refuses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadValue {
    /// The value does not have the flag's type.
    Syntax,
    /// The value exceeds 64 bits.
    Range,
    /// The flag's parser refuses the value, with this message.
    Form(&'static str),
}

impl BadValue {
    /// The words after the colon of a message.
    const fn words(self) -> &'static str {
        match self {
            Self::Syntax => "parse error",
            Self::Range => "value out of range",
            Self::Form(words) => words,
        }
    }
}

/// The position of flags among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagPlacement {
    /// Before the first argument that is not a flag, as in the package. Arguments after it are
    /// returned unparsed.
    First,
    /// Before, between and after the other arguments.
    Anywhere,
}

/// The reason why the arguments can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `-h` or `-help` was given and the tool has no such flag; the tool exits with 0.
    HelpWanted,
    /// A mistake; the tool prints this line and its usage, and exits with 2.
    Mistake(String),
}

/// Parses the arguments into `into`, and returns the arguments that are not flags, in order.
pub(crate) fn parse<A>(
    flags: &[Flag<A>],
    placement: FlagPlacement,
    args: &[String],
    into: &mut A,
) -> Result<Vec<String>, Failure> {
    let mut others = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        // A single dash is an ordinary word.
        let word = arg.len() < 2 || !arg.starts_with('-');
        if arg == "--" || (word && placement == FlagPlacement::First) {
            others.extend(word.then(|| arg.clone()));
            others.extend(rest.cloned());
            break;
        }
        if word {
            others.push(arg.clone());
        } else {
            read_flag(flags, arg, &mut rest, into)?;
        }
    }
    Ok(others)
}

/// Parses one flag, which starts with a dash and is longer, and its value.
fn read_flag<'a, A>(
    flags: &[Flag<A>],
    arg: &str,
    rest: &mut impl Iterator<Item = &'a String>,
    into: &mut A,
) -> Result<(), Failure> {
    let body = arg.strip_prefix("--").unwrap_or_else(|| &arg[1..]);
    if body.is_empty() || body.starts_with(['-', '=']) {
        return Err(Failure::Mistake(format!("bad flag syntax: {arg}")));
    }
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
        return Err(match name {
            "help" | "h" => Failure::HelpWanted,
            _ => Failure::Mistake(format!("flag provided but not defined: -{name}")),
        });
    };
    let (value, prefix, suffix) = match (flag.kind, value) {
        (Kind::Bool, value) => (value.unwrap_or("true"), "boolean value", ""),
        (_, Some(value)) => (value, "value", "flag "),
        (_, None) => match rest.next() {
            Some(value) => (value.as_str(), "value", "flag "),
            None => {
                let message = format!("flag needs an argument: -{name}");
                return Err(Failure::Mistake(message));
            }
        },
    };
    (flag.set)(into, value).map_err(|why| {
        // An invalid value may be a misplaced secret.
        let shown = match why {
            BadValue::Form(_) => secret::line_without_colon(value),
            BadValue::Syntax | BadValue::Range => secret::excerpt(value),
        };
        let (value, why) = (quoted(&shown), why.words());
        Failure::Mistake(format!(
            "invalid {prefix} {value} for {suffix}-{name}: {why}"
        ))
    })
}

/// The package's usage text, which it prints after a mistake.
pub(crate) fn usage<A>(program: &str, flags: &[Flag<A>]) -> String {
    format!("Usage of {program}:\n{}", defaults(flags))
}

/// The package's list of flags and their defaults.
pub(crate) fn defaults<A>(flags: &[Flag<A>]) -> String {
    let mut out = String::new();
    for flag in flags.iter().filter(|flag| flag.listed == Listed::Yes) {
        let (type_name, zero) = match flag.kind {
            Kind::Bool => ("", "false"),
            Kind::Int => (" int", "0"),
            Kind::Uint => (" uint", "0"),
            Kind::Float => (" float", "0"),
            Kind::Span => (" duration", "0s"),
            Kind::Text => (" string", ""),
            Kind::Value => (" value", ""),
        };
        let head = format!("  -{}{type_name}", flag.name);
        // After a one-letter boolean, the help text fits on the same line.
        let gap = if head.len() <= 4 { "\t" } else { "\n    \t" };
        let default = match flag.kind {
            _ if flag.default == zero => String::new(),
            Kind::Text => format!(" (default {})", quoted(flag.default)),
            _ => format!(" (default {})", flag.default),
        };
        // Writing to a String can't fail.
        let _ = writeln!(out, "{head}{gap}{}{default}", flag.help);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::go_number::{boolean, integer};
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Args {
        count: i64,
        name: String,
        yes: bool,
    }

    const FLAGS: &[Flag<Args>] = &[
        Flag {
            name: "count",
            kind: Kind::Int,
            default: "0",
            help: "How many",
            listed: Listed::Yes,
            set: |args, text| {
                args.count = integer(text)?;
                Ok(())
            },
        },
        Flag {
            name: "name",
            kind: Kind::Text,
            default: "it",
            help: "What",
            listed: Listed::Yes,
            set: |args, text| {
                if text == "bad" {
                    return Err(BadValue::Form("not that"));
                }
                text.clone_into(&mut args.name);
                Ok(())
            },
        },
        Flag {
            name: "y",
            kind: Kind::Bool,
            default: "false",
            help: "Say yes",
            listed: Listed::Yes,
            set: |args, text| {
                args.yes = boolean(text)?;
                Ok(())
            },
        },
        Flag {
            name: "z",
            kind: Kind::Bool,
            default: "false",
            help: "Ours",
            listed: Listed::No,
            set: |_, text| boolean(text).map(drop),
        },
    ];

    fn read(placement: FlagPlacement, line: &[&str]) -> Result<(Args, Vec<String>), Failure> {
        let line: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let mut args = Args::default();
        let others = parse(FLAGS, placement, &line, &mut args)?;
        Ok((args, others))
    }

    fn first(line: &[&str]) -> Result<(Args, Vec<String>), Failure> {
        read(FlagPlacement::First, line)
    }

    fn mistake(line: &[&str]) -> String {
        match first(line) {
            Err(Failure::Mistake(text)) => text,
            other => panic!("{line:?}: {other:?}"),
        }
    }

    #[test]
    fn a_value_stands_behind_an_equals_sign_or_next() {
        for line in [
            ["-count", "5", "-name", "x"].as_slice(),
            &["--count", "5", "--name", "x"],
            &["-count=5", "--name=x"],
            &["-count=9", "-name", "y", "-count=5", "-name=x"],
        ] {
            let (args, others) = first(line).unwrap();
            assert_eq!((args.count, args.name.as_str()), (5, "x"), "{line:?}");
            assert!(others.is_empty());
        }
        assert_eq!(first(&["-name", "-count"]).unwrap().0.name, "-count");
        assert_eq!(first(&["-name=a=b"]).unwrap().0.name, "a=b");
        assert_eq!(first(&["-name="]).unwrap().0.name, "");
    }

    #[test]
    fn a_boolean_takes_no_word() {
        let (args, others) = first(&["-y", "false"]).unwrap();
        assert!(args.yes);
        assert_eq!(others, ["false"]);
        assert!(!first(&["-y", "-y=F"]).unwrap().0.yes);
    }

    #[test]
    fn flags_end_at_the_first_word_unless_they_may_follow() {
        let line = ["-count", "1", "word", "-count", "2", "-", "--", "-y"];
        let (args, others) = first(&line).unwrap();
        assert_eq!(args.count, 1);
        assert_eq!(others, ["word", "-count", "2", "-", "--", "-y"]);

        let (args, others) = read(FlagPlacement::Anywhere, &line).unwrap();
        assert_eq!((args.count, args.yes), (2, false));
        assert_eq!(others, ["word", "-", "-y"]);

        assert_eq!(first(&["--", "-count"]).unwrap().1, ["-count"]);
        assert_eq!(first(&["", "x"]).unwrap().1, ["", "x"]);
    }

    #[test]
    fn mistakes_are_told_in_the_packages_words() {
        for (line, text) in [
            (["-foo"].as_slice(), "flag provided but not defined: -foo"),
            (&["--foo=1"], "flag provided but not defined: -foo"),
            (
                &["-count", "x"],
                r#"invalid value "x" for flag -count: parse error"#,
            ),
            (
                &["-count=99999999999999999999"],
                r#"invalid value "99999999999999999999" for flag -count: value out of range"#,
            ),
            (&["-count"], "flag needs an argument: -count"),
            (
                &["-y=maybe"],
                r#"invalid boolean value "maybe" for -y: parse error"#,
            ),
            (&["-y="], r#"invalid boolean value "" for -y: parse error"#),
            (
                &["-name", "bad"],
                r#"invalid value "bad" for flag -name: not that"#,
            ),
            (&["---y"], "bad flag syntax: ---y"),
            (&["-=x"], "bad flag syntax: -=x"),
            (&["--=x"], "bad flag syntax: --=x"),
        ] {
            assert_eq!(mistake(line), text);
        }
    }

    #[test]
    fn help_is_wanted_where_it_is_no_flag() {
        for line in [["-h"], ["--help"], ["-help=x"]] {
            assert_eq!(first(&line), Err(Failure::HelpWanted));
        }
    }

    #[test]
    fn usage_lists_what_is_listed() {
        let text = "Usage of tool:\n  -count int\n    \tHow many\n  -name string\n    \tWhat (default \"it\")\n  -y\tSay yes\n";
        assert_eq!(usage("tool", FLAGS), text);
    }
}
