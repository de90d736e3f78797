//! HTTP requests: their targets and their contents.

use crate::scope::Scope;
use drumfire_plan::document::{Ask, Field, Fields, Place, Pool, Request, Text};
use drumfire_plan::{Body, Header, HttpRequest, Method, Url, secret};
use std::sync::Arc;

/// Every HTTP request of a pool, in turn.
pub(crate) fn requests(pool: &Pool, scope: &mut Scope<'_>) -> Vec<HttpRequest> {
    let target = target(pool, scope);
    let common = pool.settings.fields.headers.iter();
    let common: Vec<Header> = common.filter_map(|field| header(field, scope)).collect();
    let shared = pool.settings.body.as_ref();
    let shared = Body(shared.and_then(|payload| scope.payload(payload)));
    let mut all = Vec::new();
    for request in &pool.requests {
        let (method, urls) = match &request.ask {
            Ask::Url { method, url } => {
                let url = absolute(url, target.as_ref(), scope);
                (method, url.into_iter().collect())
            }
            Ask::List { method, file } => (method, listed(file, scope)),
            // Pools of calls are compiled elsewhere, and mixed ones were refused.
            Ask::Call(_) => continue,
        };
        let parsed = Method::parse(&method.value);
        let method = scope.found.ok(&method.place, parsed);
        let headers = headers(request, &common, scope);
        let body = match &request.data.payload {
            Some(payload) => Body(scope.payload(payload)),
            None => shared.clone(),
        };
        let Some(method) = method else {
            continue;
        };
        all.extend(urls.into_iter().map(|url| HttpRequest {
            step: match &request.name {
                Some(name) => name.value.clone(),
                None => secret::url(&url.to_string()),
            },
            data: None,
            call: None,
            method: method.clone(),
            headers: headers.clone(),
            body: body.clone(),
            url,
        }));
    }
    all
}

/// The target that paths are relative to.
fn target(pool: &Pool, scope: &mut Scope<'_>) -> Option<Url> {
    let text = pool.settings.reach.target.as_ref()?;
    let url = scope.found.ok(&text.place, Url::parse(&text.value))?;
    if url.target != "/" {
        let message = format!(
            "the target has a path, `{}`; write it in the requests",
            url.target
        );
        scope.found.add(&text.place, message);
    }
    Some(url)
}

/// A URL, or a path at the target.
fn absolute(text: &Text, target: Option<&Url>, scope: &mut Scope<'_>) -> Option<Url> {
    if !text.value.starts_with('/') {
        return scope.found.ok(&text.place, Url::parse(&text.value));
    }
    let Some(target) = target else {
        let message =
            "a path needs a `target`; write one such as https://shop.test, or a whole URL";
        scope.found.add(&text.place, message);
        return None;
    };
    let whole = format!("{}{}", target.origin, text.value);
    let url = scope.found.ok(&text.place, Url::parse(&whole))?;
    Some(Url {
        userinfo: target.userinfo.clone(),
        ..url
    })
}

/// One URL a line; empty lines and lines that begin with `#` are passed over.
fn listed(file: &Text, scope: &mut Scope<'_>) -> Vec<Url> {
    let mut urls = Vec::new();
    let Some(bytes) = scope.file(file) else {
        return urls;
    };
    let lines = lines(&bytes, &file.value);
    let message = "the list of URLs is empty; write one URL a line";
    scope.found.add_if(lines.is_empty(), &file.place, message);
    for (place, line) in lines {
        let url = line.and_then(|line| Url::parse(line).map_err(|error| error.to_string()));
        urls.extend(scope.found.ok(&place, url));
    }
    urls
}

/// The lines of a list that are not empty and do not begin with `#`, each with its place in `name`;
/// or the mistake in one.
pub fn lines<'a>(bytes: &'a [u8], name: &str) -> Vec<(Place, Result<&'a str, String>)> {
    let name: Arc<str> = name.escape_default().to_string().into();
    let mut found = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let place = Place::File {
            name: Arc::clone(&name),
            line: index as u64 + 1,
            column: 0,
            key: "".into(),
        };
        match std::str::from_utf8(line.trim_ascii()) {
            Err(_) => found.push((place, Err("the line is not valid UTF-8".to_owned()))),
            Ok(line) if line.is_empty() || line.starts_with('#') => {}
            Ok(line) => found.push((place, Ok(line))),
        }
    }
    found
}

/// A request's own fields, then those of its pool that it does not name.
fn headers(request: &Request, common: &[Header], scope: &mut Scope<'_>) -> Vec<Header> {
    let own = match &request.fields {
        Fields::Listed(fields) => fields.as_slice(),
        Fields::File(_) => &[],
    };
    let own: Vec<Header> = own
        .iter()
        .filter_map(|field| header(field, scope))
        .collect();
    let unnamed = |field: &&Header| !own.iter().any(|own| own.is(field.name()));
    let below: Vec<Header> = common.iter().filter(unnamed).cloned().collect();
    [own, below].concat()
}

/// A field that can be sent.
fn header(field: &Field, scope: &mut Scope<'_>) -> Option<Header> {
    let header = Header::new(field.name.value.trim(), field.value.value.as_bytes());
    scope.found.ok(&field.value.place, header)
}
