//! A step of the bracket: a rate for a few seconds, and whether it kept the objectives.
//!
//! A step lasts until enough requests have ended and the requests of its planned length are
//! decided: they have an answer, or are older than the bound. Otherwise, a slow target would be
//! judged by the requests of the previous step.

use crate::medians::Medians;
use crate::samples::{IntervalSample, ObjectiveSamples};
use crate::saturation::Saturation;
use crate::terms::STEP_REQUESTS;
use crate::{Observation, Terms};

/// A step misses an objective if this many times the allowed share is beyond, or for large shares
/// half of the way from the allowed share to all requests…
const MISSED: f64 = 3.0;
/// …and if fewer than one step in a thousand would show this by chance.
const CHANCE: f64 = 6.9;
/// A step ends early if at least `PLAIN_MIN` requests of an interval, and more than half of them,
/// are beyond, or if at least `PLAIN_STEP` of the step are, with a probability below one in a
/// million by chance.
const PLAIN_MIN: f64 = 10.0;
const PLAIN_STEP: f64 = 5.0;
/// The fraction of the requests of the planned length that must be decided.
const DECIDED: f64 = 0.95;
/// The growth of the outstanding requests, in standard deviations of the difference of two Poisson
/// numbers: a target falls behind above `BEHIND`, and keeps up below `KEEPS_UP`. Between the two,
/// the step continues, for at most `LONGEST` times its length.
const BEHIND: f64 = 4.0;
const KEEPS_UP: f64 = 2.5;
const LONGEST: f64 = 3.0;
/// Growth by fewer requests is not judged.
const BEHIND_MIN: f64 = 10.0;

/// The result of a step so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Not decided yet.
    Open,
    Kept,
    /// The objectives were missed by a burst that may be chance.
    Doubted,
    Missed,
}

/// The figures of a step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) samples: Vec<ObjectiveSamples>,
    seconds: f64,
    /// The due and ended requests since the step began, and the outstanding requests at its
    /// beginning.
    due: f64,
    ended: f64,
    began: f64,
    /// The requests that became due in the first interval, and in the planned length.
    due_first: Option<f64>,
    due_planned: Option<f64>,
    /// The due and ended requests since the requests of the first interval were answered. They show
    /// the throughput at this rate without the delay of the first answers.
    due_since: f64,
    ended_since: f64,
    overdue: f64,
    outstanding: f64,
    /// The throughput, if the target was overloaded.
    pub(crate) saturation: Saturation,
    pub(crate) medians: Medians,
}

impl Step {
    /// Starts a step with `began` outstanding requests.
    pub(crate) fn new(slos: usize, began: f64) -> Self {
        Self {
            samples: vec![ObjectiveSamples::default(); slos],
            seconds: 0.0,
            due: 0.0,
            ended: 0.0,
            began,
            due_first: None,
            due_planned: None,
            due_since: 0.0,
            ended_since: 0.0,
            overdue: 0.0,
            outstanding: began,
            saturation: Saturation::default(),
            medians: Medians::default(),
        }
    }

    /// The outstanding requests at the end of the step.
    pub(crate) const fn outstanding(&self) -> f64 {
        self.outstanding
    }

    pub(crate) fn observe(
        &mut self,
        seen: &Observation,
        samples: &[IntervalSample],
        terms: &Terms,
    ) {
        for (all, sample) in self.samples.iter_mut().zip(samples) {
            all.push(*sample);
        }
        let (before, due_first) = (self.ended, self.due_first);
        self.medians.observe(seen);
        self.seconds += seen.span.as_secs_f64();
        self.due += seen.due as f64;
        self.ended += seen.ended as f64;
        self.outstanding = seen.outstanding as f64;
        if due_first.is_some_and(|due| before >= self.began + due) {
            self.due_since += seen.due as f64;
            self.ended_since += seen.ended as f64;
        }
        if due_first.is_some_and(|due| self.ended >= self.began + due) {
            self.saturation.observe(seen);
        }
        let overdue = seen.tallies.iter().map(|tally| tally.overdue).max();
        self.overdue = overdue.unwrap_or(0) as f64;
        self.due_first.get_or_insert(self.due);
        if self.seconds + 1e-6 >= terms.step.as_secs_f64() {
            self.due_planned.get_or_insert(self.due);
        }
    }

    /// Judges the step by its samples so far.
    pub(crate) fn judge(&self, terms: &Terms) -> Shown {
        let newest = |samples: &ObjectiveSamples| samples.last().copied();
        let is_plain = self.samples.iter().zip(&terms.slos).any(|(samples, slo)| {
            let half = f64::midpoint(slo.share, 1.0).max(0.5);
            let is_sure = samples.beyond() >= PLAIN_STEP
                && samples.share() > half
                && surprise(samples, slo.share) > 2.0 * CHANCE;
            is_sure
                || newest(samples)
                    .is_some_and(|it| it.beyond >= PLAIN_MIN && it.beyond > half * it.of)
        });
        let first = self.samples.first().and_then(newest);
        let is_first = first.is_none_or(|it| self.seconds < 1.5 * it.seconds);
        let grown = self.due_since - self.ended_since;
        let chance = (self.due_since + self.ended_since).sqrt();
        if grown > BEHIND_MIN && grown > BEHIND * chance {
            return Shown::Missed;
        }
        let is_early = is_plain && !is_first;
        if !is_early && !self.is_decided(terms, grown > KEEPS_UP * chance) {
            return Shown::Open;
        }
        let is_missed = self.samples.iter().zip(&terms.slos).any(|(samples, slo)| {
            let limit = (MISSED * slo.share).min(f64::midpoint(1.0, slo.share));
            samples.share() > limit && surprise(samples, slo.share) > CHANCE
        });
        match (is_missed, is_plain) {
            (true, true) => Shown::Missed,
            (true, false) => Shown::Doubted,
            (false, _) => Shown::Kept,
        }
    }

