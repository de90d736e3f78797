use super::{
    Ammo, AmmoData, AmmoField, AmmoFormat, AmmoOptions, AmmoPick, AutoTag, Calls, Precedence,
    Storage, Timing,
};
use crate::{FieldTemplate, ReadAt, Sources, Template, Text};
use drumfire_plan::{HttpVersion, Pick, RenderedFields, RequestContext, RequestData};
use proptest::prelude::*;
use std::sync::Arc;

/// A file that says that it is too large for memory.
#[derive(Debug)]
struct Large(Vec<u8>);

impl ReadAt for Large {
    fn size(&self) -> u64 {
        u64::MAX
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        // A little at a time, as files may.
        let most = into.len().min(1000);
        self.0.read_at(offset, &mut into[..most])
    }
}

/// The n-th request, in lines.
fn shown(ammo: &Arc<Ammo>, arrival: u64) -> String {
    let class = AmmoPick(Arc::clone(ammo)).pick(arrival) as usize;
    let (of, data) = (
        &ammo.classes()[class],
        AmmoData::new(Arc::clone(ammo), class),
    );
    let request = RequestContext {
        arrival,
        ..RequestContext::default()
    };
    let (mut target, mut body) = (String::new(), Vec::new());
    let mut fields = RenderedFields::default();
    data.target(&request, &mut target).expect("a target");
    data.fields(&request, &mut fields).expect("fields");
    data.message(&request, 0, &mut body).expect("a body");
    let fields: String = fields
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    let body = match of.parts.body {
        true => format!(" <{}>", String::from_utf8_lossy(&body)),
        false => String::new(),
    };
    format!("{}: {} {target}{fields}{body}", of.name, of.method)
}

fn options(format: AmmoFormat) -> AmmoOptions {
    AmmoOptions {
        format,
        ..AmmoOptions::default()
    }
}

