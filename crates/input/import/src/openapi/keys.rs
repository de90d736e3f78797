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
    used: &[("default", Inner::Value), ("enum", Inner::Value)],
    idle: &["description"],
};

pub(super) static PATH: Shape = Shape {
    of: "paths",
    used: &[
        ("$ref", Inner::Value),
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
        ("deprecated", Inner::Value),
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
        ("$ref", Inner::Value),
        ("allowReserved", Inner::Value),
        ("content", Inner::Map(&MEDIA_TYPE)),
        ("example", Inner::Value),
        ("examples", Inner::Map(&EXAMPLE)),
        ("explode", Inner::Value),
        ("in", Inner::Value),
        ("name", Inner::Value),
        ("required", Inner::Value),
        ("schema", Inner::One(&SCHEMA)),
        ("style", Inner::Value),
    ],
    idle: &["allowEmptyValue", "deprecated", "description"],
};

pub(super) static BODY: Shape = Shape {
    of: "request bodies",
    used: &[("$ref", Inner::Value), ("content", Inner::Value)],
    // A body is sent whether or not it is required.
    idle: &["description", "required"],
};

pub(super) static MEDIA_TYPE: Shape = Shape {
    of: "media types",
    used: &[
        ("$ref", Inner::Value),
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
        ("contentType", Inner::Value),
        ("explode", Inner::Value),
        ("style", Inner::Value),
    ],
    // A plan encodes the fields of forms, and the server decodes the same value.
    idle: &["allowReserved"],
};

pub(super) static EXAMPLE: Shape = Shape {
    of: "examples",
    used: &[
        ("$ref", Inner::Value),
        ("dataValue", Inner::Value),
        ("value", Inner::Value),
    ],
    idle: &["description", "summary"],
};

pub(super) static SCHEMA: Shape = Shape {
    of: "schemas",
    used: &[
        ("$dynamicRef", Inner::Value),
        ("$ref", Inner::Value),
        ("additionalProperties", Inner::One(&SCHEMA)),
        ("allOf", Inner::List(&SCHEMA)),
        ("anyOf", Inner::List(&SCHEMA)),
        ("const", Inner::Value),
        ("contentEncoding", Inner::Value),
        ("contentMediaType", Inner::Value),
        ("contentSchema", Inner::One(&SCHEMA)),
        ("default", Inner::Value),
        ("discriminator", Inner::One(&DISCRIMINATOR)),
        ("enum", Inner::Value),
        ("example", Inner::Value),
        ("examples", Inner::Value),
        ("exclusiveMaximum", Inner::Value),
        ("exclusiveMinimum", Inner::Value),
        ("format", Inner::Value),
        ("items", Inner::One(&SCHEMA)),
        ("maxItems", Inner::Value),
        ("maxLength", Inner::Value),
        ("maxProperties", Inner::Value),
        ("maximum", Inner::Value),
        ("minItems", Inner::Value),
        ("minLength", Inner::Value),
        ("minProperties", Inner::Value),
        ("minimum", Inner::Value),
        ("multipleOf", Inner::Value),
        ("oneOf", Inner::List(&SCHEMA)),
        ("pattern", Inner::Value),
        ("prefixItems", Inner::List(&SCHEMA)),
        ("properties", Inner::Map(&SCHEMA)),
        ("readOnly", Inner::Value),
        ("required", Inner::Value),
        ("type", Inner::Value),
        ("uniqueItems", Inner::Value),
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
    used: &[("mapping", Inner::Value), ("propertyName", Inner::Value)],
    idle: &["defaultMapping"],
};

pub(super) static XML: Shape = Shape {
    of: "`xml` objects",
    used: &[
        ("attribute", Inner::Value),
        ("name", Inner::Value),
        ("namespace", Inner::Value),
        ("prefix", Inner::Value),
        ("wrapped", Inner::Value),
    ],
    idle: &[],
};

pub(super) static SECURITY: Shape = Shape {
    of: "security schemes",
    used: &[
        ("$ref", Inner::Value),
        ("in", Inner::Value),
        ("name", Inner::Value),
        ("scheme", Inner::Value),
        ("type", Inner::Value),
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
