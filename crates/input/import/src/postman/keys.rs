//! The objects of Postman collections, versions 2.0 and 2.1, with their keys.

use crate::shape::{Inner, Shape};

pub(super) static COLLECTION: Shape = Shape {
    of: "the collection",
    used: &[
        ("auth", Inner::Value),
        ("event", Inner::List(&EVENT)),
        ("item", Inner::Value),
        ("protocolProfileBehavior", Inner::One(&BEHAVIOUR)),
        ("variable", Inner::List(&VARIABLE)),
    ],
    idle: &["info"],
};

pub(super) static ITEM: Shape = Shape {
    of: "items",
    used: &[
        ("auth", Inner::Value),
        ("event", Inner::List(&EVENT)),
        ("item", Inner::Value),
        ("name", Inner::Value),
        ("protocolProfileBehavior", Inner::One(&BEHAVIOUR)),
        ("request", Inner::Value),
    ],
    idle: &[
        "_postman_id",
        "_postman_isSubFolder",
        "description",
        "id",
        "response",
    ],
};

pub(super) static REQUEST: Shape = Shape {
    of: "requests",
    used: &[
        ("auth", Inner::Value),
        ("body", Inner::One(&BODY)),
        ("header", Inner::Value),
        ("method", Inner::Value),
        ("url", Inner::Value),
    ],
    idle: &["description", "name"],
};

pub(super) static URL: Shape = Shape {
    of: "URLs",
    used: &[
        ("host", Inner::Value),
        ("path", Inner::Value),
        ("port", Inner::Value),
        ("protocol", Inner::Value),
        ("query", Inner::Value),
        ("raw", Inner::Value),
        ("variable", Inner::List(&VARIABLE)),
    ],
    // A fragment is not sent to the server.
    idle: &["hash"],
};

pub(super) static PAIR: Shape = Shape {
    of: "pairs",
    used: &[
        ("contentType", Inner::Value),
        ("disabled", Inner::Value),
        ("enabled", Inner::Value),
        ("fileName", Inner::Value),
        ("key", Inner::Value),
        ("src", Inner::Value),
        ("type", Inner::Value),
        ("value", Inner::Value),
    ],
    idle: &["description", "equals", "name", "uuid", "warning"],
};

pub(super) static VARIABLE: Shape = Shape {
    of: "variables",
    used: &[
        ("disabled", Inner::Value),
        ("enabled", Inner::Value),
        ("id", Inner::Value),
        ("key", Inner::Value),
        ("value", Inner::Value),
    ],
    idle: &["description", "name", "system", "type"],
};

pub(super) static BODY: Shape = Shape {
    of: "bodies",
    used: &[
        ("disabled", Inner::Value),
        ("file", Inner::One(&FILE)),
        ("formdata", Inner::Value),
        ("graphql", Inner::One(&GRAPHQL)),
        ("mode", Inner::Value),
        ("options", Inner::One(&OPTIONS)),
        ("raw", Inner::Value),
        ("urlencoded", Inner::Value),
    ],
    idle: &[],
};

pub(super) static FILE: Shape = Shape {
    of: "files",
    used: &[("content", Inner::Value), ("src", Inner::Value)],
    idle: &[],
};

pub(super) static GRAPHQL: Shape = Shape {
    of: "GraphQL bodies",
    used: &[
        ("operationName", Inner::Value),
        ("query", Inner::Value),
        ("variables", Inner::Value),
    ],
    idle: &[],
};

pub(super) static OPTIONS: Shape = Shape {
    of: "body options",
    used: &[("raw", Inner::One(&RAW))],
    // Only the editor uses them: the other kinds of bodies have separate keys.
    idle: &["file", "formdata", "graphql", "urlencoded"],
};

pub(super) static RAW: Shape = Shape {
    of: "raw options",
    used: &[("language", Inner::Value)],
    idle: &["headerFamily"],
};

pub(super) static EVENT: Shape = Shape {
    of: "events",
    used: &[("disabled", Inner::Value), ("script", Inner::Value)],
    idle: &["id", "listen"],
};

pub(super) static BEHAVIOUR: Shape = Shape {
    of: "protocolProfileBehavior",
    used: &[("disableBodyPruning", Inner::Value)],
    idle: &["disableUrlEncoding"],
};
