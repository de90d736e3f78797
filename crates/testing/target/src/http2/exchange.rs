//! The handling of one request.

use super::respond;
use super::tokens;
use crate::answer::{Afterwards, Answer, Body, Constancy, Counting, RawEnd};
use crate::grpc;
use crate::grpc_code::GrpcCode;
use crate::hub::Hub;
use crate::known::Same;
use crate::peer::Peer;
use crate::planner::{Intent, Keying};
use crate::reaction::{AnswerPlan, Reaction};
use crate::rendered::{Rendered, render};
use crate::request::{RequestBody, RequestHead};
use crate::socket::{self, SocketBytes};
use crate::stream::sleep_unless_gone;
use crate::upgrade::SocketPlan;
use crate::visit::Visit;
use bytes::Bytes;
use drumfire_units::Nanos;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use tokio::task::spawn_local;

/// A request in progress.
pub(super) struct Exchange {
    hub: Rc<Hub>,
    visit: Visit,
    respond: SendResponse<Bytes>,
    peer: Rc<Peer>,
}

impl Exchange {
    /// Starts a request: it is answered immediately if possible; otherwise it becomes a task.
    pub(super) fn start(
        hub: &Rc<Hub>,
        peer: &Rc<Peer>,
        request: Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
    ) {
        let (head, body) = request.into_parts();
        let target = head
            .uri
            .path_and_query()
            .map_or("*", |target| target.as_str());
        let bare = body.is_end_stream();
        if bare
            && head.method == Method::GET
            && let Some(same) = hub.known.borrow().find(target)
        {
            hub.desk.arrived();
            if respond::send_same(&mut respond, same).is_ok() {
                hub.desk.own().tallies.responses.add(1);
            }
            return;
        }
        let close_after = hub.close_after();
        let mut visit = Visit::new(&hub.desk, &hub.sleeps, peer, close_after);
        if let Some(grpc) = &hub.setup.grpc
            && grpc::is_call(&head.headers)
        {
            visit.counting = grpc::counting(target);
            if visit.counting == Counting::Counted {
                hub.desk.arrived();
            }
            let call = grpc::answer(visit, respond, Arc::clone(grpc), (head, body));
            spawn_local(call);
            return;
        }
        let mut exchange = Self {
            hub: Rc::clone(hub),
            visit,
            respond,
            peer: Rc::clone(peer),
        };
        if grpc::is_call(&head.headers) {
            exchange.visit.counting = grpc::counting(target);
            if exchange.visit.counting == Counting::Counted {
                hub.desk.arrived();
            }
            return exchange.refuse_call();
        }
        let intent = match hub.desk.intent(&RequestHead::read(&head, target)) {
            Ok(intent) => intent,
            Err(bad) => return exchange.refuse(&bad.0),
        };
        exchange.visit.counting = intent.counting();
        if exchange.visit.counting == Counting::Counted {
            hub.desk.arrived();
        }
        if intent.is_socket() {
            let plan = hub.desk.plan(intent, &RequestBody::default());
            spawn_local(exchange.open(plan, body));
            return;
        }
        if !bare {
            spawn_local(exchange.take_body(intent, body));
            return;
        }
        let keyed = head.method == Method::GET && intent.keying() == Keying::Target;
        let plan = hub.desk.plan(intent, &RequestBody::default());
        let due = hub.desk.due(plan.delay, plan.counting);
        let constant = plan.constancy == Constancy::Constant && !hub.desk.is_serial();
        let key = (keyed && constant).then_some(target);
        match plan.act {
            Reaction::Answer(answer) if due.is_none() && respond::is_quick(&answer) => {
                exchange.answer_at_once(answer, plan.delay, key);
            }
            _ => drop(spawn_local(exchange.carry_out(plan, due))),
        }
    }

    /// Ends a call immediately if gRPC is disabled: the client may wait for an answer before it
    /// ends its request.
    fn refuse_call(mut self) {
        let mut response = Response::new(());
        let fields = response.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        fields.insert("grpc-status", HeaderValue::from(GrpcCode::UNIMPLEMENTED.0));
        let message = "start drumfire serve with --grpc to serve gRPC";
        fields.insert("grpc-message", HeaderValue::from_static(message));
        match self.respond.send_response(response, true) {
            Ok(_) => self.visit.answered(Afterwards::Stay),
            Err(_) => self.visit.gone(Afterwards::Stay),
        }
    }

