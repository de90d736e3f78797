//! Requests that reach the server, by its own count and its own clock; and their way.

use crate::support::certificates::VALID;
use crate::support::peers::Nginx;
use crate::support::program::LIMIT;
use crate::support::script::{Peer, field};
use crate::support::{Authority, Folder, Process, Report, Script, Serve, drumfire, load, load_of};
use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex};

const REFUSED: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers every request with 200.
fn obliging(peer: &mut Peer) {
    while peer.request().is_some() && peer.send(OK) {}
}

/// A load, and exactly how many requests it has.
const EXACT: [(&str, u64); 12] = [
    ("-r 'const(1000/s,1500ms)'", 1_500),
    ("-r 'const(90/m,2s)'", 3),
    ("-r 'line(0,400,2s)' -c 8", 400),
    ("-r 'const(200,500ms) const(400,500ms)'", 300),
    ("-r 'once(100)' -c 4", 100),
    ("-r 5000/s -n 777 --threads 2", 777),
    (
        "-r 2000/s -n 1001 -c 7 --threads 2 --arrivals poisson",
        1_001,
    ),
    ("-c 1 -n 1", 1),
    ("-c 7 -n 1001 --threads 2", 1_001),
    ("-c 64 -n 10 --threads 2", 10),
    ("-u 5 -c 2 -n 333", 333),
    ("-c 4 -n 200 --requests-per-connection 3 --threads 2", 200),
];

#[test]
fn counts_are_exact_and_the_server_agrees() {
    let serve = Serve::new("");
    let mut expected = 0;
    for (line, count) in EXACT {
        let report = load(&format!("{line} {}", serve.url));
        assert_eq!(
            report.n("requests.ok"),
            count,
            "{line}: {:#}",
            report.short()
        );
        assert_eq!(
            report.n("requests.intended"),
            count,
            "{line}: {:#}",
            report.short()
        );
        expected += count;
        assert_eq!(serve.count("requests"), expected, "{line}");
        assert_eq!(serve.count("responses"), expected, "{line}");
    }
}

/// The arrivals of a schedule, on the server's clock: none before it was due, and none later than
/// the report's longest time. Nanoseconds; the run's start is known within that.
fn check_arrivals(report: &Report, arrivals: &[u64], due: impl Fn(usize) -> f64) {
    let offsets = || (0..).zip(arrivals).map(|(n, at)| *at as f64 - due(n));
    let start = offsets().fold(f64::INFINITY, f64::min);
    let last = offsets().fold(f64::NEG_INFINITY, f64::max);
    // The histogram's buckets round by up to two in a thousand.
    let longest = report.number("latency.response_time.max") * 1.002;
    assert!(
        last - start <= longest,
        "an arrival is {} ns beside its time, the longest response took {longest} ns",
        last - start
    );
}

#[test]
fn ten_thousand_a_second_arrive_to_the_last() {
    let serve = Serve::new("--arrival-log");
    let report = load(&format!("-r 10000/s -n 20000 -c 64 {}", serve.url));
    assert_eq!(report.n("requests.ok"), 20_000, "{:#}", report.short());
    assert_eq!(report.number("rate.intended_per_s"), 10_000.0);
    let arrivals = serve.arrivals();
    assert_eq!(arrivals.len(), 20_000);
    check_arrivals(&report, &arrivals, |n| n as f64 * 1e5);
}

/// The n-th of constant arrivals comes at its time by the schedule, however late the one before
/// was.
#[test]
fn constant_arrivals_keep_their_beat() {
    let serve = Serve::new("--arrival-log");
    let report = load(&format!("-r 250/s -n 500 -c 8 {}", serve.url));
    let arrivals = serve.arrivals();
    assert_eq!(arrivals.len(), 500);
    check_arrivals(&report, &arrivals, |n| n as f64 * 4e6);
}

/// When the first arrivals of a Poisson process with seed 7 and 20 a second are due, in
/// microseconds. That such times follow the law is tested where they are made.
const POISSON: [u32; 24] = [
    2768, 76_053, 92_545, 96_209, 104_807, 110_462, 115_325, 241_869, 346_022, 408_672, 515_818,
    626_800, 655_106, 664_139, 712_351, 716_144, 749_539, 831_692, 892_229, 1_016_747, 1_026_757,
    1_030_919, 1_071_174, 1_095_763,
];

