//! Responses for the tests.

use drumfire_extract::Extractor;
use drumfire_plan::{Response, ResponseFields};
use drumfire_units::Nanos;

/// An owned response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: ResponseFields,
    pub(crate) body: Vec<u8>,
    pub(crate) time: Nanos,
}

impl Reply {
    /// A 200 response with this body, after 12.5 ms.
    pub(crate) fn new(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            fields: ResponseFields::default(),
            body: body.into(),
            time: Nanos(12_500_000),
        }
    }

    /// Adds a field.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.fields.push(name, value.as_ref());
        self
    }

    pub(crate) fn response(&self) -> Response<'_> {
        Response {
            answer: None,
            status: self.status,
            fields: &self.fields,
            body: &self.body,
            time: self.time,
        }
    }

    /// The value of an extractor, or the reason why the value is missing.
    pub(crate) fn extract(&self, text: &str) -> Result<String, String> {
        let extractor = Extractor::parse(text).map_err(|error| error.to_string());
        let extractor = extractor.unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut out = String::from("before");
        let given = extractor.extract(&self.response(), &mut out);
        let value = out
            .strip_prefix("before")
            .expect("the text before it stays");
        if given.is_err() {
            assert_eq!(value, "", "nothing is appended without a value");
        }
        given
            .map(|_| value.to_owned())
            .map_err(|none| none.to_string())
    }

    /// Compares the value of an extractor; an expected reason may be a part of the actual one.
    pub(crate) fn check(&self, text: &str, expected: Result<&str, &str>) {
        match (self.extract(text), expected) {
            (Ok(given), Ok(expected)) => assert_eq!(given, expected, "{text}"),
            (Err(given), Err(expected)) => assert!(given.contains(expected), "{text}: {given}"),
            (given, expected) => panic!("{text}: {given:?}, not {expected:?}"),
        }
    }
}
