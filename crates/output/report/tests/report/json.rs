//! The JSON contract: real output against its schema, and the promises that a schema cannot make.

use crate::fixture;
use base64::Engine as _;
use drumfire_compare::contract::{cluster, info, runs};
use drumfire_measure::{
    AskedBody, AskedCall, AskedLaw, AskedLoad, AskedSequence, AskedStep, AskedStop, Digest, Model,
    Outcome, RunEvent, RunInfo, Summary, Unfinished,
};
use drumfire_plan::{
    Change, Churn, Command, Growth, HttpVersion, KeepAlive, LatePolicy, Life, Pause, StopReason,
    Streaming, Threshold, UserSteps, VariableId,
};
use drumfire_report::json;
use drumfire_report::run_list::{Labelled, Listed};
use drumfire_units::Nanos;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

const SCHEMA: &str = include_str!("../../../../../docs/schema/drumfire.summary.v1.json");

fn document(run: &Summary) -> Value {
    serde_json::from_slice(&json::summary(run)).unwrap()
}

/// Forbids every field that the schema does not name, so that none stays undocumented.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            map.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn every_run_satisfies_the_schema() {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, run) in fixture::all() {
        let document = document(&run);
        let faults: Vec<_> = validator
            .iter_errors(&document)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
    let mut broken = document(&fixture::open());
    broken["requests"]["sent"] = Value::from("many");
    assert!(!validator.is_valid(&broken), "the schema forbids something");
    let mut extra = document(&fixture::open());
    extra["latency"]["lag"]["p50"] = Value::from(1);
    assert!(!validator.is_valid(&extra), "unknown fields are found");
}

/// Compares a document with its schema, and with what its type makes of it.
fn check<T: Serialize + DeserializeOwned>(schema: &str, json: &[u8]) {
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let document: Value = serde_json::from_slice(json).unwrap();
    let faults = validator.iter_errors(&document);
    let faults: Vec<String> = faults.map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?} in {document:#}");
    let read: T = serde_json::from_slice(json).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), document);
}

#[test]
fn the_facts_of_runs_satisfy_their_schemas() {
    let info_schema = include_str!("../../../../../docs/schema/drumfire.info.v1.json");
    let runs_schema = include_str!("../../../../../docs/schema/drumfire.runs.v1.json");
    for (name, run) in fixture::all() {
        check::<info::Document>(info_schema, &json::facts(&run.info));
        let digest = Digest::from_summary(&run);
        let tags = ["nightly".to_owned()];
        let labelled = Labelled {
            tags: &tags,
            note: "before the upgrade",
        };
        let readable = Listed {
            id: name,
            began: "",
            labels: Ok(labelled),
            run: Ok(&digest),
            unfinished: Some(Unfinished {
                is_active: true,
                done: Nanos::from_secs(14),
                planned: Some(Nanos::from_secs(45)),
            }),
            exit: Some(0),
            is_elsewhere: true,
        };
        let unreadable = Listed {
            labels: Err("no labels"),
            run: Err("no record"),
            unfinished: None,
            exit: None,
            ..readable
        };
        check::<runs::Document>(runs_schema, &json::runs(&[readable, unreadable]));
    }
}

#[test]
fn events_satisfy_their_schema() {
    let schema = include_str!("../../../../../docs/schema/drumfire.event.v1.json");
    let text = "deployed".to_owned();
    let reason = StopReason::Signal;
    let changes = [
        Change::Pause,
        Change::Resume,
        Change::Mark { text },
        Change::Stop { reason },
    ];
    let changes = changes.map(|change| {
        let command = Command {
            at: Nanos(7),
            ..Command::soon(change)
        };
        RunEvent::Changed(Arc::new(command))
    });
    let run = Arc::new(fixture::open());
    let started = RunEvent::Started(run.info.clone());
    let ends = [RunEvent::Stopping { reason }, RunEvent::Finished(run)];
    for event in [started].into_iter().chain(changes).chain(ends) {
        check::<info::Line>(schema, &json::event(&event, 1_000_000_000).unwrap());
    }
    let unknown = br#"{"time": "1970-01-01T00:00:01Z", "event": "changed", "at_ns": 7}"#;
    assert!(serde_json::from_slice::<info::Line>(unknown).is_err());
}

