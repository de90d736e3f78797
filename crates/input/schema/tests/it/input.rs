//! The messages of calls: fixed, templated, in turn, as streams.

use crate::fixture::{self, zoo};
use drumfire_data::{CsvForm, Feed, Order, Sources, TextTemplate};
use drumfire_plan::{DataError, RenderedFields, RequestContext, RequestData};
use drumfire_schema::{Input, Metadata, Method, Reading, Refresh};
use std::sync::Arc;

/// A call with this number.
fn call(number: u64) -> RequestContext {
    RequestContext {
        number,
        arrival: number,
        parts: 1,
        user: 3,
        iteration: 0,
        connection: 1,
        now: 1_700_000_000_123_456_789,
        seed: 42,
        variables: None,
    }
}

/// The `n`-th message of a call, as JSON.
fn shown(method: &Method, input: &Input, call: &RequestContext, n: u64) -> Result<String, String> {
    let mut out = b"before".to_vec();
    input
        .message(call, n, &mut out)
        .map_err(|error| error.to_string())?;
    assert!(out.starts_with(b"before"), "messages are appended");
    Ok(method.show_output(&out[6..]).unwrap())
}

fn sources() -> Arc<Sources> {
    let mut sources = Sources::new();
    let users = Feed::from_csv(
        b"name,age\nann,1\n\"b \"\"q\"\"\",2\nc\\d,3\n",
        &CsvForm::default(),
    )
    .unwrap();
    sources.add("users", users, Order::InTurn).unwrap();
    Arc::new(sources)
}

