//! `drumfire import`, `drumfire new` and `drumfire schema`: plans to begin with.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Run, Serve, drumfire};
use std::fs;

fn run(folder: &Folder, args: &[&str]) -> Run {
    let mut command = drumfire(args);
    Process::start(command.current_dir(folder.at("."))).finish(LIMIT)
}

/// Imports a text, and checks that what is printed can be run; the plan and the notes.
#[track_caller]
fn imported(form: &str, text: &str, flags: &str) -> (String, String) {
    let folder = Folder::new();
    folder.write("given", text);
    folder.write("x", "the file of a part");
    let mut args = vec!["import".to_owned(), form.to_owned(), "given".to_owned()];
    args.extend(words(flags));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let run_of = run(&folder, &args);
    assert_eq!(run_of.code, Some(0), "{}", run_of.stderr);
    folder.write("plan.yaml", &run_of.stdout);
    let checked = run(&folder, &["check", "plan.yaml"]);
    assert_eq!(
        checked.code,
        Some(0),
        "{}\n{}",
        run_of.stdout,
        checked.stderr
    );
    (run_of.stdout, run_of.stderr)
}

/// What a browser copies.
const CURL: &str = r"curl 'https://shop.test/cart?x=1' \
  -X PUT -H 'Accept: */*' -H 'Accept-Encoding: gzip' -b 'id=1' -H 'Connection: keep-alive' \
  --data-raw $'{\'a\':\'\u00e9\'}' --compressed -k -s -F 'f=@x'
curl -u me:pw https://shop.test/pay -G -d a=1 --data-urlencode 'b=c d' -H 'Accept: */*' \
  -H 'Upgrade-Insecure-Requests: 1' -H 'Expect: 100-continue' -H 'Trailer: x'
";

#[test]
fn command_lines_of_curl_become_a_plan() {
    let (plan, notes) = imported("curl", CURL, "");
    assert_eq!(
        plan,
        "drumfire: 1\ndefaults:\n  target: https://shop.test\n  compressed: \"true\"\n  tls:\n    insecure: true\n  \
         headers:\n    Accept: \"*/*\"\npools:\n  main:\n    rate: 10/s\n    requests:\n      - put: /cart?x=1\n        \
         headers:\n          Accept-Encoding: gzip\n          Cookie: id=1\n          Content-Type: application/x-www-form-urlencoded\n        \
         body: \"{'a':'é'}\"\n      - get: /pay?a=1&b=c%20d\n        headers:\n          \
         Authorization: Basic bWU6cHc=\n          Upgrade-Insecure-Requests: 1\nstop:\n  after: 10s\n"
    );
    assert!(
        notes.contains("`--form` is not imported, because there is other data"),
        "{notes}"
    );
    assert!(
        notes.contains("the field `Connection` is left out"),
        "{notes}"
    );
}

/// Requests of one command line have their own flags, and a file that is sent is a body.
/// Parts of a form keep their texts, their files and their types; the plan makes the boundary.
#[test]
fn forms_of_several_parts_keep_their_parts() {
    let line = "curl http://h/up -F a=1 -F 'b={\"c\":2};type=application/json' \
                -F 'f=@x;type=text/plain;filename=y' -F 'g=<z' -b a=1 -b b=2 \
                -H 'Content-Type: multipart/form-data'";
    let (plan, notes) = imported("curl", line, "");
    for expected in [
        "- post: /up",
        "Cookie: a=1; b=2",
        "        multipart:\n          - a: 1\n          - b:\n              text: '{\"c\":2}'\n              \
         type: application/json\n          - f:\n              file: x\n              filename: \"y\"\n              \
         type: text/plain\n",
    ] {
        assert!(plan.contains(expected), "{expected}: {plan}");
    }
    assert!(!plan.contains("Content-Type"), "{plan}");
    assert!(
        notes.contains("the part `g` of a multipart body is not imported"),
        "{notes}"
    );
}

