//! Lines of access logs: the common and the combined format with their variants, those of proxies
//! with a quoted request, and lines of JSON.

use crate::log_time;
use drumfire_plan::{Header, Method};
use serde_json::{Map, Value};

/// Keys under which JSON logs have these, in the order of trust: letters and digits alone, those of
/// objects within objects behind one another.
const REQUESTS: [&str; 2] = ["request", "requestline"];
const METHODS: [&str; 7] = [
    "method",
    "requestmethod",
    "httpmethod",
    "httprequestmethod",
    "httprequestrequestmethod",
    "clientrequestmethod",
    "verb",
];
const TARGETS: [&str; 11] = [
    "requesturi",
    "uri",
    "url",
    "path",
    "target",
    "requestpath",
    "requesturl",
    "urloriginal",
    "urlpath",
    "httprequestrequesturl",
    "clientrequesturi",
];
/// The queries of those that lack them.
const QUERIES: [&str; 6] = [
    "args",
    "querystring",
    "query",
    "urlquery",
    "requestquery",
    "queryparams",
];
const HOSTS: [&str; 8] = [
    "host",
    "httphost",
    "requesthost",
    "authority",
    "vhost",
    "urldomain",
    "clientrequesthost",
    "servername",
];
const REFERERS: [&str; 6] = [
    "httpreferer",
    "referer",
    "referrer",
    "requestreferer",
    "requestheadersreferer",
    "httprequestreferer",
];
const AGENTS: [&str; 6] = [
    "httpuseragent",
    "useragent",
    "requestuseragent",
    "requestheadersuseragent",
    "useragentoriginal",
    "httprequestuseragent",
];
const TIMES: [&str; 9] = [
    "timeiso8601",
    "msec",
    "timestamp",
    "timelocal",
    "time",
    "ts",
    "starttime",
    "startutc",
    "edgestarttimestamp",
];
/// Keys under which collectors of logs have a whole line.
const LINES: [&str; 3] = ["log", "message", "msg"];
/// Objects in objects of JSON.
const DEPTH_MAX: usize = 4;
/// Quotes within a request that its server did not escape.
const QUOTES_MAX: usize = 16;

/// The formats of logs that are read, for messages.
pub const LOG_FORMATS: &str = "lines with a quoted request such as 1.2.3.4 - - \
    [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 12, JSON objects, lines of Squid, and W3C logs \
    (IIS, CloudFront) that begin with a `#Fields` line";

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogLine {
    /// A request.
    Request(Box<LogRequest>),
    /// An entry without a request that can be sent again: servers log broken ones, too.
    Broken,
    /// An empty line or a comment.
    Blank,
}

/// A request of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// Its method.
    pub method: String,
    /// A path, or a whole URL.
    pub target: String,
    /// When it was sent, in nanoseconds since the Unix epoch.
    pub time: Option<u64>,
    /// The host that it named, where the log has it.
    pub host: Option<String>,
    /// Its field Referer.
    pub referer: Option<String>,
    /// Its field User-Agent.
    pub agent: Option<String>,
    /// Whether the log lacks the method, which is then GET.
    pub lacks_method: bool,
}

impl LogRequest {
    /// A request with a request line, if it is one: `GET / HTTP/1.1`, or without its version.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let version = words.next();
        let is_request = Method::parse(method).is_ok()
            && version.is_none_or(|version| version.starts_with("HTTP/"))
            && words.next().is_none()
            && (target.starts_with('/') || target.contains("://"));
        is_request.then(|| Self {
            method: method.to_owned(),
            target: target.to_owned(),
            ..Self::default()
        })
    }

    /// The same with these fields, without those that are none.
    pub(crate) fn with(
        self,
        host: Option<String>,
        referer: Option<String>,
        agent: Option<String>,
    ) -> Self {
        let field = |name: &str, value: Option<String>| {
            let value = value.filter(|value| !matches!(value.as_str(), "" | "-"));
            value.filter(|value| Header::new(name, value.as_bytes()).is_ok())
        };
        Self {
            host: field("Host", host),
            referer: field("Referer", referer),
            agent: field("User-Agent", agent),
            ..self
        }
    }
}

