//! The metrics page of a run: its content, its clients, and attacks on it.

use crate::support::process::Process;
use crate::support::program::LIMIT;
use crate::support::{Folder, Report, Serve, Signal, drumfire, lab, signalled, wait_until};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A run that serves its metrics, and ends only after a client has fetched its last figures.
pub(crate) struct Metered {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) folder: Folder,
}

impl Metered {
    /// Starts `drumfire` with these arguments and without storing the run.
    pub(crate) fn start(line: &str) -> Self {
        Self::stored(&format!("{line} --no-store"))
    }

    /// Starts `drumfire` with these arguments.
    fn stored(line: &str) -> Self {
        let folder = Folder::new();
        let address = SocketAddr::from(([127, 0, 0, 1], lab::port()));
        let mut words = crate::support::program::words(line);
        let own = format!(
            "--metrics {address} --metrics-linger 60s --json {}",
            folder.at("summary.json")
        );
        words.extend(crate::support::program::words(&own));
        Self {
            process: Process::start(&mut drumfire(words)),
            address,
            folder,
        }
    }

    /// The page in the format for this Accept field; `None` while nothing listens.
    pub(crate) fn try_page(&self, accept: &str) -> Option<String> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .ok()?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: m\r\nAccept: {accept}\r\n\r\n"
        )
        .ok()?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).ok()?;
        Some(reply)
    }

    /// Waits until the run is over, and fetches its last page. Afterwards the program ends.
    fn last_page(&self, accept: &str) -> String {
        let mut page = String::new();
        wait_until("the last figures", || {
            page = self.try_page(accept).unwrap_or_default();
            page.contains("\ndrumfire_run_finished 1\n")
        });
        let (head, page) = page.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        page.to_owned()
    }

    /// The run's summary, after the program has ended.
    pub(crate) fn report(self) -> Report {
        let run = self.process.finish(LIMIT);
        assert_eq!(run.code, Some(0), "{}{}", run.stderr, run.stdout);
        Report::read(&self.folder.at("summary.json"))
    }
}

/// The value of a sample.
fn value(page: &str, sample: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(sample));
    let value = line.and_then(|rest| rest.strip_prefix(' '));
    let value = value.unwrap_or_else(|| panic!("no {sample} in\n{page}"));
    value.parse().unwrap()
}

/// Checks a page with promtool.
fn check_page(page: &str) {
    if !lab::has("promtool") {
        return;
    }
    let mut promtool = lab::program("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped());
    promtool.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().unwrap();
    let mut stdin = promtool.stdin.take().unwrap();
    stdin.write_all(page.as_bytes()).unwrap();
    drop(stdin);
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}\n{page}");
}

/// The names of the metrics on a page.
fn names(page: &str) -> BTreeSet<String> {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_last_page_agrees_with_the_summary() {
    let serve = Serve::new("");
    let metered = Metered::start(&format!(
        "http -r 500 -n 200 --interval 100ms {0}?status=503:0.5",
        serve.url
    ));
    let open = metered.last_page("application/openmetrics-text;version=1.0.0,*/*;q=0.1");
    let report = metered.report();
    assert!(open.ends_with("# EOF\n"), "{open}");
    let pool = "{pool=\"main\"}";
    let count = |name: &str| value(&open, name) as u64;
    let outcome = |name: &str| {
        count(&format!(
            "drumfire_requests_total{{pool=\"main\",outcome=\"{name}\"}}"
        ))
    };
    assert_eq!(outcome("ok"), report.n("requests.ok"));
    assert_eq!(outcome("http_status"), report.kind("http_status"));
    for (name, key) in [
        ("requests_intended_total", "requests.intended"),
        ("requests_dropped_total", "requests.dropped"),
        ("sent_bytes_total", "bytes.sent"),
        ("received_bytes_total", "bytes.received"),
        ("connections_opened_total", "connections.opened"),
        ("response_time_seconds_count", "latency.response_time.count"),
        ("lag_seconds_count", "latency.lag.count"),
    ] {
        assert_eq!(
            count(&format!("drumfire_{name}{pool}")),
            report.n(key),
            "{name}"
        );
    }
    let mean = report.number("latency.response_time.mean") / 1e9;
    let sum = value(&open, &format!("drumfire_response_time_seconds_sum{pool}"));
    let seen = report.number("latency.response_time.count");
    assert!((sum / seen - mean).abs() < 1e-8, "{sum} s, mean {mean} s");
    for (name, expected) in [
        ("requests_in_flight", 0.0),
        ("requests_waiting", 0.0),
        ("connections_open", 0.0),
        ("target_rate", 0.0),
    ] {
        assert_eq!(
            value(&open, &format!("drumfire_{name}{pool}")),
            expected,
            "{name}"
        );
    }
}

#[test]
fn the_manual_has_every_metric_and_no_other() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\ndefaults: {{ target: '{}' }}\npools:\n  rate:\n    rate: 200/s\n    \
             requests: [ get: / ]\n    stop: {{ requests: 40 }}\n  users:\n    users: 2\n    \
             scenario: [ get: /, get: / ]\n    stop: {{ iterations: 10 }}\n",
            serve.url.trim_end_matches('/')
        ),
    );
    let metered = Metered::start(&format!("run {plan}"));
    let page = metered.last_page("");
    let report = metered.report();
    check_page(&page);
    let completed = value(
        &page,
        "drumfire_iterations_total{pool=\"users\",result=\"ok\"}",
    );
    assert_eq!(completed as u64, report.n("iterations.completed"));
    let manual = lab::repository().join("docs/manual/metrics.md");
    let manual = fs::read_to_string(manual).unwrap();
    let rows = manual
        .lines()
        .filter_map(|line| line.strip_prefix("| `drumfire_"));
    let described: BTreeSet<String> = rows
        .map(|row| format!("drumfire_{}", row.split(['`', '{']).next().unwrap()))
        .collect();
    assert_eq!(names(&page), described);
}

