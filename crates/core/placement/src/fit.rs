//! Converts a plan and a machine to a placement.
//!
//! A plan has settings for any machine: a number of threads, or one per core; a number of
//! connections, or as many as needed up to a bound; and local addresses to send from. [`fit`]
//! decides how one machine runs the plan, in three independent steps:
//!
//! - **Addresses**: an address that the machine does not have refuses the plan, because every
//!   connection from it would fail, as if ports were exhausted.
//! - **Connections** with a fixed number are opened before the load begins. If the limit of file
//!   descriptors has no room for all of them, the plan is refused. Connections that are opened as
//!   needed share the remaining descriptors evenly among their targets; if this lowers their bound,
//!   the placement has a [`Clamp`].
//! - **Threads**: the number in the plan, or one per core, as far as the pools have connections or
//!   users to divide among them. Users that keep to shared connections are divided only if every
//!   thread gets the same number of users per connection. Otherwise the connections of some threads
//!   would be more crowded than others, and the result would depend on the number of threads. Users
//!   with individual rates that arrive one after the other are also divided only evenly, because
//!   every thread gets the same number of request numbers. Without a count of requests, uneven
//!   threads only leave gaps in the numbers, which is accepted if the load is too much for one
//!   thread.

use crate::machine::DESCRIPTORS_SPARE;
use crate::part::targets;
use crate::{Clamp, Machine, Placement};
use drumfire_plan::{Affinity, Growth, Law, Load, Plan, Pool, Threads};
use drumfire_units::rounded;
use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;

/// The maximum number of requests per second that one thread gets if users can't be divided evenly.
const ONE_THREAD_MAX: f64 = 10_000.0;

/// The reason why a machine can't run a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The machine does not have a local address to send from.
    Address {
        /// The name of the pool that sends from it.
        pool: String,
        /// The address.
        address: IpAddr,
    },
    /// The limit of file descriptors has no room for all connections that are opened ahead.
    Descriptors {
        /// The number of connections.
        connections: u64,
        /// The maximum number of file descriptors of this process.
        limit: u64,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, .. } => write!(
                f,
                "{address} is not an address of this machine; run `ip address` to list them"
            ),
            Self::Descriptors { connections, limit } => {
                let needed = connections.saturating_add(DESCRIPTORS_SPARE);
                write!(
                    f,
                    "{} connections need {} file descriptors, but this process may open only {}; \
                     raise the limit (ulimit -n {needed})",
                    rounded::count(*connections),
                    rounded::count(needed),
                    rounded::count(*limit)
                )
            }
        }
    }
}

impl std::error::Error for Unfit {}

/// Decides how a machine runs a plan.
///
/// # Errors
/// All reasons why the machine can't run the plan; at least one.
pub fn fit(plan: &Plan, machine: &Machine) -> Result<Placement, Vec<Unfit>> {
    let pools: Vec<Asked<'_>> = plan.pools().iter().map(Asked::new).collect();
    let mut refused = foreign_addresses(plan, machine);
    let ahead = total(pools.iter().filter(|pool| !pool.grows()));
    let needed = ahead.saturating_add(DESCRIPTORS_SPARE);
    refused.extend(
        machine
            .descriptors
            .filter(|limit| *limit < needed && ahead > 0)
            .map(|limit| Unfit::Descriptors {
                connections: ahead,
                limit,
            }),
    );
    if !refused.is_empty() {
        return Err(refused);
    }
    let each = growth_bound(&pools, ahead, machine);
    let connections: Vec<u32> = pools.iter().map(|pool| pool.bounded(each)).collect();
    let most = pools.iter().zip(&connections);
    let most = most.map(|(pool, count)| pool.targets.saturating_mul(u64::from(*count)));
    let clamped = |(pool, given): (&Asked<'_>, &u32)| {
        let planned = pool.pool.connections.count;
        (*given < planned).then(|| Clamp {
            pool: pool.pool.name.clone(),
            planned,
            given: *given,
            descriptors: machine.descriptors.unwrap_or(u64::MAX),
        })
    };
    let threads_offered = match plan.generator().threads {
        Threads::Exactly(count) => count,
        Threads::AsMany => machine.cores.max(1),
    };
    let shares = pools.iter().zip(&connections);
    let shares: Vec<u32> = shares
        .map(|(pool, count)| pool.shares_most(*count, threads_offered))
        .collect();
    let shared = shares
        .iter()
        .fold(0, |sum: u32, one| sum.saturating_add(*one));
    Ok(Placement {
        machine: *machine,
        threads_offered,
        threads: threads_offered.min(shared).max(1),
        shares,
        connections_most: most.fold(0, u64::saturating_add),
        clamps: pools.iter().zip(&connections).filter_map(clamped).collect(),
        connections,
    })
}

