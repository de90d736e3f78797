//! Checks, groups and scenarios, as the tags of samples name them.

use std::collections::BTreeMap;

use super::{MetricId, Tags};
use crate::metric::{Kind, Sink};

/// The most checks, groups or scenarios of one parent.
const NAMES_MAX: usize = 1000;

/// The deepest group.
const DEPTH_MAX: usize = 32;

/// A check with its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// The name.
    pub name: String,
    /// Results that were true.
    pub passes: u64,
    /// Results that were false.
    pub fails: u64,
}

/// A run or a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// All samples.
    pub metrics: BTreeMap<MetricId, Sink>,
    /// The checks of all groups by their name, in the order of their first result.
    pub checks: Vec<Check>,
    /// What belongs to no group, and the groups.
    pub root: Group,
}

/// A group with what belongs to it, and to no group in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The name; empty for the root.
    pub name: String,
    /// Samples.
    pub metrics: BTreeMap<MetricId, Sink>,
    /// Checks in the order of their first result.
    pub checks: Vec<Check>,
    /// The groups in this one, in the order of their first sample.
    pub groups: Vec<Self>,
}

/// What a section keeps of a sample.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) metric: MetricId,
    pub(super) kind: Kind,
    pub(super) value: f64,
    pub(super) tags: &'a Tags,
    /// Whether the sample is a result of a check.
    pub(super) is_check: bool,
}

impl Section {
    /// Count a result of a check. False means: there are too many names.
    pub(super) fn check(&mut self, kept: Kept<'_>) -> bool {
        tally(&mut self.checks, kept)
            & self
                .group(kept.tags)
                .is_some_and(|group| tally(&mut group.checks, kept))
    }

    /// Add a sample to the section and to its group. False means: there are too many names.
    pub(super) fn measure(&mut self, kept: Kept<'_>) -> bool {
        let sink = self.metrics.entry(kept.metric);
        sink.or_insert_with(|| Sink::new(kept.kind)).add(kept.value);
        let Some(group) = self.group(kept.tags) else {
            return false;
        };
        let sink = group.metrics.entry(kept.metric);
        sink.or_insert_with(|| Sink::new(kept.kind)).add(kept.value);
        true
    }

    /// Add the samples of another section, whose metrics have these places here. False means: there are too many
    /// names.
    pub(super) fn absorb(&mut self, other: &Self, ids: &[MetricId]) -> bool {
        add_metrics(&mut self.metrics, &other.metrics, ids);
        add_checks(&mut self.checks, &other.checks) & self.root.absorb(&other.root, ids)
    }

    /// The group of a sample, such as `::outer::inner`, which is added if it is new.
    pub(super) fn group(&mut self, tags: &Tags) -> Option<&mut Group> {
        let path = tags.value("group").unwrap_or_default();
        let names = path.split("::").filter(|name| !name.is_empty());
        if names.clone().count() > DEPTH_MAX {
            return None;
        }
        let mut group = &mut self.root;
        for name in names {
            group = group.inner(name)?;
        }
        Some(group)
    }
}

impl Group {
    fn absorb(&mut self, other: &Self, ids: &[MetricId]) -> bool {
        add_metrics(&mut self.metrics, &other.metrics, ids);
        let mut is_kept = add_checks(&mut self.checks, &other.checks);
        for inner in &other.groups {
            is_kept &= self
                .inner(&inner.name)
                .is_some_and(|own| own.absorb(inner, ids));
        }
        is_kept
    }

    /// The group of a name in this one, which is added if it is new. `None` means: there are too many.
    fn inner(&mut self, name: &str) -> Option<&mut Self> {
        let at = match self.groups.iter().position(|known| known.name == name) {
            Some(at) => at,
            None if self.groups.len() == NAMES_MAX => return None,
            None => {
                self.groups.push(Self {
                    name: name.to_owned(),
                    ..Self::default()
                });
                self.groups.len() - 1
            }
        };
        Some(&mut self.groups[at])
    }
}

fn add_metrics(
    own: &mut BTreeMap<MetricId, Sink>,
    other: &BTreeMap<MetricId, Sink>,
    ids: &[MetricId],
) {
    for (id, sink) in other {
        match own.get_mut(&ids[id.0]) {
            Some(own) => own.absorb(sink),
            None => drop(own.insert(ids[id.0], sink.clone())),
        }
    }
}

fn add_checks(own: &mut Vec<Check>, other: &[Check]) -> bool {
    let mut is_kept = true;
    for check in other {
        match named_check(own, &check.name) {
            Some(own) => {
                own.passes += check.passes;
                own.fails += check.fails;
            }
            None => is_kept = false,
        }
    }
    is_kept
}

/// Count a result of a check by its name. False means: there are too many names.
fn tally(checks: &mut Vec<Check>, kept: Kept<'_>) -> bool {
    let name = kept.tags.value("check").unwrap_or_default();
    let Some(check) = named_check(checks, name) else {
        return false;
    };
    if kept.value == 0.0 {
        check.fails += 1;
    } else {
        check.passes += 1;
    }
    true
}

/// The check of a name, which is added if it is new. `None` means: there are too many.
fn named_check<'a>(checks: &'a mut Vec<Check>, name: &str) -> Option<&'a mut Check> {
    let at = match checks.iter().position(|check| check.name == name) {
        Some(at) => at,
        None if checks.len() == NAMES_MAX => return None,
        None => {
            checks.push(Check {
                name: name.to_owned(),
                ..Check::default()
            });
            checks.len() - 1
        }
    };
    Some(&mut checks[at])
}

/// The section of a name, which is added if it is new. `None` means: there are too many names.
pub(super) fn named<'a>(
    list: &'a mut Vec<(String, Section)>,
    name: &str,
) -> Option<&'a mut Section> {
    let at = match list.iter().position(|(known, _)| known == name) {
        Some(at) => at,
        None if list.len() == NAMES_MAX => return None,
        None => {
            list.push((name.to_owned(), Section::default()));
            list.len() - 1
        }
    };
    Some(&mut list[at].1)
}
