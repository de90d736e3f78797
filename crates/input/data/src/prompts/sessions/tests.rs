use super::{
    COLUMNS, SessionFormat, SessionOptions, SessionTrace, SessionTraceOptions, Sessions,
    TURN_GROUPS, read_sessions,
};
use crate::feed::ComputedRows as _;
use crate::prompts::{Lengths, PrefixPool, PromptOptions, Prompts};
use drumfire_plan::Pause;
use drumfire_units::Nanos;
use std::sync::Arc;

fn prompts(nonce: u64) -> Prompts {
    Prompts::new(
        PromptOptions {
            seed: 1,
            pool: 0,
            nonce: Some(nonce),
            input: Lengths::Uniform { from: 5, to: 9 },
            output: None,
            prefix: Some("pool=1,tokens=3".parse::<PrefixPool>().unwrap()),
            models: vec![("m".to_owned(), 1)],
        },
        None,
    )
}

fn options(turns: &str) -> SessionOptions {
    SessionOptions {
        turns: turns.parse().unwrap(),
        delay: None,
        tool_output: Lengths::Fixed(4),
        speed: None,
    }
}

/// An element of a column's list; empty if there is none.
fn element(sessions: &Arc<Sessions>, row: u64, column: &str, at: u64) -> String {
    let column = COLUMNS.iter().position(|known| *known == column);
    let list = Arc::clone(sessions).value(row, column.unwrap()).unwrap();
    let element = list.get_item(&minijinja::Value::from(at)).unwrap();
    match element.is_undefined() {
        true => String::new(),
        false => element.to_string(),
    }
}

fn read(format: SessionFormat, text: &str) -> Result<SessionTrace, String> {
    let options = SessionTraceOptions {
        format,
        from: Nanos::ZERO,
        until: Nanos::MAX,
        sample: 1.0,
        seed: 1,
    };
    let read = read_sessions(Arc::new(text.as_bytes().to_vec()), &options);
    read.map_err(|error| error.to_string())
}

fn table(format: SessionFormat, text: &str, speed: Option<f64>) -> Arc<Sessions> {
    let mut made = options("1");
    made.speed = speed;
    let trace = read(format, text).unwrap();
    Arc::new(Sessions::new(prompts(1), made, Some(trace)))
}

#[test]
fn a_made_up_session_begins_with_the_prompt_of_its_row() {
    let sessions = Arc::new(Sessions::new(prompts(1), options("uniform:2,12"), None));
    for row in 0..20 {
        let turns = sessions.turns(row);
        assert!((2..=12).contains(&turns));
        let mut own = String::new();
        prompts(1).push(row, 0, &mut own).unwrap();
        assert_eq!(element(&sessions, row, "text", 0), own);
        let passes: Vec<u64> = (0..5)
            .map(|group| element(&sessions, row, "passes", group).parse().unwrap())
            .collect();
        assert_eq!(passes.iter().sum::<u64>(), turns, "{passes:?}");
        assert!(
            passes
                .iter()
                .zip(&TURN_GROUPS)
                .all(|(n, group)| *n <= group.end - group.start)
        );
        // Only the first turn has the prefix, and no turn repeats another.
        let second = element(&sessions, row, "text", 1);
        assert!((5..=9).contains(&second.split(' ').count()));
        assert_ne!(second, element(&sessions, row, "text", 2));
    }
    // Texts depend on the nonce, numbers of turns do not.
    let other = Arc::new(Sessions::new(prompts(2), options("uniform:2,12"), None));
    assert_eq!(sessions.turns(3), other.turns(3));
    assert_ne!(
        element(&sessions, 3, "text", 1),
        element(&other, 3, "text", 1)
    );
}

