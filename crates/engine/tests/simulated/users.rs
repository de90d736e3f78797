//! Users that come and go.

use crate::{failures, ms, run, secs};
use drumfire_plan::Users;
use drumfire_testkit::{Law, Server, World, closed, open};

pub(crate) fn changing(changes: &[(u64, u32)]) -> Users {
    let changes = changes.iter().map(|(at, n)| (secs(*at), *n)).collect();
    Users::changing(changes).expect("changes from the start on")
}

fn slow() -> World {
    World::of(Server::new().takes(Law::Const(ms(100))))
}

#[test]
fn a_closed_load_has_as_many_users_as_its_law_says() {
    let users = changing(&[(0, 2), (1, 5), (2, 0), (3, 1)]);
    let plan = closed(5).users(users).lasts(secs(4));
    let result = run(plan, slow());
    failures(&result.summary, &[]);
    // Ten requests a second for each user.
    assert_eq!(result.summary.total.counts.ok, 20 + 50 + 10);
    assert_eq!(result.summary.total.latency.lag.max(), ms(0));
    assert_eq!(result.summary.total.latency.response_time.max(), ms(100));
}

#[test]
fn users_bound_an_open_load_and_the_wait_for_them_is_no_lag() {
    let users = changing(&[(0, 1), (2, 4)]);
    let plan = open("const(20,4s)").connections(10).users(users);
    let result = run(plan, slow());
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 80);
    assert_eq!(result.log.connections_most, 10);
    // One user does ten a second, so that the last of the first two seconds waits a second.
    assert_eq!(result.summary.total.latency.lag.max(), ms(0));
    let waiting = result.summary.total.latency.waiting.max();
    assert!(waiting > ms(900) && waiting <= ms(1000), "{waiting}");
}
