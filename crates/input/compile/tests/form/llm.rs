//! Requests to language models: what a pool's `llm` sends.

use crate::expected;
use drumfire_compile::{Host, compile};
use drumfire_document::form::read;
use drumfire_document::{Diagnostic, Environment};
use drumfire_plan::{
    Arrivals, Growth, HttpRequest, Law, LlmApi, Load, Passes, Plan, RenderedFields, RequestContext,
    Step, VariableId, Variables,
};
use drumfire_units::Nanos;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;

const TRACE: &str = "\
{\"timestamp\":0,\"input_length\":600,\"output_length\":40,\"hash_ids\":[7,8]}
{\"timestamp\":3000,\"input_length\":512,\"output_length\":5,\"hash_ids\":[7]}
";

const SESSIONS: &str = "\
{\"turns\":[{\"user\":\"One?\",\"assistant\":\"Eins.\"},{\"user\":\"Two?\",\"delay\":2}]}
{\"turns\":[{\"user\":\"Three?\"}]}
";

const WEKA: &str = "{\"requests\":[{\"in\":3,\"out\":2,\"hash_ids\":[1]},\
{\"in\":70,\"out\":2,\"hash_ids\":[1,2],\"think_time\":1}]}";

/// A machine with files of prompts.
#[derive(Debug)]
struct Desk;

impl Environment for Desk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "trace.jsonl" => Ok(TRACE.into()),
            "chats.jsonl" => Ok(
                b"{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":7}\n"
                    .to_vec(),
            ),
            "short.jsonl" => Ok(TRACE.replace("[7,8]", "[7]").into()),
            "sessions.jsonl" => Ok(SESSIONS.into()),
            "weka.json" => Ok(WEKA.into()),
            "odd.txt" => Ok(b"a,b\n1,2\n".to_vec()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        }
    }
}

impl Host for Desk {}

fn compiled(pool: &str) -> Result<Plan, Vec<Diagnostic>> {
    let text = format!(
        "drumfire: 1\ngenerator: {{ nonce: 5 }}\npools:\n  p: {{ target: 'http://a.test:8000', {pool} }}\n"
    );
    let document = read(&text, "p")?;
    let host: Arc<dyn Host> = Arc::new(Desk);
    compile(&document, &host)
}

fn plan(pool: &str) -> Plan {
    compiled(pool).unwrap_or_else(|found| panic!("{pool}: {found:#?}"))
}

/// The plan of a list with one prompt.
fn prompt(llm: &str) -> Plan {
    plan(&format!(
        "llm: {{ model: m, {llm} }}, requests: [ llm: prompt ]"
    ))
}

/// The context of a request whose variables are a message.
fn context(number: u64) -> RequestContext {
    let mut variables = Variables::new(10);
    for id in 0..10 {
        variables.set(VariableId(id), Ok("{\"role\":\"user\",\"content\":\"x\"}"));
    }
    RequestContext {
        variables: Some(Arc::new(variables)),
        number,
        arrival: number,
        seed: 1,
        ..RequestContext::default()
    }
}

