//! Comparison with the jar of `cookie_store`: equal responses give equal cookies in requests,
//! except for the differences listed here.

use crate::exchange::site;
use cookie_store::{Cookie, CookieDomain, CookieExpiration, CookieStore};
use drumfire_cookies::Jar;
use proptest::prelude::*;
use url::Url;

const DAY: u64 = 86_400;
/// The maximum lifetime of a cookie (section 5.5), which the other jar does not enforce.
const AGE_MAX: u64 = 400 * DAY;

/// The reasons why the two jars may differ on a field. All but the last two are rules of the draft
/// that the other jar lacks, because it follows RFC 6265.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Difference {
    /// Section 5.6: a field with control characters is ignored.
    ControlCharacter,
    /// Section 5.6: a pair may have no name.
    Nameless,
    /// Section 5.6.2: neither `-` nor an empty value is a number.
    MaxAgeWithoutDigits,
    /// Section 5.6.3: an empty Domain counts if it is last.
    EmptyDomain,
    /// Section 5.6.4: a Path without a value counts if it is last.
    PathWithoutEquals,
    /// Section 5.7, step 9: public suffixes, which the other jar supports only with a list.
    PublicSuffix,
    /// Section 5.7, step 13: Secure requires a secure site.
    SecureFromPlain,
    /// Section 5.7, step 16: secure cookies are not replaced.
    SecureLeftAlone,
    /// Section 5.7, steps 20 to 22: name prefixes.
    Prefix,
    /// Section 5.7, step 23: a host-only cookie and a domain cookie are different cookies.
    HostOnlyIdentity,
    /// The other jar parses only a few date forms, the algorithm of section 5.1.1 almost all.
    DateForm,
    /// The other jar converts domain names to ASCII; in a URL they already are ASCII.
    ForeignDomain,
}

/// An attribute of a field, parsed independently of the crate.
struct Attribute<'a> {
    name: String,
    value: Option<&'a str>,
}

fn attributes(field: &str) -> Vec<Attribute<'_>> {
    let parts = field.split(';').skip(1);
    parts
        .map(|part| match part.split_once('=') {
            Some((name, value)) => Attribute {
                name: name.trim().to_lowercase(),
                value: Some(value.trim()),
            },
            None => Attribute {
                name: part.trim().to_lowercase(),
                value: None,
            },
        })
        .collect()
}

/// The date forms that [`field`] generates and both jars parse.
fn is_common_date(value: &str) -> bool {
    value.ends_with(" GMT") && value.as_bytes().get(3) == Some(&b',')
}

/// The difference that follows from a field alone.
fn difference(field: &str, url: &Url) -> Option<Difference> {
    if field.chars().any(|c| c.is_ascii_control() && c != '\t') {
        return Some(Difference::ControlCharacter);
    }
    let pair = field.split(';').next().unwrap_or("");
    let name = pair.split_once('=').map_or("", |(name, _)| name.trim());
    if name.is_empty() {
        return Some(Difference::Nameless);
    }
    if name.to_lowercase().starts_with("__") {
        return Some(Difference::Prefix);
    }
    let attributes = attributes(field);
    for attribute in &attributes {
        let value = attribute.value.unwrap_or("");
        match (&*attribute.name, value) {
            ("max-age", "" | "-") => return Some(Difference::MaxAgeWithoutDigits),
            ("expires", date) if !is_common_date(date) => return Some(Difference::DateForm),
            ("path", "") if attribute.value.is_none() => {
                return Some(Difference::PathWithoutEquals);
            }
            ("secure", _) if url.scheme() == "http" => return Some(Difference::SecureFromPlain),
            ("domain", domain) if !domain.is_ascii() => return Some(Difference::ForeignDomain),
            _ => {}
        }
    }
    let domains: Vec<&str> = attributes
        .iter()
        .filter(|attribute| attribute.name == "domain")
        .map(|attribute| attribute.value.unwrap_or(""))
        .collect();
    match domains.as_slice() {
        [.., last] if last.is_empty() && domains.len() > 1 => Some(Difference::EmptyDomain),
        [.., last] if !last.is_empty() && !last.trim_matches('.').contains('.') => {
            Some(Difference::PublicSuffix)
        }
        _ => None,
    }
}

