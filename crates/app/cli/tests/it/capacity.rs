//! `drumfire capacity` against the built-in server.

use crate::support::process::{Run, Signal};
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Serve, drumfire, in_time, punctually, wait_until};
use std::time::Duration;

fn search(url: &str, flags: &[&str]) -> Process {
    let args = ["capacity", url].into_iter().chain(flags.iter().copied());
    Process::start(&mut drumfire(args))
}

/// Runs a search to its end.
fn run(url: &str, flags: &[&str]) -> Run {
    search(url, flags).finish(LIMIT)
}

/// Checks the exit code and the output of a search. On a busy machine, the answer is different, as
/// it should be.
fn ended(found: &Run, codes: &[i32], says: &str) -> Result<(), String> {
    let is_right = found.code.is_some_and(|code| codes.contains(&code));
    in_time(is_right && found.stdout.contains(says), || {
        format!("{:?} {} {}", found.code, found.stdout, found.stderr)
    })
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_capacity_of_calls_is_searched_by_a_line_of_their_command() {
    let serve = Serve::new("--grpc");
    let line = format!(
        "grpc --plaintext --call helloworld.Greeter/SayHello -d '{{\"name\":\"a b\"}}' {}",
        serve.address()
    );
    let flags = [
        "--slo",
        "p90<2s",
        "--slo",
        "failed<10%",
        "--from",
        "20",
        "--max",
        "40",
    ];
    let short = ["--step", "1s", "--hold", "10s", "--confirm", "1s", "--json"];
    punctually(Duration::from_secs(1), || {
        let found = run(&line, &[&flags[..], &short].concat());
        assert!(serve.count("requests") > 0, "{}", found.stderr);
        ended(&found, &[0], "\"answer\": \"above\"")?;
        let requests = serve.count("requests");
        in_time(requests >= 20, || format!("{requests} requests"))
    });
}

/// Each request takes 5 ms, one at a time, so the maximum is 200/s.
#[test]
fn a_server_with_one_place_has_the_capacity_of_its_queue() {
    punctually(Duration::from_secs(2), one_place);
}

fn one_place() -> Result<(), String> {
    let serve = Serve::new("--serial --delay const:5ms");
    let folder = Folder::new();
    let (store, page, comment) = (
        folder.at("run"),
        folder.at("page.html"),
        folder.at("comment.md"),
    );
    let flags = [
        "--slo",
        "p90<60ms",
        "--from",
        "50",
        "--step",
        "2s",
        "--hold",
        "20s",
        "--confirm",
        "5s",
        "-o",
        &store,
        "--html",
        &page,
        "--markdown",
        &comment,
        "--json",
        "-",
    ];
    let found = run(&serve.url, &flags);
    let text = &found.stdout;
    assert!(
        text.contains("\"schema\": \"drumfire.capacity.v1\""),
        "{text}"
    );
    // The run ended as planned, and no note lists each of its rates.
    let report = Process::start(&mut drumfire(["report", &store, "--json", "-"]));
    let report = report.finish(LIMIT);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("capacity: "), "{notes}");
    assert!(!notes.contains("rate "), "{notes}");
    assert_stored(&store, &page);

    ended(&found, &[0, 3], "\"answer\": \"found\"")?;
    let json = json(text);
    let rate = |name: &str| json[name].as_f64().unwrap();
    assert!(
        rate("low_per_s") < rate("rate_per_s") && rate("rate_per_s") < rate("high_per_s"),
        "{json}"
    );
    let found_rate = rate("rate_per_s");
    in_time(found_rate > 130.0 && found_rate < 205.0, || {
        json.to_string()
    })?;
    assert_eq!(json["slo"], "p90<60ms");
    assert_eq!(json["limited_by"], "target");
    assert_eq!(json["slos"][1]["expression"], "failed<1%");
    for line in [
        "climb: 50/s, ",
        "hold: ",
        "confirm: ",
        "the run is stored in ",
    ] {
        assert!(found.stderr.contains(line), "{line}: {}", found.stderr);
    }
    let page = std::fs::read_to_string(&page).unwrap();
    let comment = std::fs::read_to_string(&comment).unwrap();
    assert_headings(&page, &comment);
    Ok(())
}