/// A setting of one of several command lines is one of the whole plan, which is said.
#[test]
fn settings_of_one_command_line_are_said_to_hold_for_all() {
    let lines = "curl -s -k http://h/a\ncurl -m 5 -k http://h/b\n";
    let (plan, notes) = imported("curl", lines, "");
    assert!(plan.contains("timeout: 5s"), "{plan}");
    assert!(
        notes.contains("`--max-time` is set in 1 of 2 command lines and applies to all requests"),
        "{notes}"
    );
    assert!(!notes.contains("--insecure"), "{notes}");
}

/// A recording's plan goes to one host, and a description's reads, unless more is asked for.
#[test]
fn what_others_own_or_what_changes_something_is_left_out() {
    let entry = |url: &str| {
        format!(
            r#"{{"request":{{"method":"GET","url":"{url}","headers":[]}},"startedDateTime":"2026-01-01T00:00:00Z","time":1}}"#
        )
    };
    let urls = [
        "http://shop.test/",
        "http://cdn.test/app.js",
        "http://SHOP.test/b",
        "http://cdn.test/c",
    ];
    let entries: Vec<String> = urls.iter().map(|url| entry(url)).collect();
    let har = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    let (plan, notes) = imported("har", &har, "");
    assert!(!plan.contains("cdn.test"), "{plan}");
    assert!(
        notes.contains(
            "2 requests to cdn.test are left out, because the first one goes to shop.test"
        ),
        "{notes}"
    );
    let (plan, notes) = imported("har", &har, "--all");
    assert_eq!(plan.matches("http://cdn.test").count(), 2, "{plan}");
    assert!(!notes.contains("left out"), "{notes}");
    let api = r#"{"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":"http://h.test"}],
        "paths":{"/a":{"get":{"responses":{}},"delete":{"responses":{}}},
                 "/b":{"get":{"deprecated":true,"responses":{}}}}}"#;
    let (plan, notes) = imported("openapi", api, "");
    assert!(
        plan.contains("get: /a") && !plan.contains("/b") && !plan.contains("delete"),
        "{plan}"
    );
    for note in [
        "operations are left out, because they may change something; use --all to keep them: DELETE /a",
        "operations are left out, because they are deprecated; use --all to keep them: GET /b",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let (plan, _) = imported("openapi", api, "--all");
    assert!(
        plan.contains("delete: /a") && plan.contains("get: /b"),
        "{plan}"
    );
}

#[test]
fn one_command_line_may_have_several_requests() {
    let line = "curl -d a=1 -H 'X: 1' http://h.test/a --next -T given http://h.test/up/ -: -X DELETE \
                --url-query 'q=1 2' --url-query +r=%20 http://h.test/b\n";
    let (plan, notes) = imported("curl", line, "");
    let requests = "    requests:\n      - post: /a\n        headers:\n          X: 1\n          Content-Type: \
                    application/x-www-form-urlencoded\n        body: a=1\n      - put: /up/given\n        \
                    body_file: given\n      - delete: /b?q=1%202&r=%20\n";
    assert!(plan.contains(requests), "{plan}");
    assert_eq!(notes, "");
}

const HAR: &str = r#"{"log":{"entries":[
 {"startedDateTime":"2024-01-01T00:00:00.000Z","time":100,"request":{"method":"GET","url":"http://h.test/a?b=1","headers":[{"name":":authority","value":"h.test"},{"name":"A","value":"{{ x }}"}]}},
 {"startedDateTime":"2024-01-01T00:00:01.500Z","time":10,"request":{"method":"POST","url":"http://h.test/b","headers":[],"postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"q","value":"a b"}]}}},
 {"startedDateTime":"2024-01-01T00:00:02.000Z","time":10,"request":{"method":"GET","url":"wss://h.test/c","headers":[]}}
]}}"#;

#[test]
fn a_recording_becomes_a_plan_with_or_without_its_pauses() {
    let (plan, notes) = imported("har", HAR, "");
    assert!(
        plan.contains("      - get: /a?b=1\n        name: GET /a\n"),
        "{plan}"
    );
    assert!(
        plan.contains("templates: none") && plan.contains("q: a b"),
        "{plan}"
    );
    assert!(
        notes.contains("requests that are not HTTP are left out: `wss://h.test/c`"),
        "{notes}"
    );
    let (paused, _) = imported("har", HAR, "--pauses");
    assert!(paused.contains("      - pause: 1400ms\n"), "{paused}");
}

