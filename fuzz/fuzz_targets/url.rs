//! Arbitrary text as a URL, and arbitrary bytes as a Location: an accepted URL is written unchanged
//! to a request line and a Host field, and parses to the same URL.

#![no_main]

use drumfire_http1::request::{RequestFraming, write_head};
use drumfire_plan::Url;
use libfuzzer_sys::fuzz_target;

fn check(url: &Url) {
    assert!(url.target.starts_with('/'));
    assert_ne!(url.origin.port, 0);
    let mut head = Vec::new();
    let host = url.origin.host_header();
    write_head(
        &mut head,
        "GET",
        &url.target,
        &host,
        [],
        RequestFraming::None,
    )
    .expect("a URL that parses can be sent");
    // The text has no user and no password, and the same origin.
    let again = Url::parse(&url.to_string()).expect("its own text parses");
    assert_eq!(again.origin, url.origin);
    assert_eq!(again.target, url.target);
    assert_eq!(again.userinfo, None);
}

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |&byte| byte == b'\n');
    let Some(Ok(text)) = lines.next().map(str::from_utf8) else {
        return;
    };
    let Ok(url) = Url::parse(text) else { return };
    check(&url);
    if let Some(Ok(next)) = lines.next().map(|location| url.join(location)) {
        check(&next);
        if next.origin != url.origin && next.userinfo.is_some() {
            assert!(
                next.userinfo != url.userinfo || lines_hold_user(data),
                "credentials cross an origin"
            );
        }
    }
});

/// Whether the Location itself contains a user.
fn lines_hold_user(data: &[u8]) -> bool {
    let location = data
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(&[][..], |at| &data[at..]);
    location.contains(&b'@')
}