#[test]
fn own_sessions_have_their_texts_delays_and_answers() {
    let text = r#"
        {"id": "a", "system": "Be \"brief\".", "turns": [
            {"user": "One?", "assistant": "Eins.", "max_tokens": 7},
            {"input_length": 12, "delay": 1.5}]}
        {"turns": [{"user": "Two?"}]}"#;
    let sessions = table(SessionFormat::Own, text, None);
    assert_eq!(
        (sessions.rows(), sessions.turns(0), sessions.turns(1)),
        (2, 2, 1)
    );
    let first = element(&sessions, 0, "message", 0);
    let list: serde_json::Value = serde_json::from_str(&format!("[{first}]")).unwrap();
    assert_eq!(list[0]["content"], "Be \"brief\".");
    assert!(
        list[1]["content"].as_str().unwrap().ends_with(": One?"),
        "{first}"
    );
    let answer = r#"{"role":"assistant","content":"Eins."}"#;
    assert_eq!(element(&sessions, 0, "answer", 0), answer);
    assert_eq!(element(&sessions, 0, "limit", 0), "7");
    assert_eq!(element(&sessions, 0, "delay", 1), "1s500ms");
    assert_eq!(element(&sessions, 0, "text", 1).split(' ').count(), 12);
    assert_eq!(element(&sessions, 0, "text", 2), "");
    assert_eq!(element(&sessions, 1, "limit", 0), "128");
    // The second turn repeats the first one: 4 + 7, then 11 + 12 + 128.
    assert_eq!(sessions.tokens(0), 4 + 7 + 11 + 12 + 128);
    assert_eq!(
        (sessions.rows_within(161), sessions.rows_within(162)),
        (0, 1)
    );
}

#[test]
fn a_pause_of_the_plan_replaces_the_recorded_ones() {
    let trace = read(
        SessionFormat::Own,
        r#"{"turns":[{"user":"a"},{"user":"b","delay":9}]}"#,
    );
    let mut made = options("1");
    made.delay = Some(Pause::constant(Nanos::from_millis(20)));
    let sessions = Arc::new(Sessions::new(prompts(1), made, Some(trace.unwrap())));
    assert_eq!(element(&sessions, 0, "delay", 1), "20ms");
}

