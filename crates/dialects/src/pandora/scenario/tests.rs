//! Pandora's tables of steps, paths, functions and pipes as data, and what they come to here.

use super::lower::{Named, piped};
use super::mapping::Scope;
use super::template::translated;
use super::{Source, SourceKind};
use serde_json::json;

fn sources() -> Vec<Source> {
    let csv = SourceKind::Csv {
        file: "users.csv".to_owned(),
        fields: vec!["user id".to_owned(), "name".to_owned()],
        delimiter: Some(";".to_owned()),
        ignore_first_line: true,
    };
    let kinds = [
        ("users", csv),
        (
            "data",
            SourceKind::Json(json!({"list": [{"id": 1}, {"id": 2}], "deep": {"n": 7}})),
        ),
        (
            "global",
            SourceKind::Variables(json!({"a": "x\"y", "n": "randInt(10,11)", "m": {"k": "v"}})),
        ),
    ];
    let source = |(name, kind): (&str, SourceKind)| Source {
        name: name.to_owned(),
        kind,
    };
    kinds.into_iter().map(source).collect()
}

/// `components/providers/scenario/config/decode_test.go`, and what is refused.
#[test]
fn steps_are_named_counted_and_followed_by_a_sleep() {
    for (text, wanted) in [
        ("shoot", Some(("shoot", 1, 0))),
        ("shoot()", Some(("shoot", 1, 0))),
        ("shoot(5)", Some(("shoot", 5, 0))),
        ("shoot(3,4,5)", Some(("shoot", 3, 4))),
        ("shoot(5,6)", Some(("shoot", 5, 6))),
        ("space test(7)", Some(("space test", 7, 0))),
        ("symbol#(3)", Some(("symbol#", 3, 0))),
        ("shoot(  9  )", Some(("shoot", 9, 0))),
        ("shoot (6)", Some(("shoot", 6, 0))),
        ("shoot(", None),
        ("shoot)", None),
        ("shoot(6))", None),
        ("shoot(x)", None),
        ("shoot(-1)", None),
    ] {
        let named = Named::read(text).ok();
        let seen = named.map(|named| (named.name, named.count, named.sleep));
        assert_eq!(seen, wanted, "{text}");
    }
}

#[test]
fn paths_lead_to_rows_constants_and_what_steps_have_left() {
    let sources = sources();
    let mut scope = Scope::new(&sources, 1);
    scope.learn("list", "postprocessor", "items", "v_items".to_owned());
    for (text, wanted) in [
        ("source.users[next].name", Some("src_users.name")),
        (".source.users[next]", Some("src_users")),
        ("source.users[rand].name", Some("src_users_rand.name")),
        ("source.data.list[next].id", Some("src_data_list.id")),
        ("source.data.list[-1].id", Some("\"2\"")),
        ("source.data.list[3].id", Some("\"2\"")),
        ("source.data.list[last].id", Some("\"2\"")),
        ("source.data.deep.n", Some("\"7\"")),
        ("source.global.a", Some("\"x\\\"y\"")),
        ("source.global.n", Some("10")),
        ("source.global.m.k", Some("\"v\"")),
        ("request.list.postprocessor.items", Some("v_items")),
        (
            "request.list.postprocessor.items[next]",
            Some("(v_items | item(iteration + 2))"),
        ),
        (
            "request.list.postprocessor.items[last]",
            Some("(v_items | item(-1))"),
        ),
    ] {
        let seen = scope.mapped(text, 2);
        assert_eq!(seen.ok().as_deref(), wanted, "{text}");
    }
    let feeds = scope.into_feeds();
    let names: Vec<&str> = feeds.iter().map(|feed| feed.name.value.as_str()).collect();
    assert_eq!(names, ["src_data_list", "src_users", "src_users_rand"]);
    let users = &feeds[1];
    let fields: Vec<&str> = users
        .fields
        .iter()
        .map(|text| text.value.as_str())
        .collect();
    assert_eq!(fields, ["user_id", "name"]);
    assert_eq!(users.header.as_ref().map(|header| header.value), Some(true));
    assert_eq!(
        users.delimiter.as_ref().map(|text| text.value.as_str()),
        Some(";")
    );
    assert_eq!(
        feeds[2].order.as_ref().map(|text| text.value.as_str()),
        Some("random")
    );
}

#[test]
fn functions_are_ours_and_what_leads_nowhere_is_refused() {
    let sources = sources();
    let mut scope = Scope::new(&sources, 1);
    for (text, wanted) in [
        ("randInt(5)", Ok("random_int(0, 4)")),
        ("randInt()", Ok("random_int(0, 9)")),
        ("randInt(7, 3)", Ok("random_int(3, 6)")),
        ("randInt(3,3)", Ok("random_int(3, 3)")),
        ("uuid()", Ok("new_uuid()")),
        (
            "randString(2, ab)",
            Ok("(choose([\"a\",\"b\"]) ~ choose([\"a\",\"b\"]))"),
        ),
        (
            "source.users.name",
            Err("`users` is a table; write which row, [next]"),
        ),
        ("source.nobody[next]", Err("there is no source `nobody`")),
        ("source.data.none", Err("`data.none` has no such value")),
        ("source.data.deep[0]", Err("`data.deep` is no list")),
        (
            "request.list.postprocessor.none",
            Err("`request.list.postprocessor.none` is nothing that a step before has left"),
        ),
        (
            "nothing",
            Err("`nothing` is no path; write source.NAME or request.NAME"),
        ),
        (
            "randFloat(1)",
            Err("the function `randFloat` can't be run by drumfire yet"),
        ),
    ] {
        let seen = scope.mapped(text, 0);
        assert_eq!(seen.as_deref().map_err(String::as_str), wanted, "{text}");
    }
}

#[test]
fn templates_are_paths_and_functions() {
    let sources = sources();
    let mut scope = Scope::new(&sources, 1);
    scope.learn("auth", "preprocessor", "user", "src_users".to_owned());
    for (text, wanted) in [
        ("plain", Some("plain")),
        ("a {{.source.global.m.k}} b", Some("a {{ \"v\" }} b")),
        (
            "{{ .request.auth.preprocessor.user.name }}",
            Some("{{ src_users.name }}"),
        ),
        ("x {{- uuid }} y", Some("x {{- new_uuid() }} y")),
        ("x {{- .source.global.m.k -}} y", Some("x {{- \"v\" -}} y")),
        ("{{uuid}}", Some("{{ new_uuid() }}")),
        ("{{randInt 1 5}}", Some("{{ random_int(1, 4) }}")),
        (
            "{% x %} {# y #}",
            Some("{{ \"{%\" }} x %} {{ \"{#\" }} y #}"),
        ),
        ("{{.source.global.m.k | printf}}", None),
        ("{{if .x}}", None),
        ("{{", None),
    ] {
        let seen = translated(text, &mut scope).ok();
        assert_eq!(seen.as_deref(), wanted, "{text}");
    }
}

#[test]
fn a_headers_value_goes_through_pipes() {
    for (pipes, wanted) in [
        ("", Some("v")),
        ("lower", Some("(v | lower)")),
        ("lower|upper", Some("((v | lower) | upper)")),
        ("substr(7)", Some("(v)[7:]")),
        ("substr(1,3)", Some("(v)[1:3]")),
        ("substr(-3)", Some("(v)[-3:]")),
        ("replace(a,b)", Some("(v | replace(\"a\", \"b\"))")),
        ("substr(x)", None),
        ("reverse", None),
    ] {
        let seen = piped("v".to_owned(), pipes).ok();
        assert_eq!(seen.as_deref(), wanted, "{pipes}");
    }
}
