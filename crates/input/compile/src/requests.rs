//! HTTP requests: their targets and their contents.
//!
//! [`RequestCompiler`] is created once per pool and then receives each of its requests in the
//! plan's order ([`RequestCompiler::add_requests`]). A request inherits the pool's fields under
//! other names, and the pool's body if it lacks a body. These are compiled with the first request
//! and reused. A list of URLs becomes one request per line, all with the same contents.
//!
//! A request with a varying part gets [`RequestTemplates`], which render the varying parts.
//! Otherwise, the engine prepares its bytes once.
//!
//! A fixed body is stored once for all requests that send it, and a file used by two requests is
//! read once. A list of a million URLs becomes a million requests of the plan, each with a URL, a
//! name and shared parts.
//!
//! [`check`] notes violations of HTTP's rules by the fields of a request, because only this module
//! knows which parts vary: a length for bodies of several lengths, or two Hosts of which one is
//! rendered. `plan` refuses invalid bytes when it constructs fields and methods.

use crate::ammo::AmmoRequests;
use crate::events::events;
use crate::looks::{ALGORITHMS, Looks, looks};
use crate::made::{Made, Supply};
use crate::scope::Scope;
use crate::sockets;
use crate::template_scope::TemplateScope;
use crate::templates::{Asked, Content, HeaderFields, Templates, WrittenBody};
use crate::transport::span;
use drumfire_data::{RequestTemplates, Template};
use drumfire_document::{Ask, Fields, Place, Pool, Request, Text};
use drumfire_plan::{Header, HttpRequest, Method, RequestData, Url};
use drumfire_units::utf8;
use std::sync::Arc;

/// The compiler of a pool's HTTP requests, with their shared settings.
///
/// Call [`RequestCompiler::new`] first, which reads the target, and then
/// [`RequestCompiler::add_requests`] for each request. Between two calls, the compiler keeps only
/// the pool's compiled fields and body; the caller keeps the requests in [`Made`].
pub(crate) struct RequestCompiler<'a> {
    /// The pool, with its settings filled in from the defaults.
    pool: &'a Pool,
    /// The target to which paths are relative; `None` if no target was written, or after a mistake
    /// was noted.
    target: Option<Url>,
    /// The pool's fields and body, after the first request has compiled them.
    common: Option<Common>,
    /// The URL of the last WebSocket that a request opens.
    connected: Option<Url>,
}

/// The fields and the body of a pool, for requests that lack their own. They are compiled once and
/// copied for each request: templates are shared, and only lists are copied.
struct Common {
    fields: HeaderFields,
    content: Content,
}

impl<'a> RequestCompiler<'a> {
    /// Creates the compiler of a pool's requests. The target is read once, and its mistakes are
    /// noted.
    pub(crate) fn new(pool: &'a Pool, scope: &mut Scope<'_>) -> Self {
        let target = target(pool, scope);
        Self {
            pool,
            target,
            common: None,
            connected: None,
        }
    }

    /// Compiles the fields and the body of the pool; their templates may read the values of this
    /// scope. Mistakes are noted once, instead of once per request.
    fn common(&self, templates: &TemplateScope, scope: &mut Scope<'_>) -> Common {
        let settings = &self.pool.settings;
        let templates = Templates::in_language(settings.templates.as_ref(), templates, scope);
        let mut fields = HeaderFields::default();
        for field in &settings.fields.headers {
            templates.add_header(field, &mut fields, scope);
        }
        let body = WrittenBody {
            payload: settings.body.payload.as_ref(),
            lines: &settings.body.lines,
            order: settings.body.order.as_ref(),
        };
        let content = templates.content(body, &fields, scope);
        Common { fields, content }
    }

    /// Adds a request, or all requests of a list. The first request decides what the pool's
    /// templates may read, because they are part of that request.
    pub(crate) fn add_requests(
        &mut self,
        request: &Request,
        may_read: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) {
        let common = match self.common.take() {
            Some(common) => common,
            None => self.common(may_read, scope),
        };
        match &request.ask {
            Ask::Socket(_) => {
                // If this returns `None`, a mistake was noted.
                let _made = self.add_socket(&common, request, may_read, made, scope);
            }
            _ => self.add_with(&common, request, may_read, made, scope),
        }
        self.common = Some(common);
    }

