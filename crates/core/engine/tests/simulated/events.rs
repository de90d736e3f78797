//! Event streams: their events and times with every cut, and streams that are not whole.

use crate::{failures, ms, run, secs, seen};
use drumfire_measure::{Leniency, Outcome};
use drumfire_plan::{
    Compressed, EventStream, Expect, Inspection, Mismatch, MismatchKind, Redirects, Response,
    Taken, ValueForm, VariableId,
};
use drumfire_testkit::{Answer, Draft, Http2Behaviour, Reply, Server, Simulated, World, closed};
use drumfire_units::{ByteSize, Nanos};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::sync::Arc;

const TYPE: &str = "Content-Type: text/event-stream; charset=utf-8\r\n";
const STREAM: &[u8] =
    b": hi\n\nevent: a\r\ndata: {\"\xc3\xa9\":1}\r\n\r\ndata: 2\ndata: 3\n\ndata: [DONE]\n\n";

const WHOLE: EventStream = EventStream {
    duration: Nanos::MAX,
    gap: Nanos::MAX,
    receive: None,
    answer: None,
};

/// A plan of one user whose responses are event streams.
fn reading(count: u64, events: EventStream) -> Draft {
    closed(1).requests(count).with(|pool| {
        for request in &mut pool.requests {
            request.events = Some(events);
        }
    })
}

/// A chunked response, with one chunk for each piece.
fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n".to_vec();
    bytes.extend_from_slice(TYPE.as_bytes());
    bytes.extend_from_slice(b"\r\n");
    for piece in pieces.iter().chain([&&b""[..]]) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The places at which a text begins in bytes.
fn places(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(text.len()).enumerate();
    windows
        .filter(|(_, window)| *window == text)
        .map(|(place, _)| place)
        .collect()
}

/// Checks the number of events, and of streams with one.
#[track_caller]
fn received(result: &Simulated, streams: u64, events: u64) {
    let messages = &result.summary.total.messages;
    assert_eq!((messages.received, messages.sent), (events, 0));
    assert_eq!(messages.first.count(), streams);
    assert_eq!(messages.gap.count(), events - streams);
    assert_eq!(messages.are_events(), events > 0);
}

#[test]
fn events_are_the_same_with_every_cut() {
    let bytes = chunked(&[&STREAM[..20], &STREAM[20..]]);
    let whole = Answer::with(200, TYPE, STREAM);
    for answer in [Answer::raw(&bytes), whole] {
        let count = bytes.len() as u64;
        let server = Server::new().answers(move |request| {
            let place = request.index as usize;
            answer.clone().cut_at(&[place], ms(10))
        });
        let result = run(reading(count, WHOLE), World::new(server));
        failures(&result.summary, &[]);
        received(&result, count, 3 * count);
        assert_eq!(result.log.connections, 1, "the connection is kept");
        let longest = result.summary.total.messages.gap.max();
        assert!(longest >= ms(10) && longest <= ms(11), "{longest}");
    }
    let dripped = Answer::raw(&bytes).dripping(1, Nanos::from_micros(1));
    let result = run(reading(1, WHOLE), World::new(Server::new().says(dripped)));
    received(&result, 1, 3);
}

#[test]
fn the_first_event_and_the_gaps_have_exact_times() {
    // Each event 50 ms after the one before, and its empty line 20 ms after its data.
    let events: [&[u8]; 3] = [b"data: 1\n", b"data: 2\n", b"data: 3\n"];
    let body = events.map(|event| [event, b"\n"].concat()).concat();
    let bytes = Answer::with(200, TYPE, &body);
    let head = {
        let text = format!(
            "HTTP/1.1 200 Scripted\r\nContent-Length: {}\r\n{TYPE}\r\n",
            body.len()
        );
        text.len()
    };
    let at_events: Vec<usize> = (0..3).map(|n| head + n * 9).collect();
    let result = run(
        reading(20, WHOLE),
        World::new(Server::new().says(bytes.clone().cut_at(&at_events, ms(50)))),
    );
    let near = |time: Nanos, wanted: Nanos| time >= wanted && time <= wanted + ms(1);
    let messages = &result.summary.total.messages;
    assert!(near(messages.first.min(), ms(50)) && near(messages.first.max(), ms(50)));
    assert!(near(messages.gap.min(), ms(50)) && near(messages.gap.max(), ms(50)));
    received(&result, 20, 60);
    // With the empty lines in the next pieces, the times are those of the data.
    let late: Vec<usize> = at_events.iter().map(|place| place - 1).skip(1).collect();
    let answer = bytes.cut_at(&[&[head][..], &late].concat(), ms(50));
    let result = run(reading(20, WHOLE), World::new(Server::new().says(answer)));
    let late = &result.summary.total.messages;
    assert_eq!((&late.first, &late.gap), (&messages.first, &messages.gap));
}

