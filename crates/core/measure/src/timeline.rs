//! The intervals of a run in bounded memory: neighbours are merged if there are too many.
//!
//! An interval belongs to the cell of an absolute grid in which it begins, and intervals of one
//! cell are merged, without loss. The possible lengths of cells are [`LENGTHS`], each a multiple of
//! the previous one. So the cells of one length are the same for fine and coarse intervals, in any
//! order. Therefore a run that is shown live, one that is read from a store, and one whose store
//! merged old intervals have the same rows.
//!
//! Only the last cell is kept as a value, to which [`Timeline::absorb`] adds; all others are
//! encoded, a few kilobytes each instead of megabytes. An interval for an earlier cell costs a
//! decoding and an encoding, so pass intervals in order if possible. Cells become longer when there
//! are too many ([`Resolution::AtMost`]): then neighbours are decoded and merged, once for each
//! doubling of the run.

use crate::form::{self, FormError};
use crate::overview::Aspect;
use crate::{Interval, Overview, PoolInfo, RunInfo};
use drumfire_units::Nanos;
use std::collections::BTreeMap;
use std::fmt;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The lengths of cells, in nanoseconds. After the last one, each is twice the previous one.
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

/// How coarse a timeline is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// At most this many cells, at least one, all of one length: the smallest of a fixed list that
    /// suffices.
    AtMost(usize),
    /// Cells are as short as the intervals for an hour, 10 s long for a day, and 60 s after that.
    ByAge,
    /// A cell from each of these times to the next, in ascending order, the first from the run's
    /// start.
    Edges(Vec<Nanos>),
}

/// The ages from which on cells have these lengths, for [`Resolution::ByAge`].
const AGES: [(Nanos, Nanos); 2] = [
    (Nanos(HOUR), Nanos(10 * SECOND)),
    (Nanos(DAY), Nanos(MINUTE)),
];

impl Resolution {
    /// The beginning of the cell for an interval that begins at `start`, by [`Self::ByAge`], in a
    /// run whose newest interval ends at `latest`. A store groups the frames of its log with it, in
    /// one pass.
    #[must_use]
    pub fn cell_by_age(info: &RunInfo, start: Nanos, latest: Nanos) -> Nanos {
        by_age(down(start, info.interval), latest)
    }
}

/// The content of a cell, into which the intervals of its span are merged: a whole interval, or the
/// overview that rows need.
pub trait Cell: Clone + fmt::Debug + PartialEq {
    /// The facts of the run that an empty cell needs.
    type Form: Clone + fmt::Debug + PartialEq;

    /// A cell without content.
    fn empty(form: &Self::Form) -> Self;

    /// Empties the cell and keeps the memory, for the intervals from `first` on.
    fn reset(&mut self, first: &Interval);

    /// Adds an interval, which must be summed up.
    fn add(&mut self, interval: &Interval, form: &Self::Form);

    /// Adds a cell of the same run: associative, commutative and lossless.
    fn merge(&mut self, other: &Self);

    /// The cell as bytes.
    fn encode(&self) -> Vec<u8>;

    /// The cell that [`Self::encode`] wrote.
    ///
    /// # Errors
    /// If the bytes are not such a cell.
    fn decode(bytes: &[u8], form: &Self::Form) -> Result<Self, FormError>;
}

/// Cells with whole intervals, of a run with these pools.
impl Cell for Interval {
    type Form = Vec<PoolInfo>;

    fn empty(pools: &Self::Form) -> Self {
        Self::of_pools(pools)
    }

    fn reset(&mut self, first: &Interval) {
        self.reset(first.index, first.start);
    }

    fn add(&mut self, interval: &Interval, _: &Self::Form) {
        self.merge(interval);
    }

    fn merge(&mut self, other: &Self) {
        self.merge(other);
    }

    fn encode(&self) -> Vec<u8> {
        self.encode()
    }

    fn decode(bytes: &[u8], pools: &Self::Form) -> Result<Self, FormError> {
        Self::decode(bytes, pools)
    }
}

/// Cells for rows and the drift test.
impl Cell for Overview {
    type Form = Aspect;

    fn empty(_: &Self::Form) -> Self {
        Self::new()
    }

    fn reset(&mut self, first: &Interval) {
        self.reset(first.start);
    }

    fn add(&mut self, interval: &Interval, aspect: &Self::Form) {
        self.add(interval, *aspect);
    }

    fn merge(&mut self, other: &Self) {
        self.merge(other);
    }

    fn encode(&self) -> Vec<u8> {
        form::encode(self)
    }

