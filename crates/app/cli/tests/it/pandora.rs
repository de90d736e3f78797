//! Pandora's configuration files and outputs.

use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{
    Folder, Process, Run, Script, Serve, Signal, drumfire, in_time, lab, punctually, wait_until,
};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A configuration with one pool and the given `TARGET`, `REST` and `RESULT`.
fn config(target: &str, result: &str, rest: &str) -> String {
    format!(
        "pools:\n  - gun: {{type: http, target: '{target}'}}\n    \
         ammo: {{type: uri, uris: ['/a', '/b tag', '[X-A: b]', '/c two words']}}\n    \
         result: {result}\n    rps: {{type: const, ops: 20, duration: 1s}}\n    \
         startup: {{type: once, times: 2}}\n{rest}"
    )
}

/// Runs `drumfire pandora load.yaml` in a folder with this file.
fn pandora(folder: &Folder, config: &str) -> Run {
    fs::write(folder.at("load.yaml"), config).unwrap();
    let mut command = drumfire(["pandora", "load.yaml"]);
    Process::start(command.current_dir(folder.path())).finish(LIMIT)
}

fn address(serve: &Serve) -> String {
    serve
        .url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned()
}

/// The columns of a row, without its times.
fn columns(row: &str) -> String {
    let parts: Vec<&str> = row.split('\t').collect();
    assert_eq!(parts.len(), 12, "{row:?}");
    assert!(parts[0].parse::<f64>().unwrap() > 1.7e9, "{row:?}");
    assert!(parts[2].parse::<u64>().unwrap() > 0, "{row:?}");
    format!("{} {} {}", parts[1], parts[10], parts[11])
}

#[test]
fn a_configuration_runs_as_it_is() {
    punctually(Duration::from_millis(30), runs_as_it_is);
}

fn runs_as_it_is() -> Result<(), String> {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let text = config(
        &address(&serve),
        "{type: phout, destination: phout.log}",
        "",
    );
    let run = pandora(&folder, &text);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = fs::read_to_string(folder.at("phout.log")).unwrap();
    let seen: Vec<String> = rows.lines().map(columns).collect();
    let all = ["__EMPTY__ 0 200", "tag 0 200", "two words 0 200"];
    let mut wanted: Vec<&str> = all.iter().cycle().take(20).copied().collect();
    let mut seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    seen.sort_unstable();
    assert_eq!(seen, wanted);
    for part in [
        "Pool run started\t{\"pool\": \"pool_0\"}",
        "; 2 users; 0 active",
        "Engine run successfully finished",
    ] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    assert!(run.stderr.contains("20 sent · 20 ok"), "{}", run.stderr);
    // All requests are in one second, and the last one comes 50 ms before its end.
    let second = "[ENGINE] 20 resp/s; 20 req/s; 2 users; 0 active";
    in_time(run.stdout.contains(second), || run.stdout.clone())
}

#[test]
fn the_name_of_the_program_and_the_default_file_are_enough() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let link = folder.at("pandora");
    symlink(PATH, &link).unwrap();
    fs::create_dir(folder.at("config")).unwrap();
    let text = config(&address(&serve), "{type: phout}", "log: {level: error}\n");
    fs::write(folder.at("config/load.yaml"), text).unwrap();
    let mut command = neutral(Command::new(&link));
    let run = Process::start(command.current_dir(folder.path())).finish(LIMIT);
    assert_eq!(
        (run.code, run.stdout.lines().count()),
        (Some(0), 20),
        "{}",
        run.stderr
    );
}

/// A counter of a page, and the page's head.
fn counter(page: &str, name: &str) -> u64 {
    let (_, body) = page.split_once("\r\n\r\n").unwrap_or_default();
    let counters: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    counters[name].as_u64().unwrap_or(0)
}

