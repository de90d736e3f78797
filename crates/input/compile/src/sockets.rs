//! Requests on WebSockets: handshakes, messages and closes.
//!
//! A request with `connect` has the URL and the header fields of the handshake. A request without
//! it goes to the origin of the last `connect` before it. `send` is compiled like the body of a
//! request, so the same templates work, and `expect` and `take` see the received messages as a body.

use crate::looks::{self, Looks};
use crate::scope::{Scope, is_on};
use crate::template_scope::TemplateScope;
use crate::templates::{Content, HeaderFields};
use crate::transport::span;
use drumfire_document::{Ask, Layer as _, Payload, Place, Pool, Request, Socket, Text};
use drumfire_plan::{
    CLOSE_REASON_MAX, Deflate, Header, MessageKind, Receive, ReceiveUntil, SocketAct, WebSocket,
};
use drumfire_units::Nanos;

/// The prefix of the names of the fields that belong to the handshake.
const HANDSHAKE: &str = "sec-websocket-";
/// The codes that a client may send in a close frame (RFC 6455 section 7.4).
const CODES: [(u16, u16); 4] = [(1000, 1000), (1001, 1003), (1007, 1014), (3000, 4999)];

/// The URL of a handshake in the schemes of HTTP, which the transport uses.
pub(crate) fn over_http(text: &Text) -> Text {
    let value = &text.value;
    let cut = value.split_at_checked(value.find("://").unwrap_or(0));
    let scheme = cut.map_or("", |(scheme, _)| scheme);
    let replaced = [("ws", "http"), ("wss", "https")]
        .into_iter()
        .find(|(ours, _)| scheme.eq_ignore_ascii_case(ours))
        .map(|(ours, theirs)| format!("{theirs}{}", &value[ours.len()..]));
    match replaced {
        None => text.clone(),
        Some(url) => text.with(url),
    }
}

/// What a request does on its WebSocket; `None` after a mistake. `content` is its message.
pub(crate) fn socket(
    written: &Socket,
    request: &Request,
    pool: &Pool,
    content: &Content,
    scope: &mut Scope<'_>,
) -> Option<WebSocket> {
    let mut opening = request.socket.clone();
    opening.fill(&pool.settings.socket);
    let act = match (&written.close, written.connect.is_some()) {
        (Some(close), _) => scope.found.ok(&close.place, self::close(&close.value))?,
        (None, true) if written.send.is_none() && written.receive.is_none() => SocketAct::Connect,
        (None, _) => SocketAct::Message {
            send: match &written.send {
                Some(send) => Some(kind(send, request, content, scope)?),
                None => None,
            },
            receive: match &written.receive {
                Some(text) => Some(receive(text, request, pool, scope)?),
                None => None,
            },
        },
    };
    Some(WebSocket {
        act,
        opens: written.connect.is_some(),
        subprotocols: subprotocols(&opening.subprotocols, scope),
        deflate: match &opening.message_compression {
            Some(switch) if !switch.value => Deflate::No,
            _ => Deflate::Offer,
        },
    })
}

/// The type of a message: binary if the request demands it, if it is written in base64, or if it is
/// a file that is not text.
fn kind(
    send: &Payload,
    request: &Request,
    content: &Content,
    scope: &mut Scope<'_>,
) -> Option<MessageKind> {
    let bytes = content.body.0.as_deref().unwrap_or_default();
    let is_text = std::str::from_utf8(bytes).is_ok();
    if is_on(&request.data.binary) || matches!(send, Payload::Base64(_)) {
        return Some(MessageKind::Binary);
    }
    match (is_text, send) {
        (true, _) => Some(MessageKind::Text),
        (false, Payload::File(_)) => Some(MessageKind::Binary),
        (false, _) => {
            let message = "the message is not UTF-8; add `binary: true`";
            scope.found.add(&request.ask.text().place, message);
            None
        }
    }
}

/// What a request waits for: a number of messages, a time, or `match`.
fn receive(text: &Text, request: &Request, pool: &Pool, scope: &mut Scope<'_>) -> Option<Receive> {
    let mut limits = request.events.clone();
    limits.fill(&pool.settings.events);
    let gap = span(limits.gap_timeout.as_ref(), scope);
    let value = text.value.trim();
    let count: Option<u64> = value.parse().ok();
    let time: Option<Nanos> = value.parse().ok();
    let until = match (value, count, time) {
        ("match", ..) => {
            let mut expected = request.expect.clone();
            expected.fill(&pool.settings.http.expect);
            expected.status = None;
            if expected == drumfire_document::ExpectSettings::default() {
                let message = "`receive: match` needs `expect`, such as `expect: { body: contains \
                               ready }`";
                scope.found.add(&text.place, message);
                return None;
            }
            ReceiveUntil::Match
        }
        (_, Some(1..), _) => ReceiveUntil::Count(count?),
        (_, None, Some(time)) if time > Nanos::ZERO => ReceiveUntil::Time(time),
        _ => {
            let message = format!(
                "`{}` is not something to wait for; write a number of messages such as 1, a time \
                 such as 10s, or `match`",
                value.escape_debug()
            );
            scope.found.add(&text.place, message);
            return None;
        }
    };
    Some(Receive {
        until,
        gap: gap.unwrap_or(Nanos::MAX),
    })
}

/// Whether a pool has requests on WebSockets.
pub(crate) fn are_in(pool: &Pool) -> bool {
    let mut requests = pool.every_request();
    requests.any(|request| matches!(request.ask, Ask::Socket(_)))
}

