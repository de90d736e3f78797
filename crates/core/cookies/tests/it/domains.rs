//! Sections 5.1.3 and 5.6.3: the hosts to which a cookie is sent.

use crate::exchange::check;

#[test]
fn a_domain_goes_to_the_hosts_below_it() {
    for domain in [
        "example.com",
        ".example.com",
        "EXAMPLE.com",
        " example.com ",
    ] {
        let field = format!("a=1; Domain={domain}");
        check(
            &[("http://b.example.com/", &field)],
            &[
                ("http://example.com/", "a=1"),
                ("http://b.example.com/", "a=1"),
                ("http://c.b.example.com/", "a=1"),
                ("http://bexample.com/", ""),
                ("http://example.com.org/", ""),
                ("http://com/", ""),
            ],
        );
    }
}

#[test]
fn without_one_only_the_host_counts() {
    for field in ["a=1", "a=1; Domain=", "a=1; Domain", "a=1; Domain=."] {
        check(
            &[("http://b.example.com/", field)],
            &[
                ("http://b.example.com/", "a=1"),
                ("http://c.b.example.com/", ""),
                ("http://example.com/", ""),
            ],
        );
    }
}

#[test]
fn a_host_sets_no_cookies_for_others() {
    for domain in [
        "c.b.example.com",
        "ample.com",
        "example.org",
        "..example.com",
        "example.com.",
        "b.example.co",
        "\u{e4}.example.com",
        "[example.com",
        "*.example.com",
    ] {
        let field = format!("a=1; Domain={domain}");
        check(
            &[("http://b.example.com/", &field)],
            &[
                ("http://b.example.com/", ""),
                ("http://c.b.example.com/", ""),
            ],
        );
    }
}

#[test]
fn a_name_without_a_dot_inside_stands_for_a_public_suffix() {
    for (host, domain) in [
        ("example.com", "com"),
        ("example.com", ".com"),
        ("example.com.", "com."),
        ("b.localhost", "localhost"),
    ] {
        let url = format!("http://{host}/");
        check(&[(&url, &format!("a=1; Domain={domain}"))], &[(&url, "")]);
    }
    // If the Domain is the host itself, step 9 of section 5.7 makes the cookie host-only.
    check(
        &[("http://localhost/", "a=1; Domain=localhost")],
        &[("http://localhost/", "a=1"), ("http://b.localhost/", "")],
    );
}

#[test]
fn an_address_is_only_itself() {
    check(
        &[
            ("http://10.0.0.1/", "a=1"),
            ("http://10.0.0.1/", "b=2; Domain=10.0.0.1"),
            ("http://10.0.0.1/", "c=3; Domain=0.0.1"),
            ("http://10.0.0.1/", "d=4; Domain=.1"),
            ("http://[::1]/", "e=5"),
            ("http://[::1]/", "f=6; Domain=[::1]"),
            ("http://[::1]/", "g=7; Domain=::1"),
            ("http://[2001:db8::10.0.0.1]/", "h=8; Domain=0.0.1"),
        ],
        &[
            ("http://10.0.0.1/", "a=1; b=2"),
            ("http://1.10.0.0.1/", "b=2"),
            ("http://20.0.0.1/", ""),
            ("http://[::1]/", "e=5; f=6; g=7"),
            ("http://[2001:db8::10.0.0.1]/", ""),
        ],
    );
}

#[test]
fn cookies_of_the_host_alone_are_others_than_those_of_the_domain() {
    check(
        &[
            ("http://example.com/", "a=1"),
            ("http://example.com/", "a=2; Domain=example.com"),
            ("http://b.example.com/", "a=3; Domain=example.com"),
        ],
        &[
            ("http://example.com/", "a=1; a=3"),
            ("http://b.example.com/", "a=3"),
        ],
    );
}
