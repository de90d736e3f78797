//! curl command lines.

mod dots;
mod glob;
mod options;

use crate::exchange::{Body, Exchange, Exchanges, FormPart, PartContent, Words, placed};
use crate::shell;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::percent;
use std::collections::BTreeSet;

/// The maximum number of redirects with `-L`.
const REDIRECTS: &str = "50";

/// Flags about the output of results.
const OF_RESULTS: [&str; 10] = [
    "--dump-header",
    "--fail",
    "--include",
    "--no-progress-meter",
    "--output",
    "--remote-name",
    "--show-error",
    "--silent",
    "--verbose",
    "--write-out",
];

/// Reads one or more command lines.
pub(crate) fn read(text: &str) -> Result<Exchanges, String> {
    let mut all = Exchanges::default();
    if text.contains("^\"") || text.contains("^\n") || text.contains("^\r\n") {
        return Err("this is a Windows cmd command line; copy it as cURL (bash)".to_owned());
    }
    let mut settings = Vec::new();
    let commands = shell::commands(text)?;
    for expansion in &commands.expansions {
        all.note(format!(
            "`{expansion}` is sent as it is: no shell expands it; write ${{env:NAME}} in the plan for an \
             environment variable"
        ));
    }
    for (words, start) in commands.words.into_iter().zip(commands.starts) {
        let is_curl = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            name == "curl" || name == "curl.exe"
        };
        match words.iter().position(is_curl) {
            // Options before `--next` apply to the URLs before it.
            Some(at) => {
                for words in words[at + 1..].split(|word| ["--next", "-:"].contains(&&**word)) {
                    let own = Command::default().read(words, &mut all);
                    settings.push(own.map_err(|why| shell::in_line(text, start, &why))?);
                }
            }
            None => {
                let shown: String = words[0].chars().take(40).collect();
                all.note(format!(
                    "`{shown}` is not a curl command line and is left out"
                ));
            }
        }
    }
    note_shared(&settings, &mut all);
    Ok(all)
}

/// Notes settings that only some of several command lines have: a plan applies them to all
/// requests.
fn note_shared(settings: &[BTreeSet<String>], all: &mut Exchanges) {
    let names: BTreeSet<&String> = settings.iter().flatten().collect();
    for name in names {
        let having = settings.iter().filter(|own| own.contains(name)).count();
        if having < settings.len() {
            all.note(format!(
                "`{name}` is set in {having} of {} command lines and applies to all requests of \
                 the plan",
                settings.len()
            ));
        }
    }
}

/// One command line.
#[derive(Default)]
struct Command {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, Words)>,
    data: Vec<Data>,
    /// The file of `--upload-file`.
    upload: Option<String>,
    query: Vec<String>,
    /// The parts of `--form`.
    parts: Option<Vec<FormPart>>,
    /// The flags that are settings of the whole plan.
    settings: BTreeSet<String>,
    /// The user and the password, which an `Authorization` field overrides.
    user: Option<String>,
    is_head: bool,
    data_in_query: bool,
    is_json: bool,
    form: UrlForm,
    dots: Dots,
    /// The number of redirects that `--location` follows.
    redirects: Option<String>,
}

/// The meaning of `.` and `..` in paths.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Dots {
    /// Resolved before sending.
    #[default]
    Resolved,
    /// Their own (`--path-as-is`).
    Plain,
}

/// The meaning of brackets and braces in URLs.
#[derive(Clone, Copy, Default)]
enum UrlForm {
    /// Sets and ranges.
    #[default]
    Globs,
    /// Literal characters (`--globoff`).
    Plain,
}

/// A part of a body.
enum Data {
    Text(String),
    File(String),
}

