//! Decides which tests run at the same time.
//!
//! Most tests wait for servers, timeouts and schedules: many run in parallel (`TEST_THREADS` in
//! the Makefile). A test shares the machine from its first process until its thread ends. A test
//! whose measurement others would distort runs [`alone`]: its thread waits until no other test
//! shares the machine. `tools/run-tests.sh` therefore starts more threads than may share the
//! machine, and sets their maximum number. The script also holds the file that separates this
//! stream of tests from its other one.

use std::cell::RefCell;
use std::env;
use std::fs::File;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The variable with the maximum number of tests that share the machine; without it, the number of
/// threads.
const SHARES: &str = "DRUMFIRE_TEST_SHARES";
/// The variable with a file that everything else that loads the machine locks.
const MACHINE_FILE: &str = "DRUMFIRE_TEST_MACHINE";

/// The machine that all tests run on.
static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let shares = env::var(SHARES).ok();
    let shares = shares.map(|text| text.parse().expect("a number of tests"));
    Machine::new(shares.unwrap_or(usize::MAX))
});

thread_local! {
    /// The turn of the test on this thread.
    static OWN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// The tests that use a machine, and a signal for the tests that wait.
#[derive(Debug)]
struct Machine {
    users: Mutex<Users>,
    changed: Condvar,
    /// The maximum number of tests that share the machine.
    shares: usize,
}

/// The number of tests that share a machine, and whether one uses it alone.
#[derive(Debug)]
struct Users {
    sharing: usize,
    is_taken: bool,
}

impl Machine {
    const fn new(shares: usize) -> Self {
        Self {
            users: Mutex::new(Users {
                sharing: 0,
                is_taken: false,
            }),
            changed: Condvar::new(),
            shares,
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a test may run in this way.
    fn acquire(&'static self, way: Way) -> Turn {
        let is_blocked = |users: &mut Users| match way {
            Way::Shared => users.is_taken || users.sharing == self.shares,
            Way::Alone => users.is_taken || users.sharing > 0,
        };
        let waited = self.changed.wait_while(self.users(), is_blocked);
        let mut users = waited.unwrap_or_else(PoisonError::into_inner);
        match way {
            Way::Shared => users.sharing += 1,
            Way::Alone => users.is_taken = true,
        }
        drop(users);
        Turn { machine: self, way }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Shared,
    Alone,
}

/// A test's use of a machine. Dropping the value ends the use.
#[derive(Debug)]
struct Turn {
    machine: &'static Machine,
    way: Way,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut users = self.machine.users();
        match self.way {
            Way::Shared => users.sharing -= 1,
            Way::Alone => users.is_taken = false,
        }
        self.machine.changed.notify_all();
    }
}

/// The machine for one test, until this value is dropped; the file's lock is released with it.
#[derive(Debug)]
pub(crate) struct Alone {
    _file: Option<File>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        OWN.take();
    }
}

/// Waits until no other test uses the machine, and blocks the others.
pub(crate) fn alone() -> Alone {
    // A test that waited while holding a share would wait for itself.
    OWN.take();
    OWN.set(Some(MACHINE.acquire(Way::Alone)));
    let file = env::var_os(MACHINE_FILE).map(|path| {
        let file = File::open(path).expect("the file of the machine");
        file.lock().expect("a lock of the machine");
        file
    });
    Alone { _file: file }
}

/// Whether the test on this thread uses the machine alone.
pub(crate) fn is_alone() -> bool {
    OWN.with_borrow(|turn| turn.as_ref().is_some_and(|turn| turn.way == Way::Alone))
}

/// Begins the share of the test on this thread, unless the test has a turn already. Threads that a
/// test starts belong to its turn; they have no names, but the threads of tests have.
pub(crate) fn share() {
    let has_turn = OWN.with_borrow(Option::is_some);
    if !has_turn && thread::current().name().is_some() {
        OWN.set(Some(MACHINE.acquire(Way::Shared)));
    }
}

#[test]
fn tests_share_the_machine_or_have_it_alone() {
    static OURS: Machine = Machine::new(2);
    static NARROW: Machine = Machine::new(1);
    let seen = |machine: &Machine| {
        let users = machine.users();
        (users.sharing, users.is_taken)
    };
    // The users that a later turn finds after all of these have ended.
    let after = |machine: &'static Machine, turns: Vec<Turn>, way: Way| {
        let waiting = thread::spawn(move || {
            let _turn = machine.acquire(way);
            seen(machine)
        });
        // Enough time for a turn that is given too early. A turn that must wait is never late.
        thread::sleep(Duration::from_millis(50));
        drop(turns);
        waiting.join().unwrap()
    };
    let shared = || OURS.acquire(Way::Shared);
    let two = [shared(), shared()];
    assert_eq!(seen(&OURS), (2, false));
    drop(two);
    let alone = || OURS.acquire(Way::Alone);
    assert_eq!(
        after(&OURS, vec![shared(), shared()], Way::Alone),
        (0, true)
    );
    assert_eq!(after(&OURS, vec![alone()], Way::Alone), (0, true));
    assert_eq!(after(&OURS, vec![alone()], Way::Shared), (1, false));
    assert_eq!(seen(&OURS), (0, false));
    let all = vec![NARROW.acquire(Way::Shared)];
    assert_eq!(after(&NARROW, all, Way::Shared), (1, false));
}