/// All requests of one pass, in memory and streamed.
fn all(text: &[u8], options: &AmmoOptions) -> Vec<String> {
    let read = |source: Arc<dyn ReadAt>| {
        let ammo = Ammo::read(source, options.clone()).unwrap_or_else(|error| panic!("{error}"));
        Arc::new(ammo)
    };
    let small = read(Arc::new(text.to_vec()));
    assert!(small.is_in_memory());
    let requests: Vec<String> = (0..small.rows()).map(|n| shown(&small, n)).collect();
    let large = read(Arc::new(Large(text.to_vec())));
    let streamed: Vec<String> = (0..large.rows()).rev().map(|n| shown(&large, n)).collect();
    assert_eq!(requests, streamed.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(shown(&small, small.rows()), requests[0], "it begins again");
    requests
}

fn error(text: &[u8], options: &AmmoOptions) -> String {
    let small = Ammo::read(Arc::new(text.to_vec()), options.clone());
    let large = Ammo::read(Arc::new(Large(text.to_vec())), options.clone());
    let small = small.map(drop).expect_err("an error").to_string();
    assert_eq!(large.map(drop).expect_err("an error").to_string(), small);
    small
}

const URI: &str = "[Host: a.test]\n/one\n\n/two?x=1 buy now\n[X-N: 1]\n[host: b.test]\nhttp://c.test/three buy now\n/four\n";

#[test]
fn a_path_that_no_server_takes_is_refused_with_its_line() {
    let text = format!("/a\n/{}\n", "b".repeat(65_536));
    let error = Ammo::read(Arc::new(text.into_bytes()), options(AmmoFormat::Uri));
    let words = "line 2: the path and query have 65537 bytes; at most 65536 are accepted";
    assert_eq!(error.expect_err("too long").to_string(), words);
}

#[test]
fn uri_has_tags_and_standing_headers() {
    assert_eq!(
        all(URI.as_bytes(), &options(AmmoFormat::Uri)),
        [
            "GET: GET /one Host=a.test",
            "buy now: GET /two?x=1 Host=a.test",
            "buy now: GET /three Host=c.test X-N=1",
            "GET: GET /four Host=b.test X-N=1",
        ]
    );
    let mut chosen = options(AmmoFormat::Uri);
    chosen.chosen = vec!["buy now".to_owned()];
    assert_eq!(all(URI.as_bytes(), &chosen).len(), 2);
    chosen.chosen = vec!["buy".to_owned()];
    assert_eq!(
        error(URI.as_bytes(), &chosen),
        "no request in the file has a tag from this list: buy"
    );
}

#[test]
fn headers_of_the_plan_stand_above_or_below() {
    let mut with = options(AmmoFormat::Uri);
    let planned = |name: &str, value: &str, precedence| {
        AmmoField::fixed(name.to_owned(), value.to_owned(), precedence)
    };
    let both = |precedence| {
        let host = planned("Host", "plan.test", precedence);
        vec![planned("x-n", "plan", precedence), host]
    };
    with.fields = both(Precedence::File);
    assert_eq!(
        all(URI.as_bytes(), &with)[2..],
        [
            "buy now: GET /three Host=c.test X-N=1",
            "GET: GET /four Host=b.test X-N=1",
        ]
    );
    with.fields = both(Precedence::Plan);
    assert_eq!(
        all(URI.as_bytes(), &with)[2..],
        [
            "buy now: GET /three Host=c.test x-n=plan",
            "GET: GET /four Host=plan.test x-n=plan",
        ]
    );
}

#[test]
fn headers_of_the_plan_may_vary_with_the_request() {
    let sources = Arc::new(Sources::new());
    let varying = |name: &str, text: &str, part, precedence| {
        let template = Template::compile(text, Text::Plain, &sources).expect("a template");
        AmmoField::varying(
            FieldTemplate::new(name.to_owned(), template),
            part,
            precedence,
        )
    };
    let mut with = options(AmmoFormat::Uri);
    with.fields = vec![
        varying("X-Id", "{{ iteration }}", 0, Precedence::File),
        varying("X-N", "{{ user }}", 1, Precedence::Plan),
    ];
    assert_eq!(
        all(b"/a\n[x-id: file]\n[X-N: file]\n/b\n", &with),
        ["GET: GET /a X-Id=0 X-N=0", "GET: GET /b x-id=file X-N=0"]
    );
}

#[test]
fn names_come_from_tags_paths_or_the_plan() {
    let mut with = options(AmmoFormat::Uri);
    let names = |with: &AmmoOptions| -> Vec<String> {
        let all = all(b"/a/b/c?d\n/a/b tag\n", with);
        let name = |shown: &String| shown.split(": ").next().unwrap_or_default().to_owned();
        all.iter().map(name).collect()
    };
    with.name = Some("none".to_owned());
    assert_eq!(names(&with), ["none", "tag"]);
    let elements = 1;
    with.auto_tag = Some(AutoTag {
        elements,
        beside: false,
    });
    assert_eq!(names(&with), ["/a", "tag"]);
    with.auto_tag = Some(AutoTag {
        elements,
        beside: true,
    });
    assert_eq!(names(&with), ["/a", "tag|/a"]);
}

#[test]
fn a_file_may_begin_with_a_mark() {
    for (format, text) in [
        (AmmoFormat::Uri, "\u{feff}/a"),
        (AmmoFormat::JsonLine, "\u{feff}{\"uri\": \"/a\"}"),
        (AmmoFormat::JsonLine, "\u{feff}[{\"uri\": \"/a\"}]"),
    ] {
        assert_eq!(all(text.as_bytes(), &options(format)), ["GET: GET /a"]);
    }
}

#[test]
fn uripost_has_bodies_of_any_bytes() {
    let text = b"[A: b]\n5 /one tag\na\nb\x00c\n\n0 /two\n3 /three\n[x]";
    assert_eq!(
        all(text, &options(AmmoFormat::UriPost)),
        [
            "tag: POST /one A=b <a\nb\u{0}c>",
            "POST: POST /two A=b <>",
            "POST: POST /three A=b <[x]>",
        ]
    );
}

#[test]
fn raw_has_whole_requests() {
    let one = "POST http://a.test/x?y HTTP/1.0\r\nHost: b.test\r\nUser-Agent: me\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let two = "GET / HTTP/1.1\nHost: b.test\n\n";
    let three =
        "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x\r\ncde\r\n0\r\n\r\n";
    let text = format!(
        "{} tag one\n{one}\n{}\n{two}\n\n{}\n{three}",
        one.len(),
        two.len(),
        three.len()
    );
    assert_eq!(
        all(text.as_bytes(), &options(AmmoFormat::Raw)),
        [
            "tag one: POST /x?y Host=a.test User-Agent=me Connection=close <hi>",
            "GET: GET / Host=b.test",
            "PUT: PUT /c <abcde>",
        ]
    );
}

#[test]
fn raw_requests_may_be_folded_and_of_another_version() {
    let one = "GET /a HTTP/1.1\r\nX-A: one\r\n two\r\n\tthree\r\nX-B: b\r\n\r\n";
    let two = "GET /b HTTP/2.0\r\nX-C: c\r\n\r\n";
    let text = format!("{}\n{one}{}\n{two}", one.len(), two.len());
    assert_eq!(
        all(text.as_bytes(), &options(AmmoFormat::Raw)),
        ["GET: GET /a X-A=one two three X-B=b", "GET: GET /b X-C=c"]
    );
    let text = "19\nGET /b HTTP/3.0\r\n\r\n";
    let error = error(text.as_bytes(), &options(AmmoFormat::Raw));
    assert!(error.contains("is not a request line"), "{error}");
}

#[test]
fn a_host_that_is_none_is_refused_with_its_line() {
    for (format, text) in [
        (AmmoFormat::Uri, "[Host: bad host]\n/a\n"),
        (
            AmmoFormat::JsonLine,
            "{\"uri\": \"/a\", \"host\": \"bad host\"}",
        ),
    ] {
        let error = error(text.as_bytes(), &options(format));
        let words = "`bad host` is not a host; write a name or an address";
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_header_of_null_is_empty() {
    let text = "{\"uri\": \"/a\", \"headers\": {\"A\": null, \"Host\": null}}";
    assert_eq!(
        all(text.as_bytes(), &options(AmmoFormat::JsonLine)),
        ["GET: GET /a A="]
    );
}

/// The notes on a file.
fn notes(text: &str, options: &AmmoOptions) -> Vec<String> {
    let options = AmmoOptions {
        file: "f".to_owned(),
        ..options.clone()
    };
    let ammo = Ammo::read(Arc::new(text.as_bytes().to_vec()), options);
    RequestData::notes(&AmmoData::new(Arc::new(ammo.expect("ammo")), 0))
}

#[test]
fn keys_of_objects_that_are_not_used_are_noted_once_with_their_line() {
    for (format, text, noted) in [
        (
            AmmoFormat::JsonLine,
            "{\"uri\": \"/a\"}\n{\"URI\": \"/b\", \"metod\": \"PUT\"}\n\n\
             {\"uri\": \"/c\", \"metod\": 1, \"x\\u0001\": {\"y\": [2]}}",
            &[
                "f:2: the unknown key `metod` is not used; did you mean `method`?",
                "f:4: the unknown key `x\u{1}` is not used",
            ][..],
        ),
        (
            AmmoFormat::GrpcJson,
            "{\"call\": \"a.B/C\"}\n{\"call\": \"a.B/C\", \"paylod\": 1}\n\n\
             {\"call\": \"a.B/C\", \"paylod\": 1, \"x\\u0001\": {}}",
            &[
                "f:2: the unknown key `paylod` is not used; did you mean `payload`?",
                "f:4: the unknown key `x\u{1}` is not used",
            ],
        ),
        (
            AmmoFormat::JsonLine,
            "{\"uri\": \"/a\", \"Uri\": \"/b\", \"headers\": {\"A\": \"1\", \"B\": \"2\", \"A\": \"3\"}}\n\
             {\"uri\": \"/a\", \"body\": {\"k\": [{\"l\": 1, \"l\": 2}]}, \"uri\": \"/c\"}\n\
             {\"uri\": \"/a\", \"body\": [{\"l\": 1, \"l\": 2}], \"tag\": \"a\"}",
            &[
                "f:1: the key `uri` is given twice; its last value is used",
                "f:1: the key `headers.A` is given twice; its last value is used",
                "f:2: the key `body.k[0].l` is given twice; its last value is used",
                "f:3: the key `body[0].l` is given twice; its last value is used",
            ],
        ),
        (
            AmmoFormat::GrpcJson,
            "{\"call\": \"a.B/C\", \"payload\": {\"a\": 1, \"a\": 2}, \"metadata\": {\"k\": \"1\", \"k\": \"2\"}}\n\
             {\"call\": \"a.B/C\", \"payload\": {\"a\": {\"a\": 2}}, \"PAYLOAD\": {}}",
            &[
                "f:1: the key `payload.a` is given twice; its last value is used",
                "f:1: the key `metadata.k` is given twice; its last value is used",
                "f:2: the key `payload` is given twice; its last value is used",
            ],
        ),
        (
            AmmoFormat::Har,
            r#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a.test/",
                "httpVersion": "HTTP/1.1", "headersSize": -1, "bodySize": 0, "_own": 1,
                "header": [{"name": "A", "value": "1"}]}}]}}"#,
            &["f: the unknown key `header` is not used; did you mean `headers`?"],
        ),
    ] {
        assert_eq!(notes(text, &options(format)), noted, "{text}");
    }
}

