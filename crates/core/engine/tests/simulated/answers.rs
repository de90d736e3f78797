//! Answers of language models: exact times, counts, and how each end is judged.

use crate::{failures, ms, run, secs};
use drumfire_measure::{KeptAnswer, Leniency, LlmFigures, Outcome, RunEvent};
use drumfire_plan::{
    Comparison, EventClass, EventStream, Finish, LlmApi, Metric, Role, Samples, Slo, SloLimit,
    SloTime, Threshold,
};
use drumfire_testkit::{Answer, Draft, Server, Simulated, Simulation, World, closed, open};
use drumfire_units::Nanos;

const STREAM: &str = "Content-Type: text/event-stream\r\n";
const JSON: &str = "Content-Type: application/json\r\n";
const ROLE: &str = r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#;
const THINK: &str = r#"{"choices":[{"delta":{"reasoning":"r"}}]}"#;
const TEXT: &str = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}}"#;
const DONE: &str = "[DONE]";

/// A plan of one user whose responses are answers of this interface.
fn reading(count: u64, api: LlmApi) -> Draft {
    read_as(closed(1).requests(count), api)
}

/// The plan, with its responses read as answers of this interface.
fn read_as(draft: Draft, api: LlmApi) -> Draft {
    draft.with(move |pool| {
        for request in &mut pool.requests {
            request.events = Some(EventStream {
                gap: Nanos::MAX,
                duration: Nanos::MAX,
                receive: None,
                answer: Some(api),
            });
        }
    })
}

fn body(events: &[&str]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect()
}

/// The exchanges of streams with these events.
fn streamed(count: u64, events: &[&str]) -> Simulated {
    let answer = Answer::with(200, STREAM, body(events).as_bytes());
    let server = Server::new().says(answer);
    run(reading(count, LlmApi::Chat), World::new(server))
}

#[track_caller]
fn llm(result: &Simulated) -> &LlmFigures {
    result.summary.total.llm().expect("answers were read")
}

#[test]
fn tokens_have_exact_times() {
    // The role at once, then each event 20 ms after the one before.
    let events = [ROLE, THINK, TEXT, TEXT, STOP, USAGE, DONE];
    let text = body(&events);
    let bytes = Answer::with(200, STREAM, text.as_bytes());
    let length = text.len();
    let head = format!("HTTP/1.1 200 Scripted\r\nContent-Length: {length}\r\n{STREAM}\r\n").len();
    let mut cuts = Vec::new();
    let mut at = head;
    for event in &events[..4] {
        at += event.len() + "data: \n\n".len();
        cuts.push(at);
    }
    let server = Server::new().says(bytes.cut_at(&cuts, ms(20)));
    let result = run(reading(10, LlmApi::Chat), World::new(server));
    failures(&result.summary, &[]);
    let near = |time: Nanos, wanted: Nanos| time >= wanted && time <= wanted + ms(1);
    let llm = llm(&result);
    assert_eq!((llm.answers, llm.streamed, llm.counted), (10, 10, 10));
    // The first token is the second event; the first visible one the third.
    for (times, wanted) in [
        (&llm.ttft, ms(20)),
        (&llm.ttft_service, ms(20)),
        (&llm.ttfv, ms(40)),
        (&llm.gap, ms(20)),
        (&llm.stall, ms(20)),
    ] {
        assert!(near(times.min(), wanted), "{}", times.min());
        assert!(near(times.max(), wanted), "{}", times.max());
    }
    assert_eq!(
        (llm.ttft.count(), llm.gap.count(), llm.stall.count()),
        (10, 20, 10)
    );
    // 40 ms for 7 - 1 tokens.
    assert!(near(llm.tpot.min(), Nanos(40_000_000 / 6)));
    assert_eq!(llm.tpot.count(), 10);
    assert!(llm.itl.is_empty(), "no count comes with the events");
    assert_eq!((llm.input, llm.cached, llm.tokens()), (100, 40, 70));
    assert_eq!(llm.finished(Finish::Stop), 10);
    for (class, count) in [
        (EventClass::Control, 10),
        (EventClass::Token, 30),
        (EventClass::Finish, 10),
        (EventClass::Usage, 10),
        (EventClass::Done, 10),
        (EventClass::Unknown, 0),
    ] {
        assert_eq!(llm.events_of(class), count, "{class:?}");
    }
    let messages = &result.summary.total.messages;
    assert!(!messages.any(), "events of answers are no messages");
}

