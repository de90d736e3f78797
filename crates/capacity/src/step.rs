//! A step of the bracket: a rate for a few seconds, and whether the objectives were kept at it.

use crate::Slo;
use crate::samples::Samples;
use drumfire_units::Nanos;

/// An objective is missed at a step where more than this multiple of the share allowed is beyond…
const MISSED: f64 = 3.0;
/// …and so many requests at least: a cold connection is no full target.
const MISSED_MIN: f64 = 5.0;
/// Where so many requests of an interval, and half of them, are beyond, the step need not last.
const PLAIN_MIN: f64 = 10.0;

/// What a step has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Not enough yet.
    Open,
    Kept,
    /// The objectives were missed, by a burst that may be chance.
    Doubted,
    Missed,
}

/// Judges a step that is to last `length` by its samples, of each objective.
pub(crate) fn judge(samples: &[Samples], slos: &[Slo], length: Nanos) -> Shown {
    let judged = || samples.iter().zip(slos);
    let Some(first) = samples.first() else {
        return Shown::Kept;
    };
    let (seconds, newest) = (first.seconds(), first.last());
    let is_first = newest.is_none_or(|newest| seconds < 1.5 * newest.seconds);
    let is_plain = samples.iter().any(|samples| {
        let newest = samples.last();
        newest.is_some_and(|it| it.beyond >= PLAIN_MIN && it.beyond > it.of / 2.0)
    });
    // The first interval has a part at the rate before.
    if seconds + 1e-6 < length.as_secs_f64() && (is_first || !is_plain) {
        return Shown::Open;
    }
    let is_missed = judged().any(|(samples, slo)| {
        let beyond = samples.beyond();
        beyond >= MISSED_MIN && beyond > MISSED * slo.share * samples.of()
    });
    match (is_missed, is_plain) {
        (true, true) => Shown::Missed,
        (true, false) => Shown::Doubted,
        (false, _) => Shown::Kept,
    }
}
