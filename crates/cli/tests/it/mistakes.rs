//! Mistakes of a new user, and the program's answer: the place, the reason, the remedy, an exit
//! code, and nothing sent.

use crate::support::certificates::{EXPIRED, VALID};
use crate::support::peers::Nginx;
use crate::support::program::{LIMIT, words};
use crate::support::{Authority, Folder, Process, Serve, drumfire, http, load};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// A command line after `drumfire http`, and what stderr must have. `{url}` stands for the
/// built-in server, `{host}` for its address, `{dir}` for a folder with some files.
const MISTAKES: [(&str, &[&str]); 106] = [
    ("", &["<URL>"]),
    (
        "hostname",
        &["does not begin with a scheme", "http://hostname"],
    ),
    ("{dir}/bad", &["{dir}/bad` is a file", "@{dir}/bad"]),
    ("POST {url}", &["-X POST"]),
    (
        "/no/path",
        &["has no host", "write http://127.0.0.1:8080/no/path"],
    ),
    (
        "{url} @{dir}/body.json",
        &["contains JSON", "-d @{dir}/body.json"],
    ),
    // What is right on the command lines of hey, oha, wrk, curl, vegeta and k6.
    ("-q 100 {url}", &["-q is --quiet", "-r 100"]),
    ("-c 2 -d 10s {url}", &["POST", "-z 10s", "-X"]),
    ("-c 2 -d 10 {url}", &["-z 10s"]),
    ("-m POST {url}", &["`-m`", "-X POST"]),
    ("-t5s {url}", &["`-t`", "--timeout"]),
    ("--vus 5 {url}", &["`--vus`", "-u 5"]),
    ("-rate=50 {url}", &["--rate=50"]),
    ("-d a=1 -d b=2 {url}", &["multiple times", "a=1&b=2"]),
    ("{url} -n 5m", &["5M"]),
    (
        "{url} --json '{\"a\":1}'",
        &["--json takes a file name", "-d"],
    ),
    ("-H @{dir}/bad {url}", &["would read a file", "Name: value"]),
    (
        "@{dir}/targets",
        &["{dir}/targets:1: ", "one URL per line", "-X"],
    ),
    (
        "@{dir}/bodies",
        &["{dir}/bodies:2: ", "no bodies", "-d @FILE"],
    ),
    ("ftp://127.0.0.1/", &["ftp"]),
    ("http://", &["http://"]),
    ("http://127.0.0.1:65536/", &["65536"]),
    ("http://127.0.0.1:0/", &["port"]),
    ("'http://127.0.0.1/a b'", &["space"]),
    ("{url} -r abc", &["-r: ", "500/s", "\n  abc\n  ^\n"]),
    (
        "{url} -r 'line(5,,60s)'",
        &["an argument is missing", "\n  line(5,,60s)\n         ^\n"],
    ),
    (
        "{url} -r 'const(5,10s) lin(1,2,3s)'",
        &["line", "\n               ^\n"],
    ),
    (
        "{url} --source-ip 192.0.2.1",
        &["--source-ip: 192.0.2.1 is not an address of this machine"],
    ),
    (
        "{url} --unix-socket {dir}/none --source-ip 127.0.0.2",
        &["--source-ip: it has no effect: --unix-socket"],
    ),
    (
        "{url} --no-keepalive --retry-reused",
        &["--retry-reused: it has no effect: --no-keepalive"],
    ),
    (
        "{url} --no-keepalive --connection-idle 5s",
        &["--connection-idle: it has no effect: --no-keepalive"],
    ),
    (
        "{url} --http2 --retry-reused",
        &["--retry-reused: it has no effect: over HTTP/2"],
    ),
    (
        "{url} --expect-continue",
        &["--expect-continue: it has no effect: no request has a body"],
    ),
    (
        "{url} --head-timeout 60s",
        &["--head-timeout: it has no effect", "--timeout (30s)"],
    ),
    ("{url} --feed-order random", &["--feed <NAME=FILE>"]),
    ("{url} -r 0", &["-r: a rate of 0", "500/s"]),
    ("{url} -r 1e400", &["-r"]),
    ("{url} -r NaN", &["-r"]),
    ("{url} -z 1week", &["-z: ", "10s"]),
    ("{url} --duration 1week", &["--duration: ", "10s"]),
    ("{url} --rate=abc", &["--rate: ", "\n  abc\n  ^\n"]),
    ("{url} -z 0s", &["-z: a duration can't be 0"]),
    ("{url} -n 0", &["-n", "0"]),
    ("{url} -n 99999999999999999999", &["99999999999999999999"]),
    ("{url} -c 0", &["-c: 0 users", "at least 1"]),
    ("{url} -r 5 -c 0", &["-c: "]),
    ("{url} --interval 0s", &["--interval: "]),
    ("{url} --threads 0", &["--threads: "]),
    ("{url} -c many", &["many"]),
    ("{url} -u 0", &["at least one"]),
    ("{url} --late never", &["--late", "queue"]),
    (
        "{url} -c 2 --arrivals poisson --late skip",
        &[
            "--arrivals: in the closed model, users send again",
            "--late: in the closed model",
            "set -r",
        ],
    ),
    ("{url} --arrivals uniform", &["--arrivals", "poisson"]),
    ("{url} --timeout soon", &["--timeout", "soon"]),
    ("{url} --warmup 20s -z 10s", &["warm-up"]),
    ("{url} -X 'GE(T'", &["-X", "GE(T"]),
    ("{url} -H nocolon", &["-H", "nocolon"]),
    ("{url} -H 'a b: c'", &["-H"]),
    (
        "{url} -d @{dir}/none",
        &["-d: can't read {dir}/none", "No such file"],
    ),
    ("{url} -d @{dir}", &["-d: can't read {dir}", "directory"]),
    (
        "{url} --cacert {dir}/none",
        &["--cacert: can't read {dir}/none"],
    ),
    (
        "https://{host}/ --cacert {dir}/garbage",
        &["--cacert: can't use {dir}/garbage", "PEM"],
    ),
    (
        "--source-ip 127.0.0.1 http://[::1]:9/",
        &[
            "--source-ip: the source address 127.0.0.1",
            "::1",
            "IPv4",
            "IPv6",
        ],
    ),
    // A file that is of no use here is wrong all the same.
    (
        "{url} --cacert {dir}/garbage",
        &["--cacert: can't use {dir}/garbage", "PEM"],
    ),
    (
        "{url} -k --cacert {dir}/garbage",
        &["--cacert: can't use {dir}/garbage", "PEM"],
    ),
    (
        "{url} --cert {dir}/garbage --key {dir}/garbage",
        &["--cert: can't use {dir}/garbage", "PEM"],
    ),
    ("{url} --cert {dir}/garbage", &["--key"]),
    (
        "https://{host}/ --cert {dir}/garbage --key {dir}/garbage",
        &["--cert: can't use {dir}/garbage", "PEM"],
    ),
    (
        "{url} --resolve nonsense",
        &["--resolve", "HOST:PORT:ADDRESS"],
    ),
    ("{url} --source-ip nonsense", &["--source-ip", "nonsense"]),
    ("{url} -x ftp://127.0.0.1/", &["-x", "http:// or https://"]),
    (
        "{url} --threshold 'p99<50'",
        &["--threshold", "50ms", "\n  p99<50\n      ^\n"],
    ),
    (
        "{url} --threshold 'http_req_duration<5ms'",
        &["p95<500ms", "^"],
    ),
    ("{url} --threshold 'errors<1%'", &["failed<1%", "^"]),
    ("{url} --threshold 'p99!50ms'", &["--threshold", "^"]),
    (
        "{url} --json {dir}",
        &["--json: can't write {dir}", "directory"],
    ),
    (
        "{url} --json {dir}/no/such",
        &["--json: can't write {dir}/no/such"],
    ),
    (
        "@{dir}/bad",
        &["{dir}/bad:3: ", "no-scheme", "does not begin with a scheme"],
    ),
    ("@{dir}/empty", &["empty", "one URL per line"]),
    ("@{dir}/none", &["can't read {dir}/none"]),
    ("{url} --frobnicate", &["--frobnicate"]),
    (
        "{url} -r '10 every 2 seconds'",
        &["-r: `10 every 2 seconds` is not a rate; write 10/2s"],
    ),
    (
        "{url} -r 2s",
        &["-r: `2s` is a time, not a rate; for one request every 2s, write 1/2s"],
    ),
    (
        "{url} -r '100 times'",
        &["-r: `times` is neither a rate nor a law"],
    ),
    (
        "{url} --threshold 'rate>=5 per minute'",
        &["invalid bound `5 per minute`; write 5/m"],
    ),
    (
        "{url} {url}/b --threshold 'step(nope).p95<1s'",
        &["no step is named `nope`; the steps are {url}, {url}/b"],
    ),
    // A number below 0 is none of a flag's.
    ("{url} -z -1s", &["-z: `-1s` is below 0"]),
    ("{url} --seed -1", &["--seed: `-1` is below 0"]),
    ("{url} --max-errors 5%", &["use --abort-on 'failed>5%'"]),
    (
        "{url} --seed 99999999999999999999",
        &["at most 18446744073709551615"],
    ),
    (
        "{url} -z '10 seconds'",
        &["`10 seconds` is not a duration; write 10s"],
    ),
    (
        "{url} --set pools.main.rate=5",
        &["`--set`", "`drumfire run` runs it"],
    ),
    ("{url} --note x", &["drumfire runs note last x"]),
    // Slashes and hosts that are missing.
    ("http:/{host}/", &["write `http://{host}/`"]),
    ("http//{host}/", &["write `http://{host}/`"]),
    ("https:{host}", &["write `https://{host}`"]),
    ("8080", &["write `http://localhost:8080`"]),
    (
        "{url} -H @fields.txt",
        &["-H: `@fields.txt` would read a file"],
    ),
    (
        "{url} --feed =people.csv",
        &["`=people.csv` is not of the form NAME=FILE"],
    ),
    (
        "'{url}?n={{ p.name }}' --feed p={dir}/semicolons.csv",
        &["it has name;city; if `;` separates the values", "delimiter"],
    ),
    // Other tools' names of forms.
    ("{url} -o csv", &["`csv` is an output format"]),
    ("{url} -O json", &["`--json FILE`"]),
    // A result without its file, and with the URL in its place.
    (
        "{url} --csv",
        &["'--csv <FILE>'", "tip: --csv - writes to standard output"],
    ),
    (
        "--json {url}",
        &["got the URL; to write to standard output, use --json - {url}"],
    ),
    (
        "-n 1 --html {host}",
        &["to write to standard output, use --html - {host}"],
    ),
    ("{url} --format=json", &["`--json FILE`"]),
];

