//! A request as a simulated server sees it.

/// One whole request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The head, with its empty line.
    pub head: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The number of its connection, from 0.
    pub connection: u64,
    /// Its number on the connection, from 0.
    pub number: u64,
    /// Its number at this server, from 0.
    pub index: u64,
}

impl<'a> Request<'a> {
    /// The method.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// The target of the request line.
    #[must_use]
    pub fn target(&self) -> &'a str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// A field's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        header(self.head, name)
    }
}

/// A field's value in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

/// Where a request's head ends, once it has come wholly.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}

/// How long the body is that a head announces.
pub(crate) fn body_length(head: &str) -> usize {
    header(head, "content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0)
}
