//! Templates, feeds and lines in HTTP requests: what arrives, and what is refused.

use crate::support::program::{LIMIT, words};
use crate::support::script::{WholeRequest, field};
use crate::support::{Folder, Process, Report, Run, Script, Serve, drumfire, http, load};

/// Feeds and bodies that the lines below name.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "people.csv",
        "name,city\nAda,London\n\"Grace \"\"G\"\"\",New York\n",
    );
    folder.write(
        "codes.jsonl",
        "{\"code\": 200}\n{\"code\": 201}\n{\"code\": 404}\n",
    );
    folder.write("lines.txt", "one\r\n\n{\"n\": {{ request_number }}}\nthree");
    folder.write("odd.csv", "value\nfine\n\"a\r\nX-Smuggled: 1\"\n");
    folder.write("body.json", "{\n  \"by\": \"{{ people.name }}\"\n}\n");
    folder.write("picture", b"\xff\xd8{{ nothing".as_slice());
    folder
}

/// Everything that arrives when the program is given a line, in the order of one connection.
/// `{url}` stands for the server, `{dir}` for a folder with files.
fn arrives(folder: &Folder, line: &str) -> (Vec<WholeRequest>, Report) {
    let (server, arrived) = Script::keeping(|request| request);
    let dir = folder.path().display().to_string();
    let line = line.replace("{url}", &server.url()).replace("{dir}", &dir);
    let report = load(&format!("-c 1 --threads 1 {line}"));
    let arrived = arrived.lock().unwrap().clone();
    (arrived, report)
}

/// The targets of requests, a field of theirs, and their bodies.
fn shown(requests: &[WholeRequest], name: &str) -> Vec<String> {
    let show = |request: &WholeRequest| {
        let target = request.head.split(' ').nth(1).unwrap();
        let value = field(&request.head, name).unwrap_or("-");
        let body = String::from_utf8_lossy(&request.body);
        format!("{target} {value} {body}").trim_end().to_owned()
    };
    requests.iter().map(show).collect()
}

#[test]
fn urls_headers_and_bodies_are_templates() {
    let folder = folder();
    let people = "--feed people={dir}/people.csv";
    for (line, name, expected) in [
        (
            format!(
                "'{{url}}p/{{{{ request_number }}}}?c={{{{ people.city|urlencode }}}}' -n 3 {people} \
                 -H 'X-Of: {{{{ user }}}}.{{{{ iteration }}}}.{{{{ connection }}}}'"
            ),
            "x-of",
            vec![
                "/p/0?c=London 0.0.0",
                "/p/1?c=New%20York 0.1.0",
                "/p/2?c=London 0.2.0",
            ],
        ),
        (
            "{url} -n 2 -H 'Host: h{{ request_number }}.test'".to_owned(),
            "host",
            vec!["/ h0.test", "/ h1.test"],
        ),
        (
            format!("{{url}} -n 2 {people} -d @{{dir}}/body.json"),
            "content-length",
            vec![
                "/ 18 {\n  \"by\": \"Ada\"\n}",
                "/ 26 {\n  \"by\": \"Grace \\\"G\\\"\"\n}",
            ],
        ),
        (
            format!("{{url}} -n 2 {people} -H 'Content-Type: text/plain' -d @{{dir}}/body.json"),
            "content-length",
            vec![
                "/ 18 {\n  \"by\": \"Ada\"\n}",
                "/ 24 {\n  \"by\": \"Grace \"G\"\"\n}",
            ],
        ),
        (
            "{url} -n 4 -d @{dir}/lines.txt --body-lines".to_owned(),
            "content-length",
            vec!["/ 3 one", "/ 8 {\"n\": 1}", "/ 5 three", "/ 3 one"],
        ),
        (
            "{url} -d @{dir}/lines.txt --body-lines --order once".to_owned(),
            "content-length",
            vec!["/ 3 one", "/ 8 {\"n\": 1}", "/ 5 three"],
        ),
        (
            format!("'{{url}}{{{{ people.name|lower|urlencode }}}}' {people} --feed-order once"),
            "content-length",
            vec!["/ada -", "/grace%20%22g%22 -"],
        ),
        (
            "'{url}{{a}}' -n 1 --no-templates -H 'X-Of: {{ 1 }}' -d '{{b}}'".to_owned(),
            "x-of",
            vec!["/{{a}} {{ 1 }} {{b}}"],
        ),
        (
            "{url}a '{url}{{ request_number }}' -n 4 --no-keepalive".to_owned(),
            "connection",
            vec!["/a close", "/1 close", "/a close", "/3 close"],
        ),
    ] {
        let (arrived, report) = arrives(&folder, &line);
        assert_eq!(shown(&arrived, name), expected, "{line}");
        report.balances();
        assert_eq!(report.n("requests.ok"), expected.len() as u64, "{line}");
    }
}

