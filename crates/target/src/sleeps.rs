//! Waiting for a point in time.

use crate::clock;
use drumfire_units::Nanos;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The sleeps of all tasks, in order of time. A sleep that is dropped leaves nothing behind:
/// deadlines are long, and practically none is ever met.
#[derive(Default)]
pub(crate) struct Sleeps {
    waiting: RefCell<BTreeMap<(Nanos, u64), Waker>>,
    count: Cell<u64>,
}

/// Ends at a point in time.
pub(crate) struct Sleep {
    sleeps: Rc<Sleeps>,
    at: Nanos,
    /// Distinguishes it from others of the same time, once it waits.
    number: Option<u64>,
}

impl Sleeps {
    /// Sleeps until a point in time.
    pub(crate) fn until(self: &Rc<Self>, at: Nanos) -> Sleep {
        Sleep {
            sleeps: Rc::clone(self),
            at,
            number: None,
        }
    }

    /// When the first is due.
    #[inline]
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.waiting.borrow().keys().next().map(|(at, _)| *at)
    }

    /// Wakes all that are due.
    pub(crate) fn fire_due(&self) {
        if self.waiting.borrow().is_empty() {
            return;
        }
        let now = clock::now();
        loop {
            let mut waiting = self.waiting.borrow_mut();
            let Some(first) = waiting.first_entry().filter(|entry| entry.key().0 <= now) else {
                return;
            };
            let waker = first.remove();
            drop(waiting);
            waker.wake();
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if clock::now() >= self.at {
            return Poll::Ready(());
        }
        let number = self.number.unwrap_or_else(|| {
            let count = &self.sleeps.count;
            count.set(count.get() + 1);
            count.get()
        });
        self.number = Some(number);
        let mut waiting = self.sleeps.waiting.borrow_mut();
        waiting.insert((self.at, number), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.sleeps.waiting.borrow_mut().remove(&(self.at, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[test]
    fn who_is_due_is_woken_and_who_leaves_is_forgotten() {
        let sleeps = Rc::new(Sleeps::default());
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(pin!(sleeps.until(clock::now())).poll(cx).is_ready());
        let soon = clock::now() + Nanos::from_millis(1);
        {
            let mut first = pin!(sleeps.until(soon));
            let mut second = pin!(sleeps.until(soon + Nanos::from_secs(3_600)));
            assert!(second.as_mut().poll(cx).is_pending());
            if first.as_mut().poll(cx).is_pending() {
                assert_eq!(sleeps.next(), Some(soon));
                while clock::now() < soon {
                    std::hint::spin_loop();
                }
                sleeps.fire_due();
                assert!(first.as_mut().poll(cx).is_ready());
            }
            assert_eq!(sleeps.next(), Some(soon + Nanos::from_secs(3_600)));
        }
        assert_eq!(sleeps.next(), None);
    }
}
