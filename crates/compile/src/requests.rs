//! HTTP requests: their targets and their contents.
//!
//! [`Requests`] is made once for a pool and then given each of its requests in the plan's order
//! ([`Requests::add`]). A request takes the pool's fields that it does not name and the pool's body
//! where it has none; those are compiled with the first request and used again. A list of URLs
//! becomes one request for each line, all with the same contents.
//!
//! A request that varies in any part gets [`RequestTemplates`], which render what varies; without
//! them the engine prepares its bytes once.
//!
//! A fixed body is held once however many requests send it, and a file that two of them name is
//! read once. A list of a million URLs is a million requests of the plan, each with a URL, a name
//! and shared parts.
//!
//! Rules of HTTP that a request can break by its fields are noted here ([`check`]), since only here
//! it is known which parts vary: a length beside a body that has many, two Hosts of which one is
//! rendered. Wrong bytes in fields and methods are refused where those are made, in `plan`.

use crate::ammo::AmmoRequests;
use crate::looks::{ALGORITHMS, Looks, looks};
use crate::made::{Made, Supply};
use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use crate::templates::{Asked, Content, HeaderFields, Templates, WrittenBody};
use crate::transport::span;
use drumfire_data::RequestTemplates;
use drumfire_document::{Ask, Fields, Place, Pool, Request, Text};
use drumfire_plan::{Header, HttpRequest, Method, RequestData, Url};
use drumfire_units::utf8;
use std::sync::Arc;

/// The compiler of a pool's HTTP requests, with the settings that they share.
///
/// It is used in one order: [`Requests::new`] reads the target, and [`Requests::add`] is then
/// called for each request. Between two calls it keeps the pool's own fields and body as they were
/// compiled, and nothing of the requests: those are in the [`Made`] that the caller keeps.
pub(crate) struct Requests<'a> {
    /// The pool, its settings filled from the defaults.
    pool: &'a Pool,
    /// The target to which paths are relative; `None` where none was written or a mistake was
    /// noted.
    target: Option<Url>,
    /// The pool's own fields and body, once the first request has compiled them.
    common: Option<Common>,
}

/// The fields and the body of a pool, for requests that have none of their own. They are compiled
/// once and copied for each request: templates are shared, and only lists are copied.
struct Common {
    fields: HeaderFields,
    content: Content,
}

impl<'a> Requests<'a> {
    /// The compiler of a pool's requests. The target is read once, with its mistakes.
    pub(crate) fn new(pool: &'a Pool, scope: &mut Scope<'_>) -> Self {
        let target = target(pool, scope);
        Self {
            pool,
            target,
            common: None,
        }
    }

    /// Compiles the fields and the body of the pool, whose templates may read what this scope has.
    /// Mistakes in them are noted once, and not with each request.
    fn common(&self, templates: &TemplateScope, scope: &mut Scope<'_>) -> Common {
        let settings = &self.pool.settings;
        let templates = Templates::of(settings.templates.as_ref(), templates, scope);
        let mut fields = HeaderFields::default();
        for field in &settings.fields.headers {
            templates.add(field, &mut fields, scope);
        }
        let body = WrittenBody {
            payload: settings.body.payload.as_ref(),
            lines: &settings.body.lines,
            order: settings.body.order.as_ref(),
        };
        let content = templates.content(body, &fields, scope);
        Common { fields, content }
    }

    /// Adds a request, or all of a list. The first one decides what the pool's own templates may
    /// read, for they are part of it.
    pub(crate) fn add(
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
        self.add_with(&common, request, may_read, made, scope);
        self.common = Some(common);
    }

    /// Compiles one request over the pool's fields and body, and adds it with each URL that it has.
    ///
    /// Every part is compiled even where another one had a mistake, since all mistakes are to be
    /// found; the request is left out at the end.
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
            // A mistake was noted where there is none.
            let _made = requests.add(may_read, made, scope);
            return;
        }
        let own = request.data.templates.as_ref();
        let written = own.or(self.pool.settings.templates.as_ref());
        let templates = Templates::of(written, may_read, scope);
        let (method, asked) = match &request.ask {
            Ask::Url { method, url } => {
                let asked = self.asked(url, &templates, scope);
                (method, asked.into_iter().map(Listed::from).collect())
            }
            Ask::List { method, file } => (method, self.listed(file, &templates, scope)),
            // Pools of calls are compiled elsewhere, and mixed ones were refused.
            Ask::Call(_) | Ask::Ammo(_) => return,
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
            let data = match asked.template {
                Some(template) => match asked.origin {
                    Some(origin) => varying.clone().with_reference(template, origin),
                    None => varying.clone().with_target(template),
                },
                None => varying.clone(),
            };
            let supply = Supply::of_templates(&data);
            let data = Arc::new(data) as Arc<dyn RequestData>;
            let request = HttpRequest {
                step: match &request.name {
                    Some(name) => name.value.clone(),
                    None => asked.step,
                },
                data: (!data.is_fixed()).then_some(data),
                call: None,
                timeout,
                expect: looks.expect,
                inspection: looks.inspection,
                method: method.clone(),
                headers: fields.fixed.clone(),
                body: fixed_body.clone(),
                url: asked.url,
            };
            made.add(request, supply, place);
        }
    }

    /// The URL that a text asks for: a whole one, or a path at the pool's target. `None` where a
    /// mistake was noted.
    ///
    /// A text that begins with a template may give either, and is tried as a reference to the
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
            // The flaws of one that was written are noted already.
            let missing = self.pool.settings.reach.target.is_none();
            let message =
                "a path needs a `target`; write one such as https://shop.test, or a whole URL";
            scope.found.add_if(missing, &text.place, message);
            return None;
        };
        templates.path(text, target, scope)
    }

    /// The URLs of a list, one a line, or paths at the pool's target; empty lines and lines that
    /// begin with `#` are passed over.
    ///
    /// A line is a text with a place of its own, so that each mistake has its line; a URL that is a
    /// template is compiled like one of the document. A list without any URL is a mistake.
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
            let HashedLine { url, hash } = HashedLine::of(line);
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

