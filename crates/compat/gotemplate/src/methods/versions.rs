//! The methods of versions.

use crate::fault::Fault;
use crate::function::Row;
use crate::value::{IntKind, Value};
use crate::version::Version;
use std::cmp::Ordering;
use std::rc::Rc;

/// The methods of `*semver.Version`; the signatures omit the receiver.
pub(super) const METHODS: &[Row] = &[
    ("Compare", "V", |_, args| {
        Ok(Value::int(
            receiver(args, 0)?.compare(receiver(args, 1)?) as i64
        ))
    }),
    ("Equal", "V", |_, args| holds(args, Ordering::is_eq)),
    ("GreaterThan", "V", |_, args| holds(args, Ordering::is_gt)),
    ("GreaterThanEqual", "V", |_, args| {
        holds(args, Ordering::is_ge)
    }),
    ("IncMajor", "", |_, args| {
        let version = receiver(args, 0)?;
        let major = version.numbers[0].wrapping_add(1);
        Ok(Value::Version(Rc::new(version.with_numbers([major, 0, 0]))))
    }),
    ("IncMinor", "", |_, args| {
        let version = receiver(args, 0)?;
        let [major, minor, _] = version.numbers;
        let numbers = [major, minor.wrapping_add(1), 0];
        Ok(Value::Version(Rc::new(version.with_numbers(numbers))))
    }),
    ("IncPatch", "", |_, args| {
        let version = receiver(args, 0)?;
        let [major, minor, patch] = version.numbers;
        // Incrementing a prerelease gives its release.
        let by = u64::from(version.prerelease.is_empty());
        let numbers = [major, minor, patch.wrapping_add(by)];
        Ok(Value::Version(Rc::new(version.with_numbers(numbers))))
    }),
    ("LessThan", "V", |_, args| holds(args, Ordering::is_lt)),
    ("LessThanEqual", "V", |_, args| holds(args, Ordering::is_le)),
    ("Major", "", |_, args| number(args, 0)),
    ("Metadata", "", |call, args| {
        call.text(receiver(args, 0)?.metadata.as_str())
    }),
    ("Minor", "", |_, args| number(args, 1)),
    ("Original", "", |call, args| {
        call.text(receiver(args, 0)?.original.as_str())
    }),
    ("Patch", "", |_, args| number(args, 2)),
    ("Prerelease", "", |call, args| {
        call.text(receiver(args, 0)?.prerelease.as_str())
    }),
    ("String", "", |call, args| {
        call.text(receiver(args, 0)?.to_string())
    }),
];

fn receiver(args: &[Value], n: usize) -> Result<&Version, Fault> {
    match args.get(n) {
        Some(Value::Version(version)) => Ok(version),
        _ => Err("runtime error: invalid memory address or nil pointer dereference".into()),
    }
}

fn holds(args: &[Value], test: fn(Ordering) -> bool) -> Result<Value, Fault> {
    Ok(Value::Bool(test(
        receiver(args, 0)?.compare(receiver(args, 1)?),
    )))
}

fn number(args: &[Value], n: usize) -> Result<Value, Fault> {
    let number = receiver(args, 0)?.numbers[n];
    Ok(Value::Int(IntKind::Uint64, number.cast_signed()))
}
