//! The requests of a command line: one for each URL that it expands to.

use super::{Auth, Command, DataContent, UrlForm, glob, url};
use crate::exchange::{Body, Exchange, FormPart, ImportedRequests, PartBody, Words, origin};
use crate::shape::shown;

impl Command {
    /// The body, or its pairs for the query.
    fn body(&mut self, query: &mut Vec<String>) -> Result<Option<Body>, String> {
        let mut text = String::new();
        let (mut has_text, mut files) = (false, Vec::new());
        for data in std::mem::take(&mut self.data) {
            match data.content {
                DataContent::Text(piece) => {
                    // curl appends the data of `--json` as it is.
                    if has_text && data.flag != "--json" {
                        text.push('&');
                    }
                    text.push_str(&piece);
                    has_text = true;
                }
                DataContent::File(path) => files.push(path),
            }
        }
        Ok(match (has_text, files.as_slice()) {
            (false, []) => self.parts.take().map(Body::Parts),
            (true, []) if self.data_in_query => {
                // The data replaces the pairs of `--url-query`.
                query.push(text);
                None
            }
            (true, []) => Some(Body::Text(Words::Plain(text))),
            (_, [path, ..]) if self.data_in_query => {
                return Err(format!(
                    "`--get` with the data of a file is not supported; write the content of {path} \
                     into the URL's query"
                ));
            }
            (false, [path]) => Some(Body::File(path.clone())),
            _ => {
                return Err(
                    "a body can't combine several files, or texts and files; write all of them into \
                     one file"
                        .to_owned(),
                );
            }
        })
    }

    /// Refuses options that curl refuses together, because each of them selects a method.
    fn check_methods(&self) -> Result<(), String> {
        let data = self.data.first().map(|data| data.flag);
        // With `--get`, data is a query of GET or HEAD.
        let is_query = self.data_in_query && self.is_head;
        let chosen = [
            data.filter(|_| !is_query),
            self.parts.as_ref().map(|_| "--form"),
            (!self.uploads.is_empty()).then_some("--upload-file"),
            self.is_head.then_some("--head"),
        ];
        let chosen: Vec<&str> = chosen.into_iter().flatten().collect();
        match chosen.as_slice() {
            [one, other, ..] => Err(format!(
                "curl refuses `{one}` together with `{other}`; remove one of them"
            )),
            _ => Ok(()),
        }
    }

    /// Adds the requests.
    ///
    /// # Errors
    /// If curl refuses the options, or a plan can't contain the body.
    pub(super) fn finish(mut self, all: &mut ImportedRequests) -> Result<(), String> {
        self.check_methods()?;
        let mut query = std::mem::take(&mut self.query);
        if self.data_in_query && !self.data.is_empty() && !query.is_empty() {
            all.note("curl sends no `--url-query` together with `--get` and data".to_owned());
            query.clear();
        }
        let body = self.body(&mut query)?;
        let uploads = self.expanded_uploads()?;
        if let Some(flag) = of_stdin(body.as_ref(), &uploads) {
            return Err(format!(
                "`{flag}` reads standard input, which a plan can't contain; save the input as a file, \
                 and write its name instead of `-`"
            ));
        }
        self.own_fields(body.as_ref(), all);
        if self.urls.is_empty() {
            all.note("a command line has no URL".to_owned());
        }
        for files in uploads.iter().skip(self.urls.len()) {
            let files = shown(&files.join(", "));
            all.note(format!(
                "`--upload-file {files}` has no URL and is left out"
            ));
        }
        let fields = std::mem::take(&mut self.fields).into_list();
        for (at, given) in self.urls.iter().enumerate() {
            let files = uploads.get(at).map_or(&[][..], Vec::as_slice);
            let mut targets = Vec::new();
            for url in expanded("the URL", given, self.form)? {
                if files.is_empty() {
                    targets.push((url::whole(&url, None, &query, self.dots), body.clone()));
                }
                for file in files {
                    let url = url::whole(&url, Some(file.as_str()), &query, self.dots);
                    targets.push((url, Some(Body::File(file.clone()))));
                }
            }
            for (url, body) in targets {
                let mut exchange = self.exchange(url, body, !files.is_empty(), all);
                exchange.headers.clone_from(&fields);
                all.requests.push(exchange);
            }
        }
        Ok(())
    }

