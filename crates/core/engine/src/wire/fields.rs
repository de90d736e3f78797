//! The fields of a response in a form that is common to all protocols.
//!
//! Nothing is copied or allocated: fields borrow the connection's buffer for one event. The
//! machines have checked names and values by the rules of their protocol; a value may still contain
//! any byte that is allowed in a field, and need not be UTF-8.

use drumfire_http1 as h1;
use drumfire_http2 as h2;

/// The fields of one head or trailer section, in order. Their bytes are in the connection's buffer,
/// and are parsed only as far as necessary.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(Source<'a>);

/// Fields in the form of their protocol.
#[derive(Clone, Copy)]
enum Source<'a> {
    Http1(h1::Headers<'a>),
    Http2(h2::Headers<'a>),
    /// No fields: a message of a WebSocket.
    None,
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
    /// No fields.
    pub(crate) const fn none() -> Self {
        Self(Source::None)
    }

    /// The HTTP version of the response, in the form of a status line.
    pub(crate) const fn version(&self) -> &'static str {
        match self.0 {
            Source::Http1(_) => "HTTP/1.1",
            Source::Http2(_) => "HTTP/2",
            Source::None => "",
        }
    }

    /// Calls `take` with the value of each field with this name, in order. The name must be in
    /// lower case. Costs a pass over all fields.
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
            Source::None => {}
        }
    }

    /// Calls `take` with every field, in order.
    pub(crate) fn all(&self, mut take: impl FnMut(&'a str, &'a [u8])) {
        match self.0 {
            Source::Http1(headers) => headers.iter().for_each(|(name, value)| take(name, value)),
            Source::Http2(headers) => headers.iter().for_each(|(name, value)| take(name, value)),
            Source::None => {}
        }
    }

    /// Names and values as bytes, in order. Names are in lower case if the protocol requires it.
    #[inline]
    pub(crate) fn bytes(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        match self.0 {
            Source::Http1(headers) => {
                let fields = headers.iter();
                FieldPairs::Text(fields.map(|(name, value)| (name.as_bytes(), value)))
            }
            Source::Http2(headers) => FieldPairs::List(headers.bytes()),
            Source::None => FieldPairs::Nothing,
        }
    }

    /// The first value of the field with this name, which must be in lower case.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<&'a [u8]> {
        match self.0 {
            Source::Http1(headers) => headers.find(name),
            Source::Http2(headers) => headers.find(name),
            Source::None => None,
        }
    }
}

/// An iterator over fields, by their form in the buffer.
enum FieldPairs<T, L> {
    /// Lines of text.
    Text(T),
    /// A list with lengths.
    List(L),
    /// No fields.
    Nothing,
}

impl<I, T: Iterator<Item = I>, L: Iterator<Item = I>> Iterator for FieldPairs<T, L> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        match self {
            Self::Text(fields) => fields.next(),
            Self::List(fields) => fields.next(),
            Self::Nothing => None,
        }
    }
}