#[test]
fn poisson_arrivals_come_when_their_seed_says() {
    let serve = Serve::new("--arrival-log");
    for threads in [1, 2] {
        let before = serve.arrivals().len();
        let line = format!("-r 20/s -n 24 -c 8 --threads {threads} --arrivals poisson --seed 7");
        let report = load(&format!("{line} {}", serve.url));
        assert_eq!(report.n("requests.ok"), 24, "{:#}", report.short());
        let arrivals = &serve.arrivals()[before..];
        check_arrivals(&report, arrivals, |n| f64::from(POISSON[n]) * 1e3);
    }
}

#[test]
fn the_same_seed_gives_the_same_arrivals() {
    let serve = Serve::new("");
    let sent = |seed: u32| {
        let line = format!(
            "-r 300/s -z 1s --arrivals poisson --seed {seed} {}",
            serve.url
        );
        load(&line).n("requests.intended")
    };
    assert_eq!(sent(3), sent(3));
    let distinct: std::collections::BTreeSet<u64> = (1..=4).map(sent).collect();
    assert!(distinct.len() > 1, "seeds change nothing: {distinct:?}");
}

/// Requests that find no connection: dropped by one policy, late by the other, lost by none.
#[test]
fn late_policies_balance() {
    let serve = Serve::new("--delay const:100ms");
    for (policy, drops) in [("queue", false), ("skip", true), ("drop(50ms)", true)] {
        let before = serve.count("requests");
        let report = load(&format!(
            "-r 100/s -c 2 -z 1s --late {policy} {}",
            serve.url
        ));
        assert_eq!(
            report.n("requests.intended"),
            100,
            "{policy}: {:#}",
            report.short()
        );
        assert_eq!(
            report.n("requests.dropped") > 0,
            drops,
            "{policy}: {:#}",
            report.short()
        );
        // Two connections, each with a request in 100 ms at most, and the last may be under way.
        let sent = report.n("requests.sent");
        assert!((1..=22).contains(&sent), "{policy}: {:#}", report.short());
        assert_eq!(serve.count("requests") - before, sent, "{policy}");
    }
}

#[test]
fn the_list_is_sent_in_order_and_exactly_so_often() {
    let script = Script::new(obliging);
    let folder = Folder::new();
    let url = script.url();
    let list = folder.write(
        "urls",
        format!("# three\n{url}a\n\n{url}b?x=%20y\r\n  {url}c\n"),
    );
    let report = load(&format!("-c 1 --iterations 7 @{list}"));
    assert_eq!(report.n("requests.ok"), 21, "{:#}", report.short());
    let paths: Vec<String> = script
        .heads()
        .iter()
        .map(|head| head.split(' ').nth(1).unwrap().to_owned())
        .collect();
    let expected = ["/a", "/b?x=%20y", "/c"].repeat(7);
    assert_eq!(paths, expected);
    let steps = report.at("steps").as_array().unwrap();
    assert_eq!(steps.len(), 3);
    assert!(
        steps.iter().all(|step| step["requests"]["ok"] == 7),
        "{steps:#?}"
    );
}

#[test]
fn a_list_may_come_from_stdin() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let list = folder.write("urls", format!("{0}a\n{0}b\n", serve.url));
    let mut command = drumfire(["http", "--json", "-", "-c", "2", "--iterations", "4", "@-"]);
    command.stdin(std::fs::File::open(list).unwrap());
    let report = load_of(Process::start(&mut command));
    assert_eq!(report.n("requests.ok"), 8, "{:#}", report.short());
}

