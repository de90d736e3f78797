//! Command lines, as curl sends them.

use crate::{Form, Source, Wishes, import};
use drumfire_document::form;

/// Lines without notes, with parts that the plan contains, and parts that it lacks.
const SENT: &[(&str, &[&str], &[&str])] = &[
    (
        "-H 'Accept-Encoding: gzip' http://h/",
        &["Accept-Encoding: gzip"],
        &["compressed"],
    ),
    (
        "-H 'Accept-Encoding: gzip' --compressed http://h/",
        &["Accept-Encoding: gzip", "compressed: \"true\""],
        &[],
    ),
    ("-X wHat http://h/", &["method: wHat"], &["WHAT"]),
    (
        "-u me:pw --digest --basic http://h/",
        &["Authorization: Basic bWU6cHc="],
        &[],
    ),
    ("-- http://h/-a", &["get: /-a"], &[]),
    (
        "-d a --json b --json c -d d http://h/",
        &["body: abc&d", "Accept: application/json"],
        &[],
    ),
    (
        "-G --json 1 http://h/a#b",
        &["get: /a?1\n", "Content-Type: application/json"],
        &["#b"],
    ),
    (
        "--data-urlencode 'a=b c+é' http://h/",
        &["body: a=b+c%2B%C3%A9"],
        &[],
    ),
    (
        "-T f 'http://h/a/?q' http://h",
        &["put: /a/f?q\n", "body_file: f", "get: /\n"],
        &["put: /f"],
    ),
    (
        "-T '{f,g}' http://h/a/ -T '' http://h/b/",
        &["put: /a/f", "put: /a/g", "get: /b/"],
        &[],
    ),
    (
        "-A a -A b -e c -r 0-1 -b d=e --oauth2-bearer f http://h/",
        &[
            "User-Agent: b",
            "Referer: c",
            "Range: bytes=0-1",
            "Cookie: d=e",
            "Bearer f",
        ],
        &[": a\n"],
    ),
    (
        "-A a -e a -b a=a --oauth2-bearer a -H 'User-agent: b' -H 'Referer: b' -H 'Cookie: b' -H \
         'Authorization: b' http://h/",
        &[
            "User-agent: b",
            "Referer: b",
            "Cookie: b",
            "Authorization: b",
        ],
        &[": a", "Bearer"],
    ),
    (
        "-A a -e a -b a=a -u a:a -d x -H 'User-Agent:' -H 'Referer:' -H 'Cookie:' -H \
         'Authorization:' -H 'Content-Type:' -H 'Accept:' -H 'Expect:' http://h/",
        &["User-Agent: \"\"", "body: x"],
        &[": a", "Content-Type", "Referer", "Cookie", "Authorization"],
    ),
    (
        "-d '{\"re\":\"^\"}' http://h/",
        &["body: '{\"re\":\"^\"}'"],
        &[],
    ),
    ("$ A=1 sudo curl http://h/", &["get: /"], &[]),
    (
        "-u me:pw -H 'Authorization: Bearer t' http://h/",
        &["Authorization: Bearer t"],
        &["Basic"],
    ),
    (
        "-u me:pw http://h/",
        &["Authorization: Basic bWU6cHc="],
        &[],
    ),
    (
        "-F 'a=@x.PNG' -F 'b=@y;filename=z.txt' -F 'c=@w' http://h/",
        &["type: image/png", "type: text/plain", "file: w"],
        &["octet-stream"],
    ),
    (
        "'http://h/{a,b}?n=[1-2]'",
        &["/a?n=1", "/a?n=2", "/b?n=1", "/b?n=2"],
        &["{"],
    ),
    ("-g 'http://h/?a[b]=c'", &["/?a[b]=c"], &[]),
    ("http://h/a/../b", &["get: /b"], &[]),
    ("--path-as-is http://h/a/../b", &["get: /a/../b"], &[]),
    ("--max-redirs 3 -L http://h/", &["redirects: 3"], &[]),
    ("-L --max-redirs -1 http://h/", &["redirects: 50"], &[]),
    ("--max-redirs 3 http://h/", &[], &["redirects"]),
    ("-E c.pem https://h/", &["cert: c.pem", "key: c.pem"], &[]),
    ("-E c.pem --key k https://h/", &["key: k"], &[]),
    (
        "-m 1e3 --connect-timeout .5 http://h/",
        &["timeout: 1000s", "connect_timeout: 0.5s"],
        &[],
    ),
    (
        "--resolve '+h:80:127.0.0.1,[::1]' http://h/",
        &["- h:80:127.0.0.1", "- \"h:80:[::1]\""],
        &["+h"],
    ),
];

