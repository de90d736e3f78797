//! Arithmetic of floats. Sums and products are computed exactly, on the decimal numbers that floats
//! print as, so that 0.1 + 0.2 is 0.3.

use super::arguments::int;
use super::convert::to_float;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::Value;
use num_bigint::{BigInt, Sign};

pub(super) const FUNCTIONS: &[Row] = &[
    ("add1f", "a", |call, args| {
        let arguments = [args[0].clone(), Value::Float(1.0)];
        fold(call, &arguments, ShortestDecimal::plus)
    }),
    ("addf", "a*", |call, args| {
        let mut arguments = vec![Value::Float(0.0)];
        arguments.extend_from_slice(args);
        fold(call, &arguments, ShortestDecimal::plus)
    }),
    ("ceil", "a", |_, args| {
        Ok(Value::Float(to_float(&args[0]).ceil()))
    }),
    ("divf", "aa*", |call, args| {
        fold(call, args, ShortestDecimal::over)
    }),
    ("floor", "a", |_, args| {
        Ok(Value::Float(to_float(&args[0]).floor()))
    }),
    ("maxf", "aa*", |_, args| {
        extreme(args, |a, b| if b > a { b } else { a })
    }),
    ("minf", "aa*", |_, args| {
        extreme(args, |a, b| if b < a { b } else { a })
    }),
    ("mulf", "aa*", |call, args| {
        fold(call, args, ShortestDecimal::times)
    }),
    ("round", "aif*", round),
    ("subf", "aa*", |call, args| {
        fold(call, args, ShortestDecimal::minus)
    }),
];

/// The maximum or minimum; NaN if any number is NaN.
fn extreme(args: &[Value], choose: fn(f64, f64) -> f64) -> Result<Value, Fault> {
    let numbers = args.iter().map(to_float);
    let chosen = numbers.reduce(|a, b| match a.is_nan() || b.is_nan() {
        true => f64::NAN,
        false => choose(a, b),
    });
    Ok(Value::Float(chosen.unwrap_or(0.0)))
}

fn round(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let places = i32::try_from(int(args, 1)).unwrap_or(i32::MAX);
    let round_on = match args.get(2) {
        Some(Value::Float(threshold)) => *threshold,
        _ => 0.5,
    };
    let power = 10f64.powi(places);
    let scaled = power * to_float(&args[0]);
    let rounded = match scaled.fract() >= round_on {
        true => scaled.ceil(),
        false => scaled.floor(),
    };
    Ok(Value::Float(rounded / power))
}

fn fold(
    call: &mut Call<'_>,
    args: &[Value],
    operation: fn(&ShortestDecimal, &ShortestDecimal) -> Result<ShortestDecimal, Fault>,
) -> Result<Value, Fault> {
    let mut total: Option<ShortestDecimal> = None;
    for arg in args {
        let next = ShortestDecimal::from_float(to_float(arg))?;
        total = Some(match total {
            None => next,
            Some(total) => {
                call.work(1 + total.digits() / 64)?;
                operation(&total, &next)?
            }
        });
    }
    Ok(Value::Float(total.map_or(0.0, |total| total.to_float())))
}

/// The number of decimal places of a quotient.
const QUOTIENT_PLACES: i64 = 16;

/// `value` × 10^`exponent`
#[derive(Clone, Debug)]
struct ShortestDecimal {
    value: BigInt,
    exponent: i64,
}

impl ShortestDecimal {
    /// The shortest decimal number that parses as this float.
    fn from_float(number: f64) -> Result<Self, Fault> {
        if !number.is_finite() {
            let number = crate::format::float::shortest(number);
            return Err(format!("Cannot create a Decimal from {number}").into());
        }
        let form = format!("{number:e}");
        let (mantissa, exponent) = form.split_once('e').unwrap_or((&form, "0"));
        let places = mantissa
            .split_once('.')
            .map_or(0, |(_, part)| part.len() as i64);
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let digits = mantissa.replace('.', "");
        Ok(Self {
            value: digits.parse().unwrap_or_default(),
            exponent: exponent - places,
        })
    }

    fn to_float(&self) -> f64 {
        let text = format!("{}e{}", self.value, self.exponent);
        text.parse().unwrap_or(0.0)
    }

    fn digits(&self) -> usize {
        usize::try_from(self.value.bits()).unwrap_or(usize::MAX)
    }

    /// The integer value for a smaller exponent.
    fn scaled(&self, exponent: i64) -> BigInt {
        let places = u32::try_from(self.exponent - exponent).unwrap_or(0);
        &self.value * BigInt::from(10).pow(places)
    }

    fn plus(&self, other: &Self) -> Result<Self, Fault> {
        let exponent = self.exponent.min(other.exponent);
        Ok(Self {
            value: self.scaled(exponent) + other.scaled(exponent),
            exponent,
        })
    }

    fn minus(&self, other: &Self) -> Result<Self, Fault> {
        let exponent = self.exponent.min(other.exponent);
        Ok(Self {
            value: self.scaled(exponent) - other.scaled(exponent),
            exponent,
        })
    }

    fn times(&self, other: &Self) -> Result<Self, Fault> {
        Ok(Self {
            value: &self.value * &other.value,
            exponent: self.exponent + other.exponent,
        })
    }

    /// The quotient with sixteen decimal places, halves rounded away from zero.
    fn over(&self, other: &Self) -> Result<Self, Fault> {
        if other.value.sign() == Sign::NoSign {
            return Err("decimal division by 0".into());
        }
        let shift = self.exponent - other.exponent + QUOTIENT_PLACES;
        let power = BigInt::from(10).pow(u32::try_from(shift.unsigned_abs()).unwrap_or(0));
        let (dividend, divisor) = match shift >= 0 {
            true => (&self.value * power, other.value.clone()),
            false => (self.value.clone(), &other.value * power),
        };
        let quotient = &dividend / &divisor;
        let rest = dividend - &quotient * &divisor;
        let twice: BigInt = &rest * 2;
        let rounds = twice.magnitude() >= divisor.magnitude();
        let up = match rest.sign() == divisor.sign() {
            true => BigInt::from(1),
            false => BigInt::from(-1),
        };
        Ok(Self {
            value: if rounds { quotient + up } else { quotient },
            exponent: -QUOTIENT_PLACES,
        })
    }
}
