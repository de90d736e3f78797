//! Templates in HTTP requests: in a URL's path and query, in header fields, in bodies.
//!
//! Each template is compiled and rendered for the first request, so that a mistake is found before
//! the run, with its place. Rendered values are checked like written ones: a target is completed to
//! a valid one, and a field must be valid in HTTP. A text without tags is not a template and costs
//! nothing later.
//!
//! Host and port can't vary, because connections are opened before any request is rendered. A whole
//! URL may come from a response ([`Templates::reference`]), and must then have the origin of the
//! pool's target: a page must not choose the target of the load.
//!
//! Messages quote templates, and some quotations are secrets. A URL is masked in messages
//! ([`named`]), and a field with the name of a secret is quoted without its text ([`of_field`]).
//!
//! [`Templates::in_language`] is called once for a pool and once for each request, with the written
//! language. The compiler of requests then calls it part by part, in this order:
//! [`Templates::url`], [`Templates::path`] or [`Templates::reference`] for the target,
//! [`Templates::add_header`] for each field and [`Templates::content`] for the body, whose kind may
//! depend on a field. Each method returns the fixed part for the plan and its templates. Nothing
//! here is called during the run.
//!
//! A part with a mistake is left out of the result, and the other parts are compiled. A result is
//! therefore valid only while the scope has no mistakes.

use crate::json_template;
use crate::metadata;
use crate::scope::{Scope, is_on, place_of};
use crate::template_scope::TemplateScope;
use crate::web_form::{self, TagMeaning};
use drumfire_data::{Bodies, BodyPiece, FieldTemplate, Order, Template, Text as Kind};
use drumfire_document::names;
use drumfire_document::{Field, Payload, Place, Switch, Text};
use drumfire_plan::{Body, Header, Method, Url, secret};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The compiler of a pool's or a request's templates: the values that they may read, and whether
/// templates are on. It has no other state and may be copied; its scope decides what a text may
/// read.
#[derive(Clone, Copy)]
pub(crate) struct Templates<'a> {
    scope: &'a TemplateScope,
    /// False with `templates: none`, which uses all texts literally.
    is_on: bool,
}

/// The URL of a request, and the template of its path and query, if any. `url` is complete in
/// either case: with a template, it has the origin for the connection, and a target that is
/// replaced for each request.
pub(crate) struct Asked {
    /// The URL in the plan.
    pub(crate) url: Url,
    /// The template of path and query, or of the whole URL if `origin` is set.
    pub(crate) template: Option<Template>,
    /// The required origin of the rendered URL, if the template may give a whole URL.
    pub(crate) origin: Option<String>,
    /// The name under which the requests are reported.
    pub(crate) step: String,
}

/// Header fields, with the varying ones separate. Each of the two kinds keeps the order of the
/// document, but the order between the kinds is lost.
#[derive(Clone, Default)]
pub(crate) struct HeaderFields {
    pub(crate) fixed: Vec<Header>,
    pub(crate) varying: Vec<FieldTemplate>,
}

/// The body of a request: fixed bytes for the plan, or varying bodies, never both.
#[derive(Clone, Default)]
pub(crate) struct Content {
    /// Empty if the body varies.
    pub(crate) body: Body,
    pub(crate) varying: Option<Arc<Bodies>>,
    /// The media type that follows from the form of the body. `None` for a plain text or a file,
    /// whose type only a field of the document can set.
    pub(crate) media_type: Option<MediaType>,
}

impl Content {
    /// The fixed body of a request with this method.
    pub(crate) fn fixed_for(&self, method: &Method) -> Body {
        match &self.body.0 {
            None if self.varying.is_none() && method.expects_content() => {
                Body(Some(Arc::default()))
            }
            _ => self.body.clone(),
        }
    }
}

/// The bytes of a body as written.
struct BodyBytes {
    bytes: Arc<[u8]>,
    /// The media type that follows from the form of the body.
    media_type: Option<MediaType>,
    /// The non-UTF-8 ranges, which separate the others.
    binaries: Vec<Range<usize>>,
}

/// A media type, optionally with a boundary.
type MediaType = Cow<'static, str>;

/// The keys of a document that describe a body.
#[derive(Clone, Copy)]
pub(crate) struct WrittenBody<'a> {
    pub(crate) payload: Option<&'a Payload>,
    pub(crate) lines: &'a Option<Switch>,
    pub(crate) order: Option<&'a Text>,
}

