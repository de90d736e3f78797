//! Exchanges in full: request, response, the results of the plan's rules, and the times.
//!
//! A text is masked first and escaped then, since an escaped secret would not be found. The values
//! of the request's secret fields are masked wherever a server repeats them. Names of fields,
//! cookies and schemes stay. Lines are as long as their texts, because these pages are copied and
//! searched.

mod content;

pub(crate) use content::{content, content_within, excerpted};

use crate::line::{Ink, Line};
use crate::quantity::{counted, latency};
use crate::remedy::remedy_beside;
use crate::style::Style;
use crate::untrusted::Untrusted;
use drumfire_measure::{Excerpt, Field, Histogram, Outcome, RunInfo, Side, Summary, Transcript};
use drumfire_plan::Finding;
use drumfire_plan::secret::{self, MASK, is_secret};
use drumfire_units::Nanos;

/// Exchanges in the order of their ends, and the connections that carried them.
#[must_use]
pub fn exchanges(transcripts: &[Transcript], summary: &Summary, style: &Style) -> String {
    let mut out = String::new();
    for transcript in transcripts {
        for line in exchange(transcript, &summary.info, style) {
            line.print_whole(style, &mut out);
        }
        out.push('\n');
    }
    connections(summary, style).print_whole(style, &mut out);
    out
}

/// One exchange as lines: a title, the request after `>`, the response after `<`, a line for each
/// rule, and the outcome.
fn exchange(transcript: &Transcript, info: &RunInfo, style: &Style) -> Vec<Line> {
    let Transcript {
        request, response, ..
    } = transcript;
    let is_secret = |field: &&Field| is_secret(&field.name);
    let secrets: Vec<&str> = request
        .fields
        .iter()
        .filter(is_secret)
        .map(|field| field.value.as_str())
        .collect();
    let mut page = Exchange {
        style,
        secrets,
        lines: vec![Line::single(title(transcript, info, style), Ink::Bold)],
    };
    page.side(request, "> ");
    if let Some(response) = response {
        page.side(response, "< ");
    }
    for finding in &transcript.findings {
        page.finding(finding);
    }
    page.push_outcome(transcript);
    page.lines
}

/// The pool and the step, as in a threshold; only the step if there is one pool.
fn title(transcript: &Transcript, info: &RunInfo, style: &Style) -> String {
    let Some(pool) = info.pools.get(transcript.pool) else {
        return String::new();
    };
    let step = pool.steps.get(usize::from(transcript.sample.step));
    let step = step.map_or_else(String::new, |step| {
        Untrusted::new(&secret::url(step)).escaped(style.unicode)
    });
    match info.pools.len() {
        1 => step,
        _ => {
            let pool = Untrusted::new(&secret::setting("", &pool.name)).escaped(style.unicode);
            format!("{pool}/{step}")
        }
    }
}

/// The lines of an exchange, and the secrets to mask in each line.
struct Exchange<'a> {
    style: &'a Style,
    /// The values of secret fields of the request, which a server may repeat.
    secrets: Vec<&'a str>,
    /// The lines so far, the title first.
    lines: Vec<Line>,
}

