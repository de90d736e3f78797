//! URLs: valid ones with their parts, rejected ones with their messages, and the targets of
//! redirects.

use drumfire_plan::{Host, JoinError, Scheme, Url};
use proptest::prelude::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks origin, request target and user of a valid URL.
fn check(text: &str, origin: &str, target: &str, user: Option<&str>) {
    let url = url(text);
    assert_eq!(url.origin.to_string(), origin, "{text}");
    assert_eq!(url.target, target, "{text}");
    assert_eq!(url.userinfo.as_deref(), user, "{text}");
}

#[test]
fn valid_urls() {
    for (text, origin, target) in [
        ("http://localhost", "http://localhost", "/"),
        ("http://localhost:80/", "http://localhost", "/"),
        ("http://localhost:/", "http://localhost", "/"),
        ("HTTPS://Example.COM:443/A", "https://example.com", "/A"),
        ("https://example.com:80/", "https://example.com:80", "/"),
        ("http://h:8080/a/../b//c", "http://h:8080", "/a/../b//c"),
        ("http://h?x=1&y=%20+", "http://h", "/?x=1&y=%20+"),
        ("http://h/p?q#f", "http://h", "/p?q"),
        ("http://h#f?q", "http://h", "/"),
        ("http://h/a@b:c", "http://h", "/a@b:c"),
        ("http://h/%zz?%zz", "http://h", "/%zz?%zz"),
        ("http://h/é/日?é", "http://h", "/%C3%A9/%E6%97%A5?é"),
        ("http://[::1]:8080/x", "http://[::1]:8080", "/x"),
        ("http://[2001:DB8:0:0::1]", "http://[2001:db8::1]", "/"),
        ("http://127.0.0.1:65535/", "http://127.0.0.1:65535", "/"),
        ("http://a_b.c-d.1a.", "http://a_b.c-d.1a.", "/"),
        (
            "http://xn--bcher-kva.example/",
            "http://xn--bcher-kva.example",
            "/",
        ),
        ("http://@h/", "http://h", "/"),
    ] {
        check(text, origin, target, None);
    }
    check("http://a:b@h:1/", "http://h:1", "/", Some("a:b"));
    check("http://a@h/", "http://h", "/", Some("a:"));
    check("http://a%40b:c%3Ad@h/", "http://h", "/", Some("a@b:c:d"));
    check("http://a@b@h/", "http://h", "/", Some("a@b:"));
}

#[test]
fn hosts_and_ports() {
    let origin = url("https://[::1]:8443/").origin;
    assert_eq!(origin.scheme, Scheme::Https);
    assert_eq!(origin.host, Host::Address("::1".parse().unwrap()));
    assert_eq!(origin.port, 8443);
    assert_eq!(origin.host_header(), "[::1]:8443");
    assert_eq!(url("https://h:443/").origin.host_header(), "h");
    assert_eq!(url("http://h:443/").origin.host_header(), "h:443");
    assert_eq!(url("http://H/x?y").to_string(), "http://h/x?y");
    assert_eq!(url("http://user:secret@h/").to_string(), "http://h/");
    assert_eq!(url("http://h/x?y").path(), "/x");
}