/// With a cumulative count in each event, a gap is divided by its tokens.
#[test]
fn counts_in_events_give_times_per_token() {
    let event = |count: u32| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"usage":{{"completion_tokens":{count}}}}}"#
        )
    };
    let events = [event(2), event(5), event(9)];
    let mut all: Vec<&str> = events.iter().map(String::as_str).collect();
    all.extend([STOP, DONE]);
    let text = body(&all);
    let head = format!(
        "HTTP/1.1 200 Scripted\r\nContent-Length: {}\r\n{STREAM}\r\n",
        text.len()
    );
    let one = events[0].len() + "data: \n\n".len();
    let bytes = Answer::with(200, STREAM, text.as_bytes());
    let cuts = [head.len() + one, head.len() + 2 * one];
    let server = Server::new().says(bytes.cut_at(&cuts, ms(12)));
    let result = run(reading(4, LlmApi::Chat), World::new(server));
    let llm = llm(&result);
    assert_eq!(llm.tokens(), 36);
    assert_eq!(llm.itl.count(), 4 * 7, "each token after the first event");
    assert_eq!((llm.itl.min(), llm.itl.max()), (ms(3), ms(4)));
    // 24 ms for 9 - 2 tokens.
    assert_eq!(llm.tpot.max(), Nanos(24_000_000 / 7));
    assert_eq!(llm.first_counted, 4);
}