    /// Whether the requests of the planned length are decided, and enough of them.
    fn is_decided(&self, terms: &Terms, may_be_behind: bool) -> bool {
        let Some(planned) = self.due_planned else {
            return false;
        };
        let decided = self.ended + self.overdue;
        decided >= self.began + DECIDED * planned
            && self.due >= STEP_REQUESTS
            && decided >= STEP_REQUESTS
            && (!may_be_behind || self.seconds >= LONGEST * terms.step.as_secs_f64())
    }
}

/// The surprise at a share beyond that exceeds the allowed one: its probability by chance is at
/// most exp(−surprise) (Chernoff's bound for independent requests).
fn surprise(samples: &ObjectiveSamples, allowed: f64) -> f64 {
    let (share, of) = (samples.share().min(1.0 - 1e-9), samples.total());
    if share <= allowed {
        return 0.0;
    }
    let rest = (1.0 - share) * ((1.0 - share) / (1.0 - allowed)).ln();
    of * (share * (share / allowed).ln() + rest)
}

#[cfg(test)]
mod tests {
    use super::{Shown, Step};
    use crate::samples::IntervalSample;
    use crate::{Observation, Slo, Tally, Terms};
    use drumfire_units::Nanos;

    fn terms(slo: Slo) -> Terms {
        Terms {
            slos: vec![slo],
            from: 10.0,
            most: 1e6,
            step: Nanos::from_secs(3),
            hold: Nanos::from_secs(60),
            confirm: Nanos::from_secs(20),
        }
    }

    /// The result of a step after these seconds, each with the numbers of due, ended and beyond
    /// requests.
    fn shown(share: f64, seconds: &[[u64; 3]]) -> Shown {
        let terms = terms(Slo {
            share,
            response: None,
        });
        let (mut step, mut outstanding) = (Step::new(1, 0.0), 0);
        for [due, ended, beyond] in seconds {
            outstanding = outstanding + due - ended;
            let tally = Tally {
                beyond: *beyond,
                near: *beyond,
                of: *ended,
                overdue: 0,
            };
            let seen = Observation {
                span: Nanos::from_secs(1),
                rate: *due as f64,
                due: *due,
                ended: *ended,
                outstanding,
                median: None,
                tallies: vec![tally],
                is_sound: true,
            };
            let sample = IntervalSample {
                seconds: 1.0,
                level: seen.rate.ln(),
                beyond: *beyond as f64,
                near: *beyond as f64,
                of: *ended as f64,
            };
            step.observe(&seen, &[sample], &terms);
        }
        step.judge(&terms)
    }

    #[test]
    fn a_step_without_its_answers_decides_nothing() {
        assert_eq!(shown(0.01, &[[4, 0, 0]; 3]), Shown::Open, "no answer");
        assert_eq!(shown(0.01, &[[2, 2, 0]; 4]), Shown::Open, "eight answers");
        assert_eq!(shown(0.01, &[[2, 2, 0]; 5]), Shown::Kept);
        // The answers belong to the previous step: 30 of 300 due.
        assert_eq!(shown(0.01, &[[100, 10, 0]; 3]), Shown::Open);
    }

    #[test]
    fn a_target_that_falls_behind_misses_whatever_the_objective_is() {
        assert_eq!(shown(0.01, &[[80, 80, 0], [80, 50, 0]]), Shown::Open);
        let seconds = [vec![[80, 80, 0]], vec![[80, 50, 0]; 6]].concat();
        assert_eq!(shown(0.01, &seconds), Shown::Missed);
    }

    /// Three times half of the requests are more than all.
    #[test]
    fn an_objective_on_the_median_can_be_missed() {
        assert_eq!(shown(0.5, &[[100, 100, 55]; 3]), Shown::Kept);
        assert_eq!(shown(0.5, &[[100, 100, 95]; 3]), Shown::Missed);
    }

    #[test]
    fn two_of_two_beyond_are_no_chance() {
        let seconds = [vec![[1, 1, 0]; 9], vec![[1, 1, 1]; 1]].concat();
        assert_eq!(shown(0.01, &seconds), Shown::Kept, "one of ten may be");
        let seconds = [vec![[1, 1, 0]; 7], vec![[1, 1, 1]; 3]].concat();
        assert_eq!(shown(0.01, &seconds), Shown::Doubted);
    }
}
