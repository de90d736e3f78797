//! Thresholds as text: `p99<50ms over 60s`.

use super::{Unit, unit_of};
use crate::nearest::suggestion_and;
use crate::scan::{Scan, excerpt};
use crate::{
    Comparison, Finish, LlmError, Metric, Role, Slo, SloLimit, SloTime, Threshold, ThresholdError,
    Times,
};
use drumfire_units::{Nanos, Rate, rate_in_words};
use std::borrow::Cow;
use std::str::FromStr;

/// The maximum length of an expression in bytes.
const LENGTH_MAX: usize = 1024;
/// The words with which a metric starts.
const NAMES: [&str; 33] = [
    "p99",
    "avg",
    "mean",
    "med",
    "min",
    "max",
    "rate",
    "failed",
    "failures",
    "timed_out",
    "dropped",
    "unsent",
    "status",
    "lag",
    "first_byte",
    "connect",
    "service",
    "response",
    "ttft",
    "ttfv",
    "tpot",
    "gap",
    "itl",
    "stall",
    "speed",
    "tokens",
    "cached",
    "finish",
    "short",
    "goodput",
    "llm_errors",
    "iteration",
    "step",
];
/// Comparisons by spelling, longer ones before their prefixes.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

fn fail<T>(at: usize, message: impl Into<String>) -> Result<T, ThresholdError> {
    Err(ThresholdError {
        at,
        message: message.into(),
    })
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    /// Parses a metric, a comparison, a bound, optionally `over` and a window, and optionally
    /// `abort`; white space between them is optional.
    ///
    /// Metrics: `p99`, `p99.9` (also `p(99)`), `avg` or `mean`, `med`, `min` and `max` with a
    /// duration; `rate` with a rate; `failed`, `timed_out`, `dropped` and `unsent` with a
    /// percentage or a share below 1; `failures`, `status(500)` and `status(5xx)` with a count. The
    /// prefixes `lag.`, `first_byte.`, `connect.`, `service.` and `response.` select those times,
    /// and `iteration.` selects iterations instead of requests. `step(NAME).` before any of them
    /// selects one step, `POOL:` one pool, and `POOL/NAME:` a step of a pool. A pool whose name
    /// contains a slash is recognised only if the pools are known ([`Threshold::rule_of`]).
    ///
    /// # Errors
    /// If a word is unknown, a bound does not fit its metric, or text is left over.
    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        parse(text, Is::Rule, &[])
    }
}

/// Parses a rule about these pools.
pub(super) fn rule(text: &str, pools: &[&str]) -> Result<Threshold, ThresholdError> {
    parse(text, Is::Rule, pools)
}

/// Parses a condition that ends a run of these pools.
pub(super) fn condition(text: &str, pools: &[&str]) -> Result<Threshold, ThresholdError> {
    parse(text, Is::Condition, pools)
}

/// The expected kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Rule,
    Condition,
}

fn parse(text: &str, is: Is, pools: &[&str]) -> Result<Threshold, ThresholdError> {
    if text.len() > LENGTH_MAX {
        return fail(
            text.floor_char_boundary(LENGTH_MAX),
            format!("a threshold has at most {LENGTH_MAX} bytes"),
        );
    }
    let mut scan = Scan::new(text);
    let metric = match pool_prefix(text, pools) {
        None => metric(&mut scan)?,
        Some(prefix) => {
            scan.eat(&text[..prefix.length]);
            prefix.around(&mut scan)?
        }
    };
    let comparison = comparison(&mut scan)?;
    let metric = match is_per_second(scan.rest()) {
        true => per_second_of(metric),
        false => metric,
    };
    let bound = bound(&mut scan, &metric)?;
    let WindowAndRole { window, role } = tail(&mut scan, is)?;
    Ok(Threshold {
        expression: text.trim().to_owned(),
        metric,
        comparison,
        bound,
        window,
        role,
    })
}

/// Whether a bound is a rate, such as `4/s`.
fn is_per_second(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|bound| bound.contains("/"))
}

