//! Generated values: a function of a seed, the row and the column.
//!
//! The name, user name and e-mail address of a row belong to one person.

use super::words::{CITIES, FIRST_NAMES, LAST_NAMES, WORDS};
use crate::Random;
use crate::date::{day_of, push_date};
use crate::integer::push_integer;
use minijinja::Value;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

/// The place of the random numbers of a row's person. Those of a column have its number as place.
const PERSON: u64 = 1 << 32;
/// Keeps the random numbers of feeds different from those of templates.
const LANE: u64 = 0x6665_6564_7321;
/// The maximum length of a text, in words or letters.
const LENGTH_MAX: u64 = 1 << 16;

/// The kinds of generated values, each with an example of its arguments.
pub const KINDS: [(&str, &str); 12] = [
    ("name", ""),
    ("username", ""),
    ("email", ""),
    ("city", ""),
    ("words", "3"),
    ("int", "1..100"),
    ("decimal", "0..1"),
    ("bool", ""),
    ("uuid", ""),
    ("letters", "8"),
    ("date", "2000-01-01..2029-12-31"),
    ("choice", "a | b"),
];

/// Kinds that other generators of data have, each with the replacement here.
const OTHERS: [(&str, &str); 6] = [
    ("first_name last_name", "`name`"),
    ("word", "`words 1`"),
    ("sentence", "`words 8`"),
    ("digits card phone postcode", "`int 100000..999999`"),
    ("hex", "`letters 16` or `uuid`"),
    (
        "street country address company time ipv4 ipv6 mac color user_agent",
        "`choice A | B`, or a CSV file of values",
    ),
];

/// The kind of value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A first and a last name.
    Name,
    /// The name in lower case and the row's number.
    Username,
    /// An address at example.com, .org or .net, different for each row.
    Email,
    /// A city.
    City,
    /// Words, separated by spaces.
    Words(u64),
    /// A whole number, both ends included.
    Int(i64, i64),
    /// A decimal number; the ends are in units of the last digit.
    Decimal {
        /// The minimum.
        from: i64,
        /// The maximum.
        to: i64,
        /// The number of decimals.
        digits: u32,
    },
    /// True or false.
    Bool,
    /// A random UUID.
    Uuid,
    /// Letters and digits.
    Letters(u64),
    /// A day between two days, both included, in days since 1970-01-01.
    Date(i64, i64),
    /// One of a list.
    Choice(Arc<[String]>),
}

impl FromStr for Kind {
    type Err = String;

    /// Reads a kind's name and its arguments: `int 1..6`, `words 5`, `choice a | b`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let given = rest.trim();
        let Some((_, usual)) = KINDS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(name));
        };
        if usual.is_empty() && !given.is_empty() {
            return Err(format!("`{name}` takes no arguments"));
        }
        let value = match given {
            "" if name == "choice" => "",
            "" => usual,
            given => given,
        };
        let kind = Self::with(name, value);
        kind.ok_or_else(|| format!("invalid `{name}`; write it as in `{name} {usual}`"))
    }
}

/// The error for an unknown kind, with the kind to write instead.
fn unknown(name: &str) -> String {
    let shown = name.escape_default();
    let mut others = OTHERS.iter();
    let near = match others.find(|(names, _)| names.split(' ').any(|other| other == name)) {
        Some((_, instead)) => format!("; write {instead}"),
        None => {
            let known = KINDS.map(|(known, _)| known);
            match drumfire_plan::suggestion(name, known) {
                none if none.is_empty() => format!("; the kinds are {}", known.join(", ")),
                near => near,
            }
        }
    };
    format!("unknown kind of generated value `{shown}`{near}")
}