/// Command lines of other commands, and what stderr must have.
const OF_COMMANDS: [(&str, &[&str]); 9] = [
    ("runs --limit -1", &["--limit: `-1` is below 0"]),
    (
        "compare last last --least -5%",
        &["--least: `-5%` is below 0"],
    ),
    ("compare '' ''", &["the name of the run is empty"]),
    ("report ''", &["the name of the run is empty"]),
    (
        "report {dir}/plan.json",
        &["is a file, but a stored run is a directory"],
    ),
    ("runs tag last ''", &["the tag is empty"]),
    ("ui :7071", &["--listen :7071"]),
    ("ui 7071", &["--listen :7071"]),
    (
        "check {dir}/plan.json",
        &[
            "drumfire: {dir}/plan.json:1:1: a plan must be a mapping, not a list\n   1 │ []\n     │ ^\n",
        ],
    ),
];

/// Bytes that must not reach a terminal that did not ask for them.
fn is_clean(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !c.is_control())
}

#[test]
fn every_mistake_is_named_before_anything_is_sent() {
    let serve = Serve::new("");
    let folder = Folder::new();
    folder.write("bad", format!("{}\n# remark\nno-scheme/\n", serve.url));
    folder.write("bodies", format!("{}\n@body.json\n", serve.url));
    folder.write("empty", "\n# nothing\n\n");
    folder.write("body.json", "{\"a\": 1}\n");
    folder.write("semicolons.csv", "name;city\nAda;London\n");
    folder.write("targets", format!("GET {}\n", serve.url));
    folder.write("garbage", "no certificate at all\n");
    let folder_path = folder.path().to_str().unwrap();
    let fill = |text: &str| {
        text.replace("{url}", &serve.url)
            .replace("{dir}", folder_path)
            .replace("{host}", &serve.address().to_string())
    };
    let mut wrong = Vec::new();
    for (line, expected) in MISTAKES {
        let run = http(&fill(line));
        let says = |part: &&str| run.stderr.contains(&fill(part));
        let quiet = run.stdout.is_empty() && is_clean(&run.stderr);
        if run.code != Some(2) || !quiet || !expected.iter().all(says) {
            wrong.push(format!(
                "{line} → {:?}, wanted {expected:?}:\n{}",
                run.code, run.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(serve.count("requests"), 0, "nothing is sent");
    assert_eq!(
        folder.names(),
        [
            "bad",
            "bodies",
            "body.json",
            "empty",
            "garbage",
            "semicolons.csv",
            "targets"
        ],
        "no file is left behind"
    );
}

#[test]
fn mistakes_of_other_commands_are_named() {
    let folder = Folder::new();
    folder.write("plan.json", "[]\n");
    let fill = |text: &str| text.replace("{dir}", folder.path().to_str().unwrap());
    for (line, expected) in OF_COMMANDS {
        let mut command = drumfire(words(&fill(line)));
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        for part in expected {
            assert!(run.stderr.contains(&fill(part)), "{line}: {}", run.stderr);
        }
        assert_eq!(
            run.stderr.matches("drumfire: ").count(),
            1,
            "{line}: {}",
            run.stderr
        );
    }
}

/// Editors of Windows begin a text with a mark.
#[test]
fn a_byte_order_mark_is_no_part_of_a_list() {
    let serve = Serve::new("");
    let folder = Folder::new();
    folder.write(
        "urls",
        format!("\u{feff}{}\r\n{}b\r\n", serve.url, serve.url),
    );
    folder.write("bare", format!("\u{feff}{}/\r\n", serve.address()));
    for list in ["urls", "bare"] {
        let run = http(&format!("-q -n 4 @{}", folder.at(list)));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    assert_eq!(serve.count("requests"), 8);
}

#[test]
fn arguments_need_not_be_unicode_to_be_refused_well() {
    let bad = OsStr::from_bytes(b"http://127.0.0.1/\xff");
    for (args, reason) in [
        ([OsStr::new("http"), bad], "utf-8"),
        ([OsStr::new("go-wrk"), bad], "utf-8"),
        ([OsStr::new("serve"), bad], "unexpected argument"),
        ([bad, bad], "utf-8"),
        ([OsStr::new("htp"), bad], "unrecognized subcommand"),
    ] {
        let run = Process::start(&mut drumfire(args)).finish(LIMIT);
        assert_eq!(
            (run.code, run.signal),
            (Some(2), None),
            "{args:?}: {}",
            run.stderr
        );
        assert!(
            run.stderr.to_lowercase().contains(reason),
            "{args:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn flags_may_stand_on_either_side_of_the_url() {
    let serve = Serve::new("");
    let url = &serve.url;
    for line in [
        format!("{url} -c 2 -n 4"),
        format!("-c 2 -n 4 {url}"),
        format!("-c 2 {url} -n 4"),
        format!("-c2 -n4 {url}"),
        format!("--connections=2 --requests=4 -- {url}"),
    ] {
        let report = load(&line);
        assert_eq!(report.n("requests.ok"), 4, "{line}: {:#}", report.short());
    }
}

/// Failures on the way, their outcomes, and the words of the report.
#[test]
fn failures_on_the_way_have_a_class_and_a_hint() {
    let plain = Serve::new("");
    let folder = Folder::new();
    let tls = Serve::new(&format!("--tls --tls-ca {}", folder.at("ca.pem")));
    let rows = [
        (
            "http://127.0.0.1:9/".to_owned(),
            "connect:refused",
            "check that the server is running",
        ),
        (
            plain.url.replace("http:", "https:"),
            "tls:protocol",
            "http://",
        ),
        (
            tls.url.replace("https:", "http:"),
            "proto:not_http",
            "https://",
        ),
        (tls.url.clone(), "tls:untrusted", "--cacert"),
    ];
    for (url, kind, hint) in rows {
        let report = load(&format!("-c 1 -n 3 {url}"));
        assert_eq!(report.kind(kind), 3, "{url}: {:#}", report.short());
        assert_eq!(report.code, Some(1), "every request failed: {url}");
        let run = http(&format!("-c 1 -n 3 {url}"));
        assert_eq!(run.code, Some(1));
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(kind) && text.contains(hint),
            "{url}: {}",
            run.stdout
        );
    }
    // The first lines name the status, or the proxy that is not there.
    for (line, words) in [
        (
            format!("-n 3 {}?status=404", plain.url),
            "failed: http_status 404",
        ),
        (
            format!("-n 3 -x http://127.0.0.1:9 {}", plain.url),
            "failed on the way to the proxy: connect:refused; check that the proxy is running",
        ),
    ] {
        let run = http(&line);
        assert_eq!(run.code, Some(1));
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{line}: {}", run.stdout);
    }
    for (line, flag) in [("-n 0", "-n:"), ("-c 0", "-c:"), ("-z 0s", "-z:")] {
        let refused = http(&format!("{line} {}", plain.url));
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
        assert!(refused.stderr.contains(flag), "{}", refused.stderr);
    }
    let run = http("-c 1 -n 3 http://no-such-name.invalid/");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("no-such-name.invalid"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("--resolve"), "{}", run.stderr);
}

/// TLS against plain text and the other way round, over HTTP/2 and with calls.
#[test]
fn two_sides_that_disagree_on_tls_have_a_hint_over_http2() {
    let (plain, tls) = (Serve::new(""), Serve::new("--tls"));
    let folder = Folder::new();
    let proto = "syntax = \"proto3\"; message A {} service S { rpc M(A) returns (A); }";
    let proto = folder.write("a.proto", proto);
    let call = format!("--proto {proto} --call S/M -c 1 -n 3");
    let (plain_at, tls_at) = (plain.address(), tls.address());
    for (line, kind, hint) in [
        (
            format!("http --http2 -c 1 -n 3 https://{plain_at}/"),
            "tls:protocol",
            "http://",
        ),
        (
            format!("http --http2 -c 1 -n 3 http://{tls_at}/"),
            "proto:not_h2",
            "https://",
        ),
        (
            format!("grpc {plain_at} {call}"),
            "tls:protocol",
            "--plaintext",
        ),
        (
            format!("grpc {tls_at} --plaintext {call}"),
            "proto:not_h2",
            "no --plaintext",
        ),
    ] {
        let run = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
        assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = text.contains(kind) && text.contains(hint);
        assert!(says, "{line}: {}", run.stdout);
    }
}

#[test]
fn bad_certificates_are_named_and_k_says_so() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let good = "DNS:localhost";
    let other = "DNS:other.test";
    for (identity, kind) in [
        (
            authority.sign("expired", good, EXPIRED),
            Some("tls:cert_expired"),
        ),
        (authority.sign("other", other, VALID), Some("tls:name")),
        (authority.self_signed("own", good), Some("tls:untrusted")),
        (authority.sign("good", good, VALID), None),
    ] {
        let nginx = Nginx {
            identity: Some(&identity),
            ..Nginx::default()
        };
        let Some(nginx) = nginx.start() else { return };
        let line = format!(
            "-c 1 -n 4 --cacert {} {}",
            authority.certificate,
            nginx.tls_url("fast")
        );
        let report = load(&line);
        assert_eq!(
            report.kind(kind.unwrap_or("none")),
            kind.map_or(0, |_| 4),
            "{:#}",
            report.short()
        );
        assert_eq!(report.code, Some(i32::from(kind.is_some())), "{kind:?}");
        let anyway = load(&format!("-k {line}"));
        assert_eq!(anyway.n("requests.ok"), 4, "{:#}", anyway.short());
        assert_eq!(anyway.at("generator.tls_verified"), false);
        assert!(anyway.notes().contains("-k"), "{}", anyway.notes());
        let text = http(&format!("-k {line}")).stdout;
        assert!(text.contains("not verified"), "{text}");
    }
}

#[test]
fn thresholds_and_strictness_have_exit_codes() {
    let serve = Serve::new("--delay const:20ms");
    let half = Serve::new("--status 500:0.5");
    for (line, code) in [
        (
            format!("-r 100 -n 20 --threshold 'p50<10s' {}", serve.url),
            0,
        ),
        (
            format!("-r 100 -n 20 --threshold 'p50<1ms' {}", serve.url),
            99,
        ),
        (
            format!(
                "-r 100 -n 20 --threshold 'p50<10s' --threshold 'max<1ms' {}",
                serve.url
            ),
            99,
        ),
        (
            format!("-r 100 -n 20 --threshold 'p99.9<10s' {}", serve.url),
            0,
        ),
        (
            format!("-r 100 -n 20 --threshold 'p99.9>0ms' {}", serve.url),
            99,
        ),
        (
            format!("-r 100 -n 40 --threshold 'failed<90%' {}", half.url),
            0,
        ),
        (
            format!("-r 100 -n 40 --threshold 'status(500)==0' {}", half.url),
            99,
        ),
        (format!("-c 1 -n 3 {}?status=500", half.url), 1),
        (
            format!(
                "-c 1 -n 3 --threshold 'failed<=100%' {}?status=500",
                half.url
            ),
            1,
        ),
    ] {
        let report = load(&line);
        assert_eq!(report.code, Some(code), "{line}: {:#}", report.short());
        let thresholds = report.at("verdict.thresholds").as_array().unwrap();
        let failed = thresholds
            .iter()
            .any(|threshold| threshold["passed"] == false);
        assert_eq!(failed, code == 99, "{line}: {thresholds:?}");
    }
}

/// A canary in every place where a secret may stand appears in nothing that is written.
#[test]
fn secrets_are_in_no_output() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let (json, csv) = (folder.at("run.json"), folder.at("run.csv"));
    let address = serve.address();
    let secret =
        |path: &str| format!("http://user:CANARY@{address}/{path}?access_token=CANARY&a=b");
    let headers = "-H 'Authorization: Bearer CANARY' -H 'Cookie: s=CANARY' -H 'X-Api-Key: CANARY' \
                   -H 'Proxy-Authorization: Basic CANARY' -d CANARY";
    for line in [
        format!(
            "-c 1 -n 3 {headers} --json {json} --csv {csv} --explain {}",
            secret("")
        ),
        format!("-c 1 -n 3 {} {}", secret("a"), secret("b")),
        format!("-c 1 -n 3 -r x {}", secret("")),
        format!("-c 1 -n 3 -x http://user:CANARY@127.0.0.1:9 {}", secret("")),
        format!("-c 1 -n 3 --cacert {json}.none {}", secret("")),
        "http://user:CANARY@no-such-name.invalid/".to_owned(),
        "-c 1 -n 1 http://user:CANARY@127.0.0.1:9/".to_owned(),
    ] {
        let run = http(&line);
        assert!(!run.stdout.contains("CANARY"), "{line}: {}", run.stdout);
        assert!(!run.stderr.contains("CANARY"), "{line}: {}", run.stderr);
    }
    for path in [json, csv] {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("CANARY"), "{path}: {text}");
        assert!(!text.contains("Q0FOQVJZ"), "{path}: base64");
    }
    let words = words(&format!("go-wrk -c 1 -d 1 http://user:CANARY@{address}/"));
    let run = Process::start(&mut drumfire(words)).finish(LIMIT);
    assert!(run.code == Some(0) && !(run.stdout + &run.stderr).contains("CANARY"));
}
