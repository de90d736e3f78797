//! The limits of this process, its memory, and the CPU time that it waits for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;

/// How many file descriptors this process may open; `None` means no limit.
#[must_use]
pub fn descriptor_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The number of file descriptors that this process has open; `None` if the kernel does not report
/// it.
#[must_use]
pub fn descriptors_open() -> Option<u64> {
    let entries = fs::read_dir("/proc/self/fd").ok()?;
    // The listing itself uses one of them.
    Some((entries.count() as u64).saturating_sub(1))
}

/// The limit that macOS grants when it refuses its own stated maximum (`OPEN_MAX` in
/// `sys/syslimits.h`).
const OPEN_MAX: u64 = 10_240;

/// Raises the soft limit of open file descriptors to the hard one and returns it.
pub fn raise_descriptor_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raise = |current| {
        let maximum = limit.maximum;
        setrlimit(Resource::Nofile, Rlimit { current, maximum })
    };
    if raise(limit.maximum).is_err() && limit.current.is_some_and(|now| now < OPEN_MAX) {
        // A refusal leaves the limit unchanged, and the return value reports that.
        let _refused = raise(Some(OPEN_MAX));
    }
    descriptor_limit()
}

/// How many bytes of address space this process may use; `None` means no limit.
#[must_use]
pub fn address_space_limit() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// Keeps allocations in one arena if this process has a limit of address space; for the beginning of
/// a program, before it starts threads.
///
/// By default glibc reserves 64 MB of addresses for each thread's allocations (mallopt(3),
/// `M_ARENA_MAX`). Under a limit these reservations leave nothing for anything else, and the next
/// allocation ends the program.
pub fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if address_space_limit().is_some() {
        // A refusal leaves the default.
        // SAFETY: the call has no pointers, and glibc allows it at any time.
        #[expect(unsafe_code, reason = "no crate in use has this call")]
        let _refused = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// How many bytes of address space this process uses, which [`address_space_limit`] limits; `None`
/// if the kernel does not report it.
#[must_use]
pub fn address_space() -> Option<u64> {
    kilobytes_of("VmSize:")
}

/// How many local ports one address has for outgoing connections; `None` if that is unknown.
#[must_use]
pub fn ephemeral_ports() -> Option<u64> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = text.split_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    (high + 1).checked_sub(low)
}

/// How many bytes of this process are in memory; `None` if the kernel does not report it.
#[must_use]
pub fn resident_memory() -> Option<u64> {
    kilobytes_of("VmRSS:")
}

/// The bytes in a line of this process's status, which contains kB (proc(5)).
fn kilobytes_of(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes = kilobytes.trim().strip_suffix("kB")?.trim_end();
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// CPU time of the whole machine, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StealTimes {
    /// Time in which this virtual machine was ready to run but its host ran something else.
    pub steal: u64,
    /// The total time of all processors.
    pub total: u64,
}

/// CPU time since boot; `None` if the kernel does not report it.
#[must_use]
pub fn steal_times() -> Option<StealTimes> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let numbers: Vec<u64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .map_while(|n| n.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; user includes the further columns.
    Some(StealTimes {
        steal: *numbers.get(7)?,
        total: numbers.iter().take(8).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_touched_is_resident() {
        const GROWTH: usize = 64 << 20;
        let before = resident_memory().expect("the kernel reports it");
        let touched = vec![1_u8; GROWTH];
        let after = resident_memory().expect("the kernel reports it");
        assert!(touched.iter().all(|byte| *byte == 1));
        assert!(after >= before + GROWTH as u64 * 9 / 10, "{before} {after}");
    }
}