/// The metric for a bound that is a rate: goodput is a share or a rate.
fn per_second_of(metric: Metric) -> Metric {
    match metric {
        Metric::Goodput(slo) => Metric::GoodputRate(slo),
        Metric::Step(name, inner) => Metric::Step(name, Box::new(per_second_of(*inner))),
        Metric::Pool(name, inner) => Metric::Pool(name, Box::new(per_second_of(*inner))),
        metric => metric,
    }
}

/// A metric with its prefixes.
fn metric(scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    let (start, mut after) = (scan.position(), scan.clone());
    if after.take_while(is_letter) != "step" {
        return plain_or_timed(scan);
    }
    *scan = after;
    let name = step_name(scan, start)?;
    of_step(name, scan)
}

/// The metric of a step, after its name.
fn of_step(name: String, scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    let at = scan.position();
    let metric = plain_or_timed(scan)?;
    match of_no_step(&metric) {
        None => Ok(Metric::Step(name, Box::new(metric))),
        Some(why) => fail(at, why),
    }
}

/// Why a single step does not have this metric; `None` if it has.
const fn of_no_step(metric: &Metric) -> Option<&'static str> {
    match metric {
        Metric::Dropped | Metric::Unsent => {
            Some("requests that are not sent are counted per pool, not per step")
        }
        Metric::Iteration(_) => Some("iterations are counted per pool, not per step"),
        Metric::Of(Times::Connect, _) => Some("connections belong to a pool, not to a step"),
        _ => None,
    }
}

/// A pool before a metric, and optionally one of its steps.
struct PoolPrefix<'a> {
    pool: &'a str,
    step: Option<&'a str>,
    /// The length with the colon, in bytes.
    length: usize,
}

impl PoolPrefix<'_> {
    fn around(&self, scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
        let metric = match self.step {
            Some(step) => of_step(step.to_owned(), scan)?,
            None => plain_or_timed(scan)?,
        };
        Ok(Metric::Pool(self.pool.to_owned(), Box::new(metric)))
    }
}

/// Parses `POOL:` or `POOL/NAME:`. A step's name may contain anything, even colons, so the prefix
/// ends at the last colon that a metric and a comparison follow. A pool's name may contain anything
/// as well: the longest matching name of a known pool is taken; otherwise the name ends at the
/// first slash.
fn pool_prefix<'a>(text: &'a str, pools: &[&str]) -> Option<PoolPrefix<'a>> {
    let colons = text.rmatch_indices(':').map(|(at, _)| at);
    let mut ends = colons.filter(|at| {
        let mut scan = Scan::new(&text[at + 1..]);
        plain_or_timed(&mut scan).is_ok() && comparison(&mut scan).is_ok()
    });
    let end = ends.next()?;
    let name = text[..end].trim();
    let (pool, step) = match known(name, pools) {
        Some(found) => found,
        None if is_step(name) => return None,
        None => match name.split_once('/') {
            Some((pool, step)) => (pool.trim(), Some(step.trim())),
            None => (name, None),
        },
    };
    let named = !pool.is_empty() && step.is_none_or(|step| !step.is_empty());
    named.then_some(PoolPrefix {
        pool,
        step,
        length: end + 1,
    })
}

/// The known pool whose name is the prefix, or begins the prefix before a slash and a step's name.
fn known<'a>(name: &'a str, pools: &[&str]) -> Option<(&'a str, Option<&'a str>)> {
    let split = |pool: &&str| {
        let rest = name.strip_prefix(*pool)?;
        let pool = &name[..pool.len()];
        match rest.strip_prefix('/') {
            Some(step) => Some((pool, Some(step.trim()))),
            None => rest.is_empty().then_some((pool, None)),
        }
    };
    let found = pools.iter().filter_map(split);
    found.max_by_key(|(pool, _)| pool.len())
}

