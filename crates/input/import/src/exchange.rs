//! Requests independent of the form, and the resulting document.

use crate::notes::Notes;
use crate::{Imported, Wishes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::{
    Ask, CommonFields, Document, Field, Fields, Load, Part, PartContent as Content, Payload, Place,
    Placed, Pool, Request, RequestStep, Step, Stop, Text,
};
use drumfire_plan::{Header, Method, Url};
use drumfire_units::Nanos;
use std::collections::BTreeMap;

/// The default target, which is the address of `drumfire serve`.
pub(crate) const TARGET_DEFAULT: &str = "http://127.0.0.1:8080";
/// The beginnings of templates.
const TAGS: [&str; 3] = ["{{", "{%", "{#"];
/// The placeholder in examples for an id that each request generates. It contains characters that
/// do not occur in texts.
pub(crate) const MADE_UUID: &str = "\u{10fffe}uuid\u{10fffe}";
/// The maximum nesting depth of variables.
const DEPTH_MAX: usize = 8;
/// The name of the only pool.
const POOL: &str = "main";

/// A text of a document: literal, or with references and templates of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Literal text.
    Plain(String),
    /// Text with references and templates.
    Plan(String),
}

impl Words {
    pub(crate) fn plain(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }

    /// A text of an imported description, in which only [`MADE_UUID`] is a placeholder: the
    /// description can't refer to files and variables of the machine that reads it, and its
    /// examples are literal.
    pub(crate) fn of_document(text: &str) -> Self {
        let plan = literal(text);
        Self::Plan(plan.replace(MADE_UUID, "{{ uuid }}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        let (Self::Plain(text) | Self::Plan(text)) = self;
        text
    }

    /// The text in a form that can be combined with references.
    pub(crate) fn in_plan(&self) -> String {
        match self {
            Self::Plain(text) => text.replace("${", "$${"),
            Self::Plan(text) => text.clone(),
        }
    }

    /// Whether literal text looks like a template.
    fn looks_like_template(&self) -> bool {
        let has_tag = |text: &str| TAGS.iter().any(|tag| text.contains(tag));
        matches!(self, Self::Plain(text) if has_tag(text))
    }

    /// The text as a value of a document.
    pub(crate) fn text(&self) -> Text {
        let mut text = placed(self.as_str().to_owned());
        if let Self::Plan(written) = self
            && written.contains("${")
        {
            text.written = Some(written.as_str().into());
        }
        text
    }
}

/// Escapes a text for a plan: nothing in it is a reference or a template.
pub(crate) fn literal(text: &str) -> String {
    let plan = text.replace("${", "$${");
    if !TAGS.iter().any(|tag| plan.contains(tag)) {
        return plan;
    }
    // Each opening tag is quoted separately, as a template's own text.
    plan.split_inclusive('{')
        .fold(String::new(), |mut out, part| {
            if out.ends_with('{') && part.starts_with(['{', '%', '#']) {
                out.pop();
                out.push_str("{{ '{' }}");
            }
            out.push_str(part);
            out
        })
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Text(Words),
    File(String),
    /// Bytes, in base64.
    Base64(String),
    /// JSON, as a tree.
    Json(Words),
    Form(Vec<(String, Words)>),
    /// Several parts, possibly with files.
    Parts(Vec<FormPart>),
}

/// A part of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FormPart {
    pub(crate) name: String,
    pub(crate) content: PartBody,
    /// The file name for the server, if it differs from the file's.
    pub(crate) file_name: Option<String>,
    /// The media type, if there is one.
    pub(crate) media_type: Option<String>,
}

/// The content of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartBody {
    Text(Words),
    /// The path of a file.
    File(String),
}

impl FormPart {
    /// A text part.
    pub(crate) const fn text(name: String, words: Words) -> Self {
        Self {
            name,
            content: PartBody::Text(words),
            file_name: None,
            media_type: None,
        }
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) method: String,
    /// A complete URL, or a path at the target.
    pub(crate) url: Words,
    pub(crate) name: Option<String>,
    pub(crate) headers: Vec<(String, Words)>,
    pub(crate) body: Option<Body>,
    pub(crate) weight: Option<u64>,
    /// The pause before the request.
    pub(crate) pause: Option<Nanos>,
}

