//! Which user sends a request, and on which connection: these numbers do not depend on the number
//! of threads.

use crate::{failures, ms, secs};
use drumfire_plan::{
    Affinity, CallKind, DataError, LatePolicy, Load, RenderedFields, RequestContext, RequestData,
    UserSteps, Varying,
};
use drumfire_testkit::{
    Draft, Http2Behaviour, Law, Reply, Said, Server, Simulated, Simulation, World, closed, open,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Each call contains its user and its connection as metadata.
#[derive(Debug)]
struct Names;

impl RequestData for Names {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            ..Varying::default()
        }
    }

    fn fields(&self, call: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        out.push("who", &format!("u{} k{}", call.user, call.connection))
    }

    fn message(&self, _: &RequestContext, _: u64, out: &mut Vec<u8>) -> Result<(), DataError> {
        out.extend_from_slice(b"hello");
        Ok(())
    }
}

/// Calls that name their users, on two connections with a number of streams.
fn naming(plan: Draft, streams: u32, threads: u32, affinity: Affinity) -> Simulated {
    let plan = plan
        .calls_with(CallKind::Unary, Said::once(), |call| {
            call.data = Arc::new(Names)
        })
        .connections(2)
        .threads(threads)
        .with(|plan| {
            plan.connections.streams = streams;
            plan.connections.affinity = affinity;
        });
    let server =
        Server::http2(Http2Behaviour::new().says(Reply::unary(b"hi"))).takes(Law::Const(ms(10)));
    let result = Simulation::new(plan, World::new(server).keeps_requests()).run();
    failures(&result.summary, &[]);
    result
}

/// The number of times that each user was seen on each connection.
fn seen(result: &Simulated) -> BTreeMap<(u32, u32), u64> {
    let mut seen = BTreeMap::new();
    for request in &result.log.seen {
        let line = request
            .head
            .lines()
            .find_map(|line| line.strip_prefix("who: "));
        let (user, connection) = line.and_then(|line| line.split_once(' ')).expect("a name");
        let number = |text: &str| text[1..].parse::<u32>().expect("a number");
        *seen.entry((number(user), number(connection))).or_default() += 1;
    }
    seen
}

fn users(result: &Simulated) -> BTreeSet<u32> {
    seen(result).keys().map(|(user, _)| *user).collect()
}

#[test]
fn users_have_numbers_of_their_own_on_any_number_of_threads() {
    for threads in [1, 2] {
        let result = naming(closed(4).requests(400), 2, threads, Affinity::Shared);
        assert_eq!(users(&result), (0..4).collect(), "{threads} threads");
        let connections: BTreeSet<u32> = seen(&result).keys().map(|(_, k)| *k).collect();
        assert_eq!(connections, (0..2).collect());
    }
}

#[test]
fn a_user_that_keeps_to_a_connection_has_always_the_same() {
    for threads in [1, 2] {
        let result = naming(closed(4).requests(400), 2, threads, Affinity::User);
        let each = [(0, 0), (1, 1), (2, 0), (3, 1)].map(|pair| (pair, 100));
        assert_eq!(seen(&result), BTreeMap::from(each), "{threads} threads");
    }
}

#[test]
fn a_single_user_is_one_user_whatever_the_streams() {
    let result = naming(closed(1).requests(40), 4, 1, Affinity::Shared);
    assert_eq!(users(&result), BTreeSet::from([0]));
}

#[test]
fn an_open_load_has_no_more_users_than_it_needs() {
    // Ten milliseconds each at 50/s: one user is idle again before the next arrival.
    let result = naming(open("const(50/s,2s)"), 4, 1, Affinity::Shared);
    assert_eq!(users(&result), BTreeSet::from([0]));
    // At 250/s two or three are busy at a time.
    let result = naming(open("const(250/s,2s)"), 4, 1, Affinity::User);
    assert!(users(&result).len() <= 4, "{:?}", users(&result));
}

#[test]
fn a_number_of_users_that_keep_to_connections_take_turns() {
    // One user is enough at 50/s, but then one of the two connections would carry everything.
    let plan = open("const(50/s,2s)").users(UserSteps::constant(4));
    let result = naming(plan, 4, 1, Affinity::User);
    let each = [(0, 0), (1, 1), (2, 0), (3, 1)].map(|pair| (pair, 25));
    assert_eq!(seen(&result), BTreeMap::from(each));
}

#[test]
fn a_user_that_comes_back_takes_its_old_number() {
    let changes = vec![(secs(0), 3), (secs(1), 1), (secs(2), 3)];
    let law = UserSteps::changing(changes).expect("changes from the start on");
    let result = naming(closed(3).users(law).lasts(secs(3)), 2, 1, Affinity::Shared);
    assert_eq!(users(&result), (0..3).collect());
}

#[test]
fn users_share_a_connection_that_carries_one_exchange_at_a_time() {
    for threads in [1, 2] {
        let plan = closed(6).connections(2).threads(threads).lasts(secs(1));
        let plan = plan.with(|plan| plan.connections.affinity = Affinity::User);
        let world = World::new(Server::new().takes(Law::Const(ms(10))));
        let result = Simulation::new(plan, world).run();
        failures(&result.summary, &[]);
        // Two connections carry a hundred exchanges of ten milliseconds each.
        assert_eq!(
            result.summary.total.counts.ok,
            200 + 4,
            "the last ones drain"
        );
        assert_eq!(result.log.connections, 2);
    }
}

#[test]
fn an_open_load_that_keeps_to_connections_drops_as_any_other() {
    let plan = open("const(100/s,2s)").with(|plan| {
        if let Load::Open { late, .. } = &mut plan.load {
            *late = LatePolicy::Drop(ms(0));
        }
        plan.connections.count = 1;
        plan.connections.affinity = Affinity::User;
    });
    let world = World::new(Server::new().takes(Law::Const(ms(30))));
    let result = Simulation::new(plan, world).run();
    failures(&result.summary, &[]);
    let counts = &result.summary.total.counts;
    assert_eq!(counts.intended, 200);
    assert_eq!(counts.sent + counts.dropped, 200);
    assert!(counts.sent >= 50 && counts.sent <= 67, "{counts:?}");
}
