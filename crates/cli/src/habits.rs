//! Flags that users of other tools type by habit, and what says the same here.
//!
//! One table for curl, hey, oha, wrk, ab, vegeta, h2load, k6, ghz and grpcurl. Only flags that the
//! command lacks are in it; those that mean something else here are looked at one by one.

use drumfire_plan::secret;
use drumfire_units::Nanos;
use std::net::Ipv4Addr;
use std::str::FromStr as _;

/// The commands that know a habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Http,
    Grpc,
    Both,
}

/// What is typed elsewhere, and what to write here.
struct Habit {
    on: On,
    typed: &'static [&'static str],
    /// A clause; `{VALUE}` stands for what was typed behind the flag.
    ours: &'static str,
}

const fn habit(on: On, typed: &'static [&'static str], ours: &'static str) -> Habit {
    Habit { on, typed, ours }
}

use On::{Both, Grpc, Http};

const URL_LISTS: &str = "pass URLs as arguments: URL, or @FILE for a list of them";
const FORM: &str = "for a part of a multipart body, use `-F {name=value}`";
const CREDENTIALS: &str =
    "put credentials in the URL, http://user:password@host/, or in -H 'Authorization: …'";
const BODY_FILE: &str = "to read the body from a file, use `-d @{FILE}`";
const RESULTS: &str = "for the summary, use `--json {FILE}`; for histograms, --csv FILE; for a row per request, \
                       --rows FILE";
/// What other tools' flags of results take in place of a file.
const FORMS: [&str; 7] = [
    "json", "csv", "html", "text", "summary", "pretty", "hdrplot",
];
const SHOWN: &str = "to send one of each request and print the exchange, use `--show`";
const RAMP: &str = "for a load that changes, use a law: `-r 'line(5,200,60s) const(200,5m)'` or -u";
const RAMP_OF_PLAN: &str =
    "for a load that changes, use a law: `-r 'line(5,200,60s) const(200,5m)'`";
const BURSTS: &str =
    "for a burst, use a rate law such as -r 'const(50,30s) once(500) const(50,30s)'";
const KEEP_ALIVE: &str = "to open a connection for each request, use `--no-keepalive`";
const VARIABLE: &str = "to set a variable of the plan, use `--set vars.{NAME=VALUE}`; to read the environment \
                        in a plan, use ${env:NAME}";
const TIMEOUT: &str = "to set the timeout of a request, use `--timeout {5s}`";