fn body_of(request: &HttpRequest, number: u64) -> Value {
    let mut bytes = Vec::new();
    match &request.data {
        Some(data) => data
            .message(&context(number), 0, &mut bytes)
            .expect("a body"),
        None => bytes.extend_from_slice(request.body.0.as_deref().unwrap_or_default()),
    }
    let text = String::from_utf8(bytes).expect("text");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn body(plan: &Plan, number: u64) -> Value {
    body_of(&plan.first().requests[0], number)
}

fn words(value: &Value) -> usize {
    value.as_str().unwrap_or_default().split(' ').count()
}

#[test]
fn each_api_has_its_path_and_its_members() {
    for (api, path, members) in [
        (
            "chat",
            "/v1/chat/completions",
            "max_completion_tokens,messages,model,stream,stream_options",
        ),
        (
            "completions",
            "/v1/completions",
            "max_tokens,model,prompt,stream,stream_options",
        ),
        (
            "responses",
            "/v1/responses",
            "input,max_output_tokens,model,store,stream",
        ),
        (
            "messages",
            "/v1/messages",
            "max_tokens,messages,model,stream",
        ),
        ("embeddings", "/v1/embeddings", "input,model"),
        ("rerank", "/v1/rerank", "documents,model,query"),
    ] {
        let plan = prompt(&format!("api: {api}"));
        let request = &plan.first().requests[0];
        assert_eq!(
            (request.url.target.as_str(), request.method.as_str()),
            (path, "POST")
        );
        assert_eq!(request.step, path);
        let body = body(&plan, 3);
        let names: Vec<&str> = body
            .as_object()
            .expect("an object")
            .keys()
            .map(|k| &**k)
            .collect();
        assert_eq!(names.join(","), members, "{api}");
        assert_eq!(body["model"], "m");
        let read = request.events.and_then(|events| events.answer);
        assert_eq!(read.map(LlmApi::name), Some(api));
        let has = |name| request.headers.iter().any(|field| field.is(name));
        assert!(has("content-type"));
        assert_eq!(has("anthropic-version"), api == "messages");
    }
    let plan = prompt("path: /x/chat/completions, stream: false");
    assert_eq!(plan.first().requests[0].url.target, "/x/chat/completions");
    assert!(body(&plan, 0).get("stream").is_none());
}

#[test]
fn prompts_have_the_lengths_of_their_laws() {
    let plan = prompt("input: 'uniform:10,20', output: 'uniform:3,5', prefix: 'pool=2,tokens=30'");
    for number in 0..50 {
        let body = body(&plan, number);
        assert_eq!(body["messages"][0]["role"], "user");
        let count = words(&body["messages"][0]["content"]);
        assert!((40..=50).contains(&count), "{body}");
        let limit = body["max_completion_tokens"].as_u64();
        assert!(
            limit.is_some_and(|limit| (3..=5).contains(&limit)),
            "{body}"
        );
    }
    assert_eq!(body(&plan, 7), body(&plan, 7));
    assert_ne!(body(&plan, 7), body(&plan, 8));
    let free = body(&prompt("output: free"), 0);
    assert!(free.get("max_completion_tokens").is_none());
    assert_eq!(words(&free["messages"][0]["content"]), 128);
}

#[test]
fn a_plan_may_add_members_and_remove_them() {
    let plan = prompt(
        "exact_output: true, continuous_usage: true, output: 9, \
         extra: { temperature: 0, user: 'u {{request_number}}', max_completion_tokens: null }",
    );
    let body = body(&plan, 4);
    assert_eq!(body["user"], "u 4");
    assert_eq!(body["temperature"], json!(0));
    assert_eq!(
        (&body["min_tokens"], &body["ignore_eos"]),
        (&json!(9), &json!(true))
    );
    let options = json!({ "include_usage": true, "continuous_usage_stats": true });
    assert_eq!(body["stream_options"], options);
    assert!(body.get("max_completion_tokens").is_none());
}

#[test]
fn given_prompts_are_templates() {
    let plan = prompt("prompt: 'Say \"{{request_number}}\"'");
    assert_eq!(body(&plan, 4)["messages"][0]["content"], "Say \"4\"");
    let plan = prompt(
        "messages: [ { role: system, content: 'Be \"brief\"' }, { role: user, content: '{{request_number}}' } ]",
    );
    let messages = json!([
        { "role": "system", "content": "Be \"brief\"" },
        { "role": "user", "content": "2" },
    ]);
    assert_eq!(body(&plan, 2)["messages"], messages);
}

#[test]
fn models_are_chosen_by_their_weights() {
    let plan = plan("llm: { model: 'a:3,b:1' }, requests: [ llm: prompt ]");
    let b = (0..400)
        .filter(|number| body(&plan, *number)["model"] == "b")
        .count();
    assert!((60..140).contains(&b), "{b}");
    let plan = prompt("input: 1").first().requests.len();
    assert_eq!(plan, 1);
    let colon = self::plan("llm: { model: 'llama3:8b' }, requests: [ llm: prompt ]");
    assert_eq!(body(&colon, 0)["model"], "llama3:8b");
}

#[test]
fn a_key_is_sent_in_the_field_of_its_api() {
    for (api, name, value) in [
        ("chat", "authorization", "Bearer sk-1"),
        ("messages", "x-api-key", "sk-1"),
    ] {
        let plan = prompt(&format!("api: {api}, key: sk-1"));
        let fields = &plan.first().requests[0].headers;
        let found = fields.iter().find(|field| field.is(name)).expect(name);
        assert_eq!(found.value(), value.as_bytes());
    }
    let own = plan(
        "headers: { Authorization: Basic x }, llm: { model: m, key: sk-1 }, requests: [ llm: prompt ]",
    );
    let fields = &own.first().requests[0].headers;
    let all: Vec<_> = fields
        .iter()
        .filter(|field| field.is("authorization"))
        .collect();
    assert_eq!((all.len(), all[0].value()), (1, &b"Basic x"[..]));
}

#[test]
fn each_step_of_a_scenario_has_its_own_prompts() {
    let plan = plan(
        "users: 1, llm: { model: m }, scenario: [ { get: / }, { llm: prompt, name: one }, { repeat: 2, do: [ { llm: prompt, name: two } ] } ], stop: { iterations: 1 }",
    );
    let requests = &plan.first().requests;
    let steps: Vec<&str> = requests.iter().map(|request| &*request.step).collect();
    assert_eq!(steps, ["/", "one", "two"]);
    assert_ne!(body_of(&requests[1], 0), body_of(&requests[2], 0));
    let mut fields = RenderedFields::default();
    let data = requests[1].data.as_ref().expect("data");
    data.fields(&context(0), &mut fields).expect("fields");
    assert!(fields.is_empty());
}

#[test]
fn a_trace_has_its_prompts_and_its_times() {
    let plan = prompt("trace: { file: trace.jsonl, speed: 2 }");
    let pool = plan.first();
    let times = [Nanos::ZERO, Nanos::from_millis(1_500)];
    match &pool.load {
        Load::Open { rate, arrivals, .. } => {
            assert_eq!(
                rate.0,
                [Law::Trace {
                    times: times.into()
                }]
            );
            assert_eq!(*arrivals, Arrivals::Constant);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((pool.stop.requests, pool.stop.duration), (Some(2), None));
    let (first, second) = (body(&plan, 0), body(&plan, 1));
    let of = |body: &Value| {
        body["messages"][0]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(of(&first).starts_with(&of(&second)));
    assert_eq!(first["max_completion_tokens"], json!(40));
    let chats = body(
        &prompt("same_prompts: true, trace: { file: chats.jsonl }"),
        0,
    );
    assert_eq!(
        chats["messages"],
        json!([{ "role": "user", "content": "Hi" }])
    );
    assert_eq!(chats["max_completion_tokens"], json!(7));
    let law = body(&prompt("output: 3, trace: { file: trace.jsonl }"), 0);
    assert_eq!(law["max_completion_tokens"], json!(3));
}

#[test]
fn a_budget_bounds_the_requests() {
    let plan = prompt("input: 80, output: 20, budget_tokens: 1050");
    assert_eq!(plan.first().stop.requests, Some(10));
}

#[test]
fn mistakes_in_prompts_are_named_at_their_keys() {
    refuse(&[
        ("input: x", "p:4:"),
        ("api: chats", "unknown API `chats`"),
        ("output: 0", "from 1 to 1048576"),
        ("prompt: hi, input: 5", "the prompt is given"),
        ("prompt: hi, same_prompts: true", "leave `same_prompts` out"),
        ("messages: 5", "a list of objects with a role"),
        (
            "api: completions, messages: [ { role: user } ]",
            "use `prompt`",
        ),
        ("extra: [ 1 ]", "a JSON object"),
        (
            "exact_output: true, output: free",
            "needs a number of tokens",
        ),
        ("api: messages, output: free", "requires a maximum"),
        ("api: embeddings, output: 5", "no answers of tokens"),
        (
            "stream: false, continuous_usage: true",
            "need streamed answers",
        ),
        ("budget_tokens: 5", "more tokens than the budget"),
        ("prefix: 5", "unknown setting `5`"),
    ]);
}

#[test]
fn mistakes_in_traces_are_named_at_their_keys() {
    refuse(&[
        ("trace: { speed: 1 }", "without the file of a trace"),
        ("trace: { file: none.jsonl }", "can't read none.jsonl"),
        (
            "trace: { file: odd.txt }",
            "the format of odd.txt is unknown; set `format` to one of",
        ),
        (
            "trace: { file: short.jsonl }",
            "short.jsonl:1: `hash_ids` has 1 blocks of 512 tokens, but 600 tokens need 2",
        ),
        (
            "trace: { file: chats.jsonl, speed: 1 }",
            "the trace has no times",
        ),
        (
            "trace: { file: chats.jsonl }, api: completions",
            "the trace has messages",
        ),
        ("trace: { file: trace.jsonl, sample: 5 }", "is not a share"),
        (
            "trace: { file: trace.jsonl, speed: fast }",
            "`fast` is not a speed",
        ),
        (
            "trace: { file: trace.jsonl }, input: 5",
            "the lengths of its prompts",
        ),
    ]);
}

/// Asserts that each `llm` of a pool is refused with a message.
fn refuse(mistakes: &[(&str, &str)]) {
    for (llm, message) in mistakes {
        let found = compiled(&format!(
            "llm: {{ model: m, {llm} }}, requests: [ llm: prompt ]"
        ));
        let found = found.map(drop).expect_err(llm);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(
            texts.iter().any(|text| text.contains(message)),
            "{llm}: {texts:#?}"
        );
    }
}

#[test]
fn mistakes_in_pools_with_prompts_are_named() {
    for (pool, message) in [
        ("requests: [ llm: prompt ]", "p:4:"),
        ("llm: { model: m }, requests: [ get: / ]", "p:4:"),
        ("llm: { model: m }, requests: [ llm: chat ]", "p:4:"),
        (
            "llm: { model: m, trace: { file: trace.jsonl, speed: 1 } }, rate: 5, requests: [ llm: prompt ]",
            "p:4:",
        ),
        (
            "llm: { model: m, trace: { file: trace.jsonl } }, requests: [ llm: prompt, llm: prompt ]",
            "p:4:",
        ),
        (
            "llm: { model: m }, requests: [ { llm: prompt, body: x } ]",
            "p:4:",
        ),
    ] {
        let found = compiled(pool).map(drop).expect_err(pool);
        expected::begin_with(&found, &[message], pool);
    }
}

/// The steps of a plan's scenario, in words.
fn steps(plan: &Plan) -> Vec<String> {
    let scenarios = plan.first().program.scenarios().expect("steps");
    let steps = scenarios.steps().iter().map(|step| match step {
        Step::Request {
            request,
            on_failure,
            ..
        } => format!("request {request} {on_failure:?}"),
        Step::Repeat { passes, .. } => match passes {
            Passes::Fixed(passes) => format!("repeat {passes}"),
            Passes::Given(_) => "repeat".to_owned(),
        },
        Step::PauseGiven(_) => "pause".to_owned(),
        Step::Pause(pause) => format!("pause {pause}"),
        Step::Set { .. } => "set".to_owned(),
        Step::If { .. } => "if".to_owned(),
        Step::Jump(_) => "jump".to_owned(),
        Step::Again { .. } => "again".to_owned(),
        Step::End => "end".to_owned(),
        other => format!("{other:?}"),
    });
    steps.collect()
}

fn names(plan: &Plan) -> Vec<&str> {
    let requests = plan.first().requests.iter();
    requests.map(|request| request.step.as_str()).collect()
}

#[test]
fn a_session_is_an_iteration_with_a_loop_for_each_group_of_turns() {
    let made = prompt("turns: 3, turn_delay: 1s");
    assert_eq!(names(&made), ["turn 1", "turn 2", "turn 3"]);
    let turn = |n| format!("request {n} EndIteration");
    let expected = [
        "set",
        &*turn(0),
        "set",
        "repeat",
        "pause",
        "set",
        &*turn(1),
        "set",
        "again",
        "repeat",
        "pause",
        "set",
        &*turn(2),
        "set",
        "again",
        "end",
    ];
    assert_eq!(steps(&made), expected);
    let made = prompt("turns: 'uniform:1,40'");
    let grouped = ["turn 1", "turn 2", "turns 3-5", "turns 6-10", "turns 11+"];
    assert_eq!(names(&made), grouped);
    // One turn has no group, and -n counts sessions.
    let made = plan(
        "llm: { model: m, turns: 1 }, requests: [ llm: prompt ], users: 1, stop: { requests: 7 }",
    );
    assert_eq!(made.first().stop.requests, None);
    assert_eq!(made.first().stop.iterations, Some(7));
    assert_eq!(steps(&made), ["set", &*turn(0), "set", "end"]);
}

#[test]
fn traces_of_sessions_have_their_contexts() {
    let trace = |rest: &str| prompt(&format!("trace: {{ file: sessions.jsonl }}, {rest}"));
    let made = trace("context: recorded");
    assert_eq!(names(&made), ["turn 1", "turn 2"]);
    assert_eq!(made.first().stop.iterations, Some(2));
    let made = prompt("trace: { file: weka.json }");
    assert_eq!(steps(&made)[..2], ["request 0 EndIteration", "repeat"]);
    let body = body(&made, 0);
    assert_eq!(body["max_completion_tokens"], 2);
    assert_eq!(words(&body["messages"][0]["content"]), 3);
    for (llm, part) in [
        ("turns: 2, api: completions", "only the APIs `chat`"),
        ("turns: 1001", "at most 1000 turns"),
        ("turn_delay: 1s", "no effect without `turns`"),
        ("context: live", "no effect without `turns`"),
        ("turns: 2, context: whole", "only traces with whole prompts"),
        ("trace: { file: weka.json }, context: live", "use `whole`"),
        (
            "trace: { file: sessions.jsonl }, turns: 2",
            "has its own turns",
        ),
        (
            "turns: 2, messages: [ { role: user, content: a } ]",
            "use `prompt`",
        ),
        ("tools: [ 1 ]", "tools are a list of objects"),
        (
            "tools: [ { a: 1 } ], api: completions",
            "tools need the API",
        ),
        (
            "tools: [ { type: function, function: { name: a } } ], api: responses",
            "the tools have the form of the API `chat`; for `responses`, write",
        ),
        (
            "tools: [ { type: function, function: { name: a } } ], api: messages",
            "for `messages`, write",
        ),
        (
            "tools: [ { a: 1 } ], budget_tokens: 9",
            "can't be counted before",
        ),
        ("tool_time: 1s", "without `tools`"),
        (
            "trace: { file: weka.json }, tools: [ { a: 1 } ]",
            "context `live`",
        ),
    ] {
        let found = compiled(&format!(
            "llm: {{ model: m, {llm} }}, requests: [ llm: prompt ]"
        ));
        let found = format!("{:?}", found.expect_err(llm));
        assert!(found.contains(part), "{llm}: {found}");
    }
}

#[test]
fn tools_are_asked_again_until_an_answer_calls_none() {
    let made = prompt("tools: [ { type: function, function: { name: f } } ], tool_time: 2s");
    let expected = [
        "set",
        "repeat 20",
        "request 0 EndIteration",
        "set",
        "if",
        "pause 2s",
        "set",
        "if",
        "jump",
        "again",
        "end",
    ];
    assert_eq!(steps(&made), expected);
    let tools = &body(&made, 0)["tools"];
    assert_eq!(tools[0]["function"]["name"], "f");
}

#[test]
fn connections_can_be_opened_first() {
    let made = |rest: &str| {
        let plan = plan(&format!(
            "requests: [ get: / ], rate: 5/s, connect_first: true{rest}"
        ));
        let connections = &plan.first().connections;
        (connections.count, connections.growth)
    };
    assert_eq!(made(""), (1_000, Growth::Ahead));
    assert_eq!(made(", users: 7"), (7, Growth::Ahead));
    assert_eq!(made(", connections: 9"), (9, Growth::Ahead));
    let found =
        compiled("requests: [ get: / ], rate: 5/s, connect_first: true, connections: as_needed");
    let found = format!("{:?}", found.expect_err("a contradiction"));
    assert!(found.contains("leave one of the two out"), "{found}");
}

#[test]
fn braces_of_given_texts_can_be_literal() {
    let made = plan(
        "llm: { model: m, prompt: 'a {{ b }} c' }, requests: [ llm: prompt ], templates: none",
    );
    assert_eq!(body(&made, 0)["messages"][0]["content"], "a {{ b }} c");
}
