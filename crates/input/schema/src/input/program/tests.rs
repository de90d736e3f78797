//! The program and the text give the same message, or the program falls back.

use super::Program;
use crate::json::FieldNames;
use crate::{Schema, json};
use drumfire_data::{CsvForm, Feed, Order, RenderContext, Sources, Template, Text};
use drumfire_plan::RequestContext;
use proptest::prelude::*;
use prost_reflect::MessageDescriptor;
use std::sync::{Arc, LazyLock};

const TYPES: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/wrappers.proto";
enum E { ZERO = 0; ONE = 1; MINUS = -1; }
message M {
  string s = 1; int32 i32 = 2; int64 i64 = 3; uint32 u32 = 4; uint64 u64 = 5; sint32 s32 = 6;
  sint64 s64 = 7; fixed32 f32 = 8; fixed64 f64 = 9; sfixed32 sf32 = 10; sfixed64 sf64 = 11;
  float fl = 12; double dbl = 13; bool ok = 14; bytes raw = 15; E e = 16; M m = 17;
  repeated string ls = 18; repeated int32 li = 19; map<string, string> ms = 20;
  map<int32, M> mm = 21; oneof pick { string a = 22; int32 b = 23; } optional string maybe = 24;
  google.protobuf.StringValue w = 26; repeated M lm = 28; map<bool, string> mb = 29;
}
service S { rpc C(M) returns (M); }"#;

static MESSAGE: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    let read = |path: &str| match path {
        "t.proto" => Ok(TYPES.as_bytes().to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let schema = Schema::from_proto(&["t.proto".to_owned()], &[], read).unwrap();
    schema.method("t.S/C").unwrap().input()
});

fn template(text: &str) -> Template {
    let feed = "a,b\n1,0\n7,x\n\"q\"\"\\\",-7\n,2147483648\nONE,0\nMINUS,0.5\n1e3,NaN\ninf,+4\n\u{1},\u{e000}\n";
    let mut sources = Sources::new();
    sources
        .add(
            "f",
            Feed::from_csv(feed.as_bytes(), &CsvForm::default()).unwrap(),
            Order::InTurn,
        )
        .unwrap();
    Template::compile(text, Text::Json, &Arc::new(sources)).unwrap()
}

fn context(number: u64) -> RenderContext {
    let call = RequestContext {
        number,
        arrival: number,
        parts: 1,
        user: 1,
        iteration: 0,
        connection: 2,
        now: 3_000_000_000,
        seed: 9,
        variables: None,
    };
    RenderContext::new(call, 0, 0)
}

/// An encoded message's fields; fields with presence are included even with their default.
fn fields(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_str(
        &json::show(&MESSAGE, bytes, json::Defaults::Skip, FieldNames::Schema).unwrap(),
    )
    .unwrap()
}

/// The message rendered as text.
fn by_text(template: &Template, number: u64) -> Result<serde_json::Value, String> {
    let mut text = String::new();
    let mut bytes = Vec::new();
    template
        .render_with(&mut context(number), &mut text)
        .map_err(|error| error.to_string())?;
    json::encode(&MESSAGE, &text, &mut bytes).map_err(|error| error.to_string())?;
    Ok(fields(&bytes))
}

