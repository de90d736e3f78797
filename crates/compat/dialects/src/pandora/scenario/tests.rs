//! Pandora's test tables of steps, paths, functions and pipes as data, with drumfire's results.

use super::known::Known;
use super::lower::piped;
use super::named::Named;
use super::scope::Scope;
use super::table::Table;
use super::template::{translated, translated_path};
use super::turns::RowFeeds;
use super::{File, Scenario, Source, SourceKind};
use drumfire_compile::Host;
use drumfire_document::{Bare, Environment};
use serde_json::json;

fn sources() -> Vec<Source> {
    let csv = SourceKind::Csv(Table {
        file: "users.csv".to_owned(),
        fields: vec!["user id".to_owned(), "name".to_owned()],
        delimiter: Some(";".to_owned()),
        ignore_first_line: true,
    });
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

/// A machine with one file.
#[derive(Debug)]
struct OneFile(&'static str);

impl Environment for OneFile {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        match path {
            "users.csv" => Ok(self.0.as_bytes().to_vec()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

impl Host for OneFile {}

/// From `components/providers/scenario/vs/vs_csv_test.go`, except that a first line with the names
/// of the columns is not a row.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn tables_have_the_rows_of_their_files() {
    let usual = "USER_ID,NAME\n1,John\n2,Jack\n";
    let rows = |id: &str, name: &str| json!([{id: "1", name: "John"}, {id: "2", name: "Jack"}]);
    let with_head = |id: &str, name: &str| {
        json!([
            {id: "USER_ID", name: "NAME"},
            {id: "1", name: "John"},
            {id: "2", name: "Jack"},
        ])
    };
    for (text, fields, ignore_first_line, delimiter, wanted) in [
        (
            usual,
            &["user_id", "name"][..],
            false,
            ",",
            Some(with_head("user_id", "name")),
        ),
        (
            usual,
            &["user id", "name name"],
            false,
            ",",
            Some(with_head("user_id", "name_name")),
        ),
        (
            usual,
            &["user_id", "name"],
            true,
            ",",
            Some(rows("user_id", "name")),
        ),
        (usual, &[], false, ",", Some(rows("USER_ID", "NAME"))),
        (usual, &[], true, "", Some(rows("USER_ID", "NAME"))),
        (
            "USER ID,NAME NAME\n1,John\n2,Jack\n",
            &[],
            true,
            ",",
            Some(rows("USER_ID", "NAME_NAME")),
        ),
        (
            ",NAME\n1,John\n2,Jack\n",
            &[],
            true,
            ",",
            Some(rows("0", "NAME")),
        ),
        (usual, &["", "name"], true, ",", Some(rows("0", "name"))),
        (
            "USER_ID;NAME\n1;John\n2;Jack\n",
            &["", "name"],
            true,
            ";",
            Some(rows("0", "name")),
        ),
        (
            "1,John\n2,Jack\n",
            &["id", "name", "more", ""],
            false,
            ",",
            Some(json!([
                {"id": "1", "name": "John", "more": "", "3": ""},
                {"id": "2", "name": "Jack", "more": "", "3": ""},
            ])),
        ),
        (
            "1,John\n2,Jack\n",
            &["name", "name"],
            false,
            ",",
            Some(json!([{"name": "John"}, {"name": "Jack"}])),
        ),
        ("USER_ID,NAME\n\"1\"x,John\n", &[], true, ",", None),
        ("USER_ID,NAME\n1, \"John\"\n", &[], true, ",", None),
        ("USER_ID,NAME\n1,John\n2,Jack,more\n", &[], true, ",", None),
        ("USER_ID,NAME\n1,John\n2\n", &[], true, ",", None),
    ] {
        let table = Table {
            file: "users.csv".to_owned(),
            fields: fields.iter().map(|&field| field.to_owned()).collect(),
            delimiter: Some(delimiter.to_owned()).filter(|text| !text.is_empty()),
            ignore_first_line,
        };
        let seen = table.rows(&OneFile(text)).ok().map(serde_json::Value::from);
        assert_eq!(seen, wanted, "{text:?} {fields:?}");
    }
}

/// `lib/mp/map_test.go`
#[test]
fn paths_end_at_values() {
    let items = json!({"items": [{"id": "1", "name": "name1"}, {"id": "2"}], "ints": [11, 22, 33], "texts": ["1", "2"]});
    let sources = [Source {
        name: "source".to_owned(),
        kind: SourceKind::Json(items),
    }];
    for (text, wanted) in [
        ("source.source.items[0].id", Ok("\"1\"")),
        ("source.source.items[asd].id", Err("but got `asd`")),
        ("source.source.items[0].id[0]", Err("is not a list")),
        ("source.source.items[0].id.field", Err("no such value")),
        ("source.source.data[0].id", Err("no such value")),
        ("source.source.items[1]", Ok("\"{\\\"id\\\":\\\"2\\\"}\"")),
        ("source.source.items[1].title", Err("no such value")),
        ("source.source.texts[0]", Ok("\"1\"")),
        ("source.source.texts[x]", Err("but got `x`")),
        ("source.source.texts[0].key", Err("no such value")),
        ("source.source.ints[0]", Ok("\"11\"")),
        ("source.source.ints[-1]", Ok("\"33\"")),
        ("source.source.ints[7]", Ok("\"22\"")),
        (".source.source.ints[ last ]", Ok("\"33\"")),
    ] {
        let mut scope = Scope::new(&sources, &Bare, 1);
        let seen = scope.mapped(text, 0).map(|known| known.is);
        match (&seen, wanted) {
            (Ok(seen), Ok(wanted)) => assert_eq!(seen, wanted, "{text}"),
            (Err(seen), Err(wanted)) => assert!(seen.contains(wanted), "{text}: {seen}"),
            _ => panic!("{text}: {seen:?}"),
        }
    }
}

/// From `components/providers/scenario/config/decode_test.go`, with refused forms.
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
    let mut scope = Scope::new(&sources, &Bare, 1);
    scope.learn(
        "list",
        "postprocessor",
        "items",
        Known::text("v_items".to_owned()),
    );
    for (text, wanted) in [
        ("source.users[next].name", Some("src_users.name")),
        (".source.users[next]", Some("src_users_2")),
        ("source.users[rand].name", Some("src_users_rand.name")),
        ("source.data.list[next].id", Some("src_data_list.id")),
        ("source.data.list[-1].id", Some("\"2\"")),
        ("source.data.list[3].id", Some("\"2\"")),
        ("source.data.list[last].id", Some("\"2\"")),
        ("source.data.deep.n", Some("\"7\"")),
        ("source.global.a", Some("\"x\\\"y\"")),
        ("source.global.n", Some("\"10\"")),
        ("source.global.m.k", Some("\"v\"")),
        ("request.list.postprocessor.items", Some("v_items")),
        (
            "request.list.postprocessor.items[next]",
            Some("((v_items | fromjson(iteration + 2)) | gojson)"),
        ),
        (
            "request.list.postprocessor.items[last]",
            Some("((v_items | fromjson(-1)) | gojson)"),
        ),
        (
            "request.list.postprocessor.items[0].tags[last].name",
            Some(
                "(((((v_items | fromjson(0)) | fromjson(\"tags\")) | fromjson(-1)) | fromjson(\"name\")) | gojson)",
            ),
        ),
    ] {
        let seen = scope.mapped(text, 2).map(|known| known.is);
        assert_eq!(seen.ok().as_deref(), wanted, "{text}");
    }
    let feeds = scope.turns.into_feeds(&[1]);
    let names: Vec<&str> = feeds.iter().map(|feed| feed.name.value.as_str()).collect();
    assert_eq!(
        names,
        [
            "src_data_list",
            "src_users",
            "src_users_2",
            "src_users_rand"
        ]
    );
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
    let orders = feeds.iter().map(|feed| feed.order.as_ref().unwrap());
    let orders: Vec<&str> = orders.map(|order| order.value.as_str()).collect();
    let of_users = ["in_order(1, 2, 0, 0)", "in_order(1, 2, 0, 1)", "random"];
    assert_eq!((orders[0], &orders[1..]), ("in_order", &of_users[..]));
}

#[test]
fn a_scenario_without_requests_is_named() {
    for requests in [vec![], vec!["sleep(10)".to_owned()]] {
        let scenario = Scenario {
            name: "s".to_owned(),
            weight: 1,
            requests,
            ..Scenario::default()
        };
        let file = File {
            scenarios: vec![scenario],
            ..File::default()
        };
        assert_eq!(
            super::lower::lower(&file, None, 0, &Bare, 1).err().unwrap(),
            "scenario s: it has no requests; list one in `requests`"
        );
    }
}

/// The rows that the uses of `[next]` take in the runs of each scenario, which come in blocks.
#[test]
fn scenarios_count_the_rows_that_they_take() {
    let scenario = |weight, requests: &[&str]| Scenario {
        weight,
        requests: requests.iter().map(|&name| name.to_owned()).collect(),
        ..Scenario::default()
    };
    for (scenarios, wanted) in [
        // With separate requests, each scenario counts its own runs.
        (
            vec![scenario(2, &["a"]), scenario(1, &["b"])],
            vec!["in_order(3, 2, 1, 0)", "in_order(3, 1, 1, -2)"],
        ),
        // With a shared request, the last scenario that refers to it counts its uses.
        (
            vec![scenario(1, &["a"]), scenario(1, &["a"])],
            vec!["in_order", "in_order"],
        ),
        // A repeated step takes a row each time.
        (
            vec![scenario(5, &["a(2)", "b"])],
            vec![
                "in_order(1, 3, 0, 0)",
                "in_order(1, 3, 0, 1)",
                "in_order(1, 3, 0, 2)",
            ],
        ),
        (
            vec![scenario(1, &["a", "b"]), scenario(2, &["a"])],
            vec!["in_order", "in_order(3, 1, 1, 0)", "in_order"],
        ),
    ] {
        let sources = sources();
        let file = File {
            scenarios,
            ..File::default()
        };
        let mut scope =
            Scope::new(&sources, &Bare, 1).with_turns(RowFeeds::of_pool(0).with_owners(&file));
        let mut names = Vec::new();
        for (number, scenario) in file.scenarios.iter().enumerate() {
            scope.turns.enter_scenario(number);
            for text in &scenario.requests {
                let named = Named::read(text).unwrap();
                for round in 0..named.count {
                    scope.turns.enter_request(named.name);
                    names.push(scope.mapped("source.users[next]", round).unwrap().is);
                }
            }
        }
        let feeds = scope
            .turns
            .into_feeds(&super::lower::shares(&file.scenarios));
        let order = |name: &String| {
            let feed = feeds.iter().find(|feed| feed.name.value == *name);
            feed.and_then(|feed| feed.order.as_ref())
                .unwrap()
                .value
                .clone()
        };
        let seen: Vec<String> = names.iter().map(order).collect();
        assert_eq!(seen, wanted);
    }
}

/// Values that a response may lack.
#[test]
fn absent_fields_and_nodes_are_printed_as_in_go() {
    let mut scope = Scope::new(&[], &Bare, 1);
    let learn = |scope: &mut Scope<'_>, name: &str, known| {
        scope.learn("a", "postprocessor", name, known);
    };
    learn(&mut scope, "head", Known::optional("h", "(h | lower)"));
    learn(&mut scope, "nodes", Known::nodes("n"));
    for (text, wanted) in [
        (
            "{{.request.a.postprocessor.head}}",
            r#"{{ ((h | lower) if h else "<no value>") }}"#,
        ),
        (
            "{{.request.a.postprocessor.nodes}}",
            r#"{{ ((n | fromjson)[0] if (n | fromjson) is sequence and ((n | fromjson) | length) == 1 else ("{{.}}" | go(n | fromjson))) }}"#,
        ),
    ] {
        assert_eq!(
            translated(text, &mut scope).as_deref(),
            Ok(wanted),
            "{text}"
        );
    }
    for (text, wanted) in [
        (
            "request.a.postprocessor.head",
            r#"((h | lower) if h else ("[]" | item(0)))"#,
        ),
        (
            "request.a.postprocessor.nodes[last]",
            "((n | fromjson(-1)) | gojson)",
        ),
    ] {
        let seen = scope.mapped(text, 0).map(|known| known.is);
        assert_eq!(seen.as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn a_call_takes_of_its_reply_what_is_read() {
    let sources = sources();
    let mut scope = Scope::new(&sources, &Bare, 1);
    scope.learn_reply("call", 3);
    for (text, wanted) in [
        (
            "request.call.postprocessor.token",
            Some("v_call_reply_token"),
        ),
        (
            "request.call.postprocessor.result[rand].itemId",
            Some(
                "(((v_call_reply_result | fromjson(random_int(0, 1000000))) | fromjson(\"itemId\")) | gojson)",
            ),
        ),
    ] {
        let seen = scope.mapped(text, 2).map(|known| known.is);
        assert_eq!(seen.ok().as_deref(), wanted, "{text}");
    }
    let asked = scope.forget();
    let asked: Vec<(usize, &str, &str)> = asked
        .iter()
        .map(|(step, field)| (*step, &*field.name.value, &*field.value.value))
        .collect();
    assert_eq!(
        asked,
        [
            (3, "v_call_reply_token", "reply $[\"token\"]"),
            (3, "v_call_reply_result", "reply $[\"result\"]"),
        ]
    );
}

#[test]
fn functions_are_ours_and_what_leads_nowhere_is_refused() {
    let sources = sources();
    let mut scope = Scope::new(&sources, &Bare, 1);
    for (text, wanted) in [
        ("randInt(5)", Ok("random_int(0, 4)")),
        ("randInt()", Ok("random_int(0, 9)")),
        ("randInt(7, 3)", Ok("random_int(3, 6)")),
        ("randInt(3,3)", Ok("random_int(3, 3)")),
        ("uuid()", Ok("new_uuid()")),
        (
            "randString(2, ab)",
            Ok(r#""{{randString 2 \"ab\"}}" | go({})"#),
        ),
        (
            "randInt(.source.data.deep.n, 9)",
            Ok(r#""{{randInt .a0 9}}" | go({"a0": ((7) | gojson)})"#),
        ),
        (
            "randString(source.data.list[last].id, ab)",
            Ok(r#""{{randString .a0 \"ab\"}}" | go({"a0": ((2) | gojson)})"#),
        ),
        (
            "source.users.name",
            Err("`users` is a table; select a row, as with [next]"),
        ),
        ("source.nobody[next]", Err("unknown source `nobody`")),
        ("source.data.none", Err("`data.none` has no such value")),
        ("source.data.deep[0]", Err("`data.deep` is not a list")),
        (
            "request.list.postprocessor.none",
            Err("no earlier step provides `request.list.postprocessor.none`"),
        ),
        (
            "nothing",
            Err("`nothing` is not a path; use source.NAME or request.NAME"),
        ),
        (
            "randInt(1, 2, 3)",
            Err("randInt takes at most two arguments"),
        ),
        (
            "randString(.source.data.deep.n, a, b)",
            Err("randString takes at most two arguments"),
        ),
        (
            "randFloat(1)",
            Err("unknown function `randFloat`; use uuid, randInt or randString"),
        ),
    ] {
        let seen = scope.mapped(text, 0).map(|known| known.is);
        assert_eq!(seen.as_deref().map_err(String::as_str), wanted, "{text}");
    }
}

#[test]
fn templates_are_paths_and_functions() {
    let sources = sources();
    let mut scope = Scope::new(&sources, &Bare, 1);
    let user = scope.mapped("source.users[next]", 0).unwrap();
    scope.learn("auth", "preprocessor", "user", user);
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
        (
            "{{.source.global.m.k | printf \"%q\"}}",
            Some(
                r#"{{ "{{.source.global.m.k | printf \"%q\"}}" | go({"source": {"global": {"a": "x\"y", "m": {"k": "v"}, "n": "10"}}, "request": {}}) }}"#,
            ),
        ),
        (
            "{{with .request.auth.preprocessor.user}}{{.name}}{{end}}",
            Some(
                r#"{{ "{{with .request.auth.preprocessor.user}}{{.name}}{{end}}" | go({"source": {}, "request": {"auth": {"preprocessor": {"user": {"user_id": src_users.user_id, "name": src_users.name}}}}}) }}"#,
            ),
        ),
        ("{{.request.auth.preprocessor.none}}", None),
    ] {
        let seen = translated(text, &mut scope).ok();
        assert_eq!(seen.as_deref(), wanted, "{text}");
    }
}

#[test]
fn what_is_before_the_template_of_a_path_stays() {
    let sources = sources();
    let mut scope = Scope::new(&sources, &Bare, 1);
    for (text, wanted) in [
        ("/a/{{uuid}}", "/a/{{ (new_uuid()) | string | urlescape }}"),
        (
            "/a?b={{len \"abc\"}}",
            r#"/a?b={{ ("{{len \"abc\"}}" | go({"source": {}, "request": {}})) | string | urlescape }}"#,
        ),
        (
            "/a {{- len \"abc\"}}",
            r#"/{{ ("a {{- len \"abc\"}}" | go({"source": {}, "request": {}})) | string | urlescape }}"#,
        ),
    ] {
        let seen = translated_path(text, &mut scope);
        assert_eq!(seen.as_deref(), Ok(wanted), "{text}");
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

/// Values and their types: the printed text, and the value that a Go template sees.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn texts_stay_texts_and_numbers_of_json_are_floats() {
    let values = json!({
        "l": ["8", "9"],
        "n": [3, 5.5],
        "mix": ["5", [1]],
        "o": [{"k": "8", "v": 1e3, "w": 2}, {"k": "y", "v": 2, "w": 3}],
        "e": 1e3, "tiny": 1e-7, "minus": -0.0, "id": 12345678, "t": "0.10",
        "huge": 123456789012345678901.0,
    });
    let source = |name: &str, kind| Source {
        name: name.to_owned(),
        kind,
    };
    let sources = [
        source("j", SourceKind::Json(values.clone())),
        source("g", SourceKind::Variables(values)),
    ];
    let mut scope = Scope::new(&sources, &Bare, 1);
    for (text, is, typed) in [
        ("source.j.l[next]", "src_j_l", "src_j_l"),
        (
            "source.j.n[next]",
            "(src_j_n | gojson)",
            "(src_j_n | gojson)",
        ),
        ("source.g.n[next]", "(src_g_n | gojson)", "src_g_n"),
        ("source.j.o[next].k", "src_j_o.k", "src_j_o.k"),
        (
            "source.j.o[next].v",
            "(src_j_o_2.v | gojson)",
            "(src_j_o_2.v | gojson)",
        ),
        (
            "source.j.o[next].w",
            "src_j_o_3.w",
            "(src_j_o_3.w | gojson)",
        ),
        (
            "source.j.mix[next]",
            "(src_j_mix.element | gojson)",
            "(src_j_mix.element | gojson)",
        ),
        (
            "source.j.e",
            "\"1000\"",
            "((\"1000.0\" | fromjson) | gojson)",
        ),
        (
            "source.j.tiny",
            "\"1e-07\"",
            "((\"1e-7\" | fromjson) | gojson)",
        ),
        (
            "source.j.minus",
            "\"-0\"",
            "((\"-0.0\" | fromjson) | gojson)",
        ),
        (
            "source.j.huge",
            "\"1.2345678901234568e+20\"",
            "((\"1.2345678901234568e+20\" | fromjson) | gojson)",
        ),
        ("source.j.id", "\"12345678\"", "((12345678) | gojson)"),
        ("source.g.id", "\"12345678\"", "(12345678)"),
        ("source.j.t", "\"0.10\"", "\"0.10\""),
    ] {
        let known = scope.mapped(text, 0).unwrap();
        assert_eq!((&*known.is, &*known.typed()), (is, typed), "{text}");
    }
    let (kept, template) = scope.mapped("source.j.o[next]", 0).unwrap().kept("v");
    assert_eq!((&*kept.is, template), ("src_j_o_4", None));
    let list = Known::text("v_list".to_owned());
    let (kept, template) = list.element("0").kept("v");
    assert_eq!(kept.typed(), "((v | fromjson) | gojson)");
    let wanted = "{{ (v_list | fromjson(0)) | tojson }}";
    assert_eq!(template.as_deref(), Some(wanted));
}
