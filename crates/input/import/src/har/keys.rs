//! The objects of an HTTP archive with their keys.

use crate::shape::{Shape, ValueShape};

pub(super) static ARCHIVE: Shape = Shape {
    of: "the archive",
    used: &[("log", ValueShape::One(&LOG))],
    idle: &[],
};

pub(super) static LOG: Shape = Shape {
    of: "the log",
    used: &[("entries", ValueShape::List(&ENTRY))],
    idle: &["browser", "comment", "creator", "pages", "version"],
};

pub(super) static ENTRY: Shape = Shape {
    of: "entries",
    used: &[
        ("request", ValueShape::One(&REQUEST)),
        ("startedDateTime", ValueShape::Value),
        ("time", ValueShape::Value),
    ],
    idle: &[
        "cache",
        "comment",
        "connection",
        "pageref",
        "response",
        "serverIPAddress",
        "timings",
    ],
};

pub(super) static REQUEST: Shape = Shape {
    of: "requests",
    used: &[
        ("cookies", ValueShape::List(&COOKIE)),
        ("headers", ValueShape::List(&PAIR)),
        ("method", ValueShape::Value),
        ("postData", ValueShape::One(&BODY)),
        ("queryString", ValueShape::List(&PAIR)),
        ("url", ValueShape::Value),
    ],
    // The version is negotiated with the server again, and sizes follow from the rest.
    idle: &["bodySize", "comment", "headersSize", "httpVersion"],
};

pub(super) static COOKIE: Shape = Shape {
    of: "cookies",
    used: &[("name", ValueShape::Value), ("value", ValueShape::Value)],
    // Cookies in a request have only names and values.
    idle: &[
        "comment", "domain", "expires", "httpOnly", "path", "sameSite", "secure",
    ],
};

pub(super) static PAIR: Shape = Shape {
    of: "pairs",
    used: &[("name", ValueShape::Value), ("value", ValueShape::Value)],
    idle: &["comment"],
};

pub(super) static BODY: Shape = Shape {
    of: "bodies",
    used: &[
        ("encoding", ValueShape::Value),
        ("mimeType", ValueShape::Value),
        ("params", ValueShape::List(&PARAM)),
        ("text", ValueShape::Value),
    ],
    idle: &["comment"],
};

pub(super) static PARAM: Shape = Shape {
    of: "fields of a body",
    used: &[
        ("contentType", ValueShape::Value),
        ("fileName", ValueShape::Value),
        ("name", ValueShape::Value),
        ("value", ValueShape::Value),
    ],
    idle: &["comment"],
};
