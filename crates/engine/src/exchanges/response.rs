//! An exchange whose request is answered by a response: its body, its redirects, and its request
//! where that varies.
//!
//! The response's verbs are called in the wire's order: `head`, then `data` for each piece of the
//! body, then `end` or `trailers` unless the head or a piece was the last. A response that is only
//! judged by its status and came in one piece takes none of them: the handler judges it.
//!
//! A response that leads elsewhere does not end the exchange. `redirect` makes the next request the
//! exchange's own, whose attempt begins anew; the exchange keeps its seat at home and its times.
//!
//! Nothing of a plain request lies here: the prepared message is the pool's, and the state of such
//! an exchange is a body that is discarded and two empty pointers. The own request and the
//! redirects are boxed, so that this stays small in every entry.
//!
//! A failure ends the exchange in one of two ways: with [`Continuation::End`] where the response
//! was read to its end, so that the connection can be used again, and with [`Continuation::GiveUp`]
//! where the rest is not wanted.

use super::body_use::BodyUse;
use super::context::{Continuation, KindContext};
use super::exchange::Exchange;
use super::own::OwnRequest;
use super::redirect::{Follow, Next};
use super::rules::Rules;
use super::side;
use crate::blame::Failure;
use crate::limits::SHOWN_BYTES;
use crate::prepare::{Message, Rendered, Request, TargetForm};
use crate::wire::{Ahead, Chunk, Fields, Opening, Resend};
use drumfire_measure::{FAILED_BODY_BYTES, Leniencies, Outcome, Side};
use drumfire_plan::{DataError, HttpRequest, Origin, Pool};
use drumfire_units::Nanos;

/// The state of an exchange that ends with a response.
///
/// It lies in the entry of an exchange and is used again by the next one there. `body` and
/// `body_sent` begin anew with each attempt, `follow` with each exchange; `own` is kept, and its
/// generation says of which exchange it is.
#[derive(Debug, Default)]
pub(super) struct ResponseState {
    /// The use that it makes of its response's body.
    body: BodyUse,
    /// The length of the part of a prepared body that the protocol has taken.
    body_sent: usize,
    /// Its request where that varies; kept for the next exchange with this state.
    own: Option<Box<OwnRequest>>,
    /// Its redirects; `None` before the first, and for nearly every exchange.
    follow: Option<Box<Follow>>,
}

/// The request on its way out.
impl ResponseState {
    /// Sets the request's body and the use of the response's to their beginning.
    #[inline]
    fn begin_attempt(&mut self) {
        self.body_sent = 0;
        if !self.body.is_discard() {
            self.body = BodyUse::Discard;
        }
    }

    /// Forgets where the response of a failed attempt has led, whose request is sent once more.
    #[cold]
    pub(super) fn begin_again(&mut self) {
        self.begin_attempt();
        if let Some(follow) = &mut self.follow {
            follow.forget_next();
        }
    }

    /// Drops what the exchange needed; mostly there is nothing.
    #[inline]
    pub(super) fn end_exchange(&mut self) {
        self.begin_attempt();
        if self.follow.is_some() {
            self.follow = None;
        }
    }