#[test]
fn clusters_satisfy_their_schema() {
    let schema = include_str!("../../../../../docs/schema/drumfire.cluster.v1.json");
    let agent = |shares| cluster::Agent {
        name: "a1".to_owned(),
        state: "waits".to_owned(),
        version: "1.0".to_owned(),
        cores: 2,
        shares,
        shares_of: shares,
        clock_ahead_ns: shares.map(|_| -1_000),
        clock_uncertainty_ns: shares.map(|_| 500),
        silent_ns: 3,
        reported_ns: 4,
        sent: 5,
        dropped: 6,
        lag_mean_ns: 7,
        lag_max_ns: 8,
    };
    let run = cluster::Run {
        run: "r".to_owned(),
        term: 1,
        agents_wanted: 2,
        elapsed_ns: None,
        is_over: false,
        agents: vec![agent(None), agent(Some(6))],
    };
    check::<cluster::Document>(schema, &json::cluster(vec![run]));
}

#[test]
fn the_schema_has_every_outcome() {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let kind = &mut schema["$defs"]["Error"]["properties"]["kind"];
    let validator = jsonschema::validator_for(kind).unwrap();
    for outcome in Outcome::ALL {
        assert!(
            validator.is_valid(&Value::from(outcome.name())),
            "{}",
            outcome.name()
        );
    }
    assert!(!validator.is_valid(&Value::from("a:b:c:d")));
}

#[test]
fn the_first_keys_are_those_of_the_contract() {
    let text = String::from_utf8(json::summary(&fixture::open())).unwrap();
    let keys = [
        "schema", "run", "verdict", "requests", "rate", "bytes", "latency", "status",
    ];
    let places: Vec<_> = keys
        .iter()
        .map(|key| text.find(&format!("\n  \"{key}\":")))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?}"
    );
    assert!(text.ends_with("}\n"));
}

#[test]
fn numbers_are_the_summary_s() {
    let run = fixture::open();
    let document = document(&run);
    assert_eq!(document["schema"], "drumfire.summary.v1");
    assert_eq!(
        document["run"]["started_at"],
        "2026-01-31T23:59:59.123456789Z"
    );
    assert_eq!(document["run"]["duration_ns"], 10_000_000_000_u64);
    assert_eq!(
        document["run"]["plan"]["requests[0].header"][1],
        "Authorization: ***"
    );
    let requests = &document["requests"];
    let number = |key: &str| requests[key].as_u64().unwrap();
    assert_eq!(
        number("intended"),
        number("sent") + number("dropped") + number("pending")
    );
    assert_eq!(
        number("sent"),
        number("ok") + number("failed") + number("in_flight")
    );
    assert_eq!(document["status"]["503"], 48);
    assert_eq!(document["verdict"]["thresholds"][0]["passed"], false);
    assert_eq!(document["leniencies"]["bare_lf"], 19);
    assert_eq!(document["rate"]["intended_per_s"], 1_000.0);
    let errors = document["errors"].as_array().unwrap();
    let failed: u64 = errors.iter().map(|e| e["count"].as_u64().unwrap()).sum();
    assert_eq!(failed, number("failed"));
}

/// The lines of the lowered plan, without their indentation.
fn lowered(run: &Summary) -> Vec<String> {
    let text = String::from_utf8(json::facts(&run.info)).unwrap();
    let lines = text.lines().map(str::trim);
    let lines = lines.skip_while(|line| *line != "\"plan\": {").skip(1);
    let lines = lines.take_while(|line| *line != "},");
    lines
        .map(|line| line.trim_end_matches(',').to_owned())
        .collect()
}

