//! Compiling the steps of a scenario to a program, and all their possible mistakes.

use crate::expected::begin_with;
use drumfire_compile::{Host, compile};
use drumfire_document::{Bare, Diagnostic, form};
use drumfire_plan::{
    OnFailure, Passes, Plan, Program, RequestContext, Step, VariableId, Variables,
};
use std::sync::Arc;

/// The plan of one pool with these lines, which are indented below the pool's name.
fn plan(pool: &str) -> Result<Plan, Vec<Diagnostic>> {
    let lines = pool.lines().map(|line| format!("    {line}\n"));
    let pool: String = lines.collect();
    let text = format!("drumfire: 1\npools:\n  buy:\n    target: http://h:1\n{pool}");
    let document = form::read(&text, "p")?;
    let host: Arc<dyn Host> = Arc::new(Bare);
    compile(&document, &host)
}

/// Checks that a pool is refused with diagnostics that begin with these texts.
fn refused(pool: &str, expected: &[&str]) {
    begin_with(&plan(pool).expect_err(pool), expected, pool);
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
    let scenarios = pool.program.scenarios().expect("steps");
    let shown: Vec<String> = scenarios
        .steps()
        .iter()
        .map(|step| match step {
            Step::Request {
                request,
                on_failure,
                ..
            } => format!("{request} {}", *on_failure == OnFailure::EndIteration),
            Step::Pause(pause) => format!("pause {pause}"),
            Step::Set { variable, .. } => format!("set {}", variable.0),
            Step::End => "end".to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "set 0",
        "0 true",
        "pause 200ms..1s",
        "set 1",
        "set 0",
        "1 false",
        "pause 5ms",
        "2 false",
        "end",
    ];
    assert_eq!(shown, expected);
    let extent = scenarios.extent();
    assert_eq!((extent.variables, extent.requests), (2, 3));
    assert_eq!(pool.stop.iterations, Some(9));
    let names: Vec<&str> = pool.requests.iter().map(|request| &*request.step).collect();
    assert_eq!(names, ["/login", "look", "/o"]);
}

/// Renders the program's values and request parts for a user's third iteration.
#[test]
fn values_and_requests_are_rendered_with_what_was_set_before() {
    let plan = plan(STEPS).expect("a plan");
    let pool = plan.first();
    let mut context = RequestContext {
        user: 4,
        iteration: 2,
        ..RequestContext::default()
    };
    let scenarios = pool.program.scenarios().expect("steps");
    let mut variables = Variables::new(scenarios.extent().variables);
    let mut sent = Vec::new();
    for step in scenarios.steps() {
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
            _ => {}
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
            &["p:8:23: requests: a scenario is counted in iterations"],
        ),
        (
            "scenario:\n- { get: /, on_fail: stop }\n- pause: soon\n- pause: 2s..1s\n- pause: 1s..\n- list: urls.txt\nrate: 1",
            &[
                "p:6:26: on_fail: unknown action `stop`; use continue, end_iteration or stop_user",
                "p:7:14: pause: `soon` is not a duration",
                "p:8:14: pause: the range ends before it begins; write the shorter time first",
                "p:9:14: pause: the duration is missing",
                "p:10:13: list: a list of URLs can't be a step; write its requests one by one",
            ],
        ),
        (
            "scenario:\n- { get: '/{{ order }}' }\n- set: { order: '{{ ordr }}' }\n- { get: '/{{ ordre }}' }\n- { call: a.B/C }\nrate: 1",
            &[
                "p:6:14: get: the variable `order` is read before any step sets it",
                "p:7:21: order: templates have no variable `ordr`",
                "p:8:14: get: templates have no variable `ordre`",
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
                "p:6:14: templates already have `uuid`; choose another name",
                "p:6:23: `2x` can't be a name in templates",
                "p:6:30: templates already have `range`; choose another name",
                "p:6:43: a: `connection` belongs to a request, and variables are set before there \
                 is one",
                "p:6:66: b: the variable `b` is read before any step sets it",
            ],
        ),
        (
            "headers: { X: '{{ a }}' }\nscenario:\n- { get: / }\n- set: { a: 1 }\n- { get: /b }\nrate: 1",
            &["p:5:19: X: the field `X`: the variable `a` is read before any step sets it"],
        ),
    ] {
        refused(pool, expected);
    }
}

const JUMPS: &str = "\
users: 2
scenario:
- set: { n: '{{ random_int(1, 3) }}' }
- if: n > 1
  do:
  - { get: /a, take: { state: body } }
  else:
  - pause: until 2s
  - pause: at least 3s
- repeat: '{{ n }}'
  as: pass
  until: state == 'done'
  do:
  - { get: '/b/{{ pass }}', on_fail: 'retry(2, 10ms) end_iteration' }
  - repeat: 2
    do: [ pause: 1ms ]