impl Command {
    /// Adds the requests of a command line; returns its flags that are settings of the whole plan.
    fn read(mut self, words: &[String], all: &mut Exchanges) -> Result<BTreeSet<String>, String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = |name: &str, given: Option<String>| {
                let value = given.or_else(|| words.next().cloned());
                value.ok_or_else(|| format!("`{name}` has no value"))
            };
            if let Some(long) = word.strip_prefix("--") {
                let (long, given) = match long.split_once('=') {
                    Some((long, value)) => (long, Some(value.to_owned())),
                    None => (long, None),
                };
                match options::by_name(long.strip_prefix("expand-").unwrap_or(long)) {
                    Some(option) => {
                        let value = match option.takes_value {
                            true => value(word, given)?,
                            false => String::new(),
                        };
                        self.flag(&format!("--{}", option.name), &value, all);
                    }
                    None if options::is_negated(long) => self.flag(word, "", all),
                    None => return Err(format!("`{word}` is not a known option of curl")),
                }
            } else if word.len() > 1 && word.starts_with('-') {
                let letters = &word[1..];
                for (at, letter) in letters.char_indices() {
                    let Some(option) = options::by_letter(letter) else {
                        return Err(format!(
                            "`-{letter}` in `{word}` is not a known option of curl"
                        ));
                    };
                    let name = format!("--{}", option.name);
                    if !option.takes_value {
                        self.flag(&name, "", all);
                        continue;
                    }
                    let rest = &letters[at + letter.len_utf8()..];
                    let given = (!rest.is_empty()).then(|| rest.to_owned());
                    let value = value(&name, given)?;
                    self.flag(&name, &value, all);
                    break;
                }
            } else {
                self.urls.push(word.clone());
            }
        }
        let settings = std::mem::take(&mut self.settings);
        if let (true, Some(most)) = (settings.contains("--location"), self.redirects.take()) {
            all.document.defaults.http.redirects = Some(placed(most));
        }
        let tls = &mut all.document.defaults.tls;
        if tls.key.is_none() {
            // curl looks for the key beside the certificate.
            tls.key.clone_from(&tls.cert);
        }
        self.finish(all)?;
        Ok(settings)
    }

    /// Processes one flag.
    fn flag(&mut self, name: &str, value: &str, all: &mut Exchanges) {
        if OF_RESULTS.contains(&name) || self.body_flag(name, value, all) {
            return;
        }
        if setting(name, value, all) {
            self.settings.insert(name.to_owned());
            return;
        }
        match name {
            // curl follows without a limit if it is below 0.
            "--max-redirs" => {
                self.redirects = Some(value)
                    .filter(|most| !most.starts_with('-'))
                    .map(str::to_owned)
            }
            "--path-as-is" => self.dots = Dots::Plain,
            "--url" => self.urls.push(value.to_owned()),
            "--request" => self.method = Some(value.to_owned()),
            "--head" => self.is_head = true,
            "--get" => self.data_in_query = true,
            "--header" => self.header(value, all),
            "--user-agent" => self.push("User-Agent", value),
            "--referer" => self.push("Referer", value.trim_end_matches(";auto")),
            "--oauth2-bearer" => self.push("Authorization", &format!("Bearer {value}")),
            "--range" => self.push("Range", &format!("bytes={value}")),
            "--user" => self.user(value, all),
            "--basic" => {}
            "--globoff" => self.form = UrlForm::Plain,
            "--cookie" if value.contains('=') => self.cookie(value),
            "--cookie" => all.note(format!("the cookies of the file {value} are not imported")),
            _ => all.note(format!("`{name}` is not imported")),
        }
    }

    /// Processes a flag about the body; returns whether it was one.
    fn body_flag(&mut self, name: &str, value: &str, all: &mut Exchanges) -> bool {
        match name {
            "--data-raw" => self.data.push(Data::Text(value.to_owned())),
            "--data" | "--data-ascii" | "--data-binary" | "--json" => {
                self.is_json |= name == "--json";
                self.data.push(match value.strip_prefix('@') {
                    Some(path) => {
                        if matches!(name, "--data" | "--data-ascii") {
                            all.note(format!(
                                "line ends in {path} are sent unchanged; with curl, `{name}` \
                                 removes them"
                            ));
                        }
                        Data::File(path.to_owned())
                    }
                    None => Data::Text(value.to_owned()),
                });
            }
            "--upload-file" => self.upload = Some(value.to_owned()),
            "--url-query" if value.starts_with('+') => self.query.push(value[1..].to_owned()),
            "--url-query" | "--data-urlencode" => match url_encoded(value) {
                Some(pair) if name == "--url-query" => self.query.push(pair),
                Some(pair) => self.data.push(Data::Text(pair)),
                None => all.note(format!("`{name} {value}` of a file is not imported")),
            },
            "--form" | "--form-string" => {
                let (field, value) = value.split_once('=').unwrap_or((value, ""));
                let parts = self.parts.get_or_insert_default();
                match name {
                    "--form" if value.starts_with('<') => all.note(format!(
                        "the part `{}` of a multipart body is not imported: it sends the content \
                         of a file as text",
                        field.chars().take(40).collect::<String>()
                    )),
                    "--form" => {
                        let (part, others) = part(field, value);
                        parts.push(part);
                        for other in others {
                            all.note(format!("`{other}` of a part of a form is not imported"));
                        }
                    }
                    _ => parts.push(FormPart::text(field.to_owned(), Words::plain(value))),
                }
            }
            _ => return false,
        }
        true
    }

    /// The user of Basic authentication; curl prompts for a password that is absent.
    fn user(&mut self, value: &str, all: &mut Exchanges) {
        let mut pair = value.to_owned();
        if !value.contains(':') {
            all.note(format!(
                "`--user {value}` has no password, so the plan sends an empty one"
            ));
            pair.push(':');
        }
        self.user = Some(format!("Basic {}", STANDARD.encode(pair)));
    }

    fn push(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), Words::plain(value)));
    }

    /// Adds cookies after the earlier ones.
    fn cookie(&mut self, value: &str) {
        let mut headers = self.headers.iter_mut();
        match headers.find(|(name, _)| name == "Cookie") {
            Some((_, Words::Plain(cookies))) => cookies.extend(["; ", value]),
            _ => self.push("Cookie", value),
        }
    }

    fn header(&mut self, line: &str, all: &mut Exchanges) {
        // A name followed by `;` is a field without a value; a name followed by `:` removes a
        // field.
        match line.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                self.push(name.trim(), value.trim());
            }
            Some((name, _)) => all.note(format!("`-H '{name}:'` has no effect")),
            None => match line.strip_suffix(';') {
                Some(name) => self.push(name, ""),
                None => all.note(match line.strip_prefix('@') {
                    Some(file) => format!("the headers of the file {file} are not imported"),
                    None => {
                        let name = line.split_whitespace().next().unwrap_or_default();
                        let name: String = name.chars().take(40).collect();
                        format!("the header `{name}` has no colon and is left out")
                    }
                }),
            },
        }
    }

    /// The body, or its pairs for the query.
    fn body(&mut self, query: &mut Vec<String>) -> Result<Option<Body>, String> {
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        for data in std::mem::take(&mut self.data) {
            match data {
                Data::Text(text) => texts.push(text),
                Data::File(path) => files.push(path),
            }
        }
        let text = texts.join(if self.is_json { "" } else { "&" });
        Ok(match (texts.is_empty(), files.as_slice()) {
            (true, []) => self.form(),
            (false, []) if self.data_in_query => {
                query.push(text);
                None
            }
            (false, []) => Some(Body::Text(Words::Plain(text))),
            (_, [path, ..]) if self.data_in_query => {
                return Err(format!(
                    "`--get` with the data of a file is not supported; write the content of {path} \
                     into the URL's query"
                ));
            }
            (true, [path]) => Some(Body::File(path.clone())),
            _ => {
                return Err("a body can't combine several files, or texts and files".to_owned());
            }
        })
    }

    /// The body of a multipart form. A written media type is dropped, because it lacks the
    /// boundary.
    fn form(&mut self) -> Option<Body> {
        let parts = self.parts.take()?;
        let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
        self.headers.retain(|(name, _)| !is_type(name));
        Some(Body::Parts(parts))
    }

    /// Adds the requests.
    fn finish(mut self, all: &mut Exchanges) -> Result<(), String> {
        let mut query = std::mem::take(&mut self.query);
        if !self.data.is_empty() && self.parts.is_some() {
            all.note("`--form` is not imported, because there is other data".to_owned());
        }
        let body = self.body(&mut query)?;
        if let Some(flag) = self.of_stdin(body.as_ref()) {
            return Err(format!(
                "`{flag}` reads standard input, which a plan can't contain; save the input as a file, \
                 and write its name instead of `-`"
            ));
        }
        let has = |headers: &[(String, Words)], name: &str| {
            headers
                .iter()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        let has_own_type = matches!(body, Some(Body::Parts(_)));
        if body.is_some() && !has_own_type && !has(&self.headers, "content-type") {
            self.push(
                "Content-Type",
                match self.is_json {
                    true => "application/json",
                    false => "application/x-www-form-urlencoded",
                },
            );
        }
        if self.is_json && !has(&self.headers, "accept") {
            self.push("Accept", "application/json");
        }
        if let Some(user) = self.user.take()
            && !has(&self.headers, "authorization")
        {
            let field = ("Authorization".to_owned(), Words::Plain(user));
            self.headers.insert(0, field);
        }
        let usual = match (&body, self.is_head) {
            (_, true) => "HEAD",
            _ if self.upload.is_some() => "PUT",
            (Some(_), _) => "POST",
            (None, _) => "GET",
        };
        let method = self.method.as_deref().unwrap_or(usual);
        for given in &self.urls {
            let urls = match self.form {
                UrlForm::Plain => vec![given.clone()],
                UrlForm::Globs => glob::expanded(given).map_err(|why| {
                    format!("the URL `{given}`: {why}; use -g to send it as it is")
                })?,
            };
            for url in urls {
                let url = self.whole_url(&url, &query);
                let mut exchange = Exchange::new(method, Words::Plain(url));
                // curl sends the method as written.
                method.clone_into(&mut exchange.method);
                exchange.headers.clone_from(&self.headers);
                exchange.body = match &self.upload {
                    Some(file) => Some(Body::File(file.clone())),
                    None => body.clone(),
                };
                all.requests.push(exchange);
            }
        }
        if self.urls.is_empty() {
            all.note("a command line has no URL".to_owned());
        }
        Ok(())
    }
}