/// A run whose plan has facts of every kind.
fn run_of_every_fact() -> Summary {
    let mut run = fixture::open();
    let asked = fixture::asked_mut(&mut run);
    asked.requests.count = 17;
    let request = &mut asked.requests.first[0];
    request.call = Some(AskedCall {
        service: "a.B".to_owned(),
        method: "C".to_owned(),
        deadline: Some(Nanos::from_secs(2)),
        streaming: Streaming {
            send: Some(5),
            interval: Nanos::from_millis(20),
            duration: Some(Nanos::from_secs(1)),
            receive: Some(6),
        },
    });
    request.body = AskedBody::Template;
    request.headers.truncate(1);
    asked.steps.count = 17;
    asked.steps.first = vec![
        AskedStep::Request(3),
        AskedStep::Pause(Pause::NONE),
        AskedStep::Until(Nanos::from_secs(1)),
        AskedStep::AtLeast(Nanos::from_secs(2)),
        AskedStep::Set(VariableId(4)),
        AskedStep::If(9),
        AskedStep::Jump(8),
        AskedStep::Repeat(Some(2)),
        AskedStep::Repeat(None),
        AskedStep::Again(7),
        AskedStep::End,
    ];
    asked.users = UserSteps::changing(vec![(Nanos::ZERO, 1), (Nanos::from_secs(1), 64)]);
    asked.stop = AskedStop {
        duration: Some(Nanos::from_secs(8)),
        requests: Some(9),
        iterations: Some(10),
    };
    let transport = &mut asked.transport;
    transport.growth = Growth::AsNeeded;
    transport.version = HttpVersion::Http2;
    transport.keep_alive = KeepAlive::AtMost(100);
    transport.life = Life {
        age: Some(Pause::constant(Nanos::from_secs(5))),
        churn: Some(Churn {
            mean: Nanos::from_secs(600),
        }),
        idle: Some(Nanos::from_secs(7)),
    };
    transport.is_compressed = true;
    transport.redirects = Some(0);
    let info = Arc::make_mut(&mut run.info);
    info.threads_planned = 16;
    info.thresholds = vec![
        "p99<50ms".parse().unwrap(),
        "failed<1%".parse().unwrap(),
        Threshold::failures_above(5),
    ];
    run
}

/// Its lowered plan.
const LOWERED: &str = r#"
        "requests[0].url": "http://127.0.0.1:8080/plaintext"
        "requests[0].method": "GET"
        "requests[0].header": "Accept: text/plain"
        "requests[0].call": "a.B/C"
        "requests[0].deadline": "2s"
        "requests[0].stream.send": "5"
        "requests[0].stream.receive": "6"
        "requests[0].stream.interval": "20ms"
        "requests[0].stream.duration": "1s"
        "requests[0].body": "a template"
        "requests": "17"
        "scenario[0].request": "requests[3]"
        "scenario[1].pause": "0"
        "scenario[2].pause": "until 1s"
        "scenario[3].pause": "at least 2s"
        "scenario[4].set": "variable 4"
        "scenario[5].if": "else scenario[9]"
        "scenario[6].jump": "scenario[8]"
        "scenario[7].repeat": "2"
        "scenario[8].repeat": "a template"
        "scenario[9].again": "scenario[7]"
        "scenario[10].end": ""
        "scenario": "17"
        "load.rate": "const(1000/s,10s)"
        "load.arrivals": "constant"
        "load.late": "queue"
        "users": "1 from 0, 64 from 1s"
        "stop.duration": "8s"
        "stop.requests": "9"
        "stop.iterations": "10"
        "connections": "as needed, at most 64"
        "http": "2"
        "streams": "1"
        "keep_alive": "100 requests"
        "connection_age": "5s"
        "connection_age.mean": "10m"
        "connection_idle": "7s"
        "timeout.total": "30s"
        "timeout.connect": "10s"
        "timeout.tls": "10s"
        "timeout.head": "30s"
        "compressed": "yes"
        "redirects": "0"
        "warmup": "0"
        "threads": "16"
        "threshold": [
        "p99<50ms"
        "failed<1%"
        ]
        "abort": "failures>5""#;