const HABITS: &[Habit] = &[
    habit(Http, &["-m"], "to set the method, use `-X {POST}`"),
    habit(Grpc, &["-m"], "to send metadata, use `-H {'key: value'}`"),
    habit(
        Both,
        &["-t"],
        "to set the timeout of a request, use --timeout; to set the number of threads, use --threads",
    ),
    habit(
        Both,
        &["-D"],
        "to read data from a file, use `-d @{FILE}`; to set the duration, use -z",
    ),
    habit(Both, &["-a"], CREDENTIALS),
    habit(
        Both,
        &["-A"],
        "to send headers, use `-H 'Accept: …'` or `-H 'User-Agent: …'`",
    ),
    habit(
        Http,
        &["-T"],
        "to set the content type, use `-H 'Content-Type: …'`; to set a timeout, use --timeout",
    ),
    habit(
        Http,
        &["-U"],
        "to set the user agent, use `-H 'User-Agent: …'`",
    ),
    habit(
        Http,
        &["-b", "-C"],
        "to send cookies, use `-H 'Cookie: {name=value}'`",
    ),
    habit(Both, &["-O"], RESULTS),
    habit(Http, &["-p"], BODY_FILE),
    habit(
        Both,
        &["-w"],
        "`--json FILE` has every figure; at the end, drumfire always waits for requests in flight",
    ),
    habit(Both, &["-R"], "to set the rate, use `-r {RATE}`"),
    habit(
        Both,
        &["-s"],
        "for varying values, use templates such as {{uuid}}, or JavaScript functions with `script:` \
         in a plan; to print only the result, use -q",
    ),
    habit(
        Http,
        &["-i"],
        "to send exactly N requests, use `-n {N}`; to see a response, use --show",
    ),
    habit(
        Grpc,
        &["-i"],
        "to set the directory of imports, use `--import-path {FOLDER}`",
    ),
    habit(Both, &["-v", "--verbose", "--debug", "--http-debug"], SHOWN),
    habit(Http, &["--dump", "--print", "--include"], SHOWN),
    habit(Http, &["-I", "--head"], "for a HEAD request, use `-X HEAD`"),
    habit(
        Both,
        &["-E"],
        "for a client certificate, use --cert FILE with --key FILE",
    ),
    habit(
        Both,
        &["-4", "-6", "--ipv4", "--ipv6"],
        "to choose the address, use `--resolve HOST:PORT:ADDRESS`",
    ),
    habit(
        Http,
        &["-h2", "--h2", "--http2-prior-knowledge"],
        "for HTTP/2, use `--http2`",
    ),
    habit(
        Http,
        &["--http1.1", "--http1.0", "--h1"],
        "HTTP/1.1 is the default; to request it explicitly, use `--http1`",
    ),
    habit(
        Http,
        &["--http3", "--h3"],
        "HTTP/3 is not supported; for HTTP/2, use --http2",
    ),
    habit(
        Http,
        &["--http-version", "--alpn"],
        "for HTTP/2, use `--http2`; HTTP/1.1 is the default",
    ),
    habit(
        Both,
        &[
            "--qps",
            "--rps",
            "--rate-limit",
            "--requests-per-second",
            "--throughput",
        ],
        "to set the rate, use `-r {RATE}`",
    ),
    habit(
        Both,
        &["--vus", "--vu", "--virtual-users"],
        "to set the number of users, use `-u {N}`",
    ),
    habit(
        Both,
        &[
            "--concurrency",
            "--clients",
            "--workers",
            "--max-workers",
            "--conns",
        ],
        "to set the concurrency, use `-c {N}`",
    ),
    habit(
        Http,
        &["--host"],
        "to set the Host header, use `-H 'Host: {NAME}'`",
    ),
    habit(
        Grpc,
        &["--host", "--cname", "--servername", "--server-name"],
        "to set the server name, use `--authority {NAME}`",
    ),
    habit(
        Http,
        &["--cookie", "--cookies"],
        "to send cookies, use `-H 'Cookie: {name=value}'`",
    ),
    habit(Http, &["--form-string"], FORM),
    habit(
        Both,
        &[
            "--body-file",
            "--data-file",
            "--payload-file",
            "--body-path",
            "--upload-file",
        ],
        BODY_FILE,
    ),
    habit(
        Both,
        &[
            "--body",
            "--payload",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
        ],
        "to set the body, use `-d {DATA}`, or -d @FILE to read it from a file",
    ),
    habit(
        Both,
        &[
            "--disable-keepalive",
            "--disable-keep-alive",
            "--no-keep-alive",
            "--keepalive",
        ],
        KEEP_ALIVE,
    ),
    habit(
        Http,
        &["--no-vu-connection-reuse", "--no-connection-reuse"],
        KEEP_ALIVE,
    ),
    habit(
        Http,
        &["--disable-compression", "--gzip"],
        "bodies are compressed only with `--compressed`",
    ),
    habit(
        Http,
        &[
            "--redirect",
            "--redirects",
            "--max-redirects",
            "--max-redirs",
            "--follow",
        ],
        "to follow redirects, use `-L {N}`",
    ),
    habit(
        Http,
        &["--disable-redirects", "--no-follow"],
        "redirects are followed only with -L N",
    ),
    habit(
        Both,
        &[
            "--output",
            "--out",
            "--output-format",
            "--format",
            "--summary-export",
        ],
        RESULTS,
    ),
    habit(
        Both,
        &[
            "--no-color",
            "--disable-color",
            "--no-colour",
            "--monochrome",
        ],
        "for text without colour, use `--color never`",
    ),
    habit(
        Both,
        &["--basic", "--basic-auth", "--auth", "--user"],
        CREDENTIALS,
    ),
    habit(
        Both,
        &["--oauth2-bearer", "--bearer"],
        "to send a token, use `-H 'Authorization: Bearer …'`",
    ),
    habit(
        Both,
        &[
            "--max-time",
            "--time-limit",
            "--request-timeout",
            "--socket-timeout",
        ],
        TIMEOUT,
    ),
    habit(
        Http,
        &["--content-type"],
        "to set the content type, use `-H 'Content-Type: {TYPE}'`",
    ),
    habit(
        Http,
        &["--accept"],
        "to set the Accept header, use `-H 'Accept: {TYPE}'`",
    ),
    habit(
        Http,
        &["--user-agent"],
        "to set the user agent, use `-H 'User-Agent: {NAME}'`",
    ),
    habit(
        Http,
        &["--referer"],
        "to set the referrer, use `-H 'Referer: {URL}'`",
    ),
    habit(
        Both,
        &["--total", "--number", "--num-requests", "--max-requests"],
        "to send exactly N requests, use `-n {N}`",
    ),
    habit(
        Both,
        &[
            "--time",
            "--run-time",
            "--test-duration",
            "--max-duration",
            "--seconds",
        ],
        "to set the duration, use `-z {10s}`",
    ),
    habit(
        Both,
        &[
            "--stages",
            "--stage",
            "--ramp",
            "--ramp-up",
            "--rampup",
            "--load-schedule",
            "--spawn-rate",
        ],
        RAMP,
    ),
    habit(
        Both,
        &[
            "--insecure-skip-tls-verify",
            "--skip-tls-verify",
            "--skip-verify",
            "--no-verify",
        ],
        "to skip the verification of certificates, use `-k`",
    ),
    habit(
        Grpc,
        &["--skipTLS", "--skip-tls"],
        "to skip the verification of certificates, use `-k`",
    ),
    habit(
        Both,
        &["--ca", "--cafile", "--ca-cert", "--root-certs"],
        "to set trusted certificates, use `--cacert {FILE}`",
    ),
    habit(
        Both,
        &["--connect-to"],
        "to connect to another address, use `--resolve HOST:PORT:ADDRESS`",
    ),
    habit(
        Both,
        &["--interface", "--local-ips", "--laddr"],
        "to set the local address, use `--source-ip {ADDRESS}`",
    ),
    habit(
        Both,
        &["--unix", "--sock"],
        "to connect to a Unix socket, use `--unix-socket {PATH}`",
    ),
    habit(
        Http,
        &["--urls-from-file", "--targets", "--input-file", "--urls"],
        URL_LISTS,
    ),
    habit(
        Http,
        &["--rand-regex-url"],
        "for varying URLs, use templates such as http://host/{{uuid}}",
    ),
    habit(
        Both,
        &[
            "--latency-correction",
            "--disable-latency-correction",
            "--latency",
            "--u_latency",
        ],
        "latencies are always shown; with -r, they are measured from when a request was due",
    ),
    habit(Http, &["-l", "--latencies"], "latencies are always shown"),
    habit(
        Both,
        &["--script"],
        "for varying values, use templates such as {{uuid}}, or JavaScript functions with `script:` \
         in a plan",
    ),
    habit(Both, &["--silent"], "to print only the result, use `-q`"),
    habit(
        Both,
        &["--cpus", "--cores"],
        "to set the number of worker threads, use `--threads {N}`",
    ),
    habit(
        Http,
        &["--pipeline", "--pipelining"],
        "pipelining is not supported; for concurrent requests on a connection, use --http2 with `--streams {N}`",
    ),
    habit(
        Http,
        &["--proxy-header", "--proxy-user"],
        "for a proxy, use -x http://user:password@host:port",
    ),
    habit(
        Http,
        &["-e"],
        "to set the referrer, use `-H 'Referer: {URL}'`",
    ),
    habit(Http, &["-G", "--get"], "put query parameters in the URL"),
    habit(
        Http,
        &["-f", "--fail"],
        "to set the statuses that count as ok, use `--expect-status {200}`",
    ),
    habit(Both, &["-j"], RESULTS),
    habit(Http, &["--burst-delay", "--burst-rate"], BURSTS),
    habit(
        Both,
        &["--compare"],
        "to compare with a stored run, use `--baseline {RUN}`; to compare stored runs, use `drumfire compare`",
    ),
    habit(
        Both,
        &["--name", "--tag"],
        "to tag a stored run, use `drumfire runs tag last {NAME}`",
    ),
    habit(
        Both,
        &["--note"],
        "to write a note on a stored run, use `drumfire runs note last {TEXT}`",
    ),
    habit(
        Both,
        &["--set"],
        "to set keys, use a plan: --print-plan prints one, and `drumfire run` runs it",
    ),
    habit(
        Grpc,
        &["--rpc-header"],
        "to send metadata, use `-H {'key: value'}`",
    ),
    habit(
        Grpc,
        &["--reflect-header"],
        "to send metadata for reflection, use `--reflect-metadata {'key: value'}`",
    ),
    habit(
        Grpc,
        &["--max-msg-sz", "--max-recv-message-size"],
        "to set the maximum message size, use `--max-receive {SIZE}`",
    ),
    habit(
        Grpc,
        &["--import-paths"],
        "to set the directory of imports, use `--import-path {FOLDER}`",
    ),
    habit(
        Grpc,
        &["--method", "--rpc"],
        "to set the method, use `--call {package.Service/Method}`",
    ),
    habit(
        Grpc,
        &["--stream-call-count"],
        "to set the number of messages per call, use `--stream-count {N}`",
    ),
    habit(
        Grpc,
        &["--stream-call-duration"],
        "to set how long a stream sends, use `--stream-duration {TIME}`",
    ),
];

