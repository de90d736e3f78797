//! The members of an object and the elements of an array, one after the other.

use super::path::{PathSegment, Selector};
use super::scan::{BrokenJson, Scanner};
use super::text::is_same;

/// Iterates over children; the scanner may be elsewhere between two calls.
pub(super) struct Children {
    /// The opening bracket of the value; 0 if the value has no children.
    open: u8,
    /// The position of the last child, or of the value itself.
    at: usize,
    count: usize,
}

/// A child of a value.
pub(super) struct Child<'a> {
    /// The name as written, in an object.
    pub(super) name: &'a [u8],
    /// The position of the child.
    pub(super) at: usize,
}

impl Children {
    /// The children of the value at `at`.
    pub(super) fn scan(scanner: &mut Scanner<'_>, at: usize) -> Self {
        scanner.go_to(at);
        let open = scanner.peek().filter(|b| matches!(b, b'{' | b'['));
        Self {
            open: open.unwrap_or(0),
            at,
            count: 0,
        }
    }

    /// Whether the children have names.
    pub(super) const fn are_members(&self) -> bool {
        self.open == b'{'
    }

    /// Whether the children have indices.
    pub(super) const fn are_elements(&self) -> bool {
        self.open == b'['
    }

    /// The next child.
    pub(super) fn next<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
    ) -> Result<Option<Child<'a>>, BrokenJson> {
        if self.open == 0 {
            return Ok(None);
        }
        scanner.go_to(self.at);
        let is_there = if self.count == 0 {
            scanner.enter(self.open)
        } else {
            scanner.skip_value()?;
            scanner.next(self.open)?
        };
        if !is_there {
            return Ok(None);
        }
        let name = if self.are_members() {
            scanner.name()?
        } else {
            &[]
        };
        self.count += 1;
        self.at = scanner.position();
        Ok(Some(Child { name, at: self.at }))
    }

    /// The number of remaining children.
    pub(super) fn count(&mut self, scanner: &mut Scanner<'_>) -> Result<usize, BrokenJson> {
        let mut count = 0;
        while self.next(scanner)?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn named<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        name: &str,
    ) -> Result<Option<Child<'a>>, BrokenJson> {
        while let Some(child) = self.next(scanner)? {
            if is_same(child.name, name) {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    fn nth<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        index: usize,
    ) -> Result<Option<Child<'a>>, BrokenJson> {
        for _ in 0..index {
            if self.next(scanner)?.is_none() {
                return Ok(None);
            }
        }
        self.next(scanner)
    }
}

/// The position of the member or element that a name or index selects in the value at `at`. If
/// several members have the name, the first is selected.
pub(super) fn find(
    scanner: &mut Scanner<'_>,
    at: usize,
    selector: &Selector,
) -> Result<Option<usize>, BrokenJson> {
    let mut children = Children::scan(scanner, at);
    let found = match selector {
        Selector::Name(name) if children.are_members() => children.named(scanner, name)?,
        Selector::Index(index) if children.are_elements() => {
            let index = match usize::try_from(*index) {
                Ok(index) => Some(index),
                Err(_) => children
                    .count(scanner)?
                    .checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
            };
            match index {
                Some(index) => Children::scan(scanner, at).nth(scanner, index)?,
                None => None,
            }
        }
        _ => None,
    };
    Ok(found.map(|child| child.at))
}

/// The position of the single value to which the segments lead from the value at `at`.
pub(super) fn find_one(
    segments: &[PathSegment],
    scanner: &mut Scanner<'_>,
    mut at: usize,
) -> Result<Option<usize>, BrokenJson> {
    for selector in segments.iter().flat_map(|segment| &segment.selectors) {
        let Some(value) = find(scanner, at, selector)? else {
            return Ok(None);
        };
        at = value;
    }
    Ok(Some(at))
}