/// Whether a text begins with the metric of a step, `step(NAME)`.
fn is_step(text: &str) -> bool {
    let behind = text.strip_prefix("step").map(str::trim_start);
    behind.is_some_and(|behind| behind.starts_with('('))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Parses `(NAME).`; the name may contain parentheses, but not one followed by a dot.
fn step_name(scan: &mut Scan<'_>, start: usize) -> Result<String, ThresholdError> {
    const FORM: &str = "write step(NAME) and a metric, such as step(login).p95<200ms";
    scan.skip_space();
    if !scan.eat("(") {
        return fail(start, FORM);
    }
    let at = scan.position();
    let mut search = scan.rest();
    let mut length = 0;
    loop {
        let Some(close) = search.find(')') else {
            let mistake = match scan.rest().contains(')') {
                true => "no metric follows the step",
                false => "the step's name is not closed",
            };
            return fail(at, format!("{mistake}; {FORM}"));
        };
        length += close;
        search = &search[close + 1..];
        if search.trim_start().starts_with('.') {
            break;
        }
        length += 1;
    }
    let name = scan.rest()[..length].trim().to_owned();
    if name.is_empty() {
        return fail(at, format!("the step has no name; {FORM}"));
    }
    scan.eat(&scan.rest()[..=length]);
    scan.skip_space();
    scan.eat(".");
    Ok(name)
}

fn plain_or_timed(scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    let mut after = scan.clone();
    let word = after.take_while(is_letter);
    if word == "iteration" {
        let metric = of_iteration(&mut after)?;
        *scan = after;
        return Ok(metric);
    }
    let times = Times::ALL.into_iter().find(|times| times.name() == word);
    if times.is_none() && word != "speed" {
        return plain(scan);
    }
    after.skip_space();
    if !after.eat(".") {
        return fail(
            after.position(),
            format!("`{word}` needs a value, such as {word}.p99<1ms"),
        );
    }
    after.skip_space();
    let at = after.position();
    let metric = plain(&mut after)?;
    *scan = after;
    match metric {
        Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max => {
            Ok(match times {
                Some(times) => Metric::Of(times, Box::new(metric)),
                // The mean of speeds does not follow from the distribution of times.
                None if metric == Metric::Mean => {
                    return fail(at, "`speed` has no mean; use p10, med, min or max");
                }
                None => Metric::Speed(Box::new(metric)),
            })
        }
        _ => fail(
            at,
            format!("`{word}` has only times: p99, avg, med, min or max"),
        ),
    }
}

/// A metric of iterations, after the word.
fn of_iteration(scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    if !scan.eat(".") {
        let message = "`iteration` needs a value, such as iteration.p95<2s";
        return fail(scan.position(), message);
    }
    scan.skip_space();
    let at = scan.position();
    match plain(scan)? {
        Metric::Status(_) | Metric::StatusClass(_) => {
            fail(at, "requests have a status, iterations do not")
        }
        metric if is_of_answers(&metric) => fail(at, "requests have answers, iterations do not"),
        metric => Ok(Metric::Iteration(Box::new(metric))),
    }
}

/// A metric without prefix.
fn plain(scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    let start = scan.position();
    let word = scan.take_while(is_letter);
    Ok(match word {
        "p" => Metric::Quantile(quantile(scan)?),
        "avg" | "mean" => Metric::Mean,
        "med" => Metric::Quantile(0.5),
        "min" => Metric::Min,
        "max" => Metric::Max,
        "rate" => Metric::Rate,
        "failed" => Metric::Failed,
        "failures" => Metric::Failures,
        "timed_out" => Metric::TimedOut,
        "dropped" => Metric::Dropped,
        "unsent" => Metric::Unsent,
        "status" => status(scan)?,
        "tokens" => Metric::Tokens,
        "cached" => Metric::Cached,
        "short" => Metric::Short,
        "finish" => Metric::Finish(named(
            scan,
            Finish::of_name,
            &Finish::ALL.map(Finish::name),
        )?),
        "llm_errors" if !is_open(scan) => Metric::LlmErrors(None),
        "llm_errors" => {
            let names = LlmError::ALL.map(LlmError::name);
            Metric::LlmErrors(Some(named(scan, LlmError::of_name, &names)?))
        }
        "goodput" => Metric::Goodput(slo(scan)?),
        "" => {
            return fail(
                start,
                "a metric is missing; write a threshold such as p99<50ms, rate>=995/s or failed<0.1%",
            );
        }
        word => {
            let shown = excerpt(word);
            let lower = word.to_ascii_lowercase();
            let is_known = lower == "p" || NAMES.contains(&lower.as_str());
            let message = match of_another_tool(word) {
                _ if is_known => {
                    format!("`{shown}` is not a metric; write it in lower case: `{lower}`")
                }
                Some(ours) => format!("`{shown}` is not a metric; {ours}"),
                None => {
                    let all = format!("the metrics are {}", NAMES.join(", "));
                    format!(
                        "`{shown}` is not a metric{}",
                        suggestion_and(word, NAMES, &all)
                    )
                }
            };
            return fail(start, message);
        }
    })
}

/// The correction for a metric of other tools, mostly k6.
fn of_another_tool(word: &str) -> Option<&'static str> {
    Some(match word {
        "http_req_duration" | "iteration_duration" | "latency" | "duration" | "response_time" => {
            "for the latency, use p95, avg or max, such as p95<500ms"
        }
        "http_req_failed" | "error" | "errors" | "error_rate" | "checks" => {
            "for the share of failures, use `failed`, such as failed<1%; for their number, use \
             `failures`"
        }
        "http_reqs" | "rps" | "qps" | "throughput" | "requests" => {
            "for the rate, use `rate`, such as rate>=100/s"
        }
        _ => return None,
    })
}