#[test]
fn the_warm_up_is_sent_and_not_counted() {
    let serve = Serve::new("");
    let report = load(&format!("-r 200/s -n 400 --warmup 500ms {}", serve.url));
    let (warmup, measured) = (report.n("warmup.sent"), report.n("requests.sent"));
    assert_eq!((warmup, measured), (100, 300), "{:#}", report.short());
    assert_eq!(serve.count("requests"), 400);
    // The rest of two seconds, and no more but by the last response.
    let over = report.number("run.duration_ns") - 1.5e9;
    let longest = report.number("latency.response_time.max") * 1.002;
    assert!((0.0..=longest).contains(&over), "{over} ns, {longest} ns");
}

/// Credentials go along within an origin, and never beyond it.
#[test]
fn redirects_keep_credentials_at_home() {
    let away = Script::new(obliging);
    let beyond = format!("http://localhost:{}/there", away.port());
    let home = Script::new(move |peer| {
        while let Some(head) = peer.request() {
            let to = if head.starts_with("GET /start ") {
                "/near"
            } else {
                &beyond
            };
            let reply =
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            peer.send(reply);
        }
    });
    let line = format!(
        "-c 1 -n 3 -L 5 -H 'Authorization: Bearer CANARY' -H 'Cookie: CANARY=1' -H 'X-Plain: yes' \
         {}start",
        home.url()
    );
    let report = load(&line);
    assert_eq!(report.status(200), 3, "{:#}", report.short());
    let (at_home, abroad) = (home.heads(), away.heads());
    assert_eq!((at_home.len(), abroad.len()), (6, 3));
    for head in &at_home {
        assert_eq!(
            field(head, "authorization"),
            Some("Bearer CANARY"),
            "{head}"
        );
    }
    for head in &abroad {
        assert!(!head.contains("CANARY"), "{head}");
        assert_eq!(field(head, "x-plain"), Some("yes"), "{head}");
        assert_eq!(
            field(head, "host"),
            Some(&*format!("localhost:{}", away.port())),
            "{head}"
        );
    }
}

#[test]
fn redirects_end_somewhere() {
    let serve = Serve::new("");
    let base = &serve.url;
    // Another name for the same server, which has to be looked up.
    let by_name = base.replace("127.0.0.1", "localhost");
    assert_ne!(&by_name, base);
    // A machine without a resolver can't tell that there is no such name.
    let unknown = ("nobody.invalid", 80).to_socket_addrs().unwrap_err();
    let unknown = match unknown.to_string().contains("not known") {
        true => "dns:nx",
        false => "dns:servfail",
    };
    for (flags, path, expected) in [
        ("", "redirect?to=/&n=1", "302"),
        ("-L 3", "redirect?to=/&n=3", "200"),
        ("-L 3", &format!("redirect?n=3&to={by_name}"), "200"),
        ("-L 3", "redirect?to=http://nobody.invalid/", unknown),
        ("-L 3", "redirect?to=/&n=4", "redirect_limit"),
        ("-L 3", "redirect?to=ftp://127.0.0.1/", "redirect_blocked"),
        ("-L 3", "redirect?to=file:///etc/passwd", "redirect_blocked"),
    ] {
        for version in ["--http1", "--http2 --streams 2"] {
            let report = load(&format!("{version} -c 1 -n 4 {flags} {base}{path}"));
            let seen = match expected.parse() {
                Ok(status) => report.status(status),
                Err(_) => report.kind(expected),
            };
            assert_eq!(seen, 4, "{version} {flags} {path}: {:#}", report.short());
        }
    }
}

/// A request over TLS is not repeated in the clear, by any redirect.
#[test]
fn redirects_do_not_lead_out_of_tls() {
    for version in ["--http1", "--http2"] {
        let (open, secret) = (Serve::new(""), Serve::new("--tls"));
        let line = format!("{version} -c 1 -n 3 -k -L 3");
        let report = load(&format!("{line} {}redirect?to={}", secret.url, open.url));
        assert_eq!(report.kind("redirect_blocked"), 3, "{:#}", report.short());
        assert_eq!(open.count("requests"), 0);
        // The other way is a way in.
        let report = load(&format!("{line} {}redirect?to={}", open.url, secret.url));
        assert_eq!(report.status(200), 3, "{:#}", report.short());
    }
}

