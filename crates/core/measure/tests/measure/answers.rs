//! Whether the load was kept, and how the target responded to it.

use crate::asked;
use crate::samples::{self, healthy};
use drumfire_measure::{
    Asked, AskedLoad, AskedSequence, Cause, Closing, Figures, GeneratorHealth, Interval,
    LoadAnswer, Model, Outcome, PoolInfo, Reading, Reason, Remedy, RunInfo, Sample, Spans,
    TargetAnswer, TargetState, Validity,
};
use drumfire_plan::{Arrivals, Growth, LatePolicy};
use drumfire_units::Nanos;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

const SPAN: Nanos = Nanos::from_secs(3);
const SPANS: Spans = Spans {
    measured: SPAN,
    load: SPAN,
};

/// A pool at 1,000/s with at most this many connections.
fn pool(connections: u32) -> PoolInfo {
    PoolInfo {
        connections,
        growth: Growth::Ahead,
        ..samples::run(Model::Open, &["all"]).pool().clone()
    }
}

/// Three seconds of the pool with this many open connections: `sent` requests were sent and took
/// `took` each.
fn figures(opened: u64, sent: u64, took: Nanos) -> Figures {
    let mut figures = Figures::new(&[]);
    figures.record_intended(3000);
    for n in 0..sent {
        figures.record(&samples::ok(ms(n), took));
    }
    figures.record_pending(0, ms(700), 3000 - sent);
    (0..opened).for_each(|_| figures.connections.record_opened(Nanos(1)));
    figures
}

fn load(pool: &PoolInfo, figures: &Figures) -> (bool, String, Vec<Remedy>) {
    let answer = LoadAnswer::judge(pool, figures, SPANS);
    let kept = answer.kept.expect("a load that is judged");
    assert_eq!(kept, answer.reasons.is_empty());
    match answer.reasons.as_slice() {
        [] => (kept, String::new(), Vec::new()),
        [only] => (kept, only.text.clone(), only.remedies.clone()),
        several => panic!("{several:?}"),
    }
}

#[test]
fn two_connections_do_not_carry_what_takes_six() {
    let figures = figures(2, 1158, Nanos::from_micros(5_200));
    let answer = LoadAnswer::judge(&pool(2), &figures, SPANS);
    assert_eq!(answer.connections_needed, Some(6));
    assert_eq!(answer.sent_share, 0.386);
    let text = "both connections were busy; about 6 are needed at this service time";
    let expected = (false, text.to_owned(), vec![Remedy::Connections(10)]);
    assert_eq!(load(&pool(2), &figures), expected);
}

/// Requests without data count as sent and as failed, but no part of them was sent to the target.
#[test]
fn what_had_no_data_was_not_sent() {
    for (unmade, kept, share) in [(30, true, 0.99), (31, false, 0.989), (3000, false, 0.0)] {
        let mut figures = Figures::new(&[]);
        figures.record_intended(3000);
        (unmade..3000).for_each(|n| figures.record(&samples::ok(ms(n), ms(5))));
        for n in 0..unmade {
            let lacking = Sample {
                outcome: Outcome::BadData,
                bytes_sent: 0,
                ..samples::ok(ms(n), Nanos::ZERO)
            };
            figures.record(&lacking);
        }
        let lacking = (figures.counts.failed, figures.without_data());
        assert_eq!(lacking, (unmade, unmade));
        let answer = LoadAnswer::judge(&pool(8), &figures, SPANS);
        assert_eq!(answer.kept, Some(kept), "{unmade}");
        assert!((answer.sent_share - share).abs() < 0.001, "{answer:?}");
        let reasons: Vec<&str> = answer.reasons.iter().map(|of| of.text.as_str()).collect();
        match (kept, unmade) {
            (true, _) => assert_eq!(reasons, [""; 0]),
            (false, 31) => assert_eq!(reasons, ["31 requests had no data and were not sent"]),
            _ => assert_eq!(reasons, ["3,000 requests had no data and were not sent"]),
        }
    }
}

