//! Child processes that end with the process that started them.

use std::process::Command;

/// Makes the system kill the command's process when this process ends in any way, also by SIGKILL,
/// where the system can do that (Linux). A thread that lives as long as the child must start it:
/// the kernel treats the end of that thread as the end of the parent.
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
            // The parent has ended before the call.
            false => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
        }
    };
    // SAFETY: between fork and exec only what is async-signal-safe may be called: the closure makes
    // two system calls, takes no lock and allocates nothing.
    unsafe { command.pre_exec(before_exec) }
}

/// Does nothing on systems without such a function: the child continues to run.
#[cfg(not(target_os = "linux"))]
pub fn end_with_this(command: &mut Command) -> &mut Command {
    command
}
