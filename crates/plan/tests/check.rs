//! What keeps a plan from being run.

use drumfire_plan::{
    Arrivals, Body, Connections, Expect, Header, HttpOptions, HttpRequest, KeepAlive,
    KeepAliveHints, LatePolicy, Load, Method, Plan, ReusedClosed, Samples, Spin, Spread, Stop,
    Timeouts, Url,
};
use drumfire_units::Nanos;

fn request() -> HttpRequest {
    HttpRequest {
        url: Url::parse("http://localhost/").expect("a URL"),
        method: Method::get(),
        headers: Vec::new(),
        body: Body::default(),
        step: "login".to_owned(),
        data: None,
        call: None,
    }
}

fn open(rate: &str) -> Load {
    Load::Open {
        rate: rate.parse().expect("a load"),
        arrivals: Arrivals::Constant,
        late: LatePolicy::Queue,
    }
}

fn plan() -> Plan {
    Plan {
        requests: vec![request()],
        load: open("500/s"),
        users: None,
        stop: Stop {
            duration: Some(Nanos::from_secs(10)),
            ..Stop::default()
        },
        warmup: Nanos::from_secs(1),
        http: HttpOptions::default(),
        connections: Connections {
            count: 1,
            streams: 1,
            keep_alive: KeepAlive::Yes,
            reused_closed: ReusedClosed::Fail,
            hints: KeepAliveHints::Ignore,
            growth: drumfire_plan::Growth::Ahead,
            affinity: drumfire_plan::Affinity::Shared,
            backoff_max: Nanos::from_secs(1),
            spread: Spread::Turn,
            ping: None,
            threads: 1,
            spin: Spin::No,
        },
        timeouts: Timeouts::default(),
        expect: Expect::default(),
        samples: Samples::Forget,
        thresholds: Vec::new(),
        seed: 0,
        interval: Nanos::from_secs(1),
    }
}

/// The places of all diagnostics after a change.
fn places(change: impl Fn(&mut Plan)) -> Vec<String> {
    let mut plan = plan();
    change(&mut plan);
    plan.check().into_iter().map(|found| found.place).collect()
}

#[test]
fn a_good_plan_has_no_diagnostics() {
    assert_eq!(plan().check(), []);
    assert!(
        places(|plan| {
            plan.stop = Stop::default();
            plan.load = open("line(5,200,60s)");
        })
        .is_empty()
    );
    assert!(places(|plan| plan.load = open("const(0,1s) const(5,1s)")).is_empty());
    assert!(
        places(|plan| plan.thresholds = vec!["step(login).p99<1s over 1s".parse().unwrap()])
            .is_empty()
    );
}

#[test]
fn each_mistake_is_found_in_its_place() {
    let closed = |users| Load::Closed {
        users,
        think_time: Nanos::ZERO,
    };
    assert_eq!(places(|p| p.requests.clear()), ["requests"]);
    assert_eq!(places(|p| p.warmup = Nanos::from_secs(10)), ["warmup"]);
    assert_eq!(places(|p| p.stop = Stop::default()), ["stop"]);
    let unending = |p: &mut Plan| {
        p.stop = Stop::default();
        p.load = closed(1);
    };
    assert_eq!(places(unending), ["stop"]);
    assert_eq!(places(|p| p.stop.requests = Some(0)), ["stop.requests"]);
    assert_eq!(places(|p| p.stop.iterations = Some(0)), ["stop.iterations"]);
    assert_eq!(
        places(|p| p.stop.duration = Some(Nanos::ZERO)),
        ["stop.duration", "warmup"]
    );
    assert_eq!(places(|p| p.connections.count = 0), ["connections.count"]);
    assert_eq!(
        places(|p| p.connections.threads = 0),
        ["connections.threads"]
    );
    let never = |p: &mut Plan| p.connections.keep_alive = KeepAlive::AtMost(0);
    assert_eq!(places(never), ["connections.keep_alive"]);
    assert_eq!(places(|p| p.interval = Nanos::ZERO), ["interval"]);
    assert_eq!(places(|p| p.timeouts.head = Nanos::ZERO), ["timeouts.head"]);
    for silent in ["0", "0/m", "line(0,0,1s) once(0)", "sine(0,0,1s)"] {
        assert_eq!(places(|p| p.load = open(silent)), ["load.rate"], "{silent}");
    }
    assert_eq!(places(|p| p.load = closed(0)), ["load.users"]);
}

#[test]
fn thresholds_must_have_something_to_look_at() {
    let threshold = |text: &str| {
        let mut plan = plan();
        plan.thresholds.push(text.parse().unwrap());
        plan.check()
            .into_iter()
            .map(|found| found.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        threshold("step(logon).p99<1s"),
        ["thresholds[0]: no step is named `logon`; did you mean `login`?"]
    );
    assert_eq!(
        threshold("p99<1s over 500ms"),
        ["thresholds[0]: the window is shorter than the interval; write a longer one"]
    );
}

/// Header lines with a body, and whether they may be sent.
#[test]
fn framing_is_ours() {
    for (lines, body, good) in [
        (&["Host: a"][..], None, true),
        (&["Host: a", "host: a"], None, false),
        (&["Content-Length: 0"], None, true),
        (&["Content-Length: 3"], Some("abc"), true),
        (&["Content-Length: 4"], Some("abc"), false),
        (&["content-length: 3"], None, false),
        (
            &["Content-Length: 3", "Content-Length: 3"],
            Some("abc"),
            false,
        ),
        (&["Transfer-Encoding: chunked"], Some("abc"), false),
        (&["Transfer-Encoding: chunked"], None, false),
    ] {
        let found = places(|plan| {
            let request = &mut plan.requests[0];
            let parse = |line: &&str| Header::parse(line).unwrap();
            request.headers = lines.iter().map(parse).collect();
            request.body = Body(body.map(|body: &str| body.as_bytes().into()));
        });
        let expected = if good {
            &[][..]
        } else {
            &["requests[0].headers"]
        };
        assert_eq!(found, expected, "{lines:?} {body:?}");
    }
}
