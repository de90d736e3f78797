//! slow_cooker's lines, counts and files where they are exact. `slow_cooker_beside` has the
//! original's results for the same lines.

use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::script::Peer;
use crate::support::{
    Folder, Process, Run, Script, Serve, Signal, drumfire, in_time, punctually, wait_until,
};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// `drumfire slow_cooker LINE`.
fn slow_cooker(line: &str) -> Run {
    let mut command = drumfire(["slow_cooker"]);
    Process::start(command.args(words(line))).finish(LIMIT)
}

/// The numbers of a line: good, bad, failed, the goal, the percentage of it, the bracket's values,
/// the maximum time and the failures of hashes.
#[derive(Debug)]
struct Line {
    counts: [u64; 3],
    goal: u64,
    share: u64,
    quantiles: Vec<u64>,
    most: u64,
    hashes: u64,
}

fn lines(run: &Run) -> Vec<Line> {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let texts = run.stdout.lines();
    let texts = texts.filter(|text| text.contains('[') && !text.starts_with('#'));
    texts.map(line).collect()
}

fn line(text: &str) -> Line {
    let text = text.replace(['[', ']', '%'], " ");
    let mut words = text
        .split_whitespace()
        .skip(1)
        .skip_while(|word| !word.contains('/'));
    let counts = words.next().unwrap().split('/');
    let counts: Vec<u64> = counts.map(|count| count.parse().unwrap()).collect();
    let mut number = || words.next().unwrap().parse().ok();
    let (goal, share) = (number().unwrap(), number().unwrap());
    assert!(number().is_none(), "the interval is no number");
    let numbers: Vec<u64> = std::iter::from_fn(|| words.next()?.parse().ok()).collect();
    let [_least, quantiles @ .., most, hashes] = &numbers[..] else {
        panic!("{text}");
    };
    Line {
        counts: counts.try_into().unwrap(),
        goal,
        share,
        quantiles: quantiles.to_vec(),
        most: *most,
        hashes: *hashes,
    }
}

/// Answers every request after this time, plus `odd` of its number.
fn answers_in(time: Duration, odd: impl Fn(u64) -> Duration + Send + Sync + 'static) -> Script {
    let count = AtomicU64::new(0);
    Script::new(move |peer: &mut Peer| {
        while peer.request().is_some() {
            sleep(time + odd(count.fetch_add(1, Ordering::Relaxed)));
            if !peer.send(OK) {
                return;
            }
        }
    })
}

#[test]
fn a_number_of_requests_is_exact_and_p999_is_no_maximum() {
    punctually(Duration::from_millis(200), number_and_p999);
}

fn number_and_p999() -> Result<(), String> {
    let slow = |number| Duration::from_millis(if number == 700 { 250 } else { 0 });
    let (server, folder) = (answers_in(Duration::ZERO, slow), Folder::new());
    let csv = folder.at("lat.csv");
    let flags = "-qps 200 -concurrency 10 -totalRequests 2000 -latencyUnit us";
    let run = slow_cooker(&format!(
        "{flags} -reportLatenciesCSV {csv} {}",
        server.url()
    ));
    let [line] = &lines(&run)[..] else {
        panic!("{}", run.stdout);
    };
    assert_eq!(line.counts, [2_000, 0, 0]);
    assert_eq!(server.heads().len(), 2_000);
    assert!(line.goal >= 2_000, "{line:?}");
    assert!(line.most >= 250_000, "{line:?}");
    // The table has every time; the bucket with rank 1,998 contains p999.
    let table = std::fs::read_to_string(csv).unwrap();
    let mut below = 0;
    let rows = table.lines().map(|row| {
        let cells = row.split(", ").map(|cell| cell.parse().unwrap());
        <[u64; 3]>::try_from(cells.collect::<Vec<u64>>()).unwrap()
    });
    let rows: Vec<[u64; 3]> = rows.collect();
    assert_eq!(rows.iter().map(|row| row[2]).sum::<u64>(), 2_000);
    let bucket = rows.iter().find(|row| {
        below += row[2];
        below >= 1_998
    });
    let [low, high, _] = *bucket.unwrap();
    let p999 = line.quantiles[3];
    let slack = high / 100 + 1;
    assert!(
        (low.saturating_sub(slack)..=high + slack).contains(&p999),
        "{low} {high} {p999}"
    );
    assert!(
        run.stdout.contains(&format!("\"p999\": {p999}\n")),
        "{}",
        run.stdout
    );
    // The requests that a busy user skipped were due as well.
    in_time(line.goal < 2_300, || format!("{line:?}"))
}

