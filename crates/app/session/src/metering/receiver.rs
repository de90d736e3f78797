//! A receiver of metrics: its address, its header fields, and the meaning of its answers.
//!
//! A request is one POST on a persistent connection, within [`PATIENCE`]. An answer settles its
//! snapshots in one of four ways ([`Sent`]), depending on its status and on the rules of the
//! protocol. A receiver is not trusted: its answer is read only in part, and is masked (it may
//! repeat header fields), cut and escaped before it is quoted. A redirect is reported and not
//! followed.

use super::Voice;
use crate::MeteringError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::{Field, Place, Text};
use drumfire_metrics::{Coding, Push, Series, Snapshot};
use drumfire_net::{
    Clock, PostAnswer, PostTarget, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsSetupError,
    TlsVerify,
};
use drumfire_plan::{Header, HeaderError, Host, Scheme, Secrets, Url, secret};
use drumfire_report::untrusted::Untrusted;
use jiff::fmt::rfc2822::DateTimeParser;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time limit of one request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum pause that a receiver may request.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// The maximum length of an answer that a message quotes, in characters.
const QUOTE_CHARS: usize = 200;
/// The minimum length of header field values that are masked regardless of the field's name;
/// shorter values occur in any text.
const VALUE_MIN: usize = 8;

/// A receiver of metrics.
pub(super) struct Receiver {
    /// The receiver's name in messages, without secrets.
    pub(super) name: String,
    push: Push,
    target: PostTarget,
    /// The fields of every request; the user's fields replace ours.
    fields: Vec<Header>,
    /// The secret values of the fields, which a server may repeat.
    secrets: Secrets,
    /// Whether the receiver has refused a content coding.
    is_plain: AtomicBool,
    voice: Voice,
}

/// The result of sending snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The snapshots were accepted.
    Taken,
    /// The snapshots may be accepted later.
    Failed {
        why: String,
        /// The pause that the receiver requested.
        retry_after: Option<Duration>,
    },
    /// The snapshots may be accepted in several requests.
    TooLarge(String),
    /// The snapshots will never be accepted.
    Refused(String),
}

impl Receiver {
    /// The receiver at this URL, with these additional header fields.
    ///
    /// Nothing is sent yet. The secrets of the URL and of the user's fields are collected before
    /// the fields are merged; our own fields are made from the same URL.
    pub(super) fn new(
        push: Push,
        url: &Text,
        fields: &[Field],
        voice: Voice,
    ) -> Result<Self, MeteringError> {
        let place = &url.place;
        let parsed = Url::parse(&url.value);
        let parsed = parsed.map_err(|error| wrong(place, &error))?;
        let origin = &parsed.origin;
        let given = given(fields)?;
        let secrets = Secrets::new(&secrets(&parsed, &given));
        let uri = format!("{origin}{}", push.target(&parsed.target));
        let tls = tls(&parsed).map_err(|error| wrong(place, &error))?;
        let target = PostTarget::new(&uri, tls, PATIENCE);
        let mut fields = own(&parsed).map_err(|error| wrong(place, &error))?;
        fields.retain(|own| !is_named(&given, own.name()));
        fields.extend(given);
        Ok(Self {
            name: format!("{place} {origin}"),
            push,
            target: target.map_err(|error| wrong(place, &error))?,
            fields,
            secrets,
            is_plain: AtomicBool::new(false),
            voice,
        })
    }

    /// Shows a message about the receiver.
    pub(super) fn note(&self, message: &str) {
        self.voice.note(&format!("{}: {message}", self.name));
    }

    /// Sends snapshots, and blocks for the answer. If a receiver understands no content coding
    /// (415), the snapshots are sent again without one, now and in all later requests.
    ///
    /// The call may therefore block for twice [`PATIENCE`]. A 415 to a request without a coding is
    /// judged like any other answer, and the request is not sent a third time.
    pub(super) fn send(&self, snapshots: &[Arc<Snapshot>], series: Series) -> Sent {
        let coding = match self.is_plain.load(Ordering::Relaxed) {
            true => Coding::Identity,
            false => Coding::Gzip,
        };
        match (self.post(snapshots, series, coding), coding) {
            (Ok(PostAnswer { status: 415, .. }), Coding::Gzip) => {
                self.is_plain.store(true, Ordering::Relaxed);
                self.send(snapshots, series)
            }
            (Ok(answer), _) => self.judge(&answer),
            (Err(sent), _) => sent,
        }
    }