/// The fields of a request itself, in the request's own language of templates or its pool's. A file
/// of fields is for calls alone and adds none here.
fn own_fields(
    request: &Request,
    may_read: &TemplateScope,
    pool: &Pool,
    scope: &mut Scope<'_>,
) -> HeaderFields {
    let own = request.data.templates.as_ref();
    let written = own.or(pool.settings.templates.as_ref());
    let templates = Templates::of(written, may_read, scope);
    let mut fields = HeaderFields::default();
    if let Fields::Listed(own) = &request.fields {
        for field in own {
            templates.add(field, &mut fields, scope);
        }
    }
    fields
}

/// The body of a request itself, if it has one. A key on its lines or their order alone makes one,
/// which is then refused for the lack of a payload: the pool's body is another's.
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
/// names another. The type of a body in parts has the boundary that was chosen for it.
fn add_media_type(content: &Content, fields: &mut HeaderFields) {
    if let Some(media_type) = &content.media_type
        && !fields.has("content-type")
    {
        let header = Header::new("Content-Type", media_type.as_bytes());
        fields.fixed.extend(header.ok());
    }
}

/// Notes fields that contradict a part that varies, and takes out the ones that would be wrong: a
/// Content-Length beside bodies of several lengths, and a Host of which there are two.
/// Contradictions between fixed fields are the plan's to find.
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

/// The pool's target, to which paths are relative: scheme, host and port. A path of its own would
/// be lost, and is refused.
fn target(pool: &Pool, scope: &mut Scope<'_>) -> Option<Url> {
    let text = pool.settings.reach.target.as_ref()?;
    let url = scope.found.ok(&text.place, Url::parse(&text.value))?;
    if url.target != "/" {
        let message = format!(
            "the target has a path, `{}`; move it to the requests",
            url.target
        );
        scope.found.add(&text.place, message);
    }
    Some(url)
}

/// A URL of a list, with the hash that its body must have.
struct Listed {
    asked: Asked,
    hash: Option<Text>,
}

impl From<Asked> for Listed {
    fn from(asked: Asked) -> Self {
        Self { asked, hash: None }
    }
}

/// The inspection of the responses of a URL that has a hash of its own. All other checks are those
/// of the request, and are compiled once more with it: an inspection is one value.
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

/// A line of a list: a URL, and behind it, where there is one, the hash that its body must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedLine<'a> {
    /// The URL.
    pub url: &'a str,
    /// An algorithm and a digest, such as `sha256 9f86…`.
    pub hash: Option<&'a str>,
}

impl<'a> HashedLine<'a> {
    /// Takes a line apart. A URL may be a template and have blanks, so that a hash is looked for
    /// from the end, and not within a tag.
    #[must_use]
    pub fn of(line: &'a str) -> Self {
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

/// The message on a line of other tools' lists of targets, which have methods.
const METHOD: &str = "a list has one URL per line and no methods; set the method of all with -X, \
                      or `method` in a plan";

/// The message on a line of vegeta's lists, which names the file of a body.
const BODY: &str = "a list has one URL per line and no bodies; set the body of all with -d @FILE, \
                    or `body` in a plan";

/// Whether a line has a method before its URL: `GET http://…`. vegeta's targets are written so, and
/// their method would otherwise be a part of the URL.
fn begins_with_method(line: &str) -> bool {
    let Some((method, rest)) = line.split_once(' ') else {
        return false;
    };
    let letters = method.bytes().all(|byte| byte.is_ascii_uppercase());
    letters && !method.is_empty() && (rest.contains("://") || rest.starts_with('/'))
}

/// The lines of a list that are not empty and do not begin with `#`, each with its place in a file
/// called `name`; or the mistake in one. Lines are counted from 1 and trimmed; the list of another
/// tool, with a method before each URL or files of bodies behind them, is recognised and refused.
pub fn lines<'a>(bytes: &'a [u8], name: &str) -> Vec<(Place, Result<&'a str, String>)> {
    let name: Arc<str> = name.escape_default().to_string().into();
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
