//! The times of each request are in order, for every end of the request and every stop of the
//! generator: response = waiting + lag + service, row by row.

use crate::{ms, us};
use drumfire_measure::{Kept, Outcome, RunEvent, Sample};
use drumfire_plan::{CallKind, Growth, KeepAlive, Opening, Samples};
use drumfire_testkit::{
    Answer, Client, Draft, Http2Behaviour, Law, Network, Reply, Said, Server, Simulation, World,
    closed, open,
};
use drumfire_units::{Nanos, Random};
use std::collections::BTreeSet;

/// Checks that a request's times are in order, and that the differences between them add up.
#[track_caller]
fn check(sample: &Sample, told: &str) {
    let Sample {
        intended,
        due,
        sent,
        first_byte,
        end,
        ..
    } = *sample;
    let is_answered = first_byte != Nanos::MAX;
    let last = if is_answered { first_byte } else { sent };
    let is_in_order = intended <= due && due <= sent && sent <= last && last <= end;
    assert!(is_in_order, "{told}: {sample:?}");
    let parts = sample.waiting() + sample.lag() + sample.service_time();
    assert_eq!(parts, sample.response_time(), "{told}: {sample:?}");
}

/// A random number below `bound`.
fn below(random: &mut Random, bound: u64) -> u64 {
    random.bits() % bound
}

/// A generator that is stopped repeatedly for up to 60 ms, and whose calls take time.
fn stopped_client(random: &mut Random) -> Client {
    let calls = us(below(random, 40) * below(random, 10));
    let mut client = Client::ideal().call_takes(calls);
    let mut at = Nanos::ZERO;
    while at < ms(2000) {
        at += us(1 + below(random, 400_000));
        client = client.stopped(at, us(below(random, 60_000)));
    }
    client
}

/// A server that is slow, ends connections early or resets them.
fn faulty_server(random: &mut Random, http2: bool) -> Server {
    let takes = Law::Exponential(us(1 + below(random, 60_000)));
    let server = match (http2, below(random, 5)) {
        (false, 0) => Server::new().closes_after(1 + below(random, 5)),
        (false, 1) => Server::new().resets(0.2),
        (false, 2) => Server::new().says(Answer::with(200, "", &[b'x'; 500]).dripping(50, ms(9))),
        (false, 3) => Server::new().stalls(ms(100), ms(300)),
        (false, _) => Server::new(),
        (true, 0) => Server::http2(Http2Behaviour::new().refuses(0.2)),
        (true, 1) => Server::http2(Http2Behaviour::new().allows(1).then_allows(ms(500), 3)),
        (true, 2) => Server::http2(Http2Behaviour::new().says(Reply::head(200, &[]).breaks())),
        (true, 3) => Server::http2(Http2Behaviour::new()).stalls(ms(100), ms(300)),
        (true, _) => Server::http2(Http2Behaviour::new()),
    };
    server
        .takes(takes)
        .serves_at_a_time(1 + below(random, 4) as usize)
}

/// A plan with short timeouts.
fn hasty_plan(random: &mut Random, http2: bool) -> Draft {
    let rate = 50 + below(random, 400);
    let plan = match below(random, 3) {
        0 => closed(1 + below(random, 12) as u32).lasts(ms(2000)),
        1 => open(&format!("const({rate}/s,2s)")).poisson(),
        _ => open(&format!("const({rate}/s,2s)")),
    };
    let plan = match (http2, below(random, 2)) {
        (true, 0) => plan.http2(1 + below(random, 6) as u32),
        (true, _) => plan.calls(CallKind::Unary, Said::once()),
        (false, _) => plan.connections(1 + below(random, 8) as u32),
    };
    let (total, head) = (us(1 + below(random, 70_000)), us(1 + below(random, 70_000)));
    let connect = us(1 + below(random, 20_000));
    let style = below(random, 6);
    plan.seed(random.bits()).interval(ms(100)).with(|pool| {
        pool.samples = Samples::Keep;
        pool.timeouts.total = total;
        pool.timeouts.connect = connect;
        if style > 2 {
            pool.timeouts.head = head;
        }
        if style.is_multiple_of(2) {
            pool.connections.growth = Growth::AsNeeded;
        }
        match style {
            1 => pool.connections.keep_alive = KeepAlive::No,
            2 => {
                pool.connections.keep_alive = KeepAlive::No;
                pool.connections.opening = Opening::Service;
            }
            _ => {}
        }
    })
}

#[test]
fn the_times_of_each_request_are_in_order() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..300 {
        let mut random = Random::from_state(seed);
        let http2 = below(&mut random, 2) == 0;
        let plan = hasty_plan(&mut random, http2);
        let server = faulty_server(&mut random, http2);
        let client = stopped_client(&mut random);
        let ways = Network::each_way(us(below(&mut random, 15_000)));
        let world = World::new(server).client(client).network(ways).seed(seed);
        let watched = Simulation::new(plan, world).try_run_watched(&mut |event| {
            let RunEvent::Kept(all) = event else { return };
            for Kept { sample, .. } in all.iter() {
                check(sample, &format!("seed {seed}"));
                outcomes.insert(sample.outcome);
            }
        });
        assert!(watched.is_ok(), "seed {seed}");
    }
    for outcome in [Outcome::Ok, Outcome::TimeoutHead, Outcome::TimeoutConnect] {
        assert!(outcomes.contains(&outcome), "{outcomes:?}");
    }
}
