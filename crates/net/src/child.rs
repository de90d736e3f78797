//! Processes that end with the one that starts them.

use std::process::Command;

/// Lets a command's process be killed when this one ends in any way, also by SIGKILL, where the
/// system knows that (Linux). It must be started by a thread that lasts as long as the process:
/// the kernel takes the end of that thread for the parent's.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "what a process does between fork and exec")]
pub fn end_with_this(command: &mut Command) -> &mut Command {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    use std::io;
    use std::os::unix::process::CommandExt as _;

    let parent = getpid();
    let before_exec = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        match getppid() == Some(parent) {
            true => Ok(()),
            // The parent ended before the call.
            false => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
        }
    };
    // SAFETY: between fork and exec only what is async-signal-safe may be called: the closure makes
    // two system calls, takes no lock and allocates nothing.
    unsafe { command.pre_exec(before_exec) }
}

/// The same, where the system does not know it: the process goes on.
#[cfg(not(target_os = "linux"))]
pub fn end_with_this(command: &mut Command) -> &mut Command {
    command
}
