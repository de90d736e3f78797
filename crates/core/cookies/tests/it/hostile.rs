//! Bytes from a hostile server.

use crate::exchange::{NOW, site};
use drumfire_cookies::{Jar, Site};
use proptest::prelude::*;

/// Bytes close to the grammar, so that they pass the first rule.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        &b"a"[..],
        b"=",
        b";",
        b"; ",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xc3\xa4",
        b"-",
        b".",
        b"/",
        b"Path=",
        b"Domain=",
        b"Max-Age=",
        b"Expires=",
        b"Secure",
        b"9",
        b"18446744073709551616",
        b"b.example.com",
        b"1 Jan 2030 00:00:00",
        b":",
        b"__Host-",
        b"__Secure-",
        b"[",
        b"]",
    ]);
    let words = prop::collection::vec(word, 0..20).prop_map(|words| words.concat());
    prop_oneof![words, prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Arbitrary bytes and URLs never make a jar panic, exceed its bounds, or send a control
    /// character.
    #[test]
    fn no_bytes_are_too_much(
        fields in prop::collection::vec((field(), any::<bool>(), 0..3_u64), 0..100),
        host in "[ab.:\u{e4}]{0,6}|b\\.example\\.com|10\\.0\\.0\\.1",
        path in "[/a?#\u{e4}]{0,6}",
    ) {
        let mut jar = Jar::new();
        let mut now = NOW;
        for (bytes, is_secure, seconds) in &fields {
            now += seconds;
            let site = Site { host: &host, path: &path, is_secure: *is_secure };
            let before = jar.len();
            let is_changed = jar.store(bytes, site, now);
            prop_assert!(jar.len() <= 64 && jar.len() <= before + usize::from(is_changed));
            let mut out = String::new();
            jar.write(site, now, &mut out);
            prop_assert!(out.len() < 32 * 1024);
            prop_assert!(out.chars().all(|c| !c.is_ascii_control() || c == '\t'));
        }
        let mut out = String::new();
        jar.write(site("https://elsewhere.example/"), now, &mut out);
        prop_assert_eq!(out, "");
        jar.clear();
        prop_assert!(jar.is_empty());
    }
}