impl<'a> Templates<'a> {
    /// Returns the templates in the written language; the default is the native one.
    pub(crate) fn in_language(
        written: Option<&Text>,
        templates: &'a TemplateScope,
        scope: &mut Scope<'_>,
    ) -> Self {
        let words = [("jinja", true), ("none", false)];
        let is_on = scope.word(written, &words, "HTTP template language");
        Self {
            scope: templates,
            is_on: is_on.unwrap_or(true),
        }
    }

    /// Whether a text must be compiled; a text without tags is sent unchanged.
    fn is_template(&self, text: &str) -> bool {
        self.is_on && !Template::is_static(text)
    }

    /// Compiles and tries a template. `place` is where a document can switch templates off, for the
    /// hint in the message.
    fn compile(&self, source: &str, kind: Kind, place: &Place) -> Result<Template, String> {
        let template = Template::compile(source, kind, &self.scope.sources).map_err(|error| {
            let say = names::setting(place, "templates", "none");
            format!("{error}; use {say} to send it as it is")
        })?;
        self.scope.tried(&template, place)?;
        Ok(template)
    }

    /// The request for a whole URL. `place` is where a document can switch templates off: for a
    /// line of a list, it is the key of the list.
    ///
    /// The URL is split where its path begins, and the part before must be fixed. A tag in the host
    /// is therefore found without compiling anything.
    pub(crate) fn url(&self, text: &Text, place: &Place, scope: &mut Scope<'_>) -> Option<Asked> {
        if !self.is_template(&text.value) {
            let url = scope.found.ok(&text.place, Url::parse(&text.value))?;
            return Some(Asked::fixed(url));
        }
        let (base, tail) = cut(&text.value);
        let url = if Template::is_static(base) {
            Url::parse(base).map_err(|error| error.to_string())
        } else {
            let say = names::setting(place, "templates", "none");
            Err(named(
                text,
                format!(
                    "a template is allowed only in the path and query; use {say} to send it as it \
                     is"
                ),
            ))
        };
        let url = scope.found.ok(&text.place, url)?;
        self.target(text, tail, url, place, scope)
    }

    /// The request for a path at a target, with the target's origin and its user information. The
    /// request is reported under its path as written, which is shorter than the URL and
    /// distinguishes the requests of a pool.
    pub(crate) fn path(&self, text: &Text, target: &Url, scope: &mut Scope<'_>) -> Option<Asked> {
        let asked = if self.is_template(&text.value) {
            self.target(text, &text.value, target.clone(), &text.place, scope)?
        } else {
            let whole = format!("{}{}", target.origin, text.value);
            let url = scope.found.ok(&text.place, Url::parse(&whole))?;
            Asked::fixed(Url {
                userinfo: target.userinfo.clone(),
                ..url
            })
        };
        Some(asked.named_by(&text.value))
    }

    /// The request for a template of path and query at an origin. All URLs of the template are
    /// reported as one step, under the template's text.
    fn target(
        &self,
        text: &Text,
        tail: &str,
        url: Url,
        place: &Place,
        scope: &mut Scope<'_>,
    ) -> Option<Asked> {
        let made = self.compile(tail, Kind::Plain, place).and_then(|template| {
            if let Some(mut target) = self.scope.tried(&template, place)? {
                let complete = Url::complete_target(&mut target);
                complete.map_err(|error| error.to_string())?;
            }
            Ok(template)
        });
        let made = made.map_err(|error| named(text, error));
        let template = scope.found.ok(&text.place, made)?;
        let step = secret::url(&format!("{}{tail}", url.origin));
        Some(Asked {
            url,
            template: Some(template),
            origin: None,
            step,
        })
    }

    /// The request for a template that gives a path at a target, or a URL there, such as one from a
    /// response.
    pub(crate) fn reference(
        &self,
        text: &Text,
        target: &Url,
        scope: &mut Scope<'_>,
    ) -> Option<Asked> {
        let made = self.compile(&text.value, Kind::Plain, &text.place);
        let made = made.map_err(|error| named(text, error));
        let template = scope.found.ok(&text.place, made)?;
        let origin = target.origin.to_string();
        Some(Asked {
            url: target.clone(),
            template: Some(template),
            step: secret::url(&text.value),
            origin: Some(origin),
        })
    }

