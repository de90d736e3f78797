//! Every key of the specification.

use super::keys;
use crate::keyed::{self, Keys, row, row_in};
use crate::shape::Shape;
use crate::{Form, Source, Wishes, import};
use drumfire_document::form;
use serde_json::{Value, json};

fn archive() -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": "c", "version": "1"}, "entries": [{
        "startedDateTime": "2024-01-01T00:00:00Z", "time": 1,
        "request": {
            "method": "POST", "url": "http://h.test/a",
            "headers": [{"name": "X", "value": "1"}],
            "cookies": [{"name": "c", "value": "1"}],
            "queryString": [{"name": "q", "value": "1"}],
            "postData": {"mimeType": "multipart/form-data", "params": [{"name": "p", "value": "1"}]}
        }
    }]}})
}

#[track_caller]
fn check(shape: &Shape, pointer: &str, rows: Vec<(&str, Value, Option<Value>)>) {
    keyed::check(
        Form::Har,
        &archive(),
        &Keys {
            shape,
            pointer,
            rows,
        },
    );
}

#[test]
fn keys_of_archives_and_entries() {
    check(
        &keys::ARCHIVE,
        "",
        vec![
            row("log", archive()["log"].clone()),
            row("unknown", json!(1)),
        ],
    );
    check(
        &keys::LOG,
        "/log",
        vec![
            row("version", json!("1.3")),
            row("creator", json!({"name": "n"})),
            row("browser", json!({"name": "n"})),
            row("pages", json!([{"id": "p"}])),
            row("entries", archive()["log"]["entries"].clone()),
            row("comment", json!("c")),
            row("unknown", json!(1)),
            row("_own", json!(1)),
        ],
    );
    // The times of entries define pauses, which this test does not request.
    let timeless = Shape {
        of: keys::ENTRY.of,
        used: &[("request", crate::shape::ValueShape::Value)],
        idle: &[
            "pageref",
            "response",
            "cache",
            "timings",
            "serverIPAddress",
            "connection",
            "comment",
            "startedDateTime",
            "time",
        ],
    };
    check(
        &timeless,
        "/log/entries/0",
        vec![
            row("pageref", json!("p")),
            row("startedDateTime", json!("2024-01-01T00:00:05Z")),
            row("time", json!(5)),
            row(
                "request",
                json!({"method": "GET", "url": "http://other.test/"}),
            ),
            row("response", json!({"status": 200})),
            row("cache", json!({})),
            row("timings", json!({"wait": 1})),
            row("serverIPAddress", json!("10.0.0.1")),
            row("connection", json!("1")),
            row("comment", json!("c")),
            row("unknown", json!(1)),
            row("_own", json!(1)),
        ],
    );
}

