//! The targets of redirects from streams, and the fields that are sent along.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::Outcome;
use drumfire_plan::{Header, Redirects, Url};
use drumfire_testkit::{
    Draft, Farewell, Http2Behaviour, LastId, Law, Network, RepliesAt, Reply, Request, Server,
    World, closed,
};

/// Two users on one connection, whose 20 requests follow a number of redirects and have
/// credentials.
fn following(limit: u32, url: &str) -> Draft {
    let plan = closed(2).connections(1).http2(2).to(&[url]).requests(20);
    plan.with(|plan| {
        plan.http.redirects = Redirects::Follow(limit);
        // Names are looked up on threads, in real time, and virtual time does not wait for them.
        plan.timeouts.total = secs(100_000);
        for (name, value) in [
            ("Authorization", "Bearer secret"),
            ("Cookie", "id=secret"),
            ("X-Api-Key", "secret"),
            ("X-Auth-Token", "secret"),
            ("X-Other", "kept"),
        ] {
            let header = Header::new(name, value.as_bytes()).expect("a field");
            plan.requests[0].headers.push(header);
        }
    })
}

fn redirect(status: u16, location: &str) -> Reply {
    Reply::head(status, &[("location", location)])
}

/// Answers `/n` with a redirect to `/n-1`, and `/0` with 200.
fn countdown(status: u16) -> Http2Behaviour {
    Http2Behaviour::new().answers(move |request: &Request<'_>| {
        match request.target().trim_start_matches('/').parse::<u32>() {
            Ok(0) | Err(_) => Reply::ok(),
            Ok(n) if n % 2 == 0 => redirect(status, &format!("/{}", n - 1)).ends(),
            Ok(n) => redirect(status, &format!("/{}", n - 1))
                .data(b"moved")
                .ends(),
        }
    })
}

fn world(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(us(100))))
}

/// As over HTTP/1.1, such a body is not read.
#[test]
fn the_body_of_a_redirect_need_not_be_whole() {
    let truncated = Http2Behaviour::new().answers(|request: &Request<'_>| match request.target() {
        "/0" => Reply::ok(),
        _ => {
            let fields = [("location", "/0"), ("content-encoding", "gzip")];
            Reply::head(302, &fields).data(&[0x1f, 0x8b, 8]).ends()
        }
    });
    let result = run(following(1, "http://sut/1"), world(truncated));
    failures(&result.summary, &[]);
    assert_eq!(result.log.requests, 2 * 20);
}

#[test]
fn redirects_are_followed_on_the_same_connection() {
    for status in [301, 302, 303, 307, 308] {
        let result = run(following(3, "http://sut/3"), world(countdown(status)));
        failures(&result.summary, &[]);
        let total = &result.summary.total;
        let statuses: Vec<_> = total.status().collect();
        assert_eq!(statuses, [(200, 20)], "one sample each");
        assert_eq!((result.log.requests, result.log.connections), (4 * 20, 1));
        let service_time = &total.latency.service_time;
        assert_eq!(service_time.max(), us(400), "the whole way counts");
    }
}

#[test]
fn there_is_a_limit_and_a_choice() {
    let result = run(following(3, "http://sut/4"), world(countdown(302)));
    failures(&result.summary, &[(Outcome::RedirectLimit, 20)]);
    assert_eq!(result.log.requests, 4 * 20);
    let refusing = |plan: Draft| plan.with(|plan| plan.http.redirects = Redirects::Refuse);
    let result = run(
        refusing(following(0, "http://sut/1")),
        world(countdown(302)),
    );
    failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
    let reporting = |plan: Draft| plan.with(|plan| plan.http.redirects = Redirects::Report);
    let result = run(
        reporting(following(0, "http://sut/1")),
        world(countdown(302)),
    );
    failures(&result.summary, &[]);
    assert_eq!(
        result.summary.total.status().collect::<Vec<_>>(),
        [(302, 20)]
    );
}

#[test]
fn other_schemes_are_not_followed() {
    for location in ["file:///etc/passwd", "ftp://sut/", "javascript:alert(1)"] {
        let script = Http2Behaviour::new().says(redirect(302, location).ends());
        let result = run(following(3, "http://sut/"), world(script));
        failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
        assert_eq!(result.log.requests, 20, "{location}");
    }
}

/// Two origins: the first redirects to the second. Both are in the plan, so that the second is
/// known before the run, because looking up a name takes a thread and real time.
fn two_origins(other: Server) -> (Draft, World) {
    let mut plan = following(3, "http://sut/start");
    let mut second = plan.requests[0].clone();
    second.url = Url::parse("http://other/direct").expect("a URL");
    plan.requests.push(second);
    let world = world(Http2Behaviour::new().says(redirect(302, "http://other/landing").ends()))
        .host("10.0.0.2:80", other)
        .name("other", &["10.0.0.2:80"])
        .keeps_requests();
    (plan, world)
}

