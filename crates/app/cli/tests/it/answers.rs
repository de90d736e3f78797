//! Servers that respond badly, slowly or with too much data: each case has one outcome, and never a
//! wrong `ok`.

use crate::support::script::Peer;
use crate::support::{Folder, PATIENCE, Script, in_time, load, punctually};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read as _, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n";

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A server's script for one connection, the flags of two requests to it, and their outcome: `ok`,
/// `ok+LENIENCY`, a status, or a kind of failure.
struct Row {
    name: &'static str,
    flags: &'static str,
    outcome: &'static str,
    serve: fn(&mut Peer),
}

const fn row(
    name: &'static str,
    flags: &'static str,
    outcome: &'static str,
    serve: fn(&mut Peer),
) -> Row {
    Row {
        name,
        flags,
        outcome,
        serve,
    }
}

/// Sends bytes one at a time, until the client closes.
fn drip(peer: &mut Peer, bytes: &[u8], pause: Duration) {
    peer.stream.get_ref().set_nodelay(true).unwrap();
    for byte in bytes {
        if peer.is_over() || !peer.send([*byte]) {
            return;
        }
        sleep(pause);
    }
}

/// Sends the same bytes forever.
fn flood(peer: &mut Peer, bytes: &[u8]) {
    let many = bytes.repeat(1_000);
    while !peer.is_over() && peer.send(&many) {}
}

/// Answers each request with these bytes and continues to read.
fn answer(peer: &mut Peer, bytes: &[u8]) {
    while peer.request().is_some() && peer.send(bytes) {}
}

