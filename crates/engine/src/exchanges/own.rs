//! Requests that vary: rendered when a connection takes their exchange, once per exchange, into
//! memory that the next exchange with the state uses again.
//!
//! A request is rendered that late since its data may name the connection, and its time should be
//! that of sending. It is rendered once: an attempt that follows a failure sends the same bytes,
//! which [`KeptContext::is_of`] tells by the exchange's generation. A redirect makes a request of
//! its own from the whole one, [`OwnRequest::complete`], which renders the parts once more from the
//! kept context.
//!
//! The context holds a reference to the user's values. [`OwnRequest::drop_context`] is called when
//! the exchange is over, or the user could not change them without a copy.

use super::cookies::Visit;
use super::exchange::Exchange;
use crate::id::Generation;
use crate::prepare::{Parts, Rendered, VaryingRequest};
use crate::wire::{Chunk, Extra, Opening};
use drumfire_plan::{DataError, HttpRequest, RequestContext};

/// An exchange's own request.
#[derive(Debug, Default)]
pub(super) struct OwnRequest {
    pub(super) context: KeptContext,
    /// The request as HTTP/1.1 sends it.
    pub(super) rendered: Rendered,
    /// Its varying parts, as a stream sends them.
    parts: Parts,
    /// The place that it was sent to, for its cookies.
    pub(super) visit: Visit,
}

/// The context of an exchange's request, computed once: a request that is sent again is the same.
#[derive(Debug, Default)]
pub(super) struct KeptContext {
    pub(super) context: RequestContext,
    /// The generation of the exchange to which it belongs, of those with the state.
    of: Option<Generation>,
}

impl KeptContext {
    /// Whether there is one for this exchange.
    pub(super) fn is_of(&self, generation: Generation) -> bool {
        self.of == Some(generation)
    }

    /// Keeps the context of an exchange.
    pub(super) fn keep(&mut self, context: RequestContext, generation: Generation) {
        self.context = context;
        self.of = Some(generation);
    }

    /// Sets the time at which the rest of the request is rendered, since the Unix epoch.
    pub(super) const fn set_time(&mut self, now: u64) {
        self.context.now = now;
    }

    /// Drops the context, which keeps values of its user.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl OwnRequest {
    /// Drops its context; the exchange is over.
    pub(super) fn drop_context(&mut self) {
        self.context.clear();
    }

    /// Renders the request of an exchange in a context, with the cookies of its user. `scratch` is
    /// memory for the parts of a request over HTTP/1.1.
    ///
    /// # Errors
    /// In words, when it can't be rendered.
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

    /// The whole request once more, in the form that the plan has requests in.
    pub(super) fn complete(
        &self,
        request: &VaryingRequest,
        planned: &HttpRequest,
        scratch: &mut Parts,
    ) -> Result<HttpRequest, DataError> {
        request.render(&self.context.context, scratch)?;
        Ok(request.complete(planned, scratch)?)
    }

    /// The opening of its stream; `None` where HTTP/1.1 sends it.
    pub(super) fn opening<'a>(&'a self, request: &'a VaryingRequest) -> Option<Opening<'a>> {
        let stream = request.stream()?;
        let (target, host) = (request.target(&self.parts), request.host(&self.parts));
        let extra = Extra::new(target, host, self.parts.fields());
        let has_body = !self.body(request).is_empty();
        Some(Opening::new(&stream.head, Some(extra), has_body))
    }

    /// The whole body that its stream sends.
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
