//! Requests that vary: the server receives each as rendered, once for each exchange.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::Outcome;
use drumfire_plan::{
    Body, CallKind, DataError, ExpectContinue, Header, KeepAlive, Method, Proxy, Redirects,
    RenderedFields, RequestContext, RequestData, ReusedClosed, Tunnels, Url, Varying,
};
use drumfire_testkit::{
    Answer, Draft, Expecting, Farewell, Http2Behaviour, LastId, Law, Reply, Request, Said, Server,
    Simulated, World, closed, open,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The varying parts: all, by default.
#[derive(Debug, Default)]
struct Everything {
    host: bool,
    /// The fixed ends of the target, and of a field's value.
    target_end: &'static str,
    value_end: &'static str,
    body_length: usize,
    fails: bool,
    /// Every context that was rendered.
    rendered: Mutex<Vec<RequestContext>>,
}

impl RequestData for Everything {
    fn varying(&self) -> Varying {
        Varying {
            target: true,
            host: self.host,
            fields: true,
            body: self.body_length > 0,
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        self.rendered.lock().expect("a lock").push(request.clone());
        if self.fails {
            return Err(DataError::new("no row"));
        }
        let end = self.target_end;
        out.push_str(&format!("/n{}?u={}{end}", request.number, request.user));
        Ok(())
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        if self.host {
            out.push("Host", &format!("h{}.test", request.number))?;
        }
        let RequestContext {
            number,
            user,
            iteration,
            connection,
            now,
            ..
        } = request;
        let end = self.value_end;
        out.push_with("X-Of", |value| {
            value.push_str(&format!(
                "{number} {user} {iteration} {connection} {now}{end}"
            ));
            Ok(())
        })
    }

    fn message(
        &self,
        request: &RequestContext,
        _: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        out.resize(self.body_length, b'a' + (request.number % 26) as u8);
        Ok(())
    }
}

/// A plan in which all requests vary.
fn varying(plan: Draft, data: &Arc<Everything>) -> Draft {
    let data = Arc::clone(data);
    plan.with(|pool| {
        for request in &mut pool.requests {
            if data.body_length > 0 {
                request.method = Method::parse("POST").expect("a token");
                request.body = Body(Some(Arc::default()));
            }
            request.data = Some(Arc::clone(&data) as Arc<dyn RequestData>);
        }
    })
}

/// The received parts of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Arrived {
    target: String,
    host: String,
    of: String,
    length: Option<usize>,
    body: Vec<u8>,
}

/// Everything that arrives at a server.
type Arrivals = Arc<Mutex<Vec<Arrived>>>;

fn note(request: &Request<'_>, into: &Arrivals) {
    let field = |name| request.header(name).unwrap_or_default().to_owned();
    into.lock().expect("a lock").push(Arrived {
        target: request.target().to_owned(),
        host: field("host"),
        of: field("x-of"),
        length: request
            .header("content-length")
            .and_then(|n| n.parse().ok()),
        body: request.body.to_vec(),
    });
}

/// A server of either protocol that records the requests that arrive.
fn noting(http2: bool, into: &Arrivals) -> Server {
    let into = Arc::clone(into);
    let server = if http2 {
        Server::http2(Http2Behaviour::new().answers(move |request| {
            note(request, &into);
            Reply::ok()
        }))
    } else {
        Server::new().answers(move |request| {
            note(request, &into);
            Answer::ok()
        })
    };
    server.takes(Law::Const(ms(1)))
}

/// The numbers 0, 1, 2, … in the rendered parts of each request.
fn rendered_numbers(arrived: &Arrived) -> [u64; 5] {
    let numbers: Vec<u64> = arrived
        .of
        .split(' ')
        .map(|n| n.parse().expect("a number"))
        .collect();
    numbers.try_into().expect("five")
}

#[test]
fn what_arrives_is_what_was_rendered() {
    for (http2, threads, length) in [
        (false, 1, 0),
        (false, 2, 10),
        (false, 1, 40_000),
        (true, 1, 0),
        (true, 2, 10),
        (true, 1, 100_000),
    ] {
        let arrivals = Arrivals::default();
        let data = Arc::new(Everything {
            host: threads == 2,
            body_length: length,
            ..Everything::default()
        });
        let plan = closed(4).requests(200).connections(2).threads(threads);
        let plan = if http2 { plan.http2(2) } else { plan };
        let result = run(varying(plan, &data), World::new(noting(http2, &arrivals)));
        failures(&result.summary, &[]);
        let mut arrived = arrivals.lock().expect("a lock").clone();
        arrived.sort_by_key(|one| rendered_numbers(one)[0]);
        assert_eq!(arrived.len(), 200);
        for (n, one) in (0..).zip(&arrived) {
            let [number, user, ..] = rendered_numbers(one);
            assert_eq!(number, n, "http2 {http2}, {threads} threads");
            assert_eq!(one.target, format!("/n{n}?u={user}"));
            let host = if data.host {
                format!("h{n}.test")
            } else {
                "sut".to_owned()
            };
            assert!(http2 || one.host == host, "{}", one.host);
            assert_eq!(one.body, vec![b'a' + (n % 26) as u8; length]);
            assert_eq!(one.length, (length > 0).then_some(length));
        }
    }
}

#[test]
fn users_iterations_and_connections_are_the_runs() {
    for (http2, threads) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let arrivals = Arrivals::default();
        let data = Arc::new(Everything::default());
        let plan = closed(4)
            .requests(400)
            .connections(if http2 { 2 } else { 4 });
        let plan = plan.threads(threads);
        let plan = if http2 { plan.http2(2) } else { plan };
        let result = run(varying(plan, &data), World::new(noting(http2, &arrivals)));
        failures(&result.summary, &[]);
        let mut users: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut connections = BTreeMap::new();
        for one in arrivals.lock().expect("a lock").iter() {
            let [_, user, iteration, connection, _] = rendered_numbers(one);
            users.entry(user).or_default().push(iteration);
            *connections.entry(connection).or_insert(0) += 1;
        }
        assert!(users.keys().copied().eq(0..4), "{threads} threads");
        for iterations in users.values_mut() {
            iterations.sort_unstable();
            assert!(iterations.iter().copied().eq(0..iterations.len() as u64));
        }
        let many = if http2 { 2 } else { 4 };
        assert!(connections.keys().copied().eq(0..many), "{connections:?}");
    }
}

