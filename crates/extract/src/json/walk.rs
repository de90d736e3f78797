//! Follows a path through a text, without making lists: each value is visited in the order of
//! RFC 9535 as soon as it is found.

use super::children::{Child, Children, find};
use super::path::{Segment, Selector};
use super::scan::Scanner;
use crate::NoValue;
use std::ops::ControlFlow;

/// Values within one another that `..` goes into.
const DEPTH_MAX: usize = 512;

/// Whether to look for more values.
pub(super) type Flow = Result<ControlFlow<()>, NoValue>;

/// Where a value begins that a path leads to.
type Visit<'v> = dyn FnMut(usize) -> Flow + 'v;

/// Follows one path.
pub(super) struct Walk<'a, 'v> {
    scanner: Scanner<'a>,
    visit: &'v mut Visit<'v>,
}

impl<'a, 'v> Walk<'a, 'v> {
    pub(super) fn new(scanner: Scanner<'a>, visit: &'v mut Visit<'v>) -> Self {
        Self { scanner, visit }
    }

    /// Visits every value to which the segments lead from the value at `at`.
    pub(super) fn follow(&mut self, at: usize, segments: &[Segment]) -> Flow {
        match segments.split_first() {
            None => (self.visit)(at),
            Some((segment, rest)) if segment.descends => self.descend(at, segment, rest, 0),
            Some((segment, rest)) => self.select(at, segment, rest),
        }
    }

    fn descend(&mut self, at: usize, segment: &Segment, rest: &[Segment], depth: usize) -> Flow {
        if depth == DEPTH_MAX {
            let reason = "the body's values are nested deeper than 512 levels";
            return Err(NoValue::unreadable(reason));
        }
        if self.select(at, segment, rest)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.each_child(at, &mut |walk, child| {
            walk.descend(child.at, segment, rest, depth + 1)
        })
    }

    fn select(&mut self, at: usize, segment: &Segment, rest: &[Segment]) -> Flow {
        for selector in &segment.selectors {
            let flow = match selector {
                Selector::Wildcard => {
                    self.each_child(at, &mut |walk, child| walk.follow(child.at, rest))
                }
                selector => match find(&mut self.scanner, at, selector)? {
                    Some(value) => self.follow(value, rest),
                    None => Ok(ControlFlow::Continue(())),
                },
            };
            if flow?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn each_child(
        &mut self,
        at: usize,
        each: &mut dyn FnMut(&mut Self, Child<'a>) -> Flow,
    ) -> Flow {
        let mut children = Children::of(&mut self.scanner, at);
        while let Some(child) = children.next(&mut self.scanner)? {
            if each(self, child)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
