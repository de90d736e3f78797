//! The synchronisation of the system's wall clock, as the kernel reports it.

use drumfire_units::Nanos;

/// The state of the system's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemClock {
    /// Whether a program disciplines the clock, by NTP or PTP.
    pub is_synchronised: bool,
    /// The error that this program estimates.
    pub error: Nanos,
}

impl SystemClock {
    /// The current state; `None` if the system does not report it.
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "rustix does not know this call")]
    #[must_use]
    pub fn now() -> Option<Self> {
        // SAFETY: a timex is numbers alone, for which zeros are values.
        let mut state: libc::timex = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a timex that lives through the call. Without modes it changes
        // nothing of the clock.
        let found = unsafe { libc::adjtimex(&raw mut state) };
        let micros = u64::try_from(state.esterror).unwrap_or(0);
        (found >= 0).then_some(Self {
            is_synchronised: state.status & libc::STA_UNSYNC == 0,
            error: Nanos::from_micros(micros),
        })
    }

    /// The current state; `None` if the system does not report it.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn now() -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_a_state() {
        if cfg!(target_os = "linux") {
            // A container may forbid the call.
            let state = SystemClock::now();
            assert!(state.is_none_or(|state| state.error < Nanos::from_secs(1_000_000)));
        }
    }
}