    /// A request without its fields.
    fn exchange(
        &self,
        url: String,
        body: Option<Body>,
        is_upload: bool,
        all: &mut ImportedRequests,
    ) -> Exchange {
        let url = match self.auth {
            Auth::Basic => url,
            Auth::Other => without_user(&url),
        };
        if self.settings.contains("--http2") && url.starts_with("http://") {
            all.note(
                "with `--http2`, the plan sends HTTP/2 to a `http://` server at once; curl begins \
                 with HTTP/1.1 and asks for an upgrade"
                    .to_owned(),
            );
        }
        let usual = match &body {
            _ if self.is_head => "HEAD",
            Some(_) if is_upload => "PUT",
            Some(_) => "POST",
            None => "GET",
        };
        let method = self.method.as_deref().unwrap_or(usual);
        let mut exchange = Exchange::new(method, Words::Plain(url));
        // curl sends the method as written.
        method.clone_into(&mut exchange.method);
        exchange.body = body;
        exchange
    }

    /// Adds the fields that follow from the body and the user.
    fn own_fields(&mut self, body: Option<&Body>, all: &mut ImportedRequests) {
        let is_form = matches!(body, Some(Body::Parts(_)));
        if is_form {
            // A written media type lacks the boundary.
            let given = self.fields.given("Content-Type").map(str::to_owned);
            let usual = "multipart/form-data";
            if let Some(given) = given.filter(|given| !given.eq_ignore_ascii_case(usual)) {
                all.note(format!(
                    "the media type `{}` of a form is left out: the plan sends {usual} with its own \
                     boundary",
                    shown(&given)
                ));
            }
            self.fields.drop_all("Content-Type");
        } else if body.is_some() || self.is_json {
            let media_type = match self.is_json {
                true => "application/json",
                false => "application/x-www-form-urlencoded",
            };
            self.fields.set("Content-Type", media_type);
        }
        if self.is_json {
            self.fields.set("Accept", "application/json");
        }
        let user = self.user.take().filter(|_| self.auth == Auth::Basic);
        if let Some(user) = user.filter(|_| !self.fields.has("Authorization")) {
            self.fields.set_first("Authorization", &user);
        }
    }

    /// The files of each `--upload-file`.
    fn expanded_uploads(&self) -> Result<Vec<Vec<String>>, String> {
        let one = |given: &String| match given.as_str() {
            "" => Ok(Vec::new()),
            given => expanded("the file", given, self.form),
        };
        self.uploads.iter().map(one).collect()
    }
}

/// The texts that a URL or the name of a file expands to.
fn expanded(what: &str, given: &str, form: UrlForm) -> Result<Vec<String>, String> {
    match form {
        UrlForm::Plain => Ok(vec![given.to_owned()]),
        UrlForm::Globs => glob::expanded(given)
            .map_err(|why| format!("{what} `{given}`: {why}; use -g to send it as it is")),
    }
}

/// A URL without the user and the password.
fn without_user(url: &str) -> String {
    let user = origin(url).and_then(|(origin, _)| {
        let begin = origin.find("://")? + 3;
        let at = origin.rfind('@')?;
        Some(begin..=at)
    });
    let mut url = url.to_owned();
    if let Some(user) = user {
        url.replace_range(user, "");
    }
    url
}

/// The flag by which a body, or a part of it, comes from standard input.
fn of_stdin(body: Option<&Body>, uploads: &[Vec<String>]) -> Option<&'static str> {
    let is_stdin = |part: &FormPart| matches!(&part.content, PartBody::File(path) if path == "-");
    let is_upload = uploads
        .iter()
        .flatten()
        .any(|file| file == "-" || file == ".");
    match body {
        _ if is_upload => Some("--upload-file -"),
        Some(Body::File(path)) if path == "-" => Some("--data @-"),
        Some(Body::Parts(parts)) if parts.iter().any(is_stdin) => Some("--form NAME=@-"),
        _ => None,
    }
}
