//! Metrics that a run sends: to Prometheus, to InfluxDB's form, and to receivers with trouble.

use crate::metrics::Prometheus;
use crate::support::process::Process;
use crate::support::{Folder, Report, Serve, drumfire, http, lab, wait_until};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A receiver that gives these answers in turn, the last one again and again.
struct Stub {
    address: SocketAddr,
    /// Head and content of each request.
    requests: Receiver<Vec<u8>>,
}

impl Stub {
    fn new(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            let last = std::iter::repeat(*answers.last().unwrap());
            let answers = answers.iter().copied().chain(last);
            for (stream, answer) in listener.incoming().flatten().zip(answers) {
                let request = take(stream, answer);
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Self { address, requests }
    }

    /// The requests so far, as text.
    fn texts(&self) -> Vec<String> {
        let texts = self.requests.try_iter();
        texts
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }
}

/// Reads a request and answers it.
fn take(mut stream: TcpStream, answer: &str) -> Vec<u8> {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut request = Vec::new();
    let mut chunk = [0; 65_536];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some(at) = request.windows(4).position(|end| end == b"\r\n\r\n") {
            let length = text.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.split('\r').next().unwrap().parse().unwrap();
            if request.len() >= at + 4 + length {
                break;
            }
        }
        match stream.read(&mut chunk).unwrap_or(0) {
            0 => return request,
            count => request.extend_from_slice(&chunk[..count]),
        }
    }
    let _gone = write!(stream, "HTTP/1.1 {answer}\r\n\r\n");
    request
}

/// The last value of a series in InfluxDB's lines.
fn last_value(texts: &[String], series: &str) -> Option<f64> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let mut values = lines.filter_map(|line| line.strip_prefix(series)?.strip_prefix(" value="));
    let last = values.next_back()?.split(' ').next()?;
    last.trim_end_matches('i').parse().ok()
}

