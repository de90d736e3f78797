//! The streams that decode at a time, and the requests that wait for them.

use drumfire_units::Nanos;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The seats of a worker's streams.
#[derive(Debug)]
pub(crate) struct StreamSeats {
    /// The maximum number of streams; `None`: any.
    capacity: Option<u32>,
    /// The maximum number of waiting requests; `None`: any.
    queue: Option<u32>,
    running: Cell<u32>,
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
}

/// A waiting request.
#[derive(Debug, Default)]
struct Waiter {
    /// The time at which it got a seat.
    seated: Cell<Option<Nanos>>,
    waker: RefCell<Option<Waker>>,
}

/// Too many requests wait.
#[derive(Debug)]
pub(crate) struct QueueFull;

impl StreamSeats {
    pub(crate) fn new(capacity: Option<u32>, queue: Option<u32>) -> Self {
        Self {
            capacity,
            queue,
            running: Cell::new(0),
            waiting: RefCell::default(),
        }
    }

    /// The number of streams in progress.
    pub(crate) fn running(&self) -> u32 {
        self.running.get()
    }

    /// The number of waiting requests.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Joins at a time: gets a free seat, or a place in the queue.
    ///
    /// # Errors
    /// If the queue is full.
    pub(crate) fn join(self: &Rc<Self>, at: Nanos) -> Result<Seat, QueueFull> {
        let waiter = Rc::new(Waiter::default());
        if self
            .capacity
            .is_none_or(|capacity| self.running.get() < capacity)
        {
            self.running.set(self.running.get() + 1);
            waiter.seated.set(Some(at));
        } else {
            let mut waiting = self.waiting.borrow_mut();
            if self
                .queue
                .is_some_and(|queue| waiting.len() >= queue as usize)
            {
                return Err(QueueFull);
            }
            waiting.push_back(Rc::clone(&waiter));
        }
        Ok(Seat {
            batch: Rc::clone(self),
            waiter,
            joined: at,
            left: Nanos::ZERO,
        })
    }

    /// Gives a free seat to the first waiting request.
    fn pass_on(&self, at: Nanos) {
        let Some(next) = self.waiting.borrow_mut().pop_front() else {
            self.running.set(self.running.get() - 1);
            return;
        };
        next.seated.set(Some(at));
        if let Some(waker) = next.waker.take() {
            waker.wake();
        }
    }
}

/// A seat, or a place in the queue. Dropping it frees the seat.
#[derive(Debug)]
pub(crate) struct Seat {
    batch: Rc<StreamSeats>,
    waiter: Rc<Waiter>,
    joined: Nanos,
    /// The time at which the stream ended by its schedule.
    left: Nanos,
}

impl Seat {
    /// Waits for the seat; returns since when there is one. The time is that at which the earlier
    /// stream ended by its schedule, so that lateness does not add up.
    pub(crate) async fn taken(&self) -> Nanos {
        let at = poll_fn(|cx| match self.waiter.seated.get() {
            Some(at) => Poll::Ready(at),
            None => {
                *self.waiter.waker.borrow_mut() = Some(cx.waker().clone());
                Poll::Pending
            }
        });
        at.await.max(self.joined)
    }

    /// Frees the seat at a time of the schedule, when it is dropped.
    pub(crate) fn leave(&mut self, at: Nanos) {
        self.left = at;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.waiter.seated.get().is_some() {
            self.batch.pass_on(self.left);
            return;
        }
        let mut waiting = self.batch.waiting.borrow_mut();
        waiting.retain(|waiter| !Rc::ptr_eq(waiter, &self.waiter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    /// Since when a seat is taken.
    fn taken(seat: &Seat) -> Option<u64> {
        let mut cx = Context::from_waker(Waker::noop());
        match pin!(seat.taken()).poll(&mut cx) {
            Poll::Ready(at) => Some(at.0),
            Poll::Pending => None,
        }
    }

    #[test]
    fn seats_pass_on_in_order_at_the_times_of_the_schedule() {
        let batch = Rc::new(StreamSeats::new(Some(1), None));
        let mut first = batch.join(Nanos(10)).unwrap();
        let second = batch.join(Nanos(20)).unwrap();
        let third = batch.join(Nanos(30)).unwrap();
        assert_eq!((taken(&first), taken(&second)), (Some(10), None));
        assert_eq!((batch.running(), batch.waiting()), (1, 2));
        first.leave(Nanos(25));
        drop(first);
        assert_eq!((taken(&second), taken(&third)), (Some(25), None));
        drop(second);
        // The seat was free before the request came.
        assert_eq!(taken(&third), Some(30));
        drop(third);
        assert_eq!((batch.running(), batch.waiting()), (0, 0));
    }

    #[test]
    fn who_gives_up_waiting_leaves_the_queue_and_a_full_queue_refuses() {
        let batch = Rc::new(StreamSeats::new(Some(1), Some(1)));
        let first = batch.join(Nanos(0)).unwrap();
        let second = batch.join(Nanos(0)).unwrap();
        assert!(batch.join(Nanos(0)).is_err());
        drop(second);
        let third = batch.join(Nanos(1)).unwrap();
        drop(first);
        assert_eq!((taken(&third), batch.running()), (Some(1), 1));
        let unlimited = Rc::new(StreamSeats::new(None, None));
        let seats: Vec<Seat> = (0..9).map(|n| unlimited.join(Nanos(n)).unwrap()).collect();
        assert_eq!(seats.iter().filter_map(taken).count(), 9);
        assert_eq!(unlimited.running(), 9);
    }
}
