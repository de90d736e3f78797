//! Arbitrary bytes as Set-Cookie fields: no panic, a jar within its bounds, and Cookie fields
//! without control characters, only for the right sites.
//!
//! Each line is one response: its first byte selects the site, its second is the number of seconds
//! since the previous response, and the rest is the Set-Cookie field.

#![no_main]

use drumfire_cookies::{Jar, Site};
use libfuzzer_sys::fuzz_target;

const HOSTS: [&str; 8] = [
    "example.com",
    "b.example.com",
    "c.b.example.com",
    "xample.com",
    "localhost",
    "10.0.0.1",
    "::1",
    "",
];
const PATHS: [&str; 8] = ["", "/", "/a", "/a/", "/a/b", "/ab?/c", "*", "/a/b/c#d"];

fn site(choice: u8) -> Site<'static> {
    Site {
        host: HOSTS[usize::from(choice & 7)],
        path: PATHS[usize::from(choice >> 3 & 7)],
        is_secure: choice & 64 != 0,
    }
}

fn carried(jar: &mut Jar, site: Site<'_>, now: u64) -> String {
    let mut out = String::new();
    jar.write(site, now, &mut out);
    assert!(out.len() < 32 * 1024);
    assert!(out.chars().all(|c| !c.is_ascii_control() || c == '\t'));
    out
}

fuzz_target!(|data: &[u8]| {
    let mut jar = Jar::new();
    let mut now = 1_700_000_000;
    for line in data.split(|byte| *byte == b'\n') {
        let [choice, seconds, field @ ..] = line else {
            continue;
        };
        let site = site(*choice);
        now += u64::from(*seconds);
        let before = carried(&mut jar, site, now);
        let is_changed = jar.store(field, site, now);
        assert!(jar.len() <= 64);
        let after = carried(&mut jar, site, now);
        assert!(is_changed || before == after);
        // Storing a field twice does not change requests.
        jar.store(field, site, now);
        assert_eq!(carried(&mut jar, site, now), after);
    }
    let elsewhere = Site {
        host: "elsewhere.example",
        path: "/a/b",
        is_secure: true,
    };
    assert_eq!(carried(&mut jar, elsewhere, now), "");
});