- { get: '/c/{{ state }}', on_fail: stop_user }
";

/// A step as its numbers.
fn shown(step: &Step) -> String {
    match step {
        Step::Request {
            request,
            retry,
            on_failure,
            ..
        } => format!(
            "send {request} {} {} {on_failure:?}",
            retry.times, retry.rest
        ),
        Step::Pause(pause) => format!("pause {pause}"),
        Step::PauseGiven(_) => "pause given".to_owned(),
        Step::Until(time) => format!("until {time}"),
        Step::AtLeast(time) => format!("at least {time}"),
        Step::Set { variable, .. } => format!("set {}", variable.0),
        Step::If { otherwise, .. } => format!("else {otherwise}"),
        Step::Jump(to) => format!("jump {to}"),
        Step::Repeat {
            counter,
            passes,
            index,
            end,
        } => {
            let passes = match passes {
                Passes::Fixed(passes) => passes.to_string(),
                Passes::Given(_) => "given".to_owned(),
            };
            let index = index.map(|index| index.0);
            format!("repeat {} {passes} {index:?} {end}", counter.0)
        }
        Step::Again { counter, start, .. } => format!("again {} {start}", counter.0),
        Step::End => "end".to_owned(),
    }
}

#[test]
fn conditions_and_loops_become_jumps() {
    let plan = plan(JUMPS).expect("a plan");
    let scenarios = plan.first().program.scenarios().expect("steps");
    let steps: Vec<String> = scenarios.steps().iter().map(shown).collect();
    let expected = [
        "set 0",
        "else 4",
        "send 0 0 0 Continue",
        "jump 6",
        "until 2s",
        "at least 3s",
        "repeat 0 given Some(2) 14",
        "send 1 2 10ms EndIteration",
        "repeat 1 2 None 11",
        "pause 1ms",
        "again 1 9",
        "else 13",
        "jump 14",
        "again 0 7",
        "send 2 0 0 StopUser",
        "end",
    ];
    assert_eq!(steps, expected);
    assert_eq!(scenarios.extent().requests, 1 + 1000 * 3 + 1);
}

#[test]
fn scenarios_and_requests_have_weights() {
    let several = "\
rate: 5
mix: blocks
scenarios:
  look:
  - get: /
  buy: { weight: 2, steps: [ { get: /a, take: { a: status } }, { get: '/{{ a }}' } ] }
";
    let plan_of = |text: &str| plan(text).expect("a plan");
    let plan = plan_of(several);
    let scenarios = plan.first().program.scenarios().expect("steps");
    assert_eq!(scenarios.starts(), [0, 2]);
    let starts: Vec<u32> = (0..4).map(|n| scenarios.start(n, 1)).collect();
    assert_eq!(starts, [0, 2, 2, 0]);
    let plan = plan_of("rate: 5\nrequests:\n- { get: /, weight: 3 }\n- get: /b");
    let Program::Requests(choice) = &plan.first().program else {
        panic!("a list");
    };
    let taken: Vec<u32> = (0..4).map(|n| choice.pick(n, 2, 1)).collect();
    assert_eq!(taken, [0, 0, 1, 0]);
}

#[test]
fn what_is_wrong_with_jumps_is_said_with_its_place() {
    for (pool, expected) in [
        (
            "users: 1\nscenario:\n- get: /\n- { if: 'a > 1', do: [ get: / ] }\n- { if: 1 = 1, do: [ get: / ] }",
            &[
                "p:8:13: if: templates have no variable `a`",
                "p:9:13: if: unexpected input after expression; write `==` instead of `=`",
            ][..],
        ),
        (
            "users: 1\nscenario:\n- get: /\n- { if: '1 == 1' }\n- { repeat: 3 }\n- { do: [ get: / ] }\n- { repeat: 2, pause: 1s }",
            &[
                "p:8:7: scenario: an `if` needs a condition, such as `if: total > 0`, and steps",
                "p:9:7: scenario: a `repeat` needs a number, such as `repeat: 3`, and steps in \
                 `do`",
                "p:10:7: scenario: `do` belongs to an `if` or a `repeat`",
                "p:11:7: scenario: `repeat` and `pause` can't be in one step",
            ],
        ),
        (
            "users: 1\nscenario:\n- repeat: often\n  do: [ get: / ]\n- repeat: '{{ x }}'\n  do: [ get: / ]",
            &[
                "p:7:15: repeat: `often` is not a number of repetitions; write a number such as 3, \
                 or a template",
                "p:9:15: repeat: templates have no variable `x`",
            ],
        ),
        (
            "users: 1\nscenario:\n- repeat: 5000\n  do:\n  - repeat: 5000\n    do: [ get: / ]",
            &[
                "p:7:15: repeat: an iteration would run more than 1,000,000 steps; reduce the \
                 repetitions",
            ],
        ),
    ] {
        refused(pool, expected);
    }
}

