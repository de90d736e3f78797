//! What is noted of an entry that is sent all the same: the parts of it that have no effect.

use drumfire_plan::suggestion;

/// The characters of a name that a note shows.
const SHOWN_MAX: usize = 60;

/// A part of an entry without an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// A key that the format lacks, and those that it has.
    UnknownKey {
        key: String,
        known: &'static [&'static str],
    },
    /// A key that an object has twice, with its path.
    RepeatedKey(String),
    /// A header that is not sent over HTTP/2 (RFC 9113 section 8.2.2).
    NotInHttp2(String),
    /// A header that follows from the body.
    OfBody(String),
    /// A chosen tag that no entry has.
    UnmetTag(String),
    /// A name and a password in a URL.
    Credentials,
    /// A host beside the one that is sent, by its key.
    OtherHost(&'static str),
    /// A length that is not the body's.
    Length,
    /// Text after the chunks of a body.
    Trailers,
}

impl Remark {
    /// The sentence.
    pub(super) fn words(&self) -> String {
        match self {
            Self::UnknownKey { key, known } => {
                let near = suggestion(key, known.iter().copied());
                format!("the unknown key `{}` is not used{near}", shown(key))
            }
            Self::RepeatedKey(key) => {
                let key = shown(key);
                format!("the key `{key}` is given twice; its last value is used")
            }
            Self::NotInHttp2(name) => {
                format!("the header `{}` is not sent over HTTP/2", shown(name))
            }
            Self::OfBody(name) => format!(
                "the header `{}` is not sent: each body is sent with its Content-Length",
                shown(name)
            ),
            Self::UnmetTag(tag) => format!("no request has the chosen tag `{}`", shown(tag)),
            Self::Credentials => {
                "the user name in a URL is not used; write an `Authorization` header".to_owned()
            }
            Self::OtherHost(key) => format!("the host in `{key}` is not used beside `host`"),
            Self::Length => {
                "a Content-Length differs from its body; the body is sent as it is, with \
                             its length"
                    .to_owned()
            }
            Self::Trailers => {
                "text after the last chunk of a body, such as trailers, is not sent".to_owned()
            }
        }
    }
}

/// The beginning of a name.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN_MAX).collect()
}
