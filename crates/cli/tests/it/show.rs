//! `--show`: one exchange, or one iteration, as a person reads it; and bodies of failures.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Run, Script, Serve, drumfire};

fn run(words: &[&str]) -> Run {
    Process::start(&mut drumfire(words)).finish(LIMIT)
}

/// The lines of a text that contain this.
fn lines<'a>(text: &'a str, wanted: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(wanted)).collect()
}

const PLAN: &str = r#"
drumfire: 1
defaults: { target: "{url}" }
pools:
  buy:
    rate: 500/s
    connections: 7
    scenario:
      - post: /shop/login
        name: log in
        headers: { Content-Type: application/json }
        body: '{"user": "ada", "password": "ada-pw"}'
        expect: { json: { $.user: equals ada } }
        take: { token: json $.token, kind: header Content-Type }
      - get: /shop/cart
        name: cart
        headers: { Authorization: "Bearer {{ token }}" }
        expect: { json: { $.total: ">=1", $.count: "=0" } }
        take: { missing: json $.nothing }
      - { post: /shop/pay, name: pay, headers: { Authorization: "Bearer {{ token }}" } }
stop: { after: 1h }
thresholds: [ 'failed<1%' ]
generator: { warmup: 10s, threads: 2 }
"#;

#[test]
fn an_iteration_is_shown_with_what_was_found_and_without_secrets() {
    let server = Serve::new("--shop");
    let folder = Folder::new();
    let url = server.url.trim_end_matches('/');
    let plan = folder.write("plan.yaml", PLAN.replace("{url}", url));
    let run = run(&["run", &plan, "--show"]);
    let text = &run.stdout;
    assert_eq!(run.code, Some(0), "{run:?}");
    // One iteration, whatever the load of the plan.
    assert_eq!(server.count("requests"), 3);
    for wanted in [
        "> POST /shop/login HTTP/1.1",
        "> Content-Type: application/json",
        "      \"user\": \"ada\",",
        "      \"password\": \"***\"",
        "< HTTP/1.1 200",
        "< Set-Cookie: shop_session=***; Path=/shop; HttpOnly; SameSite=Lax",
        "✓ json $.user equals ada  holds",
        "✓ token = ***  (json $.token)",
        "✓ kind = application/json  (header Content-Type)",
        "> Authorization: Bearer ***",
        "✗ json $.total is `0`, expected `>=1`",
        "✓ json $.count =0  holds",
        "✗ missing has no value: json $.nothing: ",
        "✗ assert:body: json $.total is `0`, expected `>=1`",
        "< HTTP/1.1 409",
        "      \"error\": \"empty_cart\",",
        "✗ http_status: ",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(
        !text.contains("ada-pw") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert_eq!(lines(text, "first byte ").len(), 3, "{text}");
    assert!(lines(text, "1 connection: TCP ").len() == 1, "{text}");
}

#[test]
fn a_request_is_shown_decoded_over_every_protocol() {
    let server = Serve::new("--grpc");
    let at = |path: &str| format!("{}{path}", server.url);
    let gzip = run(&["http", &at("gzip?size=120"), "--compressed", "--show"]);
    assert_eq!(
        lines(&gzip.stdout, "    This is filler").len(),
        2,
        "{gzip:?}"
    );
    let odd = "--color=always";
    let hop = run(&[
        "http",
        &at("redirect?n=1&to=/plaintext"),
        "-L",
        "3",
        "--show",
        odd,
    ]);
    assert_eq!(lines(&hop.stdout, "GET /").len(), 2, "{hop:?}");
    assert!(hop.stdout.contains("\u{1b}[1mHTTP/1.1 302") && hop.stdout.contains("Hello, World!"));
    let h2 = run(&["http", &at("plaintext"), "--http2", "--show"]);
    assert!(
        h2.stdout
            .contains("> GET /plaintext HTTP/2\n> host: 127.0.0.1"),
        "{h2:?}"
    );
    assert!(h2.stdout.contains("< HTTP/2 200\n") && h2.stdout.contains("    Hello, World!"));
    let address = server.address().to_string();
    let call = [
        "grpc",
        &address,
        "--plaintext",
        "--call",
        "helloworld.Greeter/SayHellos",
    ];
    let call = run(&[&call[..], &["-d", r#"{"name":"x{{ user }}"}"#, "--show"]].concat());
    assert!(call.stdout.contains("      \"name\": \"x0\""), "{call:?}");
    assert_eq!(lines(&call.stdout, ", from x0\"").len(), 4, "{call:?}");
    assert!(call.stdout.contains("< grpc-status: 0\n"), "{call:?}");
    let call = [
        "grpc",
        &address,
        "--plaintext",
        "--call",
        "drumfire.test.v1.TestService/ServerStream",
        "-d",
        r#"{"wish": {"count": 40}}"#,
        "--show",
    ];
    let call = run(&call);
    assert_eq!(lines(&call.stdout, "\"clockNs\"").len(), 16, "{call:?}");
    assert_eq!(
        lines(&call.stdout, "(24 more messages)").len(),
        1,
        "{call:?}"
    );
    let refused = run(&["http", "http://127.0.0.1:1/", "--show"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stdout.contains("✗ connect:refused: "),
        "{refused:?}"
    );
    assert_eq!(server.count("requests"), 6);
}

#[test]
fn checks_are_about_the_response_that_redirects_lead_to() {
    let server = Serve::new("");
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\npools:\n  p:\n    target: {}\n    redirects: 3\n    requests:\n      - get: \
             /redirect?n=2&to=/plaintext\n        expect: {{ body: [ contains Hello ] }}\n",
            server.url.trim_end_matches('/')
        ),
    );
    let shown = run(&["run", &plan, "--show"]);
    assert_eq!(lines(&shown.stdout, "< HTTP/1.1 302").len(), 2, "{shown:?}");
    assert_eq!(
        lines(&shown.stdout, "✓ body contains Hello").len(),
        1,
        "{shown:?}"
    );
    assert!(!shown.stdout.contains('✗'), "{shown:?}");
}

/// A redirect that is not followed ends its request; what could be done is said in keys of the plan.
#[test]
fn the_last_redirect_is_shown_once() {
    let server = Serve::new("");
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\npools:\n  p:\n    target: {}\n    redirects: 2\n    requests:\n      \
             - get: /redirect?n=4\n",
            server.url.trim_end_matches('/')
        ),
    );
    let shown = run(&["run", &plan, "--show"]);
    assert_eq!(lines(&shown.stdout, "< HTTP/1.1 302").len(), 3, "{shown:?}");
    assert_eq!(lines(&shown.stdout, "GET /redirect").len(), 3, "{shown:?}");
    assert_eq!(
        lines(&shown.stdout, "raise `redirects`").len(),
        1,
        "{shown:?}"
    );
    let flags = run(&[
        "http",
        &format!("{}redirect?n=4", server.url),
        "-L",
        "2",
        "--show",
    ]);
    assert_eq!(lines(&flags.stdout, "raise -L").len(), 1, "{flags:?}");
}

#[test]
fn what_a_server_sends_is_escaped_and_its_echo_of_a_secret_masked() {
    let server = Script::new(|peer| {
        while peer.whole_request().is_some() {
            let body = "\u{1b}[2J Bearer s3cret-value-1 \u{202e}";
            let head = format!(
                "HTTP/1.1 500 X\r\nX-Echo: s3cret-value-1\r\nContent-Length: {}",
                body.len()
            );
            if !peer.send(format!("{head}\r\n\r\n{body}")) {
                return;
            }
        }
    });
    let url = server.url();
    let header = "Authorization: Bearer s3cret-value-1";
    let folder = Folder::new();
    let json = folder.at("result.json");
    let shown = run(&["http", &url, "-H", header, "--show"]);
    let explained = run(&[
        "http",
        &url,
        "-H",
        header,
        "-n",
        "2",
        "--explain",
        "--json",
        &json,
    ]);
    assert!(shown.stdout.contains("< X-Echo: ***"), "{shown:?}");
    for run in [&shown, &explained] {
        let text = &run.stdout;
        let is_safe = !text.contains(['\u{1b}', '\u{202e}']) && !text.contains("s3cret");
        assert!(is_safe, "{text}");
    }
    assert!(shown.stdout.contains("< HTTP/1.1 500"), "{shown:?}");
    assert!(explained.stdout.contains("first 500 of "), "{explained:?}");
    let report = Report::read(&json);
    let bodies = report.at("failed_bodies").as_array().unwrap().clone();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(
        (&bodies[0]["kind"], &bodies[0]["status"]),
        (&"http_status".into(), &500.into())
    );
    assert!(!bodies[0].to_string().contains("s3cret"), "{bodies:?}");
}

#[test]
fn the_first_bodies_of_each_kind_of_failure_are_kept_and_bounded() {
    let server = Serve::new("--shop");
    let folder = Folder::new();
    let json = folder.at("result.json");
    let plan = format!(
        "drumfire: 1\ndefaults: {{ target: \"{}\" }}\npools:\n  p:\n    requests:\n\
         \x20     - {{ get: /shop/cart, name: cart }}\n\
         \x20     - {{ get: \"/a?status=502&size=3MB\", name: large }}\n\
         \x20     - {{ get: /shop/products/1, name: look, expect: {{ json: {{ $.id: \"=2\" }} }} }}\n\
         \x20     - {{ get: \"/b?status=503&drip=20B/1ms\", name: slow }}\n\
         stop: {{ requests: 40 }}\n",
        server.url.trim_end_matches('/')
    );
    let plan = folder.write("plan.yaml", plan);
    let run = run(&["run", &plan, "--json", &json]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = Report::read(&json);
    let bodies = report.at("failed_bodies").as_array().unwrap().clone();
    let row = |step: &str| bodies.iter().find(|body| body["step"] == step).unwrap();
    assert_eq!(bodies.len(), 4, "{bodies:?}");
    assert!(row("cart")["body"].as_str().unwrap().contains("no_login"));
    assert_eq!(row("large")["bytes"], 3_000_000);
    assert!(row("large")["body"].as_str().unwrap().len() < 1_200);
    assert_eq!(row("look")["kind"], "assert:body");
    assert_eq!(
        (&row("slow")["bytes"], &row("slow")["status"]),
        (&100.into(), &503.into())
    );
    assert!(
        !run.stdout.contains("no_login"),
        "only with --explain: {}",
        run.stdout
    );
}

#[test]
fn the_status_of_a_call_is_shown_as_it_is_taken() {
    let server = Serve::new("--grpc");
    let folder = Folder::new();
    let plan = format!(
        "drumfire: 1\npools:\n  g:\n    target: {}\n    plaintext: true\n    users: 1\n    scenario:\n    - call: \
         helloworld.Greeter/SayHello\n      data: {{ name: x }}\n      take: {{ st: status }}\n\
         stop: {{ iterations: 1 }}\n",
        server.address()
    );
    let run = run(&["run", &folder.write("plan.yaml", plan), "--show"]);
    assert!(run.stdout.contains("✓ st = 0  (status)"), "{run:?}");
}

/// Exchanges that are written down in full are bounded in bytes, and a note counts the others.
#[test]
fn exchanges_in_full_are_bounded() {
    let (server, folder) = (Serve::new("--size 64KiB"), Folder::new());
    folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\ngenerator: {{ threads: 1, interval: 1m }}\npools:\n  p:\n    \
             target: {}\n    users: 2\n    keep_transcripts: all\n    \
             requests: [ {{ get: / }} ]\nstop: {{ requests: 1500 }}\n",
            server.url
        ),
    );
    let mut command = drumfire(["run", "plan.yaml", "--no-store"]);
    command.current_dir(folder.at("."));
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("1,500 ok"), "{}", run.stdout);
    let note = "exchanges were not recorded in full";
    assert!(run.stdout.contains(note), "{}", run.stdout);
}
