//! The flaws that make a plan invalid.

use drumfire_plan::{
    Affinity, Arrivals, Body, ClockChoice, Connections, Cookies, Detour, EventStream, Expect, Flaw,
    Generator, Growth, Header, HttpOptions, HttpRequest, Inquiry, KeepAlive, KeepAliveHints,
    LatePolicy, Life, Load, Method, OnFailure, Pause, Plan, PlanParts, Pool, Program, Reach,
    Redirects, Resolve, Retry, ReusedClosed, Samples, Spread, Step, Stop, Threads, Timeouts,
    Transcripts, Url, UserSteps, WaitChoice, Warmup,
};
use drumfire_units::Nanos;
use std::sync::Arc;

fn request() -> HttpRequest {
    let url = Url::parse("http://localhost/").expect("a URL");
    HttpRequest {
        step: "login".to_owned(),
        ..HttpRequest::new(Method::get(), url)
    }
}

fn open(rate: &str) -> Load {
    Load::Open {
        rate: rate.parse().expect("a load"),
        arrivals: Arrivals::Constant,
        late: LatePolicy::Queue,
    }
}

fn pool() -> Pool {
    Pool {
        name: "main".to_owned(),
        requests: vec![request()],
        program: Program::default(),
        load: open("500/s"),
        users: None,
        stop: Stop {
            duration: Some(Nanos::from_secs(10)),
            ..Stop::default()
        },
        reach: Reach::default(),
        http: HttpOptions::default(),
        connections: Connections {
            opening: drumfire_plan::Opening::Waiting,
            count: 1,
            streams: 1,
            keep_alive: KeepAlive::Yes,
            reused_closed: ReusedClosed::Fail,
            hints: KeepAliveHints::Ignore,
            tls_end: drumfire_plan::TlsEnd::Confirmed,
            growth: Growth::Ahead,
            affinity: Affinity::Shared,
            backoff_max: Nanos::from_secs(1),
            spread: Spread::Turn,
            ping: None,
            life: Life::default(),
        },
        timeouts: Timeouts::default(),
        expect: Expect::default(),
        begun: 0,
        cookies: Cookies::Ignore,
        samples: Samples::Forget,
        transcripts: Transcripts::None,
    }
}

#[test]
fn full_speed_is_a_closed_load_without_rests_and_events() {
    let closed = |think, pace| Load::Closed {
        users: 2,
        think,
        pace,
    };
    let second = Nanos::from_secs(1);
    let scenario = |step| Program::of_steps(vec![step]);
    let steps = [
        Step::Pause(Pause::constant(second)),
        Step::Until(second),
        Step::AtLeast(second),
    ];
    let mut full = pool();
    full.load = closed(Pause::NONE, Nanos::ZERO);
    assert!(full.is_at_full_speed());
    for load in [
        open("500/s"),
        closed(Pause::constant(second), Nanos::ZERO),
        closed(Pause::NONE, second),
    ] {
        let of = Pool {
            load,
            ..full.clone()
        };
        assert!(!of.is_at_full_speed(), "{:?}", of.load);
    }
    for step in steps {
        let program = scenario(step);
        let of = Pool {
            program,
            ..full.clone()
        };
        assert!(!of.is_at_full_speed(), "{:?}", of.program);
    }
    full.program = scenario(Step::Jump(1));
    assert!(full.is_at_full_speed());
    full.requests[0].events = Some(EventStream {
        gap: Nanos::MAX,
        duration: Nanos::MAX,
        receive: None,
        answer: None,
    });
    assert!(!full.is_at_full_speed());
}

fn parts() -> PlanParts {
    PlanParts {
        name: None,
        pools: vec![pool()],
        generator: Generator {
            threads: Threads::Exactly(1),
            wait: WaitChoice::Sleep,
            clock: ClockChoice::Program,
            seed: 0,
            warmup: Warmup::Span(Nanos::from_secs(1)),
            interval: Nanos::from_secs(1),
        },
        thresholds: Vec::new(),
    }
}

/// The flaws in these parts.
fn flaws(parts: PlanParts) -> Vec<Flaw> {
    Plan::new(parts).err().unwrap_or_default()
}

/// The keys of all flaws after a change of the pool.
fn keys(change: impl Fn(&mut Pool)) -> Vec<&'static str> {
    let mut parts = parts();
    change(&mut parts.pools[0]);
    flaws(parts).into_iter().map(|flaw| flaw.key).collect()
}

/// The keys of all flaws after a change of the generator.
fn of_generator(change: impl Fn(&mut Generator)) -> Vec<&'static str> {
    let mut parts = parts();
    change(&mut parts.generator);
    flaws(parts).into_iter().map(|flaw| flaw.key).collect()
}