#[test]
fn counters_are_served_while_the_run_goes_on() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let port = lab::port();
    let rest = format!("monitoring: {{expvar: {{enabled: true, port: {port}}}}}\n");
    let text = config(&address(&serve), "{type: discard}", &rest).replace("1s}", "5m}");
    fs::write(folder.at("load.yaml"), text).unwrap();
    let mut command = drumfire(["pandora", "-expvar", "load.yaml"]);
    let process = Process::start(command.current_dir(folder.path()));
    let mut seen = String::new();
    wait_until("the counters count", || {
        use std::io::{Read as _, Write as _};
        seen.clear();
        let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", port)) else {
            return false;
        };
        let asked = stream.write_all(b"GET /debug/vars HTTP/1.1\r\nHost: x\r\n\r\n");
        asked.is_ok()
            && stream.read_to_string(&mut seen).is_ok()
            && counter(&seen, "engine_ReqPS") > 0
    });
    // Twenty per second; a late request may count in the next second.
    assert!(counter(&seen, "engine_ReqPS") <= 40, "{seen}");
    assert_eq!(counter(&seen, "engine_ActiveUsers"), 2, "{seen}");
    process.signal(Signal::INT);
    assert_eq!(process.finish(LIMIT).code, Some(1));
}

/// A configuration with these parts; `more` are further keys of its pool.
fn parts(target: &str, gun: &str, ammo: &str, rate: &str, startup: &str, more: &str) -> String {
    format!(
        "pools:\n  - gun: {{type: http, target: '{target}'{gun}}}\n    ammo: {{type: uri, {ammo}}}\n    \
         result: {{type: phout, destination: phout.log}}\n    rps: {rate}\n    startup: {startup}\n{more}"
    )
}

#[test]
fn the_schedule_begins_with_the_first_instance() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let startup = "[{type: const, ops: 0, duration: 3s}, {type: once, times: 1}]";
    let rate = "{type: const, ops: 10, duration: 1s}";
    let text = parts(&address(&serve), "", "uris: ['/a']", rate, startup, "");
    let run = pandora(&folder, &text);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = fs::read_to_string(folder.at("phout.log")).unwrap();
    assert_eq!(rows.lines().count(), 10, "{rows}");
    let times = rows.lines().map(|row| row.split('\t').next().unwrap());
    let times: Vec<f64> = times.map(|time| time.parse().unwrap()).collect();
    let (first, last) = (
        times.iter().copied().fold(f64::MAX, f64::min),
        times.iter().copied().fold(0.0, f64::max),
    );
    assert!(last - first > 0.5, "{rows}");
}

/// A server that counts the requests of each connection.
fn counting(counts: &Arc<Mutex<Vec<u32>>>) -> Script {
    let counts = Arc::clone(counts);
    Script::new(move |peer| {
        let mut count = 0;
        while peer.request().is_some() && peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        {
            count += 1;
        }
        counts.lock().unwrap().push(count);
    })
}

/// Each instance uses the same part of the ammo, for any number of threads.
#[test]
fn a_limit_is_shared_by_instances() {
    let (folder, counts) = (Folder::new(), Arc::default());
    let server = counting(&counts);
    let text = parts(
        &format!("127.0.0.1:{}", server.port()),
        "",
        "uris: ['/a'], limit: 12",
        "{type: const, ops: 10, duration: 5s}",
        "{type: once, times: 3}",
        "    rps-per-instance: true\n",
    );
    let run = pandora(&folder, &text);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    wait_until("all connections have ended", || {
        counts.lock().unwrap().len() == 3
    });
    assert_eq!(*counts.lock().unwrap(), [4, 4, 4]);
}

/// Go's runtime ends a program in this way.
#[test]
fn a_quit_ends_it_at_once() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let rate = "{type: const, ops: 10, duration: 50s}";
    let start = "{type: once, times: 1}";
    let text = parts(&address(&serve), "", "uris: ['/a']", rate, start, "");
    fs::write(folder.at("load.yaml"), text).unwrap();
    let mut command = drumfire(["pandora", "load.yaml"]);
    let run = Process::start(command.current_dir(folder.path()));
    serve.await_requests(3);
    run.signal(Signal::QUIT);
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("SIGQUIT: quit"), "{}", run.stderr);
}
