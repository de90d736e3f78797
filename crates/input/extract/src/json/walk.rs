//! Evaluates a path on a text without building lists: each value is visited as soon as it is found,
//! in the order of RFC 9535.

mod judge;

use super::children::{Child, Children, find};
use super::path::{PathSegment, Selector, Slice};
use super::scan::Scanner;
use crate::NoValue;
use judge::{Place, holds};
use std::ops::ControlFlow;

/// The maximum nesting depth that `..` visits.
const DEPTH_MAX: usize = 512;

/// Whether to search for more values.
pub(super) type Flow = Result<ControlFlow<()>, NoValue>;

/// Called with the position of each value of a path.
type Visit<'v> = dyn FnMut(usize) -> Flow + 'v;

/// The evaluation of one path.
pub(super) struct Walk<'a, 's, 'v> {
    scanner: &'s mut Scanner<'a>,
    /// The position of the text's value, which is `$` in a filter.
    root: usize,
    visit: &'v mut Visit<'v>,
}

impl<'a, 's, 'v> Walk<'a, 's, 'v> {
    pub(super) fn new(scanner: &'s mut Scanner<'a>, root: usize, visit: &'v mut Visit<'v>) -> Self {
        Self {
            scanner,
            root,
            visit,
        }
    }

    /// Visits every value to which the segments lead from the value at `at`.
    pub(super) fn follow(&mut self, at: usize, segments: &[PathSegment]) -> Flow {
        match segments.split_first() {
            None => (self.visit)(at),
            Some((segment, rest)) if segment.descends => self.descend(at, segment, rest, 0),
            Some((segment, rest)) => self.select(at, segment, rest),
        }
    }

    fn descend(
        &mut self,
        at: usize,
        segment: &PathSegment,
        rest: &[PathSegment],
        depth: usize,
    ) -> Flow {
        if depth == DEPTH_MAX {
            let deep = "has values nested deeper than 512 levels";
            return Err(self.scanner.beyond(deep).into());
        }
        if self.select(at, segment, rest)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.each_child(at, &mut |walk, child| {
            walk.descend(child.at, segment, rest, depth + 1)
        })
    }

    fn select(&mut self, at: usize, segment: &PathSegment, rest: &[PathSegment]) -> Flow {
        for selector in &segment.selectors {
            let flow = match selector {
                Selector::Wildcard => {
                    self.each_child(at, &mut |walk, child| walk.follow(child.at, rest))
                }
                Selector::Filter(filter) => self.each_child(at, &mut |walk, child| {
                    let place = Place {
                        root: walk.root,
                        current: child.at,
                    };
                    if holds(filter, walk.scanner, place)? {
                        walk.follow(child.at, rest)
                    } else {
                        Ok(ControlFlow::Continue(()))
                    }
                }),
                Selector::Slice(slice) => self.slice(at, *slice, rest),
                Selector::Name(_) | Selector::Index(_) => match find(self.scanner, at, selector)? {
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

    fn slice(&mut self, at: usize, slice: Slice, rest: &[PathSegment]) -> Flow {
        let mut children = Children::scan(self.scanner, at);
        let mut elements = Vec::new();
        if children.are_elements() {
            while let Some(child) = children.next(self.scanner)? {
                elements.push(child.at);
            }
        }
        for index in slice.indices(elements.len()) {
            if self.follow(elements[index], rest)?.is_break() {
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
        let mut children = Children::scan(self.scanner, at);
        while let Some(child) = children.next(self.scanner)? {
            if each(self, child)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
