//! Deliberate faults, and their text forms.

use crate::grpc_code::GrpcCode;
use drumfire_units::{ByteSize, Nanos, Xoshiro256};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The reason why a text does not describe a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFaultError {
    text: String,
    remedy: &'static str,
}

impl ParseFaultError {
    fn new(text: &str, remedy: &'static str) -> Self {
        Self {
            text: text.chars().take(64).collect(),
            remedy,
        }
    }
}

impl fmt::Display for ParseFaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.text.escape_default(), self.remedy)
    }
}

impl std::error::Error for ParseFaultError {}

/// A probability, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chance(f64);

impl Chance {
    /// The event never happens.
    pub const NEVER: Self = Self(0.0);
    /// The event always happens.
    pub const ALWAYS: Self = Self(1.0);

    /// Whether the event happens this time. 0 and 1 draw no random number.
    pub(crate) fn happens(self, random: &mut Xoshiro256) -> bool {
        self.0 >= 1.0 || (self.0 > 0.0 && random.unit() < self.0)
    }

    /// Whether the result is always the same.
    pub(crate) fn is_certain(self) -> bool {
        self == Self::NEVER || self == Self::ALWAYS
    }
}

impl FromStr for Chance {
    type Err = ParseFaultError;

    /// Parses `0.01` or `1%`.
    ///
    /// # Errors
    /// If the text is not a number from 0 to 1 (0 % to 100 %).
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let (number, scale) = match text.strip_suffix('%') {
            Some(number) => (number, 100.0),
            None => (text, 1.0),
        };
        number
            .parse::<f64>()
            .ok()
            .map(|value| value / scale)
            .filter(|value| (0.0..=1.0).contains(value))
            .map(Self)
            .ok_or_else(|| ParseFaultError::new(text, "a probability; use 0.01 or 1%"))
    }
}

/// A status that replaces 200 with a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatusOdds {
    /// The status, 200 to 599.
    status: u16,
    chance: Chance,
}

impl StatusOdds {
    /// The status for this request, if it replaces 200.
    pub(crate) fn draw(self, random: &mut Xoshiro256) -> Option<u16> {
        self.chance.happens(random).then_some(self.status)
    }

    /// Whether the result is always the same.
    pub(crate) fn is_certain(self) -> bool {
        self.chance.is_certain()
    }
}

impl FromStr for StatusOdds {
    type Err = ParseFaultError;

    /// Parses `500:0.01`, `503:10%`, or `404` (always).
    ///
    /// # Errors
    /// If the status is not in 200 to 599 or the probability is malformed.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let fail = || {
            ParseFaultError::new(
                text,
                "a status with a probability; use 500:0.01, or 404 for always (200 to 599)",
            )
        };
        let (status, chance) = match text.split_once(':') {
            Some((status, chance)) => (status, chance.parse().map_err(|_| fail())?),
            None => (text, Chance::ALWAYS),
        };
        let status = status.parse::<u16>().map_err(|_| fail())?;
        if !(200..=599).contains(&status) {
            return Err(fail());
        }
        Ok(Self { status, chance })
    }
}

/// A gRPC code that replaces OK with a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeOdds {
    code: GrpcCode,
    chance: Chance,
}

impl CodeOdds {
    /// The code for this call, if it replaces OK.
    pub(crate) fn draw(self, random: &mut Xoshiro256) -> Option<GrpcCode> {
        self.chance.happens(random).then_some(self.code)
    }
}

impl FromStr for CodeOdds {
    type Err = ParseFaultError;

    /// Parses `UNAVAILABLE:0.01`, `14:1%`, or `INTERNAL` (always).
    ///
    /// # Errors
    /// If the code is unknown or the probability is malformed.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let fail = || {
            ParseFaultError::new(
                text,
                "a gRPC code with a probability; use UNAVAILABLE:0.01, 14:1%, or INTERNAL for \
                 always",
            )
        };
        let (code, chance) = match text.split_once(':') {
            Some((code, chance)) => (code, chance.parse().map_err(|_| fail())?),
            None => (text, Chance::ALWAYS),
        };
        let code = GrpcCode::parse(code).ok_or_else(fail)?;
        Ok(Self { code, chance })
    }
}

/// A body that is sent slowly, in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drip {
    /// Bytes per piece; never zero.
    pub(crate) size: u64,
    /// The time between two pieces; the first is sent with the head.
    pub(crate) interval: Nanos,
}

impl FromStr for Drip {
    type Err = ParseFaultError;

