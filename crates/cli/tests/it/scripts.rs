//! Scripts in plans: parts of requests, judgements, values, and scripts that are hostile.

use crate::support::program::LIMIT;
use crate::support::script::get;
use crate::support::{Folder, Process, Report, Run, Serve, drumfire};
use serde_json::Value;

const SCRIPT: &str = r#"
const prices = {};

function sign(user, n) {
  return hmac_sha256('key', user + ':' + n).slice(0, 12);
}

function order(product, count) {
  return { product: product, count: count, note: 'for "you"' };
}

// Nothing, or true, is good; a text is the reason why it is not.
function judge(response) {
  const cart = JSON.parse(response.body);
  if (response.status !== 201) return 'no cart';
  if (response.headers['content-type'] !== 'application/json') return 'no JSON';
  const sum = cart.items.reduce((sum, item) => sum + item.price * item.count, 0);
  return sum === cart.total ? true : `the sum is ${sum}`;
}

const total = (response) => JSON.parse(response.body).total;

function refuse() { return 'never good enough'; }
function hang() { for (;;) {} }
function crash() { throw new Error('out of stock'); }
"#;

const PLAN: &str = r#"
drumfire: 1
defaults: { target: "{url}", script: shop.js }
pools:
  buy:
    users: 3
    scenario:
      - post: /shop/login
        name: log in
        body: '{"user": "u{{ user }}", "password": "u{{ user }}-pw"}'
        take: { token: json $.token }
        on_fail: end_iteration
      - set: { product: "{{ js('pick', user) }}" }
      - post: /shop/cart
        name: add
        headers:
          Content-Type: application/json
          Authorization: "Bearer {{ token }}"
          X-Sign: "{{ js('sign', 'u', iteration) }}"
        body: "{{ js('order', product | int, 2) | tojson }}"
        expect: { status: 201, js: judge }
        take: { total: js total }
      - post: /shop/pay
        name: pay
        headers: { Authorization: "Bearer {{ token }}" }
        body: '{"amount": {{ total }}}'
        expect: { status: 303 }
stop: { iterations: 30 }
generator: { threads: 2, seed: 3 }
"#;

fn run(plan: &str, script: &str, server: &Serve) -> (Run, Folder) {
    let folder = Folder::new();
    folder.write("shop.js", script);
    let url = server.url.trim_end_matches('/');
    let path = folder.write("plan.yaml", plan.replace("{url}", url));
    let json = folder.at("result.json");
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    (Process::start(&mut command).finish(LIMIT), folder)
}

fn whole() -> String {
    format!(
        "{SCRIPT}\nfunction pick(user) {{ return 1 + (user * 7 + Math.floor(Math.random() * 10)) % 64; }}"
    )
}

#[test]
fn a_script_computes_judges_and_takes() {
    let server = Serve::new("--shop");
    let (ran, folder) = run(PLAN, &whole(), &server);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = Report::read(&folder.at("result.json"));
    report.balances();
    assert_eq!(report.n("requests.failed"), 0, "{}", ran.stdout);
    assert_eq!(report.n("iterations.completed"), 30);
    let stats: Value =
        serde_json::from_str(&get(server.address(), "/shop/stats").unwrap()).unwrap();
    assert_eq!(
        (&stats["orders"], &stats["mixed_up"]),
        (&30.into(), &0.into()),
        "{stats}"
    );
}

#[test]
fn judgements_and_failures_have_their_outcomes() {
    let server = Serve::new("--shop");
    for (function, kind, words) in [
        ("refuse", "assert:body", "js refuse: never good enough"),
        (
            "hang",
            "script",
            "hang in shop.js: it takes more than 10000000 steps",
        ),
        ("crash", "script", "crash in shop.js: out of stock"),
    ] {
        let plan = format!(
            "drumfire: 1\npools:\n  p:\n    script: shop.js\n    target: \"{{url}}\"\n    \
             requests: [ {{ get: /shop/products/1, expect: {{ js: {function} }} }} ]\n\
             stop: {{ requests: 2 }}\n"
        );
        let (ran, folder) = run(&plan, &whole(), &server);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let report = Report::read(&folder.at("result.json"));
        let error = &report.at("errors")[0];
        assert_eq!(
            (&error["kind"], &error["count"]),
            (&kind.into(), &2.into()),
            "{error}"
        );
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
    }
}

