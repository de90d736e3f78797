//! Redirects, as the HTTP client of k6's language follows them.

use crate::errand::Hop;
use drumfire_plan::{Header, Method, Scheme, secret::is_secret};

/// Fields that describe a body.
const OF_BODY: [&str; 5] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "content-location",
];

/// The request that follows a response; `None` if the response is not a redirect.
///
/// # Errors
///
/// Why the redirect cannot be followed.
pub(crate) fn next(hop: &Hop, status: u16, location: Option<&[u8]>) -> Result<Option<Hop>, String> {
    let location = match (status, location) {
        (301 | 302 | 303 | 307 | 308, Some(location)) if !location.is_empty() => location,
        _ => return Ok(None),
    };
    let url = hop.url.join(location);
    let mut url = url.map_err(|error| format!("the Location of the redirect: {error}"))?;
    let same = url.origin == hop.url.origin;
    url.userinfo = hop.url.userinfo.clone().filter(|_| same);
    let becomes_get = matches!(status, 301..=303) && hop.method.as_str() != "HEAD";
    let dropped = |header: &Header| {
        !same && (is_secret(header.name()) || header.is("host"))
            || becomes_get && OF_BODY.iter().any(|name| header.is(name))
            || header.is("referer")
            || header.is("host") && location.windows(3).any(|part| part == b"://")
    };
    let kept = hop.headers.iter().filter(|header| !dropped(header));
    let mut headers: Vec<Header> = kept.cloned().collect();
    let downgrades = hop.url.origin.scheme == Scheme::Https && url.origin.scheme == Scheme::Http;
    if !downgrades && let Ok(referer) = Header::new("Referer", hop.shown.as_bytes()) {
        headers.push(referer);
    }
    let (method, body) = match becomes_get {
        true => (Method::get(), None),
        false => (hop.method.clone(), hop.body.clone()),
    };
    Ok(Some(Hop {
        shown: url.to_string(),
        url,
        method,
        headers,
        body,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::Url;

    fn post() -> Hop {
        let header = |name: &str, value: &str| Header::new(name, value.as_bytes()).unwrap();
        Hop {
            url: Url::parse("http://a.test/one").unwrap(),
            shown: "http://a.test/one".to_owned(),
            method: Method::parse("POST").unwrap(),
            headers: vec![
                header("Content-Type", "text/plain"),
                header("Authorization", "Bearer x"),
                header("X-Own", "1"),
            ],
            body: Some(b"body".as_slice().into()),
        }
    }

    #[test]
    fn methods_bodies_and_credentials() {
        for (status, location, method, names) in [
            (
                302,
                "/two",
                "GET",
                vec!["Authorization", "X-Own", "Referer"],
            ),
            (
                307,
                "/two",
                "POST",
                vec!["Content-Type", "Authorization", "X-Own", "Referer"],
            ),
            (303, "http://b.test/", "GET", vec!["X-Own", "Referer"]),
        ] {
            let hop = next(&post(), status, Some(location.as_bytes()));
            let hop = hop.unwrap().expect("a redirect");
            let sent: Vec<&str> = hop.headers.iter().map(Header::name).collect();
            assert_eq!((hop.method.as_str(), sent), (method, names), "{status}");
            assert_eq!(hop.body.is_some(), method == "POST");
        }
        assert!(next(&post(), 302, None).unwrap().is_none());
        assert!(next(&post(), 200, Some(b"/two")).unwrap().is_none());
        assert!(next(&post(), 302, Some(b"ftp://b.test/")).is_err());
    }
}