const OPENAPI: &str = r##"
openapi: 3.0.3
servers: [ { url: "http://{env}.test/v1/", variables: { env: { default: api } } } ]
security: [ { bearer: [] } ]
paths:
  /pets/{id}:
    parameters: [ { name: id, in: path, required: true, schema: { type: integer } } ]
    get:
      operationId: showPet
      parameters:
        - { name: q, in: query, required: true, example: a b }
        - { name: page, in: query, schema: { type: integer } }
    put:
      security: []
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
components:
  securitySchemes: { bearer: { type: http, scheme: bearer } }
  schemas:
    Pet: { type: object, properties: { name: { type: string, example: Rex }, mate: { $ref: "#/components/schemas/Pet" }, friends: { type: array, items: { $ref: "#/components/schemas/Pet" } }, home: { $ref: "#/components/schemas/Home" } } }
    Home: { type: object, properties: { town: { type: string }, owner: { $ref: "#/components/schemas/Pet" } } }
"##;

#[test]
fn a_description_becomes_a_request_for_each_operation() {
    let (plan, notes) = imported("openapi", OPENAPI, "--all");
    assert!(plan.contains("target: http://api.test\n"), "{plan}");
    assert!(
        plan.contains("- get: /v1/pets/1?q=a%20b\n        name: showPet\n"),
        "{plan}"
    );
    assert!(
        plan.contains("Authorization: \"Bearer ${secret:env:TOKEN:-none-yet}\""),
        "{plan}"
    );
    assert!(
        plan.contains("json: {\"friends\":[],\"home\":{\"town\":\"text\"},\"name\":\"Rex\"}\n"),
        "{plan}"
    );
    assert!(
        notes.contains("optional query parameters are left out: `page` of GET /pets/{id}"),
        "{notes}"
    );
    let (elsewhere, _) = imported("openapi", OPENAPI, "--all --target http://127.0.0.1:9");
    assert!(
        elsewhere.contains("target: http://127.0.0.1:9\n"),
        "{elsewhere}"
    );
}

/// What looks like a template in a description is its own text, beside the values that are made.
#[test]
fn examples_of_a_description_are_no_templates() {
    let text = r##"{"openapi":"3.0.0","servers":[{"url":"http://a.test"}],"paths":{"/{{x}}/{id}":{"post":{
  "operationId":"make\u202e it",
  "parameters":[
    {"name":"id","in":"path","required":true,"schema":{"type":"string","format":"uuid"}},
    {"name":"q","in":"query","required":true,"example":"{{ uuid }}"},
    {"name":"X-A","in":"header","required":true,"example":"{{uuid}} {% if x %} {# c #} {{{"},
    {"name":"X-B","in":"header","required":true,"schema":{"type":"string","format":"uuid"}}],
  "requestBody":{"content":{"application/json":{"example":{"a":"{{uuid}}","b":{"c":"{"}}}}}}}}}"##;
    let serve = Serve::new("");
    let flags = format!("--all --target {}", serve.url);
    let (plan, notes) = imported("openapi", text, &flags);
    assert!(
        notes
            .contains("braces that are no parameters; they are sent as they are: POST /{{x}}/{id}"),
        "{notes}"
    );
    assert!(plan.contains("\\u202e it"), "{plan}");
    let folder = Folder::new();
    folder.write("plan.yaml", &plan);
    let args = ["run", "plan.yaml", "--show", "-n", "1", "--no-store"];
    let shown = run(&folder, &args);
    let request = format!("{}{}", shown.stdout, shown.stderr);
    for sent in [
        "X-A: {{uuid}} {% if x %} {# c #} {{{",
        r#""a": "{{uuid}}""#,
        r#""c": "{""#,
        "?q=%7B%7B%20uuid%20%7D%7D",
        "POST /{{x}}/",
    ] {
        assert!(request.contains(sent), "{sent}\n{request}\n{plan}");
    }
    let uuid = request
        .lines()
        .find_map(|line| line.split_once("X-B: "))
        .expect(&request)
        .1;
    assert_eq!(uuid.matches('-').count(), 4, "{uuid}");
}