/// The local addresses of the plan that the machine does not have, without duplicates.
fn foreign_addresses(plan: &Plan, machine: &Machine) -> Vec<Unfit> {
    let mut seen = HashSet::new();
    let mut refused = Vec::new();
    for pool in plan.pools() {
        for address in &pool.reach.source_addresses {
            if seen.insert(*address) && !(machine.has_address)(*address) {
                refused.push(Unfit::Address {
                    pool: pool.name.clone(),
                    address: *address,
                });
            }
        }
    }
    refused
}

/// The maximum number of connections to each target that are opened as needed: an equal share of
/// the descriptors that remain after the connections that are opened ahead; at least 1.
fn growth_bound(pools: &[Asked<'_>], ahead: u64, machine: &Machine) -> u32 {
    let Some(limit) = machine.connections_max() else {
        return u32::MAX;
    };
    let growing = pools.iter().filter(|pool| pool.grows());
    let targets = growing.map(|pool| pool.targets).sum::<u64>();
    let each = limit.saturating_sub(ahead) / targets.max(1);
    u32::try_from(each).unwrap_or(u32::MAX).max(1)
}

/// The number of connections of these pools to all targets.
fn total<'a>(pools: impl Iterator<Item = &'a Asked<'a>>) -> u64 {
    let each = pools.map(|asked| {
        let count = u64::from(asked.pool.connections.count);
        asked.targets.saturating_mul(count)
    });
    each.fold(0, u64::saturating_add)
}

/// A pool with the number of its targets. Each target has separate connections.
struct Asked<'a> {
    pool: &'a Pool,
    targets: u64,
}

impl<'a> Asked<'a> {
    fn new(pool: &'a Pool) -> Self {
        let targets = targets(pool);
        Self { pool, targets }
    }

    /// Whether the pool opens connections as needed.
    fn grows(&self) -> bool {
        self.pool.connections.growth == Growth::AsNeeded
    }

    /// The maximum number of threads that can share the pool with `connections` connections, if the
    /// machine offers `threads`.
    fn shares_most(&self, connections: u32, threads: u32) -> u32 {
        let users = self.pool.load.users().unwrap_or(u32::MAX);
        let most = connections.min(users).max(1);
        let (keeps, deals) = (
            self.keeps_users_on_shared(connections),
            self.deals_numbers(),
        );
        let is_even = |parts: &u32| {
            (!keeps || self.is_even(connections, *parts))
                && (!deals || users.is_multiple_of(*parts))
        };
        match keeps || deals {
            false => most,
            true => (1..=most.min(threads)).rev().find(is_even).unwrap_or(1),
        }
    }

    /// Whether request numbers are dealt to the parts in advance, the same number to each. This
    /// applies to users that have individual rates, so that they do not request numbers, and that
    /// arrive one after the other. If one part has more users than another, it uses up its count
    /// sooner, and the numbers get gaps. Without a count, gaps are accepted if the load is too much
    /// for one thread.
    fn deals_numbers(&self) -> bool {
        let (load, stop) = (&self.pool.load, &self.pool.stop);
        let Load::PerUser { users, rate, .. } = load else {
            return false;
        };
        let is_light = |law: &Law| match law {
            Law::Const { rate, .. } => rate.as_per_second() * f64::from(*users) <= ONE_THREAD_MAX,
            _ => false,
        };
        let is_counted = stop.requests.is_some() || stop.iterations.is_some();
        (is_counted || rate.0.iter().all(is_light))
            && self.pool.users_over_time(*users).changes().len() > 1
    }

    /// Whether users keep to connections that they share with other users.
    fn keeps_users_on_shared(&self, connections: u32) -> bool {
        let users = self.pool.users_most().unwrap_or(0);
        self.pool.connections.affinity == Affinity::User && users > connections
    }

