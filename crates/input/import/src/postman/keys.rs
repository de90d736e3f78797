//! The objects of Postman collections, versions 2.0 and 2.1, with their keys.

use crate::shape::{Shape, ValueShape};

pub(super) static COLLECTION: Shape = Shape {
    of: "the collection",
    used: &[
        ("auth", ValueShape::Value),
        ("event", ValueShape::List(&EVENT)),
        ("item", ValueShape::Value),
        ("protocolProfileBehavior", ValueShape::One(&BEHAVIOUR)),
        ("variable", ValueShape::List(&VARIABLE)),
    ],
    idle: &["info"],
};

pub(super) static ITEM: Shape = Shape {
    of: "items",
    used: &[
        ("auth", ValueShape::Value),
        ("event", ValueShape::List(&EVENT)),
        ("item", ValueShape::Value),
        ("name", ValueShape::Value),
        ("protocolProfileBehavior", ValueShape::One(&BEHAVIOUR)),
        ("request", ValueShape::Value),
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
        ("auth", ValueShape::Value),
        ("body", ValueShape::One(&BODY)),
        ("header", ValueShape::Value),
        ("method", ValueShape::Value),
        ("url", ValueShape::Value),
    ],
    idle: &["description", "name"],
};

pub(super) static URL: Shape = Shape {
    of: "URLs",
    used: &[
        ("host", ValueShape::Value),
        ("path", ValueShape::Value),
        ("port", ValueShape::Value),
        ("protocol", ValueShape::Value),
        ("query", ValueShape::Value),
        ("raw", ValueShape::Value),
        ("variable", ValueShape::List(&VARIABLE)),
    ],
    // A fragment is not sent to the server.
    idle: &["hash"],
};

pub(super) static PAIR: Shape = Shape {
    of: "pairs",
    used: &[
        ("contentType", ValueShape::Value),
        ("disabled", ValueShape::Value),
        ("enabled", ValueShape::Value),
        ("fileName", ValueShape::Value),
        ("key", ValueShape::Value),
        ("src", ValueShape::Value),
        ("type", ValueShape::Value),
        ("value", ValueShape::Value),
    ],
    idle: &["description", "equals", "name", "uuid", "warning"],
};

pub(super) static VARIABLE: Shape = Shape {
    of: "variables",
    used: &[
        ("disabled", ValueShape::Value),
        ("enabled", ValueShape::Value),
        ("id", ValueShape::Value),
        ("key", ValueShape::Value),
        ("value", ValueShape::Value),
    ],
    idle: &["description", "name", "system", "type"],
};

pub(super) static BODY: Shape = Shape {
    of: "bodies",
    used: &[
        ("disabled", ValueShape::Value),
        ("file", ValueShape::One(&FILE)),
        ("formdata", ValueShape::Value),
        ("graphql", ValueShape::One(&GRAPHQL)),
        ("mode", ValueShape::Value),
        ("options", ValueShape::One(&OPTIONS)),
        ("raw", ValueShape::Value),
        ("urlencoded", ValueShape::Value),
    ],
    idle: &[],
};

pub(super) static FILE: Shape = Shape {
    of: "files",
    used: &[("content", ValueShape::Value), ("src", ValueShape::Value)],
    idle: &[],
};

pub(super) static GRAPHQL: Shape = Shape {
    of: "GraphQL bodies",
    used: &[
        ("operationName", ValueShape::Value),
        ("query", ValueShape::Value),
        ("variables", ValueShape::Value),
    ],
    idle: &[],
};

pub(super) static OPTIONS: Shape = Shape {
    of: "body options",
    used: &[("raw", ValueShape::One(&RAW))],
    // Only the editor uses them: the other kinds of bodies have separate keys.
    idle: &["file", "formdata", "graphql", "urlencoded"],
};

pub(super) static RAW: Shape = Shape {
    of: "raw options",
    used: &[("language", ValueShape::Value)],
    idle: &["headerFamily"],
};

pub(super) static EVENT: Shape = Shape {
    of: "events",
    used: &[
        ("disabled", ValueShape::Value),
        ("script", ValueShape::Value),
    ],
    idle: &["id", "listen"],
};

pub(super) static BEHAVIOUR: Shape = Shape {
    of: "protocolProfileBehavior",
    used: &[("disableBodyPruning", ValueShape::Value)],
    idle: &["disableUrlEncoding"],
};
