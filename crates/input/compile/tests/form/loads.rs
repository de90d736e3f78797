//! The connections of a pool: how many, and when they are opened.

use drumfire_compile::{Host, compile};
use drumfire_document::form::read;
use drumfire_document::{Diagnostic, Environment};
use drumfire_placement::{Machine, fit};
use drumfire_plan::{Growth, Plan, Threads};
use std::sync::Arc;

/// A machine with this number of cores.
#[derive(Debug)]
struct Cores(u32);

impl Environment for Cores {}

impl Host for Cores {
    fn cores(&self) -> u32 {
        self.0
    }
}

fn compiled(pools: &str, cores: u32) -> Result<Plan, String> {
    let text = format!("drumfire: 1\ndefaults: {{ target: 'http://a.test' }}\npools:\n{pools}");
    let words = |found: Vec<Diagnostic>| {
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        texts.join("\n")
    };
    let document = read(&text, "p.yaml").map_err(words)?;
    let host: Arc<dyn Host> = Arc::new(Cores(cores));
    compile(&document, &host).map_err(words)
}

/// The plan of one pool with these settings.
fn pool(settings: &str) -> Result<Plan, String> {
    compiled(&format!("  p: {{ {settings} requests: [get: /] }}"), 1)
}

/// The number of users of a closed load (0 for an open load), the connections and their growth.
fn carried(plan: &Plan) -> (u32, u32, Growth) {
    let pool = plan.first();
    let users = pool.load.users().unwrap_or(0);
    (users, pool.connections.count, pool.connections.growth)
}

#[test]
fn connections_are_opened_as_needed_unless_their_number_is_given_or_bounds_the_load() {
    use Growth::{Ahead, AsNeeded};
    for (settings, expected) in [
        ("", (0, 1_000, AsNeeded)),
        ("rate: 10/s,", (0, 1_000, AsNeeded)),
        ("rate: 10/s, connections: as_needed,", (0, 1_000, AsNeeded)),
        ("connections: as_needed,", (0, 1_000, AsNeeded)),
        ("rate: 10/s, http: 2,", (0, 1_000, AsNeeded)),
        ("rate: 10/s, connections: 5,", (0, 5, Ahead)),
        ("rate: 10/s, connections: 5000,", (0, 5_000, Ahead)),
        // Users bound the connections opened as needed.
        ("rate: 10/s, users: 30,", (0, 30, AsNeeded)),
        (
            "rate: 10/s, users: 30, http: 2, streams: 20,",
            (0, 2, AsNeeded),
        ),
        // An unlimited rate would need every possible connection.
        ("rate: unlimited,", (0, 64, Ahead)),
        ("rate: unlimited, http: 2,", (0, 8, Ahead)),
        (
            "rate: 'const(5,1s) unlimited(1s) const(5)',",
            (0, 64, Ahead),
        ),
        ("rate: 10/s, session: user,", (0, 64, Ahead)),
        ("rate: 10/s, session: user, users: 400,", (0, 400, Ahead)),
        ("rate: unlimited, session: user, users: 9,", (0, 9, Ahead)),
        ("rate: 10/s, users: 9000,", (0, 9_000, AsNeeded)),
        // The closed model.
        ("users: 30,", (30, 30, Ahead)),
        ("users: 30, http: 2, streams: 20,", (30, 2, Ahead)),
        ("users: 30, connections: as_needed,", (30, 30, AsNeeded)),
        ("users: 30, connections: 7,", (30, 7, Ahead)),
        ("connections: 7,", (7, 7, Ahead)),
        // A rate per user.
        ("rate: 2/s, rate_per: user, users: 30,", (30, 30, Ahead)),
        (
            "rate: 2/s, rate_per: user, users: 30, connections: 7,",
            (30, 7, Ahead),
        ),
        ("rate: 2/s, rate_per: all, users: 30,", (0, 30, AsNeeded)),
        // Users by a law of starts.
        ("start: 'const(5/s,4s)',", (20, 20, Ahead)),
        ("rate: 10/s, start: 'const(5/s,4s)',", (0, 20, AsNeeded)),
        // Only a number of requests.
        ("stop: { requests: 5 },", (1, 1, Ahead)),
        ("stop: { iterations: 5 },", (1, 1, Ahead)),
        ("stop: { requests: 5 }, connections: 7,", (7, 7, Ahead)),
        ("stop: { requests: 5 }, rate: 10/s,", (0, 1_000, AsNeeded)),
        ("stop: { requests: 5 }, late: skip,", (0, 1_000, AsNeeded)),
    ] {
        let plan = pool(settings).unwrap();
        assert_eq!(carried(&plan), expected, "{settings}");
    }
}

