//! Counts a client's instructions in user space, one by one.
//!
//! A virtual machine has no counters of instructions, and valgrind 3.19 does not know
//! `epoll_pwait2`. So the client's busiest thread is stepped through with ptrace(2), from the end of
//! one send to the end of the next. Slow, but exact, and noise in time hardly touches it. x86-64
//! only.

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

/// CPU time before stepping begins: after some 10,000 requests everything is warm.
const WARM: Nanos = Nanos::from_millis(300);

/// How long becoming warm may take.
const WARM_MAX: Nanos = Nanos::from_secs(20);

/// Steps without a request after which something is wrong.
const STEPS_MAX: u64 = 20_000_000;

/// The numbers of `write`, `sendto` and `sendmsg`: a request is one of them (x86-64).
const SENDING: [u64; 3] = [1, 44, 46];

/// A server on threads of this program, which answers HTTP/1.1.
#[derive(Debug)]
pub struct Answerer(SocketAddr);

impl Answerer {
    /// Listens on loopback for as long as the process lives.
    ///
    /// # Errors
    /// When there is no port.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away ends its connection's thread and no more.
                thread::spawn(move || answer(stream));
            }
        });
        Ok(Self(address))
    }

    /// Where it listens.
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

/// A thread under trace. Set free before its process is ended: a process whose traced thread has
/// not been waited for can't be waited for itself.
struct Traced(Pid);

impl Drop for Traced {
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
    /// How often each address was executed; empty unless asked for.
    pub addresses: HashMap<u64, u64>,
    /// The files that are mapped, and their addresses.
    pub mappings: Vec<Mapping>,
}

/// A part of a process's memory that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address, and the one after its last.
    pub range: Range<u64>,
    /// The file, or the kernel's name for it.
    pub name: String,
}

/// Whether the address of each instruction is taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only their number.
    Number,
    /// The addresses too, which takes longer.
    Addresses,
}

/// Starts a client, lets it become warm, also under trace, and steps through a number of its
/// requests.
///
/// # Errors
/// When the client can't be started or traced, or does not send.
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
    let _traced = Traced(thread);
    ptrace::interrupt(thread)?;
    stopped(thread)?;
    let mut steps = Steps {
        requests: Vec::with_capacity(requests as usize),
        addresses: HashMap::new(),
        mappings,
    };
    // The request under way when stepping began is not whole. Those that follow are the slowest that
    // the client has seen, since stepping takes time, and it keeps the slowest: as many as are
    // counted are passed over, until a request is one of the slowest no more.
    for _ in 0..=requests {
        count(thread, Detail::Number, &mut steps.addresses)?;
    }
    for _ in 0..requests {
        let instructions = count(thread, detail, &mut steps.addresses)?;
        steps.requests.push(instructions);
    }
    Ok(steps)
}

/// Steps until the next request has been handed to the kernel; how many steps that took.
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

/// Waits until the thread has stopped; it must not have ended.
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
