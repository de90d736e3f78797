//! `drumfire k6` runs scripts against servers: their requests, checks, thresholds and exit codes.

use crate::support::program::{LIMIT, words};
use crate::support::script::Peer;
use crate::support::{Folder, Process, Run, Script, Serve, Signal, drumfire};

/// Runs a script with these flags. `URL` in the script stands for the server.
fn k6(folder: &Folder, url: &str, flags: &str, script: &str) -> Run {
    let path = folder.write(
        "script.js",
        script.replace("URL", url.trim_end_matches('/')),
    );
    let mut command = drumfire(["k6", "run", "-q", "--no-color"]);
    let command = command.args(words(flags)).arg(path);
    Process::start(command).finish(LIMIT)
}

/// The first value of a metric in a summary. The dots after its name depend on the other metrics.
fn shown<'a>(stdout: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = stdout.lines().map(str::trim_start);
    let line = lines.find(|line| line.starts_with(&format!("{name}.")))?;
    let (_, value) = line.split_once(": ")?;
    value.split_whitespace().next()
}

const CHECKED: &str = "
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const mine = new Counter('mine'), sizes = new Trend('sizes');
export function setup() { return { from: http.get('URL/').status } }
export default function (data) {
  group('outer', () => {
    const response = http.post('URL/?x=1', { a: 1, b: 'x y' }, { tags: { name: 'post' } });
    check(response, { 'is 200': (r) => r.status === 200, 'is 500': (r) => r.status === 500 });
    sizes.add(response.body.length);
  });
  mine.add(data.from);
}
export function teardown(data) { http.get('URL/' + data.from) }";

#[test]
fn a_script_runs_with_setup_checks_and_metrics() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let export = folder.at("summary.json");
    let flags = format!("-u 2 -i 6 --summary-export {export}");
    let run = k6(&folder, &serve.url, &flags, CHECKED);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for part in [
        "checks_succeeded...: 50.00% 6 out of 12",
        "✗ is 500",
        "http_reqs......................: 8",
        "iterations.....................: 6",
        "mine...........................: 1200",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let text = std::fs::read_to_string(export).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["metrics"]["iterations"]["count"], 6);
    assert_eq!(json["setup_data"]["from"], 200);
    let checks = &json["root_group"]["groups"]["outer"]["checks"];
    assert_eq!(checks["is 200"]["passes"], 6);
    assert_eq!(serve.count("requests"), 8);
}

/// Each row: flags, the end of a script, and the exit code.
#[test]
fn exit_codes_are_k6s() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let head =
        "import http from 'k6/http'; import exec from 'k6/execution'; import { fail } from 'k6';";
    for (flags, script, code) in [
        ("", "export default () => { http.get('URL/') }", 0),
        ("", "export default () => { fail('no') }", 0),
        (
            "",
            "export const options = { thresholds: { http_reqs: ['count>5'] } };
             export default () => { http.get('URL/') }",
            99,
        ),
        (
            "--no-thresholds",
            "export const options = { thresholds: { http_reqs: ['count>5'] } };
             export default () => { http.get('URL/') }",
            0,
        ),
        (
            "",
            "export const options = { thresholds: { nosuch: ['count>5'] } }; export default () => {}",
            104,
        ),
        ("-d 5s -s 5s:1", "export default () => {}", 104),
        ("", "export default () => {}; throw new Error('init')", 107),
        (
            "",
            "import x from 'k6/browser'; export default () => {}",
            107,
        ),
        ("", "http.get('URL/'); export default () => {}", 107),
        (
            "",
            "export function setup() { throw new Error('x') }; export default () => {}",
            107,
        ),
        (
            "-u 3 -d 1m",
            "export default () => { exec.test.abort('enough') }",
            108,
        ),
        ("", "export default () => { exec.test.fail('bad') }", 110),
        ("", "export const x = 1", 255),
    ] {
        let run = k6(&folder, &serve.url, flags, &format!("{head}\n{script}"));
        assert_eq!(
            run.code,
            Some(code),
            "{script}: {}{}",
            run.stdout,
            run.stderr
        );
    }
    let missing = Process::start(drumfire(["k6", "run"]).arg(folder.at("none.js"))).finish(LIMIT);
    assert_eq!(missing.code, Some(255), "{}", missing.stderr);
}

