//! Users that come and go.

use crate::{failures, ms, run, secs};
use drumfire_plan::UserSteps;
use drumfire_testkit::{Law, Server, World, closed, open, per_user};

pub(crate) fn changing(changes: &[(u64, u32)]) -> UserSteps {
    let changes = changes.iter().map(|(at, n)| (secs(*at), *n)).collect();
    UserSteps::changing(changes).expect("changes from the start on")
}

fn slow() -> World {
    World::new(Server::new().takes(Law::Const(ms(100))))
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
    // One user sends ten requests a second, so the last request of the first two seconds waits for
    // a second.
    assert_eq!(result.summary.total.latency.lag.max(), ms(0));
    let waiting = result.summary.total.latency.waiting.max();
    assert!(waiting > ms(900) && waiting <= ms(1000), "{waiting}");
}

#[test]
fn all_of_a_list_have_the_same_share_whatever_the_number_of_users() {
    let urls = [
        "http://target.test/0",
        "http://target.test/1",
        "http://target.test/2",
    ];
    for (users, threads) in [(3, 2), (5, 2), (5, 3), (7, 4), (2, 2)] {
        for plan in [closed(users), per_user("const(10/s)", users)] {
            let plan = plan.to(&urls).threads(threads).lasts(secs(6));
            let result = run(plan, slow());
            failures(&result.summary, &[]);
            let steps = result.summary.steps();
            let sent: Vec<u64> = steps.iter().map(|step| step.counts.sent).collect();
            let (least, most) = (sent.iter().min(), sent.iter().max());
            let apart = most.copied().unwrap_or(0) - least.copied().unwrap_or(0);
            assert!(
                apart <= u64::from(threads),
                "{users} users, {threads} threads: {sent:?}"
            );
        }
    }
}
