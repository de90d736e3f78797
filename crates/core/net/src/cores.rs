//! Whether threads of this process may spend time on a core without taking it from others.

use std::num::NonZero;
use std::thread::available_parallelism;

/// Whether this many busy threads leave the other programs of the machine their cores, as far as
/// that can be known before a run: the machine has several cores, each thread has one of those that
/// this process may use, and no quota of CPU time (cgroups) allows less than that.
///
/// A process that is bound to one core may poll there: its target has the other ones, or the two
/// meet on that core, which polling notices.
#[must_use]
pub fn has_cores_for(threads: u32) -> bool {
    let usable = available_parallelism().map_or(1, NonZero::get);
    usable >= threads as usize && system::has_several() && !system::has_quota(usable)
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::sched_getaffinity;
    use std::fs;

    /// Whether the machine has several cores. The list is one number if it has one, and `0-7` or
    /// `0,2` if not.
    pub(super) fn has_several() -> bool {
        let online = fs::read_to_string("/sys/devices/system/cpu/online");
        online.map_or(true, |list| list.trim().parse::<u32>().is_err())
    }

    /// Whether the usable cores are fewer than those that the process is bound to: the standard
    /// library takes the lesser of these and of the quota, rounded down.
    pub(super) fn has_quota(usable: usize) -> bool {
        sched_getaffinity(None).is_ok_and(|bound| usable < bound.count() as usize)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Whether the machine has several cores: unknown here, except that this process may use them.
    pub(super) fn has_several() -> bool {
        std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
    }

    pub(super) const fn has_quota(_: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_machine_has_cores_for_more_threads_than_it_can_run() {
        let usable = available_parallelism().map_or(1, NonZero::get) as u32;
        assert!(!has_cores_for(usable + 1));
        assert!(!has_cores_for(u32::MAX));
    }
}