#[test]
fn a_stream_that_is_cut_is_never_a_success() {
    let bytes = chunked(&[&STREAM[..20], &STREAM[20..]]);
    let head = format!(
        "HTTP/1.1 200 Scripted\r\nContent-Length: {}\r\n{TYPE}\r\n",
        STREAM.len()
    );
    let counted = [head.as_bytes(), STREAM].concat();
    for (bytes, is_reset) in [(&bytes, false), (&bytes, true), (&counted, false)] {
        let count = bytes.len() as u64;
        let bytes = bytes.clone();
        let server = Server::new().answers(move |request| {
            let answer = Answer::raw(&bytes[..request.index as usize]);
            match is_reset {
                true => answer.then_resets(ms(1)),
                false => answer.then_closes(ms(1)),
            }
        });
        let result = run(reading(count, WHOLE), World::new(server));
        assert_eq!(result.summary.total.counts.ok, 0);
        assert!(seen(&result.summary, Outcome::Truncated) >= STREAM.len() as u64);
        // What came before the cut is in the figures.
        assert!(result.summary.total.messages.received > 0);
    }
}

#[test]
fn a_body_that_ends_within_an_event_is_cut() {
    // Without a length, the end of the connection is the end of the body.
    let head = format!("HTTP/1.1 200 OK\r\n{TYPE}\r\n");
    let ends: Vec<usize> = (0..=STREAM.len()).collect();
    let count = ends.len() as u64;
    let server = Server::new().answers(move |request| {
        let body = &STREAM[..ends[request.index as usize]];
        Answer::raw(&[head.as_bytes(), body].concat()).then_closes(ms(1))
    });
    let result = run(reading(count, WHOLE), World::new(server));
    let total = &result.summary.total;
    // Nothing and the comment; the object in its line and at either byte of the line's end; after the
    // CR and the LF of the empty line; the second event; `[DONE]` likewise, and its empty line.
    let (whole, forgiven) = (7 + 2 + 1 + 1, 3 + 2);
    failures(
        &result.summary,
        &[(Outcome::EventsCut, count - whole - forgiven)],
    );
    assert_eq!(total.leniencies[Leniency::UnendedEvent as usize], forgiven);
}

#[test]
fn another_answer_is_not_a_stream() {
    let json = Answer::with(
        200,
        "Content-Type: application/json\r\n",
        b"{\"error\":\"no\"}",
    );
    let plain = Answer::ok();
    let empty = Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n");
    let endless = Answer::raw(
        &[
            &b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"[..],
            &[b'x'; 200_000],
        ]
        .concat(),
    );
    for answer in [json, plain, empty, endless] {
        let result = run(reading(5, WHOLE), World::new(Server::new().says(answer)));
        failures(&result.summary, &[(Outcome::EventsType, 5)]);
        received(&result, 0, 0);
    }
    // A status that is not expected is the failure, whatever the type.
    for (status, lines) in [(503, TYPE), (500, "")] {
        let answer = Answer::with(status, lines, b"data: 1\n\n");
        let result = run(reading(5, WHOLE), World::new(Server::new().says(answer)));
        failures(&result.summary, &[(Outcome::HttpStatus, 5)]);
        received(&result, 0, 0);
    }
    let types = ["Text/Event-Stream", "text/event-stream ;charset=utf-8"];
    for name in types {
        let lines = format!("Content-Type: {name}\r\n");
        let answer = Answer::with(200, &lines, STREAM);
        let result = run(reading(5, WHOLE), World::new(Server::new().says(answer)));
        failures(&result.summary, &[]);
    }
}