#[test]
fn steps_are_nested_so_deep_and_no_deeper() {
    let steps = (0..20).fold(String::new(), |text, n| {
        let indent = "  ".repeat(n);
        text + &format!("{indent}- repeat: 1\n{indent}  do:\n")
    });
    let pool = format!("users: 1\nscenario:\n{steps}{}- get: /", "  ".repeat(20));
    let message = "p:39:47: repeat: steps can be nested at most 16 deep";
    refused(&pool, &[message]);
}

#[test]
fn what_is_wrong_with_failures_and_weights_is_said_with_its_place() {
    for (pool, expected) in [
        (
            "users: 1\nscenario:\n- { get: /, on_fail: retry(0) }\n- { get: /, on_fail: 'retry(2,soon)' }\n- { get: /, on_fail: retry(1) stop }\n- { get: /, weight: 2 }",
            &[
                "p:7:26: on_fail: unknown action `retry(0)`",
                "p:8:26: on_fail: unknown action `retry(2,soon)`",
                "p:9:26: on_fail: unknown action `retry(1) stop`",
                "p:10:25: weight: steps run in order and can't have weights",
            ][..],
        ),
        (
            "rate: 1\nthink: 1s\npace: 2s\nrequests: [ get: / ]",
            &[
                "p:6:12: think: users pause only in the closed model; leave it out, or `rate`",
                "p:7:11: pace: users pause only in the closed model",
            ],
        ),
        (
            "users: 1\nrequests: [ { get: /, weight: 0 } ]",
            &["p:6:35: weight: every weight is 0"],
        ),
        (
            "users: 1\nmix: mad\nrequests: [ { get: /, weight: 100001 }, get: /b ]",
            &[
                "p:6:10: mix: unknown mix `mad`; use `spread`, `blocks` or `random`",
                "p:7:35: weight: the weights, divided by their common divisor, add up to more than \
                 100000",
            ],
        ),
        (
            "users: 1\nscenarios: { a: [ get: / ], b: {} }",
            &["p:6:33: a scenario needs `steps`"],
        ),
        (
            "users: 1\nscenario: [ get: / ]\nscenarios: { a: [ get: / ] }",
            &["p:7:18: a pool has either `scenario` or `scenarios`"],
        ),
        (
            "users: 1\nscenarios: { a: [ get: / ], c: [ pause: 1s ] }",
            &["p:6:33: there is nothing to send; give at least one request"],
        ),
    ] {
        refused(pool, expected);
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
    let plan = plan(TAKING).expect("a plan");
    let pool = plan.first();
    let scenarios = pool.program.scenarios().expect("steps");
    let takes = scenarios.steps().iter().filter_map(|step| match step {
        Step::Request { takes, .. } => Some(takes.to_vec()),
        _ => None,
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

/// Templates that depend on a value from a response can be judged only during the run; all others
/// are judged before.
#[test]
fn templates_of_taken_values_are_not_judged_by_a_stand_in() {
    let with = |get: &str| {
        let get = get.replace('\'', "''");
        format!(
            "users: 1\nscenario:\n- {{ get: /, take: {{ all: json $.items, b: json $.b }} }}\n\
             - repeat: 2\n  as: n\n  do:\n  - get: '/x{get}'\n    headers: {{ X-A: '{get}' }}\n"
        )
    };
    for get in [
        "{% for i in all | fromjson %}{{ i.id }}{% endfor %}",
        "{{ all | fromjson | length }}",
        "{{ all | fromjson | first }}",
        "{{ all | fromjson | join(',') }}",
        "{{ all | fromjson | sum }}",
        "{{ all | fromjson | map(attribute='id') | join }}",
        "{{ (all | fromjson)[0].id }}",
        "{{ choose(all | fromjson) }}",
        "{{ (b | split('|'))[1] }}",
        "{{ 10 / (b - 1) }}",
        "{{ 10 / (n - 1) }}",
    ] {
        let made = plan(&with(get));
        made.unwrap_or_else(|error| panic!("{get}: {error:?}"));
    }
    let set = "users: 1\nscenario:\n- { get: /, take: { b: json $.b } }\n\
               - set: { one: '{{ (b | split(\"|\"))[1] }}' }\n- set: { two: '{{ one | fromjson }}' }\n\
               - get: '/{{ (two | fromjson).id }}'\n";
    plan(set).expect("values of values");
    for (get, part) in [
        ("{{ all | nofilter }}", "nofilter"),
        ("{{ nofunction(all) }}", "nofunction"),
        ("{{ other ~ all }}", "no variable `other`"),
        ("{{ all | }}", "unexpected"),
        ("{{ js('f', all) }}", "no `script`"),
        ("{{ 1 / 0 }}", "divides by 0"),
        (" {{ all }}", "a space"),
    ] {
        let found = plan(&with(get)).expect_err(get);
        let said = found.iter().any(|one| one.to_string().contains(part));
        assert!(said, "{get}: {found:?}");
    }
}

/// A later step of a loop may set the variable that an earlier step tests for existence.
#[test]
fn whether_a_variable_is_defined_is_asked_before_a_step_sets_it() {
    let steps = "users: 1\nscenario:\n- repeat: 3\n  do:\n  - if: cursor is not defined\n    do: [ get: /first ]\n  \
                 - { get: /next, take: { cursor: json $.next } }\n";
    plan(steps).expect("a plan");
    let unknown = "users: 1\nscenario:\n- { if: curser is defined, do: [ get: / ] }\n";
    refused(
        unknown,
        &["p:7:13: if: templates have no variable `curser`"],
    );
}

/// In the first pass of a loop, a later step has not taken a value yet.
#[test]
fn templates_may_ask_for_what_a_later_step_takes() {
    let steps = "users: 1\nscenario:\n- repeat: 2\n  do:\n  \
                 - get: \"/a{{ cursor | default('-') }}\"\n  \
                 - get: \"/b{% if cursor is defined %}{{ cursor }}{% endif %}\"\n  \
                 - { get: /, take: { cursor: status } }\n";
    let plan_of = plan(steps).expect("a plan");
    let targets = |variables: &Variables| {
        let context = RequestContext {
            variables: Some(Arc::new(variables.clone())),
            ..RequestContext::default()
        };
        [0, 1].map(|request: usize| {
            let mut target = String::new();
            let data = plan_of.first().requests[request].data.as_ref();
            let data = data.expect("a template");
            data.target(&context, &mut target).expect("a target");
            target
        })
    };
    let mut variables = Variables::new(1);
    assert_eq!(targets(&variables), ["/a-", "/b"]);
    variables.set(VariableId(0), Ok("7"));
    assert_eq!(targets(&variables), ["/a7", "/b7"]);
    for read in [
        "{{ cursor }}",
        "{{ cursor | upper }}",
        "{{ cursors | default(1) }}",
    ] {
        let step = format!("- {{ get: \"/{read}\", take: {{ cursor: status }} }}\n");
        plan(&format!("users: 1\nscenario:\n{step}")).expect_err(read);
    }
}

#[test]
fn what_is_wrong_with_looks_is_said_with_its_place() {
    for (pool, expected) in [
        (
            "requests: [ { get: /, take: { a: status } } ]\nrate: 1",
            &["p:5:35: `take` works only in a scenario"][..],
        ),
        (
            "scenario:\n- { get: '/{{ a }}', take: { a: status } }\nrate: 1",
            &["p:6:14: get: the variable `a` is read before any step sets it"],
        ),
        (
            "scenario:\n- { call: a.B/C, expect: { status: 200 } }\nrate: 1",
            &[
                "p:6:40: status: unknown call status `200`; write one such as NOT_FOUND, or a list \
                 such as OK, NOT_FOUND",
            ],
        ),
        (
            "scenario:\n- { get: /, expect: { states: 200 } }\nrate: 1",
            &["p:6:27: `expect` has no key `states`; did you mean `status`?"],
        ),
        (
            "scenario:\n- { get: /, expect: { body_hash: abc, time: soon, status: ok } }\nrate: 1",
            &[
                "p:6:38: body_hash: a hash is an algorithm and a digest",
                "p:6:49: time: `soon` is not a bound on a time; write one such as `<500ms`",
                "p:6:63: status: `ok` is neither a status from 100 to 599",
            ],
        ),
        (
            "scenario:\n- { get: /, expect: { body_hash: xxh3 12\u{e9}4 } }\nrate: 1",
            &[
                "p:6:38: body_hash: `12\u{e9}4` is not a digest by xxh3, which has 16 hexadecimal \
                 digits",
            ],
        ),
        (
            "scenario:\n- { get: /, expect: { body_hash: sha256 ABC sample 5% } }\nrate: 1",
            &[
                "p:6:38: body_hash: `ABC` is not a digest by sha256, which has 64 hexadecimal digits",
            ],
        ),
        (
            "scenario:\n- { get: /, take: { uuid: status, b: jsn $.a, c: 'json $.a[' } }\nrate: 1",
            &[
                "p:6:25: templates already have `uuid`; choose another name",
                "p:6:42: b: unknown kind of value `jsn`; did you mean `json`?",
                "p:6:54: c: write a name in quotes, an index, a slice",
            ],
        ),
    ] {
        refused(pool, expected);
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
