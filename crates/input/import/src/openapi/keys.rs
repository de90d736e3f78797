//! The objects of OpenAPI 3.0, 3.1 and 3.2 with their keys.

use crate::shape::{Inner, Shape};

pub(super) static DOCUMENT: Shape = Shape {
    of: "the document's keys",
    used: &[
        ("components", Inner::Value),
        ("openapi", Inner::Value),
        ("paths", Inner::Value),
        ("security", Inner::Value),
        ("servers", Inner::List(&SERVER)),
        ("webhooks", Inner::Value),
    ],
    idle: &["$self", "externalDocs", "info", "jsonSchemaDialect", "tags"],
};

pub(super) static SERVER: Shape = Shape {
    of: "servers",
    used: &[("url", Inner::Value), ("variables", Inner::Map(&VARIABLE))],
    idle: &["description", "name"],
};

pub(super) static VARIABLE: Shape = Shape {
    of: "server variables",
    used: &[("default", Inner::Value), ("enum", Inner::Values)],
    idle: &["description"],
};

pub(super) static PATH: Shape = Shape {
    of: "paths",
    used: &[
        ("$ref", Inner::Text),
        ("additionalOperations", Inner::Value),
        ("delete", Inner::Value),
        ("get", Inner::Value),
        ("head", Inner::Value),
        ("options", Inner::Value),
        ("parameters", Inner::Value),
        ("patch", Inner::Value),
        ("post", Inner::Value),
        ("put", Inner::Value),
        ("query", Inner::Value),
        ("servers", Inner::List(&SERVER)),
        ("trace", Inner::Value),
    ],
    idle: &["description", "summary"],
};

pub(super) static OPERATION: Shape = Shape {
    of: "operations",
    used: &[
        ("deprecated", Inner::Switch),
        ("operationId", Inner::Value),
        ("parameters", Inner::Value),
        ("requestBody", Inner::Value),
        ("security", Inner::Value),
        ("servers", Inner::List(&SERVER)),
    ],
    idle: &[
        "description",
        "externalDocs",
        "responses",
        "summary",
        "tags",
    ],
};

pub(super) static PARAMETER: Shape = Shape {
    of: "parameters",
    used: &[
        ("$ref", Inner::Text),
        ("allowReserved", Inner::Switch),
        ("content", Inner::Map(&MEDIA_TYPE)),
        ("example", Inner::Value),
        ("examples", Inner::Map(&EXAMPLE)),
        ("explode", Inner::Switch),
        ("in", Inner::Text),
        ("name", Inner::Text),
        ("required", Inner::Switch),
        ("schema", Inner::One(&SCHEMA)),
        ("style", Inner::Text),
    ],
    idle: &["allowEmptyValue", "deprecated", "description"],
};

pub(super) static BODY: Shape = Shape {
    of: "request bodies",
    used: &[("$ref", Inner::Text), ("content", Inner::Value)],
    // A body is sent whether or not it is required.
    idle: &["description", "required"],
};

pub(super) static MEDIA_TYPE: Shape = Shape {
    of: "media types",
    used: &[
        ("$ref", Inner::Text),
        ("encoding", Inner::Map(&ENCODING)),
        ("example", Inner::Value),
        ("examples", Inner::Map(&EXAMPLE)),
        ("itemSchema", Inner::One(&SCHEMA)),
        ("schema", Inner::One(&SCHEMA)),
    ],
    idle: &[],
};

pub(super) static ENCODING: Shape = Shape {
    of: "encodings",
    used: &[
        ("contentType", Inner::Text),
        ("explode", Inner::Switch),
        ("style", Inner::Text),
    ],
    // A plan encodes the fields of forms, and the server decodes the same value.
    idle: &["allowReserved"],
};

pub(super) static EXAMPLE: Shape = Shape {
    of: "examples",
    used: &[
        ("$ref", Inner::Text),
        ("dataValue", Inner::Value),
        ("value", Inner::Value),
    ],
    idle: &["description", "summary"],
};

pub(super) static SCHEMA: Shape = Shape {
    of: "schemas",
    used: &[
        ("$dynamicRef", Inner::Text),
        ("$ref", Inner::Text),
        ("additionalProperties", Inner::One(&SCHEMA)),
        ("allOf", Inner::List(&SCHEMA)),
        ("anyOf", Inner::List(&SCHEMA)),
        ("const", Inner::Value),
        ("contentEncoding", Inner::Text),
        ("contentMediaType", Inner::Text),
        ("contentSchema", Inner::One(&SCHEMA)),
        ("default", Inner::Value),
        ("discriminator", Inner::One(&DISCRIMINATOR)),
        ("enum", Inner::Values),
        ("example", Inner::Value),
        ("examples", Inner::Value),
        ("exclusiveMaximum", Inner::Value),
        ("exclusiveMinimum", Inner::Value),
        ("format", Inner::Text),
        ("items", Inner::One(&SCHEMA)),
        ("maxItems", Inner::Number),
        ("maxLength", Inner::Number),
        ("maxProperties", Inner::Number),
        ("maximum", Inner::Number),
        ("minItems", Inner::Number),
        ("minLength", Inner::Number),
        ("minProperties", Inner::Number),
        ("minimum", Inner::Number),
        ("multipleOf", Inner::Number),
        ("oneOf", Inner::List(&SCHEMA)),
        ("pattern", Inner::Text),
        ("prefixItems", Inner::List(&SCHEMA)),
        ("properties", Inner::Map(&SCHEMA)),
        ("readOnly", Inner::Switch),
        ("required", Inner::Values),
        ("type", Inner::Texts),
        ("uniqueItems", Inner::Switch),
    ],
    // Names, descriptions, and rules about values that are not generated: undescribed properties
    // and items, and nulls.
    idle: &[
        "$anchor",
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$schema",
        "$vocabulary",
        "additionalItems",
        "definitions",
        "deprecated",
        "description",
        "externalDocs",
        "nullable",
        "patternProperties",
        "title",
        "unevaluatedItems",
        "unevaluatedProperties",
        "writeOnly",
        // Only the reader of XML bodies uses it.
        "xml",
    ],
};

pub(super) static DISCRIMINATOR: Shape = Shape {
    of: "discriminators",
    used: &[("mapping", Inner::Value), ("propertyName", Inner::Text)],
    idle: &["defaultMapping"],
};

pub(super) static XML: Shape = Shape {
    of: "`xml` objects",
    used: &[
        ("attribute", Inner::Switch),
        ("name", Inner::Text),
        ("namespace", Inner::Value),
        ("prefix", Inner::Value),
        ("wrapped", Inner::Switch),
    ],
    idle: &[],
};

pub(super) static SECURITY: Shape = Shape {
    of: "security schemes",
    used: &[
        ("$ref", Inner::Text),
        ("in", Inner::Text),
        ("name", Inner::Text),
        ("scheme", Inner::Text),
        ("type", Inner::Texts),
    ],
    // How a secret is obtained is irrelevant: the plan takes it from the environment.
    idle: &[
        "bearerFormat",
        "deprecated",
        "description",
        "flows",
        "oauth2MetadataUrl",
        "openIdConnectUrl",
    ],
};
