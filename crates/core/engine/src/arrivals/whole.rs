//! The load of a whole pool, computed once for all workers.
//!
//! The whole load is computed before the run ([`WholeLoad::for_pool`]) and read-only afterwards.
//! Workers take their shares of it ([`WholeLoad::share`]); the control queries whether an order can
//! be carried out and when the load ends ([`WholeLoad::schedule`], [`WholeLoad::end_before`]). The
//! shares of all workers are a partition: each arrival and each user is in exactly one share.

use super::closed::Closed;
use super::numbers::{UserNumbers, dealt_to};
use super::open::Open;
use super::own_rates::OwnRates;
use super::{ArrivalModel, Arrivals, Bounds, Numbers, Order};
use crate::id::{PoolId, Shard};
use crate::population::Population;
use drumfire_plan::{Arrivals as Spread, Change, LatePolicy, Load, Plan, Sequence, UserSteps};
use drumfire_schedule::{Schedule, ScheduleError};
use drumfire_units::Nanos;
use std::sync::Arc;

/// A pool's load, before it is dealt to workers.
#[derive(Clone, Debug)]
pub(crate) struct WholeLoad {
    model: WholeModel,
    bounds: Bounds,
}

/// The parameters of the model, for the whole pool.
///
/// In the open model, the law is a schedule over the whole pool, and each worker takes its
/// arrivals. In the closed model, the law is the number of users, and the schedule, if any, applies
/// to each user.
#[derive(Clone, Debug)]
enum WholeModel {
    Open {
        schedule: Schedule,
        spread: Spread,
        seed: u64,
        late: LatePolicy,
    },
    Closed {
        users: UserSteps,
        /// The schedule of each user and its late policy, if users have their own rates.
        own: Option<(Schedule, LatePolicy)>,
    },
}

impl WholeLoad {
    /// A pool's load.
    ///
    /// # Errors
    /// If the pool's schedule cannot be computed.
    pub(crate) fn for_pool(plan: &Plan, id: PoolId) -> Result<Self, ScheduleError> {
        let (pool, seed) = (&plan.pools()[id.index()], plan.seed_of(id.index()));
        let model = match &pool.load {
            Load::Open {
                rate,
                arrivals,
                late,
            } => WholeModel::Open {
                schedule: Schedule::new(rate, *arrivals, seed)?,
                spread: *arrivals,
                seed,
                late: *late,
            },
            Load::Closed { users, .. } => WholeModel::Closed {
                users: pool.users_over_time(*users),
                own: None,
            },
            Load::PerUser { users, rate, late } => WholeModel::Closed {
                users: pool.users_over_time(*users),
                own: Some((Schedule::new(rate, Spread::Constant, seed)?, *late)),
            },
        };
        Ok(Self {
            model,
            bounds: Bounds::for_pool(pool, plan.generator().warmup.span()),
        })
    }

    /// The numbers that the workers `members` of `of` share, if the number of requests is bounded
    /// and users take numbers; `None` if each worker has its own numbers.
    ///
    /// In the open model no sharing is needed, since the schedule numbers the arrivals. A single
    /// worker has all numbers.
    pub(crate) fn numbers(&self, members: &[u32], of: u32) -> Option<Arc<Numbers>> {
        let is_shared = !self.is_open() && self.bounds.limit < u64::MAX && members.len() > 1;
        is_shared.then(|| Arc::new(Numbers::new(self.bounds.limit, members, of)))
    }

    /// One worker's share, with the numbers that it shares with others. Users that exist from the
    /// start are added to `population`.
    pub(crate) fn share(
        &self,
        shard: Shard,
        numbers: Option<Arc<Numbers>>,
        population: &mut Population,
    ) -> Arrivals {
        let bounds = self.bounds;
        let model = match &self.model {
            WholeModel::Open { schedule, late, .. } => {
                ArrivalModel::Open(Open::new(schedule, *late, shard, bounds))
            }
            WholeModel::Closed { users, own } => {
                let deal = UserNumbers::new(shard, dealt_to(users, shard.of));
                let own = own
                    .clone()
                    .map(|(schedule, late)| OwnRates::new(schedule, late, deal, bounds));
                ArrivalModel::Closed(Closed::new(users, own, shard, bounds, numbers, population))
            }
        };
        Arrivals::new(model, shard, bounds.end)
    }

