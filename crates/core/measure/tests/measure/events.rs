//! The stream of a run's events: every event is restored, and no bytes cause a panic.

use crate::commands::change;
use crate::form::{interval, pools, run_info};
use crate::merge::{Seen, seen};
use crate::samples;
use drumfire_measure::form::{FormError, decode, encode};
use drumfire_measure::{
    AnswerSample, Cause, Detail, Ending, Excerpt, FailedBody, Field, Kept, KeptAnswer, Leniencies,
    Outcome, Particulars, Reading, RunEvent, RunInfo, Sample, Side, Summary, Transcript,
    decode_event, encode_event,
};
use drumfire_plan::{Change, Command, Finding, Finish, StopReason, TokenUsage, Warmup};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;

/// A sample with arbitrary numbers, as from a hostile peer.
fn sample(seen: &Seen, numbers: [u64; 4]) -> Sample {
    Sample {
        due: Nanos(numbers[0]),
        sent: Nanos(numbers[1]),
        bytes_received: numbers[2],
        leniencies: Leniencies(numbers[3] as u16),
        ..seen.sample
    }
}

fn kept(seen: &Seen, numbers: [u64; 4]) -> Kept {
    Kept {
        sample: sample(seen, numbers),
        particulars: Particulars {
            arrival: numbers[0],
            began: Nanos(numbers[1]),
            written: Nanos(numbers[2]),
        },
        detail: numbers[3]
            .is_multiple_of(2)
            .then(|| Box::new(Detail::new("as it was", Some(Cause::Found)))),
        answer: numbers[3].is_multiple_of(3).then(|| {
            let answer = AnswerSample {
                generates: true,
                first: Some(Nanos(numbers[0])),
                first_visible: None,
                last: Some(Nanos(numbers[1])),
                stall: Some(Nanos(numbers[2])),
                token_events: numbers[3],
                first_tokens: Some(2),
                counted: numbers[1],
                usage: TokenUsage {
                    input: Some(numbers[0] as u32),
                    ..TokenUsage::default()
                },
                asked: Some(7),
                finish: Some(Finish::Length),
                is_complete: true,
            };
            let gaps = numbers.map(Nanos).to_vec();
            Box::new(KeptAnswer { answer, gaps })
        }),
        pool: numbers[3] as u16,
    }
}

fn side(numbers: [u64; 4]) -> Side {
    let field = || Field::from_bytes(b"name", &numbers[0].to_be_bytes());
    Side {
        line: format!("GET /{}", numbers[0]),
        fields: vec![field(), field()],
        bodies: vec![Excerpt {
            bytes: numbers[1].to_be_bytes().to_vec(),
            length: numbers[2],
            text: numbers[3].is_multiple_of(3).then(|| "ü".to_owned()),
        }],
        more: numbers[3],
        trailers: vec![field()],
    }
}

fn transcript(seen: &Seen, numbers: [u64; 4]) -> Transcript {
    let finding = |result| Finding {
        rule: "a rule".to_owned(),
        variable: numbers[0].is_multiple_of(2).then(|| "v".to_owned()),
        result,
    };
    Transcript {
        pool: numbers[0] as usize,
        sample: sample(seen, numbers),
        request: side(numbers),
        response: numbers[1].is_multiple_of(2).then(|| side(numbers)),
        detail: numbers[2].is_multiple_of(2).then(|| Detail::from("")),
        findings: vec![
            finding(Ok(None)),
            finding(Ok(Some("7".to_owned()))),
            finding(Err("instead".to_owned())),
        ],
    }
}

fn failed_body(numbers: [u64; 4]) -> FailedBody {
    FailedBody {
        outcome: Outcome::HttpStatus,
        status: 500 + (numbers[0] % 4) as u16,
        pool: 0,
        step: (numbers[1] % 2) as u16,
        end: Nanos(numbers[2]),
        body: Excerpt {
            bytes: numbers[3].to_string().into_bytes(),
            length: numbers[3],
            text: None,
        },
    }
}

/// The events of a run, one of each kind and several intervals, with the summary that their reading
/// produces.
fn events(
    warmup: Warmup,
    all: &[(Seen, [u64; 4])],
    change: Change,
    reason: StopReason,
) -> Vec<RunEvent> {
    let mut info = run_info(pools(), 7);
    info.warmup = warmup;
    let info = Arc::new(info);
    let mut reading = Reading::new(Arc::clone(&info), &info.thresholds);
    let mut events = vec![RunEvent::Started(Arc::clone(&info))];
    let kept = all.iter().map(|(seen, numbers)| kept(seen, *numbers));
    events.push(RunEvent::Kept(Arc::new(kept.collect())));
    let in_full = all.iter().map(|(seen, numbers)| transcript(seen, *numbers));
    events.push(RunEvent::Transcripts(in_full.collect()));
    let bodies = all.iter().map(|(_, numbers)| failed_body(*numbers));
    events.extend(bodies.map(|body| RunEvent::Failed(Arc::new(body))));
    for (index, part) in (0..).zip(all.chunks(5)) {
        let seen: Vec<_> = part.iter().map(|(seen, _)| (seen.clone(), 1)).collect();
        let mut closed = interval(&info.pools, &seen);
        closed.index = index;
        closed.start = Nanos::from_secs(index);
        closed.end = closed.start + Nanos::from_secs(1);
        events.push(RunEvent::IntervalClosed(Arc::new(closed)));
    }
    let command = Command {
        at: Nanos::from_secs(1),
        pool: Some(1),
        change,
    };
    events.insert(4.min(events.len()), RunEvent::Changed(Arc::new(command)));
    events.push(RunEvent::Stopping { reason });
    events.iter().for_each(|event| reading.observe(event));
    let summary = reading.close(Nanos::from_secs(9), 0.25);
    events.push(RunEvent::Finished(Arc::new(summary)));
    events
}

