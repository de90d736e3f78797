//! Section 5.6: parsing of Set-Cookie fields; section 5.8.3: the form of Cookie fields.

use crate::exchange::{NOW, carried, check, jar, site};
use drumfire_cookies::Jar;

const URL: &str = "https://example.com/";

#[test]
fn name_and_value_are_what_stands_around_the_first_equals_sign() {
    let long = "v".repeat(4095);
    let rows = [
        ("a=1", "a=1"),
        (" a =\t1 2 ; Path=/", "a=1 2"),
        ("a==1=", "a==1="),
        ("a=", "a="),
        ("a=\"1\"", "a=\"1\""),
        ("a=1,2", "a=1,2"),
        ("a=1;;; ;Foo=bar;=;==", "a=1"),
        ("a=\u{e4}", "a=\u{e4}"),
        // Without a name.
        ("1", "1"),
        ("=1", "1"),
        (" = 1=2", "1=2"),
        // Without a name and a value.
        ("", ""),
        ("=", ""),
        ("; Path=/", ""),
        // Control characters anywhere. A tab inside the value is allowed.
        ("a=1\t2", "a=1\t2"),
        ("a=1\r\nX: y", ""),
        ("a=1\n", ""),
        ("a\0=1", ""),
        ("a=1; Path=/\x7f", ""),
        ("a=1; Foo=\x1b[1m", ""),
    ];
    for (field, expected) in rows {
        check(&[(URL, field)], &[(URL, expected)]);
    }
    let most = format!("a={long}");
    check(&[(URL, &most)], &[(URL, &most)]);
    check(&[(URL, &format!("{most}v"))], &[(URL, "")]);
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_would_be_kept() {
    let stored = |field: &[u8]| Jar::new().store(field, site(URL), NOW);
    assert!(!stored(b"a=\xff"));
    assert!(!stored(b"\xe4=1"));
    assert!(!stored(b"a=1; Path=/\xff"));
    assert!(!stored(b"a=1; Domain=\xff"));
    assert!(stored(b"a=1; Path=/\xff; Path=/"));
    assert!(stored(b"a=1; Comment=\xff"));
}

#[test]
fn of_an_attribute_that_is_repeated_the_last_counts() {
    check(
        &[(URL, "a=1; Path=/x; path=/y; Domain=example.com; DOMAIN=")],
        &[
            ("https://example.com/x", ""),
            ("https://example.com/y", "a=1"),
            ("https://b.example.com/y", ""),
        ],
    );
    // An invalid attribute leaves the previous one in effect.
    check(&[(URL, "a=1; Max-Age=0; Max-Age=x")], &[(URL, "")]);
}

#[test]
fn an_attribute_that_is_too_long_is_absent() {
    let path = |length: usize| format!("/{}", "p".repeat(length - 1));
    let url = |length| format!("https://example.com{}", path(length));
    let field = |length| format!("a=1; Path={}", path(length));
    check(&[(URL, &field(1024))], &[(&url(1024), "a=1"), (URL, "")]);
    check(&[(URL, &field(1025))], &[(&url(1025), "a=1"), (URL, "a=1")]);
}

#[test]
fn attributes_for_pages_have_no_effect() {
    let field = "a=1; HttpOnly; SameSite=Strict; Partitioned; Priority=High";
    check(&[(URL, field)], &[(URL, "a=1")]);
}

#[test]
fn longer_paths_come_first_and_then_earlier_cookies() {
    check(
        &[
            (URL, "a=1; Path=/"),
            (URL, "b=2; Path=/x"),
            (URL, "c=3; Path=/x/y"),
            (URL, "d=4; Path=/x"),
            (URL, "e=5; Path=/"),
            // A new value keeps the creation time.
            (URL, "a=six; Path=/"),
            (URL, "b=seven; Path=/x"),
        ],
        &[("https://example.com/x/y", "c=3; b=seven; d=4; a=six; e=5")],
    );
}

#[test]
fn a_field_is_appended_and_nothing_is_where_no_cookie_matches() {
    let mut jar = jar(&[(URL, "a=1"), (URL, "b=2")]);
    let mut out = "Cookie: ".to_owned();
    jar.write(site("https://example.org/"), NOW, &mut out);
    assert_eq!(out, "Cookie: ");
    jar.write(site(URL), NOW, &mut out);
    assert_eq!(out, "Cookie: a=1; b=2");
}

#[test]
fn a_result_tells_whether_the_jar_changed() {
    let mut jar = Jar::default();
    assert!(jar.is_empty());
    assert!(jar.store(b"a=1", site(URL), NOW));
    assert!(jar.store(b"a=1", site(URL), NOW));
    assert_eq!(jar.len(), 1);
    assert!(!jar.store(b"b=1; Max-Age=0", site(URL), NOW), "no such one");
    assert!(jar.store(b"a=1; Max-Age=0", site(URL), NOW));
    assert!(jar.is_empty());
    assert!(jar.store(b"a=2", site(URL), NOW));
    jar.clear();
    assert!(jar.is_empty());
    assert_eq!(carried(&mut jar, URL, NOW), "");
}

#[test]
fn what_is_shown_of_a_jar_is_no_secret() {
    let shown = format!("{:?}", jar(&[(URL, "session=hunter2")]));
    assert_eq!(shown, "Jar { cookies: 1, .. }");
}
