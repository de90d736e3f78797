//! A request as a simulated server sees it.

/// One complete request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The head, with its empty line.
    pub head: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The number of the connection, from 0.
    pub connection: u64,
    /// The number of the request on the connection, from 0.
    pub number: u64,
    /// The number of the request at this server, from 0.
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

    /// The value of a field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        header(self.head, name)
    }
}

/// The value of a field in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

/// The end of a request's head, after it has arrived completely.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}

/// The length of the body that a head announces.
pub(crate) fn body_length(head: &str) -> usize {
    header(head, "content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0)
}