/// The message built by the program; `None` without a program, or if the program falls back.
fn by_program(template: &Template, number: u64) -> Option<Result<serde_json::Value, String>> {
    let program = Program::compile(&MESSAGE, template.pieces()?)?;
    let mut bytes = b"x".to_vec();
    match program.render(
        template,
        &mut context(number),
        &mut String::new(),
        &mut bytes,
    ) {
        Ok(true) => Some(Ok(fields(&bytes[1..]))),
        Ok(false) => {
            assert_eq!(bytes, b"x", "what was begun is taken back");
            None
        }
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Compares both ways for some calls; returns the number of messages that the program built.
fn check(text: &str) -> usize {
    let template = template(text);
    // A program is used only if the text gives a message for the first call.
    if by_text(&template, 0).is_err() {
        return 0;
    }
    let made = (0..10).filter_map(|number| {
        let program = by_program(&template, number)?;
        assert_eq!(
            program,
            by_text(&template, number),
            "{text} for call {number}"
        );
        Some(())
    });
    made.count()
}

#[test]
fn the_usual_templates_are_programs() {
    for (text, made) in [
        (r#"{"s": "{{ request_number }}"}"#, 10),
        (r#"{"s": "a {{ uuid }} b {{ new_uuid() }}", "i32": 7}"#, 10),
        (
            r#"{"m": {"m": {"s": "{{ uuid }}"}, "ls": ["x", "{{ user }}"]}}"#,
            10,
        ),
        (r#"{"mm": {"5": {"s": "{{ uuid }}"}, "6": {}}}"#, 10),
        (r#"{"ms": {"k": "{{ uuid }}", "l": "static"}}"#, 10),
        (r#"{"ms": {"{{ uuid }}": "x"}}"#, 10),
        (r#"{"li": [1, "{{ request_number }}", 2]}"#, 10),
        (r#"{"lm": [{}, {"u64": "{{ unix_ns }}"}]}"#, 10),
        (
            r#"{"a": "{{ random_string(300) }}", "maybe": "{{ random_string(20000) }}"}"#,
            10,
        ),
        (
            r#"{"m": {"s": "{{ random_string(127) }}", "ls": ["{{ random_string(128) }}"]}}"#,
            10,
        ),
        (
            r#"{"s": "{{ request_number + 1 }}{{ random_int(1, 6) * 2 }}"}"#,
            10,
        ),
        (r#"{"s": "\u0041\"{{ f.a }}"}"#, 10),
        (r#"{"s": "{{ f.a|upper }}"}"#, 10),
        // These cases need the text.
        (r#"{"s": "{{ '\\u0041'|safe }}"}"#, 0),
        (r#"{"s": {{ request_number }}}"#, 0),
        (r#"{"{{ 's' }}": "x"}"#, 0),
        (r#"{"mb": {"true": "{{ uuid }}"}}"#, 0),
        (r#"{"raw": "{{ 'AAAA' }}"}"#, 0),
        (r#"{"w": "{{ uuid }}"}"#, 0),
        (r#"{"s": "{{ uuid }}", "s": "x"}"#, 0),
        (r#"{"s": "{{ uuid }}\ue000"}"#, 0),
        (r#"{"ok": "{{ uuid }}"}"#, 0),
        (r#"{"li": "{{ uuid }}"}"#, 0),
    ] {
        assert_eq!(check(text), made, "{text}");
    }
}

#[test]
fn every_kind_of_field_reads_strings_as_json_does() {
    let fields = [
        "s", "i32", "i64", "u32", "u64", "s32", "s64", "f32", "f64", "sf32", "sf64", "fl", "dbl",
        "e", "a", "b", "maybe",
    ];
    let mut made = 0;
    for field in fields {
        for value in [
            "f.a",
            "f.b",
            "request_number",
            "random_int(-9, 9)",
            "user",
            "0",
            "'-0'",
        ] {
            made += check(&format!(r#"{{"{field}": "{{{{ {value} }}}}"}}"#));
            made += check(&format!(r#"{{"m": {{"{field}": "{{{{ {value} }}}}"}}}}"#));
        }
    }
    for list in ["ls", "li"] {
        made += check(&format!(
            r#"{{"{list}": ["{{{{ f.b }}}}", "{{{{ user }}}}"]}}"#
        ));
    }
    assert!(made > 1000, "{made}");
}

/// A JSON value for a field, with some expressions.
fn object(depth: u32) -> BoxedStrategy<String> {
    let expression = prop::sample::select(vec![
        "request_number",
        "uuid",
        "new_uuid()",
        "random_int(-5, 5)",
        "f.a",
        "f.b",
        "user * 3",
        "choose(['x', '\"', '1'])",
        "'\\\\'|safe",
    ]);
    let part = prop_oneof![
        expression.prop_map(|text| format!("{{{{ {text} }}}}")),
        "[a-z0-9 \u{e4}]{0,3}",
        prop::sample::select(vec!["\\n", "\\\"", "\\u00e9", "-"]).prop_map(str::to_owned),
    ];
    let text =
        prop::collection::vec(part, 0..3).prop_map(|parts| format!("\"{}\"", parts.concat()));
    let scalar = (
        prop::sample::select(vec![
            "s", "i32", "u64", "s64", "dbl", "e", "a", "b", "maybe",
        ]),
        text.clone(),
    )
        .prop_map(|(name, text)| format!("\"{name}\": {text}"));
    let list = prop::collection::vec(text.clone(), 0..3)
        .prop_map(|list| format!("\"ls\": [{}]", list.join(", ")));
    let map = text.prop_map(|text| format!("\"ms\": {{\"k\": {text}, \"l\": \"v\"}}"));
    let field = if depth == 0 {
        prop_oneof![scalar, list, map].boxed()
    } else {
        let inner = object(depth - 1);
        let nested = inner.clone().prop_map(|text| format!("\"m\": {text}"));
        let many = inner.prop_map(|text| format!("\"lm\": [{text}, {{}}, {text}]"));
        prop_oneof![3 => scalar, 1 => list, 1 => map, 2 => nested, 1 => many].boxed()
    };
    let fields = prop::collection::vec(field, 0..4);
    fields
        .prop_map(|fields| format!("{{{}}}", fields.join(", ")))
        .boxed()
}

proptest! {
    #[test]
    fn programs_and_texts_agree(text in object(2)) {
        check(&text);
    }
}
