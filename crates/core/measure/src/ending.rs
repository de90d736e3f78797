//! The part of a run's summary that does not follow from its merged intervals.
//!
//! A run is stored, and sent to others, as its facts, its intervals and its ending.
//! [`Summary::ending`] takes the ending from a closed summary, and [`Reading::restore`] closes a
//! reading of the same intervals with it. Both produce the same summary, so that a stored run is
//! shown, compared and judged as it was originally.
//!
//! [`Summary::ending`]: crate::Summary::ending
//! [`Reading::restore`]: crate::Reading::restore

use crate::form;
use crate::{FailedBodies, InferenceRecord, Slowest, ThresholdResult};
use drumfire_plan::StopReason;
use drumfire_units::Nanos;

/// The end of a run's load; the drain follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadEnd {
    /// The first reason for the end; `None` while the load is running, and if the record of the run
    /// lacks it.
    pub reason: Option<StopReason>,
    /// The time from the run's start; `None` while the load is running, and if the record of the run
    /// lacks it.
    pub at: Option<Nanos>,
}

/// The facts of a run's end that do not follow from its intervals. Together with the facts of its
/// start and the intervals, they reproduce the summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// The measured span.
    pub duration: Nanos,
    /// The share of CPU time that the hypervisor took from this machine, 0 to 1.
    pub steal_share: f64,
    /// The maximum number of connections of the process; `None` means unlimited. Remedies depend on
    /// it.
    pub connections_max: Option<u64>,
    /// The results of the thresholds, in the plan's order.
    pub thresholds: Vec<ThresholdResult>,
    /// The notes on the run, which replace the notes of its start.
    pub notes: Vec<String>,
    /// The first body of each kind of failure.
    pub failed_bodies: FailedBodies,
    /// The slowest requests.
    pub slowest: Slowest,
    /// The end of the load.
    pub load_end: LoadEnd,
    /// Reasons for doubt that no interval shows.
    pub doubts: Vec<Doubt>,
    /// What an inference server reported about itself.
    pub inference: Option<InferenceRecord>,
}

/// A reason to suspect a run that its intervals do not show, such as the loss of a machine with a
/// share of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The reason, in a sentence.
    pub text: String,
    /// The share of the run's load that is unaccounted for, from 0 to 1. If it is above 0, the load
    /// counts as not kept.
    pub unknown: f64,
}

form! { struct LoadEnd { reason, at } }

form! {
    struct Ending {
        duration, steal_share, connections_max, thresholds, notes, failed_bodies, slowest, load_end,
        doubts, inference,
    }
    check |ending| ending.steal_share.is_finite(), "a share that is not a number";
}

form! {
    struct Doubt { text, unknown }
    check |doubt| (0.0..=1.0).contains(&doubt.unknown), "a share outside 0 to 1";
}

impl Ending {
    /// The ending with every text replaced by the result of `rewrite`. Bodies of failures that are
    /// not text are rewritten as text only if that changes them, so that binary bodies stay
    /// unchanged.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        for threshold in &mut self.thresholds {
            threshold.expression = rewrite(&threshold.expression);
            threshold.actual_text = rewrite(&threshold.actual_text);
        }
        for note in &mut self.notes {
            *note = rewrite(note);
        }
        if let Some(inference) = &mut self.inference {
            inference.server = rewrite(&inference.server);
        }
        for doubt in &mut self.doubts {
            doubt.text = rewrite(&doubt.text);
        }
        for mut body in self.failed_bodies.take() {
            body.body.rewrite_texts(rewrite);
            self.failed_bodies.add(body);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certainty, Excerpt, FailedBody, Outcome, SlowRequest};
    use proptest::prelude::*;

    fn slowest() -> Slowest {
        let mut slowest = Slowest::default();
        for n in 0..3_u16 {
            slowest.add(&SlowRequest {
                trace: format!("{n:032x}"),
                pool: n,
                step: 7,
                outcome: Outcome::Reset,
                status: 0,
                intended: Nanos(n.into()),
                response_time: Nanos(900),
                service_time: (n > 0).then_some(Nanos(n.into())),
            });
        }
        slowest
    }

    fn ending() -> Ending {
        let mut failed_bodies = FailedBodies::default();
        failed_bodies.add(FailedBody {
            outcome: Outcome::HttpStatus,
            status: 503,
            pool: 1,
            step: 2,
            end: Nanos(7),
            body: Excerpt {
                bytes: b"overload, hunter2".to_vec(),
                length: 9_000,
                text: Some("hunter2".to_owned()),
            },
        });
        Ending {
            duration: Nanos::from_secs(10),
            steal_share: 0.25,
            connections_max: Some(900),
            thresholds: vec![
                ThresholdResult {
                    expression: "p99<1ms".to_owned(),
                    is_condition: true,
                    passed: true,
                    actual: Some(0.5),
                    certainty: Certainty::AtLeast,
                    actual_text: "0.5".to_owned(),
                    ended_run_at: Some(Nanos(9)),
                },
                ThresholdResult {
                    expression: "rate>1".to_owned(),
                    is_condition: false,
                    passed: false,
                    actual: None,
                    certainty: Certainty::Exact,
                    actual_text: "hunter2".to_owned(),
                    ended_run_at: None,
                },
            ],
            notes: vec!["as hunter2 said".to_owned()],
            failed_bodies,
            slowest: slowest(),
            load_end: LoadEnd {
                reason: Some(StopReason::Command),
                at: Some(Nanos(1_250_000_000)),
            },
            doubts: vec![Doubt {
                text: "agent hunter2 was lost".to_owned(),
                unknown: 0.25,
            }],
            inference: Some(InferenceRecord {
                server: "http://hunter2:8000".to_owned(),
                reads: 3,
                queries: Some(2.5),
                ..InferenceRecord::default()
            }),
        }
    }

    #[test]
    fn what_is_encoded_comes_back() {
        for ending in [ending(), Ending::default()] {
            assert_eq!(form::decode(&form::encode(&ending)), Ok(ending));
        }
    }

    #[test]
    fn a_cut_anywhere_is_refused() {
        let bytes = form::encode(&ending());
        for end in 0..bytes.len() {
            assert!(
                form::decode::<Ending>(&bytes[..end]).is_err(),
                "cut at {end}"
            );
        }
    }

    #[test]
    fn every_text_is_rewritten() {
        let rewritten = ending().with_texts(&|text| text.replace("hunter2", "***"));
        let shown = format!("{rewritten:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        let body = rewritten.failed_bodies.iter().next().cloned();
        assert_eq!(
            body.map(|body| body.body.bytes),
            Some(b"overload, ***".to_vec())
        );
    }

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same(
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes = form::encode(&ending());
            let place = place.index(bytes.len());
            bytes[place] = byte;
            if let Ok(decoded) = form::decode::<Ending>(&bytes) {
                prop_assert_eq!(form::encode(&decoded), bytes);
            }
        }
    }
}