#[test]
fn scrapers_that_hang_change_nothing() {
    let serve = Serve::new("");
    let metered = Metered::start(&format!(
        "http -r 1000 -n 1000 --interval 100ms {}",
        serve.url
    ));
    wait_until("the page", || metered.try_page("").is_some());
    let page = |path| crate::support::script::get(metered.address, path).unwrap();
    assert!(page("/").ends_with("the metrics of this run are at /metrics\n"));
    assert!(!page("/metric").contains("metrics of this run"));
    // Some connections send nothing, some never read, and some send without end.
    let mut hanging = Vec::new();
    for n in 0..40 {
        let mut stream = TcpStream::connect(metered.address).unwrap();
        stream
            .set_write_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let _refused = match n % 3 {
            0 => Ok(()),
            1 => stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n"),
            _ => stream.write_all(&vec![b'x'; 100_000]),
        };
        hanging.push(stream);
    }
    drop(hanging.split_off(12));
    metered.last_page("");
    let report = metered.report();
    assert_eq!(report.n("requests.ok"), 1000);
    assert_eq!(report.at("load.kept").as_bool(), Some(true));
    drop(hanging);
}

/// Prometheus, which scrapes this address twice a second.
pub(crate) struct Prometheus {
    _process: Process,
    _folder: Folder,
    pub(crate) address: SocketAddr,
}

impl Prometheus {
    /// Starts Prometheus; `None` if it is not installed.
    pub(crate) fn start(scraped: SocketAddr, flags: &[&str]) -> Option<Self> {
        if !lab::has("prometheus") {
            return None;
        }
        let folder = Folder::new();
        let address = SocketAddr::from(([127, 0, 0, 1], lab::port()));
        let config = folder.write(
            "prometheus.yml",
            format!(
                "global: {{ scrape_interval: 500ms, scrape_timeout: 500ms }}\n\
                 scrape_configs:\n- job_name: drumfire\n  static_configs:\n  \
                 - targets: ['{scraped}']\n"
            ),
        );
        let mut command: Command = lab::program("prometheus");
        command.args([
            format!("--config.file={config}"),
            format!("--storage.tsdb.path={}", folder.at("data")),
            format!("--web.listen-address={address}"),
            "--log.level=error".to_owned(),
        ]);
        let process = Process::start(command.args(flags).stdin(Stdio::null()));
        let prometheus = Self {
            _process: process,
            _folder: folder,
            address,
        };
        wait_until("Prometheus", || {
            prometheus
                .get("/-/ready")
                .is_some_and(|text| text.contains("Ready"))
        });
        Some(prometheus)
    }

    fn get(&self, target: &str) -> Option<String> {
        crate::support::script::get(self.address, target).ok()
    }

