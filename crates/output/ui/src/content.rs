//! The content of a response: complete, or a stream of events that ends with its sender.
//!
//! hyper polls it until it returns `None`. A stream of events has no length. It ends when the feed
//! drops the sender, or when the browser closes the connection; the feed then notices that the
//! receiver was dropped.

use crate::seats::Busy;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

/// The content of a response, and the connection's request, which is in progress until hyper drops
/// the content.
#[derive(Debug)]
pub(crate) struct Content {
    kind: Kind,
    _busy: Option<Busy>,
}

#[derive(Debug)]
enum Kind {
    /// Complete bytes, until they are taken.
    Whole(Option<Bytes>),
    /// Events as they come.
    Events(Receiver<Bytes>),
}

impl Content {
    /// Complete bytes.
    pub(crate) const fn whole(bytes: Bytes) -> Self {
        Self {
            kind: Kind::Whole(Some(bytes)),
            _busy: None,
        }
    }

    /// Events as they come.
    pub(crate) const fn events(events: Receiver<Bytes>) -> Self {
        Self {
            kind: Kind::Events(events),
            _busy: None,
        }
    }

    /// The content that ends this request.
    pub(crate) fn ending(self, busy: Option<Busy>) -> Self {
        Self {
            _busy: busy,
            ..self
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.get_mut().kind {
            Kind::Whole(bytes) => Poll::Ready(bytes.take()),
            Kind::Events(events) => events.poll_recv(context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.kind, Kind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}
