//! Feeds of plans: the rows that arrive, their order, and the messages for invalid feeds.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Script, drumfire};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

fn run(plan: &str, url: &str, folder: &Folder) -> Run {
    let plan = plan.replace("{url}", url.trim_end_matches('/'));
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    Process::start(&mut command).finish(LIMIT)
}

#[test]
fn a_feed_larger_than_memory_is_read_as_it_is_needed() {
    let mut text = "n,note,pad\r\n".to_owned();
    for n in 0..400_000 {
        let _ = write!(
            text,
            "{n},\"a \"\"{n}\"\"\n,b\",0123456789012345678901234567\r\n"
        );
    }
    assert!(text.len() > 20 << 20);
    let row = |target: &str| -> u64 {
        let n = target.strip_prefix('/').and_then(|n| n.split('/').next());
        let n = n.and_then(|n| n.parse().ok()).expect(target);
        assert_eq!(target, format!("/{n}/a%20%22{n}%22%0A%2Cb"));
        n
    };
    let (all_come, arrived) = (
        Arc::<AtomicUsize>::default(),
        Arc::<Mutex<Vec<String>>>::default(),
    );
    let (wanted, into) = (Arc::clone(&all_come), Arc::clone(&arrived));
    let server = Script::new(move |peer| {
        while let Some(head) = peer.request() {
            into.lock()
                .unwrap()
                .push(head.split(' ').nth(1).unwrap().to_owned());
            // Answer only after this number of users has sent a request, each over its own
            // connection.
            let users = wanted.load(Ordering::Relaxed);
            while into.lock().unwrap().len() < users && !peer.is_over() {
                sleep(Duration::from_millis(1));
            }
            if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                return;
            }
        }
    });
    let folder = Folder::new();
    folder.write("large.csv", &text);
    let rows = |order: &str, pool: &str| -> Vec<u64> {
        let plan = format!(
            "drumfire: 1\ndefaults: {{ target: \"{{url}}\", connections: 2 }}\n\
             feeds: {{ f: {{ csv: large.csv, order: {order} }} }}\n\
             pools:\n  p:\n    {pool}\n    requests: [ {{ get: '/{{{{ f.n }}}}/{{{{ f.note | urlencode }}}}' }} ]\n\
             generator: {{ threads: 2, seed: 5 }}\n"
        );
        let run = run(&plan, &server.url(), &folder);
        assert_eq!(run.code, Some(0), "{run:?}");
        let arrived = std::mem::take(&mut *arrived.lock().unwrap());
        let mut rows: Vec<u64> = arrived.iter().map(|target| row(target)).collect();
        rows.sort_unstable();
        rows
    };
    let few = "rate: 1000/s\n    stop: { requests: 300 }";
    let first: Vec<u64> = (0..300).collect();
    assert_eq!(rows("in_order", few), first);
    assert_eq!(rows("once", few), first);
    let drawn = rows("random", few);
    assert_eq!(drawn, rows("random", few), "the seed says which");
    assert!(drawn[0] < 20_000 && drawn[299] > 380_000, "{drawn:?}");
    // Any user that comes last has a request left.
    all_come.store(5, Ordering::Relaxed);
    let mut kept = rows(
        "unique",
        "users: 5\n    connections: 5\n    stop: { requests: 100 }",
    );
    kept.dedup();
    assert_eq!(kept, [0, 1, 2, 3, 4]);
}
