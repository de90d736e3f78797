//! Which bytes are a valid reply, compared with an independent decoder.

use crate::fixture::{compile, zoo};
use drumfire_plan::ReplyCheck;
use drumfire_schema::{Method, ReplyForm};
use proptest::prelude::*;
use prost::Message;
use prost_reflect::DynamicMessage;
use std::sync::LazyLock;

/// Every kind of field except maps, because the other decoder does not check the wire types of
/// maps.
const PLAIN: &str = include_str!("fixture/plain.proto");

/// The additional features of proto2.
const OLD: &str = include_str!("fixture/old.proto");

fn method(text: &str, name: &str) -> Method {
    let schema = compile(&[("a.proto", text)], &[]).unwrap();
    schema.method(name).unwrap()
}

fn plain() -> Method {
    static METHOD: LazyLock<Method> = LazyLock::new(|| method(PLAIN, "plain.v1.Service/Call"));
    METHOD.clone()
}

fn old() -> Method {
    static METHOD: LazyLock<Method> = LazyLock::new(|| method(OLD, "old.v1.Service/Call"));
    METHOD.clone()
}

fn need() -> Method {
    static METHOD: LazyLock<Method> = LazyLock::new(|| method(OLD, "old.v1.Service/Need"));
    METHOD.clone()
}

fn animal() -> Method {
    static METHOD: LazyLock<Method> = LazyLock::new(|| zoo("Show"));
    METHOD.clone()
}

/// The verdict on a message as a method's reply: valid, or its mistake.
fn told(method: &Method, message: &[u8]) -> Option<String> {
    let checked = ReplyForm::for_method(method).check(message);
    checked.err().map(|error| error.to_string())
}

/// Wraps bytes in `depth` nested messages with a key.
fn nested(key: u8, depth: usize, inner: &[u8]) -> Vec<u8> {
    let mut bytes = inner.to_vec();
    for _ in 0..depth {
        let mut outer = vec![key];
        prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
        outer.extend_from_slice(&bytes);
        bytes = outer;
    }
    bytes
}

#[test]
fn what_is_no_message_is_told_with_the_field() {
    let ones = [0xff; 9];
    for (bytes, error) in [
        // An incomplete varint, and one of more than 64 bits.
        (&[0x08, 0x80][..], "i32: ends too early"),
        (
            &[&[0x08][..], &ones, &[0x02]].concat(),
            "i32: a varint of more than 64 bits",
        ),
        // A wire type other than the field's, truncated.
        (&[0x09, 0, 0, 0], "i32: ends too early"),
        (&[0x43, 0x08], "child.i32: ends too early"),
        // Lengths beyond the end of the message.
        (&[0x2a, 0x02, b'a'], "name: ends too early"),
        (
            &[&[0x2a][..], &[0x80; 9], &[0x01]].concat(),
            "name: ends too early",
        ),
        (&[0x1d, 0, 0, 0], "f32: ends too early"),
        (&[0x42, 0x03, 0x08, 0x01], "child: ends too early"),
        (
            &[0x42, 0x02, 0x2a, 0x01, b'a'],
            "child.name: ends too early",
        ),
        (&[0x52, 0x01, 0x80], "packed: ends too early"),
        (&[0x5a, 0x07, 0, 0, 0, 0, 0, 0, 0], "wide: ends too early"),
        // Keys.
        (&[0x00, 0x00], "a field number of 0"),
        (&[0x42, 0x02, 0x02, 0x00], "child: a field number of 0"),
        (&[0x0e], "an invalid field key"),
        (&[0x80], "ends too early"),
        // Groups.
        (
            &[0xa3, 0x06, 0xa0, 0x06, 0x01],
            "100: a group without an end",
        ),
        (&[0xa4, 0x06], "100: the end of a group that has not begun"),
        (
            &[0xa3, 0x06, 0xac, 0x06],
            "100.101: the end of a group that has not begun",
        ),
        // Strings.
        (
            &[0x2a, 0x02, 0xc3, 0x28],
            "name: a string that is not UTF-8",
        ),
        (
            &[0x4a, 0x04, 0x6a, 0x02, 0xed, 0xa0],
            "children.names: a string that is not UTF-8",
        ),
    ] {
        let told = told(&plain(), bytes);
        let error = format!("not a valid plain.v1.Plain: {error}");
        assert_eq!(told.as_deref(), Some(&*error), "{bytes:x?}");
    }
    // A map's entry is part of the path.
    let young = [0xaa, 0x01, 0x05, 0x12, 0x03, 0x0a, 0x01, 0xff];
    assert_eq!(
        told(&animal(), &young).as_deref(),
        Some("not a valid zoo.v1.Animal: young.value.name: a string that is not UTF-8")
    );
    assert_eq!(
        told(&old(), &[0x13, 0x18, 0x80]).as_deref(),
        Some("not a valid old.v1.Old: item.n: ends too early")
    );
}

