//! The servers of a case file, and the placeholders for their addresses.

use crate::support::script::{WholeRequest, get};
use crate::support::{Script, Serve};
use std::sync::{Arc, Mutex};

/// A server with its name, which is empty for the first.
pub(super) struct Server {
    pub(super) name: String,
    kind: Kind,
}

enum Kind {
    /// `drumfire serve`.
    Target(Serve),
    /// A server that sends one response to every request, and records the requests.
    Script(Script, Arc<Mutex<Vec<WholeRequest>>>),
}

/// The name and the rest of a line. If a line begins with a flag, the name is empty.
fn name_and_rest(line: &str) -> (&str, &str) {
    match line.split_once(' ').unwrap_or((line, "")) {
        (name, rest) if !name.starts_with('-') => (name, rest),
        _ => ("", line),
    }
}

impl Server {
    /// A server from a line `[NAME] FLAGS`.
    pub(super) fn target(line: &str) -> Self {
        let (name, flags) = name_and_rest(line);
        Self {
            name: name.to_owned(),
            kind: Kind::Target(Serve::new(flags)),
        }
    }

    /// A server whose response is written with escapes; an empty response means 200 without a body.
    pub(super) fn script(name: &str, response: &str) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&requests);
        let response = match response.trim_end_matches('\n') {
            "" => "HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n".to_owned(),
            written => written.to_owned(),
        };
        let script = Script::new(move |peer| {
            while let Some(request) = peer.whole_request() {
                into.lock().unwrap().push(request);
                if !peer.send_written(&response) {
                    return;
                }
            }
        });
        Self {
            name: name.to_owned(),
            kind: Kind::Script(script, requests),
        }
    }

    pub(super) fn url(&self) -> String {
        match &self.kind {
            Kind::Target(serve) => serve.url.clone(),
            Kind::Script(script, _) => script.url(),
        }
    }

    /// The placeholders for the address with their values, the longest value first.
    pub(super) fn values(&self) -> [(String, String); 4] {
        let url = self.url();
        let base = url.trim_end_matches('/').to_owned();
        let host = base
            .split_once("://")
            .map_or("", |(_, host)| host)
            .to_owned();
        let port = host.rsplit(':').next().unwrap_or_default().to_owned();
        let word = |word: &str| match self.name.as_str() {
            "" => word.to_owned(),
            name => format!("{name}.{word}"),
        };
        [("url", url), ("base", base), ("host", host), ("port", port)]
            .map(|(name, value)| (word(name), value))
    }

    /// The counters of the built-in server.
    pub(super) fn counters(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Target(serve) => serve.counters(),
            Kind::Script(script, requests) => serde_json::json!({
                "connections": script.connections(),
                "requests": requests.lock().unwrap().len(),
            }),
        }
    }

    /// A JSON page of the built-in server.
    pub(super) fn page(&self, path: &str) -> serde_json::Value {
        match &self.kind {
            Kind::Target(serve) => {
                let text = get(serve.address(), path).unwrap();
                serde_json::from_str(&text).unwrap()
            }
            Kind::Script(..) => panic!("a server with `answers` has no pages"),
        }
    }

    /// The requests since the last call, one per line. In the form, `{method}`, `{target}`,
    /// `{body}`, `{bytes}` (the body with escapes), `{head}` and `{FIELD}` are replaced with parts
    /// of the request.
    pub(super) fn arrived(&self, form: &str) -> Option<Vec<String>> {
        let Kind::Script(_, requests) = &self.kind else {
            return None;
        };
        let requests = std::mem::take(&mut *requests.lock().unwrap());
        Some(
            requests
                .iter()
                .map(|request| shown(request, form))
                .collect(),
        )
    }
}

/// The values of a head's fields with this name, or `-`.
fn values(head: &str, name: &str) -> String {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let named = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
    let values: Vec<&str> = named.map(|(_, value)| value.trim()).collect();
    match values.is_empty() {
        true => "-".to_owned(),
        false => values.join(", "),
    }
}

fn shown(request: &WholeRequest, form: &str) -> String {
    let mut line = String::new();
    let mut rest = form;
    while let Some((before, (name, after))) = rest
        .split_once('{')
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        line.push_str(before);
        let mut start = request.head.split(' ');
        match name {
            "method" => line.push_str(start.next().unwrap_or_default()),
            "target" => line.push_str(start.nth(1).unwrap_or_default()),
            "body" => line.push_str(&String::from_utf8_lossy(&request.body)),
            "bytes" => line.push_str(&request.body.escape_ascii().to_string()),
            "head" => line.push_str(&request.head.replace("\r\n", "\n")),
            name => line.push_str(&values(&request.head, name)),
        }
        rest = after;
    }
    (line + rest).trim_end().to_owned()
}
