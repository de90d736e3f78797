//! The stages of a pool's load as it ran: the stages of its plan's law, changed by each order.
//!
//! [`Stages::change`] and [`Stages::begin_part`] receive the changes of the load, in order of time,
//! each before the interval within which it takes effect. [`Stages::absorb`] receives the
//! intervals. [`Stages::cells`] may be read at any time: it has the stages that ran so far.
//!
//! ```text
//!   law      const(50,2s) const(100,2s)         origin 0
//!   order    at 1.6 s: rate 80/s                origin 1.6 s, the stages of the new law
//!   order    at 2.1 s: pause                    the law's time stops
//!   order    at 2.9 s: resume                   origin 2.4 s
//!   ran      50/s · 80/s from 1.6 s · paused from 2.1 s · 80/s from 2.9 s
//! ```
//!
//! An interval belongs to the stage in which it begins, because intervals are not divided. A stage
//! without a length gets the interval that contains it, and the following stage begins with the
//! next one. The interval within which a pause ends belongs to the following stage, so that
//! requests that become due after a pause do not count in it; the time of a pause is not measured
//! time of its neighbours.
//!
//! A person may give any number of orders: [`STAGES_MAX`] bounds the list, and further stages are
//! combined.

use crate::{Changed, Interval, Overview, PoolInfo, Resolution, RunInfo, Timeline};
use drumfire_plan::{ChangeKind, Stage};
use drumfire_units::Nanos;

/// The maximum number of stages of a pool's load, including stages that orders began.
const STAGES_MAX: usize = 200;
/// The maximum number of stage names in the name of a joint row.
const NAMES_MAX: usize = 4;

const PAUSED: &str = "paused";
/// The name of all stages beyond [`STAGES_MAX`].
const LATER: &str = "later stages";
/// The name of a load without stored stages.
const UNKNOWN: &str = "the plan's load";

/// The stages of a pool's load, with the measurements of each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stages {
    law: Law,
    /// The stages that ran, and the law's future stages.
    list: Vec<Stage>,
    /// The length of the run's intervals.
    interval: Nanos,
    timeline: Timeline<Overview>,
    orders: LoadOrders,
}

/// The current law, and its time.
#[derive(Clone, Debug, PartialEq)]
struct Law {
    /// The stages, in the law's own time.
    stages: Vec<Stage>,
    /// The run's time at which the law's time was 0, plus the length of all pauses.
    origin: Nanos,
    /// The time at which the law's time stopped; `None` while the load is not paused.
    paused_at: Option<Nanos>,
}

/// The orders that changed a pool's load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOrders {
    /// The number of orders.
    pub count: u64,
    /// The time at which the first one took effect.
    pub first: Nanos,
}

/// The figures of a stage, or of neighbours that are too short for separate intervals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StageCell {
    pub(crate) stage: Stage,
    pub(crate) cell: Overview,
    /// The length of the pauses within the cell, unless it is a pause itself.
    pub(crate) paused: Nanos,
}

impl Stages {
    /// The stages of the run's pool with this number.
    pub(crate) fn new(info: &RunInfo, number: usize) -> Self {
        let list = info.pools[number].stages.clone();
        let edges = Resolution::Edges(edges(&list, info.interval));
        Self {
            law: Law {
                stages: list.clone(),
                origin: Nanos::ZERO,
                paused_at: None,
            },
            list,
            interval: info.interval,
            timeline: Timeline::of_pool(info, number, edges),
            orders: LoadOrders::default(),
        }
    }

    /// The stages that ran, and the future ones.
    pub(crate) fn list(&self) -> &[Stage] {
        &self.list
    }

    /// The orders so far that changed the load.
    pub(crate) const fn orders(&self) -> LoadOrders {
        self.orders
    }

