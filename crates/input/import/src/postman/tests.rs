//! Every key of the specification, and the parts of URLs.

use super::keys;
use crate::keyed::{self, Keys, row, row_in};
use crate::shape::Shape;
use crate::{Form, Source, Wishes, import, referring};
use drumfire_document::form;
use serde_json::{Value, json};

type Row<'a> = (&'a str, Value, Option<Value>);

fn collection() -> Value {
    json!({
        "info": {"name": "n", "schema": "s"},
        "variable": [{"key": "k", "value": "v"}],
        "item": [{"name": "folder", "item": [{"name": "r", "request": {
            "method": "POST",
            "url": {"host": ["h", "test"], "path": ["a", ":p", "{{k}}"],
                    "query": [{"key": "q", "value": "1"}], "variable": [{"key": "p", "value": "7"}]},
            "header": [{"key": "X", "value": "{{k}}"}],
            "body": {"mode": "raw", "raw": "text", "options": {"raw": {}}}
        }}]}]
    })
}

const ITEM: &str = "/item/0/item/0";

#[track_caller]
fn check_in(document: &Value, shape: &Shape, pointer: &str, rows: Vec<Row<'_>>) {
    keyed::check(
        Form::Postman,
        document,
        &Keys {
            shape,
            pointer,
            rows,
        },
    );
}

#[track_caller]
fn check(shape: &Shape, pointer: &str, rows: Vec<Row<'_>>) {
    check_in(&collection(), shape, pointer, rows);
}

fn script() -> Value {
    json!([{"listen": "test", "script": {"exec": ["x()"]}}])
}

fn bearer() -> Value {
    json!({"type": "bearer", "bearer": [{"key": "token", "value": "t"}]})
}

#[test]
fn keys_of_collections_and_items() {
    check(
        &keys::COLLECTION,
        "",
        vec![
            row(
                "info",
                json!({"name": "other", "_postman_id": "i", "version": "1"}),
            ),
            row("item", collection()["item"].clone()),
            row("event", script()),
            row("variable", json!([{"key": "k", "value": "w"}])),
            row("auth", bearer()),
            row("protocolProfileBehavior", json!({"followRedirects": false})),
            row("unknown", json!(1)),
        ],
    );
    check(
        &keys::ITEM,
        ITEM,
        vec![
            row("id", json!("i")),
            row("_postman_id", json!("i")),
            row("_postman_isSubFolder", json!(true)),
            row("name", json!("other")),
            row("description", json!("d")),
            row("variable", json!([{"key": "a", "value": "b"}])),
            row("event", script()),
            row("request", json!("http://other.test/")),
            row("response", json!([{"name": "r"}])),
            row("protocolProfileBehavior", json!({"strictSSL": false})),
            row("item", json!([])),
            row("auth", bearer()),
            row("unknown", json!(1)),
        ],
    );
    let mut document = collection();
    document["item"][0]["item"][0]["event"] = script();
    check_in(
        &document,
        &keys::EVENT,
        &format!("{ITEM}/event/0"),
        vec![
            row("id", json!("i")),
            row("listen", json!("prerequest")),
            row("disabled", json!(true)),
            row("script", json!({"exec": "x()"})),
            row("unknown", json!(1)),
        ],
    );
    document["item"][0]["item"][0]["protocolProfileBehavior"] = json!({});
    document["item"][0]["item"][0]["request"]["method"] = json!("GET");
    check_in(
        &document,
        &keys::BEHAVIOUR,
        &format!("{ITEM}/protocolProfileBehavior"),
        vec![
            row("disableBodyPruning", json!(true)),
            row("disableUrlEncoding", json!(true)),
            row("followRedirects", json!(false)),
            row("disableCookies", json!(true)),
            row("strictSSL", json!(false)),
            row("maxRedirects", json!(1)),
        ],
    );
}

