//! The parameters of a query.

use std::fmt;
use std::str::FromStr;

/// An invalid query parameter; the text is the body of a 400.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadParameter(pub(crate) String);

/// The value of a parameter.
///
/// # Errors
/// With the parameter's name, if the value is invalid.
pub(crate) fn parse<T: FromStr<Err: fmt::Display>>(
    name: &str,
    value: &str,
) -> Result<T, BadParameter> {
    value
        .parse()
        .map_err(|error| BadParameter(format!("{name}: {error}")))
}
