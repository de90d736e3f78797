//! The targets of redirects, and the fields that are sent along.

use crate::{failures, ms, run, us};
use drumfire_measure::Outcome;
use drumfire_plan::{Guard, Header, Method, RedirectStyle, Redirects, Url};
use drumfire_testkit::{Answer, Draft, Law, Request, Server, World, closed};

/// A plan that follows a number of redirects, and has credentials.
fn following(limit: u32, url: &str) -> Draft {
    closed(2).to(&[url]).requests(20).with(|plan| {
        plan.http.redirects = Redirects::Follow(limit);
        // Names are looked up on threads, in real time, and virtual time does not wait for them.
        plan.timeouts.total = crate::secs(100_000);
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

/// A server that answers `/n` with a redirect to `/n-1`, and `/0` with 200.
fn countdown(status: u16) -> Server {
    Server::new()
        .takes(Law::Const(us(100)))
        .answers(move |request: &Request<'_>| {
            match request.target().trim_start_matches('/').parse::<u32>() {
                Ok(0) | Err(_) => Answer::ok(),
                Ok(n) => Answer::redirect(status, &format!("/{}", n - 1)),
            }
        })
}

#[test]
fn a_redirect_is_the_response_unless_told_otherwise() {
    let result = run(
        closed(1).to(&["http://sut/3"]).requests(10),
        World::new(countdown(302)),
    );
    let status: Vec<_> = result.summary.total.status().collect();
    assert_eq!(status, [(302, 10)]);
    assert_eq!(result.summary.total.counts.ok, 10);
    assert_eq!(result.log.requests, 10);
}

#[test]
fn redirects_are_followed_on_the_same_connection() {
    for status in [301, 302, 303, 307, 308] {
        let result = run(following(3, "http://sut/3"), World::new(countdown(status)));
        failures(&result.summary, &[]);
        let total = &result.summary.total;
        assert_eq!(
            total.status().collect::<Vec<_>>(),
            [(200, 20)],
            "one sample each"
        );
        assert_eq!(result.log.requests, 4 * 20);
        assert_eq!(result.log.connections, 2);
        assert_eq!(
            total.latency.service_time.max(),
            us(400),
            "the whole way counts"
        );
    }
}

#[test]
fn there_is_a_limit() {
    let result = run(following(3, "http://sut/4"), World::new(countdown(302)));
    failures(&result.summary, &[(Outcome::RedirectLimit, 20)]);
    assert_eq!(result.log.requests, 4 * 20);
    let to_itself = Server::new().says(Answer::redirect(302, "/"));
    let result = run(following(10, "http://sut/"), World::new(to_itself));
    failures(&result.summary, &[(Outcome::RedirectLimit, 20)]);
    assert_eq!(result.log.requests, 11 * 20);
}

#[test]
fn other_schemes_are_not_followed() {
    for location in [
        "file:///etc/passwd",
        "ftp://sut/",
        "gopher://sut/",
        "javascript:alert(1)",
    ] {
        let server = Server::new().says(Answer::redirect(302, location));
        let result = run(following(3, "http://sut/"), World::new(server));
        failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
        assert_eq!(result.log.requests, 20, "{location}");
    }
}

/// The server is to blame for a field with an invalid target.
#[test]
fn a_malformed_location_is_a_malformed_field() {
    for location in ["http://", "http://h:99999/", "http://[::1/"] {
        let server = Server::new().says(Answer::redirect(302, location));
        let result = run(following(3, "http://sut/"), World::new(server));
        failures(&result.summary, &[(Outcome::ProtoHeader, 20)]);
    }
}

#[test]
fn refusing_redirects_makes_them_failures() {
    let plan = following(0, "http://sut/1").with(|plan| plan.http.redirects = Redirects::Refuse);
    let result = run(plan, World::new(countdown(302)));
    failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
}

/// Two origins: the first redirects to the second. Both are in the plan, so that the second is
/// known before the run, because looking up a name takes a thread and real time.
fn two_origins(status: u16) -> World {
    let other = Server::new().takes(Law::Const(us(100)));
    World::new(Server::new().says(Answer::redirect(status, "http://other/landing")))
        .host("10.0.0.2:80", other)
        .name("other", &["10.0.0.2:80"])
        .keeps_requests()
}

#[test]
fn credentials_stay_with_their_origin() {
    let mut plan = following(3, "http://sut/start");
    let mut second = plan.requests[0].clone();
    second.url = Url::parse("http://other/direct").unwrap();
    plan.requests.push(second);
    let result = run(plan, two_origins(302));
    failures(&result.summary, &[]);
    let with = |part: &str, secret: &str| {
        let seen = result
            .log
            .seen
            .iter()
            .filter(|seen| seen.head.contains(part));
        seen.filter(|seen| seen.head.contains(secret)).count()
    };
    for (path, host) in [
        ("/start", "sut"),
        ("/direct", "other"),
        ("/landing", "other"),
    ] {
        assert_eq!(with(path, "X-Other: kept\r\n"), 10, "{path}");
        assert_eq!(with(path, &format!("Host: {host}\r\n")), 10, "{path}");
        let secrets = if path == "/landing" { 0 } else { 10 };
        for secret in ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token"] {
            assert_eq!(with(path, secret), secrets, "{path}: {secret}");
        }
    }
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
        let result = run(plan, World::new(countdown(status)).keeps_requests());
        failures(&result.summary, &[]);
        let landed: Vec<_> = result
            .log
            .seen
            .iter()
            .filter(|seen| seen.head.contains(" /0 "))
            .collect();
        assert_eq!(landed.len(), 20);
        for seen in landed {
            assert!(seen.head.starts_with(method), "{status}: {}", seen.head);
            assert_eq!(seen.body, if method == "GET" { 0 } else { 9 });
            assert_eq!(seen.head.contains("Content-Length"), method == "POST");
        }
    }
}

