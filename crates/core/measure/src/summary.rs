//! A run as a whole: its merged intervals, and their judgement.
//!
//! A summary grows with each absorbed interval, and is always the summary of the run so far;
//! nothing is judged until it is closed. Only a [`crate::Reading`] does both, because the order
//! matters: an automatic warm-up is left out before anything is judged, thresholds are evaluated on
//! the rest, and the verdict comes last, because it uses all of them.

use crate::backlog::Backlog;
use crate::figures::CarriedOver;
use crate::load::{due_per_s, requested_per_s};
use crate::stages::{StageCell, Stages};
use crate::step_timelines::StepTimelines;
use crate::verdict::Evidence;
use crate::{
    Changed, Coverage, Doubt, DriftFinding, Ending, FailedBodies, Figures, GeneratorHealth,
    Histogram, InferenceRecord, Interval, IntervalRow, Iterations, LatencyKind, LoadAnswer,
    LoadEnd, LoadOrders, Model, Overview, PoolInfo, PoolSeries, Reason, Remedy, Resolution, Rows,
    RunInfo, Settling, SlowRequest, Slowest, Spans, Step, TargetAnswer, ThresholdResult, Timeline,
    Validity, Verdict, WorkerHealth,
};
use drumfire_plan::{ChangeKind, Stage, StopReason, Warmup};
use drumfire_units::Nanos;
use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of rows that show a run over time.
const INTERVALS: usize = 300;
/// The maximum number of rows for determining the warm-up of a run with many steps.
const INTERVALS_OF_MANY_STEPS: usize = 60;
/// The number of steps above which there are many.
const STEPS_OF_FINE_CELLS: usize = 64;

/// A stage of a pool's load as it ran, and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct StageRow<'a> {
    /// The pool.
    pub pool: &'a PoolInfo,
    /// The stage. Stages that are too short for separate intervals are combined, with the names of
    /// all.
    pub stage: Stage,
    /// The figures of the stage's intervals.
    pub row: IntervalRow,
    /// The measured time of the stage: without the warm-up, without the time between two parts of a
    /// resumed run, and without the time of pauses at its edges.
    pub measured: Nanos,
}

impl StageRow<'_> {
    /// Exchanges that ended, with any outcome, per second of the measured time; `None` if no time
    /// was measured.
    #[must_use]
    pub fn ended_per_s(&self) -> Option<f64> {
        let is_measured = self.measured > Nanos::ZERO;
        is_measured.then(|| self.row.ended() as f64 / self.measured.as_secs_f64())
    }
}

/// The timeline of whole intervals of a run with an automatic warm-up, because figures of the
/// beginning must later be removed from every sum. `None` if the warm-up's length is known. With
/// many steps its cells are coarser, because each contains all steps.
fn everything_of(info: &RunInfo) -> Option<Timeline<Interval>> {
    let steps: usize = info.pools.iter().map(|pool| pool.steps.len()).sum();
    let cells = match steps <= STEPS_OF_FINE_CELLS {
        true => INTERVALS,
        false => INTERVALS_OF_MANY_STEPS,
    };
    let is_found = info.warmup == Warmup::Auto;
    is_found.then(|| Timeline::new(info, Resolution::AtMost(cells)))
}