impl Exchange {
    pub(crate) fn new(method: &str, url: Words) -> Self {
        Self {
            method: method.to_ascii_uppercase(),
            url,
            name: None,
            headers: Vec::new(),
            body: None,
            weight: None,
            pause: None,
        }
    }

    /// Whether a field has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    /// Uses parts as the body. A written media type is dropped, because it lacks the boundary.
    pub(crate) fn take_parts(&mut self, parts: Vec<FormPart>) -> Body {
        self.headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        Body::Parts(parts)
    }

    /// The request of a document, without the fields that all requests share.
    fn request(self, common: &[(String, Words)]) -> Request {
        let own = self.headers.iter().filter(|field| !common.contains(field));
        let fields: Vec<Field> = own.map(|(name, value)| field(name, value)).collect();
        let looks = |words: &Words| words.looks_like_template();
        let body_looks = match &self.body {
            Some(Body::Text(words) | Body::Json(words)) => looks(words),
            Some(Body::Form(fields)) => fields.iter().any(|(_, value)| looks(value)),
            Some(Body::Parts(parts)) => parts.iter().any(|part| match &part.content {
                PartBody::Text(words) => looks(words),
                PartBody::File(_) => false,
            }),
            _ => false,
        };
        let is_taken_for_template =
            body_looks || looks(&self.url) || self.headers.iter().any(|(_, value)| looks(value));
        let mut request = Request::new(Ask::Url {
            method: placed(self.method),
            url: self.url.text(),
        });
        request.name = self.name.map(placed);
        request.weight = self.weight.map(placed);
        request.fields = Fields::Listed(fields);
        request.data.payload = self.body.map(Body::payload);
        request.data.templates = is_taken_for_template.then(|| placed("none".to_owned()));
        request
    }
}

impl Body {
    /// The size in bytes, if it is known without the plan.
    fn length(&self) -> Option<usize> {
        match self {
            Self::Text(Words::Plain(text)) => Some(text.len()),
            Self::Base64(text) => STANDARD.decode(text).ok().map(|bytes| bytes.len()),
            _ => None,
        }
    }

    fn payload(self) -> Payload {
        match self {
            Self::Text(words) => Payload::Text(words.text()),
            Self::File(path) => Payload::File(placed(path)),
            Self::Base64(text) => Payload::Base64(placed(text)),
            Self::Json(words) => Payload::Json(words.text()),
            Self::Form(fields) => {
                let fields = fields.iter().map(|(name, value)| field(name, value));
                Payload::Form(fields.collect())
            }
            Self::Parts(parts) => Payload::Multipart(parts.into_iter().map(part).collect()),
        }
    }
}

/// A part of a body in the document.
fn part(part: FormPart) -> Part {
    Part {
        name: placed(part.name),
        content: match part.content {
            PartBody::Text(words) => Content::Text(words.text()),
            PartBody::File(path) => Content::File(placed(path)),
        },
        file_name: part.file_name.map(placed),
        media_type: part.media_type.map(placed),
    }
}

/// Requests, their common settings, and notes on omitted parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportedRequests {
    pub(crate) requests: Vec<Exchange>,
    /// The target of requests with only a path.
    pub(crate) target: Option<Words>,
    pub(crate) vars: Vec<(String, Words)>,
    /// Settings for all requests: of the connection, of TLS.
    pub(crate) document: Document,
    pub(crate) notes: Notes,
}

