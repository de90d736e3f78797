//! Metrics that a run pushes: to Prometheus, to InfluxDB, and to failing receivers.

use crate::metrics::Prometheus;
use crate::support::certificates::{Identity, VALID};
use crate::support::peers::Nginx;
use crate::support::program::{LIMIT, words};
use crate::support::{
    Authority, Folder, PATIENCE, Process, Report, Serve, Signal, alone, drumfire, http, in_time,
    lab, punctually, script, wait_until,
};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A receiver whose responses depend on the request's number and text.
struct Stub {
    address: SocketAddr,
    /// The head and content of each request, with its arrival time.
    requests: Receiver<(Instant, String)>,
}

impl Stub {
    /// Sends these responses in turn, and repeats the last one.
    fn new(answers: &'static [&'static str]) -> Self {
        let last = answers.len() - 1;
        Self::with(move |number, _| answers[number.min(last)].to_owned())
    }

    fn with(answer: impl Fn(usize, &str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for (number, mut stream) in listener.incoming().flatten().enumerate() {
                let text = read_request(&mut stream);
                let answer = answer(number, &text);
                // A program whose last request is answered may have ended before this thread
                // continues.
                if sender.send((Instant::now(), text)).is_err() {
                    return;
                }
                let _gone = write!(stream, "HTTP/1.1 {answer}\r\n\r\n");
            }
        });
        Self { address, requests }
    }

    /// The requests received since the last call.
    fn all(&self) -> Vec<(Instant, String)> {
        self.requests.try_iter().collect()
    }

    /// The texts of the requests received since the last call.
    fn texts(&self) -> Vec<String> {
        self.requests.try_iter().map(|(_, text)| text).collect()
    }
}

/// A request's head, with lower-case field names, and its content as text.
fn read_request(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = Vec::new();
    let mut chunk = [0; 65_536];
    loop {
        if let Some(at) = request.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = head(&request[..at + 4]);
            let length = head.split("\r\ncontent-length: ").nth(1).unwrap();
            let length: usize = length.split('\r').next().unwrap().parse().unwrap();
            if request.len() >= at + 4 + length {
                let content = content(&head, &request[at + 4..]);
                return head + &content;
            }
        }
        match stream.read(&mut chunk).unwrap_or(0) {
            0 => return String::from_utf8_lossy(&request).into_owned(),
            count => request.extend_from_slice(&chunk[..count]),
        }
    }
}