/// Other tools whose name may be typed as a command, and those whose command lines are understood.
const TOOLS: [&str; 15] = [
    "attack",
    "autocannon",
    "bench",
    "bombardier",
    "curl",
    "fortio",
    "get",
    "h2load",
    "hey",
    "k6",
    "load",
    "oha",
    "vegeta",
    "wrk",
    "wrk2",
];

/// What to write in place of a command that drumfire has not.
pub(crate) fn mistaken_command(typed: &str) -> Option<String> {
    let instead = match typed {
        "list" | "ls" | "ps" | "status" => {
            "`drumfire ctl` lists active runs, `drumfire runs` lists stored runs"
        }
        "stop" | "kill" | "pause" | "scale" => {
            "to stop an active run, use `drumfire ctl RUN stop`; `drumfire ctl -h` lists its other commands"
        }
        "validate" | "lint" | "verify" => "to validate a plan, use `drumfire check PLAN`",
        "show" | "inspect" => "to print the results of a stored run, use `drumfire report RUN`",
        "diff" => "to compare stored runs, use `drumfire compare BASE CANDIDATE`",
        "search" | "saturate" | "breakpoint" | "max" => {
            "to find the maximum rate that keeps objectives, use `drumfire capacity`"
        }
        _ => "",
    };
    if !instead.is_empty() {
        return Some(format!("unknown command `{typed}`; {instead}"));
    }
    let ours = match typed {
        "grpcurl" => "drumfire grpc",
        typed if TOOLS.contains(&typed) => "drumfire http",
        _ => return None,
    };
    Some(format!(
        "unknown command `{typed}`; use `{ours}` instead, and `{ours} -h` to list its flags"
    ))
}