/// The difference that depends on stored cookies.
fn difference_beside(field: &str, url: &Url, store: &CookieStore) -> Option<Difference> {
    let cookie = Cookie::parse(field, url).ok()?;
    for other in store
        .iter_any()
        .filter(|other| other.name() == cookie.name())
    {
        let is_host_only = |domain: &CookieDomain| matches!(domain, CookieDomain::HostOnly(_));
        if other.secure() == Some(true) && url.scheme() == "http" {
            return Some(Difference::SecureLeftAlone);
        }
        if *other.path == *cookie.path
            && other.domain.as_cow() == cookie.domain.as_cow()
            && is_host_only(&other.domain) != is_host_only(&cookie.domain)
        {
            return Some(Difference::HostOnlyIdentity);
        }
    }
    None
}

/// The cookies that the other jar sends at `age` after `start`. Sorted, because that jar has no
/// order.
fn sent_by_other(store: &CookieStore, url: &Url, start: u64, age: u64) -> Vec<String> {
    let is_alive = |cookie: &Cookie<'_>| match &cookie.expires {
        CookieExpiration::SessionEnd => true,
        CookieExpiration::AtUtc(end) => {
            let end = u64::try_from(end.unix_timestamp()).unwrap_or(0);
            end.min(start + AGE_MAX) > start + age
        }
    };
    let mut pairs: Vec<String> = store
        .iter_any()
        .filter(|cookie| cookie.domain.matches(url) && cookie.path.matches(url))
        .filter(|cookie| cookie.secure() != Some(true) || url.scheme() == "https")
        .filter(|cookie| is_alive(cookie))
        .map(|cookie| format!("{}={}", cookie.name(), cookie.value()))
        .collect();
    pairs.sort();
    pairs
}

fn sent(jar: &Jar, url: &str, now: u64) -> Vec<String> {
    let mut out = String::new();
    jar.clone().write(site(url), now, &mut out);
    let mut pairs: Vec<String> = out.split("; ").map(str::to_owned).collect();
    pairs.retain(|pair| !pair.is_empty());
    pairs.sort();
    pairs
}

/// The second in which the other jar, which uses a clock, parses its fields.
fn start() -> u64 {
    let url = Url::parse("http://example.com/").expect("a URL");
    match Cookie::parse("a=1; Max-Age=1000", &url)
        .expect("a cookie")
        .expires
    {
        CookieExpiration::AtUtc(end) => end.unix_timestamp() as u64 - 1000,
        CookieExpiration::SessionEnd => panic!("a cookie that expires"),
    }
}

fn url() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "https"]);
    let host = prop::sample::select(vec![
        "example.com",
        "b.example.com",
        "c.b.example.com",
        "xample.com",
        "example.org",
        "com",
        "10.0.0.1",
        "1.10.0.0.1.example.com",
    ]);
    let path = prop_oneof![
        prop::sample::select(vec![
            "/",
            "/a",
            "/a/",
            "/a/b",
            "/ab",
            "/a/b/c?d=/e",
            "/?a/b"
        ])
        .prop_map(str::to_owned),
        "(/[ab]{0,2}){1,4}",
    ];
    (scheme, host, path).prop_map(|(scheme, host, path)| format!("{scheme}://{host}{path}"))
}

fn attribute() -> impl Strategy<Value = String> {
    let domain = prop::sample::select(vec![
        "example.com",
        ".example.com",
        "B.Example.com",
        "c.b.example.com",
        "example.org",
        "xample.com",
        "com",
        "10.0.0.1",
        "0.0.1",
        "..example.com",
        "example.com.",
        "\u{e4}.example.com",
        ".",
        "",
    ]);
    let path = prop_oneof![
        prop::sample::select(vec!["/", "/a", "/a/", "/a/b", "a", ""]).prop_map(str::to_owned),
        "(/[ab]{0,2}){1,3}",
    ];
    // Lifetimes far from the times of the requests, so that a second more or less does not matter.
    let age = prop::sample::select(vec![
        "0",
        "-1",
        "-0",
        "1000",
        "010000",
        "50000",
        "99999999999999999999",
        "x",
        "+5",
        "--5",
        "5s",
        "-",
        "",
    ]);
    let date = prop::sample::select(vec![
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Tue, 14 Nov 2023 22:13:20 GMT",
        "Sun, 29 Feb 2224 23:59:59 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "29 Feb 2224",
        "soon",
    ]);
    let flag = prop::sample::select(vec![
        "Secure",
        "secure=",
        "HttpOnly",
        "SameSite=Lax",
        "Partitioned",
        "Foo",
        "=",
        "",
        "Path",
        "Domain",
    ]);
    prop_oneof![
        domain.prop_map(|domain| format!("Domain={domain}")),
        path.prop_map(|path| format!("PATH = {path}")),
        age.prop_map(|age| format!("max-age={age} ")),
        date.prop_map(|date| format!("Expires=\t{date}")),
        flag.prop_map(str::to_owned),
    ]
}

