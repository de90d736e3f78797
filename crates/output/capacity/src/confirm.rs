//! A confirmation: a constant rate, held long enough that a miss would show.
//!
//! The objectives are proven if the upper bound of the share beyond, computed from the number of
//! independent bursts, is within the allowed share. If no request is beyond, the proof takes as
//! many requests as a quantile needs. A confirmation that falls between two bursts proves nothing.
//! It therefore lasts for several of the times between two bursts in the hold: bursts that come at
//! any rate would also come now.

use crate::answer::Why;
use crate::medians::Medians;
use crate::samples::{IntervalSample, ObjectiveSamples, Sure};
use crate::{Observation, Slo, Terms};

/// The expected number of bursts in a confirmation, if bursts come at any rate: with a probability
/// of exp(−this) none would come. If the share beyond in the hold was larger than allowed, the rate
/// may not matter, and the number grows by `BURSTS_MORE` times the logarithm of the excess.
const BURSTS: f64 = 3.0;
const BURSTS_MORE: f64 = 2.0;
/// The minimum and maximum seconds at the beginning that are not counted, because of the queue of
/// the previous rate.
const SETTLE: (f64, f64) = (2.0, 10.0);
/// The maximum length of a confirmation without a result, as a multiple of its planned length.
const LONGEST: f64 = 3.0;
/// The extended length, as a multiple of the time needed if no more requests are beyond.
const MARGIN: f64 = 1.2;

/// The required size of a confirmation, according to the hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Need {
    /// The index of the objective that takes longest.
    pub(crate) slo: usize,
    /// The number of requests that this objective needs.
    pub(crate) requests: f64,
    /// The time between two bursts, if bursts require the longer time.
    pub(crate) gap: Option<f64>,
    /// The length in seconds, including those that are not counted.
    pub(crate) seconds: f64,
}

impl Need {
    /// The need of a confirmation at a rate, after a hold with these samples. A request stays at
    /// the target for `stay` seconds.
    pub(crate) fn compute(terms: &Terms, held: &[ObjectiveSamples], rate: f64, stay: f64) -> Self {
        let planned = terms.confirm.as_secs_f64();
        let mut need = Self {
            slo: 0,
            requests: 0.0,
            gap: None,
            seconds: planned,
        };
        let settle = settle(terms, stay);
        let most = held.iter().map(ObjectiveSamples::total).fold(0.0, f64::max);
        for (slo, (objective, samples)) in terms.slos.iter().zip(held).enumerate() {
            let requests = objective.requests_min();
            // An objective may concern only a part of the requests.
            let part = match samples.total() {
                of if of > 0.0 && most > 0.0 => of / most,
                _ => 1.0,
            };
            let counted = settle + requests / (rate * part);
            let gap = gap(samples, objective, rate * part);
            let bursts = gap.map_or(0.0, |(_, seconds)| settle + seconds);
            if counted.max(bursts) > need.seconds {
                need = Self {
                    slo,
                    requests,
                    gap: gap.map(|(gap, _)| gap).filter(|_| bursts > counted),
                    seconds: counted.max(bursts),
                };
            }
        }
        need
    }
}

/// The time between two bursts, and the time without a burst after which bursts are proven to be
/// rare enough at any rate, or to come only at higher rates; `None` if the hold showed no burst.
fn gap(samples: &ObjectiveSamples, slo: &Slo, rate: f64) -> Option<(f64, f64)> {
    let events = samples.events();
    (events > 0.0).then(|| {
        let more = (samples.share() / slo.share).ln().max(0.0);
        let gap = samples.seconds() / events;
        let none = gap * (BURSTS + BURSTS_MORE * more);
        // The samples of hold and confirmation together then show few enough, regardless of the
        // rate.
        let few = samples.beyond_most(Sure::Proof, 1.0) / slo.share - samples.total();
        (gap, none.min(few.max(0.0) / rate))
    })
}

