//! Requests of a script, from the call to the result.

use drumfire_engine::{Reply, ReplyTimes};
use drumfire_plan::{Header, Method, Url};
use drumfire_units::Nanos;
use std::net::SocketAddr;
use std::sync::Arc;

/// Which form of a response's body a script wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyForm {
    /// A text.
    Text,
    /// An ArrayBuffer.
    Binary,
    /// `null`.
    None,
}

/// Which statuses a request may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Any: the request is not judged.
    Any,
    /// These, each from the first to the second.
    Ranges(Vec<(u16, u16)>),
}

impl Expected {
    /// Whether a response is as expected; `None` if it is not judged. A failed request has the status 0.
    pub(crate) fn holds(&self, status: u16) -> Option<bool> {
        match self {
            Self::Any => None,
            Self::Ranges(ranges) => Some(
                ranges
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&status)),
            ),
        }
    }
}

/// A request as it is sent: the script's, or one that follows a redirect.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub(crate) url: Url,
    /// The text of the URL in tags and responses, without credentials.
    pub(crate) shown: String,
    pub(crate) method: Method,
    /// The fields, without cookies.
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Option<Arc<[u8]>>,
}

/// A cookie of one request.
#[derive(Clone, Debug)]
pub(crate) struct OwnCookie {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the cookie replaces those of this name in the jar.
    pub(crate) replaces: bool,
}

/// A request of a script.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    /// The first request, or why it cannot be made: a text and a code of k6.
    pub(crate) hop: Result<Hop, (String, u32)>,
    /// The text of the URL as the script wrote it.
    pub(crate) address: String,
    /// The name of the request, if it is not its URL.
    pub(crate) name: Option<String>,
    pub(crate) tags: Vec<(String, String)>,
    pub(crate) timeout: Nanos,
    pub(crate) redirects: u32,
    /// Whether the script gave the number of redirects.
    pub(crate) limits_redirects: bool,
    pub(crate) body_form: BodyForm,
    pub(crate) cookies: Vec<OwnCookie>,
    pub(crate) jar: usize,
    pub(crate) throws: bool,
    pub(crate) expected: Expected,
}

/// The result of a request: of its last hop.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The last request, with the cookies that it sent; `None` if none could be made.
    pub(crate) hop: Option<Hop>,
    pub(crate) cookies_sent: String,
    pub(crate) address: String,
    pub(crate) status: u16,
    pub(crate) version: &'static str,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) body_form: BodyForm,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) timings: Timings,
    pub(crate) error: String,
    pub(crate) code: u32,
    pub(crate) throws: bool,
}

/// The times of a request in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timings {
    pub(crate) blocked: f64,
    pub(crate) connecting: f64,
    pub(crate) tls: f64,
    pub(crate) sending: f64,
    pub(crate) waiting: f64,
    pub(crate) receiving: f64,
}

impl Timings {
    /// The times of a reply. Of a request that failed, the last phase lasts until the failure.
    pub(crate) fn of(times: &ReplyTimes) -> Self {
        let millis = |from: Nanos, to: Nanos| (to - from).0 as f64 / 1e6;
        let (connecting, tls) = (times.connect.0 as f64 / 1e6, times.tls.0 as f64 / 1e6);
        if times.sent == Nanos::MAX {
            return Self {
                connecting,
                tls,
                ..Self::default()
            };
        }
        let end = times.end;
        let written = times.written.min(end).max(times.sent);
        let first = times.first_byte.min(end).max(written);
        Self {
            blocked: millis(times.began, times.sent),
            connecting,
            tls,
            sending: millis(times.sent, written),
            waiting: millis(written, first),
            receiving: millis(first, end),
        }
    }

    /// What k6 calls the duration of a request.
    pub(crate) fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

impl Outcome {
    /// The result of a request that could not be made.
    pub(crate) fn refused(errand: &Errand, error: String, code: u32) -> Self {
        Self {
            hop: None,
            cookies_sent: String::new(),
            address: errand.address.clone(),
            status: 0,
            version: "",
            fields: Vec::new(),
            body: Vec::new(),
            body_form: errand.body_form,
            peer: None,
            timings: Timings::default(),
            error,
            code,
            throws: errand.throws,
        }
    }

    /// The result of a reply.
    pub(crate) fn of(errand: &Errand, hop: Hop, reply: Reply, error: (String, u32)) -> Self {
        let (error, code) = error;
        let failed = !error.is_empty();
        Self {
            address: hop.shown.clone(),
            hop: Some(hop),
            cookies_sent: String::new(),
            status: if failed { 0 } else { reply.status },
            version: if failed { "" } else { reply.version },
            timings: Timings::of(&reply.times),
            fields: if failed { Vec::new() } else { reply.fields },
            body: if failed { Vec::new() } else { reply.body },
            body_form: errand.body_form,
            peer: reply.address,
            error,
            code,
            throws: errand.throws,
        }
    }
}
