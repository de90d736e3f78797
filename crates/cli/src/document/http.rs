//! `drumfire http`.

use super::form;
use super::{Written, document, feeds, fields, payload, some, switch, text, texts, transport};
use crate::exit::Failure;
use crate::flags::{HttpFlags, LoadFlags};
use crate::{bare_url, habits, input};
use drumfire_compile::{HashedLine, lines};
use drumfire_document::Diagnostic;
use drumfire_document::{
    Ask, CommonBody, CommonFields, Document, Expect, Http, Place, Placed, Pool, Request, Settings,
    Text,
};
use drumfire_report::{Naming, secret};
use std::path::{Path, PathBuf};

/// The name of a list of URLs in error messages.
const LIST: Place = Place::Flag { name: "URL list" };

/// The document of the flags.
pub(crate) fn of(flags: &HttpFlags) -> Result<Written, Failure> {
    check_habits(flags)?;
    let has_body = flags.data.is_some() || !flags.form.is_empty();
    let usual = if has_body { "POST" } else { "GET" };
    let method = some("method", flags.method.as_ref());
    let method = method.unwrap_or_else(|| Placed::new(usual.to_owned(), Place::Nowhere));
    let body = match &flags.data {
        Some(data) => Some(payload("body", data)?),
        None => form::payload(&flags.form)?,
    };
    let mut notes = Vec::new();
    let pool = Pool {
        settings: Settings {
            http: Http {
                http: flags.http2.then(|| text("http", &2)),
                compressed: flags.compressed.then(|| text("compressed", &true)),
                redirects: some("redirects", flags.redirects.as_ref()),
                expect_continue: switch("expect_continue", flags.expect_continue, true),
                expect: expect(flags)?,
                ..Http::default()
            },
            fields: CommonFields {
                headers: fields("headers", &flags.headers)?,
                traceparent: switch("traceparent", flags.transport.traceparent, true),
                ..CommonFields::default()
            },
            body: CommonBody {
                payload: body,
                lines: switch("body_lines", flags.body_lines, true),
                order: some("order", flags.varying.order.as_ref()),
            },
            templates: flags
                .varying
                .no_templates
                .then(|| text("templates", &"none")),
            ..transport::settings(&flags.load, &flags.transport)
        },
        requests: requests(&flags.urls, &method, &mut notes)?,
        ..Pool::default()
    };
    Ok(Written {
        document: Document {
            feeds: feeds(&flags.varying)?,
            ..document(pool, &flags.load, &flags.output)?
        },
        notes,
        naming: Naming::Flags,
        folder: PathBuf::new(),
    })
}

/// Refuses what is right on another tool's command line and means something else here.
fn check_habits(flags: &HttpFlags) -> Result<(), Failure> {
    let LoadFlags { duration, .. } = &flags.load;
    if let Some(data) = &flags.data
        && duration.is_none()
        && flags.method.is_none()
        && let Some(mistake) = habits::duration_as_body(data)
    {
        return Err(Failure::usage(mistake));
    }
    if let Some(data) = &flags.data
        && !flags.varying.no_templates
        && !data.contains(char::is_whitespace)
        && Path::new(data).is_file()
    {
        let shown = data.escape_default();
        return Err(Failure::usage(format!(
            "-d {shown}: `{shown}` is a file; use -d @{shown} to send its content, or add --no-templates \
             to send its name"
        )));
    }
    let users = flags.load.users.as_deref();
    if let Some(mistake) = users.and_then(habits::credentials_as_users) {
        return Err(Failure::usage(mistake));
    }
    for url in &flags.urls {
        let shown = url.escape_default();
        let mistake = match url.as_str() {
            number if habits::rate_as_url(number, flags.output.quiet).is_some() => {
                habits::rate_as_url(number, flags.output.quiet)
            }
            "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => {
                Some(format!("to set the method, use -X {shown}"))
            }
            path if Path::new(path).is_file() => Some(format!(
                "`{shown}` is a file; to read a list of URLs from it, use @{shown}"
            )),
            _ => None,
        };
        if let Some(mistake) = mistake {
            return Err(Failure::usage(mistake));
        }
    }
    Ok(())
}