/// What a server sees: forms, cookies that it sets, a redirect that it asks for.
#[test]
fn requests_are_as_the_script_says() {
    let folder = Folder::new();
    let server = Script::new(|peer: &mut Peer| {
        while let Some(head) = peer.request() {
            let answer = if head.starts_with("GET /redirect") {
                "HTTP/1.1 302 Found\r\nLocation: /end?a=1\r\nSet-Cookie: id=7; Path=/\r\nContent-Length: 0\r\n\r\n"
            } else {
                "HTTP/1.1 200 OK\r\nX-Two: a\r\nX-Two: b\r\nContent-Length: 15\r\n\r\n{\"a\":{\"b\":[5]}}"
            };
            if !peer.send(answer) {
                return;
            }
        }
    });
    let script = "
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const end = http.get('URL/redirect', { headers: { 'x-own': 'me' } });
  check(end, {
    'followed': (r) => r.url.endsWith('/end?a=1') && r.status === 200,
    'json': (r) => r.json('a.b.0') === 5 && r.json('a.b.#') === 1 && r.json('x') === undefined,
    'headers': (r) => r.headers['X-Two'] === 'a, b',
    'timings': (r) => r.timings.duration >= r.timings.waiting,
  });
  http.get('URL/redirect', { redirects: 0, cookies: { own: 'x' } });
  http.request('PUT', 'URL/form', { b: 'x y', a: [1, 2] });
  const both = http.batch({ one: 'URL/one', two: ['GET', 'URL/two'] });
  check(both, { 'batch': (r) => r.one.status === 200 && r.two.status === 200 });
}";
    let run = k6(&folder, &server.url(), "", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout
            .contains("checks_succeeded...: 100.00% 5 out of 5"),
        "{}",
        run.stdout
    );
    let heads = server.heads();
    let matching = |start: &str| -> Vec<&String> {
        let heads = heads.iter();
        heads.filter(|head| head.starts_with(start)).collect()
    };
    let end = matching("GET /end?a=1")[0];
    assert!(
        end.contains("Cookie: id=7") && end.contains("X-Own: me"),
        "{end}"
    );
    assert!(end.contains("Referer: http://"), "{end}");
    let second = matching("GET /redirect")[1];
    assert!(second.contains("Cookie: own=x; id=7"), "{second}");
    let form = matching("PUT /form")[0];
    assert!(
        form.contains("Content-Type: application/x-www-form-urlencoded"),
        "{form}"
    );
    assert!(form.contains("Content-Length: 13"), "{form}");
    assert_eq!(matching("GET /one").len() + matching("GET /two").len(), 2);
}

/// Executors by the counts that they promise.
#[test]
fn executors_start_what_they_owe() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let head = "import http from 'k6/http'; import { sleep } from 'k6';
                export default () => { http.get('URL/') }; export function slow() { sleep(60) }";
    for (scenario, count) in [
        ("executor: 'shared-iterations', vus: 3, iterations: 10", 10),
        ("executor: 'per-vu-iterations', vus: 3, iterations: 4", 12),
        (
            "executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 20",
            20,
        ),
        (
            "executor: 'ramping-arrival-rate', startRate: 20, preAllocatedVUs: 20,
             stages: [{ duration: '1s', target: 20 }]",
            19,
        ),
    ] {
        let before = serve.count("requests");
        let script =
            format!("{head}\nexport const options = {{ scenarios: {{ one: {{ {scenario} }} }} }}");
        let run = k6(&folder, &serve.url, "", &script);
        assert_eq!(run.code, Some(0), "{scenario}: {}", run.stderr);
        assert_eq!(serve.count("requests") - before, count, "{scenario}");
    }
    let script = format!(
        "{head}\nexport const options = {{ scenarios: {{ one: {{ executor: 'constant-arrival-rate', exec: 'slow', \
         rate: 10, duration: '1s', preAllocatedVUs: 2, gracefulStop: '0s' }} }} }}"
    );
    let run = k6(&folder, &serve.url, "", &script);
    let dropped = shown(&run.stdout, "dropped_iterations");
    assert_eq!(dropped, Some("8"), "{}", run.stdout);
    assert!(
        run.stderr
            .contains("Insufficient VUs, reached 2 active VUs"),
        "{}",
        run.stderr
    );
}