/// The number of `p99.9` or `p(99.9)` as a share: the double nearest to the decimal in the text.
fn quantile(scan: &mut Scan<'_>) -> Result<f64, ThresholdError> {
    scan.skip_space();
    let inside = scan.eat("(");
    scan.skip_space();
    let at = scan.position();
    let digits = scan.take_while(|c| c.is_ascii_digit() || c == '.');
    scan.skip_space();
    let closed = !inside || scan.eat(")");
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    match share(digits) {
        Some(q) if closed && q > 0.0 && q <= 1.0 && decimals <= 6 => Ok(q),
        Some(_) if decimals > 6 => fail(at, "a percentile has at most 6 decimals, such as p99.9"),
        _ => fail(
            at,
            "a percentile is a number above 0 and up to 100, such as p99 or p99.9",
        ),
    }
}

/// Converts a percentage without its sign to a share.
pub(crate) fn share(digits: &str) -> Option<f64> {
    decimal(digits)?;
    format!("{digits}e-2").parse().ok()
}

/// Parses a number in plain digits, such as 995 or 0.5.
fn decimal(digits: &str) -> Option<f64> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    digits.parse().ok().filter(|n: &f64| plain && n.is_finite())
}

/// Whether a metric is about the answers of language models.
const fn is_of_answers(metric: &Metric) -> bool {
    matches!(
        metric,
        Metric::Tokens
            | Metric::Cached
            | Metric::Short
            | Metric::Finish(_)
            | Metric::LlmErrors(_)
            | Metric::Goodput(_)
    )
}

/// Whether a parenthesis follows.
fn is_open(scan: &Scan<'_>) -> bool {
    scan.rest().trim_start().starts_with('(')
}

/// Parses `(NAME)`, one of these names.
fn named<T>(
    scan: &mut Scan<'_>,
    of_name: impl Fn(&str) -> Option<T>,
    names: &[&str],
) -> Result<T, ThresholdError> {
    scan.skip_space();
    let open = scan.eat("(");
    scan.skip_space();
    let at = scan.position();
    let name = scan.take_while(is_letter);
    scan.skip_space();
    let closed = scan.eat(")");
    match of_name(name) {
        Some(value) if open && closed => Ok(value),
        _ => fail(
            at,
            format!("write one of {} in parentheses", names.join(", ")),
        ),
    }
}

/// Parses limits in parentheses, such as `(ttft<200ms,tpot<50ms)`.
fn slo(scan: &mut Scan<'_>) -> Result<Slo, ThresholdError> {
    const FORM: &str = "write the limits of a good answer, such as goodput(ttft<200ms,tpot<50ms)";
    scan.skip_space();
    if !scan.eat("(") {
        return fail(scan.position(), FORM);
    }
    let mut limits = Vec::new();
    loop {
        limits.push(slo_limit(scan)?);
        scan.skip_space();
        match (scan.eat(","), scan.eat(")")) {
            (true, _) => {}
            (false, true) => return Ok(Slo(limits)),
            (false, false) => return fail(scan.position(), FORM),
        }
    }
}