#[test]
fn what_would_be_no_request_is_not_sent() {
    let bad = |change: fn(&mut Everything)| {
        let mut data = Everything::default();
        change(&mut data);
        Arc::new(data)
    };
    for (data, why) in [
        (
            bad(|data| data.value_end = "\r\nX-Smuggled: 1"),
            "a control character",
        ),
        (bad(|data| data.value_end = "\0"), "a control character"),
        (bad(|data| data.target_end = " HTTP/1.1"), "a space"),
        (
            bad(|data| data.target_end = "\r\n\r\nGET / HTTP/1.1"),
            "the control character 0x0d",
        ),
        (bad(|data| data.target_end = "#x"), "`#`"),
        (bad(|data| data.fails = true), "no row"),
    ] {
        for http2 in [false, true] {
            let plan = open("const(10/s,1s)").connections(2);
            let plan = if http2 { plan.http2(2) } else { plan };
            let arrivals = Arrivals::default();
            let result = run(varying(plan, &data), World::new(noting(http2, &arrivals)));
            failures(&result.summary, &[(Outcome::BadData, 10)]);
            assert_eq!(result.log.requests, 0, "{why}");
            let errors = format!("{:?}", result.summary.total.errors());
            assert!(errors.contains(why), "{why}: {errors}");
        }
    }
}

/// Checks that each request was rendered once, or every time with an equal context.
fn rendered_as_one(data: &Everything, times: usize) {
    let rendered = data.rendered.lock().expect("a lock");
    let mut seen = BTreeMap::new();
    for context in rendered.iter() {
        let first = seen
            .entry(context.number)
            .or_insert_with(|| context.clone());
        assert_eq!(first, context);
    }
    assert_eq!((rendered.len(), seen.len()), (times, times));
}