/// Reads a line of any format but W3C's.
///
/// # Errors
/// In words, if the line is not part of an access log.
pub(crate) fn log_line(line: &str) -> Result<LogLine, String> {
    match line.trim() {
        "" => Ok(LogLine::Blank),
        line if line.starts_with('#') => Ok(LogLine::Blank),
        line if line.starts_with('{') || line.starts_with("[{") => of_json(line),
        line => of_text(line).or_else(|why| {
            // A collector or a server's console has words before the JSON.
            let mut braces = line.match_indices('{').map(|(at, _)| at);
            let begin = braces.find(|at| line[..*at].ends_with([' ', '\t']));
            let json = begin.map(|at| of_json(&line[at..]));
            let json = json.and_then(Result::ok);
            json.or_else(|| of_squid(line)).ok_or(why)
        }),
    }
}

/// A line of Squid's own format: `TIME ELAPSED CLIENT CODE/STATUS BYTES METHOD URL …`.
fn of_squid(line: &str) -> Option<LogLine> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let &[time, elapsed, _, code, bytes, method, url, ..] = words.as_slice() else {
        return None;
    };
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    if !is_number(elapsed) || !is_number(bytes) || !code.contains('/') {
        return None;
    }
    let time = log_time::any(time)?;
    Some(match LogRequest::parse(&format!("{method} {url}")) {
        Some(request) => LogLine::Request(Box::new(LogRequest {
            time: Some(time),
            ..request
        })),
        None => LogLine::Broken,
    })
}

/// A line of text: `… [TIME] "REQUEST" STATUS SIZE "REFERER" "AGENT"`, or another with a quoted
/// request.
fn of_text(line: &str) -> Result<LogLine, String> {
    let wrong = || {
        format!("the line is not an access log entry that drumfire reads; it reads {LOG_FORMATS}")
    };
    let (time, rest) = time_of(line)?;
    let Some((request, rest)) = request_of(rest) else {
        // With a time and a quoted text, it is a line of a log.
        return match time.is_some() && rest.contains('"') {
            true => Ok(LogLine::Broken),
            false => Err(wrong()),
        };
    };
    let (referer, agent) = fields_of(rest);
    let request = request.with(None, referer, agent);
    Ok(LogLine::Request(Box::new(LogRequest { time, ..request })))
}

/// The moment in the first brackets that have one, and what follows it; without brackets, the
/// moment in a word at the begin of the line.
fn time_of(line: &str) -> Result<(Option<u64>, &str), String> {
    let (before, _) = line.split_once('"').unwrap_or((line, ""));
    let mut first = None;
    let mut rest = before;
    while let Some((_, inner)) = rest.split_once('[') {
        let Some((time, behind)) = inner.split_once(']') else {
            break;
        };
        if let Some(at) = log_time::any(time) {
            return Ok((Some(at), &line[before.len() - behind.len()..]));
        }
        first = first.or(Some(time));
        rest = behind;
    }
    match first {
        Some(time) => Err(format!(
            "`{}` is not a time such as 10/Oct/2000:13:55:36 -0700",
            time.escape_default()
        )),
        None => {
            let words = before.split(' ').take(3);
            let time = words
                .filter(|word| word.contains('-'))
                .find_map(log_time::any);
            Ok((time, line))
        }
    }
}

/// The request in the first quotes that have one, and what follows them.
fn request_of(line: &str) -> Option<(LogRequest, &str)> {
    let mut rest = line;
    for _ in 0..QUOTES_MAX {
        let (text, behind) = quoted(rest)?;
        if let Some(request) = LogRequest::parse(&text).filter(|_| text.contains(" HTTP/")) {
            return Some((request, behind));
        }
        // Some servers leave quotes within a request as they are.
        let longer = with_quotes(rest).filter(|_| begins_as_request(&text));
        if let Some((text, behind)) = longer
            && let Some(request) = LogRequest::parse(&text)
        {
            return Some((request, behind));
        }
        if let Some(request) = LogRequest::parse(&text) {
            return Some((request, behind));
        }
        rest = behind;
    }
    None
}

fn begins_as_request(text: &str) -> bool {
    let (method, target) = text.split_once(' ').unwrap_or_default();
    Method::parse(method).is_ok() && (target.starts_with('/') || target.contains("://"))
}