#[test]
fn a_stream_may_have_no_events() {
    let empty = Answer::with(200, TYPE, b"");
    let comments = Answer::with(200, TYPE, b": ping\n\n: ping\n\n");
    for answer in [empty, comments] {
        let result = run(reading(5, WHOLE), World::new(Server::new().says(answer)));
        failures(&result.summary, &[]);
        received(&result, 0, 0);
    }
}

#[test]
fn a_gap_has_a_limit() {
    let limit = EventStream {
        gap: ms(100),
        ..WHOLE
    };
    let pieces: [&[u8]; 3] = [b"data: 1\n\n", b"data: 2\n\n", b": ping\n\n"];
    let bytes = chunked(&pieces);
    let at = |text: &[u8]| places(&bytes, text)[0];
    // The head, two events after 80 ms each, and a comment after the next 80 ms, which is no event.
    let cuts = [at(b"data: 1"), at(b"data: 2"), at(b": ping")];
    let answer = Answer::raw(&bytes[..bytes.len() - 5]).cut_at(&cuts, ms(80));
    let world = World::new(Server::new().says(answer));
    let result = run(reading(4, limit), world);
    failures(&result.summary, &[(Outcome::TimeoutGap, 4)]);
    received(&result, 4, 8);
    let total = &result.summary.total;
    assert_eq!(total.counts.timed_out, 4);
    let failed = &total.latency.failed;
    assert!(
        failed.min() >= ms(260) && failed.max() <= ms(263),
        "{}",
        failed.max()
    );
    // The end of the stream is late, too; and the whole exchange has its own limit.
    let late = Answer::raw(&bytes).cut_at(&[bytes.len() - 5], ms(150));
    let result = run(reading(4, limit), World::new(Server::new().says(late)));
    failures(&result.summary, &[(Outcome::TimeoutGap, 4)]);
    let slow = Answer::raw(&bytes).cut_at(&cuts, ms(80));
    let plan = reading(4, limit).with(|pool| pool.timeouts.total = ms(200));
    let result = run(plan, World::new(Server::new().says(slow)));
    failures(&result.summary, &[(Outcome::TimeoutTotal, 4)]);
    // Before the head, the limit does not apply.
    let waits = Answer::with(200, TYPE, STREAM).after(secs(1));
    let result = run(reading(4, limit), World::new(Server::new().says(waits)));
    failures(&result.summary, &[]);
}

#[test]
fn an_exchange_may_end_after_a_number_of_events() {
    let two = EventStream {
        receive: Some(2),
        ..WHOLE
    };
    let endless = chunked(&[b"data: 1\n\n", b"data: 2\n\n"]);
    let endless = Answer::raw(&endless[..endless.len() - 5]);
    let result = run(reading(5, two), World::new(Server::new().says(endless)));
    failures(&result.summary, &[]);
    received(&result, 5, 10);
    assert_eq!(
        result.log.connections, 5,
        "the rest of a stream is not read"
    );
}

/// A stream that sends an event every 20 ms and does not end.
fn endless(events: usize) -> Answer {
    let bytes = chunked(&vec![&b"data: 1\n\n"[..]; events]);
    let cuts = places(&bytes, b"data: 1");
    Answer::raw(&bytes[..bytes.len() - 5]).cut_at(&cuts, ms(20))
}

