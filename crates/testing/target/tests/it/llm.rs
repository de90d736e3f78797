//! The mock of servers for language models.

#![expect(clippy::unwrap_used, reason = "a client in a test")]

use crate::client::{Client, Reply, start};
use crate::frames;
use drumfire_target::{ArrivalLog, LlmBehaviour, LlmOptions, Running, ServerOptions};
use http::Method;
use serde_json::{Value, json};
use std::num::NonZeroU32;

/// A mock whose behaviour has these parameters, and a log.
fn mock(parameters: &[(&str, &str)]) -> ServerOptions {
    let mut behaviour = LlmBehaviour::default();
    for (name, value) in [("ttft", "5ms"), ("itl", "1ms")].iter().chain(parameters) {
        assert_eq!(behaviour.set(name, value), Ok(true), "{name}");
    }
    ServerOptions {
        arrival_log: ArrivalLog::First(100_000),
        llm: Some(LlmOptions {
            behaviour,
            ..LlmOptions::default()
        }),
        ..ServerOptions::default()
    }
}

fn post(target: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!("POST {target} HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

fn ask(client: &mut Client, target: &str, body: &Value) -> Reply {
    client.send(&post(target, body));
    client.reply()
}

/// A request for a chat of this many tokens.
fn chat(tokens: u32) -> Value {
    json!({
        "model": "m", "stream": true, "max_tokens": tokens, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": "one two three"}],
    })
}

/// The data of the events of a stream.
fn events(body: &str) -> Vec<&str> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.collect()
}

fn parsed(data: &str) -> Value {
    serde_json::from_str(data).unwrap()
}

/// The joined texts at a place of each event.
fn joined(body: &str, pointer: &str) -> String {
    let events = events(body).into_iter().filter(|data| *data != "[DONE]");
    let texts = events.filter_map(|data| {
        let data = parsed(data);
        Some(data.pointer(pointer)?.as_str()?.to_owned())
    });
    texts.collect()
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The log's requests, after its clocks. The server's only thread adds a request before it answers
/// the next one.
fn log(server: &Running) -> Vec<Value> {
    let reply = Client::connect(server).get("/llm/log");
    assert_eq!(
        reply.text().lines().count(),
        server.llm_log().lines().count()
    );
    let mut lines = reply.text().lines().map(parsed);
    let clocks = lines.next().unwrap();
    assert_eq!(clocks["clock"], "CLOCK_MONOTONIC");
    assert_eq!(clocks["lost"], 0);
    assert!(
        clocks["realtime"].as_u64() > Some(1_700_000_000_000_000_000),
        "{clocks}"
    );
    lines.collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    let all = value.as_array().unwrap();
    all.iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn a_chat_has_its_tokens_at_the_times_of_its_laws() {
    let server = start(mock(&[]));
    let mut client = Client::connect(&server);
    let reply = ask(&mut client, "/v1/chat/completions", &chat(20));
    assert_eq!(
        reply.field("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    let data = events(reply.text());
    // The role, 20 tokens, the finish, the usage, the end.
    assert_eq!(data.len(), 24, "{}", reply.text());
    assert_eq!(
        parsed(data[0])["choices"][0]["delta"],
        json!({"role": "assistant", "content": ""})
    );
    assert_eq!(words(&joined(reply.text(), "/choices/0/delta/content")), 20);
    assert_eq!(parsed(data[21])["choices"][0]["finish_reason"], "length");
    let usage = &parsed(data[22])["usage"];
    assert_eq!(
        (&usage["prompt_tokens"], &usage["completion_tokens"]),
        (&json!(3), &json!(20))
    );
    assert_eq!(data[23], "[DONE]");
    let requests = log(&server);
    assert_eq!((requests.len(), server.llm_log().lines().count()), (1, 2));
    let request = &requests[0];
    let (due, written) = (numbers(&request["due"]), numbers(&request["written"]));
    assert_eq!(due[0], request["admitted"].as_u64().unwrap() + 5_000_000);
    assert_eq!(request["admitted"], request["read"]);
    // No lateness adds up.
    assert!(
        due.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000),
        "{due:?}"
    );
    assert!(
        due.iter()
            .zip(&written)
            .all(|(due, written)| written >= due)
    );
    assert_eq!(
        (numbers(&request["tokens"]), &request["end"]),
        (vec![1; 20], &json!("done"))
    );
    let counters = server.stop();
    assert_eq!(
        (counters.requests, counters.responses, counters.faults),
        (1, 1, 0)
    );
}

#[test]
fn every_interface_streams_and_answers_whole_over_both_protocols() {
    let server = start(mock(&[("reasoning", "2"), ("ttft", "1ms")]));
    let message = json!([{"role": "user", "content": "one two three"}]);
    for (target, extra, text, end) in [
        (
            "/v1/chat/completions",
            json!({"messages": message, "max_tokens": 5}),
            "/choices/0/delta/content",
            "[DONE]",
        ),
        (
            "/v1/completions",
            json!({"prompt": "one two three", "max_tokens": 3}),
            "/choices/0/text",
            "[DONE]",
        ),
        (
            "/v1/responses",
            json!({"input": "one two three", "max_output_tokens": 5}),
            "/delta",
            "response.incomplete",
        ),
        (
            "/v1/messages",
            json!({"messages": message, "max_tokens": 5}),
            "/delta/text",
            "message_stop",
        ),
    ] {
        let mut body = json!({"model": "m"});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let mut client = Client::connect(&server);
        let whole = ask(&mut client, target, &body);
        assert_eq!(whole.status, 200, "{}", whole.text());
        assert!(whole.text().contains("_tokens\":"), "{}", whole.text());
        body["stream"] = json!(true);
        let first = ask(&mut client, target, &body);
        let request = frames::request(Method::POST, target);
        let second = frames::run(async {
            let mut client = frames::Client::connect(&server).await;
            client
                .send(request, body.to_string().as_bytes())
                .await
                .unwrap()
        });
        for stream in [first.text(), second.text()] {
            assert!(events(stream).last().unwrap().contains(end), "{stream}");
            // Reasoning of responses has the same field.
            let visible = stream
                .lines()
                .filter(|line| !line.contains("reasoning_text"));
            let visible = visible.collect::<Vec<_>>().join("\n");
            assert_eq!(words(&joined(&visible, text)), 3, "{stream}");
        }
    }
    let requests = log(&server);
    assert_eq!(requests.len(), 12);
    for request in &requests {
        assert_eq!(
            (&request["end"], &request["prompt_tokens"]),
            (&json!("done"), &json!(3))
        );
        assert!(!numbers(&request["written"]).is_empty(), "{request}");
    }
}

#[test]
fn a_tool_is_called_with_arguments_that_are_json() {
    let server = start(mock(&[("tool-calls", "1")]));
    let mut client = Client::connect(&server);
    let mut body = chat(4);
    body["tools"] = json!([{"type": "function", "function": {"name": "weather"}}]);
    let reply = ask(&mut client, "/v1/chat/completions", &body);
    let arguments = joined(
        reply.text(),
        "/choices/0/delta/tool_calls/0/function/arguments",
    );
    assert_eq!(words(parsed(&arguments)["text"].as_str().unwrap()), 4);
    assert!(
        reply.text().contains("\"name\":\"weather\""),
        "{}",
        reply.text()
    );
    assert!(
        reply.text().contains("\"finish_reason\":\"tool_calls\""),
        "{}",
        reply.text()
    );
    let mut body =
        json!({"model": "m", "max_tokens": 3, "messages": body["messages"], "stream": true});
    let reply = ask(&mut client, "/v1/messages", &body);
    let input = joined(reply.text(), "/delta/partial_json");
    assert_eq!(words(parsed(&input)["text"].as_str().unwrap()), 3);
    body["stream"] = json!(false);
    let reply = ask(&mut client, "/v1/messages", &body);
    let block = &parsed(reply.text())["content"][0];
    assert_eq!(
        (
            &block["type"],
            words(block["input"]["text"].as_str().unwrap())
        ),
        (&json!("tool_use"), 3)
    );
}

#[test]
fn the_query_and_a_header_set_what_flags_set() {
    let server = start(mock(&[]));
    let mut client = Client::connect(&server);
    let query =
        "tokens-per-event=2&events-per-write=3&usage=each&role-chunk=none&done=no&line=crlf";
    let reply = ask(
        &mut client,
        &format!("/v1/chat/completions?{query}"),
        &chat(7),
    );
    assert!(reply.text().contains("\r\n\r\n") && !reply.text().contains("[DONE]"));
    let data = events(reply.text());
    // Four events, the finish, the usage.
    assert_eq!(data.len(), 6, "{}", reply.text());
    assert_eq!(parsed(data[1])["usage"]["completion_tokens"], 4);
    let body = chat(3).to_string();
    client.send(
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\
             X-Drumfire: done=bare&bom=yes&event-names=yes\r\nX-Request-Id: r-1\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    );
    let reply = client.reply();
    assert!(
        reply
            .text()
            .starts_with("\u{feff}event: chat.completion.chunk\n"),
        "{}",
        reply.text()
    );
    assert!(reply.text().ends_with("data: [DONE]\n"), "{}", reply.text());
    assert_eq!(reply.field("x-request-id"), Some("r-1"));
    let requests = log(&server);
    assert_eq!(numbers(&requests[0]["tokens"]), [2, 2, 2, 1]);
    // Three events are one write, whose tokens take six gaps.
    let due = numbers(&requests[0]["due"]);
    assert_eq!((due[0], due[3] - due[0]), (due[2], 1_000_000));
    assert_eq!(requests[1]["x_request_id"], "r-1");
}

#[test]
fn mistakes_are_answered_with_their_names() {
    let server = start(mock(&[]));
    for (target, body, status, word) in [
        (
            "/v1/chat/completions?itl=soon",
            chat(1),
            400,
            "itl: `soon` is not a delay",
        ),
        ("/v1/chat/completions", json!({}), 400, "`model` is missing"),
        (
            "/v1/messages",
            json!({"model": "m"}),
            400,
            "\"type\":\"error\"",
        ),
        ("/v1/models", json!({}), 405, "this path needs GET"),
        (
            "/detokenize",
            json!({"tokens": [u32::MAX]}),
            400,
            "unknown token",
        ),
        (
            "/v1/chat/completions?status=429",
            chat(1),
            429,
            "rate_limit_error",
        ),
    ] {
        let reply = ask(&mut Client::connect(&server), target, &body);
        assert_eq!(reply.status, status, "{target}");
        assert!(reply.text().contains(word), "{target}: {}", reply.text());
    }
}

#[test]
fn side_paths_answer() {
    let server = start(mock(&[]));
    let mut client = Client::connect(&server);
    assert_eq!(
        parsed(client.get("/v1/models").text())["data"][0]["id"],
        "drumfire-mock"
    );
    assert_eq!(client.get("/health").status, 200);
    let tokens = ask(
        &mut client,
        "/tokenize",
        &json!({"model": "m", "prompt": "ba Hello, be"}),
    );
    let tokens = parsed(tokens.text());
    assert_eq!(
        (&tokens["count"], &tokens["tokens"][0], &tokens["tokens"][2]),
        (&json!(3), &json!(0), &json!(1))
    );
    let text = ask(
        &mut client,
        "/detokenize",
        &json!({"model": "m", "tokens": tokens["tokens"]}),
    );
    assert_eq!(parsed(text.text()), json!({"prompt": "ba Hello, be"}));
    let vectors = json!({"model": "m", "input": ["one two", "three"]});
    let vectors = parsed(ask(&mut client, "/v1/embeddings", &vectors).text());
    assert_eq!(
        (
            vectors["data"].as_array().unwrap().len(),
            &vectors["usage"]["prompt_tokens"]
        ),
        (2, &json!(3))
    );
    let ranking = json!({"model": "m", "query": "one", "documents": ["a b", "c", "d"], "top_n": 2});
    let ranking = parsed(ask(&mut client, "/v1/rerank", &ranking).text());
    assert_eq!(
        (
            ranking["results"].as_array().unwrap().len(),
            &ranking["usage"]["total_tokens"]
        ),
        (2, &json!(5))
    );
    let metrics = client.get("/metrics");
    assert!(
        metrics.text().contains("vllm:prompt_tokens_total 8\n"),
        "{}",
        metrics.text()
    );
    assert_eq!(log(&server).len(), 2);
}

#[test]
fn a_stream_fails_where_it_is_told() {
    let server = start(mock(&[]));
    let fail = |fault: &str| {
        let mut client = Client::connect(&server);
        let target = format!("/v1/chat/completions?role-chunk=none&stream-fault={fault}@3");
        client.send(&post(&target, &chat(9)));
        client
    };
    for (fault, last) in [("cut", "\"content\""), ("error", "overloaded_error")] {
        let reply = fail(fault).reply();
        let data = events(reply.text());
        assert!(data.last().unwrap().contains(last), "{}", reply.text());
        assert_eq!(
            data.len(),
            3 + usize::from(fault == "error"),
            "{}",
            reply.text()
        );
    }
    let mut closed = fail("close");
    let rest = String::from_utf8(closed.rest().unwrap()).unwrap();
    assert_eq!(rest.matches("\"content\"").count(), 3, "{rest}");
    assert!(!rest.ends_with("0\r\n\r\n"), "{rest}");
    assert!(fail("reset").rest().is_err());
    let reply = fail("bad-json").reply();
    let data = events(reply.text());
    assert!(
        serde_json::from_str::<Value>(data[3]).is_err(),
        "{}",
        reply.text()
    );
    assert_eq!(
        data.iter()
            .filter(|data| data.contains("\"content\":"))
            .count(),
        9
    );
    let mut stalled = fail("stall");
    stalled.head();
    drop(stalled);
    let ended = |server: &Running| log(server).len();
    while ended(&server) < 6 {
        std::thread::yield_now();
    }
    let ends: Vec<Value> = log(&server)
        .iter()
        .map(|request| request["end"].clone())
        .collect();
    assert_eq!(
        ends,
        ["cut", "error", "close", "reset", "done", "cancelled"]
    );
    let counters = server.stop();
    assert_eq!((counters.faults, counters.responses), (4, 1));
}

#[test]
fn prompts_are_cached_in_whole_blocks() {
    let mut options = mock(&[("ttft", "prefill:1ms+1ms/token")]);
    options.llm.as_mut().unwrap().prefix_cache = Some("100,2".parse().unwrap());
    let server = start(options);
    let mut client = Client::connect(&server);
    let mut cached = |prompt: &str| {
        let body = json!({"model": "m", "prompt": prompt, "max_tokens": 1});
        let reply = ask(&mut client, "/v1/completions", &body);
        let usage = &parsed(reply.text())["usage"];
        usage["prompt_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(
        [cached("a b c d e"), cached("a b c d e"), cached("a b x")],
        [0, 4, 2]
    );
    let mut client = Client::connect(&server);
    assert_eq!(
        ask(&mut client, "/reset_prefix_cache", &json!({})).status,
        200
    );
    assert_eq!(cached("a b"), 0);
    let metrics = client.get("/metrics");
    assert!(
        metrics.text().contains("vllm:prefix_cache_hits_total 6\n"),
        "{}",
        metrics.text()
    );
    assert!(
        metrics
            .text()
            .contains("vllm:prefix_cache_queries_total 15\n")
    );
    // Cached tokens take no time.
    let times = log(&server)
        .into_iter()
        .map(|request| numbers(&request["due"])[0] - request["admitted"].as_u64().unwrap());
    assert_eq!(
        times.collect::<Vec<_>>(),
        [6_000_000, 2_000_000, 2_000_000, 3_000_000]
    );
}

#[test]
fn a_full_batch_makes_others_wait_and_a_full_queue_refuses() {
    let mut options = mock(&[]);
    let llm = options.llm.as_mut().unwrap();
    llm.capacity = NonZeroU32::new(1);
    llm.queue = Some(1);
    llm.batch = Some("itl=2ms+1ms*n".parse().unwrap());
    let server = start(options);
    let clients = [0; 3].map(|_| {
        let mut client = Client::connect(&server);
        client.send(&post("/v1/chat/completions", &chat(30)));
        client
    });
    let mut statuses = clients.map(|mut client| client.reply().status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503]);
    let mut requests = log(&server);
    requests.retain(|request| request["end"] == "done");
    let due = |n: usize| numbers(&requests[n]["due"]);
    assert_eq!(due(0)[1] - due(0)[0], 3_000_000);
    assert_eq!(requests[1]["admitted"].as_u64(), due(0).last().copied());
    assert_eq!(requests[0]["admitted"], requests[0]["read"]);
}

#[test]
fn a_client_that_leaves_cancels_its_stream_and_frees_its_seat() {
    let mut options = mock(&[("role-chunk", "now"), ("ttft", "1h")]);
    options.llm.as_mut().unwrap().capacity = NonZeroU32::new(1);
    let server = start(options);
    for _ in 0..2 {
        let mut client = Client::connect(&server);
        client.send(&post("/v1/chat/completions", &chat(5)));
        client.head();
    }
    frames::run(async {
        let mut client = frames::Client::connect(&server).await;
        let request = frames::request(Method::POST, "/v1/chat/completions?ttft=1h");
        let sent = client.send(request, chat(5).to_string().as_bytes());
        let limit = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(limit, sent).await.is_err());
        let request = frames::request(Method::POST, "/v1/chat/completions?ttft=1ms");
        let reply = client.send(request, chat(5).to_string().as_bytes());
        assert_eq!(events(reply.await.unwrap().text()).len(), 9);
    });
    let ends: Vec<Value> = log(&server)
        .iter()
        .map(|request| request["end"].clone())
        .collect();
    assert_eq!(
        ends.iter().filter(|end| *end == "cancelled").count(),
        ends.len() - 1,
        "{ends:?}"
    );
}

#[test]
fn a_connection_carries_one_stream_after_the_other() {
    let server = start(mock(&[("cut-bytes", "7"), ("ping", "2ms")]));
    let mut client = Client::connect(&server);
    let request = post("/v1/chat/completions", &chat(9));
    // The second request comes while the first is answered.
    client.send(&[&request[..], &request[..]].concat());
    for _ in 0..2 {
        let reply = client.reply();
        assert_eq!(words(&joined(reply.text(), "/choices/0/delta/content")), 9);
        assert!(reply.text().contains(": ping\n\n"), "{}", reply.text());
    }
    assert_eq!(client.get("/health").status, 200);
    let body = chat(3).to_string();
    let old = format!(
        "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    client.send(old.as_bytes());
    let rest = String::from_utf8(client.rest().unwrap()).unwrap();
    assert!(
        rest.contains("Connection: close\r\n") && rest.ends_with("data: [DONE]\n\n"),
        "{rest}"
    );
}