#[test]
fn fields_that_are_not_sent_are_noted_once() {
    let uri = "[Connection: close]\n/a\n[connection: x]\n[Transfer-Encoding: chunked]\n\
               [Content-Length: 0]\n[Host: h.test]\n/b\n";
    let raw = "50\nGET / HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5\r\n\r\n";
    let of_body = "the header `Transfer-Encoding` is not sent: each body is sent with its \
                   Content-Length";
    for (format, text, version, noted) in [
        (
            AmmoFormat::Uri,
            uri,
            HttpVersion::Http1,
            &[format!("f:7: {of_body}")][..],
        ),
        (
            AmmoFormat::Uri,
            uri,
            HttpVersion::Http2,
            &[
                "f:2: the header `Connection` is not sent over HTTP/2".to_owned(),
                format!("f:7: {of_body}"),
            ],
        ),
        (AmmoFormat::Raw, raw, HttpVersion::Http1, &[]),
        (
            AmmoFormat::Raw,
            raw,
            HttpVersion::Http2,
            &["f:1: the header `Keep-Alive` is not sent over HTTP/2".to_owned()],
        ),
    ] {
        let options = AmmoOptions {
            version,
            ..options(format)
        };
        assert_eq!(notes(text, &options), noted, "{text}");
    }
}

