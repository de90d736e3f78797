//! Runs in a browser: the pages that `drumfire ui` and `--ui` serve, by requests as a browser sends
//! them. Pages in a real browser are tested in web/tests.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Serve, Signal, drumfire, in_time, punctually, wait_until};
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// The folders of a test user.
struct User {
    folder: Folder,
}

/// A URL that a program has printed.
struct Url {
    authority: String,
    path: String,
}

impl User {
    fn new() -> Self {
        let folder = Folder::new();
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder.path(), private).unwrap();
        Self { folder }
    }

    fn start(&self, args: &[&str]) -> Process {
        let mut command = drumfire(args);
        command.env("XDG_RUNTIME_DIR", self.folder.path());
        command.env("XDG_STATE_HOME", self.folder.path());
        Process::start(&mut command)
    }

    /// Runs ten requests, and stores the run.
    fn run(&self, url: &str) {
        let run = self.start(&["http", "-n", "10", "-c", "1", url]);
        assert_eq!(run.finish(LIMIT).code, Some(0));
    }
}

impl Url {
    /// The first complete URL in a text; waits until the text contains it.
    fn within(what: &str, mut text: impl FnMut() -> String) -> Self {
        let mut found = None;
        wait_until(what, || {
            let text = text();
            let (_, behind) = text.split_once("http://127.0.0.1:").unwrap_or_default();
            found = behind
                .split_once('\n')
                .map(|(url, _)| format!("127.0.0.1:{url}"));
            found.is_some()
        });
        let url = found.unwrap();
        let (authority, path) = url.split_once('/').unwrap();
        Self {
            authority: authority.to_owned(),
            path: format!("/{path}"),
        }
    }

