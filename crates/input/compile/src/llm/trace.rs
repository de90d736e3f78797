//! The file of a trace.

use super::TraceFormat;
use crate::scope::Scope;
use drumfire_data::{TRACE_FORMATS, Trace, TraceOptions};
use drumfire_document::{LlmTrace, Text};
use drumfire_units::Nanos;

/// The maximum factor by which a trace is sent faster, and the inverse of the minimum.
const SPEED_MAX: f64 = 1e6;
/// The bytes from which a format is recognised.
const START_BYTES: usize = 64 << 10;

/// A trace that was read.
pub(super) struct Read {
    pub(super) trace: Trace,
    /// The times at which the requests are sent; `None` without a speed.
    pub(super) times: Option<Vec<Nanos>>,
}

/// Reads the trace of a pool. Returns `None` after a mistake was noted.
pub(super) fn read(
    file: &Text,
    written: &LlmTrace,
    seed: u64,
    scope: &mut Scope<'_>,
) -> Option<Read> {
    let source = scope.open(file)?;
    let format = match &written.format {
        Some(text) => scope.word(Some(text), &TRACE_FORMATS, "format of traces")?,
        None => {
            let mut start = vec![0; START_BYTES];
            let count = source.read_at(0, &mut start);
            let count = count.map_err(|error| format!("can't read {}: {error}", file.value));
            let count = scope.found.ok(&file.place, count)?;
            let names = TRACE_FORMATS.map(|(name, _)| name).join(", ");
            let message = format!(
                "the format of {} is unknown; set `format` to one of {names}",
                file.value
            );
            let format = TraceFormat::recognise(&start[..count]).ok_or(message);
            scope.found.ok(&file.place, format)?
        }
    };
    let speed = match &written.speed {
        Some(text) => Some(speed(text, scope)?),
        None => None,
    };
    let options = TraceOptions {
        format,
        from: scope.found.parse(written.from.as_ref()).unwrap_or_default(),
        until: scope
            .found
            .parse(written.until.as_ref())
            .unwrap_or(Nanos::MAX),
        sample: share(written.sample.as_ref(), scope)?,
        seed,
    };
    let read = Trace::read(source, &options).map_err(|error| match error.line {
        0 => format!("{}: {}", file.value, error.message),
        line => format!("{}:{line}: {}", file.value, error.message),
    });
    let trace = scope.found.ok(&file.place, read)?;
    let times = match (speed, &written.speed) {
        (Some(speed), Some(text)) => {
            let times = trace.times(speed);
            let message = "the trace has no times; leave `speed` out, and set a rate or users";
            Some(scope.found.ok(&text.place, times.ok_or(message))?)
        }
        _ => None,
    };
    Some(Read { trace, times })
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
