//! Counts a client's instructions in user space, one by one.
//!
//! Virtual machines have no instruction counters, and valgrind 3.19 does not support
//! `epoll_pwait2`. The client's busiest thread is therefore single-stepped with ptrace(2), from the
//! end of one send to the end of the next. This is slow but exact, and hardly affected by noise in
//! time. x86-64 only.

use crate::answer::response;
use crate::process::{Guarded, cpu_so_far_by_thread};
use drumfire_net::Clock;
use drumfire_units::Nanos;
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::io::{Error, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::process::{Command, Stdio};
use std::thread;

/// CPU time before stepping begins: after about 10,000 requests everything is warm.
const WARM: Nanos = Nanos::from_millis(300);

/// The maximum time until the client is warm.
const WARM_MAX: Nanos = Nanos::from_secs(20);

/// The maximum number of steps without a request; more mean a mistake.
const STEPS_MAX: u64 = 20_000_000;

/// The numbers of `write`, `sendto` and `sendmsg`, one of which sends a request (x86-64).
const SENDING: [u64; 3] = [1, 44, 46];

/// A server on threads of this program that answers HTTP/1.1.
#[derive(Debug)]
pub struct Answerer(SocketAddr);

impl Answerer {
    /// Listens on loopback until the process ends.
    ///
    /// # Errors
    /// If no port is available.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // If a client disconnects, only the thread of its connection ends.
                thread::spawn(move || answer(stream));
            }
        });
        Ok(Self(address))
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.0)
    }
}

fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let answer = response();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        if buffer[..length].ends_with(b"\r\n\r\n") {
            stream.write_all(&answer)?;
        }
    }
}

/// A traced thread. Detach it before its process ends: a process with a traced thread that has not
/// been waited for can't be waited for itself.
struct TracedThread(Pid);

impl Drop for TracedThread {
    fn drop(&mut self) {
        // An error means that the thread has ended.
        let _ended = ptrace::detach(self.0, None);
    }
}

/// The result of stepping.
#[derive(Debug)]
pub struct Steps {
    /// Instructions of each request, in order.
    pub requests: Vec<u64>,
    /// The number of executions of each address; empty unless requested.
    pub addresses: HashMap<u64, u64>,
    /// The mapped files, and their addresses.
    pub mappings: Vec<Mapping>,
}

/// A named part of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The address range of the part.
    pub range: Range<u64>,
    /// The file, or the kernel's name for the part.
    pub name: String,
}

/// Whether the address of each instruction is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only the number of instructions.
    Number,
    /// The addresses too, which takes longer.
    Addresses,
}

/// Starts a client, warms it up, also under trace, and steps through this many of its requests.
///
/// # Errors
/// If the client can't be started or traced, or does not send.
pub fn step(command: &mut Command, requests: u32, detail: Detail) -> Result<Steps> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = Guarded(command.stderr(Stdio::null()).spawn()?);
    let clock = Clock::start();
    let busiest = loop {
        let threads = cpu_so_far_by_thread(child.0.id()).into_iter();
        match threads.max_by_key(|(_, cpu)| cpu.0) {
            Some(busiest) if busiest.1 >= WARM => break busiest,
            _ if clock.now() > WARM_MAX => {
                return Err(Error::other(format!("{command:?} failed")));
            }
            _ => thread::sleep(Nanos::from_millis(5).as_duration()),
        }
    };
    let mappings = mappings(child.0.id())?;
    let thread = Pid::from_raw(busiest.0 as i32);
    ptrace::seize(thread, ptrace::Options::empty())?;
    let _traced = TracedThread(thread);
    ptrace::interrupt(thread)?;
    stopped(thread)?;
    let mut steps = Steps {
        requests: Vec::with_capacity(requests as usize),
        addresses: HashMap::new(),
        mappings,
    };
    // The first request is incomplete, because stepping begins within it. The following requests
    // are the slowest so far, because stepping takes time, and the client records the slowest
    // requests. Skip as many as are counted, until the requests are no longer among the slowest.
    for _ in 0..=requests {
        count(thread, Detail::Number, &mut steps.addresses)?;
    }
    for _ in 0..requests {
        let instructions = count(thread, detail, &mut steps.addresses)?;
        steps.requests.push(instructions);
    }
    Ok(steps)
}

/// Steps until the next request has been passed to the kernel; returns the number of steps.
fn count(thread: Pid, detail: Detail, addresses: &mut HashMap<u64, u64>) -> Result<u64> {
    let mut before = ptrace::getregs(thread)?;
    for steps in 1..STEPS_MAX {
        if detail == Detail::Addresses {
            *addresses.entry(before.rip).or_default() += 1;
        }
        ptrace::step(thread, None)?;
        stopped(thread)?;
        let after = ptrace::getregs(thread)?;
        // `syscall` leaves the address of the next instruction in rcx.
        let called = after.rcx == after.rip && before.rip != after.rip;
        if called && SENDING.contains(&before.rax) {
            return Ok(steps);
        }
        before = after;
    }
    Err(Error::other("the client has stopped sending"))
}

/// Waits until the thread has stopped. The thread must not have ended.
fn stopped(thread: Pid) -> Result<()> {
    match waitpid(thread, Some(WaitPidFlag::__WALL))? {
        WaitStatus::Stopped(..) | WaitStatus::PtraceEvent(..) => Ok(()),
        other => Err(Error::other(format!("the client ended: {other:?}"))),
    }
}

/// The named parts of a process's memory, in order.
fn mappings(pid: u32) -> Result<Vec<Mapping>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    Ok(text.lines().filter_map(mapping).collect())
}

fn mapping(line: &str) -> Option<Mapping> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        range: address(start)?..address(end)?,
        name: rest.split_whitespace().nth(4)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Mapping, mapping};

    #[test]
    fn a_line_of_maps_is_read_when_it_has_a_name() {
        let line = "7f00a000-7f00c000 r-xp 00000000 00:00 0                  [vdso]";
        let expected = Mapping {
            range: 0x7f00_a000..0x7f00_c000,
            name: "[vdso]".to_owned(),
        };
        assert_eq!(mapping(line), Some(expected));
        assert_eq!(mapping("7f00a000-7f00c000 rw-p 00000000 00:00 0 "), None);
    }
}