/// A quoted text that has quotes itself and ends with a version of HTTP.
fn with_quotes(rest: &str) -> Option<(String, &str)> {
    let start = rest.find('"')? + 1;
    let mut ends = rest
        .match_indices('"')
        .map(|(at, _)| at)
        .filter(|at| *at > start);
    let end = ends.by_ref().take(QUOTES_MAX).find(|at| {
        let last = rest[start..*at].rsplit(' ').next().unwrap_or_default();
        last.starts_with("HTTP/") && last.len() <= 8
    })?;
    Some((rest[start..end].to_owned(), &rest[end + 1..]))
}

/// The fields that follow the request in the combined format; other formats have other texts there.
fn fields_of(rest: &str) -> (Option<String>, Option<String>) {
    let (numbers, _) = rest.split_once('"').unwrap_or((rest, ""));
    let is_number = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || b".-".contains(&byte))
    };
    let numbers: Vec<&str> = numbers.split_ascii_whitespace().collect();
    if !(2..=4).contains(&numbers.len()) || !numbers.iter().all(|word| is_number(word)) {
        return (None, None);
    }
    let Some((referer, rest)) = quoted(rest) else {
        return (None, None);
    };
    let agent = quoted(rest).map(|(agent, _)| agent);
    match referer == "-" || referer.is_empty() || referer.contains([':', '/']) {
        true => (Some(referer), agent),
        false => (None, None),
    }
}

/// The next quoted text, without the escapes of nginx and Apache, and what follows it.
fn quoted(rest: &str) -> Option<(String, &str)> {
    let start = rest.find('"')? + 1;
    let mut text = Vec::new();
    let bytes = rest.as_bytes();
    let mut at = start;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => break,
            (b'\\', Some(b'x')) => {
                let hex = rest.get(at + 2..at + 4)?;
                text.push(u8::from_str_radix(hex, 16).ok()?);
                at += 4;
            }
            (b'\\', Some(escaped)) => {
                text.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                });
                at += 2;
            }
            (byte, _) => {
                text.push(*byte);
                at += 1;
            }
        }
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    Some((text, &rest[at + 1..]))
}

/// A line of JSON.
fn of_json(line: &str) -> Result<LogLine, String> {
    let read: Result<Map<String, Value>, _> = serde_json::from_str(line);
    let log = read.map_err(|_| {
        "the line is not a JSON object; a log has a whole object in each line".to_owned()
    })?;
    let mut all = Vec::new();
    flatten(&log, "", 0, &mut all);
    let of = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| {
            let found = all
                .iter()
                .find(|(own, value)| own == key && !value.is_empty());
            found.map(|(_, value)| value.clone())
        });
        found.next()
    };
    let method = of(&METHODS);
    let whole = of(&REQUESTS).filter(|request| request.contains(' '));
    let lacks_method = whole.is_none() && method.is_none();
    let request = whole.or_else(|| {
        let target = of(&TARGETS)?;
        let method = method.unwrap_or_else(|| "GET".to_owned());
        let query = of(&QUERIES).filter(|query| !target.contains('?') && query != "-");
        let query = query.map(|query| format!("?{}", query.trim_start_matches('?')));
        Some(format!("{method} {target}{}", query.unwrap_or_default()))
    });
    let Some(request) = request else {
        return match of(&LINES).filter(|line| line.contains('"')) {
            Some(line) => of_text(line.trim()),
            None => Err("the line has neither a `request` nor a `method` with a `uri`".to_owned()),
        };
    };
    let Some(request) = LogRequest::parse(&request) else {
        return Ok(LogLine::Broken);
    };
    let time = TIMES.iter().filter_map(|key| of(&[key]));
    let time = time.filter_map(|text| log_time::any(&text)).next();
    let request = request.with(of(&HOSTS), of(&REFERERS), of(&AGENTS));
    Ok(LogLine::Request(Box::new(LogRequest {
        time,
        lacks_method,
        ..request
    })))
}

