//! The methods of times and durations.

use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::time::{self, GoTime, civil, duration, layout, month_name, weekday_name};
use crate::value::{IntKind, Value};
use std::rc::Rc;

/// The methods of `time.Time`; the signatures omit the receiver.
pub(super) const METHODS: &[Row] = &[
    ("Add", "d", add),
    ("AddDate", "iii", add_date),
    ("After", "t", |_, args| compare(args, |a, b| a > b)),
    ("Before", "t", |_, args| compare(args, |a, b| a < b)),
    ("Day", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().day))
    }),
    ("Equal", "t", |_, args| compare(args, |a, b| a == b)),
    ("Format", "s", format),
    ("Hour", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().hour))
    }),
    ("IsZero", "", |_, args| {
        Ok(Value::Bool(moment(args, 0).is_zero()))
    }),
    ("Local", "", |call, args| Ok(place(call, args, "Local"))),
    ("Minute", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().minute))
    }),
    ("Month", "", |_, args| {
        Ok(Value::Int(IntKind::Month, moment(args, 0).civil().month))
    }),
    ("Nanosecond", "", |_, args| {
        Ok(Value::int(i64::from(moment(args, 0).nanos)))
    }),
    ("Second", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().second))
    }),
    ("String", "", |call, args| {
        call.text(time::print(moment(args, 0)))
    }),
    ("Sub", "t", |_, args| {
        let nanos = moment(args, 0).since(moment(args, 1));
        Ok(Value::Int(IntKind::Duration, nanos))
    }),
    ("UTC", "", |call, args| Ok(place(call, args, "UTC"))),
    ("Unix", "", |_, args| {
        Ok(Value::int64(moment(args, 0).unix_seconds))
    }),
    ("UnixMicro", "", |_, args| Ok(unix(args, 1_000))),
    ("UnixMilli", "", |_, args| Ok(unix(args, 1_000_000))),
    ("UnixNano", "", |_, args| Ok(unix(args, 1))),
    ("Weekday", "", |_, args| {
        Ok(Value::Int(
            IntKind::Weekday,
            moment(args, 0).civil().weekday,
        ))
    }),
    ("Year", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().year))
    }),
    ("YearDay", "", |_, args| {
        Ok(Value::int(moment(args, 0).civil().year_day))
    }),
];

/// The methods of an integer type.
pub(super) const fn int_methods(kind: IntKind) -> &'static [Row] {
    match kind {
        IntKind::Duration => DURATION,
        IntKind::Month => &[("String", "", |_, args| Ok(month_name(bits(args)).into()))],
        IntKind::Weekday => &[("String", "", |_, args| Ok(weekday_name(bits(args)).into()))],
        _ => &[],
    }
}

const DURATION: &[Row] = &[
    ("Hours", "", |_, args| {
        Ok(Value::Float(bits(args) as f64 / 3.6e12))
    }),
    ("Microseconds", "", |_, args| {
        Ok(Value::int64(bits(args) / 1_000))
    }),
    ("Milliseconds", "", |_, args| {
        Ok(Value::int64(bits(args) / 1_000_000))
    }),
    ("Minutes", "", |_, args| {
        Ok(Value::Float(bits(args) as f64 / 6e10))
    }),
    ("Nanoseconds", "", |_, args| Ok(Value::int64(bits(args)))),
    ("Seconds", "", |_, args| {
        Ok(Value::Float(bits(args) as f64 / 1e9))
    }),
    ("String", "", |call, args| {
        call.text(duration::print(bits(args)))
    }),
];

const fn bits(args: &[Value]) -> i64 {
    match args.first() {
        Some(Value::Int(_, bits)) => *bits,
        _ => 0,
    }
}

/// An argument whose type is already checked to be a time.
fn moment(args: &[Value], n: usize) -> &GoTime {
    match args.get(n) {
        Some(Value::Time(moment)) => moment,
        _ => unreachable!("the signature asks for a time"),
    }
}

fn compare(args: &[Value], holds: impl Fn((i64, u32), (i64, u32)) -> bool) -> Result<Value, Fault> {
    let key = |n| {
        let moment = moment(args, n);
        (moment.unix_seconds, moment.nanos)
    };
    Ok(Value::Bool(holds(key(0), key(1))))
}

fn unix(args: &[Value], nanos_per_unit: i64) -> Value {
    let moment = moment(args, 0);
    let units = 1_000_000_000 / nanos_per_unit;
    let whole = moment.unix_seconds.wrapping_mul(units);
    Value::int64(whole.wrapping_add(i64::from(moment.nanos) / nanos_per_unit))
}

fn place(call: &Call<'_>, args: &[Value], place: &str) -> Value {
    let moment = moment(args, 0);
    let moved = GoTime::from_unix(&*call.env, moment.unix_seconds, moment.nanos, place);
    Value::Time(Rc::new(moved))
}

fn format(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let layout = args[1].as_str().unwrap_or_default();
    call.text(layout::format(moment(args, 0), layout))
}

fn add(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let nanos = bits(&args[1..]);
    Ok(Value::Time(Rc::new(
        moment(args, 0).plus(&*call.env, nanos),
    )))
}

fn add_date(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let moment = moment(args, 0);
    let number = |n: usize| bits(&args[n..]).clamp(-1_000_000, 1_000_000);
    let civil = moment.civil();
    let time = civil.hour * 3600 + civil.minute * 60 + civil.second;
    let shown = civil::seconds(
        civil.year + number(1),
        civil.month + number(2),
        civil.day + number(3),
        time,
    );
    let unix = shown - i64::from(moment.offset_seconds);
    Ok(Value::Time(Rc::new(moment.moved(
        &*call.env,
        unix,
        moment.nanos,
    ))))
}
