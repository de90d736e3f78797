//! How arrivals are spread at a given rate.

use std::fmt;
use std::str::FromStr;

/// How arrivals are spread at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly, exactly by the law.
    #[default]
    Constant,
    /// As a Poisson process of the same rate, with the plan's seed.
    Poisson,
    /// With independent gaps from a gamma distribution of this shape, with the plan's seed. The mean
    /// rate is the law's. Below shape 1, arrivals come in bursts; shape 1 is a Poisson process.
    Gamma(Shape),
}

/// The shape of a gamma distribution, in thousandths, from 0.01 to 1,000. The coefficient of
/// variation of the gaps is 1/√shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(u32);

impl Shape {
    /// The minimum, in thousandths. Below it, nearly all gaps are too short for a clock.
    const LEAST: u32 = 10;
    /// The maximum, in thousandths. Above it, the gaps are as good as constant.
    const MOST: u32 = 1_000_000;

    /// The shape of this many thousandths; `None` if it is out of range.
    #[must_use]
    pub const fn from_thousandths(thousandths: u32) -> Option<Self> {
        match thousandths {
            Self::LEAST..=Self::MOST => Some(Self(thousandths)),
            _ => None,
        }
    }

    /// The shape in thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u32 {
        self.0
    }

    /// The shape as a number.
    #[must_use]
    pub fn number(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }

    /// Parses a decimal number with at most three decimals.
    fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > 3 {
            return None;
        }
        let thousandths = format!("{whole}{decimals:0<3}").parse().ok()?;
        Self::from_thousandths(thousandths)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// Why a text does not describe arrivals: the mistake and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalsError(String);

impl fmt::Display for ArrivalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArrivalsError {}

impl FromStr for Arrivals {
    type Err = ArrivalsError;

    /// Parses `constant`, `poisson` or `gamma:0.5`.
    fn from_str(text: &str) -> Result<Self, ArrivalsError> {
        let shown = text.escape_debug();
        match (text, text.strip_prefix("gamma")) {
            ("constant", _) => Ok(Self::Constant),
            ("poisson", _) => Ok(Self::Poisson),
            (_, Some(rest)) => {
                let shape = rest.strip_prefix(':').and_then(Shape::parse);
                let wrong = || {
                    let message = "write a shape from 0.01 to 1000, with at most three decimals, \
                                   such as gamma:0.5";
                    ArrivalsError(format!("`{shown}` has no valid shape; {message}"))
                };
                shape.map(Self::Gamma).ok_or_else(wrong)
            }
            (_, None) => Err(ArrivalsError(format!(
                "unknown kind of arrivals `{shown}`; use `constant`, `poisson` or `gamma:SHAPE`"
            ))),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Poisson => f.write_str("poisson"),
            Self::Gamma(shape) => write!(f, "gamma:{shape}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, Shape};

    #[test]
    fn arrivals_are_read_and_written() {
        for text in ["constant", "poisson", "gamma:0.5", "gamma:1", "gamma:0.025"] {
            let read: Arrivals = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
        }
        let shape = Shape::from_thousandths(250).expect("a shape");
        assert_eq!("gamma:0.250".parse(), Ok(Arrivals::Gamma(shape)));
        for (text, part) in [
            ("gamma", "no valid shape"),
            ("gamma:", "such as gamma:0.5"),
            ("gamma:0", "from 0.01"),
            ("gamma:0.0099", "three decimals"),
            ("gamma:1001", "to 1000"),
            ("gamma:-1", "no valid shape"),
            ("gamma:1e3", "no valid shape"),
            ("gamma:.5", "no valid shape"),
            (
                "uniform",
                "unknown kind of arrivals `uniform`; use `constant`",
            ),
        ] {
            let error = text.parse::<Arrivals>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