/// Each text with a part of its message.
const REFUSED: &[(&str, &str)] = &[
    ("", "has no host"),
    ("http://", "has no host"),
    ("http:///path", "has no host"),
    ("http://:80/", "has no host"),
    ("localhost:8080/x", "`http://localhost:8080/x`"),
    ("example.com", "`http://example.com`"),
    ("//example.com/x", "`http://example.com/x`"),
    ("https:example.com", "`https://example.com`"),
    ("http:/example.com", "`http://example.com`"),
    ("h/?u=http://x", "does not begin with a scheme and `://`"),
    ("://x", "write `http://x`"),
    ("htp://h/", "`htp` is not supported; did you mean `http`?"),
    (
        "ftp://h/",
        "`ftp` is not supported; write http:// or https://",
    ),
    (
        "http://h:0/",
        "`0` is not a port; write a number from 1 to 65535",
    ),
    ("http://h:65536/", "`65536` is not a port"),
    ("https://h:x/", "leave it out for 443"),
    ("http://h:+80/", "is not a port"),
    (
        "http://::1/",
        "write the IPv6 address in brackets: `http://[::1]/`",
    ),
    ("http://a:b:c/", "more than one colon"),
    ("http://[::1/", "no closing bracket"),
    (
        "http://[::1]x/",
        "unexpected `x` after the bracket of the address",
    ),
    ("http://[fe80::1%25eth0]/", "zone `%25eth0`"),
    ("http://[::g]/", "not an IPv6 address"),
    (
        "http://h/a b",
        "byte 10 of URL `http://h/a b` is a space; write %20",
    ),
    (
        "http://u:p@h h:1/a",
        "is a space in the host; write a name or an address",
    ),
    ("http://h\t/", "is a tab (0x09) in the host"),
    ("http://h/?a=\t", "is a tab (0x09); write %09 instead"),
    ("http://h?a@b c", "is a space; write %20 instead"),
    ("http://u u@h/", "is a space; write %20 instead"),
    (" http://h/", "byte 0"),
    (" http://h/", "a space before or after it; remove it"),
    ("http://h/a ", "a space before or after it; remove it"),
    (
        "http://h/\r\nX: y",
        "byte 9 of URL `http://h/\\r\\nX: y` is a carriage return",
    ),
    ("http://h/\n", "line feed"),
    ("http://h/\0", "control character 0x00; write %00"),
    ("http://h/\u{7f}", "0x7f"),
    ("http://h/\t", "write %09"),
    ("http://bücher.example/", "start with `xn--`"),
    ("http://a%20b/", "invalid character `%` in host"),
    ("http://a\\b/", "in host"),
    (
        "http://0x7f.1/",
        "unusual form of 127.0.0.1; write 127.0.0.1",
    ),
    ("http://2130706433/", "write 127.0.0.1"),
    ("http://127.1:80/", "write 127.0.0.1"),
    ("http://0177.0.0.1/", "write 127.0.0.1"),
    ("http://127.0.0.1./", "write 127.0.0.1"),
    ("http://1.2.3.256/", "not an IPv4 address"),
    ("http://1.2.3.4.5/", "not an IPv4 address"),
    ("http://99999999999/", "not an IPv4 address"),
    ("http://a..b/", "not a host name"),
    ("http://./", "not a host name"),
    ("http://a%zz@h/", "write % as %25"),
    ("http://a%0a@h/", "control character"),
    ("http://a%3Ab@h/", "colon"),
];

#[test]
fn refused_urls_say_what_is_right() {
    for &(text, words) in REFUSED {
        let message = Url::parse(text).expect_err(text).to_string();
        assert!(message.contains(words), "{text:?}: {message}");
    }
}

#[test]
fn lengths_have_limits() {
    let of = |length: usize| format!("http://h/{}", "x".repeat(length - 9));
    assert!(Url::parse(&of(65_536)).is_ok());
    assert!(Url::parse(&of(65_537)).is_err());
    let label = |length| Url::parse(&format!("http://{}/", "x".repeat(length)));
    assert!(label(63).is_ok());
    assert!(label(64).is_err());
    assert!(Url::parse(&format!("http://{}x/", "x.".repeat(126))).is_ok());
    assert!(Url::parse(&format!("http://{}x/", "x.".repeat(127))).is_err());
}

#[test]
fn no_message_shows_a_password() {
    for text in [
        "http://user:secret@h:0/",
        "http://user:secret@/",
        "http://user:secret@h/a b",
        "http://user:sec ret@h/",
        "http://user:secret%zz@h/",
        "ftp://user:secret@h/",
        "user:secret@h/",
    ] {
        let message = Url::parse(text).expect_err(text).to_string();
        assert!(!message.contains("sec"), "{text}: {message}");
    }
}