/// The plan's keys and texts are contract: programs read them.
#[test]
fn every_fact_of_a_plan_has_its_key() {
    let mut run = run_of_every_fact();
    let expected: Vec<&str> = LOWERED.trim().lines().map(str::trim).collect();
    assert_eq!(lowered(&run), expected);
    let asked = fixture::asked_mut(&mut run);
    asked.load = AskedLoad::PerUser {
        users: 3,
        law: AskedSequence(vec![AskedLaw::Trace { times: 5 }]),
        late: LatePolicy::Drop(Nanos::from_secs(1)),
    };
    let shown = lowered(&run);
    let load = shown.iter().filter(|line| line.starts_with("\"load."));
    let expected = [
        "\"load.users\": \"3\"",
        "\"load.rate\": \"trace(5 times)\"",
        "\"load.rate_per\": \"user\"",
        "\"load.late\": \"drop(1s)\"",
    ];
    assert!(load.eq(expected), "{shown:?}");
    let mut run = fixture::pools();
    let info = Arc::make_mut(&mut run.info);
    info.pools[1].asked = Some(fixture::asked(Model::Closed));
    let shown = lowered(&run);
    assert!(
        shown.contains(&"\"pools.buy.connections\": \"64\"".to_owned()),
        "{shown:?}"
    );
}

#[test]
fn messages_that_were_not_sent_are_told() {
    let messages = &document(&fixture::streams())["messages"];
    let number = |key: &str| messages[key].as_u64().unwrap();
    assert_eq!((number("sent"), number("unsent")), (9_100, 900));
    assert_eq!(number("received"), 1_000);
    assert_eq!(document(&fixture::open()).get("messages"), None);
}

#[test]
fn each_step_has_its_answers() {
    let run = document(&fixture::answers());
    let llm = &run["llm"];
    assert_eq!(llm["answers"], 800);
    assert_eq!(llm["streamed"], 400);
    assert_eq!(llm["counted"], 360);
    assert_eq!(llm["tokens"]["in"], 640_000);
    assert_eq!(llm["tokens"]["cached"], 160_000);
    assert_eq!(llm["tokens"]["out"], 25_600);
    assert_eq!(llm["tokens"]["out_per_s"], 12_800.0);
    assert_eq!(llm["events"], serde_json::json!({"token": 25_600}));
    assert_eq!(llm["finish"], serde_json::json!({"length": 360}));
    assert_eq!(llm["ttft"]["count"], 400);
    assert_eq!(llm["tpot"]["count"], 360);
    assert_eq!(llm["goodput"][0]["rule"], "ttft<75ms,tpot<21ms");
    assert_eq!(llm["goodput"][0]["due"], 800);
    assert_eq!(run["steps"][0]["llm"]["streamed"], 400);
    assert_eq!(run["steps"][1]["llm"]["answers"], 400);
    assert_eq!(run["steps"][2].get("llm"), None);
    assert_eq!(document(&fixture::open()).get("llm"), None);
}

#[test]
fn each_step_has_its_messages() {
    let run = document(&fixture::streamed_steps());
    let number = |value: &Value| value.as_u64().unwrap();
    let mut received = 0;
    for (step, each, timed) in [(0, 20, 400), (1, 5, 400), (2, 1, 0)] {
        let messages = &run["steps"][step]["messages"];
        assert_eq!(number(&messages["sent"]), 400);
        assert_eq!(number(&messages["received"]), 400 * each);
        assert_eq!(number(&messages["first"]["count"]), timed);
        assert_eq!(number(&messages["gap"]["count"]), 400 * (each - 1));
        received += 400 * each;
    }
    assert_eq!(number(&run["messages"]["received"]), received);
    assert_eq!(
        document(&fixture::steps())["steps"][0].get("messages"),
        None
    );
}