impl Command {
    /// A complete URL: with its scheme, the name of the file for an upload to a folder, and the
    /// query.
    fn whole_url(&self, url: &str, query: &[String]) -> String {
        let scheme = if url.contains("://") { "" } else { "http://" };
        let mut url = format!("{scheme}{url}");
        if let (Some(file), true) = (&self.upload, url.ends_with('/')) {
            // The file's name becomes the name of the resource.
            url.push_str(&encoded(file.rsplit('/').next().unwrap_or_default()));
        }
        for query in query {
            let sign = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{sign}{query}");
        }
        match self.dots {
            Dots::Resolved => dots::resolved(url),
            Dots::Plain => url,
        }
    }
}

impl Command {
    /// The flag by which a body, or a part of it, comes from standard input.
    fn of_stdin(&self, body: Option<&Body>) -> Option<&'static str> {
        let is_stdin =
            |part: &FormPart| matches!(&part.content, PartContent::File(path) if path == "-");
        match body {
            _ if self.upload.as_deref() == Some("-") => Some("--upload-file -"),
            Some(Body::File(path)) if path == "-" => Some("--data @-"),
            Some(Body::Parts(parts)) if parts.iter().any(is_stdin) => Some("--form NAME=@-"),
            _ => None,
        }
    }
}

/// A pair with an encoded value, or a value alone; `None` if a file contains the value.
fn url_encoded(value: &str) -> Option<String> {
    match value.split_once('=') {
        Some(("", value)) => Some(encoded(value)),
        Some((name, value)) => Some(format!("{name}={}", encoded(value))),
        None if value.contains('@') => None,
        None => Some(encoded(value)),
    }
}

