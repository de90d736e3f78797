//! ghz's output: the record of the run, and the report in each of its formats.

mod csv;
mod html;
mod influx;
mod json;
mod log;
mod prometheus;
mod summary;

use super::idle;
use super::options::{Format, Options};
use super::report::{End, Report};
use super::result::{CallResult, NameResolver, Peer, Since, Socket};
use super::settings::Settings;
use super::setup::{GivenData, GivenMetadata};
use super::tally::{Tally, TimedCalls};
use super::target;
use crate::Spool;
use crate::grammar::go_json::Indent;
use drumfire_compile::{Found, Host};
use drumfire_measure::{RunEvent, Summary, ThresholdResult};
use drumfire_plan::{Host as UrlHost, Load, Plan, Spread, Stop, StopReason, Verify};
use drumfire_report::style::Style;
use drumfire_units::Nanos;
use std::io::{self, BufReader, BufWriter, SeekFrom, Write};
use std::sync::Arc;

/// The exit code after a failed threshold.
const THRESHOLD: u8 = 99;

/// How ghz shows a run.
#[derive(Debug)]
pub(crate) struct Presentation {
    options: Options,
    settings: Settings,
    machine: Arc<dyn Host>,
    stop: Stop,
    since: Since,
    peer: Peer,
    /// The formats and their destinations.
    outputs: Vec<(Format, Option<String>)>,
    tally: Tally,
    /// The stored results, for formats that list every result.
    spool: Option<BufWriter<Box<dyn Spool>>>,
    spool_failure: Option<io::Error>,
    stopped: Option<StopReason>,
    /// The end of the last call, from the start of the run.
    last_end: Nanos,
    report: Option<Report>,
    pub(super) notes: Vec<String>,
}

impl Presentation {
    /// The presentation of a checked plan.
    pub(super) fn new(
        options: &Options,
        plan: &Plan,
        data: &GivenData,
        metadata: &GivenMetadata,
        machine: &Arc<dyn Host>,
    ) -> Result<Self, String> {
        let mut options = options.clone();
        if options.cpus == 0 {
            options.cpus = u64::from(machine.cores());
        }
        let options = &options;
        let timed = match options.count_errors {
            true => TimedCalls::All,
            false => TimedCalls::Successes,
        };
        let total = plan.first().stop.requests.unwrap_or(0);
        let origin = &plan.first().requests[0].url.origin;
        let unlimited = matches!(&plan.first().load, Load::Open { .. }) && options.asynchronous;
        Ok(Self {
            settings: Settings::from_options(options, total, data, metadata),
            machine: Arc::clone(machine),
            stop: plan.first().stop,
            since: if unlimited { Since::Due } else { Since::Begun },
            peer: Peer {
                address: origin.host_header(),
                host: match &origin.host {
                    UrlHost::Name(name) => name.clone(),
                    UrlHost::Address(address) => address.to_string(),
                },
                socket: socket(options, machine),
                looked_up: match target::is_resolved_by_grpc(&options.host) {
                    true => NameResolver::Before,
                    false => NameResolver::WhenDialing,
                },
            },
            outputs: outputs(options)?,
            tally: Tally::new(timed, options.skip_first),
            spool: None,
            spool_failure: None,
            stopped: None,
            last_end: Nanos::ZERO,
            report: None,
            notes: notes(options, plan, data, metadata),
            options: options.clone(),
        })
    }

    fn keep(&mut self, result: &CallResult) {
        if let (Some(spool), None) = (&mut self.spool, &self.spool_failure)
            && let Err(error) = result.write(spool)
        {
            self.spool_failure = Some(error);
        }
    }

    /// The reason why the run ended.
    fn end_reason(&self, summary: &Summary) -> End {
        let started = summary.total.counts.sent;
        let counted_out = self.stop.requests.is_some_and(|total| started >= total);
        let timed_out = self
            .stop
            .duration
            .is_some_and(|time| summary.duration >= time);
        match (
            self.stopped == Some(StopReason::Signal),
            timed_out && !counted_out,
        ) {
            (true, _) => End::Cancel,
            (false, true) => End::Timeout,
            (false, false) => End::Normal,
        }
    }

