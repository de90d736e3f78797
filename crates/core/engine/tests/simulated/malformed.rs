//! Every case of the corpus through the whole engine, among well-formed answers: each has its
//! outcome, no other exchange is affected, and no connection is reused that must not be.

use crate::{ms, us};
use drumfire_corpus::{Case, Request, StreamEnd};
use drumfire_measure::{Leniency, Outcome, status_name};
use drumfire_plan::{Compressed, Expect, Header, KeepAlive, Method, Redirects};
use drumfire_testkit::{Answer, Draft, Law, Server, Simulated, Simulation, World, closed};
use drumfire_units::ByteSize;

/// The number of well-formed requests per malformed one, each with a different status.
const OTHERS: u16 = 19;

/// The number of passes through the list: 1,000 requests for a case of usual size.
fn iterations(case: &Case) -> u64 {
    if case.bytes().len() > 100_000 { 5 } else { 50 }
}

/// The case's request, then the requests that get 200, 201, …
fn plan(case: &Case) -> Draft {
    let urls: Vec<String> = (0..OTHERS)
        .map(|k| format!("http://sut/{}", 200 + k))
        .collect();
    let mut urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    urls.insert(0, "http://sut/case");
    closed(4)
        .to(&urls)
        .iterations(iterations(case))
        .with(|plan| {
            plan.timeouts.total = ms(500);
            plan.expect = Expect::BELOW_400.with(400, 499);
            match case.request {
                Request::Get | Request::Connect => {}
                Request::Close => plan.connections.keep_alive = KeepAlive::No,
                Request::Head => plan.requests[0].method = Method::parse("HEAD").expect("a token"),
            }
        })
}

/// A server that answers one request with the case and the others correctly, and that knows when a
/// connection must not be reused.
fn server(case: &Case, drip: Option<usize>) -> Server {
    let expected = &case.expected;
    let fit = case.end == StreamEnd::Open && expected.reusable.unwrap_or(expected.outcome == "ok");
    let mut answer = Answer::raw(&case.bytes());
    if let Some(size) = drip {
        answer = answer.dripping(size, us(1));
    }
    answer = match case.end {
        StreamEnd::Open => answer,
        StreamEnd::Fin => answer.then_closes(ms(0)),
        StreamEnd::Rst => answer.then_resets(ms(0)),
    };
    if !fit {
        answer = answer.is_last();
    }
    let others: Vec<Answer> = (0..OTHERS)
        .map(|k| Answer::with(200 + k, "", &[b'o'; 300]))
        .collect();
    Server::new()
        .takes(Law::Const(us(100)))
        .answers(move |request| {
            match request.target().trim_start_matches('/').parse::<usize>() {
                // 204 and 205 have no body.
                Ok(204) => Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
                Ok(205) => Answer::with(205, "", b""),
                Ok(status) => others[status - 200].clone(),
                Err(_) => answer.clone(),
            }
        })
}

/// The outcomes that may be seen for the expected one.
fn outcomes(case: &Case, expected: &str) -> Vec<&'static str> {
    match expected {
        // The plan's own rule about statuses is applied in addition.
        "ok" if case.expected.status.is_some_and(|status| status >= 500) => vec!["http_status"],
        "ok" => vec!["ok"],
        // On a reused connection, the end may belong to the previous exchange.
        "closed" => vec!["closed", "closed:reused"],
        "reset" => vec!["reset", "closed:reused"],
        name => Outcome::ALL
            .iter()
            .map(|outcome| outcome.name())
            .filter(|known| *known == name)
            .collect(),
    }
}

/// Checks one case's run.
#[track_caller]
fn check(case: &Case, expected: &str, result: &Simulated) {
    let name = &case.name;
    let count = iterations(case);
    let steps = result.summary.steps();
    let names = outcomes(case, expected);
    assert!(!names.is_empty(), "{name}: {expected} is no outcome");
    let seen: u64 = if names == ["ok"] {
        steps[0].counts.ok
    } else {
        steps[0]
            .errors
            .failures()
            .filter(|(outcome, _)| names.contains(&outcome.name()))
            .map(|(_, n)| n)
            .sum()
    };
    assert_eq!(
        seen,
        count,
        "{name}: {expected}, not {:?}",
        steps[0].errors.failures().collect::<Vec<_>>()
    );
    for step in &steps[1..] {
        let status: u16 = step
            .name
            .rsplit('/')
            .next()
            .and_then(|text| text.parse().ok())
            .expect("a status");
        let failures: Vec<_> = step.errors.failures().collect();
        assert_eq!(
            step.counts.ok, count,
            "{name}: {} was hurt: {failures:?}",
            step.name
        );
        assert_eq!(
            step.status.get(status),
            count,
            "{name}: {} got a foreign answer",
            step.name
        );
    }
    assert_eq!(
        result.log.after_last, 0,
        "{name}: a connection was used again"
    );
    if expected == "ok" {
        for (leniency, granted) in Leniency::ALL.iter().zip(result.summary.total.leniencies) {
            let noticed = case
                .expected
                .notices
                .iter()
                .any(|notice| notice == leniency.name());
            assert_eq!(
                granted,
                if noticed { count } else { 0 },
                "{name}: {}",
                leniency.name()
            );
        }
    }
}

fn world(case: &Case, drip: Option<usize>) -> World {
    World::new(server(case, drip))
}