impl ImportedRequests {
    /// Adds a note, unless it already exists.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.add(note);
    }

    /// Removes the requests to hosts other than the first one's.
    pub(crate) fn keep_one_host(&mut self) {
        let host = |request: &Exchange| {
            let (origin, _) = origin(request.url.as_str())?;
            let origin = origin.to_ascii_lowercase();
            let port = if origin.starts_with("https:") {
                ":443"
            } else {
                ":80"
            };
            let host = host_of(&origin);
            Some(host.strip_suffix(port).unwrap_or(host).to_owned())
        };
        let Some(first) = self.requests.iter().find_map(host) else {
            return;
        };
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        self.requests.retain(|request| match host(request) {
            Some(other) if other != first => {
                *others.entry(other).or_default() += 1;
                false
            }
            _ => true,
        });
        for (other, count) in others {
            let (requests, are) = if count == 1 {
                ("request", "is")
            } else {
                ("requests", "are")
            };
            self.note(format!(
                "{count} {requests} to {other} {are} left out, because the first one goes to \
                 {first}; use --all to keep them"
            ));
        }
    }

    /// Builds the document; a requested target replaces all others.
    pub(crate) fn into_document(mut self, wishes: &Wishes) -> Result<Imported, String> {
        self.drop_impossible();
        if self.requests.is_empty() {
            return Err(match self.notes.is_empty() {
                true => "it has no requests".to_owned(),
                false => format!("it has no requests: {}", self.notes.sentences().join("; ")),
            });
        }
        self.drop_own_fields();
        if let Some(error) = wishes.target.as_deref().and_then(wrong_target) {
            return Err(error);
        }
        let target = self.common_target(wishes);
        let common = self.common_fields();
        let has_pauses = self.requests.iter().any(|request| request.pause.is_some());
        let mut pool = Pool {
            name: placed(POOL.to_owned()),
            ..Pool::default()
        };
        for request in self.requests {
            let pause = request.pause;
            let request = request.request(&common);
            if has_pauses {
                let pause = pause.filter(|pause| *pause > Nanos::ZERO);
                pool.scenario
                    .extend(pause.map(|pause| Step::Pause(placed(milliseconds(pause)))));
                pool.scenario.push(Step::Request(Box::new(RequestStep {
                    request,
                    on_fail: None,
                })));
            } else {
                pool.requests.push(request);
            }
        }
        (pool.load, self.document.stop) = load(has_pauses);
        let mut document = self.document;
        let defaults = &mut document.defaults;
        defaults.reach.target = target.map(|target| target.text());
        defaults.fields = CommonFields {
            headers: common
                .iter()
                .map(|(name, value)| field(name, value))
                .collect(),
            ..CommonFields::default()
        };
        document.vars = self
            .vars
            .iter()
            .map(|(name, value)| field(name, value))
            .collect();
        document.pools.push(pool);
        Ok(Imported {
            document,
            notes: self.notes.sentences(),
        })
    }

    /// Removes requests and fields that can't be sent, because one of them would invalidate the
    /// whole plan.
    fn drop_impossible(&mut self) {
        let mut notes = std::mem::take(&mut self.notes);
        self.requests.retain_mut(|request| {
            let shown = |text: &str| text.chars().take(80).collect::<String>();
            let wrong_method = Method::parse(&request.method)
                .err()
                .map(|error| error.to_string());
            let wrong = wrong_method.or_else(|| wrong_url(&request.url, &self.vars));
            if let Some(why) = wrong {
                let place =
                    || format!("{} {}", shown(&request.method), shown(request.url.as_str()));
                notes.add_at(format!("a request is left out, because {why}"), place);
                return false;
            }
            let name = request.name.as_deref().unwrap_or(request.url.as_str());
            request.headers.retain(|(field, value)| {
                let value = match value {
                    Words::Plain(value) => value.as_bytes(),
                    Words::Plan(_) => b"",
                };
                let error = match field.strip_prefix(':') {
                    // HTTP/2's pseudo-header fields, which are removed without a note.
                    Some(_) => None,
                    None => Header::new(field, value).err(),
                };
                if let Some(error) = &error {
                    let place = || format!("`{}` of {}", shown(field), shown(name));
                    notes.add_at(format!("a header is left out: {error}"), place);
                }
                error.is_none()
            });
            true
        });
        self.notes = notes;
    }

    /// Removes fields that the program writes itself. A `Host` that differs from the URL's is kept.
    fn drop_own_fields(&mut self) {
        let mut notes = std::mem::take(&mut self.notes);
        for request in &mut self.requests {
            let host = origin(request.url.as_str()).map(|(origin, _)| host_of(origin).to_owned());
            let length = match &request.body {
                Some(body) => body.length(),
                None => Some(0),
            };
            let shown = request.name.as_deref().unwrap_or(request.url.as_str());
            request.headers.retain(|(name, value)| {
                let lower = name.to_ascii_lowercase();
                let is_own = match lower.as_str() {
                    "host" => host.as_deref() == Some(value.as_str()),
                    lower => Header::is_framing(lower) || lower.starts_with(':'),
                };
                match lower.as_str() {
                    "content-length" => {
                        note_length(value.as_str(), length, &mut notes, shown);
                    }
                    "host" => {}
                    lower if is_own && !lower.starts_with(':') => notes.add(format!(
                        "the field `{name}` is left out: it belongs to a connection"
                    )),
                    _ => {}
                }
                !is_own
            });
        }
        self.notes = notes;
    }

    /// The target of most requests; the URLs of these requests become paths.
    fn common_target(&mut self, wishes: &Wishes) -> Option<Words> {
        let wished = wishes
            .target
            .as_deref()
            .map(|target| target.trim_end_matches('/'));
        let first = self
            .requests
            .iter()
            .find_map(|request| origin(request.url.as_str()));
        let first_origin = first.is_some();
        let target = match (wished, &self.target, first) {
            (Some(wished), _, _) => Words::plain(wished),
            (None, Some(target), _) => target.clone(),
            (None, None, Some((origin, _))) => Words::plain(origin),
            (None, None, None) => Words::plain(TARGET_DEFAULT),
        };
        let is_named = wished.is_some() || self.target.is_some() || first_origin;
        let mut has_paths = false;
        for request in &mut self.requests {
            let path = match (wished, &request.url) {
                (Some(_), url) => path_at(url.as_str(), &self.vars),
                (None, Words::Plain(url)) => origin(url)
                    .filter(|(origin, _)| *origin == target.as_str())
                    .map(|(_, path)| path),
                (None, Words::Plan(_)) => None,
            };
            let (Words::Plain(url) | Words::Plan(url)) = &mut request.url;
            if let Some(path) = path {
                *url = path;
            }
            has_paths |= url.starts_with('/');
        }
        if has_paths && !is_named {
            self.note(format!(
                "it has no target, so the plan uses {TARGET_DEFAULT}; use --target to set another"
            ));
        }
        has_paths.then_some(target)
    }

    /// The fields that all requests share, in the order of the first request.
    fn common_fields(&self) -> Vec<(String, Words)> {
        let [first, others @ ..] = self.requests.as_slice() else {
            return Vec::new();
        };
        if others.is_empty() {
            return Vec::new();
        }
        let once = |name: &str, request: &Exchange| {
            let named = request
                .headers
                .iter()
                .filter(|(own, _)| own.eq_ignore_ascii_case(name));
            named.count() == 1
        };
        let is_common = |field: &&(String, Words)| {
            let (name, value) = field;
            !name.eq_ignore_ascii_case("content-type")
                && !value.looks_like_template()
                && once(name, first)
                && others
                    .iter()
                    .all(|other| other.headers.contains(field) && once(name, other))
        };
        first.headers.iter().filter(is_common).cloned().collect()
    }
}