    fn write_format(
        &mut self,
        format: Format,
        report: &Report,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match format {
            Format::Summary => out.write_all(summary::render(report).as_bytes()),
            Format::InfluxSummary => out.write_all(influx::summary(report).as_bytes()),
            Format::Prometheus => out.write_all(prometheus::render(report).as_bytes()),
            Format::Log => {
                out.write_all(log::head(report).as_bytes())?;
                self.each(&mut |result| out.write_all(log::line(report, result).as_bytes()))?;
                out.write_all(log::tail(report).as_bytes())
            }
            Format::Csv => {
                out.write_all(csv::HEAD.as_bytes())?;
                self.each(&mut |result| out.write_all(csv::row(result).as_bytes()))
            }
            Format::InfluxDetails => {
                let tags = influx::tags(report);
                self.each(&mut |result| {
                    out.write_all(influx::detail(report, &tags, result).as_bytes())
                })
            }
            Format::Html => {
                out.write_all(html::head(report).as_bytes())?;
                self.each(&mut |result| out.write_all(html::row(report, result).as_bytes()))?;
                out.write_all(html::TAIL.as_bytes())
            }
            Format::Json => self.write_json(report, &mut |text| out.write_all(text.as_bytes())),
            Format::Pretty => {
                let (mut indent, mut lines) = (Indent::default(), String::new());
                self.write_json(report, &mut |text| {
                    lines.clear();
                    indent.push(text, &mut lines);
                    out.write_all(lines.as_bytes())
                })
            }
        }
    }

    /// Writes the report as JSON, piece by piece.
    fn write_json(
        &mut self,
        report: &Report,
        push: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        push(&json::head(report))?;
        let mut count = 0_u64;
        self.each(&mut |result| {
            push(if count == 0 { "[" } else { "," })?;
            count += 1;
            push(&json::detail(report, result))
        })?;
        push(if count == 0 { "null" } else { "]" })?;
        push(&json::tail(report))
    }

    /// Calls `take` for every stored result, in order.
    fn each(&mut self, take: &mut dyn FnMut(&CallResult) -> io::Result<()>) -> io::Result<()> {
        let Some(spool) = &mut self.spool else {
            return Ok(());
        };
        spool.flush()?;
        let file = spool.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        while let Some(result) = CallResult::read(&mut reader)? {
            take(&result)?;
        }
        Ok(())
    }
}

impl crate::Presentation for Presentation {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn needs_spool(&self) -> bool {
        self.outputs.iter().any(|(format, _)| format.has_details())
    }

