//! Dates. The caller's zones provide `Local` and other places.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::time::{GoTime, duration, layout, parse};
use crate::value::{IntKind, Value};
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("ago", "a", ago),
    ("date", "sa", |call, args| {
        format(call, text(args, 0), &args[1], "Local")
    }),
    ("dateInZone", "sas", |call, args| {
        format(call, text(args, 0), &args[1], text(args, 2))
    }),
    ("dateModify", "st", date_modify),
    ("date_in_zone", "sas", |call, args| {
        format(call, text(args, 0), &args[1], text(args, 2))
    }),
    ("date_modify", "st", date_modify),
    ("duration", "a", |call, args| {
        let seconds = match &args[0] {
            Value::Str(text) => text.parse().unwrap_or(0),
            Value::Int(IntKind::Int64, seconds) => *seconds,
            _ => 0i64,
        };
        call.text(duration::print(seconds.wrapping_mul(1_000_000_000)))
    }),
    ("durationRound", "a", duration_round),
    ("htmlDate", "a", |call, args| {
        format(call, "2006-01-02", &args[0], "Local")
    }),
    ("htmlDateInZone", "as", |call, args| {
        format(call, "2006-01-02", &args[0], text(args, 1))
    }),
    ("mustDateModify", "st", must_date_modify),
    ("mustToDate", "ss", |call, args| {
        Ok(time(parse::parse(
            &*call.env,
            text(args, 0),
            text(args, 1),
        )?))
    }),
    ("must_date_modify", "st", must_date_modify),
    ("now", "", |call, _| Ok(time(GoTime::now(call.env)))),
    ("toDate", "ss", |call, args| {
        let read = parse::parse(&*call.env, text(args, 0), text(args, 1));
        Ok(time(read.unwrap_or_else(|_| GoTime::zero())))
    }),
    ("unixEpoch", "t", |call, args| {
        let seconds = match &args[0] {
            Value::Time(moment) => moment.unix_seconds,
            _ => 0,
        };
        call.text(seconds.to_string())
    }),
];

fn time(moment: GoTime) -> Value {
    Value::Time(Rc::new(moment))
}

/// A time, or an integer as seconds since 1970; any other value is the current time.
fn moment(call: &mut Call<'_>, value: &Value) -> GoTime {
    match value {
        Value::Time(moment) => (**moment).clone(),
        Value::Int(IntKind::Int | IntKind::Int64 | IntKind::Int32, seconds) => {
            GoTime::from_unix(&*call.env, *seconds, 0, "Local")
        }
        _ => GoTime::now(call.env),
    }
}

fn format(call: &mut Call<'_>, form: &str, value: &Value, place: &str) -> Result<Value, Fault> {
    call.work(form.len())?;
    let moment = moment(call, value);
    let shown = GoTime::from_unix(&*call.env, moment.unix_seconds, moment.nanos, place);
    call.text(layout::format(&shown, form))
}

fn ago(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let then = moment(call, &args[0]);
    let nanos = GoTime::now(call.env).since(&then);
    // Round to whole seconds, halves away from zero.
    let second = 1_000_000_000;
    let rounded = (nanos.saturating_add(nanos.signum() * second / 2)) / second * second;
    call.text(duration::print(rounded))
}

fn date_modify(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    match (duration::parse(text(args, 0)), &args[1]) {
        (Ok(nanos), Value::Time(moment)) => Ok(time(moment.plus(&*call.env, nanos))),
        _ => Ok(args[1].clone()),
    }
}

fn must_date_modify(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    duration::parse(text(args, 0))?;
    date_modify(call, args)
}

/// The duration in its largest unit with a count above one: `2d`.
fn duration_round(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    const SECOND: u64 = 1_000_000_000;
    const UNITS: [(u64, &str); 6] = [
        (365 * 86_400, "y"),
        (30 * 86_400, "mo"),
        (86_400, "d"),
        (3_600, "h"),
        (60, "m"),
        (1, "s"),
    ];
    let nanos = match &args[0] {
        Value::Str(text) => duration::parse(text).unwrap_or(0),
        Value::Int(IntKind::Int64, nanos) => *nanos,
        Value::Time(moment) => GoTime::now(call.env).since(moment),
        _ => 0,
    };
    let magnitude = nanos.unsigned_abs();
    let unit = UNITS
        .iter()
        .find(|(seconds, _)| magnitude > seconds * SECOND);
    let (count, name) = unit.map_or((0, "s"), |(seconds, name)| {
        (magnitude / (seconds * SECOND), *name)
    });
    call.text(format!("{count}{name}"))
}
