//! Heads of requests: their bytes, and the parts that are refused.

use drumfire_http1::request::{RequestError, RequestFraming, write_head};
use proptest::prelude::*;

fn written(fields: &[(&str, &str)], framing: RequestFraming) -> Result<String, RequestError> {
    let mut out = b"before".to_vec();
    let headers = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
    let result = write_head(&mut out, "POST", "/a?b", "example.org:81", headers, framing);
    let text = String::from_utf8(out).expect("ASCII in, ASCII out");
    let text = text.strip_prefix("before").expect("what was there stays");
    assert!(
        result.is_ok() || text.is_empty(),
        "a refused head leaves nothing"
    );
    result.map(|()| text.to_owned())
}

const LINE: &str = "POST /a?b HTTP/1.1\r\nHost: example.org:81\r\n";

#[test]
fn a_head_has_its_line_its_fields_and_its_framing() {
    let check = |fields: &[(&str, &str)], framing, rest: &str| {
        assert_eq!(written(fields, framing), Ok(format!("{LINE}{rest}\r\n")));
    };
    check(&[], RequestFraming::None, "");
    check(
        &[("Accept", "*/*")],
        RequestFraming::None,
        "Accept: */*\r\n",
    );
    check(
        &[("X-A", "ä\tb")],
        RequestFraming::Length(7),
        "X-A: ä\tb\r\nContent-Length: 7\r\n",
    );
    check(
        &[],
        RequestFraming::Chunked,
        "Transfer-Encoding: chunked\r\n",
    );
    // A framing field of the user replaces the generated one if both agree.
    check(
        &[("content-length", "7")],
        RequestFraming::Length(7),
        "content-length: 7\r\n",
    );
    check(
        &[("Content-Length", "0")],
        RequestFraming::None,
        "Content-Length: 0\r\n",
    );
}

#[test]
fn an_ambiguous_head_is_refused() {
    let framing = |name: &str| Err(RequestError::Framing(name.to_owned()));
    let length = RequestFraming::Length(7);
    assert_eq!(
        written(&[("host", "a")], length),
        Err(RequestError::DuplicateHost)
    );
    assert_eq!(
        written(&[("Content-Length", "8")], length),
        framing("Content-Length")
    );
    assert_eq!(
        written(&[("Content-Length", "7"); 2], length),
        framing("Content-Length")
    );
    assert_eq!(
        written(&[("Transfer-Encoding", "chunked")], length),
        framing("Transfer-Encoding")
    );
    assert_eq!(
        written(&[("Content-Length", "7")], RequestFraming::Chunked),
        framing("Content-Length")
    );
    assert_eq!(
        written(&[("Content-Length", "7")], RequestFraming::None),
        framing("Content-Length")
    );
}

#[test]
fn a_malformed_head_is_refused() {
    let none = RequestFraming::None;
    for value in ["a\r\nX: b", "a\nb", "a\0b", "a\x7fb"] {
        assert_eq!(
            written(&[("X-A", value)], none),
            Err(RequestError::Value("X-A".to_owned()))
        );
    }
    for name in ["", "a b", "a:", "a\r\n", "ä"] {
        assert_eq!(
            written(&[(name, "a")], none),
            Err(RequestError::Name(name.to_owned()))
        );
    }
    let line = |method, target, host| write_head(&mut Vec::new(), method, target, host, [], none);
    assert_eq!(line("GE T", "/", "a"), Err(RequestError::Method));
    assert_eq!(line("", "/", "a"), Err(RequestError::Method));
    for target in ["", "/a b", "/a\r\nHost: b", "/\x7f"] {
        assert_eq!(line("GET", target, "a"), Err(RequestError::Target));
    }
    assert_eq!(line("GET", "/", "a\r\nX: b"), Err(RequestError::Host));
    assert_eq!(line("GET", "/", ""), Ok(()));
    assert_eq!(
        line("GET", "/?ä", "a"),
        Ok(()),
        "a query goes out as it was given"
    );
}

proptest! {
    /// A server's reader finds exactly the given parts in every written head.
    #[test]
    fn what_is_written_reads_back(
        method in "[!-~]{1,8}",
        target in "\\PC{1,20}",
        fields in prop::collection::vec(("[ -~]{1,6}", prop::collection::vec(any::<u8>(), 0..12)), 0..5),
        length in prop::option::of(0u64..1000),
    ) {
        let framing = length.map_or(RequestFraming::None, RequestFraming::Length);
        let mut out = Vec::new();
        let given = fields.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        if write_head(&mut out, &method, &target, "h", given, framing).is_ok() {
            let mut read = [httparse::EMPTY_HEADER; 16];
            let mut request = httparse::Request::new(&mut read);
            prop_assert_eq!(request.parse(&out), Ok(httparse::Status::Complete(out.len())));
            prop_assert_eq!(request.method, Some(method.as_str()));
            prop_assert_eq!(request.path, Some(target.as_str()));
            prop_assert!(request.headers.len() <= 2 + fields.len());
            for (read, (name, value)) in request.headers[1..].iter().zip(&fields) {
                prop_assert_eq!(read.name, name.as_str());
                prop_assert_eq!(read.value, value.trim_ascii());
            }
        }
    }
}