    /// Whether each of `parts` parts has the same number of users per connection at all times.
    fn is_even(&self, connections: u32, parts: u32) -> bool {
        let users = self
            .pool
            .users_over_time(self.pool.users_most().unwrap_or(0));
        let mut counts = users.changes().iter().map(|(_, count)| *count);
        connections.is_multiple_of(parts) && counts.all(|count| count.is_multiple_of(parts))
    }

    /// The number of connections to each target; at most `each` if they are opened as needed.
    fn bounded(&self, each: u32) -> u32 {
        let count = self.pool.connections.count;
        match self.grows() {
            true => count.min(each),
            false => count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::{
        ClockChoice, Connections, Cookies, Expect, Generator, HttpOptions, HttpRequest, KeepAlive,
        KeepAliveHints, LatePolicy, Life, Method, Pause, PlanParts, Program, Reach, ReusedClosed,
        Samples, Sequence, Spread, Stop, Timeouts, Transcripts, Url, UserSteps, WaitChoice, Warmup,
    };
    use drumfire_units::Nanos;

    const MACHINE: Machine = Machine {
        cores: 8,
        descriptors: None,
        has_address: |address| address.is_loopback(),
    };

    fn request(url: &str) -> HttpRequest {
        HttpRequest::new(Method::get(), Url::parse(url).unwrap())
    }

    /// A pool with ten users and connections to these hosts.
    fn pool(name: &str, hosts: &[&str], count: u32, growth: Growth) -> Pool {
        Pool {
            name: name.to_owned(),
            reach: Reach::default(),
            http: HttpOptions::default(),
            requests: hosts.iter().map(|host| request(host)).collect(),
            program: Program::default(),
            load: Load::Closed {
                users: 10,
                think: Pause::NONE,
                pace: Nanos::ZERO,
            },
            users: None,
            stop: Stop {
                requests: Some(10),
                ..Stop::default()
            },
            connections: Connections {
                opening: drumfire_plan::Opening::Waiting,
                count,
                streams: 1,
                keep_alive: KeepAlive::Yes,
                reused_closed: ReusedClosed::Fail,
                hints: KeepAliveHints::Ignore,
                tls_end: drumfire_plan::TlsEnd::Confirmed,
                growth,
                affinity: Affinity::Shared,
                backoff_max: Nanos::ZERO,
                spread: Spread::Turn,
                ping: None,
                life: Life::default(),
            },
            timeouts: Timeouts::default(),
            expect: Expect::default(),
            begun: 0,
            cookies: Cookies::Ignore,
            samples: Samples::Forget,
            transcripts: Transcripts::None,
        }
    }

    fn plan(pools: Vec<Pool>, threads: Threads) -> Plan {
        let generator = Generator {
            threads,
            wait: WaitChoice::Sleep,
            clock: ClockChoice::Program,
            seed: 1,
            warmup: Warmup::NONE,
            interval: Nanos::from_secs(1),
        };
        Plan::new(PlanParts {
            name: None,
            pools,
            generator,
            thresholds: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn threads_are_as_many_as_cores_and_as_have_a_share() {
        for (threads, connections, expected) in [
            (Threads::AsMany, 100, (8, 8)),
            (Threads::AsMany, 3, (3, 8)),
            (Threads::Exactly(2), 100, (2, 2)),
            // Only ten users can be divided.
            (Threads::Exactly(40), 100, (10, 40)),
        ] {
            let plan = plan(
                vec![pool("p", &["http://a/"], connections, Growth::Ahead)],
                threads,
            );
            let placement = fit(&plan, &MACHINE).unwrap();
            let found = (placement.threads(), placement.threads_offered());
            assert_eq!(found, expected, "{threads:?} {connections}");
        }
    }

    #[test]
    fn users_who_keep_to_shared_connections_are_divided_evenly() {
        let second = Nanos::from_secs(1);
        for (connections, users, expected) in [
            // Ten users: with 2 connections each has 5 users, with 3 only one thread is even.
            (2, None, 2),
            (3, None, 1),
            (4, None, 2),
            (5, None, 5),
            // With one connection per user, connections are not shared.
            (10, None, 8),
            (4, Some([(Nanos::ZERO, 4), (second, 8)]), 4),
            (4, Some([(Nanos::ZERO, 4), (second, 9)]), 1),
        ] {
            let mut pool = pool("p", &["http://a/"], connections, Growth::Ahead);
            pool.connections.affinity = Affinity::User;
            pool.users = users.and_then(|counts| UserSteps::changing(counts.to_vec()));
            let plan = plan(vec![pool], Threads::AsMany);
            let placement = fit(&plan, &MACHINE).unwrap();
            assert_eq!(placement.threads(), expected, "{connections} {users:?}");
        }
    }

    #[test]
    fn a_count_of_users_with_rates_who_come_in_turn_is_divided_evenly() {
        let (per_second, second) = ("10/s".parse::<Sequence>().unwrap(), Nanos::from_secs(1));
        let ramp = |last| UserSteps::changing(vec![(Nanos::ZERO, 1), (second, last)]);
        for (users, law, requests, expected) in [
            // Nine users that arrive one after the other: 3 parts with 3 users each.
            (9, ramp(9), Some(90), 3),
            (7, ramp(7), Some(90), 7),
            (11, ramp(11), Some(90), 1),
            // Without a count, numbers would have gaps; users that are present from the start are
            // divided.
            (9, ramp(9), None, 3),
            (9, None, Some(90), 8),
            // The load limit of one thread: 11 users with 10 requests per second are below it,
            // 1,009 are not.
            (11, ramp(11), None, 1),
            (1_009, ramp(1_009), None, 8),
        ] {
            let mut pool = pool("p", &["http://a/"], 100, Growth::Ahead);
            pool.load = Load::PerUser {
                users,
                rate: per_second.clone(),
                late: LatePolicy::Queue,
            };
            pool.users = law;
            pool.stop.requests = requests;
            pool.stop.duration = Some(Nanos::from_secs(100));
            let plan = plan(vec![pool], Threads::AsMany);
            let placement = fit(&plan, &MACHINE).unwrap();
            assert_eq!(placement.threads(), expected, "{users} {requests:?}");
        }
    }

    #[test]
    fn connections_as_needed_share_the_descriptors_that_are_left() {
        let pools = vec![
            pool("a", &["http://a/"], 1_000, Growth::AsNeeded),
            pool(
                "b",
                &["http://a/", "http://b/", "http://b/x"],
                1_000,
                Growth::AsNeeded,
            ),
            pool("c", &["http://a/"], 40, Growth::Ahead),
        ];
        let plan = plan(pools, Threads::AsMany);
        for (descriptors, each, clamped) in [
            (None, 1_000, 0),
            (Some(1_000_000), 1_000, 0),
            (Some(404), 100, 2),
            (Some(104), 1, 2),
        ] {
            let machine = Machine {
                descriptors,
                ..MACHINE
            };
            let placement = fit(&plan, &machine).unwrap();
            let counts = [0, 1, 2].map(|pool| placement.connections(pool));
            assert_eq!(counts, [each, each, 40], "{descriptors:?}");
            assert_eq!(placement.clamps().len(), clamped, "{descriptors:?}");
            assert_eq!(placement.connections_most(), u64::from(each) * 3 + 40);
        }
    }

    #[test]
    fn what_a_machine_does_not_have_refuses_the_plan() {
        let mut own = pool("p", &["http://a/"], 1_000, Growth::Ahead);
        own.reach.source_addresses = ["127.0.0.2", "192.0.2.1", "192.0.2.1"]
            .map(|address| address.parse().unwrap())
            .into();
        let machine = Machine {
            descriptors: Some(100),
            ..MACHINE
        };
        let refused = fit(&plan(vec![own], Threads::AsMany), &machine).unwrap_err();
        let words: Vec<String> = refused.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "192.0.2.1 is not an address of this machine; run `ip address` to list them",
                "1,000 connections need 1,064 file descriptors, but this process may open only 100; \
                 raise the limit (ulimit -n 1064)",
            ]
        );
    }

    #[test]
    fn a_low_limit_of_descriptors_leaves_a_quarter() {
        let most = |limit| {
            let machine = Machine {
                descriptors: Some(limit),
                ..MACHINE
            };
            machine.connections_max()
        };
        assert_eq!(
            [most(300), most(64), most(8)],
            [Some(236), Some(16), Some(2)]
        );
    }
}