#[test]
fn data_that_is_no_text_is_no_template() {
    let (arrived, _) = arrives(&folder(), "{url} -n 1 -d @{dir}/picture");
    assert_eq!(arrived[0].body, b"\xff\xd8{{ nothing");
}

#[test]
fn a_template_is_one_step_with_its_own_name() {
    let (_, report) = arrives(&folder(), "'{url}p/{{ uuid }}?token={{ uuid }}' -n 5");
    let steps = report.at("steps").as_array().unwrap();
    assert_eq!(steps.len(), 1);
    let name = steps[0]["name"].as_str().unwrap();
    assert!(name.ends_with("/p/{{ uuid }}?token=***"), "{name}");
    let target = report.at("run.target").as_str().unwrap();
    assert!(target.ends_with("/p/{{ uuid }}?token=***"), "{target}");
}

#[test]
fn a_plan_sends_what_its_command_line_sends() {
    let folder = folder();
    let line = "'{url}{{ uuid }}' -n 6 --seed 9 --feed people={dir}/people.csv --feed-order random \
                -H 'X-Of: {{ people.name }} {{ random_int(1, 1000000) }}' -d @{dir}/lines.txt \
                --body-lines --order random";
    let (direct, _) = arrives(&folder, line);
    let (again, _) = arrives(&folder, line);
    assert_eq!(shown(&direct, "x-of"), shown(&again, "x-of"));

    let (server, arrived) = Script::keeping(|request| request);
    let dir = folder.path().display().to_string();
    let line = line.replace("{url}", &server.url()).replace("{dir}", &dir);
    let printed = http(&format!("-c 1 --threads 1 {line} --print-plan"));
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let plan = folder.write("plan.yaml", &printed.stdout);
    let run = Process::start(&mut drumfire(["run", &plan, "--quiet"])).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let by_plan = arrived.lock().unwrap().clone();
    assert_eq!(shown(&by_plan, "x-of"), shown(&direct, "x-of"));
    for key in [
        "body_lines: true",
        "order: random",
        "feeds:",
        "get: ",
        "post: ",
    ] {
        assert_eq!(
            printed.stdout.contains(key),
            key != "get: ",
            "{key}: {}",
            printed.stdout
        );
    }
}

#[test]
fn the_built_in_target_gets_what_is_meant_for_it() {
    let folder = folder();
    let server = Serve::new("");
    let dir = folder.path().display();
    for version in ["", "--http2 --streams 2", "--threads 2 -c 2"] {
        let line = format!(
            "{version} -n 30 --feed codes={dir}/codes.jsonl -d '{{\"id\": \"{{{{ uuid }}}}\"}}' \
             'http://{}/echo?status={{{{ codes.code }}}}'",
            server.address()
        );
        let run: Run = http(&format!("{line} --json -"));
        let report = Report::of(run);
        report.balances();
        for status in [200, 201, 404] {
            assert_eq!(report.status(status), 10, "{line}");
        }
    }
    assert_eq!(server.count("requests"), 90);
}