#[test]
fn keys_of_requests() {
    let request = "/log/entries/0/request";
    check(
        &keys::REQUEST,
        request,
        vec![
            row("method", json!("PUT")),
            row("url", json!("http://h.test/b")),
            row("httpVersion", json!("HTTP/2")),
            row("cookies", json!([{"name": "d", "value": "1"}])),
            row("headers", json!([{"name": "Y", "value": "1"}])),
            row("queryString", json!([{"name": "r", "value": "1"}])),
            row("postData", json!({"mimeType": "text/plain", "text": "t"})),
            row("headersSize", json!(1)),
            row("bodySize", json!(1)),
            row("comment", json!("c")),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn keys_of_cookies_pairs_and_bodies() {
    let request = "/log/entries/0/request";
    let cookie = format!("{request}/cookies/0");
    check(
        &keys::COOKIE,
        &cookie,
        vec![
            row("name", json!("d")),
            row("value", json!("2")),
            row("path", json!("/")),
            row("domain", json!("h")),
            row("expires", json!("2030-01-01T00:00:00Z")),
            row("httpOnly", json!(true)),
            row("secure", json!(true)),
            row("sameSite", json!("Lax")),
            row("comment", json!("c")),
            row("unknown", json!(1)),
        ],
    );
    for list in ["headers", "queryString"] {
        check(
            &keys::PAIR,
            &format!("{request}/{list}/0"),
            vec![
                row("name", json!("Z")),
                row("value", json!("2")),
                row("comment", json!("c")),
                row("unknown", json!(1)),
            ],
        );
    }
    let body = format!("{request}/postData");
    check(
        &keys::BODY,
        &body,
        vec![
            row("mimeType", json!("application/x-www-form-urlencoded")),
            row("params", json!([{"name": "other", "value": "1"}])),
            row("text", json!("t")),
            row_in(
                "encoding",
                json!("base64"),
                json!({"mimeType": "a/b", "text": "dGV4dA=="}),
            ),
            row("comment", json!("c")),
            row("unknown", json!(1)),
        ],
    );
    check(
        &keys::PARAM,
        &format!("{body}/params/0"),
        vec![
            row("name", json!("other")),
            row("value", json!("2")),
            row("fileName", json!("f")),
            row("contentType", json!("a/b")),
            row("comment", json!("c")),
            row("unknown", json!(1)),
        ],
    );
}

#[test]
fn entries_that_are_not_read_are_named() {
    let archive = json!({"log": {"entries": [
        {"request": {"method": "GET", "url": "https://h.test/a"}},
        {"request": {"url": "https://h.test/b"}},
        {},
        {"request": {"method": "GET", "url": "HTTPS://H.test:443/c"}},
        {"request": {"method": "GET", "url": "https://h.test:8443/d"}},
    ]}});
    let text = archive.to_string();
    let imported = import(Form::Har, &Source::alone(&text), &Wishes::default()).unwrap();
    assert_eq!(imported.document.pools[0].requests.len(), 2);
    assert_eq!(
        imported.notes,
        [
            "an entry is left out, because it can't be read: missing field `method`: #/log/entries/1",
            "an entry is left out, because it can't be read: it has no object `request`: #/log/entries/2",
            "1 request to h.test:8443 is left out, because the first one goes to h.test; use --all to keep \
             them",
        ]
    );
    for text in ["[]", "{}", r#"{"log": {"entries": {}}}"#] {
        let error = import(Form::Har, &Source::alone(text), &Wishes::default()).unwrap_err();
        assert_eq!(
            error, "not a HAR file: it has no list `log.entries`",
            "{text}"
        );
    }
}

/// An archive of one request with these members.
fn of_one(members: &Value) -> Value {
    let mut request = json!({"method": "POST", "url": "http://h.test/a", "headers": []});
    for (key, value) in members.as_object().expect("members") {
        request[key] = value.clone();
    }
    json!({"log": {"entries": [{"request": request}]}})
}

#[test]
fn parts_that_differ_are_noted_with_their_request() {
    let pair = |name: &str, value: &str| json!({"name": name, "value": value});
    let length = |length: &str| json!([pair("Content-Length", length)]);
    let text = |text: &str| json!({"mimeType": "text/plain", "text": text});
    for (members, notes) in [
        (
            json!({"queryString": [pair("a", "1")], "url": "http://h.test/a?a=2"}),
            &["`queryString` differs from the query of the URL, which the plan sends: POST /a"][..],
        ),
        (
            json!({"headers": length("532")}),
            &[
                "the field `Content-Length: 532` is left out, because the request has no body: POST /a",
            ],
        ),
        (
            json!({"headers": length("5"), "postData": text("\u{e9}x")}),
            &["the field `Content-Length: 5` is left out, because the body has 3 bytes: POST /a"],
        ),
        (
            json!({"headers": length("3"), "postData": text("\u{e9}x")}),
            &[],
        ),
        (
            json!({"headers": [pair(":method", "POST"), pair(":authority", "h.test")]}),
            &[],
        ),
        (
            json!({"postData": {"mimeType": "multipart/form-data", "params": [
                {"name": "f", "fileName": "x", "contentType": "a/b"}]}}),
            &["the files of a body are not imported, because an archive lacks their content: `x`"],
        ),
        (
            json!({"postData": {"mimeType": "multipart/form-data", "params": [
                {"name": "f", "fileName": "x", "contentType": "a/b", "value": "content"}]}}),
            &[],
        ),
    ] {
        let text = of_one(&members).to_string();
        let imported = import(Form::Har, &Source::alone(&text), &Wishes::default()).unwrap();
        assert_eq!(imported.notes, notes, "{members}");
        let plan = form::print(&imported.document);
        assert!(!plan.contains("multipart/"), "{plan}");
        assert_eq!(
            plan.contains("filename: x"),
            members.to_string().contains("content\"")
        );
    }
}

#[test]
fn requests_that_a_plan_lacks_are_named() {
    let upgrade = json!([{"name": "Upgrade", "value": "WebSocket"}]);
    let archive = json!({"log": {"entries": [
        {"request": {"method": "GET", "url": "http://h.test/a"}},
        {"request": {"method": "GET", "url": "http://h.test/b", "headers": upgrade}},
        {"request": {"method": "CONNECT", "url": "http://h.test:443"}},
        {"request": {"method": "GET", "url": "wss://h.test/c"}},
    ]}});
    let text = archive.to_string();
    let imported = import(Form::Har, &Source::alone(&text), &Wishes::default()).unwrap();
    assert_eq!(imported.document.pools[0].requests.len(), 1);
    assert_eq!(
        imported.notes,
        [
            "requests that open a WebSocket are left out: `http://h.test/b`",
            "CONNECT requests are left out; to use a proxy, set `proxy` in the plan: `http://h.test:443`",
            "requests that are not HTTP are left out: `wss://h.test/c`",
        ]
    );
    let text = r#"{"log": {"entries": [], "entries": []}}"#;
    let error = import(Form::Har, &Source::alone(text), &Wishes::default()).unwrap_err();
    assert_eq!(
        error,
        "not a HAR file: duplicate key `entries` at line 1 column 33; remove one, or rename it"
    );
}

#[test]
fn entries_without_a_time_have_no_pause() {
    let wishes = Wishes {
        keeps_pauses: true,
        ..Wishes::default()
    };
    let request = json!({"method": "GET", "url": "http://h.test/a"});
    let archive = json!({"log": {"entries": [
        {"request": request, "startedDateTime": "2024-01-01T00:00:00Z"},
        {"request": request, "startedDateTime": "soon"},
    ]}});
    let text = archive.to_string();
    let imported = import(Form::Har, &Source::alone(&text), &wishes).unwrap();
    assert_eq!(
        imported.notes,
        ["an entry has no valid `startedDateTime`, so no pause is before it: GET /a"]
    );
}
