//! The records of answers that wait for the next flush of a connection.

use crate::clock;
use crate::llm::LlmRecording;
use std::cell::RefCell;
use std::rc::Rc;

/// The records of a connection's answers whose last frames h2 has, but the kernel may not.
#[derive(Default)]
pub(crate) struct Flushes(RefCell<Vec<Rc<LlmRecording>>>);

impl Flushes {
    /// Adds a record, which receives the time of the next flush.
    pub(crate) fn add(&self, recording: &Rc<LlmRecording>) {
        self.0.borrow_mut().push(Rc::clone(recording));
    }

    /// Records that all frames so far are written.
    pub(crate) fn flushed(&self) {
        let mut waiting = self.0.borrow_mut();
        if !waiting.is_empty() {
            let now = clock::now();
            for recording in waiting.drain(..) {
                recording.written(now);
            }
        }
    }
}