/// The row for a flag of a command.
fn row(command: &str, typed: &str) -> Option<&'static Habit> {
    let suits = |habit: &&Habit| match habit.on {
        Http => command == "http",
        Grpc => command == "grpc",
        Both => matches!(command, "http" | "grpc"),
    };
    let mut rows = HABITS.iter().filter(suits);
    rows.find(|habit| habit.typed.contains(&typed))
}

/// The clause with the value that was typed in its place.
fn filled(ours: &str, value: Option<&str>) -> String {
    // `{{uuid}}` is a template and no place.
    let place = ours.find("`").and_then(|tick| {
        let from = tick + ours[tick..].find('{')?;
        let to = from + ours[from..].find('}')?;
        (!ours[from..].starts_with("{{")).then_some((from, to))
    });
    let Some((from, to)) = place else {
        return ours.to_owned();
    };
    // A cookie is a secret under any name.
    let may_show = |value: &&str| secret::excerpt(value) == **value && !ours.contains("Cookie");
    // A form of results, as other tools' flags take it, is no file's name.
    let is_place = |value: &&str| match ours {
        RESULTS => !FORMS.contains(value),
        VARIABLE => value.contains('='),
        _ => true,
    };
    let value = match value.filter(may_show).filter(is_place) {
        Some(value) => value,
        None => &ours[from + 1..to],
    };
    // Other tools' times are seconds, and have no unit.
    let unit = match ours == TIMEOUT && value.parse::<f64>().is_ok() {
        true => "s",
        false => "",
    };
    format!("{}{value}{unit}{}", &ours[..from], &ours[to + 1..])
}

/// What is wrong with a command line that was written for another tool, and what to write.
/// `flags` are the command's own long flags.
pub(crate) fn mistake(command: &str, args: &[String], flags: &[String]) -> Option<String> {
    let args = args.iter().map(String::as_str);
    let own: Vec<&str> = args.take_while(|arg| *arg != "--").collect();
    if (command == "cluster" || flags.iter().any(|flag| flag == "lines"))
        && let Some(mistake) = lines_without_equals(&own)
    {
        return Some(mistake);
    }
    match command {
        "http" | "grpc" => {}
        "ab" => return own_of_apache(&own),
        "import" => return import_without_form(&own),
        "run" => return load_of_plan(&own, flags),
        "ui" => return port_of_ui(&own),
        "ctl" => return status_of_run(&own),
        "serve" => {
            return own.iter().enumerate().find_map(|(at, arg)| {
                let before = at.checked_sub(1).map_or("", |at| own[at]);
                port_of_server(before, arg)
            });
        }
        // The dialects take their own tools' flags.
        _ => return None,
    }
    // All at once: a line of another tool seldom has one such flag.
    let mut said: Vec<String> = Vec::new();
    for (at, arg) in own.iter().enumerate() {
        let next = own.get(at + 1).filter(|next| !next.starts_with('-'));
        let next = next.filter(|next| !next.contains("://")).copied();
        said.extend(of_flag(command, arg, next, flags));
    }
    if command == "grpc" {
        said.extend(own.windows(2).find_map(|pair| positional(pair[0], pair[1])));
    }
    (!said.is_empty()).then(|| said.join("\ndrumfire: "))
}

/// A file behind `--lines`, which may stand without one, so that the file would be a URL or a plan.
/// It is known by its ending, or by standing before an argument that is a URL.
fn lines_without_equals(own: &[&str]) -> Option<String> {
    const ENDINGS: [&str; 10] = [
        ".txt", ".log", ".out", ".lines", ".dat", ".tsv", ".csv", ".jsonl", ".ndjson", ".md",
    ];
    let at = own.iter().position(|arg| *arg == "--lines")?;
    let next = own.get(at + 1)?;
    let host = next.split(['/', '?']).next().unwrap_or_default();
    let is_address = next.contains(':') || host == "localhost" || host.parse::<Ipv4Addr>().is_ok();
    let is_url = |arg: &&str| arg.contains("://");
    let is_file = match *next {
        "-" => true,
        flag if flag.starts_with(['-', '@']) => false,
        _ if is_address => false,
        file => {
            next.starts_with("/dev/")
                || ENDINGS.iter().any(|ending| file.ends_with(ending))
                || own[at + 2..].iter().any(is_url)
                || own[..at].last().is_some_and(is_url)
        }
    };
    is_file.then(|| {
        let next = next.escape_default();
        format!("`--lines` takes its file after an equals sign: write `--lines={next}`")
    })
}

