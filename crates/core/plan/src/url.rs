//! URLs: the origin and the target of a request.

mod host;
mod reference;

pub use reference::JoinError;

use crate::{percent, secret};
use std::fmt;
use std::net::IpAddr;

/// The scheme of a URL: how a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain text.
    Http,
    /// TLS.
    Https,
}

impl Scheme {
    /// The scheme's name in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The default port.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// The scheme with this name; the case is ignored.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Http, Self::Https]
            .into_iter()
            .find(|scheme| scheme.as_str().eq_ignore_ascii_case(name))
    }
}

/// A host: a name or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in ASCII, lower case.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl fmt::Display for Host {
    /// Prints the form inside a URL: IPv6 addresses are in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// The peer of a connection: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The scheme.
    pub scheme: Scheme,
    /// The host.
    pub host: Host,
    /// The port, never 0.
    pub port: u16,
}

impl Origin {
    /// The value of a Host field. It contains the port only if that is not the scheme's default
    /// (see RFC 9110 section 7.2).
    #[must_use]
    pub fn host_header(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    /// Prints `http://localhost:8080`, without the scheme's default port.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host_header())
    }
}

/// An absolute http or https URL. The query is kept unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The server to connect to.
    pub origin: Origin,
    /// Path and query as sent on the request line; starts with `/`.
    pub target: String,
    /// `user:password`, percent-decoded, only for an Authorization header.
    pub userinfo: Option<String>,
}

/// Why a text is not a URL: the mistake, and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// The mistake, and a correction.
    pub message: String,
}

impl UrlError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}

/// The maximum length of a URL in bytes.
pub const URL_LENGTH_MAX: usize = 64 * 1024;

impl Url {
    /// Parses an absolute http or https URL.
    ///
    /// The path is kept unchanged, except that non-ASCII characters become percent-encoded UTF-8.
    /// The query is kept unchanged, and a fragment is dropped. Dot segments stay: `/a/../b` tests
    /// how the target resolves them.
    ///
    /// # Errors
    /// If the text is longer than 64 KiB, contains a space or a control character, has no scheme or
    /// one other than http and https, or if user, host or port are invalid. An IPv4 address must be
    /// in its usual form, an IPv6 address in brackets and without a zone, a host name in ASCII.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        check_length(text)?;
        check_characters(text)?;
        let (scheme, rest) = split_scheme(text)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let (host, port) = host::parse(place, scheme)?;
        let tail = tail.split('#').next().unwrap_or_default();
        Ok(Self {
            origin: Origin {
                scheme,
                host,
                port: port.unwrap_or_else(|| scheme.default_port()),
            },
            target: target_of(tail),
            userinfo: user.map(userinfo).transpose()?.flatten(),
        })
    }

    /// Makes a target of rendered text, as [`Url::parse`] would: the target begins with `/`, and
    /// non-ASCII characters in its path are percent-encoded.
    ///
    /// # Errors
    /// If the text is longer than 64 KiB, or contains a space, a control character or a fragment.
    /// The message contains no part of the text, which may be a secret.
    pub fn complete_target(text: &mut String) -> Result<(), UrlError> {
        if text.len() > URL_LENGTH_MAX {
            let length = text.len();
            return Err(UrlError::new(format!(
                "the path and query have {length} bytes; at most {URL_LENGTH_MAX} are accepted"
            )));
        }
        let bad = |byte: u8| byte <= 0x20 || byte == 0x7f || byte == b'#';
        if let Some(byte) = text.bytes().find(|byte| bad(*byte)) {
            let what = match byte {
                b' ' => "a space".to_owned(),
                b'#' => "`#`".to_owned(),
                byte => format!("the control character 0x{byte:02x}"),
            };
            return Err(UrlError::new(format!(
                "the path and query contain {what}; add `| urlencode` to the value"
            )));
        }
        if !text.is_ascii() || !text.starts_with('/') {
            *text = target_of(text);
        }
        Ok(())
    }

    /// The path, without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

impl fmt::Display for Url {
    /// Prints the URL without user and password, which no output may show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.target)
    }
}

fn check_length(text: &str) -> Result<(), UrlError> {
    if text.len() > URL_LENGTH_MAX {
        let length = text.len();
        return Err(UrlError::new(format!(
            "the URL has {length} bytes; at most {URL_LENGTH_MAX} are accepted"
        )));
    }
    Ok(())
}