fn settle(terms: &Terms, stay: f64) -> f64 {
    let bound = terms.bound().unwrap_or(0.0);
    (2.0 * bound + stay).clamp(SETTLE.0, SETTLE.1)
}

/// The result of a confirmation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Open,
    /// The confirmation needs this many seconds, which is longer than planned.
    Longer(u64),
    Kept,
    /// The share beyond is larger than allowed.
    Missed,
    /// The share beyond is smaller than allowed, but that may be chance.
    Unproven,
}

/// The state of a confirmation.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) rate: f64,
    pub(crate) samples: Vec<ObjectiveSamples>,
    /// Whether the rate is the maximum rate, before any hold.
    pub(crate) is_of_most: bool,
    /// The reason, if the time suffices only to show a miss, and not for a proof.
    pub(crate) short: Option<Why>,
    /// The planned length, the maximum length, and the seconds at the beginning that are not
    /// counted.
    pub(crate) planned: f64,
    longest: f64,
    settle: f64,
    /// The time for which a request stays at the target, in seconds.
    stay: f64,
    pub(crate) medians: Medians,
    /// The seconds since the confirmation began.
    pub(crate) seconds: f64,
    /// The outstanding requests when counting began, and now.
    began: f64,
    outstanding: f64,
    ended: f64,
}

impl Trial {
    pub(crate) fn new(terms: &Terms, rate: f64, seconds: f64, stay: f64) -> Self {
        Self {
            rate,
            samples: vec![ObjectiveSamples::default(); terms.slos.len()],
            is_of_most: false,
            short: None,
            planned: seconds,
            longest: seconds * LONGEST,
            settle: settle(terms, stay).min(seconds / 3.0),
            stay,
            medians: Medians::default(),
            seconds: 0.0,
            began: 0.0,
            outstanding: 0.0,
            ended: 0.0,
        }
    }

    pub(crate) fn observe(&mut self, seen: &Observation, samples: &[IntervalSample]) {
        let is_settled = self.seconds + 1e-6 >= self.settle;
        self.seconds += seen.span.as_secs_f64();
        self.outstanding = seen.outstanding as f64;
        if !is_settled {
            self.began = self.outstanding;
            return;
        }
        self.ended += seen.ended as f64;
        self.medians.observe(seen);
        for (all, sample) in self.samples.iter_mut().zip(samples) {
            all.push(*sample);
        }
    }

    /// The number of requests that ended.
    pub(crate) const fn requests(&self) -> f64 {
        self.ended
    }

    /// The share beyond each objective.
    pub(crate) fn shares(&self) -> Vec<f64> {
        self.samples.iter().map(ObjectiveSamples::share).collect()
    }

    /// Judges the confirmation by its samples so far.
    pub(crate) fn judge(&self, slos: &[Slo]) -> Proof {
        let counted = (self.planned - self.settle).max(1.0);
        let passed = (self.seconds - self.settle).max(0.0);
        let mut more: f64 = 0.0;
        let (mut is_missed, mut is_proven) = (false, true);
        for (samples, slo) in self.samples.iter().zip(slos) {
            let (before, unanswered) = self.unanswered(slo);
            let beyond = (samples.beyond() - before).max(0.0) + unanswered;
            let of = (samples.total() + unanswered).max(1.0);
            let expected = of * (counted / passed.max(1.0)).max(1.0);
            // The requests that are beyond now are too many even if no more follow.
            is_missed |= beyond > slo.share * expected.max(slo.requests_min());
            let most = samples.beyond_most(Sure::Proof, 1.0) - before.min(samples.beyond());
            let most = most + unanswered;
            let needed = (most / slo.share).max(slo.requests_min());
            is_proven &= of >= needed;
            more = more.max(passed * needed / of);
        }
        let is_over = self.seconds + 1e-6 >= self.planned;
        match (is_missed, is_over, is_proven) {
            (true, _, _) => Proof::Missed,
            (_, false, _) => Proof::Open,
            (_, true, true) => Proof::Kept,
            (_, true, false) => {
                let seconds = (self.settle + more * MARGIN).ceil();
                match seconds <= self.longest {
                    true => Proof::Longer(seconds.max(self.planned + 1.0) as u64),
                    false => Proof::Unproven,
                }
            }
        }
    }