    fn decode(bytes: &[u8], _: &Self::Form) -> Result<Self, FormError> {
        form::decode(bytes)
    }
}

/// The intervals of a run in cells, all encoded except the last. The encoding is canonical, so that
/// cells with equal content have equal bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<C: Cell> {
    /// The facts for making and decoding cells.
    form: C::Form,
    grid: CellGrid,
    resolution: Resolution,
    /// Every cell except the last, encoded, by its beginning.
    closed: BTreeMap<Nanos, Box<[u8]>>,
    /// The last cell.
    open: Option<Open<C>>,
}

/// The grid of the beginnings of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellGrid {
    /// The length of the run's intervals; parts of one stay together.
    interval: Nanos,
    /// The length of all cells, if they have one length.
    length: Nanos,
    /// The end of the newest interval.
    latest: Nanos,
}

/// A cell that is not encoded.
#[derive(Clone, Debug, PartialEq)]
struct Open<C> {
    begin: Nanos,
    cell: C,
}

impl Timeline<Interval> {
    /// An empty timeline of whole intervals.
    #[must_use]
    pub fn new(info: &RunInfo, resolution: Resolution) -> Self {
        Self::with_form(info.pools.clone(), info, resolution)
    }
}

impl Timeline<Overview> {
    /// An empty timeline of an overview of all pools together.
    #[must_use]
    pub fn of_run(info: &RunInfo, resolution: Resolution) -> Self {
        Self::with_form(Aspect::of_run(info), info, resolution)
    }

    /// An empty timeline of an overview of one pool, by its number.
    pub(crate) fn of_pool(info: &RunInfo, number: usize, resolution: Resolution) -> Self {
        Self::with_form(Aspect::of_pool(info, number), info, resolution)
    }

    /// An empty timeline of an overview of one step of a pool, by their numbers.
    pub(crate) fn of_step(info: &RunInfo, pool: usize, step: usize, cells: usize) -> Self {
        let aspect = Aspect::of_step(info, pool, step);
        Self::with_form(aspect, info, Resolution::AtMost(cells))
    }
}

impl<C: Cell> Timeline<C> {
    fn with_form(form: C::Form, info: &RunInfo, resolution: Resolution) -> Self {
        Self {
            form,
            grid: CellGrid {
                interval: info.interval,
                length: info.interval,
                latest: Nanos::ZERO,
            },
            resolution,
            closed: BTreeMap::new(),
            open: None,
        }
    }

    /// Adds an interval, which must be summed up, in any order. An interval without a length
    /// belongs to the cell before its time, because it ends there.
    pub fn absorb(&mut self, interval: &Interval) {
        let before = self.grid.latest;
        self.grid.latest = before.max(interval.end);
        // An interval without a length belongs to the previous cell.
        let is_instant = interval.start >= interval.end;
        let start = interval.start - Nanos(is_instant.into());
        let begin = match self.resolution {
            Resolution::Edges(_) => self.cell(start),
            _ => self.cell(down(start, self.grid.interval)),
        };
        match &mut self.open {
            Some(open) if open.begin == begin => open.cell.add(interval, &self.form),
            Some(open) if begin < open.begin => self.absorb_earlier(begin, interval),
            _ => self.begin_cell(begin, interval),
        }
        self.coarsen(before);
    }

    /// Replaces the edges of [`Resolution::Edges`]. Edges up to the newest interval must stay,
    /// because cells are not divided.
    pub(crate) fn set_edges(&mut self, edges: Vec<Nanos>) {
        self.resolution = Resolution::Edges(edges);
    }

    /// Removes all cells.
    pub(crate) fn clear(&mut self) {
        self.closed.clear();
        self.open = None;
        self.grid.latest = Nanos::ZERO;
    }