/// A field whose type has changed is an unknown field, as for every protobuf parser.
#[test]
fn a_field_of_another_wire_type_is_unknown() {
    for bytes in [
        &[0x09, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &[0x28, 0x01],
        &[0x0a, 0x01, 0x01],
        &[0x43, 0x44],
    ] {
        assert_eq!(told(&plain(), bytes), None, "{bytes:x?}");
    }
    assert_eq!(told(&old(), &[0xa0, 0x06, 0x01]), None);
}

#[test]
fn what_others_may_add_or_repeat_is_fine() {
    for bytes in [
        &[][..],
        // Unknown fields of every wire type, including nested groups.
        &[
            0xa0, 0x06, 0x01, 0xa5, 0x06, 1, 2, 3, 4, 0xa2, 0x06, 0x01, 0xff,
        ],
        &[
            0xa3, 0x06, 0xab, 0x06, 0xa8, 0x06, 0x01, 0xac, 0x06, 0xa4, 0x06,
        ],
        // A oneof that is set twice, a field that occurs twice, packed and not.
        &[
            0x72, 0x01, b'a', 0x78, 0x01, 0x72, 0x01, b'b', 0x08, 1, 0x08, 2,
        ],
        &[
            0x50, 0x01, 0x52, 0x02, 0x01, 0x02, 0x62, 0x01, 0x01, 0x60, 0x00,
        ],
        // A number too large for its type, and an enum number without a name.
        &[
            0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x38, 0x7f,
        ],
        // Bytes that are not UTF-8, in a bytes field.
        &[0x32, 0x02, 0xff, 0xfe],
    ] {
        assert_eq!(told(&plain(), bytes), None, "{bytes:x?}");
    }
    for bytes in [
        // Any bytes are a valid string of proto2.
        &[0x0a, 0x01, 0xff][..],
        // A group, and another one in a nested message; packed numbers where packing is optional.
        &[0x13, 0x18, 0x01, 0x22, 0x02, 0x13, 0x14, 0x14],
        &[0x2a, 0x02, 0x01, 0x02, 0x48, 0x01],
        &[0xa5, 0x06, 1, 2, 3, 4],
    ] {
        assert_eq!(told(&old(), bytes), None, "{bytes:x?}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = Some("nested more than 100 deep".to_owned());
    let reason =
        |told: Option<String>| told.map(|told| told.rsplit(": ").next().unwrap().to_owned());
    for (key, depths) in [(0x42, [99, 100, 101, 10_000]), (0x4a, [1, 100, 101, 2000])] {
        for depth in depths {
            let bytes = nested(key, depth, &[]);
            let too_deep = (depth > 100).then(|| deep.clone()).flatten();
            assert_eq!(reason(told(&plain(), &bytes)), too_deep, "{depth}");
            assert_eq!(plain().check_output(&bytes).is_err(), depth > 100);
        }
    }
    let groups = |depth: usize| [[0xa3, 0x06].repeat(depth), [0xa4, 0x06].repeat(depth)].concat();
    assert_eq!(told(&plain(), &groups(100)), None);
    assert_eq!(reason(told(&plain(), &groups(101))), deep);
    assert_eq!(reason(told(&plain(), &[0xa3, 0x06].repeat(100_000))), deep);
    // For a long path, the end is shown.
    let way = told(&plain(), &nested(0x42, 100, &[0x08])).unwrap();
    assert_eq!(way.matches("child").count(), 7, "{way}");
}

/// The fields that a reply of `old.v1.Service/Need` lacks, or of the other method.
#[test]
fn required_fields_are_told_with_their_place() {
    // The complete message: n, the part with its name, raw.
    let need = [0x08, 1, 0x1b, 0x0a, 0, 0x1c, 0xe2, 0x2b, 0];
    let (rest, n) = (&need[2..], &need[..2]);
    let part_without_name = [0x08, 1, 0x1b, 0x1c, 0xe2, 0x2b, 0];
    let told_of = |name: &str, bytes: &[u8]| {
        let method = method(OLD, &format!("old.v1.Service/{name}"));
        assert_eq!(
            told(&method, bytes).is_none(),
            method.check_output(bytes).is_ok()
        );
        told(&method, bytes)
    };
    for (bytes, place) in [
        (&need[..], None),
        (&[], Some("n")),
        (rest, Some("n")),
        (&need[..6], Some("raw")),
        (&need[..2], Some("part")),
        (&part_without_name, Some("part.name")),
        // In nested messages: of any field, in a group, of an extension.
        (
            &[&need[..], &nested(0x12, 1, rest)].concat(),
            Some("child.n"),
        ),
        (
            &[&need[..], &nested(0x3a, 1, n)].concat(),
            Some("many.part"),
        ),
        (
            &[&need[..], &nested(0x2a, 2, rest)].concat(),
            Some("left.n"),
        ),
        (
            &[&need[..], &[0xa2, 0x06, 0]].concat(),
            Some("[old.v1.more].n"),
        ),
        // Parts of one message are merged, so each may lack fields that another has.
        (&[rest, n].concat(), None),
        (
            &[&need[..], &nested(0x12, 1, rest), &nested(0x12, 1, n)].concat(),
            None,
        ),
        // In a oneof, the last value counts.
        (
            &[&need[..], &nested(0x2a, 1, rest), &[0x30, 1]].concat(),
            None,
        ),
        (
            &[&need[..], &[0x30, 1], &nested(0x2a, 1, rest)].concat(),
            Some("left.n"),
        ),
        // Messages of a list are separate messages, not parts of one.
        (
            &[&need[..], &nested(0x3a, 1, rest), &nested(0x3a, 1, n)].concat(),
            Some("many.n"),
        ),
    ] {
        let expected = place
            .map(|place| format!("not a valid old.v1.Need: {place}: a required field is missing"));
        assert_eq!(told_of("Need", bytes), expected, "{bytes:x?}");
    }
}
#[test]
fn required_fields_are_looked_for_wherever_they_may_lack() {
    let need = [0x08, 1, 0x1b, 0x0a, 0, 0x1c, 0xe2, 0x2b, 0];
    // All 65 fields, or the first ones.
    let crowd = |count: u32| {
        let mut out = Vec::new();
        for number in 1..=count {
            prost::encoding::encode_varint(u64::from(number << 3), &mut out);
            out.push(1);
        }
        nested(0x1a, 1, &out)
    };
    let entry = |value: &[u8]| nested(0x0a, 1, &[&[0x08, 7][..], value].concat());
    for (bytes, place) in [
        (Vec::new(), None),
        // The value of a map's entry, and an absent one, which is empty.
        (entry(&nested(0x12, 1, &need)), None),
        (entry(&nested(0x12, 1, &need[2..])), Some("by.value.n")),
        (entry(&[]), Some("by.value.n")),
        // If a key occurs twice, the last value counts.
        ([entry(&[]), entry(&nested(0x12, 1, &need))].concat(), None),
        // More required fields than bits.
        (crowd(65), None),
        (crowd(64), Some("crowd.n65")),
        (crowd(0), Some("crowd.n1")),
        // Together with a string that is not UTF-8, which is valid in proto2.
        (nested(0x12, 1, &[0x08, 1, 0x12, 1, 0xff]), None),
        (nested(0x12, 1, &[0x12, 1, 0xff]), Some("text.n")),
        (
            nested(0x12, 1, &[0x08, 1, 0x12, 1, 0xff, 0x1a, 0]),
            Some("text.child.n"),
        ),
    ] {
        let method = method(OLD, "old.v1.Service/Needed");
        let told = told(&method, &bytes);
        let expected = place.map(|place| {
            format!("not a valid old.v1.Needed: {place}: a required field is missing")
        });
        assert_eq!(told, expected, "{bytes:x?}");
    }
}

/// Bytes that consist mostly of fields of `old.v1.Need`, some of them missing.
fn needs() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop::collection::vec(0usize..5, 0..6).prop_map(|fields| {
        let forms: [&[u8]; 5] = [
            &[0x08, 1],
            &[0x1b, 0x0a, 0, 0x1c],
            &[0xe2, 0x2b, 1, 0xff],
            &[0x30, 9],
            &[0x1b, 0x1c],
        ];
        let fields: Vec<&[u8]> = fields.into_iter().map(|field| forms[field]).collect();
        fields.concat()
    });
    let whole = Just(vec![0x08, 1, 0x1b, 0x0a, 0, 0x1c, 0xe2, 0x2b, 0]);
    prop_oneof![leaf, whole].prop_recursive(3, 24, 4, |inner| {
        let part = (0u8..6, inner).prop_map(|(form, bytes)| match form {
            0 => nested(0x12, 1, &bytes),
            1 => nested(0x2a, 1, &bytes),
            2 => nested(0x3a, 1, &bytes),
            3 => [&[0x1b][..], &nested(0x12, 1, &bytes), &[0x1c]].concat(),
            4 => [&[0xa2, 0x06, bytes.len() as u8][..], &bytes].concat(),
            _ => bytes,
        });
        prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
    })
}

/// Bytes that consist mostly of fields of `PLAIN`.
fn fields() -> impl Strategy<Value = Vec<u8>> {
    let field = (
        1u32..20,
        0u8..6,
        any::<u64>(),
        prop::collection::vec(any::<u8>(), 0..9),
    );
    let leaf = field.prop_map(|(number, wire, value, bytes)| {
        let wire = match number {
            1 | 2 | 7 | 12 | 15 => 0,
            3 => 5,
            4 => 1,
            5 | 6 | 10 | 11 | 13 | 14 => 2,
            _ => wire,
        };
        let mut out = Vec::new();
        prost::encoding::encode_varint(u64::from(number << 3 | u32::from(wire)), &mut out);
        match wire {
            0 => prost::encoding::encode_varint(value, &mut out),
            1 => out.extend(value.to_le_bytes()),
            2 => {
                out.push(bytes.len() as u8);
                out.extend(bytes.iter().map(|byte| byte & 0x7f));
            }
            5 => out.extend((value as u32).to_le_bytes()),
            _ => {}
        }
        out
    });
    let many = prop::collection::vec(leaf, 0..5).prop_map(|fields| fields.concat());
    many.prop_recursive(4, 64, 4, |inner| {
        let part = (0u8..4, inner).prop_map(|(form, bytes)| match form {
            0 => nested(0x42, 1, &bytes),
            1 => nested(0x4a, 2, &bytes),
            2 => [&[0xa3, 0x06][..], &bytes, &[0xa4, 0x06]].concat(),
            _ => bytes,
        });
        prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
    })
}

/// Bytes with random damage.
fn damaged(bytes: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..4);
    (bytes, damage).prop_map(|(mut bytes, damage)| {
        for (at, byte, form) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match form {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

/// Whether the other decoder stopped at a field with another wire type, which it does not treat as
/// unknown.
fn of_another_type<T, E: std::fmt::Display>(decoded: &Result<T, E>) -> bool {
    let error = decoded.as_ref().err().map(ToString::to_string);
    error.is_some_and(|error| error.contains("invalid wire type: "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn as_another_decoder_says(bytes in damaged(fields())) {
        let method = plain();
        let decoded = DynamicMessage::decode(method.output(), &bytes[..]);
        let told = told(&method, &bytes);
        if !of_another_type(&decoded) {
            prop_assert_eq!(told.is_none(), decoded.is_ok(), "{:?} {:?}", told, decoded.err());
        }
    }

    #[test]
    fn required_fields_are_as_the_decoded_message_has_them(bytes in damaged(needs())) {
        let method = need();
        let decoded = method.check_output(&bytes);
        let told = told(&method, &bytes);
        prop_assume!(!of_another_type(&decoded));
        prop_assert_eq!(told.is_none(), decoded.is_ok(), "{:?} {:?}", told, decoded);
    }

    #[test]
    fn what_is_encoded_passes(bytes in fields()) {
        for method in [plain(), animal(), old()] {
            if let Ok(message) = DynamicMessage::decode(method.output(), &bytes[..]) {
                prop_assert_eq!(told(&method, &message.encode_to_vec()), None);
            }
        }
    }

    #[test]
    fn what_passes_can_be_decoded(bytes in damaged(fields())) {
        let method = animal();
        if told(&method, &bytes).is_none() {
            let decoded = method.check_output(&bytes);
            prop_assert!(decoded.is_ok() || of_another_type(&decoded));
        }
    }
}

#[test]
fn messages_from_json_pass() {
    let method = animal();
    for json in [
        r#"{"name": "Ü", "i64": "-5", "dbl": "NaN", "color": "BLUE", "raw": "AP8="}"#,
        r#"{"young": {"-3": {"name": "c"}}, "labels": {"a": "ü"}, "numbers": [1, -1]}"#,
        r#"{"extra": {"a": [1, null, {"b": "c"}]}, "born": "2024-02-29T12:34:56.5Z"}"#,
        r#"{"friends": [{"tags": ["x"]}, {"child": {"right": 5}}], "maybe": ""}"#,
    ] {
        assert_eq!(
            told(&method, &method.encode_input(json).unwrap()),
            None,
            "{json}"
        );
    }
}