#[test]
fn credentials_stay_with_their_origin() {
    let other = Server::http2(Http2Behaviour::new()).takes(Law::Const(us(100)));
    let (plan, world) = two_origins(other);
    let result = run(plan, world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 20);
    // One connection for each origin, and one for requests that are redirected from the first
    // origin's connection.
    assert_eq!((result.log.requests, result.log.connections), (30, 3));
    let with = |part: &str, secret: &str| {
        let seen = result.log.seen.iter();
        let seen = seen.filter(|seen| seen.head.contains(part));
        seen.filter(|seen| seen.head.contains(secret)).count()
    };
    for (path, secrets) in [("/start", 10), ("/direct", 10), ("/landing", 0)] {
        assert_eq!(with(path, "x-other: kept\r\n"), 10, "{path}");
        for secret in ["authorization", "cookie", "x-api-key", "x-auth-token"] {
            assert_eq!(with(path, secret), secrets, "{path}: {secret}");
        }
    }
}

#[test]
fn a_redirect_into_nothing_fails_that_request_alone() {
    let (plan, world) = two_origins(Server::refusing());
    let result = run(plan, world);
    // Ten requests go there directly, ten are redirected there; none of them hangs.
    failures(&result.summary, &[(Outcome::ConnectRefused, 20)]);
    assert_eq!(result.log.requests, 10);
}

#[test]
fn a_post_becomes_a_get_where_the_status_says_so() {
    for (status, method) in [
        (301, "GET"),
        (302, "GET"),
        (303, "GET"),
        (307, "POST"),
        (308, "POST"),
    ] {
        let plan = following(3, "http://sut/1").posting(b"some body");
        let result = run(plan, world(countdown(status)).keeps_requests());
        failures(&result.summary, &[]);
        let seen = result.log.seen.iter();
        let landed: Vec<_> = seen.filter(|seen| seen.head.contains(" /0 ")).collect();
        assert_eq!(landed.len(), 20);
        for seen in landed {
            assert!(seen.head.starts_with(method), "{status}: {}", seen.head);
            assert_eq!(seen.body, if method == "GET" { 0 } else { 9 });
            assert_eq!(seen.head.contains("content-length"), method == "POST");
        }
    }
}

#[test]
fn a_redirect_before_the_body_is_whole_leaves_the_rest_unsent() {
    let script = countdown(303)
        .stream_window(1000)
        .replies_at(RepliesAt::Head);
    let plan = following(1, "http://sut/1").posting(&[b'x'; 100_000]);
    let far = world(script).network(Network::each_way(ms(1)));
    let result = run(plan, far);
    failures(&result.summary, &[]);
    assert_eq!((result.log.requests, result.log.connections), (40, 1));
    assert_eq!(result.log.cancelled, 20);
}

#[test]
fn the_timeout_covers_all_hops() {
    let server = Server::http2(countdown(302)).takes(Law::Const(ms(40)));
    let plan = following(10, "http://sut/9").with(|plan| plan.timeouts.total = ms(100));
    let result = run(plan, World::new(server));
    assert_eq!(result.summary.total.counts.timed_out, 20);
    let failed = &result.summary.total.latency.failed;
    assert!(failed.min() >= ms(100) && failed.max() <= ms(102));
}

#[test]
fn a_server_that_goes_away_loses_no_hop() {
    let script = countdown(302).goes_away(6, LastId::Of(9), 0, Farewell::WhenDone);
    let result = run(following(3, "http://sut/3"), world(script));
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 20);
    // Each connection serves five streams, and the request that it does not serve is sent once
    // more.
    assert_eq!(result.log.requests, 4 * 20);
    assert_eq!(result.log.connections, 16);
}

#[test]
fn a_head_has_its_time_on_every_hop() {
    let timeouts = |plan: Draft| {
        plan.with(|plan| {
            plan.timeouts.total = secs(10);
            plan.timeouts.head = ms(50);
        })
    };
    let slow = |time| World::new(Server::http2(countdown(302)).takes(Law::Const(time)));
    let result = run(timeouts(following(9, "http://sut/9")), slow(ms(40)));
    failures(&result.summary, &[]);
    let result = run(timeouts(following(9, "http://sut/9")), slow(ms(60)));
    failures(&result.summary, &[(Outcome::TimeoutHead, 20)]);
    let failed = &result.summary.total.latency.failed;
    assert!(
        failed.min() >= ms(50) && failed.max() <= ms(52),
        "{failed:?}"
    );
}
