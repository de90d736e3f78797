//! Pandora's functions: `uuid`, `randInt` and `randString`.

use super::known::quoted;
use drumfire_units::Random;
use serde_json::Value as Json;

/// The functions.
const NAMES: [&str; 3] = ["uuid", "randInt", "randString"];

/// The letters of random texts.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// The maximum length of a random text in a source.
const LETTERS_MAX: u64 = 1 << 20;

/// Splits `name(a, b)` into the name and the arguments; `None` if the text is not a function call.
pub(super) fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = text.split_once('(')?;
    let inner = rest.trim_end().strip_suffix(')')?;
    let args = inner.split(',').map(str::trim);
    Some((name.trim(), args.filter(|arg| !arg.is_empty()).collect()))
}

/// Whether a function of this name exists.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The message on an unknown function.
pub(super) fn unknown(name: &str) -> String {
    let name = name.escape_debug();
    format!("unknown function `{name}`; use uuid, randInt or randString")
}

/// The maximum number of arguments of `randInt` and `randString`.
pub(super) const ARGUMENTS_MAX: usize = 2;

/// The message on a call with more arguments.
pub(super) fn too_many(name: &str) -> String {
    format!("{name} takes at most two arguments")
}

/// The minimum and the maximum of `randInt`.
pub(super) fn bounds(args: &[i64]) -> Result<(i64, i64), String> {
    match *args {
        [] | [0] | [0, 0] => Ok((0, 9)),
        [to] => Ok((0.min(to), 0.max(to) - 1)),
        [from, to] if from == to => Ok((from, from)),
        [from, to] => Ok((from.min(to), from.max(to) - 1)),
        _ => Err(too_many("randInt")),
    }
}

/// A function with literal arguments as an expression.
pub(super) fn expression(name: &str, args: &[&str]) -> Result<String, String> {
    match name {
        "uuid" => Ok("new_uuid()".to_owned()),
        "randInt" => {
            let (least, most) = bounds(&numbers(args)?)?;
            Ok(format!("random_int({least}, {most})"))
        }
        "randString" if args.len() > ARGUMENTS_MAX => Err(too_many(name)),
        "randString" => {
            let length = args.first().map_or(Ok(1), |length| length.parse::<u64>());
            let length = length.map_err(|_| format!("`{}` is not a length", args[0]))?;
            let letters = args.get(1).map(|letters| letters.trim_matches('"'));
            let letters =
                letters.map_or_else(String::new, |letters| format!(" {}", quoted(letters)));
            let text = format!("{{{{randString {length}{letters}}}}}");
            Ok(format!("{} | go({{}})", quoted(&text)))
        }
        other => Err(unknown(other)),
    }
}

fn numbers(args: &[&str]) -> Result<Vec<i64>, String> {
    let number = |arg: &&str| arg.parse().map_err(|_| format!("`{arg}` is not a number"));
    args.iter().map(number).collect()
}

/// Checks that the functions among the values of a source can be called.
///
/// # Errors
/// The first mistake.
pub(super) fn check(value: &Json) -> Result<(), String> {
    match value {
        Json::String(text) => match call(text) {
            Some((name, args))
                if is_known(name) && once(text, &mut Random::from_state(0)).is_none() =>
            {
                Err(expression(name, &args)
                    .err()
                    .unwrap_or_else(|| format!("`{text}` is not a valid call")))
            }
            _ => Ok(()),
        },
        Json::Array(values) => values.iter().try_for_each(check),
        Json::Object(members) => members.values().try_for_each(check),
        _ => Ok(()),
    }
}

/// The values of a source, with each function evaluated once.
pub(super) fn evaluated(value: &Json, random: &mut Random) -> Json {
    match value {
        Json::String(text) => match once(text, random) {
            Some(made) => Json::String(made),
            None => value.clone(),
        },
        Json::Array(values) => values
            .iter()
            .map(|value| evaluated(value, random))
            .collect(),
        Json::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), evaluated(value, random)))
                .collect()
        }
        other => other.clone(),
    }
}

/// The value of a function call; `None` if the text is not a call.
fn once(text: &str, random: &mut Random) -> Option<String> {
    let (name, args) = call(text)?;
    match name {
        "uuid" => {
            let mut text = String::new();
            random.uuid(&mut text);
            Some(text)
        }
        "randInt" => {
            let (least, most) = bounds(&numbers(&args).ok()?).ok()?;
            let span = most.abs_diff(least) + 1;
            Some(
                least
                    .wrapping_add_unsigned(random.bits() % span)
                    .to_string(),
            )
        }
        "randString" if args.len() <= ARGUMENTS_MAX => {
            let length = args
                .first()
                .map_or(Some(1), |length| length.parse::<u64>().ok())?;
            let letters = args.get(1).copied().unwrap_or(LETTERS);
            let letters: Vec<char> = letters.trim_matches('"').chars().collect();
            let count = letters.len().max(1) as u64;
            let length = length.clamp(1, LETTERS_MAX);
            let letter = |_| letters.get((random.bits() % count) as usize);
            Some((0..length).filter_map(letter).collect())
        }
        _ => None,
    }
}
