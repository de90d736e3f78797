//! Values that are made up, row by row, from a seed and built-in words.
//!
//! A row is a person at an address, so that a name and an e-mail address of one row belong
//! together. Every value is a function of the seed, the row and, where it belongs to neither, the
//! column.

use super::words::{
    CITIES, COMPANY_KINDS, COMPANY_WORDS, FIRST_NAMES, LAST_NAMES, STREETS, USER_AGENTS, WORDS,
};
use crate::Random;
use crate::date::{day_of, push_date};
use crate::integer::push_integer;
use minijinja::Value;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

/// Where the values of a row's person begin; those of a column begin at its number.
const PERSON: u64 = 1 << 32;
/// Where the values of a row's address begin.
const ADDRESS: u64 = 2 << 32;
/// Sets the draws of feeds apart from those of templates.
const LANE: u64 = 0x6665_6564_7321;
/// Texts are at most this long.
const LENGTH_MAX: u64 = 1 << 16;

/// The kinds of generated values with what may stand behind their names.
pub const KINDS: [(&str, &str); 31] = [
    ("first_name", ""),
    ("last_name", ""),
    ("name", ""),
    ("username", ""),
    ("email", ""),
    ("phone", ""),
    ("street", ""),
    ("city", ""),
    ("postcode", ""),
    ("country", ""),
    ("address", ""),
    ("company", ""),
    ("word", ""),
    ("words", "3"),
    ("sentence", ""),
    ("int", "1..100"),
    ("decimal", "0..1"),
    ("bool", ""),
    ("uuid", ""),
    ("hex", "16"),
    ("letters", "8"),
    ("digits", "6"),
    ("date", "2000-01-01..2029-12-31"),
    ("time", ""),
    ("ipv4", ""),
    ("ipv6", ""),
    ("mac", ""),
    ("color", ""),
    ("card", ""),
    ("user_agent", ""),
    ("choice", "a | b"),
];

/// The kind of value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A first name.
    FirstName,
    /// A last name.
    LastName,
    /// Both.
    Name,
    /// Letters, a dot and the row's number.
    Username,
    /// An address at example.com, .org or .net, another for each row.
    Email,
    /// A telephone number that is reserved for fiction.
    Phone,
    /// A number and a street.
    Street,
    /// A city.
    City,
    /// Five digits.
    Postcode,
    /// The city's country.
    Country,
    /// All of them.
    Address,
    /// The name of a company.
    Company,
    /// Words with blanks between them.
    Words(u64),
    /// Some words, a capital and a full stop.
    Sentence,
    /// A whole number, both ends included.
    Int(i64, i64),
    /// A number with digits behind the point: ends in units of the last digit.
    Decimal {
        /// The smallest.
        from: i64,
        /// The largest.
        to: i64,
        /// How many digits.
        digits: u32,
    },
    /// True or false.
    Bool,
    /// A random UUID.
    Uuid,
    /// Hexadecimal digits.
    Hex(u64),
    /// Letters and digits.
    Letters(u64),
    /// Decimal digits.
    Digits(u64),
    /// A day from one to another, both included, counted from 1970-01-01.
    Date(i64, i64),
    /// A time of day, to the second.
    Time,
    /// An address in 10.0.0.0/8.
    Ipv4,
    /// An address in fd00::/8.
    Ipv6,
    /// A locally administered address.
    Mac,
    /// As `#1f2e3d`.
    Color,
    /// Sixteen digits with a right last one, of a range that no bank has.
    Card,
    /// What a browser says of itself.
    UserAgent,
    /// One of a list.
    Choice(Arc<[String]>),
}

impl FromStr for Kind {
    type Err = String;

    /// Reads a kind's name, and what stands behind it: `int 1..6`, `words 5`, `choice a | b`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let given = rest.trim();
        let Some((_, usual)) = KINDS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = KINDS.iter().map(|(known, _)| *known).collect();
            let near = match drumfire_plan::suggestion(name, known.iter().copied()) {
                none if none.is_empty() => format!("; the kinds are {}", known.join(", ")),
                near => near,
            };
            let shown = name.escape_default();
            return Err(format!("unknown kind of generated value `{shown}`{near}"));
        };
        if usual.is_empty() && !given.is_empty() {
            return Err(format!("`{name}` takes no arguments"));
        }
        let value = match given {
            "" if name == "choice" => "",
            "" => usual,
            given => given,
        };
        let kind = Self::simple(name).or_else(|| Self::with(name, value));
        kind.ok_or_else(|| format!("invalid `{name}`; write it as in `{name} {usual}`"))
    }
}

