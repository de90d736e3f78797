//! Compression bombs: the limit holds, and memory grows with the received bytes.

use crate::allocation::allocated_bytes;
use crate::exchange::{Exchange, fields};
use drumfire_grpc::{
    Code, Compressor, Decompressor, Encoding, Keep, Replies, Reply, ReplySettings, Violation,
};

const LIMIT: u32 = 100_000;

fn settings(accepted: Encoding) -> ReplySettings {
    ReplySettings {
        replies: Replies::Many,
        receive_limit: LIMIT,
        accepted,
        keep: Keep::Payload,
    }
}

fn compressed(encoding: Encoding, payload: &[u8]) -> Exchange {
    let mut body = Vec::new();
    let written = Compressor::new(encoding).write_message(&mut body, payload);
    assert_eq!((written, body[0]), (Ok(()), 1));
    Exchange {
        head: fields(&[
            ("content-type", "application/grpc"),
            ("grpc-encoding", encoding.name()),
        ]),
        body: Some(body),
        ..Exchange::with_messages(&[])
    }
}

#[test]
fn decompressed_messages_are_bounded() {
    for encoding in [Encoding::Gzip, Encoding::Zstd] {
        let settings = settings(encoding);
        let fits = compressed(encoding, &vec![0; LIMIT as usize]).play(&settings);
        assert!(fits.status.is_ok(), "{encoding:?}: {:?}", fits.status);
        let bomb = compressed(encoding, &vec![0; 64 << 20]);
        assert!(
            bomb.body
                .as_ref()
                .is_some_and(|body| body.len() < LIMIT as usize)
        );
        let (outcome, bytes) = allocated_bytes(|| bomb.play(&settings));
        assert_eq!(outcome.status.violation, Some(Violation::MessageTooLong));
        assert_eq!(outcome.status.code, Code::RESOURCE_EXHAUSTED);
        assert!(outcome.messages.is_empty());
        assert!(bytes < 10 * u64::from(LIMIT), "{encoding:?}: {bytes} bytes");
        let one_more = compressed(encoding, &vec![0; LIMIT as usize + 1]).play(&settings);
        assert_eq!(one_more.status.violation, Some(Violation::MessageTooLong));
    }
}

#[test]
fn a_claimed_length_sets_nothing_aside() {
    let settings = ReplySettings {
        receive_limit: u32::MAX,
        ..settings(Encoding::Identity)
    };
    let mut reply = Reply::new(&settings);
    let mut decompressor = Decompressor::default();
    let (result, bytes) =
        allocated_bytes(|| reply.data(b"\0\xff\xff\xff\xffabc", &mut decompressor, |_| ()));
    assert_eq!(result, Ok(()));
    assert!(bytes < 100, "{bytes} bytes");
}