fn head(bytes: &[u8]) -> String {
    let lines = String::from_utf8_lossy(bytes).into_owned();
    let lines = lines.split("\r\n").map(|line| match line.split_once(": ") {
        Some((name, value)) => format!("{}: {value}", name.to_ascii_lowercase()),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\r\n")
}

fn content(head: &str, bytes: &[u8]) -> String {
    let mut content = Vec::new();
    match head.contains("\r\ncontent-encoding: gzip\r\n") {
        true => {
            let mut decoder = flate2::read::GzDecoder::new(bytes);
            decoder.read_to_end(&mut content).unwrap();
        }
        false => content.extend_from_slice(bytes),
    }
    String::from_utf8_lossy(&content).into_owned()
}

/// The last value of a series in InfluxDB's line format.
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
    let said = "responded with 503; retrying";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    for secret in ["secret", "abc"] {
        assert!(!run.stderr.contains(secret), "{}", run.stderr);
    }
    // The first push, and the later ones until the last figures were accepted. On a slow machine
    // there are more.
    let texts = stub.texts();
    assert!(texts.len() >= 3, "{texts:?}");
    for text in &texts {
        for line in [
            "POST /write?db=loads HTTP/1.1\r\n",
            "\r\nauthorization: Basic bWU6c2VjcmV0\r\n",
            "\r\ncontent-encoding: gzip\r\n",
            "\r\nx-tenant: a\r\n",
            "\r\nx-token: abc\r\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
    let id = report.at("run")["id"].as_str().unwrap();
    let ok = format!("drumfire_requests_total,pool=main,outcome=ok,run={id}");
    assert_eq!(last_value(&texts[2..], &ok), Some(40.0), "{texts:?}");
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
        // The run is over, and its series have ended.
        let query = format!("last_over_time({name}{{job=\"drumfire\",run=\"{id}\"{labels}}}[1m])");
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
    // The first and the last push. Below, the test checks that there is one per second.
    assert!(prometheus.query(&series).unwrap() >= 2.0);
    // A failure series starts at zero, so that a burst counts as growth.
    for selector in [
        "drumfire_requests_total{outcome=\"http_status\"}",
        "drumfire_responses_total{status=\"503\"}",
    ] {
        let least = prometheus.query(&format!("min_over_time({selector}[1m])"));
        assert_eq!(least, Some(0.0), "{selector}");
    }
    wait_until("the end of the series", || {
        prometheus.query("count(drumfire_run_info)").is_none()
    });
}

/// The values of a series in InfluxDB's line format, in order of time.
fn values(texts: &[String], series: &str) -> Vec<f64> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let values = lines.filter_map(|line| line.strip_prefix(series)?.strip_prefix(" value="));
    let numbers = values.map(|value| value.split(' ').next().unwrap().trim_end_matches('i'));
    numbers.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn each_second_of_a_run_has_a_snapshot_and_each_kind_of_failure_a_beginning() {
    // If an interval ends a second late, its snapshot covers two seconds.
    let _turn = alone();
    for interval in ["1s", "100ms"] {
        punctually(Duration::from_millis(200), || snapshots(interval));
    }
}

fn snapshots(interval: &str) -> Result<(), String> {
    let stub = Stub::new(&["204 No Content"]);
    let folder = Folder::new();
    let run = http(&format!(
        "-r 50 -z 4s --interval {interval} --influx http://{} --json {} http://127.0.0.1:{}",
        stub.address,
        folder.at("json"),
        lab::port()
    ));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.notes(), "");
    let id = report.at("run")["id"].as_str().unwrap();
    let texts = stub.texts();
    let elapsed = values(&texts, &format!("drumfire_run_elapsed_seconds,run={id}"));
    let seconds: Vec<u64> = elapsed.iter().map(|seconds| *seconds as u64).collect();
    assert!(elapsed.is_sorted() && seconds[0] == 0, "{elapsed:?}");
    let refused = format!("drumfire_requests_total,pool=main,outcome=connect:refused,run={id}");
    let refused = values(&texts, &refused);
    assert_eq!(refused.len(), elapsed.len());
    assert_eq!(refused[0], 0.0);
    assert_eq!(refused.last(), Some(&200.0));
    let never = format!("drumfire_responses_total,pool=main,status=404,run={id}");
    assert!(values(&texts, &never).iter().all(|count| *count == 0.0));
    in_time(seconds.starts_with(&[0, 1, 2, 3, 4]), || {
        format!("{elapsed:?}")
    })
}

#[test]
fn a_request_that_is_too_large_is_halved() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stub = Stub::with(|_, text| {
        let snapshots = text.matches("\ndrumfire_run_finished,run=").count();
        match snapshots {
            1 => "204 No Content".to_owned(),
            _ => "413 Content Too Large\r\nContent-Length: 0".to_owned(),
        }
    });
    let run = http(&format!(
        "-r 50 -z 3s --influx http://{} --json {} {}",
        stub.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.notes(), "");
    let id = report.at("run")["id"].as_str().unwrap();
    let ok = format!("drumfire_requests_total,pool=main,outcome=ok,run={id}");
    assert_eq!(last_value(&stub.texts(), &ok), Some(150.0));
}

#[test]
fn a_receiver_that_knows_no_gzip_gets_plain_lines() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stub = Stub::with(|_, text| match text.contains("content-encoding: gzip") {
        true => "415 Unsupported Media Type\r\nContent-Length: 0".to_owned(),
        false => "204 No Content".to_owned(),
    });
    let run = http(&format!(
        "-n 5 --influx http://{} --json {} {}",
        stub.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    assert_eq!(Report::read(&folder.at("json")).notes(), "");
    // Compressed once, and never again.
    let texts = stub.texts();
    let is_compressed = |text: &String| text.contains("content-encoding: gzip");
    assert!(texts.len() >= 2 && is_compressed(&texts[0]), "{texts:?}");
    assert!(!texts[1..].iter().any(is_compressed), "{texts:?}");
}

#[test]
fn a_receiver_is_left_alone_for_as_long_as_it_asks() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let line = |stub: &Stub| {
        let (address, json) = (stub.address, folder.at("json"));
        format!("-n 5 --influx http://{address} --json {json} {}", serve.url)
    };
    let later = "429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0";
    let stub = Stub::new(Box::leak(Box::new([later, "204 No Content"])));
    let run = http(&line(&stub));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(Report::read(&folder.at("json")).notes(), "");
    let times: Vec<Instant> = stub.all().into_iter().map(|(came, _)| came).collect();
    assert!(times.len() >= 2);
    assert!(times[1] - times[0] >= Duration::from_secs(2));
    // Longer than the end of a run waits.
    let stub = Stub::new(&["503 Service Unavailable\r\nRetry-After: 600\r\nContent-Length: 0"]);
    let began = Instant::now();
    let run = http(&line(&stub));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(began.elapsed() < PATIENCE, "it waited");
    let notes = Report::read(&folder.at("json")).notes();
    assert!(notes.contains("did not accept the last"), "{notes}");
    assert_eq!(stub.all().len(), 1);
}

#[test]
fn what_a_receiver_repeats_holds_no_secret() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stub = Stub::with(|_, text| {
        let head = text
            .split("\r\n\r\n")
            .next()
            .unwrap()
            .replace("\r\n", " | ");
        let head = head.split(" | authorization").nth(1).unwrap();
        let said = format!("authorization{head}");
        let said: String = said.chars().take(180).collect();
        format!(
            "400 Bad Request\r\nContent-Length: {}\r\n\r\n{said}",
            said.len()
        )
    });
    let run = http(&format!(
        "-n 5 --influx http://me:mypassw0rd@{}/db --push-header 'X-Token: hdrsecret77' --json {} {}",
        stub.address,
        folder.at("json"),
        serve.url
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let notes = Report::read(&folder.at("json")).notes();
    assert!(notes.contains("authorization: Basic ***"), "{notes}");
    for secret in ["mypassw0rd", "bWU6bXlwYXNzdzByZA", "hdrsecret77"] {
        for text in [&notes, &run.stderr, &run.stdout] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

/// InfluxDB 1.x, which accepts only its administrator.
struct Influx {
    _process: Process,
    _folder: Folder,
    address: SocketAddr,
}

impl Influx {
    /// The administrator's name and password, escaped for a URL.
    const USER: &str = "me:a%40b%3Ac";

    /// Starts InfluxDB; `None` if it is not installed.
    fn start() -> Option<Self> {
        if !lab::has("influxd") {
            return None;
        }
        let folder = Folder::new();
        let address = SocketAddr::from(([127, 0, 0, 1], lab::port()));
        let config = folder.write(
            "influxdb.conf",
            format!(
                "reporting-enabled = false\nbind-address = \"127.0.0.1:{1}\"\n\
                 [meta]\ndir = \"{0}/meta\"\n[monitor]\nstore-enabled = false\n\
                 [data]\ndir = \"{0}/data\"\nwal-dir = \"{0}/wal\"\n\
                 [http]\nbind-address = \"{address}\"\nauth-enabled = true\nlog-enabled = false\n",
                folder.path().display(),
                lab::port()
            ),
        );
        let mut command = lab::program("influxd");
        command.args(["run", "-config", &config]);
        let influx = Self {
            _process: Process::start(command.stdin(Stdio::null())),
            _folder: folder,
            address,
        };
        wait_until("InfluxDB", || script::get(address, "/ping").is_ok());
        influx.ask("CREATE USER me WITH PASSWORD 'a@b:c' WITH ALL PRIVILEGES");
        influx.ask("CREATE DATABASE loads");
        Some(influx)
    }

    /// The series that a statement returns.
    fn ask(&self, statement: &str) -> Vec<serde_json::Value> {
        let (user, password) = Self::USER.split_once(':').unwrap();
        let statement = script::escaped(statement);
        let target = format!("/query?db=loads&u={user}&p={password}&q={statement}");
        let reply = script::post(self.address, &target).unwrap();
        // InfluxDB sends long responses in chunks; these are short.
        let json = &reply[reply.find('{').unwrap()..=reply.rfind('}').unwrap()];
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let result = &json["results"][0];
        assert!(
            result["error"].is_null() && json["error"].is_null(),
            "{json}"
        );
        result["series"].as_array().cloned().unwrap_or_default()
    }

    /// A column of the only series that a statement returns.
    fn column(&self, statement: &str, column: usize) -> Vec<serde_json::Value> {
        let series = self.ask(statement);
        assert_eq!(series.len(), 1, "{statement}: {series:?}");
        let rows = series[0]["values"].as_array().unwrap().iter();
        rows.map(|row| row[column].clone()).collect()
    }

    /// A number of a run in the database.
    fn number(&self, what: &str, measurement: &str, run: &str, condition: &str) -> u64 {
        let statement = format!("SELECT {what} FROM {measurement} WHERE run = '{run}' {condition}");
        self.column(&statement, 1)[0].as_u64().unwrap()
    }

    /// Compares the figures of a run in the database with the run's summary.
    fn agrees_with(&self, report: &Report) {
        let id = report.at("run")["id"].as_str().unwrap();
        let total = "drumfire_requests_total";
        let ok = self.number("last(value)", total, id, "AND outcome = 'ok'");
        assert_eq!(ok, report.n("requests.ok"));
        let failed = self.number("last(value)", total, id, "AND outcome = 'http_status'");
        assert_eq!(failed, report.kind("http_status"));
        let count = report.n("latency.response_time.count");
        let times = "drumfire_response_time_seconds";
        for (part, condition) in [("count", ""), ("bucket", "AND le = '+Inf'")] {
            let measurement = format!("{times}_{part}");
            let seen = self.number("last(value)", &measurement, id, condition);
            assert_eq!(seen, count, "{part}");
        }
        let finished = self.number("last(value)", "drumfire_run_finished", id, "");
        assert_eq!(finished, 1);
        // The first and the last push. Above, the test checks that there is one per second.
        let points = self.number("count(value)", total, id, "AND outcome = 'ok'");
        assert!(points >= 2, "{points}");
    }

    /// Checks that measurements, tags and fields are those in the manual.
    fn is_named_as_documented(&self) {
        assert_eq!(
            self.column("SHOW TAG KEYS FROM drumfire_requests_total", 0),
            ["outcome", "pool", "run"]
        );
        assert_eq!(
            self.column(
                "SHOW TAG KEYS FROM drumfire_response_time_seconds_bucket",
                0
            ),
            ["le", "pool", "run"]
        );
        let manual = lab::repository().join("docs/manual/metrics.md");
        let manual = std::fs::read_to_string(manual).unwrap();
        let fields = self.ask("SHOW FIELD KEYS");
        assert!(fields.len() > 30, "{fields:?}");
        for of_one in fields {
            // One field, of one type.
            let fields = of_one["values"].as_array().unwrap();
            assert_eq!(
                (fields.len(), &fields[0][0]),
                (1, &"value".into()),
                "{of_one}"
            );
            let name = of_one["name"].as_str().unwrap();
            let parts = ["", "_bucket", "_sum", "_count"].into_iter();
            let mut names = parts.filter_map(|part| name.strip_suffix(part));
            let is_documented = names.any(|name| {
                manual.contains(&format!("`{name}`")) || manual.contains(&format!("`{name}{{"))
            });
            assert!(is_documented, "{name}");
        }
    }
}

#[test]
fn influxdb_takes_what_is_written_to_it() {
    let Some(influx) = Influx::start() else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let url = format!("http://{}@{}", Influx::USER, influx.address);
    let run = http(&format!(
        "-r 500 -n 1000 --interval 100ms --influx {url}/write?db=loads --json {} {}?status=503:0.5",
        folder.at("json"),
        serve.url
    ));
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.notes(), "");
    influx.agrees_with(&report);
    influx.is_named_as_documented();
    for (url, said) in [
        (
            format!("{url}/other"),
            "404: {\"error\":\"database not found",
        ),
        (
            format!("http://me:wrong@{}/loads", influx.address),
            "401: {\"error\":\"authorization failed",
        ),
    ] {
        let line = format!("-n 5 --influx {url} --json {}", folder.at("json"));
        let run = http(&format!("{line} {}", serve.url));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let notes = Report::read(&folder.at("json")).notes();
        assert!(notes.contains(said), "{notes}");
    }
}

/// Runs `drumfire http` with a line of arguments and one file of trusted certificates.
fn trusting(certificate: &str, line: &str) -> Process {
    let mut command = drumfire(["http"]);
    command.args(words(line)).env("SSL_CERT_FILE", certificate);
    Process::start(&mut command)
}

#[test]
fn a_receiver_over_tls_is_trusted_by_a_variable() {
    let (Some(influx), Some(authority)) = (Influx::start(), Authority::new()) else {
        return;
    };
    let identity = authority.sign("receiver", "DNS:localhost", VALID);
    let nginx = Nginx {
        identity: Some(&identity),
        extra: &format!("location / {{ proxy_pass http://{}; }}", influx.address),
        ..Nginx::default()
    };
    let Some(nginx) = nginx.start() else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let url = nginx.tls_url("loads");
    let url = url.replace("https://", &format!("https://{}@", Influx::USER));
    let line = format!(
        "-r 500 -n 1000 --influx {url} --json {} {}?status=503:0.5",
        folder.at("json"),
        serve.url
    );
    let run = trusting(&authority.certificate, &line).finish(LIMIT);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report = Report::read(&folder.at("json"));
    assert_eq!(report.notes(), "");
    influx.agrees_with(&report);
    let statuses = nginx.log();
    assert!(!statuses.is_empty());
    for line in &statuses {
        assert!(line.starts_with("POST /write 204 "), "{line}");
    }
    // The certificate of another authority is rejected, and nothing is sent.
    let other = Authority::new().unwrap();
    let line = format!("-r 100 -n 5 --influx {url} --json {}", folder.at("json"));
    let run = trusting(&other.certificate, &format!("{line} {}", serve.url));
    let said = "invalid peer certificate";
    wait_until("the complaint", || run.stderr().contains(said));
    // Ctrl-C ends the wait for the receiver, not the run, which is over.
    run.signal(Signal::INT);
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let notes = Report::read(&folder.at("json")).notes();
    assert!(
        notes.contains(said) && notes.contains("did not accept"),
        "{notes}"
    );
    assert_eq!(nginx.log(), statuses);
}

/// VictoriaMetrics, which accepts all three formats: Debian's package, or the program in the
/// variable `VICTORIA_METRICS`. OpenTelemetry's format needs 1.92 or later.
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
            script::get(address, "/health").is_ok_and(|text| text.contains("OK"))
        });
        Some(Self {
            _process: process,
            _folder: folder,
            address,
        })
    }

    /// The maximum value of a series in the last minute.
    fn value(&self, series: &str) -> Option<f64> {
        let escaped = series
            .replace('{', "%7B")
            .replace('}', "%7D")
            .replace('"', "%22");
        let target = format!("/api/v1/query?query=max_over_time({escaped}[1m])");
        let reply = script::get(self.address, &target).ok()?;
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
        let run = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{flag}");
        let report = Report::read(&folder.at("json"));
        let id = report.at("run")["id"].as_str().unwrap();
        let series = |name: &str, labels: &str| format!("{name}{suffix}{{run=\"{id}\"{labels}}}");
        let ok = series("drumfire_requests_total", ",outcome=\"ok\"");
        let count = series("drumfire_response_time_seconds_count", "");
        let value = |series: &str| victoria.value(series).map(|value| value as u64);
        // Each series becomes visible separately, with the figures of its last push.
        wait_until(&format!("the last figures of {flag} in a query"), || {
            value(&ok) == Some(report.n("requests.ok"))
                && value(&count) == Some(report.n("latency.response_time.count"))
        });
        let within = series("drumfire_response_time_seconds_bucket", ",le=\"60\"");
        let other = series("drumfire_response_time_seconds_bucket", ",le=\"60.0\"");
        wait_until(&format!("the last bucket of {flag} in a query"), || {
            value(&within).or_else(|| value(&other)) == value(&count)
        });
    }
}