#[test]
fn the_scarce_thing_is_named() {
    let slow = figures(64, 1500, ms(5_000));
    let (_, text, remedies) = load(&pool(64), &slow);
    assert!(text.contains("all 64 connections were busy; about 5,000 are needed"));
    assert_eq!(remedies, [Remedy::Connections(5200)]);

    // At an absurd rate no number of connections is a remedy.
    let absurd = PoolInfo {
        intended_rate: Some(1e6),
        ..pool(64)
    };
    let (_, text, remedies) = load(&absurd, &slow);
    assert!(text.ends_with(
        "5,000,000 are needed at this service time, more than the ports of one address allow"
    ));
    assert_eq!(remedies, [Remedy::LowerRate]);

    let (_, text, remedies) = load(&pool(64), &figures(7, 1500, ms(2_000)));
    assert_eq!(text, "only 7 of 64 connections could be opened");
    assert_eq!(remedies, [], "more of them would not be opened either");

    let growing = PoolInfo {
        growth: Growth::AsNeeded,
        ..pool(64)
    };
    let (_, text, _) = load(&growing, &slow);
    assert!(text.contains("all 64 connections were busy; about 5,000 are needed"));
    let (_, text, remedies) = load(&growing, &figures(7, 1500, ms(2_000)));
    assert_eq!(text, "only 7 of 64 connections were open");
    assert_eq!(remedies, []);

    let users = PoolInfo {
        users: Some(10),
        ..pool(64)
    };
    let (_, text, remedies) = load(&users, &figures(10, 1500, ms(20)));
    let expected = "all 10 users were busy; about 20 are needed at this service time";
    assert_eq!(
        (text.as_str(), remedies),
        (expected, vec![Remedy::Users(29)])
    );

    let streams = PoolInfo {
        streams: 10,
        ..pool(1)
    };
    let (_, text, _) = load(&streams, &figures(1, 1500, ms(21)));
    let expected = "the only connection was busy; about 3 are needed at this service time";
    assert_eq!(text, expected);

    let mut held_back = figures(1, 1500, ms(5));
    held_back.held_back.record(3);
    let (_, text, remedies) = load(&streams, &held_back);
    assert_eq!(
        text,
        "servers allow 3 concurrent streams; about 2 connections are needed at this service time"
    );
    assert_eq!(remedies, [Remedy::Connections(4)]);
    let answer = LoadAnswer::judge(&streams, &held_back, SPANS);
    assert_eq!(answer.connections_needed, Some(2));
}

/// The facts of a plan whose late arrivals are dropped once the next one is due.
fn skipping() -> Asked {
    let mut asked = asked::asked_by_number(0);
    asked.load = AskedLoad::Open {
        law: AskedSequence::from_sequence(&"50/s".parse().expect("a law")),
        arrivals: Arrivals::Poisson,
        late: LatePolicy::Skip,
    };
    asked
}

#[test]
fn what_the_late_policy_drops_is_no_lack_of_connections() {
    let late = PoolInfo {
        growth: Growth::AsNeeded,
        asked: Some(skipping()),
        ..pool(64)
    };
    let mut figures = Figures::new(&[]);
    figures.record_intended(100);
    (0..90).for_each(|n| figures.record(&samples::ok(ms(n), ms(1))));
    figures.record_dropped(10);
    (0..3).for_each(|_| figures.connections.record_opened(Nanos(1)));
    let (_, text, remedies) = load(&late, &figures);
    let expected = "the late policy dropped 10, although more connections could have been opened";
    assert_eq!((text.as_str(), remedies), (expected, vec![]));
    // If all connections were open, there were too few.
    (0..61).for_each(|_| figures.connections.record_opened(Nanos(1)));
    let (_, text, _) = load(&late, &figures);
    assert_eq!(text, "all 64 connections were busy");
}

