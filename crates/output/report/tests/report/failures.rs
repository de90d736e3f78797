//! A kind of failure is explained alike in every format: the response, the expectation, the place, an
//! example, and a remedy.

use crate::fixture;
use drumfire_measure::{Excerpt, FailedBody, Outcome, Summary};
use drumfire_report::html::Origin;
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{Naming, github, html, json, junit, markdown, text};
use drumfire_units::Nanos;
use serde_json::Value;

/// A run of three steps, of which one in a hundred fails with 404 and a body.
fn missing() -> Summary {
    let mut run = fixture::steps();
    fixture::asked_mut(&mut run).expect = "200-299, 301".parse().ok();
    run.failed_bodies.add(FailedBody {
        outcome: Outcome::HttpStatus,
        status: 404,
        pool: 0,
        step: 0,
        end: Nanos(7),
        body: Excerpt {
            bytes: br#"{"error":"no such basket"}"#.to_vec(),
            length: 26,
            text: None,
        },
    });
    run
}

/// A run whose server is not there.
fn refused() -> Summary {
    let mut run = fixture::failed_only();
    for _ in 0..400 {
        let text = "127.0.0.1:80 refused the connection";
        run.total
            .record_error_detail(Outcome::ConnectRefused, None, text);
    }
    run
}

/// The documents of a run for readers, by name, without the backslashes of Markdown.
fn documents(run: &Summary) -> Vec<(&'static str, String)> {
    let origin = Origin {
        naming: Naming::Flags,
        plan: "",
        files: &[],
        teardown: None,
        against: None,
    };
    let style = Style::new(160, Color::Off, Unicode::On);
    let bytes = [
        ("text", text::summary(run, &style).into_bytes()),
        ("page", html::page(run, &origin)),
        ("Markdown", markdown::summary(run, Naming::Flags)),
        ("JUnit", junit::summary(run, Naming::Flags)),
        ("GitHub", github::annotations(run, Naming::Flags).into()),
        ("JSON", json::summary(run)),
    ];
    let read = |bytes| String::from_utf8(bytes).unwrap().replace('\\', "");
    bytes
        .into_iter()
        .map(|(name, it)| (name, read(it)))
        .collect()
}

#[test]
fn a_status_is_explained_alike() {
    for (name, document) in documents(&missing()) {
        for fact in [
            "404 Not Found",
            "200-299, 301",
            "in login",
            "no such basket",
        ] {
            // JSON has the step in a field.
            let is_there = document.contains(fact) || name == "JSON" && fact == "in login";
            // Below one percent, the target is ok, and is annotated by nothing.
            assert!(is_there || name == "GitHub", "{name} lacks {fact}");
        }
    }
}

#[test]
fn a_refused_connection_is_explained_alike() {
    for (name, document) in documents(&refused()) {
        for fact in [
            "127.0.0.1:80 refused the connection",
            "check that the server is running and listens on this port",
            "connect:refused",
            "80.0",
        ] {
            let is_there = document.contains(fact) || name == "JSON" && fact == "80.0";
            assert!(is_there, "{name} lacks {fact}: {document}");
        }
    }
}

#[test]
fn json_has_the_record() {
    let document: Value = serde_json::from_slice(&json::summary(&missing())).unwrap();
    let [failure] = document["failures"].as_array().unwrap().as_slice() else {
        panic!("one kind");
    };
    assert_eq!(failure["kind"], "http_status");
    assert_eq!(failure["count"], 40);
    assert_eq!(failure["share"], 0.01);
    assert_eq!(failure["came"][0]["text"], "404 Not Found");
    assert_eq!(failure["expected"], "200-299, 301");
    assert_eq!(failure["steps"].as_array().unwrap().len(), 3);
    assert_eq!(failure["first_body"], "{ \"error\": \"no such basket\" }");
    assert!(failure.get("remedy").is_none());
    let document: Value = serde_json::from_slice(&json::summary(&refused())).unwrap();
    let kinds: Vec<_> = document["failures"].as_array().unwrap().iter().collect();
    assert_eq!(kinds.len(), 2);
    assert_eq!(kinds[0]["blame"], "network");
    assert!(kinds[0]["remedy"].as_str().unwrap().contains("server"));
}

/// The line for scripts has the cause: the only kind, or the most frequent one.
#[test]
fn a_line_has_the_cause() {
    let style = Style::new(80, Color::Off, Unicode::On);
    for (run, cause) in [
        (missing(), " · 40 failed: http_status 404 · "),
        (
            refused(),
            " · 500 failed, most connect:refused (127.0.0.1:80 refused the connection) · ",
        ),
        (fixture::empty(), " · 0 failed · "),
    ] {
        let line = text::one_line(&run, &style);
        assert!(line.contains(cause), "{line}");
    }
}