fn template(method: &Method, text: &str) -> Input {
    Input::template(method, text, &sources()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn arrays_are_taken_in_turn_or_are_streams() {
    let array = r#"[{"name": "a"}, {"name": "b"}, {"name": "c"}]"#;
    for (kind, order, names) in [
        ("Show", Order::InTurn, ["a", "b", "c", "a"].map(Some)),
        ("Watch", Order::InTurn, ["a", "b", "c", "a"].map(Some)),
        (
            "Show",
            Order::OnceEach,
            [Some("a"), Some("b"), Some("c"), None],
        ),
    ] {
        let method = zoo(kind);
        let input = Input::json(&method, array).unwrap().with_order(order);
        for (number, name) in (0..).zip(names) {
            assert_eq!(input.messages(&call(number)), 1);
            let found = shown(&method, &input, &call(number), 0);
            let error = "the data has 3 elements, and none are left";
            let right = name
                .map(|name| format!("{{\"name\":\"{name}\"}}"))
                .ok_or_else(|| error.to_owned());
            assert_eq!(found, right);
        }
        assert!(!input.is_fixed());
        let once = (order == Order::OnceEach).then_some(3);
        assert_eq!(input.elements_once(), once);
    }
    for kind in ["Feed", "Chat"] {
        let method = zoo(kind);
        let input = Input::json(&method, array).unwrap();
        assert_eq!((input.messages(&call(7)), input.is_fixed()), (3, true));
        for (n, name) in [(0, "a"), (2, "c"), (3, "a"), (4, "b")] {
            let right = format!("{{\"name\":\"{name}\"}}");
            assert_eq!(shown(&method, &input, &call(7), n), Ok(right));
        }
    }
}

#[test]
fn random_order_depends_on_seed_and_number() {
    let method = zoo("Show");
    let array: Vec<String> = (0..10).map(|n| format!("{{\"i32\": {n}}}")).collect();
    let array = format!("[{}]", array.join(","));
    let input = Input::json(&method, &array)
        .unwrap()
        .with_order(Order::Random);
    let list = |seed| -> Vec<String> {
        let call = |number| RequestContext {
            seed,
            ..call(number)
        };
        (0..50)
            .map(|number| shown(&method, &input, &call(number), 0).unwrap())
            .collect()
    };
    assert_eq!(list(1), list(1));
    assert_ne!(list(1), list(2));
}

#[test]
fn fixed_data_is_known_as_such() {
    let method = zoo("Show");
    for (text, fixed) in [
        ("{}", true),
        (r#"{"name": "a"}"#, true),
        (r#"[{"name": "a"}]"#, true),
        (r#"[{}, {}]"#, false),
        (r#"{"name": "{{ uuid }}"}"#, false),
    ] {
        assert_eq!(template(&method, text).is_fixed(), fixed, "{text}");
    }
    assert!(Input::empty(&method).is_fixed());
    let metadata = Metadata::template("a", "{{ uuid }}", &sources()).unwrap();
    assert!(!Input::empty(&method).with_metadata(metadata).is_fixed());
    let braces = Input::json(&method, r#"{"name": "{{ uuid }}"}"#).unwrap();
    assert_eq!(
        shown(&method, &braces, &call(0), 0).unwrap(),
        r#"{"name":"{{ uuid }}"}"#
    );
}

#[test]
fn templates_say_what_the_call_is() {
    let method = zoo("Show");
    for (text, right) in [
        (r#"{"name": "{{ request_number }}"}"#, r#"{"name":"4"}"#),
        (
            r#"{"u64": "{{ unix_ns }}"}"#,
            r#"{"u64":"1700000000123456789"}"#,
        ),
        (r#"{"u64": {{ unix_ms }}}"#, r#"{"u64":"1700000000123"}"#),
        (
            r#"{"name": "{{ time }}"}"#,
            r#"{"name":"2023-11-14T22:13:20.123Z"}"#,
        ),
        (
            r#"{"born": "{{ time }}"}"#,
            r#"{"born":"2023-11-14T22:13:20.123Z"}"#,
        ),
        (
            r#"{"name": "u{{ user }}c{{ connection }}"}"#,
            r#"{"name":"u3c1"}"#,
        ),
        (
            r#"{"name": "{{ users.name }}", "i32": "{{users.age}}"}"#,
            r#"{"name":"b \"q\"","i32":2}"#,
        ),
        (
            r#"{"name": "{{ users.name|upper }}"}"#,
            r#"{"name":"B \"Q\""}"#,
        ),
        (
            r#"{"name": {{ users.name|tojson }}}"#,
            r#"{"name":"b \"q\""}"#,
        ),
        (r#"{"name": "{{ '\\n'|safe }}"}"#, r#"{"name":"\n"}"#),
        (r#"{"name": "{{ '\n' }}"}"#, r#"{"name":"\n"}"#),
        (r#"{"ok": {{ request_number is even }}}"#, r#"{"ok":true}"#),
        (r#"{"numbers": {{ range(3) }}}"#, r#"{"numbers":[0,1,2]}"#),
        (
            r#"{"numbers": [1, "{{ request_number + 1 }}", 3]}"#,
            r#"{"numbers":[1,5,3]}"#,
        ),
        (
            r#"{% if user >= 0 %}{"name": "x{{ users.name }}"}{% endif %}"#,
            r#"{"name":"xb \"q\""}"#,
        ),
        (
            r#"{% macro m(x) %}<{{ x }}{{ random_int(5, 5) }}>{% endmacro %}{"name": "{{ m(users.name) }}"}"#,
            r#"{"name":"<b \"q\"5>"}"#,
        ),
    ] {
        let input = template(&method, text);
        assert_eq!(
            shown(&method, &input, &call(4), 0).as_deref(),
            Ok(right),
            "{text}"
        );
    }
}

#[test]
fn random_values_are_made_anew_and_repeat_with_the_seed() {
    let method = zoo("Chat");
    let text = r#"{"name": "{{ uuid }}", "maybe": "{{ uuid }}", "left": "{{ new_uuid() }}",
                   "tags": ["{{ new_uuid() }}", "{{ random_string(5) }}", "{{ choose([1, 2]) }}"]}"#;
    let input = template(&method, text);
    let fields = |call: &RequestContext, n| -> serde_json::Value {
        serde_json::from_str(&shown(&method, &input, call, n).unwrap()).unwrap()
    };
    let (first, next, later) = (
        fields(&call(0), 0),
        fields(&call(0), 1),
        fields(&call(1), 0),
    );
    assert_eq!(first, fields(&call(0), 0));
    assert_eq!(first["name"], first["maybe"], "a message's own UUID is one");
    assert_ne!(first["left"], first["tags"][0], "new ones are not");
    assert_ne!(first["left"], first["name"]);
    for other in [
        next,
        later,
        fields(
            &RequestContext {
                seed: 43,
                ..call(0)
            },
            0,
        ),
    ] {
        assert_ne!(first["name"], other["name"]);
        assert_ne!(first["left"], other["left"]);
        assert_ne!(first["tags"][1], other["tags"][1]);
    }
    let per_call = template(&method, text).with_refresh(Refresh::Call);
    let of = |n| shown(&method, &per_call, &call(0), n).unwrap();
    assert_eq!(
        (of(0), of(1)),
        (shown(&method, &input, &call(0), 0).unwrap(), of(0))
    );
}

#[test]
fn streams_may_have_templates() {
    let method = zoo("Feed");
    let elements = r#"[{"name": "{{ message_number }},[{{ request_number }}]"}, {"name": "b"}]"#;
    let input = template(&method, elements);
    assert_eq!(input.messages(&call(5)), 2);
    for (n, right) in [(0, "0,[5]"), (1, "b"), (2, "2,[5]")] {
        assert_eq!(
            shown(&method, &input, &call(5), n).unwrap(),
            format!("{{\"name\":\"{right}\"}}")
        );
    }
    let blocks = r#"[{% for i in range(3) %}{"name": "{{ i }}.{{ request_number }}"}{{ "," if not loop.last }}{% endfor %}]"#;
    let input = template(&method, blocks);
    assert_eq!(input.messages(&call(5)), 3);
    assert_eq!(
        shown(&method, &input, &call(5), 2).unwrap(),
        r#"{"name":"2.5"}"#
    );
    assert_eq!(
        shown(&method, &input, &call(6), 4).unwrap(),
        r#"{"name":"1.6"}"#
    );
}

#[test]
fn mistakes_are_found_before_the_run() {
    let method = zoo("Show");
    for (text, error) in [
        (
            r#"{"nme": "{{ uuid }}"}"#,
            "message type zoo.v1.Animal has no known field named nme; did you mean `name`?",
        ),
        (
            r#"{"name": "{{ uid }}"}"#,
            "templates have no variable `uid`; did you mean `uuid`?",
        ),
        (
            r#"{"name": "{{ users.nam }}"}"#,
            "the feed `users` has no column `nam`; did you mean `name`?",
        ),
        (
            r#"{"name": "{{ users.nam|upper }}"}"#,
            "the feed `users` has no column `nam`; did you mean `name`?",
        ),
        (
            r#"{"i32": "{{ uuid }}"}"#,
            "the data is not a zoo.v1.Animal: ",
        ),
        (
            r#"{"name": "{{ 1 + }}"}"#,
            "in the template `{{ 1 + }}`: unexpected end of variable block",
        ),
        (
            r#"{"name": "{{ uuid|nofilter }}"}"#,
            "in the template `{{ uuid|nofilter }}`: filter nofilter is unknown",
        ),
        (
            r#"{"name": "{{ uuid"#,
            "in the template `{\"name\": \"{{ uuid`: ",
        ),
        (
            r#"{"name": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"}"#,
            "in the template `{\"name\": \"{% for i in range(99999) %}{% for j in range(99999…`: engine ran \
             out of fuel",
        ),
        (
            r#"{"name": "{{ random_string(9999999) }}"}"#,
            "in the template `{{ random_string(9999999) }}`: a random string can have at most \
             1048576 letters",
        ),
        ("[]", "the data is an empty array"),
        ("[{},]", "element 2 of the data is missing"),
        (
            r#"[{}, {"x": 1}]"#,
            "element 2 of the data: message type zoo.v1.Animal has no known field named x",
        ),
        (
            r#"[{}, {"x": "{{ uuid }}"}]"#,
            "element 2 of the data: message type zoo.v1.Animal has no known field named x",
        ),
        ("[{}", "the data is not JSON: "),
        ("", "the data is empty; an empty message is {}"),
    ] {
        // Every element of an array is tried, not only the first call's.
        let found = Input::template(&method, text, &sources())
            .unwrap_err()
            .to_string();
        assert!(found.starts_with(error), "{text}: {found}");
    }
}

#[test]
fn what_can_be_shown_ends() {
    let method = zoo("Show");
    assert_eq!(format!("{method:?}"), "Method(/zoo.v1.Zoo/Show)");
    let input = template(&method, r#"[{"child": {"name": "{{ uuid }}"}}, {}]"#);
    let shown = format!("{input:?}");
    assert!(
        shown.contains("zoo.v1.Animal") && shown.contains("2 templates"),
        "{shown}"
    );
}

#[test]
fn feeds_that_end_tell_when() {
    let mut sources = Sources::new();
    let feed = || Feed::from_csv(b"a\n1\n2\n", &CsvForm::default()).unwrap();
    sources.add("f", feed(), Order::OnceEach).unwrap();
    let method = zoo("Show");
    let sources = Arc::new(sources);
    let text = r#"{"name": "{{ f.a }}"}"#;
    let input = Input::template(&method, text, &sources).unwrap();
    assert_eq!(input.count(), Some(2));
    assert_eq!(
        shown(&method, &input, &call(1), 0).unwrap(),
        r#"{"name":"2"}"#
    );
    let error = "the feed `f` has 2 rows: each is used once, and none are left";
    assert_eq!(shown(&method, &input, &call(2), 0), Err(error.to_owned()));
    let interpreted = Input::template(&method, r#"{"name": "{{ f.a ~ '' }}"}"#, &sources).unwrap();
    assert!(
        shown(&method, &interpreted, &call(2), 0)
            .unwrap_err()
            .contains(error)
    );
    let metadata = Metadata::template("k", "{{ f.a }}", &sources).unwrap();
    assert_eq!(
        Input::empty(&method).with_metadata(metadata).count(),
        Some(2)
    );
}

/// A foreign template language: `N` is the call's number, `M` the message's.
#[derive(Debug)]
struct Foreign(&'static str);

impl TextTemplate for Foreign {
    fn render(
        &self,
        call: &RequestContext,
        message: u64,
        out: &mut String,
    ) -> Result<(), DataError> {
        if call.number == 99 {
            return Err(DataError::new("no 99"));
        }
        let number = call.number.to_string();
        out.push_str(
            &self
                .0
                .replace('N', &number)
                .replace('M', &message.to_string()),
        );
        Ok(())
    }
}

#[test]
fn foreign_templates_make_messages_through_their_text() {
    let method = zoo("Chat");
    let text = r#"[{"name": "N.M"}, {"i32": N}]"#;
    let input = Input::text(&method, Arc::new(Foreign(text)));
    assert_eq!(input.messages(&call(4)), 2);
    for (n, right) in [
        (0, r#"{"name":"4.0"}"#),
        (1, r#"{"i32":4}"#),
        (2, r#"{"name":"4.0"}"#),
    ] {
        assert_eq!(shown(&method, &input, &call(4), n).unwrap(), right);
    }
    let fresh = Input::text(&method, Arc::new(Foreign(text))).with_refresh(Refresh::Message);
    assert_eq!(
        shown(&method, &fresh, &call(4), 2).unwrap(),
        r#"{"name":"4.2"}"#
    );
    let call_99 = call(99);
    assert_eq!(
        (
            input.messages(&call_99),
            shown(&method, &input, &call_99, 0)
        ),
        (1, Err("no 99".into()))
    );
    assert_eq!(input.check(&call_99), Err(DataError::new("no 99")));
    let show = zoo("Show");
    let input = Input::text(&show, Arc::new(Foreign(text)));
    assert_eq!(shown(&show, &input, &call(3), 0).unwrap(), r#"{"i32":3}"#);
    let empty = Input::text(&show, Arc::new(Foreign("[]")));
    assert_eq!(
        shown(&show, &empty, &call(0), 0).unwrap_err(),
        "the data is an empty array"
    );
}

#[test]
fn metadata_varies_and_is_checked() {
    let fields = |metadata: Metadata, number| -> Result<Vec<(String, String)>, String> {
        let mut out = RenderedFields::default();
        let input = Input::empty(&zoo("Show")).with_metadata(metadata);
        input
            .fields(&call(number), &mut out)
            .map_err(|error| error.to_string())?;
        Ok(out
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    };
    let one = |name: &str, value: &str| Ok(vec![(name.to_owned(), value.to_owned())]);
    let native = |key, value| Metadata::template(key, value, &sources()).unwrap();
    assert_eq!(
        fields(native("X-Id", "a \"{{ request_number }}\""), 7),
        one("x-id", "a \"7\"")
    );
    assert_eq!(fields(native("t-bin", "AAE"), 7), one("t-bin", "AAE"));
    let error = fields(native("t-bin", "-{{ user }}"), 7).unwrap_err();
    assert_eq!(error, "metadata t-bin: the value is not base64");
    for value in ["{{ 'a\\r\\nb: c' }}", "{{ 'a\\nb' }}", "{{ 'a\\x00' }}"] {
        if let Ok(metadata) = Metadata::template("k", value, &sources()) {
            assert!(
                fields(metadata, 0)
                    .unwrap_err()
                    .starts_with("the value of header `k` contains a control"),
                "{value}"
            );
        }
    }
    assert!(Metadata::template("a b", "x", &sources()).is_err());

    let object = |text| Metadata::object(Arc::new(Foreign(text)));
    let both = vec![
        ("a".to_owned(), "5".to_owned()),
        ("b-bin".to_owned(), "AA==".to_owned()),
    ];
    assert_eq!(
        fields(object(r#"{"A": "N", "b-bin": "AA=="}"#), 5),
        Ok(both)
    );
    let error = fields(object(r#"{"A": N}"#), 5).unwrap_err();
    assert_eq!(error, "metadata A: the value is not a string, but 5");
    assert!(
        fields(object("[]"), 5)
            .unwrap_err()
            .starts_with("the metadata is not a JSON object: ")
    );
    // The keys of an object override the pool's metadata.
    let mut out = RenderedFields::default();
    let input = Input::empty(&zoo("Show"))
        .with_metadata(object(r#"{"A": "N"}"#))
        .with_metadata(Metadata::fixed("a", "pool").beneath())
        .with_metadata(Metadata::fixed("X", "pool").beneath());
    input.fields(&call(5), &mut out).unwrap();
    let all: Vec<(&str, &str)> = out.iter().collect();
    assert_eq!(all, [("a", "5"), ("x", "pool")]);
    let value = Metadata::value("K", Arc::new(Foreign("vN")));
    assert_eq!(fields(value, 5), one("k", "v5"));
}

#[test]
fn keys_of_metadata_draw_apart() {
    let method = zoo("Show");
    let key = |key| Metadata::template(key, "{{ new_uuid() }}", &sources()).unwrap();
    let input = template(&method, r#"{"name": "{{ new_uuid() }}"}"#)
        .with_metadata(key("a"))
        .with_metadata(key("b"));
    let mut fields = RenderedFields::default();
    input.fields(&call(9), &mut fields).unwrap();
    let message = shown(&method, &input, &call(9), 0).unwrap();
    let (a, b) = (fields.find("a").unwrap(), fields.find("b").unwrap());
    assert_ne!(a, b);
    assert!(!message.contains(a) && !message.contains(b));
}

#[test]
fn metadata_has_the_uuid_of_the_first_message() {
    let method = zoo("Show");
    let metadata = Metadata::template("id", "{{ uuid }}", &sources()).unwrap();
    let input = template(&method, r#"{"name": "{{ uuid }}"}"#).with_metadata(metadata);
    let mut fields = RenderedFields::default();
    input.fields(&call(9), &mut fields).unwrap();
    let uuid = fields.find("id").unwrap();
    let right = format!("{{\"name\":\"{uuid}\"}}");
    assert_eq!(shown(&method, &input, &call(9), 0).unwrap(), right);
}

#[test]
fn binary_data_is_delimited_or_single() {
    let method = zoo("Feed");
    for (bytes, names) in [
        (&b""[..], &[""][..]),
        (b"\x0a\x01a", &["a"]),
        (b"\x03\x0a\x01a\x03\x0a\x01b", &["a", "b"]),
        (b"\x00\x00", &["", ""]),
        // A single message whose first byte is not a valid length.
        (b"\x0a\x03abc", &["abc"]),
    ] {
        let input = Input::binary(&method, bytes).unwrap();
        assert_eq!(input.messages(&call(0)), names.len() as u64, "{bytes:?}");
        for (n, name) in (0..).zip(names) {
            let json: serde_json::Value =
                serde_json::from_str(&shown(&method, &input, &call(0), n).unwrap()).unwrap();
            assert_eq!(json["name"].as_str().unwrap_or(""), *name);
        }
    }
    let error = Input::binary(&method, b"\x05\x0a").unwrap_err().to_string();
    assert!(
        error.starts_with("the bytes are not a valid zoo.v1.Animal: "),
        "{error}"
    );
}

/// Elements are packed if their file requires it.
#[test]
fn packing_is_what_the_schema_says() {
    for (syntax, option, bytes) in [
        ("proto2", "", &b"before\x08\x01\x08\x02"[..]),
        ("proto2", "[packed = true]", b"before\x0a\x02\x01\x02"),
        ("proto3", "", b"before\x0a\x02\x01\x02"),
        ("proto3", "[packed = false]", b"before\x08\x01\x08\x02"),
    ] {
        let text = format!(
            "syntax = \"{syntax}\"; message M {{ repeated int32 r = 1 {option}; }} \
             service S {{ rpc Do(M) returns (M); }}"
        );
        let schema = fixture::compile(&[("p.proto", &text)], &[]).unwrap();
        let method = schema.method("S/Do").unwrap();
        let input = Input::json(&method, "{\"r\":[1,2]}").unwrap();
        let mut out = b"before".to_vec();
        input.message(&call(0), 0, &mut out).unwrap();
        assert_eq!(out, bytes, "{syntax} {option}");
    }
}

/// Every schema contains protobuf's own messages.
#[test]
fn an_any_holds_what_no_file_imports() {
    let text = "syntax = \"proto3\"; package g; import \"google/protobuf/any.proto\"; \
        message M { google.protobuf.Any a = 1; } service S { rpc Do(M) returns (M); }";
    let schema = fixture::compile(&[("g.proto", text)], &[]).unwrap();
    let method = schema.method("g.S/Do").unwrap();
    let json = r#"{"a":{"@type":"x/google.protobuf.Duration","value":"1s"}}"#;
    let input = Input::json(&method, json).unwrap();
    assert_eq!(shown(&method, &input, &call(0), 0).as_deref(), Ok(json));
}

/// Forms that Go's dynamic messages accept beyond protobuf's JSON mapping, like ghz.
#[test]
fn a_lenient_reading_takes_what_go_takes() {
    let text = "syntax = \"proto3\"; package g; import \"google/protobuf/any.proto\"; import \"google/protobuf/timestamp.proto\"; \
        import \"google/protobuf/duration.proto\"; import \"google/protobuf/field_mask.proto\"; import \"google/protobuf/struct.proto\"; \
        enum E { A = 0; B = 2; } \
        message M { google.protobuf.Duration d = 1; google.protobuf.FieldMask m = 2; bool b = 3; \
        E e = 4; repeated int32 i = 5; oneof o { string x = 6; M y = 7; } string s = 8; \
        float f = 9; map<string, int32> k = 10; google.protobuf.Value v = 11; \
        repeated google.protobuf.Timestamp t = 12; google.protobuf.Any a = 13; } \
        service S { rpc Do(M) returns (M); }";
    let schema = fixture::compile(&[("g.proto", text)], &[]).unwrap();
    let method = schema.method("g.S/Do").unwrap();
    let read = |text: &str| {
        let input = Input::json_by(&method, text, Reading::Lenient).ok()?;
        Some(shown(&method, &input, &call(0), 0).unwrap())
    };
    for (text, json) in [
        (r#"{"d": "500ms"}"#, Some(r#"{"d":"0.500s"}"#)),
        (r#"{"d": "-1m30.5s"}"#, Some(r#"{"d":"-90.500s"}"#)),
        (r#"{"d": "5"}"#, None),
        (r#"{"d": "5 years"}"#, None),
        (r#"{"m": {"paths": ["a", "b_c"]}}"#, Some(r#"{"m":"a,bC"}"#)),
        (r#"{"b": "true"}"#, Some(r#"{"b":true}"#)),
        (r#"{"b": "yes"}"#, None),
        (r#"{"e": 2.0}"#, Some(r#"{"e":"B"}"#)),
        (r#"{"e": 2.5}"#, None),
        (r#"{"i": 2e0, "b": "true"}"#, Some(r#"{"b":true,"i":[2]}"#)),
        (
            r#"{"t": ["1970-01-01T00:00:00Z", null]}"#,
            Some(r#"{"t":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]}"#),
        ),
        (r#"{"e": "2"}"#, Some(r#"{"e":"B"}"#)),
        (r#"{"e": "C"}"#, None),
        (r#"{"i": 1}"#, Some(r#"{"i":[1]}"#)),
        (r#"{"i": [1, null]}"#, Some(r#"{"i":[1,0]}"#)),
        (r#"{"s": ["a", "b"]}"#, Some(r#"{"s":"b"}"#)),
        (r#"{"s": 5}"#, None),
        (r#"{"x": "a", "y": {"s": "b"}}"#, Some(r#"{"y":{"s":"b"}}"#)),
        ("null", Some("{}")),
        (r#"{"k": [], "b": "true"}"#, Some(r#"{"b":true}"#)),
        ("5", None),
        (r#"{"s": "a\ud800b"}"#, Some("{\"s\":\"a\u{fffd}b\"}")),
        (r#"{"f": 1e300}"#, Some(r#"{"f":"Infinity"}"#)),
        (
            r#"{"b": "true", "k": {"a": "5"}, "v": [1]}"#,
            Some(r#"{"b":true,"k":{"a":5},"v":[1.0]}"#),
        ),
        (r#"{"b": "true", "nope": 1}"#, None),
    ] {
        assert_eq!(read(text).as_deref(), json, "{text}");
        let strict = Input::json(&method, text);
        assert!(
            strict.is_err(),
            "{text}: protobuf's own mapping takes it too"
        );
    }
}

#[test]
fn a_message_without_a_required_field_is_refused() {
    let text = "syntax = \"proto2\"; package two; message M { required string name = 1; \
                optional M inner = 2; repeated M list = 3; map<string, M> by = 4; } service S { rpc Do(M) returns (M); }";
    let schema = fixture::compile(&[("two.proto", text)], &[]).unwrap();
    let method = schema.method("two.S/Do").unwrap();
    for (text, error) in [
        ("{}", Some("some required fields missing: name")),
        (r#"{"name": "a"}"#, None),
        (
            r#"{"name": "a", "inner": {"list": [{"name": "b"}, {}], "by": {"k": {}}}}"#,
            Some("some required fields missing: inner.name, inner.list[1].name, inner.by[k].name"),
        ),
    ] {
        let made = Input::json(&method, text).map(drop);
        let made = made.map_err(|error| error.to_string());
        assert_eq!(made.err().as_deref(), error, "{text}");
    }
    // As in ghz, the fields of a message inside are the server's business.
    let inner = r#"{"name": "a", "inner": {}}"#;
    assert!(Input::json_by(&method, inner, Reading::Lenient).is_ok());
    assert!(Input::json_by(&method, "{}", Reading::Lenient).is_err());
}

#[test]
fn a_name_that_is_given_twice_is_refused() {
    let text = "syntax = \"proto3\"; package t; import \"google/protobuf/struct.proto\";
        message M { string item_id = 1; M inner = 2; repeated M list = 3; map<string, M> by = 4;
          google.protobuf.Struct free = 5; }
        service S { rpc Do(M) returns (M); }";
    let schema = fixture::compile(&[("t.proto", text)], &[]).unwrap();
    let method = schema.method("t.S/Do").unwrap();
    for (text, error) in [
        (
            r#"{"item_id": "a", "inner": {"itemId": "b"}, "free": {"item_id": 1, "itemId": 2}}"#,
            None,
        ),
        (
            r#"{"item_id": "a", "item_id": "b"}"#,
            Some("`item_id` is given twice; write it once"),
        ),
        (
            r#"{"item_id": "a", "itemId": "a"}"#,
            Some("`itemId` and `item_id` are one field; write one of them"),
        ),
        (
            r#"{"inner": {"list": [{}, {"item_id": "a", "item_id": "b"}]}}"#,
            Some("`inner.list[1].item_id` is given twice; write it once"),
        ),
        (
            r#"{"by": {"k": {}, "k": {}}}"#,
            Some("`by.k` is given twice; write it once"),
        ),
        (
            r#"{"by": {"k": {"itemId": "a", "item_id": "b"}}}"#,
            Some("`by.k.item_id` and `itemId` are one field; write one of them"),
        ),
        (
            r#"{"free": {"a": [{"b": 1, "b": 2}]}}"#,
            Some("`free.a[0].b` is given twice; write it once"),
        ),
        (
            r#"[{}, {"item_id": "{{ request_number }}", "item_id": "b"}]"#,
            Some("element 2 of the data: `item_id` is given twice; write it once"),
        ),
    ] {
        let made = Input::template(&method, text, &sources()).map(drop);
        let made = made.map_err(|error| error.to_string());
        assert_eq!(made.err().as_deref(), error, "{text}");
    }
    let twice = r#"{"item_id": "a", "item_id": "b"}"#;
    assert!(
        Input::json_by(&method, twice, Reading::Lenient).is_ok(),
        "as in ghz"
    );
}

#[test]
fn an_array_may_stand_between_white_space() {
    let method = zoo("Show");
    for text in [
        "[{\"name\": \"a\"}, {\"name\": \"b\"}]\n",
        "\n [{\"name\": \"a\"}, {\"name\": \"b\"}] \r\n\t",
    ] {
        let input = Input::json(&method, text).unwrap();
        let second = shown(&method, &input, &call(1), 0).unwrap();
        assert_eq!(second, r#"{"name":"b"}"#, "{text:?}");
    }
    assert!(Input::json(&method, "[{}] 5").is_err());
}

#[test]
fn well_known_inputs_are_blank_without_data() {
    let text = "syntax = \"proto3\"; package t;
        import \"google/protobuf/wrappers.proto\";
        import \"google/protobuf/timestamp.proto\";
        service S {
          rpc W (google.protobuf.StringValue) returns (google.protobuf.Timestamp);
          rpc T (google.protobuf.Timestamp) returns (google.protobuf.Timestamp);
        }";
    let schema = fixture::compile(&[("a.proto", text)], &[]).unwrap();
    for name in ["W", "T"] {
        let method = schema.method(&format!("t.S/{name}")).unwrap();
        let input = Input::blank(&method).unwrap();
        assert!(input.is_fixed());
        let mut out = Vec::new();
        input.message(&call(0), 0, &mut out).unwrap();
        assert_eq!(out, Vec::<u8>::new());
    }
}
