//! Why a search has no answer, in words.

use super::{asked, short};
use crate::quantity::{count, latency, share_of};
use crate::style::Unicode;
use drumfire_capacity::{Finding, Trend, Why};
use drumfire_units::Nanos;

/// The sentence of a missing answer, with the rates that steps kept and missed.
pub(super) fn sentence(finding: &Finding, why: &Why, [kept, missed]: [Option<f64>; 2]) -> String {
    match why {
        Why::Ended => format!("no answer yet: {}", steps(kept, missed)),
        Why::Independent { slo, tried } => format!(
            "no rate keeps {}: the share of requests beyond it does not depend on the rate ({})",
            finding.expression(*slo),
            shares(tried)
        ),
        Why::NotRecovered { .. } => {
            let before = kept.map_or_else(String::new, |kept| {
                format!(", although it kept them at {}", asked(kept))
            });
            format!("no answer: {}{before}", words(finding, why))
        }
        why => format!(
            "no answer: {} ({})",
            words(finding, why),
            steps(kept, missed)
        ),
    }
}

/// The rates that were kept and missed for a few seconds.
fn steps(kept: Option<f64>, missed: Option<f64>) -> String {
    match (kept, missed) {
        (Some(kept), Some(missed)) => format!(
            "{} held for a few seconds, {} missed",
            asked(kept),
            asked(missed)
        ),
        (Some(kept), None) => format!("{} held for a few seconds", asked(kept)),
        (None, _) => "no rate was tested to the end".to_owned(),
    }
}

/// The reason itself.
pub(super) fn words(finding: &Finding, why: &Why) -> String {
    match why {
        Why::Ended => "the search ended before a confirmation".to_owned(),
        Why::NotRecovered {
            overload,
            rate,
            share,
        } => format!(
            "the target does not recover from the overload that this search made at {}: at {}, {} of \
             the requests miss an objective",
            asked(*overload),
            asked(*rate),
            share_of(*share)
        ),
        Why::Behind { rate } => format!(
            "the target fell behind in every hold, the last time at {}",
            short(*rate)
        ),
        Why::Independent { slo, tried } | Why::Missed { slo, tried, .. } => format!(
            "{} was missed at each rate that was held ({})",
            finding.expression(*slo),
            shares(tried)
        ),
        Why::Slower(_) => "the target became slower during the search, so that what it met before may \
             be missed by now"
            .to_owned(),
        Why::Unproven => {
            "less was beyond the objectives than allowed, but too close to it to exclude chance; use \
             a longer --confirm"
                .to_owned()
        }
        Why::TooShort {
            slo,
            rate,
            requests,
            gap,
            seconds,
        } => too_short(finding.expression(*slo), *rate, *requests, *gap, *seconds),
        Why::Time { announced } => format!(
            "the search took twice the announced {}, because the target needed long to recover or \
             to answer; set --from and --max near the capacity",
            time(*announced)
        ),
    }
}

/// The words for a search that was too short, with the time that it needs.
fn too_short(objective: &str, rate: f64, requests: f64, gap: Option<f64>, seconds: f64) -> String {
    let needed = time(seconds);
    match gap {
        Some(gap) => format!(
            "{objective} was missed in bursts, one in {}; a confirmation that could show them takes \
             {needed}; use --confirm {needed}",
            time(gap)
        ),
        None if requests > 0.0 => format!(
            "{objective} needs {} requests, which take {needed} at {}; use --hold {needed} --confirm \
             {needed}",
            count(requests as u64),
            short(rate)
        ),
        None => "there was no time left to hold the load again; use a longer --hold".to_owned(),
    }
}

/// How the target changed during the search.
pub(super) fn trend(trend: Trend) -> String {
    let word = if trend.is_slower() {
        "slower"
    } else {
        "faster"
    };
    match trend {
        Trend::Capacity { from, to } => {
            let [from, to] = [from, to].map(short);
            format!("the target became {word} while the load was held: from {from} to {to}")
        }
        Trend::Median { before, now } => {
            let time = |median| latency(median, Unicode::On);
            format!(
                "the target became {word} during the search: the median was {} at {}, and later {} at \
                 {}",
                time(before.1),
                short(before.0),
                time(now.1),
                short(now.0)
            )
        }
    }
}

/// `16.5 % at 138/s, 4.7 % at 69.0/s`.
fn shares(tried: &[(f64, f64)]) -> String {
    let each = tried
        .iter()
        .map(|(rate, share)| format!("{} at {}", share_of(*share), short(*rate)));
    each.collect::<Vec<_>>().join(", ")
}

/// Whole seconds, as a flag has them.
fn time(seconds: f64) -> String {
    Nanos::from_secs(seconds.ceil() as u64).to_string()
}
