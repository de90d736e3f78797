//! Ends of connections that no case of the corpus covers: TLS without close_notify.

use drumfire_http1::{Error, Limits, Machine, Notice, Persistence, RequestKind, Shared};

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
