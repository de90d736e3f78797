//! A request as a simulated server sees it.

/// One complete request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The head, with its empty line; empty for a frame of a WebSocket.
    pub head: &'a str,
    /// The body, or the payload of a frame.
    pub body: &'a [u8],
    /// The first byte of a frame, with its opcode; 0 for a request.
    pub frame: u8,
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

/// The length of the header of a client's frame, and of its payload (RFC 6455 section 5.2); `None`
/// if the header is incomplete.
pub(crate) fn frame_lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let length = usize::from(*bytes.get(1)? & 0x7f);
    let (more, length) = match length {
        126 => (
            2,
            usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)),
        ),
        127 => {
            let length = u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?);
            (8, usize::try_from(length).ok()?)
        }
        length => (0, length),
    };
    let header = 2 + more + 4;
    (bytes.len() >= header).then_some((header, length))
}
