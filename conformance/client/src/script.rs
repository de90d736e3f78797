//! The sequence of a client's steps in a call.

use crate::message::ClientCompatRequest;
use std::collections::VecDeque;
use std::time::Duration;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Wait.
    Pause(Duration),
    /// Send the message with this index.
    Send(usize),
    /// End the client's stream.
    Close,
    /// Wait until this number of messages is received.
    Await(u64),
    /// Cancel the call.
    Cancel,
}

/// The suite's names for the streaming sides of a call.
pub(crate) mod stream_type {
    pub(crate) const UNARY: i32 = 1;
    pub(crate) const CLIENT: i32 = 2;
    pub(crate) const FULL_DUPLEX: i32 = 5;
}

/// The steps of a call.
pub(crate) fn steps(request: &ClientCompatRequest) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let pause = Duration::from_millis(request.request_delay_ms.into());
    for index in 0..request.request_messages.len() {
        if !pause.is_zero() {
            steps.push_back(Step::Pause(pause));
        }
        steps.push_back(Step::Send(index));
        if request.stream_type == stream_type::FULL_DUPLEX {
            steps.push_back(Step::Await(index as u64 + 1));
        }
    }
    let cancel = request.cancel.clone().unwrap_or_default();
    if cancel.before_close_send.is_some() {
        steps.push_back(Step::Cancel);
    }
    steps.push_back(Step::Close);
    if let Some(after) = cancel.after_close_send_ms {
        steps.push_back(Step::Pause(Duration::from_millis(after.into())));
        steps.push_back(Step::Cancel);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{Step, steps, stream_type};
    use crate::message::{Any, Cancel, ClientCompatRequest};
    use std::time::Duration;

    #[test]
    fn a_duplex_call_waits_for_each_answer_and_is_given_up_at_the_end() {
        let request = ClientCompatRequest {
            stream_type: stream_type::FULL_DUPLEX,
            request_messages: vec![Any::default(); 2],
            request_delay_ms: 3,
            cancel: Some(Cancel {
                after_close_send_ms: Some(5),
                ..Cancel::default()
            }),
            ..ClientCompatRequest::default()
        };
        let pause = |millis| Step::Pause(Duration::from_millis(millis));
        let expected = [
            pause(3),
            Step::Send(0),
            Step::Await(1),
            pause(3),
            Step::Send(1),
            Step::Await(2),
            Step::Close,
            pause(5),
            Step::Cancel,
        ];
        assert_eq!(steps(&request), expected);
    }
}
