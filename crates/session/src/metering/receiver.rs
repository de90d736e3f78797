//! A receiver of metrics that the user has named: its address, the header fields that it wants, and
//! the meaning of its answers.
//!
//! A request is one POST on a connection that is kept, within [`PATIENCE`]. An answer settles its
//! snapshots in one of four ways ([`Sent`]), by its status and by the rules of the protocol that it
//! speaks. A receiver is a stranger: its answer is read in part, masked (it may repeat the fields
//! that it was sent), cut and escaped before it is quoted, and a redirect is not followed but
//! named.

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

/// The time that one request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time for which a receiver may ask to be left alone.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// The part of a receiver's answer that a message quotes, in characters.
const QUOTE_CHARS: usize = 200;
/// Values of header fields are masked from this length on, whatever their names: a shorter one stands
/// in any text.
const VALUE_MIN: usize = 8;

/// A receiver.
pub(super) struct Receiver {
    /// Its name in messages, without secrets.
    pub(super) name: String,
    push: Push,
    target: PostTarget,
    /// The fields of every request; those of the user stand in place of ours.
    fields: Vec<Header>,
    /// The values that a server may repeat of the fields.
    secrets: Secrets,
    /// Whether it has refused a coding.
    is_plain: AtomicBool,
    voice: Voice,
}

/// The fate of snapshots that were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// They were taken.
    Taken,
    /// They may be taken later.
    Failed {
        why: String,
        /// The time for which the receiver wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// They may be taken in several requests.
    TooLarge(String),
    /// They never will be.
    Refused(String),
}

impl Receiver {
    /// The receiver at this URL, with these header fields more.
    ///
    /// Nothing is sent yet. The secrets are gathered before the fields are joined, of the URL and
    /// of the user's fields; ours are made of the same URL.
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

    /// Shows a message on the receiver.
    pub(super) fn note(&self, message: &str) {
        self.voice.note(&format!("{}: {message}", self.name));
    }

    /// Sends snapshots, and blocks for the answer. To a receiver that understands no coding (415)
    /// they go once more without, now and from then on.
    ///
    /// So it may block for twice [`PATIENCE`]. A 415 to a request without a coding is judged like
    /// any other answer, and there is no third one.
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

    /// Sends one request. The protocol's own fields come first, without those that the user has
    /// given.
    ///
    /// # Errors
    /// With the fate of the snapshots where there is no answer: those that can't be put into a
    /// request are refused for good, and a connection that fails is worth another try.
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

    /// The meaning of an answer: a server that has trouble may take the same later, one that finds
    /// something wrong with it never will.
    ///
    /// An answer of success in which the receiver says that it left points out is no success: the
    /// rest of the snapshot was taken, so that sending it again would count that twice.
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

    /// An answer in a message: its status and the beginning of its content, or the address to which
    /// it leads.
    ///
    /// Secrets are masked before the text is cut, so that no half of one is left at its end, and
    /// what remains is escaped for a terminal.
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

/// The settings for TLS, where the URL's scheme is https.
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

/// The header fields that the user has given. Those that frame a request, or decide about its
/// connection, are refused: they follow from the request.
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

/// Our own fields of every request, beside those of its form.
fn own(url: &Url) -> Result<Vec<Header>, HeaderError> {
    let agent = concat!("drumfire/", env!("CARGO_PKG_VERSION"));
    let mut own = vec![Header::new("User-Agent", agent.as_bytes())?];
    if let Some(userinfo) = &url.userinfo {
        let basic = format!("Basic {}", STANDARD.encode(userinfo));
        own.push(Header::new("Authorization", basic.as_bytes())?);
    }
    Ok(own)
}

/// Whether a field of this name is among some, in any case.
fn is_named(fields: &[Header], name: &str) -> bool {
    fields.iter().any(|field| field.is(name))
}

/// The values that no message may show though the receiver repeats them: the URL's user information
/// and the secrets of its query, and the values of fields, also those behind the scheme of their
/// credentials.
///
/// A value stands in the list in each form in which a server may repeat it: the user information
/// also in base64, the values of a query also decoded.
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

/// The time for which a receiver wants to be left alone (RFC 9110 section 10.2.3): seconds, or a date.
///
/// The answer is bounded by [`RETRY_AFTER_MAX`], also where the date is years ahead; `None` where
/// the text is neither.
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
