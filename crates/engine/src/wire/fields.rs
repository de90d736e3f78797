//! The fields of a response as exchanges see them, whichever protocol brought them.
//!
//! Nothing is copied and nothing allocated: they borrow the connection's buffer, for the time of
//! one report. The machines have checked names and values by the rules of their protocol; a value
//! may still hold any byte that a field may have, and need not be UTF-8.

use drumfire_http1 as h1;
use drumfire_http2 as h2;

/// The fields of one head or trailer section, in their order. Their bytes lie in the connection's
/// buffer, and are read only as far as they are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(Source<'a>);

/// Fields as their protocol lends them.
#[derive(Clone, Copy)]
enum Source<'a> {
    Http1(h1::Headers<'a>),
    Http2(h2::Headers<'a>),
}

impl<'a> From<h1::Headers<'a>> for Fields<'a> {
    #[inline]
    fn from(headers: h1::Headers<'a>) -> Self {
        Self(Source::Http1(headers))
    }
}

impl<'a> From<h2::Headers<'a>> for Fields<'a> {
    #[inline]
    fn from(headers: h2::Headers<'a>) -> Self {
        Self(Source::Http2(headers))
    }
}

impl<'a> Fields<'a> {
    /// The version of HTTP that brought them, as a status line has it.
    pub(crate) const fn version(&self) -> &'static str {
        match self.0 {
            Source::Http1(_) => "HTTP/1.1",
            Source::Http2(_) => "HTTP/2",
        }
    }

    /// Calls with the value of each field with this name, which must be in lower case, in order. A
    /// pass over all fields.
    pub(crate) fn each(&self, name: &str, mut take: impl FnMut(&'a [u8])) {
        match self.0 {
            Source::Http1(headers) => headers
                .iter()
                .filter(|(own, _)| own.eq_ignore_ascii_case(name))
                .for_each(|(_, value)| take(value)),
            Source::Http2(headers) => headers
                .iter()
                .filter(|(own, _)| *own == name)
                .for_each(|(_, value)| take(value)),
        }
    }

    /// Calls with every field, in order.
    pub(crate) fn all(&self, mut take: impl FnMut(&'a str, &'a [u8])) {
        match self.0 {
            Source::Http1(headers) => headers.iter().for_each(|(name, value)| take(name, value)),
            Source::Http2(headers) => headers.iter().for_each(|(name, value)| take(name, value)),
        }
    }

    /// Names and values as bytes, in order. Names are in lower case where the protocol has them so.
    #[inline]
    pub(crate) fn bytes(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        match self.0 {
            Source::Http1(headers) => {
                let fields = headers.iter();
                Pairs::Text(fields.map(|(name, value)| (name.as_bytes(), value)))
            }
            Source::Http2(headers) => Pairs::List(headers.bytes()),
        }
    }

    /// The first value of the field with this name, which must be in lower case.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<&'a [u8]> {
        match self.0 {
            Source::Http1(headers) => headers.find(name),
            Source::Http2(headers) => headers.find(name),
        }
    }
}

/// An iterator over fields, by the form in which they lie in the buffer.
enum Pairs<T, L> {
    /// Lines of text.
    Text(T),
    /// A list with lengths.
    List(L),
}

impl<I, T: Iterator<Item = I>, L: Iterator<Item = I>> Iterator for Pairs<T, L> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        match self {
            Self::Text(fields) => fields.next(),
            Self::List(fields) => fields.next(),
        }
    }
}
