//! Arbitrary texts as events of an answer, and as a whole answer: no panic, a class for each event,
//! and texts only where tokens are.
//!
//! The first byte of the input selects the interface. Events are separated by NUL.

#![no_main]

use drumfire_llm::{Answer, asked_tokens};
use drumfire_plan::{EventClass, LlmApi};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, stream @ ..] = data else {
        return;
    };
    let api = LlmApi::ALL[usize::from(*choice) % LlmApi::ALL.len()];
    let mut answer = Answer::default();
    answer.begin(api);
    for event in stream.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(event);
        let seen = answer.event("message", &text);
        let has_text = answer.texts().next().is_some();
        assert!(has_text || seen.class != EventClass::Token);
        assert!(seen.class == EventClass::Token || seen.output.is_none() && !seen.is_visible);
    }
    let _ending = answer.ending();
    let _asked = asked_tokens(stream);
    answer.begin(api);
    answer.whole(stream);
    let _ending = answer.ending();
});