#[test]
fn each_end_has_its_outcome() {
    let overloaded = r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let limited = r#"{"error":{"code":"rate_limit_exceeded","message":"m"}}"#;
    let long = r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#;
    for (events, outcome) in [
        (&[TEXT, STOP, DONE][..], None),
        (&[TEXT, STOP], None),
        (&[TEXT, TEXT], Some(Outcome::LlmCut)),
        (&[], Some(Outcome::LlmCut)),
        (&[DONE], Some(Outcome::LlmEmpty)),
        (&[TEXT, overloaded, DONE], Some(Outcome::LlmOverloaded)),
        (&[TEXT, limited], Some(Outcome::LlmRateLimit)),
        (&[long], Some(Outcome::LlmContext)),
        (&[r#"{"error":"m"}"#], Some(Outcome::LlmError)),
        (
            &[TEXT, r#"{"choi"#, STOP, DONE],
            Some(Outcome::LlmUnreadable),
        ),
    ] {
        let result = streamed(3, events);
        let expected: Vec<_> = outcome.map(|outcome| (outcome, 3)).into_iter().collect();
        failures(&result.summary, &expected);
        let llm = llm(&result);
        assert_eq!(llm.answers, 3, "{events:?}");
        // A token that arrived stays in the figures.
        let has_token = events.first() == Some(&TEXT);
        assert_eq!(llm.ttft.count(), 3 * u64::from(has_token), "{events:?}");
        let unmarked = result.summary.total.leniencies[Leniency::UnmarkedEnd as usize];
        let is_unmarked = outcome.is_none() && events.last() != Some(&DONE);
        assert_eq!(unmarked, 3 * u64::from(is_unmarked), "{events:?}");
    }
}

/// An event without its empty line counts if it is whole; half an event is a cut answer.
#[test]
fn a_body_may_end_within_an_event() {
    for (text, outcome) in [
        (format!("{}data: {DONE}", body(&[TEXT])), None),
        (format!("{}data: {STOP}", body(&[TEXT])), None),
        (
            format!("{}data: {{\"choi", body(&[TEXT])),
            Some(Outcome::LlmCut),
        ),
        (
            format!("{}data: {{\"choi", body(&[TEXT, STOP])),
            Some(Outcome::EventsCut),
        ),
    ] {
        let server = Server::new().says(Answer::with(200, STREAM, text.as_bytes()));
        let result = run(reading(2, LlmApi::Chat), World::new(server));
        let expected: Vec<_> = outcome.map(|outcome| (outcome, 2)).into_iter().collect();
        failures(&result.summary, &expected);
    }
}

#[test]
fn a_stream_that_is_reset_keeps_its_first_token() {
    let text = body(&[TEXT, TEXT]);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n{STREAM}\r\n");
    let server = Server::new()
        .says(Answer::raw(&[head.as_bytes(), text.as_bytes()].concat()).then_resets(ms(5)));
    let result = run(reading(3, LlmApi::Chat), World::new(server));
    failures(&result.summary, &[(Outcome::Truncated, 3)]);
    let llm = llm(&result);
    assert_eq!((llm.ttft.count(), llm.gap.count(), llm.joined), (3, 3, 3));
    assert!(llm.tpot.is_empty());
}

#[test]
fn whole_answers_are_read_at_once_and_in_pieces() {
    let chat = r#"{"choices":[{"message":{"content":"abc"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;
    for (api, body, outcome, input) in [
        (LlmApi::Chat, chat, None, 3),
        (
            LlmApi::Embeddings,
            r#"{"data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":4,"total_tokens":4}}"#,
            None,
            4,
        ),
        (
            LlmApi::Chat,
            r#"{"error":{"message":"m"}}"#,
            Some(Outcome::LlmError),
            0,
        ),
        (
            LlmApi::Rerank,
            r#"{"results":[]}"#,
            Some(Outcome::LlmEmpty),
            0,
        ),
        (LlmApi::Chat, "<p>", Some(Outcome::LlmUnreadable), 0),
    ] {
        let answer = Answer::with(200, JSON, body.as_bytes());
        for answer in [answer.clone(), answer.dripping(7, Nanos::from_micros(1))] {
            let result = run(reading(2, api), World::new(Server::new().says(answer)));
            let expected: Vec<_> = outcome.map(|outcome| (outcome, 2)).into_iter().collect();
            failures(&result.summary, &expected);
            let llm = llm(&result);
            assert_eq!(
                (llm.answers, llm.streamed, llm.input),
                (2, 0, 2 * input),
                "{body}"
            );
            assert!(llm.ttft.is_empty());
        }
    }
    let html = Answer::with(200, "Content-Type: text/html\r\n", b"<p>");
    let result = run(
        reading(2, LlmApi::Chat),
        World::new(Server::new().says(html)),
    );
    failures(&result.summary, &[(Outcome::LlmType, 2)]);
    let status = Answer::with(429, JSON, b"{}");
    let result = run(
        reading(2, LlmApi::Chat),
        World::new(Server::new().says(status)),
    );
    failures(&result.summary, &[(Outcome::HttpStatus, 2)]);
}

/// A request that times out before its first token has at least its time.
#[test]
fn a_token_that_never_comes_is_a_lower_bound() {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n{STREAM}\r\n");
    let server = Server::new().says(Answer::raw(head.as_bytes()));
    let draft = reading(2, LlmApi::Chat).with(|pool| pool.timeouts.total = secs(1));
    let result = run(draft, World::new(server));
    let llm = llm(&result);
    assert_eq!(llm.ttft.count(), 2);
    assert!(llm.ttft.is_at_least(0.5));
    assert!(llm.ttft.min() >= secs(1));
}

/// Half of the answers are slow, so goodput is a half.
#[test]
fn goodput_is_the_share_of_answers_within_all_limits() {
    let text = body(&[TEXT, TEXT, STOP, USAGE, DONE]);
    let bytes = Answer::with(200, STREAM, text.as_bytes());
    let server = Server::new().answers(move |request| match request.index % 2 {
        0 => bytes.clone(),
        _ => bytes.clone().after(ms(50)),
    });
    let limit = |time, bound| SloLimit {
        time,
        inclusive: false,
        bound,
    };
    let slo = Slo(vec![
        limit(SloTime::Ttft, ms(40)),
        limit(SloTime::Tpot, ms(10)),
    ]);
    let rule = Threshold {
        expression: "goodput".to_owned(),
        metric: Metric::Goodput(slo),
        comparison: Comparison::Equal,
        bound: 0.5,
        window: None,
        role: Role::Rule,
    };
    let mut draft = reading(20, LlmApi::Chat);
    draft.thresholds = vec![rule];
    let result = run(draft, World::new(server));
    assert_eq!(llm(&result).good, [10]);
    let threshold = &result.summary.thresholds[0];
    assert!(threshold.passed, "{}", threshold.actual_text);
}

/// Eight requests are due every 100 ms, and their one connection is taken for 500 ms by each: the
/// last one is over 3.3 s after it was due, and its first token as late.
#[test]
fn waiting_for_a_connection_is_part_of_every_time() {
    let text = body(&[TEXT, STOP, USAGE, DONE]);
    let answer = Answer::with(200, STREAM, text.as_bytes()).after(ms(500));
    let draft = open("const(10/s,800ms)").connections(1);
    let draft = read_as(draft, LlmApi::Chat);
    let result = run(draft, World::new(Server::new().says(answer)));
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 8);
    let near = |time: Nanos, wanted: Nanos| {
        assert!(
            time + ms(20) >= wanted && time <= wanted + ms(20),
            "{time} {wanted}"
        );
    };
    let latency = &result.summary.total.latency;
    near(latency.response_time.max(), ms(3_300));
    near(Nanos(latency.waiting.mean() as u64), ms(1_400));
    near(llm(&result).ttft.max(), ms(3_300));
    near(llm(&result).ttft_service.max(), ms(500));
}

/// A kept sample has the times of its answer: the last token is where the gaps end.
#[test]
fn kept_samples_have_their_answers() {
    let events = [ROLE, TEXT, TEXT, TEXT, STOP, USAGE, DONE];
    let text = body(&events);
    let head = format!(
        "HTTP/1.1 200 Scripted\r\nContent-Length: {}\r\n{STREAM}\r\n",
        text.len()
    );
    let mut cuts = Vec::new();
    let mut at = head.len();
    for event in &events[..4] {
        at += event.len() + "data: \n\n".len();
        cuts.push(at);
    }
    let bytes = Answer::with(200, STREAM, text.as_bytes()).cut_at(&cuts, ms(10));
    // The second answer is cut after its first token.
    let server = Server::new().answers(move |request| match request.index {
        1 => Answer::with(200, STREAM, body(&[TEXT]).as_bytes()),
        _ => bytes.clone(),
    });
    let draft = reading(3, LlmApi::Chat).with(|pool| pool.samples = Samples::Keep);
    let mut kept: Vec<(Outcome, KeptAnswer)> = Vec::new();
    let watched = Simulation::new(draft, World::new(server)).try_run_watched(&mut |event| {
        let RunEvent::Kept(all) = event else { return };
        for kept_one in all.iter() {
            let answer = kept_one.answer.as_deref().expect("an answer");
            kept.push((kept_one.sample.outcome, answer.clone()));
        }
    });
    assert!(watched.is_ok());
    let outcomes: Vec<Outcome> = kept.iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::LlmCut, Outcome::Ok]);
    for (outcome, kept) in &kept {
        assert!(kept.has_all_gaps(), "{kept:?}");
        let sum: u64 = kept.gaps.iter().map(|gap| gap.0).sum();
        let (first, last) = (kept.answer.first.expect("a token"), kept.answer.last);
        assert_eq!(last, Some(first + Nanos(sum)));
        let expected = if *outcome == Outcome::Ok { 2 } else { 0 };
        assert_eq!(kept.gaps.len(), expected);
    }
    assert_eq!(kept[0].1.answer.usage.output, Some(7));
}