/// Parses the limit of one time, such as `ttft<200ms`.
fn slo_limit(scan: &mut Scan<'_>) -> Result<SloLimit, ThresholdError> {
    scan.skip_space();
    let at = scan.position();
    let word = scan.take_while(is_letter);
    let Some(time) = SloTime::of_name(word) else {
        let names = SloTime::ALL.map(SloTime::name).join(", ");
        let shown = excerpt(word);
        return fail(
            at,
            format!("`{shown}` is not a time of an answer; the times are {names}"),
        );
    };
    let at = scan.position();
    let inclusive = match comparison(scan)? {
        Comparison::Less => false,
        Comparison::AtMost => true,
        _ => {
            return fail(
                at,
                "the limit of a good answer is an upper bound; write < or <=",
            );
        }
    };
    scan.skip_space();
    let at = scan.position();
    let text = scan.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == 'µ');
    match text.parse::<Nanos>() {
        Ok(bound) => Ok(SloLimit {
            time,
            inclusive,
            bound,
        }),
        Err(_) => fail(at, "write a duration with its unit, such as 200ms"),
    }
}

/// Parses `(503)`, or `(5xx)` for all statuses that begin with 5.
fn status(scan: &mut Scan<'_>) -> Result<Metric, ThresholdError> {
    scan.skip_space();
    let open = scan.eat("(");
    scan.skip_space();
    let at = scan.position();
    let text = scan.take_while(|c| c.is_ascii_digit() || c == 'x');
    scan.skip_space();
    let closed = scan.eat(")");
    let class = text.strip_suffix("xx").map(str::parse);
    match (class, text.parse::<u16>()) {
        (Some(Ok(class @ 1..=9)), _) if open && closed => Ok(Metric::StatusClass(class)),
        (None, Ok(status @ 100..=999)) if open && closed && text.len() == 3 => {
            Ok(Metric::Status(status))
        }
        _ => fail(
            at,
            "write a status of three digits or a class, as in status(500)==0 or status(5xx)==0",
        ),
    }
}

fn comparison(scan: &mut Scan<'_>) -> Result<Comparison, ThresholdError> {
    scan.skip_space();
    for (spelling, comparison) in COMPARISONS {
        if scan.eat(spelling) {
            return Ok(comparison);
        }
    }
    let here = scan.rest().chars().next();
    let hint = match here {
        Some('=') => "for equality, write ==",
        Some('≤') => "write <=",
        Some('≥') => "write >=",
        _ => "write one of < <= > >= == !=",
    };
    fail(scan.position(), format!("expected a comparison; {hint}"))
}

/// The bound, in the metric's unit.
fn bound(scan: &mut Scan<'_>, metric: &Metric) -> Result<f64, ThresholdError> {
    scan.skip_space();
    let at = scan.position();
    let text = scan.take_while(|c| !c.is_whitespace());
    let unit = unit_of(metric);
    let spaced = matches!(unit, Unit::Time).then(|| with_unit(scan, text));
    let text = spaced.flatten().unwrap_or(Cow::Borrowed(text));
    let text = &*text;
    let shown = excerpt(text);
    if matches!(unit, Unit::PerSecond)
        && let Some((words, meant)) = bound_in_words(text, scan.rest())
    {
        let words = excerpt(&words);
        return fail(at, format!("invalid bound `{words}`; write {meant}"));
    }
    if matches!(unit, Unit::Share)
        && decimal(text).is_some_and(|share| (1.0..=100.0).contains(&share))
    {
        let message = format!(
            "`{shown}` could mean {shown} % or a share, where 1 is all; write {shown}%, or a share \
             below 1, such as 0.01"
        );
        return fail(at, message);
    }
    let (value, right) = match unit {
        Unit::Time => (
            text.parse().ok().map(|Nanos(ns)| ns as f64),
            "a duration with its unit, such as 50ms",
        ),
        Unit::PerSecond => (per_second(text), "a rate such as 995/s"),
        Unit::Share => (
            match text.strip_suffix('%') {
                Some(digits) => share(digits).filter(|share| *share <= 1.0),
                None => decimal(text).filter(|share| *share < 1.0),
            },
            "a percentage such as 0.1%, or a share below 1",
        ),
        Unit::Count => (
            decimal(text)
                .and_then(|_| text.parse::<u32>().ok())
                .map(f64::from),
            "a count such as 0",
        ),
    };
    match value {
        Some(value) => Ok(value),
        None if text.is_empty() => fail(at, format!("a bound is missing; write {right}")),
        None => fail(at, format!("invalid bound `{shown}`; write {right}")),
    }
}

