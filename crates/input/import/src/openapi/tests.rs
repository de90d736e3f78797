//! Untrusted descriptions, and every key of the specification.

use super::keys;
use crate::keyed::{self, Keys, row, row_in};
use crate::shape::Shape;
use crate::{Form, Source, Wishes, import, referring};
use drumfire_document::form;
use serde_json::{Value, json};
use std::io;

/// A description with a reference in each of its texts.
const HOSTILE: &str = r#"{"openapi": "3.0.0", "info": {"title": "${file:t}", "version": "1"},
    "servers": [{"url": "http://${env:H}.test/${file:s}/{v}", "variables": {"v": {"default": "${file:v}"}}}],
    "paths": {"/a/${file:id}/{p}": {"post": {"operationId": "${env:OP}", "parameters": [
        {"name": "p", "in": "path", "required": true, "example": "{{ ${file:p} }}"},
        {"name": "q${env:Q}", "in": "query", "required": true, "example": "${env:QV}"},
        {"name": "X-A${env:A}", "in": "header", "required": true, "example": "${env:AV}$${env:AV}"},
        {"name": "c${file:c}", "in": "cookie", "required": true, "example": "${file:cv}"}],
      "requestBody": {"content": {"application/x-www-form-urlencoded": {"example": {"k${env:K}": "${env:KV}"}}}}},
    "put": {"requestBody": {"content": {"application/json": {"example": {"k${env:J}": "${env:JV}"}}}}},
    "patch": {"requestBody": {"content": {"text/${env:M}": {"example": "${file:b}"}}}}}}}"#;

#[test]
fn no_text_of_a_description_refers_to_a_file_or_a_variable() {
    let wishes = Wishes {
        keeps_all: true,
        ..Wishes::default()
    };
    let imported = import(Form::OpenApi, &Source::alone(HOSTILE), &wishes).unwrap();
    assert_eq!(imported.document.pools[0].requests.len(), 3);
    let text = form::print(&imported.document);
    referring::check_none(&text);
    assert!(text.contains("/a/$${file:id}/"), "{text}");
}

#[test]
fn names_that_no_header_can_have_are_left_out_with_a_note() {
    let text = r#"{"openapi": "3.0.0", "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "my key"}}},
        "servers": [{"url": "http://a.test"}],
        "paths": {"/a": {"get": {"parameters": [
            {"name": "X-${file:id}", "in": "header", "required": true, "example": "v"},
            {"name": "X-Id", "in": "header", "required": true, "example": "v"}]}}}}"#;
    let imported = import(Form::OpenApi, &Source::alone(text), &Wishes::default()).unwrap();
    let plan = form::print(&imported.document);
    assert!(plan.contains("X-Id") && !plan.contains("file:id"), "{plan}");
    assert!(!plan.contains("my key"), "{plan}");
    for said in [
        "header parameter is left out: a header can't have this name: `X-${file:id}` of GET /a",
        "header `my key` of",
    ] {
        let is_said = imported.notes.iter().any(|note| note.contains(said));
        assert!(is_said, "{said}: {:?}", imported.notes);
    }
}

/// A description with an object of each kind.
fn description() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "http://a.test/{v}", "variables": {"v": {"default": "d"}}}],
        "components": {
            "securitySchemes": {"s": {"type": "apiKey", "in": "header", "name": "K"}},
            "parameters": {"other": {"name": "q", "in": "query", "required": true, "example": "o"}},
            "schemas": {"Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
                        "other": {"$anchor": "a", "$dynamicAnchor": "b", "const": "o"}},
            "examples": {"other": {"value": "o"}},
            "requestBodies": {"other": {"content": {"text/plain": {"example": "o"}}}},
            "mediaTypes": {"other": {"example": "o"}},
            "pathItems": {"other": {"delete": {}}}
        },
        "security": [{"s": []}],
        "paths": {"/a/{p}": {"get": {"responses": {}}, "post": {
            "operationId": "op",
            "parameters": [
                {"name": "p", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}
            ],
            "requestBody": {"content": {"application/x-www-form-urlencoded": {
                "schema": {"type": "object", "properties": {"f": {"type": "array", "items": {"type": "string"}, "minItems": 2}}},
                "encoding": {"f": {}}}}}
        }}}
    })
}

const POST: &str = "/paths/~1a~1{p}/post";
const GET: &str = "/paths/~1a~1{p}/get";

