//! A plan as readable lines.

use drumfire_plan::{
    Call, Drain, Generator, Host, HttpRequest, Pool, RenderedFields, RequestContext, Spread, Stop,
    Threads, Url,
};
use std::fmt::Write as _;

/// Everything in a plan's first pool and its generator that a dialect decides.
pub(crate) fn plan_text(pool: &Pool, generator: &Generator) -> String {
    let mut out = String::new();
    for request in &pool.requests {
        push_request(&mut out, request);
    }
    let (http, connections, timeouts) = (&pool.http, &pool.connections, &pool.timeouts);
    let reach = &pool.reach;
    let pem = |pem: &[u8]| String::from_utf8_lossy(pem).trim_end().to_owned();
    let threads = match generator.threads {
        Threads::AsMany => "as many as there are cores".to_owned(),
        Threads::Exactly(count) => count.to_string(),
    };
    let mut line = |key: &str, value: String| writeln!(out, "{key}: {value}").unwrap();
    line("load", format!("{:?}", pool.load));
    if let Some(users) = &pool.users {
        line("users", format!("{:?}", users.changes()));
    }
    line("stop", stop(&pool.stop));
    line("warmup", generator.warmup.to_string());
    line("version", format!("{:?}", http.version));
    line("compressed", format!("{:?}", http.compressed));
    line("redirects", format!("{:?}", http.redirects));
    line("verify", format!("{:?}", reach.tls.verify));
    if let Some(ca) = &reach.tls.ca_pem {
        line("ca", pem(&ca.text));
    }
    if let Some((cert, key)) = &reach.tls.identity_pem {
        line(
            "identity",
            format!("{}, {}", pem(&cert.text), pem(&key.text)),
        );
    }
    line("proxy", format!("{:?}", reach.proxy));
    line(
        "connections",
        format!(
            "{}, keep-alive {:?}, back-off {}, threads {}",
            connections.count, connections.keep_alive, connections.backoff_max, threads
        ),
    );
    line(
        "timeouts",
        format!(
            "total {} connect {} tls {} head {}",
            timeouts.total, timeouts.connect, timeouts.tls, timeouts.head
        ),
    );
    line("expect", pool.expect.to_string());
    if connections.spread != Spread::Turn {
        line("spread", format!("{:?}", connections.spread));
    }
    if connections.streams > 1 {
        line("streams", connections.streams.to_string());
    }
    if let Some(socket) = &reach.unix_socket {
        line("socket", socket.display().to_string());
    }
    if let Some(name) = &reach.tls.server_name {
        line("server name", name.clone());
    }
    out
}

/// The end of the run, and what happens to requests in flight unless the run waits for them.
fn stop(stop: &Stop) -> String {
    let Stop {
        duration,
        requests,
        iterations,
        drain,
    } = stop;
    let drain = match drain {
        Drain::Wait => String::new(),
        drain => format!(", drain: {drain:?}"),
    };
    format!(
        "Stop {{ duration: {duration:?}, requests: {requests:?}, iterations: {iterations:?}{drain} }}"
    )
}

fn push_request(out: &mut String, request: &HttpRequest) {
    let url = origin_and_target(&request.url);
    writeln!(out, "request: {} {url}", request.method.as_str()).unwrap();
    for header in &request.headers {
        let value = String::from_utf8_lossy(header.value());
        writeln!(out, "  {}: {value}", header.name()).unwrap();
    }
    if let Some(body) = &request.body.0 {
        writeln!(out, "  body: {:?}", String::from_utf8_lossy(body)).unwrap();
    }
    writeln!(out, "  step: {}", request.step).unwrap();
    if let Some(call) = &request.call {
        push_call(out, call);
    }
}

fn origin_and_target(url: &Url) -> String {
    let host = match &url.origin.host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    };
    format!(
        "{:?} {host} {} {}",
        url.origin.scheme, url.origin.port, url.target
    )
}

/// A call, and the messages of its first two instances.
fn push_call(out: &mut String, call: &Call) {
    writeln!(
        out,
        "  call: {}/{} {:?} {:?} deadline {:?} limits {} {}\n  streaming: {:?}",
        call.service,
        call.method,
        call.kind,
        call.compression,
        call.deadline.map(|span| span.to_string()),
        call.receive_limit,
        call.send_limit,
        call.streaming
    )
    .unwrap();
    for number in 0..2 {
        let context = RequestContext {
            number,
            arrival: number,
            parts: 1,
            user: 3,
            iteration: 0,
            connection: 0,
            now: 0,
            seed: 1,
            variables: None,
        };
        for n in 0..call.data.messages(&context) {
            let mut message = Vec::new();
            call.data.message(&context, n, &mut message).unwrap();
            let text = message.escape_ascii();
            writeln!(out, "  message {n} of call {number}: {text}").unwrap();
        }
        let mut metadata = RenderedFields::default();
        call.data.fields(&context, &mut metadata).unwrap();
        for (name, value) in metadata.iter() {
            writeln!(out, "  metadata of call {number}: {name}: {value}").unwrap();
        }
    }
}
