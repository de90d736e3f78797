//! A threshold: its text as the user wrote it, and the rule that was parsed from it, so that a
//! later version with another grammar reads the same rule.
//!
//! A metric nests (a pool's step's iteration's quantile), and its decoder recurses. [`DEPTH_MAX`]
//! bounds that: without it a few kilobytes of hostile bytes would overflow the stack. Figures must
//! be finite and quantiles within 0 to 1, as the parser of plans has them.

use super::{CodecError, Input, put, put_optional, put_text};
use drumfire_plan::{Comparison, Metric, Role, Threshold, Times};
use drumfire_units::Nanos;

/// The greatest number of metrics around another: a pool, a step, and times or iterations.
const DEPTH_MAX: u32 = 4;

/// The comparisons, in the order of their numbers.
const COMPARISONS: [Comparison; 6] = [
    Comparison::Less,
    Comparison::AtMost,
    Comparison::Greater,
    Comparison::AtLeast,
    Comparison::Equal,
    Comparison::NotEqual,
];

/// The kinds of metrics by their numbers, which stand in stored runs: none is ever given to another
/// kind.
const QUANTILE: u64 = 0;
const MEAN: u64 = 1;
const MIN: u64 = 2;
const MAX: u64 = 3;
const RATE: u64 = 4;
const FAILED: u64 = 5;
const TIMED_OUT: u64 = 6;
const DROPPED: u64 = 7;
const UNSENT: u64 = 8;
const FAILURES: u64 = 9;
const STATUS: u64 = 10;
const STATUS_CLASS: u64 = 11;
const OF: u64 = 12;
const ITERATION: u64 = 13;
const STEP: u64 = 14;
const POOL: u64 = 15;

/// The roles by their numbers.
const RULE: u64 = 0;
const ABORT: u64 = 1;
const ABORT_ON: u64 = 2;

/// Appends a threshold.
pub(crate) fn encode(threshold: &Threshold, out: &mut Vec<u8>) {
    put_text(out, &threshold.expression);
    encode_metric(&threshold.metric, out);
    let comparison = COMPARISONS.iter().position(|c| *c == threshold.comparison);
    put(out, comparison.unwrap_or(COMPARISONS.len()) as u64);
    put(out, threshold.bound.to_bits());
    put_optional(out, threshold.window.map(|window| window.0));
    match threshold.role {
        Role::Rule => put(out, RULE),
        Role::Abort { after } => {
            put(out, ABORT);
            put(out, after.0);
        }
        Role::AbortOn { after } => {
            put(out, ABORT_ON);
            put(out, after.0);
        }
    }
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(input: &mut Input<'_>) -> Result<Threshold, CodecError> {
    let expression = input.text()?.to_owned();
    let metric = metric(input, DEPTH_MAX)?;
    let comparison = usize::try_from(input.number()?).ok();
    let comparison = comparison.and_then(|number| COMPARISONS.get(number));
    Ok(Threshold {
        expression,
        metric,
        comparison: *comparison.ok_or(CodecError::Malformed("an unknown comparison"))?,
        bound: finite(input)?,
        window: input.optional()?.map(Nanos),
        role: match input.number()? {
            RULE => Role::Rule,
            ABORT => Role::Abort {
                after: Nanos(input.number()?),
            },
            ABORT_ON => Role::AbortOn {
                after: Nanos(input.number()?),
            },
            _ => return Err(CodecError::Malformed("an unknown role")),
        },
    })
}

fn finite(input: &mut Input<'_>) -> Result<f64, CodecError> {
    let number = f64::from_bits(input.number()?);
    match number.is_finite() {
        true => Ok(number),
        false => Err(CodecError::Malformed("a bound that is not a number")),
    }
}

fn encode_metric(metric: &Metric, out: &mut Vec<u8>) {
    match metric {
        Metric::Quantile(q) => {
            put(out, QUANTILE);
            put(out, q.to_bits());
        }
        Metric::Mean => put(out, MEAN),
        Metric::Min => put(out, MIN),
        Metric::Max => put(out, MAX),
        Metric::Rate => put(out, RATE),
        Metric::Failed => put(out, FAILED),
        Metric::TimedOut => put(out, TIMED_OUT),
        Metric::Dropped => put(out, DROPPED),
        Metric::Unsent => put(out, UNSENT),
        Metric::Failures => put(out, FAILURES),
        Metric::Status(status) => {
            put(out, STATUS);
            put(out, (*status).into());
        }
        Metric::StatusClass(class) => {
            put(out, STATUS_CLASS);
            put(out, (*class).into());
        }
        Metric::Of(times, inner) => {
            put(out, OF);
            put_text(out, times.name());
            encode_metric(inner, out);
        }
        Metric::Iteration(inner) => {
            put(out, ITERATION);
            encode_metric(inner, out);
        }
        Metric::Step(name, inner) => {
            put(out, STEP);
            put_text(out, name);
            encode_metric(inner, out);
        }
        Metric::Pool(name, inner) => {
            put(out, POOL);
            put_text(out, name);
            encode_metric(inner, out);
        }
    }
}

/// The next metric, which stands behind at most `depth` others.
fn metric(input: &mut Input<'_>, depth: u32) -> Result<Metric, CodecError> {
    let within = |input: &mut Input<'_>| {
        let depth = depth.checked_sub(1);
        let depth = depth.ok_or(CodecError::Malformed("a metric that is nested too deeply"))?;
        metric(input, depth).map(Box::new)
    };
    Ok(match input.number()? {
        QUANTILE => Metric::Quantile(quantile(input)?),
        MEAN => Metric::Mean,
        MIN => Metric::Min,
        MAX => Metric::Max,
        RATE => Metric::Rate,
        FAILED => Metric::Failed,
        TIMED_OUT => Metric::TimedOut,
        DROPPED => Metric::Dropped,
        UNSENT => Metric::Unsent,
        FAILURES => Metric::Failures,
        STATUS => Metric::Status(narrow(input)?),
        STATUS_CLASS => Metric::StatusClass(narrow(input)?),
        OF => Metric::Of(times(input)?, within(input)?),
        ITERATION => Metric::Iteration(within(input)?),
        STEP => Metric::Step(input.text()?.to_owned(), within(input)?),
        POOL => Metric::Pool(input.text()?.to_owned(), within(input)?),
        _ => return Err(CodecError::Malformed("an unknown metric")),
    })
}

