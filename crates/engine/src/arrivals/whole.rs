//! The load of a whole pool, computed once for all workers.
//!
//! It is made before the run ([`WholeLoad::of`]) and only read afterwards: workers take their
//! shares of it ([`WholeLoad::share`]), and the control asks it whether an order can be carried out
//! and when the load ends ([`WholeLoad::schedule`], [`WholeLoad::end_before`]). The shares of all
//! workers are a partition: together they have each arrival and each user once.

use super::closed::Closed;
use super::numbers::{Deal, dealt_to};
use super::open::Open;
use super::own_rates::OwnRates;
use super::{Arrivals, Bounds, Model, Numbers, Order};
use crate::id::{PoolId, Shard};
use crate::population::Population;
use drumfire_plan::{Arrivals as Spread, Change, LatePolicy, Load, Plan, Sequence, Users};
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
/// In the open model the law is a schedule over the whole pool, of which each worker takes its
/// arrivals. In the closed one it is the number of users, and the schedule is that of one user, the
/// same for each.
#[derive(Clone, Debug)]
enum WholeModel {
    Open {
        schedule: Schedule,
        spread: Spread,
        seed: u64,
        late: LatePolicy,
    },
    Closed {
        users: Users,
        /// The law of each user and the treatment of its late arrivals, where each has one.
        own: Option<(Schedule, LatePolicy)>,
    },
}

impl WholeLoad {
    /// A pool's load.
    ///
    /// # Errors
    /// When the pool's schedule can't be computed.
    pub(crate) fn of(plan: &Plan, id: PoolId) -> Result<Self, ScheduleError> {
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
            bounds: Bounds::of(pool, plan.generator().warmup.span()),
        })
    }

    /// The numbers that the workers here share, of `of` in all, where the number of requests is
    /// bounded and users ask for them; `None` where each has its own.
    ///
    /// Those of the open model need no sharing, since arrivals have their numbers by the schedule;
    /// a single worker has all numbers to itself.
    pub(crate) fn numbers(&self, members: &[u32], of: u32) -> Option<Arc<Numbers>> {
        let is_shared = !self.is_open() && self.bounds.limit < u64::MAX && members.len() > 1;
        is_shared.then(|| Arc::new(Numbers::new(self.bounds.limit, members, of)))
    }

    /// The share of one worker, with the numbers that it shares with others; its users that are
    /// there from the start are put into the population.
    pub(crate) fn share(
        &self,
        shard: Shard,
        numbers: Option<Arc<Numbers>>,
        population: &mut Population,
    ) -> Arrivals {
        let bounds = self.bounds;
        let model = match &self.model {
            WholeModel::Open { schedule, late, .. } => {
                Model::Open(Open::new(schedule, *late, shard, bounds))
            }
            WholeModel::Closed { users, own } => {
                let deal = Deal::new(shard, dealt_to(users, shard.of));
                let own = own
                    .clone()
                    .map(|(schedule, late)| OwnRates::new(schedule, late, deal, bounds));
                Model::Closed(Closed::new(users, own, shard, bounds, numbers, population))
            }
        };
        Arrivals::new(model, shard, bounds.end)
    }

    /// Whether the model is open, so that there is a rate.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.model, WholeModel::Open { .. })
    }

    /// The schedule of a rate that an order sets, the `number`-th from 1; each draws random
    /// arrivals of its own. `None` in the closed model.
    ///
    /// The number of the order is added to the pool's seed, so that a later order does not repeat
    /// the gaps of an earlier one, and the same orders give the same arrivals in each run.
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

    /// The beginning of the law that decides how long the load lasts, and its length; of users with
    /// laws of their own, that of the last to come. `None` where users start when they are free.
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

    /// Whether each user follows a rate of its own.
    pub(crate) const fn has_own_rates(&self) -> bool {
        matches!(self.model, WholeModel::Closed { own: Some(_), .. })
    }

    /// The time until which the load lasts with these orders. Only orders that hold at `at` or
    /// earlier count: one from later than the result would change nothing.
    ///
    /// A pause moves the law's beginning by as long as it stands, and the end with it; a load that
    /// is paused for good lasts until its own bound. An order of a new law begins that at the
    /// order's time. One that comes after the law is over finds no load to change, so that the
    /// reading of orders ends there.
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
                    // A law that runs on ends when the one before it would have.
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
fn last_change(users: &Users) -> Nanos {
    users.changes().last().map_or(Nanos::ZERO, |(at, _)| *at)
}
