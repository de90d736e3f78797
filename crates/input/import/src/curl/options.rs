//! The options of curl, up to 8.16, and whether they take a value.
//!
//! Whether a word is an option's value or a URL depends on this table alone, so it contains all
//! options, including those that are not imported; an unknown option is refused.

/// The options, with their letter before them, and a colon after those that take a value.
const OPTIONS: &str = "\
    abstract-unix-socket: alpn alt-svc: anyauth a/append aws-sigv4: basic ca-native cacert: \
    capath: cert-status cert-type: E/cert: ciphers: clobber compressed compressed-ssh K/config: \
    connect-timeout: connect-to: C/continue-at: c/cookie-jar: b/cookie: create-dirs \
    create-file-mode: crlf crlfile: curves: data-ascii: data-binary: data-raw: data-urlencode: \
    d/data: delegation: digest q/disable disable-eprt disable-epsv disallow-username-in-url \
    dns-interface: dns-ipv4-addr: dns-ipv6-addr: dns-servers: doh-cert-status doh-insecure \
    doh-url: dump-ca-embed D/dump-header: ech: egd-file: engine: etag-compare: etag-save: \
    expect100-timeout: f/fail fail-early fail-with-body false-start follow form-escape \
    form-string: F/form: ftp-account: ftp-alternative-to-user: ftp-create-dirs ftp-method: \
    ftp-pasv P/ftp-port: ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc ftp-ssl-ccc-mode: \
    ftp-ssl-control G/get g/globoff happy-eyeballs-timeout-ms: haproxy-clientip: \
    haproxy-protocol I/head H/header: h/help: hostpubmd5: hostpubsha256: hsts: http0.9 0/http1.0 \
    http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length i/include \
    k/insecure interface: ip-tos: ipfs-gateway: 4/ipv4 6/ipv6 json: j/junk-session-cookies \
    keepalive keepalive-cnt: keepalive-time: key-type: key: krb4: krb: libcurl: limit-rate: \
    l/list-only local-port: L/location location-trusted login-options: mail-auth: mail-from: \
    mail-rcpt-allowfails mail-rcpt: M/manual max-filesize: max-redirs: m/max-time: metalink \
    mptcp negotiate n/netrc netrc-file: netrc-optional :/next N/no-buffer noproxy: npn ntlm \
    ntlm-wb oauth2-bearer: out-null output-dir: o/output: Z/parallel parallel-immediate \
    parallel-max-host: parallel-max: pass: path-as-is pinnedpubkey: post301 post302 post303 \
    preproxy: #/progress-bar progress-meter proto-default: proto-redir: proto: proxy-anyauth \
    proxy-basic proxy-ca-native proxy-cacert: proxy-capath: proxy-cert-type: proxy-cert: \
    proxy-ciphers: proxy-crlfile: proxy-digest proxy-header: proxy-http2 proxy-insecure \
    proxy-key-type: proxy-key: proxy-negotiate proxy-ntlm proxy-pass: proxy-pinnedpubkey: \
    proxy-service-name: proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers: \
    proxy-tlsauthtype: proxy-tlspassword: proxy-tlsuser: proxy-tlsv1 U/proxy-user: proxy1.0: \
    x/proxy: p/proxytunnel pubkey: Q/quote: random-file: r/range: rate: raw e/referer: \
    J/remote-header-name O/remote-name remote-name-all R/remote-time remove-on-error \
    request-target: X/request: resolve: retry-all-errors retry-connrefused retry-delay: \
    retry-max-time: retry: sasl-authzid: sasl-ir service-name: sessionid S/show-error sigalgs: \
    s/silent skip-existing socks4: socks4a: socks5-basic socks5-gssapi socks5-gssapi-nec \
    socks5-gssapi-service: socks5-hostname: socks5: Y/speed-limit: y/speed-time: ssl \
    ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort ssl-sessions: 2/sslv2 \
    3/sslv3 stderr: styled-output suppress-connect-headers tcp-fastopen tcp-nodelay \
    t/telnet-option: tftp-blksize: tftp-no-options z/time-cond: tls-earlydata tls-max: \
    tls13-ciphers: tlsauthtype: tlspassword: tlsuser: 1/tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 \
    tr-encoding trace-ascii: trace-config: trace-ids trace-time trace: unix-socket: \
    T/upload-file: upload-flags: url-query: url: B/use-ascii A/user-agent: u/user: variable: \
    v/verbose V/version vlan-priority: w/write-out: xattr";

/// An option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CurlOption {
    /// The long name, without hyphens.
    pub(super) name: &'static str,
    pub(super) takes_value: bool,
}

fn all() -> impl Iterator<Item = (Option<char>, CurlOption)> {
    OPTIONS.split_ascii_whitespace().map(|written| {
        let (letter, name) = match written.split_once('/') {
            Some((letter, name)) => (letter.chars().next(), name),
            None => (None, written),
        };
        let option = CurlOption {
            name: name.trim_end_matches(':'),
            takes_value: name.ends_with(':'),
        };
        (letter, option)
    })
}

/// The option with this letter.
pub(super) fn by_letter(letter: char) -> Option<CurlOption> {
    all().find_map(|(own, option)| (own == Some(letter)).then_some(option))
}

/// The option with this long name, or with this unambiguous prefix; `None` for an unknown or an
/// ambiguous name.
pub(super) fn by_name(name: &str) -> Option<CurlOption> {
    if let Some((_, exact)) = all().find(|(_, option)| option.name == name) {
        return Some(exact);
    }
    let mut begun = all().filter(|(_, option)| option.name.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some((_, only)), None) => Some(only),
        _ => None,
    }
}

/// Whether a long name negates a switch, such as `no-location`.
pub(super) fn is_negated(name: &str) -> bool {
    let switch = name.strip_prefix("no-").and_then(by_name);
    switch.is_some_and(|switch| !switch.takes_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn options_are_found_by_letter_name_and_beginning() {
        for (found, name, takes_value) in [
            (by_letter('d'), "data", true),
            (by_letter('L'), "location", false),
            (by_name("retry-delay"), "retry-delay", true),
            (by_name("proxy"), "proxy", true),
            (by_name("insec"), "insecure", false),
            (by_name("max-t"), "max-time", true),
        ] {
            assert_eq!(found, Some(CurlOption { name, takes_value }));
        }
        assert_eq!(by_name("no-such"), None);
        assert_eq!(by_name("max-"), None, "several begin so");
        assert_eq!(by_letter('W'), None);
        assert!(is_negated("no-location") && is_negated("no-progress-meter"));
        assert!(!is_negated("no-data") && !is_negated("location"));
    }

    /// Compares the table with an installed curl of a version that the table covers.
    #[test]
    fn all_options_of_an_installed_curl_are_known() {
        let Ok(help) = Command::new("curl").args(["--help", "all"]).output() else {
            return;
        };
        let version = Command::new("curl").arg("--version").output();
        let version = version.expect("curl is installed").stdout;
        if !version.starts_with(b"curl 7.88") {
            return;
        }
        let help = String::from_utf8_lossy(&help.stdout);
        for line in help.lines().filter(|line| line.starts_with(' ')) {
            let Some((_, rest)) = line.split_once("--") else {
                continue;
            };
            let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let takes_value = rest.starts_with(['<', '[']);
            let known = match name.strip_prefix("no-") {
                Some(_) if by_name(name).is_none() => is_negated(name),
                _ => {
                    by_name(name).is_some_and(|it| it.name == name && it.takes_value == takes_value)
                }
            };
            assert!(known, "{line}");
        }
    }
}
