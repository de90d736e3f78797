//! The content of one window: additions on the right, subtractions on the left.
//!
//! A window may contain many intervals, and a histogram takes 264 KiB. So each interval's part is
//! kept in its binary form, a few kilobytes, and decoded again when it leaves the window.
//! Subtraction loses the exact extremes of the remaining times: each part keeps its own, from which
//! [`Series::figure`] restores them.

use crate::figure::Figure;
use crate::form;
use crate::threshold::{Aim, Portion, View};
use crate::{Counts, Histogram, Interval};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The intervals within one window, and their sum.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    aim: Aim,
    /// The number of intervals in a window; at least 1.
    length: usize,
    /// The nominal length of one interval.
    interval: Nanos,
    parts: VecDeque<Part>,
    /// For the rate: intervals without due requests. They count once something is due again; at the
    /// end they are the drain, in which no rate is kept.
    idle: Vec<Part>,
    /// The sum of the parts' histograms; the extremes are kept per part.
    times: Histogram,
}

/// The window of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The next window.
    Next,
    /// The previous window, with the rest of the run appended, which is too short to be an
    /// interval.
    Extended,
}

/// The part of one interval.
#[derive(Clone, Debug)]
struct Part {
    counts: Counts,
    /// Responses with the metric's status.
    responses: u64,
    /// The counts of answers that the metric needs.
    answers: Portion,
    span: Nanos,
    /// The metric's distribution.
    times: Option<Packed>,
}

impl Series {
    pub(crate) fn new(aim: Aim, window: Nanos, interval: Nanos) -> Self {
        let intervals = window.0.div_ceil(interval.0.max(1)).max(1);
        Self {
            aim,
            length: usize::try_from(intervals).unwrap_or(usize::MAX),
            interval,
            parts: VecDeque::new(),
            idle: Vec::new(),
            times: Histogram::new(),
        }
    }

    /// Adds the next interval and calls `see` with the figure of each window that it completes or
    /// extends.
    ///
    /// The rest of a run, if shorter than nine tenths of an interval, extends the last window
    /// instead of forming a separate one. For a rate it is left out, as are intervals at the end
    /// without due requests.
    pub(crate) fn absorb(
        &mut self,
        interval: &Interval,
        mut see: impl FnMut(Window, Result<Figure, String>),
    ) {
        let span = interval.end - interval.start;
        let view = match View::select(&self.aim, &interval.total, interval.pools(), span) {
            Ok(view) => view,
            Err(why) => {
                see(Window::Next, Err(why));
                return;
            }
        };
        let due = view.due;
        let part = Part {
            counts: view.counts,
            responses: view.responses,
            answers: view.answers.unwrap_or_default(),
            span,
            times: view.times.map(Packed::new),
        };
        if let Some(times) = view.times {
            self.times.merge(times);
        }
        // Shortened by the end of the run. Workers close intervals slightly late, so the others are
        // not exact to the nanosecond either.
        let is_rest = span < Nanos(self.interval.0 - self.interval.0 / 10);
        if !self.aim.is_rate() {
            if is_rest && self.parts.len() == self.length {
                self.parts.push_back(part);
                see(Window::Extended, self.figure());
            } else {
                self.push(part, &mut see);
            }
            return;
        }
        if is_rest {
            return;
        }
        if due == 0 {
            self.idle.push(part);
            return;
        }
        for idle in std::mem::take(&mut self.idle) {
            self.push(idle, &mut see);
        }
        self.push(part, &mut see);
    }

    /// Moves the window by one part, whose times are already in the sum, and calls `see` if the
    /// window is full.
    fn push(&mut self, part: Part, see: &mut impl FnMut(Window, Result<Figure, String>)) {
        self.parts.push_back(part);
        while self.parts.len() > self.length
            && let Some(left) = self.parts.pop_front()
        {
            if let Some(times) = left.times {
                self.times.subtract(&times.unpack());
            }
        }
        if self.parts.len() == self.length {
            see(Window::Next, self.figure());
        }
    }

    /// The figure of the window, from the sums of its parts.
    fn figure(&mut self) -> Result<Figure, String> {
        let mut counts = Counts::default();
        let mut responses = 0;
        let mut answers = Portion::default();
        let mut span = Nanos::ZERO;
        let (mut min, mut max) = (Nanos::MAX, Nanos::ZERO);
        for part in &self.parts {
            counts.merge(&part.counts);
            responses += part.responses;
            answers.merge(part.answers);
            span += part.span;
            if let Some(times) = &part.times {
                min = min.min(times.min);
                max = max.max(times.max);
            }
        }
        self.times.restore_extremes(min, max);
        let view = View {
            times: Some(&self.times),
            counts,
            responses,
            due: counts.intended,
            span,
            answers: Some(answers),
        };
        view.figure(&self.aim.metric)
    }
}

/// A histogram in its binary form, a few kilobytes, with its extremes.
#[derive(Clone, Debug)]
struct Packed {
    bytes: Vec<u8>,
    /// The minimum; [`Nanos::MAX`] if the histogram is empty.
    min: Nanos,
    max: Nanos,
}

impl Packed {
    fn new(histogram: &Histogram) -> Self {
        Self {
            bytes: form::encode(histogram),
            min: match histogram.is_empty() {
                true => Nanos::MAX,
                false => histogram.min(),
            },
            max: histogram.max(),
        }
    }

    #[expect(clippy::expect_used, reason = "the bytes come from our own encoder")]
    fn unpack(&self) -> Histogram {
        form::decode(&self.bytes).expect("what was just encoded")
    }
}
