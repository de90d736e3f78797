//! The forms of a plan's contents: laws, pauses, limits, rules and commands.
//!
//! A decoder accepts only what a plan can contain: times in order, no rate with a period of zero,
//! by which later code divides, and no pause that cannot be drawn.

use super::{Form, FormError, Input, push_number};
use crate::form;
use drumfire_plan::{
    Arrivals, Change, Churn, Command, Comparison, Finding, Finish, Growth, HttpVersion, KeepAlive,
    LatePolicy, Law, Life, LlmError, Metric, Pause, Role, Sequence, Shape, Slo, SloLimit, SloTime,
    Stage, StopReason, Streaming, Threshold, Timeouts, Times, TokenUsage, UserSteps, VariableId,
    Warmup,
};
use drumfire_units::{Nanos, Rate};

form! { struct Nanos(count) }

form! {
    struct Rate { events, per }
    check |rate| rate.per > Nanos::ZERO, "a rate with a period of zero";
}

form! { struct Sequence(laws) }

form! {
    enum Law {
        0 => Const { rate, duration },
        1 => Line { from, to, duration },
        2 => Step { from, to, by, duration },
        3 => Once { count },
        4 => Unlimited { duration },
        5 => Sine { mean, amplitude, period, duration },
        6 => Trace { times },
        7 => Stairs { steps },
    }
    check |law| !matches!(law, Law::Trace { times } if !times.is_sorted()),
        "the times of a trace are out of order";
}

/// The changes of a number of users.
impl Form for UserSteps {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.changes().to_vec(), out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let changes = form::read(input)?;
        Self::changing(changes).ok_or(FormError::Malformed("users are out of order"))
    }
}

form! { struct Stage { name, start } }

form! {
    enum Pause {
        0 => Even { from, to },
        1 => Exponential { mean },
        2 => Lognormal { median, sigma },
    }
    // Reports compute with it.
    check |pause| match pause {
        Pause::Even { from, to } => from <= to,
        Pause::Exponential { .. } => true,
        Pause::Lognormal { sigma, .. } => sigma.is_finite(),
    }, "a pause without a valid distribution";
}

form! { enum LatePolicy { 0 => Queue, 1 => Drop(after), 2 => Skip } }
form! { enum Arrivals { 0 => Constant, 1 => Poisson, 2 => Gamma(shape) } }

/// The shape in thousandths.
impl Form for Shape {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.thousandths(), out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let shape = Self::from_thousandths(form::read(input)?);
        shape.ok_or(FormError::Malformed("the shape of a gamma distribution"))
    }
}

form! { enum Growth { 0 => Ahead, 1 => AsNeeded } }
form! { enum HttpVersion { 0 => Http1, 1 => Http2 } }
form! { enum KeepAlive { 0 => Yes, 1 => AtMost(limit), 2 => No } }
form! { struct Churn { mean } }
form! { struct Life { age, churn, idle } }
form! { struct Timeouts { total, connect, tls, head } }
form! { struct Streaming { send, interval, duration, receive } }
form! { struct VariableId(number) }
form! { enum Warmup { 0 => Span(span), 1 => Auto } }
form! { struct Finding { rule, variable, result } }

// The text of a threshold as the user wrote it, and the parsed rule, so that a later version with
// another grammar reads the same rule.
form! {
    struct Threshold { expression, metric, comparison, bound, window, role }
    check |rule| rule.bound.is_finite(), "a bound that is not a number";
}
form! { enum Comparison { 0 => Less, 1 => AtMost, 2 => Greater, 3 => AtLeast, 4 => Equal, 5 => NotEqual } }
form! { enum Role { 0 => Rule, 1 => Abort { after }, 2 => AbortOn { after } } }
form! {
    enum Times {
        0 => Lag,
        1 => FirstByte,
        2 => Connect,
        3 => Service,
        4 => Response,
        5 => Ttft,
        6 => Ttfv,
        7 => Tpot,
        8 => Gap,
        9 => Itl,
        10 => Stall,
    }
}
form! {
    struct TokenUsage { input, cached, output, reasoning }
}

form! {
    enum Finish {
        0 => Stop,
        1 => Length,
        2 => ToolCalls,
        3 => ContentFilter,
        4 => Refusal,
        5 => Other,
    }
}
form! {
    enum LlmError { 0 => RateLimit, 1 => Overloaded, 2 => Context, 3 => Request, 4 => Key, 5 => Other }
}
form! { struct Slo(limits) }
form! { struct SloLimit { time, inclusive, bound } }
form! {
    enum SloTime { 0 => Ttft, 1 => Ttfv, 2 => Tpot, 3 => Stall, 4 => Response, 5 => Service }
}
form! {
    enum Metric {
        0 => Quantile(q),
        1 => Mean,
        2 => Min,
        3 => Max,
        4 => Rate,
        5 => Failed,
        6 => TimedOut,
        7 => Dropped,
        8 => Unsent,
        9 => Failures,
        10 => Status(status),
        11 => StatusClass(class as Class),
        12 => Of(times, inner),
        13 => Iteration(inner),
        14 => Step(name, inner),
        15 => Pool(name, inner),
        16 => Tokens,
        17 => Cached,
        18 => Finish(reason),
        19 => Short,
        20 => LlmErrors(kind),
        21 => Goodput(slo),
        22 => GoodputRate(slo),
        23 => Speed(inner),
    }
    check |metric| !matches!(metric, Metric::Quantile(q) if !(*q > 0.0 && *q <= 1.0)),
        "a quantile outside 0 to 1";
}

/// The first digit of a status.
struct Class;

impl Form<u8> for Class {
    fn write(value: &u8, out: &mut Vec<u8>) {
        push_number(out, u64::from(*value));
    }

    fn read(input: &mut Input<'_>) -> Result<u8, FormError> {
        let class = u8::try_from(input.number()?);
        class.map_err(|_| FormError::Malformed("the class of a status"))
    }
}

// A command keeps every time of a trace, so that another machine can carry it out exactly.
form! { struct Command { at, pool, change } }
form! {
    enum Change {
        0 => Rate { law },
        1 => Users { law },
        2 => Pause,
        3 => Resume,
        4 => Mark { text },
        5 => Stop { reason },
    }
}
form! {
    enum StopReason {
        0 => Signal,
        1 => Duration,
        2 => Counted,
        3 => Threshold,
        4 => Command,
        5 => Lost,
        6 => AgentLost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<Threshold, FormError> {
        form::decode(bytes)
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
            let bytes = form::encode(&rule);
            for end in 0..bytes.len() {
                assert!(decoded(&bytes[..end]).is_err(), "{text}: cut at {end}");
            }
            assert_eq!(decoded(&bytes), Ok(rule), "{text}");
        }
        let condition = Threshold::abort_on("failed>50% over 30s after 1m").unwrap();
        assert_eq!(decoded(&form::encode(&condition)), Ok(condition));
    }

    #[test]
    fn the_nesting_of_metrics_has_a_limit() {
        let mut bytes = vec![form::VERSION as u8, 0];
        bytes.extend([13; 100_000]);
        let deep = FormError::Malformed("a value that is nested too deeply");
        assert_eq!(decoded(&bytes), Err(deep));
    }
}
