//! The search for a capacity, as an observer of its run.
//!
//! The observer converts each interval to an observation of the [`Search`], and the search's acts
//! to commands, through the [`Control`] that `drumfire ctl` uses, too. It is attached in the
//! caller's thread, so that a command is sent as soon as the interval is closed. The caller keeps
//! the finding.

use crate::{Note, Observer, RunContext, SessionError};
use drumfire_capacity::{
    Act, Answer, Bottleneck, Finding, KneeRow, Observation, Progress, Search, Slo, Stage, Tally,
    Why,
};
use drumfire_engine::Control;
use drumfire_measure::{
    Ages, Blame, Figures, Flow, Histogram, Interval, Objective, Outcome, Reading,
};
use drumfire_measure::{Remedy, RunEvent, RunInfo, Summary};
use drumfire_plan::{Change, Command, Law, Sequence, StopReason};
use drumfire_report::capacity;
use drumfire_units::{Nanos, Rate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A lag above 1/4 of an objective's bound counts as the generator's part of a miss.
const LAG_PART: u64 = 4;
/// The lag that counts if no objective is about times.
const LAG: Nanos = Nanos::from_millis(100);
/// The part of an objective's allowed share that may have such a lag.
const LAG_SHARE: f64 = 0.5;
/// The minimum relative change of the rate that is worth a command.
const STEP_MIN: f64 = 0.002;
/// The first status code that counts as a failure in nearly all plans.
const FAILED: u16 = 400;
/// If more than this part of the missed requests was slow at the target, the target is the limit.
const TARGET_PART: f64 = 0.5;

/// The running search of a session.
pub struct Seeker<'a> {
    search: Search,
    finding: &'a mut Finding,
    /// The pool whose rate is controlled.
    pool: u16,
    shown: Box<dyn FnMut(&Progress) + 'a>,
    control: Option<Control>,
    /// The requested rates, and the run times from which they apply.
    asked: Vec<(Nanos, f64)>,
    /// The requests, or the iterations of scenarios, that were due and have neither ended nor been
    /// dropped.
    ages: Ages,
    /// The generator's own measurements, while its figures are not sound.
    doubted: Option<Doubted>,
    info: Option<Arc<RunInfo>>,
    /// For each objective, the number of requests that missed it, and of those that missed it
    /// because of the target alone.
    beyond: Vec<[u64; 2]>,
    /// The number of failures by kind.
    failures: BTreeMap<String, u64>,
    is_stopping: bool,
}

/// The generator's own measurements while its figures are not sound.
struct Doubted {
    reading: Reading,
    span: Nanos,
}

impl<'a> Seeker<'a> {
    /// A search in a run, whose progress is shown after each interval. The finding has the run's
    /// facts and the objectives of the search.
    pub fn new(
        search: Search,
        pool: u16,
        finding: &'a mut Finding,
        shown: impl FnMut(&Progress) + 'a,
    ) -> Self {
        let terms = search.terms();
        let asked = vec![(Nanos::ZERO, terms.from)];
        let bounds = terms.slos.iter().filter_map(|slo| slo.response);
        let ages = Ages::new(bounds.max().unwrap_or(Nanos::ZERO));
        let beyond = vec![[0; 2]; terms.slos.len()];
        Self {
            search,
            finding,
            pool,
            shown: Box::new(shown),
            control: None,
            asked,
            ages,
            doubted: None,
            info: None,
            beyond,
            failures: BTreeMap::new(),
            is_stopping: false,
        }
    }

    /// The objective in the form that a search for the rate of a pool uses.
    #[must_use]
    pub fn slo(objective: &Objective, pool: usize, info: &RunInfo) -> Slo {
        let is_response = objective.is_of_response && objective.is_of_pool(pool, info);
        Slo {
            share: objective.share,
            response: objective.bound.filter(|_| is_response),
        }
    }

    fn record_interval(&mut self, interval: &Interval) {
        let Some(figures) = interval.pools().get(usize::from(self.pool)) else {
            return;
        };
        // The schedule counts iterations if an iteration is more than one request.
        let (counts, times) = match &figures.iterations {
            Some(all) => (&all.counts, [&all.time, &all.failed]),
            None => (
                &figures.counts,
                [&figures.latency.response_time, &figures.latency.failed],
            ),
        };
        let gone = counts.finished().saturating_add(counts.dropped);
        let due = counts.intended;
        if interval.end <= interval.start {
            return;
        }
        self.ages.observe(&Flow {
            start: interval.start,
            end: interval.end,
            due,
            gone,
            times,
        });
        if self.is_stopping {
            return;
        }
        let slos = &self.search.terms().slos;
        let each = self.finding.objectives.iter().zip(slos);
        let tallies: Vec<Tally> = each
            .map(|(objective, slo)| {
                let seen = objective.tally(interval);
                Tally {
                    beyond: seen.beyond,
                    near: seen.near,
                    of: seen.of,
                    overdue: slo.response.map_or(0, |bound| self.ages.overdue(bound)),
                }
            })
            .collect();
        let seen = Observation {
            span: interval.end - interval.start,
            rate: self.mean_rate(interval),
            due,
            ended: gone,
            outstanding: self.ages.outstanding(),
            median: (!times[0].is_empty()).then(|| times[0].quantile_unchecked(0.5)),
            is_sound: self.is_sound(figures),
            tallies,
        };
        self.note_soundness(&seen, interval);
        let stage = self.search.progress().stage;
        let (_, rate) = self.asked.last().copied().unwrap_or_default();
        self.finding.add_to_course(stage, interval.start, rate);
        self.add_to_knee(stage, &seen, figures);
        let act = self.search.observe(&seen);
        (self.shown)(&self.search.progress());
        self.act(act);
    }

