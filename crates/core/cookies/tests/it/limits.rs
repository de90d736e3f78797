//! A jar is bounded: it evicts its earliest cookies.

use crate::exchange::{NOW, carried, site};
use drumfire_cookies::Jar;

const URL: &str = "http://example.com/";

fn store(jar: &mut Jar, field: &str) {
    assert!(jar.store(field.as_bytes(), site(URL), NOW));
}

/// The names in a Cookie field.
fn names(jar: &mut Jar) -> Vec<String> {
    let field = carried(jar, URL, NOW);
    let name = |pair: &str| pair.split('=').next().expect("a name").to_owned();
    field.split("; ").map(name).collect()
}

#[test]
fn the_65th_cookie_takes_the_place_of_the_first() {
    let mut jar = Jar::new();
    for number in 0..64 {
        store(&mut jar, &format!("n{number}=v"));
    }
    assert_eq!(jar.len(), 64);
    assert_eq!(names(&mut jar)[0], "n0");
    // Storing a cookie again needs no further room.
    store(&mut jar, "n5=w");
    assert_eq!(names(&mut jar)[0], "n0");
    store(&mut jar, "n64=v");
    assert_eq!(jar.len(), 64);
    let names = names(&mut jar);
    assert_eq!((&*names[0], &*names[63]), ("n1", "n64"));
}

#[test]
fn bytes_are_bounded_and_a_value_that_grows_keeps_its_place() {
    let long = "v".repeat(4000);
    let mut jar = Jar::new();
    for name in ["a", "b", "c", "d"] {
        store(&mut jar, &format!("{name}={long}"));
    }
    assert_eq!(names(&mut jar), ["a", "b", "c", "d"]);
    store(&mut jar, &format!("e={long}"));
    assert_eq!(names(&mut jar), ["b", "c", "d", "e"]);
    store(&mut jar, "b=1");
    store(&mut jar, &format!("f={}", "v".repeat(3900)));
    assert_eq!(names(&mut jar), ["b", "c", "d", "e", "f"]);
    // The earliest other cookie is evicted.
    store(&mut jar, &format!("b={long}"));
    assert_eq!(names(&mut jar), ["b", "d", "e", "f"]);
    store(&mut jar, "d=1");
    store(&mut jar, &format!("g={}", "v".repeat(3900)));
    store(&mut jar, &format!("e={}", "w".repeat(4095)));
    assert_eq!(names(&mut jar), ["b", "d", "e", "f", "g"]);
    store(&mut jar, &format!("d={long}"));
    assert_eq!(names(&mut jar), ["d", "e", "f", "g"]);
    assert!(carried(&mut jar, URL, NOW).contains("w; f=v"));
}

#[test]
fn a_cookie_larger_than_a_jar_is_refused() {
    let mut jar = Jar::new();
    let url = format!("http://example.com/{}/", "p".repeat(16_400));
    assert!(!jar.store(b"a=1", site(&url), NOW));
    assert!(jar.store(b"a=1; Path=/", site(&url), NOW));
    assert_eq!(names(&mut jar), ["a"]);
}