    /// Drops the context of its request, which keeps values of its user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        if let Some(own) = &mut self.own {
            own.drop_context();
        }
    }

    /// The message that it sends: its request's, or the one that a redirect leads to.
    #[inline]
    fn message<'a>(&'a self, request: &'a Request) -> &'a Message {
        match &self.follow {
            None => &request.message,
            Some(follow) => follow.message().unwrap_or(&request.message),
        }
    }

    /// Renders its request where that varies, unless that was done for an earlier attempt or a
    /// redirect has led to another request.
    ///
    /// # Errors
    /// In words, when it can't be rendered.
    pub(super) fn render_request(
        &mut self,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), DataError> {
        let is_redirected = matches!(&self.follow, Some(follow) if follow.message().is_some());
        let Some(varying) = cx.request.message.varying().filter(|_| !is_redirected) else {
            return Ok(());
        };
        let own = self.own.get_or_insert_default();
        if own.context.is_of(cx.exchange.generation) {
            return Ok(());
        }
        let seed = cx.rules.prepared.seed();
        let context = cx.exchange.context(connection, unix_time(), seed);
        let planned = cx.rules.planned(cx.exchange);
        own.render(cx.exchange, varying, planned, context, &mut cx.tools.parts)
    }

    /// Its request as HTTP/1.1 sends it.
    #[inline(always)]
    pub(super) fn rendered<'a>(&'a self, request: &'a Request) -> Option<&'a Rendered> {
        let message = self.message(request);
        match message {
            Message::Rendered(rendered) => Some(rendered),
            _ => {
                let own = self.own.as_ref().filter(|_| message.varying().is_some());
                own.map(|own| &own.rendered)
            }
        }
    }

    /// The opening of its stream.
    #[inline]
    pub(super) fn opening<'a>(&'a self, request: &'a Request) -> Option<Opening<'a>> {
        match self.message(request) {
            Message::Stream(stream) => {
                let has_body = !stream.body.is_empty();
                Some(Opening::new(&stream.head, None, has_body))
            }
            Message::Varying(varying) => self.own.as_ref()?.opening(varying),
            Message::Rendered(_) | Message::Call(_) => None,
        }
    }

    /// The next bytes of the body that its stream sends.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, request: &'a Request) -> Option<Chunk<'a>> {
        match self.message(request) {
            Message::Stream(stream) if !stream.body.is_empty() => {
                Some(Chunk::new(&stream.body[self.body_sent..], true))
            }
            Message::Varying(varying) => self.own.as_ref()?.body_after(varying, self.body_sent),
            _ => None,
        }
    }

    /// Notes that the stream has taken bytes of the body.
    #[inline]
    pub(super) const fn note_taken(&mut self, taken: usize) {
        self.body_sent += taken;
    }

    /// The pause before a failed request is sent once more; `None` where it is not. A request that
    /// a reused connection has lost may have been processed, so that only an idempotent one is
    /// repeated (RFC 9110 section 9.2.2), where the plan wants that. One that the server has
    /// refused is not repeated, as a browser does not.
    pub(super) fn pause_before_resend(
        &self,
        cx: &KindContext<'_>,
        resend: Resend,
    ) -> Option<Nanos> {
        match resend {
            Resend::Never | Resend::Refused => None,
            Resend::Idempotent => {
                let is_idempotent = self.message(cx.request).is_idempotent();
                (is_idempotent && cx.rules.retries_reused()).then_some(Nanos::ZERO)
            }
            Resend::Reused => {
                let is_idempotent = self.message(cx.request).is_idempotent();
                (is_idempotent && cx.rules.retries_as_go()).then_some(Nanos::ZERO)
            }
            Resend::After(pause) => Some(pause),
        }
    }

    /// The request that it has sent, as it is shown.
    pub(super) fn sent(&self, request: &Request) -> Side {
        match (self.message(request), &self.own) {
            (Message::Rendered(rendered), _) => side::of_rendered(rendered),
            (Message::Stream(stream), _) => side::of_stream(&stream.head, None, &stream.body),
            (Message::Varying(varying), Some(own)) => match own.opening(varying) {
                Some(opening) => side::of_stream(opening.head, opening.extra, own.body(varying)),
                None => side::of_rendered(&own.rendered),
            },
            (Message::Varying(_) | Message::Call(_), _) => Side::default(),
        }
    }
}

/// The response as it comes.
impl ResponseState {
    /// Whether the bytes of the body are looked at.
    #[inline]
    pub(super) const fn reads_body(&self) -> bool {
        !self.body.is_discard()
    }

    /// Takes the response's head: keeps of it what is looked at, notes where it leads, and chooses
    /// the use of the body that follows.
    #[inline(always)]
    pub(super) fn head(
        &mut self,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        cx.exchange.account.set_status(status);
        if cx.rules.reads() {
            self.read_head(cx, &fields);
        }
        if matches!(status, 300..=399) {
            self.note_redirect(cx, status, fields);
        }
        match ahead {
            Ahead::Nothing => self.complete(cx),
            Ahead::NoBody => Continuation::GoOn,
            Ahead::Body if !cx.rules.reads() => {
                if cx.rules.judge(status) != Outcome::Ok {
                    self.sample_body(cx.exchange, &fields);
                }
                Continuation::GoOn
            }
            Ahead::Body => match use_of_body(cx, status, &fields) {
                Ok(body) => {
                    self.body = body;
                    Continuation::GoOn
                }
                Err(failure) => Continuation::GiveUp(failure),
            },
        }
    }

