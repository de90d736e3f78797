//! Which row of a feed a request takes.

use crate::Order;
use crate::feed::counted;
use drumfire_plan::{DataError, RequestContext};

/// In which order the rows of a feed are taken, and what becomes of requests beyond its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedOrder {
    /// The n-th iteration takes the n-th row, and the rows begin again after the last.
    #[default]
    InTurn,
    /// As in turn, by strides: iterations take several rows each, or some of them take none.
    Strides(Strides),
    /// Every iteration takes any row, independent of the others.
    Random,
    /// As in turn, but each row is taken once.
    Once(AtEnd),
    /// Every user has a row of its own, which it keeps for the whole run.
    PerUser,
}

/// Which row an iteration takes where blocks of iterations take blocks of rows: iteration n takes row
/// `n / per * rows + n % per * each + first`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// How many iterations a block has; at least 1.
    pub per: u64,
    /// How many rows a block takes.
    pub rows: u64,
    /// How many rows an iteration is ahead of the one before it in its block.
    pub each: u64,
    /// The row of the first iteration; below 0 where the block's first iterations take none.
    pub first: i64,
}

impl Strides {
    /// The row of `rows`, which begin again after the last, that an iteration takes.
    fn row(self, iteration: u64, rows: u64) -> u64 {
        let (per, rows) = (self.per.max(1), rows.max(1));
        // The product of two numbers of 64 bits fits, and a remainder is one again.
        let ahead = |count: u64, step: u64| {
            let row = u128::from(count) * u128::from(step) % u128::from(rows);
            i128::try_from(row).unwrap_or_default()
        };
        let row = ahead(iteration / per, self.rows) + ahead(iteration % per, self.each);
        let row = (row + i128::from(self.first)).rem_euclid(i128::from(rows));
        u64::try_from(row).unwrap_or_default()
    }
}

/// What becomes of requests when every row was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// There are none: the run ends.
    Stop,
    /// They fail.
    Fail,
}

/// What a pool takes of a feed that several pools use, so that no row is taken twice where each
/// may be taken once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    /// How many pools use the feed; at least 1.
    pub pools: u32,
    /// Which of them this one is, from 0.
    pub pool: u32,
    /// How many users those before it have at most.
    pub users_before: u32,
}

impl Default for Deal {
    /// The whole feed.
    fn default() -> Self {
        Self {
            pools: 1,
            pool: 0,
            users_before: 0,
        }
    }
}

impl From<Order> for FeedOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::InTurn => Self::InTurn,
            Order::Random => Self::Random,
            Order::OnceEach => Self::Once(AtEnd::Stop),
        }
    }
}

impl FeedOrder {
    /// The row, from 0, that a request takes of `rows`.
    pub(crate) fn row(
        self,
        deal: Deal,
        seed: u64,
        request: &RequestContext,
        rows: u64,
    ) -> Result<u64, DataError> {
        let arrival = request.arrival;
        let (row, missing) = match self {
            Self::InTurn => (Order::InTurn.index(seed, arrival, rows), String::new()),
            Self::Strides(strides) => {
                let row = (rows > 0).then(|| strides.row(arrival, rows));
                (row, String::new())
            }
            Self::Random => (Order::Random.index(seed, arrival, rows), String::new()),
            Self::Once(_) => {
                let row = arrival.checked_mul(deal.pools.into());
                let row = row.and_then(|row| row.checked_add(deal.pool.into()));
                let row = row.filter(|row| *row < rows);
                let by = match deal.pools {
                    1 => String::new(),
                    pools => format!(" by {pools} pools in turn"),
                };
                let missing = || format!("each is used once{by}, and none are left");
                (row, row.map_or_else(missing, |_| String::new()))
            }
            Self::PerUser => {
                let user = u64::from(request.user);
                let row = u64::from(deal.users_before) + user;
                let row = (row < rows).then_some(row);
                let missing = || "each user needs its own, and there are more users".to_owned();
                (row, row.map_or_else(missing, |_| String::new()))
            }
        };
        row.ok_or_else(|| DataError::new(format!("has {}: {missing}", counted(rows, "row"))))
    }

    /// For how many requests there are rows, when the run ends with them.
    pub(crate) fn count(self, deal: Deal, rows: u64) -> Option<u64> {
        let of_pool = rows.saturating_sub(deal.pool.into());
        (self == Self::Once(AtEnd::Stop)).then(|| of_pool.div_ceil(deal.pools.max(1).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::{AtEnd, Deal, FeedOrder, Strides};
    use drumfire_plan::RequestContext;

    fn row(order: FeedOrder, deal: Deal, arrival: u64, user: u32) -> Result<u64, String> {
        let request = RequestContext {
            arrival,
            user,
            ..RequestContext::default()
        };
        order.row(deal, 7, &request, 5).map_err(|error| error.words)
    }

    #[test]
    fn a_user_keeps_its_row() {
        let deal = Deal::default();
        for arrival in [0, 1, 9] {
            assert_eq!(row(FeedOrder::PerUser, deal, arrival, 3), Ok(3));
        }
        let error = "has 5 rows: each user needs its own, and there are more users";
        assert_eq!(row(FeedOrder::PerUser, deal, 0, 5), Err(error.to_owned()));
        let behind = Deal {
            users_before: 3,
            ..deal
        };
        assert_eq!(row(FeedOrder::PerUser, behind, 0, 1), Ok(4));
        assert!(row(FeedOrder::PerUser, behind, 0, 2).is_err());
    }

    #[test]
    fn blocks_of_iterations_take_blocks_of_rows() {
        let taken = |per, rows, each, first| {
            let order = FeedOrder::Strides(Strides {
                per,
                rows,
                each,
                first,
            });
            let row = |arrival| row(order, Deal::default(), arrival, 0).expect("a row");
            (0..6).map(row).collect::<Vec<_>>()
        };
        // Two rows an iteration: this is the second of them.
        assert_eq!(taken(1, 2, 0, 1), [1, 3, 0, 2, 4, 1]);
        // Of three iterations the last two take a row each.
        let rows = taken(3, 2, 1, -1);
        assert_eq!([rows[1], rows[2], rows[4], rows[5]], [0, 1, 2, 3]);
        let far = Strides {
            per: 1,
            rows: u64::MAX,
            each: u64::MAX,
            first: i64::MIN,
        };
        assert!(far.row(u64::MAX, 7) < 7 && far.row(0, u64::MAX) < u64::MAX);
    }

    #[test]
    fn pools_that_share_a_feed_take_each_row_once() {
        let mut taken = Vec::new();
        for pools in 1..7 {
            taken.clear();
            for pool in 0..pools {
                let deal = Deal {
                    pools,
                    pool,
                    users_before: 0,
                };
                let once = FeedOrder::Once(AtEnd::Stop);
                let count = once.count(deal, 5).expect("it ends");
                taken.extend((0..count).map(|n| row(once, deal, n, 0).expect("a row")));
                assert!(row(once, deal, count, 0).is_err());
                assert_eq!(FeedOrder::Once(AtEnd::Fail).count(deal, 5), None);
            }
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2, 3, 4], "{pools} pools");
        }
    }
}
