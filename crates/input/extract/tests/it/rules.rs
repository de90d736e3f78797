//! All checks and extractors of one response.

use crate::reply::Reply;
use drumfire_extract::{Check, Expectation, Extractor, MessageRules, Rules, Take};
use drumfire_plan::{Inspection, MismatchKind, Taken, ValueForm, VariableId};
use drumfire_units::ByteSize;

/// Rules that read at most 1,000 bytes of a body.
pub(crate) fn rules(expected: &[(&str, &str, MismatchKind)], taken: &[&str]) -> Rules {
    let expectations = expected.iter().map(|(subject, check, kind)| Expectation {
        subject: Extractor::parse(subject).expect(subject),
        check: Check::parse(check).expect(check),
        kind: *kind,
    });
    let takes = taken.iter().enumerate().map(|(index, text)| Take {
        name: format!("v{index}"),
        variable: VariableId(index.try_into().expect("a few")),
        extractor: Extractor::parse(text).expect(text),
    });
    Rules::new(expectations.collect(), takes.collect(), ByteSize(1000))
}

fn texts(taken: &Taken) -> Vec<String> {
    taken.iter().map(|(.., text)| text.to_owned()).collect()
}

#[test]
fn values_are_taken_behind_the_checks() {
    let rules = rules(
        &[
            ("status", "200", MismatchKind::Header),
            ("json $.a", "exists", MismatchKind::Body),
        ],
        &["json $.a", "header X", "cookie c"],
    );
    let reply = Reply::new(r#"{"a":"1"}"#)
        .with("x", "2")
        .with("set-cookie", "c=3");
    let mut taken = Taken::default();
    assert_eq!(rules.inspect(&reply.response(), &mut taken), Ok(()));
    assert_eq!(texts(&taken), ["1", "2", "3"]);
}

#[test]
fn values_have_types() {
    let takes = [
        ("json $.text", "1", ValueForm::Text),
        ("json $.number", "1.50", ValueForm::Json),
        ("json $.truth", "true", ValueForm::Json),
        ("json $.none", "null", ValueForm::Json),
        ("json $.list", "[1]", ValueForm::Json),
        ("json#last $.list[*]", "1", ValueForm::Json),
        ("json#count $.list[*]", "1", ValueForm::Json),
        ("json#all $.text", r#"["1"]"#, ValueForm::Json),
        ("json#maybe $.missing", "", ValueForm::Text),
        ("json#maybe $.number", "1.50", ValueForm::Json),
        ("regex /number.:(\\d)/", "1", ValueForm::Text),
        ("regex#count /1/", "3", ValueForm::Json),
        ("header X", "2", ValueForm::Text),
        ("status", "200", ValueForm::Json),
        ("size", "62", ValueForm::Json),
        ("body 2", "{\"", ValueForm::Text),
    ];
    let body = r#"{"text":"1","number":1.50,"truth":true,"none":null,"list":[1]}"#;
    let reply = Reply::new(body).with("x", "2");
    let rules = rules(&[], &takes.map(|(take, ..)| take));
    let mut taken = Taken::default();
    assert_eq!(rules.inspect(&reply.response(), &mut taken), Ok(()));
    for ((_, form, text), (take, expected, expected_form)) in taken.iter().zip(takes) {
        assert_eq!((text, form), (expected, expected_form), "{take}");
    }
}

#[test]
fn the_first_mismatch_is_given() {
    let rules = rules(
        &[
            ("header X", "equals 2", MismatchKind::Header),
            ("time", "<1ms", MismatchKind::Time),
        ],
        &["json $.a", "json $.b", "json $.c"],
    );
    let mut taken = Taken::default();
    let other = Reply::new("{}").with("x", "1");
    let given = rules.inspect(&other.response(), &mut taken).expect_err("X");
    assert_eq!(given.kind, MismatchKind::Header);
    let slow = Reply::new("{}").with("x", "2");
    let given = rules
        .inspect(&slow.response(), &mut taken)
        .expect_err("time");
    assert_eq!(given.kind, MismatchKind::Time);
    assert_eq!(texts(&taken), [""; 0]);
    let mut quick = Reply::new(r#"{"a":1,"c":3}"#).with("x", "2");
    quick.time.0 = 5;
    let given = rules.inspect(&quick.response(), &mut taken).expect_err("b");
    assert_eq!(given.kind, MismatchKind::Missing);
    let reason = "json $.b: there is no 'b' in `$`, which has `a`, `c`";
    assert_eq!(given.reason, reason);
    assert_eq!(texts(&taken), ["1"], "what was taken before stays");
}

#[test]
fn only_what_is_needed_is_read() {
    let none = rules(&[("status", "200", MismatchKind::Header)], &["time"]);
    assert_eq!(none.fields(), [""; 0]);
    assert_eq!(none.body_max(), None);
    let some = rules(
        &[
            ("header X", "exists", MismatchKind::Header),
            ("size", ">1", MismatchKind::Body),
        ],
        &["header x", "cookie a", "cookie b"],
    );
    assert_eq!(some.fields(), ["set-cookie", "x"]);
    assert_eq!(some.body_max(), Some(ByteSize(1000)));
}

#[test]
fn rules_for_messages_check_each_and_take_the_last_value() {
    let body = MismatchKind::Body;
    let each = MessageRules {
        expectations: vec![Expectation {
            subject: Extractor::parse("body").expect("a subject"),
            check: Check::parse("not contains error").expect("a check"),
            kind: body,
        }],
        takes: vec![Take {
            name: "id".to_owned(),
            variable: VariableId(7),
            extractor: Extractor::parse("json $.id").expect("an extractor"),
        }],
    };
    assert!(!rules(&[], &[]).inspects_messages());
    let rules = rules(&[("status", "200", MismatchKind::Header)], &[]).with_messages(each);
    assert!(rules.inspects_messages() && rules.body_max().is_none());
    let response = Reply::new("");
    let mut taken = Taken::default();
    let missing = rules.inspect(&response.response(), &mut taken);
    let missing = missing.expect_err("no message had the value");
    assert_eq!(missing.kind, MismatchKind::Missing);
    assert_eq!(missing.reason, "each json $.id: no message has it");
    for message in [r#"{"id":1}"#, r#"{"id":2}"#, "[DONE]", r#"{"x":3}"#] {
        let inspected = rules.inspect_message(message.as_bytes(), &mut taken);
        assert_eq!(inspected, Ok(()), "{message}");
    }
    assert_eq!(rules.inspect(&response.response(), &mut taken), Ok(()));
    assert_eq!(texts(&taken), ["2"]);
    let wrong = rules.inspect_message(b"an error", &mut taken);
    let wrong = wrong.expect_err("the check fails");
    assert_eq!(wrong.kind, body);
    assert!(
        wrong.reason.starts_with("each body is "),
        "{}",
        wrong.reason
    );
    let findings = rules.message_findings(br#"{"id":"error"}"#);
    let results: Vec<_> = findings
        .iter()
        .map(|finding| finding.result.is_ok())
        .collect();
    assert_eq!(results, [false, true]);
    assert_eq!(findings[1].rule, "each json $.id");
}
