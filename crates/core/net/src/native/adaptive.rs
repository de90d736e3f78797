//! Adaptive waiting: the driver's part, which has the clock and the system calls. The decisions are
//! in [`Polling`].

use super::Native;
use crate::clock::Clock;
use crate::poller::Poller;
use crate::polling::{Look, Next, Polling, SleepCost};
use crate::thread_clock::ThreadClock;
use crate::{Fault, Readiness, WaitCounts};
use drumfire_units::Nanos;
use rustix::io::pread;
use std::fs::File;

/// The length of a sleep that is only measured: long enough that the thread goes to sleep.
const TRIAL: Nanos = Nanos::from_micros(20);

/// The number of these sleeps: the median of so many does not depend on a single interruption.
const TRIALS: usize = 31;

/// The maximum time for all of them. On a machine where they take longer, fewer are made.
const TRIALS_MAX: Nanos = Nanos::from_millis(2);

/// The bytes of `/proc/thread-self/status` that are read. The file has some 1,500; the lists of
/// processors and of memory nodes grow with the machine.
const STATUS_BYTES: usize = 8 * 1024;

/// The state of adaptive waiting of one thread.
pub(super) struct Adaptive {
    polling: Polling,
    /// The kernel's counts of this thread; `None` if it does not show them.
    status: Option<File>,
}

impl Adaptive {
    /// Measures what a sleep costs the calling thread, within [`TRIALS_MAX`]. The queue must be
    /// empty.
    ///
    /// # Errors
    /// If the system can't wait.
    pub(super) fn new(clock: &ThreadClock, poller: &mut Poller) -> Result<Self, Fault> {
        let cost = measure(clock, poller)?;
        let status = File::open("/proc/thread-self/status").ok();
        let preemptions = status.as_ref().and_then(preemptions);
        Ok(Self {
            polling: Polling::new(cost, preemptions),
            status,
        })
    }

    /// Forgets all points in time, because the clock has a new epoch.
    pub(super) const fn start_anew(&mut self) {
        self.polling.start_anew();
    }

    /// The waits since the driver was created.
    pub(super) const fn counts(&self) -> WaitCounts {
        self.polling.counts()
    }
}

/// Measures how late a thread runs after a sleep, and the CPU time of a sleep.
fn measure(clock: &ThreadClock, poller: &mut Poller) -> Result<SleepCost, Fault> {
    let mut late = [Nanos::MAX; TRIALS];
    let (begun, cpu) = (clock.now(), Clock::thread_cpu());
    let mut made = 0;
    while made < TRIALS && (made == 0 || clock.now() < begun + TRIALS_MAX) {
        let until = clock.now() + TRIAL;
        let _nothing = poller.wait(Some(TRIAL))?.count();
        late[made] = clock.now() - until;
        made += 1;
    }
    let cpu = Nanos((Clock::thread_cpu() - cpu).0 / made as u64);
    late[..made].sort_unstable();
    Ok(SleepCost::new(late[made / 2], cpu))
}

/// How often the kernel took the core from a thread that was running, by its status (proc(5)).
#[cold]
fn preemptions(status: &File) -> Option<u64> {
    let mut text = [0; STATUS_BYTES];
    let length = pread(status, &mut text, 0).ok()?;
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let (_, count) = text.rsplit_once("nonvoluntary_ctxt_switches:")?;
    // Lines of the processor may follow.
    count.split_whitespace().next()?.parse().ok()
}

impl Native {
    /// Polls for readiness for as long as that pays, then sleeps, until a point in time.
    pub(super) fn wait_adaptively(
        &mut self,
        until: Nanos,
        ready: &mut Vec<Readiness>,
    ) -> Result<(), Fault> {
        let Some(mut adaptive) = self.adaptive.take() else {
            let left = until - self.clock.now();
            return self.look(Some(left), ready).map(|_| ());
        };
        let waited = self.wait_with(&mut adaptive, until, ready);
        self.adaptive = Some(adaptive);
        waited
    }

    fn wait_with(
        &mut self,
        adaptive: &mut Adaptive,
        until: Nanos,
        ready: &mut Vec<Readiness>,
    ) -> Result<(), Fault> {
        let Adaptive { polling, status } = adaptive;
        let mut now = self.clock.now();
        let mut next = polling.begin(now);
        while next == Next::Look {
            let any = self.look(Some(Nanos::ZERO), ready)?;
            now = self.clock.now();
            let look = Look { now, until, any };
            next = polling.look(look, || status.as_ref().and_then(preemptions));
        }
        if next == Next::Sleep {
            let end = polling.sleep(now, until);
            let any = self.look(Some(end - now), ready)?;
            polling.wake(self.clock.now(), any);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Io as _, NativeOptions, Stamping, Waiting};

    #[test]
    fn a_sleep_costs_something_and_no_more_than_the_bound() {
        let clock = ThreadClock::new(Clock::start());
        let mut poller = Poller::new().unwrap();
        let begun = clock.now();
        let cost = measure(&clock, &mut poller).unwrap();
        assert!(cost.total() > Nanos::ZERO, "{cost:?}");
        assert!(clock.now() > begun + TRIAL);
    }

    /// A wake is no event of a socket, and a driver that has seen it does not see it again.
    #[test]
    fn a_wake_ends_each_kind_of_wait() {
        for waiting in [Waiting::Sleep, Waiting::Adaptive, Waiting::Spin] {
            let mut io = Native::new(&NativeOptions {
                clock: Clock::start(),
                waiting,
                stamping: Stamping::Off,
                tls: Vec::new(),
            })
            .unwrap();
            let waker = io.waker().unwrap();
            let mut ready = Vec::new();
            let hour = Nanos::from_secs(3_600);
            // The first sleep with adaptive waiting may be a trial.
            io.wait(io.now() + Nanos(1), &mut ready).unwrap();
            for _ in 0..3 {
                let until = io.now() + hour;
                waker.wake();
                io.wait(until, &mut ready).unwrap();
                assert!(ready.is_empty() && io.now() < until, "{waiting:?}");
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_counts_preemptions() {
        let status = File::open("/proc/thread-self/status").unwrap();
        let before = preemptions(&status).expect("the kernel counts them");
        assert!(preemptions(&status).is_some_and(|now| now >= before));
    }
}