/// Modules, TypeScript, files, shared arrays, promises and timers.
#[test]
fn languages_and_libraries() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    folder.write(
        "lib.ts",
        "export enum Kind { A = 3 }\nexport const twice = (x: number): number => 2 * x;",
    );
    folder.write("data.json", "[{\"n\": 1}, {\"n\": 2}]");
    let script = "
import { Kind, twice } from './lib.ts';
import { SharedArray } from 'k6/data';
import { check } from 'k6';
import { vu, scenario } from 'k6/execution';
import crypto from 'k6/crypto';
import { b64encode } from 'k6/encoding';
import { randomIntBetween } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
const data = new SharedArray('data', () => JSON.parse(open('./data.json')));
let count = 0;
export default async function () {
  count += 1;
  let late = 0;
  setTimeout(() => { late = 1 }, 5);
  await new Promise((done) => setTimeout(done, 10));
  const drawn = randomIntBetween(3, 5);
  check(null, {
    'typescript': () => twice(Kind.A) === 6,
    'shared': () => data.length === 2 && data[1].n === 2 && data.map((d) => d.n).join() === '1,2',
    'own state': () => count === __ITER + 1 && vu.idInTest === __VU && scenario.name === 'default',
    'timers': () => late === 1,
    'digests': () => crypto.md5('abc', 'hex') === '900150983cd24fb0d6963f7d28e17f72' && b64encode('a') === 'YQ==',
    'library': () => drawn >= 3 && drawn <= 5,
    'environment': () => __ENV.MINE === 'x',
  });
}";
    let run = k6(&folder, &serve.url, "-u 3 -i 9 -e MINE=x", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout
            .contains("checks_succeeded...: 100.00% 63 out of 63"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn rows_and_the_scripts_own_summary() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let (rows, own) = (folder.at("rows.json"), folder.at("own.txt"));
    let script = "
import http from 'k6/http';
export default () => { http.get('URL/') };
export function handleSummary(data) {
  return { stdout: 'own ' + data.metrics.http_reqs.values.count + '\\n', 'OWN': JSON.stringify(data.state) };
}";
    let flags = format!("-i 2 --out json={rows}");
    let run = k6(&folder, &serve.url, &flags, &script.replace("OWN", &own));
    assert_eq!(
        (run.code, &*run.stdout),
        (Some(0), "own 2\n"),
        "{}",
        run.stderr
    );
    assert!(
        std::fs::read_to_string(own)
            .unwrap()
            .contains("testRunDurationMs")
    );
    let text = std::fs::read_to_string(rows).unwrap();
    let points = text
        .lines()
        .filter(|line| line.contains("\"metric\":\"http_reqs\",\"type\":\"Point\""));
    assert_eq!(points.count(), 2, "{text}");
}

/// A signal ends the iterations; teardown and the summary follow.
#[test]
fn a_signal_ends_the_run() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let script = "
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 2, duration: '5m' };
export default () => { http.get('URL/'); sleep(60) };
export function teardown() { http.get('URL/end') }";
    let path = folder.write(
        "script.js",
        script.replace("URL", serve.url.trim_end_matches('/')),
    );
    let process = Process::start(drumfire(["k6", "run", "-q"]).arg(path));
    serve.await_requests(2);
    process.signal(Signal::INT);
    let run = process.finish(LIMIT);
    assert_eq!(run.code, Some(105), "{}", run.stderr);
    assert!(run.stdout.contains("TOTAL RESULTS"), "{}", run.stdout);
    assert_eq!(serve.count("requests"), 3);
}

