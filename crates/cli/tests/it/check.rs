//! `drumfire check`: everything that is wrong with a plan, or what it will do.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, drumfire};

/// Checks a plan, with these flags.
fn check(folder: &Folder, text: &str, flags: &[&str]) -> Run {
    folder.write("plan.yaml", text);
    let mut command = drumfire(["check", "plan.yaml"].iter().chain(flags));
    Process::start(command.current_dir(folder.at("."))).finish(LIMIT)
}

const WRONG: &str = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\", timeot: 5x }
pools:
  browse:
    rate: lin(5,50,2m) const(50,3m)
    headers: { Authorization: [ { a: 1 } ], X-Secret: CANARY }
    requests:
      - get: /{{ uid }}
  buy:
    users: 5
    request:
      - { post: /echo }
stop: { after: 5 }
thresholds: [ 'p99<<1s' ]
";

/// A line for each mistake that programs can read, and below it the file's line with a mark. What
/// the form lacks hides nothing of what its values have.
#[test]
fn every_mistake_is_shown_with_its_line() {
    let run = check(&Folder::new(), WRONG, &[]);
    assert_eq!((run.code, &*run.stdout), (Some(2), ""));
    assert_eq!(
        run.stderr,
        "\
drumfire: plan.yaml:2:43: `defaults` has no key `timeot`; did you mean `timeout`?
   2 │ defaults: { target: \"http://127.0.0.1:9\", timeot: 5x }
     │                                           ^
drumfire: plan.yaml:2:51: timeot: `5x` is not a duration; write a number with a unit, such as 10s, 1m30s, 500ms, 250us or 2h
   2 │ defaults: { target: \"http://127.0.0.1:9\", timeot: 5x }
     │                                                   ^
drumfire: plan.yaml:5:11: rate: `lin` is not a law; did you mean `line`? The laws are const, line, once, sine, stairs, step, trace, unlimited
   5 │     rate: lin(5,50,2m) const(50,3m)
     │           ^
drumfire: plan.yaml:6:33: Authorization: expected a single value, not a mapping
   6 │     headers: { Authorization: [ { *: * } ], ********: ****** }
     │                                 ^
drumfire: plan.yaml:8:14: get: templates have no variable `uid`; did you mean `uuid`?; use `templates: none` to send it as it is
   8 │       - get: /{{ uid }}
     │              ^
drumfire: plan.yaml:11:5: a pool has no key `request`; did you mean `requests`?
  11 │     request:
     │     ^
drumfire: plan.yaml:13:16: after: `5` is not a duration; write a number with a unit, such as 10s, 1m30s, 500ms, 250us or 2h
  13 │ stop: { after: 5 }
     │                ^
drumfire: plan.yaml:14:15: thresholds: invalid bound `<1s`; write a duration with its unit, such as 50ms
  14 │ thresholds: [ 'p99<<1s' ]
     │                    ^
"
    );
}

const RIGHT: &str = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\", timeout: 5s }
pools:
  browse:
    rate: line(0,50,2m) const(50,2m)
    connections: 20
    requests: [ { get: / }, { get: /b } ]
  buy:
    users: step(10,40,10,1m)
    think: 100ms
    scenario:
      - get: /
      - pause: 1s
      - get: /pay
  last:
    connections: 2
    requests: [ { get: \"http://127.0.0.1:10\" } ]
    stop: { requests: 50 }
stop: { after: 4m }
thresholds: [ 'failed<1%' ]
generator: { threads: 1, warmup: 5s }
";

const DRAWN: &str = "\
plan.yaml is valid · 3 pools · 4m00s · 1 thread · warm-up 5 s · 1 threshold

browse
  open model: 0/s to 50/s · 9,000 requests intended · in 4m00s
  20 connections · timeout 5 s
  2 requests in turn · to http://127.0.0.1:9
     50/s ┤                           ▁▂▃▄▆▇███████████████████████████████████
          │                    ▁▂▃▄▅▆██████████████████████████████████████████
          │              ▂▃▄▅▆▇████████████████████████████████████████████████
          │       ▁▂▄▅▆▇███████████████████████████████████████████████████████
          │▁▂▃▅▆▇██████████████████████████████████████████████████████████████
      0/s └────────────────────────────────────────────────────────────────────
           0                                 2m00s                        4m00s

buy
  closed model: 10 to 40 users · think time 100 ms
  as many iterations as the target answers · in 4m00s
  40 connections · timeout 5 s
  a scenario with 2 requests · to http://127.0.0.1:9
       40 ┤                                                   █████████████████
          │                                  ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆█████████████████
          │                 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄██████████████████████████████████
          │▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂███████████████████████████████████████████████████
          │████████████████████████████████████████████████████████████████████
        0 └────────────────────────────────────────────────────────────────────
           0                                 2m00s                        4m00s

last
  closed model: 2 users · 50 requests intended · within 4m00s
  2 connections · timeout 5 s
  1 request · to http://127.0.0.1:10

on this machine
  1 thread · at most 62 connections
";

const IN_ASCII: &str = "\
plan.yaml is valid, 3 pools, 4m00s, 1 thread, warm-up 5 s, 1 threshold

browse
  open model: 0/s to 50/s, 9,000 requests intended, in 4m00s
  20 connections, timeout 5 s
  2 requests in turn, to http://127.0.0.1:9
     50/s |                           _..-==###################################
          |                    _..--=##########################################
          |              ..--==################################################
          |       _.--==#######################################################
          |_..-==##############################################################
      0/s +--------------------------------------------------------------------
           0                                 2m00s                        4m00s

buy
  closed model: 10 to 40 users, think time 100 ms
  as many iterations as the target answers, in 4m00s
  40 connections, timeout 5 s
  a scenario with 2 requests, to http://127.0.0.1:9
       40 |                                                   #################
          |                                  =================#################
          |                 -----------------##################################
          |.................###################################################
          |####################################################################
        0 +--------------------------------------------------------------------
           0                                 2m00s                        4m00s

last
  closed model: 2 users, 50 requests intended, within 4m00s
  2 connections, timeout 5 s
  1 request, to http://127.0.0.1:10

on this machine
  1 thread, at most 62 connections
";

/// Into a pipe the drawing has the characters of the locale.
#[test]
fn what_a_plan_will_do_is_drawn() {
    let folder = Folder::new();
    for (locale, expected) in [("C.UTF-8", DRAWN), ("C", IN_ASCII)] {
        folder.write("plan.yaml", RIGHT);
        let mut command = drumfire(["check", "plan.yaml"]);
        command.current_dir(folder.at(".")).env("LANG", locale);
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""));
        assert_eq!(run.stdout, expected);
    }
    let quiet = check(&folder, RIGHT, &["-q"]);
    assert_eq!(
        (quiet.code, quiet.stdout, quiet.stderr),
        (Some(0), String::new(), String::new())
    );
    let colored = check(&folder, RIGHT, &["--color", "always"]);
    assert!(
        colored.stdout.contains("\u{1b}[1mbrowse"),
        "{}",
        colored.stdout
    );
}

/// Rules of the plan, and conditions that end it, find the pool whose name has a slash.
#[test]
fn rules_of_pools_with_slashes_are_of_the_pools() {
    let plan = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\" }
pools:
  eu/read: { rate: 50/s, requests: [ get: / ] }
  eu: { rate: 50/s, requests: [ { get: /w, name: write } ] }
stop: { after: 10s, abort: [ 'eu/read: failed>50%' ] }
thresholds: [ 'eu/read: dropped<1%', 'eu/write: failed<1%' ]
";
    let folder = Folder::new();
    let right = check(&folder, plan, &[]);
    assert_eq!((right.code, &*right.stderr), (Some(0), ""));
    let wrong = check(&folder, &plan.replace("eu/write:", "eu/red:"), &[]);
    assert_eq!(wrong.code, Some(2));
    let says = "plan.yaml:7:38: thresholds: no step of `eu` is named `red`; the steps are write";
    assert!(wrong.stderr.contains(says), "{}", wrong.stderr);
}

/// The requests of a step are those that the weights, or the scenario, give it.
#[test]
fn rules_of_steps_count_what_their_weights_give() {
    let plan = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\" }
pools:
  browse:
    rate: 50/s
    requests: [ { get: /, name: read, weight: 9 }, { post: /, name: write, weight: 1 } ]
  buy: { users: 1, scenario: [ { get: /a, name: a }, { get: /b, name: b } ], stop: { iterations: 20 } }
  more: { users: 1, scenario: [ { repeat: 9, do: [ { get: /c, name: c } ] } ], stop: { iterations: 20 } }
stop: { after: 2s }
thresholds: [ 'step(write).p95<9s', 'step(read).p95<9s', 'step(write).p50<9s', 'step(a).p90<9s', 'step(c).p90<9s' ]
";
    let run = check(&Folder::new(), plan, &[]);
    let lines = run.stdout.lines();
    let rules: Vec<&str> = lines.filter(|line| line.starts_with("the rule")).collect();
    assert_eq!(
        rules,
        [
            "the rule `step(write).p95<9s` needs 72 samples, but gets only 10 requests",
            "the rule `step(a).p90<9s` needs 36 samples, but gets only 20 requests",
        ],
        "{}",
        run.stdout
    );
}

/// An iteration of a list with weights is ten requests here, of which one is a write: as many are
/// announced as are sent.
#[test]
fn iterations_of_a_weighted_list_are_whole_passes() {
    let plan = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\" }
pools:
  browse:
    users: 1
    requests: [ { get: /, name: read, weight: 9 }, { post: /, name: write, weight: 1 } ]
stop: { iterations: 1 }
thresholds: [ 'step(write).p50<9s' ]
";
    let folder = Folder::new();
    let one = check(&folder, plan, &[]);
    let says = "the rule `step(write).p50<9s` needs 6 samples, but gets only 1 request\n";
    assert!(one.stdout.contains(says), "{}", one.stdout);
    let three = check(
        &folder,
        &plan.replace("iterations: 1", "iterations: 3"),
        &[],
    );
    assert!(
        three.stdout.contains("30 requests intended"),
        "{}",
        three.stdout
    );
}

/// The rules whose quantiles the plan has too few requests or iterations for.
const SHORT: &str = "\
drumfire: 1
defaults: { target: \"http://127.0.0.1:9\" }
pools:
  browse: { rate: 10/s, requests: [ { get: / } ] }
  buy: { users: 1, scenario: [ { get: /a }, { get: /b } ], stop: { iterations: 20 } }
stop: { after: 10s }
thresholds: [ 'browse: p99<1s', 'browse: p90<1s', 'iteration.p90<1s', 'buy: p99<1s', 'max<1s', 'browse: p90<1s over 2s', 'browse: p50<1s over 2s' ]
";

#[test]
fn rules_without_enough_samples_are_said_before_the_run() {
    let run = check(&Folder::new(), SHORT, &[]);
    let said: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("the rule"))
        .collect();
    assert_eq!(
        said,
        [
            "the rule `browse: p99<1s` needs 368 samples, but gets only 100 requests",
            "the rule `iteration.p90<1s` needs 36 samples, but gets only 20 iterations",
            // The line goes on with "a window".
            "the rule `browse: p90<1s over 2s` needs 36 samples, but gets only 20 requests in",
        ]
    );
    assert_eq!(run.code, Some(0));
}