    /// Sends one request. The protocol's own fields come first, except those that the user has
    /// replaced.
    ///
    /// # Errors
    /// The result for the snapshots if no answer arrives: snapshots that cannot be encoded are
    /// refused for good, and a failed connection is worth another try.
    fn post(
        &self,
        snapshots: &[Arc<Snapshot>],
        series: Series,
        coding: Coding,
    ) -> Result<PostAnswer, Sent> {
        let snapshots: Vec<&Snapshot> = snapshots.iter().map(|snapshot| &**snapshot).collect();
        let request = self.push.request(&snapshots, series, coding);
        let request = request.map_err(Sent::Refused)?;
        let ours = request.fields.iter();
        let ours = ours.filter(|(name, _)| !is_named(&self.fields, name));
        let ours = ours.map(|(name, value)| (*name, value.as_bytes()));
        let users = self
            .fields
            .iter()
            .map(|field| (field.name(), field.value()));
        let answer = self.target.post(ours.chain(users), &request.content);
        answer.map_err(|error| Sent::Failed {
            why: match error.kind() {
                io::ErrorKind::TimedOut => "no response in time".to_owned(),
                _ => error.to_string(),
            },
            retry_after: None,
        })
    }

    /// The meaning of an answer: a server in trouble may accept the same request later, but a
    /// server that finds a mistake never will.
    ///
    /// If a successful answer reports omitted points, it does not count as a success. The rest of
    /// the snapshot was accepted, so sending it again would count the rest twice.
    fn judge(&self, answer: &PostAnswer) -> Sent {
        let status = answer.status;
        let left_out = match status {
            200..300 => self.push.left_out(&answer.content),
            _ => None,
        };
        let said = self.quoted(answer, left_out.as_deref());
        match status {
            200..300 if left_out.is_none() => Sent::Taken,
            413 => Sent::TooLarge(said),
            _ if self.push.may_be_repeated(status) => Sent::Failed {
                why: said,
                retry_after: answer.retry_after.as_deref().and_then(|text| {
                    let now = Duration::from_nanos(Clock::unix_time());
                    retry_after(text, now)
                }),
            },
            _ => Sent::Refused(said),
        }
    }

    /// An answer as quoted in a message: its status and the beginning of its content, or the target
    /// of its redirect.
    ///
    /// Secrets are masked before the text is cut, so that no part of a secret remains at its end,
    /// and the rest is escaped for a terminal.
    fn quoted(&self, answer: &PostAnswer, left_out: Option<&str>) -> String {
        let status = answer.status;
        let text = match (left_out, &answer.location) {
            (Some(left_out), _) => Cow::Borrowed(left_out),
            (None, Some(location)) if (300..400).contains(&status) => {
                Cow::Owned(format!("moved to {}; use that URL", secret::url(location)))
            }
            (None, _) => answer.text(),
        };
        let text = self.secrets.masked(&text);
        let text: String = text.trim().chars().take(QUOTE_CHARS).collect();
        let text = Untrusted::new(&text).escaped(drumfire_report::style::Unicode::On);
        let text = self.voice.redactor.text(&text);
        match text.is_empty() {
            true => format!("responded with {status}"),
            false => format!("responded with {status}: {text}"),
        }
    }
}

/// A mistake in the settings of a receiver.
fn wrong(place: &Place, error: &dyn Display) -> MeteringError {
    MeteringError::Receiver {
        place: place.clone(),
        reason: error.to_string(),
    }
}

/// The settings for TLS, if the URL's scheme is https.
fn tls(url: &Url) -> Result<Option<TlsConfig>, TlsSetupError> {
    let name = match &url.origin.host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    };
    let tls = match url.origin.scheme {
        Scheme::Http => None,
        Scheme::Https => Some(TlsConfig::new(&TlsOptions {
            name: &name,
            material: &TlsMaterial::default(),
            identity: TlsIdentity::Withheld,
            verify: TlsVerify::Yes,
            alpn: &[],
            resumed_per_million: 1_000_000,
        })),
    };
    tls.transpose()
}