    /// Compiles one request with the pool's fields and body, and adds it once for each of its URLs.
    ///
    /// Every part is compiled even if another part has a mistake, so that all mistakes are found;
    /// the request is then left out.
    fn add_with(
        &self,
        common: &Common,
        request: &Request,
        may_read: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) {
        if let Ask::Ammo(written) = &request.ask {
            let requests = AmmoRequests {
                pool: self.pool,
                request,
                written,
                target: self.target.as_ref(),
                own: own_fields(request, may_read, self.pool, scope),
                common: &common.fields,
            };
            // If this returns `None`, a mistake was noted.
            let _made = requests.add_requests(may_read, made, scope);
            return;
        }
        let own = request.data.templates.as_ref();
        let written = own.or(self.pool.settings.templates.as_ref());
        let templates = Templates::in_language(written, may_read, scope);
        let (method, asked) = match &request.ask {
            Ask::Url { method, url } => {
                let asked = self.asked(url, &templates, scope);
                (method, asked.into_iter().map(Listed::from).collect())
            }
            Ask::List { method, file } => (method, self.listed(file, &templates, scope)),
            // Pools with calls are compiled elsewhere, ammo and sockets are handled above, and a prompt
            // that is left had a mistake.
            Ask::Call(_) | Ask::Ammo(_) | Ask::Socket(_) | Ask::Llm(_) => return,
        };
        let method = scope.found.ok(&method.place, Method::parse(&method.value));
        let mut fields = own_fields(request, may_read, self.pool, scope);
        fields.fill(&common.fields);
        let content = own_content(request, &templates, &fields, scope);
        let content = content.unwrap_or_else(|| common.content.clone());
        add_media_type(&content, &mut fields);
        check(request, &mut fields, &content, scope);
        let looks = looks(request, self.pool, may_read, scope);
        let timeout = span(request.timeout.as_ref(), scope);
        let events = events(request, self.pool, scope);
        let Some(method) = method else {
            return;
        };
        let fixed_body = content.fixed_for(&method);
        let mut varying = RequestTemplates::default().with_fields(fields.varying);
        if let Some(bodies) = content.varying {
            varying = varying.with_body(bodies);
        }
        let place = &request.ask.text().place;
        for Listed { asked, hash } in asked {
            let own = hash.map(|hash| looks_with(hash, request, self.pool, may_read, scope));
            let looks = own.unwrap_or_else(|| looks.clone());
            let data = with_url(varying.clone(), asked.template, asked.origin);
            let supply = Supply::of_templates(&data);
            let data = Arc::new(data) as Arc<dyn RequestData>;
            let request = HttpRequest {
                step: match &request.name {
                    Some(name) => name.value.clone(),
                    None => asked.step,
                },
                data: (!data.is_fixed()).then_some(data),
                call: None,
                events,
                socket: None,
                timeout,
                expect: looks.expect,
                inspection: looks.inspection,
                method: method.clone(),
                headers: fields.fixed.clone(),
                body: fixed_body.clone(),
                url: asked.url,
            };
            made.add_request(request, supply, place);
        }
    }

