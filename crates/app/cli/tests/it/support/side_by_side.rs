//! Runs work that mostly waits in parallel.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Does the work for every case, at most `count` at a time. The results are in the cases' order.
pub(crate) fn side_by_side<C: Sync, R: Send>(
    count: usize,
    cases: &[C],
    work: impl Fn(&C) -> R + Sync,
) -> Vec<R> {
    let rest = Mutex::new(cases.iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                loop {
                    let next = rest.lock().expect("no panic").next();
                    let Some((at, case)) = next else { return };
                    let result = work(case);
                    done.lock().expect("no panic").insert(at, result);
                }
            });
        }
    });
    done.into_inner().expect("no panic").into_values().collect()
}
