//! A stream of tokens, in DATA frames.

use crate::answer::Afterwards;
use crate::flushes::Flushes;
use crate::hub::Hub;
use crate::llm::{LlmEnd, LlmHead, LlmJob, LlmRecording, Outlet, Rest};
use crate::stream::{Gone, room};
use crate::visit::Visit;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderValue, Response};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::task::yield_now;

/// Sends an answer on its stream.
pub(super) async fn send(
    hub: &Hub,
    visit: &Visit,
    respond: SendResponse<Bytes>,
    flushes: Rc<Flushes>,
    job: LlmJob,
) {
    let afterwards = job.afterwards;
    let mut outlet = FrameOutlet {
        respond,
        stream: None,
        flushes,
        cut_bytes: job.behaviour.cut_bytes,
    };
    match Box::pin(job.run(hub.llm_desk(), &mut outlet)).await {
        Ok(LlmEnd::Done) => visit.answered(afterwards),
        Ok(LlmEnd::Cut) => visit.gone(Afterwards::Cut),
        Ok(LlmEnd::Close | LlmEnd::Reset) => {
            // A reset discards unwritten bytes.
            yield_now().await;
            outlet.respond.send_reset(Reason::INTERNAL_ERROR);
            visit.gone(Afterwards::Cut);
        }
        Err(Gone) => {}
    }
}

/// Writes an answer to a stream.
struct FrameOutlet {
    respond: SendResponse<Bytes>,
    stream: Option<SendStream<Bytes>>,
    flushes: Rc<Flushes>,
    cut_bytes: Option<NonZeroU32>,
}

impl Outlet for FrameOutlet {
    fn open(&mut self, head: &LlmHead) -> Result<(), Gone> {
        let mut response = Response::builder().status(head.status);
        for (name, value) in &head.fields {
            response = response.header(*name, value);
        }
        if let Some(length) = head.length {
            response = response.header("content-length", HeaderValue::from(length));
        }
        let response = response.body(()).map_err(|_| Gone)?;
        self.stream = Some(self.respond.send_response(response, false)?);
        Ok(())
    }

    async fn write(
        &mut self,
        bytes: &[u8],
        rest: Rest,
        recording: &Rc<LlmRecording>,
    ) -> Result<(), Gone> {
        let stream = self.stream.as_mut().ok_or(Gone)?;
        let mut bytes = Bytes::copy_from_slice(bytes);
        if bytes.is_empty() && rest == Rest::None {
            stream.send_data(Bytes::new(), true)?;
        }
        let most = self.cut_bytes.map_or(u64::MAX, |size| size.get().into());
        while !bytes.is_empty() {
            let room = room(stream, most.min(bytes.len() as u64)).await?;
            // The room is at most the requested number.
            let piece = bytes.split_to(room as usize);
            let is_last = bytes.is_empty() && rest == Rest::None;
            stream.send_data(piece, is_last)?;
            if self.cut_bytes.is_some() {
                // The connection's task sends the frame.
                yield_now().await;
            }
        }
        self.flushes.add(recording);
        Ok(())
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let reset = match &mut self.stream {
            Some(stream) => stream.poll_reset(cx),
            None => self.respond.poll_reset(cx),
        };
        reset.map(|_| ())
    }
}
