//! The metrics of a run: their names, their samples added up, and the parts of samples that thresholds
//! select.
//!
//! A [`Registry`] keeps no sample. A trend is exact up to [`Values::EXACT`](crate::Values::EXACT) samples, and
//! then within 0.1 % of each value; k6 keeps every value. Groups, scenarios and checks come from the tags of
//! samples, and their numbers are limited, so that a script that makes names cannot fill the memory.

mod builtin;
mod section;
mod tags;

use std::collections::BTreeMap;
use std::fmt;

use drumfire_units::Nanos;

use crate::metric::{Kind, Sink};
use crate::threshold::{Selection, ThresholdRule};

use section::Kept;
pub use section::{Check, Group, Section};
pub use tags::Tags;

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contains {
    /// Numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// The word in outputs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

/// The place of a metric in its [`Registry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricId(pub(crate) usize);

impl MetricId {
    /// The number of the place, from 0.
    #[must_use]
    pub const fn number(self) -> usize {
        self.0
    }

    /// The place with a number that [`Self::number`] returned.
    #[must_use]
    pub const fn of_number(number: usize) -> Self {
        Self(number)
    }
}

/// A value of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The metric.
    pub metric: MetricId,
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub time: Nanos,
    /// The value: milliseconds if the metric contains times.
    pub value: f64,
    /// Tags, by which samples are selected.
    pub tags: &'a Tags,
    /// What outputs show, and no threshold can select.
    pub metadata: &'a Tags,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// What the values are.
    pub contains: Contains,
    /// All samples.
    pub total: Part,
    /// The parts of the samples that summaries show, in the order of the thresholds.
    pub parts: Vec<(Selection, Part)>,
}

/// Samples of a metric, and what they are judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The samples.
    pub sink: Sink,
    /// Whether the metric has a sample, or a threshold for which it has to be shown without one: of its own, or
    /// of a part.
    pub is_shown: bool,
    /// The thresholds.
    pub rules: Vec<ThresholdRule>,
}

impl Part {
    fn new(kind: Kind) -> Self {
        Self {
            sink: Sink::new(kind),
            is_shown: false,
            rules: Vec::new(),
        }
    }

    fn add(&mut self, value: f64) {
        self.sink.add(value);
        self.is_shown = true;
    }

    fn absorb(&mut self, other: &Self) {
        self.sink.absorb(&other.sink);
        self.is_shown |= other.is_shown;
    }
}

/// A metric that cannot be declared, or a threshold that fits no metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricError(pub String);

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MetricError {}

/// Which parts of a run have metrics of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Only the run.
    #[default]
    Run,
    /// Each scenario and each group, too.
    Sections,
}

/// The metrics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    metrics: Vec<Metric>,
    names: BTreeMap<String, MetricId>,
    detail: Detail,
    run: Section,
    unnamed: Section,
    scenarios: Vec<(String, Section)>,
    left_out: u64,
}

impl Registry {
    /// The metrics that every run has, without a sample.
    #[must_use]
    pub fn new(detail: Detail) -> Self {
        let mut registry = Self {
            metrics: Vec::new(),
            names: BTreeMap::new(),
            detail,
            run: Section::default(),
            unnamed: Section::default(),
            scenarios: Vec::new(),
            left_out: 0,
        };
        for (name, kind, contains) in builtin::METRICS {
            registry.insert(name, kind, contains);
        }
        if let Some(id) = registry.id("http_req_duration") {
            let tags = vec![("expected_response".to_owned(), "true".to_owned())];
            let selection = Selection {
                metric: "http_req_duration".to_owned(),
                tags,
            };
            registry.metrics[id.0]
                .parts
                .push((selection, Part::new(Kind::Trend)));
        }
        registry
    }

    /// Declare a metric of the script, or find the one that it declared before.
    ///
    /// # Errors
    ///
    /// The name is not allowed, or another metric has it.
    pub fn declare(
        &mut self,
        name: &str,
        kind: Kind,
        contains: Contains,
    ) -> Result<MetricId, MetricError> {
        let first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        let later = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !(2..=128).contains(&name.len()) || !name.starts_with(first) || !name.chars().all(later)
        {
            return Err(MetricError(format!(
                "invalid metric name `{name}`; use 2 to 128 letters, digits or `_`, and no digit first"
            )));
        }
        let Some(id) = self.id(name) else {
            return Ok(self.insert(name, kind, contains));
        };
        let old = &self.metrics[id.0];
        if (old.kind, old.contains) == (kind, contains) {
            return Ok(id);
        }
        Err(MetricError(format!(
            "metric `{name}` exists as a {} of {} values; give the new one another name",
            old.kind.word(),
            old.contains.word()
        )))
    }

    /// Give each selection its thresholds, after the script declared its metrics.
    ///
    /// # Errors
    ///
    /// A metric does not exist, or has not the method of a threshold.
    pub fn judge_by(
        &mut self,
        thresholds: &[(Selection, Vec<ThresholdRule>)],
    ) -> Result<(), MetricError> {
        for (selection, rules) in thresholds {
            let id = self
                .id(&selection.metric)
                .ok_or_else(|| self.unknown(&selection.metric))?;
            let metric = &mut self.metrics[id.0];
            for rule in rules {
                if !rule.threshold.fits(metric.kind) {
                    return Err(MetricError(format!(
                        "threshold `{}` does not fit `{}`: a {} has {}",
                        rule.threshold.text,
                        selection,
                        metric.kind.word(),
                        methods(metric.kind)
                    )));
                }
            }
            metric.total.is_shown = true;
            let part = metric.part_mut(selection);
            part.rules.extend(rules.iter().cloned());
            part.is_shown = true;
        }
        Ok(())
    }

