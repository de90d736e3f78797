//! Responses that set cookies and requests that carry them, written as URLs.

use drumfire_cookies::{Jar, Site};

/// The time of tests that do not set another time.
pub(crate) const NOW: u64 = 1_700_000_000;

/// The site of a URL without a port.
pub(crate) fn site(url: &str) -> Site<'_> {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (host, path) = rest.split_at(rest.find(['/', '?', '*']).unwrap_or(rest.len()));
    Site {
        host: host.trim_matches(['[', ']']),
        path,
        is_secure: scheme == "https",
    }
}

/// A jar after these responses: each is a URL and a Set-Cookie field.
pub(crate) fn jar(sets: &[(&str, &str)]) -> Jar {
    let mut jar = Jar::new();
    for (url, field) in sets {
        jar.store(field.as_bytes(), site(url), NOW);
    }
    jar
}

/// The Cookie field of a request to `url`.
pub(crate) fn carried(jar: &mut Jar, url: &str, now: u64) -> String {
    let mut field = String::new();
    jar.write(site(url), now, &mut field);
    field
}

/// Compares the Cookie fields of requests after some responses.
pub(crate) fn check(sets: &[(&str, &str)], requests: &[(&str, &str)]) {
    let mut jar = jar(sets);
    for (url, expected) in requests {
        assert_eq!(
            carried(&mut jar, url, NOW),
            *expected,
            "{url} after {sets:?}"
        );
    }
}
