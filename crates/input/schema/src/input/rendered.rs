//! Data whose form is unknown until its text is rendered.

use super::elements;
use crate::json::{self, Reading};
use drumfire_data::TextTemplate;
use drumfire_plan::{DataError, RequestContext};
use prost_reflect::MessageDescriptor;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of cached renderings: the messages of a stream are requested one by one, and each of
/// a worker's calls has a separate rendering.
const KEPT: usize = 256;

/// The encoded messages of one rendering.
pub(super) type Messages = Arc<Vec<Vec<u8>>>;

/// A text that is rendered and then parsed.
#[derive(Debug)]
pub(super) struct Rendered {
    template: Arc<dyn TextTemplate>,
    reading: Reading,
    /// The last renderings, by call number. Each has a separate lock. Two workers contend for it
    /// only if their calls' numbers differ by a multiple of [`KEPT`].
    kept: Vec<Mutex<Option<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    seed: u64,
    pass: u64,
    messages: Messages,
}

impl Rendered {
    pub(super) fn new(template: Arc<dyn TextTemplate>, reading: Reading) -> Self {
        let kept = (0..KEPT).map(|_| Mutex::new(None)).collect();
        Self {
            template,
            reading,
            kept,
        }
    }

    /// Discards the rendering of a trial.
    pub(super) fn forget(&self) {
        for slot in &self.kept {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// The messages of the rendering number `pass` of a call.
    pub(super) fn get(
        &self,
        descriptor: &MessageDescriptor,
        call: &RequestContext,
        pass: u64,
    ) -> Result<Messages, DataError> {
        let slot = &self.kept[(call.number % KEPT as u64) as usize];
        // A panic while holding the lock would have ended the program.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*slot
            && (kept.number, kept.seed, kept.pass) == (call.number, call.seed, pass)
        {
            return Ok(Arc::clone(&kept.messages));
        }
        let mut text = String::new();
        self.template.render(call, pass, &mut text)?;
        let messages = Arc::new(encode(self.reading, descriptor, &text)?);
        let (number, seed) = (call.number, call.seed);
        *slot = Some(Kept {
            number,
            seed,
            pass,
            messages: Arc::clone(&messages),
        });
        Ok(messages)
    }
}

/// The encoded elements of an array, or the one message.
fn encode(
    reading: Reading,
    descriptor: &MessageDescriptor,
    text: &str,
) -> Result<Vec<Vec<u8>>, DataError> {
    let one = |text: &str| {
        let mut bytes = Vec::new();
        json::encode_by(reading, descriptor, text, &mut bytes).map(|()| bytes)
    };
    match elements::of_text(text)? {
        None => Ok(vec![one(text)?]),
        Some(texts) => texts.into_iter().map(one).collect(),
    }
}