/// Notes a `Content-Length` that differs from the size of the body, if that is known: a part of the
/// body may be missing.
fn note_length(given: &str, length: Option<usize>, notes: &mut Notes, place: &str) {
    let differs = length.is_some_and(|length| given.trim().parse::<usize>() != Ok(length));
    if let Some(length) = length.filter(|_| differs) {
        let body = match length {
            0 => "the request has no body".to_owned(),
            1 => "the body has 1 byte".to_owned(),
            length => format!("the body has {length} bytes"),
        };
        let given: String = given.chars().take(40).collect();
        notes.add_at(
            format!("the field `Content-Length: {given}` is left out, because {body}"),
            || place.chars().take(80).collect(),
        );
    }
}

/// The reason why a request's URL is invalid after its references are replaced; environment
/// variables are replaced by their defaults.
fn wrong_url(url: &Words, vars: &[(String, Words)]) -> Option<String> {
    let text = match url {
        Words::Plain(text) => text.clone(),
        Words::Plan(text) => filled(text, vars, 0),
    };
    let is_path = text.starts_with('/');
    let origin = if is_path { TARGET_DEFAULT } else { "" };
    let error = Url::parse(&format!("{origin}{text}")).err()?;
    Some(error.to_string())
}

/// Why a text can't be the target of a plan.
fn wrong_target(text: &str) -> Option<String> {
    let text = text.trim_end_matches('/');
    match Url::parse(text) {
        Err(error) => Some(format!("--target: {error}")),
        Ok(_) => match origin(text) {
            Some((origin, _)) if origin.len() < text.len() => Some(format!(
                "--target: the target has a path, `{}`; write {origin}, and add the path to the requests",
                &text[origin.len()..]
            )),
            _ => None,
        },
    }
}