/// Reads only the head of a request.
fn read_head(peer: &mut Peer) {
    let mut piece = [0; 1024];
    let _some = peer.stream.get_mut().read(&mut piece);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn encoded(codings: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {codings}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A body that decompresses to 80 MiB. It is built only once, because that takes longer than some
/// timeouts.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| encoded("gzip", &gzip(&vec![0; 80 << 20])));

const ROWS: [Row; 33] = [
    row("one byte a millisecond", "", "ok", |peer| {
        while peer.request().is_some() {
            drip(peer, OK.as_bytes(), ms(1));
        }
    }),
    row(
        "no answer",
        "--head-timeout 300ms",
        "timeout:head",
        |peer| {
            peer.request();
            peer.hold();
        },
    ),
    row(
        "a head that never ends, slowly",
        "--head-timeout 300ms",
        "timeout:head",
        |peer| {
            peer.request();
            drip(peer, &[b'a'; 200].repeat(9), ms(20));
        },
    ),
    row(
        "a proper head, slowly",
        "--head-timeout 300ms",
        "timeout:head",
        |peer| {
            peer.request();
            drip(
                peer,
                b"HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                ms(20),
            );
            peer.hold();
        },
    ),
    row(
        "a body that trickles",
        "--timeout 1500ms",
        "timeout:body",
        |peer| {
            peer.request();
            peer.send(HEAD);
            drip(peer, &[b'b'; 100], ms(20));
            peer.hold();
        },
    ),
    row(
        "a body that stops",
        "--timeout 1500ms",
        "timeout:body",
        |peer| {
            peer.request();
            peer.send(HEAD.to_owned() + "some");
            peer.hold();
        },
    ),
    row(
        "a body without end",
        "--timeout 4s",
        "timeout:total",
        |peer| {
            peer.request();
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            flood(peer, b"5\r\nhello\r\n");
        },
    ),
    row(
        "header fields without end",
        "",
        "limit:header_count",
        |peer| {
            peer.request();
            peer.send("HTTP/1.1 200 OK\r\n");
            flood(peer, b"X: y\r\n");
        },
    ),
    row("one header field without end", "", "limit:head", |peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nX: ");
        flood(peer, b"yyyyyyyyyyyyyyyyyyyyyy");
    }),
    row(
        "interim responses without end",
        "",
        "limit:interim",
        |peer| {
            peer.request();
            flood(peer, b"HTTP/1.1 103 Early Hints\r\n\r\n");
        },
    ),
    row("two responses for one request", "", "ok+excess", |peer| {
        answer(peer, OK.repeat(2).as_bytes());
    }),
    row("an empty response and a close", "", "closed", |peer| {
        peer.request();
    }),
    row("half a head", "", "closed:in_head", |peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Le");
    }),
    row("half a body", "", "truncated", |peer| {
        peer.request();
        peer.send(HEAD.to_owned() + "some");
    }),
    row("a reset in place of a response", "", "reset", |peer| {
        peer.request();
        peer.reset();
    }),
    row("a reset within the body", "", "truncated", |peer| {
        peer.request();
        peer.send(HEAD.to_owned() + "some");
        peer.await_read();
        peer.reset();
    }),
    row("a body to the end of the connection", "", "ok", |peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    }),
    row("response and end in one piece", "", "ok", |peer| {
        peer.request();
        peer.in_one_piece();
        peer.send(OK);
        peer.shut_down_write();
        peer.hold();
    }),
    row("an announced close that does not come", "", "ok", |peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        peer.hold();
    }),
    row("a HEAD with a body", "-X HEAD", "ok+excess", |peer| {
        answer(peer, OK.as_bytes());
    }),
    row("a 204 with a body", "", "ok+excess", |peer| {
        answer(
            peer,
            b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
        );
    }),
    row("a failure by its status", "", "503", |peer| {
        answer(peer, b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno");
    }),
    row("no HTTP at all", "", "proto:not_http", |peer| {
        answer(peer, b"SSH-2.0-OpenSSH_9.2\r\n");
    }),
    row(
        "a refusal before the whole body is read",
        "-d @BODY",
        "413",
        |peer| {
            read_head(peer);
            peer.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            peer.shut_down_write();
            peer.hold();
        },
    ),
    row(
        "a reset within the request's body",
        "-d @BODY",
        "send",
        |peer| {
            read_head(peer);
            peer.reset();
        },
    ),
    row(
        "a server that stops reading",
        "-d @BODY --timeout 1500ms",
        "timeout:total",
        |peer| {
            read_head(peer);
            while !peer.is_over() {
                sleep(ms(20));
            }
        },
    ),
    row("a compressed body", "--compressed", "ok", |peer| {
        answer(peer, &encoded("gzip", &gzip(&[b'a'; 100_000])));
    }),
    row("two gzip members", "--compressed", "ok", |peer| {
        answer(
            peer,
            &encoded("gzip", &[gzip(b"one"), gzip(b"two")].concat()),
        );
    }),
    row(
        "garbage behind a gzip member",
        "--compressed",
        "decode",
        |peer| {
            answer(
                peer,
                &encoded("gzip", &[gzip(b"one"), b"garbage".to_vec()].concat()),
            );
        },
    ),
    row("fifty codings", "--compressed", "decode", |peer| {
        answer(peer, &encoded(&["gzip"; 50].join(", "), &gzip(b"one")));
    }),
    row("a body that is no gzip", "--compressed", "decode", |peer| {
        answer(peer, &encoded("gzip", b"plain text, in truth"));
    }),
    row("a bomb that nobody decodes", "", "ok", |peer| {
        answer(peer, &BOMB);
    }),
    row("a bomb", "--compressed", "limit:decoded", |peer| {
        answer(peer, &BOMB);
    }),
];