#[test]
fn a_request_that_a_script_fails_to_make_ends_as_script() {
    let server = Serve::new("--shop");
    let script = "function late(n) { if (n > 0) throw new Error('no more'); return '/'; }";
    let late = "{{ js('late', request_number) }}";
    let request = |part: &str| format!("requests: [ {part} ]\nstop: {{ requests: 3 }}\n");
    let steps =
        |steps: &str| format!("users: 1\n    scenario: [ {steps} ]\nstop: {{ iterations: 3 }}\n");
    let of_iteration = "{{ js('late', iteration) }}";
    for part in [
        request(&format!("{{ get: \"{late}\" }}")),
        request(&format!("{{ get: /, headers: {{ X: \"{late}\" }} }}")),
        request(&format!(
            "{{ post: /, body: \"{{% if 1 %}}{late}{{% endif %}}\" }}"
        )),
        steps(&format!(
            "{{ set: {{ a: \"{of_iteration}\" }} }}, {{ get: \"{{{{ a }}}}\" }}"
        )),
    ] {
        let plan = format!(
            "drumfire: 1\npools:\n  p:\n    script: shop.js\n    target: \"{{url}}\"\n    {part}"
        );
        let (ran, folder) = run(&plan, script, &server);
        let report = Report::read(&folder.at("result.json"));
        let error = &report.at("errors")[0];
        assert_eq!(
            (&error["kind"], &error["count"], report.n("requests.ok")),
            (&"script".into(), &2.into(), 1),
            "{plan}{}",
            ran.stdout
        );
        let words = error["message"].as_str().unwrap_or_default();
        assert!(words.contains("late in shop.js: no more"), "{error}");
    }
}

#[test]
fn mistakes_are_found_before_the_run() {
    let server = Serve::new("--shop");
    let request = |part: &str| {
        format!(
            "drumfire: 1\npools:\n  p:\n    script: shop.js\n    target: \"{{url}}\"\n    \
             requests: [ {part} ]\nstop: {{ requests: 1 }}\n"
        )
    };
    let call = |text: &str| request(&format!("{{ get: \"/?x={text}\" }}"));
    for (plan, script, words) in [
        (
            call("{{ js('f') }}"),
            "function f( {",
            "the script can't be loaded: ",
        ),
        (call("{{ js('f') }}"), "for (;;) {}", "takes more than"),
        (call("{{ js('g') }}"), "function f() {}", "no function `g`"),
        (
            call("{{ js('f') }}"),
            "function f() {}",
            "the function `f` returned nothing",
        ),
        (
            call("{{ js('f') }}"),
            "function f() { return h }",
            "h is not defined",
        ),
        (
            request("{ get: /, expect: { js: g } }"),
            "function f() {}",
            "plan.yaml:6:41: js: the script has no function `g`",
        ),
        (
            call("{{ js('f') }}").replace("    script: shop.js\n", ""),
            "",
            "the pool has no `script`",
        ),
        (
            call("x").replace("shop.js", "gone.js"),
            "",
            "can't read gone.js",
        ),
    ] {
        let (ran, _folder) = run(&plan, script, &server);
        assert_eq!(ran.code, Some(2), "{plan}{ran:?}");
        assert!(ran.stderr.contains(words), "{plan}{}", ran.stderr);
    }
    assert_eq!(server.count("requests"), 0);
}

/// A template is tried before the run. Its calls of heavy functions end together as one call does,
/// with words that name the function and the bound.
#[test]
fn heavy_calls_of_a_template_end_when_it_is_tried() {
    let folder = Folder::new();
    let heavy =
        "function heavy(n) { let s = 0; for (let i = 0; i < 900000; i++) s += i * n; return s }";
    folder.write("heavy.js", heavy);
    folder.write(
        "plan.yaml",
        "drumfire: 1\n\
         pools:\n  \
           a:\n    \
             target: http://127.0.0.1:9\n    \
             script: heavy.js\n    \
             rate: 5/s\n    \
             requests:\n      \
               - get: \"/{% for i in range(2000) %}{{ js('heavy', i) }}{% endfor %}\"\n\
         stop: { after: 1s }\n",
    );
    let mut command = drumfire(["check", "plan.yaml"]);
    command.current_dir(folder.at("."));
    let checked = Process::start(&mut command).finish(LIMIT);
    assert_eq!(checked.code, Some(2), "{checked:?}");
    let text = &checked.stderr;
    assert!(text.contains("heavy in heavy.js: the first"), "{text}");
    assert!(text.contains("more than 10000000 steps"), "{text}");
}