/// A text of a plan with its references filled, and a letter for each template.
fn filled(text: &str, vars: &[(String, Words)], depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '{']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        if let Some(literal) = from.strip_prefix("$${") {
            out.push_str("${");
            rest = literal;
        } else if let Some((name, behind)) =
            from.strip_prefix("${").and_then(|it| it.split_once('}'))
        {
            let usual = name.split_once(":-").map(|(_, usual)| usual.to_owned());
            let var = vars.iter().find(|(own, _)| own == name);
            let value = var
                .filter(|_| depth < DEPTH_MAX)
                .map(|(_, value)| match value {
                    Words::Plain(value) => value.clone(),
                    Words::Plan(value) => filled(value, vars, depth + 1),
                });
            out.push_str(&value.or(usual).unwrap_or_else(|| "x".to_owned()));
            rest = behind;
        } else if let Some((_, behind)) = from.strip_prefix("{{").and_then(|it| it.split_once("}}"))
        {
            out.push('x');
            rest = behind;
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    out + rest
}

/// An initial load, and its end.
fn load(is_scenario: bool) -> (Load, Stop) {
    let some = |text: &str| Some(placed(text.to_owned()));
    let stop = Stop {
        after: some("10s"),
        ..Stop::default()
    };
    let load = match is_scenario {
        true => Load {
            users: some("1"),
            ..Load::default()
        },
        false => Load {
            rate: some("10/s"),
            ..Load::default()
        },
    };
    (load, stop)
}

/// A time in milliseconds.
fn milliseconds(time: Nanos) -> String {
    format!("{}ms", time.0 / 1_000_000)
}

fn field(name: &str, value: &Words) -> Field {
    Field {
        name: placed(name.to_owned()),
        value: value.text(),
    }
}

/// A value without a place.
pub(crate) const fn placed<T>(value: T) -> Placed<T> {
    Placed::new(value, Place::Nowhere)
}

/// A URL's origin, and its path with the query; the fragment is dropped.
pub(crate) fn origin(url: &str) -> Option<(&str, String)> {
    let at = url.find("://")? + 3;
    let end = url[at..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |end| at + end);
    let path = url[end..].split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((&url[..end], format!("{slash}{path}")))
}

/// The path of a URL, which may begin with a reference to the target.
fn path_at(url: &str, vars: &[(String, Words)]) -> Option<String> {
    let Some((name, rest)) = url.strip_prefix("${").and_then(|url| url.split_once('}')) else {
        return origin(url).map(|(_, path)| path);
    };
    let of_var = vars.iter().find(|(own, _)| own == name);
    let base = of_var.and_then(|(_, value)| origin(value.as_str()));
    let base = base.map_or_else(String::new, |(_, path)| path);
    let path = format!("{}{rest}", base.trim_end_matches('/'));
    path.starts_with('/').then_some(path)
}

/// The host and port of an origin, without the user.
fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}
