//! A run as a whole: the merge of its intervals and the judgement over them.
//!
//! A summary grows with each interval that is absorbed, and at any time is the summary of the run
//! so far; nothing in it is judged until its books are closed. Only a [`crate::Reading`] does both,
//! since the order matters: a warm-up that is to be found is cut before anything is judged,
//! thresholds are evaluated on what is left, and the verdict comes last, for it looks at all of
//! them.

use crate::backlog::Backlog;
use crate::figures::Carried;
use crate::stages::{StageCell, Stages};
use crate::step_timelines::StepTimelines;
use crate::verdict::Evidence;
use crate::{
    Changed, Coverage, Drift, Ending, FailedBodies, Figures, GeneratorHealth, Histogram, Interval,
    IntervalRow, Iterations, LatencyKind, LoadAnswer, LoadEnd, LoadOrders, Model, Overview,
    PoolInfo, PoolSeries, Reason, Remedy, Resolution, Rows, RunInfo, Settling, SlowRequest,
    Slowest, Step, TargetAnswer, ThresholdResult, Timeline, Validity, Verdict, WorkerHealth,
};
use drumfire_plan::{ChangeKind, Stage, StopReason, Warmup};
use drumfire_units::Nanos;
use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

/// The most rows that show a run over time.
const INTERVALS: usize = 300;
/// The most rows where the warm-up of a run of many steps is to be found in them.
const INTERVALS_OF_MANY_STEPS: usize = 60;
/// The number of steps beyond which there are many.
const STEPS_OF_FINE_CELLS: usize = 64;

/// A stage of a pool's load as it ran, and what happened in it.
#[derive(Clone, Debug, PartialEq)]
pub struct StageRow<'a> {
    /// The pool.
    pub pool: &'a PoolInfo,
    /// The stage. Stages that are too short for an interval of their own are one, with the names
    /// of all.
    pub stage: Stage,
    /// The figures of the intervals that belong to it.
    pub row: IntervalRow,
    /// The time in it that was measured: without the warm-up, without the time between two parts of
    /// a run that was resumed, and without that of a pause at its edges.
    pub measured: Nanos,
}

impl StageRow<'_> {
    /// Exchanges that ended, in any way, per second of the measured time; `None` where nothing of
    /// it was measured.
    #[must_use]
    pub fn ended_per_s(&self) -> Option<f64> {
        let is_measured = self.measured > Nanos::ZERO;
        is_measured.then(|| self.row.ended() as f64 / self.measured.as_secs_f64())
    }
}

/// The timeline of whole intervals of a run whose warm-up is found at its end, since figures of the
/// beginning must be taken out of every sum again. `None` where the warm-up's length is known
/// beforehand. Its cells are coarser with many steps, for each has all of them.
fn everything_of(info: &RunInfo) -> Option<Timeline<Interval>> {
    let steps: usize = info.pools.iter().map(|pool| pool.steps.len()).sum();
    let cells = match steps <= STEPS_OF_FINE_CELLS {
        true => INTERVALS,
        false => INTERVALS_OF_MANY_STEPS,
    };
    let is_found = info.warmup == Warmup::Auto;
    is_found.then(|| Timeline::new(info, Resolution::AtMost(cells)))
}

