//! From the steps of a scenario to a program, and everything that can be wrong with them.

use drumfire_compile::{Bare, Diagnostic, Host, compile, form};
use drumfire_plan::{OnFailure, Plan, Program, RequestContext, Step, VariableId, Variables};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The plan of one pool with these lines, of which each stands below the pool's name.
fn plan(pool: &str) -> Result<Plan, Vec<Diagnostic>> {
    let lines = pool.lines().map(|line| format!("    {line}\n"));
    let pool: String = lines.collect();
    let text = format!("drumfire: 1\npools:\n  buy:\n    target: http://h:1\n{pool}");
    let document = form::read(&text, "p")?;
    let host: Arc<dyn Host> = Arc::new(Bare);
    compile(&document, &host)
}

const STEPS: &str = "\
headers: { X-Trace: '{{ trace }}' }
rate: 5
scenario:
- set: { trace: 't{{ iteration }}' }
- { post: /login, on_fail: end_iteration }
- pause: 200ms..1s
- set: { order: '{{ trace }}-{{ user }}', trace: 'late' }
- { get: '/o/{{ order }}', name: look }
- pause: 5ms
- { put: '/o', body: '{\"id\": \"{{ order }}\"}' }
stop: { iterations: 9 }
";

#[test]
fn a_scenario_becomes_a_program() {
    let plan = plan(STEPS).expect("a plan");
    let pool = plan.first();
    let Program::Steps(steps) = &pool.program else {
        panic!("{:?}", pool.program);
    };
    let ms = Nanos::from_millis;
    let shown: Vec<String> = steps
        .iter()
        .map(|step| match step {
            Step::Request {
                request,
                on_failure,
                ..
            } => format!("{request} {}", *on_failure == OnFailure::EndIteration),
            Step::Pause(pause) => {
                assert!(pause.from == ms(200) && pause.to == ms(1000) || pause.from == pause.to);
                format!("pause {}", pause.from)
            }
            Step::Set { variable, .. } => format!("set {}", variable.0),
        })
        .collect();
    let expected = [
        "set 0",
        "0 true",
        "pause 200ms",
        "set 1",
        "set 0",
        "1 false",
        "pause 5ms",
        "2 false",
    ];
    assert_eq!(shown, expected);
    assert_eq!((pool.program.variables(), pool.program.requests()), (2, 3));
    assert_eq!(pool.stop.iterations, Some(9));
    let names: Vec<&str> = pool.requests.iter().map(|request| &*request.step).collect();
    assert_eq!(names, ["http://h:1/login", "look", "http://h:1/o"]);
}

/// The program's values and its requests' parts, as a user's third iteration has them.
#[test]
fn values_and_requests_are_rendered_with_what_was_set_before() {
    let plan = plan(STEPS).expect("a plan");
    let pool = plan.first();
    let mut context = RequestContext {
        user: 4,
        iteration: 2,
        ..RequestContext::default()
    };
    let mut variables = Variables::new(pool.program.variables());
    let mut sent = Vec::new();
    for step in pool.program.steps() {
        context.variables = Some(Arc::new(variables.clone()));
        match step {
            Step::Set { variable, value } => {
                let mut text = String::new();
                value.render(&context, &mut text).expect("a value");
                variables.set(*variable, Ok(&text));
            }
            Step::Request { request, .. } => {
                let data = pool.requests[*request as usize].data.as_ref();
                let data = data.expect("its header varies");
                let mut fields = drumfire_plan::RenderedFields::default();
                data.fields(&context, &mut fields).expect("fields");
                let trace = fields.find("x-trace").expect("a field").to_owned();
                let mut target = String::new();
                data.target(&context, &mut target).expect("a target");
                let mut body = Vec::new();
                data.message(&context, 0, &mut body).expect("a body");
                sent.push([trace, target, String::from_utf8(body).expect("text")]);
            }
            Step::Pause(_) => {}
        }
    }
    let expected = [
        ["t2", "", ""],
        ["late", "/o/t2-4", ""],
        ["late", "", "{\"id\": \"t2-4\"}"],
    ];
    assert_eq!(sent, expected.map(|parts| parts.map(str::to_owned)));
    assert_eq!(variables.get(VariableId(1)), Ok("t2-4"));
}

