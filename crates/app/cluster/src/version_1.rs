//! The forms of everything that is sent between machines or stored in a journal.

use crate::attachments::{Attachments, SentFile};
use crate::clock_facts::ClockFacts;
use crate::envelope::Message;
use crate::journal::{Begun, ClockAxis, Entry, Head};
use crate::message::{
    AgentKey, Assignment, Beat, Content, Dismissal, Hold, MachineFacts, Phase, Reply, Report, Word,
};
use crate::offset::Offset;
use crate::on_loss::OnLoss;
use crate::place::Distrust;
use crate::status::{AgentStatus, Stage, Status};
use crate::succession::ShareOffer;
use drumfire_engine::Shares;
use drumfire_measure::form::{self, Form};
use drumfire_plan::{Change, Command, StopReason};
use drumfire_testkit::check_form;
use drumfire_units::Nanos;
use std::fmt::{Debug, Write as _};

const SHARES: Shares = Shares {
    first: 1,
    count: 2,
    of: 4,
};

const OFFSET: Offset = Offset {
    ahead: -5,
    uncertainty: Nanos(9),
};

const MACHINE: MachineFacts = MachineFacts {
    cores: 2,
    descriptors: Some(1024),
};

fn key() -> AgentKey {
    AgentKey::new([7; 16])
}

fn beat(phase: Phase) -> Beat {
    Beat {
        agent: "a".to_owned(),
        key: key(),
        program: "0.1.0".to_owned(),
        sent: Nanos(7),
        machine: MACHINE,
        run: "r".to_owned(),
        epoch: 1,
        term: 2,
        phase,
        made: 3,
        commands: 1,
        late: 0,
        offset: Some(OFFSET),
        clock: ClockFacts {
            system: Some(None),
            late: Some(Nanos(300)),
            unix_ns: Some(1 << 60),
        },
    }
}

fn beats() -> Vec<Beat> {
    let phases = [
        Phase::Free,
        Phase::Preparing,
        Phase::Ready(vec![1, 2]),
        Phase::Running,
        Phase::Expired,
        Phase::Ended,
        Phase::Failed("\u{e9}".to_owned()),
    ];
    phases.map(beat).to_vec()
}

fn assignment(plan: &str, attachments: Attachments) -> Assignment {
    Assignment {
        run: "r".to_owned(),
        share: 1,
        epoch: 2,
        shares: SHARES,
        machine: MACHINE,
        plan: plan.to_owned(),
        attachments,
    }
}

fn attachments() -> Attachments {
    Attachments {
        files: vec![SentFile {
            path: "\u{fc}".to_owned(),
            size: 300,
            digest: [9; 32],
        }],
        folders: vec!["protos".to_owned()],
        taken: vec![("token".to_owned(), "t".to_owned())],
    }
}

fn replies() -> Vec<Reply> {
    let words = [
        Word::Wait,
        Word::Take(assignment("drumfire: 1", attachments())),
        Word::Hold(Hold {
            epoch: 1,
            stored: 4,
            start: Some(Nanos(3)),
            begins: Nanos(4),
            joins: 1,
            from: 0,
            commands: vec![Command::soon(Change::Pause)],
            halt: Some((StopReason::Signal, true)),
            is_lost: true,
            is_over: false,
        }),
        Word::Leave(Dismissal::NotWanted),
        Word::Leave(Dismissal::refused("\u{e9}")),
    ];
    let reply = |word| Reply {
        run: "r".to_owned(),
        term: 2,
        sent: Nanos(7),
        at: Nanos(8),
        word,
    };
    words.map(reply).to_vec()
}

fn report() -> Report {
    Report {
        run: "r".to_owned(),
        share: 1,
        epoch: 2,
        key: key(),
        number: 300,
        is_last: true,
        piece: vec![0, 255],
    }
}

fn contents() -> Vec<Content> {
    vec![
        Content::Event(vec![1, 2]),
        Content::Ending(vec![3]),
        Content::Expired(Nanos(300)),
        Content::Invalid("\u{e9}".to_owned()),
    ]
}

fn status() -> Status {
    let agent = |stage, is_placed: bool| AgentStatus {
        name: "a".to_owned(),
        program: "0.1.0".to_owned(),
        cores: 2,
        shares: is_placed.then_some(SHARES),
        stage,
        offset: is_placed.then_some(OFFSET),
        silent: Nanos(1),
        reported: Nanos(2),
        sent: 3,
        dropped: 4,
        lag_mean: Nanos(5),
        lag_max: Nanos(6),
    };
    Status {
        run: "r".to_owned(),
        term: 2,
        wanted: 2,
        elapsed: Some(Nanos(9)),
        is_over: false,
        agents: vec![
            agent(Stage::Waits, false),
            agent(Stage::Runs, true),
            agent(Stage::Ended, true),
            agent(Stage::Lost, true),
        ],
    }
}

fn entries() -> Vec<Entry> {
    let head = Head {
        run: "r".to_owned(),
        program: "0.1.0".to_owned(),
        text: "drumfire: 1".to_owned(),
        taken: vec![("token".to_owned(), "t".to_owned())],
        attachments: attachments(),
        agents: 2,
        on_loss: OnLoss::Redistribute,
        url: "nats://127.0.0.1".to_owned(),
        group: "g".to_owned(),
        axis: ClockAxis {
            boot: "b".to_owned(),
            epoch: 1,
            unix_ns: 2,
        },
        caller: "c".to_owned(),
    };
    let begun = Begun {
        start: Nanos(5),
        places: vec![(
            assignment("", Attachments::default()),
            beat(Phase::Ready(vec![1])),
        )],
    };
    let distrust = Distrust {
        reason: "why".to_owned(),
        is_of_all: true,
    };
    let offer = ShareOffer {
        of: 1,
        host: 2,
        agent: "a".to_owned(),
        key: key(),
        machine: MACHINE,
        shares: SHARES,
    };
    vec![
        Entry::Head(head),
        Entry::Term(2),
        Entry::Begun(begun),
        Entry::Report(report().encode()),
        Entry::Command(Command::soon(Change::Resume)),
        Entry::Halt(StopReason::Threshold, false, Nanos(6)),
        Entry::Lost(1, Nanos(7)),
        Entry::Offered(offer),
        Entry::Joined(2, Nanos(8), beat(Phase::Running)),
        Entry::Failed(1, Nanos(9), "why".to_owned()),
        Entry::Distrusted(1, Nanos(10), distrust),
    ]
}

#[test]
fn all_forms_keep_their_properties() {
    beats().iter().for_each(check_form);
    replies().iter().for_each(check_form);
    contents().iter().for_each(check_form);
    entries().iter().for_each(check_form);
    check_form(&report());
    check_form(&status());
}

/// Appends the bytes of values, one value per line.
fn lines<T: Form + Debug>(all: &[T], encode: fn(&T) -> Vec<u8>, out: &mut String) {
    for value in all {
        let bytes = encode(value);
        bytes
            .iter()
            .for_each(|byte| write!(out, "{byte:02x}").unwrap());
        out.push('\n');
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the kept bytes are a file")]
fn messages_and_journals_have_the_bytes_of_version_1() {
    let mut all = String::new();
    lines(&beats(), Message::encode, &mut all);
    lines(&replies(), Message::encode, &mut all);
    lines(&[report()], Message::encode, &mut all);
    lines(&[status()], Message::encode, &mut all);
    lines(&contents(), form::encode, &mut all);
    lines(&entries(), Entry::frame, &mut all);
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/src/version_1.hex");
    if std::env::var_os("DRUMFIRE_BLESS").is_some() {
        std::fs::write(kept, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(kept).unwrap());
}
