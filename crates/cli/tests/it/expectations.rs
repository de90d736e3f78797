//! What a response must be: the flags of `drumfire http`, hashes of a part, a hash for each URL.

use crate::support::{Folder, Report, Serve, http, load};

const SHA256: &str = "sha256 dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f";
const FNV: &str = "fnv1a64 6ef05bd7cc857c54";
/// A digest that no body here has.
const OTHER: &str = "xxh3 0000000000000001";

/// How many failures there are of each kind.
fn failures(report: &Report) -> Vec<(String, u64)> {
    let rows = report.at("errors").as_array().cloned().unwrap_or_default();
    let rows = rows.iter().map(|row| {
        let kind = row["kind"].as_str().unwrap().to_owned();
        (kind, row["count"].as_u64().unwrap())
    });
    rows.collect()
}

#[test]
fn a_response_that_is_not_as_expected_fails_under_its_name() {
    let server = Serve::new("");
    for (flags, kind) in [
        ("--expect-status 200", None),
        ("--expect-status 201,300-599", Some("http_status")),
        ("--expect-header 'Content-Length: =13'", None),
        (
            "--expect-header 'Content-Length: exists' --expect-header 'X-No: exists'",
            Some("assert:header"),
        ),
        (
            "--expect-body 'contains World' --expect-body 'not contains {'",
            None,
        ),
        ("--expect-body 'equals Hello'", Some("assert:body")),
        (&format!("--expect-hash '{SHA256}'"), None),
        (
            &format!(
                "--expect-hash '{}'",
                SHA256.to_uppercase().replace("SHA", "sha")
            ),
            None,
        ),
        (&format!("--expect-hash '{FNV} sample 50%'"), None),
        ("--expect-hash 'xxh3 0123456789abcdef'", Some("assert:body")),
    ] {
        let report = load(&format!("{flags} -c 2 -n 6 {}plaintext", server.url));
        let expected: Vec<_> = kind.map(|kind| (kind.to_owned(), 6)).into_iter().collect();
        assert_eq!(failures(&report), expected, "{flags}");
        assert_eq!(report.code, Some(i32::from(kind.is_some())), "{flags}");
        // The first body is kept as an example, where it is the body or the status.
        let bodies = report.at("failed_bodies").as_array().map_or(0, Vec::len);
        let is_kept = kind.is_some_and(|kind| kind != "assert:header");
        assert_eq!(bodies, usize::from(is_kept), "{flags}");
    }
}

#[test]
fn a_hash_is_taken_of_exactly_its_part_of_all_responses() {
    let server = Serve::new("");
    for (share, threads, count) in [
        ("10%", 1, 20),
        ("10%", 2, 20),
        ("2.5%", 2, 5),
        ("100%", 1, 200),
    ] {
        let flags = format!("--threads {threads} --expect-hash '{OTHER} sample {share}'");
        let report = load(&format!("{flags} -c 4 -n 200 {}plaintext", server.url));
        let expected = [("assert:body".to_owned(), count)];
        assert_eq!(failures(&report), expected, "{share}");
    }
}

#[test]
fn a_url_of_a_list_may_have_a_hash_of_its_own() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let url = &server.url;
    // Whole URLs are read by the compiler, and others by the command.
    for (prefix, query) in [("http://", "d={{ uuid }}"), ("", "d")] {
        let url = url.replace("http://", prefix);
        let lines = [
            format!("{url}plaintext {SHA256}\n"),
            format!("{url}plaintext?b fnv1a64 0000000000000001\n"),
            format!("{url}plaintext?c\n"),
            format!("{url}plaintext?{query} {FNV}\n"),
        ];
        let list = folder.write("urls.txt", lines.concat());
        let report = load(&format!("-c 1 -n 40 @{list}"));
        let expected = [("assert:body".to_owned(), 10)];
        assert_eq!(failures(&report), expected, "{prefix}");
    }
    // What the flag says holds for the others.
    let list = folder.write(
        "urls.txt",
        format!("{url}plaintext {SHA256}\n{url}plaintext\n"),
    );
    let report = load(&format!("--expect-hash '{OTHER}' -c 1 -n 40 @{list}"));
    assert_eq!(failures(&report), [("assert:body".to_owned(), 20)]);
}

#[test]
fn checks_that_are_none_are_refused_by_their_flags() {
    for (flags, expected) in [
        ("--expect-status 2x", "--expect-status"),
        ("--expect-status 600", "--expect-status"),
        ("--expect-header nothing", "--expect-header"),
        ("--expect-header 'A: like b'", "--expect-header"),
        ("--expect-body ''", "--expect-body"),
        ("--expect-body 'matches /(/'", "--expect-body"),
        ("--expect-hash 'sha256 00'", "64 hexadecimal digits"),
        ("--expect-hash sha256", "--expect-hash"),
        ("--expect-hash 'md5 00'", "--expect-hash"),
        ("--expect-hash 'sha256 00 sample'", "--expect-hash"),
        ("--expect-hash 'sha256 00 sample 0%'", "--expect-hash"),
        ("--expect-hash 'sha256 00 of 10%'", "--expect-hash"),
    ] {
        let run = http(&format!("{flags} -n 1 http://127.0.0.1:9/"));
        assert_eq!(run.code, Some(2), "{flags}: {run:?}");
        assert!(run.stderr.contains(expected), "{flags}: {}", run.stderr);
    }
}
