//! A plan as lines that a person can compare.

use drumfire_plan::{Host, HttpRequest, Plan, Url};
use std::fmt::Write as _;

/// Everything in the plan that a dialect decides.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let mut out = String::new();
    for request in &plan.requests {
        push_request(&mut out, request);
    }
    let (http, connections, timeouts) = (&plan.http, &plan.connections, &plan.timeouts);
    let pem = |pem: &[u8]| String::from_utf8_lossy(pem).trim_end().to_owned();
    let mut line = |key: &str, value: String| writeln!(out, "{key}: {value}").unwrap();
    line("load", format!("{:?}", plan.load));
    line("stop", format!("{:?}", plan.stop));
    line("warmup", plan.warmup.to_string());
    line("version", format!("{:?}", http.version));
    line("compressed", format!("{:?}", http.compressed));
    line("redirects", format!("{:?}", http.redirects));
    line("verify", format!("{:?}", http.tls.verify));
    if let Some(ca) = &http.tls.ca_pem {
        line("ca", pem(ca));
    }
    if let Some((cert, key)) = &http.tls.identity_pem {
        line("identity", format!("{}, {}", pem(cert), pem(key)));
    }
    line("proxy", format!("{:?}", http.proxy));
    line(
        "connections",
        format!(
            "{}, keep-alive {:?}, back-off {}, threads {}",
            connections.count, connections.keep_alive, connections.backoff_max, connections.threads
        ),
    );
    line(
        "timeouts",
        format!(
            "total {} connect {} tls {} head {}",
            timeouts.total, timeouts.connect, timeouts.tls, timeouts.head
        ),
    );
    line("expect", format!("{:?}", plan.expect));
    out
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
