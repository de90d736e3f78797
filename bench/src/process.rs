//! Child processes: pinned to a core, accounted for, and ended when their guard is dropped.

use drumfire_net::Clock;
use drumfire_units::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::ffi::OsStr;
use std::fs;
use std::io::{Error, Read, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

/// The core of clients.
pub const CLIENT_CORE: u32 = 0;

/// The core of servers.
pub const SERVER_CORE: u32 = 1;

/// The time between two checks whether a child has ended.
const LOOK: Nanos = Nanos::from_millis(20);

/// The cores of clients and servers with two threads each.
pub const BOTH_CORES: &str = "0,1";

/// A program that stays on one core, or on these cores, with its threads.
#[must_use]
pub fn pinned(cores: impl ToString, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(cores.to_string()).arg(program);
    command
}

/// A child that does not outlive its guard.
#[derive(Debug)]
pub struct Guarded(pub Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // An error means that the child has already ended.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Whether a child's memory is read while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryWatch {
    /// Read nothing, so that the child is not disturbed.
    Nothing,
    /// Read its resident memory, its peak memory and its open descriptors repeatedly.
    Memory,
}

/// A child that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The standard output of the child.
    pub stdout: String,
    /// The standard error of the child.
    pub stderr: String,
    /// CPU time in user space. The sum with `system` is exact; the kernel samples the division.
    pub user: Nanos,
    /// CPU time in the kernel.
    pub system: Nanos,
    /// Peak of resident memory in bytes; 0 unless watched.
    pub peak_bytes: u64,
    /// Resident memory at each check, in bytes; empty unless watched.
    pub resident_bytes: Vec<u64>,
    /// Open descriptors at each check; empty unless watched.
    pub descriptors: Vec<u64>,
}

impl Finished {
    /// CPU time, user and system.
    #[must_use]
    pub fn cpu(&self) -> Nanos {
        self.user + self.system
    }
}

/// Runs a client to its end.
///
/// # Errors
/// If it can't be started, fails, or takes longer than `limit`, after which it is killed.
pub fn run(command: &mut Command, limit: Nanos, watch: MemoryWatch) -> Result<Finished> {
    let Group {
        mut members,
        user,
        system,
    } = run_together(std::slice::from_mut(command), limit, watch)?;
    let member = members.pop().ok_or_else(|| Error::other("no client"))?;
    Ok(Finished {
        stdout: member.stdout,
        stderr: member.stderr,
        user,
        system,
        peak_bytes: member.peak_bytes,
        resident_bytes: member.resident_bytes,
        descriptors: member.descriptors,
    })
}

/// Finished clients that ran concurrently.
#[derive(Debug)]
pub struct Group {
    /// The clients, in the order of the commands.
    pub members: Vec<Member>,
    /// CPU time of all clients in user space.
    pub user: Nanos,
    /// CPU time of all clients in the kernel.
    pub system: Nanos,
}

/// One client of a group.
#[derive(Debug, Default)]
pub struct Member {
    /// The standard output of the client.
    pub stdout: String,
    /// The standard error of the client.
    pub stderr: String,
    /// Peak of resident memory in bytes; 0 unless watched.
    pub peak_bytes: u64,
    /// Resident memory at each check, in bytes; empty unless watched.
    pub resident_bytes: Vec<u64>,
    /// Open descriptors at each check; empty unless watched.
    pub descriptors: Vec<u64>,
}

/// A running client.
struct RunningClient {
    child: Guarded,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    status: Option<ExitStatus>,
    member: Member,
}

impl RunningClient {
    fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Guarded(child.spawn()?);
        Ok(Self {
            stdout: child.0.stdout.take().map(collect),
            stderr: child.0.stderr.take().map(collect),
            child,
            status: None,
            member: Member::default(),
        })
    }

    /// Checks whether the client has ended.
    fn look(&mut self, watch: MemoryWatch) -> Result<bool> {
        if self.status.is_none() {
            self.status = self.child.0.try_wait()?;
        }
        if watch == MemoryWatch::Memory && self.status.is_none() {
            // A child that has just ended no longer has memory.
            let pid = self.child.0.id();
            let peak = memory(pid, "VmHWM:").unwrap_or(0);
            self.member.peak_bytes = self.member.peak_bytes.max(peak);
            self.member.resident_bytes.extend(memory(pid, "VmRSS:"));
            self.member.descriptors.extend(descriptors(pid));
        }
        Ok(self.status.is_some())
    }
}