/// A number with the unit of time that follows it after blanks, as in `50 ms`.
fn with_unit<'a>(scan: &mut Scan<'a>, number: &'a str) -> Option<Cow<'a, str>> {
    decimal(number)?;
    let mut words = scan.rest().split_whitespace();
    let whole = format!("{number}{}", words.next()?);
    whole.parse::<Nanos>().ok()?;
    scan.skip_space();
    scan.take_while(|c| !c.is_whitespace());
    Some(Cow::Owned(whole))
}

/// A rate in words, up to the words that may follow a bound, and its correct notation.
fn bound_in_words(first: &str, rest: &str) -> Option<(String, String)> {
    let words = rest.split_whitespace();
    let words = words.take_while(|word| !["over", "abort", "after"].contains(word));
    let words: Vec<&str> = std::iter::once(first).chain(words).collect();
    let words = words.join(" ");
    rate_in_words(&words).map(|meant| (words, meant))
}

fn per_second(text: &str) -> Option<f64> {
    let number = decimal(text.strip_suffix("/s").unwrap_or(text));
    number.or_else(|| text.parse().ok().map(Rate::as_per_second))
}

/// The part of a threshold after the bound.
struct WindowAndRole {
    window: Option<Nanos>,
    role: Role,
}

/// Parses `over 60s`, then `abort` if the text is a rule, then `after 10s` if it ends the run; or
/// the end.
fn tail(scan: &mut Scan<'_>, is: Is) -> Result<WindowAndRole, ThresholdError> {
    let window = span_behind(
        "over",
        scan,
        "write the length of the window, such as over 60s",
    )?;
    scan.skip_space();
    let (at, mut behind) = (scan.position(), scan.clone());
    let aborts = behind.take_while(is_letter) == "abort";
    if aborts && is == Is::Condition {
        return fail(at, "this condition always ends the run; leave out `abort`");
    }
    if aborts {
        *scan = behind;
    }
    let mut after = None;
    if aborts || is == Is::Condition {
        let right = "write the time from which it may end the run, such as after 10s";
        after = span_behind("after", scan, right)?;
    }
    scan.skip_space();
    if !scan.is_done() {
        let rest = excerpt(scan.rest());
        let more = match (is, window, aborts) {
            (Is::Rule, None, false) => "remove it, or write a window such as over 60s",
            (Is::Rule, Some(_), false) => "remove it, or write abort to end the run",
            _ => "remove it, or write the time from which the rule applies, such as after 10s",
        };
        return fail(scan.position(), format!("unexpected `{rest}`; {more}"));
    }
    let after = after.unwrap_or(Nanos::ZERO);
    let role = match is {
        Is::Condition => Role::AbortOn { after },
        Is::Rule if aborts => Role::Abort { after },
        Is::Rule => Role::Rule,
    };
    Ok(WindowAndRole { window, role })
}

/// A duration after a word; if another word follows, `None`, and nothing is consumed.
fn span_behind(
    word: &str,
    scan: &mut Scan<'_>,
    right: &str,
) -> Result<Option<Nanos>, ThresholdError> {
    scan.skip_space();
    let mut behind = scan.clone();
    if behind.take_while(is_letter) != word {
        return Ok(None);
    }
    behind.skip_space();
    let at = behind.position();
    let text = behind.take_while(|c| !c.is_whitespace());
    match text.parse() {
        Ok(span) if span != Nanos::ZERO => {
            *scan = behind;
            Ok(Some(span))
        }
        _ => fail(at, right),
    }
}