/// Gives each user of a scenario with WebSockets its own connections, unless the plan chooses.
pub(crate) fn keep_apart(pool: &mut Pool) {
    let has_steps = !pool.scenario.is_empty() || !pool.scenarios.is_empty();
    let session = &pool.settings.connections.session;
    if has_steps && session.is_none() && are_in(pool) {
        let user = Text::new("user".to_owned(), Place::Nowhere);
        pool.settings.connections.session = Some(user);
    }
}

/// The name under which a request without a name is reported; `None` for its URL.
pub(crate) const fn usual_name(written: &Socket) -> Option<&'static str> {
    match written {
        Socket {
            connect: Some(_), ..
        } => None,
        Socket { send: Some(_), .. } => Some("send"),
        Socket {
            receive: Some(_), ..
        } => Some("receive"),
        _ => Some("close"),
    }
}

/// The inspection of the messages that a request receives. The pool's expectations are about
/// messages, so they do not apply to a request that only opens or closes.
pub(crate) fn looks(
    written: &Socket,
    request: &Request,
    pool: &Pool,
    may_read: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Looks {
    if let Some(status) = &request.expect.status {
        let message = "a message has no status; leave it out";
        scope.found.add(&status.place, message);
    }
    match written.receive {
        Some(_) => looks::looks(request, pool, may_read, scope),
        None => {
            let mut pool = pool.clone();
            pool.settings.http.expect = drumfire_document::ExpectSettings::default();
            looks::looks(request, &pool, may_read, scope)
        }
    }
}

/// The time limit of a request that waits for a time: none, unless it has its own.
pub(crate) fn timeout(
    request: &Request,
    socket: &WebSocket,
    scope: &mut Scope<'_>,
) -> Option<Nanos> {
    let own = span(request.timeout.as_ref(), scope);
    let is_timed = socket
        .receive()
        .is_some_and(|receive| matches!(receive.until, ReceiveUntil::Time(_)));
    own.or_else(|| is_timed.then_some(Nanos::MAX))
}

/// The code and the reason of a close, such as `1000` or `4000 done`.
fn close(text: &str) -> Result<SocketAct, String> {
    let text = text.trim();
    let (code, reason) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let code: Option<u16> = code.parse().ok();
    let code = code.filter(|code| CODES.iter().any(|(from, to)| (from..=to).contains(&code)));
    let Some(code) = code else {
        return Err(format!(
            "`{}` has no code that a client may send; use 1000, 1001 to 1003, 1007 to 1014 or 3000 \
             to 4999, optionally with a reason after it",
            text.escape_debug()
        ));
    };
    let reason = reason.trim();
    if reason.len() > CLOSE_REASON_MAX {
        return Err(format!(
            "the reason has {} bytes; a close frame has room for {CLOSE_REASON_MAX}",
            reason.len()
        ));
    }
    Ok(SocketAct::Close {
        code: Some(code),
        reason: reason.to_owned(),
    })
}

/// The subprotocols to offer.
fn subprotocols(written: &[Text], scope: &mut Scope<'_>) -> Vec<String> {
    let mut offered: Vec<String> = Vec::new();
    for text in written {
        let name = text.value.trim();
        let message = match Header::new(name, b"") {
            Err(_) => "is not the name of a subprotocol; write one such as chat.v2",
            Ok(_) if offered.iter().any(|known| known == name) => "is offered twice; keep one",
            Ok(_) => {
                offered.push(name.to_owned());
                continue;
            }
        };
        let message = format!("`{}` {message}", name.escape_debug());
        scope.found.add(&text.place, message);
    }
    offered
}

/// Notes header fields that the handshake itself sets.
pub(crate) fn check_fields(fields: &HeaderFields, place: &Place, scope: &mut Scope<'_>) {
    let fixed = fields.fixed.iter().map(Header::name);
    let varying = fields
        .varying
        .iter()
        .map(drumfire_data::FieldTemplate::name);
    for name in fixed.chain(varying) {
        let lower = name.to_ascii_lowercase();
        if !lower.starts_with(HANDSHAKE) && !Header::is_framing(name) {
            continue;
        }
        let instead = match lower.strip_prefix(HANDSHAKE) {
            Some("protocol") => "; use `subprotocols`",
            Some("extensions") => "; use `message_compression`",
            _ => "; leave it out",
        };
        let message = format!("`{name}` is set by the handshake of the WebSocket{instead}");
        scope.found.add(place, message);
    }
}

#[cfg(test)]
mod tests {
    use super::{close, over_http};
    use drumfire_document::{Place, Placed};
    use drumfire_plan::SocketAct;

    #[test]
    fn a_close_has_a_code_that_a_client_may_send() {
        let closes = |code, reason: &str| {
            Ok(SocketAct::Close {
                code: Some(code),
                reason: reason.to_owned(),
            })
        };
        assert_eq!(close("1000"), closes(1000, ""));
        assert_eq!(close(" 4000  all done "), closes(4000, "all done"));
        for wrong in [
            "", "done", "1004", "1005", "1006", "1015", "2999", "5000", "-1",
        ] {
            assert!(close(wrong).is_err(), "{wrong}");
        }
        assert!(close(&format!("1000 {}", "é".repeat(61))).is_ok());
        assert!(close(&format!("1000 {}", "é".repeat(62))).is_err());
    }

    #[test]
    fn the_schemes_of_sockets_are_those_of_http() {
        for (written, url) in [
            ("ws://a/b", "http://a/b"),
            ("WSS://a", "https://a"),
            ("https://a", "https://a"),
            ("/ws://x", "/ws://x"),
            ("wsx://a", "wsx://a"),
        ] {
            let text = Placed::new(written.to_owned(), Place::Nowhere);
            assert_eq!(over_http(&text).value, url);
        }
    }
}
