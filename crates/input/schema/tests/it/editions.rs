//! Files in an edition of protobuf: their messages are encoded according to their features.

use crate::fixture::compile;
use drumfire_plan::RequestContext;
use drumfire_plan::RequestData as _;
use drumfire_schema::{Input, Method, Schema};
use prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, MethodDescriptorProto, ServiceDescriptorProto,
};

/// The encoded message of a JSON text.
fn encoded(method: &Method, json: &str) -> Result<Vec<u8>, String> {
    let call = RequestContext {
        number: 0,
        arrival: 0,
        parts: 1,
        user: 0,
        iteration: 0,
        connection: 0,
        now: 0,
        seed: 0,
        variables: None,
    };
    let input = Input::json(method, json).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    input
        .message(&call, 0, &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

/// JSON texts of the message below, and their bytes.
const ENCODED: [(&str, &[u8]); 8] = [
    ("{\"text\":\"a\"}", b"\x0a\x01a"),
    // Explicit presence is the default, so a zero is sent.
    ("{\"explicit\":0}", b"\x10\x00"),
    ("{\"packed\":[1,2]}", b"\x1a\x02\x01\x02"),
    ("{\"expanded\":[1,2]}", b"\x20\x01\x20\x02"),
    ("{\"kinds\":[\"ONE\",2]}", b"\x2a\x02\x01\x02"),
    ("{\"inner\":{\"text\":\"b\"}}", b"\x32\x03\x0a\x01b"),
    ("{\"delimited\":{\"text\":\"b\"}}", b"\x3b\x0a\x01b\x3c"),
    (
        "{\"map\":{\"k\":{\"text\":\"b\"}}}",
        b"\x42\x08\x0a\x01k\x12\x03\x0a\x01b",
    ),
];

const SOURCE: &str = "// Of today.\nedition = \"2023\";\npackage e;\n\
    import \"google/protobuf/go_features.proto\";\n\
    option features.(pb.go).api_level = API_OPAQUE;\n\
    message A {\n\
      reserved foo, bar; reserved 20 to 30;\n\
      string text = 1 [features.field_presence = IMPLICIT];\n\
      int32 explicit = 2 [default = 5, json_name = \"explicit\"];\n\
      repeated int32 packed = 3;\n\
      repeated int32 expanded = 4 [features.repeated_field_encoding = EXPANDED];\n\
      repeated Kind kinds = 5;\n\
      A inner = 6;\n\
      A delimited = 7 [features = { message_encoding: DELIMITED }];\n\
      map<string, A> map = 8;\n\
    }\n\
    enum Kind { option features.enum_type = CLOSED; ONE = 1; TWO = 2; }\n\
    service S { rpc Do (A) returns (A); }\n";

fn check(schema: &Schema, of: &str) {
    let method = schema.method("e.S/Do").unwrap();
    for (json, bytes) in ENCODED {
        assert_eq!(encoded(&method, json).as_deref(), Ok(bytes), "{of}: {json}");
        let shown = method.show_output(bytes).unwrap();
        let again = encoded(&method, &shown);
        assert_eq!(again.as_deref(), Ok(bytes), "{of}: {shown}");
    }
}

#[test]
fn a_source_in_an_edition_is_compiled() {
    check(&compile(&[("e.proto", SOURCE)], &[]).unwrap(), "2023");
    for edition in ["2024", "2026"] {
        let newer = SOURCE.replace("2023", edition);
        check(&compile(&[("e.proto", &newer)], &[]).unwrap(), edition);
    }
    let old = "syntax = \"proto3\"; package o; import \"e.proto\"; service S { rpc Do (e.A) returns (e.A); }";
    let schema = compile(&[("o.proto", old), ("e.proto", SOURCE)], &[]).unwrap();
    let method = schema.method("o.S/Do").unwrap();
    assert_eq!(encoded(&method, ENCODED[6].0).as_deref(), Ok(ENCODED[6].1));
}

#[test]
fn a_file_stands_behind_its_fields() {
    let source = "edition = '2023'; package e;\n\
        option features = { repeated_field_encoding: EXPANDED, message_encoding: DELIMITED };\n\
        option features.field_presence = LEGACY_REQUIRED;\n\
        message A { B b = 1; repeated E es = 2; map<string, B> map = 3; enum E { Z = 0; }\n\
          repeated int32 packed = 4 [features.repeated_field_encoding = PACKED];\n\
          extensions 100 to max; }\n\
        message B { int32 n = 1 [features.field_presence = EXPLICIT]; }\n\
        extend A { repeated int32 more = 100; }\n\
        service S { rpc Do (A) returns (A); }";
    let schema = compile(&[("e.proto", source)], &[]).unwrap();
    let method = schema.method("e.S/Do").unwrap();
    for (json, bytes) in [
        ("{\"b\":{\"n\":1}}", Ok(&b"\x0b\x08\x01\x0c"[..])),
        ("{}", Err("some required fields missing: b")),
        ("{\"b\":{},\"es\":[\"Z\"]}", Ok(b"\x0b\x0c\x10\x00")),
        (
            "{\"b\":{},\"map\":{\"k\":{\"n\":1}}}",
            Ok(b"\x0b\x0c\x1a\x07\x0a\x01k\x12\x02\x08\x01"),
        ),
        ("{\"b\":{},\"packed\":[7]}", Ok(b"\x0b\x0c\x22\x01\x07")),
        ("{\"b\":{},\"[e.more]\":[7]}", Ok(b"\x0b\x0c\xa0\x06\x07")),
    ] {
        let found = encoded(&method, json);
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, bytes, "{json}");
    }
}

#[test]
fn mistakes_in_an_edition_are_told() {
    for (source, error) in [
        (
            "// c\nedition = \"2030\";",
            "e.proto:2:1: edition 2030 is not supported; use 2023, 2024, 2026, proto2 or proto3",
        ),
        (
            "edition = '2023';\nmessage A {\n  string a = ;\n}\n",
            "e.proto:3:14: expected an integer",
        ),
        (
            "edition = '2023'; message A { optional string a = 1; }",
            "e.proto: field a: editions do not allow the label `optional`",
        ),
        (
            "edition = '2023'; message A { Nope a = 1; }",
            "e.proto: name 'Nope' is not defined",
        ),
    ] {
        let found = compile(&[("e.proto", source)], &[]).map(drop);
        let found = found.unwrap_err().to_string();
        assert!(found.starts_with(error), "{found}");
    }
}

/// A field of a message with this number and these bytes.
fn part(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("a short part");
    assert!(length < 128);
    [&[number << 3 | 2, length], bytes].concat()
}

/// A field with these encoded features: its options are field 8, and the features are field 21 of
/// the options.
fn field(field: &FieldDescriptorProto, features: &[u8]) -> Vec<u8> {
    let mut bytes = field.encode_to_vec();
    if !features.is_empty() {
        let inner = [&[0xaa, 0x01, features.len() as u8], features].concat();
        bytes.extend(part(8, &inner));
    }
    part(2, &bytes)
}

fn typed(
    name: &str,
    number: i32,
    label: Label,
    kind: Type,
    type_name: &str,
) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label as i32),
        r#type: Some(kind as i32),
        type_name: (!type_name.is_empty()).then(|| type_name.to_owned()),
        ..FieldDescriptorProto::default()
    }
}