#[test]
fn a_number_of_connections_that_is_none_is_refused() {
    for (settings, expected) in [
        ("connections: many,", "or as_needed"),
        ("connections: 1.5,", "is not a number of connections"),
        ("connections: -1,", "is not a number of connections"),
        ("connections: 0,", "at least 1"),
        ("connections: 4294967296,", "at most 4294967295"),
        (
            "rate: unlimited, connections: as_needed,",
            "uses all connections",
        ),
        (
            "rate: 10/s, session: user, connections: as_needed,",
            "write a number of connections",
        ),
    ] {
        let found = pool(settings).unwrap_err();
        assert!(found.contains(expected), "{settings}\n{found}");
    }
}

/// A plan is the same on every machine; placement fits it to the machine in a later step.
#[test]
fn machines_share_a_plan_and_differ_in_its_placement() {
    let three = "
  a: { rate: 10/s, requests: [get: /] }
  b: { rate: 10/s, requests: [get: /, get: 'http://b.test/', get: /again] }
  c: { users: 40, source_ip: 127.0.0.2, requests: [get: /] }";
    let small = compiled(three, 1).unwrap();
    let large = compiled(three, 64).unwrap();
    assert_eq!(format!("{small:?}"), format!("{large:?}"));
    assert_eq!(small.generator().threads, Threads::AsMany);
    let machine = |cores, descriptors| Machine {
        cores,
        descriptors,
        has_address: |_| true,
    };
    let placed = |machine: &Machine| {
        let placement = fit(&small, machine).unwrap();
        let connections = (0..3).map(|pool| placement.connections(pool));
        (placement.threads(), connections.collect::<Vec<u32>>())
    };
    assert_eq!(placed(&machine(1, Some(404))), (1, vec![100, 100, 40]));
    assert_eq!(placed(&machine(64, None)), (64, vec![1_000, 1_000, 40]));
}

/// The changes of the users of a pool with these settings: the time in seconds, and the number of
/// users from then on.
fn come(settings: &str) -> Result<Vec<(f64, u32)>, String> {
    let plan = pool(settings)?;
    let users = plan.first().users.as_ref();
    let changes = users.map(|users| users.changes().iter());
    let seconds = changes.into_iter().flatten();
    Ok(seconds.map(|(at, n)| (at.as_secs_f64(), *n)).collect())
}

#[test]
fn users_come_by_the_starts_of_a_law() {
    for (settings, expected) in [
        (
            "start: 'const(2/s,1.5s)',",
            vec![(0.0, 1), (0.5, 2), (1.0, 3)],
        ),
        (
            "start: 'once(3) const(0,1s) const(2/s,1s)',",
            vec![(0.0, 3), (1.0, 4), (1.5, 5)],
        ),
        ("start: 'const(0,2s) once(3)',", vec![(0.0, 0), (2.0, 3)]),
        // A number of users bounds a law without an end.
        ("start: 4/s, users: 3,", vec![(0.0, 1), (0.25, 2), (0.5, 3)]),
        (
            "rate: 9/s, start: 4/s, users: 2,",
            vec![(0.0, 1), (0.25, 2)],
        ),
        (
            "rate: 9/s, rate_per: user, start: 4/s, users: 2,",
            vec![(0.0, 1), (0.25, 2)],
        ),
        // Users that all start at once need no list of changes.
        ("start: once(3),", vec![]),
    ] {
        assert_eq!(come(settings).unwrap(), expected, "{settings}");
    }
}

#[test]
fn starts_and_rates_of_users_that_make_no_load_are_refused() {
    for (settings, expected) in [
        ("start: 4/s,", "starts users without an end"),
        ("start: once(3), users: 5,", "starts only 3 of the 5 users"),
        (
            "start: once(3), users: 'const(5)',",
            "the number of users is a maximum",
        ),
        ("start: 'const(0,5s)',", "starts no users"),
        ("start: once(3000000000),", "at most 10,000,000 users"),
        ("start: unlimited,", "starts users without an end"),
        ("start: five,", "five"),
        (
            "rate: 5/s, rate_per: user,",
            "a rate per user needs a `rate` and a number of `users`",
        ),
        (
            "rate_per: user, users: 5,",
            "a rate per user needs a `rate` and a number of `users`",
        ),
        (
            "rate: 5/s, rate_per: each, users: 5,",
            "use `all` or `user`",
        ),
        (
            "rate: unlimited, rate_per: user, users: 5,",
            "a user can't have an unlimited rate",
        ),
        ("rate: 0/s, rate_per: user, users: 5,", "sends nothing"),
        (
            "rate: 5/s, rate_per: user, users: 5, arrivals: poisson,",
            "are evenly spaced",
        ),
        (
            "rate: 5/s, rate_per: user, users: 5, think: 1s,",
            "only in the closed model",
        ),
    ] {
        let message = come(settings).unwrap_err();
        assert!(message.contains(expected), "{settings}: {message}");
    }
}
