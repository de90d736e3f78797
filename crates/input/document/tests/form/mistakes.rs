//! Mistakes in the form of a plan file.

use crate::expected::begin_with;
use drumfire_document::form::read;

/// Checks that a text has exactly these mistakes. `expected` has the beginning of each.
fn check(text: &str, expected: &[&str]) {
    begin_with(&read(text, "p").expect_err(text), expected, text);
}

/// Keys of other tools' plans, each with its equivalent in drumfire.
#[test]
fn keys_of_other_tools_have_their_remedy() {
    check(
        "drumfire: 1\npools: { a: { insecure: true, loop: 3, requests: [ { get: /, q: 1 } ] } }\n",
        &[
            "p:2:15: a pool has no key `insecure`; to skip certificate verification, write `tls: { \
             insecure: true }`",
            "p:2:31: a pool has no key `loop`; to repeat steps, write `repeat: 3`",
            "p:2:62: a request has no key `q`; write the query after the path, as in `get: \
             /search?q=tea`",
        ],
    );
}

/// A tag that no one reads would leave its text as the value.
#[test]
fn tags_of_applications_are_refused() {
    for (text, place, tag) in [
        ("drumfire: 1\nname: !env NAME\n", "p:2:12: name", "!env"),
        (
            "drumfire: 1\nstop: !load\n  after: 1s\n",
            "p:3:3: stop",
            "!load",
        ),
        (
            "drumfire: 1\nthresholds: [p99<1s,!r x]\n",
            "p:2:24: thresholds",
            "!r",
        ),
        ("drumfire: 1\nvars: {a: !Sub \"x\"}\n", "p:2:16: a", "!Sub"),
        (
            "drumfire: 1\nthresholds:\n  - !ref [a, b]\n",
            "p:3:10: thresholds",
            "!ref",
        ),
    ] {
        let mistake = format!("{place}: tag `{tag}` is not supported; write the value itself");
        check(text, &[&mistake]);
    }
    for text in [
        "drumfire: 1\nname: hi !env\npools: # not !now\n  a: { rate: !!int 5, requests: [ { get: \"http://h/\" } ] }\n",
        "drumfire: 1\nname: !!str 7\npools: { a: { rate: '!x 5', requests: [ { get: \"http://h/\" } ] } }\n",
    ] {
        assert!(read(text, "p").is_ok(), "{text}");
    }
}

/// A key that a step has not is one mistake, and not that the step does nothing besides.
#[test]
fn a_foreign_key_of_a_step_is_one_mistake() {
    check(
        "drumfire: 1\npools: { a: { scenario: [{ puase: 1s }, { pause: 1s, sleep: 2s }, { gte: /, x: 1 }, { name: x }] } }\n",
        &[
            "p:2:28: a step has no key `puase`; did you mean `pause`?",
            "p:2:54: a step has no key `sleep`; write a pause as a step",
            "p:2:69: a step has no key `gte`; did you mean `get`?",
            "p:2:77: a step has no key `x`",
            "p:2:85: scenario: a request needs exactly one of `get`, `head`",
        ],
    );
}

