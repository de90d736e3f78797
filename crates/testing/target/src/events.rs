//! `/events`: a stream of server-sent events, whose events, times and writes the query selects.

use crate::answer::{Answer, Body, Pace, Piece};
use crate::law::Law;
use crate::parameter::{BadParameter, parse};
use crate::request::RequestHead;
use drumfire_units::{Nanos, Xoshiro256};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The maximum number of events of a stream.
const EVENTS_MAX: u32 = 100_000;
/// The maximum length of a stream, which is built in memory.
const STREAM_MAX: u64 = 64 << 20;
/// The bytes of an event other than its filler, at most.
const EVENT_OVERHEAD: u64 = 100;

/// The stream that a request selects.
#[derive(Debug)]
pub(crate) struct EventsRequest {
    /// `n=N`: the number of events.
    count: u32,
    /// `first=LAW`: the time from the head to the first event.
    first: Law,
    /// `gap=LAW`: the time from one write to the next.
    gap: Law,
    /// `eol=lf`, `crlf` or `cr`: the end of each line.
    line_end: LineEnd,
    /// `batch=N`: the number of events in a write.
    batch: NonZeroU32,
    /// `done=yes`: an event `[DONE]` at the end.
    last: LastEvent,
    /// `end=BYTES`: the body ends after these many bytes, by the rules of HTTP.
    length: Option<u64>,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Lf,
    CrLf,
    Cr,
}

impl LineEnd {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

impl FromStr for LineEnd {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "lf" => Ok(Self::Lf),
            "crlf" => Ok(Self::CrLf),
            "cr" => Ok(Self::Cr),
            _ => Err("use lf, crlf or cr"),
        }
    }
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastEvent {
    /// The last numbered event.
    Event,
    /// An event `[DONE]`.
    Done,
}

impl FromStr for LastEvent {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "yes" => Ok(Self::Done),
            "no" => Ok(Self::Event),
            _ => Err("use yes or no"),
        }
    }
}

impl EventsRequest {
    /// The stream of a request. `size` is the length of the filler in each event.
    ///
    /// # Errors
    /// If a parameter is invalid, or the stream is too long.
    pub(crate) fn read(head: &RequestHead<'_>, size: u64) -> Result<Self, BadParameter> {
        let mut request = Self {
            count: 10,
            first: Law::Constant(Nanos::ZERO),
            gap: Law::Constant(Nanos::from_millis(10)),
            line_end: LineEnd::Lf,
            batch: NonZeroU32::MIN,
            last: LastEvent::Event,
            length: None,
        };
        for (name, value) in head.parameters() {
            match &*name {
                "n" => request.count = parse(&name, &value)?,
                "first" => request.first = parse(&name, &value)?,
                "gap" => request.gap = parse(&name, &value)?,
                "eol" => request.line_end = parse(&name, &value)?,
                "batch" => request.batch = parse(&name, &value)?,
                "done" => request.last = parse(&name, &value)?,
                "end" => request.length = Some(parse(&name, &value)?),
                _ => {}
            }
        }
        if request.count > EVENTS_MAX {
            return Err(BadParameter(format!("n: at most {EVENTS_MAX} events")));
        }
        let length = u64::from(request.count).saturating_mul(size.saturating_add(EVENT_OVERHEAD));
        if length > STREAM_MAX {
            return Err(BadParameter(format!(
                "size: a stream of events can have at most {STREAM_MAX} bytes"
            )));
        }
        Ok(request)
    }

    /// The answer, with `size` bytes of filler in each event.
    pub(crate) fn answer(&self, size: u64, random: &mut Xoshiro256) -> Answer {
        let filler = String::from_utf8_lossy(Body::filler(size).piece(size)).replace('\n', " ");
        let filler = filler.trim_end();
        let (mut text, mut pieces) = (String::new(), VecDeque::new());
        let events = self.count + u32::from(self.last == LastEvent::Done);
        let mut begin = 0;
        for n in 0..events {
            self.write_event(n, filler, &mut text);
            let is_last = n + 1 == events;
            if is_last || (n + 1) % self.batch == 0 {
                let law = if pieces.is_empty() {
                    self.first
                } else {
                    self.gap
                };
                pieces.push_back(Piece {
                    wait: law.draw(random),
                    size: (text.len() - begin) as u64,
                });
                begin = text.len();
            }
        }
        let mut bytes = text.into_bytes();
        if let Some(length) = self.length.and_then(|length| usize::try_from(length).ok()) {
            bytes.truncate(length);
        }
        let mut answer = Answer::new(200, Body::bytes(bytes));
        answer.fields = vec![
            ("Content-Type", "text/event-stream".to_owned()),
            ("Cache-Control", "no-store".to_owned()),
        ];
        answer.pace = Some(Pace::Pieces(pieces));
        // One chunk for each write.
        answer.chunked = Some(NonZeroU32::MAX);
        answer
    }

    /// Writes an event: its number as id, and as a field of its data.
    fn write_event(&self, n: u32, filler: &str, out: &mut String) {
        let end = self.line_end.text();
        // Writing to a String can't fail.
        let _ = match n < self.count {
            true => write!(
                out,
                "id: {n}{end}data: {{\"n\":{n},\"text\":\"{filler}\"}}{end}{end}"
            ),
            false => write!(out, "data: [DONE]{end}{end}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(query: &str) -> Result<(String, Vec<(u64, u64)>), BadParameter> {
        let target = format!("/events?{query}");
        let head = RequestHead {
            method: "GET",
            target: &target,
            protocol: "HTTP/1.1",
            fields: Vec::new(),
        };
        let request = EventsRequest::read(&head, 4)?;
        let mut answer = request.answer(4, &mut Xoshiro256::new(1, 0));
        let text = String::from_utf8(answer.body.all().to_vec()).unwrap();
        let Some(Pace::Pieces(pieces)) = answer.pace else {
            panic!("no pace");
        };
        let pieces = pieces.iter().map(|piece| (piece.wait.0, piece.size));
        Ok((text, pieces.collect()))
    }

    #[test]
    fn a_stream_has_the_events_and_the_writes_of_its_query() {
        let (text, pieces) = answer("n=3&first=5ms&gap=1ms&eol=crlf&batch=2&done=yes").unwrap();
        let event = |n| format!("id: {n}\r\ndata: {{\"n\":{n},\"text\":\"This\"}}\r\n\r\n");
        let events = [
            event(0),
            event(1),
            event(2),
            "data: [DONE]\r\n\r\n".to_owned(),
        ];
        assert_eq!(text, events.concat());
        let sizes = [events[0].len() * 2, events[2].len() + events[3].len()];
        assert_eq!(
            pieces,
            [(5_000_000, sizes[0] as u64), (1_000_000, sizes[1] as u64)]
        );
        assert_eq!(
            answer("n=2&eol=cr&end=20").unwrap().0,
            "id: 0\rdata: {\"n\":0,\""
        );
        assert_eq!(answer("n=0").unwrap(), (String::new(), Vec::new()));
    }

    #[test]
    fn what_is_invalid_is_refused() {
        for query in [
            "n=x", "n=100001", "eol=lfcr", "batch=0", "done=1", "gap=-1s",
        ] {
            assert!(answer(query).is_err(), "{query}");
        }
    }
}
