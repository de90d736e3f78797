//! The client's machine, and its problems.

use drumfire_units::Nanos;

/// The behaviour of the engine's machine. By default it is infinitely fast.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) pauses: Vec<ClientPause>,
    pub(crate) call: Nanos,
    pub(crate) late: Nanos,
    pub(crate) descriptors: usize,
    pub(crate) ports: usize,
    pub(crate) port_rest: Nanos,
    pub(crate) waits: u64,
    pub(crate) wake: Nanos,
    pub(crate) stamps: Option<KernelStamps>,
}

/// The kernel's timestamps of received data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelStamps {
    /// The time of the run from which there are timestamps.
    pub(crate) from: Nanos,
    /// The time by which the timestamps are too early.
    pub(crate) back: Nanos,
    /// Whether sent data is also stamped.
    pub(crate) departures: bool,
    /// The time by which the timestamps of sent data are too late.
    pub(crate) ahead: Nanos,
}

/// A span in which the client does not run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientPause {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
    pub(crate) cause: Cause,
}

/// The reason why a client does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A signal stopped it: the system does not count this time.
    Stopped,
    /// Other processes had the CPU: the client was in the run queue.
    Starved,
}

impl Default for Client {
    fn default() -> Self {
        Self::ideal()
    }
}

impl Client {
    /// A machine that takes no time for anything and has unlimited resources.
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

    /// Stops the client (as with SIGSTOP) at a time of the run, for `time`.
    #[must_use]
    pub fn stopped(self, at: Nanos, time: Nanos) -> Self {
        self.pause(at, time, Cause::Stopped)
    }

    /// Takes the CPU from the client at a time of the run, for `time`.
    #[must_use]
    pub fn starved(self, at: Nanos, time: Nanos) -> Self {
        self.pause(at, time, Cause::Starved)
    }

    fn pause(mut self, from: Nanos, time: Nanos, cause: Cause) -> Self {
        let until = from + time;
        self.pauses.push(ClientPause { from, until, cause });
        self
    }

    /// Makes each call to the driver take this CPU time.
    #[must_use]
    pub fn call_takes(mut self, time: Nanos) -> Self {
        self.call = time;
        self
    }

    /// Makes waits for a point in time end this much later.
    #[must_use]
    pub fn wakes_late(mut self, time: Nanos) -> Self {
        self.late = time;
        self
    }

    /// Makes a thread run this much later after another thread wakes it.
    #[must_use]
    pub fn wakes_threads_in(mut self, time: Nanos) -> Self {
        self.wake = time;
        self
    }

    /// Lets the kernel stamp received data: pauses delay the program, but not its timestamps.
    #[must_use]
    pub fn stamps(mut self) -> Self {
        self.stamps = Some(KernelStamps::default());
        self
    }

    /// Lets the kernel also stamp sent data.
    #[must_use]
    pub fn departs(mut self) -> Self {
        let stamps = self.stamps.unwrap_or_default();
        self.stamps = Some(KernelStamps {
            departures: true,
            ..stamps
        });
        self
    }

    /// Lets the kernel stamp sent data too late.
    #[must_use]
    pub fn departs_late(mut self, by: Nanos) -> Self {
        self = self.departs();
        if let Some(stamps) = &mut self.stamps {
            stamps.ahead = by;
        }
        self
    }

    /// Lets the kernel stamp received data from a time of the run on; earlier bytes have no
    /// timestamps.
    #[must_use]
    pub fn stamps_from(mut self, from: Nanos) -> Self {
        self.stamps = Some(KernelStamps {
            from,
            ..KernelStamps::default()
        });
        self
    }

    /// Lets the kernel stamp received data too early, like a clock that was set back.
    #[must_use]
    pub fn stamps_early(mut self, back: Nanos) -> Self {
        self.stamps = Some(KernelStamps {
            back,
            ..KernelStamps::default()
        });
        self
    }

    /// Limits the client to `count` concurrent connections.
    #[must_use]
    pub fn descriptors(mut self, count: usize) -> Self {
        self.descriptors = count;
        self
    }

    /// Limits the client to `count` local ports, each of which is unavailable for a while after its
    /// connection.
    #[must_use]
    pub fn ports(mut self, count: usize, rest: Nanos) -> Self {
        self.ports = count;
        self.port_rest = rest;
        self
    }

    /// Makes the first `count` waits succeed, and all later ones fail.
    #[must_use]
    pub fn waits(mut self, count: u64) -> Self {
        self.waits = count;
        self
    }
}