/// The merge of all intervals of a run, in bounded memory, and its judgement. A [`crate::Reading`]
/// makes and closes it.
///
/// While the run is active, `info`, `total`, `health`, the pools, the rows and the stages are up to
/// date; `duration`, `verdict`, `load`, `target`, `thresholds`, `generator` and `drift` have their
/// initial values until the summary is closed. Rates over the measured span are 0 until then.
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
    /// The figures of each pool; empty with a single pool, whose figures are the total.
    pools: Vec<Figures>,
    /// All pools together over time.
    timeline: Timeline<Overview>,
    /// Each pool over the stages of its load.
    stages: Vec<Stages>,
    /// Each step over time, if a pool has several.
    steps: StepTimelines,
    /// The spans in which the run was active: one, plus one for each time that it was resumed. The
    /// last one has no end yet.
    parts: Vec<Range<Nanos>>,
    /// The time at which the run settled, if its warm-up is automatic.
    pub settling: Option<Settling>,
    /// Whole intervals over time, if the beginning may have to be left out; `None` afterwards.
    everything: Option<Timeline<Interval>>,
    /// Whether the figures can be trusted.
    pub verdict: Verdict,
    /// Whether the target received the requested load.
    pub load: LoadAnswer,
    /// How the target handled the load.
    pub target: TargetAnswer,
    /// The results of the thresholds, in the plan's order.
    pub thresholds: Vec<ThresholdResult>,
    /// The health of the generator.
    pub generator: GeneratorHealth,
    /// The drift of each figure that can be judged.
    pub drift: Vec<DriftFinding>,
    /// The first body of each kind of failure.
    pub failed_bodies: FailedBodies,
    /// The slowest requests.
    pub slowest: Slowest,
    /// The end of the load.
    pub load_end: LoadEnd,
    /// The part of the run that is known: all of it, unless its record is incomplete.
    pub coverage: Coverage,
    /// What an inference server reported about itself, if its metrics were read.
    pub inference: Option<Box<InferenceRecord>>,
}

impl Summary {
    /// An empty summary.
    pub(crate) fn new(info: Arc<RunInfo>) -> Self {
        let whole = Interval::of_pools(&info.pools);
        Self::of_figures(whole, info, INTERVALS)
    }

    /// An empty summary without steps and scenarios, and with a single row.
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
            inference: None,
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

