//! The log of answers: requests and responses in full, selected by a filter.

use crate::grpc_code::{self, CODES};
use crate::pandora::config::Pool;
use crate::pandora::gun::{AnswerFilter, Gun, Loaded};
use crate::pandora::output::Place;
use drumfire_data::rfc3339;
use drumfire_measure::{Excerpt, Field, GRPC_STATUS, Kept, Side, Transcript};
use drumfire_report::reason_phrase;
use serde_json::{Map, Value, json};

/// Fields of a call that are not metadata.
const CALL_FIELDS: [&str; 7] = [
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-timeout",
    "host",
    "te",
    "user-agent",
];

/// The first fields of a request from Go's client.
const FIRST_FIELDS: [&str; 2] = ["host", "user-agent"];

/// The log of a pool's answers.
#[derive(Debug)]
pub(super) struct Answers {
    form: Form,
    filter: AnswerFilter,
    /// The number of exchanges that should be in the log, and the number that are.
    wanted: u64,
    written: u64,
}

/// The form of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A request and its response.
    Request,
    /// A request and its response, under the name of a scenario's step.
    Step,
    /// A call and its reply.
    Call,
}

impl Answers {
    /// The log of a pool, if it is on, and its destination.
    pub(super) fn from_pool(pool: &Pool) -> Option<(Self, Place)> {
        let log = pool.gun.answer_log()?;
        let form = match (&pool.gun, pool.gun.loaded()) {
            (Gun::Grpc(_), _) => Form::Call,
            (Gun::Http(_), Loaded::Scenarios) => Form::Step,
            (Gun::Http(_), Loaded::Shots) => Form::Request,
        };
        let answers = Self {
            form,
            filter: log.filter,
            wanted: 0,
            written: 0,
        };
        Some((answers, Place::File(log.path.clone())))
    }

    /// The minimum status of the exchanges that the engine must keep for the log.
    pub(super) const fn least_status(&self) -> u16 {
        match (self.filter, self.form) {
            (AnswerFilter::All, _) => 1,
            (AnswerFilter::Warning | AnswerFilter::Error, Form::Call) => GRPC_STATUS + 1,
            (AnswerFilter::Warning, _) => 400,
            (AnswerFilter::Error, _) => 500,
        }
    }

    /// Counts a sample that the log should contain.
    pub(super) fn count(&mut self, kept: &Kept) {
        self.wanted += u64::from(self.wants(kept.sample.status));
    }

    fn wants(&self, status: u16) -> bool {
        let status = match self.form {
            Form::Call => http_status(status),
            Form::Request | Form::Step => u32::from(status),
        };
        status
            >= match self.filter {
                AnswerFilter::All => 1,
                AnswerFilter::Warning => 400,
                AnswerFilter::Error => 500,
            }
    }

    /// The number of exchanges missing in the log, because too many occurred at once.
    pub(super) const fn lacking(&self) -> u64 {
        self.wanted.saturating_sub(self.written)
    }

    /// Appends an exchange of a run that started at `started_at`, in nanoseconds since 1970.
    pub(super) fn write(
        &mut self,
        transcript: &Transcript,
        tag: &str,
        started_at: u64,
        out: &mut Vec<u8>,
    ) {
        if !self.wants(transcript.sample.status) {
            return;
        }
        let none = Side::default();
        let response = match (&transcript.response, self.form) {
            (Some(response), _) => response,
            // A call without an answer still has a status.
            (None, Form::Call) => &none,
            (None, _) => return,
        };
        self.written += 1;
        let sent = started_at + transcript.sample.sent.0;
        let end = started_at + transcript.sample.end.0;
        let number = transcript.sample.intended.0;
        match self.form {
            Form::Call => {
                line(
                    sent,
                    &format!("Request:\t{}", call(&transcript.request)),
                    out,
                );
                line(
                    end,
                    &format!("Response:\t{}", reply(transcript, response)),
                    out,
                );
            }
            Form::Request => {
                let mut text = b"REQUEST:\n".to_vec();
                dump(&transcript.request, &transcript.request.line, &mut text);
                text.extend_from_slice(b"\n\n");
                entry(sent, &text, out);
                let mut text = b"RESPONSE:\n".to_vec();
                dump(response, &status_line(response), &mut text);
                entry(end, &text, out);
            }
            Form::Step => {
                let mut text = format!("REQUEST[{tag}.{number}]:\n").into_bytes();
                dump(&transcript.request, &transcript.request.line, &mut text);
                text.push(b'\n');
                entry(sent, &text, out);
                let mut text = format!("RESPONSE[{tag}.{number}]:\n").into_bytes();
                dump(response, &status_line(response), &mut text);
                text.push(b'\n');
                entry(end, &text, out);
            }
        }
    }
}