/// Runs clients concurrently until the last one has ended.
///
/// # Errors
/// If one can't be started, fails, or takes longer than `limit`, after which all are killed.
pub fn run_together(commands: &mut [Command], limit: Nanos, watch: MemoryWatch) -> Result<Group> {
    let (user_before, system_before) = children_times()?;
    let started: Result<Vec<RunningClient>> =
        commands.iter_mut().map(RunningClient::start).collect();
    let mut running = started?;
    let clock = Clock::start();
    loop {
        let mut all = true;
        for client in &mut running {
            all &= client.look(watch)?;
        }
        if all {
            break;
        }
        if clock.now() > limit {
            return Err(Error::other(format!("{commands:?} did not end in time")));
        }
        thread::sleep(LOOK.as_duration());
    }
    let (user, system) = children_times()?;
    let mut members = Vec::with_capacity(running.len());
    for (mut client, command) in running.into_iter().zip(commands) {
        client.member.stdout = text(client.stdout.take());
        client.member.stderr = text(client.stderr.take());
        if let Some(status) = client.status.filter(|status| !status.success()) {
            let words = &client.member.stderr;
            return Err(Error::other(format!("{command:?}: {status}: {words}")));
        }
        members.push(client.member);
    }
    Ok(Group {
        members,
        user: user - user_before,
        system: system - system_before,
    })
}

/// CPU time of all children that have ended and been waited for.
fn children_times() -> Result<(Nanos, Nanos)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let nanos = |micros: i64| Nanos::from_micros(micros.unsigned_abs());
    Ok((
        nanos(usage.user_time().num_microseconds()),
        nanos(usage.system_time().num_microseconds()),
    ))
}

/// Reads a pipe to its end on a thread, so that the child never blocks.
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Bytes read before an error are still useful.
        let _cut_off = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text(reader: Option<JoinHandle<String>>) -> String {
    reader.and_then(|r| r.join().ok()).unwrap_or_default()
}

/// One of the kernel's figures about a process's memory, in bytes.
fn memory(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The number of open descriptors of a process.
fn descriptors(pid: u32) -> Option<u64> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    Some(open.count() as u64)
}

/// Resident memory of a running process in bytes; 0 after it has ended.
#[must_use]
pub fn resident_so_far(pid: u32) -> u64 {
    memory(pid, "VmRSS:").unwrap_or(0)
}

/// CPU time of a running process so far, over its living threads.
#[must_use]
pub fn cpu_so_far(pid: u32) -> Nanos {
    let threads = cpu_so_far_by_thread(pid);
    Nanos(threads.iter().map(|(_, cpu)| cpu.0).sum())
}

/// CPU time of each living thread of a process so far; empty after the process has ended.
#[must_use]
pub fn cpu_so_far_by_thread(pid: u32) -> Vec<(u32, Nanos)> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let of_thread = |folder: &Path| -> Option<(u32, Nanos)> {
        let thread = folder.file_name()?.to_str()?.parse().ok()?;
        let text = fs::read_to_string(folder.join("schedstat")).ok()?;
        let cpu = text.split_whitespace().next()?.parse().ok()?;
        Some((thread, Nanos(cpu)))
    };
    threads
        .flatten()
        .filter_map(|t| of_thread(&t.path()))
        .collect()
}

/// The path of a program, from the search path and the usual folders of servers.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::{MemoryWatch, run};
    use drumfire_units::Nanos;
    use std::process::Command;

    #[test]
    fn a_failing_child_is_an_error_with_its_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo so >&2; exit 3"]);
        let error = run(&mut command, Nanos::from_secs(60), MemoryWatch::Nothing).unwrap_err();
        assert!(error.to_string().ends_with("so\n"), "{error}");
    }

    #[test]
    fn a_childs_cpu_time_is_its_own() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i",
        ]);
        let finished = run(&mut command, Nanos::from_secs(60), MemoryWatch::Nothing).unwrap();
        assert_eq!(finished.stdout, "100000\n");
        assert!(finished.cpu() > Nanos::from_millis(1));
    }
}
