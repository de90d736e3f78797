//! The standard output with which this program was begun.
//!
//! Before `main`, the runtime of the standard library opens `/dev/null` in the place of each closed
//! descriptor from 0 to 2. From then on nothing tells a closed standard output (`>&-`) from one that
//! discards what it is given (`>/dev/null`), though a result is lost in the one and unwanted in the
//! other. So the descriptor is looked at earlier, by a function that the loader calls.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether descriptor 1 was closed when the program began.
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

/// Looks at descriptor 1. It is called before the runtime of the standard library is there, and uses
/// nothing of that.
extern "C" fn look() {
    #[expect(
        unsafe_code,
        reason = "a number that is not a descriptor can't be borrowed"
    )]
    // SAFETY: the call reads the flags of a descriptor, open or not, and changes nothing.
    let flags = unsafe { libc::fcntl(1, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether this program was begun without a standard output, so that what it writes there is lost.
#[must_use]
pub fn stdout_was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