#[test]
fn what_is_missing_is_named() {
    let folder = Folder::new();
    for (script, message) in [
        (
            "import grpc from 'k6/net/grpc'; export default () => {}",
            "k6/net/grpc is not available in drumfire",
        ),
        (
            "import sql from 'k6/x/sql'; export default () => {}",
            "k6/x/sql is a k6 extension written in Go",
        ),
        (
            "import _ from 'lodash'; export default () => {}",
            "\"lodash\" is a package of npm",
        ),
        (
            "import x from 'https://example.com/x.js'; export default () => {}",
            "remote modules are not loaded",
        ),
        (
            "export const options = { rps: 5 }; export default () => {}",
            "the option `rps`: not available; use an arrival-rate executor",
        ),
    ] {
        let run = k6(&folder, "", "", script);
        assert!(
            run.code == Some(107) || run.code == Some(104),
            "{script}: {:?}",
            run.code
        );
        assert!(run.stderr.contains(message), "{message}: {}", run.stderr);
    }
}

/// What has no effect is named once, and a run without evidence is no strict success.
#[test]
fn what_has_no_effect_is_named() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let url = serve.url.trim_end_matches('/');
    let script = "
import http from 'k6/http';
export const options = { iterations: 3, thresholds: { checks: [{ threshold: 'rate>=0', abortOnFial: true }] } };
export default function () { http.get('URL/', { tmeout: '1s' }) }";
    let run = k6(&folder, url, "", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("no key `abortOnFial`"),
        "{}",
        run.stderr
    );
    let named = run.stderr.matches("no parameter \\\"tmeout\\\"").count();
    assert_eq!(named, 1, "{}", run.stderr);

    let run = k6(&folder, "", "--strict", "export default () => {}");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("nothing to judge"), "{}", run.stderr);
    let strange = "export const options = { thresholds: { checks: [{ threshold: 'rate>0', abortOnFail: 'yes' }] } };
export default () => {}";
    let run = k6(&folder, "", "", strange);
    assert_eq!(run.code, Some(104), "{}", run.stderr);
    assert!(
        run.stderr.contains("must be true or false"),
        "{}",
        run.stderr
    );
}

/// Pages, the forms on them and their links.
#[test]
fn pages_are_read_and_their_forms_sent() {
    let folder = Folder::new();
    let server = Script::new(|peer: &mut Peer| {
        let page = "<title>T</title><a id=first href='next?x=1'>N</a><ul><li class=a>1<li>2</ul>\
                    <form action=/sent method=post><input type=hidden name=csrf value=c-1>\
                    <input name=mail><input type=checkbox name=box value=1 checked=checked><input type=checkbox name=off checked>\
                    <select name=one><option>x<option selected value=y>Y</select>\
                    <button type=submit name=go value=Go></form>";
        while peer.request().is_some() {
            let length = page.len();
            if !peer.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{page}"
            )) {
                return;
            }
        }
    });
    let script = "