    /// Whether the model is open, so that there is a rate.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.model, WholeModel::Open { .. })
    }

    /// The schedule for a rate that an order sets, for the order with this number, from 1. Each
    /// order draws its own random arrivals. `None` in the closed model.
    ///
    /// The number of the order is added to the pool's seed, so that a later order does not repeat
    /// the gaps of an earlier one, and equal orders produce equal arrivals in each run.
    pub(crate) fn schedule(
        &self,
        law: &Sequence,
        number: u64,
    ) -> Option<Result<Schedule, ScheduleError>> {
        match &self.model {
            WholeModel::Open { spread, seed, .. } => {
                Some(Schedule::new(law, *spread, seed.wrapping_add(number)))
            }
            WholeModel::Closed { .. } => None,
        }
    }

    /// The beginning and the length of the law that determines the load's duration. For users with
    /// their own laws, this is the law of the last user to come. `None` if users start when they
    /// are free.
    fn law(&self) -> Option<(Nanos, Option<Nanos>)> {
        match &self.model {
            WholeModel::Open { schedule, .. } => Some((Nanos::ZERO, schedule.duration())),
            WholeModel::Closed { own: None, .. } => None,
            WholeModel::Closed {
                users,
                own: Some((schedule, _)),
            } => Some((last_change(users), schedule.duration())),
        }
    }

    /// Whether each user follows its own rate.
    pub(crate) const fn has_own_rates(&self) -> bool {
        matches!(self.model, WholeModel::Closed { own: Some(_), .. })
    }

    /// The end of the load under these orders. Only orders with a time of `at` or earlier count: an
    /// order after the result would change nothing.
    ///
    /// A pause moves the law's beginning and end by the length of the pause. A load that stays
    /// paused lasts until its own bound. An order with a new law begins this law at the order's
    /// time. An order after the end of the law has no effect, so the loop ends there.
    pub(crate) fn end_before(&self, at: Nanos, orders: &[&Order]) -> Nanos {
        let mut orders: Vec<&Order> = orders
            .iter()
            .copied()
            .filter(|order| order.command.at <= at)
            .collect();
        orders.sort_by_key(|order| order.command.at);
        let stop = orders.iter().find(|order| order.is_stop());
        let stop = stop.map_or(self.bounds.end, |order| {
            order.command.at.min(self.bounds.end)
        });
        let Some((mut origin, mut length)) = self.law() else {
            return stop;
        };
        let mut paused_at = None;
        for order in orders {
            let at = order.command.at;
            let is_over = length.is_some_and(|length| origin + length < at);
            if is_over && paused_at.is_none() {
                break;
            }
            match (&order.command.change, &order.schedule) {
                (Change::Pause, _) => {
                    paused_at.get_or_insert(at);
                }
                (Change::Resume, _) => {
                    if let Some(paused_at) = paused_at.take() {
                        origin += at - paused_at;
                    }
                }
                (Change::Users { law }, _) => origin = origin.max(at + last_change(law)),
                (_, Some(schedule)) => {
                    // A new law without a length ends when the law before it would have ended.
                    let stood_at = paused_at.unwrap_or(at) - origin;
                    let rest = length.map(|length| length - stood_at);
                    (origin, length) = (at, schedule.duration().or(rest));
                    paused_at = paused_at.map(|_| at);
                }
                _ => {}
            }
        }
        match (paused_at, length) {
            (None, Some(length)) => stop.min(origin + length),
            _ => stop,
        }
    }
}

/// The time of the last change of the number of users.
fn last_change(users: &UserSteps) -> Nanos {
    users.changes().last().map_or(Nanos::ZERO, |(at, _)| *at)
}