#[test]
fn what_is_wrong_with_a_scenario_is_said_with_its_place() {
    for (pool, expected) in [
        (
            "requests: [ { get: / } ]\nscenario: [ { get: / } ]\nrate: 1",
            &["p:6:24: get: a pool has either `requests` or a `scenario`"][..],
        ),
        (
            "scenario:\n- pause: 1s\nrate: 1",
            &["p:6:14: pause: there is nothing to send; give at least one request"],
        ),
        (
            "scenario:\n- { get: / }\nrate: 1\nstop: { requests: 9 }",
            &["p:8:23: requests: a scenario is counted by its iterations"],
        ),
        (
            "scenario:\n- { get: /, on_fail: stop }\n- pause: soon\n- pause: 2s..1s\n- pause: 1s..\n- list: urls.txt\nrate: 1",
            &[
                "p:6:26: on_fail: `stop` is nothing to do after a failure; write continue or end_iteration",
                "p:7:14: pause: `soon` is not a duration",
                "p:8:14: pause: the range ends before it begins; write the shorter time first",
                "p:9:14: pause: `` is not a duration",
                "p:10:13: list: a list of URLs is no step; write its requests one by one",
            ],
        ),
        (
            "scenario:\n- { get: '/{{ order }}' }\n- set: { order: '{{ ordr }}' }\n- { get: '/{{ ordre }}' }\n- { call: a.B/C }\nrate: 1",
            &[
                "p:6:14: get: a pool sends HTTP requests or makes calls",
                "p:7:21: order: templates have no variable `ordr`",
            ],
        ),
        (
            "scenario:\n- { get: '/{{ order }}' }\n- set: { order: '{{ ordr }}' }\n- { get: '/{{ orders }}' }\nrate: 1",
            &[
                "p:6:14: get: the variable `order` is read before any step sets it",
                "p:7:21: order: templates have no variable `ordr`",
                "p:8:14: get: templates have no variable `orders`; did you mean `order`?",
            ],
        ),
        (
            "scenario:\n- set: { uuid: a, 2x: b, range: c, a: '{{ connection }}', b: '{{ b }}' }\n- { get: / }\nrate: 1",
            &[
                "p:6:14: templates have `uuid` already; choose another name",
                "p:6:23: `2x` can't be a name in templates",
                "p:6:30: templates have `range` already; choose another name",
                "p:6:43: a: a request has `connection`, and a variable is set before there is one",
                "p:6:66: b: the variable `b` is read before any step sets it",
            ],
        ),
        (
            "headers: { X: '{{ a }}' }\nscenario:\n- { get: / }\n- set: { a: 1 }\n- { get: /b }\nrate: 1",
            &["p:5:19: X: the field `X`: the variable `a` is read before any step sets it"],
        ),
    ] {
        let found = plan(pool).expect_err(pool);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let is_as_expected = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.starts_with(expected));
        assert!(is_as_expected, "{pool}\n{found:#?}");
    }
}

const TAKING: &str = "\
expect: { status: 200, time: <1s }
rate: 5
scenario:
- { post: /login, expect: { time: <2s, json: { $.ok: equals true } }, take: { token: json $.token, next: header Location } }
- { get: '{{ next }}', headers: { X-Token: '{{ token }}' }, take: { token: cookie session } }
- { get: /end, expect: { status: 404, body: [ contains a, not contains b ] } }
";

#[test]
fn what_is_expected_and_taken_becomes_an_inspection() {
    let plan = plan(&TAKING.replace("'{{ next }}'", "'/{{ next }}'")).expect("a plan");
    let pool = plan.first();
    let takes = pool.program.steps().iter().map(|step| match step {
        Step::Request { takes, .. } => takes.to_vec(),
        _ => Vec::new(),
    });
    let (token, next) = (VariableId(0), VariableId(1));
    let expected = [vec![token, next], vec![token], vec![]];
    assert_eq!(takes.collect::<Vec<_>>(), expected);
    let wanted = pool.requests.iter().map(|request| {
        let inspection = request
            .inspection
            .as_ref()
            .expect("the pool expects a time");
        (
            inspection.fields().join(" "),
            inspection.body_max().is_some(),
        )
    });
    let expected = [("location", true), ("set-cookie", false), ("", true)];
    let expected = expected.map(|(fields, body)| (fields.to_owned(), body));
    assert_eq!(wanted.collect::<Vec<_>>(), expected);
    assert!(!pool.expect.accepts(404));
    let own = pool.requests[2].expect.expect("its own");
    assert!(own.accepts(404) && !own.accepts(200));
}

#[test]
fn what_is_wrong_with_looks_is_said_with_its_place() {
    for (pool, expected) in [
        (
            "requests: [ { get: /, take: { a: status } } ]\nrate: 1",
            &["p:5:35: `take` is for the steps of a scenario"][..],
        ),
        (
            "scenario:\n- { get: '/{{ a }}', take: { a: status } }\nrate: 1",
            &["p:6:14: get: the variable `a` is read before any step sets it"],
        ),
        (
            "scenario:\n- { call: a.B/C, expect: { status: 200 } }\nrate: 1",
            &["p:6:7: scenario: `expect` is for HTTP requests; a call has `reply_check`"],
        ),
        (
            "scenario:\n- { get: /, expect: { states: 200 } }\nrate: 1",
            &["p:6:27: `expect` has no key `states`; did you mean `status`?"],
        ),
        (
            "scenario:\n- { get: /, expect: { body_hash: abc, time: soon, status: ok } }\nrate: 1",
            &[
                "p:6:49: time: `soon` is no check",
                "p:6:38: body_hash: a hash is an algorithm and a digest",
                "p:6:63: status: `ok` is neither a status from 100 to 599",
            ],
        ),
        (
            "scenario:\n- { get: /, take: { uuid: status, b: jsn $.a, c: 'json $.a[' } }\nrate: 1",
            &[
                "p:6:25: templates have `uuid` already; choose another name",
                "p:6:42: b: nothing is taken by `jsn`; did you mean `json`?",
                "p:6:54: c: write a name in quotes, an index, a slice",
            ],
        ),
    ] {
        let found = plan(pool).expect_err(pool);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let is_as_expected = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.starts_with(expected));
        assert!(is_as_expected, "{pool}\n{found:#?}");
    }
}

#[test]
fn variables_belong_to_one_pool() {
    let text = "drumfire: 1\npools:\n  a:\n    rate: 1\n    scenario: [ set: { x: 1 }, get: 'http://h/{{ x }}' ]\n  b:\n    rate: 1\n    requests: [ get: 'http://h/{{ x }}' ]\n";
    let document = form::read(text, "p").expect("a document");
    let host: Arc<dyn Host> = Arc::new(Bare);
    let found = compile(&document, &host).expect_err("x is not known in b");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0]
            .to_string()
            .contains("templates have no variable `x`")
    );
}
