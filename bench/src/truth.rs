//! Targets with a known truth, and the figures that load testers print about them.
//!
//! A [`Case`] is a target with one property (it stalls, it freezes, it is too slow for the rate, …)
//! and one figure that a user would read in a report. The true value of the figure follows from the
//! target's flags or from the target's own count, and never from another tool. An
//! [`Instrument`](instrument::Instrument) is a tool with its command line for a load of this rate
//! and the parser of its output; a tool without a rate runs its closed loop. The result compares
//! the figure with the truth: true, false, or not printed.

pub mod instrument;
pub mod reading;

use drumfire_units::Nanos;
use reading::Reading;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// A target with a known truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The target does nothing in the last second of every three.
    Stall,
    /// The target answers nothing from the fourth of six seconds on.
    Freeze,
    /// The target handles half of the rate.
    Capped,
    /// The target handles half of the rate; the figure is whether the report shows that.
    Drowning,
    /// The target resets, truncates and closes some connections instead of answering.
    Failures,
    /// The target is fast, and the tool is stopped for 60 ms of each 500 ms.
    Starved,
    /// The target's delays have a long tail.
    Tail,
    /// The target sends heads immediately and bodies later.
    SlowBody,
    /// The target is so fast that a client's wake-up takes as long.
    Quick,
}

/// The load of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The URL of the target.
    pub url: String,
    /// Requests per second.
    pub rate: u32,
    /// Seconds of load.
    pub seconds: u32,
    /// The timeout of a request, in seconds.
    pub timeout: u32,
}

/// The target's data about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Requests that it answered with a fault.
    pub faults: u64,
    /// The requests of the load that the target had answered when it froze.
    pub answered: u64,
    /// The median time from request to response in a capture; 0 without one.
    pub captured: Nanos,
}

impl ServerCounts {
    /// The counters of `drumfire serve`.
    #[must_use]
    pub fn parse(counters: &str) -> Option<Self> {
        let counters: Value = serde_json::from_str(counters).ok()?;
        Some(Self {
            faults: counters["faults"].as_u64()?,
            answered: counters["responses"].as_u64()?,
            captured: Nanos::ZERO,
        })
    }
}

/// The comparison of a figure with the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The figure is true.
    True(String),
    /// The figure is false.
    False(String),
    /// The tool prints no such figure.
    None,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True(figure) => write!(f, "✓ {figure}"),
            Self::False(figure) => write!(f, "✗ {figure}"),
            Self::None => write!(f, "– none"),
        }
    }
}

/// The allowed relative deviation of times: machines are busy, and samples few.
const SLACK: f64 = 0.15;
/// The allowed relative deviation of a tail with a few dozen samples.
const TAIL_SLACK: f64 = 0.25;
/// The allowed relative deviation of counts of requests that never ended: programs differ in when
/// they start and end.
const COUNT_SLACK: f64 = 0.1;