    /// Keeps the cookies of a head, and the part that is looked at.
    fn read_head(&mut self, cx: &mut KindContext<'_>, fields: &Fields<'_>) {
        if cx.exchange.user_state.jar.is_some() && fields.find("set-cookie").is_some() {
            self.store_cookies(cx.exchange, fields);
        }
        cx.begin_look(fields);
    }

    /// Keeps the cookies of a response, from the request that a redirect has led to or its own.
    #[cold]
    fn store_cookies(&mut self, exchange: &mut Exchange, fields: &Fields<'_>) {
        let (Some(jar), Some(own)) = (exchange.user_state.jar.as_deref_mut(), &mut self.own) else {
            return;
        };
        if let Some(url) = self.follow.as_ref().and_then(|follow| follow.url()) {
            own.visit.move_to(url);
        }
        own.visit.store_cookies(jar, fields);
    }

    /// Samples the body of a response of an unexpected status, whose head has come.
    #[cold]
    fn sample_body(&mut self, exchange: &mut Exchange, fields: &Fields<'_>) {
        exchange.look.get_or_insert_default().clear();
        self.body = BodyUse::sample(FAILED_BODY_BYTES, fields);
    }

    /// Samples the body of a response of an unexpected status that has come in one piece.
    #[cold]
    pub(super) fn sample_whole(exchange: &mut Exchange, fields: &Fields<'_>, bytes: &[u8]) {
        let look = exchange.look.get_or_insert_default();
        look.clear();
        let mut body = BodyUse::sample(FAILED_BODY_BYTES, fields);
        // The sample is only shown: a body that does not decode is kept as far as it does.
        let _undecodable = body.read(bytes, Some(look));
    }

    /// Takes a piece of the body, decoded from its framing.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        if !self.body.is_discard() {
            let read = self.body.read(bytes, cx.exchange.look.as_deref_mut());
            match (read, end) {
                (Ok(()), false) => {}
                (Ok(()), true) => {
                    if let Err(failure) = self.finish_body() {
                        return Continuation::End(failure);
                    }
                }
                (Err(failure), true) => return Continuation::End(failure),
                (Err(failure), false) => return Continuation::GiveUp(failure),
            }
        }
        match end {
            true => self.complete(cx),
            false => Continuation::GoOn,
        }
    }

    /// Takes the trailers, which end the body.
    #[inline]
    pub(super) fn trailers(&mut self, cx: &mut KindContext<'_>) -> Continuation {
        match self.finish_body() {
            Ok(()) => self.complete(cx),
            Err(failure) => Continuation::End(failure),
        }
    }

    /// Takes the end of a response of HTTP/1.1, which was forgiven these mistakes.
    #[inline(always)]
    pub(super) fn end_message(
        &mut self,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        cx.exchange.account.note_leniencies(leniencies);
        match self.finish_body() {
            Ok(()) => self.complete(cx),
            Err(failure) => Continuation::End(failure),
        }
    }

    /// Ends the body. That of a response that leads elsewhere need not be whole, whichever protocol
    /// has carried it: nothing of it is looked at.
    #[inline(always)]
    fn finish_body(&mut self) -> Result<(), Failure> {
        if self.body.is_discard() || self.leads_on() {
            return Ok(());
        }
        self.body.finish()
    }

    /// The failure of a response that is not complete. An unexpected status is the answer, however
    /// little of its body follows: a server that refuses a request early often resets the connection
    /// over the rest of it.
    pub(super) fn incomplete(
        &self,
        rules: &Rules,
        exchange: &Exchange,
        failure: Failure,
    ) -> Failure {
        let account = &exchange.account;
        if !account.has_head() || self.leads_on() || !failure.is_incompleteness() {
            return failure;
        }
        match rules.judge_request(rules.request(exchange), account.status()) {
            Outcome::Ok => failure,
            outcome => {
                let lack = format!("{}: {}", failure.outcome.name(), failure.words());
                Failure::with(outcome, lack)
            }
        }
    }

    /// Ends a response that is complete: it is judged, or leads elsewhere.
    #[inline(always)]
    fn complete(&self, cx: &mut KindContext<'_>) -> Continuation {
        if self.leads_on() {
            return Continuation::Redirect;
        }
        let status = cx.exchange.account.status();
        if !cx.rules.looks() {
            return Continuation::End(Failure::of(cx.rules.judge(status)));
        }
        Continuation::End(match cx.rules.judge_request(cx.request, status) {
            Outcome::Ok => cx.inspect(),
            outcome => Failure::of(outcome),
        })
    }
}