/// The HTTP status that corresponds to the status of a call.
fn http_status(status: u16) -> u32 {
    let Some(code) = status.checked_sub(GRPC_STATUS) else {
        return 0;
    };
    let known = grpc_code::OF_HTTP.get(usize::from(code));
    known.copied().unwrap_or(500)
}

fn line(at: u64, text: &str, out: &mut Vec<u8>) {
    entry(at, text.as_bytes(), out);
}

/// An entry of the log; its text may contain line ends.
fn entry(at: u64, text: &[u8], out: &mut Vec<u8>) {
    let mut head = String::new();
    rfc3339(at, &mut head);
    head.push_str("\tDEBUG\t");
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(text);
    out.push(b'\n');
}

/// A message in the format of HTTP/1.1.
fn dump(side: &Side, line: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(b"\r\n");
    let mut fields: Vec<&Field> = side.fields.iter().collect();
    fields.sort_by_key(|field| place(&field.name));
    for Field { name, value } in fields {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    for body in &side.bodies {
        out.extend_from_slice(&body.bytes);
        let cut = body.length.saturating_sub(body.bytes.len() as u64);
        if cut > 0 {
            out.extend_from_slice(format!("… {cut} more bytes").as_bytes());
        }
    }
}

/// The position of a field in the order of Go's client: first its own fields, then the others by
/// name.
fn place(name: &str) -> (usize, String) {
    let name = name.to_ascii_lowercase();
    let first = FIRST_FIELDS.iter().position(|known| *known == name);
    (first.unwrap_or(FIRST_FIELDS.len()), name)
}

/// The first line of a response, with the phrase of its status.
fn status_line(response: &Side) -> String {
    let line = &response.line;
    let status = line
        .rsplit_once(' ')
        .and_then(|(_, status)| status.parse().ok());
    let phrase = match status.unwrap_or(0) {
        200 => Some("OK"),
        201 => Some("Created"),
        202 => Some("Accepted"),
        204 => Some("No Content"),
        206 => Some("Partial Content"),
        301 => Some("Moved Permanently"),
        302 => Some("Found"),
        303 => Some("See Other"),
        304 => Some("Not Modified"),
        307 => Some("Temporary Redirect"),
        308 => Some("Permanent Redirect"),
        other => reason_phrase(other),
    };
    match phrase {
        Some(phrase) => format!("{line} {phrase}"),
        None => line.clone(),
    }
}

/// The method, message and metadata of a call.
fn call(request: &Side) -> Value {
    let path = request.line.split(' ').nth(1).unwrap_or_default();
    let method = path.trim_start_matches('/').replace('/', ".");
    let metadata = request.fields.iter();
    let metadata = metadata.filter(|field| !CALL_FIELDS.contains(&field.name.as_str()));
    let metadata: Map<String, Value> = metadata
        .map(|field| (field.name.clone(), field.value.clone().into()))
        .collect();
    json!({"method": method, "message": text(request.bodies.first()), "metadata": metadata})
}

/// The message of a reply, and its final error.
fn reply(transcript: &Transcript, response: &Side) -> Value {
    let code = grpc_code::from_sample(&transcript.sample);
    let resp = match (code, response.bodies.first()) {
        (0, body) => text(body),
        _ => "empty".to_owned(),
    };
    let mut reply = json!({ "resp": resp });
    if code != 0 {
        let name = CODES[usize::from(code)];
        let mut fields = response.trailers.iter().chain(&response.fields);
        let message = fields.find(|field| field.name == "grpc-message");
        let message = message.map_or("", |field| field.value.as_str());
        reply["error"] = format!("rpc error: code = {name} desc = {message}").into();
    }
    reply
}

fn text(message: Option<&Excerpt>) -> String {
    let text = message.and_then(|message| message.text.clone());
    text.unwrap_or_default()
}
