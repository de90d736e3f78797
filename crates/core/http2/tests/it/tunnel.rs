//! CONNECT with `:protocol` (RFC 8441): the setting, and a stream with data in both directions.

use crate::peer::{
    ACK, Act, END_STREAM, SETTINGS, Transcript, check_all, concat, data, describe_output, feed,
    frame, headers, ok, settings,
};
use drumfire_http2::{Connection, EndStream, Head, Indexing, OpenError, Settings};

/// The identifier of the setting.
const ENABLE_CONNECT_PROTOCOL: u16 = 8;

fn websocket() -> Head {
    let field = |name: &'static str, value: &'static str| {
        (name.as_bytes(), value.as_bytes(), Indexing::Allowed)
    };
    Head::new([
        field(":method", "CONNECT"),
        field(":protocol", "websocket"),
        field(":scheme", "http"),
        field(":authority", "localhost"),
        field(":path", "/chat"),
        field("sec-websocket-version", "13"),
    ])
    .expect("a head")
}

#[test]
fn a_server_that_does_not_offer_it_gets_no_request() {
    let mut connection = Connection::new(&Settings::default());
    let mut transcript = Transcript::default();
    for (served, offered) in [
        (settings(&[]), false),
        (settings(&[(ENABLE_CONNECT_PROTOCOL, 0)]), false),
        (settings(&[(ENABLE_CONNECT_PROTOCOL, 1)]), true),
        (settings(&[]), true),
    ] {
        feed(&mut connection, &served, &mut transcript);
        assert_eq!(connection.connects_by_protocol(), offered);
        let opened = connection.open(1, &websocket(), &[], EndStream::No);
        let expected = if offered {
            None
        } else {
            Some(OpenError::NoConnectProtocol)
        };
        assert_eq!(opened.err(), expected);
    }
    assert_eq!(connection.streams_open(), 2);
}

#[test]
fn the_setting_is_checked() {
    let invalid = "error: PROTOCOL_ERROR (ENABLE_CONNECT_PROTOCOL out of range)";
    let withdrawn = "error: PROTOCOL_ERROR (ENABLE_CONNECT_PROTOCOL withdrawn)";
    for (values, error) in [
        (&[2][..], invalid),
        (&[1, 0], withdrawn),
        (&[1, 1, 9], invalid),
    ] {
        let served: Vec<_> = values
            .iter()
            .map(|value| settings(&[(ENABLE_CONNECT_PROTOCOL, *value)]))
            .collect();
        let acks = "SETTINGS ACK; ".repeat(values.len() - 1);
        let seen = match values.len() {
            1 => error.to_owned(),
            _ => format!("ready; {error}"),
        };
        let sent = format!("{acks}GOAWAY PROTOCOL_ERROR");
        let acts = [Act::Serve(concat(&served))];
        check_all("setting", &Settings::default(), &acts, &seen, &sent);
    }
}

#[test]
fn data_goes_both_ways_until_both_sides_end() {
    for size in [1, 7, 1000] {
        let mut connection = Connection::new(&Settings::default());
        let mut transcript = Transcript::default();
        feed(
            &mut connection,
            &settings(&[(ENABLE_CONNECT_PROTOCOL, 1)]),
            &mut transcript,
        );
        let stream = connection
            .open(1, &websocket(), &[], EndStream::No)
            .expect("offered");
        // A length in the head of a tunnel has no meaning.
        let head = headers(1, 0, &[(":status", "200"), ("content-length", "3")]);
        let served = concat(&[frame(SETTINGS, ACK, 0, &[]), head, data(1, 0, b"hello")]);
        for piece in served.chunks(size) {
            feed(&mut connection, piece, &mut transcript);
        }
        assert_eq!(
            connection.send_data(stream, b"to you", EndStream::No),
            Ok(6)
        );
        for piece in data(1, END_STREAM, b"bye").chunks(size) {
            feed(&mut connection, piece, &mut transcript);
        }
        assert_eq!(connection.streams_open(), 1);
        assert_eq!(connection.send_data(stream, b"bye", EndStream::Yes), Ok(3));
        assert_eq!(connection.streams_open(), 0);
        let seen = ["ready", "1 head 200 content-length=3"];
        assert_eq!(transcript.seen[..2], seen);
        assert!(
            transcript.seen[2].starts_with("1 data "),
            "{:?}",
            transcript.seen
        );
        assert_eq!(
            transcript.seen.last().map(String::as_str),
            Some("1 data 8 end")
        );
        let sent = describe_output(connection.output());
        let frames = ["SETTINGS ACK", "1 HEADERS", "1 DATA 6", "1 DATA 3 end"];
        assert_eq!(sent[2..], frames);
    }
}

#[test]
fn a_refusal_is_an_ordinary_response() {
    let mut connection = Connection::new(&Settings::default());
    let mut transcript = Transcript::default();
    feed(
        &mut connection,
        &settings(&[(ENABLE_CONNECT_PROTOCOL, 1)]),
        &mut transcript,
    );
    let opened = connection.open(1, &websocket(), &[], EndStream::No);
    assert!(opened.is_ok());
    let head = headers(1, 0, &[(":status", "403"), ("content-length", "3")]);
    let served = concat(&[head, data(1, END_STREAM, b"no!"), ok(3, 0)]);
    feed(&mut connection, &served, &mut transcript);
    let seen = ["ready", "1 head 403 content-length=3", "1 data 3 end"];
    assert_eq!(transcript.seen, seen);
    assert!(
        transcript.error.is_some(),
        "a head on a stream that nobody opened"
    );
}