#[test]
fn bodies_of_json_are_read_back_as_they_were_printed() {
    for (example, printed) in [
        ("{ schema: {} }", "json: null\n"),
        ("{ example: a }", "json: \"a\"\n"),
        ("{ example: \"\" }", "json: \"\"\n"),
        // A tree's text would be taken for JSON in quotes.
        (
            "{ example: \"[x\" }",
            "Content-Type: application/json\n        body: '\"[x\"'\n",
        ),
        (
            "{ schema: { type: string, format: uuid } }",
            "body: '\"{{ uuid }}\"'\n",
        ),
    ] {
        let media = format!("{{ content: {{ application/json: {example} }} }}");
        let text = format!(
            "openapi: 3.0.3\nservers: [ {{ url: http://a.test }} ]\npaths: {{ /a: {{ post: {{ requestBody: {media} }} }} }}\n"
        );
        let (plan, _) = imported("openapi", &text, "--all");
        assert!(plan.contains(printed), "{example}: {plan}");
    }
}

const POSTMAN: &str = r#"{"info":{"name":"x"},"variable":[{"key":"base-url","value":"http://h.test"}],
"auth":{"type":"bearer","bearer":[{"key":"token","value":"{{token}}"}]},
"item":[{"name":"F","item":[{"name":"R","event":[{"listen":"test","script":{"exec":["pm.test()"]}}],
 "request":{"method":"POST","url":{"raw":"{{base-url}}/p/:id","variable":[{"key":"id","value":"7"}]},
 "header":[{"key":"X","value":"1","disabled":true}],
 "body":{"mode":"raw","raw":"{\"id\":\"{{$guid}}\"}","options":{"raw":{"language":"json"}}}}}]}]}"#;

#[test]
fn a_collection_becomes_a_plan_with_its_variables() {
    let (plan, notes) = imported("postman", POSTMAN, "");
    for text in [
        "base_url: http://h.test",
        "post: \"${base_url}/p/7\"",
        "name: F/R",
        "Authorization: \"Bearer ${env:TOKEN:-TOKEN}\"",
        "body: '{\"id\":\"{{ uuid }}\"}'",
    ] {
        assert!(plan.contains(text), "{text}\n{plan}");
    }
    assert!(notes.contains("scripts are not imported: F/R"), "{notes}");
    assert!(
        notes.contains("the plan reads the environment variable TOKEN"),
        "{notes}"
    );
}

const PARTS_OF_POSTMAN: &str = r#"{
"variable": [{"key": "base-url", "value": "http://shop.test/api"}, {"key": "k", "value": "v"}],
"item": [
  {"name": "get", "request": {"url": {"raw": "{{base-url}}/p/:id?v=1&q={{k}}",
    "variable": [{"key": "id", "value": "7"}]},
    "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "key"},
      {"key": "value", "value": "{{k}}"}, {"key": "in", "value": "query"}]}}},
  {"name": "form", "request": {"method": "POST", "url": "{{base-url}}/up", "body": {
    "mode": "formdata", "formdata": [{"key": "a", "value": "{{k}}", "type": "text"},
      {"key": "f", "type": "file", "src": "x"}]}}}
]}"#;

#[test]
fn a_collection_has_paths_with_variables_keys_in_queries_and_parts_of_forms() {
    let (plan, notes) = imported("postman", PARTS_OF_POSTMAN, "");
    for expected in [
        "get: \"${base_url}/p/7?v=1&q=${k}&key=${k}\"",
        "- a: \"${k}\"",
        "- f:\n              file: x\n",
    ] {
        assert!(plan.contains(expected), "{expected}: {plan}");
    }
    assert!(!notes.contains("has no target"), "{notes}");
    let (plan, _) = imported("postman", PARTS_OF_POSTMAN, "--target http://127.0.0.1:1");
    assert!(plan.contains("target: http://127.0.0.1:1"), "{plan}");
    assert!(
        plan.contains("get: \"/api/p/7?v=1&q=${k}&key=${k}\""),
        "{plan}"
    );
}

