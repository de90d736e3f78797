//! Checks, and the groups and scenarios of a full summary.

use std::collections::BTreeMap;

use super::Summary;
use super::layout::{self, Block, Cells, Row, Widths};
use super::number::Unit;
use super::style::SummaryInk;
use crate::metric::Sink;
use crate::metrics::{Check, Group, MetricId};

impl Summary<'_> {
    /// How many checks held, and each check.
    pub(super) fn checks(&self, out: &mut String, indent: &str, checks: &[Check]) {
        let passes: u64 = checks.iter().map(|check| check.passes).sum();
        let fails: u64 = checks.iter().map(|check| check.fails).sum();
        let total = passes + fails;
        if total == 0 {
            return;
        }
        let share = |passes| Sink::Rate { passes, total };
        let rows = [
            ("checks_total", Sink::Counter(total as f64), Unit::Plain),
            ("checks_succeeded", share(passes), Unit::Share),
            ("checks_failed", share(fails), Unit::Share),
        ];
        let rows = rows.map(|(name, sink, unit)| {
            Row::new(name, Cells::new(&sink, unit, self.seconds, self.stats))
        });
        let widths = Widths::of(&rows);
        for row in &rows {
            widths.write(row, out, indent, self.colors);
        }
        out.push('\n');
        // The place of an explanation grows twice as fast as the one of its check.
        let under = " ".repeat(2 * indent.len() - 2);
        for check in checks {
            let (passes, fails) = (check.passes, check.fails);
            let mark = self.colors.mark(fails == 0, &format!(" {}", check.name));
            out.push_str(&format!("{indent}{mark}\n"));
            if fails > 0 {
                let percent = (100.0 * layout::share(passes, passes + fails)).floor();
                let text = format!("↳  {percent}% — ✓ {passes} / ✗ {fails}");
                out.push_str(&format!(
                    "{under}{}\n",
                    self.colors.paint(SummaryInk::Bad, &text)
                ));
            }
        }
        out.push('\n');
    }

    /// The groups that belong to no scenario, and the scenarios with theirs.
    pub(super) fn sections(&self, out: &mut String) {
        for group in &self.registry.unnamed().root.groups {
            self.heading(out, "", "█", &format!("GROUP: {}", group.name));
            self.group(out, "    ", group);
            out.push('\n');
        }
        for (name, section) in self.registry.scenarios() {
            self.heading(out, "", "█", &format!("SCENARIO: {name}"));
            self.checks(out, "    ", &section.checks);
            self.metrics(out, "    ", &section.metrics);
            self.groups(out, "    ", &section.root.groups);
            out.push('\n');
        }
    }

    fn group(&self, out: &mut String, indent: &str, group: &Group) {
        self.checks(out, indent, &group.checks);
        self.metrics(out, indent, &group.metrics);
        self.groups(out, indent, &group.groups);
    }

    fn groups(&self, out: &mut String, indent: &str, groups: &[Group]) {
        for group in groups {
            self.heading(out, &indent[2..], "↳", &format!("GROUP: {}", group.name));
            self.group(out, &format!("{indent}  "), group);
        }
    }

    fn metrics(&self, out: &mut String, indent: &str, metrics: &BTreeMap<MetricId, Sink>) {
        let mut list: Vec<_> = metrics
            .iter()
            .map(|(id, sink)| (self.registry.metric(*id), sink))
            .collect();
        list.sort_by(|one, other| super::by_name(&one.0.name, &other.0.name));
        let mut block = Block::default();
        for (metric, sink) in list {
            let unit = Unit::of(metric.kind, metric.contains, self.unit);
            if let Some(section) = layout::section(&metric.name, self.mode) {
                let cells = Cells::new(sink, unit, self.seconds, self.stats);
                block.add(section, vec![Row::new(&metric.name, cells)]);
            }
        }
        block.write(out, indent, self.colors);
    }
}