    /// Whether a text begins with a template, and may therefore give a whole URL or a path.
    pub(crate) fn begins(&self, text: &str) -> bool {
        self.is_template(text) && text.trim_start().starts_with("{{")
    }

    /// Adds a fixed or a varying header field to the fields of a request. A value that is the same
    /// for all requests is checked once, here.
    pub(crate) fn add_header(
        &self,
        field: &Field,
        fields: &mut HeaderFields,
        scope: &mut Scope<'_>,
    ) {
        let place = &field.value.place;
        let (name, value) = (field.name.value.trim(), field.value.value.as_str());
        if !self.is_template(value) {
            let header = Header::new(name, value.as_bytes());
            fields.fixed.extend(scope.found.ok(place, header));
            return;
        }
        let made = self.field(name, value, place);
        fields.varying.extend(scope.found.ok(place, made));
    }

    /// Metadata fields, with the varying ones separate; fixed fields are checked immediately.
    pub(crate) fn metadata(&self, written: &[Field], scope: &mut Scope<'_>) -> HeaderFields {
        let mut fields = HeaderFields::default();
        for field in written {
            // Names are sent in lower case, as in HTTP/2.
            let mut field = field.clone();
            field.name.value.make_ascii_lowercase();
            match self.is_template(&field.value.value) {
                true => self.add_header(&field, &mut fields, scope),
                false => {
                    let fixed = metadata::fixed(std::slice::from_ref(&field), scope);
                    fields.fixed.extend(fixed);
                }
            }
        }
        fields
    }

    /// A header field with a template. Fields that the connection itself needs, such as
    /// Content-Length, can't vary.
    fn field(&self, name: &str, value: &str, place: &Place) -> Result<FieldTemplate, String> {
        if Header::is_framing(name) {
            return Err(format!(
                "the field `{name}` is set by the connection and can't be a template"
            ));
        }
        // An invalid name is reported before an invalid value.
        Header::new(name, b"").map_err(|error| error.to_string())?;
        let told = |error: String| format!("the field `{name}`: {}", of_field(name, error));
        let template = self.compile(value, Kind::Plain, place).map_err(told)?;
        if let Some(text) = self.scope.tried(&template, place).map_err(told)? {
            Header::new(name, text.as_bytes()).map_err(|error| error.to_string())?;
        }
        Ok(FieldTemplate::new(name.to_owned(), template))
    }

    /// The body of a request with these fields.
    ///
    /// A file that is not UTF-8 is not a template and is sent byte for byte. For a varying body,
    /// the plan contains an empty body, which marks that there is one.
    pub(crate) fn content(
        &self,
        written: WrittenBody<'_>,
        fields: &HeaderFields,
        scope: &mut Scope<'_>,
    ) -> Content {
        self.check(written, scope);
        let Some(payload) = written.payload else {
            return Content::default();
        };
        let Some(BodyBytes {
            bytes,
            media_type,
            binaries,
        }) = self.bytes(payload, scope)
        else {
            return Content::default();
        };
        let place = place_of(payload);
        let kind = |text: &str| match payload {
            Payload::Json(_) => Kind::Json,
            Payload::Form(_) | Payload::Multipart(_) => Kind::Plain,
            _ => kind_of(text, fields),
        };
        let name = match payload {
            Payload::File(path) => path.value.as_str(),
            _ => "",
        };
        let made = if is_on(written.lines) {
            let order = order(written.order, scope);
            self.lines(&bytes, order, kind, place, name).map(Some)
        } else if !binaries.is_empty() {
            self.parted(&bytes, &binaries, place).map(Some)
        } else {
            // Bytes that are not UTF-8 are not a template.
            let text = std::str::from_utf8(&bytes).ok();
            let text = text.filter(|text| self.is_template(text));
            let template = text.map(|text| self.compile(text, kind(text), place));
            let template = template.transpose().map_err(|error| match name {
                "" => error,
                name => format!("{name}: {error}"),
            });
            template.map(|template| template.map(Bodies::one))
        };
        match scope.found.ok(place, made).flatten() {
            Some(bodies) => Content {
                body: Body(Some(Arc::from([]))),
                varying: Some(Arc::new(bodies)),
                media_type,
            },
            None => Content {
                body: Body(Some(bytes)),
                varying: None,
                media_type,
            },
        }
    }

