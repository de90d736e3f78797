//! Scenarios: the requests that arrive at a server, their order, and the counts of iterations.

use crate::support::program::LIMIT;
use crate::support::script::WholeRequest;
use crate::support::{Folder, Process, Report, Run, Script, drumfire};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request, and when it arrived.
#[derive(Clone, Debug)]
struct Arrived {
    request: WholeRequest,
    at: Instant,
}

impl Arrived {
    /// The method and the target.
    fn line(&self) -> &str {
        let head = &self.request.head;
        head.split(" HTTP/").next().unwrap()
    }

    fn body(&self) -> &str {
        std::str::from_utf8(&self.request.body).unwrap()
    }
}

/// A server that records requests, and answers the n-th request with `status(n)`.
fn server(status: fn(usize) -> u16) -> (Script, Arc<Mutex<Vec<Arrived>>>) {
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&arrived);
    let script = Script::new(move |peer| {
        while let Some(request) = peer.whole_request() {
            let at = Instant::now();
            let n = {
                let mut into = into.lock().unwrap();
                into.push(Arrived { request, at });
                into.len() - 1
            };
            let head = format!("HTTP/1.1 {} X\r\nContent-Length: 0\r\n\r\n", status(n));
            if !peer.send(&head) {
                return;
            }
        }
    });
    (script, arrived)
}

/// Runs a plan against a server; `{url}` is replaced with the server's URL. Returns the output and
/// the report.
fn run(plan: &str, server: &Script) -> (Run, Report) {
    let plan = plan.replace("{url}", server.url().trim_end_matches('/'));
    let folder = Folder::new();
    let (path, json) = (folder.write("plan.yaml", &plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    let run = Process::start(&mut command).finish(LIMIT);
    assert!(matches!(run.code, Some(0 | 99)), "{plan}\n{run:?}");
    let report = Report::read(&json);
    report.balances();
    let n = |key: &str| report.n(&format!("iterations.{key}"));
    assert_eq!(n("intended"), n("started") + n("dropped") + n("pending"));
    assert_eq!(n("started"), n("completed") + n("failed") + n("in_flight"));
    (run, report)
}

const SHOP: &str = r#"
drumfire: 1
defaults: { target: "{url}" }
pools:
  shop:
    users: 1
    scenario:
      - { post: /login, name: log in, body: "user {{ user }}" }
      - set: { order: "{{ iteration }}-{{ uuid }}", shown: "<{{ order }}>" }
      - pause: 30ms
      - { get: "/o/{{ order }}", name: look }
      - { put: /o, name: buy, body: '{"order": "{{ shown | upper }}"}' }
stop: { iterations: 4 }
thresholds: [ 'iteration.min>=30ms', 'iteration.failed==0', 'step(look).failed==0' ]
generator: { threads: 1, seed: 7 }
"#;

#[test]
fn steps_arrive_in_order_with_what_was_set_before() {
    let (server, arrived) = server(|_| 200);
    let (run, report) = run(SHOP, &server);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let arrived = arrived.lock().unwrap().clone();
    assert_eq!(arrived.len(), 12);
    let mut orders = Vec::new();
    for (n, iteration) in arrived.chunks(3).enumerate() {
        let [login, look, buy] = iteration else {
            panic!("three requests: {iteration:?}");
        };
        assert_eq!((login.line(), login.body()), ("POST /login", "user 0"));
        let order = look.line().strip_prefix("GET /o/").unwrap();
        assert!(order.starts_with(&format!("{n}-")), "{order}");
        assert_eq!(order.len(), 38, "a UUID behind the iteration: {order}");
        assert_eq!(buy.line(), "PUT /o");
        let shown = order.to_uppercase();
        assert_eq!(buy.body(), format!("{{\"order\": \"<{shown}>\"}}"));
        // The server may see the first of the two late, and early only by less than this margin.
        let pause = look.at - login.at;
        assert!(pause >= Duration::from_millis(20), "{pause:?}");
        orders.push(order.to_owned());
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 4);
    assert_eq!(report.n("requests.sent"), 12);
    assert_eq!(report.n("iterations.completed"), 4);
    assert_eq!(report.n("iterations.time.count"), 4);
    assert!(report.n("iterations.time.min") >= 30_000_000);
    let pool = &report.at("pools")[0];
    assert_eq!(pool["iterations"]["completed"], 4);
    let steps = report.at("steps").as_array().unwrap();
    let sent = steps
        .iter()
        .map(|step| (&step["name"], &step["requests"]["sent"]));
    let sent: Vec<String> = sent.map(|(name, sent)| format!("{name} {sent}")).collect();
    assert_eq!(sent, ["\"log in\" 4", "\"look\" 4", "\"buy\" 4"]);
    let line = "Iterations   4 completed · 0 failed";
    assert!(run.stdout.contains(line), "{}", run.stdout);
}

#[test]
fn a_failure_may_end_an_iteration() {
    // Every second login is refused: iterations alternate between two requests and one.
    let plan = r#"
drumfire: 1
defaults: { target: "{url}" }
pools:
  shop:
    users: 1
    scenario:
      - { post: /login, on_fail: end_iteration }
      - get: /
stop: { iterations: 6 }
generator: { threads: 1 }
"#;
    let (ends, arrived) = server(|n| if n % 3 == 2 { 500 } else { 200 });
    let (_, report) = run(plan, &ends);
    let lines: Vec<String> = arrived
        .lock()
        .unwrap()
        .iter()
        .map(|one| one.line().to_owned())
        .collect();
    assert_eq!(lines, ["POST /login", "GET /", "POST /login"].repeat(3));
    assert_eq!(report.n("iterations.completed"), 3);
    assert_eq!(report.n("iterations.failed"), 3);
    assert_eq!(report.n("iterations.time_failed.count"), 3);
    // Without this setting, the iteration continues, but counts as failed.
    let (goes_on, arrived) = server(|n| if n % 4 == 2 { 500 } else { 200 });
    let (run, report) = run(&plan.replace(", on_fail: end_iteration", ""), &goes_on);
    assert_eq!(arrived.lock().unwrap().len(), 12);
    assert_eq!(report.n("iterations.failed"), 3);
    assert!(run.stdout.contains("3 failed (50.0 %)"), "{}", run.stdout);
}