#[test]
fn keys_of_requests_urls_and_pairs() {
    let request = format!("{ITEM}/request");
    check(
        &keys::REQUEST,
        &request,
        vec![
            row("url", json!("http://other.test/")),
            row("auth", bearer()),
            row("proxy", json!({"host": "p"})),
            row("certificate", json!({"name": "c"})),
            row("method", json!("PUT")),
            row("description", json!("d")),
            row("name", json!("n")),
            row("header", json!([{"key": "Y", "value": "1"}])),
            row("body", json!({"mode": "raw", "raw": "other"})),
            row("unknown", json!(1)),
        ],
    );
    check(
        &keys::URL,
        &format!("{request}/url"),
        vec![
            row_in("raw", json!("http://other.test/"), json!({})),
            row("protocol", json!("https")),
            row("host", json!("other.test")),
            row("path", json!("/b")),
            row("port", json!("81")),
            row("query", json!([{"key": "z", "value": "1"}])),
            row("hash", json!("h")),
            row("variable", json!([{"id": "p", "value": "8"}])),
            row("auth", json!({"user": "u"})),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_variables_and_pairs() {
    let request = format!("{ITEM}/request");
    check(
        &keys::VARIABLE,
        "/variable/0",
        vec![
            row_in("id", json!("k"), json!({"value": "v"})),
            row("key", json!("k")),
            row("value", json!("w")),
            row("disabled", json!(true)),
            row("enabled", json!(false)),
            row("type", json!("string")),
            row("name", json!("n")),
            row("system", json!(false)),
            row("description", json!("d")),
            row("unknown", json!(1)),
        ],
    );
    let mut document = collection();
    document["item"][0]["item"][0]["request"]["body"] =
        json!({"mode": "formdata", "formdata": [{"key": "a", "value": "b"}]});
    let file = || json!({"key": "a", "type": "file", "src": "f"});
    check_in(
        &document,
        &keys::PAIR,
        &format!("{request}/body/formdata/0"),
        vec![
            row("key", json!("c")),
            row("value", json!("c")),
            row_in("type", json!("file"), file()),
            row_in("src", json!("g"), file()),
            row_in("fileName", json!("g"), file()),
            row("disabled", json!(true)),
            row("enabled", json!(false)),
            row("contentType", json!("a/b")),
            row("description", json!("d")),
            row("equals", json!(true)),
            row("name", json!("n")),
            row("uuid", json!("u")),
            row("warning", json!("w")),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_bodies() {
    let body = format!("{ITEM}/request/body");
    let in_mode = |mode: &str| json!({"mode": mode});
    check(
        &keys::BODY,
        &body,
        vec![
            row_in(
                "mode",
                json!("urlencoded"),
                json!({"urlencoded": [{"key": "a", "value": "b"}]}),
            ),
            row("raw", json!("other")),
            row_in(
                "urlencoded",
                json!([{"key": "a", "value": "b"}]),
                in_mode("urlencoded"),
            ),
            row_in(
                "formdata",
                json!([{"key": "a", "value": "b"}]),
                in_mode("formdata"),
            ),
            row_in("graphql", json!({"query": "{a}"}), in_mode("graphql")),
            row_in("file", json!({"src": "f"}), in_mode("file")),
            row("options", json!({"raw": {"language": "json"}})),
            row("disabled", json!(true)),
            row("unknown", json!(1)),
        ],
    );
    let set = |body: Value| {
        let mut document = collection();
        document["item"][0]["item"][0]["request"]["body"] = body;
        document
    };
    let document = set(json!({"mode": "file", "file": {}}));
    check_in(
        &document,
        &keys::FILE,
        &format!("{body}/file"),
        vec![
            row("src", json!("f")),
            row("content", json!("c")),
            row("unknown", json!(1)),
        ],
    );
    let document = set(json!({"mode": "graphql", "graphql": {"query": "{a}"}}));
    check_in(
        &document,
        &keys::GRAPHQL,
        &format!("{body}/graphql"),
        vec![
            row("query", json!("{b}")),
            row("variables", json!("{\"c\": 1}")),
            row("operationName", json!("o")),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_options_of_bodies() {
    let body = format!("{ITEM}/request/body");
    check(
        &keys::OPTIONS,
        &format!("{body}/options"),
        vec![
            row("raw", json!({"language": "xml"})),
            row("urlencoded", json!({})),
            row("formdata", json!({})),
            row("graphql", json!({})),
            row("file", json!({})),
            row("unknown", json!(1)),
        ],
    );
    check(
        &keys::RAW,
        &format!("{body}/options/raw"),
        vec![
            row("language", json!("html")),
            row("headerFamily", json!("html")),
            row("unknown", json!(1)),
        ],
    );
}

/// The plan and the notes for a request.
fn imported(request: &Value, variables: &Value) -> (String, Vec<String>) {
    let document = json!({"item": [{"name": "r", "request": request}], "variable": variables});
    let text = document.to_string();
    let imported = import(Form::Postman, &Source::alone(&text), &Wishes::default());
    let imported = imported.expect("a collection");
    (form::print(&imported.document), imported.notes)
}

/// Checks the URLs of requests.
#[track_caller]
fn check_urls(rows: &[(Value, &str)]) {
    let variables = json!([{"key": "host", "value": "h.test:8"}, {"key": "base", "value": "http://h.test/v1"},
        {"key": "blank", "value": "a b"}, {"key": "empty", "value": ""}, {"key": "slash", "value": "/"}]);
    for (url, wanted) in rows {
        let (plan, notes) = imported(&json!({"url": url}), &variables);
        let has = plan.contains(&format!("get: {wanted}\n"))
            || plan.contains(&format!("get: \"{wanted}\"\n"));
        assert!(has, "{url}: {wanted}\n{plan}{notes:?}");
    }
}

#[test]
fn urls_are_made_of_their_parts() {
    check_urls(&[
        (
            json!({"protocol": "https", "host": ["h", "test"], "port": "8", "path": ["a", "b"],
            "query": [{"key": "q", "value": "1"}]}),
            "https://h.test:8/a/b?q=1",
        ),
        (
            json!({"host": "h.test", "path": "a b/c"}),
            "http://h.test/a%20b/c",
        ),
        (
            json!({"host": "h.test", "path": [{"type": "string", "value": "a"}]}),
            "http://h.test/a",
        ),
        (
            json!({"host": ["h"], "path": [":id"], "variable": [{"key": "id", "value": "a b/c"}]}),
            "http://h/a%20b%2Fc",
        ),
        (
            json!({"host": ["h"], "path": ["rest/:id/x"], "variable": [{"id": "id", "value": "7"}]}),
            "http://h/rest/7/x",
        ),
        (
            json!({"host": ["h"], "query": [{"key": "a", "value": null}, {"key": "b", "value": ""},
            {"key": "c", "value": "1&2=3 é%20"}, {"key": "d", "value": "1", "disabled": true}]}),
            "http://h?a&b=&c=1%262=3%20%C3%A9%20",
        ),
        (
            json!({"raw": "h.test/a b?c=d e#f"}),
            "http://h.test/a%20b?c=d%20e",
        ),
        (
            json!({"raw": "http://h/a?b=1&c=2", "query": [{"key": "b", "value": "1"},
            {"key": "c", "value": "2", "disabled": true}]}),
            "http://h/a?b=1",
        ),
        (
            json!({"raw": "http://other/", "host": ["h"], "path": ["a"]}),
            "http://h/a",
        ),
    ]);
}

#[test]
fn urls_may_begin_with_variables() {
    check_urls(&[
        (
            json!({"host": ["{{host}}"], "path": ["a"]}),
            "http://${host}/a",
        ),
        (json!({"host": ["{{base}}"], "path": ["a"]}), "${base}/a"),
        (
            json!({"host": ["{{empty}}"], "path": ["a"]}),
            "http://127.0.0.1:8080/a",
        ),
        (
            json!({"host": ["{{slash}}"], "path": ["a"]}),
            "http://127.0.0.1:8080/a",
        ),
        (
            json!({"host": ["{{none}}"], "path": ["a"]}),
            "${env:NONE:-http://127.0.0.1:8080}/a",
        ),
        (
            json!({"host": ["h"], "path": ["{{blank}}"]}),
            "http://h/a%20b",
        ),
        (
            json!("{{protocol}}://{{server}}:{{port}}/a"),
            "${env:PROTOCOL:-http}://${env:SERVER:-SERVER}:${env:PORT:-80}/a",
        ),
        (json!("http://h/{{$guid}}"), "http://h/{{ new_uuid() }}"),
        (
            json!("http://h/{{$randomFirstName}}?c={{$randomCity}}"),
            "http://h/{{ postman.name | split(' ') | first | urlescape }}?c={{ postman.city | urlescape }}",
        ),
    ]);
}

#[test]
fn proofs_of_who_asks_are_carried_over() {
    let auth =
        |kind: &str, pairs: Value| json!({"url": "http://h/", "auth": {"type": kind, kind: pairs}});
    let variables = json!([{"key": "u", "value": "me"}]);
    for (request, wanted) in [
        (
            auth(
                "basic",
                json!([{"key": "username", "value": "{{u}}"}, {"key": "password", "value": "pw"}]),
            ),
            "Authorization: Basic bWU6cHc=",
        ),
        (
            auth("basic", json!({"username": "me", "password": "pw"})),
            "Authorization: Basic bWU6cHc=",
        ),
        (
            auth("basic", json!({"username": "{{other}}", "password": "pw"})),
            "Basic ${secret:env:BASIC:-none-yet}",
        ),
        (
            auth("bearer", json!({"token": "t"})),
            "Authorization: Bearer t",
        ),
        (
            auth("apikey", json!({"key": "X-K", "value": "v"})),
            "X-K: v",
        ),
        (
            auth("apikey", json!({"key": "k", "value": "v w", "in": "query"})),
            "get: http://h/?k=v%20w",
        ),
        (
            auth("oauth2", json!({"accessToken": "t"})),
            "Authorization: Bearer t",
        ),
        (
            auth(
                "oauth2",
                json!({"accessToken": "t", "headerPrefix": "OAuth"}),
            ),
            "Authorization: OAuth t",
        ),
        (
            auth(
                "oauth2",
                json!({"accessToken": "t", "addTokenTo": "queryParams"}),
            ),
            "access_token=t",
        ),
        (
            auth("oauth2", json!({"clientId": "c"})),
            "Bearer ${secret:env:TOKEN:-none-yet}",
        ),
    ] {
        let (plan, notes) = imported(&request, &variables);
        assert!(
            plan.contains(wanted),
            "{request}: {wanted}\n{plan}{notes:?}"
        );
    }
    for kind in [
        "awsv4", "digest", "edgegrid", "hawk", "ntlm", "oauth1", "jwt", "asap",
    ] {
        let (_, notes) = imported(&auth(kind, json!([])), &variables);
        let note = format!("authentication by `{kind}` is not imported: r");
        assert_eq!(notes, [note]);
    }
}

#[test]
fn generated_values_have_equivalents_or_are_noted() {
    let body = "{{$randomInt}} {{$randomEmail}} {{$randomEmail}} {{$randomFirstName}} {{$randomLastName}} \
                {{$randomBs}} {{$randomNothing}}";
    let request =
        json!({"method": "POST", "url": "http://h/", "body": {"mode": "raw", "raw": body}});
    let (plan, notes) = imported(&request, &json!([]));
    for part in [
        "feeds:\n  postman:\n    generated:\n      email: email\n      name: name\n",
        "{{ random_int(0, 1000) }} {{ postman.email }} {{ postman.email }} {{ postman.name | split(' ') | \
         first }} {{ postman.name | split(' ') | last }} ${env:RANDOMBS:-RANDOMBS} \
         ${env:RANDOMNOTHING:-RANDOMNOTHING}",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
    assert_eq!(
        notes,
        [
            "`{{$randomEmail}}` has one value in a request; Postman generates another at each use: r",
            "`{{$randomBs}}` is not a generated value that drumfire has; the plan reads the environment \
             variable RANDOMBS: r",
            "`{{$randomNothing}}` is not a generated value that drumfire has; the plan reads the \
             environment variable RANDOMNOTHING: r",
        ]
    );
}

#[test]
fn variables_of_a_collection_can_be_read_back() {
    let pair = |key: &str, value: &str| json!({"key": key, "value": value});
    let variables = json!([
        pair("a-b", "1"),
        pair("a_b", "2"),
        pair("", "3"),
        pair("c", "{{d}}"),
        pair("d", "{{e}}{{c}}"),
        pair("f", "x"),
        pair("f", "{{c}}"),
        "text"
    ]);
    let request = json!("http://h/{{a-b}}/{{a_b}}/{{f}}/{{a{{f}}}}");
    let (plan, notes) = imported(&request, &variables);
    for part in [
        "  a_b: 1\n  a_b_: 2\n  f: \"${env:C:-C}\"\n",
        "get: \"http://h/${a_b}/${a_b_}/${f}/%7B%7Ba${f}%7D%7D\"",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
    for note in [
        "one of the variables is not an object: #/variable/7",
        "a variable without a name is left out: ``",
        "a variable occurs twice, and its last value is used: `f`",
        "a variable refers to itself and is left out: `c`, `d`",
        "`{{c}}` is not a variable of the collection; the plan reads the environment variable C: the \
         collection",
        "a variable within the name of a variable is not supported: `{{a{{f}}` of r",
    ] {
        assert!(notes.iter().any(|it| it == note), "{note}: {notes:#?}");
    }
}

/// Each part of a request is read, or a note names it.
#[test]
fn parts_that_are_not_read_are_noted_with_their_request() {
    let post = |body: Value| json!({"method": "POST", "url": "http://h/", "body": body});
    let auth =
        |kind: &str, pairs: Value| json!({"url": "http://h/", "auth": {"type": kind, kind: pairs}});
    let pair = |key: &str, value: &str| json!({"key": key, "value": value});
    for (request, note) in [
        (
            json!({"method": {"a": 1}, "url": "http://h/"}),
            "a method is not a text, so the plan has GET: #/item/0/request/method",
        ),
        (
            post(json!({"raw": "x"})),
            "a body without a `mode` is left out: r",
        ),
        (
            post(json!({"mode": "raw", "raw": {"a": 1}})),
            "a raw body is not a text and is left out: #/item/0/request/body/raw",
        ),
        (
            post(json!({"mode": "graphql", "graphql": {"query": " ", "variables": "{}"}})),
            "a GraphQL body without a `query` is left out: r",
        ),
        (
            post(
                json!({"mode": "formdata", "formdata": [{"key": "a", "value": "b", "type": "c"}]}),
            ),
            "a part of a form has the unknown type `c` and is sent as a text: `a` of r",
        ),
        (
            post(json!({"mode": "urlencoded", "urlencoded": [pair("a", "b"), 5]})),
            "one of the pairs is not an object: #/item/0/request/body/urlencoded/1",
        ),
        (
            json!({"url": "http://h/", "header": ["A: 1"]}),
            "one of the pairs is not an object: #/item/0/request/header/0",
        ),
        (
            json!({"url": "http://h/", "header": "A: 1\n\nB 2\n"}),
            "a header is left out: it has no colon: `B 2` of r",
        ),
        (
            json!({"url": "http://h/", "auth": {"bearer": [pair("token", "t")]}}),
            "an authentication without a `type` is left out: #/item/0/request/auth",
        ),
        (
            auth("bearer", json!([])),
            "a bearer authentication has no token, so the plan sends none: r",
        ),
        (
            auth("bearer", json!([pair("token", "t"), pair("prefix", "p")])),
            "`prefix` of the authentication by `bearer` is not read: r",
        ),
        (
            auth("apikey", json!([pair("value", "v")])),
            "an API key without a name is left out: r",
        ),
        (
            json!({"url": "http://h/", "header": [pair("authorization", "a")],
                "auth": {"type": "bearer", "bearer": [pair("token", "t")]}}),
            "a header is left out, because the authentication replaces it: `Authorization` of r",
        ),
    ] {
        let (_, notes) = imported(&request, &json!([]));
        assert_eq!(notes, [note], "{request}");
    }
}

#[test]
fn parts_of_items_that_are_not_read_are_noted() {
    for (document, notes) in [
        (
            json!({"item": [{"name": "f", "request": "http://h/a", "item": [{"name": "r", "request": "http://h/"}]}]}),
            "a folder has a request, which is left out, as Postman does: f",
        ),
        (
            json!({"item": [{"name": "r", "event": [{"listen": "prerequest", "script": {"src": "x.js"}}], "request": "http://h/"}]}),
            "scripts are not imported: r",
        ),
    ] {
        let text = document.to_string();
        let imported = import(Form::Postman, &Source::alone(&text), &Wishes::default());
        assert_eq!(imported.expect("a collection").notes, [notes]);
    }
}

#[test]
fn files_that_are_not_collections_are_refused() {
    for (text, error) in [
        (
            r#"{"name": "e", "values": [], "_postman_variable_scope": "environment"}"#,
            "this is a Postman file of variables (environment); export the collection instead, and set \
             the variables in the environment of drumfire",
        ),
        (
            r#"{"item": [{"request": {"url": "a", "url": "b"}}]}"#,
            "not a Postman collection: duplicate key `url` at line 1 column 40; remove one, or rename it",
        ),
        (
            r#"{"requests": []}"#,
            "this is a collection of version 1; export it as version 2.1",
        ),
        ("{}", "not a Postman collection: it has no list `item`"),
    ] {
        let refused = import(Form::Postman, &Source::alone(text), &Wishes::default());
        assert_eq!(refused.unwrap_err(), error, "{text}");
    }
}

#[test]
fn names_with_variables_are_filled_or_noted() {
    let variables = json!([{"key": "id", "value": "7"}]);
    let request = json!({"method": "POST", "url": "http://h/",
        "header": [{"key": "X-{{id}}", "value": "1"}, {"key": "Y-{{no}}", "value": "1"}, {"key": "a b", "value": "1"}],
        "body": {"mode": "urlencoded", "urlencoded": [{"key": "{{id}}", "value": "1"}, {"key": "{{no}}", "value": "1"}]}});
    let (plan, notes) = imported(&request, &variables);
    assert!(
        plan.contains("X-7: 1") && !plan.contains("Y-") && !plan.contains("a b"),
        "{plan}"
    );
    assert!(plan.contains("7: 1\n"), "{plan}");
    for note in [
        "a header is left out, because its name has a variable without a value: `Y-{{no}}` of r",
        "a header is left out: a header can't have this name: `a b` of r",
        "the name of a field has a variable without a value and stays as it is: `{{no}}` of r",
    ] {
        assert!(notes.iter().any(|it| it == note), "{note}: {notes:?}");
    }
}

#[test]
fn no_text_of_a_collection_refers_to_a_file_or_a_variable() {
    let pair = |key: &str, value: &str| json!({"key": key, "value": value});
    let request = json!({
        "method": "POST",
        "url": {"protocol": "http", "host": ["h", "test"], "path": ["${file:a}", ":p", "{{v}}"],
            "query": [pair("${file:b}", "${file:c}")], "variable": [pair("p", "${file:d}")]},
        "header": [pair("X", "${file:e} {% x %} {{v}}")],
        "auth": {"type": "apikey", "apikey": [pair("key", "Y"), pair("value", "${file:f}")]},
        "body": {"mode": "formdata", "formdata": [pair("${file:g}", "${file:h}{{v}}"),
            {"key": "t", "value": "{{v}}", "contentType": "${file:i}"}]}
    });
    let scheme = json!({"url": "{{s}}://{{s}}/${file:j}", "method": "{{s}}",
        "body": {"mode": "raw", "raw": "${file:k}"}});
    let document = json!({
        "variable": [pair("v", "${file:l}"), pair("s", "${file:m}")],
        "item": [{"name": "${file:n}", "request": request}, {"name": "s", "request": scheme}]
    });
    let text = document.to_string();
    let imported = import(Form::Postman, &Source::alone(&text), &Wishes::default());
    let plan = form::print(&imported.expect("a collection").document);
    referring::check_none(&plan);
}

#[test]
fn files_that_are_sent_are_noted() {
    let request = |body: Value| json!({"method": "POST", "url": "http://h/", "body": body});
    for body in [
        json!({"mode": "file", "file": {"src": "/a/b"}}),
        json!({"mode": "formdata", "formdata": [{"key": "f", "type": "file", "src": ["/a/b"]}]}),
    ] {
        let (plan, notes) = imported(&request(body), &json!([]));
        assert!(plan.contains(": /a/b\n"), "{plan}");
        assert_eq!(
            notes,
            ["the plan sends files that the collection names: `/a/b`"]
        );
    }
}