/// An OpenTelemetry collector, tools/otel-collector.go, which accepts OTLP in the clear and over
/// TLS and writes it to a file.
struct Collector {
    _process: Process,
    folder: Folder,
    address: SocketAddr,
    tls_port: u16,
}

impl Collector {
    fn start(identity: &Identity) -> Self {
        let program = std::env::var("OTEL_COLLECTOR").expect("OTEL_COLLECTOR names the program");
        let folder = Folder::new();
        let address = SocketAddr::from(([127, 0, 0, 1], lab::port()));
        let tls_port = lab::port();
        let Identity { certificate, key } = identity;
        let config = folder.write(
            "collector.yaml",
            format!(
                "receivers:\n  otlp: {{ protocols: {{ http: {{ endpoint: '{address}' }} }} }}\n  \
                 otlp/tls:\n    protocols:\n      http:\n        endpoint: 127.0.0.1:{tls_port}\n        \
                 tls: {{ cert_file: {certificate}, key_file: {key} }}\n\
                 exporters:\n  file: {{ path: {}, flush_interval: 100ms }}\n\
                 service:\n  telemetry: {{ metrics: {{ level: none }} }}\n  \
                 pipelines: {{ metrics: {{ receivers: [otlp, otlp/tls], exporters: [file] }} }}\n",
                folder.at("taken.json")
            ),
        );
        let mut command = std::process::Command::new(program);
        command.args(["--config", &config]).stdin(Stdio::null());
        let process = Process::start(&mut command);
        wait_until("the collector", || {
            [address.port(), tls_port]
                .iter()
                .all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok())
        });
        Self {
            _process: process,
            folder,
            address,
            tls_port,
        }
    }

    /// The received metrics of a run, latest last.
    fn metrics(&self, run: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.at("taken.json")).unwrap_or_default();
        // The last line may be incomplete.
        let lines = text
            .lines()
            .map_while(|line| serde_json::from_str(line).ok());
        let mut metrics = Vec::new();
        for line in lines {
            let line: serde_json::Value = line;
            let of = &line["resourceMetrics"][0];
            let id = serde_json::json!({"key": "run", "value": {"stringValue": run}});
            if of["resource"]["attributes"]
                .as_array()
                .unwrap()
                .contains(&id)
            {
                let own = of["scopeMetrics"][0]["metrics"].as_array().unwrap();
                metrics.extend(own.iter().cloned());
            }
        }
        metrics
    }

    /// Compares the received figures of a run with the run's summary.
    fn agrees_with(&self, report: &Report) {
        let id = report.at("run")["id"].as_str().unwrap();
        let is_finished = |metrics: &[serde_json::Value]| {
            let finished = last_point(metrics, "drumfire.run_finished", "gauge", None);
            finished.is_some_and(|point| point["asDouble"] == 1.0)
        };
        wait_until("the last figures in the file", || {
            is_finished(&self.metrics(id))
        });
        let metrics = self.metrics(id);
        let count = |value: &serde_json::Value| value.as_str().unwrap().parse::<u64>().unwrap();
        for (outcome, expected) in [
            ("ok", report.n("requests.ok")),
            ("http_status", report.kind("http_status")),
        ] {
            let point = last_point(&metrics, "drumfire.requests", "sum", Some(outcome)).unwrap();
            assert_eq!(count(&point["asInt"]), expected, "{outcome}");
        }
        let name = "drumfire.response_time";
        let times = last_point(&metrics, name, "histogram", None).unwrap();
        let seen = report.n("latency.response_time.count");
        assert_eq!(count(&times["count"]), seen);
        let buckets = times["bucketCounts"].as_array().unwrap();
        assert_eq!(buckets.iter().map(count).sum::<u64>(), seen);
        let bounds = times["explicitBounds"].as_array().unwrap();
        assert_eq!(buckets.len(), bounds.len() + 1);
        let mean = times["sum"].as_f64().unwrap() / seen as f64;
        let expected = report.number("latency.response_time.mean") / 1e9;
        assert!((mean - expected).abs() < 1e-8, "{mean} and {expected}");
        let times = metrics.iter().find(|metric| metric["name"] == name);
        let times = times.unwrap();
        assert_eq!(times["unit"], "s");
        // AGGREGATION_TEMPORALITY_CUMULATIVE
        assert_eq!(times["histogram"]["aggregationTemporality"], 2);
    }
}