/// A load that changes as planned does not settle.
#[test]
fn a_warmup_is_found_where_the_load_is_constant() {
    let with = |load: Load, users: Option<UserSteps>| {
        let mut parts = parts();
        parts.generator.warmup = Warmup::Auto;
        parts.pools[0].load = load;
        parts.pools[0].users = users;
        flaws(parts).iter().any(|flaw| flaw.key == "warmup")
    };
    let closed = || Load::Closed {
        users: 8,
        think: Pause::constant(Nanos::ZERO),
        pace: Nanos::ZERO,
    };
    assert!(!with(open("200/s"), None));
    assert!(!with(open("const(200,10m)"), None));
    assert!(!with(closed(), None));
    assert!(!with(closed(), Some(UserSteps::constant(8))));
    for changing in [
        "line(1,9,10s)",
        "const(1,5s) const(2,5s)",
        "once(5) const(1,9s)",
    ] {
        assert!(with(open(changing), None), "{changing}");
    }
    let users = vec![(Nanos::ZERO, 2), (Nanos::from_secs(5), 8)];
    assert!(with(closed(), UserSteps::changing(users)));
}

#[test]
fn a_good_plan_has_no_flaws() {
    assert_eq!(flaws(parts()), []);
    assert!(
        keys(|pool| {
            pool.stop = Stop::default();
            pool.load = open("line(5,200,60s)");
        })
        .is_empty()
    );
    assert!(keys(|pool| pool.load = open("const(0,1s) const(5,1s)")).is_empty());
    let mut parts = parts();
    parts.thresholds = vec!["step(login).p99<1s over 1s".parse().unwrap()];
    assert_eq!(flaws(parts), []);
}

#[test]
fn each_mistake_is_found_at_its_key() {
    let closed = |users| Load::Closed {
        users,
        think: Pause::NONE,
        pace: Nanos::ZERO,
    };
    assert_eq!(keys(|p| p.requests.clear()), ["requests"]);
    assert_eq!(
        of_generator(|g| g.warmup = Warmup::Span(Nanos::from_secs(10))),
        ["warmup"]
    );
    assert_eq!(keys(|p| p.stop = Stop::default()), ["stop"]);
    let unending = |p: &mut Pool| {
        p.stop = Stop::default();
        p.load = closed(1);
    };
    assert_eq!(keys(unending), ["stop"]);
    assert_eq!(keys(|p| p.stop.requests = Some(0)), ["stop.requests"]);
    assert_eq!(keys(|p| p.stop.iterations = Some(0)), ["stop.iterations"]);
    assert_eq!(
        keys(|p| p.stop.duration = Some(Nanos::ZERO)),
        ["stop.after"]
    );
    assert_eq!(keys(|p| p.connections.count = 0), ["connections"]);
    assert_eq!(
        of_generator(|g| g.threads = Threads::Exactly(0)),
        ["threads"]
    );
    let never = |p: &mut Pool| p.connections.keep_alive = KeepAlive::AtMost(0);
    assert_eq!(keys(never), ["requests_per_connection"]);
    assert_eq!(of_generator(|g| g.interval = Nanos::ZERO), ["interval"]);
    assert_eq!(keys(|p| p.timeouts.head = Nanos::ZERO), ["head_timeout"]);
    for silent in ["0", "0/m", "line(0,0,1s) once(0)", "sine(0,0,1s)"] {
        assert_eq!(keys(|p| p.load = open(silent)), ["rate"], "{silent}");
    }
    assert_eq!(keys(|p| p.load = closed(0)), ["users"]);
}

#[test]
fn what_no_machine_could_do_is_a_mistake() {
    let users = |users| {
        move |pool: &mut Pool| {
            pool.load = Load::Closed {
                users,
                think: Pause::NONE,
                pace: Nanos::ZERO,
            };
        }
    };
    assert!(keys(users(10_000_000)).is_empty());
    assert_eq!(keys(users(10_000_001)), ["users"]);
    let streams = |count, streams| {
        move |pool: &mut Pool| {
            pool.http.version = drumfire_plan::HttpVersion::Http2;
            pool.connections.count = count;
            pool.connections.streams = streams;
        }
    };
    assert!(keys(streams(100, 100_000)).is_empty());
    assert_eq!(keys(streams(101, 100_000)), ["streams"]);
    assert_eq!(keys(streams(1, 100_001)), ["streams"]);
    assert_eq!(
        of_generator(|g| g.interval = Nanos::from_millis(99)),
        ["interval"]
    );
}

#[test]
fn a_program_sends_what_its_pool_has() {
    let of = |steps: &[Step], change: fn(&mut Pool)| {
        keys(|pool| {
            pool.program = Program::of_steps(steps.to_vec());
            change(pool);
        })
    };
    let send = |request| Step::Request {
        request,
        retry: Retry::default(),
        on_failure: OnFailure::Continue,
        takes: Arc::default(),
    };
    let pause = |from, to| {
        Step::Pause(Pause::Even {
            from: Nanos(from),
            to: Nanos(to),
        })
    };
    assert!(of(&[send(0), pause(1, 2), send(0)], |_| {}).is_empty());
    assert_eq!(of(&[pause(1, 1)], |_| {}), ["scenario"]);
    assert_eq!(of(&[send(0), send(1)], |_| {}), ["scenario"]);
    assert_eq!(of(&[send(0), pause(2, 1)], |_| {}), ["scenario"]);
    let counted = |pool: &mut Pool| pool.stop.requests = Some(3);
    assert_eq!(of(&[send(0)], counted), ["stop.requests"]);
}

