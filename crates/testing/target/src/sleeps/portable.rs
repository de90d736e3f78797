//! Other systems: tokio's timer, and polling for the last moment.

use crate::clock;
use drumfire_units::Nanos;
use std::cell::Cell;
use std::io;
use std::pin::pin;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::sleep;

/// The maximum lateness of tokio's timers.
const PRECISION: Nanos = Nanos::from_millis(2);

/// One timer.
#[derive(Default)]
pub(crate) struct Alarm {
    /// The time that is set.
    at: Cell<Option<Nanos>>,
    changed: Notify,
}

impl Alarm {
    /// Creates a timer; call this in a runtime.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Sets the time, and replaces the previous one.
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