    /// The mean requested rate during an interval, per second.
    fn mean_rate(&self, interval: &Interval) -> f64 {
        let ends = self.asked.iter().skip(1).map(|(from, _)| *from);
        let pieces = self.asked.iter().zip(ends.chain([Nanos::MAX]));
        let within = pieces.map(|((from, rate), until)| {
            let (from, until) = ((*from).max(interval.start), until.min(interval.end));
            rate * (until.max(from) - from).as_secs_f64()
        });
        within.sum::<f64>() / (interval.end - interval.start).as_secs_f64()
    }

    /// Whether the figures describe the target: nothing failed because of this machine, and our own
    /// lag did not cause misses of objectives.
    fn is_sound(&self, figures: &Figures) -> bool {
        let is_own = |outcome: Outcome| {
            outcome.blame() == Some(Blame::Generator) && outcome != Outcome::LocalCancelled
        };
        let mut failures = figures.outcomes().failures();
        if failures.any(|(outcome, _)| is_own(outcome)) {
            return false;
        }
        let lag = &figures.latency.lag;
        let is_late = |limit: Nanos, allowed: f64| {
            lag.count_from(limit) as f64 > LAG_SHARE * allowed * lag.count() as f64
        };
        let timed = self.finding.objectives.iter();
        let timed = timed.filter_map(|it| Some((it.bound?, it.share, it.is_of_response)));
        let mut timed = timed.filter(|(.., is_of_response)| *is_of_response);
        let is_any_late = timed.any(|(bound, share, _)| is_late(Nanos(bound.0 / LAG_PART), share));
        !(is_any_late || is_late(LAG, 0.02))
    }

    /// Keeps the generator's own measurements while its figures are not sound.
    fn note_soundness(&mut self, seen: &Observation, interval: &Interval) {
        if seen.is_sound {
            self.doubted = None;
        } else if let Some(info) = &self.info {
            let doubted = self.doubted.get_or_insert_with(|| Doubted {
                reading: Reading::of_sums(Arc::clone(info)),
                span: Nanos::ZERO,
            });
            doubted.reading.absorb(interval);
            doubted.span += seen.span;
        }
    }

    /// Adds an interval to the row of its rate: one row for each step, one for the whole hold and
    /// one for each confirmation.
    fn add_to_knee(&mut self, stage: Stage, seen: &Observation, figures: &Figures) {
        if !seen.is_sound {
            return;
        }
        let seconds = seen.span.as_secs_f64();
        let (_, rate) = self.asked.last().copied().unwrap_or_default();
        let rows = &mut self.finding.knee;
        let is_same = |row: &KneeRow| match stage {
            Stage::Hold => row.stage == stage,
            _ => row.stage == stage && (row.rate / rate - 1.0).abs() < STEP_MIN,
        };
        let at = match rows.iter().rposition(is_same) {
            Some(at) => at,
            None => {
                rows.push(KneeRow {
                    stage,
                    rate: if stage == Stage::Hold {
                        seen.rate
                    } else {
                        rate
                    },
                    span: Nanos::ZERO,
                    ended: 0,
                    times: Histogram::small(),
                    shares: vec![0.0; seen.tallies.len()],
                });
                rows.len() - 1
            }
        };
        let row = &mut rows[at];
        let before = row.span.as_secs_f64();
        if stage == Stage::Hold {
            row.rate = (row.rate * before + seen.rate * seconds) / (before + seconds);
        }
        let ended = row.ended as f64;
        for (share, tally) in row.shares.iter_mut().zip(&seen.tallies) {
            let of = tally.of as f64;
            *share = (*share * ended + tally.beyond as f64) / (ended + of).max(1.0);
        }
        row.span += seen.span;
        row.ended += figures.counts.finished();
        row.times.merge(&figures.latency.response_time);
        self.add_to_beyond(&seen.tallies, figures);
    }

    /// Adds an interval to the misses of each objective, in total and at the target alone.
    fn add_to_beyond(&mut self, tallies: &[Tally], figures: &Figures) {
        let each = self.beyond.iter_mut().zip(&self.finding.objectives);
        for ((beyond, objective), tally) in each.zip(tallies) {
            beyond[0] += tally.beyond;
            beyond[1] += match objective.bound.filter(|_| objective.is_of_response) {
                Some(bound) => figures
                    .latency
                    .service_time
                    .count_from(bound)
                    .min(tally.beyond),
                None => tally.beyond,
            };
        }
        for (outcome, count) in figures.outcomes().failures() {
            // Statuses are counted one by one.
            if outcome != Outcome::HttpStatus {
                *self.failures.entry(outcome.name().to_owned()).or_default() += count;
            }
        }
        for (status, count) in figures.status().filter(|(status, _)| *status >= FAILED) {
            *self.failures.entry(format!("status {status}")).or_default() += count;
        }
    }