impl Kind {
    /// The kind with this name and these arguments; `None` if the arguments are invalid.
    fn with(name: &str, value: &str) -> Option<Self> {
        let length = || {
            let length = value.parse().ok();
            length.filter(|length| (1..=LENGTH_MAX).contains(length))
        };
        let ends = || {
            let (from, to) = value.split_once("..")?;
            Some((from.trim(), to.trim()))
        };
        Some(match name {
            "name" => Self::Name,
            "username" => Self::Username,
            "email" => Self::Email,
            "city" => Self::City,
            "bool" => Self::Bool,
            "uuid" => Self::Uuid,
            "words" => Self::Words(length()?),
            "letters" => Self::Letters(length()?),
            "int" => {
                let (from, to) = ends()?;
                let (from, to) = (from.parse().ok()?, to.parse().ok()?);
                (from <= to).then_some(Self::Int(from, to))?
            }
            "decimal" => {
                let (from, to) = ends()?;
                let decimals = |text: &str| text.split_once('.').map_or(0, |(_, tail)| tail.len());
                // `0..1` means hundredths; otherwise the ends have the wanted decimals.
                let digits = match decimals(from).max(decimals(to)) {
                    0 => 2,
                    digits => u32::try_from(digits).ok()?,
                };
                let (from, to) = (scaled(from, digits)?, scaled(to, digits)?);
                (from <= to).then_some(Self::Decimal { from, to, digits })?
            }
            "date" => {
                let (from, to) = ends()?;
                let (from, to) = (day_of(from)?, day_of(to)?);
                (from <= to).then_some(Self::Date(from, to))?
            }
            "choice" => {
                let all: Vec<String> = value.split('|').map(|one| one.trim().to_owned()).collect();
                (!value.is_empty()).then(|| Self::Choice(all.into()))?
            }
            _ => return None,
        })
    }
}

/// A decimal number in units of its last digit.
fn scaled(text: &str, digits: u32) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let sign = whole.strip_prefix('-');
    let whole = sign.unwrap_or(whole);
    if whole.is_empty() || !numeric(whole) || !numeric(decimals) {
        return None;
    }
    let width = usize::try_from(digits).ok()?;
    let number: i64 = format!("{whole}{decimals:0<width$}").parse().ok()?;
    Some(if sign.is_some() { -number } else { number })
}

/// A table of generated values.
#[derive(Clone, Debug)]
pub struct Generated {
    columns: Vec<(String, Kind)>,
    rows: u64,
    seed: u64,
}