    /// Whether the load ended early because all processes that sent it were lost.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self.load_end.reason, Some(StopReason::Lost))
    }

    /// Notes a change of one pool's load, or of all, before the interval within which it takes
    /// effect. Updates the stages. After a change of rate or a pause, the plan's rate does not
    /// apply: it is removed, and rates are computed from the requests that became due.
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

    /// The number of orders that changed the load of any pool.
    #[must_use]
    pub fn load_changes(&self) -> u64 {
        let pools = 0..self.info.pools.len();
        pools.map(|pool| self.orders(pool).count).sum()
    }

    /// The share of the load that is unaccounted for, because the machines with it were lost: from
    /// 0 to 1.
    #[must_use]
    pub fn unaccounted_share(&self) -> f64 {
        // Each is a share of the whole, independent of the others.
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

    /// Begins a further part of a resumed run, at this time with these pools. Arrivals of the
    /// previous part without an end are first accounted for, as at the end of a run.
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

    /// Merges one interval, which must be summed up, in any order.
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

    /// Merges one interval, which must be summed up, into a summary of sums ([`Self::of_sums`]):
    /// without steps, scenarios and their rows.
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

    /// The stages, so far, of the pools whose load has several. A stage begins with the first
    /// interval that begins at or after its start; its row contains that time.
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

    /// The measured time within a row. Each part of a run has a warm-up, unless it is automatic.
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

    /// The run over time, all pools together: its intervals, or at most 300 rows of merged ones.
    #[must_use]
    pub fn intervals(&self) -> Vec<IntervalRow> {
        self.rows_of(self.over_time())
    }

    /// The rows of [`Self::intervals`], from the cells of [`Self::over_time`]: for callers that
    /// need both, because each call decodes the whole run.
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

    /// The latest resident memory of the generator, in bytes; 0 if the system does not report it.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.timeline.newest().map_or(0, Overview::memory)
    }

    /// The distributions of the run over time, all pools together: of its intervals, or of at most
    /// 300 merged ones.
    pub fn over_time(&self) -> impl Iterator<Item = Overview> + '_ {
        self.timeline.cells()
    }

    /// A step over time, by its pool's number and its own: at most `most` rows and at most 300, fewer
    /// with many steps. `None` if its pool has no other step (the pool's rows are then the step's),
    /// and in a run with more than 64 steps.
    #[must_use]
    pub fn intervals_of_step(
        &self,
        pool: usize,
        step: usize,
        most: usize,
    ) -> Option<Vec<IntervalRow>> {
        self.steps.rows(&self.info, (pool, step), most)
    }

    /// The distributions of a step over time, for the same steps and cells as
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

    /// Determines when the run settled and leaves out the time before, once, if the plan requests
    /// this.
    ///
    /// All sums are computed again from the cells of [`everything_of`](self): intervals cannot be
    /// subtracted, because extremes would be lost. Requests that became due before the cut and
    /// ended after it are measured, and count as due in the first measured cell.
    pub(crate) fn settle(&mut self) {
        let Some(everything) = self.everything.take() else {
            return;
        };
        let settling = Settling::detect(&everything, self.model());
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
        let mut carried = vec![CarriedOver::default(); self.info.pools.len()];
        for mut cell in everything.cells() {
            if cell.start < cut {
                let more = cell.leave_out();
                let both = carried.iter().zip(more);
                carried = both.map(|(one, other)| one.and(other)).collect();
            } else {
                cell.carry(&carried);
                carried.fill(CarriedOver::default());
            }
            self.absorb(&cell);
        }
    }

    /// The time at the start that is not measured: the plan's, or the automatic one. Zero until it
    /// is determined, and if the run did not settle.
    #[must_use]
    pub fn left_out(&self) -> Nanos {
        match (self.info.warmup, self.settling) {
            (Warmup::Span(span), _) => span,
            (Warmup::Auto, Some(Settling::At(cut))) => cut,
            (Warmup::Auto, _) => Nanos::ZERO,
        }
    }

    /// Closes the summary over a measured span, with the results of the thresholds. The verdicts
    /// come last, because they read all values set before; counts that do not add up make the run
    /// invalid, because a figure is then wrong through this program's fault.
    pub(crate) fn close(
        mut self,
        duration: Nanos,
        generator: GeneratorHealth,
        thresholds: Vec<ThresholdResult>,
    ) -> Self {
        self.duration = duration;
        self.generator = generator;
        self.thresholds = thresholds;
        self.drift = DriftFinding::of_run(&self.info, &self.timeline, self.left_out());
        self.answer();
        if let Err(why) = self.conservation() {
            let text = format!("internal error: counts do not add up: {why}");
            self.verdict.condemn(Reason::new(text, &[Remedy::Report]));
        }
        self
    }

    /// The part of the summary that does not follow from its intervals, with the maximum number of
    /// connections of this process.
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
            inference: self.inference.as_deref().cloned(),
        }
    }

    /// The mean number of requests in flight over the measured span, by Little's law: the sum of
    /// their service times divided by the span. `None` without a span, and if requests failed,
    /// whose service times are not recorded.
    #[must_use]
    pub fn in_flight_mean(&self) -> Option<f64> {
        let latency = &self.total.latency;
        let is_known = self.duration > Nanos::ZERO && latency.failed.count() == 0;
        is_known.then(|| latency.service_time.sum() as f64 / self.duration.0 as f64)
    }

    /// The maximum number of requests in flight at the end of an interval.
    #[must_use]
    pub fn in_flight_max(&self) -> u64 {
        let rows = self.intervals();
        rows.iter().map(|row| row.in_flight).max().unwrap_or(0)
    }

    /// Accounts for arrivals without an end in an incomplete record: those running at its end are
    /// in flight, the others pending. They have no times, because no clock was read.
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

    /// Adds a reason why the run is suspect, which no interval shows. The summary has been closed.
    pub fn add_doubt(&mut self, doubt: Doubt) {
        self.verdict.add(doubt);
    }

    /// Adds a reason why the run is suspect.
    pub fn doubt(&mut self, reason: Reason) {
        self.verdict.doubt(reason);
    }

    /// Answers the three questions of a report: whether the run can be trusted, whether its load
    /// was kept, and how the target did.
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
        let mut load = LoadAnswer::of_run(&pools, self.spans());
        let mut target = TargetAnswer::of_run(&pools);
        // A late generator has its own queue, which shows nothing of the target.
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

    /// The finding that the target falls behind, if it does. Not judged for a resumed run, because
    /// the time between parts is unknown.
    fn backlog(&self) -> Option<Backlog> {
        let is_one = self.parts.len() == 1;
        let judge = || {
            let cells = self.timeline.cells();
            Backlog::of_run(&self.info, cells, self.left_out(), self.load_end.at)
        };
        is_one.then(judge).flatten()
    }

    /// Whether every request and every iteration of every pool is accounted for exactly, in a
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

    /// Exchanges of one pool that ended, ok or failed, per second of the measured span; 0 without a
    /// span.
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

    /// The rate of iterations of a pool's schedule, per second: the plan's if it is one number,
    /// else the due iterations over the time of the load. `None` if the model is closed, or if
    /// iterations are requests.
    #[must_use]
    pub fn iterations_intended_per_s(&self, pool: &PoolInfo, figures: &Figures) -> Option<f64> {
        let iterations = figures.iterations.as_ref()?;
        requested_per_s(pool, iterations.counts.intended, self.spans().load)
    }

    /// The spans to which the figures apply. The time of the load of a resumed run, and of one whose
    /// end of the load is unknown, is the measured span.
    #[must_use]
    pub fn spans(&self) -> Spans {
        let ended = self.load_end.at.filter(|_| self.parts.len() == 1);
        let load = ended.map(|at| at - self.left_out());
        Spans {
            measured: self.duration,
            load: load.map_or(self.duration, |load| load.min(self.duration)),
        }
    }

    /// The model for the figures of the whole run; see [`RunInfo::model`].
    #[must_use]
    pub fn model(&self) -> Model {
        self.info.model()
    }

    /// The time that is *the* latency of all requests together; see [`Model::latency_kind`].
    #[must_use]
    pub fn latency_kind(&self) -> LatencyKind {
        self.model().latency_kind(&self.total.latency)
    }

    /// *The* latency of all requests together.
    #[must_use]
    pub fn latency(&self) -> &Histogram {
        self.latency_kind().histogram(&self.total.latency)
    }

    /// The slowest requests by *the* latency, and its kind: the response time if none of them was
    /// sent.
    #[must_use]
    pub fn slowest_requests(&self) -> (LatencyKind, Vec<&SlowRequest>) {
        let kind = self.latency_kind();
        let kind = match self.slowest.by(kind).next() {
            Some(_) => kind,
            None => LatencyKind::Response,
        };
        (kind, self.slowest.by(kind).collect())
    }

    /// The rate of requests of the schedules, per second: the plan's if it is one number, else the
    /// due requests over the time of the load. `None` if any pool's model is closed.
    #[must_use]
    pub fn intended_per_s(&self) -> Option<f64> {
        let of = |(pool, figures)| self.intended_per_s_of(pool, figures);
        self.pools().map(of).sum()
    }

    /// The rate of requests of one pool's schedule, per second, as for [`Self::intended_per_s`].
    #[must_use]
    pub fn intended_per_s_of(&self, pool: &PoolInfo, figures: &Figures) -> Option<f64> {
        let (due, load) = (figures.counts.intended, self.spans().load);
        match pool.model {
            // The schedule's rate counts iterations, each of several requests.
            Model::Open if figures.iterations.is_some() => due_per_s(due, load),
            _ => requested_per_s(pool, due, load),
        }
    }

    /// The figures of every step, pool by pool. With several pools, a step has the name of its pool.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let pools = self.pools();
        pools
            .flat_map(|(pool, figures)| self.steps_of(pool, figures))
            .collect()
    }

    /// The steps of one pool, with its name if the run has several.
    #[must_use]
    pub fn steps_of(&self, pool: &PoolInfo, figures: &Figures) -> Vec<Step> {
        let mut steps = figures.steps_of(pool);
        if self.info.pools.len() > 1 {
            let name: Arc<str> = pool.name.as_str().into();
            for step in &mut steps {
                step.pool = Some(Arc::clone(&name));
            }
        }
        steps
    }
}