    fn act(&mut self, act: Act) {
        let Some(control) = &self.control else {
            return;
        };
        match act {
            Act::Stay => {}
            Act::Rate(rate) => {
                let (_, now) = self.asked.last().copied().unwrap_or_default();
                if (rate / now - 1.0).abs() < STEP_MIN {
                    return;
                }
                let (law, rate) = law(rate);
                let command = Command {
                    pool: Some(self.pool),
                    ..Command::soon(Change::Rate { law })
                };
                // The command is refused only after the end of the load.
                if let Ok(at) = control.send(command) {
                    self.asked.push((at, rate));
                }
            }
            Act::End => control.stop(StopReason::Duration),
        }
    }

    /// The bottleneck that limits the rate for this objective; `None` if nothing missed it.
    fn bottleneck(&self, slo: usize) -> Option<Bottleneck> {
        let objective = self.finding.objectives.get(slo)?;
        let [beyond, at_target] = self.beyond.get(slo)?.map(|count| count as f64);
        if beyond <= 0.0 {
            return None;
        }
        Some(match objective.bound {
            None => Bottleneck::Failures,
            Some(_) if at_target < TARGET_PART * beyond => Bottleneck::Connections,
            Some(_) => Bottleneck::Target,
        })
    }

    /// The objective that limits the rate: the one of the answer, or the one that was missed most.
    fn bounding(&self, answer: &Answer) -> usize {
        match answer {
            Answer::Found(capacity) => capacity.slo,
            Answer::Unknown {
                why: Why::Independent { slo, .. } | Why::Missed { slo, .. },
                ..
            } => *slo,
            _ => {
                let shares = self.beyond.iter().zip(&self.finding.objectives);
                let shares = shares.map(|([beyond, _], it)| *beyond as f64 / it.share);
                let worst = shares
                    .enumerate()
                    .max_by(|one, other| one.1.total_cmp(&other.1));
                worst.map_or(0, |(slo, _)| slo)
            }
        }
    }
}

impl Observer for Seeker<'_> {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.control = Some(run.control.clone());
        self.info = Some(Arc::clone(&run.info));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::IntervalClosed(interval) => self.record_interval(interval),
            RunEvent::Stopping { .. } => self.is_stopping = true,
            _ => {}
        }
    }

    fn finish(mut self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let answer = self.search.answer();
        let is_over = self.search.progress().stage == Stage::Over;
        self.finding.is_cut_short = !is_over;
        self.finding.bottleneck = match &answer {
            Answer::Above(_) | Answer::Generator { .. } => None,
            _ => self.bottleneck(self.bounding(&answer)),
        };
        let most = self.failures.iter().max_by_key(|(_, count)| **count);
        self.finding.failure = most.map(|(name, _)| name.clone());
        if let Some(mut doubted) = self.doubted.take() {
            // Requests in flight end after the part that was read.
            doubted.reading.break_off();
            let verdict = doubted.reading.close(doubted.span, 0.0).verdict;
            // The counts of a part contain requests that began before it, and do not balance.
            let reasons = verdict.reasons.into_iter();
            let reasons = reasons.filter(|reason| !reason.remedies.contains(&Remedy::Report));
            let texts = reasons.map(|reason| reason.text);
            self.finding.reasons.extend(texts);
        }
        self.finding.answer = answer;
        self.finding.run.clone_from(&summary.info.id);
        vec![Note::Report(capacity::note(self.finding))]
    }
}

/// The law of a rate with four significant digits, and its exact rate.
fn law(rate: f64) -> (Sequence, f64) {
    let digits = (3.0 - rate.max(1e-6).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{rate:.digits$}/s");
    // A number with at most nine decimals is a valid rate if it fits into 64 bits.
    let rate = text.parse::<Rate>();
    let rate = rate.unwrap_or_else(|_| Rate::per_second(u64::from(u32::MAX)));
    let law = Law::Const {
        rate,
        duration: Nanos::MAX,
    };
    (Sequence(vec![law]), rate.as_per_second())
}

#[cfg(test)]
mod tests {
    use super::law;
    use drumfire_plan::Sequence;

    #[test]
    fn a_rate_has_four_digits() {
        for (rate, text) in [
            (905.374, "const(905.4/s)"),
            (12.345_67, "const(12.35/s)"),
            (0.5, "const(0.5/s)"),
            (123_456.7, "const(123457/s)"),
        ] {
            let expected: Sequence = text.parse().expect("a law");
            let (law, exact) = law(rate);
            assert_eq!(law.to_string(), expected.to_string(), "{rate}");
            assert!((exact / rate - 1.0).abs() < 1e-3, "{rate}: {exact}");
        }
    }
}