/// A part of a form: a text, or a file behind `@`. `;type=` and `;filename=` behind it are its own;
/// further attributes of curl are given beside it.
fn part(name: &str, value: &str) -> (FormPart, Vec<&'static str>) {
    let mut others = Vec::new();
    let mut pieces = value.split(';');
    let mut content = pieces.next().unwrap_or_default().to_owned();
    let (mut file_name, mut media_type) = (None, None);
    for piece in pieces {
        match piece.trim_start().split_once('=') {
            Some(("type", given)) => media_type = Some(given.to_owned()),
            Some(("filename", given)) => file_name = Some(given.trim_matches('"').to_owned()),
            Some(("headers", _)) => others.push(";headers="),
            Some(("encoder", _)) => others.push(";encoder="),
            // Of the media type before it, or of the text.
            _ => match &mut media_type {
                Some(media_type) => media_type.extend([";", piece]),
                None => content.extend([";", piece]),
            },
        }
    }
    if let (Some(path), None) = (content.strip_prefix('@'), &media_type) {
        media_type = of_file(file_name.as_deref().unwrap_or(path)).map(str::to_owned);
    }
    let part = FormPart {
        name: name.to_owned(),
        content: match content.strip_prefix('@') {
            Some(path) => PartContent::File(path.to_owned()),
            None => PartContent::Text(Words::Plain(content)),
        },
        file_name,
        media_type,
    };
    (part, others)
}

/// The media type that curl assigns to a file by its extension, if it knows the extension.
fn of_file(name: &str) -> Option<&'static str> {
    let types = [
        (".gif", "image/gif"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".jpeg", "image/jpeg"),
        (".jpg", "image/jpeg"),
        (".pdf", "application/pdf"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".xml", "application/xml"),
    ];
    let name = name.to_ascii_lowercase();
    let mut types = types.iter();
    types.find_map(|(end, media_type)| name.ends_with(end).then_some(*media_type))
}

