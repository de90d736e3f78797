//! A response that is read in one step has the meaning of its separate frames.

use crate::peer::{
    Act, END_STREAM, PADDED, Transcript, block, concat, data, feed, frame, headers, play, request,
    settings,
};
use drumfire_http2::{Connection, EndStream, Settings};
use proptest::prelude::*;

/// A head, by its number.
fn head(stream: u32, flags: u8, which: usize) -> Vec<u8> {
    let fields: [&[(&str, &str)]; 6] = [
        &[(":status", "200")],
        &[(":status", "200"), ("content-length", "3")],
        &[(":status", "204")],
        &[(":status", "103")],
        &[(":status", "500"), ("content-length", "4"), ("a", "b")],
        &[("grpc-status", "0")],
    ];
    headers(stream, flags, fields[which % fields.len()])
}

/// A response as servers send it, or nearly so.
fn response(stream: u32, which: usize, length: usize, with_trailers: bool) -> Vec<u8> {
    let body = vec![0; length];
    if with_trailers {
        let trailers = headers(stream, END_STREAM, &[("grpc-status", "0")]);
        concat(&[head(stream, 0, which), data(stream, 0, &body), trailers])
    } else {
        concat(&[head(stream, 0, which), data(stream, END_STREAM, &body)])
    }
}

fn stream() -> impl Strategy<Value = u32> {
    (0..8_u32).prop_map(|n| 2 * n + 1)
}

/// Frames of the server, among them complete responses.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (stream(), 0..2_usize, 0..4_usize, any::<bool>())
            .prop_map(|(stream, which, length, trailers)| response(stream, which, length, trailers)),
        2 => (stream(), 0..6_usize, 3..5_usize, any::<bool>())
            .prop_map(|(stream, which, length, trailers)| response(stream, which, length, trailers)),
        1 => (stream(), 0..2_u8, 0..6_usize).prop_map(|(stream, flags, which)| head(stream, flags, which)),
        1 => (stream(), 0..2_u8, 0..5_usize)
            .prop_map(|(stream, flags, length)| data(stream, flags, &vec![0; length])),
        1 => stream().prop_map(|stream| frame(0, PADDED | END_STREAM, stream, &[1, 0, 0, 0, 0])),
        1 => stream().prop_map(|stream| frame(1, 0, stream, &block(&[(":status", "200")]))),
        1 => stream().prop_map(|stream| frame(3, 0, stream, &[0, 0, 0, 8])),
        1 => Just(frame(6, 0, 0, &[7; 8])),
    ]
}

/// Requests of every kind, on the streams 1 to 13.
fn opened() -> Vec<Act> {
    let mut acts = vec![Act::Serve(settings(&[]))];
    acts.extend([
        Act::Get,
        Act::Get,
        Act::Get,
        Act::GetHead,
        Act::Post,
        Act::Get,
        Act::Get,
    ]);
    acts.push(Act::Reset(7));
    acts.push(Act::Write);
    acts
}

proptest! {
    /// When bytes arrive one by one, no response is ever read in one step.
    #[test]
    fn one_step_means_what_the_frames_mean(
        served in prop::collection::vec(frames(), 1..12),
        small_windows in any::<bool>(),
    ) {
        let settings = Settings {
            stream_window: if small_windows { 6 } else { 65_535 },
            ..Settings::default()
        };
        let mut acts = opened();
        acts.push(Act::Serve(concat(&served)));
        let whole = play(&settings, &acts, |bytes| [bytes]);
        let dripped = play(&settings, &acts, |bytes| bytes.chunks(1));
        prop_assert_eq!(&whole, &dripped);
        let halves = play(&settings, &acts, |bytes| bytes.chunks(31));
        prop_assert_eq!(&whole, &halves);
    }
}

#[test]
fn a_remembered_response_is_read_in_one_step() {
    let mut connection = Connection::new(&Settings::default());
    let mut transcript = Transcript::default();
    feed(&mut connection, &settings(&[]), &mut transcript);
    for (stream, with_trailers) in [(1, true), (3, true), (5, false), (7, true)] {
        let get = request("GET");
        let opened = connection.open(stream, &get, &[], EndStream::Yes);
        opened.expect("room");
        let answer = response(stream, 1, 3, with_trailers);
        let more = concat(&[answer.clone(), vec![0; 9]]);
        let Some(whole) = connection.whole(&more) else {
            assert_eq!(stream, 1, "only the first head is unknown");
            feed(&mut connection, &answer, &mut transcript);
            continue;
        };
        assert_eq!((whole.token, whole.status), (stream, 200));
        assert_eq!(whole.headers.find("content-length"), Some(&b"3"[..]));
        assert_eq!(whole.body, [0; 3]);
        let status = whole.trailers.and_then(|fields| fields.find("grpc-status"));
        assert_eq!(status, with_trailers.then_some(&b"0"[..]));
        assert_eq!(whole.consumed, answer.len());
        assert_eq!(connection.streams_open(), 0);
    }
    assert_eq!(connection.streams_open(), 0);
}