/// The examples of RFC 3986 section 5.4, as far as they are http and without fragments.
#[test]
fn references_of_the_rfc() {
    let base = url("http://a/b/c/d;p?q");
    for (reference, result) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        (";x", "http://a/b/c/;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("/a/b//..", "http://a/a/b/"),
        ("  /g\t", "http://a/g"),
        ("/a b?c d", "http://a/a%20b?c%20d"),
        ("/é?é", "http://a/%C3%A9?%C3%A9"),
        ("HTTPS://H/../x", "https://h/x"),
    ] {
        let joined = base.join(reference.as_bytes()).expect(reference);
        assert_eq!(joined.to_string(), result, "{reference}");
    }
    assert_eq!(base.join(b"/\xff").unwrap().target, "/%FF");
}

#[test]
fn refused_references() {
    let base = url("http://a/b");
    for (location, scheme) in [
        (&b"ftp://h/"[..], "ftp"),
        (b"javascript:alert(1)", "javascript"),
        (b"FILE:///etc/passwd", "file"),
    ] {
        assert_eq!(
            base.join(location),
            Err(JoinError::Scheme(scheme.to_owned()))
        );
    }
    for location in [
        &b"http:g"[..],
        b"http://",
        b"//",
        b"http://h:0/",
        b"/a\r\nX: y",
        b"/\0",
        &[b'x'; 70_000],
    ] {
        assert!(matches!(base.join(location), Err(JoinError::Url(_))));
    }
}

#[test]
fn credentials_never_cross_an_origin() {
    let base = url("http://user:secret@a/b");
    let user = |location: &str| base.join(location.as_bytes()).expect(location).userinfo;
    let own = Some("user:secret".to_owned());
    assert_eq!(user("/x"), own);
    assert_eq!(user("http://a:80/x"), own);
    assert_eq!(user("http://other:o@a/x"), Some("other:o".to_owned()));
    for location in ["https://a/x", "http://b/x", "//a:81/x", "//A.b/"] {
        assert_eq!(user(location), None, "{location}");
    }
}

fn any_url() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "[a-zA-Z][a-z0-9-]{0,9}(\\.[a-z_]{1,9}){0,3}",
        any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
    ];
    let port = prop_oneof![
        Just(String::new()),
        (1_u16..).prop_map(|port| format!(":{port}"))
    ];
    (
        "https?",
        host,
        port,
        "(/[!-\"$->@-~é日]{0,20})?",
        "(\\?[!-\"$-~é]{0,20})?",
    )
        .prop_map(|(scheme, host, port, path, query)| {
            format!("{scheme}://{host}{port}{path}{query}")
        })
}

proptest! {
    #[test]
    fn printing_a_url_and_parsing_it_gives_it_back(text in any_url()) {
        let parsed = url(&text);
        prop_assert_eq!(&parsed, &url(&parsed.to_string()));
        prop_assert!(parsed.target.starts_with('/'));
        if let Some((_, query)) = text.split_once('?') {
            prop_assert_eq!(parsed.target.split_once('?').map(|(_, query)| query), Some(query));
        }
    }

    #[test]
    fn joining_the_own_text_changes_at_most_dots(text in any_url(), location: Vec<u8>) {
        let base = url(&text);
        let again = base.join(base.to_string().as_bytes()).unwrap();
        prop_assert_eq!(&again.origin, &base.origin);
        if let Ok(joined) = base.join(&location) {
            let clean = |byte: u8| byte > b' ' && byte != 0x7f;
            prop_assert!(joined.target.starts_with('/') && joined.target.bytes().all(clean));
            prop_assert_eq!(&url(&joined.to_string()).target, &joined.target);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text: String, near in "(https?://)?[\\[\\]0-9a-fx:.@%/?#é -]{0,40}") {
        for text in [text, near] {
            if let Ok(parsed) = Url::parse(&text) {
                prop_assert!(parsed.origin.port > 0);
                prop_assert!(!parsed.target.contains(|c: char| c == ' ' || c.is_ascii_control()));
                prop_assert_eq!(url(&parsed.to_string()).origin, parsed.origin);
            }
        }
    }
}