#[test]
fn names_may_be_resolved_by_hand() {
    let script = Script::new(obliging);
    let port = script.port();
    let report = load(&format!(
        "-c 1 -n 2 --resolve api.test:{port}:127.0.0.1 http://api.test:{port}/"
    ));
    assert_eq!(report.n("requests.ok"), 2, "{:#}", report.short());
    for head in script.heads() {
        assert_eq!(field(&head, "host"), Some(&*format!("api.test:{port}")));
    }
}

#[test]
fn source_addresses_are_used_in_turn() {
    let seen: Arc<Mutex<BTreeMap<IpAddr, u32>>> = Arc::default();
    let seen_by = Arc::clone(&seen);
    let script = Script::new(move |peer| {
        let address = peer.stream.get_ref().peer_addr().unwrap().ip();
        *seen_by.lock().unwrap().entry(address).or_default() += 1;
        obliging(peer);
    });
    // One thread, which starts its four connections at once; of two, one may come so late that the
    // other has taken its requests.
    let report = load(&format!(
        "-c 4 -n 40 --threads 1 --no-keepalive --source-ip 127.0.0.2,127.0.0.3 {}",
        script.url()
    ));
    assert_eq!(report.n("requests.ok"), 40, "{:#}", report.short());
    let seen = seen.lock().unwrap();
    let addresses: Vec<String> = seen.keys().map(ToString::to_string).collect();
    assert_eq!(addresses, ["127.0.0.2", "127.0.0.3"]);
    // Each connection keeps its address, so that each address has two connections' requests.
    assert!(seen.values().all(|count| *count >= 2), "{seen:?}");
}

#[test]
fn unix_sockets_and_ipv6_lead_to_the_server() {
    let folder = Folder::new();
    let path = folder.at("socket");
    let _unix = Serve::new(&format!("-l unix:{path}"));
    let report = load(&format!(
        "-c 2 -n 20 --unix-socket {path} http://localhost/"
    ));
    assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
    if TcpStream::connect("[::1]:9")
        .is_err_and(|e| e.kind() != std::io::ErrorKind::ConnectionRefused)
    {
        // Nothing can be installed against it, so that it is no failure in CI either.
        eprintln!("skipped in part: this machine has no IPv6 on the loopback");
        return;
    }
    let serve = Serve::new("-l [::1]:0");
    let report = load(&format!("-c 2 -n 20 {}", serve.url));
    assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
    assert_eq!(serve.count("requests"), 20);
}

/// A forward proxy: CONNECT makes a tunnel to the address that it was built with, and anything
/// else is answered by the proxy itself.
fn proxy(to: std::net::SocketAddr) -> Script {
    Script::new(move |peer| {
        while let Some(head) = peer.request() {
            if !head.starts_with("CONNECT ") {
                peer.send(OK);
                continue;
            }
            let mut onward = TcpStream::connect(to).unwrap();
            peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
            let mut back = onward.try_clone().unwrap();
            let mut answers = peer.stream.get_ref().try_clone().unwrap();
            std::thread::spawn(move || std::io::copy(&mut back, &mut answers));
            let _ended = std::io::copy(&mut peer.stream, &mut onward);
            return;
        }
    })
}

#[test]
fn proxies_get_whole_urls_and_make_tunnels() {
    let folder = Folder::new();
    let ca = folder.at("ca.pem");
    let serve = Serve::new(&format!("--tls --tls-ca {ca}"));
    let proxy = proxy(serve.address());
    let way = format!("127.0.0.1:{}", proxy.port());
    let plain = load(&format!("-c 1 -n 3 -x http://{way} http://api.test/a?b"));
    assert_eq!(plain.n("requests.ok"), 3, "{:#}", plain.short());
    assert!(plain.notes().contains(&way), "{}", plain.notes());
    for head in proxy.heads() {
        assert!(
            head.starts_with("GET http://api.test/a?b HTTP/1.1\r\n"),
            "{head}"
        );
    }
    let port = serve.port();
    let tunnel = load(&format!(
        "-c 1 -n 3 -x {way} --cacert {ca} https://localhost:{port}/"
    ));
    assert_eq!(tunnel.n("requests.ok"), 3, "{:#}", tunnel.short());
    let connect = proxy.heads().pop().unwrap();
    assert!(
        connect.starts_with(&format!(
            "CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\nUser-Agent: drumfire/"
        )),
        "{connect}"
    );
    let farewell = serve.stop().stderr;
    assert!(farewell.starts_with("3 requests on "), "{farewell}");
}