#[test]
fn a_log_becomes_its_paths_with_their_weights() {
    let line = |request: &str| {
        format!("1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"{request}\" 200 5 \"-\" \"a\"\n")
    };
    let log = line("GET /a HTTP/1.1")
        + &line("GET /b?x=1 HTTP/1.1")
        + &line("GET /a HTTP/1.1")
        + &line("POST /c HTTP/1.1")
        + "junk\n";
    let (plan, notes) = imported("access-log", &log, "--target http://127.0.0.1:9");
    assert!(plan.contains("- get: /a\n        weight: 2\n"), "{plan}");
    assert!(plan.contains("- get: /b?x=1\n"), "{plan}");
    assert!(
        notes.contains("lines that are not of an access log are left out (1, first in line 5)")
            && notes.contains("because a log has no bodies (1, first in line 4)"),
        "{notes}"
    );
    let folder = Folder::new();
    folder.write("given", "junk\n");
    let refused = run(&folder, &["import", "access-log", "given"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

/// The plan that is written to begin with is accepted, runs, and is not written over another.
#[test]
fn a_new_plan_runs_as_it_stands() {
    let serve = Serve::new("");
    let folder = Folder::new();
    assert_eq!(run(&folder, &["new", "plan.yaml"]).code, Some(0));
    let again = run(&folder, &["new", "plan.yaml"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(run(&folder, &["new", "plan.yaml", "--force"]).code, Some(0));
    let toml = run(&folder, &["new", "plan.TOML"]);
    assert_eq!(toml.code, Some(2), "{}", toml.stderr);
    assert!(toml.stderr.contains("ends in .yaml"), "{}", toml.stderr);
    let text = fs::read_to_string(folder.at("plan.yaml")).unwrap();
    assert_eq!(run(&folder, &["new"]).stdout, text);
    let checked = run(&folder, &["check", "plan.yaml"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let target = format!("vars.base=http://{}", serve.address());
    let ran = run(
        &folder,
        &[
            "run",
            "plan.yaml",
            "--set",
            &target,
            "--no-tui",
            // The same rules with bounds that every machine keeps.
            "--set",
            "thresholds.1=browse: p99<60s",
            "--set",
            "thresholds.2=buy/log in: p90<60s",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for form in ["plan", "summary"] {
        let schema: serde_json::Value =
            serde_json::from_str(&run(&folder, &["schema", form]).stdout).unwrap();
        assert!(schema["$id"].is_string(), "{form}");
    }
}

/// Files beside a description are read, but no link leads out of its folder.
#[test]
fn a_description_refers_to_files_below_its_folder() {
    let folder = Folder::new();
    fs::create_dir_all(folder.at("api/res")).unwrap();
    folder.write(
        "secret.yaml",
        "parameters: [ { name: X-Secret, in: header, required: true, example: s } ]",
    );
    std::os::unix::fs::symlink(folder.at("secret.yaml"), folder.at("api/link.yaml")).unwrap();
    folder.write("api/res/get.yaml", "operationId: fromFile");
    folder.write(
        "api/root.yaml",
        "openapi: 3.0.0\nservers: [ { url: http://a.test } ]\npaths:\n  /a: { get: { $ref: res/get.yaml } }\n  \
         /b: { get: { $ref: link.yaml } }\n",
    );
    let shown = run(&folder, &["import", "openapi", "api/root.yaml"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("name: fromFile"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("X-Secret"), "{}", shown.stdout);
    let note = "an operation is left out, because the reference `link.yaml` can't be followed: can't read \
                link.yaml: it is a link out of the document's folder: GET /b";
    assert!(shown.stderr.contains(note), "{}", shown.stderr);
}