#[track_caller]
fn check_keys(shape: &Shape, pointer: &str, rows: Vec<(&str, Value, Option<Value>)>) {
    let keys = Keys {
        shape,
        pointer,
        rows,
    };
    keyed::check(Form::OpenApi, &description(), &keys);
}

#[test]
fn keys_of_documents_and_servers() {
    check_keys(
        &keys::DOCUMENT,
        "",
        vec![
            row("openapi", json!("3.0.0")),
            row("info", json!({"title": "other", "description": "d"})),
            row("servers", json!([{"url": "http://b.test"}])),
            row("paths", json!({"/b": {"get": {}}})),
            row("components", description()["components"].clone()),
            row("security", json!([{"s": []}])),
            row("tags", json!([{"name": "n"}])),
            row("externalDocs", json!({"url": "u"})),
            row("webhooks", json!({"w": {}})),
            row("jsonSchemaDialect", json!("u")),
            row("$self", json!("u")),
            row("unknown", json!(1)),
            row("x-own", json!(1)),
        ],
    );
    check_keys(
        &keys::SERVER,
        "/servers/0",
        vec![
            row("url", json!("http://b.test")),
            row("variables", json!({"v": {"default": "e"}})),
            row("description", json!("d")),
            row("name", json!("n")),
            row("unknown", json!(1)),
        ],
    );
    check_keys(
        &keys::VARIABLE,
        "/servers/0/variables/v",
        vec![
            row("default", json!("e")),
            row_in("enum", json!(["e"]), json!({})),
            row("description", json!("d")),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_paths_and_operations() {
    let op = || json!({"parameters": []});
    check_keys(
        &keys::PATH,
        "/paths/~1a~1{p}",
        vec![
            row("$ref", json!("#/components/pathItems/other")),
            row("summary", json!("s")),
            row("description", json!("d")),
            row("get", op()),
            row("put", op()),
            row("post", op()),
            row("delete", op()),
            row("options", op()),
            row("head", op()),
            row("patch", op()),
            row("trace", op()),
            row("query", op()),
            row("additionalOperations", json!({"COPY": {}})),
            row("servers", json!([{"url": "http://b.test"}])),
            row(
                "parameters",
                json!([{"name": "X", "in": "header", "required": true, "example": "h"}]),
            ),
            row("unknown", json!(1)),
            row("x-own", json!(1)),
        ],
    );
    check_keys(
        &keys::OPERATION,
        GET,
        vec![
            row("tags", json!(["t"])),
            row("summary", json!("s")),
            row("description", json!("d")),
            row("externalDocs", json!({"url": "u"})),
            row("operationId", json!("other")),
            row(
                "parameters",
                json!([{"name": "X", "in": "header", "required": true, "example": "h"}]),
            ),
            row(
                "requestBody",
                json!({"content": {"text/plain": {"example": "t"}}}),
            ),
            row(
                "responses",
                json!({"200": {"description": "d", "links": {}}}),
            ),
            row("callbacks", json!({"c": {}})),
            row_in("deprecated", json!(true), json!({})),
            row("security", json!([])),
            row("servers", json!([{"url": "/b"}])),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_parameters_and_bodies() {
    let list = || json!({"name": "q", "in": "query", "required": true, "example": [1, 2]});
    let bare = || json!({"name": "q", "in": "query", "required": true});
    check_keys(
        &keys::PARAMETER,
        &format!("{POST}/parameters/1"),
        vec![
            row("$ref", json!("#/components/parameters/other")),
            row("name", json!("r")),
            row("in", json!("header")),
            row("description", json!("d")),
            row("required", json!(true)),
            row("deprecated", json!(true)),
            row("allowEmptyValue", json!(true)),
            row_in("style", json!("pipeDelimited"), list()),
            row_in("explode", json!(false), list()),
            row_in(
                "allowReserved",
                json!(true),
                json!({"name": "q", "in": "query", "required": true, "example": "/"}),
            ),
            row("schema", json!({"type": "boolean"})),
            row("example", json!("e")),
            row("examples", json!({"e": {"value": "e"}})),
            row_in(
                "content",
                json!({"application/json": {"example": {"a": 1}}}),
                bare(),
            ),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_bodies() {
    check_keys(
        &keys::BODY,
        &format!("{POST}/requestBody"),
        vec![
            row("$ref", json!("#/components/requestBodies/other")),
            row("description", json!("d")),
            row("content", json!({"application/json": {"example": 1}})),
            row("required", json!(true)),
            row("unknown", json!(1)),
        ],
    );
    let media = "application~1x-www-form-urlencoded";
    let media = format!("{POST}/requestBody/content/{media}");
    check_keys(
        &keys::MEDIA_TYPE,
        &media,
        vec![
            row("$ref", json!("#/components/mediaTypes/other")),
            row(
                "schema",
                json!({"type": "object", "properties": {"g": {"type": "string"}}}),
            ),
            row("example", json!({"e": "e"})),
            row("examples", json!({"e": {"value": {"e": "e"}}})),
            row("encoding", json!({"f": {"style": "pipeDelimited"}})),
            row_in("itemSchema", json!({"type": "string"}), json!({})),
            row("itemEncoding", json!({})),
            row("unknown", json!(1)),
        ],
    );
    check_keys(
        &keys::ENCODING,
        &format!("{media}/encoding/f"),
        vec![
            row("contentType", json!("application/json")),
            row("style", json!("spaceDelimited")),
            row("explode", json!(false)),
            row("allowReserved", json!(true)),
            row("unknown", json!(1)),
            row("headers", json!({"X": {}})),
        ],
    );
}

/// The used keys of schemas.
fn used_in_schemas() -> Vec<(&'static str, Value, Option<Value>)> {
    let of = |kind: &str| json!({"type": kind});
    let empty = || json!({});
    let object = || json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let list = || json!({"type": "array", "items": {"type": "string"}});
    vec![
        row_in("$ref", json!("#/components/schemas/other"), empty()),
        row_in("$dynamicRef", json!("#b"), empty()),
        row_in("type", json!("boolean"), empty()),
        row_in("properties", json!({"c": {"type": "string"}}), of("object")),
        row_in("required", json!(["c"]), of("object")),
        row_in(
            "additionalProperties",
            json!({"type": "integer"}),
            json!({"type": "object", "required": ["c"]}),
        ),
        row_in("allOf", json!([{"type": "boolean"}]), empty()),
        row_in("oneOf", json!([{"type": "boolean"}]), empty()),
        row_in("anyOf", json!([{"type": "boolean"}]), empty()),
        row_in("items", json!({"type": "integer"}), of("array")),
        row_in("prefixItems", json!([{"type": "integer"}]), of("array")),
        row("enum", json!(["e"])),
        row("const", json!("e")),
        row("default", json!("e")),
        row("example", json!("e")),
        row("examples", json!(["e"])),
        row("format", json!("date")),
        row_in("minimum", json!(5), of("integer")),
        row_in("maximum", json!(-5), of("integer")),
        row_in("exclusiveMinimum", json!(5), of("integer")),
        row_in("exclusiveMaximum", json!(-5), of("integer")),
        row_in("multipleOf", json!(7), of("integer")),
        row("minLength", json!(9)),
        row("maxLength", json!(1)),
        row("pattern", json!("^[0-9]{3}$")),
        row_in("minItems", json!(2), list()),
        row_in("maxItems", json!(0), list()),
        row_in(
            "uniqueItems",
            json!(true),
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
        ),
        row_in("minProperties", json!(3), object()),
        row_in("maxProperties", json!(1), object()),
        row("readOnly", json!(true)),
        row_in(
            "discriminator",
            json!({"propertyName": "kind"}),
            json!({"oneOf": [{"$ref": "#/components/schemas/Cat"}]}),
        ),
        row("contentEncoding", json!("base64")),
        row("contentMediaType", json!("application/json")),
        row_in(
            "contentSchema",
            json!({"type": "integer"}),
            json!({"type": "string", "contentMediaType": "application/json"}),
        ),
    ]
}

#[test]
fn keys_of_schemas() {
    let mut rows = used_in_schemas();
    rows.extend([
        // Rules that are not followed.
        row("not", json!({"type": "string"})),
        row("if", json!({})),
        row("then", json!({})),
        row("else", json!({})),
        row("dependentSchemas", json!({})),
        row("dependentRequired", json!({})),
        row("propertyNames", json!({})),
        row("contains", json!({})),
        row("minContains", json!(1)),
        row("maxContains", json!(1)),
        row("unknown", json!(1)),
        row("x-own", json!(1)),
        // Keys without meaning for a load.
        row("title", json!("t")),
        row("description", json!("d")),
        row("externalDocs", json!({})),
        row("deprecated", json!(true)),
        row("writeOnly", json!(true)),
        row("nullable", json!(true)),
        row("xml", json!({"name": "n"})),
        row("$comment", json!("c")),
        row("$id", json!("i")),
        row("$schema", json!("s")),
        row("$anchor", json!("s")),
        row("$dynamicAnchor", json!("s")),
        row("$defs", json!({})),
        row("$vocabulary", json!({})),
        row("definitions", json!({})),
        row("additionalItems", json!(false)),
        row("patternProperties", json!({})),
        row("unevaluatedItems", json!(false)),
        row("unevaluatedProperties", json!(false)),
    ]);
    let mut document = description();
    let pointer = format!("{POST}/parameters/1/schema");
    *document.pointer_mut(&pointer).unwrap() = json!({"properties": {"a": {"type": "string"}}});
    let keys = Keys {
        shape: &keys::SCHEMA,
        pointer: &format!("{pointer}/properties/a"),
        rows,
    };
    keyed::check(Form::OpenApi, &document, &keys);
}

#[test]
fn keys_of_discriminators_examples_and_security_schemes() {
    let mut document = description();
    let at = format!("{POST}/parameters/1");
    *document.pointer_mut(&at).unwrap() = json!({"name": "q", "in": "query", "required": true,
        "schema": {"oneOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": {"propertyName": "kind"}},
        "examples": {"e": {}}});
    let discriminator = format!("{at}/schema/discriminator");
    let keys = Keys {
        shape: &keys::DISCRIMINATOR,
        pointer: &discriminator,
        rows: vec![
            row("propertyName", json!("other")),
            row("mapping", json!({"cat": "#/components/schemas/Cat"})),
            row("defaultMapping", json!("Cat")),
            row("unknown", json!(1)),
        ],
    };
    keyed::check(Form::OpenApi, &document, &keys);
    let example = format!("{at}/examples/e");
    let keys = Keys {
        shape: &keys::EXAMPLE,
        pointer: &example,
        rows: vec![
            row("$ref", json!("#/components/examples/other")),
            row("value", json!("v")),
            row("dataValue", json!("v")),
            row("serializedValue", json!("v")),
            row("externalValue", json!("v")),
            row("summary", json!("s")),
            row("description", json!("s")),
            row("unknown", json!(1)),
        ],
    };
    keyed::check(Form::OpenApi, &document, &keys);
    check_keys(
        &keys::SECURITY,
        "/components/securitySchemes/s",
        vec![
            row_in("$ref", json!("#/components/securitySchemes/t"), json!({})),
            row("type", json!("oauth2")),
            row("in", json!("query")),
            row("name", json!("L")),
            row_in("scheme", json!("basic"), json!({"type": "http"})),
            row("description", json!("d")),
            row("bearerFormat", json!("JWT")),
            row("flows", json!({})),
            row("openIdConnectUrl", json!("u")),
            row("oauth2MetadataUrl", json!("u")),
            row("deprecated", json!(true)),
            row("unknown", json!(1)),
        ],
    );
}

/// The plan and the notes for a description with other files.
fn with_files(files: &[(&str, &str)]) -> (String, Vec<String>) {
    let source = Source {
        text: files[0].1,
        name: files[0].0,
        read: &|path: &str| {
            let found = files.iter().find(|(name, _)| *name == path);
            let (_, text) = found.ok_or(io::ErrorKind::NotFound)?;
            Ok(text.as_bytes().to_vec())
        },
    };
    let wishes = Wishes {
        keeps_all: true,
        ..Wishes::default()
    };
    let imported = import(Form::OpenApi, &source, &wishes).expect("a description");
    (form::print(&imported.document), imported.notes)
}

#[test]
fn references_lead_to_files_beside_the_document() {
    let root = "
openapi: 3.0.0
servers: [{url: http://a.test}]
paths:
  /keys/{id}: { get: { $ref: res/get.yml } }
  /whole/{id}: { $ref: 'res/whole.yml' }
  /p/{id}: { get: { parameters: [ { $ref: 'res/params.yml#/a~1id' } ] } }
  /b: { post: { requestBody: { content: { application/json: { schema: { $ref: res/schema.yml } } } } } }
components: { schemas: { Name: { type: string, example: Rex } } }
";
    let (plan, notes) = with_files(&[
        ("root.yaml", root),
        (
            "res/get.yml",
            "parameters: [{ $ref: './params.yml#/a~1id' }]",
        ),
        ("res/whole.yml", "get: { $ref: get.yml }"),
        (
            "res/params.yml",
            "a/id: { name: id, in: path, required: true, example: 7 }",
        ),
        (
            "res/schema.yml",
            "properties: { $ref: 'more/properties.yml' }",
        ),
        (
            "res/more/properties.yml",
            "name: { $ref: '../../root.yaml#/components/schemas/Name' }",
        ),
    ]);
    for part in [
        "get: /keys/7",
        "get: /whole/7",
        "get: /p/7",
        "json: {\"name\":\"Rex\"}",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(notes, [""; 0]);
}

#[test]
fn references_in_a_circle_end() {
    let root = r##"{"openapi": "3.0.0", "servers": [{"url": "http://a.test"}], "paths": {
        "/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"},
        "/c": {"get": {"parameters": {"$ref": "#/paths/~1c/get/parameters"}}},
        "/d": {"get": {"parameters": {"name": "q"}}},
        "/e": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "other.json#/N"}}}}}},
        "/f": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "other.json#/X"}}}}}}}}"##;
    let other = r##"{"N": {"properties": {"m": {"$ref": "third.json#/M"}}, "required": ["m"]},
        "X": {"$ref": "third.json#/Y"}}"##;
    let third = r##"{"M": {"properties": {"n": {"$ref": "other.json#/N"}, "s": {"type": "string"}}, "required": ["n"]},
        "Y": {"$ref": "other.json#/X"}}"##;
    let files = [
        ("root.json", root),
        ("other.json", other),
        ("third.json", third),
    ];
    let (plan, notes) = with_files(&files);
    assert!(plan.contains(r#"json: {"m":{"s":"text"}}"#), "{plan}");
    let endless = "a reference leads to itself, or there are too many in a row";
    for note in [
        format!("a path is left out, because {endless}: /a, /b"),
        format!("parameters are left out, because {endless}: GET /c"),
        "parameters are left out, because `parameters` is not a list: GET /d".to_owned(),
        "a required property is left out, because its schema contains itself: \
         third.json#/M/properties/n"
            .to_owned(),
        format!("{endless}: other.json#/X"),
    ] {
        assert!(notes.contains(&note), "{note}: {notes:#?}");
    }
}

/// A document may have a chain of references that is longer than a stack is deep.
#[test]
fn chains_of_schemas_are_walked_to_their_end() {
    let around: [fn(Value) -> Value; 4] = [
        |next| json!({"type": "object", "properties": {"p": next}}),
        |next| json!({"allOf": [next]}),
        |next| json!({"oneOf": [next]}),
        |next| next,
    ];
    for (version, around) in ["3.0.0", "3.1.0"]
        .into_iter()
        .flat_map(|version| around.iter().map(move |around| (version, around)))
    {
        let mut schemas: serde_json::Map<String, Value> = (0..20_000)
            .map(|n| {
                let next = json!({"$ref": format!("#/components/schemas/{}", n + 1)});
                (n.to_string(), around(next))
            })
            .collect();
        schemas.insert("20000".to_owned(), json!({"type": "string", "unknown": 1}));
        let schema = json!({"$ref": "#/components/schemas/0"});
        let document = json!({"openapi": version, "components": {"schemas": schemas},
            "paths": {"/a": {"query": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}}});
        let text = document.to_string();
        let imported = import(Form::OpenApi, &Source::alone(&text), &Wishes::default());
        let notes = imported.expect("a description").notes;
        let unread = "`unknown` of schemas is not read: #/components/schemas/20000/unknown";
        let too_deep = |note: &String| {
            note.contains("too many in a row") || note.contains("the inner ones are left out")
        };
        assert!(notes.iter().any(|note| note == unread), "{notes:?}");
        assert!(notes.iter().any(too_deep), "{notes:?}");
    }
}

#[test]
fn values_of_another_kind_are_noted() {
    let root = "
openapi: 3.1.0
servers: [{url: http://a.test}]
paths:
  /a:
    get:
      security: bearer
      parameters: [{name: n, in: query, required: 'yes', example: no}, {name: y, in: query, required: true, example: no}]
    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}
components: {schemas: {A: {properties: {a: {type: 5, required: true}, b: {type: string, minLength: '9', enum: x},
  c: {type: string, pattern: [a], readOnly: 'no'}, d: {$ref: 5}, e: {properties: [1]}}}}}
";
    let (plan, notes) = with_files(&[("root.yaml", root)]);
    assert!(plan.contains("get: /a?y=no"), "{plan}");
    let schema = "#/components/schemas/A/properties";
    for note in [
        "`security` is not a list: #/paths/~1a/get/security".to_owned(),
        "`required` is not `true` or `false`: #/paths/~1a/get/parameters/0/required".to_owned(),
        format!("`type` is not a text or a list: {schema}/a/type"),
        format!("`required` is not a list: {schema}/a/required"),
        format!("`minLength` is not a number: {schema}/b/minLength"),
        format!("`enum` is not a list: {schema}/b/enum"),
        format!("`pattern` is not a text: {schema}/c/pattern"),
        format!("`readOnly` is not `true` or `false`: {schema}/c/readOnly"),
        format!("`$ref` is not a text: {schema}/d/$ref"),
        format!("`properties` is not a mapping: {schema}/e/properties"),
    ] {
        assert!(notes.contains(&note), "{note}: {notes:#?}");
    }
}

#[test]
fn keys_that_occur_twice_are_refused() {
    let root = |text: &str| {
        let source = Source::alone(text);
        import(Form::OpenApi, &source, &Wishes::default()).unwrap_err()
    };
    for (text, error) in [
        (
            r#"{"openapi": "3.0.0", "paths": {"/a": {}, "/a": {}}}"#,
            "invalid JSON: duplicate key `/a` at line 1 column 45; remove one, or rename it",
        ),
        (
            "openapi: 3.0.0\npaths:\n  /a: {}\n  /a: {}\n",
            "invalid YAML: line 4 column 3: duplicate mapping key: /a",
        ),
        (
            "openapi: 3.0.0\npaths: {}\n---\na: 1\n",
            "invalid YAML: line 4 column 1: the file has several documents; keep one",
        ),
    ] {
        assert_eq!(root(text), error);
    }
    let root = "{openapi: 3.0.0, paths: {/a: {$ref: a.json}}}";
    let wishes = Wishes::default();
    let source = Source {
        text: root,
        name: "root.yaml",
        read: &|_| Ok(br#"{"get": {}, "get": {}}"#.to_vec()),
    };
    let error = import(Form::OpenApi, &source, &wishes).unwrap_err();
    let why = "can't read a.json: invalid JSON: duplicate key `get` at line 1 column 17";
    assert!(error.contains(why), "{error}");
}

#[test]
fn references_that_can_not_be_followed_are_named() {
    let root = "
openapi: 3.0.0
servers: [{url: http://a.test}]
paths:
  /a/{id}: { get: { parameters: [ { $ref: 'none.yml' }, { $ref: '#/components/none' } ] } }
  /b: { $ref: '../outside.yml' }
  /c: { post: { requestBody: { $ref: 'https://b.test/body.yml' } } }
  /d: { post: { requestBody: { content: { application/json: { schema: { properties: { $ref: '/etc/passwd' } } } } } } }
";
    let (plan, notes) = with_files(&[("root.yaml", root)]);
    assert!(
        plan.contains("get: /a/1") && !plan.contains("null"),
        "{plan}"
    );
    let of = |reference: &str| format!("the reference `{reference}` can't be followed");
    for note in [
        format!(
            "a parameter is left out, because {}: can't read none.yml: entity not found: GET /a/{{id}}",
            of("none.yml")
        ),
        format!(
            "{}: the document has no such part: GET /a/{{id}}",
            of("#/components/none")
        ),
        format!(
            "{}: it is outside of the document's folder",
            of("../outside.yml")
        ),
        format!("{}: URLs are not fetched", of("https://b.test/body.yml")),
        format!(
            "{}: it is outside of the document's folder",
            of("/etc/passwd")
        ),
        "a parameter of a path is not described, so the plan has 1: `id` of GET /a/{id}".to_owned(),
    ] {
        assert!(
            notes.iter().any(|it| it.contains(&note)),
            "{note}: {notes:#?}"
        );
    }
}

/// Parameters and bodies, as they are sent.
#[test]
fn parameters_and_bodies_are_written_by_their_styles() {
    let root = "
openapi: 3.0.0
servers: [{url: 'http://{host}.test/{v}', variables: {host: {default: a}, v: {enum: [v1]}}}]
paths:
  /a/{list}/{m}:
    servers: [{url: /other}]
    get:
      servers: [{url: 'https://b.test/v2/'}]
      parameters:
        - {name: list, in: path, required: true, example: [1, 2]}
        - {name: m, in: path, required: true, style: matrix, explode: true, example: {x: 1}}
        - {name: ids, in: query, required: true, example: [1, 2, 3]}
        - {name: deep, in: query, required: true, style: deepObject, example: {a: {b: 1}}}
        - {name: json, in: query, required: true, content: {application/json: {example: {a: 1}}}}
        - {name: X-L, in: header, required: true, example: [a, b]}
        - {name: content-type, in: header, required: true, example: a/b}
        - {name: none, in: query, required: true, example: []}
        - {name: c, in: cookie, required: true, example: d}
    put: {parameters: [{name: list, in: path, required: true, example: a b}, {name: m, in: path, required: true, example: ''}]}
  /form: {post: {requestBody: {content: {application/x-www-form-urlencoded: {example:
    {a: [1, 2], o: {b: 1}, d: {e: 1}, p: [1, 2]}, encoding: {d: {style: deepObject}, p: {explode: false}}}}}}}
  /parts: {post: {requestBody: {content: {multipart/form-data: {
    schema: {properties: {t: {type: string}, o: {type: object, properties: {a: {type: integer}}}, f: {type: string, format: binary}}},
    encoding: {t: {contentType: text/plain, headers: {X: {}}}}}}}}}
  /lines: {post: {requestBody: {content: {application/x-ndjson: {example: [{a: 1}, {a: 2}]}}}}}
  /xml: {post: {requestBody: {content: {application/xml: {schema: {$ref: '#/components/schemas/Pet'}}}}}}
  /csv: {post: {requestBody: {content: {text/csv: {schema: {type: object}}}}}}
components: {schemas: {Pet: {properties: {id: {type: integer, xml: {attribute: true}}, name: {type: string}}}}}
";
    let (plan, notes) = with_files(&[("root.yaml", root)]);
    for part in [
        "target: http://a.test",
        "- get: https://b.test/v2/a/1,2/;x=1?ids=1&ids=2&ids=3&deep%5Ba%5D%5Bb%5D=1&json=%7B%22a%22%3A1%7D\n",
        "X-L: a,b\n",
        "Cookie: c=d",
        "- put: /other/a/a%20b/1\n",
        "- post: /v1/form\n",
        "          - a: 1\n          - a: 2\n          - \"d[e]\": 1\n          - o: '{\"b\":1}'\n          - p: 1,2\n",
        "- t:\n              text: text\n              type: text/plain\n",
        "text: '{\"a\":1}'\n              type: application/json\n",
        "filename: f\n",
        "<Pet id=\"1\"><name>text</name></Pet>",
        "body: |\n          {\"a\":1}\n          {\"a\":2}\n",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
    for note in [
        "a parameter for this header is left out, as OpenAPI has it: it follows from the body or the \
         security scheme: `content-type` of GET /a/{list}/{m}",
        "a body of the type text/csv is not imported: write an `example`",
        "the headers of a part are not imported: #/paths/",
        "a file of a form has a made-up text: `f` of #/paths/~1parts",
        "OpenAPI has no form for a list or an object within such a value",
        "the example of a path parameter is empty, so the plan has 1: `m` of PUT /a/{list}/{m}",
    ] {
        assert!(
            notes.iter().any(|it| it.contains(note)),
            "{note}: {notes:#?}"
        );
    }
}

#[test]
fn keys_of_xml() {
    let mut document = description();
    document.pointer_mut(POST).unwrap()["requestBody"] = json!({"content": {"application/xml": {
        "schema": {"properties": {"a": {"type": "array", "items": {"type": "string"}, "xml": {}}}}}}});
    let pointer = format!("{POST}/requestBody/content/application~1xml/schema/properties/a/xml");
    let keys = Keys {
        shape: &keys::XML,
        pointer: &pointer,
        rows: vec![
            row_in("name", json!("b"), json!({"wrapped": true})),
            row_in("namespace", json!("u"), json!({"wrapped": true})),
            row_in("prefix", json!("p"), json!({"wrapped": true})),
            row("attribute", json!(true)),
            row("wrapped", json!(true)),
            row("nodeType", json!("none")),
        ],
    };
    keyed::check(Form::OpenApi, &document, &keys);
}