#[test]
fn parts_that_have_no_effect_are_noted() {
    let raw = |request: &str| format!("{}\n{request}", request.len());
    let post = "POST / HTTP/1.1\r\nHost: a\r\n";
    let length = "f:1: a Content-Length differs from its body; the body is sent as it is, with its \
                  length";
    let trailers = "f:1: text after the last chunk of a body, such as trailers, is not sent";
    let other = |key: &str| format!("f:1: the host in `{key}` is not used beside `host`");
    for (format, text, noted) in [
        (
            AmmoFormat::Uri,
            "/a\nhttp://me:pw@h.test/b".to_owned(),
            &["f:2: the user name in a URL is not used; write an `Authorization` header".to_owned()]
                [..],
        ),
        (
            AmmoFormat::JsonLine,
            "{\"uri\": \"http://h.test/\", \"host\": \"i.test\", \"headers\": {\"Host\": \"j\"}}".to_owned(),
            &[other("uri"), other("headers")],
        ),
        (
            AmmoFormat::JsonLine,
            "{\"uri\": \"http://h.test/\", \"host\": \"H.test\", \"headers\": {\"Host\": \"h.test\"}}".to_owned(),
            &[],
        ),
        (
            AmmoFormat::Raw,
            raw(&format!("{post}Content-Length: 3\r\n\r\nabcd")),
            &[length.to_owned()],
        ),
        (
            AmmoFormat::Raw,
            raw(&format!("{post}Content-Length: x\r\n\r\n")),
            &[length.to_owned()],
        ),
        (
            AmmoFormat::Raw,
            raw(&format!("{post}Content-Length: 4\r\n\r\nabcd")),
            &[],
        ),
        (
            AmmoFormat::Raw,
            raw(&format!("{post}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n")),
            &[trailers.to_owned()],
        ),
        (
            AmmoFormat::Raw,
            raw(&format!("{post}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")),
            &[],
        ),
    ] {
        assert_eq!(notes(&text, &options(format)), noted, "{text}");
    }
    let mut chosen = options(AmmoFormat::Uri);
    chosen.chosen = vec!["t".to_owned(), "u".to_owned()];
    let unmet = "f: no request has the chosen tag `u`";
    assert_eq!(notes("/a t\n/b v\n", &chosen), [unmet]);
}

