//! The form of a case.

/// One response, the end of its stream, and the outcome that a client must report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's name without its suffix.
    pub name: String,
    /// The response in words.
    pub what: String,
    /// Why the outcome is right: a section of an RFC, or a reason.
    pub why: String,
    /// The request that it answers.
    pub request: Request,
    /// Limits that differ from the default: the name of the limit and its value.
    pub limits: Vec<(String, u64)>,
    /// The server's bytes.
    pub pieces: Vec<Piece>,
    /// How the stream ends.
    pub end: StreamEnd,
    /// The outcome that a client must report.
    pub expected: Expected,
}

impl Case {
    /// All that the server sends, in one.
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

/// Bytes, once or several times over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How often; at least once.
    pub times: usize,
    /// What.
    pub bytes: Vec<u8>,
}

/// The request that a case answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// GET on a connection that may persist.
    Get,
    /// GET with `Connection: close`.
    Close,
    /// HEAD.
    Head,
    /// CONNECT.
    Connect,
}

/// A server's step after its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// Nothing: the connection stays open.
    Open,
    /// It closes.
    Fin,
    /// It resets the connection.
    Rst,
}

/// The outcome of a case. `None` or empty means: not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The outcome's stable name, such as `ok` or `proto:chunk`. It holds for a plan that accepts
    /// every valid status.
    pub outcome: String,
    /// The outcome when the body is decoded by its Content-Encoding, where it differs.
    pub when_compressed: Option<String>,
    /// The outcome when redirects are followed, where it differs.
    pub when_following: Option<String>,
    /// The final status as sent.
    pub status: Option<u16>,
    /// Bytes of body that are read before the outcome, free of the transfer coding.
    pub body: Option<u64>,
    /// The same bytes.
    pub content: Option<Vec<u8>>,
    /// Interim responses before the final one.
    pub interim: Option<u32>,
    /// The stable names of all leniencies, in the order of their bits.
    pub notices: Vec<String>,
    /// Whether the connection may carry another request.
    pub reusable: Option<bool>,
    /// The hint that the user sees beside the outcome.
    pub hint: Option<String>,
}