/// A request for a tunnel bears the name that the plan, or the tool whose command line it is, has
/// for it, and not that of the requests within.
#[test]
fn requests_for_tunnels_name_their_client() {
    let refuse = || {
        Script::new(|peer| {
            let _sent = peer.request().is_some() && peer.send(REFUSED);
        })
    };
    let folder = Folder::new();
    let plan = |settings: &str, proxy: &Script| {
        let port = proxy.port();
        let text = format!(
            "drumfire: 1\ndefaults: {{ proxy: '127.0.0.1:{port}'{settings} }}\npools:\n  p:\n    \
             users: 1\n    stop: {{ requests: 1 }}\n    requests:\n    \
             - get: https://api.test/\n      headers: {{ User-Agent: mine }}\n"
        );
        vec!["run".to_owned(), folder.write("plan.yaml", text)]
    };
    let pandora = |proxy: &Script| {
        let ammo = folder.write("ammo.uri", "[Host: api.test:443]\n[User-Agent: mine]\n/\n");
        let text = format!(
            "pools:\n- gun: {{ type: connect, target: '127.0.0.1:{}' }}\n  \
             ammo: {{ type: uri, file: {ammo} }}\n  result: {{ type: discard }}\n  \
             rps: [{{ type: once, times: 1 }}]\n  startup: [{{ type: once, times: 1 }}]\n",
            proxy.port()
        );
        vec!["pandora".to_owned(), folder.write("load.yaml", text)]
    };
    let cooker = |_: &Script| {
        let line = "slow_cooker -totalRequests 1 -header User-Agent:mine https://api.test/";
        line.split(' ').map(str::to_owned).collect()
    };
    type Line<'a> = &'a dyn Fn(&Script) -> Vec<String>;
    let rows: [(Line<'_>, Option<&str>); 5] = [
        (&|proxy| plan("", proxy), Some("drumfire/")),
        (
            &|proxy| plan(", proxy_agent: tunnel 1", proxy),
            Some("tunnel 1"),
        ),
        (&|proxy| plan(", proxy_agent: ''", proxy), None),
        (&pandora, Some("Go-http-client/1.1")),
        (&cooker, Some("Go-http-client/1.1")),
    ];
    for (line, named) in rows {
        let proxy = refuse();
        let line = line(&proxy);
        let mut command = drumfire(&line);
        command.env("https_proxy", format!("http://127.0.0.1:{}", proxy.port()));
        let run = Process::start(&mut command).finish(LIMIT);
        let heads = proxy.heads();
        let head = heads.first().expect(&run.stderr);
        assert!(
            head.starts_with("CONNECT api.test:443 HTTP/1.1\r\n"),
            "{head}"
        );
        let agent = head
            .lines()
            .find_map(|line| line.strip_prefix("User-Agent: "));
        let is_right = match (agent, named) {
            (Some(agent), Some(named)) => agent.starts_with(named),
            (agent, named) => agent.is_none() && named.is_none(),
        };
        assert!(is_right, "{line:?}: {head}");
    }
}

/// The head of a refusal decides: the worker does not read a body without an end.
#[test]
fn a_proxy_that_streams_its_refusal_holds_nothing() {
    let proxy = Script::new(|peer| {
        if peer.request().is_some() && peer.send("HTTP/1.1 403 Forbidden\r\n\r\n") {
            let part = vec![b'x'; 1 << 16];
            while peer.send(&part) {}
        }
    });
    let way = format!("127.0.0.1:{}", proxy.port());
    let refused = load(&format!("-c 1 -n 1 -x {way} https://api.test/"));
    assert_eq!(refused.n("requests.failed"), 1, "{:#}", refused.short());
    let reasons = format!("{:#}", refused.json["errors"]);
    assert!(
        reasons.contains("the proxy answered with status 403"),
        "{reasons}"
    );
}

/// Variables of the environment, as curl reads them, and their effect on a request.
#[test]
fn the_environment_may_name_a_proxy() {
    let script = Script::new(obliging);
    let way = format!("http://127.0.0.1:{}", script.port());
    let other = Script::new(obliging);
    let direct = format!(
        "--resolve api.test:{0}:127.0.0.1 http://api.test:{0}/",
        other.port()
    );
    for (variables, through) in [
        (vec![("http_proxy", &*way)], true),
        (vec![("HTTP_PROXY", &*way)], true),
        (
            vec![("HTTP_PROXY", &*way), ("REQUEST_METHOD", "GET")],
            false,
        ),
        (vec![("https_proxy", &*way)], false),
        (vec![("http_proxy", &*way), ("NO_PROXY", "api.test")], false),
        (
            vec![("http_proxy", &*way), ("no_proxy", "other.test,.test")],
            false,
        ),
        (
            vec![("http_proxy", &*way), ("no_proxy", "other.test")],
            true,
        ),
        (vec![("http_proxy", "")], false),
    ] {
        let before = script.heads().len();
        let mut command = drumfire(["http", "--json", "-", "-c", "1", "-n", "2"]);
        command
            .args(direct.split(' '))
            .envs(variables.iter().copied());
        let report = load_of(Process::start(&mut command));
        assert_eq!(
            report.n("requests.ok"),
            2,
            "{variables:?}: {:#}",
            report.short()
        );
        assert_eq!(
            script.heads().len() - before,
            if through { 2 } else { 0 },
            "{variables:?}"
        );
    }
    // Targets on this machine are never reached through a proxy of the environment.
    let before = script.heads().len();
    let mut command = drumfire(["http", "--json", "-", "-c", "1", "-n", "2", &other.url()]);
    load_of(Process::start(command.env("http_proxy", &way)));
    assert_eq!(script.heads().len(), before);
}

#[test]
fn client_certificates_open_the_door() {
    let folder = Folder::new();
    let (ca, client) = (folder.at("ca.pem"), folder.at("client"));
    let serve = Serve::new(&format!(
        "--tls --tls-ca {ca} --tls-client {client} --require-client-cert"
    ));
    let own = load(&format!(
        "-c 2 -n 20 --cacert {ca} --cert {client}.crt --key {client}.key {}",
        serve.url
    ));
    assert_eq!(own.n("requests.ok"), 20, "{:#}", own.short());
    assert_eq!(own.at("generator.tls_verified"), true);
    let without = load(&format!("-c 1 -n 2 --cacert {ca} {}", serve.url));
    assert_eq!(without.kind("tls:alert"), 2, "{:#}", without.short());
    assert_eq!(without.code, Some(1));
}

/// nginx logs which handshakes resumed a session.
#[test]
fn tls_sessions_are_resumed_unless_that_is_not_wanted() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let identity = authority.sign("localhost", "DNS:localhost", VALID);
    let Some(nginx) = (Nginx {
        identity: Some(&identity),
        ..Nginx::default()
    })
    .start() else {
        return;
    };
    let url = nginx.tls_url("fast");
    let resumed = |flags: &str, before: u64| {
        let line = format!(
            "-c 1 -n 20 --no-keepalive --cacert {} {flags} {url}",
            authority.certificate
        );
        let report = load(&line);
        assert_eq!(report.n("requests.ok"), 20, "{:#}", report.short());
        assert_eq!(report.n("latency.tls_handshake.count"), 20);
        assert_eq!(nginx.logged(before + 20), before + 20);
        let log = nginx.log();
        let new = log.iter().skip(before as usize);
        let resumed = new.filter(|line| line.ends_with(" r")).count();
        assert_eq!(report.n("connections.tls_resumed"), resumed as u64);
        resumed
    };
    let some = resumed("", 0);
    assert!(some >= 15, "{some} of 20 handshakes were resumed");
    assert_eq!(resumed("--full-handshakes", 20), 0);
    let half = resumed("--tls-resumption 50%", 40);
    assert!(
        (5..=10).contains(&half),
        "{half} of 20 handshakes were resumed"
    );
}
