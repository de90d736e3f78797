//! Tests of answers: the contents of events, the ends of streams, whole answers, and hostile texts.

mod ends;
mod events;
mod hostile;
mod kept;
mod whole;
