//! Sections 5.5, 5.6.1 and 5.6.2: the lifetime of a cookie.

use crate::exchange::{NOW, carried, jar, site};
use drumfire_cookies::Jar;

const URL: &str = "http://example.com/";
const DAY: u64 = 86_400;
/// [`NOW`] and one hour later, as dates.
const EXPIRES_NOW: &str = "Expires=Tue, 14 Nov 2023 22:13:20 GMT";
const EXPIRES_LATER: &str = "Expires=Tue, 14 Nov 2023 23:13:20 GMT";

/// Checks that a cookie with these attributes is sent for `seconds` and not longer.
fn check(attributes: &str, seconds: u64) {
    let jar = jar(&[(URL, &format!("a=1; {attributes}"))]);
    let sent = |age| carried(&mut jar.clone(), URL, NOW + age) == "a=1";
    assert_eq!(jar.len(), usize::from(seconds > 0), "{attributes}");
    assert!(seconds == 0 || sent(seconds - 1), "{attributes}");
    assert!(!sent(seconds), "{attributes}");
}

#[test]
fn a_cookie_ends_at_its_time() {
    check("Max-Age=1", 1);
    check("max-age = 0060", 60);
    check("Max-Age=0", 0);
    check("Max-Age=-1", 0);
    check("Max-Age=-0", 0);
    check(EXPIRES_LATER, 3600);
    check(EXPIRES_NOW, 0);
    check("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0);
    check("Expires=Mon, 01 Jan 1601 00:00:00 GMT", 0);
}

#[test]
fn max_age_goes_before_expires() {
    check(&format!("Max-Age=5; {EXPIRES_LATER}"), 5);
    check(&format!("{EXPIRES_NOW}; Max-Age=5"), 5);
    check(&format!("{EXPIRES_LATER}; Max-Age=0"), 0);
    check(&format!("{EXPIRES_LATER}; Max-Age=never"), 3600);
}

#[test]
fn no_cookie_lives_longer_than_400_days() {
    check("Max-Age=34559999", 400 * DAY - 1);
    check("Max-Age=34560001", 400 * DAY);
    check("Max-Age=99999999999999999999999999", 400 * DAY);
    check("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * DAY);
}

#[test]
fn without_a_time_that_can_be_read_it_lasts_as_long_as_the_jar() {
    for attributes in [
        "",
        "Max-Age",
        "Max-Age=",
        "Max-Age=-",
        "Max-Age=+5",
        "Max-Age=5s",
        "Max-Age=--5",
        "Max-Age=0.5",
        "Expires=0",
        "Expires=tomorrow",
        "Expires=Tue, 31 Nov 2023 22:13:20 GMT",
    ] {
        let mut jar = jar(&[(URL, &format!("a=1; {attributes}"))]);
        let far = NOW + 100_000 * DAY;
        assert_eq!(carried(&mut jar, URL, far), "a=1", "{attributes}");
    }
}

#[test]
fn expired_cookies_leave_the_jar_with_its_next_use() {
    let sets = [
        "a=1; Max-Age=10",
        "b=2",
        "c=3; Max-Age=20",
        "d=4; Max-Age=10",
    ];
    let mut jar = jar(&sets.map(|field| (URL, field)));
    assert_eq!(jar.len(), 4);
    assert_eq!(carried(&mut jar, URL, NOW + 10), "b=2; c=3");
    assert_eq!(jar.len(), 2);
    assert!(jar.store(b"e=5", site(URL), NOW + 20));
    assert_eq!(carried(&mut jar, URL, NOW + 20), "b=2; e=5");
}

#[test]
fn a_value_that_comes_again_has_a_new_end() {
    let mut jar = jar(&[(URL, "a=1; Max-Age=10"), (URL, "a=2")]);
    assert_eq!(carried(&mut jar, URL, NOW + 10), "a=2");
    let mut jar = Jar::new();
    for start in [0, 9, 18] {
        assert!(jar.store(b"a=1; Max-Age=10", site(URL), NOW + start));
    }
    assert_eq!(carried(&mut jar, URL, NOW + 27), "a=1");
    assert_eq!(carried(&mut jar, URL, NOW + 28), "");
}

#[test]
fn times_at_the_ends_of_their_range_are_times() {
    for now in [0, u64::MAX - 1, u64::MAX] {
        let mut jar = Jar::new();
        jar.store(b"a=1; Max-Age=99", site(URL), now);
        jar.store(b"b=1; Expires=31 Dec 9999 23:59:59", site(URL), now);
        jar.store(b"c=1; Max-Age=0", site(URL), now);
        assert!(!carried(&mut jar, URL, now).contains('c'));
    }
}
