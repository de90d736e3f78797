//! The request of an exchange on its way out, in every form and for each attempt.
//!
//! An attempt begins with [`OutgoingRequest::render`], which renders the varying parts. The wire
//! then takes the request in the form of HTTP/1.1 ([`OutgoingRequest::rendered`]) or of a stream
//! ([`OutgoingRequest::opening`]), and the bytes of its body until there are no more.
//!
//! A redirect does not end the exchange: `note_redirect` makes the next request, and `advance`
//! makes it the exchange's current request, which begins a new attempt. The exchange keeps its seat
//! at the home connection and its times.
//!
//! A plain request stores nothing here, because the pool has its prepared form. Rarely needed parts
//! are boxed, so that this struct stays small in every entry.

use super::call::MessageState;
use super::context::KindContext;
use super::exchange::Exchange;
use super::own::OwnRequest;
use super::redirect::{Follow, Next};
use super::side;
use crate::blame::Failure;
use crate::prepare::{Form, Rendered, Request, TargetForm};
use crate::wire::{Chunk, Fields, Opening};
use drumfire_measure::{Outcome, Side};
use drumfire_plan::{DataError, HttpRequest, Origin, Pool};
use drumfire_units::Nanos;

/// The request of an exchange on its way out.
///
/// The state is reused by the next exchange of its entry. `body_sent` is reset by each attempt,
/// `follow` by each exchange; `own` is kept, and its generation shows the exchange to which it
/// belongs. The messages of a request are lent for each call.
#[derive(Debug, Default)]
pub(super) struct OutgoingRequest {
    /// The number of bytes of a prepared body that the protocol has taken.
    body_sent: usize,
    /// The request, if each exchange renders it.
    own: Option<Box<OwnRequest>>,
    /// The redirects; `None` before the first one, and for nearly every exchange.
    follow: Option<Box<Follow>>,
}

impl OutgoingRequest {
    /// Forgets the redirect in the response of a failed attempt, whose request is sent again.
    #[cold]
    pub(super) fn begin_again(&mut self) {
        self.body_sent = 0;
        if let Some(follow) = &mut self.follow {
            follow.forget_next();
        }
    }

    /// Drops everything that the exchange needed; usually there is nothing.
    #[inline]
    pub(super) fn end_exchange(&mut self) {
        self.body_sent = 0;
        if self.follow.is_some() {
            self.follow = None;
        }
    }

    /// Drops the context of the request, which holds values of its user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        if let Some(own) = &mut self.own {
            own.drop_context();
        }
    }

    /// The form in which the request is sent: the form of a redirected request, or else the
    /// original's.
    #[inline]
    fn form<'a>(&'a self, request: &'a Request) -> &'a Form {
        match &self.follow {
            None => &request.form,
            Some(follow) => follow.form().unwrap_or(&request.form),
        }
    }

    /// Whether sending the request twice has the same effect as sending it once.
    pub(super) fn is_idempotent(&self, request: &Request) -> bool {
        self.form(request).is_idempotent()
    }

    /// Begins an attempt on a connection: renders the varying parts, unless an earlier attempt did
    /// so or the request was redirected. Returns the time at which to call `ExchangeState::timer`,
    /// if any.
    ///
    /// # Errors
    /// A text, if the request cannot be rendered.
    pub(super) fn render(
        &mut self,
        messages: &mut Option<Box<MessageState>>,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<Option<Nanos>, DataError> {
        if matches!(&self.follow, Some(follow) if follow.form().is_some()) {
            return Ok(None);
        }
        let planned = cx.request;
        match &planned.form {
            Form::Rendered(_) | Form::Stream(_) => Ok(None),
            Form::Varying(varying) => {
                let own = self.own.get_or_insert_default();
                if own.context.is_of(cx.exchange.generation) {
                    return Ok(None);
                }
                let seed = cx.rules.prepared.seed();
                let context = cx.exchange.context(connection, unix_time(), seed);
                let plan = cx.rules.planned(cx.exchange);
                own.render(cx.exchange, varying, plan, context, &mut cx.tools.parts)?;
                Ok(None)
            }
            Form::Messages(request) => {
                let messages = messages.get_or_insert_default();
                let out = &mut messages.call.get_or_insert_default().out;
                out.begin_attempt(request, cx, connection, unix_time)
            }
        }
    }

    /// The request in the form of HTTP/1.1; `None` if it has another form.
    #[inline(always)]
    pub(super) fn rendered<'a>(&'a self, request: &'a Request) -> Option<&'a Rendered> {
        let form = self.form(request);
        match form {
            Form::Rendered(rendered) => Some(rendered),
            _ => {
                let own = self.own.as_ref().filter(|_| form.varying().is_some());
                own.map(|own| &own.rendered)
            }
        }
    }

    /// The opening of the request's stream; `None` if the request has another form.
    #[inline]
    pub(super) fn opening<'a>(
        &'a self,
        messages: Option<&'a MessageState>,
        request: &'a Request,
    ) -> Option<Opening<'a>> {
        match self.form(request) {
            Form::Stream(stream) => {
                let has_body = !stream.body.is_empty();
                Some(Opening::new(&stream.head, None, has_body))
            }
            Form::Messages(request) => Some(messages?.out()?.opening(request)),
            Form::Varying(varying) => self.own.as_ref()?.opening(varying),
            Form::Rendered(_) => None,
        }
    }

    /// The next bytes of the body for the stream; `None` if no bytes are ready.
    #[inline]
    pub(super) fn next_bytes<'a>(
        &'a self,
        messages: Option<&'a MessageState>,
        request: &'a Request,
    ) -> Option<Chunk<'a>> {
        match self.form(request) {
            Form::Stream(stream) if !stream.body.is_empty() => {
                Some(Chunk::new(&stream.body[self.body_sent..], true))
            }
            Form::Messages(request) => messages?.out()?.next_bytes(request),
            Form::Varying(varying) => self.own.as_ref()?.body_after(varying, self.body_sent),
            Form::Stream(_) | Form::Rendered(_) => None,
        }
    }

    /// Notes that the stream has taken bytes of a prepared body.
    #[inline]
    pub(super) const fn note_taken(&mut self, taken: usize) {
        self.body_sent += taken;
    }

    /// The body of the request, if it was prepared or rendered as one; else empty.
    pub(super) fn prepared_body<'a>(&'a self, request: &'a Request) -> &'a [u8] {
        match (self.form(request), &self.own) {
            (Form::Rendered(rendered), _) => rendered.body(),
            (Form::Stream(stream), _) => &stream.body,
            (Form::Varying(varying), Some(own)) => match own.opening(varying) {
                Some(_) => own.body(varying),
                None => own.rendered.body(),
            },
            (Form::Varying(_) | Form::Messages(_), _) => &[],
        }
    }

    /// The sent request as it is shown.
    pub(super) fn sent(&self, messages: Option<&MessageState>, request: &Request) -> Side {
        let messages = messages.and_then(MessageState::out);
        match (self.form(request), &self.own, messages) {
            (Form::Rendered(rendered), ..) => side::of_rendered(rendered),
            (Form::Stream(stream), ..) => side::of_stream(&stream.head, None, &stream.body),
            (Form::Varying(varying), Some(own), _) => match own.opening(varying) {
                Some(opening) => side::of_stream(opening.head, opening.extra, own.body(varying)),
                None => side::of_rendered(&own.rendered),
            },
            (Form::Messages(request), _, Some(out)) => out.shown(request),
            // Nothing was rendered.
            (Form::Varying(_) | Form::Messages(_), ..) => Side::default(),
        }
    }
}