    /// A body of bytes that are sent unchanged, and of texts between them that may be templates.
    ///
    /// The ranges in `binaries` ascend and do not overlap; the bytes before, between and after them
    /// are text. A text without tags stays bytes, so that only true templates are rendered for each
    /// request.
    fn parted(
        &self,
        bytes: &[u8],
        binaries: &[Range<usize>],
        place: &Place,
    ) -> Result<Bodies, String> {
        let mut pieces = Vec::new();
        let mut start = 0;
        let end = bytes.len()..bytes.len();
        let ends = binaries.iter().cloned().chain(std::iter::once(end));
        for binary in ends {
            let between = &bytes[start..binary.start];
            let text = std::str::from_utf8(between).unwrap_or_default();
            pieces.push(match self.is_template(text) {
                true => BodyPiece::Template(self.compile(text, Kind::Plain, place)?),
                false => BodyPiece::Bytes(between.into()),
            });
            pieces.push(BodyPiece::Bytes(bytes[binary.clone()].into()));
            start = binary.end;
        }
        Ok(Bodies::parted(pieces))
    }

    /// The bytes of a body, with JSON and forms in their template form, and the media type that
    /// follows from the form of the body.
    fn bytes(&self, payload: &Payload, scope: &mut Scope<'_>) -> Option<BodyBytes> {
        let plain = |bytes, media_type| BodyBytes {
            bytes,
            media_type,
            binaries: Vec::new(),
        };
        let media_type = match payload {
            Payload::Json(_) => Some("application/json".into()),
            Payload::Form(_) => Some("application/x-www-form-urlencoded".into()),
            _ => None,
        };
        let text = match payload {
            Payload::Json(text) if self.is_template(&text.value) => {
                json_template::template(&text.value)
            }
            Payload::Form(fields) if self.is_on => web_form::body(fields, TagMeaning::Templates),
            Payload::Multipart(parts) => {
                let made = scope.multipart(parts, self.is_on)?;
                return Some(BodyBytes {
                    binaries: made.binaries,
                    ..plain(made.bytes.into(), Some(made.media_type.into()))
                });
            }
            payload => return Some(plain(scope.payload(payload)?, media_type)),
        };
        Some(plain(text.into_bytes().into(), media_type))
    }

    /// The lines of a body, each of which is a body. Each line is compiled separately: one may be a
    /// template and the next one not.
    fn lines(
        &self,
        bytes: &Arc<[u8]>,
        order: Order,
        kind: impl Fn(&str) -> Kind,
        place: &Place,
        name: &str,
    ) -> Result<Bodies, String> {
        let bodies = Bodies::lines(bytes, order, |number, line| {
            let text = std::str::from_utf8(line).ok();
            let Some(text) = text.filter(|text| self.is_template(text)) else {
                return Ok(None);
            };
            let template = self.compile(text, kind(text), place);
            template.map(Some).map_err(|error| match name {
                "" => format!("line {number}: {error}"),
                name => format!("{name}:{number}: {error}"),
            })
        })?;
        match bodies.is_empty() {
            true => Err("there are no lines to send; write one body per line".to_owned()),
            false => Ok(bodies),
        }
    }

    /// Notes keys that have no effect.
    fn check(&self, written: WrittenBody<'_>, scope: &mut Scope<'_>) {
        if let (Some(lines), None) = (written.lines, written.payload) {
            let name = names::name(&lines.place, "body_lines");
            let message = format!("{name} needs a body with lines");
            scope.found.add(&lines.place, message);
        }
        if let Some(order) = written.order.filter(|_| !is_on(written.lines)) {
            let lines = names::setting(&order.place, "body_lines", "true");
            let name = names::name(&order.place, "order");
            let message = format!("{name} is only for bodies with {lines}");
            scope.found.add(&order.place, message);
        }
    }
}

impl Asked {
    /// The request for a URL without a template, reported under the URL's text.
    pub(crate) fn fixed(url: Url) -> Self {
        Self {
            template: None,
            origin: None,
            step: secret::url(&url.to_string()),
            url,
        }
    }

    /// Sets the name of the request to the path as written.
    fn named_by(self, path: &str) -> Self {
        match path.starts_with('/') {
            true => Self {
                step: secret::url(path),
                ..self
            },
            false => self,
        }
    }
}

