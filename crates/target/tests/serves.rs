//! What a client sees of a plain server.

mod client;

use client::{Client, Reply, start};
use drumfire_target::Options;

#[test]
fn keep_alive_gets_one_body_after_another() {
    let server = start(Options::default());
    let mut client = Client::connect(&server);
    for _ in 0..3 {
        let Reply { status, body, .. } = client.get("/");
        assert_eq!((status, body.len()), (200, 100));
    }
    assert_eq!(client.get("/plaintext").body, b"Hello, World!");
    assert_eq!(client.get("/?size=70000").body.len(), 70_000);
    assert_eq!(client.get("/?size=3MB").body.len(), 3_000_000);
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (6, 6));
    assert_eq!((counters.connections, counters.connections_ended), (1, 1));
}