#[test]
fn a_request_that_is_sent_again_is_not_rendered_again() {
    // Every other connection is closed while the next request is in flight.
    let data = Arc::new(Everything::default());
    let plan = closed(1).thinks(ms(7)).requests(100);
    let plan = plan.with(|plan| plan.connections.reused_closed = ReusedClosed::Retry);
    let arrivals = Arrivals::default();
    let server = noting(false, &arrivals).closes_idle(ms(10));
    let network = drumfire_testkit::Network::each_way(ms(3));
    let world = World::new(server).network(network);
    let result = run(varying(plan, &data), world);
    failures(&result.summary, &[]);
    assert!(
        result.summary.total.retried > 10,
        "{}",
        result.summary.total.retried
    );
    rendered_as_one(&data, 100);

    // The requests that a GOAWAY returns.
    let data = Arc::new(Everything {
        body_length: 10,
        ..Everything::default()
    });
    let script = Http2Behaviour::new().goes_away(10, LastId::Of(9), 0, Farewell::WhenDone);
    let server = Server::http2(script).takes(Law::Const(ms(1)));
    let plan = closed(4).requests(200).http2(4).connections(1);
    let result = run(varying(plan, &data), World::new(server));
    assert!(
        result.summary.total.retried > 10,
        "{}",
        result.summary.total.retried
    );
    rendered_as_one(&data, 200);
}

/// Messages and metadata that contain the time and the connection.
#[derive(Debug, Default)]
struct Timed(Mutex<BTreeMap<u64, Vec<RequestContext>>>);

impl Timed {
    fn note(&self, call: &RequestContext) {
        let mut noted = self.0.lock().expect("a lock");
        noted.entry(call.number).or_default().push(call.clone());
    }
}

impl RequestData for Timed {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            body: true,
            ..Varying::default()
        }
    }

    fn fields(&self, call: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        self.note(call);
        out.push("at", &call.now.to_string())
    }

    fn message(&self, call: &RequestContext, _: u64, out: &mut Vec<u8>) -> Result<(), DataError> {
        self.note(call);
        out.extend_from_slice(&call.now.to_le_bytes());
        Ok(())
    }
}

#[test]
fn a_call_has_one_time_in_all_its_parts_and_attempts() {
    let data = Arc::new(Timed::default());
    let own = Arc::clone(&data) as Arc<dyn RequestData>;
    let plan = closed(4).requests(100).connections(2).http2(2);
    let plan = plan.calls_with(CallKind::Unary, Said::once(), move |call| call.data = own);
    let script = Http2Behaviour::new()
        .refuses(0.5)
        .says(Reply::unary(b"hello"));
    let server = Server::http2(script).takes(Law::Const(ms(1)));
    let result = run(plan, World::new(server));
    assert!(result.summary.total.retried > 10);
    let noted = data.0.lock().expect("a lock");
    assert_eq!(noted.len(), 100);
    assert!(noted.values().any(|contexts| contexts.len() > 2));
    for contexts in noted.values() {
        assert!(
            contexts.iter().all(|context| context == &contexts[0]),
            "{contexts:?}"
        );
    }
}

#[test]
fn a_redirect_takes_along_what_was_rendered() {
    for (status, length) in [(307, 10), (303, 0)] {
        let arrivals = Arrivals::default();
        let into = Arc::clone(&arrivals);
        let server = Server::new().takes(Law::Const(us(100)));
        let server = server.answers(move |request: &Request<'_>| {
            note(request, &into);
            match request.target().starts_with("/n") {
                true => Answer::redirect(status, "landed?of=it"),
                false => Answer::ok(),
            }
        });
        let data = Arc::new(Everything {
            body_length: 10,
            ..Everything::default()
        });
        let plan = closed(2).requests(20).with(|pool| {
            pool.http.redirects = Redirects::Follow(2);
            let fixed = Header::new("X-Fixed", b"kept").expect("a field");
            pool.requests[0].headers.push(fixed);
        });
        let result = run(varying(plan, &data), World::new(server));
        failures(&result.summary, &[]);
        let arrived = arrivals.lock().expect("a lock").clone();
        assert_eq!(arrived.len(), 40);
        let (first, landed): (Vec<_>, Vec<_>) =
            arrived.iter().partition(|one| one.target.starts_with("/n"));
        for (from, to) in first.iter().zip(&landed) {
            assert_eq!(to.target, "/landed?of=it");
            assert_eq!((to.body.len(), to.length.unwrap_or(0)), (length, length));
            let other = first
                .iter()
                .find(|one| one.of == to.of)
                .expect("its first request");
            assert_eq!(to.body, other.body[..length], "{from:?}");
        }
    }
}

