//! `drumfire http`.

use super::{document, feeds, fields, payload, some, switch, text, transport};
use crate::exit::Failure;
use crate::flags::HttpFlags;
use crate::input;
use drumfire_compile::{Diagnostic, lines};
use drumfire_plan::document::{
    Ask, CommonBody, CommonFields, Document, Http, Place, Placed, Pool, Request, Settings, Text,
};

/// The name of a list of URLs in error messages.
const LIST: Place = Place::Flag { name: "URL list" };

/// The document of the flags.
pub(crate) fn of(flags: &HttpFlags) -> Result<Document, Failure> {
    let usual = if flags.data.is_some() { "POST" } else { "GET" };
    let method = some("method", flags.method.as_ref());
    let method = method.unwrap_or_else(|| Placed::new(usual.to_owned(), Place::Nowhere));
    let body = flags.data.as_ref();
    let pool = Pool {
        settings: Settings {
            http: Http {
                http: flags.http2.then(|| text("http", &2)),
                compressed: flags.compressed.then(|| text("compressed", &true)),
                redirects: some("redirects", flags.redirects.as_ref()),
                expect_continue: switch("expect_continue", flags.expect_continue, true),
                ..Http::default()
            },
            fields: CommonFields {
                headers: fields("headers", &flags.headers)?,
                ..CommonFields::default()
            },
            body: CommonBody {
                payload: body.map(|data| payload("body", data)).transpose()?,
                lines: switch("body_lines", flags.lines, true),
                order: some("order", flags.order.as_ref()),
            },
            templates: flags.no_templates.then(|| text("templates", &"none")),
            ..transport::settings(&flags.load, &flags.transport)
        },
        requests: requests(&flags.urls, &method)?,
        ..Pool::default()
    };
    Ok(Document {
        feeds: feeds(&flags.feed, flags.feed_order.as_deref())?,
        ..document(pool, &flags.load, &flags.output)
    })
}

/// A request for each argument: a URL, or a file with a list of them.
fn requests(args: &[String], method: &Text) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    for arg in args {
        let method = method.clone();
        match arg.strip_prefix('@') {
            None => {
                let url = Placed::new(arg.clone(), Place::Nowhere);
                requests.push(Request::new(Ask::Url { method, url }));
            }
            Some("-") => requests.extend(of_stdin(&method)?),
            Some(path) => {
                let file = Placed::new(path.to_owned(), LIST);
                requests.push(Request::new(Ask::List { method, file }));
            }
        }
    }
    Ok(requests)
}

/// The list on standard input, which can't be read again.
fn of_stdin(method: &Text) -> Result<Vec<Request>, Failure> {
    let bytes = input::stdin(&LIST.to_string())?;
    let mut requests = Vec::new();
    for (place, line) in lines(&bytes, "stdin") {
        let url = line.map_err(|why| Failure::usage(Diagnostic::new(&place, why)))?;
        let method = method.clone();
        let url = Placed::new(url.to_owned(), place);
        requests.push(Request::new(Ask::Url { method, url }));
    }
    if requests.is_empty() {
        return Err(Failure::usage(
            "the list of URLs is empty; write one URL a line",
        ));
    }
    Ok(requests)
}
