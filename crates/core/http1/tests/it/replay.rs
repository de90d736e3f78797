//! Replays bytes through a machine, split as requested, and records its events.

use drumfire_corpus::{Case, Request, StreamEnd};
use drumfire_http1::{
    BodyKind, Error, Event, Head, Limits, Machine, Notice, Notices, Persistence, RequestKind,
    Shared, Whole,
};

/// All of a machine's events for one stream. Two transcripts of one sequence of bytes must be
/// equal, regardless of how the bytes were split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) interim: Vec<u16>,
    pub(crate) head: Option<SeenHead>,
    pub(crate) body: Vec<u8>,
    pub(crate) end: Option<SeenEnd>,
    pub(crate) error: Option<Error>,
    /// The machine's status at the end.
    pub(crate) status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenHead {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(crate) content_length: Option<u64>,
    pub(crate) body: BodyKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenEnd {
    pub(crate) reusable: bool,
    pub(crate) notices: Notices,
    pub(crate) status: u16,
    pub(crate) interim: u32,
    pub(crate) body_bytes: u64,
}

/// A machine's settings, in addition to the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) kind: RequestKind,
    pub(crate) persistence: Persistence,
    pub(crate) limits: Limits,
    pub(crate) end: StreamEnd,
    /// Whether a complete response is read in one step.
    pub(crate) at_once: bool,
}

impl Setting {
    pub(crate) fn from_case(case: &Case) -> Self {
        let mut limits = Limits::default();
        for (name, value) in &case.limits {
            assert_eq!(name, "body_bytes", "{}: unknown limit", case.name);
            limits.body_bytes = Some(*value);
        }
        let (kind, persistence) = match case.request {
            Request::Get => (RequestKind::Normal, Persistence::KeepAlive),
            Request::Close => (RequestKind::Normal, Persistence::Close),
            Request::Head => (RequestKind::Head, Persistence::KeepAlive),
            Request::Connect => (RequestKind::Connect, Persistence::KeepAlive),
        };
        Self {
            kind,
            persistence,
            limits,
            end: case.end,
            at_once: false,
        }
    }
}

/// Feeds the pieces one after the other, then ends the stream.
pub(crate) fn replay<'p>(
    pieces: impl IntoIterator<Item = &'p [u8]>,
    setting: Setting,
    shared: &mut Shared,
) -> Transcript {
    let mut machine = Machine::new();
    machine.send(setting.kind, setting.persistence);
    let mut seen = Transcript::default();
    let mut tunnel = false;
    for piece in pieces {
        if let Some(end) = &mut seen.end {
            // Bytes that arrive later are as much excess as bytes that arrive at once.
            if !tunnel && !piece.is_empty() {
                let refusal = machine.handle_input(piece, shared).map(|_| ());
                assert_eq!(refusal, Err(Error::Unsolicited));
                end.notices.insert(Notice::Excess);
                end.reusable = false;
            }
        } else if let Some(whole) = whole_of(&mut machine, piece, setting, shared) {
            seen.head = Some(seen_head(&whole.head));
            seen.body.extend_from_slice(whole.body);
            seen.end = Some(seen_end(whole.end));
            assert!(machine.is_idle());
        } else if let Err(error) = feed(&mut machine, piece, shared, &mut seen, &mut tunnel) {
            seen.error = Some(error);
            assert!(machine.is_idle(), "an error ends the exchange");
            break;
        }
    }
    if seen.end.is_none() && seen.error.is_none() {
        finish(&mut machine, setting.end, &mut seen);
    }
    seen.status = machine.status();
    seen
}

fn whole_of<'a>(
    machine: &mut Machine,
    piece: &'a [u8],
    setting: Setting,
    shared: &mut Shared,
) -> Option<Whole<'a>> {
    setting
        .at_once
        .then(|| machine.whole(piece, shared))
        .flatten()
}

fn feed(
    machine: &mut Machine,
    mut input: &[u8],
    shared: &mut Shared,
    seen: &mut Transcript,
    tunnel: &mut bool,
) -> Result<(), Error> {
    loop {
        let step = machine.handle_input(input, shared)?;
        assert!(step.consumed <= input.len());
        input = &input[step.consumed..];
        match step.event {
            Event::NeedInput => {
                assert!(input.is_empty(), "needs input and leaves some");
                return Ok(());
            }
            Event::Interim(status) => seen.interim.push(status),
            Event::Head(head) => {
                *tunnel = head.body == BodyKind::Tunnel;
                seen.head = Some(seen_head(&head));
            }
            Event::Body(bytes) => {
                assert!(!bytes.is_empty(), "an empty piece of body");
                seen.body.extend_from_slice(bytes);
            }
            Event::End(end) => {
                seen.end = Some(seen_end(end));
                assert!(input.is_empty() || *tunnel, "the end leaves nothing");
                assert!(machine.is_idle());
                return Ok(());
            }
        }
    }
}

fn finish(machine: &mut Machine, end: StreamEnd, seen: &mut Transcript) {
    match end {
        StreamEnd::Open => {}
        StreamEnd::Fin => match machine.handle_end() {
            Ok(end) => seen.end = end.map(seen_end),
            Err(error) => seen.error = Some(error),
        },
        StreamEnd::Rst => seen.error = Some(machine.handle_reset()),
    }
}

fn seen_head(head: &Head<'_>) -> SeenHead {
    let fields = head.headers.iter();
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_vec()));
    SeenHead {
        status: head.status,
        fields: fields.collect(),
        content_length: head.content_length,
        body: head.body,
    }
}

fn seen_end(end: drumfire_http1::End) -> SeenEnd {
    SeenEnd {
        reusable: end.reusable,
        notices: end.notices,
        status: end.status,
        interim: end.interim,
        body_bytes: end.body_bytes,
    }
}