/// Two consecutive requests have the outcome. Bytes after the first response are never the response
/// to the second request. Some rows wait for a timeout that is long compared with the delays of a
/// busy machine, so three rows run in parallel.
#[test]
fn every_bad_answer_has_its_outcome() {
    const LANES: usize = 3;
    LazyLock::force(&BOMB);
    let folder = Folder::new();
    let body = &folder.write("body", vec![b'x'; 10 << 20]);
    let wrong: Vec<String> = thread::scope(|scope| {
        let lane = |n| ROWS.iter().skip(n).step_by(LANES);
        let lanes: Vec<_> = (0..LANES)
            .map(|n| scope.spawn(move || lane(n).filter_map(|row| wrong(row, body)).collect()))
            .collect();
        let found = lanes.into_iter().map(|lane| lane.join().unwrap());
        found.collect::<Vec<Vec<String>>>().concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The mistake in the outcomes of a row's requests.
fn wrong(row: &Row, body: &str) -> Option<String> {
    let script = Script::new(row.serve);
    let flags = row.flags.replace("BODY", body);
    let timeout = match flags.contains("--timeout") {
        true => "",
        false => "--timeout 20s",
    };
    let report = load(&format!("-c 1 -n 2 {timeout} {flags} {}", script.url()));
    let (kind, leniency) = row.outcome.split_once('+').unwrap_or((row.outcome, ""));
    let seen = match (kind, kind.parse()) {
        ("ok", _) => report.n("requests.ok"),
        (_, Ok(status)) => report.status(status),
        (kind, _) => report.kind(kind),
    };
    let leniencies = report.at("leniencies").as_object().unwrap();
    let forgiven: Vec<&String> = leniencies.keys().collect();
    let expected: Vec<&str> = Some(leniency)
        .filter(|l| !l.is_empty())
        .into_iter()
        .collect();
    (seen != 2 || forgiven != expected).then(|| {
        format!(
            "{}: wanted {}, forgiven {forgiven:?}: {:#}",
            row.name,
            row.outcome,
            report.short()
        )
    })
}

/// A timeout occurs at the requested time, never before, and the latency record keeps it. The delay
/// depends on the machine; tests with virtual time check it to the nanosecond.
#[test]
fn timeouts_come_in_time_and_stay_in_the_record() {
    let silent = Script::new(|peer| {
        peer.request();
        peer.hold();
    });
    let mute = Script::new(Peer::hold);
    let tls = mute.url().replace("http:", "https:");
    // The total time includes the opening of a connection, and drumfire waits for a handshake that
    // does not end.
    for (line, kind, part) in [
        (
            format!("--head-timeout 1s {}", silent.url()),
            "timeout:head",
            "service_time",
        ),
        (
            format!("--timeout 1s {}", silent.url()),
            "timeout:head",
            "response_time",
        ),
        (format!("--tls-timeout 1s {tls}"), "timeout:tls", "waiting"),
    ] {
        let report = load(&format!("-c 4 -n 8 {line}"));
        assert_eq!(report.kind(kind), 8, "{line}: {:#}", report.short());
        assert_eq!(report.n("requests.timed_out"), 8);
        let most = PATIENCE.as_secs_f64();
        for end in ["min", "max"] {
            let time = report.number(&format!("latency.failed.{end}")) / 1e9;
            assert!((1.0..most).contains(&time), "{line}: {end} {time} s");
            let time = report.number(&format!("latency.{part}.{end}")) / 1e9;
            assert!(
                (0.98..most).contains(&time),
                "{line}: {end} {time} s in the record"
            );
        }
    }
}

/// RST inside the body of every response, of every second one, and of one in a hundred: the count
/// is exact.
#[test]
fn resets_within_bodies_are_counted_exactly() {
    for (every, requests) in [(1, 20), (2, 40), (100, 300)] {
        let count = AtomicU64::new(0);
        let script = Script::new(move |peer| {
            while peer.request().is_some() {
                if (count.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(every) {
                    peer.send(HEAD.to_owned() + "some");
                    peer.await_read();
                    return peer.reset();
                }
                peer.send(OK);
            }
        });
        let report = load(&format!("-c 2 -n {requests} {}", script.url()));
        assert_eq!(
            report.kind("truncated"),
            requests / every,
            "{:#}",
            report.short()
        );
        assert_eq!(report.n("requests.ok"), requests - requests / every);
    }
}

/// A kept-alive connection that the server closes when the next request arrives: within 10 ms, so
/// the machine must be punctual.
#[test]
fn closed_on_reuse_is_counted_apart_and_sent_again_only_on_demand() {
    let once = |peer: &mut Peer| {
        if peer.request().is_some() {
            peer.send(OK);
            peer.request();
        }
    };
    for (flags, kind, ok) in [
        ("", "closed:reused", 10),
        ("--retry-reused", "", 20),
        ("--retry-reused -X POST", "closed:reused", 10),
    ] {
        punctually(ms(10), || {
            let script = Script::new(once);
            let report = load(&format!("-c 1 -n 20 {flags} {}", script.url()));
            let late = report.kind("closed");
            assert_eq!(
                report.n("requests.ok") + report.n("requests.failed"),
                20,
                "{flags}"
            );
            let is_retried = report.n("requests.retried") > 0;
            assert!(late > 0 || is_retried == kind.is_empty(), "{flags}");
            let kinds = if kind.is_empty() { vec![] } else { vec![kind] };
            let is_so = report.n("requests.ok") == ok && report.kinds() == kinds;
            in_time(is_so, || format!("{flags}: {:#}", report.short()))
        });
    }
}

/// A handler that takes some time and then closes the connection has received the request, so the
/// request runs only once.
#[test]
fn a_request_that_was_worked_on_is_not_sent_again() {
    let script = Script::new(|peer| {
        if peer.request().is_some() {
            peer.send(OK);
            if peer.request().is_some() {
                sleep(ms(50));
            }
        }
    });
    let report = load(&format!("-c 1 -n 20 --retry-reused {}", script.url()));
    assert_eq!(report.n("requests.ok"), 10, "{:#}", report.short());
    assert_eq!(report.kinds(), ["closed"], "{:#}", report.short());
    assert_eq!(report.n("requests.retried"), 0);
}

/// If bytes arrive on an idle connection, the connection is not used again.
#[test]
fn an_unasked_response_spoils_its_connection_and_no_request() {
    // The next request comes long after each response.
    punctually(ms(500), || {
        let script = Script::new(|peer| {
            while peer.request().is_some() {
                peer.send(OK);
                sleep(ms(20));
                peer.send("HTTP/1.1 500 Unasked\r\nContent-Length: 0\r\n\r\n");
            }
        });
        let report = load(&format!("-c 1 -r 1 -n 4 {}", script.url()));
        let [ok, unasked] = [200, 500].map(|status| report.status(status));
        assert_eq!(ok + unasked, 4, "{:#}", report.short());
        in_time((ok, script.connections()) == (4, 4), || {
            format!("{:#}", report.short())
        })
    });
}

/// A server that ignores `Expect` gets the body after a second; one that agrees gets the body at
/// once.
#[test]
fn expectations_wait_for_a_second_and_no_longer() {
    let agreeing = Script::new(|peer| {
        peer.send("HTTP/1.1 100 Continue\r\n\r\n");
        if peer.request().is_some() {
            peer.send(OK);
        }
    });
    let ignoring = Script::new(|peer| while peer.request().is_some() && peer.send(OK) {});
    for (script, least, most) in [(&agreeing, 0.0, 1.0), (&ignoring, 1.0, 6.0)] {
        punctually(ms(900), || {
            let report = load(&format!(
                "-c 1 -n 1 -d body --expect-continue {}",
                script.url()
            ));
            assert_eq!(report.n("requests.ok"), 1, "{:#}", report.short());
            let time = report.number("latency.service_time.max") / 1e9;
            assert!(time >= least, "{time} s");
            assert!(
                script.heads()[0]
                    .to_lowercase()
                    .contains("\r\nexpect: 100-continue\r\n")
            );
            in_time(time < most, || format!("{time} s"))
        });
    }
}