impl HeaderFields {
    /// Whether a fixed or varying field has this name, in any case.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut varying = self.varying.iter();
        self.fixed.iter().any(|field| field.is(name))
            || varying.any(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// Adds the fields of `below` whose names are missing here.
    pub(crate) fn fill(&mut self, below: &Self) {
        let own = self.clone();
        let fixed = below.fixed.iter().filter(|field| !own.has(field.name()));
        self.fixed.extend(fixed.cloned());
        let varying = below.varying.iter();
        let varying = varying.filter(|field| !own.has(field.name()));
        self.varying.extend(varying.cloned());
    }
}

/// The order in which requests use the lines of a body; the default is in turn.
fn order(written: Option<&Text>, scope: &mut Scope<'_>) -> Order {
    let orders = [
        ("turn", Order::InTurn),
        ("random", Order::Random),
        ("once", Order::OnceEach),
    ];
    scope.word(written, &orders, "order").unwrap_or_default()
}

/// Whether a body is JSON, in whose strings values are escaped. The Content-Type decides; without
/// one, the beginning of the body.
fn kind_of(text: &str, fields: &HeaderFields) -> Kind {
    let given = fields.fixed.iter().find(|field| field.is("content-type"));
    let is_json = match given {
        Some(field) => {
            let value = field.value().to_ascii_lowercase();
            let media_type = value.split(|byte| *byte == b';').next().unwrap_or_default();
            let media_type = media_type.trim_ascii();
            media_type == b"application/json" || media_type.ends_with(b"+json")
        }
        None => {
            let text = text.trim_start();
            let is_tag = ["{{", "{%", "{#"].iter().any(|tag| text.starts_with(tag));
            text.starts_with(['{', '[']) && !is_tag
        }
    };
    match is_json {
        true => Kind::Json,
        false => Kind::Plain,
    }
}

/// The message on a field's template, without a quotation if the field is a secret.
fn of_field(name: &str, error: String) -> String {
    let quoted = error.strip_prefix("in the template `");
    match quoted.and_then(|quoted| quoted.rsplit_once("`: ")) {
        Some((_, reason)) if secret::is_secret(name) => format!("in its template: {reason}"),
        _ => error,
    }
}

/// Splits a URL at its path. If the text is not a URL, the URL parser refuses the base. A query or
/// a fragment may follow the host without a path.
fn cut(text: &str) -> (&str, &str) {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find(['/', '?', '#']);
    text.split_at(end.map_or(text.len(), |at| start + at))
}

/// The message on a URL, which quotes the URL if it has no place in a file.
fn named(text: &Text, error: String) -> String {
    match &text.place {
        Place::Nowhere => {
            let shown: String = secret::url(&text.value).chars().take(80).collect();
            let shown = shown.replace(char::is_control, " ");
            format!("URL `{shown}`: {error}")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::{HeaderFields, cut, kind_of};
    use drumfire_data::Text as Kind;
    use drumfire_plan::Header;

    #[test]
    fn urls_are_cut_before_their_paths() {
        for (text, base, tail) in [
            ("http://h:1/a/{{ b }}", "http://h:1", "/a/{{ b }}"),
            ("http://h?a={{ b }}", "http://h", "?a={{ b }}"),
            ("http://{{ h }}/a", "http://{{ h }}", "/a"),
            ("{{ h }}/a", "{{ h }}", "/a"),
            ("http://h", "http://h", ""),
        ] {
            assert_eq!(cut(text), (base, tail));
        }
    }

    #[test]
    fn json_is_told_by_its_type_or_its_beginning() {
        for (media_type, text, kind) in [
            (None, " {\"a\": \"{{ uuid }}\"}", Kind::Json),
            (None, "[1]", Kind::Json),
            (None, "{{ uuid }}", Kind::Plain),
            (None, "{% if true %}", Kind::Plain),
            (None, "a={{ uuid }}", Kind::Plain),
            (Some("text/plain"), "{\"a\"}", Kind::Plain),
            (
                Some("Application/JSON; charset=utf-8"),
                "{{ a }}",
                Kind::Json,
            ),
            (Some("application/problem+json"), "{{ a }}", Kind::Json),
        ] {
            let mut fields = HeaderFields::default();
            let field = media_type.map(|value| Header::new("Content-Type", value.as_bytes()));
            fields
                .fixed
                .extend(field.map(|field| field.expect("a field")));
            assert_eq!(kind_of(text, &fields), kind, "{media_type:?} {text}");
        }
    }
}
