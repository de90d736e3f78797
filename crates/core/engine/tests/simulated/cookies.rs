//! Cookies: each user has separate ones, keeps them as long as the plan specifies, and sends them
//! to the right targets.

use crate::{failures, ms, run};
use drumfire_plan::{Cookies, Header, OnFailure, Program, Redirects, Retry, Step};
use drumfire_testkit::{
    Answer, Draft, Http2Behaviour, Law, Reply, Request, Server, Simulated, World, closed, open,
};
use std::collections::BTreeMap;
use std::sync::Arc;

fn steps(count: u32) -> Program {
    let send = |request| Step::Request {
        request,
        retry: Retry::default(),
        on_failure: OnFailure::Continue,
        takes: Arc::default(),
    };
    Program::of_steps((0..count).map(send).collect())
}

/// Logs in, and then sends two more requests.
fn shop(plan: Draft, cookies: Cookies) -> Draft {
    plan.to(&["http://sut/login", "http://sut/list", "http://sut/cart"])
        .with(|pool| {
            pool.program = steps(3);
            pool.cookies = cookies;
        })
}

/// Gives each login without a session a new session, and refuses all other requests without a
/// session.
fn answer(request: &Request<'_>) -> Answer {
    match request.header("cookie") {
        Some(cookie) if cookie.starts_with("sid=s") => Answer::ok(),
        None if request.target() == "/login" => {
            let lines = format!("Set-Cookie: sid=s{}; Path=/\r\n", request.index);
            Answer::with(200, &lines, b"")
        }
        _ => Answer::status(403),
    }
}

fn world() -> World {
    let server = Server::new().takes(Law::Const(ms(10)));
    World::new(server.answers(answer)).keeps_requests()
}

/// The number of logins without a cookie, and the number of other requests in each session.
fn sessions(result: &Simulated) -> (usize, BTreeMap<String, usize>) {
    let mut new = 0;
    let mut sent = BTreeMap::new();
    for request in &result.log.seen {
        let head = request.head.to_lowercase();
        match head.lines().find_map(|line| line.strip_prefix("cookie: ")) {
            Some(cookie) => *sent.entry(cookie.to_owned()).or_default() += 1,
            None => new += 1,
        }
    }
    (new, sent)
}

#[test]
fn a_user_keeps_its_own_cookies() {
    for threads in [1, 3] {
        let plan = shop(closed(6).threads(threads).iterations(30), Cookies::User);
        let result = run(plan, world());
        failures(&result.summary, &[]);
        let (new, sent) = sessions(&result);
        // Each thread has a separate server, which counts from 0.
        assert_eq!((new, sent.len()), (6, 6 / threads as usize), "{sent:?}");
        assert_eq!(sent.values().sum::<usize>(), 90 - 6);
        // Users share connections, but not cookies.
        let plan = shop(closed(6).threads(threads).iterations(30), Cookies::User).connections(3);
        failures(&run(plan, world()).summary, &[]);
    }
}

#[test]
fn cookies_of_an_iteration_end_with_it() {
    for plan in [
        closed(6).iterations(30),
        open("const(30/s,1s)").connections(6),
    ] {
        let result = run(shop(plan, Cookies::Iteration), world());
        failures(&result.summary, &[]);
        let (new, sent) = sessions(&result);
        assert_eq!((new, sent.len()), (30, 30));
        assert!(sent.values().all(|count| *count == 2), "{sent:?}");
    }
}

#[test]
fn cookies_are_ignored_unless_the_plan_keeps_them() {
    let result = run(shop(closed(2).iterations(4), Cookies::Ignore), world());
    let (new, sent) = sessions(&result);
    assert_eq!((new, sent.len()), (12, 0));
}

#[test]
fn a_list_of_requests_has_cookies_too() {
    let plan = shop(closed(3).requests(30), Cookies::User);
    let result = run(plan.with(|pool| pool.program = Program::default()), world());
    let (new, sent) = sessions(&result);
    // A user whose first request is not a login is refused, and continues.
    assert!(
        new >= 3 && sent.len() <= 3 && !sent.is_empty(),
        "{new} {sent:?}"
    );
}

#[test]
fn a_cookie_of_the_plan_stands_above_what_a_response_gives() {
    let plan = shop(closed(1).iterations(2), Cookies::User).with(|pool| {
        let field = Header::new("Cookie", b"sid=stolen").expect("a field");
        pool.requests[2].headers.push(field);
    });
    let result = run(plan, world());
    failures(&result.summary, &[]);
    let (_, sent) = sessions(&result);
    assert_eq!((sent["sid=s0"], sent["sid=stolen"]), (3, 2));
}

#[test]
fn redirects_give_cookies_and_carry_those_of_where_they_lead() {
    let server = Server::new().answers(|request| match request.target() {
        "/login" => Answer::with(
            302,
            "Location: /home\r\nSet-Cookie: sid=s1\r\nSet-Cookie: other=x; Path=/other\r\n",
            b"",
        ),
        _ => answer(request),
    });
    let plan = shop(closed(1).iterations(2), Cookies::User).with(|pool| {
        pool.http.redirects = Redirects::Follow(3);
    });
    let result = run(plan, World::new(server).keeps_requests());
    failures(&result.summary, &[]);
    let heads: Vec<&String> = result.log.seen.iter().map(|seen| &seen.head).collect();
    let cookies: Vec<bool> = heads
        .iter()
        .map(|head| head.to_lowercase().contains("cookie: sid=s1\r\n"))
        .collect();
    assert_eq!(cookies, [false, true, true, true, true, true, true, true]);
}

#[test]
fn streams_carry_cookies() {
    let fields = [("set-cookie", "sid=s1; Path=/")];
    let server = Server::http2(Http2Behaviour::new().says(Reply::head(200, &fields).ends()));
    let plan = shop(closed(4), Cookies::User)
        .connections(2)
        .http2(2)
        .iterations(8);
    let result = run(plan, World::new(server).keeps_requests());
    failures(&result.summary, &[]);
    let with = result
        .log
        .seen
        .iter()
        .filter(|seen| seen.head.contains("cookie: sid=s1"));
    assert_eq!((with.count(), result.log.seen.len()), (24 - 4, 24));
}