/// The header fields of the user. Fields that frame a request, or control its connection, are
/// rejected, because they follow from the request.
fn given(fields: &[Field]) -> Result<Vec<Header>, MeteringError> {
    let checked = fields.iter().map(|field| {
        let (name, place) = (&field.name.value, &field.name.place);
        if Header::is_framing(name) {
            let reason = format!("`{name}` frames the request and can't be set");
            return Err(wrong(place, &reason));
        }
        let header = Header::new(name, field.value.value.as_bytes());
        header.map_err(|error| wrong(place, &error))
    });
    checked.collect()
}

/// Our own fields of every request, in addition to the fields of its format.
fn own(url: &Url) -> Result<Vec<Header>, HeaderError> {
    let agent = concat!("drumfire/", env!("CARGO_PKG_VERSION"));
    let mut own = vec![Header::new("User-Agent", agent.as_bytes())?];
    if let Some(userinfo) = &url.userinfo {
        let basic = format!("Basic {}", STANDARD.encode(userinfo));
        own.push(Header::new("Authorization", basic.as_bytes())?);
    }
    Ok(own)
}

/// Whether a field with this name exists; the case is ignored.
fn is_named(fields: &[Header], name: &str) -> bool {
    fields.iter().any(|field| field.is(name))
}

/// The values that messages must not show although the receiver may repeat them: the URL's user
/// information, the secrets of its query, and the values of fields, with and without the scheme of
/// credentials.
///
/// The list has each value in every form in which a server may repeat it: the user information also
/// in base64, the values of a query also decoded.
fn secrets(url: &Url, fields: &[Header]) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(userinfo) = &url.userinfo {
        all.extend([userinfo.clone(), STANDARD.encode(userinfo)]);
        all.extend(
            userinfo
                .split_once(':')
                .map(|(_, password)| password.to_owned()),
        );
    }
    let query = url.target.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    // `p` is the password of InfluxDB.
    let pairs = pairs.filter(|(name, _)| secret::is_secret(name) || *name == "p");
    for (_, value) in pairs {
        let decoded = percent_decode_str(value).decode_utf8_lossy();
        all.extend([value.to_owned(), decoded.into_owned()]);
    }
    for field in fields {
        let value = String::from_utf8_lossy(field.value()).into_owned();
        if secret::is_secret(field.name()) || value.len() >= VALUE_MIN {
            let credentials = value
                .split_once(' ')
                .map(|(_, credentials)| credentials.trim());
            all.extend(credentials.map(str::to_owned));
            all.push(value);
        }
    }
    all.retain(|secret| !secret.is_empty());
    all
}

/// The pause that a receiver requests (RFC 9110 section 10.2.3), as seconds or a date.
///
/// The result is limited to [`RETRY_AFTER_MAX`], even if the date is years ahead; `None` if the
/// text is invalid.
fn retry_after(text: &str, now: Duration) -> Option<Duration> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let wait = match is_number {
        true => Duration::from_secs(text.parse().unwrap_or(u64::MAX)),
        false => {
            let at = DateTimeParser::new().parse_timestamp(text).ok()?;
            let at = Duration::from_secs(u64::try_from(at.as_second()).ok()?);
            at.saturating_sub(now)
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_says_when_it_wants_to_be_asked_again() {
        let now = Duration::from_secs(784_111_777 - 30);
        for (text, seconds) in [
            ("4", Some(4)),
            (" 0 ", Some(0)),
            ("86400", Some(300)),
            ("99999999999999999999999", Some(300)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-4", None),
            ("soon", None),
            ("", None),
        ] {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(retry_after(text, now), expected, "{text}");
        }
    }

    #[test]
    fn what_a_receiver_may_repeat_is_masked() {
        let url = Url::parse("https://me:mypassw0rd@host/db?u=me&p=a%40bcdef").unwrap();
        let fields = [
            Header::new("Authorization", b"Token hdr77").unwrap(),
            Header::new("X-Scope", b"tenant-of-mine").unwrap(),
            Header::new("X-Short", b"one").unwrap(),
        ];
        let secrets = Secrets::new(&secrets(&url, &fields));
        for (said, shown) in [
            ("Basic bWU6bXlwYXNzdzByZA==", "Basic ***"),
            ("user me, mypassw0rd", "user me, ***"),
            ("p=a%40bcdef or a@bcdef", "p=*** or ***"),
            ("Token hdr77", "***"),
            ("hdr77", "***"),
            ("no tenant-of-mine is one", "no *** is one"),
        ] {
            assert_eq!(secrets.masked(said), shown);
        }
    }
}