#[test]
fn lines_are_sent_as_curl_sends_them() {
    for &(line, parts, others) in SENT {
        let line = match line.contains("curl") {
            true => line.to_owned(),
            false => format!("curl {line}"),
        };
        let imported = import(Form::Curl, &Source::alone(&line), &Wishes::default());
        let imported = imported.expect(&line);
        let plan = form::print(&imported.document);
        for part in parts {
            assert!(plan.contains(part), "{line}: {part}\n{plan}");
        }
        for other in others {
            assert!(!plan.contains(other), "{line}: {other}\n{plan}");
        }
        assert_eq!(imported.notes, [""; 0], "{line}");
    }
}

/// Lines with the only note, and a part that the plan lacks.
const NOTED: &[(&str, &str, &str)] = &[
    (
        "-H @h.txt http://h/",
        "headers",
        "the headers of the file h.txt are not imported",
    ),
    (
        "-H 'No colon' http://h/",
        "headers",
        "the header `No` has no colon and is left out",
    ),
    (
        "-u me http://h/",
        "bWU=",
        "`--user me` has no password, so the plan sends an empty one",
    ),
    (
        "-E c.pem:secret https://h/",
        "secret",
        "the password of `--cert` is not imported",
    ),
    (
        "-x socks5h://u:pw@p:1 http://h/",
        "proxy",
        "`--proxy socks5h://…` is not imported: drumfire supports HTTP proxies only",
    ),
    (
        "--resolve '*:80:127.0.0.1' http://h/",
        "resolve",
        "`--resolve *:80:127.0.0.1` is not imported",
    ),
    (
        "-m soon http://h/",
        "timeout",
        "`--max-time soon` is not imported: it is not a time",
    ),
    (
        "-u me:pw --digest http://me:pw@h/",
        "pw",
        "`--digest` is not imported: the plan sends no user and no password",
    ),
    (
        "-u me:pw --aws-sigv4 aws:amz http://h/",
        "Authorization",
        "`--aws-sigv4` is not imported: the plan sends no user and no password",
    ),
    (
        "-G -d a=b --url-query c=d http://h/",
        "c=d",
        "curl sends no `--url-query` together with `--get` and data",
    ),
    (
        "-T f -T g http://h/",
        "file: g",
        "`--upload-file g` has no URL and is left out",
    ),
    (
        "-L -X POST http://h/",
        "GET",
        "curl repeats `--request POST` after every redirect; the plan sends GET after 301, 302 \
         and 303 where HTTP requires it",
    ),
    (
        "--http2 h/",
        "http1",
        "with `--http2`, the plan sends HTTP/2 to a `http://` server at once; curl begins with \
         HTTP/1.1 and asks for an upgrade",
    ),
    (
        "-F a=b -H 'Content-Type: multipart/form-data; boundary=x' http://h/",
        "boundary",
        "the media type `multipart/form-data; boundary=x` of a form is left out: the plan sends \
         multipart/form-data with its own boundary",
    ),
    (
        "-e 'http://a/;auto' http://h/",
        "auto",
        "`;auto` of `--referer` is not imported",
    ),
    (
        "-K c http://h/",
        "config",
        "the options of the file c (`--config`) are not imported; write them into the command \
         line",
    ),
    (
        "--expand-data '{{x}}' http://h/",
        "variable",
        "`--expand-data` is imported without its variables",
    ),
    (
        "-b '' http://h/",
        "cookie",
        "`--cookie ''` is not imported: the plan keeps no cookies",
    ),
    (
        "-H 'Content-Length: 5' -d a http://h/",
        "5",
        "the field `Content-Length: 5` is left out, because the body has 1 byte: http://h/",
    ),
    (
        "-F 'a=1;type=text/plain;headers=X: 1' http://h/",
        "X: 1",
        "`;headers=` of a part of a form is not imported",
    ),
];