impl Case {
    /// All cases, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Stall,
        Self::Freeze,
        Self::Capped,
        Self::Drowning,
        Self::Failures,
        Self::Starved,
        Self::Tail,
        Self::SlowBody,
        Self::Quick,
    ];

    /// A description of the target.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stall => "stalls for 1 s of every 3 s",
            Self::Freeze => "freezes after 4 s of 6 s",
            Self::Capped => "handles half of the rate",
            Self::Drowning => "the same",
            Self::Failures => "30 % resets, hang-ups, cut bodies",
            Self::Starved => "fast; the tool is stopped for 12 % of the time",
            Self::Tail => "lognormal delays, median 5 ms, σ 1.5",
            Self::SlowBody => "headers at once, bodies 100 ms later",
            Self::Quick => "answers in 50 µs",
        }
    }

    /// The compared figure, with its true value if the target alone decides it.
    #[must_use]
    pub const fn figure(self) -> &'static str {
        match self {
            Self::Stall => "p90, 700 ms",
            Self::Freeze => "requests without an answer, by the target's count",
            Self::Capped => "p50, 3 s",
            Self::Drowning => "that it can't keep up: a warning, or both rates",
            Self::Failures => "failures, by the target's count",
            Self::Starved => "p99, 2 ms, or a warning",
            Self::Tail => "p99, 164 ms",
            Self::SlowBody => "p50, 100 ms",
            Self::Quick => "p50, by a capture of the same run",
        }
    }

    /// The flags of `drumfire serve`.
    #[must_use]
    pub const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Stall => &["--delay", "const:2ms", "--stall", "1s/3s"],
            Self::Freeze | Self::Starved => &["--delay", "const:2ms"],
            Self::Capped | Self::Drowning => &["--delay", "const:10ms", "--serial"],
            Self::Failures => &["--reset", "0.1", "--hangup", "0.1", "--cut", "0.1"],
            Self::Tail => &["--delay", "lognormal:5ms,1.5", "--seed", "2"],
            Self::SlowBody => &["--size", "300", "--drip", "100B/50ms"],
            Self::Quick => &["--delay", "const:50us"],
        }
    }

    /// The load on a target at this URL.
    #[must_use]
    pub fn load(self, url: &str) -> Load {
        Load {
            url: url.to_owned(),
            rate: match self {
                Self::Tail => 500,
                Self::Quick => 1_000,
                _ => 200,
            },
            seconds: 6,
            timeout: if self == Self::Freeze { 2 } else { 20 },
        }
    }

    /// The time of the load after which the target freezes.
    #[must_use]
    pub fn freezes_after(self) -> Option<Duration> {
        (self == Self::Freeze).then_some(Duration::from_secs(4))
    }

    /// Compares a tool's figure with the truth. `closed` is the number of connections of a tool
    /// with a closed loop.
    #[must_use]
    pub fn judge(self, reading: &Reading, witness: ServerCounts, closed: Option<u32>) -> Answer {
        match self {
            // A third of the arrivals comes while the target stalls, and waits for up to a second.
            Self::Stall => time(reading.p90, 0.7, SLACK),
            Self::Freeze => count(reading.without_answer, self.frozen(witness, closed)),
            // The queue grows by half of the rate: a request that comes at t waits for t.
            Self::Capped => time(reading.p50, 3.0, SLACK),
            Self::Drowning => drowning(reading, closed),
            Self::Failures => exactly(reading.without_answer, witness.faults),
            Self::Starved => starved(reading),
            // 5 ms · exp(1.5 · 2.326).
            Self::Tail => time(reading.p99, 0.1638, TAIL_SLACK),
            Self::SlowBody => time(reading.p50, 0.1, SLACK),
            Self::Quick => captured(reading.service.or(reading.p50), witness.captured),
        }
    }

    /// Whether the truth comes from a capture.
    #[must_use]
    pub fn is_captured(self) -> bool {
        self == Self::Quick
    }
}

impl Case {
    /// The requests that a frozen target has not answered: all that were due by then and later. A
    /// closed loop has one on each connection.
    fn frozen(self, witness: ServerCounts, closed: Option<u32>) -> u64 {
        let load = self.load("");
        let due = u64::from(load.rate * load.seconds);
        let open = due.saturating_sub(witness.answered);
        closed.map_or(open, u64::from)
    }
}

/// Compares a time in seconds with the truth.
fn time(figure: Option<f64>, truth: f64, slack: f64) -> Answer {
    let Some(figure) = figure else {
        return Answer::None;
    };
    given(
        (figure / truth - 1.0).abs() <= slack,
        format!("{:.0} ms", figure * 1e3),
    )
}

/// Compares a time in seconds with the median of a capture, which must exist.
fn captured(figure: Option<f64>, truth: Nanos) -> Answer {
    let (Some(figure), true) = (figure, truth > Nanos::ZERO) else {
        return Answer::None;
    };
    let truth = truth.as_secs_f64();
    given(
        (figure / truth - 1.0).abs() <= SLACK,
        format!("{:.0} of {:.0} µs", figure * 1e6, truth * 1e6),
    )
}

fn given(is_true: bool, figure: String) -> Answer {
    match is_true {
        true => Answer::True(figure),
        false => Answer::False(figure),
    }
}

/// Compares a count with the truth; the deviation allows for the start-up of programs.
fn count(figure: Option<u64>, truth: u64) -> Answer {
    let Some(figure) = figure else {
        return Answer::None;
    };
    let is_near = figure.abs_diff(truth) as f64 <= truth as f64 * COUNT_SLACK;
    given(is_near, format!("{figure} of {truth}"))
}

fn exactly(figure: Option<u64>, truth: u64) -> Answer {
    let Some(figure) = figure else {
        return Answer::None;
    };
    given(figure == truth, format!("{figure} of {truth}"))
}

