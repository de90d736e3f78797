//! `drumfire ws`.

use super::{Written, document, once, payload, text};
use crate::bare_url;
use crate::exit::Failure;
use crate::flags::WsFlags;
use drumfire_document::{Ask, Count, Place, Placed, Request, Socket, Text};

/// The document of the flags: one request for each message, or one that listens or only connects.
pub(crate) fn from_flags(flags: &WsFlags) -> Result<Written, Failure> {
    let settings = &flags.settings;
    let connect = Some(url(&flags.url)?);
    let nowhere = |text: &str| Placed::new(text.to_owned(), Place::Nowhere);
    let mut sockets = Vec::new();
    for message in settings.values("message") {
        let replies = flags.replies.unwrap_or(1);
        sockets.push(Socket {
            connect: connect.clone(),
            send: Some(payload("send", message)?),
            receive: (replies > 0).then(|| nowhere(&replies.to_string())),
            close: None,
        });
    }
    if sockets.is_empty() {
        let listen = settings.value("listen");
        sockets.push(Socket {
            connect,
            receive: listen.map(|time| text("receive", &time)),
            ..Socket::default()
        });
    }
    let requests: Vec<Request> = sockets
        .into_iter()
        .map(|socket| {
            let mut request = Request::new(Ask::Socket(Box::new(socket)));
            let binary = Placed::new(true, Place::Nowhere);
            request.data.binary = flags.binary.then_some(binary);
            request
        })
        .collect();
    let mut document = document(settings)?;
    for pool in &mut document.pools {
        pool.requests.clone_from(&requests);
        let most = &mut pool.settings.connections.requests_per_connection;
        *most = most.take().or_else(|| flags.messages.map(count));
        let is_open = settings.has("rate") || settings.has("requests") || settings.has("duration");
        if settings.has("listen") && !is_open {
            // Every connection listens once.
            pool.stop.requests = connections(settings.value("connections"));
        }
    }
    let document = match flags.output.show {
        true => once(document),
        false => document,
    };
    Ok(document.into())
}

fn count(count: u64) -> Count {
    Placed::new(count, Place::Nowhere)
}

/// The number of connections as a number of requests.
fn connections(given: Option<&str>) -> Option<Count> {
    given?.parse().ok().map(count)
}

/// The URL with its scheme.
///
/// # Errors
/// If it has no host.
fn url(given: &str) -> Result<Text, Failure> {
    if given.starts_with('/') {
        let message = format!("`{given}` has no host; write ws://127.0.0.1:8080{given}");
        return Err(Failure::usage(message));
    }
    let url = match bare_url::completed(given) {
        Some(url) => url.replacen("http", "ws", 1),
        None => given.to_owned(),
    };
    Ok(Placed::new(url, Place::Nowhere))
}
