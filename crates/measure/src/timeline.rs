//! The intervals of a run in a bounded place: neighbours are merged where there are too many.
//!
//! An interval belongs to the cell of an absolute grid in which it begins, and what lies in one cell
//! is merged, without loss. The cells that a timeline has are [`LENGTHS`], each a multiple of the
//! one before: however fine or coarse the intervals came, and in whichever order, the cells of one
//! length hold the same.

use crate::{Interval, PoolInfo, RunInfo};
use drumfire_units::Nanos;
use std::collections::BTreeMap;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The lengths of cells, in nanoseconds. From the last on each is twice the one before.
const LENGTHS: [u64; 19] = [
    MILLISECOND,
    2 * MILLISECOND,
    10 * MILLISECOND,
    20 * MILLISECOND,
    100 * MILLISECOND,
    200 * MILLISECOND,
    SECOND,
    2 * SECOND,
    10 * SECOND,
    20 * SECOND,
    MINUTE,
    2 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
];

const _: () = {
    let mut at = 1;
    while at < LENGTHS.len() {
        assert!(LENGTHS[at].is_multiple_of(LENGTHS[at - 1]), "cells nest");
        at += 1;
    }
};

/// How fine a timeline is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// At most this many cells, at least one: all are as long as that takes.
    AtMost(usize),
    /// As fine as intervals come for an hour, in cells of 10 s for a day, and of 60 s after that.
    ByAge,
    /// A cell from each of these times to the next, ascending, the first from the run's start.
    Edges(Vec<Nanos>),
}

/// From which age on intervals lie in cells of which length.
const AGES: [(Nanos, Nanos); 2] = [
    (Nanos(HOUR), Nanos(10 * SECOND)),
    (Nanos(DAY), Nanos(MINUTE)),
];

/// The intervals of a run, in their encoded form but for the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    content: Content,
    grid: Grid,
    resolution: Resolution,
    /// Every cell but the last, by where it begins.
    closed: BTreeMap<Nanos, Vec<u8>>,
    /// The last one.
    open: Option<Cell>,
}

/// Where cells begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grid {
    /// The length of the run's intervals; parts of one stay together.
    interval: Nanos,
    /// The length of all cells, where they have one.
    length: Nanos,
    /// The end of the newest interval.
    latest: Nanos,
}

/// The part of intervals that is kept.
#[derive(Clone, Debug, PartialEq)]
enum Content {
    /// Everything, of a run with these pools.
    All(Vec<PoolInfo>),
    /// The sums of all pools, in the form of this one.
    Sums(Vec<PoolInfo>),
    /// The sums of the pool of this number, in its form.
    Pool(usize, Vec<PoolInfo>),
}

/// A cell whose content is not encoded.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    begin: Nanos,
    interval: Interval,
}

impl Timeline {
    /// Nothing yet, of a run of which everything is to be kept.
    #[must_use]
    pub fn new(info: &RunInfo, resolution: Resolution) -> Self {
        Self::of(Content::All(info.pools.clone()), info, resolution)
    }

    /// The same of a run of which the sums of all pools are to be kept, without steps.
    #[must_use]
    pub fn of_sums(info: &RunInfo, resolution: Resolution) -> Self {
        let iterations = info.pools.iter().any(|pool| pool.iterations);
        let sums = PoolInfo {
            iterations,
            ..without_series(info.pool())
        };
        Self::of(Content::Sums(vec![sums]), info, resolution)
    }

    /// The same of one pool, by its number.
    pub(crate) fn of_pool(info: &RunInfo, number: usize, resolution: Resolution) -> Self {
        let sums = without_series(&info.pools[number]);
        Self::of(Content::Pool(number, vec![sums]), info, resolution)
    }

    fn of(content: Content, info: &RunInfo, resolution: Resolution) -> Self {
        Self {
            content,
            grid: Grid {
                interval: info.interval,
                length: info.interval,
                latest: Nanos::ZERO,
            },
            resolution,
            closed: BTreeMap::new(),
            open: None,
        }
    }