/// The last point of a metric of this kind, for the given outcome if there is one.
fn last_point<'a>(
    metrics: &'a [serde_json::Value],
    name: &str,
    kind: &str,
    outcome: Option<&str>,
) -> Option<&'a serde_json::Value> {
    let metrics = metrics.iter().filter(|metric| metric["name"] == name);
    let mut points = metrics.filter_map(|metric| metric[kind]["dataPoints"].as_array());
    let mut points = points.next_back()?.iter().rev();
    points.find(|point| {
        // The end of a series has no value.
        if point["flags"] == 1 {
            return false;
        }
        let attributes = point["attributes"].as_array();
        let attributes = || attributes.into_iter().flatten();
        outcome.is_none_or(|name| attributes().any(|of| of["value"]["stringValue"] == name))
    })
}

#[test]
#[ignore = "needs a collector of OpenTelemetry; `make receivers` builds it"]
fn an_opentelemetry_collector_agrees_with_the_summary() {
    let authority = Authority::new().expect("openssl");
    let identity = authority.sign("collector", "DNS:localhost", VALID);
    let collector = Collector::start(&identity);
    let serve = Serve::new("");
    for url in [
        format!("http://{}", collector.address),
        format!("https://localhost:{}", collector.tls_port),
    ] {
        let folder = Folder::new();
        let line = format!(
            "-r 500 -n 1000 --otlp {url} --json {} {}?status=503:0.5",
            folder.at("json"),
            serve.url
        );
        let run = trusting(&authority.certificate, &line).finish(LIMIT);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{url}");
        let report = Report::read(&folder.at("json"));
        assert_eq!(report.notes(), "", "{url}");
        collector.agrees_with(&report);
    }
}