/// A run of twenty requests with bodies, modified by `change`.
fn twenty(server: Server, change: impl FnOnce(&mut drumfire_plan::Pool)) -> (Simulated, Arrivals) {
    let arrivals = Arrivals::default();
    let into = Arc::clone(&arrivals);
    let server = server.answers(move |request: &Request<'_>| {
        note(request, &into);
        Answer::ok()
    });
    let data = Arc::new(Everything {
        body_length: 10,
        ..Everything::default()
    });
    let plan = closed(2).requests(20).with(change);
    let world = World::new(server).keeps_requests();
    let result = run(varying(plan, &data), world);
    failures(&result.summary, &[]);
    assert_eq!(arrivals.lock().expect("a lock").len(), 20);
    (result, arrivals)
}

#[test]
fn a_connection_for_each_and_an_awaited_word_change_nothing() {
    let (result, _) = twenty(Server::new(), |pool| {
        pool.connections.keep_alive = KeepAlive::No
    });
    assert_eq!(result.log.connections, 20);
    let close = |seen: &drumfire_testkit::Seen| seen.head.contains("Connection: close\r\n");
    assert!(result.log.seen.iter().all(close));

    let server = Server::new().on_expect(Expecting::Continues(ms(50)));
    let wait = ExpectContinue::Wait(secs(1));
    let (result, arrivals) = twenty(server, |pool| pool.http.expect_continue = wait);
    assert_eq!(result.summary.total.interim, 20);
    let arrivals = arrivals.lock().expect("a lock");
    assert!(
        arrivals
            .iter()
            .all(|one| one.body.len() == 10 && one.length == Some(10))
    );
}

#[test]
fn a_proxy_is_told_the_whole_url() {
    let proxy = Proxy {
        url: Url::parse("http://sut/").expect("a URL"),
        tunnels: Tunnels::Sealed,
        agent: None,
        bypass: Vec::new(),
    };
    let (_, arrivals) = twenty(Server::new(), |pool| {
        pool.requests[0].url = Url::parse("http://far.test/").expect("a URL");
        pool.reach.proxy = Some(proxy);
    });
    for one in arrivals.lock().expect("a lock").iter() {
        let [number, user, ..] = rendered_numbers(one);
        assert_eq!(one.target, format!("http://far.test/n{number}?u={user}"));
        assert_eq!(one.host, "far.test");
    }
}

#[test]
fn requests_that_vary_and_those_that_do_not_take_turns() {
    let arrivals = Arrivals::default();
    let plan = closed(3)
        .to(&["http://sut/same", "http://sut/"])
        .requests(60);
    let data = Arc::new(Everything::default());
    let plan = plan.with(|plan| plan.requests[1].data = Some(data));
    let result = run(plan, World::new(noting(false, &arrivals)));
    failures(&result.summary, &[]);
    let arrived = arrivals.lock().expect("a lock").clone();
    let same = arrived
        .iter()
        .filter(|one| one.target == "/same" && one.of.is_empty());
    assert_eq!(same.count(), 30);
    let mut others: Vec<u64> = arrived
        .iter()
        .filter(|one| one.target.starts_with("/n"))
        .map(|one| rendered_numbers(one)[0])
        .collect();
    others.sort_unstable();
    assert!(others.iter().copied().eq((0..30).map(|n| 2 * n + 1)));
}