/// The single values of an object with their keys.
fn flatten(from: &Map<String, Value>, outer: &str, depth: usize, all: &mut Vec<(String, String)>) {
    for (key, value) in from {
        let plain = key.chars().filter(char::is_ascii_alphanumeric);
        let own: String = plain.map(|c| c.to_ascii_lowercase()).collect();
        let key = format!("{outer}{own}");
        let single = match value {
            Value::Array(list) => list.first().unwrap_or(&Value::Null),
            value => value,
        };
        match single {
            Value::String(text) => all.push((key, text.clone())),
            Value::Number(number) => all.push((key, number.to_string())),
            Value::Object(inner) if depth < DEPTH_MAX => flatten(inner, &key, depth + 1, all),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogLine, log_line};

    /// What is read of a line: the method and the target, the host, the referer and the agent.
    fn shown(line: &str) -> String {
        match log_line(line) {
            Ok(LogLine::Request(it)) => {
                let mut shown = format!("{} {}", it.method, it.target);
                for (sign, value) in [("@", it.host), ("<", it.referer), ("~", it.agent)] {
                    if let Some(value) = value {
                        shown.extend([" ", sign, &value]);
                    }
                }
                if it.lacks_method {
                    shown.push_str(" without a method");
                }
                if it
                    .time
                    .is_some_and(|time| time / 1_000_000_000 == 1_696_946_136)
                {
                    shown.push_str(" on time");
                }
                shown
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn lines_of_servers_and_proxies_are_read() {
        let time = "10/Oct/2023:13:55:36 +0000";
        for (line, wanted) in [
            // Common, combined, with a host before it, with times behind it.
            (format!(r#"h - - [{time}] "GET /a HTTP/1.0" 200 45"#), "GET /a on time"),
            (format!(r#"h - u [{time}] "GET /a HTTP/1.1" 200 4 "http://r/" "ua""#), "GET /a <http://r/ ~ua on time"),
            (format!(r#"v.test:443 h - - [{time}] "GET /a HTTP/1.1" 200 4 "-" "-""#), "GET /a on time"),
            (format!(r#"h - - [{time}] "GET /a HTTP/1.1" 200 4 "-" "ua" rt=0.005 "up""#), "GET /a ~ua on time"),
            (format!(r#"h - - [{time}] "GET /a HTTP/1.1" 200 4 0.005 "-" "ua""#), "GET /a ~ua on time"),
            (format!(r#"h - - [{time}] "GET /old" 200 1 "-" "-""#), "GET /old on time"),
            // Escapes and quotes.
            (format!(r#"h - - [{time}] "GET /caf\xC3\xA9 HTTP/1.1" 200 1"#), "GET /café on time"),
            (format!(r#"h - - [{time}] "GET /q?s=\"hi\" HTTP/1.1" 200 1 "-" "a \"b\"""#), "GET /q?s=\"hi\" ~a \"b\" on time"),
            (format!(r#"h - - [{time}] "GET /q?s="hi" HTTP/1.1" 200 1 "-" "a""#), "GET /q?s=\"hi\" ~a on time"),
            (format!(r#"h - - [{time}] "GET http://v.test/x HTTP/1.1" 404 1"#), "GET http://v.test/x on time"),
            // Envoy, HAProxy, Traefik, AWS.
            (
                r#"[2023-10-10T13:55:36.310Z] "POST /api HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq" "id" "v" "-""#.to_owned(),
                "POST /api on time",
            ),
            (
                r#"h:1 [10/Oct/2023:13:55:36.633] f b/s 0/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt} {} "GET /i HTTP/1.1""#.to_owned(),
                "GET /i on time",
            ),
            (format!(r#"h - - [{time}] "GET /t HTTP/1.1" 200 5 "-" "-" 1 "r@docker" "http://10.0.0.1:80" 2ms"#), "GET /t on time"),
            (
                r#"https 2023-10-10T13:55:36.186641Z app/l c:1 t:80 0.0 0.0 0.0 200 200 0 57 "GET https://v.test:443/ HTTP/1.1" "curl" E T"#.to_owned(),
                "GET https://v.test:443/ on time",
            ),
            (
                "1696946136.450 180 10.0.0.1 TCP_MISS/200 1234 GET http://v.test/s - HIER_DIRECT/10.0.0.2 text/html"
                    .to_owned(),
                "GET http://v.test/s on time",
            ),
            (
                "1696946136.450 180 10.0.0.1 TCP_TUNNEL/200 1234 CONNECT v.test:443 - HIER_DIRECT/10.0.0.2 -"
                    .to_owned(),
                "Broken",
            ),
            // What is no request.
            (format!(r#"h - - [{time}] "\x16\x03\x01" 400 150 "-" "-""#), "Broken"),
            (format!(r#"h - - [{time}] "-" 408 0 "-" "-""#), "Broken"),
            (format!(r#"h - - [{time}] "" 400 0 "-" "-""#), "Broken"),
            (format!(r#"h - - [{time}] "OPTIONS * HTTP/1.1" 200 1"#), "Broken"),
            (format!(r#"h - - [{time}] "CONNECT h:443 HTTP/1.1" 400 1"#), "Broken"),
            (format!(r#"h - - [{time}] "GET /sp ace HTTP/1.1" 400 1"#), "Broken"),
            ("# a comment".to_owned(), "Blank"),
        ] {
            assert_eq!(shown(&line), wanted, "{line}");
        }
    }

    #[test]
    fn lines_of_json_and_lines_that_are_none_are_read() {
        let time = "10/Oct/2023:13:55:36 +0000";
        for (line, wanted) in [
            // JSON of nginx, Caddy, Traefik, Envoy, Elastic, Google, Docker.
            (r#"{"time":"2023-10-10T13:55:36Z","request":"GET /j HTTP/1.1"}"#.to_owned(), "GET /j on time"),
            (
                r#"{"@timestamp":"2023-10-10T13:55:36Z","request_method":"GET","request_uri":"/j?a=b","http_user_agent":"ua"}"#.to_owned(),
                "GET /j?a=b ~ua on time",
            ),
            (r#"{"ts":1696946136.1,"request":{"method":"GET","host":"x.test","uri":"/c?x=1","headers":{"User-Agent":["ua"]}}}"#.to_owned(),
             "GET /c?x=1 @x.test ~ua on time"),
            (
                r#"{"RequestMethod":"GET","RequestPath":"/t","RequestHost":"x.test","request_User-Agent":"ua","time":"2023-10-10T13:55:36Z"}"#.to_owned(),
                "GET /t @x.test ~ua on time",
            ),
            (r#"{"method":"GET","path":"/e","authority":"x.test","start_time":"2023-10-10T13:55:36.1Z"}"#.to_owned(),
             "GET /e @x.test on time"),
            (r#"{"http":{"request":{"method":"GET"}},"url":{"path":"/l","query":"a=1"},"user_agent":{"original":"ua"}}"#.to_owned(),
             "GET /l?a=1 ~ua"),
            (r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://x.test/g"}}"#.to_owned(), "GET https://x.test/g"),
            (format!(r#"{{"log":"h - - [{time}] \"GET /d HTTP/1.1\" 200 5\n","stream":"stdout"}}"#), "GET /d on time"),
            (
                r#"2023/10/10 13:55:36 INFO http.log.access handled request {"request":{"method":"GET","uri":"/k"},"ts":1696946136.1}"#.to_owned(),
                "GET /k on time",
            ),
            (
                "2023/10/10 13:55:36.1\tinfo\thttp.log.access\thandled request\t{\"request\": {\"method\": \"GET\", \"uri\": \"/m\"}}"
                    .to_owned(),
                "GET /m",
            ),
            (r#"{"uri":"/n"}"#.to_owned(), "GET /n without a method"),
            (r#"{"method":"GET","uri":"*"}"#.to_owned(), "Broken"),
        ] {
            assert_eq!(shown(&line), wanted, "{line}");
        }
        for (line, error) in [
            (
                "junk",
                "the line is not an access log entry that drumfire reads",
            ),
            (
                r#"h - - [junk] "GET / HTTP/1.1" 200 1"#,
                "`junk` is not a time",
            ),
            (
                "{",
                "the line is not a JSON object; a log has a whole object in each line",
            ),
            (
                r#"[{"method": "GET", "uri": "/a"}]"#,
                "the line is not a JSON object; a log has a whole object in each line",
            ),
            (
                r#"{"level":"info","msg":"started"}"#,
                "the line has neither",
            ),
        ] {
            assert!(shown(line).starts_with(error), "{line}: {}", shown(line));
        }
    }
}