/// A flag that is a setting of the plan; whether it was one.
fn setting(name: &str, value: &str, all: &mut Exchanges) -> bool {
    let text = || Some(placed(value.to_owned()));
    let defaults = &mut all.document.defaults;
    match name {
        "--insecure" => defaults.tls.insecure = Some(placed(true)),
        "--cacert" => defaults.tls.cacert = text(),
        "--cert" => {
            let (file, password) = value.split_once(':').unwrap_or((value, ""));
            defaults.tls.cert = Some(placed(file.to_owned()));
            if !password.is_empty() {
                all.note("the password of `--cert` is not imported".to_owned());
            }
        }
        "--key" => defaults.tls.key = text(),
        "--compressed" => defaults.http.compressed = Some(placed("true".to_owned())),
        "--location" => defaults.http.redirects = Some(placed(REDIRECTS.to_owned())),
        "--http2" | "--http2-prior-knowledge" => {
            defaults.http.http = Some(placed("2".to_owned()));
        }
        "--http1.1" => defaults.http.http = Some(placed("1".to_owned())),
        "--proxy" => match value.split_once("://") {
            Some((scheme, _)) if !matches!(scheme, "http" | "https") => all.note(format!(
                "`--proxy {scheme}://…` is not imported: drumfire supports HTTP proxies only"
            )),
            _ => defaults.reach.proxy = text(),
        },
        "--unix-socket" => defaults.reach.unix_socket = text(),
        "--resolve" => match addresses(value) {
            Some(given) => defaults.reach.resolve.extend(given.map(placed)),
            None => all.note(format!("`--resolve {value}` is not imported")),
        },
        "--max-time" | "--connect-timeout" => match seconds(value) {
            Some(time) if name == "--max-time" => defaults.timeouts.timeout = Some(placed(time)),
            Some(time) => defaults.timeouts.connect_timeout = Some(placed(time)),
            None => all.note(format!(
                "`{name} {value}` is not imported: it is not a time"
            )),
        },
        _ => return false,
    }
    true
}

/// A time of curl, in seconds.
fn seconds(value: &str) -> Option<String> {
    let seconds: f64 = value.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| format!("{seconds}s"))
}

/// The addresses of `--resolve HOST:PORT:ADDRESS[,ADDRESS]`, one text for each; none of a wildcard, and of
/// an entry that is removed.
fn addresses(value: &str) -> Option<impl Iterator<Item = String>> {
    let (host, rest) = value.strip_prefix('+').unwrap_or(value).split_once(':')?;
    let (port, addresses) = rest.split_once(':')?;
    let is_name = !host.starts_with(['*', '-']);
    let one = move |address: &str| format!("{host}:{port}:{address}");
    is_name.then(|| addresses.split(',').map(one))
}

/// Percent-encodes what is not unreserved.
fn encoded(text: &str) -> String {
    percent::encoded(text).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::{Form, Source, Wishes, import};
    use drumfire_document::form;

    #[test]
    fn lines_are_sent_as_curl_sends_them() {
        for (line, parts, others) in [
            (
                "-H 'Accept-Encoding: gzip' http://h/",
                &["Accept-Encoding: gzip"][..],
                &["compressed"][..],
            ),
            (
                "-H 'Accept-Encoding: gzip' --compressed http://h/",
                &["Accept-Encoding: gzip", "compressed: \"true\""],
                &[],
            ),
            ("-X wHat http://h/", &["method: wHat"], &["WHAT"]),
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
        ] {
            let line = format!("curl {line}");
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

    #[test]
    fn other_parts_of_lines_are_noted() {
        for (line, lacking, note) in [
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
                "-F 'a=1;type=text/plain;headers=X: 1' http://h/",
                "X: 1",
                "`;headers=` of a part of a form is not imported",
            ),
        ] {
            let line = format!("curl {line}");
            let imported = import(Form::Curl, &Source::alone(&line), &Wishes::default());
            let imported = imported.expect(&line);
            let plan = form::print(&imported.document);
            assert!(!plan.contains(lacking), "{line}: {lacking}\n{plan}");
            assert_eq!(imported.notes, [note], "{line}");
        }
    }

    #[test]
    fn lines_are_refused_with_their_place() {
        for (text, error) in [
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
        ] {
            let refused = import(Form::Curl, &Source::alone(text), &Wishes::default());
            assert_eq!(refused.unwrap_err(), error, "{text}");
        }
    }
}
