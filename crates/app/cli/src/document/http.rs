//! `drumfire http`.

use super::{Written, document, form, once, payload, text};
use crate::exit::Failure;
use crate::flags::HttpFlags;
use crate::{bare_url, habits, input};
use drumfire_compile::{HashedLine, lines};
use drumfire_document::{Ask, Diagnostic, Place, Placed, Request, Text};
use drumfire_report::secret;
use std::path::Path;

/// The name of a list of URLs in error messages.
const LIST: Place = Place::Flag { name: "URL list" };

/// The document of the flags.
pub(crate) fn from_flags(flags: &HttpFlags) -> Result<Written, Failure> {
    check_habits(flags)?;
    let settings = &flags.load.settings;
    let body = match settings.value("data") {
        Some(data) => Some(payload("body", data)?),
        None => form::payload(settings.values("form"))?,
    };
    let usual = if body.is_some() { "POST" } else { "GET" };
    let method = settings
        .value("method")
        .map(|method| text("method", &method));
    let method = method.unwrap_or_else(|| Placed::new(usual.to_owned(), Place::Nowhere));
    let mut notes = Vec::new();
    let mut document = document(settings)?;
    let requests = requests(&flags.urls, &method, &mut notes)?;
    for pool in &mut document.pools {
        pool.settings.body.payload.clone_from(&body);
        pool.requests.clone_from(&requests);
    }
    let document = match flags.load.output.show {
        true => once(document),
        false => document,
    };
    Ok(Written {
        notes,
        ..document.into()
    })
}

/// Rejects usage that is correct on another tool's command line and means something else here.
fn check_habits(flags: &HttpFlags) -> Result<(), Failure> {
    let settings = &flags.load.settings;
    if let Some(data) = settings.value("data")
        && !settings.has("duration")
        && !settings.has("method")
        && let Some(mistake) = habits::duration_as_body(data)
    {
        return Err(Failure::usage(mistake));
    }
    if let Some(data) = settings.value("data")
        && !settings.has("no-templates")
        && !data.contains(char::is_whitespace)
        && Path::new(data).is_file()
    {
        let shown = data.escape_debug();
        return Err(Failure::usage(format!(
            "-d {shown}: `{shown}` is a file; use -d @{shown} to send its content, or add --no-templates \
             to send its name"
        )));
    }
    let users = settings.value("users");
    if let Some(mistake) = users.and_then(habits::credentials_as_users) {
        return Err(Failure::usage(mistake));
    }
    let is_quiet = settings.has("quiet");
    for url in &flags.urls {
        let shown = url.escape_debug();
        let mistake = match url.as_str() {
            number if habits::rate_as_url(number, is_quiet).is_some() => {
                habits::rate_as_url(number, is_quiet)
            }
            method if METHODS.contains(&method) => {
                Some(format!("to set the method, use -X {shown}"))
            }
            socket if socket.starts_with("unix:") => {
                let path = secret::excerpt(&socket[5..]);
                let path = path.escape_debug();
                Some(format!(
                    "to connect to a Unix socket, use --unix-socket {path} http://localhost/"
                ))
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

/// The methods of HTTP that users write.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A URL with its scheme. If the scheme was missing, a note is added.
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

/// The requests of each argument: a URL, or a file with a list of URLs.
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
    let upper = method.value.to_ascii_uppercase();
    if upper != method.value && METHODS.contains(&upper.as_str()) {
        let shown = method.value.escape_debug();
        notes.push(format!(
            "methods are case-sensitive: `{shown}` is not {upper}; for {upper}, use -X {upper}"
        ));
    }
    Ok(requests)
}

/// Whether the content of a file begins like JSON.
fn is_json(path: &str) -> bool {
    let bytes = Some(Path::new(path)).filter(|path| path.is_file());
    let bytes = bytes.and_then(|path| input::read(path).ok());
    bytes.is_some_and(|bytes| {
        bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii_start().starts_with(b"[")
    })
}

/// The content of a file with at least one URL without a scheme. If the file cannot be read, the
/// compiler reports it, because the compiler reads all other files.
fn bare_list(path: &str) -> Option<Vec<u8>> {
    // The content of a pipe cannot be read again.
    let path = Some(Path::new(path)).filter(|path| path.is_file())?;
    let bytes = input::read(path).ok()?;
    let mut lines = lines(&bytes, "").into_iter();
    let is_bare = lines.any(|(_, line)| {
        line.is_ok_and(|line| bare_url::completed(HashedLine::parse(line).url).is_some())
    });
    is_bare.then_some(bytes)
}

/// The requests of a list: from standard input, which cannot be read again, or from a file with
/// URLs without a scheme.
fn of_list(
    bytes: &[u8],
    name: &str,
    method: &Text,
    notes: &mut Vec<String>,
) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    for (place, line) in lines(bytes, name) {
        let line = line.map_err(|why| Failure::usage(Diagnostic::new(&place, why)))?;
        let HashedLine { url, hash } = HashedLine::parse(line);
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
