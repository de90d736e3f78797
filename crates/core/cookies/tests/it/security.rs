//! Section 5.6.5, the prefixes of section 5.4, and steps 13 to 22 of section 5.7.

use crate::exchange::check;

const PLAIN: &str = "http://example.com/";
const TLS: &str = "https://example.com/";

#[test]
fn secure_cookies_come_and_go_over_tls() {
    check(&[(TLS, "a=1; Secure")], &[(TLS, "a=1"), (PLAIN, "")]);
    check(&[(TLS, "a=1; secure=no")], &[(TLS, "a=1"), (PLAIN, "")]);
    check(&[(PLAIN, "a=1; Secure")], &[(TLS, "")]);
    check(&[(PLAIN, "a=1")], &[(TLS, "a=1"), (PLAIN, "a=1")]);
    check(&[(TLS, "a=1")], &[(TLS, "a=1"), (PLAIN, "a=1")]);
}

/// Browsers and curl trust loopback without TLS.
#[test]
fn secure_cookies_come_and_go_on_loopback() {
    for host in [
        "localhost",
        "shop.localhost",
        "localhost.",
        "127.0.0.1",
        "127.8.8.8",
        "[::1]",
        "[::ffff:127.0.0.1]",
    ] {
        let url = format!("http://{host}/");
        check(&[(&url, "a=1; Secure")], &[(&url, "a=1")]);
        check(&[(&url, "a=1; Secure"), (&url, "a=2")], &[(&url, "a=2")]);
    }
    for host in [
        "notlocalhost",
        "localhost.example.com",
        "10.0.0.1",
        "128.0.0.1",
        "[::2]",
    ] {
        let url = format!("http://{host}/");
        check(&[(&url, "a=1; Secure")], &[(&url, "")]);
    }
}

#[test]
fn a_site_without_tls_leaves_secure_cookies_alone() {
    let below = "http://b.example.com/x/y";
    let rows = [
        // An equal cookie, one with a wider and one with a narrower domain, one with a path below.
        ("a=1; Secure", PLAIN, "a=2", TLS, "a=1"),
        ("a=1; Secure", PLAIN, "a=2; Max-Age=0", TLS, "a=1"),
        (
            "a=1; Secure; Domain=example.com",
            below,
            "a=2; Path=/",
            "https://b.example.com/",
            "a=1",
        ),
        (
            "a=1; Secure",
            below,
            "a=2; Domain=example.com; Path=/",
            TLS,
            "a=1",
        ),
        (
            "a=1; Secure; Path=/x",
            PLAIN,
            "a=2; Path=/x/y",
            "https://example.com/x/y",
            "a=1",
        ),
        // Domains match even if one cookie is host-only.
        (
            "a=1; Secure",
            below,
            "a=2; Path=/",
            "https://b.example.com/",
            "",
        ),
        // Another name, another domain, a path above: all are stored in addition.
        ("a=1; Secure", PLAIN, "b=2", TLS, "a=1; b=2"),
        (
            "a=1; Secure",
            "http://xample.com/",
            "a=2",
            "http://xample.com/",
            "a=2",
        ),
        (
            "a=1; Secure; Path=/x",
            PLAIN,
            "a=2; Path=/",
            "https://example.com/x",
            "a=1; a=2",
        ),
        // A secure site may replace them.
        ("a=1; Secure", TLS, "a=2", PLAIN, "a=2"),
        ("a=1; Secure", TLS, "a=2; Secure", TLS, "a=2"),
    ];
    for (first, url, second, request, expected) in rows {
        check(&[(TLS, first), (url, second)], &[(request, expected)]);
    }
}

#[test]
fn prefixes_are_kept() {
    let rows = [
        (TLS, "__Secure-a=1; Secure", true),
        (TLS, "__Secure-a=1; Secure; Domain=example.com", true),
        (TLS, "__Secure-a=1", false),
        (TLS, "__SECURE-a=1", false),
        (PLAIN, "__Secure-a=1; Secure", false),
        (TLS, "__Host-a=1; Secure; Path=/", true),
        (TLS, "__host-a=1; Secure; Path=/", true),
        (TLS, "__Host-a=1; Secure", false),
        (TLS, "__hOST-a=1; Path=/", false),
        (TLS, "__Host-a=1; Secure; Path=/x", false),
        (TLS, "__Host-a=1; Secure; Path=/; Domain=example.com", false),
        (TLS, "__Host-a=1; Secure; Path=/; Domain=", true),
        // The attribute is present, and its path is `/`.
        (TLS, "__Host-a=1; Secure; Path=x", true),
        // Without a name, the value would be parsed as a name.
        (TLS, "=__Secure-a=1; Secure", false),
        (TLS, "__Host-a; Secure; Path=/", false),
        (TLS, "=__host-a=1; Secure; Path=/", false),
        (TLS, "a=__Host-1", true),
        (TLS, "__Hosta=1", true),
    ];
    for (url, field, is_kept) in rows {
        let pair = field.split(';').next().expect("a pair");
        check(&[(url, field)], &[(TLS, if is_kept { pair } else { "" })]);
    }
}