fn field() -> impl Strategy<Value = String> {
    let pair = prop_oneof![
        8 => "[abA]=[a-c1=\", ]{0,5}",
        1 => "(__Host-|__Secure-|)a?=?1",
        1 => "[ab=;\u{e4} \t\n]{0,8}",
    ];
    let separator = prop::sample::select(vec!["; ", ";", " ;\t"]);
    let attributes = prop::collection::vec(attribute(), 0..4);
    (pair, separator, attributes).prop_map(|(pair, separator, attributes)| {
        let mut parts = vec![pair];
        parts.extend(attributes);
        parts.join(separator)
    })
}

/// Stores fields in both jars, except those on which they may differ.
struct Both {
    ours: Jar,
    other: CookieStore,
    start: u64,
}

impl Both {
    fn store(&mut self, field: &str, url: &str) -> Option<Difference> {
        let parsed = Url::parse(url).expect("a URL");
        let difference =
            difference(field, &parsed).or_else(|| difference_beside(field, &parsed, &self.other));
        if difference.is_none() {
            self.ours.store(field.as_bytes(), site(url), self.start);
            // If the other jar ignores a field, ours does too, as the requests show.
            let _ = self.other.parse(field, &parsed);
        }
        difference
    }
}

fn both() -> Both {
    Both {
        ours: Jar::new(),
        other: CookieStore::default(),
        start: start(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_same_cookies_are_sent(
        sets in prop::collection::vec((field(), url()), 1..30),
        requests in prop::collection::vec(url(), 1..10),
    ) {
        let mut both = both();
        for (field, url) in &sets {
            both.store(field, url);
        }
        for url in &requests {
            let parsed = Url::parse(url).expect("a URL");
            for age in [100, 5_000, 30_000, 300 * DAY, 401 * DAY] {
                let expected = sent_by_other(&both.other, &parsed, both.start, age);
                let own = sent(&both.ours, url, both.start + age);
                prop_assert_eq!(own, expected, "{} after {} s", url, age);
            }
        }
    }
}

/// Every listed difference is real: the two jars differ on its field.
#[test]
fn every_difference_is_one() {
    let tls = "https://b.example.com/a";
    let plain = "http://b.example.com/a";
    let rows = [
        (tls, "a=\x01", tls, Difference::ControlCharacter),
        (tls, "a", tls, Difference::Nameless),
        (tls, "a=1; Max-Age=-", tls, Difference::MaxAgeWithoutDigits),
        (
            tls,
            "a=1; Domain=example.com; Domain=",
            "https://example.com/a",
            Difference::EmptyDomain,
        ),
        (
            tls,
            "a=1; Path=/x; Path",
            tls,
            Difference::PathWithoutEquals,
        ),
        (tls, "a=1; Domain=com", tls, Difference::PublicSuffix),
        (plain, "a=1; Secure", tls, Difference::SecureFromPlain),
        (plain, "kept=2; Path=/", tls, Difference::SecureLeftAlone),
        (tls, "__Host-a=1", tls, Difference::Prefix),
        (
            tls,
            "kept=2; Path=/; Domain=b.example.com; Secure",
            tls,
            Difference::HostOnlyIdentity,
        ),
        (
            tls,
            "a=1; Expires=1 1999 Jan 00:00:00",
            tls,
            Difference::DateForm,
        ),
        (
            "https://xn--4ca.example.com/",
            "a=1; Domain=\u{e4}.example.com",
            "https://xn--4ca.example.com/",
            Difference::ForeignDomain,
        ),
    ];
    for (url, field, request, expected) in rows {
        let mut both = both();
        assert_eq!(both.store("kept=1; Path=/; Secure", tls), None);
        let urls = [url, request].map(|url| Url::parse(url).expect("a URL"));
        assert_eq!(both.store(field, url), Some(expected), "{field}");
        both.ours.store(field.as_bytes(), site(url), both.start);
        let _ = both.other.parse(field, &urls[0]);
        let other = sent_by_other(&both.other, &urls[1], both.start, 100);
        let own = sent(&both.ours, request, both.start + 100);
        assert_ne!(own, other, "{field} makes no difference");
    }
}