#[test]
fn an_exchange_may_end_after_a_time() {
    let lasting = EventStream {
        duration: ms(90),
        ..WHOLE
    };
    // The time of the whole exchange applies up to the head only.
    for total in [secs(30), ms(50)] {
        let plan = reading(5, lasting).with(|pool| pool.timeouts.total = total);
        let result = run(plan, World::new(Server::new().says(endless(50))));
        failures(&result.summary, &[]);
        received(&result, 5, 20);
        let total = &result.summary.total;
        assert_eq!((total.counts.ok, total.counts.timed_out), (5, 0));
        let service = &total.latency.service_time;
        assert!(service.min() >= ms(90) && service.max() <= ms(93));
        assert_eq!(service.at_least_from(), None, "the ends were seen");
    }
    // The end of the stream, a gap and a late head come first.
    let short = Answer::with(200, TYPE, STREAM);
    let silent = endless(2);
    let late = Answer::with(200, TYPE, STREAM).after(secs(1));
    let gap = EventStream {
        gap: ms(30),
        ..lasting
    };
    for (answer, events, failed) in [
        (short, 3, None),
        (silent, 2, Some(Outcome::TimeoutGap)),
        (late, 0, Some(Outcome::TimeoutHead)),
    ] {
        let plan = reading(5, gap).with(|pool| pool.timeouts.total = ms(200));
        let result = run(plan, World::new(Server::new().says(answer)));
        let failed = failed.map(|outcome| (outcome, 5));
        failures(&result.summary, failed.as_slice());
        assert_eq!(result.summary.total.messages.received, 5 * events);
    }
    // Checks see what has arrived.
    let plan = reading(5, lasting).with(|pool| {
        pool.requests[0].inspection = Some(Arc::new(Body(b"1\n1\n1", 100)));
    });
    let result = run(plan, World::new(Server::new().says(endless(50))));
    failures(&result.summary, &[(Outcome::AssertBody, 5)]);
}

#[test]
fn a_stream_ends_after_its_time_over_http2() {
    let lasting = EventStream {
        duration: ms(90),
        ..WHOLE
    };
    let fields = [("content-type", "text/event-stream")];
    let reply = Reply::head(200, &fields).data(b"data: 1\n\n");
    let plan = reading(20, lasting).http2(10);
    let world = World::new(Server::http2(Http2Behaviour::new().says(reply)));
    let result = run(plan, world);
    failures(&result.summary, &[]);
    received(&result, 20, 20);
    assert_eq!(result.log.connections, 1, "only the stream ends");
}

#[test]
fn streams_that_are_open_at_the_end_of_a_run_have_not_failed() {
    let plan = closed(10).lasts(secs(1)).with(|pool| {
        pool.timeouts.total = Nanos::MAX;
        for request in &mut pool.requests {
            request.events = Some(WHOLE);
        }
    });
    let result = run(plan, World::new(Server::new().says(endless(10_000))));
    failures(&result.summary, &[]);
    let counts = &result.summary.total.counts;
    assert_eq!((counts.sent, counts.in_flight, counts.failed), (10, 10, 0));
}

#[test]
fn an_event_has_a_limit() {
    let long = [&b"data: "[..], &vec![b'x'; 2 << 20], b"\n\n"].concat();
    let answer = Answer::with(200, TYPE, &[&b"data: 1\n\n"[..], &long].concat());
    let result = run(reading(3, WHOLE), World::new(Server::new().says(answer)));
    failures(&result.summary, &[(Outcome::LimitEvent, 3)]);
    received(&result, 3, 3);
}

#[test]
fn a_compressed_stream_is_read_as_it_comes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut ends = Vec::new();
    for event in [&b"data: 1\n\n"[..], b"data: 2\n\n", b"data: 3\n\n"] {
        encoder.write_all(event).expect("memory takes it");
        encoder.flush().expect("memory takes it");
        ends.push(encoder.get_ref().len());
    }
    let body = encoder.finish().expect("memory takes it");
    let lines = format!("{TYPE}Content-Encoding: gzip\r\n");
    let head = format!(
        "HTTP/1.1 200 Scripted\r\nContent-Length: {}\r\n{lines}\r\n",
        body.len()
    );
    let cuts: Vec<usize> = ends[..2].iter().map(|end| head.len() + end).collect();
    for compressed in [Compressed::AsSent, Compressed::Decode(ByteSize(1_000))] {
        let answer = Answer::with(200, &lines, &body).cut_at(&cuts, ms(30));
        let plan = reading(5, WHOLE).with(|pool| pool.http.compressed = compressed);
        let result = run(plan, World::new(Server::new().says(answer)));
        failures(&result.summary, &[]);
        received(&result, 5, 15);
        let gap = &result.summary.total.messages.gap;
        assert!(gap.min() >= ms(30) && gap.max() <= ms(31), "{}", gap.max());
    }
    // A coding that is unknown or broken.
    for (coding, outcome) in [("compress", Outcome::Decode), ("zstd", Outcome::Decode)] {
        let lines = format!("{TYPE}Content-Encoding: {coding}\r\n");
        let answer = Answer::with(200, &lines, &body);
        let result = run(reading(3, WHOLE), World::new(Server::new().says(answer)));
        failures(&result.summary, &[(outcome, 3)]);
    }
}