impl Kind {
    /// The kinds that are no more than a name.
    fn simple(name: &str) -> Option<Self> {
        Some(match name {
            "first_name" => Self::FirstName,
            "last_name" => Self::LastName,
            "name" => Self::Name,
            "username" => Self::Username,
            "email" => Self::Email,
            "phone" => Self::Phone,
            "street" => Self::Street,
            "city" => Self::City,
            "postcode" => Self::Postcode,
            "country" => Self::Country,
            "address" => Self::Address,
            "company" => Self::Company,
            "word" => Self::Words(1),
            "sentence" => Self::Sentence,
            "bool" => Self::Bool,
            "uuid" => Self::Uuid,
            "time" => Self::Time,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "mac" => Self::Mac,
            "color" => Self::Color,
            "card" => Self::Card,
            "user_agent" => Self::UserAgent,
            _ => return None,
        })
    }

    /// The kinds that say something beyond their name.
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
            "words" => Self::Words(length()?),
            "hex" => Self::Hex(length()?),
            "letters" => Self::Letters(length()?),
            "digits" => Self::Digits(length()?),
            "int" => {
                let (from, to) = ends()?;
                let (from, to) = (from.parse().ok()?, to.parse().ok()?);
                (from <= to).then_some(Self::Int(from, to))?
            }
            "decimal" => {
                let (from, to) = ends()?;
                let behind = |text: &str| text.split_once('.').map_or(0, |(_, tail)| tail.len());
                // `0..1` means hundredths: as many as were written, or two.
                let digits = match behind(from).max(behind(to)) {
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
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let sign = whole.strip_prefix('-');
    let whole = sign.unwrap_or(whole);
    if whole.is_empty() || !numeric(whole) || !numeric(behind) {
        return None;
    }
    let width = usize::try_from(digits).ok()?;
    let number: i64 = format!("{whole}{behind:0<width$}").parse().ok()?;
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
    /// Columns and the kind of each; there is at least one, and at least one row.
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
            Kind::FirstName
            | Kind::LastName
            | Kind::Name
            | Kind::Username
            | Kind::Email
            | Kind::Phone => Person::new(self.random(row, PERSON), row).push(kind, out),
            Kind::Street | Kind::City | Kind::Postcode | Kind::Country | Kind::Address => {
                Address::new(self.random(row, ADDRESS)).push(kind, out);
            }
            other => push(other, &mut self.random(row, column as u64), out),
        }
    }
}

