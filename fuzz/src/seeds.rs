//! Writes the seeds of each target to `corpus/<target>/`: the conformance cases, and texts from the
//! manual.

use drumfire_corpus::{Case, Request, StreamEnd};
use prost::Message;
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::FileDescriptorSet;
use std::fs;
use std::io;
use std::path::Path;

/// Longer cases test limits, and are slow to mutate.
const CASE_BYTES_MAX: usize = 4096;

const SEQUENCES: [&str; 8] = [
    "500/s",
    "0.2/s",
    "const(90/m, 1h)",
    "line(5,200,60s) const(200,5m)",
    "step(10/s, 100/s, 10/s, 30s)",
    "sine(100/s, 50/s, 1m, 10m)",
    "once(1000) unlimited(10s)",
    "unlimited",
];

const TEMPLATES: [&str; 9] = [
    "{{.a}} {{uuidv4}} {{randInt 1 9}}",
    "{{range $i, $e := .b.list}}{{$i}}={{$e}}{{else}}-{{end}}",
    "{{with $x := dict \"k\" (list 1 2)}}{{toJson $x}}{{end}}",
    "{{define \"f\"}}{{if lt . 9}}{{template \"f\" (add 1 . | int)}}{{end}}{{end}}{{template \"f\" 1}}",
    "{{- if and (eq .a 1) (not nil) -}} a {{- else if or 0 1}}b{{end}}",
    "{{printf \"%5d|%-5s|%x|%[1]v %T\" .a \"b\" \"c\" 1.5}}",
    "{{date \"2006-01-02T15:04:05Z07:00\" now}} {{toDate \"Jan _2 06\" \"Feb  3 21\"}}",
    "{{semverCompare \"^1.2 || >2, <3\" \"1.9.9\"}} {{regexReplaceAll \"(a)[^b]\" \"aab\" \"$1\"}}",
    "{{urlParse \"http://u:p@h:1/a%20b?c#d\"}} {{snakecase \"FooBar1x\"}} {{divf 1 3}} {{wrap 3 \"a b c\"}}",
];

const EXPRESSIONS: [&str; 8] = [
    "{{ a + 1 }} {{ c * 10 - -d / 4 }} {{ b ~ a }}",
    "{% if a > 12 and b == '007' %}{{ a }}{% elif e in 'abc' %}{{ e | upper }}{% endif %}",
    "{% for i in range(3) if i % 2 %}{{ i ** 2 // 1 }}{% endfor %}",
    "{% set x = namespace(n=0) %}{% set x.n = x.n + a %}{{ x.n | round }}",
    "{{ g | fromjson(0) }} {{ h | item('k') }} {{ [a, d] | sum | tojson }}",
    "{{ 1 < a <= 13 }} {{ a is odd }} {{ people.age + people.age }} {{ people.name }}",
    "a > 12.5 and not (b == 7 or e contains 'b') and c % 2 == 1",
    "{\"n\": {{ a }}, \"s\": \"{{ h }}\", \"u\": \"{{ uuid }}\"}",
];

const EXTRACTORS: [&str; 12] = [
    "json $.token",
    "json#all $..book[?@.price < 10 && match(@.author, '[A-M].*')]['a',\"b\"]",
    "json#last $[-1:0:-2].*[0, 1]",
    "xml#count //order[@id='7' and position() < last()]/@sku",
    "css#2 ul#menu > li.open:not(.a) a[href^='/'] @href",
    r"regex#all /id=(\d+)/ims",
    "header#1 Set-Cookie",
    "cookie session",
    "body 100",
    "not contains x",
    "matches /^a|b$/",
    "<=10kB",
];

/// The size of the slices, the limit, and a stream.
const EVENTS: [&str; 4] = [
    "\x03\x40\u{feff}: ping\n\nid: 7\nretry: 250\nevent: add\r\ndata: a\rdata:b\r\rdata\n\n",
    "\x00\x40data: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\r\n\r\ndata: [DONE]",
    "\x05\x10data: {\"a\": [\"}\"]}\n",
    "\x01\x08event: x\n\ndata: 12345678\n\n",
];