/// The target answers half of the rate: a correct report warns that the target can't keep up, or
/// contains both rates. A closed loop requests no more than it gets.
fn drowning(reading: &Reading, closed: Option<u32>) -> Answer {
    if closed.is_some() {
        return Answer::None;
    }
    match (reading.behind, reading.rates) {
        (true, _) => Answer::True("warns".to_owned()),
        (false, Some([asked, answered])) => given(
            (answered / asked / 0.5 - 1.0).abs() <= SLACK,
            format!("{answered:.0} of {asked:.0}/s"),
        ),
        (false, None) => Answer::False("no word".to_owned()),
    }
}

/// The target took 2 ms throughout: a correct tool reports this, or that its results can't be
/// trusted.
fn starved(reading: &Reading) -> Answer {
    if reading.doubts {
        return Answer::True("warns".to_owned());
    }
    match reading.p99 {
        None => Answer::None,
        Some(p99) => given(p99 <= 0.004, format!("{:.1} ms", p99 * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_true_false_or_none() {
        let reading = |p90| Reading {
            p90,
            ..Reading::default()
        };
        let judge = |p90| Case::Stall.judge(&reading(p90), ServerCounts::default(), None);
        assert_eq!(judge(Some(0.72)), Answer::True("720 ms".to_owned()));
        assert_eq!(judge(Some(0.002)), Answer::False("2 ms".to_owned()));
        assert_eq!(judge(None), Answer::None);
    }

    #[test]
    fn a_service_is_that_of_the_capture() {
        let witness = ServerCounts {
            captured: Nanos::from_micros(120),
            ..ServerCounts::default()
        };
        let reading = |p50, service| Reading {
            p50,
            service,
            ..Reading::default()
        };
        let judge = |reading| Case::Quick.judge(&reading, witness, None);
        let truth = Answer::True("121 of 120 µs".to_owned());
        assert_eq!(judge(reading(Some(0.000_2), Some(0.000_121))), truth);
        let more = Answer::False("200 of 120 µs".to_owned());
        assert_eq!(judge(reading(Some(0.000_2), None)), more);
        let uncaptured =
            Case::Quick.judge(&reading(Some(0.1), None), ServerCounts::default(), None);
        assert_eq!(uncaptured, Answer::None);
    }

    #[test]
    fn counts_are_the_targets() {
        let witness = ServerCounts::parse(r#"{"responses":805,"faults":31,"requests":900}"#)
            .expect("counters");
        let reading = |count| Reading {
            without_answer: Some(count),
            ..Reading::default()
        };
        let freeze = |count| Case::Freeze.judge(&reading(count), witness, None);
        assert_eq!(freeze(380), Answer::True("380 of 395".to_owned()));
        assert_eq!(freeze(20), Answer::False("20 of 395".to_owned()));
        let closed = Case::Freeze.judge(&reading(20), witness, Some(20));
        assert_eq!(closed, Answer::True("20 of 20".to_owned()));
        let failures = |count| Case::Failures.judge(&reading(count), witness, None);
        assert_eq!(failures(31), Answer::True("31 of 31".to_owned()));
        assert_eq!(failures(30), Answer::False("30 of 31".to_owned()));
    }

    #[test]
    fn a_target_that_drowns_is_told() {
        let judge = |behind, rates, closed| {
            let reading = Reading {
                behind,
                rates,
                ..Reading::default()
            };
            Case::Drowning.judge(&reading, ServerCounts::default(), closed)
        };
        assert_eq!(judge(true, None, None), Answer::True("warns".to_owned()));
        let both = Answer::True("101 of 200/s".to_owned());
        assert_eq!(judge(false, Some([200.0, 101.0]), None), both);
        let wrong = Answer::False("199 of 200/s".to_owned());
        assert_eq!(judge(false, Some([200.0, 199.0]), None), wrong);
        assert_eq!(
            judge(false, None, None),
            Answer::False("no word".to_owned())
        );
        assert_eq!(judge(false, None, Some(20)), Answer::None);
    }

    #[test]
    fn a_stopped_tool_warns_or_has_the_targets_time() {
        let judge = |doubts, p99| {
            let reading = Reading {
                doubts,
                p99,
                ..Reading::default()
            };
            Case::Starved.judge(&reading, ServerCounts::default(), None)
        };
        assert_eq!(judge(true, Some(0.06)), Answer::True("warns".to_owned()));
        assert_eq!(
            judge(false, Some(0.0604)),
            Answer::False("60.4 ms".to_owned())
        );
        assert_eq!(
            judge(false, Some(0.0024)),
            Answer::True("2.4 ms".to_owned())
        );
    }
}
