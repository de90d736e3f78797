//! Prometheus' text format (version 0.0.4) and OpenMetrics' (1.0.0), which differ in a few lines.

use crate::scalar::{Scalar, each};
use crate::{Family, MetricKind, Snapshot, Unit, Value};
use std::fmt::Write as _;

/// The variant of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpositionSyntax {
    Prometheus,
    OpenMetrics,
}

/// A snapshot as a page. Writing to a `String` cannot fail.
pub(super) fn page(snapshot: &Snapshot, syntax: ExpositionSyntax) -> String {
    let mut out = String::with_capacity(16_384);
    for family in &snapshot.families {
        head(family, syntax, &mut out);
        each(family, &mut |scalar| line(&scalar, &mut out));
    }
    if syntax == ExpositionSyntax::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

/// Writes the lines about a metric's kind and meaning. OpenMetrics uses the name of the family,
/// Prometheus' text the name of its samples.
fn head(family: &Family, syntax: ExpositionSyntax, out: &mut String) {
    let name = match syntax {
        ExpositionSyntax::OpenMetrics => family.name.into(),
        ExpositionSyntax::Prometheus => family.sample_name(),
    };
    let kind = match (family.kind, syntax) {
        (MetricKind::Counter, _) => "counter",
        (MetricKind::Histogram, _) => "histogram",
        (MetricKind::Info, ExpositionSyntax::OpenMetrics) => "info",
        (MetricKind::Gauge, _) | (MetricKind::Info, ExpositionSyntax::Prometheus) => "gauge",
    };
    let _ = writeln!(out, "# HELP {name} {}", family.help);
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if let (ExpositionSyntax::OpenMetrics, Some(unit)) = (syntax, family.unit.map(Unit::name)) {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
}

/// Writes one sample.
fn line(scalar: &Scalar<'_>, out: &mut String) {
    out.push_str(scalar.name);
    let labels = scalar.labels.iter();
    let labels = labels.map(|label| (label.name, &*label.value));
    let mut separator = '{';
    for (name, value) in labels.chain(scalar.le.map(|le| ("le", le))) {
        out.push(separator);
        let _ = write!(out, "{name}=\"");
        escape(value, out);
        out.push('"');
        separator = ',';
    }
    if separator == ',' {
        out.push('}');
    }
    let _ = match scalar.value {
        Value::Count(count) => writeln!(out, " {count}"),
        value => writeln!(out, " {}", value.number()),
    };
}

/// Writes a label's value, with escapes for a backslash, a quote and the end of a line.
fn escape(value: &str, out: &mut String) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BOUNDS, Label, Point, TimeDistribution};
    use drumfire_measure::Histogram;
    use drumfire_units::Nanos;

    fn snapshot() -> Snapshot {
        let mut times = Histogram::new();
        for ns in [800_000, 2_000_000, 70_000_000_000] {
            times.record(Nanos(ns));
        }
        let labels = vec![Label::new("pool", "a \"b\"\\\n")];
        let point = |value| Point {
            labels: labels.clone(),
            value,
        };
        let times = Value::Distribution(Box::new(TimeDistribution::from_histogram(&times)));
        Snapshot {
            families: vec![
                Family::new(
                    "x_requests",
                    "Requests.",
                    MetricKind::Counter,
                    vec![point(Value::Count(7))],
                ),
                Family::alone(
                    "x_ratio",
                    "A share.",
                    MetricKind::Gauge,
                    Value::Number(0.25),
                )
                .with_unit(Unit::Ratio),
                Family::alone("x_run", "The run.", MetricKind::Info, Value::Count(1)),
                Family::new(
                    "x_seconds",
                    "Times.",
                    MetricKind::Histogram,
                    vec![point(times)],
                )
                .with_unit(Unit::Seconds),
            ],
            ..Snapshot::default()
        }
    }

    #[test]
    fn both_texts_have_their_own_heads() {
        let prometheus = page(&snapshot(), ExpositionSyntax::Prometheus);
        let expected = "# HELP x_requests_total Requests.\n\
                        # TYPE x_requests_total counter\n\
                        x_requests_total{pool=\"a \\\"b\\\"\\\\\\n\"} 7\n\
                        # HELP x_ratio A share.\n\
                        # TYPE x_ratio gauge\n\
                        x_ratio 0.25\n\
                        # HELP x_run_info The run.\n\
                        # TYPE x_run_info gauge\n\
                        x_run_info 1\n";
        assert!(prometheus.starts_with(expected), "{prometheus}");
        assert!(!prometheus.contains("EOF") && !prometheus.contains("UNIT"));
        let open = page(&snapshot(), ExpositionSyntax::OpenMetrics);
        let expected = "# HELP x_requests Requests.\n\
                        # TYPE x_requests counter\n\
                        x_requests_total{pool=\"a \\\"b\\\"\\\\\\n\"} 7\n\
                        # HELP x_ratio A share.\n\
                        # TYPE x_ratio gauge\n\
                        # UNIT x_ratio ratio\n\
                        x_ratio 0.25\n\
                        # HELP x_run The run.\n\
                        # TYPE x_run info\n\
                        x_run_info 1\n";
        assert!(open.starts_with(expected), "{open}");
        assert!(open.ends_with("\n# EOF\n"));
    }

    #[test]
    fn a_distribution_has_a_line_for_each_bound() {
        let text = page(&snapshot(), ExpositionSyntax::Prometheus);
        let lines: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("x_seconds_"))
            .collect();
        assert_eq!(lines.len(), BOUNDS.len() + 3);
        let pool = "pool=\"a \\\"b\\\"\\\\\\n\"";
        for line in [
            format!("bucket{{{pool},le=\"0.0005\"}} 0"),
            format!("bucket{{{pool},le=\"0.001\"}} 1"),
            format!("bucket{{{pool},le=\"1.0\"}} 2"),
            format!("bucket{{{pool},le=\"+Inf\"}} 3"),
            format!("count{{{pool}}} 3"),
            format!("sum{{{pool}}} 70.0028"),
        ] {
            assert!(lines.contains(&&*line), "{line}\n{text}");
        }
    }
}
