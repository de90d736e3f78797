//! Pandora's own corpora (`components/providers/http/decoders/*_test.go`) as data, and what its
//! decoders do at their edges.

use super::*;

/// A shot as a line: method, URI, host, fields, body, tag.
fn shown(shot: &Shot) -> String {
    let fields: Vec<String> = shot
        .headers
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let body = shot.body.as_deref().map(String::from_utf8_lossy);
    format!(
        "{} {} {} [{}] {} {}",
        shot.method,
        shot.uri,
        shot.host.as_deref().unwrap_or("-"),
        fields.join(" "),
        body.unwrap_or_else(|| "-".into()),
        shot.tag
    )
}

fn check(format: Format, text: &str, wanted: &[&str]) {
    let shots = shots(format, text.as_bytes()).unwrap_or_else(|why| panic!("{text}: {why}"));
    let seen: Vec<String> = shots.iter().map(shown).collect();
    assert_eq!(seen, wanted, "{text}");
}

fn check_mistake(format: Format, text: &str, wanted: &str) {
    assert_eq!(
        shots(format, text.as_bytes()),
        Err(wanted.to_owned()),
        "{text}"
    );
}

#[test]
fn uris() {
    check(
        Format::Uri,
        " /0\n[A:b]\n/1\n[Host : example.com]\n[ C : d ]\n/2\n[A:]\n[Host : other.net]\n\n/3\n/4 some tag",
        &[
            "GET /0 - [] - ",
            "GET /1 - [A=b] - ",
            "GET /2 - [A=b Host=example.com C=d] - ",
            "GET /3 - [C=d A= Host=other.net] - ",
            "GET /4 - [C=d A= Host=other.net] - some tag",
        ],
    );
    check(Format::Uri, "/a  two\r\n", &["GET /a - [] - two"]);
    check(Format::Uri, "", &[]);
    check_mistake(
        Format::Uri,
        "/\n[A]\n",
        "line 2: `[A]`: missing colon; header line should be like '[key: value]'",
    );
}

#[test]
fn posts() {
    check(
        Format::UriPost,
        "5 /0\nclass\n[A:b]\n5 /1\nclass\n[Host : example.com]\n[ C : d ]\n10 /2\nclassclass\n[A:]\n[Host : other.net]\n\n15 /3 wantTag\nclassclassclass\n",
        &[
            "POST /0 - [] class ",
            "POST /1 - [A=b] class ",
            "POST /2 - [A=b Host=example.com C=d] classclass ",
            "POST /3 - [C=d A= Host=other.net] classclassclass wantTag",
        ],
    );
    // Pandora drops a last line without a line's end.
    check(
        Format::UriPost,
        "3 /a t\na\nb\n0 /b",
        &["POST /a - [] a\nb t", "POST /b - []  "],
    );
    check_mistake(
        Format::UriPost,
        "x /a\n",
        "line 1: `x /a` is not SIZE URI TAG",
    );
    check_mistake(Format::UriPost, "5\n", "line 1: `5` is not SIZE URI TAG");
    check_mistake(
        Format::UriPost,
        "5 /a\nabc",
        "line 1: 5 bytes should follow, and 3 are left",
    );
}

#[test]
fn whole_requests() {
    let get = "GET /?sleep=50 HTTP/1.0\r\nHost: ya.net\r\n\r\n";
    let post = "POST /u HTTP/1.1\nHost: x\nA: b: c\nContent-Length: 3\n\nbody";
    let chunked =
        "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n";
    let text = format!(
        "{} good50\n{get}\n\n{}\n{post}\n{} two words\n{chunked}",
        get.len(),
        post.len(),
        chunked.len()
    );
    check(
        Format::Raw,
        &text,
        &[
            "GET /?sleep=50 ya.net [Connection=close] - good50",
            "POST /u x [A=b: c] bod ",
            "PUT /c - [] abcde two words",
        ],
    );
    for (text, wanted) in [
        (
            "x\n",
            "line 1: invalid payload size line `x`; write SIZE TAG",
        ),
        (
            "0\n",
            "line 1: malformed HTTP request: its head does not end with an empty line",
        ),
        (
            "9\nGET / HTTP",
            "line 1: malformed HTTP request: its head does not end with an empty line",
        ),
        ("7\nGET /\n\n", "line 1: malformed HTTP request \"GET /\""),
        (
            "22\nGET / HTTP/1.1\nA b c\n\n",
            "line 1: malformed header line \"A b c\"",
        ),
        (
            "37\nGET / HTTP/1.1\nContent-Length: 5\n\nabc",
            "line 1: Content-Length is 5, and the body has 3 bytes",
        ),
    ] {
        check_mistake(Format::Raw, text, wanted);
    }
}

#[test]
fn json_objects() {
    let object = r#"{"host": "ya.net", "method": "PUT", "uri": "/", "tag": "t", "headers": {"User-agent": "Tank", "Host": "no"}, "body": "data", "more": 1}"#;
    let shot = "PUT / ya.net [User-agent=Tank] data t";
    check(
        Format::JsonLine,
        &format!("{object}{object}"),
        &[shot, shot],
    );
    check(
        Format::JsonLine,
        &format!("\n\n[{object},\n{object}]\n"),
        &[shot, shot],
    );
    check(Format::JsonLine, r#"{"uri": "/a"}"#, &["GET /a - [] - "]);
    check(
        Format::JsonLine,
        r#"{"uri": "/a", "headers": {"host": "h"}}"#,
        &["GET /a h [] - "],
    );
    for (text, wanted) in [
        ("3", "object 1: it is no object"),
        (r#"{"uri": 3}"#, "object 1: `uri` is no text"),
        (
            r#"[{"uri": "/"}, {"headers": {"a": 1}}]"#,
            "object 2: the header `a` is no text",
        ),
        (r#"{"headers": 1}"#, "object 1: `headers` is no object"),
    ] {
        check_mistake(Format::JsonLine, text, wanted);
    }
    assert!(shots(Format::JsonLine, b"{\"uri\"").is_err());
}

#[test]
fn calls_of_grpc() {
    let text = "{\"tag\":\"t\",\"call\":\"a.B.C\",\"metadata\":{\"K\":\"v\"},\"payload\":{\"x\":1}}\n{\"call\":\"a.B/C\"}\n";
    let seen = calls(text.as_bytes()).unwrap();
    let shot = |call: &str, metadata: &[(&str, &str)], payload: &str, tag: &str| CallShot {
        call: call.to_owned(),
        metadata: metadata
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        payload: payload.to_owned(),
        tag: tag.to_owned(),
    };
    let wanted = [
        shot("a.B.C", &[("k", "v")], "{\"x\":1}", "t"),
        shot("a.B/C", &[], "{}", ""),
    ];
    assert_eq!(seen, wanted);
    for text in [
        "{}",
        "{\"call\":\"a\",\"payload\":3}",
        "{\"call\":\"a\",\"metadata\":{\"k\":1}}",
        "[]",
    ] {
        assert!(calls(text.as_bytes()).is_err(), "{text}");
    }
}