/// When a response is ok.
fn expect(flags: &HttpFlags) -> Result<Expect, Failure> {
    Ok(Expect {
        status: some("expect.status", flags.expect_status.as_ref()),
        header: fields("expect.header", &flags.expect_header)?,
        body: texts("expect.body", &flags.expect_body),
        body_hash: some("expect.body_hash", flags.expect_hash.as_ref()),
        ..Expect::default()
    })
}

/// A URL, with its scheme and a note on it where it had none.
fn url(given: &str, place: Place, notes: &mut Vec<String>) -> Text {
    let Some(url) = bare_url::completed(given) else {
        return Placed::new(given.to_owned(), place);
    };
    // One note is enough for a long list.
    if notes.is_empty() {
        let shown = secret::url(&url);
        notes.push(format!(
            "a URL without a scheme was read as http://: {shown}"
        ));
    }
    Placed::new(url, place)
}

/// A request for each argument: a URL, or a file with a list of them.
fn requests(
    args: &[String],
    method: &Text,
    notes: &mut Vec<String>,
) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    for arg in args {
        let method = method.clone();
        match arg.strip_prefix('@') {
            None => {
                if arg.starts_with('/') && !Path::new(arg).exists() {
                    let message = match arg.starts_with("//") {
                        true => format!("`{arg}` has no scheme; write http:{arg}"),
                        false => format!("`{arg}` has no host; write http://127.0.0.1:8080{arg}"),
                    };
                    return Err(Failure::usage(message));
                }
                let url = url(arg, Place::Nowhere, notes);
                requests.push(Request::new(Ask::Url { method, url }));
            }
            Some("-") => {
                let bytes = input::stdin(&LIST.to_string())?;
                requests.extend(of_list(&bytes, "stdin", &method, notes)?);
            }
            Some(path) if is_json(path) => {
                let message = format!(
                    "{path} contains JSON, but @FILE among the URLs reads a list of URLs; to send \
                     it as a body, use `-d @{path}`"
                );
                return Err(Failure::usage(message));
            }
            Some(path) => match bare_list(path) {
                Some(bytes) => requests.extend(of_list(&bytes, path, &method, notes)?),
                None => {
                    let file = Placed::new(path.to_owned(), LIST);
                    requests.push(Request::new(Ask::List { method, file }));
                }
            },
        }
    }
    Ok(requests)
}

/// Whether a file begins as JSON does, and no URL.
fn is_json(path: &str) -> bool {
    let bytes = Some(Path::new(path)).filter(|path| path.is_file());
    let bytes = bytes.and_then(|path| input::read(path).ok());
    bytes.is_some_and(|bytes| {
        bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii_start().starts_with(b"[")
    })
}

/// The content of a file whose lines are not all whole URLs. One that can't be read is named by the
/// compiler, which reads all others.
fn bare_list(path: &str) -> Option<Vec<u8>> {
    // What comes through a pipe can't be read again.
    let path = Some(Path::new(path)).filter(|path| path.is_file())?;
    let bytes = input::read(path).ok()?;
    let mut lines = lines(&bytes, "").into_iter();
    let is_bare = lines.any(|(_, line)| {
        line.is_ok_and(|line| bare_url::completed(HashedLine::of(line).url).is_some())
    });
    is_bare.then_some(bytes)
}

/// The requests of a list: standard input, which can't be read again, or a file with URLs that have
/// no scheme.
fn of_list(
    bytes: &[u8],
    name: &str,
    method: &Text,
    notes: &mut Vec<String>,
) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    for (place, line) in lines(bytes, name) {
        let line = line.map_err(|why| Failure::usage(Diagnostic::new(&place, why)))?;
        let HashedLine { url, hash } = HashedLine::of(line);
        let hash = hash.map(|hash| Placed::new(hash.to_owned(), place.clone()));
        let (method, url) = (method.clone(), self::url(url, place, notes));
        let mut request = Request::new(Ask::Url { method, url });
        request.expect.body_hash = hash;
        requests.push(request);
    }
    if requests.is_empty() {
        return Err(Failure::usage(
            "the list of URLs is empty; write one URL per line",
        ));
    }
    Ok(requests)
}