#[test]
fn in_gos_style_every_method_becomes_get_and_the_referer_is_named() {
    for (status, method, lands) in [
        (301, "PUT", "GET"),
        (302, "DELETE", "GET"),
        (303, "PUT", "GET"),
        (307, "PUT", "PUT"),
    ] {
        let plan = following(3, "http://sut/2").with(|plan| {
            plan.http.redirect_style = RedirectStyle::Go;
            plan.requests[0].url = Url::parse("http://u:p@sut/2").unwrap();
            plan.requests[0].method = Method::parse(method).unwrap();
        });
        let result = run(plan, World::new(countdown(status)).keeps_requests());
        failures(&result.summary, &[]);
        for (path, referer) in [("/1", "http://sut/2"), ("/0", "http://sut/1")] {
            let mut seen = result.log.seen.iter();
            let first = seen.find(|seen| seen.head.contains(&format!(" {path} ")));
            let head = &first.unwrap().head;
            assert!(head.starts_with(lands), "{status}: {head}");
            assert_eq!(head.matches("Referer").count(), 1, "{head}");
            assert!(head.contains(&format!("Referer: {referer}\r\n")), "{head}");
        }
        let is_first = |head: &str| head.contains(" /2 ");
        let mut seen = result.log.seen.iter();
        assert!(!seen.any(|seen| is_first(&seen.head) && seen.head.contains("Referer")));
    }
}

/// Go's client keeps the configured Host as long as redirects are relative.
#[test]
fn a_whole_url_names_the_host_in_gos_style() {
    for (style, location, host) in [
        (RedirectStyle::Go, "http://sut/end", "sut"),
        (RedirectStyle::Go, "/end", "h.test"),
        (RedirectStyle::Go, "//sut/end", "h.test"),
        (RedirectStyle::Fetch, "http://sut/end", "h.test"),
    ] {
        let plan = following(1, "http://sut/start").with(|plan| {
            plan.http.redirect_style = style;
            plan.requests[0].headers = vec![Header::new("Host", b"h.test").unwrap()];
        });
        let server = Server::new().answers(move |request| match request.target() {
            "/start" => Answer::redirect(302, location),
            _ => Answer::ok(),
        });
        let result = run(plan, World::new(server).keeps_requests());
        failures(&result.summary, &[]);
        let mut seen = result.log.seen.iter();
        let landed = seen.find(|seen| seen.head.contains(" /end ")).unwrap();
        let field = format!("Host: {host}\r\n");
        assert!(landed.head.contains(&field), "{location}: {}", landed.head);
    }
}

#[test]
fn a_redirect_that_closes_is_followed_on_a_new_connection() {
    for then in [ms(0), us(1), ms(30)] {
        let server = Server::new().answers(move |request| match request.target() {
            "/start" => Answer::with(302, "Location: /end\r\nConnection: close\r\n", b"")
                .then_closes(then)
                .is_last(),
            _ => Answer::ok(),
        });
        let result = run(following(1, "http://sut/start"), World::new(server));
        failures(&result.summary, &[]);
        assert_eq!(result.log.after_last, 0);
    }
}

#[test]
fn the_timeout_covers_all_hops() {
    let server = countdown(302).takes(Law::Const(ms(40)));
    let plan = following(10, "http://sut/9").with(|plan| plan.timeouts.total = ms(100));
    let result = run(plan, World::new(server));
    assert_eq!(result.summary.total.counts.timed_out, 20);
    assert!(result.summary.total.latency.failed.min() >= ms(100));
    assert!(result.summary.total.latency.failed.max() <= ms(102));
}

/// The plan sets the source addresses of connections: neither the network nor the target is to
/// blame.
#[test]
fn a_redirect_to_where_no_source_address_can_send_is_not_followed() {
    let plan = following(1, "http://sut/").with(|plan| {
        plan.reach.source_addresses = vec!["10.0.0.9".parse().expect("an address")];
    });
    let server = Server::new().says(Answer::redirect(302, "http://[2001:db8::1]/"));
    let result = run(plan, World::new(server));
    failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
    let errors = format!("{:?}", result.summary.total.errors());
    let message =
        "the source address 10.0.0.9 cannot reach 2001:db8::1: one is IPv4, the other IPv6";
    assert!(errors.contains(message), "{errors}");
}

/// A server redirects a load above the modest limit to a third party.
#[test]
fn a_redirect_to_a_public_address_is_blocked() {
    let server = Server::new().says(Answer::redirect(302, "http://victim/"));
    let world = World::new(server).name("victim", &["203.0.113.1:80"]);
    let plan = following(1, "http://sut/").with(|plan| plan.reach.guard = Some(Guard::default()));
    let result = run(plan, world);
    failures(&result.summary, &[(Outcome::RedirectBlocked, 20)]);
    assert_eq!(result.log.requests, 20);
}

#[test]
fn the_first_byte_is_that_of_the_last_response() {
    let server = countdown(302).takes(Law::Const(ms(2)));
    let result = run(following(3, "http://sut/3"), World::new(server));
    failures(&result.summary, &[]);
    let found = result.summary.total.latency.first_byte.min();
    assert!(found >= ms(8), "four responses of 2 ms each: {found}");
}
