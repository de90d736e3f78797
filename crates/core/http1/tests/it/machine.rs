//! What no case of the corpus covers: TLS without close_notify, and the upgrade to another protocol.

use drumfire_http1::{
    BodyKind, Error, Event, Limits, Machine, Notice, Persistence, RequestKind, Shared,
};

/// A machine that has read this part of a response.
fn after(text: &str) -> Machine {
    let mut machine = Machine::new();
    machine.send(RequestKind::Normal, Persistence::KeepAlive);
    let mut shared = Shared::new(Limits::default());
    let mut input = text.as_bytes();
    while !input.is_empty() {
        let step = machine.handle_input(input, &mut shared).expect(text);
        let consumed = step.consumed;
        input = &input[consumed..];
    }
    machine
}

#[test]
fn an_unconfirmed_end_completes_only_a_body_without_a_length() {
    let ended = after("HTTP/1.1 200 OK\r\n\r\nbody").handle_unconfirmed_end();
    let end = ended.expect("a body that ends").expect("a response");
    assert!(end.notices.contains(Notice::NoCloseNotify) && !end.reusable);
    for cut in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
    ] {
        let ended = after(cut).handle_unconfirmed_end();
        assert!(matches!(ended, Err(Error::Truncated(_))), "{cut}");
    }
    let ended = after("HTTP/1.1 2").handle_unconfirmed_end();
    assert!(ended.is_err());
    // An end that the peer has confirmed needs no notice.
    let end = after("HTTP/1.1 200 OK\r\n\r\nbody").handle_end();
    let end = end.expect("a body that ends").expect("a response");
    assert!(!end.notices.contains(Notice::NoCloseNotify));
}

/// The events of a response to a request for another protocol, and the bytes that are left.
fn upgrade(text: &str, size: usize) -> (Vec<String>, String) {
    let mut machine = Machine::new();
    machine.send(RequestKind::Upgrade, Persistence::KeepAlive);
    let mut shared = Shared::new(Limits::default());
    let (mut events, mut consumed) = (Vec::new(), 0);
    let mut end = 0;
    while end < text.len() && !machine.is_idle() {
        end = (end + size).min(text.len());
        loop {
            let input = &text.as_bytes()[consumed..end];
            let step = machine.handle_input(input, &mut shared).expect(text);
            consumed += step.consumed;
            match step.event {
                Event::NeedInput => break,
                Event::Interim(status) => events.push(format!("interim {status}")),
                Event::Head(head) => {
                    let is_tunnel = head.body == BodyKind::Tunnel;
                    let upgrade = head.headers.iter().any(|(name, _)| name == "Upgrade");
                    events.push(format!("head {} {is_tunnel} {upgrade}", head.status));
                }
                Event::Body(bytes) => events.push(format!("body {}", bytes.len())),
                Event::End(end) => {
                    events.push(format!("end {}", end.reusable));
                    break;
                }
            }
        }
    }
    (events, text[consumed..].to_owned())
}

#[test]
fn a_tunnel_follows_a_101_that_was_asked_for() {
    let text = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\nContent-Length: 9\r\n\r\nrest";
    for size in 1..=text.len() {
        let (events, rest) = upgrade(text, size);
        assert_eq!(events, ["interim 103", "head 101 true true", "end true"]);
        assert!("rest".starts_with(&rest) && (size < text.len() || rest == "rest"));
    }
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let (events, rest) = upgrade(text, text.len());
    assert_eq!(events, ["head 200 false false", "body 2", "end true"]);
    assert_eq!(rest, "");
}