#[test]
fn a_receiver_that_was_down_gets_everything_later() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stub = Stub::new(&[
        "503 Service Unavailable",
        "429 Too Many Requests",
        "204 No Content",
    ]);
    let run = http(&format!(
        "-r 200 -n 40 --influx http://me:secret@{}/loads --push-header 'X-Tenant: a' \
         --push-header 'X-Token: abc' --json {} {}",
        stub.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = Report::read(&folder.at("json"));
    assert!(!report.notes().contains("--influx"), "{}", report.notes());
    let said = "it answered 503; it is tried again";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    for secret in ["secret", "abc"] {
        assert!(!run.stderr.contains(secret), "{}", run.stderr);
    }
    let texts = stub.texts();
    assert_eq!(texts.len(), 3, "{texts:?}");
    for text in &texts {
        for line in [
            "POST /write?db=loads HTTP/1.1\r\n",
            "\r\nAuthorization: Basic bWU6c2VjcmV0\r\n",
            "\r\nX-Tenant: a\r\n",
            "\r\nX-Token: abc\r\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
    let id = report.at("run")["id"].as_str().unwrap();
    let ok = format!("drumfire_requests_total,pool=main,outcome=ok,run={id}");
    assert_eq!(last_value(&texts[2..], &ok), Some(40.0), "{}", texts[2]);
}

#[test]
fn a_receiver_that_refuses_is_named_in_the_report() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stub = Stub::new(&["400 Bad Request\r\nContent-Length: 13\r\n\r\nno\x1b[31m such db"]);
    let run = http(&format!(
        "-r 200 -n 40 --influx http://{} --json {} {}",
        stub.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.n("requests.ok"), 40);
    let notes = report.notes();
    for note in [
        "--influx http://127.0.0.1:",
        "refused",
        "it answered 400: no",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    assert!(!run.stderr.contains('\x1b') && !notes.contains('\x1b'));
}

#[test]
fn mistakes_are_found_before_anything_is_sent() {
    let serve = Serve::new("");
    for (flags, message) in [
        ("--influx nowhere", "--influx: `nowhere` has no scheme"),
        ("--otlp ftp://h/", "--otlp: scheme `ftp` is not supported"),
        (
            "--push-header 'A: b'",
            "add --remote-write, --influx or --otlp",
        ),
        (
            "--otlp http://h --push-header 'no colon'",
            "has no colon; write `Name: value`",
        ),
        ("--otlp http://h --push-header 'a b: c'", "--push-header: "),
    ] {
        let run = http(&format!("-n 5 {flags} {}", serve.url));
        assert_eq!(run.code, Some(2), "{flags}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{flags}: {}", run.stderr);
    }
    assert_eq!(serve.count("requests"), 0);
}

#[test]
fn prometheus_takes_what_is_written_to_it() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let nobody = SocketAddr::from(([127, 0, 0, 1], lab::port()));
    let flags = ["--web.enable-remote-write-receiver"];
    let Some(prometheus) = Prometheus::start(nobody, &flags) else {
        return;
    };
    let run = http(&format!(
        "-r 500 -n 1000 --interval 100ms --remote-write http://{} --json {} {}?status=503:0.5",
        prometheus.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.notes(), "");
    let id = report.at("run")["id"].as_str().unwrap();
    let of = |name: &str, labels: &str| {
        let query = format!("{name}{{job=\"drumfire\",run=\"{id}\"{labels}}}");
        prometheus
            .query(&query)
            .unwrap_or_else(|| panic!("no {query}"))
    };
    let total = "drumfire_requests_total";
    assert_eq!(of(total, ",outcome=\"ok\"") as u64, report.n("requests.ok"));
    let failed = of(total, ",outcome=\"http_status\"");
    assert_eq!(failed as u64, report.kind("http_status"));
    let within = of("drumfire_response_time_seconds_bucket", ",le=\"+Inf\"");
    assert_eq!(within as u64, report.n("latency.response_time.count"));
    assert_eq!(of("drumfire_run_finished", "") as u64, 1);
    let series = format!("count_over_time({total}{{run=\"{id}\",outcome=\"ok\"}}[1m])");
    // The first, one each second, and the last.
    assert!(prometheus.query(&series).unwrap() >= 3.0);
}

/// VictoriaMetrics, which takes all three forms: of Debian's package, or the one that the variable
/// `VICTORIA_METRICS` names; OpenTelemetry's needs 1.92 or later.
struct Victoria {
    _process: Process,
    _folder: Folder,
    address: SocketAddr,
}

impl Victoria {
    fn start() -> Option<Self> {
        let named = std::env::var("VICTORIA_METRICS").ok();
        let program = named.or_else(|| lab::find("victoria-metrics"))?;
        let folder = Folder::new();
        let address = SocketAddr::from(([127, 0, 0, 1], lab::port()));
        let mut command = std::process::Command::new(program);
        command.args([
            format!("-httpListenAddr={address}"),
            format!("-storageDataPath={}", folder.at("data")),
            "-retentionPeriod=1".to_owned(),
            "-search.latencyOffset=0s".to_owned(),
            "-opentelemetry.usePrometheusNaming".to_owned(),
        ]);
        let process = Process::start(command.stdin(Stdio::null()));
        wait_until("VictoriaMetrics", || {
            crate::support::script::get(address, "/health").is_ok_and(|text| text.contains("OK"))
        });
        Some(Self {
            _process: process,
            _folder: folder,
            address,
        })
    }

    /// The greatest value of a series in the last minute.
    fn value(&self, series: &str) -> Option<f64> {
        let escaped = series
            .replace('{', "%7B")
            .replace('}', "%7D")
            .replace('"', "%22");
        let target = format!("/api/v1/query?query=max_over_time({escaped}[1m])");
        let reply = crate::support::script::get(self.address, &target).ok()?;
        let json: serde_json::Value = serde_json::from_str(reply.trim()).ok()?;
        json["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

#[test]
#[ignore = "needs VictoriaMetrics; `make receivers` builds it"]
fn victoria_metrics_takes_all_forms() {
    let victoria = Victoria::start().expect("VICTORIA_METRICS, or victoria-metrics on the PATH");
    let serve = Serve::new("");
    for (flag, path, suffix) in [
        ("--remote-write", "", ""),
        ("--influx", "/write", "_value"),
        ("--otlp", "/opentelemetry/v1/metrics", ""),
    ] {
        let folder = Folder::new();
        let line = format!(
            "http -r 500 -n 1000 {flag} http://{}{path} --no-store --json {} {}?status=503:0.5",
            victoria.address,
            folder.at("json"),
            serve.url
        );
        let words = crate::support::program::words(&line);
        let run = Process::start(&mut drumfire(words)).finish(Duration::from_secs(60));
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{flag}");
        let report = Report::read(&folder.at("json"));
        let id = report.at("run")["id"].as_str().unwrap();
        let series = |name: &str, labels: &str| format!("{name}{suffix}{{run=\"{id}\"{labels}}}");
        let ok = series("drumfire_requests_total", ",outcome=\"ok\"");
        wait_until("the last figures in a query", || {
            victoria.value(&ok).is_some()
        });
        assert_eq!(
            victoria.value(&ok).unwrap() as u64,
            report.n("requests.ok"),
            "{flag}"
        );
        let count = series("drumfire_response_time_seconds_count", "");
        let count = victoria.value(&count).map(|count| count as u64);
        assert_eq!(
            count,
            Some(report.n("latency.response_time.count")),
            "{flag}"
        );
        let within = series("drumfire_response_time_seconds_bucket", ",le=\"60\"");
        let other = series("drumfire_response_time_seconds_bucket", ",le=\"60.0\"");
        let within = victoria.value(&within).or_else(|| victoria.value(&other));
        assert_eq!(within.map(|within| within as u64), count, "{flag}");
    }
}
