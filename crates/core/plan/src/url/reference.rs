//! Resolves references against a URL: the target of a redirect (RFC 3986 section 5).

use super::{URL_LENGTH_MAX, excerpt};
use crate::percent::encoded_beyond_ascii;
use crate::{Scheme, Url, UrlError};
use std::fmt;

/// Why a Location cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// The location has this scheme, which is neither http nor https.
    Scheme(String),
    /// The location is not a valid reference.
    Url(UrlError),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(name) => {
                write!(f, "the redirect leads to the unsupported scheme `{name}`")
            }
            Self::Url(error) => write!(f, "the redirect's location is not a URL: {error}"),
        }
    }
}

impl std::error::Error for JoinError {}

impl Url {
    /// Resolves the value of a Location field against this URL.
    ///
    /// White space around it is ignored, spaces inside and non-ASCII bytes are percent-encoded as
    /// in browsers, dot segments are removed, and a fragment is dropped. The result has the
    /// location's own user and password, or this URL's if the origin is the same: credentials never
    /// cross an origin.
    ///
    /// # Errors
    /// [`JoinError::Scheme`] if the scheme is neither http nor https; [`JoinError::Url`] if the
    /// location contains a control character, is too long or has an invalid host.
    pub fn join(&self, location: &[u8]) -> Result<Self, JoinError> {
        let location = location.trim_ascii();
        if location.len() > URL_LENGTH_MAX {
            let message = format!("it has more than {URL_LENGTH_MAX} bytes");
            return Err(JoinError::Url(UrlError::new(message)));
        }
        let mut text = String::with_capacity(location.len());
        text.push_str(&encoded_beyond_ascii(location));
        let text = text.replace(' ', "%20");
        let reference = text.split('#').next().unwrap_or_default();
        let mut url = if let Some((name, _)) = split_scheme(reference) {
            if Scheme::named(name).is_none() {
                return Err(JoinError::Scheme(excerpt(name).to_ascii_lowercase()));
            }
            Self::parse(reference).map_err(JoinError::Url)?
        } else if reference.starts_with("//") {
            let scheme = self.origin.scheme.as_str();
            Self::parse(&format!("{scheme}:{reference}")).map_err(JoinError::Url)?
        } else {
            // Use the parser, so that nothing bypasses its checks.
            let target = self.merge(reference);
            Self::parse(&format!("{}{target}", self.origin)).map_err(JoinError::Url)?
        };
        let (path, query) = split_query(&url.target);
        url.target = remove_dot_segments(path) + query;
        if url.userinfo.is_none() && url.origin == self.origin {
            url.userinfo.clone_from(&self.userinfo);
        }
        Ok(url)
    }

    /// Path and query of a reference without scheme and host (section 5.2.3).
    fn merge(&self, reference: &str) -> String {
        let (path, _) = split_query(&self.target);
        if reference.is_empty() {
            self.target.clone()
        } else if reference.starts_with('?') {
            format!("{path}{reference}")
        } else if reference.starts_with('/') {
            reference.to_owned()
        } else {
            let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
            format!("{folder}{reference}")
        }
    }
}

/// The scheme before the first colon, if it is valid (section 3.1), and the rest.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let scheme = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    scheme.then_some((name, rest))
}

/// The path, and the query with its question mark.
fn split_query(target: &str) -> (&str, &str) {
    target.split_at(target.find('?').unwrap_or(target.len()))
}

/// Resolves `.` and `..` (section 5.2.4); `path` starts with a slash, as does the result.
fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments = path.strip_prefix('/').unwrap_or(path);
    for segment in segments.split('/') {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    // A last segment of dots denotes a folder, whose path ends with a slash.
    if segments.ends_with("/..") || segments.ends_with("/.") || [".", ".."].contains(&segments) {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}
