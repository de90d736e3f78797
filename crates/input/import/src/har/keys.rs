//! The objects of an HTTP archive with their keys.

use crate::shape::{Inner, Shape};

pub(super) static ARCHIVE: Shape = Shape {
    of: "the archive",
    used: &[("log", Inner::One(&LOG))],
    idle: &[],
};

pub(super) static LOG: Shape = Shape {
    of: "the log",
    used: &[("entries", Inner::List(&ENTRY))],
    idle: &["browser", "comment", "creator", "pages", "version"],
};

pub(super) static ENTRY: Shape = Shape {
    of: "entries",
    used: &[
        ("request", Inner::One(&REQUEST)),
        ("startedDateTime", Inner::Value),
        ("time", Inner::Value),
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
        ("cookies", Inner::List(&COOKIE)),
        ("headers", Inner::List(&PAIR)),
        ("method", Inner::Value),
        ("postData", Inner::One(&BODY)),
        ("queryString", Inner::List(&PAIR)),
        ("url", Inner::Value),
    ],
    // The version is negotiated with the server again, and sizes follow from the rest.
    idle: &["bodySize", "comment", "headersSize", "httpVersion"],
};

pub(super) static COOKIE: Shape = Shape {
    of: "cookies",
    used: &[("name", Inner::Value), ("value", Inner::Value)],
    // Cookies in a request have only names and values.
    idle: &[
        "comment", "domain", "expires", "httpOnly", "path", "sameSite", "secure",
    ],
};

pub(super) static PAIR: Shape = Shape {
    of: "pairs",
    used: &[("name", Inner::Value), ("value", Inner::Value)],
    idle: &["comment"],
};

pub(super) static BODY: Shape = Shape {
    of: "bodies",
    used: &[
        ("encoding", Inner::Value),
        ("mimeType", Inner::Value),
        ("params", Inner::List(&PARAM)),
        ("text", Inner::Value),
    ],
    idle: &["comment"],
};

pub(super) static PARAM: Shape = Shape {
    of: "fields of a body",
    used: &[
        ("contentType", Inner::Value),
        ("fileName", Inner::Value),
        ("name", Inner::Value),
        ("value", Inner::Value),
    ],
    idle: &["comment"],
};
