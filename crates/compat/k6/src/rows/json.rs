//! Rows of JSON: a description before the first sample of a metric, and the samples.

use serde_json::Value;

use crate::metrics::{Metric, Registry, Sample, Tags};
use crate::summary::{shortest, suffix, time};

/// Writes rows of JSON.
#[derive(Clone, Debug, Default)]
pub struct JsonRows {
    described: Vec<bool>,
}

impl JsonRows {
    /// Append a sample, after the description of its metric if the sample is the first.
    pub fn write(&mut self, registry: &Registry, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let metric = registry.metric(sample.metric);
        let at = sample.metric.0;
        if self.described.len() <= at {
            self.described.resize(at + 1, false);
        }
        if !std::mem::replace(&mut self.described[at], true) {
            describe(metric, out);
        }
        let name = quoted(&metric.name);
        let value = shortest(sample.value);
        let time = time(sample.time);
        let tags = object(sample.tags);
        let start = format!(
            r#"{{"metric":{name},"type":"Point","data":{{"time":"{time}","value":{value},"tags":{tags}"#
        );
        out.extend_from_slice(start.as_bytes());
        if !sample.metadata.is_empty() {
            let metadata = object(sample.metadata);
            out.extend_from_slice(format!(r#","metadata":{metadata}"#).as_bytes());
        }
        out.extend_from_slice(b"}}\n");
    }
}

/// The row that describes a metric with its thresholds and the parts that are judged.
fn describe(metric: &Metric, out: &mut Vec<u8>) {
    let name = quoted(&metric.name);
    let rules = metric.total.rules.iter();
    let rules: Vec<String> = rules.map(|rule| quoted(&rule.threshold.text)).collect();
    let (judged, others): (Vec<_>, Vec<_>) = metric
        .parts
        .iter()
        .partition(|(_, part)| !part.rules.is_empty());
    let parts: Vec<String> = judged
        .into_iter()
        .chain(others)
        .map(|(selection, _)| {
            let suffix = suffix(selection);
            let full = quoted(&format!("{}{{{suffix}}}", metric.name));
            let suffix = quoted(&suffix);
            let tags: Tags = selection
                .tags
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let tags = object(&tags);
            format!(r#"{{"name":{full},"suffix":{suffix},"tags":{tags}}}"#)
        })
        .collect();
    let parts = if parts.is_empty() {
        "null".to_owned()
    } else {
        format!("[{}]", parts.join(","))
    };
    let (kind, contains, rules) = (metric.kind.word(), metric.contains.word(), rules.join(","));
    let row = format!(
        r#"{{"type":"Metric","data":{{"name":{name},"type":"{kind}","contains":"{contains}","thresholds":[{rules}],"submetrics":{parts}}},"metric":{name}}}"#
    );
    out.extend_from_slice(row.as_bytes());
    out.push(b'\n');
}

fn object(tags: &Tags) -> String {
    let tags: Vec<String> = tags
        .iter()
        .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)))
        .collect();
    format!("{{{}}}", tags.join(","))
}

/// A text of JSON. The two line ends of Unicode are escaped, because they end lines in some readers.
fn quoted(text: &str) -> String {
    let text = Value::from(text).to_string();
    text.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
