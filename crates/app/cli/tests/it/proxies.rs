//! Apache httpd as a forward proxy, in the clear and over TLS, in front of nginx and nghttpd.

use crate::support::certificates::{Authority, VALID};
use crate::support::peers::{self, Nginx, Peer};
use crate::support::program::{LIMIT, drumfire};
use crate::support::{Folder, Process, Report};

/// The machines of a test: a proxy, and the servers that it forwards to.
struct Site {
    authority: Authority,
    proxy: Peer,
    nginx: Peer,
    /// Speaks only clear-text HTTP/2.
    nghttpd: Peer,
    folder: Folder,
}

impl Site {
    /// Starts the site; `None` if one of the programs is not installed.
    fn new() -> Option<Self> {
        let authority = Authority::new()?;
        let identity = authority.sign("localhost", "DNS:localhost,IP:127.0.0.1", VALID);
        let nginx = Nginx {
            identity: Some(&identity),
            ..Nginx::default()
        };
        Some(Self {
            proxy: peers::forward_proxy(&identity)?,
            nginx: nginx.start()?,
            nghttpd: peers::nghttpd(None, "")?,
            folder: Folder::new(),
            authority,
        })
    }

    /// Sends twenty requests through a proxy, with a plan with these settings.
    fn run(&self, proxy: &str, settings: &str, url: &str) -> Report {
        let ca = &self.authority.certificate;
        let plan = format!(
            "drumfire: 1\npools:\n  p:\n    proxy: {proxy}\n    tls: {{ cacert: {ca} }}\n    \
             users: 4\n    stop: {{ requests: 20 }}\n{settings}    requests: [ get: {url} ]\n"
        );
        let path = self.folder.write("plan.yaml", plan);
        let mut command = drumfire(["run", &path, "--json", "-"]);
        Report::from_run(Process::start(&mut command).finish(LIMIT))
    }
}

#[test]
fn proxies_of_either_kind_lead_to_targets_of_either_kind() {
    let Some(site) = Site::new() else { return };
    let port = site.proxy.port();
    let plain = format!("http://localhost:{port}");
    let sealed = site.proxy.tls_url("").trim_end_matches('/').to_owned();
    const TUNNEL: &str = "    proxy_tunnel: true\n";
    let (clear, secure) = (site.nginx.url("10k.txt"), site.nginx.tls_url("10k.txt"));
    let big = site.nginx.tls_url("10m.txt");
    let http2 = site.nghttpd.url("10k.txt");
    let rows = [
        (&plain, "", &clear, false),
        (&plain, "", &secure, true),
        (&plain, TUNNEL, &clear, true),
        (&sealed, "", &clear, false),
        (&sealed, "", &secure, true),
        (&sealed, TUNNEL, &clear, true),
        // TLS within TLS, with records that the proxy cuts at any position.
        (&sealed, "", &big, true),
        (
            &plain,
            "    http: 2\n    proxy_tunnel: true\n",
            &http2,
            true,
        ),
        (
            &sealed,
            "    http: 2\n    proxy_tunnel: true\n",
            &http2,
            true,
        ),
    ];
    let mut logged = 0;
    for (proxy, settings, url, tunnels) in rows {
        let before = site.nginx.requests();
        let report = site.run(proxy, settings, url);
        let row = format!("{proxy} {settings} {url}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), 20, "{row}");
        if url != &http2 {
            // The earlier status request counts as well.
            assert_eq!(site.nginx.requests(), before + 21, "{row}");
        }
        // Requests are logged immediately, and a tunnel when it has ended.
        let expected = match tunnels {
            true => report.n("connections.opened"),
            false => 20,
        };
        logged += expected;
        assert_eq!(site.proxy.logged(logged), logged, "{row}");
        let log = site.proxy.log();
        let last = &log[log.len() - expected as usize..];
        let connects = last.iter().filter(|line| line.starts_with("CONNECT"));
        assert_eq!(connects.count() > 0, tunnels, "{row}: {last:?}");
    }
}

#[test]
fn a_proxy_that_can_t_be_spoken_with_is_named() {
    let Some(site) = Site::new() else { return };
    let (plain, sealed) = (site.proxy.port(), site.proxy.tls_url(""));
    let rows = [
        // TLS to a port without TLS, and the reverse.
        (format!("https://localhost:{plain}"), "TLS with the proxy"),
        (
            sealed.replace("https://", "http://"),
            "closed without a response",
        ),
    ];
    for (proxy, says) in rows {
        let report = site.run(&proxy, "    proxy_tunnel: true\n", &site.nginx.url(""));
        assert_eq!(report.n("requests.failed"), 20, "{:#}", report.short());
        assert_eq!(report.kind("connect:proxy"), 20, "{:#}", report.short());
        let errors = report.at("errors").to_string();
        assert!(errors.contains(says), "{proxy}: {errors}");
    }
}

#[test]
fn the_gun_connect_goes_through_both_kinds_of_proxies_to_both_kinds_of_targets() {
    let Some(site) = Site::new() else { return };
    let port = |url: &str| {
        let authority = url.trim_end_matches('/').rsplit(':').next();
        authority.unwrap_or_default().to_owned()
    };
    let (plain, sealed) = (site.proxy.port().to_string(), port(&site.proxy.tls_url("")));
    let (clear, secure) = (site.nginx.port().to_string(), port(&site.nginx.tls_url("")));
    for (proxy, target, ssl, connect_ssl) in [
        (&plain, &clear, false, false),
        (&plain, &secure, true, false),
        (&sealed, &clear, false, true),
        (&sealed, &secure, true, true),
    ] {
        let ammo = format!("[Host: 127.0.0.1:{target}]\n/10k.txt\n");
        let ammo = site.folder.write("ammo.uri", ammo);
        let out = site.folder.at("phout.log");
        let config = format!(
            "pools:\n  - gun: {{type: connect, target: '127.0.0.1:{proxy}', ssl: {ssl}, \
             connect-ssl: {connect_ssl}}}\n    ammo: {{type: uri, file: {ammo}}}\n    \
             result: {{type: phout, destination: {out}}}\n    \
             rps: [{{type: once, times: 6}}]\n    startup: [{{type: once, times: 2}}]\n"
        );
        let config = site.folder.write("load.yaml", config);
        let before = site.nginx.requests();
        let run = Process::start(&mut drumfire(["pandora", &config])).finish(LIMIT);
        let row = format!("ssl {ssl}, connect-ssl {connect_ssl}: {}", run.stderr);
        assert_eq!(run.code, Some(0), "{row}");
        assert_eq!(site.nginx.requests(), before + 7, "{row}");
        let phout = std::fs::read_to_string(&out).unwrap();
        assert_eq!(phout.lines().count(), 6, "{row}");
        assert!(
            phout.lines().all(|line| line.ends_with("\t0\t200")),
            "{row}\n{phout}"
        );
    }
}
