//! Other systems: tokio's timer, and the last moment by looking again and again.

use crate::clock;
use drumfire_units::Nanos;
use std::cell::Cell;
use std::io;
use std::pin::pin;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::sleep;

/// tokio's timers are up to this late.
const PRECISION: Nanos = Nanos::from_millis(2);

/// One timer.
#[derive(Default)]
pub(crate) struct Alarm {
    /// The time that it is set to.
    at: Cell<Option<Nanos>>,
    changed: Notify,
}

impl Alarm {
    /// Made in a runtime.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Rings at this time instead of the one before.
    pub(crate) fn set(&self, at: Option<Nanos>) {
        self.at.set(at);
        self.changed.notify_one();
    }

    /// Waits for the time that is set.
    pub(crate) async fn ring(&self) {
        loop {
            let now = clock::now();
            match self.at.get() {
                None => self.changed.notified().await,
                Some(at) if at <= now => break,
                Some(at) if at - now <= PRECISION => yield_now().await,
                Some(at) => {
                    let (mut changed, mut nap) = (
                        pin!(self.changed.notified()),
                        pin!(sleep((at - now - PRECISION).as_duration())),
                    );
                    std::future::poll_fn(|cx| {
                        match changed.as_mut().poll(cx).is_ready()
                            | nap.as_mut().poll(cx).is_ready()
                        {
                            true => std::task::Poll::Ready(()),
                            false => std::task::Poll::Pending,
                        }
                    })
                    .await;
                }
            }
        }
        self.at.set(None);
    }
}
