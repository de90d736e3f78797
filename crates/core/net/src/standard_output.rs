//! The standard output with which this program was started.
//!
//! Before `main`, the runtime of the standard library opens `/dev/null` for each closed descriptor
//! from 0 to 2. After that, a closed standard output (`>&-`) looks like one that discards its input
//! (`>/dev/null`), although a result is lost in the first case and unwanted in the second. So a
//! function that the loader calls checks the descriptor earlier.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether descriptor 1 was closed when the program started.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The entry in the list of functions that the loader calls before the program's own (System V ABI,
/// section "Initialization and Termination Functions"; on macOS `__mod_init_func`).
#[used]
#[cfg_attr(
    not(target_vendor = "apple"),
    expect(
        unsafe_code,
        reason = "the section is a list of functions, and this is one"
    ),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    expect(
        unsafe_code,
        reason = "the section is a list of functions, and this is one"
    ),
    unsafe(link_section = "__DATA,__mod_init_func")
)]
static LOOK: extern "C" fn() = look;

/// Checks descriptor 1. The loader calls this before the runtime of the standard library is
/// initialised, so it uses nothing from that.
extern "C" fn look() {
    #[expect(
        unsafe_code,
        reason = "a number that is not a descriptor can't be borrowed"
    )]
    // SAFETY: the call reads the flags of a descriptor, open or not, and changes nothing.
    let flags = unsafe { libc::fcntl(1, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether this program was started without a standard output, so that its output is lost.
#[must_use]
pub fn stdout_was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