    /// The only value of a query, if it has one yet.
    pub(crate) fn query(&self, query: &str) -> Option<f64> {
        let query = crate::support::script::escaped(query);
        let reply = self.get(&format!("/api/v1/query?query={query}"))?;
        // Prometheus sends long responses in chunks; these are short.
        let json = &reply[reply.find('{')?..=reply.rfind('}')?];
        let json: serde_json::Value = serde_json::from_str(json).ok()?;
        json["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

#[test]
fn prometheus_scrapes_a_run_and_agrees_with_its_summary() {
    let serve = Serve::new("");
    let metered = Metered::start(&format!(
        "http -r 500 -n 500 --interval 100ms {0}?status=503:0.5",
        serve.url
    ));
    let Some(prometheus) = Prometheus::start(metered.address, &[]) else {
        metered.last_page("");
        return;
    };
    let last = |selector: &str| format!("last_over_time({selector}[1m])");
    let report = metered.report();
    wait_until("the last scrape in a query", || {
        prometheus.query(&last("drumfire_run_finished")) == Some(1.0)
    });
    let of = |selector: &str| prometheus.query(&format!("sum({})", last(selector)));
    let total = "drumfire_requests_total";
    let ok = of(&format!("{total}{{outcome=\"ok\"}}")).unwrap();
    assert_eq!(ok as u64, report.n("requests.ok"));
    let failed = of(&format!("{total}{{outcome=\"http_status\"}}")).unwrap();
    assert_eq!(failed as u64, report.kind("http_status"));
    let count = of("drumfire_response_time_seconds_count").unwrap();
    assert_eq!(count as u64, report.n("latency.response_time.count"));
    let mean = of("drumfire_response_time_seconds_sum").unwrap() / count;
    let expected = report.number("latency.response_time.mean") / 1e9;
    assert!((mean - expected).abs() < 1e-8, "{mean} and {expected}");
}

#[test]
fn prometheus_has_native_histograms_where_it_asks_for_them() {
    let serve = Serve::new("");
    let metered = Metered::start(&format!(
        "http -r 500 -n 500 --interval 100ms {}?delay=5ms",
        serve.url
    ));
    let flags = ["--enable-feature=native-histograms"];
    let Some(prometheus) = Prometheus::start(metered.address, &flags) else {
        metered.last_page("");
        return;
    };
    let report = metered.report();
    wait_until("the last scrape in a query", || {
        prometheus.query("last_over_time(drumfire_run_finished[1m])") == Some(1.0)
    });
    // Functions over time do not support histograms in this version, so the test searches for a
    // time with a value, at steps of 50 ms. There may be none yet since the scrape.
    let mut at = None;
    wait_until("the time of the last scrape", || {
        at = prometheus.query("max_over_time(timestamp(drumfire_run_finished)[1m:50ms])");
        at.is_some()
    });
    let last = format!("drumfire_response_time_seconds @ {:.3}", at.unwrap());
    let count = prometheus.query(&format!("histogram_count({last})"));
    assert_eq!(
        count.map(|count| count as u64),
        Some(report.n("requests.ok"))
    );
    let median = prometheus.query(&format!("histogram_quantile(0.5, {last})"));
    let exact = report.quantile("response_time", "0.5");
    let ratio = median.unwrap() / exact;
    assert!((0.95..1.05).contains(&ratio), "{median:?} and {exact}");
}

#[test]
fn the_dashboard_asks_for_metrics_that_are_there() {
    let text = |path: &str| fs::read_to_string(lab::repository().join(path)).unwrap();
    let manual = text("docs/manual/metrics.md");
    let dashboard = text("contrib/grafana/drumfire.json");
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut asked = BTreeSet::new();
    let mut all = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect::<Vec<_>>();
    assert!(all.len() > 20);
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        all.extend(variable["query"]["query"].as_str());
    }
    for expression in all {
        for (at, _) in expression.match_indices("drumfire_") {
            let rest = &expression[at..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            asked.insert(rest[..end.unwrap_or(rest.len())].trim_end_matches("_bucket"));
        }
    }
    assert!(asked.len() > 15, "{asked:?}");
    for name in asked {
        let is_there = [format!("`{name}`"), format!("`{name}{{")];
        assert!(is_there.iter().any(|row| manual.contains(row)), "{name}");
    }
}

/// A resumed run shows the figures of its current part on the page.
#[test]
fn a_resumed_run_serves_its_metrics() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -n 300 --interval 100ms -o {dir} {}",
        serve.url
    );
    signalled(&serve, &line, 60, Signal::KILL);
    let lines = folder.at("lines.jsonl");
    let metered = Metered::stored(&format!("resume {dir} -q --json-lines {lines}"));
    let page = metered.last_page("text/plain");
    let rest = value(
        &page,
        "drumfire_requests_total{pool=\"main\",outcome=\"ok\"}",
    );
    assert!((1.0..300.0).contains(&rest), "{page}");
    let report = metered.report();
    // A request that was in flight at the end of the last stored interval has no end in the record.
    let [sent, ok, open, failed] =
        ["sent", "ok", "in_flight", "failed"].map(|key| report.n(&format!("requests.{key}")));
    assert_eq!((sent, ok + open, failed), (300, 300, 0));
    let lines = fs::read_to_string(&lines).unwrap();
    let ended = lines.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["good"].as_f64().unwrap()
    });
    assert_eq!(ended.sum::<f64>(), rest, "{lines}");
}
