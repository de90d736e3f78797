//! The machine of a measurement, and the time that its host stole during it.

use drumfire_net::{StealTimes, raise_descriptor_limit, steal_times};
use std::fs;
use std::process::Command;

/// The machine in a few lines of Markdown.
#[must_use]
pub fn describe() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpu.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_once(':'));
        value.map_or("unknown", |(_, value)| value.trim())
    };
    let cores = cpu.lines().filter(|l| l.starts_with("processor")).count();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let hypervisor = if field("flags").contains(" hypervisor") {
        ", a virtual machine"
    } else {
        ""
    };
    format!(
        "{} (family {}, model {}), {cores} cores{hypervisor}, Linux {}",
        field("model name"),
        field("cpu family"),
        field("model"),
        kernel.trim()
    )
}

/// The version that a program prints: the first line that contains a digit.
#[must_use]
pub fn version(mut command: Command) -> Option<String> {
    let output = command.output().ok()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let line = text
        .lines()
        .find(|l| l.contains(|c: char| c.is_ascii_digit()))?;
    // wrk adds its author to the line.
    let words = line.split(" Copyright").next().unwrap_or(line);
    Some(words.trim().to_owned())
}

/// `wanted` connections, or as many as a process of this machine may open: it needs some descriptors
/// for other files.
#[must_use]
pub fn connections(wanted: u32) -> u32 {
    let limit = raise_descriptor_limit().unwrap_or(u64::MAX);
    let possible = u32::try_from(limit.saturating_sub(1_000)).unwrap_or(wanted);
    wanted.min(possible)
}

/// The load averages, which show other work on the machine.
#[must_use]
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Counts the time that the host stole from this machine since construction.
#[derive(Clone, Copy, Debug)]
pub struct Steal(Option<StealTimes>);

impl Steal {
    /// Starts counting.
    #[must_use]
    pub fn start() -> Self {
        Self(steal_times())
    }

    /// The share of all CPU time so far, in percent; `None` if the kernel does not report it.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        let (before, now) = (self.0?, steal_times()?);
        let total = now.total.checked_sub(before.total).filter(|t| *t > 0)?;
        Some(100.0 * now.steal.saturating_sub(before.steal) as f64 / total as f64)
    }
}