impl Exchange<'_> {
    /// Appends one side of an exchange: its head with a mark at each line, the bodies, and the
    /// trailers.
    fn side(&mut self, side: &Side, mark: &'static str) {
        let Side {
            line,
            fields,
            bodies,
            more,
            trailers,
        } = side;
        if line.is_empty() && fields.is_empty() && bodies.is_empty() {
            return;
        }
        let line = self.safe(&secret::url(line));
        self.lines
            .push(Line::single(mark, Ink::Dim).with(line, Ink::Bold));
        self.fields(fields, mark);
        for body in bodies {
            self.body(body, fields);
        }
        if *more > 0 {
            let text = format!("    ({})", counted(*more, "more message"));
            self.lines.push(Line::plain(text));
        }
        self.fields(trailers, mark);
    }

    /// Appends fields. A value is masked by its own name, and by the values of the request's secret
    /// fields.
    fn fields(&mut self, fields: &[Field], mark: &'static str) {
        for field in fields {
            let value = self.masked(&masked_value(field));
            let name = format!("{}: ", self.safe(&field.name));
            let line = Line::single(mark, Ink::Dim).with(name, Ink::Dim);
            let value = self.safe(&value);
            self.lines.push(line.with(value, Ink::Plain));
        }
    }

    /// Appends the rows of a body, indented, masked and escaped.
    fn body(&mut self, body: &Excerpt, fields: &[Field]) {
        let rows = content(body, fields, &self.secrets, self.style.unicode);
        let rows = rows.into_iter().map(|row| {
            let mut line = Line::new();
            line.space(4);
            line.with(row, Ink::Plain)
        });
        self.lines.extend(rows);
    }

    /// A value without the request's secrets, which a server may repeat.
    fn masked(&self, value: &str) -> String {
        secret::echoes(value, &self.secrets)
    }

    /// A text that may act on a terminal, escaped.
    fn safe(&self, text: &str) -> String {
        Untrusted::new(text).escaped(self.style.unicode)
    }

    /// Appends one rule of the plan with its result: a value, cut to an excerpt, or whether the
    /// rule holds. The reason of a failed rule may quote the response, and is masked, too.
    fn finding(&mut self, finding: &Finding) {
        let Finding {
            rule,
            variable,
            result,
        } = finding;
        let rule = self.safe(rule);
        let variable = variable.as_deref().map(|name| self.safe(name));
        let said = match (&variable, result) {
            (Some(name), Ok(value)) => {
                // Members of a body may have secret names.
                let value = secret::body(value.as_deref().unwrap_or_default(), &self.secrets);
                let value = excerpted(&value);
                format!("{name} = {}  ({rule})", self.safe(&value))
            }
            (Some(name), Err(none)) => format!("{name} has no value: {rule}: {}", self.safe(none)),
            (None, Ok(_)) => format!("{rule}  holds"),
            (None, Err(reason)) => self.safe(&self.masked(reason)),
        };
        self.verdict(result.is_ok(), said);
    }

    /// Appends a line with the mark of good or bad. The caller has masked and escaped the text.
    fn verdict(&mut self, is_good: bool, text: String) {
        let (mark, ink) = match is_good {
            true => (self.style.glyph("✓ ", "+ "), Ink::Good),
            false => (self.style.glyph("✗ ", "! "), Ink::Bad),
        };
        self.lines
            .push(Line::single(mark, ink).with(text, Ink::Plain));
    }

    /// Appends the outcome, the service time and the bytes of the exchange, and the remedy of its
    /// failure.
    fn push_outcome(&mut self, transcript: &Transcript) {
        let sample = &transcript.sample;
        let is_good = sample.outcome == Outcome::Ok;
        let time = |nanos| latency(nanos, self.style.unicode);
        let mut words = match (is_good, &transcript.detail) {
            (true, _) => "ok".to_owned(),
            (false, None) => format!("{}: {}", sample.outcome.name(), sample.outcome.words()),
            (false, Some(detail)) => {
                let detail = self.safe(&self.masked(&detail.to_string()));
                format!("{}: {detail}", sample.outcome.name())
            }
        };
        let separator = self.style.glyph(" · ", ", ");
        if sample.first_byte != Nanos::MAX {
            words.push_str(separator);
            words.push_str(&format!(
                "first byte {}",
                time(sample.first_byte - sample.sent)
            ));
        }
        words.push_str(&format!(
            "{separator}total {}{separator}{} B sent, {} B received",
            time(sample.service_time()),
            sample.bytes_sent,
            sample.bytes_received
        ));
        self.verdict(is_good, words);
        let causes = transcript.detail.iter().map(|detail| detail.cause);
        if let Some(remedy) = remedy_beside(sample.outcome, causes, self.style.naming) {
            let arrow = self.style.glyph("  → ", "  -> ");
            self.lines
                .push(Line::single(format!("{arrow}{remedy}"), Ink::Dim));
        }
    }
}

/// A field's value with its secret masked. Names of cookies, attributes of Set-Cookie and the
/// scheme of an Authorization field stay.
fn masked_value(field: &Field) -> String {
    let Field { name, value } = field;
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None => MASK.to_owned(),
    };
    if name.eq_ignore_ascii_case("cookie") {
        let pairs = value.split("; ").map(pair);
        return pairs.collect::<Vec<_>>().join("; ");
    }
    if name.eq_ignore_ascii_case("set-cookie") {
        let (first, attributes) = value.split_once(';').unwrap_or((value, ""));
        let separator = if attributes.is_empty() { "" } else { ";" };
        return format!("{}{separator}{attributes}", pair(first));
    }
    if !is_secret(name) {
        return secret::url(value);
    }
    match value.split_once(' ') {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            format!("{scheme} {MASK}")
        }
        _ => MASK.to_owned(),
    }
}

/// A line on the connections that were opened, with the maximum times.
fn connections(summary: &Summary, style: &Style) -> Line {
    let connections = &summary.total.connections;
    let time = |histogram: &Histogram| latency(histogram.max(), style.unicode);
    let mut words = match connections.opened {
        0 => "no connection was opened".to_owned(),
        1 => format!("1 connection: TCP {}", time(&connections.connect)),
        n => format!("{n} connections: TCP {}", time(&connections.connect)),
    };
    if connections.tls_handshake.count() > 0 {
        words.push_str(&format!(", TLS {}", time(&connections.tls_handshake)));
    }
    Line::single(words, Ink::Dim)
}
