//! Threads that only report on a run let the threads of its load run before them.
//!
//! On Linux such a thread has the idle policy (sched(7), `SCHED_IDLE`): a worker that wakes on its
//! core interrupts it at once. A lower weight alone, nice(2), does not do that: the scheduler lets
//! a thread finish its slice of some 3 ms, regardless of its weight.
//!
//! The price is that other programs can take all cores from such a thread, and then a screen stands
//! still and a page of metrics does not answer. So one more thread looks at them: a thread that had
//! work from one look to the next and less than a tenth of a core competes like any other from then
//! on. The run on such a
//! machine is late because of these programs, and its report says so.
//!
//! On other systems nothing is changed, because the policy there applies to the whole process.

/// Lets other threads run before the calling one if the processors are busy, unless that leaves it
/// almost no core for half a second.
pub fn yield_to_others() {
    #[cfg(target_os = "linux")]
    linux::begin();
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::Pid;
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::Duration;

    /// The time between two looks.
    const LOOK: Duration = Duration::from_millis(500);

    /// A thread with work to do that ran for less than this between two looks is starved.
    const LEAST: Duration = Duration::from_millis(50);

    /// The threads that yield.
    static YIELDING: Mutex<Vec<Yielding>> = Mutex::new(Vec::new());

    /// A thread that yields.
    struct Yielding {
        id: Pid,
        /// The time for which the thread had run by the last look, if it was ready then.
        ready: Option<Duration>,
    }

    pub(super) fn begin() {
        static WATCH: Once = Once::new();
        let id = rustix::thread::gettid();
        set_policy(id, libc::SCHED_IDLE);
        lock().push(Yielding { id, ready: None });
        WATCH.call_once(|| {
            // Without the watch, threads yield for as long as others are busy.
            let _none = std::thread::Builder::new()
                .name("yield watch".to_owned())
                .spawn(|| {
                    loop {
                        std::thread::sleep(LOOK);
                        look();
                    }
                });
        });
    }

    /// Ends the yielding of threads that had hardly any core since the last look, and forgets the ended ones.
    fn look() {
        lock().retain_mut(|thread| {
            let Some((is_ready, ran)) = state(thread.id) else {
                return false;
            };
            let is_starved = thread.is_starved(is_ready, ran);
            if is_starved {
                set_policy(thread.id, libc::SCHED_OTHER);
            }
            !is_starved
        });
    }

    impl Yielding {
        /// Whether the thread was ready at the last look, is ready now, and hardly ran in between.
        fn is_starved(&mut self, is_ready: bool, ran: Duration) -> bool {
            let before = std::mem::replace(&mut self.ready, is_ready.then_some(ran));
            is_ready && before.is_some_and(|before| ran.saturating_sub(before) < LEAST)
        }
    }

    /// Whether a thread of this process is running or waits for a core, and for how long it has run;
    /// `None` if it has ended or the kernel does not report it.
    fn state(id: Pid) -> Option<(bool, Duration)> {
        let read = |file: &str| {
            let path = format!("/proc/self/task/{}/{file}", id.as_raw_nonzero());
            std::fs::read_to_string(path).ok()
        };
        // 123 (name) R …; the name may contain anything.
        let stat = read("stat")?;
        let (_, state) = stat.rsplit_once(") ")?;
        // Nanoseconds on a core, nanoseconds of waiting for one, the number of times on one.
        let ran = read("schedstat")?.split_whitespace().next()?.parse();
        Some((state.starts_with('R'), Duration::from_nanos(ran.ok()?)))
    }

    fn set_policy(id: Pid, policy: libc::c_int) {
        // SAFETY: an integer array, for which all bits 0 are a value.
        #[expect(unsafe_code, reason = "no crate in use has this call")]
        let none: libc::sched_param = unsafe { std::mem::zeroed() };
        // If the call is refused, the thread competes as before, but works the same.
        // SAFETY: the pointer is to a value that outlives the call.
        #[expect(unsafe_code, reason = "no crate in use has this call")]
        let _refused =
            unsafe { libc::sched_setscheduler(id.as_raw_nonzero().get(), policy, &raw const none) };
    }

    fn lock() -> std::sync::MutexGuard<'static, Vec<Yielding>> {
        YIELDING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::sync::mpsc;
        use std::time::Instant;

        fn policy(id: Pid) -> libc::c_int {
            // SAFETY: the call has no pointers.
            #[expect(unsafe_code, reason = "no crate in use has this call")]
            unsafe {
                libc::sched_getscheduler(id.as_raw_nonzero().get())
            }
        }

        /// The first core on which this process may run.
        fn one_core() -> CpuSet {
            let all = sched_getaffinity(None).unwrap();
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)).unwrap());
            one
        }

        #[test]
        fn a_thread_that_sleeps_or_runs_keeps_yielding() {
            let mut thread = Yielding {
                id: gettid(),
                ready: None,
            };
            // Asleep, ready, asleep again although it did not run, ready twice with a run between.
            let looks = [(false, 7), (true, 7), (false, 7), (true, 8), (true, 58)];
            for (is_ready, ran) in looks {
                let ran = Duration::from_millis(ran);
                assert!(!thread.is_starved(is_ready, ran), "{is_ready} {ran:?}");
            }
            assert!(thread.is_starved(true, Duration::from_millis(107)));
        }

        #[test]
        fn a_thread_that_gets_no_core_stops_yielding() {
            let is_over = AtomicBool::new(false);
            let spin = || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            let (ids, started) = mpsc::channel();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    sched_setaffinity(None, &one_core()).unwrap();
                    spin();
                });
                scope.spawn(|| {
                    sched_setaffinity(None, &one_core()).unwrap();
                    begin();
                    ids.send(gettid()).unwrap();
                    spin();
                });
                let starved = started.recv().unwrap();
                let end = Instant::now() + Duration::from_secs(60);
                while policy(starved) == libc::SCHED_IDLE && Instant::now() < end {
                    std::thread::sleep(LOOK / 5);
                }
                let last = policy(starved);
                is_over.store(true, Ordering::Relaxed);
                assert_eq!(last, libc::SCHED_OTHER);
            });
        }
    }
}