import http from 'k6/http';
import { check } from 'k6';
import { parseHTML } from 'k6/html';
export default function () {
  const page = http.get('URL/a/page');
  const doc = page.html();
  check(doc, {
    'texts': (d) => d.find('li').text() === '12' && d.find('title').text() === 'T',
    'attributes': (d) => d.find('#first').attr('href') === 'next?x=1' && d.find('a').attr('no', 'x') === 'x',
    'lists': (d) => d.find('li').map((at, li) => at + li.text()).join() === '01,12',
    'steps': (d) => d.find('.a').next().text() === '2' && d.find('li').last().parent().is('ul'),
    'elements': (d) => d.find('li').get(1).previousElementSibling().className() === 'a',
    'values': (d) => d.find('form').serialize() === 'box=1&csrf=c-1&mail=&one=y',
    'a text': () => parseHTML('<p>a<b>b</b></p>').find('p').html() === 'a<b>b</b>',
  });
  try { doc.find('p >') } catch (error) { check(error, { 'a wrong selector': (e) => e.message.includes('p >') }) }
  page.clickLink({ selector: '#first' });
  page.submitForm({ fields: { mail: 'a@b.test' } });
}";
    let run = k6(&folder, &server.url(), "", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout
            .contains("checks_succeeded...: 100.00% 8 out of 8"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let heads = server.heads();
    let lines: Vec<&str> = heads
        .iter()
        .map(|head| head.lines().next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "GET /a/page HTTP/1.1",
            "GET /a/next?x=1 HTTP/1.1",
            "POST /sent HTTP/1.1"
        ]
    );
    assert!(heads[2].contains("Content-Length: 42"), "{}", heads[2]);
}

/// Sockets of both modules, a request inside of a handler, and requests in the background.
#[test]
fn sockets_talk_and_requests_run_beside_each_other() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let script = "
import http from 'k6/http';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';
const WS = 'URL/ws'.replace('http', 'ws');
export default async function () {
  const seen = [];
  const answer = ws.connect(WS, { tags: { kind: 'one' } }, (socket) => {
    socket.on('open', () => { seen.push('open'); http.get('URL/inside'); socket.send('a'); socket.sendBinary(new Uint8Array([1, 2, 3]).buffer); });
    socket.on('message', (text) => seen.push(text));
    socket.on('binaryMessage', (data) => { seen.push(data.byteLength); socket.ping(); });
    socket.on('pong', () => { seen.push('pong'); socket.setTimeout(() => socket.close(), 1); });
    socket.on('close', (code) => seen.push(code));
  });
  check(seen, { 'ws': (list) => list.join() === 'open,a,3,pong,1001', 'upgraded': () => answer.status === 101 && answer.headers.Upgrade === 'websocket' });
  const refused = ws.connect('ws://127.0.0.1:1/', null, () => {});
  check(refused, { 'refused': (r) => r.status === 0 && r.error.includes('refused') });
  const heard = [];
  const socket = new WebSocket(WS);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => { socket.send('b'); socket.send(new Uint8Array([1, 2]).buffer) };
  socket.onmessage = (event) => { heard.push(event.data.byteLength ?? event.data); if (heard.length === 2) socket.close(1000, 'done') };
  await new Promise((fulfill) => { socket.onclose = (event) => { heard.push(event.code); fulfill() } });
  check(heard, { 'websockets': (list) => list.join() === 'b,2,1000', 'closed': () => socket.readyState === 3 });
  const both = await Promise.all([http.asyncRequest('GET', 'URL/one'), http.asyncRequest('GET', 'URL/two')]);
  check(both, { 'both': (list) => list.every((r) => r.status === 200 && r.body.length > 0) });
}";
    let run = k6(&folder, &serve.url, "", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for (name, value) in [
        ("checks_succeeded", "100.00%"),
        ("ws_sessions", "3"),
        ("ws_msgs_sent", "5"),
        ("ws_msgs_received", "4"),
    ] {
        assert_eq!(
            shown(&run.stdout, name),
            Some(value),
            "{name}: {}{}",
            run.stdout,
            run.stderr
        );
    }
}

/// Bodies that the script wants compressed, and digests of the global `crypto`.
#[test]
fn bodies_are_compressed_and_keys_sign() {
    let folder = Folder::new();
    let server = Script::new(|peer: &mut Peer| {
        while peer.request().is_some() {
            if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                return;
            }
        }
    });
    let script = "
