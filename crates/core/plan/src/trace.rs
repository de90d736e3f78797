//! W3C Trace Context: a `traceparent` field for each request.

use crate::{DataError, Random, RenderedFields, RequestContext, RequestData, Varying};
use std::fmt::Write as _;
use std::sync::Arc;

/// The name of the field (W3C Trace Context, section 3.2).
pub const TRACEPARENT: &str = "traceparent";

/// The stream of random numbers for traces, from which no template draws.
const MESSAGE: u64 = u64::MAX;
const PLACE: u64 = u64::MAX;

/// The data of a request with its own traceparent, in addition to its other varying parts.
#[derive(Debug)]
pub struct Traced(Option<Arc<dyn RequestData>>);

impl Traced {
    /// Adds a traceparent to the data of a request.
    #[must_use]
    pub fn beside(data: Option<Arc<dyn RequestData>>) -> Self {
        Self(data)
    }

    fn inner(&self) -> Option<&dyn RequestData> {
        self.0.as_deref()
    }
}

impl RequestData for Traced {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            ..self
                .inner()
                .map_or_else(Varying::default, |data| data.varying())
        }
    }

    fn renders(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(TRACEPARENT)
            || self.inner().is_some_and(|data| data.renders(name))
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        self.inner()
            .map_or(Ok(()), |data| data.target(request, out))
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        if let Some(data) = self.inner() {
            data.fields(request, out)?;
        }
        out.push_with(TRACEPARENT, |out| {
            write_traceparent(request, out);
            Ok(())
        })
    }

    fn renews_time(&self) -> bool {
        self.inner().is_some_and(|data| data.renews_time())
    }

    fn messages(&self, request: &RequestContext) -> u64 {
        self.inner().map_or(1, |data| data.messages(request))
    }

    fn message(
        &self,
        request: &RequestContext,
        n: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        self.inner()
            .map_or(Ok(()), |data| data.message(request, n, out))
    }
}

/// Writes version 00, the trace, the span, and the flag "sampled".
///
/// The trace begins with the second of its rendering, as in other tools, so that runs with the same
/// seed have different traces. Its other twelve bytes and the span are functions of the run's seed
/// and the request's number.
fn write_traceparent(request: &RequestContext, out: &mut String) {
    let mut random = Random::new(request.seed, request.number, MESSAGE, PLACE);
    let second = (request.now / 1_000_000_000) as u32;
    let (high, low) = (random.bits() as u32, random.bits());
    // A span of zeros is invalid.
    let span = random.bits() | 1;
    // Writing to a String cannot fail.
    let _ = write!(out, "00-{second:08x}{high:08x}{low:016x}-{span:016x}-01");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rendered(seed: u64, number: u64) -> String {
        let request = RequestContext {
            number,
            arrival: number,
            parts: 1,
            user: 0,
            iteration: 0,
            connection: 0,
            now: 0x65a1_b2c3 * 1_000_000_000,
            seed,
            variables: None,
        };
        let mut fields = RenderedFields::default();
        Traced::beside(None).fields(&request, &mut fields).unwrap();
        let (name, value) = fields.iter().next().expect("a field");
        assert_eq!(name, TRACEPARENT);
        value.to_owned()
    }

    #[test]
    fn a_traceparent_has_the_form_of_the_standard() {
        let mut seen = BTreeSet::new();
        for number in 0..1_000 {
            let text = rendered(7, number);
            let parts: Vec<&str> = text.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(lengths, [2, 32, 16, 2], "{text}");
            assert!(text.bytes().all(|b| b"0123456789abcdef-".contains(&b)));
            assert_eq!(
                (parts[0], parts[3], &parts[1][..8]),
                ("00", "01", "65a1b2c3")
            );
            assert_ne!(parts[2], "0000000000000000");
            assert!(seen.insert(parts[1].to_owned()), "twice: {text}");
        }
        assert_eq!(rendered(7, 5), rendered(7, 5));
        assert_ne!(rendered(7, 5)[12..], rendered(8, 5)[12..]);
    }
}