/// The merge of all intervals of a run, in a bounded place, and the judgement over them. A
/// [`crate::Reading`] makes it, and closes its books.
///
/// While the run goes on, `info`, `total`, `health`, the pools, the rows and the stages are those
/// up to now; `duration`, `verdict`, `load`, `target`, `thresholds`, `generator` and `drift` have
/// their values for "nothing yet" until the books are closed. Rates over the measured span are 0
/// until then.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The facts known at the start.
    pub info: Arc<RunInfo>,
    /// The measured span: from the end of the warm-up to the last end or the stop.
    pub duration: Nanos,
    /// The figures of all pools together.
    pub total: Figures,
    /// The health of the workers.
    pub health: WorkerHealth,
    /// The figures of each pool, or none where there is a single pool, whose figures are the sum.
    pools: Vec<Figures>,
    /// All pools together over time.
    timeline: Timeline<Overview>,
    /// Each pool over the stages of its load.
    stages: Vec<Stages>,
    /// Each step over time, where a pool has several.
    steps: StepTimelines,
    /// The spans in which the run ran: one, and a further one each time that it was resumed. The
    /// end of the last one is open.
    parts: Vec<Range<Nanos>>,
    /// The time at which the run settled, where its warm-up is found in its figures.
    pub settling: Option<Settling>,
    /// Whole intervals over time, where the beginning may have to be left out; `None` once that is
    /// done.
    everything: Option<Timeline<Interval>>,
    /// Whether the figures can be believed.
    pub verdict: Verdict,
    /// Whether the load was put on the target.
    pub load: LoadAnswer,
    /// The target's answer to the load.
    pub target: TargetAnswer,
    /// The results of the thresholds, in the plan's order.
    pub thresholds: Vec<ThresholdResult>,
    /// The health of the generator.
    pub generator: GeneratorHealth,
    /// The drift of each figure that can be judged.
    pub drift: Vec<Drift>,
    /// The first body of each kind of failure.
    pub failed_bodies: FailedBodies,
    /// The slowest requests.
    pub slowest: Slowest,
    /// The end of the load.
    pub load_end: LoadEnd,
    /// The part of the run that is known: all of it, unless its record lacks some.
    pub coverage: Coverage,
}

impl Summary {
    /// A summary of nothing yet.
    pub(crate) fn new(info: Arc<RunInfo>) -> Self {
        let whole = Interval::of_pools(&info.pools);
        Self::of_figures(whole, info, INTERVALS)
    }

    /// The same without steps and scenarios, and with a single row.
    pub(crate) fn of_sums(info: Arc<RunInfo>) -> Self {
        let sums = info.pools.iter().map(|pool| PoolSeries {
            steps: &[],
            iterations: pool.iterations,
            scenarios: &[],
        });
        let sums = Interval::of_pools(sums);
        Self {
            everything: None,
            steps: StepTimelines::default(),
            ..Self::of_figures(sums, info, 1)
        }
    }

    fn of_figures(figures: Interval, info: Arc<RunInfo>, rows: usize) -> Self {
        let (total, health, pools) = figures.into_parts();
        Self {
            total,
            health,
            pools,
            timeline: Timeline::of_run(&info, Resolution::AtMost(rows)),
            stages: (0..info.pools.len())
                .map(|number| Stages::new(&info, number))
                .collect(),
            steps: StepTimelines::new(&info),
            parts: vec![Nanos::ZERO..Nanos::MAX],
            settling: None,
            everything: everything_of(&info),
            info,
            duration: Nanos::ZERO,
            verdict: Verdict::NONE,
            load: LoadAnswer::NONE,
            target: TargetAnswer::NONE,
            thresholds: Vec::new(),
            generator: GeneratorHealth::default(),
            drift: Vec::new(),
            failed_bodies: FailedBodies::default(),
            slowest: Slowest::default(),
            load_end: LoadEnd::default(),
            coverage: Coverage::Whole,
        }
    }

    /// Whether a signal, a command or the loss of an agent ended the load before the plan did.
    #[must_use]
    pub const fn is_cut_short(&self) -> bool {
        matches!(
            self.load_end.reason,
            Some(StopReason::Signal | StopReason::Command | StopReason::AgentLost)
        )
    }