fn quantile(input: &mut Input<'_>) -> Result<f64, CodecError> {
    let q = f64::from_bits(input.number()?);
    match q > 0.0 && q <= 1.0 {
        true => Ok(q),
        false => Err(CodecError::Malformed("a quantile outside 0 to 1")),
    }
}

fn times(input: &mut Input<'_>) -> Result<Times, CodecError> {
    let name = input.text()?;
    let times = Times::ALL.into_iter().find(|times| times.name() == name);
    times.ok_or(CodecError::Malformed("unknown times"))
}

fn narrow<T: TryFrom<u64>>(input: &mut Input<'_>) -> Result<T, CodecError> {
    let number = T::try_from(input.number()?);
    number.map_err(|_| CodecError::Malformed("the number of a status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<Threshold, CodecError> {
        let mut input = Input::new(bytes);
        let threshold = decode(&mut input)?;
        input.end()?;
        Ok(threshold)
    }

    #[test]
    fn every_rule_comes_back_and_no_part_of_one() {
        for text in [
            "p99<50ms over 60s",
            "avg<=1s",
            "min>1us",
            "max!=2s",
            "rate>=995/s abort after 10s",
            "failed<0.1%",
            "timed_out==0%",
            "dropped<1%",
            "unsent<1%",
            "failures==0",
            "status(503)==0",
            "status(5xx)==0",
            "lag.p99<1ms",
            "iteration.p95<2s",
            "step(log in).service.p95<200ms",
            "buy/pay: p95<200ms",
            "buy: rate>5/s",
        ] {
            let rule: Threshold = text.parse().expect(text);
            let mut bytes = Vec::new();
            encode(&rule, &mut bytes);
            for end in 0..bytes.len() {
                assert!(decoded(&bytes[..end]).is_err(), "{text}: cut at {end}");
            }
            assert_eq!(decoded(&bytes), Ok(rule), "{text}");
        }
        let condition = Threshold::abort_on("failed>50% over 30s after 1m").unwrap();
        let mut bytes = Vec::new();
        encode(&condition, &mut bytes);
        assert_eq!(decoded(&bytes), Ok(condition));
    }

    #[test]
    fn metrics_are_not_nested_without_end() {
        let mut bytes = vec![0];
        bytes.extend([ITERATION as u8; 100_000]);
        let deep = CodecError::Malformed("a metric that is nested too deeply");
        assert_eq!(decoded(&bytes), Err(deep));
    }
}