#[test]
fn events_come_over_http2() {
    let fields = [("content-type", "text/event-stream")];
    let head = Reply::head(200, &fields);
    let whole = head.data(b"data: 1\n\n").pause(ms(40)).data(b"data: 2\n\n");
    let cut = whole.clone().data(b"data: 3").ends();
    let reset = whole.clone().reset(2);
    let whole = whole.ends();
    for (reply, failed) in [
        (whole, None),
        (cut, Some(Outcome::EventsCut)),
        (reset, Some(Outcome::H2StreamInternalError)),
    ] {
        let plan = reading(20, WHOLE).http2(10);
        let world = World::new(Server::http2(Http2Behaviour::new().says(reply)));
        let result = run(plan, world);
        let failed = failed.map(|outcome| (outcome, 20));
        failures(&result.summary, failed.as_slice());
        received(&result, 20, 40);
        let gap = &result.summary.total.messages.gap;
        assert!(gap.min() >= ms(40) && gap.max() <= ms(41), "{}", gap.max());
    }
}

#[test]
fn a_redirect_may_lead_to_a_stream() {
    let server = Server::new().answers(|request| match request.target() {
        "/stream" => Answer::with(200, TYPE, STREAM),
        _ => Answer::redirect(302, "/stream"),
    });
    let plan = reading(5, WHOLE).with(|pool| pool.http.redirects = Redirects::Follow(2));
    let result = run(plan, World::new(server.clone()).keeps_requests());
    failures(&result.summary, &[]);
    received(&result, 5, 15);
    let accepts = |head: &str| head.contains("Accept: text/event-stream\r\n");
    assert!(result.log.seen.iter().all(|seen| accepts(&seen.head)));
    // A redirect that is not followed is not a stream.
    let result = run(reading(5, WHOLE), World::new(server.clone()));
    failures(&result.summary, &[(Outcome::EventsType, 5)]);
    let only_200 = reading(5, WHOLE).with(|pool| {
        pool.expect = "200".parse::<Expect>().expect("a status");
    });
    let result = run(only_200, World::new(server));
    failures(&result.summary, &[(Outcome::HttpStatus, 5)]);
}