    fn set_spool(&mut self, spool: Box<dyn Spool>) {
        self.spool = Some(BufWriter::with_capacity(1 << 16, spool));
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            // The first reason is the one that ended the run.
            RunEvent::Stopping { reason } => {
                self.stopped.get_or_insert(*reason);
            }
            RunEvent::Kept(kept) => {
                let of = |kept| CallResult::from_sample(kept, self.since, &self.peer);
                let mut results: Vec<CallResult> = kept.iter().map(of).collect();
                // The results of the workers arrive worker by worker.
                results.sort_by_key(|result| result.end);
                for result in &results {
                    self.last_end = self.last_end.max(result.end);
                    if self.tally.record(result) {
                        self.keep(result);
                    }
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, summary: &Summary) {
        self.tally.close();
        let end = self.end_reason(summary);
        // drumfire runs by a rate end when one more call would be due; ghz's total excludes that
        // time.
        let total = match end {
            End::Normal if self.last_end > Nanos::ZERO => self.last_end,
            _ => summary.duration,
        };
        self.report = Some(Report::from_tally(
            &self.tally,
            &self.options,
            &self.settings,
            &self.machine,
            end,
            (summary.info.started_at_unix_ns, total.0),
        ));
    }

    /// The broken thresholds, which ghz's report has no place for.
    fn epilogue(&self, summary: &Summary, _style: &Style) -> String {
        let broken = summary
            .thresholds
            .iter()
            .filter(|threshold| !threshold.passed);
        let line = |threshold: &ThresholdResult| {
            let (rule, found) = (&threshold.expression, &threshold.actual_text);
            format!("--threshold '{rule}' failed: {found}\n")
        };
        broken.map(line).collect()
    }

    fn places(&self) -> Vec<Option<&str>> {
        self.outputs
            .iter()
            .map(|(_, path)| path.as_deref())
            .collect()
    }

    fn write(&mut self, place: usize, _summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        if let Some(error) = &self.spool_failure {
            return Err(io::Error::other(format!(
                "could not keep the results: {error}"
            )));
        }
        let (Some(report), Some((format, _))) = (self.report.take(), self.outputs.get(place))
        else {
            return Ok(());
        };
        let written = self.write_format(*format, &report, out);
        self.report = Some(report);
        written
    }

    /// 99 after a failed threshold, 1 if no call succeeded.
    fn exit_code(&self, summary: &Summary) -> u8 {
        if summary.thresholds.iter().any(|threshold| !threshold.passed) {
            THRESHOLD
        } else {
            u8::from(summary.total.counts.ok == 0)
        }
    }
}

/// The Unix socket that is called.
fn socket(options: &Options, machine: &Arc<dyn Host>) -> Option<Socket> {
    let path = target::socket(&options.host)?.to_owned();
    let exists = machine.look(&path) != Found::Nothing;
    Some(Socket { path, exists })
}

/// The destination of each format and of the log.
fn outputs(options: &Options) -> Result<Vec<(Format, Option<String>)>, String> {
    let mut outputs = reports(options)?;
    if !options.debug.is_empty() {
        let log = Some(options.debug.clone());
        if outputs.iter().any(|(_, path)| *path == log) {
            return Err(
                "the debug log and an output have the same path; use different paths".to_owned(),
            );
        }
        outputs.push((Format::Log, log));
    }
    Ok(outputs)
}

/// The destinations of reports. A single path is used unchanged; several are separated by commas.
fn reports(options: &Options) -> Result<Vec<(Format, Option<String>)>, String> {
    let formats = &options.formats;
    let place = |path: &str| (!path.is_empty() && path != "-").then(|| path.to_owned());
    if let [format] = formats.as_slice() {
        return Ok(vec![(*format, place(&options.output))]);
    }
    let paths: Vec<&str> = match options.output.as_str() {
        "" => Vec::new(),
        output => output.split(',').map(str::trim).collect(),
    };
    if paths.len() > formats.len() {
        return Err(format!(
            "{} output paths for {} formats; use at most one path per format",
            paths.len(),
            formats.len()
        ));
    }
    let mut paths = paths.into_iter();
    let pair = |format: &Format| (*format, paths.next().and_then(place));
    let outputs: Vec<(Format, Option<String>)> = formats.iter().map(pair).collect();
    for (n, (_, path)) in outputs.iter().enumerate() {
        if path.is_some() && outputs[..n].iter().any(|(_, other)| other == path) {
            return Err(
                "two formats have the same output path; use a different path for each".to_owned(),
            );
        }
    }
    Ok(outputs)
}

/// Notes for which ghz's report has no place.
fn notes(
    options: &Options,
    plan: &Plan,
    data: &GivenData,
    metadata: &GivenMetadata,
) -> Vec<String> {
    let mut notes = options.notes.clone();
    notes.extend(data.repeats(options));
    notes.extend(metadata.repeats(options));
    notes.extend(metadata.reserved(options));
    notes.extend(idle::overridden(options));
    if plan.first().reach.tls.verify == Verify::No && !options.insecure {
        notes.push("--skipTLS: the server's certificate is not verified".to_owned());
    }
    if !options.lb_strategy.is_empty()
        && plan.first().connections.spread == Spread::First
        && !options.lb_strategy.eq_ignore_ascii_case("pick_first")
    {
        notes.push(format!(
            "--lb-strategy: {} applies only to dns:///host:port; calls go to the first address \
             that accepts",
            options.lb_strategy
        ));
    }
    let call = plan.first().requests.first();
    if let Some(call) = call.and_then(|request| request.call.as_ref()) {
        notes.extend(idle::notes(options, call.kind));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_paths_go_in_pairs() {
        let placed = |formats: &[Format], output: &str| {
            outputs(&Options {
                formats: formats.to_vec(),
                output: output.to_owned(),
                ..Options::default()
            })
        };
        let (summary, json) = (Format::Summary, Format::Json);
        let path = |text: &str| Some(text.to_owned());
        assert_eq!(placed(&[json], "a,b"), Ok(vec![(json, path("a,b"))]));
        assert_eq!(
            placed(&[summary, json], "-, b"),
            Ok(vec![(summary, None), (json, path("b"))])
        );
        assert_eq!(
            placed(&[json, summary], "b"),
            Ok(vec![(json, path("b")), (summary, None)])
        );
        assert!(placed(&[summary, json], "a,b,c").is_err());
        assert!(placed(&[summary, json], "a,a").is_err());
    }
}
