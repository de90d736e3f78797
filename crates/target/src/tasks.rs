//! Futures that run on the worker's thread.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// One worker's tasks. They run in rounds: a task that is woken during one runs in the next.
#[derive(Default)]
pub(crate) struct Tasks {
    places: RefCell<Places>,
    queue: Arc<Queue>,
    /// The tasks of the current round; kept for its memory.
    round: RefCell<Vec<u32>>,
}

#[derive(Default)]
struct Places {
    all: Vec<Place>,
    free: Vec<u32>,
}

/// Room for a task; its bell rings for one after the other.
struct Place {
    task: Option<Task>,
    bell: Arc<Bell>,
    waker: Waker,
}

/// The woken tasks. A waker may go to other threads, therefore the lock, which is never contended.
#[derive(Default)]
struct Queue(Mutex<Vec<u32>>);

/// Wakes the task in one place. A bell that rings late wakes the next one there, to which that
/// means nothing.
struct Bell {
    place: u32,
    rung: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::Relaxed) {
            let mut queue = self.queue.0.lock().unwrap_or_else(PoisonError::into_inner);
            queue.push(self.place);
        }
    }
}

impl Tasks {
    /// Runs a task from the next round on.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let places = &mut *self.places.borrow_mut();
        let index = places.free.pop().unwrap_or_else(|| {
            // There are never 2³² tasks: each has more than a byte.
            let index = places.all.len() as u32;
            let bell = Arc::new(Bell {
                place: index,
                rung: AtomicBool::new(false),
                queue: Arc::clone(&self.queue),
            });
            let waker = Waker::from(Arc::clone(&bell));
            places.all.push(Place {
                task: None,
                bell,
                waker,
            });
            index
        });
        let place = &mut places.all[index as usize];
        place.task = Some(Box::pin(task));
        place.waker.wake_by_ref();
    }

    /// Runs the woken tasks, each once; returns whether there were any.
    pub(crate) fn round(&self) -> bool {
        let mut round = self.round.borrow_mut();
        {
            let mut queue = self.queue.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *queue, &mut round);
        }
        let any = !round.is_empty();
        for index in round.drain(..) {
            self.poll(index);
        }
        any
    }

    fn poll(&self, index: u32) {
        // A task may spawn others, so it runs outside its place.
        let (task, waker) = {
            let place = &mut self.places.borrow_mut().all[index as usize];
            place.bell.rung.store(false, Ordering::Relaxed);
            (place.task.take(), place.waker.clone())
        };
        let Some(mut task) = task else {
            return;
        };
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => self.places.borrow_mut().all[index as usize].task = Some(task),
            Poll::Ready(()) => {
                drop(task);
                self.places.borrow_mut().free.push(index);
            }
        }
    }

    /// Drops all tasks.
    pub(crate) fn clear(&self) {
        let tasks: Vec<Task> = {
            let mut places = self.places.borrow_mut();
            places
                .all
                .iter_mut()
                .filter_map(|place| place.task.take())
                .collect()
        };
        drop(tasks);
    }
}

/// Lets all woken tasks run before this one goes on.
pub(crate) async fn others_first() {
    let mut waited = false;
    std::future::poll_fn(|cx| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn tasks_run_in_rounds_and_give_their_places_back() {
        let tasks = Rc::new(Tasks::default());
        let steps = Rc::new(Cell::new(0));
        for _ in 0..3 {
            let (inner, count) = (Rc::clone(&tasks), Rc::clone(&steps));
            tasks.spawn(async move {
                count.set(count.get() + 1);
                others_first().await;
                count.set(count.get() + 10);
                let count = Rc::clone(&count);
                inner.spawn(async move { count.set(count.get() + 100) });
            });
        }
        assert_eq!(steps.get(), 0);
        for expected in [3, 33, 333] {
            assert!(tasks.round());
            assert_eq!(steps.get(), expected);
        }
        assert!(!tasks.round());
        assert!(tasks.places.borrow().all.len() <= 6);
        assert_eq!(
            tasks.places.borrow().all.len(),
            tasks.places.borrow().free.len()
        );
    }

    #[test]
    fn a_task_that_is_dropped_lets_go_of_what_it_holds() {
        let tasks = Tasks::default();
        let held = Rc::new(());
        let copy = Rc::clone(&held);
        tasks.spawn(async move {
            let _copy = copy;
            std::future::pending::<()>().await;
        });
        assert!(tasks.round());
        assert_eq!(Rc::strong_count(&held), 2);
        tasks.clear();
        assert_eq!(Rc::strong_count(&held), 1);
    }
}
