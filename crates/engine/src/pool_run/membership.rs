//! A worker's membership in the crew of its pool: its way to the pool's other workers, by
//! [`crate::handover`], or none where it is alone.
//!
//! Around each wait the pool calls [`Membership::rest`], which leaves the demand to others, and
//! [`Membership::resume`], which takes it back; in between nothing here may touch the demand. While
//! it is awake it may [`take`](Membership::take) what others have left, and
//! [`give_back`](Membership::give_back) the ends of their requests. For a worker that is alone all
//! of this does nothing: it sees no offer, and is over and deserted as soon as its own part is.

use crate::demand::{Demand, Lent, Offer, Returned, Room};
use crate::handover::{Handover, Member};
use crate::limits::ORDERS_WITHIN;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's way to the other workers of its pool, where there are any.
pub(super) struct Membership(Option<Member>);

impl Membership {
    /// The membership of a worker that has this way to others, or none.
    pub(super) const fn new(member: Option<Member>) -> Self {
        Self(member)
    }

    /// Whether the worker has the pool for itself.
    #[inline]
    pub(super) const fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// The worker's number among those of the pool.
    pub(super) fn number(&self) -> u32 {
        self.0.as_ref().map_or(0, Member::number)
    }

    /// The state that the pool's workers share, for questions.
    pub(super) fn handover(&self) -> Option<Arc<Handover>> {
        self.0.as_ref().map(|member| Arc::clone(member.handover()))
    }

    /// Whether another worker has left something for any that has room.
    #[inline]
    pub(super) fn sees_offers(&self) -> bool {
        self.0.as_ref().is_some_and(Member::sees_offers)
    }

    /// Notes that the users of this worker have left for good; `true` where those of all have.
    #[cold]
    pub(super) fn is_deserted(&self) -> bool {
        self.0.as_ref().is_none_or(Member::note_deserted)
    }

    /// Notes that this worker begins nothing more of its own; `true` where none of the pool does.
    pub(super) fn is_over(&mut self) -> bool {
        self.0.as_mut().is_none_or(|member| {
            member.note_over();
            member.is_over()
        })
    }

    /// Takes what `lend` gives of the demand, of those that were left, whose first is due earliest
    /// and before `own`; with the number of its home.
    pub(super) fn take(
        &mut self,
        own: Nanos,
        now: Nanos,
        lend: impl FnMut(&mut Demand) -> Option<Lent>,
    ) -> Option<(u32, Lent)> {
        self.0.as_mut()?.take(own, now, lend)
    }

    /// Gives the end of a request back to the worker whose user made it.
    pub(super) fn give_back(&self, home: u32, returned: Returned) {
        if let Some(member) = &self.0 {
            member.give_back(home, returned);
        }
    }

    /// Leaves a demand to others before a sleep, where it offers something that is due. Gives the
    /// time by which to wake for others.
    pub(super) fn rest(
        &mut self,
        demand: &mut Demand,
        offer: Offer,
        room: Room,
        now: Nanos,
    ) -> Nanos {
        let Some(member) = &mut self.0 else {
            return Nanos::MAX;
        };
        let wake = member.rest(demand, offer, room, now);
        // Others take what lies before the horizon, which only this worker moves.
        match member.has_left() {
            true => wake.min(now + Nanos(ORDERS_WITHIN.0 / 2)),
            false => wake,
        }
    }

    /// Takes the demand back after a sleep, with the ends of its users' requests that others have
    /// carried out.
    #[inline]
    pub(super) fn resume(&mut self, demand: &mut Demand) -> Vec<Returned> {
        match &mut self.0 {
            None => Vec::new(),
            Some(member) => member.resume(demand),
        }
    }
}
