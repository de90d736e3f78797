//! The exact load of ghz's own examples: how many requests are due in each second, and the time of
//! the last one.

use drumfire_compile::Host;
use drumfire_dialects::{Dialect, Outcome, parse};
use drumfire_document::Environment;
use drumfire_plan::{Load, Plan};
use drumfire_schedule::Schedule;
use drumfire_units::Nanos;
use std::io;
use std::sync::Arc;

const PROTO: &str = "syntax = \"proto3\"; package helloworld; service Greeter { rpc SayHello (M) returns (M); } message M { string name = 1; }";

#[derive(Debug)]
struct Files;

impl Environment for Files {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "/protos/helloworld.proto" => Ok(PROTO.as_bytes().to_vec()),
            _ => Err(io::Error::from_raw_os_error(2)),
        }
    }
}

impl Host for Files {}

fn plan(load: &str) -> Plan {
    let line = format!(
        "--insecure --async --proto /protos/helloworld.proto --call helloworld.Greeter/SayHello \
         -c 10 -n 10000 {load} -d {{\"name\":\"{{{{.WorkerID}}}}\"}} 0.0.0.0:50051"
    );
    let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let host: Arc<dyn Host> = Arc::new(Files);
    match parse(Dialect::Ghz, &args, &host, 1) {
        Outcome::Run(run) => run.plan,
        other => panic!("{other:?}"),
    }
}

fn schedule(load: &str) -> Schedule {
    let plan = plan(load);
    assert_eq!(plan.first().stop.requests, Some(10_000));
    let most = plan
        .first()
        .users
        .as_ref()
        .map(drumfire_plan::UserSteps::most);
    assert_eq!(most, Some(16_384), "no worker is waited for");
    let Load::Open { rate, arrivals, .. } = &plan.first().load else {
        panic!("{:?}", plan.first().load);
    };
    Schedule::new(rate, *arrivals, plan.generator().seed).unwrap()
}

/// Compares the number of requests due by the end of each second, and the time of the last one.
fn check(load: &str, per_second: impl Fn(u64) -> u64, last: u64) {
    let schedule = schedule(load);
    assert_eq!(schedule.start_of(9_999), Some(Nanos(last)), "{load}");
    let mut due = 0;
    for second in 0..last / 1_000_000_000 {
        due += per_second(second);
        // A call due exactly at the end of a second belongs to that second.
        let end = Nanos::from_secs(second + 1) + Nanos(1);
        assert_eq!(schedule.count_before(end), due, "{load}: second {second}");
    }
}

#[test]
fn the_examples_have_their_rates_and_totals() {
    check("--rps 200", |_| 200, 50_000_000_000);
    check(
        "--load-schedule=step --load-start=50 --load-end=150 --load-step=10 --load-step-duration=5s",
        |second| (50 + second / 5 * 10).min(150),
        85_000_000_000,
    );
    check(
        "--load-schedule=step --load-start=200 --load-step=-10 --load-step-duration=5s --load-max-duration=40s",
        |second| 200 - (second / 5).min(8) * 10,
        68_333_333_333,
    );
    check(
        "--load-schedule=line --load-start=5 --load-step=5",
        |second| 5 + 5 * second,
        62_746_031_746,
    );
    check(
        "--load-schedule=line --load-start=200 --load-step=-2 --load-end=100",
        |second| 200 - 2 * second.min(50),
        74_500_000_000,
    );
}

#[test]
fn the_first_is_due_at_one_over_the_rate() {
    assert_eq!(schedule("--rps 200").start_of(0), Some(Nanos(5_000_000)));
    let down = schedule("--load-schedule=line --load-start=6 --load-step=-2");
    assert_eq!(down.total(), Some(12));
    assert_eq!(down.start_of(11), Some(Nanos::from_secs(3)));
}