#[test]
fn histograms_come_back() {
    let run = fixture::open();
    let distribution = &document(&run)["latency"]["response_time"];
    let text = distribution["histogram"].as_str().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap();
    let back = drumfire_measure::decode_v2(&bytes).unwrap();
    let sent = &run.total.latency.response_time;
    assert!(back.buckets().eq(sent.buckets()));
    let p99 = distribution["quantiles"]["0.99"].as_u64().unwrap();
    assert_eq!(Some(p99), sent.quantile(0.99).map(|nanos| nanos.0));
    assert!(
        distribution["quantiles"].get("0.9999").is_none(),
        "9,909 cannot support it"
    );
}

#[test]
fn lower_bounds_say_so() {
    let document = document(&fixture::dropping());
    let latency = &document["latency"];
    for key in ["response_time", "failed"] {
        assert_eq!(latency[key]["at_least_from_ns"], 1_000_000_000, "{key}");
    }
    assert_eq!(latency["service_time"]["at_least_from_ns"], 999_980_000);
    assert!(latency["lag"].get("at_least_from_ns").is_none());
    let response_time = &latency["response_time"];
    assert_eq!(response_time["count"], 5_000);
    assert_eq!(response_time["quantiles"]["0.99"], 1_000_000_000);
    let bounds = serde_json::json!(["mean", "max", "0.99", "0.999"]);
    assert_eq!(response_time["at_least"], bounds);
    assert!(latency["lag"].get("at_least").is_none());
    assert_eq!(document["requests"]["timed_out"], 100);
}

#[test]
fn empty_distributions_have_a_count_alone() {
    let document = document(&fixture::empty());
    for key in ["response_time", "lag", "connect", "failed"] {
        assert_eq!(document["latency"][key], serde_json::json!({ "count": 0 }));
    }
    assert_eq!(document["load"]["kept"], Value::Null);
    assert_eq!(document["load"]["reasons"][0], "no request was due");
    assert_eq!(document["rate"]["achieved_per_s"], 0.0);
    assert_eq!(document["steps"][0]["rate"]["achieved_per_s"], 0.0);
}

#[test]
fn nothing_acts_on_a_terminal_and_no_secret_is_told() {
    for (name, run) in fixture::all() {
        let text = String::from_utf8(json::summary(&run)).unwrap();
        assert!(!text.contains(fixture::CANARY), "{name}");
        for c in text.chars() {
            let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
            assert!(c == '\n' || !(c.is_control() || hidden), "{name}: {c:?}");
        }
    }
    let run = fixture::hostile();
    let document = document(&run);
    let target = document["run"]["target"].as_str().unwrap();
    assert!(
        target.contains("\u{9b}2J\r\n\u{202e}"),
        "escaped, and the same text"
    );
}

#[test]
fn each_pool_has_figures_of_its_own() {
    let document = document(&fixture::pools());
    let pools = document["pools"].as_array().expect("a list");
    let names: Vec<_> = pools.iter().map(|pool| &pool["name"]).collect();
    assert_eq!(names, ["browse", "buy"]);
    let models: Vec<_> = pools.iter().map(|pool| &pool["model"]).collect();
    assert_eq!(models, ["open", "closed"]);
    let sent: Vec<_> = pools.iter().map(|pool| &pool["requests"]["sent"]).collect();
    assert_eq!(sent, [2_000, 500]);
    assert_eq!(document["requests"]["sent"], 2_500);
    assert_eq!(pools[0]["rate"]["intended_per_s"], 1_000.0);
    assert!(pools[1]["rate"]["intended_per_s"].is_null());
    assert!(
        document["rate"]["intended_per_s"].is_null(),
        "users ask for no rate"
    );
    assert_eq!(pools[1]["target"]["state"], "degraded");
    assert_eq!(pools[0]["target"]["state"], "ok");
    assert_eq!(pools[0]["steps"].as_array().map(Vec::len), Some(2));
    // A run of one pool says the same twice.
    let document = self::document(&fixture::open());
    assert_eq!(document["pools"][0]["latency"], document["latency"]);
}