#[test]
fn json_lines_are_objects_or_an_array() {
    let objects = [
        "{\"uri\": \"/a\\u00e9\", \"tag\": \"t\", \"host\": \"h.test\", \"headers\": {\"A\": \"b\", \"Host\": \"x\"}, \"more\": 1}",
        "{\"uri\": \"/b\", \"method\": \"POST\",\n \"body\": \"x\\n\\\"y\\\"\"}",
        "{\"uri\": \"/c\", \"body\": {\"k\": [1]}}",
        "{\"uri\": \"/d\", \"body\": [true, \"a\\n\", null]}",
        "{\"uri\": \"/e\", \"body\": -1.5, \"headers\": {\"X-\\u0041\": \"b\\tc\"}}",
        "{\"uri\": \"/f\", \"body\": 18446744073709551615}",
        "{\"uri\": \"/g\", \"body\": false}",
    ];
    let expected = [
        "t: GET /a\u{e9} Host=h.test A=b",
        "POST: POST /b <x\n\"y\">",
        "GET: GET /c <{\"k\":[1]}>",
        "GET: GET /d <[true,\"a\\n\",null]>",
        "GET: GET /e X-A=b\tc <-1.5>",
        "GET: GET /f <18446744073709551615>",
        "GET: GET /g <false>",
    ];
    let options = options(AmmoFormat::JsonLine);
    assert_eq!(all(objects.join("\n").as_bytes(), &options), expected);
    assert_eq!(all(objects.concat().as_bytes(), &options), expected);
    assert_eq!(
        all(format!("[{}]", objects.join(",")).as_bytes(), &options),
        expected
    );
}

/// Messages that are the payloads with their calls before them.
#[derive(Debug)]
struct Echo;

impl Calls for Echo {
    fn message(&self, call: &str, payload: &str, out: &mut Vec<u8>) -> Result<(), String> {
        out.extend_from_slice(format!("{call} {payload}").as_bytes());
        match payload.contains("bad") {
            true => Err("bad".to_owned()),
            false => Ok(()),
        }
    }

    fn check_metadata(&self, key: &str, _: &str) -> Result<(), String> {
        match key {
            "te" => Err("`te` is not for calls".to_owned()),
            _ => Ok(()),
        }
    }
}

#[test]
fn calls_have_messages_once_their_schema_is_known() {
    let text = "{\"call\": \"a.B.C\", \"tag\": \"t\", \"metadata\": {\"X-Id\": \"1\"}, \"payload\": {\"k\": 5}}\n\
        {\"call\": \"a.B/D\", \"payload\": null}\n\
        {\"call\": \"/a.B/C\"}";
    let mut with = options(AmmoFormat::GrpcJson);
    let ammo = Ammo::read(Arc::new(text.as_bytes().to_vec()), with.clone()).expect("calls");
    let calls: Vec<_> = ammo
        .classes()
        .iter()
        .map(|class| class.call.as_deref())
        .collect();
    assert_eq!(calls, [Some("a.B/C"), Some("a.B/D"), Some("a.B/C")]);
    with.calls = Some(Arc::new(Echo));
    assert_eq!(
        all(text.as_bytes(), &with),
        [
            "t: POST /a.B/C x-id=1 <a.B/C {\"k\":5}>",
            "a.B/D: POST /a.B/D <a.B/D {}>",
            "a.B/C: POST /a.B/C <a.B/C {}>",
        ]
    );
    let bad = format!("{text}\n\n{{\"call\": \"a.B.C\", \"payload\": \"bad\"}}");
    assert_eq!(error(bad.as_bytes(), &with), "line 5: bad");
    let bad = format!("{text}\n{{\"call\": \"a.B.C\", \"metadata\": {{\"TE\": \"1\"}}}}");
    assert_eq!(
        error(bad.as_bytes(), &with),
        "line 4: `te` is not for calls"
    );
    // As Go's decoder: keys in any case, the last of two, and null for what is absent.
    let other = "{\"Call\": \"x\", \"CALL\": \"a.B.C\", \"Tag\": \"t\", \"Payload\": {\"k\": 5}, \
        \"metaData\": {\"x-id\": null}, \"tag\": null, \"TAG\": \"u\", \"more\": [1]}";
    assert_eq!(
        all(other.as_bytes(), &with),
        ["u: POST /a.B/C x-id= <a.B/C {\"k\":5}>"]
    );
    for none in ["{}", "{\"call\": null}"] {
        let says = "line 1: invalid JSON call: missing field `call`";
        assert_eq!(error(none.as_bytes(), &with), says, "{none}");
    }
    with.chosen = vec!["t".to_owned()];
    assert_eq!(
        all(bad.as_bytes(), &with).len(),
        1,
        "only what is chosen is checked"
    );
}