    /// The cells, in order of time.
    pub fn cells(&self) -> impl Iterator<Item = C> + '_ {
        let closed = self.closed.values();
        let closed = closed.map(|bytes| self.decode(bytes));
        closed.chain(self.open.iter().map(|open| open.cell.clone()))
    }

    /// The cell of the newest interval. Unlike the others it needs no decoding.
    #[must_use]
    pub fn newest(&self) -> Option<&C> {
        Some(&self.open.as_ref()?.cell)
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.closed.len() + usize::from(self.open.is_some())
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_none()
    }

    /// The end of the newest interval.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.grid.latest
    }

    /// The bytes of all cells except the last.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.closed.values().map(|bytes| bytes.len()).sum()
    }

    /// The beginning of the cell for an interval that begins at `begin`, which is the beginning of
    /// an interval of the run or of a shorter cell.
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

    /// Begins a cell after all others, in the memory of the previous one, which is encoded.
    fn begin_cell(&mut self, begin: Nanos, interval: &Interval) {
        let mut cell = match self.open.take() {
            Some(open) => {
                let bytes = open.cell.encode().into_boxed_slice();
                self.closed.insert(open.begin, bytes);
                open.cell
            }
            None => C::empty(&self.form),
        };
        cell.reset(interval);
        cell.add(interval, &self.form);
        self.open = Some(Open { begin, cell });
    }

    /// Adds to a cell before the open one, or makes it: for a late worker, or a part of a run in
    /// another order.
    fn absorb_earlier(&mut self, begin: Nanos, interval: &Interval) {
        let mut cell = match self.closed.get(&begin) {
            Some(bytes) => self.decode(bytes),
            None => {
                let mut empty = C::empty(&self.form);
                empty.reset(interval);
                empty
            }
        };
        cell.add(interval, &self.form);
        self.closed.insert(begin, cell.encode().into_boxed_slice());
    }

    /// Merges cells as far as the resolution requires, after the end of the newest interval has
    /// moved from `before`. By age, this is checked only when a new cell of the shortest length has
    /// begun.
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

    /// Merges the cells that belong together after a change of their length or their age. A cell
    /// that stays single stays encoded.
    fn regroup(&mut self) {
        let moves = self.closed.keys().any(|begin| self.cell(*begin) != *begin);
        let open_moves = |open: &Open<C>| self.cell(open.begin) != open.begin;
        if !moves && !self.open.as_ref().is_some_and(open_moves) {
            return;
        }
        let open = self.open.take();
        let closed = std::mem::take(&mut self.closed);
        let mut group: Option<Group<C>> = None;
        for (begin, bytes) in closed {
            let begin = self.cell(begin);
            if group.as_ref().is_none_or(|group| group.begin != begin) {
                self.close_group(group.take());
                group = Some(Group {
                    begin,
                    content: Content::One(bytes),
                });
            } else if let Some(group) = &mut group {
                group.add(&self.form, &bytes);
            }
        }
        let Some(mut open) = open else {
            return self.close_group(group);
        };
        open.begin = self.cell(open.begin);
        match group {
            Some(group) if group.begin == open.begin => {
                let mut whole = group.into_cell(&self.form);
                whole.merge(&open.cell);
                open.cell = whole;
            }
            other => self.close_group(other),
        }
        self.open = Some(open);
    }

    fn close_group(&mut self, group: Option<Group<C>>) {
        if let Some(group) = group {
            let bytes = match group.content {
                Content::One(bytes) => bytes,
                Content::Several(whole) => whole.encode().into_boxed_slice(),
            };
            self.closed.insert(group.begin, bytes);
        }
    }

    fn decode(&self, bytes: &[u8]) -> C {
        decode(bytes, &self.form)
    }
}

#[expect(clippy::expect_used, reason = "the bytes come from our own encoder")]
fn decode<C: Cell>(bytes: &[u8], form: &C::Form) -> C {
    C::decode(bytes, form).expect("what was just encoded")
}

/// Cells that are merged. Usually it is a single one, which stays encoded.
struct Group<C> {
    begin: Nanos,
    content: Content<C>,
}

enum Content<C> {
    One(Box<[u8]>),
    Several(Box<C>),
}

impl<C: Cell> Group<C> {
    fn add(&mut self, form: &C::Form, bytes: &[u8]) {
        let next: C = decode(bytes, form);
        match &mut self.content {
            Content::One(bytes) => {
                let mut whole: C = decode(bytes, form);
                whole.merge(&next);
                self.content = Content::Several(Box::new(whole));
            }
            Content::Several(whole) => whole.merge(&next),
        }
    }

    fn into_cell(self, form: &C::Form) -> C {
        match self.content {
            Content::One(bytes) => decode(&bytes, form),
            Content::Several(whole) => *whole,
        }
    }
}

/// The last multiple of a length at or before a time.
fn down(time: Nanos, length: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % length.0.max(1))
}

/// The beginning of the coarsest cell around a finer one that is completely old enough; otherwise
/// the beginning of the finer one.
fn by_age(begin: Nanos, latest: Nanos) -> Nanos {
    let old = AGES.iter().rev().find_map(|(age, length)| {
        let begin = down(begin, *length);
        let is_old = begin + *length + *age <= latest;
        is_old.then_some(begin)
    });
    old.unwrap_or(begin)
}

impl CellGrid {
    /// Switches to the next length; returns `false` after the longest one.
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