#[test]
fn a_target_that_stood_still_needs_no_more_connections() {
    let (kept, text, remedies) = load(&pool(8), &figures(8, 2700, ms(5)));
    assert_eq!(
        (kept, text.as_str()),
        (false, "all 8 connections were busy")
    );
    assert_eq!(remedies, []);
}

#[test]
fn what_waits_at_the_very_end_is_let_pass() {
    for (sent, kept) in [(3000, true), (2970, true), (2969, false)] {
        assert_eq!(load(&pool(8), &figures(8, sent, ms(5))).0, kept, "{sent}");
    }
    // One out of a few is not a meaningful share.
    let mut few = Figures::new(&[]);
    few.record_intended(10);
    (0..9).for_each(|n| few.record(&samples::ok(ms(n), ms(1))));
    few.record_pending(0, ms(1), 1);
    assert!(load(&pool(1), &few).0);
}

/// A run that was cut off before a request was due shows nothing about its load.
#[test]
fn a_load_of_which_nothing_was_due_is_not_judged() {
    let due = |requests| {
        let mut figures = Figures::new(&[]);
        figures.record_intended(requests);
        figures.record_pending(0, ms(1), requests);
        LoadAnswer::judge(&pool(1), &figures, SPANS)
    };
    let texts = |answer: &LoadAnswer| {
        let reasons = answer.reasons.iter();
        reasons.map(|of| of.text.clone()).collect::<Vec<_>>()
    };
    for (requests, kept, share, reason) in [
        (0, None, 1.0, "no request was due"),
        (
            1,
            None,
            0.0,
            "only one request was due, and it was not sent",
        ),
        (
            2,
            Some(false),
            0.0,
            "only 0 of 1 connections could be opened",
        ),
    ] {
        let answer = due(requests);
        assert_eq!(
            (answer.kept, answer.sent_share),
            (kept, share),
            "{requests}"
        );
        assert_eq!(texts(&answer).concat(), reason);
        assert_eq!(answer.connections_needed, None);
    }
    let closed = samples::run(Model::Closed, &["all"]);
    let answer = LoadAnswer::judge(closed.pool(), &Figures::new(&[]), SPANS);
    assert_eq!(answer.kept, None);
}

#[test]
fn a_closed_model_asks_for_what_it_sends() {
    let info = samples::run(Model::Closed, &["all"]);
    let answer = LoadAnswer::judge(info.pool(), &healthy(&info).total, SPANS);
    let judged = (answer.kept, answer.connections_needed);
    assert_eq!(judged, (Some(true), None));
}

/// The verdict on a target with `ok` ok answers and these failures.
fn target(ok: u64, failures: &[(Outcome, u64)]) -> (TargetState, String, Vec<Remedy>) {
    let mut figures = Figures::new(&[]);
    (0..ok).for_each(|n| figures.record(&samples::ok(ms(n), ms(1))));
    for (outcome, count) in failures {
        for n in 0..*count {
            figures.record(&samples::failed(ms(n), ms(1), *outcome));
        }
    }
    let answer = TargetAnswer::judge(&pool(5), &figures);
    let text = answer.reasons.iter().map(|reason| reason.text.as_str());
    let remedies = answer.reasons.iter().flat_map(|reason| &reason.remedies);
    (answer.state, text.collect(), remedies.copied().collect())
}