    fn open(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The response to a request for a page below this URL.
    fn get(&self, below: &str) -> String {
        let (authority, path) = (&self.authority, &self.path);
        self.ask(&format!(
            "GET {path}{below} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n"
        ))
    }

    /// The response to a command from this origin.
    fn post(&self, below: &str, origin: &str, body: &str) -> String {
        let (authority, path, length) = (&self.authority, &self.path, body.len());
        self.ask(&format!(
            "POST {path}{below} HTTP/1.1\r\nHost: {authority}\r\nOrigin: {origin}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ))
    }

    fn ask(&self, request: &str) -> String {
        let mut answer = String::new();
        self.open(request).read_to_string(&mut answer).unwrap();
        answer
    }
}

/// The data that a connection receives, read in a separate thread.
struct Watched {
    text: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Watched {
    fn new(mut stream: TcpStream) -> Self {
        let text = Arc::<Mutex<Vec<u8>>>::default();
        let into = Arc::clone(&text);
        let thread = thread::spawn(move || {
            let mut piece = [0; 65_536];
            // The connection may be cut before its last chunk.
            while let Ok(read @ 1..) = stream.read(&mut piece) {
                into.lock().unwrap().extend_from_slice(&piece[..read]);
            }
        });
        Self { text, thread }
    }

    /// The data received so far.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    fn whole(self) -> String {
        self.thread.join().unwrap();
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}

/// The data of the events with this name.
fn events(stream: &str, name: &str) -> Vec<Value> {
    let event = format!("event: {name}\ndata: ");
    let found = stream.split(&event).skip(1);
    found
        .map(|rest| serde_json::from_str(rest.lines().next().unwrap()).unwrap())
        .collect()
}

/// A page follows its run to the end, shows the figures of the report, and controls the run.
#[test]
fn the_page_of_a_run_follows_and_commands_it() {
    punctually(Duration::from_secs(1), page_of_a_run);
}

fn page_of_a_run() -> Result<(), String> {
    let (user, serve) = (User::new(), Serve::new(""));
    let address = [
        "http",
        "-r",
        "50",
        "-z",
        "1h",
        "--interval",
        "200ms",
        "--ui",
        ":0",
        "--header",
        "Authorization: Bearer hunter2hunter2",
        "--json",
        "-",
    ];
    let run = user.start(&[&address[..], &[&serve.url]].concat());
    let url = Url::within("the page's address", || run.stderr());
    serve.await_requests(20);
    let page = url.get("");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    for words in [
        "data-events=\"events\"",
        "data-command=\"rate\"",
        &serve.url,
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    assert!(!page.contains("hunter2"), "{page}");

    let (authority, path) = (&url.authority, &url.path);
    let watched = Watched::new(url.open(&format!(
        "GET {path}events HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    )));
    let own = format!("http://{authority}");
    let said = url.post("command", &own, r#"{"command":"mark","value":"seen"}"#);
    assert!(said.contains("\"answer\":\"marked at "), "{said}");
    let said = url.post("command", &own, r#"{"command":"rate","value":"much"}"#);
    assert!(
        said.contains(" 400 ") && said.contains("neither a rate nor a law"),
        "{said}"
    );
    let said = url.post("command", &own, r#"{"command":"dance"}"#);
    assert!(said.contains("unknown command"), "{said}");
    let said = url.post("command", "http://evil.example", r#"{"command":"stop"}"#);
    assert!(said.contains(" 403 "), "{said}");
    let large = format!(r#"{{"command":"mark","value":"{}"}}"#, "x".repeat(10_000));
    assert!(url.post("command", &own, &large).contains(" 413 "));
    serve.await_requests(serve.count("requests") + 20);
    // The threads that draw a page leave the cores to others, and draw less often if drawing is
    // slow.
    let end = Instant::now() + Duration::from_secs(10);
    let pictures = || watched.text().matches("\"id\":\"rate\"").count();
    while pictures() < 2 && Instant::now() < end {
        sleep(Duration::from_millis(20));
    }
    let said = url.post("command", &own, r#"{"command":"stop"}"#);
    assert!(said.contains("load ends at "), "{said}");

    let run = run.finish(LIMIT);
    let stream = watched.whole();
    assert!(!stream.contains("hunter2"), "{stream}");
    let ends = events(&stream, "end").len();
    assert!(ends <= 1, "{stream}");
    // The program waits two seconds for a viewer.
    in_time(ends == 1, || stream.clone())?;
    let pictures = pictures_of(&events(&stream, "part"), &run.stdout);
    in_time(pictures > 1, || format!("{pictures} pictures"))
}

/// Compares the last parts of a page with the run's result. Returns the number of pictures of the
/// rate.
fn pictures_of(parts: &[Value], result: &str) -> usize {
    let newest = |id: &str| parts.iter().rfind(|part| part["id"] == id).unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    let sent = result["requests"]["sent"].to_string();
    let numbers = newest("numbers")["html"].as_str().unwrap();
    assert!(numbers.contains(&sent), "{sent} in {numbers}");
    let report = newest("report")["html"].as_str().unwrap();
    assert!(report.contains(" s: seen"), "{report}");
    parts.iter().filter(|part| part["id"] == "rate").count()
}

/// Stored runs have a list and a page each, and an active run is controlled through its socket.
#[test]
fn stored_runs_are_listed_shown_and_compared() {
    let (user, serve) = (User::new(), Serve::new(""));
    user.run(&serve.url);
    user.run(&serve.url);
    let server = user.start(&["ui", "--listen", ":0"]);
    let url = Url::within("the list's address", || server.stdout());
    let list = url.get("");
    let names: Vec<&str> = list.split("href=\"run/").skip(1).collect();
    let names: Vec<&str> = names
        .iter()
        .map(|rest| &rest[..rest.find('/').unwrap()])
        .collect();
    assert_eq!(names.len(), 2, "{list}");
    assert_eq!(list.matches("class=\"spark\"").count(), 1, "{list}");
    let page = url.get(&format!("run/{}/", names[0]));
    assert!(
        page.contains("figure id=\"latency\"") && !page.contains("data-events"),
        "{page}"
    );
    let both = url.get(&format!("compare?base={}&candidate={}", names[1], names[0]));
    assert!(
        both.contains("One pair of runs") && both.contains("id=\"tail\""),
        "{both}"
    );
    assert!(both.contains("id=\"forest\""), "{both}");
    let history = url.get(&format!("history?run={}", names[0]));
    assert_ways(&names, [&page, &both, &history]);
    // The link of a run whose directory another run has taken.
    let runs = user.folder.path().join("drumfire/runs");
    symlink(runs.join(names[0]), runs.join("stale")).unwrap();
    searches(&url, &names, &both);
    for (below, status) in [
        ("run/nothing/", " 404 "),
        ("run/stale/", " 404 "),
        ("run/../", " 404 "),
        ("compare?base=a&candidate=b", " 404 "),
        ("elsewhere", " 404 "),
        (&format!("run/{}", names[0]), " 308 "),
    ] {
        let answer = url.get(below);
        assert!(
            answer.lines().next().unwrap().contains(status),
            "{below}: {answer}"
        );
    }
    let stranger = url.ask("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(stranger.starts_with("HTTP/1.1 421 "), "{stranger}");

    active_run(&user, &serve, &url);
    server.signal(Signal::TERM);
    assert_eq!(server.finish(LIMIT).code, Some(0));
}

/// Searches, filters and ticked runs, as forms send them. `both` is the comparison of two runs.
fn searches(url: &Url, names: &[&str], both: &str) {
    for (query, count) in [
        ("?q=HTTP%3A%2F%2F+127".to_owned(), 2),
        (format!("?q={}", names[1]), 1),
        (format!("?plan={}&page=9", names[0]), 2),
        ("?failed=1".to_owned(), 0),
        ("?q=nothing".to_owned(), 0),
    ] {
        let list = url.get(&query);
        assert_eq!(
            list.matches("href=\"run/").count(),
            count,
            "{query}: {list}"
        );
    }
    let ticked = url.get(&format!("compare?run={}&run={}", names[0], names[1]));
    let body = |page: &str| page.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&ticked), body(both));
}

/// An active run is listed with its state, and its page has the commands that are possible.
fn active_run(user: &User, serve: &Serve, url: &Url) {
    let run = user.start(&["http", "-r", "20", "-z", "1h", &serve.url]);
    serve.await_requests(serve.count("requests") + 5);
    let mut live = String::new();
    wait_until("the run in the list", || {
        let list = url.get("");
        let row = list.split("<tr>").find(|row| row.contains("running"));
        let name = row.and_then(|row| row.split("href=\"run/").nth(1));
        live = name
            .unwrap_or_default()
            .split('/')
            .next()
            .unwrap()
            .to_owned();
        !live.is_empty()
    });
    let mut page = String::new();
    wait_until("the first interval", || {
        page = url.get(&format!("run/{live}/"));
        page.contains(">running ") && page.contains(" of 1h00m")
    });
    for words in [
        "data-events=\"events\"",
        "data-command=\"pause\"",
        "All runs",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    assert!(!page.contains("data-command=\"resume\""), "{page}");
    let listed = user.start(&["runs", "--json", "-"]).finish(LIMIT);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["runs"][0]["state"], "running");
    assert_eq!(listed["runs"][1]["state"], "finished");
    assert_eq!(listed["runs"][0]["planned_ns"], 3_600_000_000_000_u64);
    assert_ne!(listed["runs"][0]["exit_code"], 0);
    stop(url, &live);
    run.finish(LIMIT);
}

/// The pages of a run, of two runs and of a history link to the list, and a history to its runs.
fn assert_ways(names: &[&str], [run, both, history]: [&str; 3]) {
    let back = |page: &str, address: &str| page.contains(&format!("<a href=\"{address}\">← All"));
    assert!(back(run, "../../"), "{run}");
    assert!(back(both, "./") && back(history, "./"), "{history}");
    for name in names {
        let link = format!("<a href=\"run/{name}/\">");
        assert!(history.contains(&link), "{history}");
    }
}

/// Stops a run from its page.
fn stop(url: &Url, live: &str) {
    let own = format!("http://{}", url.authority);
    // On a busy machine, a run may not respond in time, but still carry out the command.
    let mut is_silent = false;
    wait_until("the stop", || {
        let said = url.post(
            &format!("run/{live}/command"),
            &own,
            r#"{"command":"stop"}"#,
        );
        let is_done = said.contains("load ends at ");
        assert!(
            is_done || is_silent || said.contains("does not respond"),
            "{said}"
        );
        is_silent = !is_done;
        is_done || said.contains("not in progress")
    });
}

/// Connections without a request keep no reader out.
#[test]
fn a_reader_replaces_the_connection_that_is_idle_longest() {
    let user = User::new();
    let server = user.start(&["ui", "--listen", ":0"]);
    let url = Url::within("the list's address", || server.stdout());
    let idle: Vec<TcpStream> = (0..64).map(|_| url.open("")).collect();
    let list = url.get("");
    assert!(list.starts_with("HTTP/1.1 200 "), "{list}");
    let mut first = &idle[0];
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
    server.signal(Signal::TERM);
    assert_eq!(server.finish(LIMIT).code, Some(0));
}

#[test]
fn pages_are_on_loopback_alone() {
    for (address, words) in [
        ("192.0.2.1:80", "must be on loopback"),
        ("[::]:0", "must be on loopback"),
        ("7070", "use HOST:PORT"),
        ("localhost:99999", "use HOST:PORT"),
    ] {
        let run = User::new().start(&["ui", "-l", address]).finish(LIMIT);
        assert_eq!(run.code, Some(2), "{address}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{address}: {}", run.stderr);
        let line = ["http", "-n", "1", "--ui", address, "127.0.0.1:9"];
        let run = User::new().start(&line).finish(LIMIT);
        assert_eq!(run.code, Some(2), "{address}: {}", run.stderr);
        assert!(run.stderr.contains("--ui"), "{address}: {}", run.stderr);
    }
}
