//! Answers of language-model services: the events of a stream or a whole JSON body in, tokens,
//! usage, reasons and errors out.
//!
//! Knows the contents of answers of OpenAI's and Anthropic's interfaces, and how servers deviate
//! from them. Must not know I/O, clocks, HTTP, or how events are framed. Start reading at
//! [`Answer`].
//!
//! ```
//! use drumfire_llm::{Answer, Ending};
//! use drumfire_plan::{EventClass, Finish, LlmApi};
//!
//! let mut answer = Answer::default();
//! answer.begin(LlmApi::Chat);
//! let first = answer.event("message", r#"{"choices":[{"delta":{"role":"assistant"}}]}"#);
//! assert_eq!(first.class, EventClass::Control);
//! let second = answer.event("message", r#"{"choices":[{"delta":{"content":"Hi"}}]}"#);
//! assert_eq!(second.class, EventClass::Token);
//! answer.event("message", r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#);
//! answer.event("message", "[DONE]");
//! assert_eq!(answer.finish(), Some(Finish::Stop));
//! assert_eq!(answer.ending(), Ending::Complete);
//! ```
//!
//! The texts are untrusted. JSON is read without a tree: fields that matter are copied into memory
//! that the next event reuses, and all others are skipped. Memory is bounded by the size of an
//! event.

mod answer;
mod asked;
mod error_kind;
mod json;
mod kept;
mod links;
mod part;
mod pieces;
mod usage;

pub use answer::{Answer, AnswerTooLong, Ending, Seen};
pub use asked::asked_tokens;
pub use pieces::Channel;