/// Redirects.
impl ResponseState {
    #[inline]
    fn leads_on(&self) -> bool {
        matches!(&self.follow, Some(follow) if follow.leads_on())
    }

    /// Notes the request that a redirect leads to, which is followed when its response is over.
    /// Where the exchange's own request can't be made whole again, that is the failure.
    #[cold]
    fn note_redirect(&mut self, cx: &mut KindContext<'_>, status: u16, fields: Fields<'_>) {
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
        if let (Some(request), Some(jar), Some(own)) = (
            next.request_mut(),
            cx.exchange.user_state.jar.as_deref_mut(),
            &mut self.own,
        ) {
            own.visit.replace_cookies(jar, request);
        }
        self.follow.get_or_insert_default().lead_to(next);
    }

    /// The request that it has sent, whole; `None` where it is the plan's own.
    #[cold]
    fn own_request(&self, cx: &mut KindContext<'_>) -> Result<Option<HttpRequest>, DataError> {
        let (Message::Varying(varying), Some(own)) = (self.message(cx.request), &self.own) else {
            return Ok(None);
        };
        let planned = cx.rules.planned(cx.exchange);
        let whole = own.complete(varying, planned, &mut cx.tools.parts)?;
        Ok(Some(whole))
    }

    /// Whether the response leads to a request that the plan follows.
    pub(super) fn is_followed(&self) -> bool {
        self.follow
            .as_ref()
            .is_some_and(|follow| follow.is_followed())
    }

    /// Makes the request that the response leads to the exchange's own.
    ///
    /// # Errors
    /// When the plan follows no such redirect.
    pub(super) fn advance(&mut self) -> Result<(), Failure> {
        match &mut self.follow {
            Some(follow) => follow.advance(),
            None => Err(Failure::of(Outcome::RedirectBlocked)),
        }
    }

    /// The origin of the redirected request under way.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.follow.as_ref()?.origin()
    }

    /// Makes the redirected request ready to be submitted, with its target in a form.
    ///
    /// # Errors
    /// When it can't be sent so.
    pub(super) fn prepare_hop(&mut self, pool: &Pool, form: TargetForm) -> Result<(), Failure> {
        self.begin_attempt();
        match &mut self.follow {
            Some(follow) => follow.prepare(pool, form),
            None => Ok(()),
        }
    }
}

/// The use of the body of a response with these fields. An inspection decides first, with its
/// limit; then the plan's decoding, with room for a sample beside it; then the sample alone.
///
/// A body that nothing asks for is discarded as it comes. One that the plan wants decoded is
/// decoded though nothing looks at it, and fails the exchange where it does not decode.
fn use_of_body(
    cx: &mut KindContext<'_>,
    status: u16,
    fields: &Fields<'_>,
) -> Result<BodyUse, Failure> {
    let is_expected = cx.rules.judge_request(cx.request, status) == Outcome::Ok;
    let inspection = cx.request.inspection();
    let compressed = cx.rules.pool().http.compressed;
    if let Some(max) = inspection.and_then(|inspection| inspection.body_max()) {
        return BodyUse::keeping(compressed, max.0, fields);
    }
    let room = match (cx.rules.shows(), is_expected) {
        (true, _) => SHOWN_BYTES,
        (false, false) => FAILED_BODY_BYTES,
        (false, true) => return BodyUse::of(compressed, fields),
    };
    cx.exchange.look.get_or_insert_default().make_room(room);
    Ok(match BodyUse::of(compressed, fields)? {
        BodyUse::Discard => BodyUse::sample(room, fields),
        body => body,
    })
}
