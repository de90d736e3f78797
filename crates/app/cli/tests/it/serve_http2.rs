//! `drumfire serve` over HTTP/2, as other programs' clients see it.

use crate::support::program::{neutral, words};
use crate::support::{Folder, Serve, Signal, lab, load};

/// The output of a program with these arguments.
fn printed(name: &str, line: &str) -> String {
    let mut command = neutral(lab::program(name));
    let output = command.args(words(line)).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn curl_speaks_both_protocols_on_one_port() {
    if !lab::has("curl") {
        return;
    }
    let serve = Serve::new("--arrival-log --delay 5ms");
    let format = "-s -w %{http_version}:%{response_code}:%{size_download} -o /dev/null";
    for (flag, version) in [("--http2-prior-knowledge", "2"), ("--http1.1", "1.1")] {
        let line = format!("{flag} {format} {}?size=30000&status=503", serve.url);
        assert_eq!(printed("curl", &line), format!("{version}:503:30000"));
    }
    assert_eq!(serve.arrivals().len(), 2);
    assert_eq!(serve.count("responses"), 2);
}

#[test]
fn curl_gets_http2_over_tls_by_alpn() {
    if !lab::has("curl") {
        return;
    }
    let folder = Folder::new();
    let authority = folder.at("ca.pem");
    let client = folder.at("client");
    let serve = Serve::new(&format!(
        "--tls --tls-ca {authority} --tls-client {client} --require-client-cert"
    ));
    let line = format!(
        "-s --http2 --cacert {authority} --cert {client}.crt --key {client}.key \
         -w %{{http_version}}:%{{size_download}} -o /dev/null"
    );
    let large = format!("{line} {}?size=3MB", serve.url);
    assert_eq!(printed("curl", &large), "2:3000000");
    let old = format!("{line} --http1.1 {}", serve.url);
    assert_eq!(printed("curl", &old), "1.1:100");
}

#[test]
fn h2load_counts_what_the_server_counts() {
    if !lab::has("h2load") {
        return;
    }
    let serve = Serve::new("--max-streams 20");
    // More than 20 streams would be refused before the client has read the settings.
    let text = printed("h2load", &format!("-n 5000 -c 5 -m 20 {}", serve.url));
    assert!(text.contains("5000 succeeded, 0 failed"), "{text}");
    assert_eq!(serve.count("requests"), 5_000);
    assert_eq!(serve.count("responses"), 5_000);
    let serve = Serve::new("--grpc --delay exp:1ms");
    let folder = Folder::new();
    let body = folder.write("hello", b"\0\0\0\0\x05\x0a\x03bob");
    let line = format!(
        "-n 2000 -c 5 -m 10 -d {body} -H content-type:application/grpc \
         {}helloworld.Greeter/SayHello",
        serve.url
    );
    let text = printed("h2load", &line);
    assert!(text.contains("2000 succeeded, 0 failed"), "{text}");
    assert_eq!(serve.count("responses"), 2_000);
}

#[test]
fn nghttp_sees_the_status_of_a_call_in_its_trailers() {
    if !lab::has("nghttp") {
        return;
    }
    let serve = Serve::new("--grpc --grpc-status UNAVAILABLE:0");
    let folder = Folder::new();
    let body = folder.write("hello", b"\0\0\0\0\x05\x0a\x03bob");
    let call = |method: &str| {
        let url = format!("{}{method}", serve.url);
        printed(
            "nghttp",
            &format!("-nv -d {body} -H content-type:application/grpc {url}"),
        )
    };
    let ok = call("helloworld.Greeter/SayHello");
    assert!(ok.contains("grpc-status: 0"), "{ok}");
    let unknown = call("helloworld.Greeter/SayGoodbye");
    assert!(unknown.contains("grpc-status: 12"), "{unknown}");
}

/// The server prints its counts at the end, for any signal.
#[test]
fn a_server_ends_with_its_counts() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let serve = Serve::new("");
        let report = load(&format!("-c 1 -n 3 {}", serve.url));
        assert_eq!(report.n("requests.ok"), 3);
        let run = serve.stop_by(signal);
        assert_eq!((run.code, run.signal), (Some(0), None), "{signal:?}");
        assert_eq!(run.stderr, "3 requests on 1 connections\n", "{signal:?}");
    }
}