/// Rejects characters that are not allowed on a request line.
fn check_characters(text: &str) -> Result<(), UrlError> {
    let bad = |byte: u8| byte <= 0x20 || byte == 0x7f;
    let Some(at) = text.bytes().position(bad) else {
        return Ok(());
    };
    let is_around = at == 0 || text[at..].trim().is_empty();
    let byte = text.as_bytes()[at];
    let what = match byte {
        b' ' => "a space".to_owned(),
        b'\r' => "a carriage return (0x0d)".to_owned(),
        b'\n' => "a line feed (0x0a)".to_owned(),
        b'\t' => "a tab (0x09)".to_owned(),
        byte => format!("the control character 0x{byte:02x}"),
    };
    let what = match byte {
        b' ' if is_around => format!("{what} before or after it; remove it"),
        b'\r' | b'\n' => format!("{what}; a URL is one line"),
        _ if is_in_host(text, at) => format!("{what} in the host; write a name or an address"),
        byte => format!("{what}; write %{byte:02X} instead"),
    };
    Err(UrlError::new(format!(
        "byte {at} of URL `{}` is {what}",
        excerpt(text)
    )))
}

/// Whether a byte of a URL's text is part of its host or port, where no escape helps.
fn is_in_host(text: &str, at: usize) -> bool {
    let start = text.find("://").map_or(0, |scheme| scheme + 3);
    let end = text[start..].find(['/', '?', '#']);
    let end = end.map_or(text.len(), |end| start + end);
    let user = text[start..end].rfind('@');
    let host = user.map_or(start, |user| start + user + 1);
    (host..end).contains(&at)
}

/// The scheme, and the text after its `://`.
fn split_scheme(text: &str) -> Result<(Scheme, &str), UrlError> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    if let Some((name, rest)) = text.split_once("://").filter(|(name, _)| is_name(name)) {
        let scheme = Scheme::named(name).ok_or_else(|| {
            // `htp`, `htpp`, `htps`
            let is_near = name.starts_with(['h', 'H']) && name.len() < 7;
            let is_socket = ["ws", "wss"].iter().any(|it| name.eq_ignore_ascii_case(it));
            let right = match (is_near, name.ends_with(['s', 'S'])) {
                _ if is_socket => "; for a WebSocket, use `drumfire ws`, or `connect` in a plan",
                (true, true) => "; did you mean `https`?",
                (true, false) => "; did you mean `http`?",
                (false, _) => "; write http:// or https://",
            };
            UrlError::new(format!(
                "scheme `{}` is not supported{right}",
                excerpt(name)
            ))
        })?;
        return Ok((scheme, rest));
    }
    let bare = [":", "//"].iter().find_map(|between| {
        let (name, rest) = text.split_once(between)?;
        Some((Scheme::named(name)?.as_str(), rest))
    });
    let bare = bare.unwrap_or(("", text));
    let (name, rest) = (bare.0, excerpt(bare.1.trim_start_matches([':', '/'])));
    if rest.is_empty() {
        return Err(UrlError::new(
            "the URL has no host; write http://host:port/path",
        ));
    }
    let scheme = if name.is_empty() { "http" } else { name };
    let host = match rest.parse::<u16>() {
        Ok(_) => "localhost:",
        Err(_) => "",
    };
    Err(UrlError::new(format!(
        "`{}` does not begin with a scheme and `://`; write `{scheme}://{host}{rest}`",
        excerpt(text)
    )))
}

/// Path and query for the request line.
fn target_of(tail: &str) -> String {
    let (path, query) = tail.split_at(tail.find('?').unwrap_or(tail.len()));
    let mut target = String::with_capacity(tail.len() + 1);
    if !path.starts_with('/') {
        target.push('/');
    }
    target.push_str(&percent::encoded_beyond_ascii(path.as_bytes()));
    target.push_str(query);
    target
}

/// `user:password`, decoded; `None` if it is empty.
fn userinfo(text: &str) -> Result<Option<String>, UrlError> {
    // No message here repeats the text, because it is a secret.
    if text.is_empty() {
        return Ok(None);
    }
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let (user, password) = (decode(user)?, decode(password)?);
    if user.contains(':') {
        return Err(UrlError::new(
            "the user name in the URL contains a colon (%3A), which Basic authentication does not \
             allow",
        ));
    }
    let both = format!("{user}:{password}");
    if both.contains(char::is_control) {
        return Err(UrlError::new(
            "the user or password in the URL contains a control character, which is not allowed in \
             a header",
        ));
    }
    Ok(Some(both))
}

/// Percent-decoded UTF-8.
fn decode(text: &str) -> Result<String, UrlError> {
    let wrong = || {
        UrlError::new(
            "the user or password in the URL is not percent-encoded UTF-8; write % as %25 and @ as \
             %40",
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let [high, low, ..] = *tail else {
            return Err(wrong());
        };
        let (high, low) = digit(high).zip(digit(low)).ok_or_else(wrong)?;
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| wrong())?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// The beginning of a URL, without its secrets, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    match text.contains("://") {
        true => shorten(&secret::url(text)),
        false => shorten(&secret::excerpt(text)),
    }
}

/// The first 80 characters, escaped, for a message.
pub(crate) fn shorten(text: &str) -> String {
    let escape = |c: char| -> String {
        if c.is_control() {
            c.escape_debug().collect()
        } else {
            c.to_string()
        }
    };
    text.chars().take(80).map(escape).collect()
}
