//! Skips many arrivals at a time; by arithmetic, unless the law is random.

use super::{Next, Segment, Walk};
use drumfire_units::Nanos;

impl Segment {
    /// Skips this share's arrivals that are due before `end`, and unlimited pieces that end by
    /// then. Returns the number of skipped arrivals. Takes one inversion for each piece, at any
    /// rate; a random process is drawn.
    pub fn skip_before(&mut self, end: Nanos) -> u64 {
        let mut passed = 0;
        loop {
            match self.next {
                Next::At(due) if due.at < end => {
                    let count = self.count_in_piece(end);
                    self.leap(count);
                    passed += count;
                }
                Next::Unlimited { until, .. } if until <= end => self.advance(),
                _ => return passed,
            }
        }
    }

    /// Skips at most `at_most` of this share's arrivals in the current piece that are due before
    /// `end`, but not the last of them. Returns the number of skipped arrivals. A random process
    /// does not move, and neither does a segment that is not at an arrival.
    pub fn skip_to_last_before(&mut self, end: Nanos, at_most: u64) -> u64 {
        match (self.next, &self.walk) {
            (Next::At(due), Walk::Even(_) | Walk::Inverse) if due.at < end => {
                let count = (self.count_in_piece(end) - 1).min(at_most);
                self.leap(count);
                count
            }
            _ => 0,
        }
    }

    /// The number of this worker's arrivals in the current piece that are due before `end`,
    /// including the next one, which must be due before `end`. For a random process only the next
    /// one is counted.
    fn count_in_piece(&self, end: Nanos) -> u64 {
        let Next::At(due) = self.next else {
            return 0;
        };
        if matches!(self.walk, Walk::Random) {
            return 1;
        }
        let piece = &self.pieces[self.position];
        let stop = self.stop.min(self.base + piece.count_before(end.0));
        (stop - due.index).div_ceil(u64::from(self.of))
    }

    /// Skips `count` arrivals of this worker, all in the current piece.
    fn leap(&mut self, count: u64) {
        let Next::At(due) = self.next else {
            return;
        };
        match count {
            0 => {}
            1 => self.advance(),
            _ => {
                let index = due.index + count * u64::from(self.of);
                if index < self.stop {
                    self.stand_at(index);
                } else {
                    let after = self.base + self.pieces[self.position].count;
                    self.enter_following(after);
                }
            }
        }
    }
}
