//! The file of a trace.

use crate::scope::Scope;
use drumfire_data::{
    ReadAt, SESSION_FORMATS, SessionFormat, SessionTrace, SessionTraceOptions, TRACE_FORMATS,
    Trace, TraceFormat, TraceOptions, read_sessions,
};
use drumfire_document::{LlmTrace, Text};
use drumfire_units::Nanos;

/// The maximum factor by which a trace is sent faster, and the inverse of the minimum.
const SPEED_MAX: f64 = 1e6;
/// The bytes from which a format is recognised.
const START_BYTES: usize = 64 << 10;

/// A trace that was read.
pub(super) struct LoadedTrace {
    pub(super) content: TraceContent,
    /// The times at which the requests or the sessions start; `None` without a speed.
    pub(super) times: Option<Vec<Nanos>>,
    /// The factor by which recorded times pass faster; `None` if they have no effect.
    pub(super) speed: Option<f64>,
}

/// The content of a trace.
pub(super) enum TraceContent {
    Requests(Trace),
    Sessions(SessionTrace),
}

impl TraceContent {
    fn times(&self, speed: f64) -> Option<Vec<Nanos>> {
        match self {
            Self::Requests(trace) => trace.times(speed),
            Self::Sessions(trace) => trace.times(speed),
        }
    }
}

/// The format of a file.
#[derive(Clone, Copy, Debug)]
enum Format {
    Requests(TraceFormat),
    Sessions(SessionFormat),
}

impl Format {
    /// All formats by name. ShareGPT is a trace of requests, unless all turns are wanted.
    fn all() -> Vec<(&'static str, Self)> {
        let requests = TRACE_FORMATS.map(|(name, format)| (name, Self::Requests(format)));
        let sessions = SESSION_FORMATS.map(|(name, format)| (name, Self::Sessions(format)));
        let is_other = |(name, _): &(&str, Self)| TRACE_FORMATS.iter().all(|(own, _)| own != name);
        let sessions = sessions.into_iter().filter(is_other);
        requests.into_iter().chain(sessions).collect()
    }

    /// The format of a file that begins with these bytes.
    fn recognise(start: &[u8]) -> Option<Self> {
        let sessions = SessionFormat::recognise(start).map(Self::Sessions);
        sessions.or_else(|| TraceFormat::recognise(start).map(Self::Requests))
    }

    /// The format that is read if all turns of its sessions are wanted.
    fn with_turns(self) -> Self {
        match self {
            Self::Requests(TraceFormat::ShareGpt) => Self::Sessions(SessionFormat::ShareGpt),
            other => other,
        }
    }
}

/// Whether all turns of the sessions of a trace are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    All,
    First,
}

/// Reads the trace of a pool. Returns `None` after a mistake was noted.
pub(super) fn read(
    file: &Text,
    written: &LlmTrace,
    turns: Turns,
    seed: u64,
    scope: &mut Scope<'_>,
) -> Option<LoadedTrace> {
    let source = scope.open(file)?;
    let format = format_of(file, written, &*source, scope)?;
    let format = match turns {
        Turns::All => format.with_turns(),
        Turns::First => format,
    };
    let speed = match &written.speed {
        Some(text) => Some(speed(text, scope)?),
        None => None,
    };
    let from = scope.found.parse(written.from.as_ref()).unwrap_or_default();
    let until = scope.found.parse(written.until.as_ref());
    let until = until.unwrap_or(Nanos::MAX);
    let sample = share(written.sample.as_ref(), scope)?;
    let read = match format {
        Format::Requests(format) => Trace::read(
            source,
            &TraceOptions {
                format,
                from,
                until,
                sample,
                seed,
            },
        )
        .map(TraceContent::Requests),
        Format::Sessions(format) => read_sessions(
            source,
            &SessionTraceOptions {
                format,
                from,
                until,
                sample,
                seed,
            },
        )
        .map(TraceContent::Sessions),
    };
    let read = read.map_err(|error| match error.line {
        0 => format!("{}: {}", file.value, error.message),
        line => format!("{}:{line}: {}", file.value, error.message),
    });
    let content = scope.found.ok(&file.place, read)?;
    let times = match (speed, &written.speed) {
        (Some(speed), Some(text)) => {
            let times = content.times(speed);
            let message = "the trace has no times; leave `speed` out, and set a rate or users";
            Some(scope.found.ok(&text.place, times.ok_or(message))?)
        }
        _ => None,
    };
    Some(LoadedTrace {
        content,
        times,
        speed,
    })
}

/// The format of a file, as written or by its beginning.
fn format_of(
    file: &Text,
    written: &LlmTrace,
    source: &dyn ReadAt,
    scope: &mut Scope<'_>,
) -> Option<Format> {
    if let Some(text) = &written.format {
        return scope.word(Some(text), &Format::all(), "format of traces");
    }
    let mut start = vec![0; START_BYTES];
    let count = source.read_at(0, &mut start);
    let count = count.map_err(|error| format!("can't read {}: {error}", file.value));
    let count = scope.found.ok(&file.place, count)?;
    let names: Vec<&str> = Format::all().into_iter().map(|(name, _)| name).collect();
    let message = format!(
        "the format of {} is unknown; set `format` to one of {}",
        file.value,
        names.join(", ")
    );
    let format = Format::recognise(&start[..count]).ok_or(message);
    scope.found.ok(&file.place, format)
}

/// A factor of speed.
fn speed(text: &Text, scope: &mut Scope<'_>) -> Option<f64> {
    let number = text.value.strip_suffix('x').unwrap_or(&text.value);
    let speed = number.parse::<f64>().ok();
    let speed = speed.filter(|speed| (1.0 / SPEED_MAX..=SPEED_MAX).contains(speed));
    let shown = text.value.escape_debug();
    let wrong =
        format!("`{shown}` is not a speed; write 1 for the recorded speed, or 2 for twice as fast");
    scope.found.ok(&text.place, speed.ok_or(wrong))
}

/// The share of a trace that is sent: all of it by default.
fn share(written: Option<&Text>, scope: &mut Scope<'_>) -> Option<f64> {
    let Some(text) = written else {
        return Some(1.0);
    };
    let share = text
        .value
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    let share = share.filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let shown = text.value.escape_debug();
    let wrong = format!("`{shown}` is not a share; write one from above 0% to 100%, such as 10%");
    let percent = scope.found.ok(&text.place, share.ok_or(wrong))?;
    Some(percent / 100.0)
}