    /// Add a sample.
    pub fn add(&mut self, sample: &Sample<'_>) {
        let metric = &mut self.metrics[sample.metric.0];
        metric.total.add(sample.value);
        for (selection, part) in &mut metric.parts {
            if sample.tags.have_all(&selection.tags) {
                part.add(sample.value);
            }
        }
        let kept = Kept {
            metric: sample.metric,
            kind: metric.kind,
            value: sample.value,
            tags: sample.tags,
            is_check: metric.name == "checks",
        };
        let is_group = metric.name == "group_duration";
        let mut is_kept = !kept.is_check || self.run.check(kept);
        is_kept &= !is_group || self.run.group(sample.tags).is_some();
        if self.detail == Detail::Sections {
            is_kept &= self.add_to_section(kept);
        }
        self.left_out += u64::from(!is_kept);
    }

    /// Add a sample to its scenario, or to what has none. Samples of the stages `setup` and `teardown` that
    /// are in no group belong to the run only.
    fn add_to_section(&mut self, kept: Kept<'_>) -> bool {
        if matches!(kept.tags.value("group"), Some("::setup" | "::teardown")) {
            return true;
        }
        let section = match kept.tags.value("scenario") {
            None | Some("default") => &mut self.unnamed,
            Some(name) => match section::named(&mut self.scenarios, name) {
                Some(section) => section,
                None => return false,
            },
        };
        section.measure(kept) & (!kept.is_check || section.check(kept))
    }

    /// Add the samples of another registry, such as the one of another thread. Metrics that only the other has
    /// are declared here, too.
    ///
    /// # Errors
    ///
    /// A metric of one name is of two kinds.
    pub fn absorb(&mut self, other: &Self) -> Result<(), MetricError> {
        let mut ids = Vec::new();
        for metric in &other.metrics {
            let id = match self.id(&metric.name) {
                Some(id) if self.metrics[id.0].kind == metric.kind => id,
                _ => self.declare(&metric.name, metric.kind, metric.contains)?,
            };
            ids.push(id);
            let own = &mut self.metrics[id.0];
            own.total.absorb(&metric.total);
            for (selection, part) in &metric.parts {
                own.part_mut(selection).absorb(part);
            }
        }
        let mut is_kept =
            self.run.absorb(&other.run, &ids) & self.unnamed.absorb(&other.unnamed, &ids);
        for (name, section) in &other.scenarios {
            is_kept &= section::named(&mut self.scenarios, name)
                .is_some_and(|own| own.absorb(section, &ids));
        }
        self.left_out += other.left_out + u64::from(!is_kept);
        Ok(())
    }

    /// The metric of a name.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<MetricId> {
        self.names.get(name).copied()
    }

    /// A metric.
    #[must_use]
    pub fn metric(&self, id: MetricId) -> &Metric {
        &self.metrics[id.0]
    }

    /// All metrics in the order of their names.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.names.values().map(|id| &self.metrics[id.0])
    }

    /// The checks of the run in the order of their first sample, and the groups.
    #[must_use]
    pub fn run(&self) -> &Section {
        &self.run
    }

    /// What belongs to no scenario or to the one that shortcuts make. Empty for [`Detail::Run`].
    #[must_use]
    pub fn unnamed(&self) -> &Section {
        &self.unnamed
    }

    /// The other scenarios in the order of their first sample. Empty for [`Detail::Run`].
    #[must_use]
    pub fn scenarios(&self) -> &[(String, Section)] {
        &self.scenarios
    }

    /// Samples that no check, group or scenario counts, because there are too many names.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn insert(&mut self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        let id = MetricId(self.metrics.len());
        self.metrics.push(Metric {
            name: name.to_owned(),
            kind,
            contains,
            total: Part::new(kind),
            parts: Vec::new(),
        });
        self.names.insert(name.to_owned(), id);
        id
    }

    fn unknown(&self, name: &str) -> MetricError {
        let known: Vec<&str> = self.names.keys().map(String::as_str).collect();
        MetricError(format!(
            "no metric \"{name}\" exists; known: {}",
            known.join(", ")
        ))
    }
}

impl Metric {
    /// The part of a selection, which is added if it is new.
    fn part_mut(&mut self, selection: &Selection) -> &mut Part {
        if selection.tags.is_empty() {
            return &mut self.total;
        }
        let at = self.parts.iter().position(|(known, _)| known == selection);
        let at = at.unwrap_or_else(|| {
            self.parts.push((selection.clone(), Part::new(self.kind)));
            self.parts.len() - 1
        });
        &mut self.parts[at].1
    }
}

/// The methods of thresholds that a kind has.
fn methods(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "count and rate",
        Kind::Gauge => "value",
        Kind::Rate => "rate",
        Kind::Trend => "avg, min, med, max and p(N)",
    }
}

#[cfg(test)]
mod tests;