/// A command line of Apache's program of the same name, which measures one load.
fn own_of_apache(own: &[&str]) -> Option<String> {
    let is_ours = |arg: &&str| {
        ["--a", "--b", "-h", "--h"]
            .iter()
            .any(|ours| arg.starts_with(ours))
    };
    let is_url = |arg: &&str| arg.starts_with("http://") || arg.starts_with("https://");
    let is_load = |arg: &&str| matches!(*arg, "-n" | "-c" | "-t" | "-k") || is_url(arg);
    (!own.iter().any(is_ours) && own.iter().any(is_load)).then(|| {
        "`drumfire ab` compares two loads, given in quotes after --a and --b; for what Apache's ab \
         does, use `drumfire http` with -n and -c"
            .to_owned()
    })
}

/// What is to be imported, without its form before it.
fn import_without_form(own: &[&str]) -> Option<String> {
    let first = own.iter().find(|arg| !arg.starts_with("--"))?;
    let ends = |ending| first.to_ascii_lowercase().ends_with(ending);
    let form = match first {
        line if line.starts_with("curl ") => "curl",
        _ if ends(".har") => "har",
        _ if ends(".log") => "access-log",
        _ if ends(".json") || ends(".yaml") || ends(".yml") => {
            "openapi` or `drumfire import postman"
        }
        _ => return None,
    };
    Some(format!(
        "the format comes before the file: write `drumfire import {form} …`"
    ))
}

/// A port as other servers take it.
fn port_of_server(before: &str, arg: &str) -> Option<String> {
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    let port = match arg.split_once('=') {
        Some(("--port", port)) => port,
        None if matches!(before, "-p" | "--port") || !before.starts_with('-') => arg,
        _ => return None,
    };
    is_port(port).then(|| format!("to set the port, use `-l {port}`"))
}

/// The state of a run as an act, as other programs have it.
fn status_of_run(own: &[&str]) -> Option<String> {
    let (run, act) = (own.first()?, own.get(1)?);
    (*act == "status").then(|| {
        let run = run.escape_default();
        format!("to show a run, use its name alone: write `drumfire ctl {run}`")
    })
}

/// A port behind `drumfire ui`, as an argument.
fn port_of_ui(own: &[&str]) -> Option<String> {
    let (first, rest) = own.split_first()?;
    let port = first.rsplit(':').next()?;
    (rest.is_empty() && port.parse::<u16>().is_ok())
        .then(|| format!("to set the address, use `--listen {}`", with_colon(first)))
}

/// A place to listen at: a port alone has a colon before it.
fn with_colon(place: &str) -> String {
    match place.contains(':') {
        true => place.to_owned(),
        false => format!(":{place}"),
    }
}

/// The letters of the flags of `drumfire run`.
const OF_RUN: [char; 8] = ['c', 'h', 'n', 'o', 'q', 'r', 'u', 'z'];

/// A flag of a load, which stands in a plan.
fn load_of_plan(args: &[&str], flags: &[String]) -> Option<String> {
    let of_load = args.iter().find_map(|arg| {
        let name = arg.split('=').next()?;
        let is_ours = match name.strip_prefix("--") {
            Some(long) => flags.iter().any(|flag| flag == long),
            None => !name.starts_with('-') || name == "-" || name[1..].starts_with(OF_RUN),
        };
        (!is_ours).then_some(name)
    })?;
    let value = args
        .iter()
        .position(|arg| arg.split('=').next() == Some(of_load));
    let value = value.and_then(|at| match args[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => args.get(at + 1).copied(),
    });
    let value = value.filter(|value| !value.starts_with('-'));
    let ours = filled(of_run(of_load), value);
    // The clause on the environment names the variable, too, unless it may be a secret.
    let name = value.and_then(|value| value.split_once('='));
    let ours = match name {
        Some((name, _)) if ours.contains(&format!("--set vars.{name}=")) => {
            ours.replace("${env:NAME}", &format!("${{env:{name}}}"))
        }
        _ => ours,
    };
    Some(format!("unknown flag `{of_load}`; {ours}"))
}

/// What says the same of a plan.
fn of_run(typed: &str) -> &'static str {
    match typed {
        "--vus" | "--vu" | "--virtual-users" | "--max-vus" => {
            "to set the number of users, use `-u {N}`"
        }
        "--rps" | "--qps" | "--rate-limit" => "to set the rate, use `-r {RATE}`",
        "-d" | "-t" | "--time" | "--run-time" => "to set the duration, use `-z {TIME}`",
        "-i" => "to set the number of iterations, use `--iterations {N}`",
        "-s" | "--stage" | "--stages" => RAMP_OF_PLAN,
        "--out" | "--output" | "--summary-export" => RESULTS,
        "-e" | "--env" | "--var" | "--variable" | "--variables" => VARIABLE,
        "-v" | "--verbose" | "--debug" | "--http-debug" => SHOWN,
        "--timeout" | "--max-time" | "--time-limit" | "--request-timeout" | "--socket-timeout" => {
            "to set the timeout of a request, use `--set defaults.timeout=5s`"
        }
        _ => {
            "the plan defines the load; to set any of its keys, use `--set {PATH=VALUE}`; \
             `drumfire run -h` lists the flags that override it"
        }
    }
}