    /// Adds an interval, which is summed up; in any order.
    pub fn absorb(&mut self, interval: &Interval) {
        let before = self.grid.latest;
        self.grid.latest = before.max(interval.end);
        // What has no length ends what was before it.
        let is_instant = interval.start >= interval.end;
        let start = interval.start - Nanos(is_instant.into());
        let begin = match self.resolution {
            Resolution::Edges(_) => self.cell(start),
            _ => self.cell(down(start, self.grid.interval)),
        };
        match &mut self.open {
            Some(open) if open.begin == begin => self.content.merge(&mut open.interval, interval),
            Some(open) if begin < open.begin => self.absorb_earlier(begin, interval),
            _ => self.begin_cell(begin, interval),
        }
        self.coarsen(before);
    }

    /// The intervals of all cells, in order of time.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        let closed = self.closed.values();
        let closed = closed.map(|bytes| self.content.decode(bytes));
        closed.chain(self.open.iter().map(|open| open.interval.clone()))
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.closed.len() + usize::from(self.open.is_some())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_none()
    }

    /// The end of the newest interval.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.grid.latest
    }

    /// How many bytes the cells take, but for the last.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.closed.values().map(Vec::len).sum()
    }

    /// Where the cell begins that holds an interval from `start` on, by [`Resolution::ByAge`] in a
    /// run whose newest interval ends at `latest`: for files that are made coarser in one pass.
    #[must_use]
    pub fn cell_by_age(info: &RunInfo, start: Nanos, latest: Nanos) -> Nanos {
        by_age(down(start, info.interval), latest)
    }

    /// Where the cell begins that holds what begins at `begin`, which is where an interval of the
    /// run or a shorter cell begins.
    fn cell(&self, begin: Nanos) -> Nanos {
        match &self.resolution {
            Resolution::AtMost(_) => down(begin, self.grid.length),
            Resolution::ByAge => by_age(begin, self.grid.latest),
            Resolution::Edges(edges) => {
                let after = edges.partition_point(|edge| *edge <= begin);
                after.checked_sub(1).map_or(Nanos::ZERO, |at| edges[at])
            }
        }
    }

    /// Makes a cell behind all others the open one, in the memory of the one before.
    fn begin_cell(&mut self, begin: Nanos, interval: &Interval) {
        let mut whole = match self.open.take() {
            Some(open) => {
                self.closed.insert(open.begin, open.interval.encode());
                open.interval
            }
            None => self.content.empty(),
        };
        whole.reset(interval.index, interval.start);
        self.content.merge(&mut whole, interval);
        let interval = whole;
        self.open = Some(Cell { begin, interval });
    }

    /// Adds to a cell before the open one.
    fn absorb_earlier(&mut self, begin: Nanos, interval: &Interval) {
        let mut whole = match self.closed.get(&begin) {
            Some(bytes) => self.content.decode(bytes),
            None => {
                let mut empty = self.content.empty();
                empty.reset(interval.index, interval.start);
                empty
            }
        };
        self.content.merge(&mut whole, interval);
        self.closed.insert(begin, whole.encode());
    }

    /// Merges cells as far as the resolution says, after the newest interval moved from `before`.
    fn coarsen(&mut self, before: Nanos) {
        match self.resolution {
            Resolution::AtMost(most) => {
                while self.len() > most.max(1) && self.grid.lengthen() {
                    self.regroup();
                }
            }
            Resolution::ByAge => {
                let (_, shortest) = AGES[0];
                let cell = |time: Nanos| time.0 / shortest.0;
                if cell(before) != cell(self.grid.latest) {
                    self.regroup();
                }
            }
            Resolution::Edges(_) => {}
        }
    }

    /// Merges the cells that have become one.
    fn regroup(&mut self) {
        let moves = self.closed.keys().any(|begin| self.cell(*begin) != *begin);
        let open_moves = |open: &Cell| self.cell(open.begin) != open.begin;
        if !moves && !self.open.as_ref().is_some_and(open_moves) {
            return;
        }
        let open = self.open.take();
        let closed = std::mem::take(&mut self.closed);
        let mut group: Option<Group> = None;
        for (begin, bytes) in closed {
            let begin = self.cell(begin);
            if group.as_ref().is_none_or(|group| group.begin != begin) {
                self.close_group(group.take());
                group = Some(Group {
                    begin,
                    content: GroupContent::One(bytes),
                });
            } else if let Some(group) = &mut group {
                let next = self.content.decode(&bytes);
                group.add(&self.content, &next);
            }
        }
        let Some(mut open) = open else {
            return self.close_group(group);
        };
        open.begin = self.cell(open.begin);
        match group {
            Some(group) if group.begin == open.begin => {
                let mut whole = group.into_interval(&self.content);
                whole.merge(&open.interval);
                open.interval = whole;
            }
            other => self.close_group(other),
        }
        self.open = Some(open);
    }

    fn close_group(&mut self, group: Option<Group>) {
        if let Some(group) = group {
            let bytes = match group.content {
                GroupContent::One(bytes) => bytes,
                GroupContent::Several(whole) => whole.encode(),
            };
            self.closed.insert(group.begin, bytes);
        }
    }
}

