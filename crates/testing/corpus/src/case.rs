//! The content of a case.

/// One response, the end of its stream, and the outcome that a client must report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's name without its suffix.
    pub name: String,
    /// The response in words.
    pub what: String,
    /// Why the outcome is right: a section of an RFC, or a reason.
    pub why: String,
    /// The request before the response.
    pub request: Request,
    /// Limits other than the default: the name of the limit and its value.
    pub limits: Vec<(String, u64)>,
    /// The bytes that the server sends.
    pub pieces: Vec<Piece>,
    /// The end of the stream.
    pub end: StreamEnd,
    /// The outcome that a client must report.
    pub expected: Expected,
}

impl Case {
    /// All bytes that the server sends, joined.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let length = self
            .pieces
            .iter()
            .map(|piece| piece.bytes.len() * piece.times)
            .sum();
        let mut bytes = Vec::with_capacity(length);
        for piece in &self.pieces {
            for _ in 0..piece.times {
                bytes.extend_from_slice(&piece.bytes);
            }
        }
        bytes
    }
}

/// Bytes, once or repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of repetitions, at least 1.
    pub times: usize,
    /// The bytes of one repetition.
    pub bytes: Vec<u8>,
}

/// The request before a case's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// GET on a persistent connection.
    Get,
    /// GET with `Connection: close`.
    Close,
    /// HEAD.
    Head,
    /// CONNECT.
    Connect,
}

/// The server's action after its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// No action: the connection stays open.
    Open,
    /// The server closes the connection.
    Fin,
    /// The server resets the connection.
    Rst,
}

/// The expected outcome of a case. `None` or empty means not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The stable name of the outcome, such as `ok` or `proto:chunk`, for a plan that accepts every
    /// valid status.
    pub outcome: String,
    /// The outcome if the body is decoded according to Content-Encoding, if it differs.
    pub when_compressed: Option<String>,
    /// The outcome if redirects are followed, if it differs.
    pub when_following: Option<String>,
    /// The final status, as sent.
    pub status: Option<u16>,
    /// The number of body bytes read before the outcome, without the transfer coding.
    pub body: Option<u64>,
    /// The body bytes read before the outcome, without the transfer coding.
    pub content: Option<Vec<u8>>,
    /// The number of interim responses before the final one.
    pub interim: Option<u32>,
    /// The stable names of all leniencies, in the order of their bits.
    pub notices: Vec<String>,
    /// Whether the connection may carry another request.
    pub reusable: Option<bool>,
    /// The hint for the user that is printed with the outcome.
    pub hint: Option<String>,
}