/// The same of one argument.
fn of_flag(command: &str, arg: &str, next: Option<&str>, flags: &[String]) -> Option<String> {
    let (name, given) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (arg, None),
    };
    let value = given.or(next);
    let unknown = |typed: &str, value: Option<&str>| {
        let ours = match (typed, value) {
            ("-t", Some(value)) => threads_or_timeout(value),
            // curl's time limit, where it is no method.
            ("-m", Some(value)) if command == "http" && is_time(value) => {
                filled(TIMEOUT, Some(value))
            }
            _ => filled(row(command, typed)?.ours, value),
        };
        Some(format!("unknown flag `{typed}`; {ours}"))
    };
    if let Some(long) = name.strip_prefix("--") {
        return match flags.iter().any(|flag| flag == long) {
            true => None,
            false => unknown(name, value),
        };
    }
    let letters = name
        .strip_prefix('-')
        .filter(|letters| !letters.is_empty())?;
    if let Some(said) = unknown(name, value) {
        return Some(said);
    }
    // A long flag behind one hyphen, as programs in Go and ab take it.
    if letters.len() > 2 {
        let long = format!("--{letters}");
        if flags.iter().any(|flag| flag == letters) {
            let full = match given {
                Some(value) => format!("{long}={value}"),
                None => long,
            };
            return Some(format!("`{name}` needs two hyphens: write `{full}`"));
        }
        if let Some(habit) = row(command, &long) {
            let ours = filled(habit.ours, value);
            return Some(format!("unknown flag `{name}`; {ours}"));
        }
    }
    // A letter with its value behind it, such as -t5s.
    let end = letters.chars().next()?.len_utf8();
    unknown(
        &name[..=end],
        Some(&arg[1 + end..]).filter(|value| !value.is_empty()),
    )
}

/// Whether a value is a time, with or without a unit.
fn is_time(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit())
        && (value.parse::<f64>().is_ok() || Nanos::from_str(value).is_ok())
}

/// `-t` has threads on the command line of wrk, and a time limit on that of hey.
fn threads_or_timeout(value: &str) -> String {
    match value.chars().all(|c| c.is_ascii_digit()) {
        true => format!(
            "to set the number of threads, use `--threads {value}`; to set a timeout, use --timeout"
        ),
        false => format!("to set the timeout of a request, use `--timeout {value}`"),
    }
}

/// What grpcurl takes as an argument behind the target.
fn positional(before: &str, arg: &str) -> Option<String> {
    let target = before.contains(':') && !before.starts_with('-');
    match arg {
        "list" if target => Some("to list methods, use --list".to_owned()),
        "describe" if target => Some("to print a schema, use --describe SYMBOL".to_owned()),
        method
            if target && method.contains('/') && method.contains('.') && !method.contains(':') =>
        {
            Some(format!("to set the method, use `--call {method}`"))
        }
        _ => None,
    }
}

/// hey's and oha's `-q 100`: the flag is ours and has no value, so that the rate came out as a URL.
pub(crate) fn rate_as_url(url: &str, is_quiet: bool) -> Option<String> {
    let number = f64::from_str(url).is_ok_and(f64::is_finite);
    (is_quiet && number)
        .then(|| format!("-q is --quiet and takes no value; to set the rate, use -r {url}"))
}

/// curl's `-u user:password`: users that would be no number.
pub(crate) fn credentials_as_users(users: &str) -> Option<String> {
    let is_pair = users.contains(':') && !users.contains(['(', '[']);
    is_pair.then(|| format!("-u is the number of users; {CREDENTIALS}"))
}

