//! Sleeping until a point in time, with the precision of the kernel's timers.
//!
//! tokio's timers have a precision of a millisecond, but here a delay of 50 µs takes 50 µs: clients
//! are compared with the delays of this server.

#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod timerfd;

use crate::clock;
use drumfire_units::Nanos;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[cfg(not(target_os = "linux"))]
use portable::Alarm;
#[cfg(target_os = "linux")]
use timerfd::Alarm;

/// The sleeps of all tasks of a worker, in order of time. Dropping a sleep removes it, because most
/// deadlines are long and never reached.
pub(crate) struct Sleeps {
    waiting: RefCell<BTreeMap<(Nanos, u64), Waker>>,
    count: Cell<u64>,
    alarm: Alarm,
}

/// A future that ends at a point in time.
pub(crate) struct Sleep {
    sleeps: Rc<Sleeps>,
    at: Nanos,
    /// Distinguishes the sleep from others with the same time, after it has been registered.
    number: Option<u64>,
}

/// The time limit has passed.
#[derive(Debug)]
pub(crate) struct TimedOut;

impl Sleeps {
    /// Creates the sleeps; call this in the worker's runtime.
    ///
    /// # Errors
    /// If the system refuses a timer.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            waiting: RefCell::default(),
            count: Cell::new(0),
            alarm: Alarm::new()?,
        })
    }

    /// Sleeps until a point in time.
    pub(crate) fn until(self: &Rc<Self>, at: Nanos) -> Sleep {
        Sleep {
            sleeps: Rc::clone(self),
            at,
            number: None,
        }
    }

    /// Runs a future until a point in time at most.
    pub(crate) async fn limit<T>(
        self: &Rc<Self>,
        future: impl Future<Output = T>,
        at: Nanos,
    ) -> Result<T, TimedOut> {
        let (mut future, mut late) = (pin!(future), pin!(self.until(at)));
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Ok(value)),
            Poll::Pending => late.as_mut().poll(cx).map(|()| Err(TimedOut)),
        })
        .await
    }

    /// Wakes sleeps until the worker ends.
    pub(crate) async fn run(&self) {
        loop {
            self.alarm.ring().await;
            self.fire_due();
            self.alarm.set(self.next());
        }
    }

    /// The time of the first sleep.
    fn next(&self) -> Option<Nanos> {
        self.waiting.borrow().keys().next().map(|(at, _)| *at)
    }

    /// Wakes all due sleeps.
    fn fire_due(&self) {
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
        let is_first = waiting
            .keys()
            .next()
            .is_none_or(|first| *first > (self.at, number));
        waiting.insert((self.at, number), cx.waker().clone());
        if is_first {
            self.sleeps.alarm.set(Some(self.at));
        }
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

    /// Runs a test in a worker's runtime.
    fn run(test: impl AsyncFn(Rc<Sleeps>)) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder
            .enable_all()
            .build_local(Default::default())
            .unwrap();
        runtime.block_on(async {
            let sleeps = Rc::new(Sleeps::new().unwrap());
            let running = Rc::clone(&sleeps);
            tokio::task::spawn_local(async move { running.run().await });
            test(sleeps).await;
        });
    }

    #[test]
    fn a_sleep_ends_on_time_and_never_early() {
        run(async |sleeps| {
            let mut lateness = Vec::new();
            for _ in 0..20 {
                let at = clock::now() + Nanos::from_micros(300);
                sleeps.until(at).await;
                assert!(clock::now() >= at);
                lateness.push((clock::now() - at).0);
            }
            // A timer with a precision of a millisecond would make each sleep at least 700 µs late.
            assert!(lateness.iter().min() < Some(&500_000), "{lateness:?}");
        });
    }

    #[test]
    fn who_leaves_is_forgotten_and_an_earlier_sleep_ends_first() {
        run(async |sleeps| {
            let hour = clock::now() + Nanos::from_secs(3_600);
            let soon = clock::now() + Nanos::from_millis(2);
            let long = sleeps.until(hour);
            let late = sleeps.limit(long, soon).await;
            assert!(late.is_err() && clock::now() >= soon);
            assert_eq!(sleeps.next(), None);
            assert_eq!(sleeps.limit(async { 7 }, hour).await.unwrap(), 7);
        });
    }
}