/// phantom ends its files with a length of 0.
#[test]
fn a_length_of_0_ends_a_file_of_raw_requests() {
    let with = options(AmmoFormat::Raw);
    for end in ["", "0", "0\n", "\n0\r\n", "0 t\n\n \n"] {
        let text = format!("18 t\nGET / HTTP/1.1\r\n\r\n{end}");
        assert_eq!(all(text.as_bytes(), &with), ["t: GET /"], "{end:?}");
    }
}

#[test]
fn logs_are_read_in_text_and_json() {
    let text = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?b=\\x22c HTTP/1.0\" 200 2326\n\
        shop.test:80 1.2.3.4 - bob [10/Oct/2000:13:55:37 -0700] \"POST /b HTTP/1.1\" 200 1 \"http://r.test/\\\"\" \"Me/1 (x)\"\n\
        1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] \"\\x16\\x03\" 400 0 \"-\" \"-\"\n\
        1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] \"-\" 408 0 \"-\" \"-\"\n\
        {\"time_iso8601\": \"2000-10-10T20:55:39.5Z\", \"request\": \"GET /c HTTP/2.0\", \"http_user_agent\": \"Me\", \"host\": \"h.test\"}\n\
        {\"ts\": 971211340, \"method\": \"PUT\", \"uri\": \"/d\"}\n";
    let mut own = options(AmmoFormat::AccessLog);
    own.timing = Timing::Own;
    let expected = [
        "GET: GET /a?b=\"c",
        "POST: POST /b Referer=http://r.test/\" User-Agent=Me/1 (x) <>",
        "GET: GET /c Host=h.test User-Agent=Me",
        "PUT: PUT /d <>",
    ];
    assert_eq!(all(text.as_bytes(), &own), expected);
    let ammo = Ammo::read(Arc::new(text.as_bytes().to_vec()), own).expect("a log");
    let times: Vec<u64> = ammo
        .times(2.0)
        .iter()
        .map(|time| time.0 / 1_000_000)
        .collect();
    assert_eq!(times, [0, 500, 1750, 2000]);
}

#[test]
fn archives_are_sorted_by_their_moments() {
    let har = r#"{"log": {"version": "1.2", "entries": [
        {"startedDateTime": "2024-01-01T00:00:01.500Z", "request": {"method": "POST", "url": "https://a.test/b?c#d",
          "headers": [{"name": ":authority", "value": "a.test"}, {"name": "Content-Length", "value": "3"}, {"name": "X", "value": "y"}],
          "postData": {"mimeType": "x", "params": [{"name": "a b", "value": "c&"}]}}},
        {"startedDateTime": "2024-01-01T00:00:01.000Z", "request": {"method": "GET", "url": "http://b.test"}},
        {"startedDateTime": "2024-01-01T00:00:02.000Z", "request": {"method": "GET", "url": "data:text/plain,x"}}
    ]}}"#;
    let mut own = options(AmmoFormat::Har);
    own.timing = Timing::Own;
    assert_eq!(
        all_in_memory(har.as_bytes(), &own),
        [
            "GET: GET / Host=b.test",
            "POST: POST /b?c Host=a.test X=y Content-Type=x <a+b=c%26>",
        ]
    );
    let ammo = Ammo::read(Arc::new(har.as_bytes().to_vec()), own).expect("an archive");
    assert_eq!(ammo.times(1.0)[1].0, 500_000_000);
}