/// Expects a body.
#[derive(Debug)]
struct Body(&'static [u8], u64);

impl Inspection for Body {
    fn fields(&self) -> &[String] {
        &[]
    }

    fn body_max(&self) -> Option<ByteSize> {
        Some(ByteSize(self.1))
    }

    fn inspect(&self, response: &Response<'_>, _: &mut Taken) -> Result<(), Mismatch> {
        match response.body == self.0 {
            true => Ok(()),
            false => Err(Mismatch {
                kind: MismatchKind::Body,
                reason: String::from_utf8_lossy(response.body).into_owned(),
            }),
        }
    }
}

#[test]
fn checks_see_the_data_of_all_events() {
    let joined = "{\"é\":1}\n2\n3\n[DONE]".as_bytes();
    for (body, max, failed) in [
        (joined, 100, None),
        (&b"else"[..], 100, Some(Outcome::AssertBody)),
        (joined, 8, Some(Outcome::LimitBody)),
    ] {
        for size in [1000, 1] {
            let answer = Answer::with(200, TYPE, STREAM).dripping(size, ms(1));
            let plan = reading(5, WHOLE).with(|pool| {
                pool.requests[0].inspection = Some(Arc::new(Body(body, max)));
            });
            let result = run(plan, World::new(Server::new().says(answer)));
            let failed = failed.map(|outcome| (outcome, 5));
            failures(&result.summary, failed.as_slice());
        }
    }
}

/// Expects of each message that it has no `x`, and takes the last one that begins with `{`.
#[derive(Debug)]
struct Each;

impl Inspection for Each {
    fn fields(&self) -> &[String] {
        &[]
    }

    fn body_max(&self) -> Option<ByteSize> {
        None
    }

    fn inspects_messages(&self) -> bool {
        true
    }

    fn inspect_message(&self, message: &[u8], taken: &mut Taken) -> Result<(), Mismatch> {
        if message.contains(&b'x') {
            let reason = String::from_utf8_lossy(message).into_owned();
            let kind = MismatchKind::Body;
            return Err(Mismatch { kind, reason });
        }
        let read = |out: &mut String| {
            out.push_str(std::str::from_utf8(message).map_err(|_| ())?);
            out.starts_with('{').then_some(ValueForm::Json).ok_or(())
        };
        let _other = taken.replace(VariableId(0), read);
        Ok(())
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        assert!(response.body.is_empty(), "the joined text is not kept");
        match taken.has(VariableId(0)) {
            true => Ok(()),
            false => Err(Mismatch {
                kind: MismatchKind::Missing,
                reason: "no message begins with {".to_owned(),
            }),
        }
    }
}

#[test]
fn a_check_may_see_each_event() {
    let stream = |data: &[&str]| {
        let events = data.iter().map(|data| format!("data: {data}\n\n"));
        events.collect::<String>()
    };
    let is_inspected = |pool: &mut drumfire_plan::Pool| {
        pool.requests[0].inspection = Some(Arc::new(Each));
    };
    for (data, received, failed) in [
        (&["{}", "1", "[DONE]"][..], 3, None),
        (&["1", "2"], 2, Some(Outcome::ExtractMissing)),
        // The exchange ends at once.
        (&["{}", "x", "3"], 2, Some(Outcome::AssertBody)),
    ] {
        let body = stream(data);
        let answer = Answer::with(200, TYPE, body.as_bytes()).dripping(1, ms(1));
        let plan = reading(5, WHOLE).with(is_inspected);
        let result = run(plan, World::new(Server::new().says(answer)));
        let failed = failed.map(|outcome| (outcome, 5));
        failures(&result.summary, failed.as_slice());
        assert_eq!(
            result.summary.total.messages.received,
            5 * received,
            "{data:?}"
        );
    }
    // Events behind the wanted ones, in the same read, are not checked.
    let two = EventStream {
        receive: Some(2),
        ..WHOLE
    };
    let body = stream(&["{}", "1", "x"]);
    let plan = reading(5, two).with(is_inspected);
    let answer = Answer::with(200, TYPE, body.as_bytes());
    let result = run(plan, World::new(Server::new().says(answer)));
    failures(&result.summary, &[]);
}

/// A stream that some clients of language models read wrongly, and what is right.
struct Odd {
    name: &'static str,
    /// The body, in the pieces of the server's writes; each comes 20 ms after the one before.
    writes: Vec<Vec<u8>>,
    end: End,
    events: u64,
    /// The number of gaps within one write.
    together: u64,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The body is complete.
    Complete,
    Reset,
}

impl Odd {
    fn new(name: &'static str, writes: &[&str], events: u64) -> Self {
        Self {
            name,
            writes: writes.iter().map(|text| text.as_bytes().to_vec()).collect(),
            end: End::Complete,
            events,
            together: 0,
            outcome: Outcome::Ok,
        }
    }
}

/// A chunk of a chat completion with this delta.
fn delta(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}")
}

/// A stream that is complete, with these writes.
fn odd(name: &'static str, writes: &[String], events: u64) -> Odd {
    let writes: Vec<&str> = writes.iter().map(String::as_str).collect();
    Odd::new(name, &writes, events)
}

/// Five tokens, a usage chunk and `[DONE]`, each with this end.
fn tokens(end: &str) -> Vec<String> {
    let token = delta("\"content\":\" tok\"");
    let usage = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":5}}";
    let lines = [vec![&*token; 5], vec![usage, "data: [DONE]"]].concat();
    lines.iter().map(|line| format!("{line}{end}")).collect()
}