#[test]
fn other_parts_of_lines_are_noted() {
    for &(line, lacking, note) in NOTED {
        let line = format!("curl {line}");
        let imported = import(Form::Curl, &Source::alone(&line), &Wishes::default());
        let imported = imported.expect(&line);
        let plan = form::print(&imported.document);
        assert!(!plan.contains(lacking), "{line}: {lacking}\n{plan}");
        assert_eq!(imported.notes, [note], "{line}");
    }
}

/// Lines with their errors.
const REFUSED: &[(&str, &str)] = &[
    (
        "curl 'http://h/?a[b]=c'",
        "the URL `http://h/?a[b]=c`: `[b]` is not a range; use -g to send it as it is",
    ),
    (
        "curl http://h/\n\n curl --bogus x http://h/\n",
        "line 3: `--bogus` is not a known option of curl",
    ),
    (
        "curl http://h/\ncurl -d 'a\n",
        "line 2: a quote is not closed",
    ),
    (
        "curl -d a -F b=c http://h/",
        "curl refuses `--data` together with `--form`; remove one of them",
    ),
    (
        "curl -I --json 1 http://h/",
        "curl refuses `--json` together with `--head`; remove one of them",
    ),
    (
        "curl -G -T f -d a http://h/",
        "curl refuses `--data` together with `--upload-file`; remove one of them",
    ),
    (
        "curl -d a -d @f http://h/",
        "a body can't combine several files, or texts and files; write all of them into one file",
    ),
    (
        "curl --data-urlencode a@f http://h/",
        "`--data-urlencode a@f` encodes the content of a file, which a plan can't do; write the \
         content instead of the name",
    ),
    (
        "curl -F a http://h/",
        "`--form a` has no `=`; write it as in `--form 'name=value'`",
    ),
    (
        "curl -T 'f[x]' http://h/",
        "the file `f[x]`: `[x]` is not a range; use -g to send it as it is",
    ),
    (
        "curl http://h/a\r\ncurl ^\"http://h/b^\" ^\r\n -H ^\"A: b^\"\r\n",
        "line 2: this is a Windows cmd command line; copy it as cURL (bash)",
    ),
    (
        "curl \"http://h/b\" ^\n -H \"A: b\"",
        "line 1: this is a Windows cmd command line; copy it as cURL (bash)",
    ),
    (
        "curl.exe `\n -H 'A: b' http://h/",
        "line 1: this is a PowerShell command line; copy it as cURL (bash), or end its lines with \
         `\\`",
    ),
    (
        "curl -T . http://h/x",
        "`--upload-file -` reads standard input, which a plan can't contain; save the input as a \
         file, and write its name instead of `-`",
    ),
    (
        "curl -G -d @q http://h/",
        "`--get` with the data of a file is not supported; write the content of q into the URL's \
         query",
    ),
    (
        "curl -T - http://h/x",
        "`--upload-file -` reads standard input, which a plan can't contain; save the input as a \
         file, and write its name instead of `-`",
    ),
    (
        "curl -d @- http://h/x < in",
        "`--data @-` reads standard input, which a plan can't contain; save the input as a file, \
         and write its name instead of `-`",
    ),
];

#[test]
fn lines_are_refused_with_their_place() {
    for &(text, error) in REFUSED {
        let refused = import(Form::Curl, &Source::alone(text), &Wishes::default());
        assert_eq!(refused.unwrap_err(), error, "{text}");
    }
}
