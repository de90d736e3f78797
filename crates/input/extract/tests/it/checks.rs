//! The rules for values.

use crate::reply::Reply;
use drumfire_extract::{Check, Expectation, Extractor};
use drumfire_plan::MismatchKind;

#[test]
fn checks_hold_or_not() {
    for (check, holding, failing) in [
        ("contains ok", &["ok", "all ok."][..], &["OK", "o", ""][..]),
        ("contains  a b", &["xa by"], &["ab"]),
        ("equals ok", &["ok"], &["ok ", "", "OK"]),
        ("equals", &[""], &["x"]),
        ("equals a  b", &["a  b"], &["a b"]),
        (r"matches /^\d+$/", &["12"], &["1x", ""]),
        ("matches /OK/i", &["it's ok"], &["no"]),
        ("not contains error", &["fine", ""], &["an error"]),
        ("not equals a", &["b"], &["a"]),
        ("not matches /a|b/", &["c"], &["xb"]),
        ("<10", &["9", "-1", "9.99", "1e0"], &["10", "11", "x", ""]),
        ("<=10", &["10", "10.0"], &["10.1"]),
        ("> 1.5", &["2", "1.6"], &["1.5", "1"]),
        (">=1", &["1", "1e3"], &["0.999"]),
        ("=200", &["200", "200.0", " 200 "], &["201", "2000"]),
        ("==200", &["200"], &["201"]),
        ("200", &["200"], &["404"]),
        ("!=0", &["1", "-1"], &["0", "0.0", "-0", "word"]),
        ("<10kB", &["9999"], &["10000"]),
        ("<1KiB", &["1023"], &["1024"]),
        ("<500ms", &["0.4999", "0"], &["0.5", "1"]),
        ("<=1m30s", &["90"], &["90.1"]),
        (
            "=9007199254740993",
            &["9007199254740993"],
            &["9007199254740992"],
        ),
        ("exists", &["", "x"], &[]),
        ("missing", &[], &["", "x"]),
    ] {
        let parsed = Check::parse(check).expect(check);
        assert_eq!(parsed.to_string(), check);
        for value in holding {
            assert!(parsed.holds(value.as_bytes()), "{check}: {value}");
        }
        for value in failing {
            assert!(!parsed.holds(value.as_bytes()), "{check}: {value}");
        }
    }
    let binary = Check::parse("contains PNG").expect("a check");
    assert!(binary.holds(b"\x89PNG\r\n"), "bytes need not be text");
}

#[test]
fn a_mismatch_says_what_came_and_what_was_expected() {
    let reply = Reply::new(r#"{"state":"pending","n":5}"#).with("content-type", "text/html");
    let check = |subject: &str, check: &str, expected: Option<&str>| {
        let expectation = Expectation {
            subject: Extractor::parse(subject).expect(subject),
            check: Check::parse(check).expect(check),
            kind: MismatchKind::Body,
        };
        let mut scratch = String::from("left over");
        let given = expectation.judge(&reply.response(), &mut scratch);
        let given = given.map_err(|mismatch| mismatch.reason).err();
        assert_eq!(given.as_deref(), expected, "{subject} {check}");
    };
    check("json $.state", "equals pending", None);
    let paid = "json $.state is `pending`, expected `equals paid`";
    check("json $.state", "equals paid", Some(paid));
    check("json $.n", ">=5", None);
    check("json $.n", "exists", None);
    check("json $.other", "missing", None);
    check(
        "json $.n",
        "missing",
        Some("json $.n is `5`, expected `missing`"),
    );
    let absent = "json $.id: there is no 'id' in `$`, which has `state`, `n`; expected `exists`";
    check("json $.id", "exists", Some(absent));
    check("header Content-Type", "contains html", None);
    let json = "header Content-Type is `text/html`, expected `contains json`";
    check("header Content-Type", "contains json", Some(json));
    check("header X", "missing", None);
    check("status", "200", None);
    check("status", "404", Some("status is `200`, expected `404`"));
    check("time", "<500ms", None);
    check("time", "<10ms", Some("time is 12.5 ms, expected `<10ms`"));
    check("size", "<10kB", None);
    check("body", "contains pending", None);
    check(
        "body 5",
        "contains pending",
        Some("body 5 is `{\"sta`, expected `contains pending`"),
    );
    check("cookie session", "missing", None);

    let page = Reply::new("<html>");
    let expectation = Expectation {
        subject: Extractor::parse("json $.error").expect("a path"),
        check: Check::parse("missing").expect("a check"),
        kind: MismatchKind::Body,
    };
    let given = expectation.judge(&page.response(), &mut String::new());
    let reason = given.expect_err("a page can't be looked into").reason;
    assert!(reason.contains("the body is not JSON"), "{reason}");
}

/// The values that a login returns must not be in a report.
#[test]
fn a_mismatch_shows_no_secret() {
    let login = Reply::new(r#"{"token":"CANARY"}"#).with("set-cookie", "session=CANARY; Path=/");
    for (subject, wanted) in [
        ("json $.token", "equals CANARY2"),
        ("cookie session", "equals CANARY2"),
        ("body", "equals CANARY2"),
        ("regex /^(.*)$/", "contains x"),
        ("json $.id", "exists"),
        ("regex /id=/", "exists"),
    ] {
        let expectation = Expectation {
            subject: Extractor::parse(subject).expect(subject),
            check: Check::parse(wanted).expect(wanted),
            kind: MismatchKind::Body,
        };
        let given = expectation.judge(&login.response(), &mut String::new());
        let reason = given.expect_err(subject).reason;
        let shown = reason.replace(&format!("`{wanted}`"), "");
        assert!(!shown.contains("CANARY"), "{subject}: {reason}");
    }
}
