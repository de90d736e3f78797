//! Semantic versions.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::Value;
use crate::version::{Version, constraint};
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("semver", "s", semver),
    ("semverCompare", "ss", semver_compare),
];

fn semver(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = text(args, 0);
    call.bytes(text.len())?;
    Ok(Value::Version(Rc::new(Version::parse(text)?)))
}

fn semver_compare(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (constraints, version) = (text(args, 0), text(args, 1));
    call.work(constraints.len() / 16 + version.len() / 16)?;
    let alternatives = constraint::parse(constraints)?;
    let version = Version::parse(version)?;
    Ok(Value::Bool(constraint::hold(&alternatives, &version)))
}