    /// The outstanding requests, for an objective without a bound of response times: those at the
    /// beginning, which may fail because of the previous rate, and the growth since then. Both
    /// exclude the usual number.
    fn unanswered(&self, slo: &Slo) -> (f64, f64) {
        if slo.response.is_some() {
            return (0.0, 0.0);
        }
        let usual = self.stay * self.rate;
        let chance = 3.0 * (self.began + self.outstanding).sqrt();
        let more = self.outstanding - self.began.max(usual) - chance;
        ((self.began - usual).max(0.0), more.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Need, Proof, Trial};
    use crate::samples::{IntervalSample, ObjectiveSamples};
    use crate::{Observation, Slo, Terms};
    use drumfire_units::Nanos;

    fn terms() -> Terms {
        Terms {
            slos: vec![Slo {
                share: 0.01,
                response: Some(Nanos::from_millis(250)),
            }],
            from: 10.0,
            most: 1e6,
            step: Nanos::from_secs(3),
            hold: Nanos::from_secs(60),
            confirm: Nanos::from_secs(20),
        }
    }

    const fn sample(beyond: f64) -> IntervalSample {
        IntervalSample {
            seconds: 1.0,
            level: 4.6,
            beyond,
            near: beyond,
            of: 100.0,
        }
    }

    /// The verdict after seconds of 100 requests each, with these numbers beyond, for a planned
    /// length.
    fn judged(planned: f64, beyond: &[f64]) -> Proof {
        let terms = terms();
        let mut trial = Trial::new(&terms, 100.0, planned, 0.01);
        for beyond in beyond {
            let seen = Observation {
                span: Nanos::from_secs(1),
                rate: 100.0,
                due: 100,
                ended: 100,
                outstanding: 1,
                median: None,
                tallies: Vec::new(),
                is_sound: true,
            };
            trial.observe(&seen, &[sample(*beyond)]);
        }
        trial.judge(&terms.slos)
    }

    #[test]
    fn a_proof_takes_as_many_requests_as_its_quantile() {
        // The first two seconds are not counted.
        assert_eq!(judged(5.0, &[0.0; 5]), Proof::Longer(7), "300 requests");
        assert_eq!(judged(6.0, &[0.0; 6]), Proof::Kept, "400 requests");
        assert_eq!(judged(20.0, &[0.0; 19]), Proof::Open);
        assert_eq!(judged(20.0, &[0.0; 20]), Proof::Kept);
    }

    #[test]
    fn a_burst_is_one_event_and_too_many_end_it_early() {
        let with = |beyond: f64| {
            let mut seconds = [0.0; 20];
            seconds[10] = beyond;
            judged(20.0, &seconds)
        };
        assert_eq!(with(1.0), Proof::Kept);
        assert!(
            matches!(with(8.0), Proof::Longer(_)),
            "one burst of 18 allowed"
        );
        assert_eq!(judged(20.0, &[0.0, 0.0, 19.0]), Proof::Missed);
    }

    /// With a burst every half minute, a hold of 60 s shows two; a confirmation must not fit
    /// between two bursts.
    #[test]
    fn a_confirmation_lasts_for_several_bursts() {
        let mut held = ObjectiveSamples::default();
        for second in 0..60 {
            held.push(sample(if second % 30 == 10 { 100.0 } else { 0.0 }));
        }
        let need = Need::compute(&terms(), &[held], 100.0, 0.01);
        assert!(need.gap.is_some_and(|gap| gap > 25.0), "{need:?}");
        assert!(need.seconds > 100.0, "{need:?}");
        let need = Need::compute(&terms(), &[ObjectiveSamples::default()], 1.0, 0.01);
        assert_eq!((need.requests, need.seconds), (368.0, 370.0));
    }
}
