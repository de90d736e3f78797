//! A stream of tokens, in raw chunks.
//!
//! hyper is dropped while the answer is sent: a stream needs no buffers of hyper's then, and each
//! write is one system call whose return is recorded.

use crate::answer::{Afterwards, RawEnd};
use crate::clock;
use crate::hub::Hub;
use crate::llm::{LlmEnd, LlmHead, LlmJob, LlmRecording, Outlet, Rest};
use crate::stream::Gone;
use crate::wire::Wire;
use http::StatusCode;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::AsyncWriteExt as _;

/// The answer to a request, and how the client can receive it.
pub(super) struct TokenAnswer {
    pub(super) job: LlmJob,
    /// Whether the client reads chunks.
    pub(super) has_chunks: bool,
    /// Whether the connection stays open.
    pub(super) keeps_alive: bool,
}

/// Sends an answer. `None`: the client has disconnected.
pub(super) async fn send(hub: &Hub, wire: &mut Wire, answer: TokenAnswer) -> Option<RawEnd> {
    let TokenAnswer {
        job,
        has_chunks,
        keeps_alive,
    } = answer;
    let keeps_alive = keeps_alive && job.afterwards == Afterwards::Stay;
    let mut outlet = ChunkOutlet {
        wire,
        buffer: Vec::new(),
        has_chunks,
        keeps_alive,
        is_chunked: false,
        cut_bytes: job.behaviour.cut_bytes,
    };
    let end = Box::pin(job.run(hub.llm_desk(), &mut outlet)).await.ok()?;
    let keeps_alive = outlet.keeps_alive;
    let tallies = &hub.desk.own().tallies;
    if end.is_fault() {
        tallies.faults.add(1);
    } else {
        tallies.responses.add(1);
    }
    Some(match end {
        LlmEnd::Done | LlmEnd::Cut if keeps_alive => RawEnd::Open,
        LlmEnd::Done | LlmEnd::Cut | LlmEnd::Close => RawEnd::Closed,
        LlmEnd::Reset => RawEnd::Reset,
    })
}

/// Writes an answer to a connection.
struct ChunkOutlet<'a> {
    wire: &'a mut Wire,
    /// The bytes of the next write.
    buffer: Vec<u8>,
    has_chunks: bool,
    keeps_alive: bool,
    /// Whether the body is sent in chunks.
    is_chunked: bool,
    cut_bytes: Option<NonZeroU32>,
}

impl Outlet for ChunkOutlet<'_> {
    fn open(&mut self, head: &LlmHead) -> Result<(), Gone> {
        let reason = StatusCode::from_u16(head.status).ok();
        let reason = reason.and_then(|status| status.canonical_reason());
        self.is_chunked = head.length.is_none() && self.has_chunks;
        self.keeps_alive &= head.length.is_some() || self.has_chunks;
        let out = &mut self.buffer;
        // Writing to a Vec can't fail.
        let _ = write!(
            out,
            "HTTP/1.1 {} {}\r\n",
            head.status,
            reason.unwrap_or_default()
        );
        for (name, value) in &head.fields {
            let _ = write!(out, "{name}: {value}\r\n");
        }
        if let Some(length) = head.length {
            let _ = write!(out, "Content-Length: {length}\r\n");
        }
        if self.is_chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        if !self.keeps_alive {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    async fn write(
        &mut self,
        bytes: &[u8],
        rest: Rest,
        recording: &Rc<LlmRecording>,
    ) -> Result<(), Gone> {
        let out = &mut self.buffer;
        match self.is_chunked && !bytes.is_empty() {
            true => {
                let _ = write!(out, "{:x}\r\n", bytes.len());
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            false => out.extend_from_slice(bytes),
        }
        if self.is_chunked && rest == Rest::None {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        let size = self
            .cut_bytes
            .map_or(usize::MAX, |size| size.get() as usize);
        for part in self.buffer.chunks(size) {
            self.wire.write_all(part).await.map_err(|_| Gone)?;
            self.wire.flush().await.map_err(|_| Gone)?;
        }
        recording.written(clock::now());
        self.buffer.clear();
        Ok(())
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.wire.poll_gone(cx)
    }
}