/// The events of a run: the facts of the first, those in between with their bytes, and the summary
/// of the last.
struct Run {
    info: Arc<RunInfo>,
    between: Vec<(RunEvent, Vec<u8>)>,
    summary: Arc<Summary>,
}

impl Run {
    fn of(events: &[RunEvent]) -> Self {
        let [
            RunEvent::Started(info),
            between @ ..,
            RunEvent::Finished(summary),
        ] = events
        else {
            panic!("a first and a last event");
        };
        let bytes = |event: &RunEvent| {
            (
                event.clone(),
                encode_event(event).expect("an event in between"),
            )
        };
        Self {
            info: Arc::clone(info),
            between: between.iter().map(bytes).collect(),
            summary: Arc::clone(summary),
        }
    }
}

fn reasons() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Signal),
        Just(StopReason::Duration),
        Just(StopReason::Counted),
        Just(StopReason::Threshold),
        Just(StopReason::Command),
    ]
}

proptest! {
    #![proptest_config(samples::cases(32))]

    #[test]
    fn every_event_comes_back_and_no_part_of_one(
        all in prop::collection::vec((seen(3), any::<[u64; 4]>()), 0..20),
        change in change(),
        reason in reasons(),
        is_found in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let warmup = match is_found {
            true => Warmup::Auto,
            false => Warmup::Span(Nanos::from_secs(1)),
        };
        let run = Run::of(&events(warmup, &all, change, reason));
        let info: Arc<RunInfo> = Arc::new(decode(&encode(&*run.info)).expect("the facts"));
        prop_assert_eq!(&info, &run.info);
        let mut reading = Reading::new(Arc::clone(&info), &info.thresholds);
        for (event, bytes) in &run.between {
            let end = cut.index(bytes.len());
            prop_assert!(decode_event(&bytes[..end], &info).is_err(), "cut at {}", end);
            let decoded = decode_event(bytes, &info);
            prop_assert!(decoded.as_ref() == Ok(event), "{:?}\nfor\n{:?}", decoded, event);
            reading.observe(&decoded.expect("an event"));
        }
        // The summary follows from the events and the ending.
        let ending = encode(&run.summary.ending(None));
        let end = cut.index(ending.len());
        prop_assert!(decode::<Ending>(&ending[..end]).is_err(), "cut at {}", end);
        let summary = reading.restore(decode(&ending).expect("an ending"));
        prop_assert!(summary == *run.summary, "{:?}\nfor\n{:?}", summary, run.summary);
    }

    #[test]
    fn bytes_are_refused_or_encode_to_themselves(
        all in prop::collection::vec((seen(3), any::<[u64; 4]>()), 0..6),
        change in change(),
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        rest in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let warmup = Warmup::Span(Nanos::ZERO);
        let run = Run::of(&events(warmup, &all, change, StopReason::Signal));
        let mut bytes = run.between[which.index(run.between.len())].1.clone();
        let at = at.index(bytes.len());
        bytes.splice(at..bytes.len().min(at + rest.len()), rest);
        if let Ok(decoded) = decode_event(&bytes, &run.info) {
            prop_assert_eq!(encode_event(&decoded), Some(bytes));
        }
    }
}

/// The first and the last event are sent in other forms, so their kinds are unknown.
#[test]
fn events_have_a_kind_and_a_version() {
    let all = events(
        Warmup::Span(Nanos::ZERO),
        &[],
        Change::Pause,
        StopReason::Signal,
    );
    assert_eq!(encode_event(&all[0]), None);
    assert_eq!(encode_event(&all[all.len() - 1]), None);
    let info = Run::of(&all).info;
    for kind in [0, 6, 8] {
        let unknown = FormError::Malformed("an event of an unknown kind");
        assert_eq!(decode_event(&[1, kind], &info), Err(unknown));
    }
    assert_eq!(decode_event(&[2, 5, 0], &info), Err(FormError::Version(2)));
    assert_eq!(decode_event(&[1, 5, 0, 0], &info), Err(FormError::Excess));
}