/// The size of the slices, a choice, and frames: the examples of RFC 6455 and RFC 7692, and a
/// handshake's fields.
const FRAMES: [&[u8]; 6] = [
    b"\x01\x20\x81\x05Hello\x01\x03Hel\x89\x01p\x80\x02lo\x88\x05\x03\xe8bye",
    b"\x03\x00\x82\x7e\x00\x7e\x00\x8a\x00\x81\x04\xf0\x9f\xa6\x80",
    b"\x02\x21\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00",
    b"\x02\x21\x41\x03\xf3\x48\xcd\x80\x05\xc9\xc9\x07\x00\x00",
    b"\x01\x20\x82\x7f\x00\x00\x00\x00\x00\x00\x00\x01a",
    b"\x01\x20permessage-deflate; server_max_window_bits=\"10\"\nchat\nUpgrade\nwebsocket",
];

/// The interface, and events after each other.
const ANSWERS: [&str; 4] = [
    "\x00{\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\0{\"choices\":[{\"delta\":{\"content\":\"a\",\"reasoning\":\"b\"},\"finish_reason\":null}],\"usage\":{\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":1}}}\0[DONE]",
    "\x02{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\0{\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}",
    "\x03{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\0{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
    "\x04{\"data\":[{\"embedding\":[0.5]}],\"usage\":{\"prompt_tokens\":1},\"max_tokens\":5}",
];

const COOKIES: [&str; 4] = [
    "\x01\x01session=5; Path=/; Max-Age=60; HttpOnly\n\x01\x3d theme = dark ; Domain=.example.com",
    "\x48\x01__Host-a=1; Secure; Path=/\n\x08\x01__Host-a=2\n\x48\x01__Secure-b=\"1\"; Secure; Domain=Example.com",
    "\x22\x01a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; SameSite=Lax\n\x22\x01a=; Expires=Thu, 01-Jan-70 00:00:00 GMT",
    "\x0d\x01a; Domain=10.0.0.1; Path=/a\n\x0e\x01=b; Domain=[::1]; Max-Age=-1\n\x0c\x01c==; Domain=localhost",
];