#[test]
fn a_rule_about_iterations_needs_a_program() {
    let keys = |rule: &str, has_steps| {
        let mut parts = parts();
        parts.thresholds = vec![rule.parse().unwrap()];
        if has_steps {
            let send = Step::Request {
                request: 0,
                retry: Retry::default(),
                on_failure: OnFailure::Continue,
                takes: Arc::default(),
            };
            parts.pools[0].program = Program::of_steps(vec![send]);
        }
        let flaws = flaws(parts).into_iter();
        flaws.map(|flaw| flaw.key).collect::<Vec<_>>()
    };
    let name = parts().pools[0].name.clone();
    let of_pool = format!("{name}: iteration.failed<1%");
    for rule in ["iteration.p50<1s", &of_pool] {
        assert_eq!(keys(rule, false), ["thresholds"], "{rule}");
        assert!(keys(rule, true).is_empty(), "{rule}");
    }
}

#[test]
fn a_flaw_is_one_of_its_pool() {
    let mut parts = parts();
    parts.pools.push(Pool {
        connections: Connections {
            count: 0,
            ..pool().connections
        },
        ..pool()
    });
    let flaws: Vec<String> = flaws(parts).iter().map(ToString::to_string).collect();
    assert_eq!(
        flaws,
        [
            "pools[1].name: two pools have this name; give each a different name",
            "pools[1].connections: 0 connections send nothing; write at least 1",
        ]
    );
    let none = PlanParts {
        pools: Vec::new(),
        ..self::parts()
    };
    assert_eq!(self::flaws(none)[0].key, "pools");
}

#[test]
fn thresholds_must_have_something_to_look_at() {
    let threshold = |text: &str| {
        let mut parts = parts();
        parts.thresholds.push(text.parse().unwrap());
        let flaws = flaws(parts).into_iter();
        flaws.map(|found| found.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        threshold("step(logon).p99<1s"),
        ["thresholds[0]: no step is named `logon`; did you mean `login`? The steps are login"]
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
        let found = keys(|pool| {
            let request = &mut pool.requests[0];
            let parse = |line: &&str| Header::parse(line).unwrap();
            request.headers = lines.iter().map(parse).collect();
            request.body = Body(body.map(|body: &str| body.as_bytes().into()));
        });
        let expected = if good { &[][..] } else { &["headers"] };
        assert_eq!(found, expected, "{lines:?} {body:?}");
    }
}

/// Each setting that could direct the load to another address is found, in any pool and in an
/// inquiry.
#[test]
fn ways_elsewhere_are_found() {
    type Set = fn(&mut Pool);
    let settings: [(Set, Option<Detour>); 6] = [
        (|_| {}, None),
        (
            |pool| pool.reach.unix_socket = Some("/s".into()),
            Some(Detour::UnixSocket),
        ),
        (
            |pool| {
                pool.reach.resolve.push(Resolve {
                    host: "localhost".to_owned(),
                    port: 80,
                    address: [127, 0, 0, 9].into(),
                });
            },
            Some(Detour::Resolve),
        ),
        (
            |pool| pool.reach.name_server = "127.0.0.1:53".parse().ok(),
            Some(Detour::NameServer),
        ),
        (
            |pool| pool.http.redirects = Redirects::Follow(1),
            Some(Detour::Redirects),
        ),
        (|pool| pool.http.redirects = Redirects::Refuse, None),
    ];
    for (set, expected) in settings {
        let mut parts = parts();
        let mut second = pool();
        "second".clone_into(&mut second.name);
        set(&mut second);
        parts.pools.push(second.clone());
        let generator = parts.generator;
        let plan = Plan::new(parts).expect("a plan");
        assert_eq!(plan.detour(), expected);
        let inquiry = Inquiry::new(second, generator).expect("an inquiry");
        assert_eq!(inquiry.detour(), expected);
    }
}

/// All pools together keep the limits of a single pool on users and concurrent requests.
#[test]
fn the_bounds_of_a_pool_hold_for_all_together() {
    type Set = fn(&mut Pool);
    let settings: [(Set, &str); 2] = [
        (
            |pool| {
                pool.load = Load::Closed {
                    users: 6_000_000,
                    think: Pause::Even {
                        from: Nanos::ZERO,
                        to: Nanos::ZERO,
                    },
                    pace: Nanos::ZERO,
                }
            },
            "all pools together have at most 10,000,000 users",
        ),
        (
            |pool| pool.connections.count = 6_000_000,
            "all connections of all pools together",
        ),
    ];
    for (set, message) in settings {
        let mut parts = parts();
        parts.pools.push(pool());
        "second".clone_into(&mut parts.pools[1].name);
        set(&mut parts.pools[0]);
        assert!(Plan::new(parts.clone()).is_ok(), "{message}");
        set(&mut parts.pools[1]);
        let flaws = Plan::new(parts).expect_err("too many");
        assert!(
            flaws.iter().any(|it| it.message.contains(message)),
            "{flaws:?}"
        );
    }
}
