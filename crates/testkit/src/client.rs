//! The client's own machine, and its trouble.

use drumfire_units::Nanos;

/// How the machine that the engine runs on behaves. By default it is infinitely fast.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) pauses: Vec<Pause>,
    pub(crate) call: Nanos,
    pub(crate) late: Nanos,
    pub(crate) descriptors: usize,
    pub(crate) ports: usize,
    pub(crate) port_rest: Nanos,
    pub(crate) waits: u64,
    pub(crate) wake: Nanos,
    pub(crate) stamps: Option<KernelStamps>,
}

/// The kernel's stamps of what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelStamps {
    /// The time of the run before which there are none.
    pub(crate) from: Nanos,
    /// By how much they are too early.
    pub(crate) back: Nanos,
    /// Whether what leaves is stamped too.
    pub(crate) departures: bool,
    /// By how much the stamps of departures are too late.
    pub(crate) ahead: Nanos,
}

/// A span in which the client does not run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
    pub(crate) cause: Cause,
}

/// Why a client does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A signal stopped it: the system does not count that time.
    Stopped,
    /// Others had the CPU: it stood in the run queue.
    Starved,
}

impl Default for Client {
    fn default() -> Self {
        Self::ideal()
    }
}

impl Client {
    /// A machine that takes no time for anything and has everything.
    #[must_use]
    pub fn ideal() -> Self {
        Self {
            pauses: Vec::new(),
            call: Nanos::ZERO,
            late: Nanos::ZERO,
            descriptors: usize::MAX,
            ports: usize::MAX,
            port_rest: Nanos::ZERO,
            waits: u64::MAX,
            wake: Nanos::ZERO,
            stamps: None,
        }
    }

    /// Stopped (as by SIGSTOP) at a time of the run, for `time`.
    #[must_use]
    pub fn stopped(self, at: Nanos, time: Nanos) -> Self {
        self.pause(at, time, Cause::Stopped)
    }

    /// Without a CPU at a time of the run, for `time`.
    #[must_use]
    pub fn starved(self, at: Nanos, time: Nanos) -> Self {
        self.pause(at, time, Cause::Starved)
    }

    fn pause(mut self, from: Nanos, time: Nanos, cause: Cause) -> Self {
        let until = from + time;
        self.pauses.push(Pause { from, until, cause });
        self
    }

    /// Each call to the driver takes this CPU time, which passes.
    #[must_use]
    pub fn call_takes(mut self, time: Nanos) -> Self {
        self.call = time;
        self
    }

    /// Waits for a point in time end this much later.
    #[must_use]
    pub fn wakes_late(mut self, time: Nanos) -> Self {
        self.late = time;
        self
    }

    /// A thread that another one wakes runs this much later.
    #[must_use]
    pub fn wakes_threads_in(mut self, time: Nanos) -> Self {
        self.wake = time;
        self
    }

    /// The kernel stamps what arrives: pauses hold the program back, and its stamps go on.
    #[must_use]
    pub fn stamps(mut self) -> Self {
        self.stamps = Some(KernelStamps::default());
        self
    }

    /// The kernel stamps what leaves too.
    #[must_use]
    pub fn departs(mut self) -> Self {
        let stamps = self.stamps.unwrap_or_default();
        self.stamps = Some(KernelStamps {
            departures: true,
            ..stamps
        });
        self
    }

    /// The same with stamps of departures that are too late.
    #[must_use]
    pub fn departs_late(mut self, by: Nanos) -> Self {
        self = self.departs();
        if let Some(stamps) = &mut self.stamps {
            stamps.ahead = by;
        }
        self
    }

    /// The same from a time of the run on; bytes that come before have no stamps.
    #[must_use]
    pub fn stamps_from(mut self, from: Nanos) -> Self {
        self.stamps = Some(KernelStamps {
            from,
            ..KernelStamps::default()
        });
        self
    }

    /// The same with stamps that are too early, as those of a clock that was set back.
    #[must_use]
    pub fn stamps_early(mut self, back: Nanos) -> Self {
        self.stamps = Some(KernelStamps {
            back,
            ..KernelStamps::default()
        });
        self
    }

    /// At most `count` connections at a time.
    #[must_use]
    pub fn descriptors(mut self, count: usize) -> Self {
        self.descriptors = count;
        self
    }

    /// `count` local ports, each of which rests for a while after its connection.
    #[must_use]
    pub fn ports(mut self, count: usize, rest: Nanos) -> Self {
        self.ports = count;
        self.port_rest = rest;
        self
    }

    /// The first `count` waits succeed; all that follow fail.
    #[must_use]
    pub fn waits(mut self, count: u64) -> Self {
        self.waits = count;
        self
    }
}