/// wrk's `-d 10s`: a duration that would be sent as a body.
pub(crate) fn duration_as_body(data: &str) -> Option<String> {
    let number = !data.is_empty() && data.chars().all(|c| c.is_ascii_digit());
    let duration = number || Nanos::from_str(data).is_ok();
    let unit = if number { "s" } else { "" };
    duration.then(|| {
        format!(
            "-d sets the body, so `{data}` would be sent with POST; to set the duration, use \
             -z {data}{unit}; to send `{data}` anyway, add -X POST"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{Cli, longs};
    use clap::CommandFactory as _;

    fn said(line: &str) -> String {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (command, args) = args.split_first().unwrap();
        mistake(command, args, &longs(command)).unwrap_or_default()
    }

    #[test]
    fn a_file_behind_lines_is_told_from_a_url() {
        for line in [
            "http --lines out.txt http://h/",
            "http http://h/ --lines figures",
            "http --lines figures http://h/",
            "http --lines - http://h/",
            "run --lines run.log plan.yaml",
            "report last --lines /dev/stdout",
            "cluster run plan.yaml --lines out.txt",
        ] {
            let wanted = line
                .split("--lines ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            let wanted = format!("write `--lines={}`", wanted.unwrap());
            assert!(said(line).ends_with(&wanted), "{line}: {}", said(line));
        }
        for line in [
            "http --lines http://h/",
            "http --lines example.com",
            "http --lines localhost/x.txt http://h/",
            "http --lines 127.0.0.1/x.txt http://h/",
            "http --lines h:80 http://h/",
            "http --lines=out.txt http://h/",
            "http http://h/ --lines -q",
            "http --lines @urls.txt",
            "run --lines plan.yaml",
            "serve --lines out.txt",
        ] {
            assert!(
                !said(line).contains("equals sign"),
                "{line}: {}",
                said(line)
            );
        }
    }

    #[test]
    fn what_is_imported_without_its_form_is_given_one() {
        for (line, form) in [
            ("import shop.HAR", "`drumfire import har …`"),
            ("import --pauses shop.har", "`drumfire import har …`"),
            ("import access.log", "`drumfire import access-log …`"),
            (
                "import shop.json",
                "`drumfire import openapi` or `drumfire import postman …`",
            ),
        ] {
            assert!(said(line).ends_with(form), "{line}: {}", said(line));
        }
        let command = ["curl -k https://h/".to_owned()];
        let said_of_it = mistake("import", &command, &[]).unwrap_or_default();
        assert!(
            said_of_it.ends_with("`drumfire import curl …`"),
            "{said_of_it}"
        );
        for line in [
            "import har x.har",
            "import curl shop.har",
            "import",
            "import x",
            "import --all",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn every_habit_names_a_flag_that_exists() {
        for habit in HABITS {
            let commands = match habit.on {
                Http => &["http"][..],
                Grpc => &["grpc"],
                Both => &["http", "grpc"],
            };
            for command in commands {
                let cli = Cli::command();
                let command = cli.find_subcommand(command).unwrap();
                let long = |name: &str| command.get_arguments().any(|a| a.get_long() == Some(name));
                let short = |c: char| command.get_arguments().any(|a| a.get_short() == Some(c));
                for typed in habit.typed {
                    let name = typed.trim_start_matches('-');
                    let known = match typed.starts_with("--") {
                        true => long(name),
                        false => name.len() == 1 && name.chars().all(short),
                    };
                    assert!(!known, "{typed} is a flag of its own");
                }
                let words = habit.ours.split([' ', '`', ',', ';', '(', ')', ':']);
                for word in words.filter(|word| word.len() > 1 && word.starts_with('-')) {
                    let name = word.trim_start_matches('-');
                    let known = match word.starts_with("--") {
                        true => long(name),
                        false => name.chars().all(short),
                    };
                    // Other commands' flags, such as -X, stand in rows of their own.
                    assert!(known, "{word} of `{}` is no flag", habit.ours);
                }
            }
        }
    }

    /// The parts of sentences that deny something, each with the proof that it is absent: a flag
    /// that a command would have.
    const DENIALS: [(&str, &str); 2] = [
        ("HTTP/3 is not supported", "http3"),
        ("pipelining is not supported", "pipeline"),
    ];

    #[test]
    fn what_is_denied_is_absent() {
        let runs = [
            "--vus", "--rps", "-d", "-i", "-s", "--out", "-e", "-v", "--none",
        ];
        let of_runs = runs.map(of_run);
        let all = HABITS.iter().map(|habit| habit.ours).chain(of_runs);
        for ours in all.filter(|ours| ours.contains(" not ") || ours.contains("no ")) {
            let denial = DENIALS.iter().find(|(words, _)| ours.contains(words));
            let (_, flag) = denial.unwrap_or_else(|| panic!("`{ours}` denies, and is not proven"));
            for command in ["http", "grpc", "run"] {
                assert!(longs(command).iter().all(|long| long != flag), "{ours}");
            }
        }
    }

    #[test]
    fn what_is_said_of_run_names_its_flags() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").unwrap();
        for typed in [
            "--vus", "--rps", "-d", "-i", "-s", "--out", "-e", "-v", "--none",
        ] {
            let words = of_run(typed).split([' ', '`', ',', ';', '(', ')', ':']);
            for word in words.filter(|word| word.len() > 1 && word.starts_with('-')) {
                let name = word.trim_start_matches('-');
                let known = match word.starts_with("--") {
                    true => run.get_arguments().any(|a| a.get_long() == Some(name)),
                    false => name
                        .chars()
                        .all(|c| c == 'h' || run.get_arguments().any(|a| a.get_short() == Some(c))),
                };
                assert!(known, "{word} of `{}` is no flag of run", of_run(typed));
            }
        }
    }

    #[test]
    fn what_is_typed_of_a_plan_names_what_runs_it() {
        for (line, ours) in [
            (
                "run --vus 10 x",
                "unknown flag `--vus`; to set the number of users, use `-u 10`",
            ),
            ("run --rps=5 x", "`-r 5`"),
            (
                "run -e A=b x",
                "unknown flag `-e`; to set a variable of the plan, use `--set vars.A=b`; to read \
                 the environment in a plan, use ${env:A}",
            ),
            ("run --env=A=b x", "`--set vars.A=b`"),
            ("run -e PASSWORD=hunter22 x", "`--set vars.NAME=VALUE`"),
            ("run -e A x", "`--set vars.NAME=VALUE`"),
            ("run --summary-export f x", "`--json f`"),
            ("run --verbose x", "`--show`"),
            (
                "run -d 30s x",
                "unknown flag `-d`; to set the duration, use `-z 30s`",
            ),
        ] {
            let said = said(line);
            assert!(said.contains(ours), "{line}: {said}");
        }
    }

    #[test]
    fn what_others_type_names_what_we_have() {
        for (line, ours) in [
            (
                "http -m POST http://h/",
                "unknown flag `-m`; to set the method, use `-X POST`",
            ),
            ("http -mPUT http://h/", "`-X PUT`"),
            ("grpc -m x:y h:1", "to send metadata, use `-H x:y`"),
            ("http -t 5s http://h/", "`--timeout 5s`"),
            ("http -t5s http://h/", "`--timeout 5s`"),
            ("http --max-time 5 http://h/", "`--timeout 5s`"),
            ("http --max-time=2.5 http://h/", "`--timeout 2.5s`"),
            ("http --max-time 500ms http://h/", "`--timeout 500ms`"),
            ("http --compare last http://h/", "`--baseline last`"),
            ("http -t12 http://h/", "`--threads 12`"),
            (
                "http -t12 -R 5 http://h/",
                "\ndrumfire: unknown flag `-R`; ",
            ),
            ("http -D f http://h/", "`-d @f`"),
            ("http -a u:p http://h/", "http://user:password@host/"),
            ("http --qps 10 http://h/", "`-r 10`"),
            ("http --rps=10 http://h/", "`-r 10`"),
            ("http --vus http://h/", "`-u N`"),
            ("http --host x http://h/", "`-H 'Host: x'`"),
            ("http -h2 http://h/", "`--http2`"),
            ("http -rate=50 http://h/", "write `--rate=50`"),
            ("http -duration 5s http://h/", "write `--duration`"),
            ("http -targets f", "@FILE"),
            ("grpc -plaintext h:1 list", "write `--plaintext`"),
            ("grpc --plaintext h:1 list", "--list"),
            ("grpc h:1 describe a.B", "--describe"),
            ("grpc h:1 a.B/C", "`--call a.B/C`"),
            ("serve -p 8081", "`-l 8081`"),
            ("serve --port=8081", "`-l 8081`"),
            ("serve 8081", "`-l 8081`"),
            ("ctl last status", "write `drumfire ctl last`"),
            ("http -v http://h/", "`--show`"),
            ("grpc --debug h:1", "`--show`"),
            ("http --form-string a=b http://h/", "`-F a=b`"),
            (
                "http -m 5 http://h/",
                "to set the timeout of a request, use `--timeout 5s`",
            ),
            ("http -m2.5 http://h/", "`--timeout 2.5s`"),
            ("http --burst-delay 2s http://h/", "once(500)"),
            ("http --burst-rate 4 http://h/", "once(500)"),
            ("http -s x.lua http://h/", "{{uuid}}"),
            ("http -s x.lua http://h/", "`script:` in a plan"),
        ] {
            let said = said(line);
            assert!(said.contains(ours), "{line}: {said}");
        }
        for line in [
            "http -r 5 http://h/",
            "http -c10 -z 5s http://h/",
            "http --threshold p99<5ms http://h/",
            "http -- -m",
            "http -r -5 http://h/",
            "http -H a:b/c http://h/",
            "grpc h:1 --call a.B/C -H k:v.w/x",
            "run -q x",
            "serve -l 8081 --seed 5",
            "run - --json y",
            "go-wrk -help",
            "ghz --insecure -help",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn a_duration_is_no_body() {
        let said = duration_as_body("10s").unwrap();
        assert!(
            said.contains("; to set the duration, use -z 10s; "),
            "{said}"
        );
        assert!(duration_as_body("10").unwrap().contains("-z 10s"));
        assert!(duration_as_body("1m30s").is_some());
        for data in ["", "ten", "{\"a\":1}", "10x", "@10s"] {
            assert_eq!(duration_as_body(data), None, "{data}");
        }
        assert!(
            rate_as_url("100", true)
                .unwrap()
                .ends_with("to set the rate, use -r 100")
        );
        assert_eq!(rate_as_url("100", false), None);
        assert_eq!(rate_as_url("h", true), None);
    }
}