    /// Compiles a request on a WebSocket, and adds it. A request that opens none goes to the origin of
    /// the last one that does. `None` after a mistake was noted, or for another request.
    fn add_socket(
        &mut self,
        common: &Common,
        request: &Request,
        may_read: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) -> Option<()> {
        let Ask::Socket(written) = &request.ask else {
            return None;
        };
        let own = request.data.templates.as_ref();
        let language = own.or(self.pool.settings.templates.as_ref());
        let templates = Templates::in_language(language, may_read, scope);
        let mut fields = HeaderFields::default();
        let place = &request.ask.text().place;
        let asked = match &written.connect {
            Some(url) => {
                fields = own_fields(request, may_read, self.pool, scope);
                fields.fill(&common.fields);
                sockets::check_fields(&fields, &url.place, scope);
                let asked = self.asked(&sockets::over_http(url), &templates, scope);
                self.connected = asked.as_ref().map(|asked| asked.url.clone());
                asked
            }
            None => self.connected.clone().map(Asked::fixed),
        };
        let body = WrittenBody {
            payload: written.send.as_ref(),
            lines: &None,
            order: None,
        };
        let content = templates.content(body, &fields, scope);
        let socket = sockets::socket(written, request, self.pool, &content, scope);
        let looks = sockets::looks(written, request, self.pool, may_read, scope);
        let (asked, socket) = (asked?, socket?);
        let timeout = sockets::timeout(request, &socket, scope);
        let mut varying = RequestTemplates::default().with_fields(fields.varying);
        if let Some(bodies) = content.varying {
            varying = varying.with_body(bodies);
        }
        let data = with_url(varying, asked.template, asked.origin);
        let supply = Supply::of_templates(&data);
        let data = Arc::new(data) as Arc<dyn RequestData>;
        let request = HttpRequest {
            step: match (&request.name, sockets::usual_name(written)) {
                (Some(name), _) => name.value.clone(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => asked.step,
            },
            data: (!data.is_fixed()).then_some(data),
            call: None,
            events: None,
            socket: Some(Arc::new(socket)),
            timeout,
            expect: None,
            inspection: looks.inspection,
            method: Method::get(),
            headers: fields.fixed,
            body: content.body,
            url: asked.url,
        };
        made.add_request(request, supply, place);
        Some(())
    }

    /// Parses the URL of a request: a whole URL, or a path at the pool's target. Returns `None`
    /// after a mistake was noted.
    ///
    /// A text that begins with a template may give either form, and is tried as a reference to the
    /// target.
    fn asked(
        &self,
        text: &Text,
        templates: &Templates<'_>,
        scope: &mut Scope<'_>,
    ) -> Option<Asked> {
        if let Some(target) = self
            .target
            .as_ref()
            .filter(|_| templates.begins(&text.value))
        {
            return templates.reference(text, target, scope);
        }
        if !text.value.starts_with('/') {
            return templates.url(text, &text.place, scope);
        }
        let Some(target) = &self.target else {
            // An invalid target was already noted.
            let missing = self.pool.settings.reach.target.is_none();
            let message =
                "a path needs a `target`; write one such as https://shop.test, or a whole URL";
            scope.found.add_if(missing, &text.place, message);
            return None;
        };
        templates.path(text, target, scope)
    }

    /// The URLs of a list, one per line, or paths at the pool's target. Empty lines and lines that
    /// begin with `#` are skipped.
    ///
    /// Each line has its own place, so that a mistake is reported with its line. A URL that is a
    /// template is compiled like one in the document. A list without URLs is a mistake.
    fn listed(&self, file: &Text, templates: &Templates<'_>, scope: &mut Scope<'_>) -> Vec<Listed> {
        let mut urls = Vec::new();
        let Some(bytes) = scope.file(file) else {
            return urls;
        };
        let lines = lines(&bytes, &file.value);
        let message = "the list of URLs is empty; write one URL per line";
        scope.found.add_if(lines.is_empty(), &file.place, message);
        for (place, line) in lines {
            let Some(line) = scope.found.ok(&place, line) else {
                continue;
            };
            let HashedLine { url, hash } = HashedLine::parse(line);
            let hash = hash.map(|hash| Text::new(hash.to_owned(), place.clone()));
            let text = Text::new(url.to_owned(), place);
            let asked = match url.starts_with('/') {
                true => self.asked(&text, templates, scope),
                false => templates.url(&text, &file.place, scope),
            };
            urls.extend(asked.map(|asked| Listed { asked, hash }));
        }
        urls
    }
}

/// A request's templates with that of its URL, if it has one: the template of the whole URL with its
/// required origin, or of path and query.
fn with_url(
    templates: RequestTemplates,
    template: Option<Template>,
    origin: Option<String>,
) -> RequestTemplates {
    match (template, origin) {
        (Some(template), Some(origin)) => templates.with_reference(template, origin),
        (Some(template), None) => templates.with_target(template),
        (None, _) => templates,
    }
}

/// The fields of a request itself, in the template language of the request or of its pool. Files of
/// fields exist only for calls and add nothing here.
fn own_fields(
    request: &Request,
    may_read: &TemplateScope,
    pool: &Pool,
    scope: &mut Scope<'_>,
) -> HeaderFields {
    let own = request.data.templates.as_ref();
    let written = own.or(pool.settings.templates.as_ref());
    let templates = Templates::in_language(written, may_read, scope);
    let mut fields = HeaderFields::default();
    if let Fields::Listed(own) = &request.fields {
        for field in own {
            templates.add_header(field, &mut fields, scope);
        }
    }
    fields
}

/// The body of a request itself, if it has one. A key about its lines or their order implies a
/// body, which is then refused for lack of a payload, because the pool's body belongs to other
/// requests.
fn own_content(
    request: &Request,
    templates: &Templates<'_>,
    fields: &HeaderFields,
    scope: &mut Scope<'_>,
) -> Option<Content> {
    let data = &request.data;
    if data.payload.is_none() && data.lines.is_none() && data.order.is_none() {
        return None;
    }
    let written = WrittenBody {
        payload: data.payload.as_ref(),
        lines: &data.lines,
        order: data.order.as_ref(),
    };
    Some(templates.content(written, fields, scope))
}

/// Adds the Content-Type that follows from the way in which a body was written, unless a field
/// names another. The type of a body in parts has the boundary that was chosen for it, also if a field
/// gives the type itself: without the boundary, no server finds the parts.
fn add_media_type(content: &Content, fields: &mut HeaderFields) {
    let Some(media_type) = &content.media_type else {
        return;
    };
    if !fields.has("content-type") {
        let header = Header::new("Content-Type", media_type.as_bytes());
        fields.fixed.extend(header.ok());
        return;
    }
    let Some((_, boundary)) = media_type.split_once(';') else {
        return;
    };
    for field in fields
        .fixed
        .iter_mut()
        .filter(|field| field.is("content-type"))
    {
        let given = String::from_utf8_lossy(field.value());
        let own = given.split(';').next().unwrap_or_default().trim_end();
        let is_multipart = own
            .get(..10)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"));
        let whole = is_multipart.then(|| format!("{own};{boundary}"));
        let whole = whole.and_then(|whole| Header::new(field.name(), whole.as_bytes()).ok());
        if let Some(whole) = whole {
            *field = whole;
        }
    }
}

/// Notes fields that contradict a varying part, and removes the invalid ones: a Content-Length for
/// bodies of several lengths, and a second Host. The plan checks contradictions between fixed
/// fields.
fn check(request: &Request, fields: &mut HeaderFields, content: &Content, scope: &mut Scope<'_>) {
    let place = &request.ask.text().place;
    let given = fields.fixed.len();
    if content.varying.is_some() {
        fields.fixed.retain(|field| !field.is("content-length"));
    }
    let message = "Content-Length is computed for each varying body; leave it out";
    scope
        .found
        .add_if(fields.fixed.len() < given, place, message);
    let fixed = fields.fixed.iter().filter(|field| field.is("host")).count();
    let varying = fields.varying.iter();
    let varying = varying.filter(|field| field.name().eq_ignore_ascii_case("host"));
    let hosts = varying.count();
    let message = "more than one Host header; keep one";
    scope
        .found
        .add_if(hosts > 0 && fixed + hosts > 1, place, message);
}

/// The pool's target, to which paths are relative: scheme, host and port. A target with a path is
/// refused, because the path would be lost.
fn target(pool: &Pool, scope: &mut Scope<'_>) -> Option<Url> {
    let text = pool.settings.reach.target.as_ref()?;
    let url = match sockets::are_in(pool) {
        true => Url::parse(&sockets::over_http(text).value),
        false => Url::parse(&text.value),
    };
    let url = scope.found.ok(&text.place, url)?;
    if url.target != "/" {
        let message = format!(
            "the target has a path, `{}`; move it to the requests",
            url.target
        );
        scope.found.add(&text.place, message);
    }
    Some(url)
}

/// A URL of a list, with the expected hash of its body.
struct Listed {
    asked: Asked,
    hash: Option<Text>,
}

impl From<Asked> for Listed {
    fn from(asked: Asked) -> Self {
        Self { asked, hash: None }
    }
}

/// The inspection of the responses of a URL that has a hash. All other checks come from the request
/// and are compiled again with the hash, because an inspection is one value.
fn looks_with(
    hash: Text,
    request: &Request,
    pool: &Pool,
    may_read: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Looks {
    let mut request = request.clone();
    request.expect.body_hash = Some(hash);
    looks(&request, pool, may_read, scope)
}

/// A line of a list: a URL, optionally followed by the expected hash of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedLine<'a> {
    /// The URL.
    pub url: &'a str,
    /// An algorithm and a digest, such as `sha256 9f86…`.
    pub hash: Option<&'a str>,
}

impl<'a> HashedLine<'a> {
    /// Splits a line. The URL may be a template that contains blanks, so the hash is searched from
    /// the end, and not within a tag.
    #[must_use]
    pub fn parse(line: &'a str) -> Self {
        let starts = ALGORITHMS.iter().filter_map(|(name, _)| {
            let at = line.rfind(&format!(" {name} "))?;
            Some((at, !line[at..].contains("}}")))
        });
        let start = starts.filter(|(_, is_behind)| *is_behind).max();
        match start {
            None => Self {
                url: line,
                hash: None,
            },
            Some((at, _)) => Self {
                url: line[..at].trim_end(),
                hash: Some(line[at..].trim()),
            },
        }
    }
}

/// The message on a line with a method, as in other tools' lists of targets.
const METHOD: &str = "a list has one URL per line and no methods; set the method of all with -X, \
                      or `method` in a plan";

/// The message on a line of vegeta's lists that contains the file of a body.
const BODY: &str = "a list has one URL per line and no bodies; set the body of all with -d @FILE, \
                    or `body` in a plan";

/// Whether a line has a method before its URL, such as `GET http://…`. Lines of vegeta's targets
/// have this form, and the method would otherwise be part of the URL.
fn begins_with_method(line: &str) -> bool {
    let Some((method, rest)) = line.split_once(' ') else {
        return false;
    };
    let letters = method.bytes().all(|byte| byte.is_ascii_uppercase());
    letters && !method.is_empty() && (rest.contains("://") || rest.starts_with('/'))
}

/// The lines of a list that are not empty and do not begin with `#`, each with its place in a file
/// called `name`; or the mistake in a line. Lines are counted from 1 and trimmed. A list for
/// another tool, with a method before each URL or body files after them, is recognised and refused.
pub fn lines<'a>(bytes: &'a [u8], name: &str) -> Vec<(Place, Result<&'a str, String>)> {
    let name: Arc<str> = name.escape_debug().to_string().into();
    let mut found = Vec::new();
    let bytes = bytes.strip_prefix(utf8::BYTE_ORDER_MARK).unwrap_or(bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let place = Place::File {
            name: Arc::clone(&name),
            line: index as u64 + 1,
            column: 0,
            key: "".into(),
        };
        match utf8::text(line.trim_ascii()) {
            Err(what) => found.push((place, Err(format!("the line is {what}")))),
            Ok(line) if line.is_empty() || line.starts_with('#') => {}
            Ok(line) if line.starts_with('@') => found.push((place, Err(BODY.to_owned()))),
            Ok(line) if begins_with_method(line) => found.push((place, Err(METHOD.to_owned()))),
            Ok(line) => found.push((place, Ok(line))),
        }
    }
    found
}