/// One of a list.
const fn one<'a, T: ?Sized>(list: &'a [&'a T], random: &mut Random) -> &'a T {
    list[random.below(list.len() as u64) as usize]
}

/// The person of a row.
struct Person {
    first: &'static str,
    last: &'static str,
    phone: u64,
    row: u64,
}

impl Person {
    fn new(mut random: Random, row: u64) -> Self {
        Self {
            first: one(FIRST_NAMES, &mut random),
            last: one(LAST_NAMES, &mut random),
            phone: random.below(80_000),
            row,
        }
    }

    fn push(&self, kind: &Kind, out: &mut String) {
        match kind {
            Kind::FirstName => out.push_str(self.first),
            Kind::LastName => out.push_str(self.last),
            Kind::Name => {
                out.push_str(self.first);
                out.push(' ');
                out.push_str(self.last);
            }
            Kind::Username => self.push_username(out),
            Kind::Email => {
                self.push_username(out);
                let ends = ["@example.com", "@example.org", "@example.net"];
                out.push_str(ends[(self.phone % 3) as usize]);
            }
            _ => {
                let (area, line) = (200 + self.phone / 100, self.phone % 100);
                // Writing to a string does not fail.
                let _ = write!(out, "+1-{area}-555-01{line:02}");
            }
        }
    }

    fn push_username(&self, out: &mut String) {
        let start = out.len();
        out.push_str(self.first);
        out.push('.');
        out.push_str(self.last);
        out[start..].make_ascii_lowercase();
        push_integer(self.row, out);
    }
}

/// The address of a row.
struct Address {
    number: u64,
    street: &'static str,
    city: &'static str,
    country: &'static str,
    postcode: u64,
}

impl Address {
    fn new(mut random: Random) -> Self {
        let (city, country) = CITIES[random.below(CITIES.len() as u64) as usize];
        Self {
            number: 1 + random.below(199),
            street: one(STREETS, &mut random),
            city,
            country,
            postcode: 10_000 + random.below(90_000),
        }
    }

    fn push(&self, kind: &Kind, out: &mut String) {
        match kind {
            Kind::City => out.push_str(self.city),
            Kind::Country => out.push_str(self.country),
            Kind::Postcode => push_integer(self.postcode, out),
            Kind::Street => {
                push_integer(self.number, out);
                out.push(' ');
                out.push_str(self.street);
            }
            _ => {
                let Self {
                    number,
                    street,
                    city,
                    country,
                    postcode,
                } = self;
                // Writing to a string does not fail.
                let _ = write!(out, "{number} {street}, {postcode} {city}, {country}");
            }
        }
    }
}

/// Appends a value that belongs to its column alone.
fn push(kind: &Kind, random: &mut Random, out: &mut String) {
    match kind {
        Kind::Company => {
            out.push_str(one(COMPANY_WORDS, random));
            out.push(' ');
            out.push_str(one(COMPANY_KINDS, random));
        }
        Kind::Words(count) => push_words(*count, random, out),
        Kind::Sentence => {
            let start = out.len();
            push_words(4 + random.below(9), random, out);
            out[start..=start].make_ascii_uppercase();
            out.push('.');
        }
        Kind::UserAgent => out.push_str(one(USER_AGENTS, random)),
        Kind::Choice(all) => out.push_str(&all[random.below(all.len() as u64) as usize]),
        Kind::Uuid => random.uuid(out),
        Kind::Letters(length) => random.letters(*length as usize, out),
        Kind::Hex(length) => push_digits(*length, 16, random, out),
        Kind::Digits(length) => push_digits(*length, 10, random, out),
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
        Kind::Card => push_card(random, out),
        other => push_address(other, random.bits(), out),
    }
}

/// Appends what is made of a few bits.
fn push_address(kind: &Kind, bits: u64, out: &mut String) {
    let byte = |n: u32| (bits >> (8 * n)) as u8;
    // Writing to a string does not fail.
    let _ = match kind {
        Kind::Time => {
            let second = bits % 86_400;
            let (hour, minute) = (second / 3600, second / 60 % 60);
            write!(out, "{hour:02}:{minute:02}:{:02}", second % 60)
        }
        Kind::Ipv4 => write!(out, "10.{}.{}.{}", byte(0), byte(1), 1 + byte(2) % 254),
        Kind::Ipv6 => {
            let part = |n: u32| (bits >> (16 * n)) as u16;
            write!(
                out,
                "fd00::{:x}:{:x}:{:x}:{:x}",
                part(0),
                part(1),
                part(2),
                part(3)
            )
        }
        Kind::Mac => {
            let [a, b, c, d, e] = [byte(0), byte(1), byte(2), byte(3), byte(4)];
            write!(out, "02:{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}")
        }
        _ => write!(out, "#{:06x}", bits & 0xff_ff_ff),
    };
}

fn push_words(count: u64, random: &mut Random, out: &mut String) {
    for n in 0..count {
        if n > 0 {
            out.push(' ');
        }
        out.push_str(one(WORDS, random));
    }
}

fn push_digits(length: u64, base: u64, random: &mut Random, out: &mut String) {
    for _ in 0..length {
        let digit = random.below(base) as u32;
        out.extend(char::from_digit(digit, base as u32));
    }
}

/// Appends a number of which the last digits stand behind the point.
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

/// Appends the number of a card that no bank issues (it begins with 9), with the last digit by
/// Luhn's formula: doubled from the right, every second digit, the digits of all add up to tens.
fn push_card(random: &mut Random, out: &mut String) {
    let drawn = random.below(100_000_000_000_000);
    let number = 900_000_000_000_000 + drawn;
    let mut sum = 0;
    let mut rest = number;
    for place in 0..15 {
        let digit = rest % 10;
        rest /= 10;
        let doubled = if place % 2 == 0 { 2 * digit } else { digit };
        sum += doubled / 10 + doubled % 10;
    }
    push_integer(number * 10 + (10 - sum % 10) % 10, out);
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
        let feed = feed(
            &[
                "name",
                "email",
                "first_name",
                "last_name",
                "city",
                "country",
                "address",
            ],
            3,
        );
        for row in 0..50 {
            let all: Vec<String> = (0..7).map(|column| text(&feed, row, column)).collect();
            assert_eq!(all[0], format!("{} {}", all[2], all[3]));
            let mail = format!("{}.{}{row}@example.", all[2], all[3]).to_lowercase();
            assert!(all[1].starts_with(&mail), "{all:?}");
            assert!(
                all[6].ends_with(&format!(" {}, {}", all[4], all[5])),
                "{all:?}"
            );
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
    fn cards_pass_the_check_of_their_digits() {
        let feed = feed(&["card"], 9);
        for row in 0..50 {
            let card = text(&feed, row, 0);
            let digits = card.bytes().rev().map(|byte| u32::from(byte - b'0'));
            let doubled = digits.enumerate().map(|(n, digit)| match n % 2 {
                0 => digit,
                _ => 2 * digit / 10 + 2 * digit % 10,
            });
            assert_eq!((card.len(), doubled.sum::<u32>() % 10), (16, 0), "{card}");
        }
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
            ("hex 0", "invalid `hex`; write it as in `hex 16`"),
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