/// Each text with all of its mistakes.
#[test]
fn every_mistake_is_said_with_its_place() {
    for (text, expected) in [
        (
            "",
            &["p:1:1: the plan's version is missing; write `drumfire: 1`"][..],
        ),
        (
            "drumfire: 2\n",
            &["p:1:11: drumfire: this program reads plans of version 1; write `drumfire: 1`"],
        ),
        (
            "drumfire: 1\nthresholds: { p99: <50ms, failed: \"<1%\" }\npools: { a: { duration: 10s, scenario: [{ sleep: 1s }] } }\n",
            &[
                "p:2:13: thresholds: expected a single value, not a mapping; a rule is a single \
                 string: write `\"p99<50ms\"`, `\"failed<1%\"`",
                "p:3:15: a pool has no key `duration`; to end a load, write `stop: { after: 10s }`",
                "p:3:43: a step has no key `sleep`; write a pause as a step of a scenario: `- \
                 pause: 1s`",
            ],
        ),
        ("- a\n", &["p:1:1: a plan must be a mapping, not a list"]),
        (
            "drumfire: 1\npols: {}\nstop: { afer: 1s, requests: many, drain: [] }\ngenerator: { spin: 1 }\n",
            &[
                "p:2:1: a plan has no key `pols`; did you mean `pools`?",
                "p:3:9: `stop` has no key `afer`; did you mean `after`?",
                "p:3:29: requests: `many` is not a whole number; write one such as 100",
                "p:3:42: drain: expected a single value, not a list",
                "p:4:20: spin: write true or false, not a number",
            ],
        ),
        (
            "drumfire: 1\npools:\n  a: [1]\n  b:\n    requests:\n    - /\n    - {}\n    - { get: /, post: / }\n    - { method: GET }\n",
            &[
                "p:3:6: a: a pool must be a mapping, not a list",
                "p:6:7: requests: a request must be a mapping, not a string; write it as `get: /`",
                "p:7:7: requests: the request is empty; write one such as `get: /`",
                "p:8:23: post: one request can't have `get` and `post`; write each",
                "p:9:17: method: `method` needs a `url` or a `list`",
                "p:9:7: requests: a request needs exactly one of `get`, `head`",
            ],
        ),
        (
            "drumfire: 1\npools:\n  a:\n    requests:\n    - { get: /, data: x, stream: { count: 1 }, metadata: { a: b } }\n    - { call: a.B/C, body: x, headers: { a: b } }\n    - { get: /, body: x, body_file: y }\n    - { call: a.B/C, metadata: { a: b }, metadata_file: c }\n",
            &[
                "p:5:63: a: `metadata` is for calls; use `headers`",
                "p:5:7: requests: `data` is for calls; use `body`",
                "p:5:7: requests: `stream` is for calls",
                "p:6:45: a: `headers` is for HTTP requests; for a call, use `metadata`",
                "p:6:7: requests: `body` is for HTTP requests; for a call, use `data`",
                "p:7:37: body_file: use only one of `body`, `body_file`, `body_base64`, `json`, \
                 `form` and `multipart`",
                "p:8:57: metadata_file: use only one of `metadata` and `metadata_file`",
            ],
        ),
        (
            "drumfire: 1\nfeeds: { a: {}, b: { csv: x, jsonl: y }, c: { csv: x, xyz: y } }\n",
            &[
                "p:2:10: a feed needs exactly one of `csv`, `json`, `jsonl`, `lines`, `inline`, \
                 `range` and `generated`",
                "p:2:17: a feed needs exactly one of `csv`, `json`, `jsonl`, `lines`, `inline`, \
                 `range` and `generated`",
                "p:2:55: a feed has no key `xyz`; its keys are csv, json, jsonl, lines, inline, range, generated, fields, delimiter, quote, header, rows, seed, order, at_end",
            ],
        ),
    ] {
        check(text, expected);
    }
}

/// Typical mistakes in YAML, each together with other mistakes.
#[test]
fn keys_texts_and_dashes_in_the_wrong_place_are_said() {
    for (text, expected) in [
        (
            "drumfire: 1\npools:\n  a: { rat: 5, requests: [ { get: / } ] }\n  a: { late: [], requests: [ { get: /, name: x, name: y } ] }\n",
            &[
                "p:4:3: duplicate key `a` (first in line 3); remove one, or rename it",
                "p:4:49: duplicate key `name` (first in line 4)",
                "p:3:8: a pool has no key `rat`; did you mean `rate`?",
                "p:4:14: late: expected a single value, not a list",
            ][..],
        ),
        (
            "drumfire: 1\npools:\n  a:\n    headers: [ 'X-Id: 7' ]\n    requests:\n    - { get: /, headers: abc }\noutputs: { html: [ ~ ] }\n",
            &[
                "p:4:16: headers: a name and its value must be a mapping, not a string; remove the quotes",
                "p:6:26: headers: names and values must be a mapping, such as `X-Id: 7`, not a \
                 string",
                "p:7:18: html: expected a single value, not a list; a lone dash begins a list",
            ],
        ),
        (
            "drumfire: 1\nstop: 30s\npools:\n  a:\n    requests: [ { get: /, expect: 200 } ]\n",
            &[
                "p:2:7: stop: `stop` must be a mapping, not a string; write `stop: { after: 30s }` or",
                "p:5:35: expect: `expect` must be a mapping, not a number; write `expect: { status: 200 }`",
            ],
        ),
        (
            "outputs:\n  html: -\n",
            &[
                "p:2:9: block sequence entries are not allowed in this context; a lone dash begins \
                 a list",
            ],
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn mistakes_in_a_scenario_are_said_with_their_places() {
    check(
        "drumfire: 1\npools:\n  a:\n    scenario:\n    - pause\n    - {}\n    - { get: /, pause: 1s }\n    - pause:\n    - set: {}\n    - { get: /, pauze: 1s }\n    - on_fail: continue\n    - [ 1 ]\n",
        &[
            "p:5:7: scenario: a step must be a mapping, not a string; write it as `get: /`",
            "p:6:7: scenario: the step is empty; write one such as `get: /` or `pause: 200ms`",
            "p:7:7: scenario: `get` and `pause` can't be in one step; write a separate step",
            "p:8:7: scenario: a pause needs a time, such as `pause: 200ms`, or a range, such as",
            "p:9:7: scenario: `set` needs variables with values, such as",
            "p:10:17: a step has no key `pauze`; did you mean `pause`?",
            "p:11:7: scenario: a request needs exactly one of `get`, `head`",
            "p:12:7: scenario: a step must be a mapping, not a list",
        ],
    );
}
