//! The functions of WebSockets and of requests in the background: each gives the run something to do, and
//! `nextEvents` waits for what happens.

use super::{Natives, http};
use crate::answer::responses;
use crate::arguments::Arguments;
use crate::ask::{Answer, Ask};
use crate::state::Shared;
use crate::talk::{Event, Handshake, Happening, SocketAct, SocketErrand, SocketModule};
use drumfire_engine::SocketSend;
use drumfire_plan::{CLOSE_REASON_MAX, Deflate, MessageKind};
use drumfire_units::Nanos;
use rquickjs::{Array, Object, Result, Value};

impl Natives<'_, '_> {
    /// Functions of the event loop.
    pub(super) fn events(&self) -> Result<()> {
        let host = self.host.clone();
        self.add("socketOpen", move |shared, a| {
            let errand = Box::new(socket(shared, a)?);
            number(a, host.wait(a.ctx, Ask::Open(errand))?)
        })?;
        let host = self.host.clone();
        self.add("socketSend", move |_, a| {
            let bytes = a.bytes(2)?;
            let what = match a.text(1)?.as_str() {
                "text" => SocketSend::Message(MessageKind::Text, bytes),
                "binary" => SocketSend::Message(MessageKind::Binary, bytes),
                _ => SocketSend::Ping(bytes),
            };
            let act = Ask::Socket(a.number(0) as u32, SocketAct::Send(what));
            host.wait(a.ctx, act).map(|_| a.undefined())
        })?;
        let host = self.host.clone();
        self.add("socketClose", move |_, a| {
            let (code, reason) = (a.number(1), a.text(2)?);
            if !(1000.0..5000.0).contains(&code) {
                return Err(a.mistake("the code of a close is a number from 1000 to 4999"));
            }
            if reason.len() > CLOSE_REASON_MAX {
                return Err(a.mistake("the reason of a close has at most 123 bytes"));
            }
            let act = SocketAct::Send(SocketSend::Close(code as u16, reason));
            let act = Ask::Socket(a.number(0) as u32, act);
            host.wait(a.ctx, act).map(|_| a.undefined())
        })?;
        let host = self.host.clone();
        self.add("socketDrop", move |_, a| {
            let act = Ask::Socket(a.number(0) as u32, SocketAct::Drop);
            host.wait(a.ctx, act).map(|_| a.undefined())
        })?;
        let host = self.host.clone();
        self.add("start", move |shared, a| {
            let errands = http::errands(shared, a)?;
            number(a, host.wait(a.ctx, Ask::Start(errands))?)
        })?;
        let host = self.host.clone();
        self.add("nextEvents", move |shared, a| {
            let (wait, only) = (a.number(0), a.number(1));
            let wait = (wait >= 0.0).then(|| Nanos((wait * 1e6).min(1e18) as u64));
            let only = (only >= 0.0).then_some(only as u32);
            match host.wait(a.ctx, Ask::Next { wait, only })? {
                Answer::Events(events) => list(shared, a, events),
                _ => Ok(Array::new(a.ctx.clone())?.into_value()),
            }
        })
    }
}

fn number<'js>(a: Arguments<'_, 'js>, answer: Answer) -> Result<Value<'js>> {
    match answer {
        Answer::Number(number) => Ok(a.float(f64::from(number))),
        _ => Err(a.mistake("no number")),
    }
}

/// The WebSocket of a call: its request, its URL, subprotocols, compression and module.
fn socket(shared: &Shared, a: Arguments<'_, '_>) -> Result<SocketErrand> {
    let request = a.value(0);
    let request = request.as_array().ok_or_else(|| a.mistake("no request"))?;
    let deflate = match a.text(3)?.as_str() {
        "" => Deflate::No,
        "deflate" => Deflate::Offer,
        other => {
            return Err(a.mistake(&format!(
                "unknown compression `{other}` of a WebSocket; use deflate"
            )));
        }
    };
    Ok(SocketErrand {
        errand: http::errand(shared, a, request)?,
        address: a.text(1)?,
        subprotocols: a.value(2).get()?,
        deflate,
        module: match a.text(4)?.as_str() {
            "ws" => SocketModule::Ws,
            _ => SocketModule::Websockets,
        },
    })
}

/// Events as lists: the number, the kind, and what belongs to the kind.
fn list<'js>(shared: &Shared, a: Arguments<'_, 'js>, events: Vec<Event>) -> Result<Value<'js>> {
    let all = Array::new(a.ctx.clone())?;
    for (at, Event { number, what }) in events.into_iter().enumerate() {
        let one = Array::new(a.ctx.clone())?;
        one.set(0, number)?;
        match what {
            Happening::Opened(handshake) => {
                one.set(1, "opened")?;
                one.set(2, response(a, handshake)?)?;
            }
            Happening::Refused(handshake) => {
                one.set(1, "refused")?;
                one.set(3, handshake.error.as_str())?;
                one.set(2, response(a, handshake)?)?;
            }
            Happening::Text(bytes) => {
                one.set(1, "text")?;
                one.set(2, String::from_utf8_lossy(&bytes).as_ref())?;
            }
            Happening::Binary(bytes) => {
                one.set(1, "binary")?;
                one.set(2, a.buffer(bytes)?)?;
            }
            Happening::Ping => one.set(1, "ping")?,
            Happening::Pong => one.set(1, "pong")?,
            Happening::Closed(code, reason) => {
                one.set(1, "closed")?;
                one.set(2, code)?;
                one.set(3, reason)?;
            }
            Happening::Failed(error) => {
                one.set(1, "failed")?;
                one.set(3, error)?;
            }
            Happening::Replied(outcomes) => {
                let thrown = outcomes
                    .iter()
                    .find(|one| one.throws && !one.error.is_empty());
                match thrown {
                    Some(thrown) => {
                        one.set(1, "thrown")?;
                        let text = format!("Request Failed: {}: {}", thrown.address, thrown.error);
                        one.set(2, text)?;
                    }
                    None => {
                        one.set(1, "replied")?;
                        one.set(2, responses(shared, a, outcomes)?)?;
                    }
                }
            }
        }
        all.set(at, one)?;
    }
    Ok(all.into_value())
}

/// The response of a handshake as scripts receive it.
fn response<'js>(a: Arguments<'_, 'js>, handshake: Handshake) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    object.set("url", handshake.url)?;
    object.set("status", handshake.status)?;
    object.set("headers", crate::answer::headers(a, &handshake.fields)?)?;
    object.set("body", "")?;
    object.set("error", handshake.error)?;
    Ok(object)
}