import http from 'k6/http';
import { check } from 'k6';
import encoding from 'k6/encoding';
export default async function () {
  const sent = http.post('URL/gzip', 'a'.repeat(1000), { compression: 'gzip' });
  check(sent, { 'compressed': (r) => r.status === 200 && r.request.body.length < 100 });
  const bytes = new TextEncoder().encode('what do ya want for nothing?');
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('Jefe'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const mac = await crypto.subtle.sign('HMAC', key, bytes);
  const right = await crypto.subtle.verify('HMAC', key, mac, bytes);
  const wrong = await crypto.subtle.verify('HMAC', key, mac, new Uint8Array(1));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'));
  let refused = '';
  try { await crypto.subtle.importKey('raw', bytes, 'AES-CBC', false, []) } catch (error) { refused = error.name }
  check(null, {
    'sign': () => encoding.b64encode(mac, 'rawurl').startsWith('W9zBRr9gdU5q'),
    'verify': () => right && !wrong,
    'digest': () => encoding.b64encode(digest).startsWith('ungWv48B'),
    'refused': () => refused === 'NotSupportedError',
  });
}";
    let run = k6(&folder, &server.url(), "", script);
    assert!(
        run.stdout
            .contains("checks_succeeded...: 100.00% 5 out of 5"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let heads = server.heads();
    assert!(heads[0].contains("Content-Encoding: gzip"), "{}", heads[0]);
}

/// drumfire's own report: dropped iterations are a load that was not kept, and failures have names.
#[test]
fn the_report_beside_the_summary_tells_what_k6_does_not() {
    let (folder, serve) = (Folder::new(), Serve::new("--delay const:1s"));
    let json = folder.at("own.json");
    let script = "
import http from 'k6/http';
export const options = { scenarios: { one: { executor: 'constant-arrival-rate', rate: 20, duration: '2s',
  preAllocatedVUs: 1, maxVUs: 1 } } };
export default () => { http.get('URL/'); http.get('http://127.0.0.1:1/') }";
    let run = k6(
        &folder,
        &serve.url,
        &format!("--strict --json {json}"),
        script,
    );
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    for part in ["% sent", "maxVUs: ", "connect:refused"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert!(!run.stdout.contains("% sent"), "{}", run.stdout);
    let text = std::fs::read_to_string(json).unwrap();
    let own: serde_json::Value = serde_json::from_str(&text).unwrap();
    let iterations = &own["iterations"];
    assert_eq!(iterations["intended"], 40, "{text}");
    assert_eq!(
        iterations["dropped"].as_u64().unwrap() + iterations["started"].as_u64().unwrap(),
        40,
        "{text}"
    );
}

#[test]
fn logs_do_not_show_secrets() {
    let folder = Folder::new();
    let script = "
import secrets from 'k6/secrets';
export default async function () {
  const value = await secrets.get('cool');
  console.log(`${value} has ${value.length} letters`);
  try { await secrets.get('none') } catch (error) { console.log(error.message) }
}";
    let run = k6(&folder, "", "--secret-source mock=cool=sesame", script);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in ["***SECRET_REDACTED*** has 6 letters", "no value for"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("sesame"), "{}", run.stderr);
}

#[test]
fn rows_are_compressed_under_a_name_that_ends_in_gz() {
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let rows = folder.at("rows.json.gz");
    let script = "import http from 'k6/http'; export default () => { http.get('URL/') };";
    let run = k6(
        &folder,
        &serve.url,
        &format!("-i 2 --out json={rows}"),
        script,
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let file = std::fs::File::open(rows).unwrap();
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).unwrap();
    let points = text
        .lines()
        .filter(|line| line.contains("\"metric\":\"http_reqs\",\"type\":\"Point\""));
    assert_eq!(points.count(), 2, "{text}");
}