impl Generated {
    /// A table with these columns. Needs at least one column and one row.
    #[must_use]
    pub const fn new(columns: Vec<(String, Kind)>, rows: u64, seed: u64) -> Self {
        Self {
            columns,
            rows,
            seed,
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn value(&self, row: u64, column: usize) -> Value {
        match self.columns.get(column) {
            None => Value::UNDEFINED,
            Some((_, Kind::Int(from, to))) => {
                Value::from(self.random(row, column as u64).int(*from, *to))
            }
            Some((_, Kind::Bool)) => Value::from(self.random(row, column as u64).below(2) == 1),
            Some(_) => {
                let mut text = String::new();
                self.push(row, column, &mut text);
                Value::from(text)
            }
        }
    }

    const fn random(&self, row: u64, place: u64) -> Random {
        Random::new(self.seed, row, LANE, place)
    }

    pub(super) fn push(&self, row: u64, column: usize, out: &mut String) {
        let Some((_, kind)) = self.columns.get(column) else {
            return;
        };
        match kind {
            Kind::Name | Kind::Username | Kind::Email => {
                push_person(kind, row, &mut self.random(row, PERSON), out);
            }
            other => push(other, &mut self.random(row, column as u64), out),
        }
    }
}

/// One of a list.
const fn one<'a>(list: &'a [&'a str], random: &mut Random) -> &'a str {
    list[random.below(list.len() as u64) as usize]
}

/// Appends a name of the row's person, or a unique name made of it.
fn push_person(kind: &Kind, row: u64, random: &mut Random, out: &mut String) {
    let start = out.len();
    out.push_str(one(FIRST_NAMES, random));
    out.push(if *kind == Kind::Name { ' ' } else { '.' });
    out.push_str(one(LAST_NAMES, random));
    if *kind == Kind::Name {
        return;
    }
    out[start..].make_ascii_lowercase();
    push_integer(row, out);
    if *kind == Kind::Email {
        let ends = ["@example.com", "@example.org", "@example.net"];
        out.push_str(one(&ends, random));
    }
}

/// Appends a value that depends only on its column and row.
fn push(kind: &Kind, random: &mut Random, out: &mut String) {
    match kind {
        Kind::City => out.push_str(one(CITIES, random)),
        Kind::Words(count) => {
            for n in 0..*count {
                if n > 0 {
                    out.push(' ');
                }
                out.push_str(one(WORDS, random));
            }
        }
        Kind::Choice(all) => out.push_str(&all[random.below(all.len() as u64) as usize]),
        Kind::Letters(length) => random.letters(*length as usize, out),
        Kind::Bool => out.push_str(if random.below(2) == 1 {
            "true"
        } else {
            "false"
        }),
        Kind::Int(from, to) => push_number(random.int(*from, *to), 0, out),
        Kind::Decimal { from, to, digits } => push_number(random.int(*from, *to), *digits, out),
        Kind::Date(from, to) => {
            push_date(from + random.below((to - from + 1) as u64) as i64, out);
        }
        _ => random.uuid(out),
    }
}

/// Appends a number in units of its last decimal.
fn push_number(number: i64, digits: u32, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    let number = number.unsigned_abs();
    let unit = 10_u64.pow(digits.min(18));
    push_integer(number / unit, out);
    if digits > 0 {
        let width = digits as usize;
        // Writing to a string does not fail.
        let _ = write!(out, ".{:0width$}", number % unit);
    }
}

#[cfg(test)]
mod tests {
    use super::{Generated, KINDS, Kind};

    fn feed(kinds: &[&str], seed: u64) -> Generated {
        let kinds = kinds
            .iter()
            .map(|kind| ((*kind).to_owned(), kind.parse().expect(kind)));
        Generated::new(kinds.collect(), 100, seed)
    }

    fn text(feed: &Generated, row: u64, column: usize) -> String {
        let mut out = String::new();
        feed.push(row, column, &mut out);
        out
    }

    #[test]
    fn every_kind_gives_a_value_that_its_seed_decides() {
        let names: Vec<String> = KINDS
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (one, other) = (feed(&names, 1), feed(&names, 2));
        for (column, name) in names.iter().enumerate() {
            let column_of = |feed: &Generated| -> Vec<String> {
                (0..50).map(|row| text(feed, row, column)).collect()
            };
            let values = column_of(&one);
            assert!(values.iter().all(|value| !value.is_empty()), "{name}");
            assert_eq!(values, column_of(&feed(&names, 1)), "{name}");
            assert_ne!(values, column_of(&other), "{name}");
            let shown = one.value(7, column).to_string().to_lowercase();
            assert_eq!(shown, values[7].to_lowercase(), "{name}");
        }
    }

    #[test]
    fn the_values_of_a_row_belong_together() {
        let feed = feed(&["name", "email", "username"], 3);
        for row in 0..50 {
            let all: Vec<String> = (0..3).map(|column| text(&feed, row, column)).collect();
            let own = format!("{}{row}", all[0].to_lowercase().replace(' ', "."));
            assert_eq!(all[2], own);
            assert!(all[1].starts_with(&format!("{own}@example.")), "{all:?}");
        }
    }

    #[test]
    fn ranges_hold_and_reach_their_ends() {
        let feed = feed(
            &[
                "int -1..1",
                "decimal 0.5..0.7",
                "decimal 1..2",
                "date 2024-02-28..2024-03-01",
            ],
            3,
        );
        let column = |column| -> std::collections::BTreeSet<String> {
            (0..100).map(|row| text(&feed, row, column)).collect()
        };
        let all = |column_number| {
            column(column_number)
                .into_iter()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(all(0), "-1 0 1");
        assert_eq!(all(1), "0.5 0.6 0.7");
        assert!(column(2).iter().all(|value| value.len() == 4));
        assert_eq!(all(3), "2024-02-28 2024-02-29 2024-03-01");
    }

    #[test]
    fn what_is_no_kind_is_refused_with_what_is() {
        for (text, message) in [
            (
                "nam",
                "unknown kind of generated value `nam`; did you mean `name`?",
            ),
            ("name 5", "`name` takes no arguments"),
            ("int 2..1", "invalid `int`; write it as in `int 1..100`"),
            ("int", ""),
            ("letters 0", "invalid `letters`; write it as in `letters 8`"),
            (
                "zip",
                "unknown kind of generated value `zip`; the kinds are name, username, email, city, words, int, decimal, bool, uuid, letters, date, choice",
            ),
            (
                "sentence",
                "unknown kind of generated value `sentence`; write `words 8`",
            ),
            (
                "ipv4",
                "unknown kind of generated value `ipv4`; write `choice A | B`, or a CSV file of values",
            ),
            ("choice", "invalid `choice`; write it as in `choice a | b`"),
            (
                "date 2024-02-30..2024-03-01",
                "invalid `date`; write it as in `date 2000-01-01..2029-12-31`",
            ),
            (
                "decimal 1..x",
                "invalid `decimal`; write it as in `decimal 0..1`",
            ),
        ] {
            let error = text.parse::<Kind>().err().unwrap_or_default();
            assert_eq!(error, message, "{text}");
        }
    }
}
