//! Arbitrary bytes as a reply to a call: no panic, the limit holds, the same end for all cuts, and
//! success only with the server's status.
//!
//! The first byte of the input selects the expected reply, the second the cuts, and the third the
//! end of the reply. The rest is the body, after a line of headers and a line of trailers if there
//! are two line feeds.

#![no_main]

use drumfire_grpc::{Decompressor, Encoding, Keep, Replies, Reply, ReplySettings, Status};
use libfuzzer_sys::fuzz_target;

const LIMIT: u32 = 1 << 14;

/// `name:value,name:value`.
fn fields(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    line.split(|&byte| byte == b',').filter_map(|field| {
        let colon = field.iter().position(|&byte| byte == b':')?;
        Some((&field[..colon], &field[colon + 1..]))
    })
}

struct Exchange<'a> {
    settings: ReplySettings,
    http_status: u16,
    ending: u8,
    head: &'a [u8],
    trailers: &'a [u8],
}

impl Exchange<'_> {
    fn play<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) -> (Status, Vec<(u32, Vec<u8>)>) {
        let mut messages = Vec::new();
        let mut decompressor = Decompressor::default();
        let mut reply = Reply::new(&self.settings);
        let head = [
            (&b"content-type"[..], &b"application/grpc"[..]),
            (b"grpc-encoding", self.settings.accepted.name().as_bytes()),
        ];
        let head = head.into_iter().chain(fields(self.head));
        if self.ending % 3 == 0 {
            return (reply.trailers_only(self.http_status, head), messages);
        }
        if let Err(violation) = reply.head(self.http_status, head) {
            return (violation.into(), messages);
        }
        for piece in pieces {
            let result = reply.data(piece, &mut decompressor, |message| {
                assert!(message.length <= LIMIT && message.length_sent <= LIMIT);
                messages.push((message.length, message.payload.to_vec()));
            });
            assert_eq!(reply.messages(), messages.len() as u64);
            if let Err(violation) = result {
                return (violation.into(), messages);
            }
        }
        let status = if self.ending % 3 == 1 {
            reply.handle_end()
        } else {
            reply.trailers(fields(self.trailers))
        };
        (status, messages)
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, size, ending, rest @ ..] = data else {
        return;
    };
    let mut lines = rest.splitn(3, |&byte| byte == b'\n');
    let (first, second, third) = (lines.next(), lines.next(), lines.next());
    let (head, trailers, body) = match (first, second, third) {
        (Some(head), Some(trailers), Some(body)) => (head, trailers, body),
        _ => (&b""[..], &b"grpc-status:0"[..], rest),
    };
    let mut exchange = Exchange {
        settings: ReplySettings {
            replies: [Replies::One, Replies::Many][usize::from(choice & 1)],
            receive_limit: LIMIT,
            accepted: [
                Encoding::Identity,
                Encoding::Gzip,
                Encoding::Zstd,
                Encoding::Gzip,
            ][usize::from(choice >> 1 & 3)],
            keep: Keep::Payload,
        },
        http_status: if choice & 8 == 0 { 200 } else { 503 },
        ending: *ending,
        head,
        trailers,
    };
    let whole = exchange.play(std::iter::once(body));
    let cut = exchange.play(body.chunks(usize::from(*size) + 1));
    assert_eq!(cut, whole);
    if whole.0.is_ok() {
        assert!(exchange.http_status == 200 && exchange.ending % 3 != 1);
        assert!(exchange.settings.replies == Replies::Many || whole.1.len() == 1);
    }
    if let Some(message) = &whole.0.message {
        assert!(!message.is_empty() && message.len() <= 1024);
    }
    exchange.settings.keep = Keep::Length;
    let counted = exchange.play(body.chunks(usize::from(*size) + 1));
    assert_eq!(counted.0, whole.0);
    assert!(
        counted
            .1
            .iter()
            .map(|message| message.0)
            .eq(whole.1.iter().map(|message| message.0))
    );
});
