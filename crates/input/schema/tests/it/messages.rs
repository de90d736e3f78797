//! JSON to messages and back.

use crate::fixture::zoo;

#[test]
fn json_and_messages_are_each_others_image() {
    let method = zoo("Show");
    for (json, shown) in [
        ("{}", "{}"),
        (r#"{"name": "Ü\n\u0041"}"#, r#"{"name":"Ü\nA"}"#),
        (
            r#"{"i64": 9007199254740993}"#,
            r#"{"i64":"9007199254740993"}"#,
        ),
        (
            r#"{"i64": "-9223372036854775808"}"#,
            r#"{"i64":"-9223372036854775808"}"#,
        ),
        (
            r#"{"u64": 18446744073709551615}"#,
            r#"{"u64":"18446744073709551615"}"#,
        ),
        (r#"{"aLongName": "a"}"#, r#"{"a_long_name":"a"}"#),
        (r#"{"a_long_name": "a"}"#, r#"{"a_long_name":"a"}"#),
        (
            r#"{"color": -2, "ok": true}"#,
            r#"{"ok":true,"color":"BLUE"}"#,
        ),
        (r#"{"raw": "AP8="}"#, r#"{"raw":"AP8="}"#),
        (
            r#"{"dbl": "NaN", "fl": "-Infinity"}"#,
            r#"{"fl":"-Infinity","dbl":"NaN"}"#,
        ),
        (
            r#"{"born": "2024-02-29T12:34:56.5Z"}"#,
            r#"{"born":"2024-02-29T12:34:56.500Z"}"#,
        ),
        (
            r#"{"wrapped": "x", "maybe": ""}"#,
            r#"{"maybe":"","wrapped":"x"}"#,
        ),
        (
            r#"{"extra": {"a": [1, null]}}"#,
            r#"{"extra":{"a":[1.0,null]}}"#,
        ),
        (
            r#"{"young": {"-3": {"name": "c"}}}"#,
            r#"{"young":{"-3":{"name":"c"}}}"#,
        ),
        (r#"{"name": null}"#, "{}"),
    ] {
        let bytes = method
            .encode_input(json)
            .unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(method.show_output(&bytes).unwrap(), shown, "{json}");
    }
}

#[test]
fn what_is_no_message_is_told_with_the_nearest_name() {
    let method = zoo("Show");
    let of = "message type zoo.v1.Animal has no known field named";
    for (json, error) in [
        (r#"{"nme": "x"}"#, format!("{of} nme; did you mean `name`?")),
        (
            r#"{"child": {"friends": [{}, {"taqs": []}]}}"#,
            format!("{of} taqs; did you mean `tags`?"),
        ),
        (
            r#"{"young": {"1": {"labls": {}}}}"#,
            format!("{of} labls; did you mean `labels`?"),
        ),
        (
            r#"{"completely_other": 1}"#,
            format!("{of} completely_other"),
        ),
        (
            r#"{"color": "BLEU"}"#,
            "enum zoo.v1.Color has no value BLEU; did you mean `BLUE`?".to_owned(),
        ),
        (
            r#"{"color": "TRANSPARENT"}"#,
            "enum zoo.v1.Color has no value TRANSPARENT; the values are RED, BLUE, COLOR_UNSPECIFIED".to_owned(),
        ),
        (
            r#"{"color": "BLUEE"}"#,
            "enum zoo.v1.Color has no value BLUEE; did you mean `BLUE`?".into(),
        ),
    ] {
        assert_eq!(
            method.encode_input(json).unwrap_err().to_string(),
            error,
            "{json}"
        );
    }
    for (json, error) in [
        ("", "the data is empty"),
        (
            "{nope}",
            "the data is not JSON: key must be a string at line 1 column 2",
        ),
        ("{} x", "the data is not JSON: trailing characters"),
        ("[]", "the data is not a zoo.v1.Animal: "),
        (
            r#"{"i32": 2147483648}"#,
            "the data is not a zoo.v1.Animal: ",
        ),
        (r#"{"i32": "x"}"#, "the data is not a zoo.v1.Animal: "),
        (r#"{"u32": -1}"#, "the data is not a zoo.v1.Animal: "),
        (
            r#"{"left": "a", "right": 1}"#,
            "the data is not a zoo.v1.Animal: ",
        ),
        (
            r#"{"born": "yesterday"}"#,
            "the data is not a zoo.v1.Animal: ",
        ),
    ] {
        let found = method.encode_input(json).unwrap_err().to_string();
        assert!(found.starts_with(error), "{json}: {found}");
    }
}

#[test]
fn a_wrong_value_has_the_form_of_its_field() {
    let method = zoo("Show");
    for (json, form) in [
        (r#"{"i32": "x"}"#, "; write a whole number"),
        (
            r#"{"u32": -1}"#,
            "; write a number in the range of the field's type",
        ),
        (
            r#"{"born": "yesterday"}"#,
            "; write a timestamp such as \"2026-01-31T23:59:59Z\"",
        ),
    ] {
        let found = method.encode_input(json).unwrap_err().to_string();
        assert!(found.ends_with(form), "{json}: {found}");
    }
}

#[test]
fn depth_is_bounded_in_both_directions() {
    let method = zoo("Show");
    let json = |depth: usize| {
        format!(
            "{}{{}}{}",
            "{\"child\":".repeat(depth - 1),
            "}".repeat(depth - 1)
        )
    };
    let bytes = method.encode_input(&json(100)).unwrap();
    method.check_output(&bytes).unwrap();
    let error = method.encode_input(&json(101)).unwrap_err().to_string();
    assert_eq!(error, "the JSON is nested more than 100 deep");
    let lists = format!(
        "{{\"extra\": {{\"a\": {}{}}}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert_eq!(method.encode_input(&lists).unwrap_err().to_string(), error);
    let strings = format!("{{\"name\": \"{}\"}}", "[".repeat(10_000));
    method.encode_input(&strings).unwrap();

    let mut bytes = Vec::new();
    for _ in 0..10_000 {
        let mut outer = vec![0x8a, 0x01]; // field 17, a message
        prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
        outer.extend_from_slice(&bytes);
        bytes = outer;
    }
    let error = method.check_output(&bytes).unwrap_err().to_string();
    assert!(error.contains("recursion limit"), "{error}");
}

#[test]
fn received_bytes_are_judged() {
    let method = zoo("Show");
    for (name, bytes, right) in [
        ("empty", &b""[..], true),
        ("unknown field", b"\xf8\x3f\x01", true),
        ("both of a oneof", b"\xb2\x01\x01a\xb8\x01\x01", true),
        ("an unknown group", b"\xfb\x3f\xfc\x3f", true),
        ("truncated varint", b"\x10\xff", false),
        ("wrong wire type", b"\x0d\x00\x00\x00\x00", false),
        ("not UTF-8", b"\x0a\x01\xff", false),
        (
            "length of 2^63",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            false,
        ),
        ("length beyond the end", b"\x0a\x05a", false),
        ("end of a group that has not begun", b"\xfc\x3f", false),
        ("field 0", b"\x00\x01", false),
        ("wire type 7", b"\x0f", false),
    ] {
        assert_eq!(method.check_output(bytes).is_ok(), right, "{name}");
    }
}
