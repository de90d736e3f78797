//! A document's form: printed documents can be read back unchanged, and all mistakes are reported
//! at once, with their places.

mod any;
mod expected;
mod mistakes;
mod schema;

use any::any_document;
use drumfire_document::form::{print, read};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_document_that_is_printed_reads_back(document in any_document()) {
        let text = print(&document);
        let again = read(&text, "plan.yaml");
        prop_assert_eq!(again.as_ref(), Ok(&document), "{}", text);
        prop_assert_eq!(print(&document), text);
    }

    #[test]
    fn any_text_is_read_or_refused(text: String, near in "(drumfire: 1\n)?([a-z_]{1,8}: ?[-a-z0-9{}\\[\\]:'\"&*!|>#]{0,9}\n ?){0,5}") {
        for text in [text, near] {
            if let Ok(document) = read(&text, "plan.yaml") {
                let printed = print(&document);
                prop_assert_eq!(read(&printed, "plan.yaml"), Ok(document), "{}", printed);
            }
        }
    }
}

/// The form as a user writes it.
const WRITTEN: &str = r#"
# A comment.
drumfire: 1
defaults: { target: "https://shop.test", timeout: 10s, headers: { Accept: application/json } }
pools:
  browse:
    rate: line(5,200,1m) const(200,10m)
    connections: 500
    requests:
      - get: /
      - { put: /p, headers: [ { A: 1 }, { B: [ 2, "3" ] }, { A: x } ], body: "a: b" }
      - { method: PURGE, url: /q, name: purge }
  orders:
    rate: 20/s
    keepalive: true
    target: grpc://orders.test:443
    proto: orders.proto
    requests: [ { call: shop.Orders/Place, data: { sku: "{{ skus }}", n: 1 }, deadline: 1s } ]
  buy:
    users: 3
    scenario:
      - { post: /login, name: log in, on_fail: end_iteration }
      - pause: 200ms..1s
      - set: { order: "{{ uuid }}", count: 1 }
      - get: /o/{{ order }}
feeds: { skus: { csv: skus.csv, order: random } }
stop: { after: 15m }
thresholds: [ 'p99<200ms', failed<0.1% ]
generator: { threads: 2, seed: 7, warmup: 10s, spin: false }
"#;

/// The form as it is printed.
const PRINTED: &str = "\
drumfire: 1
defaults:
  target: https://shop.test
  timeout: 10s
  headers:
    Accept: application/json
feeds:
  skus:
    csv: skus.csv
    order: random
pools:
  browse:
    rate: line(5,200,1m) const(200,10m)
    connections: 500
    requests:
      - get: /
      - put: /p
        headers:
          - A: 1
          - B: 2
          - B: 3
          - A: x
        body: \"a: b\"
      - method: PURGE
        url: /q
        name: purge
  orders:
    rate: 20/s
    target: grpc://orders.test:443
    keepalive: true
    proto:
      - orders.proto
    requests:
      - call: shop.Orders/Place
        data: {\"sku\":\"{{ skus }}\",\"n\":1}
        deadline: 1s
  buy:
    users: 3
    scenario:
      - post: /login
        name: log in
        on_fail: end_iteration
      - pause: 200ms..1s
      - set:
          order: \"{{ uuid }}\"
          count: 1
      - get: \"/o/{{ order }}\"
stop:
  after: 15m
thresholds:
  - p99<200ms
  - failed<0.1%
generator:
  threads: 2
  seed: 7
  warmup: 10s
  spin: false
";

#[test]
fn what_a_person_writes_is_printed_in_one_way() {
    let document = read(WRITTEN, "plan.yaml").expect("a document");
    assert_eq!(print(&document), PRINTED);
    assert_eq!(read(PRINTED, "plan.yaml"), Ok(document));
}
