//! The objects of OpenAPI 3.0, 3.1 and 3.2 with their keys.

use crate::shape::{Shape, ValueShape};

pub(super) static DOCUMENT: Shape = Shape {
    of: "the document's keys",
    used: &[
        ("components", ValueShape::Value),
        ("openapi", ValueShape::Value),
        ("paths", ValueShape::Value),
        ("security", ValueShape::Value),
        ("servers", ValueShape::List(&SERVER)),
        ("webhooks", ValueShape::Value),
    ],
    idle: &["$self", "externalDocs", "info", "jsonSchemaDialect", "tags"],
};

pub(super) static SERVER: Shape = Shape {
    of: "servers",
    used: &[
        ("url", ValueShape::Value),
        ("variables", ValueShape::Map(&VARIABLE)),
    ],
    idle: &["description", "name"],
};

pub(super) static VARIABLE: Shape = Shape {
    of: "server variables",
    used: &[("default", ValueShape::Value), ("enum", ValueShape::Values)],
    idle: &["description"],
};

pub(super) static PATH: Shape = Shape {
    of: "paths",
    used: &[
        ("$ref", ValueShape::Text),
        ("additionalOperations", ValueShape::Value),
        ("delete", ValueShape::Value),
        ("get", ValueShape::Value),
        ("head", ValueShape::Value),
        ("options", ValueShape::Value),
        ("parameters", ValueShape::Value),
        ("patch", ValueShape::Value),
        ("post", ValueShape::Value),
        ("put", ValueShape::Value),
        ("query", ValueShape::Value),
        ("servers", ValueShape::List(&SERVER)),
        ("trace", ValueShape::Value),
    ],
    idle: &["description", "summary"],
};

pub(super) static OPERATION: Shape = Shape {
    of: "operations",
    used: &[
        ("deprecated", ValueShape::Switch),
        ("operationId", ValueShape::Value),
        ("parameters", ValueShape::Value),
        ("requestBody", ValueShape::Value),
        ("security", ValueShape::Value),
        ("servers", ValueShape::List(&SERVER)),
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
        ("$ref", ValueShape::Text),
        ("allowReserved", ValueShape::Switch),
        ("content", ValueShape::Map(&MEDIA_TYPE)),
        ("example", ValueShape::Value),
        ("examples", ValueShape::Map(&EXAMPLE)),
        ("explode", ValueShape::Switch),
        ("in", ValueShape::Text),
        ("name", ValueShape::Text),
        ("required", ValueShape::Switch),
        ("schema", ValueShape::One(&SCHEMA)),
        ("style", ValueShape::Text),
    ],
    idle: &["allowEmptyValue", "deprecated", "description"],
};

pub(super) static BODY: Shape = Shape {
    of: "request bodies",
    used: &[("$ref", ValueShape::Text), ("content", ValueShape::Value)],
    // A body is sent whether or not it is required.
    idle: &["description", "required"],
};

pub(super) static MEDIA_TYPE: Shape = Shape {
    of: "media types",
    used: &[
        ("$ref", ValueShape::Text),
        ("encoding", ValueShape::Map(&ENCODING)),
        ("example", ValueShape::Value),
        ("examples", ValueShape::Map(&EXAMPLE)),
        ("itemSchema", ValueShape::One(&SCHEMA)),
        ("schema", ValueShape::One(&SCHEMA)),
    ],
    idle: &[],
};

pub(super) static ENCODING: Shape = Shape {
    of: "encodings",
    used: &[
        ("contentType", ValueShape::Text),
        ("explode", ValueShape::Switch),
        ("style", ValueShape::Text),
    ],
    // A plan encodes the fields of forms, and the server decodes the same value.
    idle: &["allowReserved"],
};

pub(super) static EXAMPLE: Shape = Shape {
    of: "examples",
    used: &[
        ("$ref", ValueShape::Text),
        ("dataValue", ValueShape::Value),
        ("value", ValueShape::Value),
    ],
    idle: &["description", "summary"],
};

pub(super) static SCHEMA: Shape = Shape {
    of: "schemas",
    used: &[
        ("$dynamicRef", ValueShape::Text),
        ("$ref", ValueShape::Text),
        ("additionalProperties", ValueShape::One(&SCHEMA)),
        ("allOf", ValueShape::List(&SCHEMA)),
        ("anyOf", ValueShape::List(&SCHEMA)),
        ("const", ValueShape::Value),
        ("contentEncoding", ValueShape::Text),
        ("contentMediaType", ValueShape::Text),
        ("contentSchema", ValueShape::One(&SCHEMA)),
        ("default", ValueShape::Value),
        ("discriminator", ValueShape::One(&DISCRIMINATOR)),
        ("enum", ValueShape::Values),
        ("example", ValueShape::Value),
        ("examples", ValueShape::Value),
        ("exclusiveMaximum", ValueShape::Value),
        ("exclusiveMinimum", ValueShape::Value),
        ("format", ValueShape::Text),
        ("items", ValueShape::One(&SCHEMA)),
        ("maxItems", ValueShape::Number),
        ("maxLength", ValueShape::Number),
        ("maxProperties", ValueShape::Number),
        ("maximum", ValueShape::Number),
        ("minItems", ValueShape::Number),
        ("minLength", ValueShape::Number),
        ("minProperties", ValueShape::Number),
        ("minimum", ValueShape::Number),
        ("multipleOf", ValueShape::Number),
        ("oneOf", ValueShape::List(&SCHEMA)),
        ("pattern", ValueShape::Text),
        ("prefixItems", ValueShape::List(&SCHEMA)),
        ("properties", ValueShape::Map(&SCHEMA)),
        ("readOnly", ValueShape::Switch),
        ("required", ValueShape::Values),
        ("type", ValueShape::Texts),
        ("uniqueItems", ValueShape::Switch),
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
    used: &[
        ("mapping", ValueShape::Value),
        ("propertyName", ValueShape::Text),
    ],
    idle: &["defaultMapping"],
};

pub(super) static XML: Shape = Shape {
    of: "`xml` objects",
    used: &[
        ("attribute", ValueShape::Switch),
        ("name", ValueShape::Text),
        ("namespace", ValueShape::Value),
        ("prefix", ValueShape::Value),
        ("wrapped", ValueShape::Switch),
    ],
    idle: &[],
};

pub(super) static SECURITY: Shape = Shape {
    of: "security schemes",
    used: &[
        ("$ref", ValueShape::Text),
        ("in", ValueShape::Text),
        ("name", ValueShape::Text),
        ("scheme", ValueShape::Text),
        ("type", ValueShape::Texts),
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
