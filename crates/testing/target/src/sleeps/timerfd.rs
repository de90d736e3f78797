//! Linux: a timerfd(2) among the runtime's sockets.

use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::cell::Cell;
use std::io;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One timer.
pub(crate) struct Alarm {
    timer: AsyncFd<OwnedFd>,
    /// The time that is set.
    at: Cell<Option<Nanos>>,
}

impl Alarm {
    /// Creates a timer; call this in a runtime.
    #[expect(
        deprecated,
        reason = "the replacement is unsafe; the descriptor of an OwnedFd never changes"
    )]
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            timer: AsyncFd::with_interest(timer, Interest::READABLE)?,
            at: Cell::new(None),
        })
    }

    /// Sets the time, and replaces the previous one. A time in the past fires immediately. `None`
    /// leaves the timer set, which may fire once without need.
    pub(crate) fn set(&self, at: Option<Nanos>) {
        let Some(at) = at.filter(|at| self.at.get() != Some(*at)) else {
            return;
        };
        self.at.set(Some(at));
        let time = Itimerspec {
            it_interval: timespec(Nanos::ZERO),
            // Zero would disarm the timer.
            it_value: timespec(at.max(Nanos(1))),
        };
        // This fails only for invalid descriptors and times.
        let _ = timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &time);
    }

    /// Waits for the time that is set.
    pub(crate) async fn ring(&self) {
        // This fails only when the runtime ends, and the waiting task with it.
        if let Ok(mut guard) = self.timer.readable().await {
            // Expirations need not be read: setting the timer again clears them, and only a new one
            // is reported.
            guard.clear_ready();
        }
        self.at.set(None);
    }
}

/// A point in time in the kernel's form.
fn timespec(at: Nanos) -> Timespec {
    Timespec {
        tv_sec: (at.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (at.0 % 1_000_000_000).cast_signed(),
    }
}