    /// Parses `10/5ms`, `1kB/1s`.
    ///
    /// # Errors
    /// If the size is zero or malformed, or the interval is malformed or longer than an hour.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let fail = || ParseFaultError::new(text, "a drip; use BYTES/INTERVAL such as 10/5ms");
        let (size, interval) = text.split_once('/').ok_or_else(fail)?;
        let size = size.parse::<ByteSize>().map_err(|_| fail())?.0;
        let interval = interval.parse::<Nanos>().map_err(|_| fail())?;
        if size == 0 || interval > crate::law::DELAY_MAX {
            return Err(fail());
        }
        Ok(Self { size, interval })
    }
}

/// A server that stops completely for the last `length` of each `period`, counted from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The time in which nothing is accepted, read or written; never zero.
    length: Nanos,
    /// The time between the starts of two stalls; longer than `length`.
    period: Nanos,
}

impl Stall {
    /// The stall in the period that contains `since_start`: active, or the next one.
    pub(crate) fn next(self, since_start: Nanos) -> Range<Nanos> {
        let end = (since_start.0 / self.period.0 + 1) * self.period.0;
        Nanos(end - self.length.0)..Nanos(end)
    }
}

impl FromStr for Stall {
    type Err = ParseFaultError;

    /// Parses `1s/10s`: for 1 s of every 10 s.
    ///
    /// # Errors
    /// If a duration is malformed or zero, or the length is not below the period.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let fail = || {
            ParseFaultError::new(
                text,
                "a stall; use LENGTH/PERIOD such as 1s/10s, with LENGTH below PERIOD",
            )
        };
        let (length, period) = text.split_once('/').ok_or_else(fail)?;
        let length = length.parse::<Nanos>().map_err(|_| fail())?;
        let period = period.parse::<Nanos>().map_err(|_| fail())?;
        if length == Nanos::ZERO || length >= period || period.0 > u64::MAX / 4 {
            return Err(fail());
        }
        Ok(Self { length, period })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses() {
        assert_eq!("1%".parse(), Ok(Chance(0.01)));
        assert_eq!("1".parse(), Ok(Chance::ALWAYS));
        let odds = "500:0.01".parse::<StatusOdds>().unwrap();
        assert_eq!((odds.status, odds.chance), (500, Chance(0.01)));
        assert_eq!(odds.draw(&mut Xoshiro256::new(0, 0)), None);
        let always = "404".parse::<StatusOdds>().unwrap();
        assert_eq!(always.draw(&mut Xoshiro256::new(0, 0)), Some(404));
        let odds = "unavailable:1".parse::<CodeOdds>().unwrap();
        assert_eq!(odds.draw(&mut Xoshiro256::new(0, 0)), Some(GrpcCode(14)));
        assert_eq!(
            "14".parse::<CodeOdds>().map(|odds| odds.code),
            Ok(GrpcCode(14))
        );
        let drip = "1kB/5ms".parse::<Drip>().unwrap();
        assert_eq!((drip.size, drip.interval), (1_000, Nanos::from_millis(5)));
    }

    #[test]
    fn refuses_with_the_right_form() {
        for text in ["", "2", "-0.1", "101%", "NaN", "often"] {
            let error = text.parse::<Chance>().unwrap_err().to_string();
            assert!(error.contains("0.01 or 1%"), "{error}");
        }
        for text in ["", "100", "600", "500:2", "ok:0.1"] {
            assert!(text.parse::<StatusOdds>().is_err(), "{text}");
        }
        for text in ["", "17", "LOST", "INTERNAL:2"] {
            assert!(text.parse::<CodeOdds>().is_err(), "{text}");
        }
        for text in ["", "10", "0/1ms", "10/2h", "10/5"] {
            assert!(text.parse::<Drip>().is_err(), "{text}");
        }
        for text in ["", "1s", "10s/10s", "0/10s", "11s/10s"] {
            assert!(text.parse::<Stall>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_stall_is_the_last_part_of_each_period() {
        let stall = "1s/10s".parse::<Stall>().unwrap();
        for (millis, start, end) in [
            (0, 9, 10),
            (9_500, 9, 10),
            (10_000, 19, 20),
            (19_999, 19, 20),
        ] {
            let expected = Nanos::from_secs(start)..Nanos::from_secs(end);
            assert_eq!(stall.next(Nanos::from_millis(millis)), expected);
        }
    }

    #[test]
    fn a_chance_comes_true_as_often_as_it_says() {
        let mut random = Xoshiro256::new(1, 0);
        let chance = "0.25".parse::<Chance>().unwrap();
        let count = (0..100_000).filter(|_| chance.happens(&mut random)).count();
        assert!((24_500..25_500).contains(&count), "{count}");
        assert!(!Chance::NEVER.happens(&mut random) && Chance::ALWAYS.happens(&mut random));
    }
}