#[test]
fn a_target_is_told_by_what_failed() {
    use Outcome::{ConnectRefused, HttpStatus, LocalCancelled, LocalPorts, Reset, TimeoutHead};
    use TargetState::{Degraded, Failed, Ok, Unknown};
    for (ok, failures, state, text) in [
        (1000, &[][..], Ok, ""),
        (1000, &[(HttpStatus, 9)], Ok, ""),
        (0, &[], Unknown, ""),
        (
            0,
            &[(ConnectRefused, 500)],
            Failed,
            "every request failed: connect:refused",
        ),
        (
            0,
            &[(ConnectRefused, 100), (TimeoutHead, 300)],
            Failed,
            "every request failed: timeout:head (75.0 %), connect:refused (25.0 %)",
        ),
        (
            640,
            &[(HttpStatus, 360)],
            Degraded,
            "36.0 % of requests failed: http_status",
        ),
        (
            900,
            &[
                (HttpStatus, 50),
                (Reset, 25),
                (TimeoutHead, 20),
                (ConnectRefused, 5),
            ],
            Degraded,
            "10.0 % of requests failed: http_status (50.0 %), reset (25.0 %), timeout:head (20.0 %), \
             1 other kinds",
        ),
        // Failures that the generator caused or cancelled show nothing about the target.
        (0, &[(LocalPorts, 10)], Unknown, ""),
        (100, &[(LocalCancelled, 50)], Ok, ""),
    ] {
        let (seen, said, remedies) = target(ok, failures);
        assert_eq!((seen, said.as_str()), (state, text), "{ok} {failures:?}");
        let worst = failures.iter().max_by_key(|(_, count)| count);
        let against = worst.map(|(outcome, _)| Remedy::Against(*outcome));
        let expected = against.filter(|_| state == Failed);
        assert_eq!(remedies, expected.into_iter().collect::<Vec<_>>());
    }
}

/// A code that no server has sent is reported as the mistake that it represents, and a common cause
/// has its own remedy.
#[test]
fn what_the_causes_show_is_in_the_answer() {
    let answer = |outcome, details: &[(Option<Cause>, &str)]| {
        let mut figures = Figures::new(&[]);
        for (n, (cause, message)) in (0..).zip(details) {
            figures.record(&samples::failed(ms(n), ms(1), outcome));
            figures.record_error_detail(outcome, *cause, message);
        }
        let answer = TargetAnswer::judge(&pool(5), &figures);
        let [reason] = &answer.reasons[..] else {
            panic!("{:?}", answer.reasons);
        };
        (reason.text.clone(), reason.remedies.clone())
    };
    let found = (Some(Cause::Found), "no message");
    let (text, _) = answer(Outcome::GrpcUnimplemented, &[found]);
    let expected = "every request failed: grpc:unimplemented (found by drumfire: no message)";
    assert_eq!(text, expected);
    let (text, _) = answer(Outcome::GrpcUnimplemented, &[(None, "not here")]);
    assert_eq!(text, "every request failed: grpc:unimplemented");
    let reset = Outcome::ConnectReset;
    let requested = (Some(Cause::NoCertificate), "requested");
    let (_, remedies) = answer(reset, &[requested, requested]);
    assert_eq!(remedies, [Remedy::Remove(Cause::NoCertificate)]);
    let (_, remedies) = answer(reset, &[requested, (None, "another")]);
    assert_eq!(remedies, [Remedy::Against(reset)]);
}