    /// Applies an order, whose time is from the run's start. Pausing a paused load, and resuming a
    /// running one, has no effect.
    pub(crate) fn change(&mut self, changed: &Changed) {
        let (at, law) = (changed.at, &changed.law[..]);
        if changed.kind.is_of_load() {
            if self.orders.count == 0 {
                self.orders.first = at;
            }
            self.orders.count += 1;
        }
        match changed.kind {
            ChangeKind::Rate | ChangeKind::Users => self.follow(at, law),
            ChangeKind::Pause if self.law.paused_at.is_none() => {
                self.law.paused_at = Some(at);
                let paused = Stage {
                    name: PAUSED.to_owned(),
                    start: at,
                };
                self.cut(at, [paused].into());
            }
            ChangeKind::Resume => {
                if let Some(paused_at) = self.law.paused_at.take() {
                    self.law.origin += at - paused_at;
                    self.cut(at, self.law.from(at));
                }
            }
            ChangeKind::Pause | ChangeKind::Mark | ChangeKind::Stop => {}
        }
    }

    /// Begins a further part of the run, with the load of this pool.
    ///
    /// Future stages of the previous part are removed. A stage that continues in the new part stays
    /// one stage, by its name.
    pub(crate) fn begin_part(&mut self, at: Nanos, pool: &PoolInfo) {
        self.law = Law {
            stages: pool.stages.clone(),
            origin: at,
            paused_at: None,
        };
        let mut rest = self.law.from(at);
        // Future stages of the previous part did not run.
        let ended = self.timeline.end();
        self.list.retain(|stage| stage.start < ended);
        let goes_on = match (self.list.last(), rest.first()) {
            (Some(last), Some(next)) => last.name == next.name,
            (_, None) => true,
            (None, Some(_)) => rest.len() == 1,
        };
        if goes_on && !rest.is_empty() {
            rest.remove(0);
        }
        self.cut(at, rest);
    }

    /// Adds an interval, which must be summed up.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        self.timeline.absorb(interval);
    }

    /// Removes the measurements, and keeps the stages.
    pub(crate) fn reset(&mut self) {
        self.timeline.clear();
    }

    /// The stages that ran, in order of time, each with its figures. Neighbours that are too short
    /// for separate intervals are one cell, with the names of all.
    pub(crate) fn cells(&self) -> Vec<StageCell> {
        let edges = edges(&self.list, self.interval);
        let place = |at: Nanos| edges.partition_point(|edge| *edge <= at).saturating_sub(1);
        let cells = self.timeline.cells().map(|cell| (place(cell.start), cell));
        let mut cells: Vec<(usize, Overview)> = cells.collect();
        // Requests that ended after a stage without a length, when none were due any more, belong
        // to that stage.
        if let [.., (before, whole), (_, drain)] = &mut cells[..]
            && self.is_instant(*before)
            && drain.tally.intended == 0
        {
            whole.merge(drain);
            cells.pop();
        }
        let begun = edges.partition_point(|edge| *edge < self.timeline.end());
        let next = cells.iter().skip(1).map(|(at, _)| *at);
        let ends: Vec<usize> = next.chain([begun]).collect();
        let cells = cells.into_iter().zip(ends);
        let cells = cells.filter_map(|((first, cell), end)| {
            let own = self.list.get(first..end.max(first + 1))?;
            let is_paused = own.iter().all(|stage| stage.name == PAUSED);
            let paused = match is_paused {
                true => Nanos::ZERO,
                false => self.paused_within(cell.start, cell.end),
            };
            let stage = together(own)?;
            Some(StageCell {
                stage,
                cell,
                paused,
            })
        });
        cells.collect()
    }

    /// The total time of pauses between two times.
    fn paused_within(&self, from: Nanos, until: Nanos) -> Nanos {
        let ends = self.list.iter().skip(1).map(|next| next.start);
        let stages = self.list.iter().zip(ends.chain([Nanos::MAX]));
        let pauses = stages.filter(|(stage, _)| stage.name == PAUSED);
        let within = pauses.map(|(stage, end)| end.min(until) - stage.start.max(from));
        within.fold(Nanos::ZERO, |sum, time| sum + time)
    }

    /// Whether the stage at this index has no length, as `once(N)`.
    fn is_instant(&self, place: usize) -> bool {
        let next = self.list.get(place + 1);
        next.is_some_and(|next| next.start == self.list[place].start)
    }

    /// Changes the law at a time. If the load is paused, the new law begins when it resumes.
    fn follow(&mut self, at: Nanos, stages: &[Stage]) {
        self.law.stages = stages.to_vec();
        self.law.origin = at;
        match &mut self.law.paused_at {
            // The law begins when the load resumes.
            Some(paused_at) => *paused_at = at,
            None => self.cut(at, self.law.from(at)),
        }
    }

    /// Replaces the stages from a time on by these. Edges up to the newest interval stay unchanged,
    /// as the timeline requires.
    fn cut(&mut self, at: Nanos, stages: Vec<Stage>) {
        if self.list.is_empty() && !stages.is_empty() {
            self.list.push(Stage {
                name: UNKNOWN.to_owned(),
                start: Nanos::ZERO,
            });
        }
        self.list.retain(|stage| stage.start < at);
        let room = STAGES_MAX.saturating_sub(self.list.len());
        let later = stages.get(room).map(|stage| stage.start);
        self.list.extend(stages.into_iter().take(room));
        if let (Some(start), Some(last)) = (later, self.list.last_mut())
            && last.name != LATER
        {
            *last = Stage {
                name: LATER.to_owned(),
                start: last.start.min(start),
            };
        }
        let edges = edges(&self.list, self.interval);
        self.timeline.set_edges(edges);
    }
}