/// The cases that a plan can request. A plan can't request a tunnel, and the engine's limits are
/// constants; `http1` replays those cases itself.
fn cases() -> Vec<Case> {
    let all = drumfire_corpus::all();
    let count = all.len();
    let cases: Vec<Case> = all
        .into_iter()
        .filter(|case| case.request != Request::Connect && case.limits.is_empty())
        .collect();
    assert_eq!(count - cases.len(), 8, "what is left out is known");
    cases
}

#[test]
fn every_case_has_its_outcome_and_hurts_no_other() {
    for case in cases() {
        let result = Simulation::new(plan(&case), world(&case, None)).run();
        check(&case, &case.expected.outcome, &result);
    }
}

#[test]
fn every_case_has_its_outcome_byte_by_byte() {
    // Excess bytes that arrive later are detected when they arrive: the connection may carry the
    // next request by then. If they arrive together with the end, they are recognised, as above.
    let excess = |case: &Case| {
        case.expected
            .notices
            .iter()
            .any(|notice| notice == "excess")
    };
    for case in cases().into_iter().filter(|case| !excess(case)) {
        let length = case.bytes().len();
        let size = if length > 5000 { length / 50 } else { 1 };
        let plan = plan(&case).iterations(5);
        let result = Simulation::new(plan, world(&case, Some(size))).run();
        let mut all = result.summary.total.outcomes().failures();
        let names = outcomes(&case, &case.expected.outcome);
        assert!(
            all.all(|(outcome, _)| names.contains(&outcome.name())),
            "{}: {:?}",
            case.name,
            result.summary.total.errors()
        );
        let failed = if names == ["ok"] { 0 } else { 5 };
        assert_eq!(result.summary.total.counts.failed, failed, "{}", case.name);
        assert_eq!(result.log.after_last, 0, "{}", case.name);
    }
}

#[test]
fn every_case_has_its_outcome_when_decoded_and_when_followed() {
    let (mut decoded, mut followed) = (0, 0);
    for case in cases() {
        if let Some(expected) = &case.expected.when_compressed {
            let plan = plan(&case).with(|plan| {
                plan.http.compressed = Compressed::Decode(ByteSize(1_000_000));
            });
            check(
                &case,
                expected,
                &Simulation::new(plan, world(&case, None)).run(),
            );
            decoded += 1;
        }
        if let Some(expected) = &case.expected.when_following {
            let plan = plan(&case).with(|plan| plan.http.redirects = Redirects::Follow(3));
            let to_itself = server(&case, None);
            let answer = Answer::raw(&case.bytes());
            let world = World::new(to_itself.clone().answers(move |request| {
                // The case leads to the case again.
                match request.target().trim_start_matches('/').parse::<u16>() {
                    Ok(204) => Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
                    Ok(205) => Answer::with(205, "", b""),
                    Ok(status) => Answer::with(status, "", b"other"),
                    Err(_) => answer.clone(),
                }
            }));
            check(&case, expected, &Simulation::new(plan, world).run());
            followed += 1;
        }
    }
    assert_eq!((decoded, followed), (3, 2));
}

#[test]
fn a_request_with_a_nonce_gets_its_own_answer() {
    // Sixty requests, each answered with a different status, in bursts of broken connections.
    let urls: Vec<String> = (0..60).map(|k| format!("http://sut/{}", 200 + k)).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let plan = closed(16).to(&urls).iterations(200).with(|plan| {
        let header = Header::new("X-Nonce", b"kept").unwrap();
        plan.requests[0].headers.push(header);
    });
    let server = Server::new()
        .takes(Law::Exponential(us(300)))
        .resets(0.05)
        .closes_after(7)
        .answers(|request| {
            let status = request.target().trim_start_matches('/').parse().unwrap();
            match status {
                204 => Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
                205 => Answer::with(205, "", b""),
                // Unsolicited bytes follow some answers.
                _ if request.index % 5 == 0 => {
                    let answer = format!("HTTP/1.1 {status} Fine\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 299 Stray\r\n\r\n");
                    Answer::raw(answer.as_bytes()).is_last()
                }
                _ => Answer::with(status, "", b"fine"),
            }
        });
    let result = Simulation::new(plan, World::new(server)).run();
    assert_eq!(result.log.after_last, 0);
    for step in result.summary.steps() {
        let status: u16 = step
            .name
            .rsplit('/')
            .next()
            .and_then(|text| text.parse().ok())
            .expect("a status");
        assert_eq!(step.status.get(status), step.counts.ok, "{}", step.name);
        assert!(step.counts.ok > 150, "{}", step.name);
        let others = step
            .status
            .iter()
            .filter(|(seen, _)| *seen != status && *seen != 0);
        assert_eq!(others.count(), 0, "{} got a foreign answer", step.name);
    }
}

#[test]
fn every_invalid_status_is_shown_as_it_came() {
    for digits in ["000", "001", "099", "600", "999"] {
        let bytes = format!("HTTP/1.1 {digits} x\r\nContent-Length: 0\r\n\r\n");
        let server = Server::new().says(Answer::raw(bytes.as_bytes()));
        let result = Simulation::new(closed(1).requests(5), World::new(server)).run();
        crate::failures(&result.summary, &[(Outcome::InvalidStatus, 5)]);
        let seen: Vec<_> = result.summary.total.status().collect();
        let seen = seen
            .into_iter()
            .map(|(status, count)| (status_name(status), count));
        assert_eq!(seen.collect::<Vec<_>>(), [(digits.into(), 5)]);
    }
}
