//! The messages of simulated gRPC calls.

use drumfire_plan::{
    Call, CallKind, CallStatuses, DataError, MessageCompression, RenderedFields, RequestContext,
    RequestData, Streaming, Varying,
};
use std::sync::Arc;

/// Messages of five bytes, by default the same for every call.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    messages: u64,
    varies: bool,
    fails_at: Option<u64>,
}

impl Said {
    /// One message.
    #[must_use]
    pub const fn once() -> Self {
        Self::times(1)
    }

    /// This number of messages.
    #[must_use]
    pub const fn times(messages: u64) -> Self {
        Self {
            messages,
            varies: false,
            fails_at: None,
        }
    }

    /// Renders each message when it is sent, and sets the call's number as metadata `n`.
    #[must_use]
    pub const fn varying(mut self) -> Self {
        self.varies = true;
        self
    }

    /// Makes the message with this number, from 0, fail to render.
    #[must_use]
    pub const fn failing_at(mut self, message: u64) -> Self {
        self.fails_at = Some(message);
        self.varying()
    }

    /// A call of `sut.Service/Method`.
    pub(crate) fn call(self, kind: CallKind) -> Call {
        Call {
            service: "sut.Service".to_owned(),
            method: "Method".to_owned(),
            kind,
            data: Arc::new(self),
            compression: MessageCompression::Identity,
            deadline: None,
            streaming: Streaming::default(),
            receive_limit: 4 * 1024 * 1024,
            send_limit: u64::MAX,
            reply_check: None,
            expect: CallStatuses::OK,
        }
    }
}

impl RequestData for Said {
    fn varying(&self) -> Varying {
        Varying {
            fields: self.varies,
            body: self.varies,
            ..Varying::default()
        }
    }

    fn fields(&self, call: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        if self.varies {
            out.push("n", &call.number.to_string())?;
        }
        Ok(())
    }

    fn messages(&self, _: &RequestContext) -> u64 {
        self.messages
    }

    fn message(&self, _: &RequestContext, n: u64, out: &mut Vec<u8>) -> Result<(), DataError> {
        if self.fails_at == Some(n) {
            return Err(DataError::new(format!("no message {n}")));
        }
        out.extend_from_slice(b"hello");
        Ok(())
    }
}