#[test]
fn what_would_smuggle_a_request_is_not_sent() {
    let line = "{url} -n 4 --feed odd={dir}/odd.csv -H 'X-Of: {{ odd.value }}'";
    let folder = folder();
    let server = Script::new(|peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let dir = folder.path().display().to_string();
    let line = line.replace("{url}", &server.url()).replace("{dir}", &dir);
    let report = Report::of(http(&format!("-c 1 --threads 1 {line} --json -")));
    assert_eq!(
        (report.n("requests.ok"), report.kind("assert:bad_data")),
        (2, 2)
    );
    let heads = server.heads().concat();
    assert_eq!(heads.matches("X-Of: fine\r\n").count(), 2);
    assert!(!heads.contains("Smuggled"), "{heads}");
}

/// A command line after `drumfire http`, and what standard error says.
const MISTAKES: [(&str, &str); 19] = [
    (
        "'{url}{{x'",
        "drumfire: URL `{url}{{x`: in the template `/{{x`: unexpected end of input, expected end of \
         variable block; use --no-templates to send it as it is",
    ),
    (
        "'http://{{h}}/'",
        "drumfire: URL `http://{{h}}/`: a template is allowed only in the path and query; use \
         --no-templates to send it as it is",
    ),
    (
        "'{url}{{ usr }}'",
        "drumfire: URL `{url}{{ usr }}`: templates have no variable `usr`; did you mean `user`?; use --no-templates to send it as it is",
    ),
    (
        "'{url}{{ \"a b\" }}'",
        "drumfire: URL `{url}{{ \"a b\" }}`: the path and query contain a space; add `| urlencode` \
         to the value",
    ),
    (
        "@{dir}/listed.txt",
        "drumfire: {dir}/listed.txt:3: templates have no variable `nix`; did you mean `unix`?; use --no-templates to send it as it is",
    ),
    (
        "{url} -H 'X-Of: {{'",
        "drumfire: -H: the field `X-Of`: in the template `{{`: unexpected end of input, expected \
         expression; use --no-templates to send it as it is",
    ),
    (
        "{url} -H 'X-Of: {{ \"a\\r\\nb: c\" }}'",
        "drumfire: -H: the value of header `X-Of` contains a control character; a header is one \
         line of text",
    ),
    (
        "{url} -H 'Content-Length: {{ 1 }}'",
        "drumfire: -H: the field `Content-Length` is set by the connection and can't be a template",
    ),
    (
        "{url} -H 'Host: a' -H 'Host: {{ user }}'",
        "drumfire: more than one Host header; keep one",
    ),
    (
        "{url} -d '{{\"a\":1}'",
        "drumfire: -d: in the template `{{\"a\":1}`: unexpected `:`, expected end of variable block; use --no-templates to send it as it is",
    ),
    (
        "{url} -d @{dir}/body.json",
        "drumfire: -d: {dir}/body.json: templates have no variable `people`; for rows of a file, \
         add a feed: `feeds: { people: { csv: people.csv } }`; use --no-templates to send it as it \
         is",
    ),
    (
        "{url} -d @{dir}/bad-lines.txt --body-lines",
        "drumfire: -d: {dir}/bad-lines.txt:2: in the template `{{ x`: unexpected end of input, \
         expected end of variable block; use --no-templates to send it as it is",
    ),
    (
        "{url} -d @{dir}/empty-lines.txt --body-lines",
        "drumfire: -d: there are no lines to send; write one body per line",
    ),
    (
        "{url} -d x --body-lines --order best",
        "drumfire: --order: unknown order `best`; use `turn`, `random` or `once`",
    ),
    (
        "{url} -d '{{ uuid }}' -H 'Content-Length: 36'",
        "drumfire: Content-Length is computed for each varying body; leave it out",
    ),
    (
        "{url} --feed people",
        "drumfire: --feed: `people` is not of the form NAME=FILE; use one such as users=users.csv",
    ),
    (
        "{url} --feed people={dir}/none.csv",
        "drumfire: --feed: can't read {dir}/none.csv: No such file or directory (os error 2)",
    ),
    (
        "'{url}{{ people.nam }}' --feed people={dir}/people.csv",
        "drumfire: URL `{url}{{ people.nam }}`: the feed `people` has no column `nam`; did you mean \
         `name`?; use --no-templates to send it as it is",
    ),
    (
        "{url} --body-lines",
        "drumfire: the following required arguments were not provided:\n  --data <DATA>",
    ),
];

#[test]
fn mistakes_name_their_place_and_the_way_out() {
    let folder = folder();
    let server = Script::new(|peer| peer.hold());
    let url = server.url();
    folder.write(
        "listed.txt",
        format!("{url}a\n# none\n{url}{{{{ nix }}}}\n"),
    );
    folder.write("bad-lines.txt", "fine\n{{ x\n");
    folder.write("empty-lines.txt", "\n\r\n");
    let dir = folder.path().display().to_string();
    let fill = |text: &str| text.replace("{url}", &url).replace("{dir}", &dir);
    for (line, says) in MISTAKES {
        let run = http(&fill(line));
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(&fill(says)), "{line}: {}", run.stderr);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_plan_file_says_the_same_by_its_keys() {
    let folder = folder();
    let dir = folder.path().display();
    for (requests, says) in [
        (
            "- get: 'http://127.0.0.1:1/{{ x'",
            "get: in the template `/{{ x`: unexpected end of input, expected end of variable block; use `templates: none` to send it as it is",
        ),
        (
            "- { post: 'http://127.0.0.1:1/', body: x, order: random }",
            "order: `order` is only for bodies with `body_lines: true`",
        ),
        (
            "- { post: 'http://127.0.0.1:1/', body_lines: true }",
            "body_lines: `body_lines` needs a body with lines",
        ),
        (
            "- { get: 'http://127.0.0.1:1/', templates: go }",
            "templates: unknown HTTP template language `go`; use `jinja` or `none`",
        ),
    ] {
        let text = format!("drumfire: 1\npools:\n  a:\n    requests:\n    {requests}\n");
        let plan = folder.write("wrong.yaml", text);
        let run = Process::start(&mut drumfire(words(&format!("run {plan}")))).finish(LIMIT);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        let place = format!("{dir}/wrong.yaml:5:");
        let found = run.stderr.contains(&place) && run.stderr.contains(says);
        assert!(found, "{requests}: {}", run.stderr);
    }
    // None of a pool's requests is a template, but for the one that says so.
    let text = "drumfire: 1\npools:\n  a:\n    target: http://127.0.0.1:1\n    templates: none\n    \
                requests:\n    - get: '/{{a}}'\n    - { get: '/{{ user }}', templates: jinja }\n\
                stop: { requests: 2 }\n";
    let plan = folder.write("mixed.yaml", text);
    let printed = Process::start(&mut drumfire(["run", &plan, "--print-plan"])).finish(LIMIT);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(
        printed.stdout.contains("templates: jinja"),
        "{}",
        printed.stdout
    );
}

/// In a mapping of a call's data, a template that is a value of JSON has no quotes; `reply` alone
/// takes the whole of the reply.
#[test]
fn a_mapping_of_a_call_has_templates_as_json_has() {
    let serve = Serve::new("--grpc");
    let folder = Folder::new();
    folder.write("rows.jsonl", "{\"on\": true, \"n\": 7}\n");
    let plan = format!(
        "drumfire: 1\nfeeds: {{ f: {{ jsonl: rows.jsonl }} }}\npools:\n  p:\n    target: {}\n    \
         plaintext: true\n    users: 1\n    scenario:\n      \
         - call: drumfire.test.v1.TestService/Unary\n        data:\n          \
         wish: {{ echo_metadata: '{{{{ f.on | tojson }}}}', size: '{{{{ f[\"n\"] | int }}}}' }}\n        \
         take: {{ all: reply }}\n      \
         - {{ if: \"all contains 'x-me'\", do: [ {{ call: drumfire.test.v1.TestService/Unary, name: told }} ] }}\n    \
         metadata: {{ x-me: here }}\nstop: {{ iterations: 2 }}\n",
        serve.address()
    );
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("out.json"));
    let mut command = drumfire([
        "run",
        &path,
        "-q",
        "--no-tui",
        "--no-store",
        "--json",
        &json,
    ]);
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(Report::read(&json).n("requests.ok"), 4);
}