    /// Reads the request's body, and answers.
    async fn take_body(self, intent: Intent, mut body: RecvStream) {
        let mut received = RequestBody::default();
        let kept_max = intent.kept_max();
        while let Some(data) = poll_fn(|cx| body.poll_data(cx)).await {
            let Ok(data) = data else {
                return;
            };
            received.record(&data, kept_max);
            // This fails only for more bytes than were received.
            let _ = body.flow_control().release_capacity(data.len());
        }
        let plan = self.hub.desk.plan(intent, &received);
        let due = self.hub.desk.due(plan.delay, plan.counting);
        self.carry_out(plan, due).await;
    }

    /// Opens a WebSocket, or carries out what the plan has instead.
    async fn open(self, plan: AnswerPlan, body: RecvStream) {
        match plan.act {
            Reaction::Socket(plan) => self.open_socket(*plan, body).await,
            act => self.carry_out(AnswerPlan { act, ..plan }, None).await,
        }
    }

    /// Answers the handshake of a WebSocket, and holds its conversation.
    async fn open_socket(mut self, plan: SocketPlan, receive: RecvStream) {
        let head = plan.handshake.head_http2();
        let Ok(send) = self.respond.send_response(head, false) else {
            return self.visit.gone(Afterwards::Stay);
        };
        self.visit.answered(Afterwards::Stay);
        let pipe = SocketBytes::Http2 {
            receive,
            send,
            _visit: self.visit,
        };
        socket::serve(self.hub, pipe, plan).await;
    }

    async fn carry_out(mut self, plan: AnswerPlan, due: Option<Nanos>) {
        if let Some(due) = due {
            let sleep = self.hub.sleeps.until(due);
            let respond = &mut self.respond;
            if sleep_unless_gone(sleep, |cx| respond.poll_reset(cx))
                .await
                .is_err()
            {
                return;
            }
        }
        match plan.act {
            Reaction::Raw(raw) => {
                if raw.end == RawEnd::Reset {
                    self.respond.send_reset(Reason::INTERNAL_ERROR);
                }
                self.visit.failed(raw.end);
            }
            // Only `open` has a plan of this kind.
            Reaction::Socket(_) => self.refuse("a WebSocket needs its stream"),
            Reaction::Tokens(job) => {
                let flushes = Rc::clone(&self.peer.flushes);
                tokens::send(&self.hub, &self.visit, self.respond, flushes, *job).await;
            }
            Reaction::Answer(answer) if respond::is_quick(&answer) => {
                self.answer_at_once(answer, plan.delay, None);
            }
            Reaction::Answer(answer) => {
                let afterwards = answer.afterwards;
                let hub = &self.hub;
                let sent = respond::send(&mut self.respond, answer, plan.delay, hub).await;
                match sent {
                    Ok(()) if afterwards != Afterwards::Cut => self.visit.answered(afterwards),
                    _ => self.visit.gone(afterwards),
                }
            }
        }
    }

    /// Sends a small answer. With a key, the answer is cached.
    fn answer_at_once(mut self, mut answer: Answer, delay: Option<Nanos>, key: Option<&str>) {
        let afterwards = answer.afterwards;
        let Rendered { response, mut body } = render(&mut answer, delay);
        let same = Same {
            status: response.status(),
            fields: response.headers().clone(),
            body: body.all(),
        };
        if respond::send_same(&mut self.respond, &same).is_ok() {
            self.visit.answered(afterwards);
        }
        if let Some(key) = key {
            self.hub.known.borrow_mut().insert(key, same);
        }
    }

    /// Answers an invalid request with the reason; the connection stays open.
    fn refuse(mut self, reason: &str) {
        self.hub.desk.own().tallies.refused.add(1);
        let response = Response::builder()
            .status(400)
            .header("content-type", "text/plain")
            .body(());
        if let Ok(response) = response {
            let body = Body::bytes(format!("{reason}\n")).all();
            // A disconnected client needs no answer.
            let _ = respond::send_head_and_body(&mut self.respond, response, body);
        }
    }
}