#[test]
fn failures_by_their_status_have_the_status() {
    let judged = |statuses: &[(u16, u64)], ok: u64| {
        let mut figures = Figures::new(&[]);
        (0..ok).for_each(|n| figures.record(&samples::ok(ms(n), ms(1))));
        for (status, count) in statuses {
            for n in 0..*count {
                let failed = samples::failed(ms(n), ms(1), Outcome::HttpStatus);
                figures.record(&Sample {
                    status: *status,
                    ..failed
                });
            }
        }
        let answer = TargetAnswer::judge(&pool(5), &figures);
        answer.reasons[0].text.clone()
    };
    for (statuses, ok, text) in [
        (&[(404, 5)][..], 0, "every request failed: http_status 404"),
        (
            &[(404, 5), (503, 7)],
            0,
            "every request failed: http_status 503/404",
        ),
        (
            &[(404, 5), (503, 9), (500, 8), (501, 7)],
            0,
            "every request failed: http_status 503/500/501/…",
        ),
        (
            &[(500, 10)],
            90,
            "10.0 % of requests failed: http_status 500",
        ),
        // The plan expects other statuses, so it is unknown which of these failed.
        (
            &[(200, 5), (204, 3)],
            0,
            "every request failed: http_status",
        ),
    ] {
        assert_eq!(judged(statuses, ok), text);
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named_in_the_place_of_the_target() {
    let judged = |is_proxied: bool, outcomes: &[Outcome]| {
        let mut proxied = pool(5);
        let mut asked = asked::asked_by_number(1);
        asked.transport.is_proxied = is_proxied;
        proxied.asked = Some(asked);
        let mut figures = Figures::new(&[]);
        for outcome in outcomes {
            figures.record(&samples::failed(ms(1), ms(1), *outcome));
        }
        let answer = TargetAnswer::judge(&proxied, &figures);
        let Reason { text, remedies } = answer.reasons[0].clone();
        (text, remedies)
    };
    let refused = Outcome::ConnectRefused;
    assert_eq!(
        judged(true, &[refused]),
        (
            "every request failed on the way to the proxy: connect:refused".to_owned(),
            vec![Remedy::Proxy]
        )
    );
    for (is_proxied, outcomes) in [(false, &[refused][..]), (true, &[refused, Outcome::Reset])] {
        let (text, remedies) = judged(is_proxied, outcomes);
        assert!(text.starts_with("every request failed: "), "{text}");
        assert_eq!(remedies, [Remedy::Against(refused)]);
    }
}

#[test]
fn a_target_that_never_answers_has_failed() {
    let mut figures = Figures::new(&[]);
    figures.record_in_flight(&samples::ok(ms(1), ms(60_000)));
    let answer = TargetAnswer::judge(&pool(5), &figures);
    assert_eq!(answer.state, TargetState::Failed);
    assert_eq!(answer.reasons[0].text, "no request was answered");
}

/// No connection was ever ready, and therefore no request could fail.
#[test]
fn a_target_that_finishes_no_handshake_has_failed() {
    let judged = |pool: PoolInfo, figures: &Figures| {
        let info = RunInfo {
            pools: vec![pool],
            ..(*samples::run(Model::Open, &["all"])).clone()
        };
        let mut interval = Interval::of_pools(&info.pools);
        interval.end = SPAN;
        interval.total.merge(figures);
        interval.sum_up();
        let mut reading = Reading::new(info.into(), &[]);
        reading.absorb(&interval);
        let summary = reading.close_with(SPAN, GeneratorHealth::default());
        let texts = [&summary.target.reasons, &summary.load.reasons].map(|reasons| {
            let texts = reasons.iter().map(|reason| reason.text.clone());
            texts.collect::<Vec<_>>().join(", ")
        });
        (summary.verdict.validity, summary.target.state, texts)
    };
    let mut mute = figures(5, 0, ms(1));
    (0..5).for_each(|_| mute.connections.record_closed(Closing::Unready, SPAN, 0));
    let (validity, state, texts) = judged(pool(5), &mute);
    assert_eq!((validity, state), (Validity::Valid, TargetState::Failed));
    assert_eq!(
        texts,
        [
            "no request could be sent: the target accepted 5 of 5 connections but completed no \
             handshake",
            "only 0 of 5 connections could be opened"
        ]
    );
    // A closed model has no due requests.
    let closed = PoolInfo {
        growth: Growth::Ahead,
        ..samples::run(Model::Closed, &["all"]).pool().clone()
    };
    let mut mute = Figures::new(&[]);
    mute.connections.record_opened(Nanos(1));
    mute.connections.record_closed(Closing::Unready, SPAN, 0);
    let (validity, state, texts) = judged(closed.clone(), &mute);
    assert_eq!((validity, state), (Validity::Valid, TargetState::Failed));
    assert!(texts[0].contains("the target accepted 1 of"), "{texts:?}");
    // If a connection was ready, the run was too short.
    let mut ready = Figures::new(&[]);
    ready.connections.record_opened(Nanos(1));
    let (validity, state, _) = judged(closed, &ready);
    assert_eq!((validity, state), (Validity::Invalid, TargetState::Unknown));
    // No requests were due.
    let growing = PoolInfo {
        growth: Growth::AsNeeded,
        ..pool(5)
    };
    let (validity, state, _) = judged(growing, &Figures::new(&[]));
    assert_eq!((validity, state), (Validity::Invalid, TargetState::Unknown));
}

#[test]
fn a_run_is_as_its_pools_are() {
    let mut info = (*samples::run(Model::Open, &["all"])).clone();
    info.pools.push(PoolInfo {
        name: "orders".to_owned(),
        ..info.pools[0].clone()
    });
    let steps = info.pools.iter().map(|pool| &*pool.steps);
    let mut run = Interval::of_pools(steps);
    *run.pool_mut(0) = figures(8, 3000, ms(5));
    *run.pool_mut(1) = figures(8, 1000, ms(15));
    run.pool_mut(1)
        .record(&samples::failed(ms(1), ms(1), Outcome::Reset));
    run.pool_mut(1).record_intended(1);
    run.sum_up();
    let info = std::sync::Arc::new(info);
    let mut reading = Reading::new(info, &[]);
    reading.absorb(&run);
    let summary = reading.close_with(SPAN, Default::default());
    assert_eq!(summary.conservation(), Ok(()));
    assert_eq!(summary.target.state, TargetState::Ok);
    assert_eq!(summary.load.kept, Some(false));
    assert_eq!(summary.load.connections_needed, None);
    let [only] = summary.load.reasons.as_slice() else {
        panic!("{:?}", summary.load.reasons);
    };
    assert!(
        only.text
            .starts_with("orders: 33.4 % sent: all 8 connections were busy")
    );
}

/// A pool whose load begins after the run was cut off does not change the answer of the others.
#[test]
fn a_pool_that_was_not_due_is_left_out_of_the_answer() {
    let mut info = (*samples::run(Model::Open, &["all"])).clone();
    info.pools.push(PoolInfo {
        name: "later".to_owned(),
        ..info.pools[0].clone()
    });
    let info = std::sync::Arc::new(info);
    for (sent, kept, reasons) in [
        (Some(3000), Some(true), 0),
        (Some(1000), Some(false), 1),
        (None, None, 2),
    ] {
        let mut run = Interval::of_pools(&info.pools);
        if let Some(sent) = sent {
            *run.pool_mut(0) = figures(8, sent, ms(5));
        }
        run.sum_up();
        let mut reading = Reading::new(std::sync::Arc::clone(&info), &[]);
        reading.absorb(&run);
        let load = reading.close_with(SPAN, Default::default()).load;
        assert_eq!((load.kept, load.reasons.len()), (kept, reasons), "{load:?}");
    }
}

/// A cause whose message contains the remedy needs no other one.
#[test]
fn a_message_with_a_remedy_is_enough() {
    let judged = |details: &[(Option<Cause>, &str)]| {
        let mut figures = Figures::new(&[]);
        for (cause, text) in details {
            let failed = samples::failed(ms(1), ms(1), Outcome::TlsUntrusted);
            figures.record(&failed);
            figures.record_error_detail(Outcome::TlsUntrusted, *cause, text);
        }
        TargetAnswer::judge(&pool(5), &figures).reasons[0]
            .remedies
            .clone()
    };
    let usual = [Remedy::Against(Outcome::TlsUntrusted)];
    let unknown = (None, "its issuer is unknown");
    let remedied = (Some(Cause::Remedied), "it is of version 1; use version 3");
    assert_eq!(judged(&[unknown]), usual);
    assert_eq!(judged(&[remedied]), []);
    assert_eq!(judged(&[remedied, unknown]), usual);
}