/// Redirects, and the cookies of the place to which the request is sent.
impl OutgoingRequest {
    /// Whether the response redirects to another request, or ends the exchange because the redirect
    /// is refused.
    #[inline]
    pub(super) fn leads_on(&self) -> bool {
        matches!(&self.follow, Some(follow) if follow.leads_on())
    }

    /// Stores the cookies of a response to the redirected request, or to the original one.
    #[cold]
    pub(super) fn store_cookies(&mut self, exchange: &mut Exchange, fields: &Fields<'_>) {
        let jar = exchange.user_state.jar.as_deref_mut();
        let (Some(jar), Some(own)) = (jar, &mut self.own) else {
            return;
        };
        if let Some(url) = self.follow.as_ref().and_then(|follow| follow.url()) {
            own.visit.move_to(url);
        }
        own.visit.store_cookies(jar, fields);
    }

    /// Notes the request to which a redirect leads; it is sent after the response is over. If the
    /// exchange's own request cannot be rebuilt, the exchange fails.
    #[cold]
    pub(super) fn note_redirect(
        &mut self,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
    ) {
        if !cx.rules.follows_redirects() {
            return;
        }
        let own = match self.own_request(cx) {
            Ok(own) => own,
            Err(error) => {
                let follow = self.follow.get_or_insert_default();
                return follow.lead_to(Next::Refused(error.into()));
            }
        };
        let planned = cx.rules.planned(cx.exchange);
        let original = own.as_ref().unwrap_or(planned);
        let follow = self.follow.as_deref();
        let Some(mut next) = Next::after(follow, cx.rules.pool(), original, status, fields) else {
            return;
        };
        let jar = cx.exchange.user_state.jar.as_deref_mut();
        if let (Some(request), Some(jar), Some(own)) = (next.request_mut(), jar, &mut self.own) {
            own.visit.replace_cookies(jar, request);
        }
        self.follow.get_or_insert_default().lead_to(next);
    }

    /// The complete request that was sent; `None` if it equals the plan's.
    #[cold]
    fn own_request(&self, cx: &mut KindContext<'_>) -> Result<Option<HttpRequest>, DataError> {
        let (Form::Varying(varying), Some(own)) = (self.form(cx.request), &self.own) else {
            return Ok(None);
        };
        let planned = cx.rules.planned(cx.exchange);
        let whole = own.complete(varying, planned, &mut cx.tools.parts)?;
        Ok(Some(whole))
    }

    /// Whether the response redirects to a request that the plan follows.
    pub(super) fn is_followed(&self) -> bool {
        let follow = self.follow.as_ref();
        follow.is_some_and(|follow| follow.is_followed())
    }

    /// Makes the redirected request the exchange's current one.
    ///
    /// # Errors
    /// If the plan does not follow such a redirect.
    pub(super) fn advance(&mut self) -> Result<(), Failure> {
        match &mut self.follow {
            Some(follow) => follow.advance(),
            None => Err(Failure::from_outcome(Outcome::RedirectBlocked)),
        }
    }

    /// The origin of the current redirected request.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.follow.as_ref()?.origin()
    }

    /// Prepares the redirected request for submission, with its target in this form.
    ///
    /// # Errors
    /// If the request cannot be sent in this form.
    pub(super) fn prepare_hop(&mut self, pool: &Pool, target: TargetForm) -> Result<(), Failure> {
        self.body_sent = 0;
        match &mut self.follow {
            Some(follow) => follow.prepare(pool, target),
            None => Ok(()),
        }
    }
}
