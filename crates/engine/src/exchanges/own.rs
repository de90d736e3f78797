//! Requests that vary: rendered when a connection takes their exchange, once per exchange, into
//! memory that the next exchange with the id uses again.

use super::cookies::{Visit, add_cookies};
use super::{Exchange, Exchanges};
use crate::id::{ExchangeId, Generation};
use crate::prepare::{Message, Outline, Parts, Rendered, VaryingRequest};
use crate::wire::{Chunk, Extra, Opening};
use drumfire_plan::{DataError, HttpRequest, RequestContext};
use drumfire_units::Nanos;

/// An exchange's own request.
#[derive(Debug, Default)]
pub(super) struct OwnRequest {
    context: KeptContext,
    /// As HTTP/1.1 sends it.
    rendered: Rendered,
    /// Its varying parts, as HTTP/2 sends them.
    parts: Parts,
    /// Where it has gone, for its cookies.
    pub(super) visit: Visit,
}

/// The context of an exchange's request, computed once: a request that is sent again is the same.
#[derive(Debug, Default)]
pub(super) struct KeptContext {
    context: RequestContext,
    /// Which of the exchanges with the id it belongs to.
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

    pub(super) const fn get(&self) -> &RequestContext {
        &self.context
    }
}

impl OwnRequest {
    /// Drops its context; the exchange is over.
    pub(super) fn drop_context(&mut self) {
        self.context = KeptContext::default();
    }

    /// The request as HTTP/1.1 sends it.
    pub(super) const fn rendered(&self) -> &Rendered {
        &self.rendered
    }

    /// How its stream is opened.
    pub(super) fn opening<'a>(&'a self, request: &'a VaryingRequest) -> Option<Opening<'a>> {
        let Outline::Http2(stream) = &request.outline else {
            return None;
        };
        let varying = request.varying;
        Some(Opening {
            head: &stream.head,
            extra: Some(Extra {
                path: varying.target.then_some(&self.parts.target),
                authority: self.parts.fields.find("host").filter(|_| varying.host),
                fields: &self.parts.fields,
            }),
            has_body: !self.body(request).is_empty(),
        })
    }

    /// The whole body that its stream sends.
    pub(super) fn body<'a>(&'a self, request: &'a VaryingRequest) -> &'a [u8] {
        match &request.outline {
            Outline::Http2(stream) if !request.varying.body => &stream.body,
            _ => &self.parts.body,
        }
    }

    /// The rest of the body after `sent` bytes.
    pub(super) fn body_after<'a>(
        &'a self,
        request: &'a VaryingRequest,
        sent: usize,
    ) -> Option<Chunk<'a>> {
        let body = self.body(request);
        (!body.is_empty()).then(|| Chunk {
            bytes: &body[sent..],
            end: true,
        })
    }
}

impl Exchange {
    /// Which request it makes, on a connection at a time since the Unix epoch.
    pub(super) fn context(&self, connection: u32, now: u64, seed: u64) -> RequestContext {
        RequestContext {
            number: self.task.number,
            arrival: self.task.turn.arrival,
            user: self.task.turn.number,
            iteration: self.task.turn.iteration,
            connection,
            now,
            seed,
            variables: self.belongings.variables.clone(),
        }
    }
}

impl Exchanges {
    /// Renders the request of an exchange, where it was not prepared before the run.
    ///
    /// # Errors
    /// In words, when its data can't be rendered.
    pub(super) fn begin(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), DataError> {
        match self.request_of(id).message {
            Message::Varying(_) => self.begin_own(id, connection, unix_time),
            Message::Http1(_) | Message::Http2(_) => {
                self.begin_call(id, connection, now, unix_time)
            }
        }
    }

    /// Renders an exchange's request where it varies, unless that was done for an earlier attempt
    /// or a redirect has led to another request.
    ///
    /// # Errors
    /// In words, when it can't be rendered.
    fn begin_own(
        &mut self,
        id: ExchangeId,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), DataError> {
        let seed = self.prepared.seed();
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let Message::Varying(varying) = &request.message else {
            return Ok(());
        };
        if matches!(&exchange.follow, Some(follow) if follow.message().is_some()) {
            return Ok(());
        }
        let generation = exchange.generation;
        if matches!(&exchange.own, Some(own) if own.context.is_of(generation)) {
            return Ok(());
        }
        let context = exchange.context(connection, unix_time(), seed);
        let own = exchange.own.get_or_insert_default();
        let parts = match &varying.outline {
            Outline::Http1(_) => &mut self.tools.parts,
            Outline::Http2(_) => &mut own.parts,
        };
        varying.render(&context, parts)?;
        if let Some(jar) = &mut exchange.belongings.jar {
            let planned = &self.prepared.pool().requests[exchange.task.request as usize];
            add_cookies(jar, &mut own.visit, varying, planned, parts, context.now)?;
        }
        if let Outline::Http1(outline) = &varying.outline {
            outline.write(varying.varying, parts, &mut own.rendered)?;
        }
        own.context.keep(context, generation);
        Ok(())
    }

    /// The request that an exchange has sent, whole; `None` where it is its plan's own.
    ///
    /// # Errors
    /// In words, when it can't be rendered, though it was.
    #[cold]
    pub(super) fn own_request(&mut self, id: ExchangeId) -> Result<Option<HttpRequest>, DataError> {
        let exchange = &self.list[id.index()];
        let index = exchange.task.request as usize;
        let Message::Varying(varying) = exchange.message(&self.prepared.requests[index]) else {
            return Ok(None);
        };
        let Some(own) = &exchange.own else {
            return Ok(None);
        };
        let parts = &mut self.tools.parts;
        varying.render(own.context.get(), parts)?;
        let planned = &self.prepared.pool().requests[index];
        Ok(Some(parts.complete(planned, varying.varying)?))
    }
}