/// The file of [`SOURCE`] in this edition, as protobuf's compiler describes it.
pub(crate) fn described(edition: i32) -> Vec<u8> {
    let (one, many) = (Label::Optional, Label::Repeated);
    let message = [
        DescriptorProto {
            name: Some("A".to_owned()),
            ..DescriptorProto::default()
        }
        .encode_to_vec(),
        field(&typed("text", 1, one, Type::String, ""), b"\x08\x02"),
        field(&typed("explicit", 2, one, Type::Int32, ""), b""),
        field(&typed("packed", 3, many, Type::Int32, ""), b""),
        field(&typed("expanded", 4, many, Type::Int32, ""), b"\x18\x02"),
        field(&typed("kinds", 5, many, Type::Enum, ".e.Kind"), b""),
        field(&typed("inner", 6, one, Type::Message, ".e.A"), b""),
        field(
            &typed("delimited", 7, one, Type::Message, ".e.A"),
            b"\x28\x02",
        ),
        field(&typed("map", 8, many, Type::Message, ".e.A.MapEntry"), b""),
        part(3, &{
            // `MapEntry`, whose options contain `map_entry`.
            let entry = DescriptorProto {
                name: Some("MapEntry".to_owned()),
                field: vec![
                    typed("key", 1, one, Type::String, ""),
                    typed("value", 2, one, Type::Message, ".e.A"),
                ],
                ..DescriptorProto::default()
            };
            [entry.encode_to_vec(), part(7, b"\x38\x01")].concat()
        }),
    ]
    .concat();
    let value = |name: &str, number| EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        options: None,
    };
    let rest = FileDescriptorProto {
        name: Some("e.proto".to_owned()),
        package: Some("e".to_owned()),
        enum_type: vec![EnumDescriptorProto {
            name: Some("Kind".to_owned()),
            value: vec![value("ONE", 1), value("TWO", 2)],
            ..EnumDescriptorProto::default()
        }],
        service: vec![ServiceDescriptorProto {
            name: Some("S".to_owned()),
            method: vec![MethodDescriptorProto {
                name: Some("Do".to_owned()),
                input_type: Some(".e.A".to_owned()),
                output_type: Some(".e.A".to_owned()),
                ..MethodDescriptorProto::default()
            }],
            options: None,
        }],
        syntax: Some("editions".to_owned()),
        ..FileDescriptorProto::default()
    };
    let mut bytes = rest.encode_to_vec();
    bytes.push(4 << 3 | 2);
    prost::encoding::encode_varint(message.len() as u64, &mut bytes);
    bytes.extend(message);
    bytes.push(14 << 3);
    prost::encoding::encode_varint(edition as u64, &mut bytes);
    bytes
}

#[test]
fn a_described_file_is_taken() {
    for edition in [1000, 1001] {
        let file = described(edition);
        let mut set = vec![0x0a];
        prost::encoding::encode_varint(file.len() as u64, &mut set);
        set.extend(file);
        check(&Schema::from_protoset(&set).unwrap(), "set");
    }
}

#[test]
fn an_unknown_edition_is_named() {
    for (edition, name) in [(999, "999"), (99_999, "99999")] {
        let file = described(edition);
        let mut set = vec![0x0a];
        prost::encoding::encode_varint(file.len() as u64, &mut set);
        set.extend(file);
        let error = Schema::from_protoset(&set)
            .map(drop)
            .unwrap_err()
            .to_string();
        let expected = format!("e.proto: edition number {name} is not supported; ");
        assert!(error.starts_with(&expected), "{error}");
    }
}