#[test]
fn weka_sessions_share_blocks_within_a_session() {
    let text = r#"
        {"id": "a", "models": ["x"], "block_size": 4, "hash_id_scope": "local", "requests": [
            {"t": 0, "type": "n", "in": 6, "out": 3, "hash_ids": [1, 2], "api_time": 2},
            {"type": "subagent", "requests": []},
            {"t": 5, "type": "n", "in": 10, "out": 2, "hash_ids": [1, 2, 3], "api_time": 1},
            {"t": 9, "type": "s", "in": 4, "out": 2, "hash_ids": [1], "think_time": 0.5}]}
        {"id": "b", "models": ["x"], "block_size": 4, "hash_id_scope": "local", "requests": [
            {"t": 0, "type": "n", "in": 4, "out": 3, "hash_ids": [1]}]}"#;
    let trace = read(SessionFormat::Weka, text).unwrap();
    assert!(trace.is_whole() && trace.times(1.0).is_none());
    // The blocks of the first three turns are kept once.
    assert_eq!(trace.ids.len(), 4);
    assert_eq!(
        trace.note().as_deref(),
        Some("left out: 1 request of sub-agents")
    );
    // Whole blocks: none, then one of 4 tokens, then one again, and another session's.
    let totals = trace.totals();
    let sums = (totals.requests, totals.input, totals.output, totals.cached);
    assert_eq!(sums, (4, 24, 10, Some(8)));
    let sessions = table(SessionFormat::Weka, text, None);
    let texts = [0, 1, 2].map(|turn| element(&sessions, 0, "text", turn));
    let plain =
        |text: &str| -> Vec<String> { text.split(' ').skip(3).map(str::to_owned).collect() };
    let (first, second) = (plain(&texts[0]), plain(&texts[1]));
    assert_eq!((first.len(), second.len()), (6, 10));
    assert_eq!(first[..6], second[..6]);
    assert_eq!(plain(&texts[2]), first[..4]);
    assert_ne!(plain(&element(&sessions, 1, "text", 0))[..4], first[..4]);
    assert_eq!(element(&sessions, 0, "delay", 1), "3s");
    assert_eq!(element(&sessions, 0, "delay", 2), "500ms");
    for (wrong, part) in [
        (
            r#"{"block_size":4,"requests":[{"in":9,"out":1,"hash_ids":[1]}]}"#,
            "9 tokens need 3",
        ),
        (
            r#"{"requests":[{"out":1,"hash_ids":[1]}]}"#,
            "request 1: `in` is missing",
        ),
        (
            r#"{"hash_id_scope":"x","requests":[]}"#,
            "neither `local` nor `global`",
        ),
        (r#"{"requests":[]}"#, "no session to send"),
    ] {
        let error = read(SessionFormat::Weka, wrong).unwrap_err();
        assert!(error.contains(part), "{wrong}: {error}");
    }
}

#[test]
fn copilot_sessions_grow_at_their_times() {
    let call = |time: &str, prompt: u32, result: &str| {
        format!(
            r#"{{"timestamp":"2026-06-01T12:00:{time}Z","duration_ms":500,"result":"{result}","tokens":{{"prompt":{prompt},"completion":5,"cached":0}}}}"#
        )
    };
    let text = format!(
        "{{\"session_id\":\"b\",\"date\":\"2026-06-01\",\"turns\":[{{\"llm_calls\":[{}],\"tool_batches\":[]}}]}}\n\
         {{\"session_id\":\"a\",\"date\":\"2026-06-01\",\"turns\":[{{\"llm_calls\":[{},{},{}]}}]}}\n",
        call("10", 7, "Success"),
        call("02", 20, "Success"),
        call("00", 10, "Success"),
        call("04", 99, "UserCancel"),
    );
    let trace = read(SessionFormat::Copilot, &text).unwrap();
    let seconds = |s| Nanos::from_secs(s);
    assert_eq!(trace.times(2.0), Some(vec![seconds(0), seconds(5)]));
    // The second call of a session has the ten words of the first.
    assert_eq!(trace.totals().cached, Some(10));
    let sessions = table(SessionFormat::Copilot, &text, Some(2.0));
    assert_eq!((sessions.turns(0), sessions.turns(1)), (2, 1));
    let texts = [0, 1].map(|turn| element(&sessions, 0, "text", turn));
    let words: Vec<&str> = texts[0].split(' ').skip(3).collect();
    let later: Vec<&str> = texts[1].split(' ').skip(3).collect();
    assert_eq!((words.len(), later.len()), (10, 20));
    assert_eq!(words, later[..10]);
    // The recorded second and a half, and the recorded time, at twice the speed.
    assert_eq!(element(&sessions, 0, "delay", 1), "750ms");
    assert_eq!(element(&sessions, 0, "until", 1), "until 1s");
}

#[test]
fn formats_of_sessions_are_recognised() {
    for (start, format) in [
        (
            r#"{"id":"a","turns":[{"user":"x"}]}"#,
            Some(SessionFormat::Own),
        ),
        (
            r#"{"requests":[{"hash_ids":[1]}]}"#,
            Some(SessionFormat::Weka),
        ),
        (
            r#"{"turns":[{"llm_calls":[]}]}"#,
            Some(SessionFormat::Copilot),
        ),
        (r#"[{"conversations":[]}]"#, None),
        (r#"{"timestamp":0,"hash_ids":[1]}"#, None),
        ("a,b", None),
    ] {
        assert_eq!(
            SessionFormat::recognise(start.as_bytes()),
            format,
            "{start}"
        );
    }
}

#[test]
fn a_conversation_has_all_turns_with_an_answer() {
    let text = r#"[{"id":"c","conversations":[
        {"from":"human","value":"a?"},{"from":"gpt","value":"12345"},
        {"from":"human","value":"b?"},{"from":"gpt","value":"1"},
        {"from":"human","value":"c?"}]},
        {"id":"d","conversations":[{"from":"gpt","value":"x"}]}]"#;
    let trace = read(SessionFormat::ShareGpt, text).unwrap();
    assert_eq!((trace.count(), trace.turns_max()), (1, 2));
    assert_eq!((trace.output(0, 0), trace.output(0, 1)), (2, 1));
    assert_eq!(trace.answer(0, 1), Some("1"));
}