#[test]
fn a_busy_user_leaves_out_requests_that_a_number_of_them_does_not_count() {
    let server = answers_in(Duration::from_millis(24), |_| Duration::ZERO);
    let run = slow_cooker(&format!(
        "-qps 100 -concurrency 3 -totalRequests 60 {}",
        server.url()
    ));
    assert_eq!(server.heads().len(), 60);
    let numbers = server.heads().into_iter().map(|head| {
        let field = head
            .lines()
            .find_map(|line| line.strip_prefix("Sc-Req-Id: "));
        field.unwrap().parse::<u64>().unwrap()
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=60).collect::<Vec<u64>>());
    assert!(lines(&run)[0].share < 60, "{}", run.stdout);
}

#[test]
fn users_send_one_after_the_other_and_one_that_is_stuck_holds_up_no_other() {
    punctually(Duration::from_millis(30), users_and_one_that_is_stuck);
}

fn users_and_one_that_is_stuck() -> Result<(), String> {
    let first = AtomicU64::new(0);
    let arrivals: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let seen = Arc::clone(&arrivals);
    let server = Script::new(move |peer: &mut Peer| {
        while peer.request().is_some() {
            seen.lock().unwrap().push(Instant::now());
            if first.fetch_add(1, Ordering::Relaxed) == 0 {
                return peer.hold();
            }
            if !peer.send(OK) {
                return;
            }
        }
    });
    let flags = "-qps 5 -concurrency 4 -interval 1s -iterations 1 -timeout 1100ms";
    let run = slow_cooker(&format!("{flags} {}", server.url()));
    let [whole, rest] = &lines(&run)[..] else {
        panic!("{}", run.stdout);
    };
    assert!(
        run.stderr
            .contains(" × context deadline exceeded (Client.Timeout exceeded"),
        "{}",
        run.stderr
    );
    let of_kind = |kind: usize| whole.counts[kind] + rest.counts[kind];
    let [good, bad, failed] = [0, 1, 2].map(of_kind);
    assert!(good <= 15 && bad == 0 && failed > 0, "{}", run.stdout);
    assert_eq!(whole.goal, 20);
    // Three of four users.
    let wanted = ([15, 0, 0], 75, [0, 0, 1]);
    in_time((whole.counts, whole.share, rest.counts) == wanted, || {
        run.stdout.clone()
    })?;
    // A request every 50 ms, not four every 200 ms.
    let arrivals = arrivals.lock().unwrap();
    let gaps = arrivals.windows(2).map(|pair| pair[1] - pair[0]);
    let near = gaps.filter(|gap| *gap < Duration::from_millis(20)).count();
    in_time(near <= 3, || {
        format!("{near} of {} come together", arrivals.len())
    })
}

#[test]
fn urls_have_fair_shares_whatever_the_number_of_users() {
    for (users, urls) in [(5, 3), (2, 3), (3, 3), (7, 2)] {
        let (server, folder) = (
            answers_in(Duration::ZERO, |_| Duration::ZERO),
            Folder::new(),
        );
        let list: Vec<String> = (0..urls)
            .map(|n| format!("{}{n}\n", server.url()))
            .collect();
        let list = folder.write("list", list.concat());
        let count = 20 * urls;
        let run = slow_cooker(&format!(
            "-qps 100 -concurrency {users} -totalRequests {count} @{list}"
        ));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let mut shares: BTreeMap<String, u32> = BTreeMap::new();
        for head in server.heads() {
            *shares
                .entry(head.split(' ').nth(1).unwrap().to_owned())
                .or_default() += 1;
        }
        let shares: Vec<u32> = shares.into_values().collect();
        assert_eq!(shares, vec![20; urls], "{users} users");
    }
}

#[test]
fn a_dead_target_is_told_in_a_line_for_each_kind() {
    punctually(Duration::from_millis(150), dead_target);
}

fn dead_target() -> Result<(), String> {
    let port = crate::support::lab::port();
    let flags = "-qps 100 -concurrency 2 -interval 500ms -iterations 1";
    let run = slow_cooker(&format!("{flags} http://127.0.0.1:{port}/"));
    let line = &lines(&run)[0];
    assert!(line.counts[2] <= 100, "{line:?}");
    assert_eq!((line.counts[0], line.share), (0, 0));
    let told: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains(" × "))
        .collect();
    assert!((1..=2).contains(&told.len()), "{told:?}");
    assert!(told[0].contains("× connection refused"), "{told:?}");
    // Each user keeps its rate.
    in_time(line.counts[2] > 60, || format!("{line:?}"))
}

#[test]
fn certificates_are_not_verified_and_a_note_says_so() {
    let server = Serve::new("--tls");
    let url = format!("https://{}/", server.address());
    let run = slow_cooker(&format!("-qps 20 -interval 300ms -iterations 1 {url}"));
    let lines = lines(&run);
    let count = |kind: usize| lines.iter().map(|line| line.counts[kind]).sum::<u64>();
    assert!(count(0) > 0 && count(2) == 0, "{lines:?}");
    assert!(
        run.stderr.contains("certificates are not verified"),
        "{}",
        run.stderr
    );
}