/// The stored run has the answer and the page of the search.
fn assert_stored(store: &str, page: &str) {
    let folder = Folder::new();
    let again = folder.at("again.html");
    let report = Process::start(&mut drumfire(["report", store, "--html", &again]));
    let report = report.finish(LIMIT);
    assert!(report.stdout.starts_with("Capacity  "), "{}", report.stdout);
    assert!(report.stdout.contains("\nLatency  "), "{}", report.stdout);
    let [page, again] = [page, &again].map(|file| std::fs::read_to_string(file).unwrap());
    let part = |page: &str, id: &str| {
        let (_, from) = page.split_once(&format!("id=\"{id}\"")).unwrap();
        from.split_once("</section>").unwrap().0.to_owned()
    };
    for id in ["about", "answers", "knee", "rates", "course"] {
        assert_eq!(part(&page, id), part(&again, id));
    }
}

/// The heading of both is the answer.
fn assert_headings(page: &str, comment: &str) {
    let (_, heading) = page.split_once("<h1>").unwrap();
    let (heading, _) = heading.split_once("</h1>").unwrap();
    assert!(heading.contains("keeps p90&lt;60ms"), "{heading}");
    let (heading, _) = comment.split_once('\n').unwrap();
    assert!(
        heading.starts_with("## ") && heading.contains("keeps p90\\<60ms"),
        "{comment}"
    );
}

#[test]
fn the_first_rate_may_miss_and_the_greatest_may_keep() {
    let serve = Serve::new("--delay 20ms");
    let quick = ["--step", "1s", "--confirm", "1s", "--from", "50", "-q"];
    punctually(Duration::from_millis(500), || {
        let flags = [&["--slo", "p99<5ms"], &quick[..]].concat();
        let missed = run(&serve.url, &flags);
        let answer = "Capacity     ✗ below 50/s: the first rate misses p99<5ms, failed<1%\n";
        ended(&missed, &[99], answer)
    });
    punctually(Duration::from_millis(500), || {
        let flags = [&["--slo", "p99<500ms", "--max", "150"], &quick[..]].concat();
        let kept = run(&serve.url, &flags);
        assert_eq!(kept.stderr, "", "-q");
        let answer = "or more: the maximum rate keeps";
        ended(&kept, &[0], answer)
    });
}

#[test]
fn connections_are_named_where_they_are_the_limit() {
    punctually(Duration::from_secs(2), few_connections);
}

fn few_connections() -> Result<(), String> {
    let serve = Serve::new("--delay 10ms");
    let flags = [
        "--slo",
        "p90<60ms",
        "--from",
        "50",
        "-c",
        "2",
        "--step",
        "1s",
        "--hold",
        "12s",
        "--confirm",
        "2s",
        "-q",
        "--json",
        "-",
    ];
    let found = run(&serve.url, &flags);
    ended(&found, &[0, 3], "\"answer\": \"found\"")?;
    let json = json(&found.stdout);
    let rate = json["rate_per_s"].as_f64().unwrap();
    let is_right = json["limited_by"] == "connections" && rate > 120.0 && rate < 205.0;
    in_time(is_right, || json.to_string())
}

#[test]
fn a_signal_ends_a_search_with_what_is_known() {
    let serve = Serve::new("");
    let search = search(
        &serve.url,
        &["--slo", "p99<20s", "--step", "1s", "--json", "-"],
    );
    // The current rate is printed, and the previous rate was kept.
    wait_until("a second rate", || {
        search.stderr().contains("climb: 20/s, ")
    });
    search.signal(Signal::INT);
    let cut = search.finish(LIMIT);
    assert_eq!(cut.code, Some(4), "{} {}", cut.stdout, cut.stderr);
    let json = json(&cut.stdout);
    assert_eq!(
        (&json["answer"], &json["cut_short"]),
        (&"open".into(), &true.into())
    );
    assert!(json["kept_per_s"].as_f64().unwrap() >= 10.0, "{json}");
}

#[test]
fn a_plan_is_searched_in_one_of_its_pools() {
    let serve = Serve::new("--delay 20ms");
    let folder = Folder::new();
    let plan = folder.at("plan.yaml");
    let text = |pools: &str| {
        format!(
            "drumfire: 1\ndefaults: {{ target: {} }}\n{pools}",
            serve.url
        )
    };
    let open = "pools:\n  read: { rate: 5/s, requests: [ { get: /a } ] }\n  write: { rate: 3/s, requests: [ { get: /b } ] }\n";
    std::fs::write(&plan, text(open)).unwrap();
    let quick = [
        "--slo",
        "p90<500ms",
        "--slo",
        "failed<10%",
        "--step",
        "1s",
        "--confirm",
        "1s",
        "--max",
        "20",
        "-q",
    ];
    punctually(Duration::from_millis(500), || {
        let flags = [&quick[..], &["--pool", "write", "--json", "-"]].concat();
        ended(&run(&plan, &flags), &[0], "\"answer\": \"above\"")
    });
}
