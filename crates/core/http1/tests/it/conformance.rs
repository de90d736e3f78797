//! Every case of the corpus: in one piece, in two pieces with every split, and byte by byte.

use crate::replay::{Setting, Transcript, replay};
use drumfire_corpus::Case;
use drumfire_http1::{Machine, Shared};

/// Compares a machine's events in a case with the expected ones.
fn check(case: &Case, seen: &Transcript) {
    let name = &case.name;
    let expected = &case.expected;
    let status = seen.head.as_ref().map(|head| head.status);
    let outcome = match (&seen.error, &seen.end, status) {
        (Some(error), _, _) => error.name(),
        (None, None, _) => "none yet",
        // The machine reads these like any other status; the engine classifies them.
        (None, Some(_), Some(..=99 | 600..)) => "invalid_status",
        (None, Some(_), _) => "ok",
    };
    assert_eq!(outcome, expected.outcome, "{name}: outcome");
    assert_eq!(seen.status, expected.status.unwrap_or(0), "{name}: status");
    if let Some(body) = expected.body {
        assert_eq!(seen.body.len() as u64, body, "{name}: body");
    }
    if let Some(content) = &expected.content {
        assert_eq!(&seen.body, content, "{name}: content");
    }
    if let Some(hint) = &expected.hint {
        let seen = seen.error.as_ref().and_then(|error| error.hint());
        assert_eq!(seen.as_ref(), Some(hint), "{name}: hint");
    }
    let Some(end) = &seen.end else { return };
    let notices: Vec<&str> = end.notices.iter().map(|notice| notice.name()).collect();
    assert_eq!(notices, expected.notices, "{name}: notices");
    assert_eq!(
        end.interim,
        expected.interim.unwrap_or(0),
        "{name}: interim"
    );
    assert_eq!(
        end.interim as usize,
        seen.interim.len(),
        "{name}: interim events"
    );
    assert_eq!(end.body_bytes, seen.body.len() as u64, "{name}: body bytes");
    assert_eq!(Some(end.status), status, "{name}: status at the end");
    if let Some(reusable) = expected.reusable {
        assert_eq!(end.reusable, reusable, "{name}: reusable");
    }
}

#[test]
fn every_case_has_its_outcome() {
    for case in drumfire_corpus::all() {
        let setting = Setting::from_case(&case);
        let mut shared = Shared::new(setting.limits);
        check(&case, &replay([&case.bytes()[..]], setting, &mut shared));
    }
}

#[test]
fn a_response_read_in_one_step_means_what_its_events_mean() {
    let mut at_once = 0;
    for case in drumfire_corpus::all() {
        let setting = Setting::from_case(&case);
        let mut shared = Shared::new(setting.limits);
        let bytes = case.bytes();
        let events = replay([&bytes[..]], setting, &mut shared);
        let mut machine = Machine::new();
        machine.send(setting.kind, setting.persistence);
        at_once += usize::from(machine.whole(&bytes, &mut shared).is_some());
        let setting = Setting {
            at_once: true,
            ..setting
        };
        assert_eq!(
            replay([&bytes[..]], setting, &mut shared),
            events,
            "{}",
            case.name
        );
    }
    assert!(at_once >= 10, "{at_once} of the cases are usual ones");
}

#[test]
fn a_remembered_head_means_what_it_meant() {
    for case in drumfire_corpus::all() {
        let setting = Setting::from_case(&case);
        let mut shared = Shared::new(setting.limits);
        let bytes = case.bytes();
        let first = replay([&bytes[..]], setting, &mut shared);
        for _ in 0..3 {
            assert_eq!(
                replay([&bytes[..]], setting, &mut shared),
                first,
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn a_head_is_remembered_for_its_kind_of_request_only() {
    let mut shared = Shared::default();
    let case = drumfire_corpus::find("00-control").expect("the control");
    let get = Setting::from_case(&case);
    let head = Setting {
        kind: drumfire_http1::RequestKind::Head,
        ..get
    };
    for _ in 0..2 {
        let bytes = case.bytes();
        assert_eq!(replay([&bytes[..]], get, &mut shared).body, b"hello");
        assert_eq!(replay([&bytes[..]], head, &mut shared).body, b"");
    }
}

/// Where to split: everywhere in a short case; in a long one near its ends, and at some other
/// places.
fn cuts(length: usize) -> Vec<usize> {
    const EVERYWHERE: usize = 2048;
    const NEAR: usize = 300;
    if length <= EVERYWHERE {
        return (0..=length).collect();
    }
    let between = (NEAR..length - NEAR).step_by(length / 50);
    (0..NEAR)
        .chain(between)
        .chain(length - NEAR..=length)
        .collect()
}

#[test]
fn every_cut_in_two_gives_the_same_events() {
    for case in drumfire_corpus::all() {
        let setting = Setting::from_case(&case);
        let mut shared = Shared::new(setting.limits);
        let bytes = case.bytes();
        let whole = replay([&bytes[..]], setting, &mut shared);
        for cut in cuts(bytes.len()) {
            let (first, second) = bytes.split_at(cut);
            let seen = replay([first, second], setting, &mut shared);
            assert_eq!(seen, whole, "{} cut at {cut}", case.name);
        }
    }
}

#[test]
fn every_drip_gives_the_same_events() {
    for case in drumfire_corpus::all() {
        let setting = Setting::from_case(&case);
        let mut shared = Shared::new(setting.limits);
        let bytes = case.bytes();
        let whole = replay([&bytes[..]], setting, &mut shared);
        for size in [1, 2, 3, 7] {
            let seen = replay(bytes.chunks(size), setting, &mut shared);
            assert_eq!(seen, whole, "{} in pieces of {size}", case.name);
        }
    }
}