/// The pipelines on slow_cooker's page, with a link of that name.
#[test]
fn its_page_s_pipelines_count_bad_and_failed_requests() {
    let (server, folder) = (Serve::new("--status 503:1"), Folder::new());
    symlink(PATH, folder.at("slow_cooker")).unwrap();
    let shell = |line: &str| {
        let mut command = neutral(Command::new("sh"));
        command.args(["-c", line]).current_dir(folder.path());
        Process::start(&mut command).finish(LIMIT)
    };
    let flags = "-seed-format -qps 5 -concurrency 20 -interval 200ms -iterations 2";
    let run = shell(&format!(
        "./slow_cooker {flags} {} | tee slow_cooker.log",
        server.url
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let seen = lines(&run);
    let (bad, failed): (Vec<u64>, Vec<u64>) = seen
        .iter()
        .map(|line| (line.counts[1], line.counts[2]))
        .unzip();
    assert!(bad.iter().any(|count| *count > 0), "{}", run.stdout);
    for (part, counts) in [(2, bad), (3, failed)] {
        let run = shell(&format!(
            "cat slow_cooker.log |cut -d ' ' -f 3 | cut -d '/' -f {part} |sort -rn |uniq -c"
        ));
        let has = |count: u64| {
            let words = |line: &str| line.split_whitespace().nth(1) == Some(&count.to_string());
            run.stdout.lines().any(words)
        };
        assert!(
            counts.iter().all(|count| has(*count)),
            "{part}: {}",
            run.stdout
        );
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let server = answers_in(Duration::ZERO, |_| Duration::ZERO);
    let mut command = drumfire(["slow_cooker", "-qps", "50", "-interval", "50ms"]);
    command
        .arg(server.url())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..4 {
        out.read_line(&mut String::new()).unwrap();
    }
    drop(out);
    let until = Instant::now() + LIMIT;
    while child.try_wait().unwrap().is_none() && Instant::now() < until {
        sleep(Duration::from_millis(10));
    }
    let goes_on = child.try_wait().unwrap().is_none();
    let _ended = child.kill();
    let status = child.wait().unwrap();
    assert!(!goes_on && !status.success(), "{status}");
}

#[test]
fn a_second_signal_waits_for_nothing() {
    let server = Script::new(|peer: &mut Peer| {
        peer.request();
        peer.hold();
    });
    let mut command = drumfire(["slow_cooker", "-qps", "5", "-timeout", "0"]);
    let process = Process::start(command.arg(server.url()));
    wait_until("a request", || !server.heads().is_empty());
    process.signal(Signal::TERM);
    sleep(Duration::from_millis(200));
    process.signal(Signal::INT);
    let run = process.finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout.matches("\"p999\"").count(), 1, "{}", run.stdout);
}

#[test]
fn hashes_of_a_share_are_counted() {
    let server = answers_in(Duration::ZERO, |_| Duration::ZERO);
    for (rate, wanted) in [("1", 60), ("0.5", 30), ("0.1", 6), ("0", 0)] {
        let flags = "-qps 100 -concurrency 3 -totalRequests 60 -hashValue 1";
        let run = slow_cooker(&format!("{flags} -hashSampleRate {rate} {}", server.url()));
        let line = &lines(&run)[0];
        assert_eq!((line.counts, line.hashes), ([60, 0, 0], wanted), "{rate}");
    }
    let hello = "-hashValue 11831194018420276491 -hashSampleRate 1";
    let run = slow_cooker(&format!(
        "-qps 100 -totalRequests 20 {hello} {}",
        server.url()
    ));
    assert_eq!(lines(&run)[0].hashes, 0);
}

/// The time of a response ends with the first byte of the last response, redirects included.
#[test]
fn a_redirect_is_part_of_a_response() {
    let script = Script::new(|peer: &mut Peer| {
        while let Some(head) = peer.request() {
            if head.starts_with("GET /slow ") {
                sleep(Duration::from_millis(150));
                peer.send(OK);
            } else {
                peer.send("HTTP/1.1 302 Found\r\nLocation: /slow\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    let url = format!("{}redir", script.url());
    let run = slow_cooker(&format!(
        "-qps 4 -interval 1s -iterations 1 -noLatencySummary {url}"
    ));
    let lines = lines(&run);
    let mut answered = lines.iter().filter(|line| line.counts[0] > 0);
    let is_whole = |line: &Line| line.quantiles.iter().all(|time| *time >= 150);
    assert!(answered.next().is_some_and(is_whole), "{lines:?}");
    assert!(answered.all(is_whole), "{lines:?}");
}