/// Files of requests; the first byte selects the format.
const AMMO: [&[u8]; 9] = [
    b"\0/a?b\n[Host: h.test]\n[X: 1]\nhttp://u:p@a.test/c tag\n\n/d\n",
    b"\x80[A: b]\r\n/one/two\ttag\r\n",
    b"\x01[A: b]\n5 /one tag\na\nb\0c\n\n0 /two\n3 /three\n[x]",
    b"\x0235 tag\nGET http://a.test/x HTTP/1.1\nA: b\n\nhi\n58\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    b"\x03{\"uri\": \"/a\", \"tag\": \"t\", \"host\": \"h\", \"headers\": {\"A\": \"b\"}, \"body\": \"x\\n\"}\n{\"uri\":\"/b\",\"method\":\"POST\",\"body\":{\"k\":[1]}}",
    b"\x03[{\"uri\": \"/a\"}, {\"uri\": \"http://b/c\"}]",
    b"\x041.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?b=\\x22c HTTP/1.0\" 200 2 \"http://r/\" \"Me/1\"\n{\"ts\": 971211340.5, \"method\": \"PUT\", \"uri\": \"/d\", \"host\": \"h\"}\n",
    b"\x05{\"log\":{\"entries\":[{\"startedDateTime\":\"2024-01-01T00:00:01.500Z\",\"request\":{\"method\":\"POST\",\"url\":\"https://a.test/b?c#d\",\"headers\":[{\"name\":\"X\",\"value\":\"y\"}],\"postData\":{\"params\":[{\"name\":\"a b\",\"value\":\"c&\"}]}}}]}}",
    b"\x06{\"call\": \"a.B.C\", \"tag\": \"t\", \"metadata\": {\"X\": \"1\"}, \"payload\": {\"k\": [1, \"]\"]}}\n{\"call\":\"a.B/D\",\"payload\":null}",
];

/// Files of rows; the first byte selects the format.
const FEEDS: [&[u8]; 7] = [
    b"\0[{\"a\": 1, \"b\": \"x\"},\n {\"a\": 2.5, \"c\": [null]}]",
    b"\0{\"a\": \"}\\\"\"} {\"a\": true}",
    b"\x01{\"a\": 9007199254740993}\n\r\n\"x\"\n",
    b"\x01\"a b\"\n7\n",
    b"\x02\xef\xbb\xbfone\r\n\ntwo\rthree\n",
    b"\x03name, age\r\n\"a \"\"b\"\"\n,c\",7\nd,\n\re,f\n",
    b"\x05\"x\"y,2\n,\"\"\n",
];

/// Texts to import; the first byte selects the format.
const IMPORTS: [&str; 8] = [
    "\0curl -X POST 'https://a.test/b?c=d' -H 'A: b' --data-raw $'x\\n\\u00e4' -u u:p --compressed \\\n  -k -L\ncurl -G --data-urlencode 'a=b c' http://a.test/ -F 'f=@x' -b 'c=d' -m 5",
    "\x01{\"log\":{\"entries\":[{\"startedDateTime\":\"2024-01-01T00:00:01.500Z\",\"time\":12.5,\"request\":{\"method\":\"POST\",\"url\":\"https://a.test/b?c#d\",\"headers\":[{\"name\":\"X\",\"value\":\"{{y}}\"}],\"postData\":{\"mimeType\":\"text/plain\",\"text\":\"a\"}},\"response\":{\"status\":200}}]}}",
    "\x02openapi: 3.0.0\nservers: [{url: 'https://{h}.test/v1', variables: {h: {default: a}}}]\npaths:\n  /p/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: integer}, example: 5}]\n    get: {operationId: g, security: [{k: []}], responses: {'200': {description: x}}}\n    post:\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/P'}}}}\ncomponents:\n  securitySchemes: {k: {type: apiKey, in: header, name: X-Key}}\n  schemas: {P: {type: object, required: [a], properties: {a: {type: string, enum: [x]}, b: {type: array, items: {$ref: '#/components/schemas/P'}}}}}\n",
    "\x02{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{\"get\":{\"parameters\":[{\"name\":\"q\",\"in\":\"query\",\"required\":true,\"schema\":{\"type\":[\"string\",\"null\"],\"minLength\":3}}]}}}}",
    "\x03{\"info\":{\"name\":\"n\",\"schema\":\"https://schema.getpostman.com/json/collection/v2.1.0/collection.json\"},\"variable\":[{\"key\":\"base\",\"value\":\"http://a.test\"}],\"auth\":{\"type\":\"bearer\",\"bearer\":[{\"key\":\"token\",\"value\":\"{{t}}\"}]},\"item\":[{\"name\":\"f\",\"item\":[{\"name\":\"r\",\"request\":{\"method\":\"POST\",\"url\":{\"raw\":\"{{base}}/a/:id?x=1\",\"variable\":[{\"key\":\"id\",\"value\":\"7\"}]},\"header\":[{\"key\":\"A\",\"value\":\"b\",\"disabled\":true}],\"body\":{\"mode\":\"urlencoded\",\"urlencoded\":[{\"key\":\"k\",\"value\":\"v\"}]}}}]}]}",
    "\x041.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] \"POST /b HTTP/1.1\" 200 1 \"-\" \"-\"\n1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] \"\\x16\" 400 0\n",
    "\u{1}{}",
    "\u{3}{\"item\":[{\"request\":\"http://a.test\"}]}",
];

/// Plans; the first byte selects the syntax, and whether the first line is a setting.
const PLANS: [&str; 7] = [
    "\u{2}pools.a.users=3\npools: { a: { users: 1, target: 'http://a', requests: [ { get: / } ] } }\n",
    "\u{0}vars: { t: 'http://a.test', n: 5, l: [1, 2] }\npools:\n  a:\n    target: ${t}\n    rate: ${n}/s\n    requests:\n      - { post: '/${l.0}', body: { json: { a: '{{ f.name }}', b: '$${x}' } }, headers: { A: '${env:HOME:-x}', S: '${secret:env:HOME}' } }\nfeeds: { f: { csv: a.csv, order: once }, g: { range: 1..9 }, h: { generated: [name, uuid], rows: 5 }, i: { inline: [[1, 2]], fields: [x, y] } }\nstop: { after: 1s }\n",
    "\u{1}[vars]\nt = \"http://a\"\n[pools.a]\nusers = 2\ntarget = \"${t}\"\n[[pools.a.requests]]\nget = \"/\"\nweight = 3\n[[pools.a.requests]]\nmethod = 'PUT'\nurl = \"/b\"\n",
    "\u{0}{\"pools\": {\"a\": {\"rate\": \"line(1, 5, 1s)\", \"target\": \"http://a\", \"requests\": [{\"ammo\": \"a.txt\", \"format\": \"uri\"}]}}, \"thresholds\": [\"p99<1s\"]}",
    "\u{0}x: &a { get: /, expect: { status: 2xx, json: { $.a: 1 } } }\npools: { p: { users: 1, target: 'http://a', scenario: [ *a, { pause: 1s }, { if: 'user > 1', do: [ { get: '/{{ t }}', take: { t: json $.t } } ], else: [ *a ] }, { repeat: 3, do: [ *a ] } ] } }\n",
    "\u{0}pools: { p: { users: 2, target: 'http://a', mix: blocks, scenarios: { one: { weight: 2, steps: [ { set: { a: '{{ uuid }}' } }, { get: / } ] }, two: { steps: [ { get: /b, on_fail: retry(2, 1s) } ] } } } }\n",
    "\u{0}<<: *x\n? [a, b]\n: !!str |+2\n   x\n--- >-\n...\n",
];

const JSON_BODIES: [&str; 4] = [
    r#"{"a":[1,-2.50E+3,"x\u00e4\ud83d\ude00\n",null,{"b":[true,{}]}],"b":{"a":"y"},"":false}"#,
    r#" [ { "a" : { "b" : "c" } } , "[a-c]" , [ ] , 12345678901234567890 ] "#,
    r#"{"a":{"x":1,"y":[1,2.0]},"b":{"y":[1,2],"x":1}}"#,
    "\"ab\"",
];

const MARKUP_BODIES: [&str; 3] = [
    "<?xml version='1.0'?><a b='1'><!-- c --><c>x&amp;</c><n:c xmlns:n='u'><![CDATA[y]]></n:c></a>",
    "<!DOCTYPE html><table><tr><td>1<td><a class=b href=/c>&eacute;</a></table><p>x<br><b><p>y</b>",
    "a=b; Path=/; id=5 aabbc",
];

/// Scalars, nested messages, packed numbers, an unknown group, a map.
const MESSAGES: [&[u8]; 5] = [
    b"\x08\x01\x10\x02\x1d\0\0\0\0\x21\0\0\0\0\0\0\0\0\x2a\x01a\x32\x01\xff\x38\x01",
    b"\x42\x06\x4a\x04\x42\x02\x2a\0\x82\x01\0\x85\x7d\0\0\0\0",
    b"\x52\x03\x01\x80\x01\x50\x01\x5a\x08\0\0\0\0\0\0\0\0\x60\x01\x62\x01\x01",
    b"\xa3\x06\xab\x06\xa8\x06\x01\xac\x06\xa4\x06\x6a\x02\xc3\xa4",
    b"\x12\x09\x0a\x01k\x12\x04\x0a\x02\x08\x01\x1a\x05\x08\x01\x12\x01v",
];

const THRESHOLDS: [&str; 9] = [
    "p99<50ms",
    "p99.9 <= 1s",
    "avg<20ms",
    "max<2s",
    "rate>=995/s",
    "failed<0.1%",
    "status(500)==0",
    "lag.p99<1ms",
    "step(login).p95<200ms over 60s",
];

const URLS: [&str; 9] = [
    "http://localhost:8080/plaintext",
    "https://example.org",
    "http://user:p%40ss@[::1]:81/a/../b?c=d&e#f\n../g?h",
    "http://127.0.0.1/?a b",
    "HTTP://EXAMPLE.org:80/\u{e4}?\u{fc}\nhttp://u:p@other.example/\u{e4}",
    "http://example.org/\n//other/b",
    "http://example.org/a?b\nfile:///etc/passwd",
    "http://example.org/a?b\n?c",
    "http://a:1/b/c/d;p?q\n../../../g;x=1/../y",
];

/// Bodies with `hello`: gzip, zlib, bare deflate, br (uncompressed), zstd (raw block); then frames
/// in zstd's formats before the standard: v0.7, and the magic numbers of earlier formats.
const CODED: [(u8, &[u8]); 12] = [
    (
        0,
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
    ),
    (1, b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15"),
    (1, b"\xcb\x48\xcd\xc9\xc9\x07\0"),
    (2, b"\x0b\x02\x80hello\x03"),
    (3, b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello"),
    (3, b"\x27\xb5\x2f\xfd\0\x68\x40\0\x05hello\xc0\0\0"),
    (3, b"\x26\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0"),
    (3, b"\x25\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0"),
    (3, b"\x24\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0"),
    (3, b"\x23\xb5\x2f\xfd\x40\0\x05hello\xc0\0\0"),
    (3, b"\x22\xb5\x2f\xfd\x40\0\x05hello\xc0\0\0"),
    (3, b"\xfd\x2f\xb5\x1e\x40\0\x05hello\xc0\0\0"),
];

/// Replies to calls: one plain message, two messages, one with gzip (stored), one with an error
/// status.
const REPLIES: [&[u8]; 4] = [
    b"\0\x02\x02\0\0\0\0\x05hello",
    b"\x01\x02\x02trace-bin:AQI\ngrpc-status:0\n\0\0\0\0\0\0\0\0\0\x01a",
    b"\x03\x02\x02\ngrpc-status:0\n\x01\0\0\0\x19\x1f\x8b\x08\0\0\0\0\0\0\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
    b"\0\x02\0grpc-status:5,grpc-message:no%20luck,grpc-status-details-bin:CAU\n\n",
];

/// Frames of an HTTP/2 server: a response with a body, one with trailers and a window update, a
/// failure, a GOAWAY, headers in two frames, SETTINGS first.
const FRAMES: [(u8, &[u8]); 6] = [
    (0, b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x05\0\x01\0\0\0\x01hello"),
    (2, b"\0\0\x04\x08\0\0\0\0\x05\0\x01\0\0\0\0\x01\x01\x04\0\0\0\x05\x88\0\0\x05\x01\x05\0\0\0\x05\x00\x01a\x01b"),
    (32, b"\0\0\x04\x03\0\0\0\0\x03\0\0\0\x07\0\0\x08\x06\0\0\0\0\012345678"),
    (6, b"\0\0\x0a\x07\0\0\0\0\0\0\0\0\x03\0\0\0\x0bhi\0\0\x03\0\x09\0\0\0\x01\x01x\0"),
    (36, b"\0\0\x01\x01\0\0\0\0\x01\x88\0\0\x0a\x09\x04\0\0\0\x01\x61\x08\x96\xd0\x7a\xbe\x94\x10\x54\xd4"),
    (17, b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x02HTTP/1.1 400 Bad Request\r\n"),
];

/// Header blocks, each after its length, from appendix C of RFC 7541.
const BLOCKS: [&[u8]; 2] = [
    b"\x11\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff\x0c\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf",
    b"\x02\x20\x88\x0d\x88\x40\x01a\x01b\x10\x01c\x01d\x62\x01e\x02\x3f\x21\x02\xbe\xbf",
];

/// The first two bytes for `http1_response`: its choice and the seed of its cuts.
fn choice(case: &Case) -> [u8; 2] {
    let request = match case.request {
        Request::Get => 0,
        Request::Head => 1,
        Request::Connect => 2,
        Request::Close => 4,
    };
    let end = match case.end {
        StreamEnd::Open => 0,
        StreamEnd::Fin => 1,
        StreamEnd::Rst => 2,
    };
    let tight = if case.limits.is_empty() { 0 } else { 8 };
    [request | tight | end << 4, 1]
}

/// Reproducible pseudorandom bytes (SplitMix64).
fn script(seed: u64, length: u64) -> Vec<u8> {
    let byte = |n: u64| {
        let state = (seed << 32 | n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 56) as u8
    };
    (1..=length).map(byte).collect()
}

fn write(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn main() -> io::Result<()> {
    for case in drumfire_corpus::all() {
        let bytes = case.bytes();
        if bytes.len() <= CASE_BYTES_MAX {
            write(
                "http1_response",
                &case.name,
                &[&choice(&case)[..], &bytes].concat(),
            )?;
        }
    }
    for (target, texts) in [
        ("import", &IMPORTS[..]),
        ("plan_reader", &PLANS[..]),
        ("cookies", &COOKIES[..]),
        ("sse", &EVENTS[..]),
        ("llm", &ANSWERS[..]),
        ("extract_json", &JSON_BODIES[..]),
        ("extract_markup", &MARKUP_BODIES[..]),
        ("extractor", &EXTRACTORS[..]),
        ("gotemplate", &TEMPLATES[..]),
        ("sequence", &SEQUENCES[..]),
        ("template", &EXPRESSIONS[..]),
        ("threshold", &THRESHOLDS[..]),
        ("url", &URLS[..]),
    ] {
        for (index, text) in texts.iter().enumerate() {
            write(target, &format!("seed-{index}"), text.as_bytes())?;
        }
    }
    for (index, frames) in FRAMES.iter().enumerate() {
        write("websocket", &format!("seed-{index}"), frames)?;
    }
    for (index, file) in AMMO.iter().enumerate() {
        write("ammo", &format!("seed-{index}"), file)?;
    }
    for (index, file) in FEEDS.iter().enumerate() {
        write("feed", &format!("seed-{index}"), file)?;
    }
    for file in fs::read_dir("../examples")? {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let plan = [b"\0".to_vec(), fs::read(&path)?].concat();
            write("plan_reader", &name, &plan)?;
        }
    }
    for (index, (codings, coded)) in CODED.iter().enumerate() {
        write(
            "coding",
            &format!("seed-{index}"),
            &[&[*codings, 2][..], coded].concat(),
        )?;
    }
    for (index, reply) in REPLIES.iter().enumerate() {
        write("grpc_reply", &format!("seed-{index}"), reply)?;
    }
    for (index, (choice, frames)) in FRAMES.iter().enumerate() {
        let seed = [&[*choice, 2][..], frames].concat();
        write("http2_frames", &format!("seed-{index}"), &seed)?;
    }
    for (index, blocks) in BLOCKS.iter().enumerate() {
        write("http2_hpack", &format!("seed-{index}"), blocks)?;
    }
    for (index, message) in MESSAGES.iter().enumerate() {
        write("grpc_message", &format!("seed-{index}"), message)?;
    }
    for index in 0..16_u64 {
        write("tls", &format!("seed-{index}"), &script(index, 400))?;
        write("descriptors", &format!("seed-{index}"), &script(index, 800))?;
    }
    // The leading byte selects the use of the rest as descriptors, unchanged.
    for file in DescriptorPool::global().file_descriptor_protos() {
        let set = FileDescriptorSet {
            file: vec![file.clone()],
        };
        let seed = [&[0xff][..], &set.encode_to_vec()].concat();
        if seed.len() <= CASE_BYTES_MAX {
            write("descriptors", &file.name().replace('/', "-"), &seed)?;
        }
    }
    write("http2_connection", "seed-0", &[7; 200])?;
    write("chunked", "seed-0", &[7; 200])
}
