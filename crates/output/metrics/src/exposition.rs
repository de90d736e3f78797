//! The formats in which metrics are served to a scraper, and the choice among them.

mod protobuf;
mod text;

use crate::Snapshot;
use text::ExpositionSyntax;

/// A format in which metrics are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// Prometheus' text format.
    Text,
    /// OpenMetrics' text format.
    OpenMetrics,
    /// Prometheus' protobuf format, with native histograms in addition to the classic ones.
    Protobuf,
}

/// Every format, with the type and the parameters with which a scraper requests it. An omitted
/// parameter has the value in this table.
const FORMS: [Form; 3] = [
    Form {
        exposition: Exposition::Text,
        kind: ("text", "plain"),
        parameters: &[("version", "0.0.4")],
    },
    Form {
        exposition: Exposition::OpenMetrics,
        kind: ("application", "openmetrics-text"),
        parameters: &[("version", "1.0.0")],
    },
    Form {
        exposition: Exposition::Protobuf,
        kind: ("application", "vnd.google.protobuf"),
        parameters: &[
            ("proto", "io.prometheus.client.MetricFamily"),
            ("encoding", "delimited"),
        ],
    },
];

struct Form {
    exposition: Exposition,
    kind: (&'static str, &'static str),
    parameters: &'static [(&'static str, &'static str)],
}

impl Exposition {
    /// The media type in HTTP.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// Prints a snapshot in this format.
    #[must_use]
    pub fn print(self, snapshot: &Snapshot) -> Vec<u8> {
        match self {
            Self::Text => text::page(snapshot, ExpositionSyntax::Prometheus).into_bytes(),
            Self::OpenMetrics => text::page(snapshot, ExpositionSyntax::OpenMetrics).into_bytes(),
            Self::Protobuf => protobuf::page(snapshot),
        }
    }
}

/// The format for a scraper that sends this Accept field (RFC 9110, section 12.5.1): the one with
/// the highest weight, and of equal ones the first. Prometheus' text if the scraper accepts no
/// known format, because it can then read the text or report the problem.
#[must_use]
pub fn negotiate(accept: &str) -> Exposition {
    let mut best = (0, Exposition::Text);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameters: Vec<(String, &str)> = parts
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| {
                let name = name.trim().to_ascii_lowercase();
                (name, value.trim().trim_matches('"'))
            })
            .collect();
        let weight = weight(&parameters);
        let form = FORMS.iter().find(|form| form.is_asked(&kind, &parameters));
        if let Some(form) = form
            && weight > best.0
        {
            best = (weight, form.exposition);
        }
    }
    best.1
}

/// The weight of a range, in thousandths.
fn weight(parameters: &[(String, &str)]) -> u32 {
    let q = parameters.iter().find(|(name, _)| name == "q");
    let Some((_, q)) = q else {
        return 1_000;
    };
    let q = q.parse::<f64>().ok().filter(|q| (0.0..=1.0).contains(q));
    q.map_or(0, |q| (q * 1_000.0).round() as u32)
}

impl Form {
    fn is_asked(&self, kind: &str, parameters: &[(String, &str)]) -> bool {
        let (main, sub) = self.kind;
        let is_named = match kind.split_once('/') {
            Some(("*", "*")) => true,
            Some((asked, "*")) => asked == main,
            Some(asked) => asked == (main, sub),
            None => false,
        };
        is_named
            && self.parameters.iter().all(|(name, value)| {
                let mut given = parameters.iter().filter(|(given, _)| given == name);
                given.all(|(_, given)| given.eq_ignore_ascii_case(value))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scraper_gets_what_it_likes_best() {
        use Exposition::{OpenMetrics, Protobuf, Text};
        for (accept, expected) in [
            ("", Text),
            ("*/*", Text),
            ("text/*", Text),
            ("text/html, image/png", Text),
            ("application/openmetrics-text", OpenMetrics),
            ("Application/OpenMetrics-Text; Version=1.0.0", OpenMetrics),
            (
                "application/openmetrics-text; version=\"1.0.0\"",
                OpenMetrics,
            ),
            ("application/openmetrics-text; version=0.0.1", Text),
            ("application/openmetrics-text; q=0", Text),
            ("text/plain;q=0.5, application/openmetrics-text;q=0.4", Text),
            (
                "text/plain;q=0.4, application/openmetrics-text;q=0.5",
                OpenMetrics,
            ),
            (
                "text/plain;q=2, application/openmetrics-text;q=0.1",
                OpenMetrics,
            ),
            (
                "application/openmetrics-text;version=1.0.0,\
                 application/openmetrics-text;version=0.0.1;q=0.75,\
                 text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                OpenMetrics,
            ),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                 encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1",
                Protobuf,
            ),
            ("application/vnd.google.protobuf;encoding=text", Text),
            (";;==,,/", Text),
        ] {
            assert_eq!(negotiate(accept), expected, "{accept}");
        }
    }
}