/// Entries without a request are skipped, and counted in a note.
#[test]
fn entries_without_a_request_are_counted() {
    let log = "h - - [10/Oct/2023:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 1\n\n\
               h - - [10/Oct/2023:13:55:36 +0000] \"-\" 408 0\n\
               h - - [10/Oct/2023:13:55:36 +0000] \"OPTIONS * HTTP/1.1\" 200 1\n";
    let har = r#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a.test/"}},
        {"request": {"method": "GET", "url": "wss://a.test/"}}]}}"#;
    for (format, text, note) in [
        (
            AmmoFormat::AccessLog,
            log,
            "f:3: entries without a request that can be sent are skipped (2)",
        ),
        (
            AmmoFormat::Har,
            har,
            "f: entries that are not HTTP requests are skipped (1)",
        ),
    ] {
        let mut options = options(format);
        options.file = "f".to_owned();
        let ammo = Ammo::read(Arc::new(text.as_bytes().to_vec()), options).expect("ammo");
        assert_eq!(ammo.rows(), 1);
        assert_eq!(ammo.notes(), [note]);
    }
}

fn all_in_memory(text: &[u8], options: &AmmoOptions) -> Vec<String> {
    let ammo = Ammo::read(Arc::new(text.to_vec()), options.clone()).expect("ammo");
    let ammo = Arc::new(ammo);
    (0..ammo.rows()).map(|n| shown(&ammo, n)).collect()
}

/// Broken files, and what is said of them.
const BROKEN: &[(AmmoFormat, &str, &str)] = &[
    (
        AmmoFormat::Uri,
        "/a\n[b]\n",
        "line 2: a line in brackets must be a header field, such as [Host: shop.test]",
    ),
    (
        AmmoFormat::Uri,
        "/a\nb\n",
        "line 2: `b` is not a path; write one that begins with `/`, or a URL",
    ),
    (
        AmmoFormat::Uri,
        "\n[A b: c]\n",
        "line 2: `A b` is not a header name",
    ),
    (AmmoFormat::Uri, "\n\n", "the file has no requests"),
    (
        AmmoFormat::Uri,
        "/a\nftp://h.test/a\n",
        "line 2: `ftp://h.test/a` is not a URL with http:// or https://, or a path",
    ),
    (
        AmmoFormat::Raw,
        "38\nGET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n..",
        "line 2: the request has more than one Host header; keep one",
    ),
    (
        AmmoFormat::UriPost,
        "2 /a\nab\nx /b\n",
        "line 3: `x` is not a length in bytes",
    ),
    (
        AmmoFormat::UriPost,
        "2 /a\nab\n9 /b\nabc",
        "line 3: 9 bytes are expected, but the file ends after 3",
    ),
    (
        AmmoFormat::UriPost,
        "/a\n",
        "line 1: a line needs the length of the body, a space and the target",
    ),
    (
        AmmoFormat::Raw,
        "4\nabcd\n",
        "line 2: the request has no empty line after its head",
    ),
    (
        AmmoFormat::Raw,
        "\n0\n18\nGET / HTTP/1.1\r\n\r\n",
        "line 2: the request is empty",
    ),
    (
        AmmoFormat::Raw,
        "9\nGET /\r\n\r\n",
        "line 2: `GET /` is not a request line such as GET / HTTP/1.1",
    ),
    (
        AmmoFormat::JsonLine,
        "{\"uri\": \"/\"}\n{\"url\": 1}",
        "line 2: invalid JSON request: missing field `uri`",
    ),
    (
        AmmoFormat::JsonLine,
        "{\"uri\": \"/\"}\n{\"uri\"",
        "line 2: the value is not closed",
    ),
    (
        AmmoFormat::AccessLog,
        "\nfoo\n",
        "line 2: the line is not an access log entry that drumfire reads; it reads lines with a \
         quoted request such as 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 12, \
         JSON objects, lines of Squid, and W3C logs (IIS, CloudFront) that begin with a `#Fields` \
         line",
    ),
    (
        AmmoFormat::AccessLog,
        "#Fields: date time cs-uri-stem\n",
        "line 1: the `#Fields` line has no cs-method; add this field to the server's log",
    ),
    (
        AmmoFormat::AccessLog,
        "#Fields: cs-method cs-uri-stem\nGET /a\nGET /b c\n",
        "line 3: the line has 3 values, but the `#Fields` line has 2 names",
    ),
    (
        AmmoFormat::AccessLog,
        "#Fields: date time cs-method cs-uri-stem\n2000-10-10 25:00:00 GET /a\n",
        "line 2: `2000-10-10 25:00:00` is not a time such as 2000-10-10 13:55:36",
    ),
    (
        AmmoFormat::AccessLog,
        "- - [x] \"GET / HTTP/1.1\" 200",
        "line 1: `x` is not a time such as 10/Oct/2000:13:55:36 -0700",
    ),
];

