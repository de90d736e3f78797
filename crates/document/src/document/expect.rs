//! The conditions under which a response is ok.

use super::{Field, Text};

/// The conditions under which a response is ok; all of them must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Statuses and ranges of them.
    pub status: Option<Text>,
    /// A bound of the response time, as `<500ms`.
    pub time: Option<Text>,
    /// Checks of header fields, by name.
    pub header: Vec<Field>,
    /// Checks of the body.
    pub body: Vec<Text>,
    /// A bound of the body's size, as `<10kB`.
    pub body_size: Option<Text>,
    /// The hash of the body, as `sha256 9f86…`.
    pub body_hash: Option<Text>,
    /// Checks of values in a body of JSON, by path.
    pub json: Vec<Field>,
    /// Checks of values in a body of XML, by path.
    pub xml: Vec<Field>,
    /// Checks of values in a body of HTML, by selector.
    pub css: Vec<Field>,
    /// A function of the script that judges the response.
    pub js: Option<Text>,
}