#[test]
fn iterations_are_there_where_they_are_more_than_requests() {
    let run = document(&fixture::scenarios());
    let iterations = &run["pools"][0]["iterations"];
    let count = |name: &str| iterations[name].as_u64().unwrap();
    assert_eq!(
        count("intended"),
        count("started") + count("dropped") + count("pending")
    );
    assert_eq!(
        count("started"),
        count("completed") + count("failed") + count("in_flight")
    );
    assert_eq!((count("started"), count("failed")), (1_198, 24));
    assert_eq!(iterations["rate"]["intended_per_s"], 20.0);
    assert_eq!(iterations["time"]["count"], 1_176);
    assert!(run["pools"][1].get("iterations").is_none());
    let scenarios = iterations["scenarios"].as_array().unwrap();
    let sum = |key: &str| {
        scenarios
            .iter()
            .map(|one| one[key].as_u64().unwrap())
            .sum::<u64>()
    };
    for key in ["started", "completed", "failed", "in_flight", "timed_out"] {
        assert_eq!(sum(key), count(key), "{key}");
    }
    assert_eq!(scenarios[1]["name"], "thorough");
    assert!(scenarios[1]["time"]["count"].as_u64() > Some(200));
    assert!(
        run["iterations"].get("scenarios").is_none(),
        "of several pools"
    );
    assert_eq!(run["iterations"]["completed"], iterations["completed"]);
    assert!(run["iterations"]["rate"]["intended_per_s"].is_null());
    // The requests' own rate is that of what became due.
    let due = run["pools"][0]["requests"]["intended"].as_f64().unwrap();
    assert_eq!(run["pools"][0]["rate"]["intended_per_s"], due / 60.0);
    assert!(document(&fixture::pools()).get("iterations").is_none());
}

/// A figure that moved says how; one that did not says so.
#[test]
fn drift_is_told_by_figure() {
    let document = document(&fixture::drifting());
    let drift = document["drift"].as_array().expect("a list");
    let of = |figure: &str| {
        let found = drift.iter().find(|drift| drift["figure"] == figure);
        found.unwrap_or(&Value::Null)
    };
    assert_eq!(of("p50")["movement"], "trend");
    let per_hour = of("p50")["trend"]["per_hour"].as_f64();
    assert!(per_hour.is_some_and(|per_hour| (0.015..0.025).contains(&per_hour)));
    assert_eq!(of("failed")["movement"], "changes");
    assert_eq!(of("failed")["changes"].as_array().map(Vec::len), Some(1));
    assert_eq!(of("rate")["movement"], "steady");
    assert_eq!(of("memory")["movement"], "trend");
    assert_eq!(
        self::document(&fixture::open())["drift"],
        Value::Array(Vec::new())
    );
}

/// A URL with a password may stand in any of them.
#[test]
fn the_words_of_users_are_masked() {
    let words = format!("see https://u:{}@h/", fixture::CANARY);
    let mut info = RunInfo::clone(&fixture::hostile().info);
    info.pools[0].name.clone_from(&words);
    let listed = Listed {
        id: "r",
        began: "",
        labels: Ok(Labelled {
            tags: std::slice::from_ref(&words),
            note: &words,
        }),
        run: Err("none"),
        unfinished: None,
        exit: None,
        is_elsewhere: false,
    };
    for bytes in [json::facts(&info), json::runs(&[listed])] {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(fixture::CANARY), "{text}");
        assert!(text.contains("see https://"), "{text}");
    }
}