#[test]
fn mistakes_have_their_line() {
    for (format, text, message) in BROKEN {
        let said = error(text.as_bytes(), &options(*format));
        match message.contains("header name") {
            true => assert!(said.starts_with("line 2: "), "{said}"),
            false => assert_eq!(said, *message),
        }
    }
    let said = error(b"\xff\xfe/\0a\0", &options(AmmoFormat::Uri));
    assert_eq!(said, "the text is UTF-16; convert it to UTF-8");
    let said = error(b"/a\n\xff\n", &options(AmmoFormat::Uri));
    assert_eq!(said, "line 2: the line is not UTF-8");
    let mut own = options(AmmoFormat::AccessLog);
    own.timing = Timing::Own;
    let said = error(b"{\"uri\": \"/\"}", &own);
    assert_eq!(
        said,
        "line 1: the entry has no time, so it can't be replayed at its recorded time"
    );
}

#[test]
fn the_index_of_a_large_file_is_small_and_finds_every_entry() {
    let mut text = String::new();
    for n in 0..60_000 {
        if n % 1_000 == 0 {
            text.push_str(&format!("[X-Block: {}]\n", n / 1_000));
        }
        text.push_str(&format!("/p/{n} t{}\n", n % 3));
    }
    let ammo = Ammo::read(Arc::new(Large(text.into_bytes())), options(AmmoFormat::Uri));
    let ammo = Arc::new(ammo.expect("ammo"));
    assert_eq!((ammo.rows(), ammo.classes().len()), (60_000, 3));
    for step in [1, 7_919, 59_999] {
        for k in 0..200 {
            let n = k * step % 60_000;
            let right = format!("t{}: GET /p/{n} X-Block={}", n % 3, n / 1_000);
            assert_eq!(shown(&ammo, n), right);
        }
    }
}

proptest! {
    /// Any bytes are requests or an error; in memory and streamed alike.
    #[test]
    fn any_file_is_read_alike_in_memory_and_streamed(
        lines in prop::collection::vec("(/[a-z]{0,3}( t)?|\\[A: [a-z]?\\]|#Fields: cs-method cs-uri|GET /[a-z]|[0-9]{1,2} /|\\{\"uri\":\"/\"\\}|[ -~]{0,12})", 0..12),
        which in 0_usize..6,
    ) {
        use AmmoFormat::{AccessLog, GrpcJson, JsonLine, Raw, Uri, UriPost};
        let format = [Uri, UriPost, Raw, JsonLine, AccessLog, GrpcJson][which];
        let text = lines.join("\n").into_bytes();
        let with = |storage| AmmoOptions { storage, ..options(format) };
        let small = Ammo::read(Arc::new(text.clone()), with(Storage::Memory));
        let large = Ammo::read(Arc::new(Large(text)), with(Storage::BySize));
        match (small, large) {
            (Ok(small), Ok(large)) => {
                let (small, large) = (Arc::new(small), Arc::new(large));
                prop_assert_eq!(small.rows(), large.rows());
                for n in 0..small.rows() {
                    prop_assert_eq!(shown(&small, n), shown(&large, n));
                }
            }
            (Err(small), Err(large)) => prop_assert_eq!(small, large),
            (small, large) => prop_assert!(false, "{:?} {:?}", small.is_ok(), large.is_ok()),
        }
    }
}