    /// Whether the load ended before the plan did since nothing was left to send it.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self.load_end.reason, Some(StopReason::Lost))
    }

    /// Takes a change of one pool's load, or of all, before the interval within which it holds. The
    /// stages are cut anew. Where a rate changed, or stood still for a while, the plan's rate is no
    /// longer the one that was asked for, so that it is dropped and rates come from what became
    /// due.
    pub(crate) fn note_change(&mut self, changed: &Changed) {
        let pools = &mut Arc::make_mut(&mut self.info).pools;
        for ((index, pool), stages) in (0..).zip(pools).zip(&mut self.stages) {
            if changed.pool.is_none_or(|only| only == index) {
                stages.change(changed);
                pool.stages = stages.list().to_vec();
                if changed.kind.is_of_load() && changed.kind != ChangeKind::Users {
                    pool.intended_rate = None;
                }
            }
        }
    }

    /// The orders that changed the load of any pool.
    #[must_use]
    pub fn load_changes(&self) -> u64 {
        let pools = 0..self.info.pools.len();
        pools.map(|pool| self.orders(pool).count).sum()
    }

    /// The share of the load of which nothing is known, since the machines that had it were lost: 0
    /// to 1.
    #[must_use]
    pub fn unaccounted_share(&self) -> f64 {
        // Each is a share of the whole, whatever the others are.
        let doubts = self.verdict.doubts.iter();
        doubts
            .fold(0.0_f64, |sum, doubt| sum + doubt.unknown)
            .min(1.0)
    }

    /// The orders that changed a pool's load, by its number.
    #[must_use]
    pub fn orders(&self, pool: usize) -> LoadOrders {
        self.stages
            .get(pool)
            .map(Stages::orders)
            .unwrap_or_default()
    }

    /// Goes on with a further part of a run that was resumed, which began at this time with these
    /// pools. Arrivals of the part before that have no end are accounted for first, as at the end
    /// of a run.
    pub(crate) fn begin_part(&mut self, at: Nanos, info: &RunInfo) {
        self.break_off();
        self.load_end = LoadEnd::default();
        if let Some(last) = self.parts.last_mut() {
            last.end = self.timeline.end();
        }
        self.parts.push(at..Nanos::MAX);
        let pools = &mut Arc::make_mut(&mut self.info).pools;
        let pools = pools.iter_mut().zip(&info.pools);
        for ((pool, now), stages) in pools.zip(&mut self.stages) {
            stages.begin_part(at, now);
            pool.stages = stages.list().to_vec();
        }
    }

    /// Merges one interval that is summed up, in any order.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        self.total.merge(&interval.total);
        self.health.merge(&interval.health);
        for (mine, theirs) in self.pools.iter_mut().zip(interval.pools()) {
            mine.merge(theirs);
        }
        if let Some(everything) = &mut self.everything {
            everything.absorb(interval);
        }
        self.timeline.absorb(interval);
        for stages in &mut self.stages {
            stages.absorb(interval);
        }
        self.steps.absorb(interval);
    }

    /// Merges one interval that is summed up into a summary of sums ([`Self::of_sums`]): without
    /// steps, scenarios and their rows.
    pub(crate) fn absorb_sums(&mut self, interval: &Interval) {
        self.total.merge_sums(&interval.total);
        self.health.merge(&interval.health);
        for (mine, theirs) in self.pools.iter_mut().zip(interval.pools()) {
            mine.merge_sums(theirs);
        }
        self.timeline.absorb(interval);
        for stages in &mut self.stages {
            stages.absorb(interval);
        }
    }

    /// The end of the newest interval, from the run's start.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.timeline.end()
    }

    /// The stages of the pools whose load had several, as far as the run came. A stage begins with
    /// the first interval that does so at its start or behind it; its row says when that was.
    #[must_use]
    pub fn stages(&self) -> Vec<StageRow<'_>> {
        let pools = self.info.pools.iter().zip(&self.stages);
        let with = pools.filter(|(pool, _)| pool.stages.len() > 1);
        let rows = with.flat_map(|(pool, stages)| {
            let mut rows = Rows::of_pool(&self.info, pool.model);
            let cells = stages.cells().into_iter();
            cells.map(move |it: StageCell| {
                let row = rows.next_row_of(&it.cell);
                StageRow {
                    pool,
                    stage: it.stage,
                    measured: self.measured(&row) - it.paused,
                    row,
                }
            })
        });
        rows.collect()
    }

    /// The time in a row that was measured. Each part of a run has a warm-up of its own, but for
    /// one that is found in the whole.
    fn measured(&self, row: &IntervalRow) -> Nanos {
        let found = match self.info.warmup {
            Warmup::Span(_) => Nanos::ZERO,
            Warmup::Auto => self.left_out(),
        };
        let parts = self.parts.iter().map(|part| {
            let from = (part.start + self.info.warmup.span()).max(found);
            row.end.min(part.end) - row.start.max(from)
        });
        parts.fold(Nanos::ZERO, |sum, part| sum + part)
    }

    /// The run over time, all pools together: its intervals, or at most 300 rows of several merged
    /// ones.
    #[must_use]
    pub fn intervals(&self) -> Vec<IntervalRow> {
        self.rows_of(self.over_time())
    }

    /// The rows of [`Self::intervals`], made of what [`Self::over_time`] gave: for readers of both,
    /// since each reading decodes the whole run.
    pub fn rows_of<C: Borrow<Overview>>(
        &self,
        cells: impl IntoIterator<Item = C>,
    ) -> Vec<IntervalRow> {
        let mut rows = Rows::new(&self.info);
        let cells = cells.into_iter();
        let rows = cells.map(|cell| rows.next_row_of(cell.borrow()));
        rows.filter(|row| !row.is_remnant(self.info.interval))
            .collect()
    }

    /// The newest resident memory of the generator, in bytes; 0 where the system does not tell it.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.timeline.newest().map_or(0, Overview::memory)
    }

    /// The distributions of the run over time, all pools together: of its intervals, or of at most
    /// 300 merges of several.
    pub fn over_time(&self) -> impl Iterator<Item = Overview> + '_ {
        self.timeline.cells()
    }

    /// A step over time, by its pool's number and its own: at most 300 rows, fewer of many steps.
    /// `None` where its pool has no other step, whose rows are the pool's, and in a run of more than
    /// 64 steps.
    #[must_use]
    pub fn intervals_of_step(&self, pool: usize, step: usize) -> Option<Vec<IntervalRow>> {
        self.steps.rows(&self.info, pool, step)
    }

    /// The distributions of a step over time, for the steps and in the cells of
    /// [`Self::intervals_of_step`].
    #[must_use]
    pub fn step_over_time(
        &self,
        pool: usize,
        step: usize,
    ) -> Option<impl Iterator<Item = Overview> + '_> {
        self.steps.cells(pool, step)
    }

    /// Each pool with its figures, in the plan's order.
    pub fn pools(&self) -> impl Iterator<Item = (&PoolInfo, &Figures)> {
        self.info.pools.iter().zip(self.pool_figures())
    }

    pub(crate) fn pool_figures(&self) -> &[Figures] {
        if self.pools.is_empty() {
            std::slice::from_ref(&self.total)
        } else {
            &self.pools
        }
    }

    /// Finds where the run settled and leaves out the time before, once, where the plan asks for
    /// that.
    ///
    /// All sums are made anew from the cells of [`everything_of`](self): intervals can't be
    /// subtracted, for extremes would be lost. Requests that became due before the cut and ended
    /// behind it are measured, and count as due in the first cell that is.
    pub(crate) fn settle(&mut self) {
        let Some(everything) = self.everything.take() else {
            return;
        };
        let settling = Settling::of(&everything, self.model());
        self.settling = Some(settling);
        let cut = self.left_out();
        if cut == Nanos::ZERO {
            return;
        }
        let (total, health, pools) = Interval::of_pools(&self.info.pools).into_parts();
        (self.total, self.health, self.pools) = (total, health, pools);
        self.timeline = Timeline::of_run(&self.info, Resolution::AtMost(INTERVALS));
        self.stages.iter_mut().for_each(Stages::reset);
        self.steps = StepTimelines::new(&self.info);
        let mut carried = vec![Carried::default(); self.info.pools.len()];
        for mut cell in everything.cells() {
            if cell.start < cut {
                let more = cell.leave_out();
                let both = carried.iter().zip(more);
                carried = both.map(|(one, other)| one.and(other)).collect();
            } else {
                cell.carry(&carried);
                carried.fill(Carried::default());
            }
            self.absorb(&cell);
        }
    }

    /// The time at the start that is not measured: as the plan has it, or as it was found. Zero
    /// until it is found, and where it was not.
    #[must_use]
    pub fn left_out(&self) -> Nanos {
        match (self.info.warmup, self.settling) {
            (Warmup::Span(span), _) => span,
            (Warmup::Auto, Some(Settling::At(cut))) => cut,
            (Warmup::Auto, _) => Nanos::ZERO,
        }
    }

    /// Closes the books over a measured span, with the results of the thresholds. The answers come
    /// last, since they read all that was set before; counts that do not add up make the run
    /// invalid, for then a figure is wrong through this program's own fault.
    pub(crate) fn close(
        mut self,
        duration: Nanos,
        generator: GeneratorHealth,
        thresholds: Vec<ThresholdResult>,
    ) -> Self {
        self.duration = duration;
        self.generator = generator;
        self.thresholds = thresholds;
        self.drift = Drift::of_run(&self.info, &self.timeline, self.left_out());
        self.answer();
        if let Err(why) = self.conservation() {
            let text = format!("internal error: counts do not add up: {why}");
            self.verdict.condemn(Reason::new(text, &[Remedy::Report]));
        }
        self
    }

    /// The part of the summary that does not follow from its intervals, with the number of
    /// connections that this process could have.
    #[must_use]
    pub fn ending(&self, connections_max: Option<u64>) -> Ending {
        Ending {
            duration: self.duration,
            steal_share: self.generator.steal_share,
            connections_max,
            thresholds: self.thresholds.clone(),
            notes: self.info.notes.clone(),
            failed_bodies: self.failed_bodies.clone(),
            slowest: self.slowest.clone(),
            load_end: self.load_end,
            doubts: self.verdict.doubts.clone(),
        }
    }

    /// Accounts for arrivals without an end where the record of a run breaks off: those under way
    /// then are in flight, and the rest is pending. They have no times, since no clock was read.
    pub(crate) fn break_off(&mut self) {
        self.settle();
        let mut pools = match self.pools.is_empty() {
            true => vec![&mut self.total],
            false => self.pools.iter_mut().collect(),
        };
        pools.iter_mut().for_each(|pool| pool.break_off());
        if !self.pools.is_empty() {
            self.total.sum_counts(&self.pools);
        }
    }

    /// Adds a reason for which the run is suspect.
    pub fn doubt(&mut self, reason: Reason) {
        self.verdict.doubt(reason);
    }

    /// Answers the three questions of a report: whether to believe the run, whether its load was
    /// kept, and how the target did.
    fn answer(&mut self) {
        let pools: Vec<_> = self.pools().collect();
        let evidence = Evidence {
            pools: &pools,
            total: &self.total,
            health: &self.health,
            generator: &self.generator,
            span: self.duration,
        };
        let verdict = Verdict::judge(&evidence);
        let mut load = LoadAnswer::of_run(&pools, self.duration);
        let mut target = TargetAnswer::of_run(&pools);
        // A generator that was late has a queue of its own, which says nothing of the target.
        if verdict.validity != Validity::Invalid
            && let Some(backlog) = self.backlog()
        {
            target.fall_behind(backlog.reason());
        }
        let doubts = std::mem::take(&mut self.verdict.doubts);
        self.verdict = verdict.with(doubts);
        load.miss(self.unaccounted_share());
        if self.is_lost() {
            load.lose();
        }
        (self.load, self.target) = (load, target);
    }

    /// What the target did not answer in time, where it falls behind. Between two parts of a run
    /// that was resumed nothing is known.
    fn backlog(&self) -> Option<Backlog> {
        let is_one = self.parts.len() == 1;
        let judge = || {
            let cells = self.timeline.cells();
            Backlog::of_run(&self.info, cells, self.left_out(), self.load_end.at)
        };
        is_one.then(judge).flatten()
    }

    /// Whether every request and every iteration of every pool is accounted for, exactly, in a
    /// finished summary: intended = sent + dropped + pending, and sent = ok + failed + in flight.
    ///
    /// # Errors
    /// The equation that does not hold, with its figures.
    pub fn conservation(&self) -> Result<(), String> {
        self.pools().try_for_each(|(_, figures)| {
            figures.counts.conservation()?;
            let Some(iterations) = &figures.iterations else {
                return Ok(());
            };
            let of_iterations = |why| format!("for iterations, {why}");
            iterations.counts.conservation().map_err(of_iterations)
        })
    }

    /// Exchanges that ended, ok or failed, per second of the measured span; 0 without a span.
    #[must_use]
    pub fn achieved_per_s(&self) -> f64 {
        self.achieved_per_s_of(&self.total)
    }

    /// The same of one pool.
    #[must_use]
    pub fn achieved_per_s_of(&self, figures: &Figures) -> f64 {
        if self.duration == Nanos::ZERO {
            return 0.0;
        }
        figures.counts.finished() as f64 / self.duration.as_secs_f64()
    }

    /// Iterations that ended, completed or failed, per second of the measured span; 0 without a
    /// span.
    #[must_use]
    pub fn iterations_per_s(&self, iterations: &Iterations) -> f64 {
        if self.duration == Nanos::ZERO {
            return 0.0;
        }
        iterations.counts.finished() as f64 / self.duration.as_secs_f64()
    }

    /// The rate of iterations that a pool's schedule asked for, per second: the plan's where it is
    /// one number, else what became due over the measured span. `None` where its model is closed,
    /// and where its iterations are its requests.
    #[must_use]
    pub fn iterations_intended_per_s(&self, pool: &PoolInfo, figures: &Figures) -> Option<f64> {
        let iterations = figures.iterations.as_ref()?;
        let due = iterations.counts.intended as f64 / self.duration.as_secs_f64();
        match pool.model {
            Model::Closed => None,
            Model::Open => pool
                .intended_rate
                .or_else(|| due.is_finite().then_some(due)),
        }
    }

    /// The model that the figures of the whole run are looked at by; see [`RunInfo::model`].
    #[must_use]
    pub fn model(&self) -> Model {
        self.info.model()
    }

    /// The time that is *the* latency of all its requests together; see [`Model::latency_kind`].
    #[must_use]
    pub fn latency_kind(&self) -> LatencyKind {
        self.model().latency_kind(&self.total.latency)
    }

    /// *The* latency of all its requests together.
    #[must_use]
    pub fn latency(&self) -> &Histogram {
        self.latency_kind().of(&self.total.latency)
    }

    /// The slowest requests by *the* latency, and by which time that is: the response time where none
    /// of them was sent.
    #[must_use]
    pub fn slowest_requests(&self) -> (LatencyKind, Vec<&SlowRequest>) {
        let kind = self.latency_kind();
        let kind = match self.slowest.by(kind).next() {
            Some(_) => kind,
            None => LatencyKind::Response,
        };
        (kind, self.slowest.by(kind).collect())
    }

    /// The rate of requests that the schedules asked for, per second: the plan's where it is one
    /// number, else what became due over the measured span. `None` where any pool's model is
    /// closed.
    #[must_use]
    pub fn intended_per_s(&self) -> Option<f64> {
        let of = |(pool, figures)| self.intended_per_s_of(pool, figures);
        self.pools().map(of).sum()
    }

    /// The same of one pool.
    #[must_use]
    pub fn intended_per_s_of(&self, pool: &PoolInfo, figures: &Figures) -> Option<f64> {
        let due = figures.counts.intended as f64 / self.duration.as_secs_f64();
        match pool.model {
            // The schedule's rate is that of iterations, each of several requests.
            Model::Open if figures.iterations.is_some() => due.is_finite().then_some(due),
            Model::Closed => None,
            Model::Open if self.duration == Nanos::ZERO => pool.intended_rate,
            Model::Open => pool.intended_rate.or(Some(due)),
        }
    }

    /// The figures of every step, pool by pool. Of several pools, a step is called `pool/step`.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let pools = self.pools();
        pools
            .flat_map(|(pool, figures)| self.steps_of(pool, figures))
            .collect()
    }

    /// The steps of one pool, under the names that tell them from those of others.
    #[must_use]
    pub fn steps_of(&self, pool: &PoolInfo, figures: &Figures) -> Vec<Step> {
        let mut steps = figures.steps_of(pool);
        if self.info.pools.len() > 1 {
            for step in &mut steps {
                step.name = format!("{}/{}", pool.name, step.name).into();
            }
        }
        steps
    }
}
