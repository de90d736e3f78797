//! The formats of the reports.

use super::{Both, HELLO, UNARY, original, run};
use crate::support::{Folder, Run, Serve};

/// JSON with its keys, their order and its white space, but with `s` for each text and `n` for each
/// number.
fn skeleton(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            '-' | '0'..='9' => rest
                .find(|c: char| !"+-.eE0123456789".contains(c))
                .unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match first {
            '"' if after.starts_with(':') => out.push_str(piece),
            '"' => out.push('s'),
            '-' | '0'..='9' => out.push('n'),
            _ => out.push_str(piece),
        }
        rest = after;
    }
    out
}

/// A skeleton whose list of details is cut to one entry: in a run with a duration, it is chance
/// whether ghz sends a last call.
fn without_repeats(skeleton: &str) -> String {
    let detail = "{\"timestamp\":s,\"latency\":n,\"error\":s,\"status\":s}";
    skeleton.replace(&format!(",{detail}"), "")
}

/// The length of the text at the beginning of some JSON, in bytes.
fn text_length(json: &str) -> usize {
    let mut escaped = false;
    let mut inside = json.char_indices().skip(1);
    let end = inside.find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.unwrap().0 + 1
}

/// The options in a report, on one line and unchanged.
fn options(json: &str) -> &str {
    let (_, rest) = json.split_once("\"options\":").unwrap();
    rest.split_once(",\"count\":").unwrap().0
}

/// Lines whose reports are compared, with the intended differences in their options: ghz's text,
/// our text, and the reason.
type Line<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)]);

const REPORTS: [Line<'_>; 8] = [
    ("-n 5 -c 1 HOST", &[]),
    (
        "-n 6 -c 2 --connections 2 --name 'a <name>' --tags '{\"env\":\"a&b\",\"build\":\"7\"}' \
         -d '{\"name\": \"{{.WorkerID}}\"}' -t 5s --connect-timeout 3s --skipFirst 2 \
         --count-errors --cpus 1 --authority a.test HOST",
        &[],
    ),
    (
        "-n 4 -c 2 -m '{\"x-b\":\"2\",\"x-a\":\"{{.RequestNumber}}\"}' -d '{\"name\":\"☺\"}' HOST",
        &[],
    ),
    (
        "-n 4 -c 1 --load-schedule line --load-start 50 --load-step 5 --load-end 60 --async HOST",
        &[],
    ),
    (
        "-n 4 -c 4 --concurrency-schedule step --concurrency-start 1 --concurrency-step 1 \
         --concurrency-step-duration 9s --concurrency-max-duration 20s -e HOST",
        &[],
    ),
    ("-n 3 -c 1 -B DIR/message HOST", &[]),
    (
        // The end of the run is far from every call, because a call that the end aborts is an
        // error.
        "-c 1 -r 1 -z 2500ms HOST",
        &[(
            "\"total\":2147483647,",
            "",
            "a number that nobody gave is no setting",
        )],
    ),
    (
        "-n 3 -c 1 -m '{\"authorization\":\"Bearer abc\"}' HOST",
        &[(
            "\"Bearer abc\"",
            "\"***\"",
            "nothing that could be a secret is written to a report",
        )],
    ),
];

/// The JSON report: keys, order, types and white space are equal, and the options are equal byte
/// for byte.
#[test]
fn json_reports_have_the_same_keys_in_the_same_order() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let folder = Folder::new();
    folder.write("message", b"\x0a\x03bob");
    let dir = folder.path().to_str().unwrap();
    for (line, allowed) in REPORTS {
        let line = line.replace("DIR", dir);
        let mut both = run(&format!("{HELLO} -O json {line}"), &host).map(|run| run.stdout);
        assert!(both.ghz.ends_with('}'), "{line}: ghz gave no report");
        for (theirs, ours, why) in allowed {
            assert!(both.ghz.contains(theirs), "{line}: {why}: {}", both.ghz);
            both.ghz = both.ghz.replace(theirs, ours);
        }
        let given = Both {
            ghz: options(&both.ghz),
            ours: options(&both.ours),
        };
        given.must_be_equal(&line);
        let shape = |text: String| match line.contains(" -z ") {
            true => without_repeats(&skeleton(&text)),
            false => skeleton(&text),
        };
        both.map(shape).must_be_equal(&line);
    }
    let failing = format!("{UNARY} -n 3 -c 1 -d {{\"wish\":{{\"status\":{{\"code\":5}}}}}} HOST");
    for format in ["json", "pretty"] {
        let line = format!("-O {format} {failing}");
        let both = run(&line, &host).map(|run| skeleton(&run.stdout));
        both.must_be_equal(&line);
        let line = format!("-O {format} {HELLO} -n 3 -c 1 HOST");
        let both = run(&line, &host).map(|run| skeleton(&run.stdout));
        both.must_be_equal(&line);
    }
}

/// The fixed parts of the summary: labels without units; rows of statuses and errors unchanged.
fn labels(summary: &str) -> Vec<String> {
    let label = |line: &str| match line {
        line if line.contains('|') => "[…] |".to_owned(),
        line if line.contains(" % in ") => line.split_inclusive(" in ").next().unwrap().to_owned(),
        line if line.starts_with("  [") || line.contains("Count:") || line.contains("Name:") => {
            line.to_owned()
        }
        line if line.contains(":\t") => line.split_inclusive(":\t").next().unwrap().to_owned(),
        line => line.to_owned(),
    };
    summary.lines().map(label).collect()
}

#[test]
fn summaries_and_tables_have_the_same_labels() {
    if original().is_none() {
        return;
    }
    let server = Serve::new("--grpc");
    let host = server.address().to_string();
    let failing = "-d {\"wish\":{\"status\":{\"code\":5,\"message\":\"gone\"}}}";
    for line in [
        format!("{HELLO} -n 20 -c 2 --name some HOST"),
        format!("{HELLO} -n 20 -c 2 --skipFirst 5 HOST"),
        format!("{UNARY} -n 4 -c 1 {failing} HOST"),
        format!("{UNARY} -n 4 -c 1 {failing} --count-errors HOST"),
    ] {
        let both = run(&line, &host).map(|run| labels(&run.stdout));
        both.must_be_equal(&line);
    }
    let line = format!("{UNARY} -n 2 -c 1 -O csv {failing} HOST");
    let cells = |run: Run| {
        let rows = run.stdout.lines().map(|row| match row.split_once(',') {
            Some((time, rest)) if time.parse::<f64>().is_ok() => rest.to_owned(),
            _ => row.to_owned(),
        });
        rows.collect::<Vec<String>>()
    };
    run(&line, &host).map(cells).must_be_equal(&line);
}