/// Cells that become one: mostly it is a single one, which stays encoded.
struct Group {
    begin: Nanos,
    content: GroupContent,
}

enum GroupContent {
    One(Vec<u8>),
    Several(Box<Interval>),
}

impl Group {
    fn add(&mut self, content: &Content, next: &Interval) {
        let mut whole = match std::mem::replace(&mut self.content, GroupContent::One(Vec::new())) {
            GroupContent::One(bytes) => Box::new(content.decode(&bytes)),
            GroupContent::Several(whole) => whole,
        };
        whole.merge(next);
        self.content = GroupContent::Several(whole);
    }

    fn into_interval(self, content: &Content) -> Interval {
        match self.content {
            GroupContent::One(bytes) => content.decode(&bytes),
            GroupContent::Several(whole) => *whole,
        }
    }
}

impl Content {
    /// A cell without content.
    fn empty(&self) -> Interval {
        match self {
            Self::All(pools) => Interval::of_pools(pools),
            Self::Sums(pools) | Self::Pool(_, pools) => {
                Interval::of_sums(pools.iter().any(|pool| pool.iterations))
            }
        }
    }

    /// Adds what is kept of an interval of the run to a cell.
    fn merge(&self, cell: &mut Interval, interval: &Interval) {
        match self {
            Self::All(_) => cell.merge(interval),
            Self::Sums(_) => cell.merge_sums(interval, &interval.total),
            Self::Pool(number, _) => cell.merge_sums(interval, &interval.pools()[*number]),
        }
    }

    #[expect(clippy::expect_used, reason = "the bytes come from our own encoder")]
    fn decode(&self, bytes: &[u8]) -> Interval {
        let (Self::All(pools) | Self::Sums(pools) | Self::Pool(_, pools)) = self;
        Interval::decode(bytes, pools).expect("what was just encoded")
    }
}

/// A pool of which the sums alone are kept.
fn without_series(pool: &PoolInfo) -> PoolInfo {
    PoolInfo {
        steps: Vec::new(),
        scenarios: Vec::new(),
        ..pool.clone()
    }
}

/// The multiple of a length at or before a time.
fn down(time: Nanos, length: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % length.0.max(1))
}

/// The coarsest cell around a finer one that is old enough, or that itself.
fn by_age(begin: Nanos, latest: Nanos) -> Nanos {
    let old = AGES.iter().rev().find_map(|(age, length)| {
        let begin = down(begin, *length);
        let is_old = begin + *length + *age <= latest;
        is_old.then_some(begin)
    });
    old.unwrap_or(begin)
}

impl Grid {
    /// Goes on to the next length; false where there is none.
    fn lengthen(&mut self) -> bool {
        let next = LENGTHS.iter().find(|length| **length > self.length.0);
        let next = next.copied().or_else(|| self.length.0.checked_mul(2));
        match next {
            Some(next) => self.length = Nanos(next),
            None => return false,
        }
        true
    }
}
