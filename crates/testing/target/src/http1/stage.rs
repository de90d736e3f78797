//! Requests that are recognized byte for byte, and answered before hyper sees them.
//!
//! Benchmarks send the same request at full speed, and must find the limit of the client and not of
//! hyper. A constant answer is cached when hyper first writes it.

use crate::shortcuts::{ANSWER_MAX, REQUEST_MAX, Shortcuts};

/// The bytes of one connection that hyper has received.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// None: the next bytes start a request.
    #[default]
    Idle,
    /// One complete, unanswered head, and the part of its answer written so far.
    One { request: Vec<u8>, answer: Vec<u8> },
    /// Bytes that can't be assigned to requests. hyper then keeps the connection.
    Lost,
}

impl Stage {
    /// Removes the known requests at the start of the input, and returns their number. Their
    /// answers are appended to `out`; the rest of the input is for hyper.
    pub(super) fn answer(
        &mut self,
        shortcuts: &Shortcuts,
        input: &mut &[u8],
        out: &mut Vec<u8>,
    ) -> u64 {
        let mut count = 0;
        if matches!(self, Self::Idle) {
            // hyper receives the rest of a long pipeline.
            while out.len() < ANSWER_MAX
                && let Some((answer, length)) = shortcuts.find(input)
            {
                out.extend_from_slice(answer);
                *input = &input[length..];
                count += 1;
            }
        }
        if !input.is_empty() {
            *self = match self {
                Self::Idle if is_one_head(input) => Self::One {
                    request: input.to_vec(),
                    answer: Vec::new(),
                },
                _ => Self::Lost,
            };
        }
        count
    }

    /// The request that hyper has not answered; empty if hyper has received anything else.
    pub(super) fn into_request(self) -> Vec<u8> {
        match self {
            Self::One { request, .. } => request,
            Self::Idle | Self::Lost => Vec::new(),
        }
    }

    /// Records a piece of a constant answer that hyper wrote.
    pub(super) fn wrote(&mut self, bytes: &[u8]) {
        if let Self::One { answer, .. } = self
            && answer.len() <= ANSWER_MAX
        {
            answer.extend_from_slice(bytes);
        }
    }

    /// Records that hyper's answer is sent, and caches it.
    pub(super) fn answered(&mut self, shortcuts: &mut Shortcuts) {
        match std::mem::take(self) {
            Self::One { request, answer } => {
                if !answer.is_empty() && answer.len() <= ANSWER_MAX {
                    shortcuts.insert(request, answer);
                }
            }
            other => *self = other,
        }
    }
}

/// Whether the bytes are exactly one complete head.
fn is_one_head(bytes: &[u8]) -> bool {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    bytes.len() <= REQUEST_MAX && end.is_some_and(|at| at + 4 == bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &[u8] = b"GET /a HTTP/1.1\r\n\r\n";

    fn knowing(requests: &[&[u8]]) -> Shortcuts {
        let mut shortcuts = Shortcuts::default();
        for request in requests {
            let mut stage = Stage::default();
            assert_eq!(
                stage.answer(&shortcuts, &mut &**request, &mut Vec::new()),
                0
            );
            stage.wrote(b"answer to ");
            stage.wrote(request);
            stage.answered(&mut shortcuts);
        }
        shortcuts
    }

    #[test]
    fn what_was_learned_is_answered_and_the_rest_is_left() {
        let shortcuts = knowing(&[A]);
        let input = [A, A, b"GET /b"].concat();
        let (mut rest, mut out) = (&input[..], Vec::new());
        let mut stage = Stage::default();
        assert_eq!(stage.answer(&shortcuts, &mut rest, &mut out), 2);
        assert_eq!(rest, b"GET /b");
        assert_eq!(out, [b"answer to ", A].concat().repeat(2));
        // hyper has half of a request, so the following bytes can't be answered here.
        assert!(matches!(stage, Stage::Lost));
        let mut rest = A;
        assert_eq!(stage.answer(&shortcuts, &mut rest, &mut out), 0);
        assert_eq!(rest, A);
    }

    #[test]
    fn a_body_is_never_taken_for_a_request() {
        let shortcuts = knowing(&[A]);
        let post = b"POST / HTTP/1.1\r\nContent-Length: 19\r\n\r\n";
        let mut stage = Stage::default();
        stage.answer(&shortcuts, &mut &post[..], &mut Vec::new());
        let mut body = A;
        assert_eq!(stage.answer(&shortcuts, &mut body, &mut Vec::new()), 0);
        assert!(body == A && matches!(stage, Stage::Lost));
    }

    #[test]
    fn the_oldest_is_forgotten_and_the_large_is_not_learned() {
        let requests: Vec<Vec<u8>> = (0..5)
            .map(|n| format!("GET /{n} HTTP/1.1\r\n\r\n").into_bytes())
            .collect();
        let requests: Vec<&[u8]> = requests.iter().map(|request| &**request).collect();
        let shortcuts = knowing(&requests);
        assert_eq!(shortcuts.find(requests[0]), None);
        assert!(shortcuts.find(requests[1]).is_some());
        let large = [&vec![b'x'; REQUEST_MAX][..], b"\r\n\r\n"].concat();
        let mut stage = Stage::default();
        stage.answer(&shortcuts, &mut &large[..], &mut Vec::new());
        assert!(matches!(stage, Stage::Lost));
    }
}
