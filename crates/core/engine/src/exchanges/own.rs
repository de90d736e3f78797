//! Requests that vary. Each is rendered once per exchange, when a connection takes the exchange,
//! into memory that is reused by the next exchange with the same state.
//!
//! A request is rendered that late because its data may contain the connection's number, and its
//! time should be the time of sending. An attempt after a failure sends the same bytes;
//! [`KeptContext::is_of`] recognizes it by the exchange's generation. A redirect builds its request
//! from the complete original, [`OwnRequest::complete`], which renders the parts again from the
//! kept context.
//!
//! The context holds a reference to the user's values. [`OwnRequest::drop_context`] must be called
//! when the exchange is over; otherwise the user could not change the values without a copy.

use super::cookies::Visit;
use super::exchange::Exchange;
use crate::id::Generation;
use crate::prepare::{Parts, Rendered, VaryingRequest};
use crate::wire::{Chunk, Extra, Opening};
use drumfire_plan::{DataError, HttpRequest, RequestContext};

/// A request that is rendered for one exchange.
#[derive(Debug, Default)]
pub(super) struct OwnRequest {
    pub(super) context: KeptContext,
    /// The request in the form of HTTP/1.1.
    pub(super) rendered: Rendered,
    /// The varying parts, in the form of a stream.
    parts: Parts,
    /// The place to which the request was sent, for its cookies.
    pub(super) visit: Visit,
}

/// The context of an exchange's request, computed once, so that a repeated request has the same
/// data.
#[derive(Debug, Default)]
pub(super) struct KeptContext {
    pub(super) context: RequestContext,
    /// The generation of the exchange to which the context belongs.
    of: Option<Generation>,
}

impl KeptContext {
    /// Whether the context belongs to the exchange with this generation.
    pub(super) fn is_of(&self, generation: Generation) -> bool {
        self.of == Some(generation)
    }

    /// Keeps the context of an exchange.
    pub(super) fn keep(&mut self, context: RequestContext, generation: Generation) {
        self.context = context;
        self.of = Some(generation);
    }

    /// Sets the time for rendering the rest of the request, since the Unix epoch.
    pub(super) const fn set_time(&mut self, now: u64) {
        self.context.now = now;
    }

    /// Drops the context, which holds values of its user.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl OwnRequest {
    /// Drops the context at the end of the exchange.
    pub(super) fn drop_context(&mut self) {
        self.context.clear();
    }

    /// Renders the request of an exchange in a context, with the cookies of its user. `scratch` is
    /// memory for the parts of an HTTP/1.1 request.
    ///
    /// # Errors
    /// A text, if the request cannot be rendered.
    pub(super) fn render(
        &mut self,
        exchange: &mut Exchange,
        request: &VaryingRequest,
        planned: &HttpRequest,
        context: RequestContext,
        scratch: &mut Parts,
    ) -> Result<(), DataError> {
        let parts = match request.stream() {
            None => scratch,
            Some(_) => &mut self.parts,
        };
        request.render(&context, parts)?;
        let generation = exchange.generation;
        if let Some(jar) = exchange.user_state.jar.as_deref_mut() {
            self.visit
                .add_cookies(jar, request, planned, parts, context.now)?;
        }
        request.write(parts, &mut self.rendered)?;
        self.context.keep(context, generation);
        Ok(())
    }

    /// The complete request again, in the form that the plan uses.
    pub(super) fn complete(
        &self,
        request: &VaryingRequest,
        planned: &HttpRequest,
        scratch: &mut Parts,
    ) -> Result<HttpRequest, DataError> {
        request.render(&self.context.context, scratch)?;
        Ok(request.complete(planned, scratch)?)
    }

    /// The opening of the request's stream; `None` for HTTP/1.1.
    pub(super) fn opening<'a>(&'a self, request: &'a VaryingRequest) -> Option<Opening<'a>> {
        let stream = request.stream()?;
        let (target, host) = (request.target(&self.parts), request.host(&self.parts));
        let extra = Extra::new(target, host, self.parts.fields());
        let has_body = !self.body(request).is_empty();
        Some(Opening::new(&stream.head, Some(extra), has_body))
    }

    /// The whole body for the stream.
    pub(super) fn body<'a>(&'a self, request: &'a VaryingRequest) -> &'a [u8] {
        request.stream_body(&self.parts)
    }

    /// The rest of the body after `sent` bytes.
    pub(super) fn body_after<'a>(
        &'a self,
        request: &'a VaryingRequest,
        sent: usize,
    ) -> Option<Chunk<'a>> {
        let body = self.body(request);
        (!body.is_empty()).then(|| Chunk::new(&body[sent..], true))
    }
}