impl Law {
    /// The stages from a time on, in the run's time; the current one is first.
    fn from(&self, at: Nanos) -> Vec<Stage> {
        let begins = |stage: &Stage| self.origin + stage.start;
        let passed = self.stages.partition_point(|stage| begins(stage) < at);
        let passed = match self.stages.get(passed) {
            Some(next) if begins(next) == at => passed,
            _ => passed.saturating_sub(1),
        };
        let rest = self.stages.iter().skip(passed);
        rest.map(|stage| Stage {
            name: stage.name.clone(),
            start: begins(stage).max(at),
        })
        .collect()
    }
}

/// For each stage, the time from which on an interval that begins belongs to it.
///
/// Edges ascend strictly. A stage without a length gets the interval of the grid that contains it,
/// and so does a stage after a pause. Workers may close an interval slightly late, so half an
/// interval passes before the next stage can begin.
fn edges(stages: &[Stage], interval: Nanos) -> Vec<Nanos> {
    let mut edges: Vec<Nanos> = Vec::with_capacity(stages.len());
    let starts = stages.iter().map(|stage| stage.start);
    let next = starts.clone().skip(1).map(Some).chain([None]);
    let mut soonest = Nanos::ZERO;
    let mut is_behind_pause = false;
    for (stage, next) in stages.iter().zip(next) {
        let start = stage.start;
        let is_instant = next == Some(start);
        let begins = match is_instant || is_behind_pause {
            true => Nanos(start.0 - start.0 % interval.0.max(1)),
            false => start,
        };
        is_behind_pause = stage.name == PAUSED;
        let edge = begins.max(soonest);
        edges.push(edge);
        // A worker may close an interval slightly late.
        soonest = match is_instant {
            true => edge + Nanos(interval.0.div_ceil(2)),
            false => edge + Nanos(1),
        };
    }
    edges
}

/// Joins neighbouring stages under one name.
fn together(stages: &[Stage]) -> Option<Stage> {
    let first = stages.first()?;
    let names = stages.iter().take(NAMES_MAX);
    let names: Vec<&str> = names.map(|stage| stage.name.as_str()).collect();
    let mut name = names.join(", ");
    if stages.len() > NAMES_MAX {
        name.push_str(&format!(" and {} more", stages.len() - NAMES_MAX));
    }
    Some(Stage {
        name,
        start: first.start,
    })
}
