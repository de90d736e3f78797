//! Integer arithmetic and integer sequences.

use super::arguments::int;
use super::convert::{ints, to_int};
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("add", "a*", |_, args| {
        let sum = args.iter().map(to_int).fold(0, i64::wrapping_add);
        Ok(Value::int64(sum))
    }),
    ("add1", "a", |_, args| {
        Ok(Value::int64(to_int(&args[0]).wrapping_add(1)))
    }),
    ("biggest", "aa*", max),
    ("div", "aa", |_, args| quotient(args, i64::wrapping_div)),
    ("max", "aa*", max),
    ("min", "aa*", |_, args| {
        Ok(Value::int64(args.iter().map(to_int).min().unwrap_or(0)))
    }),
    ("mod", "aa", |_, args| quotient(args, i64::wrapping_rem)),
    ("mul", "aa*", |_, args| {
        let product = args.iter().map(to_int).fold(1, i64::wrapping_mul);
        Ok(Value::int64(product))
    }),
    ("seq", "i*", seq),
    ("sub", "aa", |_, args| {
        Ok(Value::int64(
            to_int(&args[0]).wrapping_sub(to_int(&args[1])),
        ))
    }),
    ("until", "i", |call, args| {
        let count = int(args, 0);
        Ok(ints(steps(call, 0, count, if count < 0 { -1 } else { 1 })?))
    }),
    ("untilStep", "iii", |call, args| {
        Ok(ints(steps(call, int(args, 0), int(args, 1), int(args, 2))?))
    }),
];

fn max(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::int64(args.iter().map(to_int).max().unwrap_or(0)))
}

fn quotient(args: &[Value], divide: fn(i64, i64) -> i64) -> Result<Value, Fault> {
    let (dividend, divisor) = (to_int(&args[0]), to_int(&args[1]));
    if divisor == 0 {
        return Err("runtime error: integer divide by zero".into());
    }
    Ok(Value::int64(divide(dividend, divisor)))
}

/// The numbers from `start` to before `stop`; empty if the step leads away.
fn steps(
    call: &mut Call<'_>,
    start: i64,
    stop: i64,
    step: i64,
) -> Result<impl Iterator<Item = i64> + use<>, Fault> {
    let distance = i128::from(stop) - i128::from(start);
    let step = i128::from(step);
    let count = match distance.signum() == step.signum() && step != 0 {
        true => (distance.abs() + step.abs() - 1) / step.abs(),
        false => 0,
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    call.values(count)?;
    // All numbers are between two numbers that fit.
    let number = move |n: usize| i128::from(start) + n as i128 * step;
    Ok((0..count).map(move |n| i64::try_from(number(n)).unwrap_or(i64::MAX)))
}

/// Numbers separated by spaces: `seq 5`, `seq 2 5`, `seq 0 2 10`, both ends included.
fn seq(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (start, step, end) = match args.len() {
        1 => (1, None, int(args, 0)),
        2 => (int(args, 0), None, int(args, 1)),
        3 => (int(args, 0), Some(int(args, 1)), int(args, 2)),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let stop = end.saturating_add(direction);
    let numbers = steps(call, start, stop, step.unwrap_or(direction))?;
    let texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
    call.text(texts.join(" "))
}