/// Streams whose lines or writes are odd.
fn odd_framings() -> Vec<Odd> {
    let lf = tokens("\n\n");
    let crlf = tokens("\r\n\r\n");
    let pairs: Vec<String> = crlf.chunks(2).map(<[String]>::concat).collect();
    let named: Vec<String> = lf
        .iter()
        .map(|line| format!("event: chunk\n{line}"))
        .collect();
    let unspaced: Vec<String> = lf
        .iter()
        .map(|line| line.replace("data: ", "data:"))
        .collect();
    let whole = lf.concat();
    let sevens = whole.as_bytes().chunks(7);
    let sevens: Vec<String> = sevens
        .map(|piece| String::from_utf8(piece.to_vec()).expect("ASCII"))
        .collect();
    vec![
        odd("CRLF, one event a write", &crlf, 7),
        Odd {
            together: 3,
            ..odd("CRLF, two events a write", &pairs, 7)
        },
        odd("`event:` before `data:`", &named, 7),
        odd("`data:` without a blank", &unspaced, 7),
        odd("writes of seven bytes", &sevens, 7),
    ]
}

/// Streams whose events or ends are odd.
fn odd_contents() -> Vec<Odd> {
    let lf = tokens("\n\n");
    let (two, rest) = lf.split_at(2);
    let error = "data: {\"error\":{\"type\":\"overloaded\"}}\n\n".to_owned();
    let role = format!("{}\n\n", delta("\"role\":\"assistant\",\"content\":\"\""));
    let reasoning = format!("{}\n\n", delta("\"reasoning_content\":\"hm\""));
    let half = "data: {\"choices\":[{\"ind\n\n".to_owned();
    let empty = format!("{}\n\n", delta("\"content\":\"\""));
    let cut = "data: {\"choi".to_owned();
    let within = |event: String| [two.to_vec(), vec![event], rest.to_vec()].concat();
    let after_two = |event: String| [two.to_vec(), vec![event]].concat();
    vec![
        odd("an error after two tokens", &after_two(error), 3),
        odd("complete after two tokens", two, 2),
        Odd {
            end: End::Reset,
            outcome: Outcome::Truncated,
            ..odd("reset after two tokens", two, 2)
        },
        odd("a role first", &[vec![role], lf.clone()].concat(), 8),
        odd(
            "reasoning first",
            &[vec![reasoning; 3], lf.clone()].concat(),
            10,
        ),
        odd("half an object within", &within(half), 8),
        odd("no `[DONE]`", &lf[..6], 6),
        odd("empty content within", &within(empty), 8),
        Odd {
            outcome: Outcome::EventsCut,
            ..odd("half an object at the end", &after_two(cut), 2)
        },
    ]
}

#[test]
fn odd_streams_are_read_right() {
    for odd in odd_framings().into_iter().chain(odd_contents()) {
        let pieces: Vec<&[u8]> = odd.writes.iter().map(Vec::as_slice).collect();
        let bytes = chunked(&pieces);
        let mut at = bytes.len() - 5;
        let mut cuts = Vec::new();
        for piece in pieces.iter().rev() {
            at -= piece.len() + format!("{:x}\r\n\r\n", piece.len()).len();
            cuts.insert(0, at);
        }
        let answer = match odd.end {
            End::Complete => Answer::raw(&bytes).cut_at(&cuts, ms(20)),
            End::Reset => Answer::raw(&bytes[..bytes.len() - 5])
                .cut_at(&cuts, ms(20))
                .then_resets(ms(20)),
        };
        let result = run(reading(2, WHOLE), World::new(Server::new().says(answer)));
        let failed = (odd.outcome != Outcome::Ok).then_some((odd.outcome, 2));
        failures(&result.summary, failed.as_slice());
        received(&result, 2, 2 * odd.events);
        let messages = &result.summary.total.messages;
        assert_eq!(
            messages.gaps_in_one_read(),
            2 * odd.together,
            "{}",
            odd.name
        );
    }
}
