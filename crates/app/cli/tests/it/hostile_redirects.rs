//! Servers that redirect: to new origins without end, and to an origin that requests credentials of
//! another one.

use crate::support::program::load;
use crate::support::{Folder, Script, Serve};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server that redirects the n-th request to `to(n)`.
fn redirecting(to: impl Fn(usize) -> String + Send + Sync + 'static) -> Script {
    let count = AtomicUsize::new(0);
    Script::new(move |peer| {
        while peer.request().is_some() {
            let location = to(count.fetch_add(1, Ordering::Relaxed));
            peer.send(format!(
                "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    })
}

/// Each origin needs an entry, and each https origin a TLS configuration with all roots.
#[test]
fn origins_that_redirects_lead_to_are_bounded() {
    for scheme in ["http", "https"] {
        // The lowest ports of such an address have no listener.
        let script = redirecting(move |n| format!("{scheme}://127.{}.0.1:1/", n % 200 + 1));
        let url = script.url();
        let report = load(&format!("-L 1 -c 1 -n 200 --connect-timeout 1m {url}"));
        let blocked = report.kind("redirect_blocked");
        assert_eq!(blocked, 200 - 64, "{:#}", report.short());
        assert_eq!(report.kind("connect:refused"), 64, "{:#}", report.short());
    }
}

/// A client certificate identifies the user, as a cookie does.
#[test]
fn a_clients_certificate_is_not_shown_to_another_origin() {
    let folder = Folder::new();
    let (ca, client) = (folder.at("ca.pem"), folder.at("client"));
    let serve = Serve::new(&format!(
        "--tls --tls-ca {ca} --tls-client {client} --require-client-cert"
    ));
    let identity = format!("--cacert {ca} --cert {client}.crt --key {client}.key");
    let url = serve.url.clone();
    let direct = load(&format!("-L 1 -c 1 -n 5 {identity} {url}"));
    assert_eq!(direct.n("requests.ok"), 5, "{:#}", direct.short());
    let script = redirecting(move |_| url.clone());
    let led = load(&format!("-L 1 -c 1 -n 5 {identity} {}", script.url()));
    assert_eq!(led.kind("tls:alert"), 5, "{:#}", led.short());
    // An origin in the plan receives the certificate, even after a redirect.
    let line = format!("-L 1 -c 1 -n 6 {identity} {} {}", script.url(), serve.url);
    let planned = load(&line);
    assert_eq!(planned.n("requests.ok"), 6, "{:#}", planned.short());
}
