//! A request whose target, header fields or body vary.

use crate::{Order, SharedList, Template, TextTemplate};
use drumfire_plan::{DataError, RenderedFields, RequestContext, RequestData, Varying};
use drumfire_units::utf8::BYTE_ORDER_MARK;
use std::ops::Range;
use std::sync::Arc;

/// The templates of a request; what it has none for does not vary.
#[derive(Clone, Debug, Default)]
pub struct RequestTemplates {
    target: Option<Template>,
    /// Of a target that begins with a template, which may be a whole URL: the origin that this must
    /// have.
    origin: Option<Arc<str>>,
    fields: Arc<[FieldTemplate]>,
    body: Option<Arc<Bodies>>,
}

/// A header field and the template of its value.
#[derive(Clone, Debug)]
pub struct FieldTemplate {
    name: String,
    template: Template,
}

/// The bodies of requests: each takes one of a list.
#[derive(Clone, Debug)]
pub struct Bodies {
    list: Vec<BodyText>,
    /// Where those lie that do not vary.
    bytes: Arc<[u8]>,
    shared: Arc<SharedList>,
}

/// One body.
#[derive(Clone, Debug)]
enum BodyText {
    Fixed(Range<usize>),
    Template(Template),
    Parted(Box<[BodyPiece]>),
}

/// A piece of a body that is not a text as a whole.
#[derive(Clone, Debug)]
pub enum BodyPiece {
    /// Bytes that are sent as they are.
    Bytes(Arc<[u8]>),
    /// A text that varies.
    Template(Template),
}

/// The part of a request to which the first piece of such a body belongs, beyond those of fields.
const PIECES: u32 = 1 << 16;

impl FieldTemplate {
    /// A field with this name, and a value that varies.
    #[must_use]
    pub const fn new(name: String, template: Template) -> Self {
        Self { name, template }
    }

    /// The field's name as given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the Host field.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.name.eq_ignore_ascii_case("host")
    }

    /// For how many requests there is data, when a feed is gone through once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.template.count()
    }

    /// The same as another part of its request: what it draws does not depend on what others draw.
    pub(crate) fn in_part(self, part: u32) -> Self {
        let template = self.template.in_part(part);
        Self { template, ..self }
    }

    /// Appends it as a request has it.
    pub(crate) fn push(
        &self,
        request: &RequestContext,
        out: &mut RenderedFields,
    ) -> Result<(), DataError> {
        let render = |value: &mut String| self.template.render(request, 0, value);
        out.push_with(&self.name, render)
    }
}

impl Bodies {
    /// The same template for every request.
    #[must_use]
    pub fn one(template: Template) -> Self {
        Self {
            list: vec![BodyText::Template(template)],
            bytes: Arc::default(),
            shared: Arc::default(),
        }
    }

    /// The same pieces for every request, one behind the other. Each draws values of its own.
    #[must_use]
    pub fn parted(pieces: Vec<BodyPiece>) -> Self {
        let pieces = (PIECES..).zip(pieces).map(|(part, piece)| match piece {
            BodyPiece::Template(template) => BodyPiece::Template(template.in_part(part)),
            bytes => bytes,
        });
        Self {
            list: vec![BodyText::Parted(pieces.collect())],
            bytes: Arc::default(),
            shared: Arc::default(),
        }
    }

    /// The lines of a text, each a body; empty ones are passed over. `compile` gives the template
    /// of a line, if it is one, or an error.
    ///
    /// # Errors
    /// The first of `compile`.
    pub fn lines<E>(
        bytes: &Arc<[u8]>,
        order: Order,
        mut compile: impl FnMut(u64, &[u8]) -> Result<Option<Template>, E>,
    ) -> Result<Self, E> {
        let mut list = Vec::new();
        let mut start = match bytes.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len(),
            false => 0,
        };
        for (number, line) in (1..).zip(bytes[start..].split_inclusive(|byte| *byte == b'\n')) {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if !text.is_empty() {
                list.push(match compile(number, text)? {
                    Some(template) => BodyText::Template(template),
                    None => BodyText::Fixed(start..start + text.len()),
                });
            }
            start += line.len();
        }
        Ok(Self {
            list,
            bytes: Arc::clone(bytes),
            shared: Arc::new(SharedList::new(order)),
        })
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The list of which each request takes one; `None` where there is one body.
    #[must_use]
    pub fn shared_list(&self) -> Option<&Arc<SharedList>> {
        (self.list.len() > 1 || self.shared.is_once()).then_some(&self.shared)
    }

    /// The templates of all bodies.
    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.list.iter().flat_map(|body| {
            let (own, pieces) = match body {
                BodyText::Fixed(_) => (None, &[][..]),
                BodyText::Template(template) => (Some(template), &[][..]),
                BodyText::Parted(pieces) => (None, &pieces[..]),
            };
            let pieces = pieces.iter().filter_map(|piece| match piece {
                BodyPiece::Template(template) => Some(template),
                BodyPiece::Bytes(_) => None,
            });
            own.into_iter().chain(pieces)
        })
    }

    /// For how many requests the feeds of its templates have rows.
    fn count(&self) -> Option<u64> {
        let templates = self.list.iter().filter_map(|body| match body {
            BodyText::Fixed(_) => None,
            BodyText::Template(template) => template.count(),
            BodyText::Parted(pieces) => {
                let counts = pieces.iter().filter_map(|piece| match piece {
                    BodyPiece::Template(template) => template.count(),
                    BodyPiece::Bytes(_) => None,
                });
                counts.min()
            }
        });
        templates.min()
    }

    /// Appends the body of a request.
    fn render(&self, request: &RequestContext, out: &mut Vec<u8>) -> Result<(), DataError> {
        let length = self.list.len() as u64;
        let Some(index) = self.shared.index(request, length) else {
            let message = format!("the body has {length} lines, and none are left");
            return Err(DataError::new(message));
        };
        // An index below a length that was a usize.
        match &self.list[index as usize] {
            BodyText::Fixed(range) => out.extend_from_slice(&self.bytes[range.clone()]),
            BodyText::Template(template) => append(template, request, out)?,
            BodyText::Parted(pieces) => {
                for piece in pieces {
                    match piece {
                        BodyPiece::Bytes(bytes) => out.extend_from_slice(bytes),
                        BodyPiece::Template(template) => append(template, request, out)?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// Leaves path and query of a URL, or of a path, that a text has from `start` on.
fn without_origin(origin: &str, start: usize, out: &mut String) -> Result<(), DataError> {
    if let Some(at) = out[start..].find('#') {
        out.truncate(start + at);
    }
    let text = &out[start..];
    if let Some(rest) = text.strip_prefix(origin)
        && (rest.is_empty() || rest.starts_with(['/', '?']))
    {
        out.replace_range(start..start + origin.len(), "");
    } else if !text.starts_with('/') || text.starts_with("//") {
        let text = drumfire_plan::secret::excerpt(text);
        return Err(DataError::new(format!(
            "`{text}` is neither a path nor a URL of {origin}"
        )));
    }
    Ok(())
}

/// Appends a template's text to bytes, without an allocation where there were none.
fn append(
    template: &Template,
    request: &RequestContext,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    let mut text = match out.is_empty() {
        // Bytes that are none are text.
        true => String::from_utf8(std::mem::take(out)).unwrap_or_default(),
        false => String::new(),
    };
    let rendered = template.render(request, 0, &mut text);
    if out.is_empty() {
        *out = text.into_bytes();
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    rendered
}

impl RequestTemplates {
    /// With path and query from a template.
    #[must_use]
    pub fn with_target(mut self, template: Template) -> Self {
        self.target = Some(template.in_part(1));
        self
    }

    /// With path and query from a template whose text may be a URL of this origin, such as
    /// `https://shop.test`: what a response gave as `Location` or a link.
    #[must_use]
    pub fn with_reference(self, template: Template, origin: String) -> Self {
        Self {
            origin: Some(origin.into()),
            ..self.with_target(template)
        }
    }

    /// With fields whose values vary.
    #[must_use]
    pub fn with_fields(mut self, fields: Vec<FieldTemplate>) -> Self {
        let parts = (2..).zip(fields);
        self.fields = parts.map(|(part, field)| field.in_part(part)).collect();
        self
    }

    /// With a body that varies.
    #[must_use]
    pub fn with_body(mut self, bodies: Arc<Bodies>) -> Self {
        self.body = Some(bodies);
        self
    }

    /// The bodies, where they vary.
    #[must_use]
    pub const fn bodies(&self) -> Option<&Arc<Bodies>> {
        self.body.as_ref()
    }

    /// For how many iterations of its pool there are rows, when a feed is gone through once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let target = self.target.as_ref().and_then(Template::count);
        let fields = self.fields.iter().filter_map(FieldTemplate::count);
        let feeds = target.into_iter().chain(fields);
        let body = self.body.as_ref().and_then(|body| body.count());
        feeds.chain(body).min()
    }
}

impl RequestData for RequestTemplates {
    fn notes(&self) -> Vec<String> {
        let target = self.target.iter();
        let fields = self.fields.iter().map(|field| &field.template);
        let bodies = self.body.iter().flat_map(|bodies| bodies.templates());
        let templates = target.chain(fields).chain(bodies);
        let mut notes: Vec<String> = templates.flat_map(Template::notes).collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }

    fn varying(&self) -> Varying {
        Varying {
            target: self.target.is_some(),
            host: self.fields.iter().any(FieldTemplate::is_host),
            fields: self.fields.iter().any(|field| !field.is_host()),
            body: self.body.is_some(),
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        let Some(template) = &self.target else {
            return Ok(());
        };
        let start = out.len();
        template.render(request, 0, out)?;
        match &self.origin {
            Some(origin) => without_origin(origin, start, out),
            None => Ok(()),
        }
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        let mut fields = self.fields.iter();
        fields.try_for_each(|field| field.push(request, out))
    }

    fn message(
        &self,
        request: &RequestContext,
        _: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        match &self.body {
            Some(bodies) => bodies.render(request, out),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bodies, BodyPiece, FieldTemplate, RequestTemplates};
    use crate::{CsvForm, Feed, Order, Sources, Template, Text};
    use drumfire_plan::{DataError, RenderedFields, RequestContext, RequestData};
    use std::sync::Arc;

    fn sources(order: Order) -> Arc<Sources> {
        let mut sources = Sources::new();
        let feed =
            Feed::from_csv(b"name\nAda\nGrace \"G\"\n", &CsvForm::default()).expect("a feed");
        sources.add("people", feed, order).expect("a name");
        Arc::new(sources)
    }

    fn template(text: &str, sources: &Arc<Sources>) -> Template {
        Template::compile(text, Text::Plain, sources).expect(text)
    }

    fn request(number: u64) -> RequestContext {
        RequestContext {
            number,
            arrival: number,
            parts: 1,
            user: 3,
            iteration: number / 2,
            connection: 1,
            now: 0,
            seed: 7,
            variables: None,
        }
    }

    /// The parts of a request, as text.
    fn parts(data: &RequestTemplates, number: u64) -> Result<[String; 3], String> {
        let (mut target, mut body) = (String::new(), Vec::new());
        let mut fields = RenderedFields::default();
        let request = request(number);
        let rendered = data
            .target(&request, &mut target)
            .and_then(|()| data.fields(&request, &mut fields))
            .and_then(|()| data.message(&request, 0, &mut body));
        rendered.map_err(|error| error.to_string())?;
        let fields: Vec<String> = fields.iter().map(|(n, v)| format!("{n}: {v}")).collect();
        let body = String::from_utf8(body).expect("text");
        Ok([target, fields.join("\n"), body])
    }

    #[test]
    fn a_body_may_have_bytes_beside_templates() {
        let sources = sources(Order::InTurn);
        let piece = |text| BodyPiece::Template(template(text, &sources));
        let bodies = Bodies::parted(vec![
            piece("a{{ request_number }}{{ new_uuid() }}"),
            BodyPiece::Bytes([0xff, 0].into()),
            piece("{{ people.name }}{{ new_uuid() }}"),
        ]);
        let data = RequestTemplates::default().with_body(Arc::new(bodies));
        let mut body = Vec::new();
        data.message(&request(4), 0, &mut body).expect("a body");
        assert_eq!(&body[..2], b"a4");
        let (first, rest) = body[2..].split_at(36);
        assert_eq!(&rest[..5], b"\xff\0Ada");
        assert_ne!(first, &rest[5..], "each piece draws values of its own");
    }

    #[test]
    fn every_part_of_a_request_may_vary() {
        let sources = sources(Order::InTurn);
        let field =
            |name: &str, text| FieldTemplate::new(name.to_owned(), template(text, &sources));
        let data = RequestTemplates::default()
            .with_target(template(
                "/p/{{ people.name | urlencode }}?i={{ iteration }}",
                &sources,
            ))
            .with_fields(vec![
                field("Host", "{{ user }}.test"),
                field("X-N", "n{{ request_number }}"),
            ])
            .with_body(Arc::new(Bodies::one(template(
                "k{{ connection }}",
                &sources,
            ))));
        let varying = data.varying();
        assert!(varying.target && varying.host && varying.fields && varying.body);
        let text = |texts: [&str; 3]| Ok(texts.map(str::to_owned));
        assert_eq!(
            parts(&data, 4),
            text(["/p/Ada?i=2", "Host: 3.test\nX-N: n4", "k1"])
        );
        assert_eq!(
            parts(&data, 5),
            text(["/p/Grace%20%22G%22?i=2", "Host: 3.test\nX-N: n5", "k1"])
        );
        assert_eq!(data.count(), None);
        assert!(RequestTemplates::default().is_fixed());
    }

    #[test]
    fn a_target_may_be_a_url_of_its_origin() {
        let sources = sources(Order::InTurn);
        let target = |text: &str| {
            let text = format!("{{{{ '{text}' }}}}");
            let origin = "http://a.test".to_owned();
            let data =
                RequestTemplates::default().with_reference(template(&text, &sources), origin);
            parts(&data, 0).map(|[target, ..]| target)
        };
        for (text, path) in [
            ("/a?b", "/a?b"),
            ("http://a.test/a", "/a"),
            ("http://a.test", ""),
            ("http://a.test?b#c", "?b"),
            ("/a#c", "/a"),
        ] {
            assert_eq!(target(text).as_deref(), Ok(path), "{text}");
        }
        for text in [
            "a",
            "",
            "http://a.tests/",
            "http://b.test/",
            "//b.test/",
            "https://a.test/",
        ] {
            let error = target(text).expect_err(text);
            assert!(
                error.contains("is neither a path nor a URL of http://a.test"),
                "{error}"
            );
        }
    }

    #[test]
    fn parts_share_the_uuid_and_draw_apart() {
        let sources = sources(Order::InTurn);
        let text = "{{ uuid }} {{ new_uuid() }} {{ random_int(0, 1000000000) }}";
        let field = |name: &str| FieldTemplate::new(name.to_owned(), template(text, &sources));
        let data = RequestTemplates::default()
            .with_target(template(text, &sources))
            .with_fields(vec![field("a"), field("b")])
            .with_body(Arc::new(Bodies::one(template(text, &sources))));
        let [target, fields, body] = parts(&data, 0).expect("rendered");
        let fields = fields.lines().map(|line| &line[3..]);
        let all: Vec<&str> = [&target[..], &body].into_iter().chain(fields).collect();
        let words: Vec<Vec<&str>> = all.iter().map(|text| text.split(' ').collect()).collect();
        for (n, one) in words.iter().enumerate() {
            for other in &words[n + 1..] {
                assert_eq!(one[0], other[0], "{all:?}");
                assert_ne!(one[1], other[1], "{all:?}");
                assert_ne!(one[2], other[2], "{all:?}");
            }
        }
    }

    #[test]
    fn lines_are_bodies_in_an_order() {
        let sources = sources(Order::InTurn);
        let bytes: Arc<[u8]> = b"\xef\xbb\xbfone\r\n\n{{ request_number }}\n\xff"
            .as_slice()
            .into();
        let lines = |order| {
            let compile = |_, line: &[u8]| -> Result<_, DataError> {
                let text = std::str::from_utf8(line).unwrap_or_default();
                Ok((text.contains("{{")).then(|| template(text, &sources)))
            };
            let bodies = Bodies::lines(&bytes, order, compile).expect("no error");
            assert_eq!(bodies.len(), 3);
            RequestTemplates::default().with_body(Arc::new(bodies))
        };
        let body = |data: &RequestTemplates, number| {
            let mut out = Vec::new();
            let rendered = data.message(&request(number), 0, &mut out);
            rendered.map(|()| out).map_err(|error| error.to_string())
        };
        let turn = lines(Order::InTurn);
        for (number, right) in [
            (0, &b"one"[..]),
            (1, b"1"),
            (2, b"\xff"),
            (3, b"one"),
            (4, b"4"),
        ] {
            assert_eq!(body(&turn, number), Ok(right.to_vec()));
        }
        let once = lines(Order::OnceEach);
        assert_eq!((turn.count(), once.count()), (None, None));
        let error = "the body has 3 lines, and none are left";
        assert_eq!(body(&once, 3), Err(error.to_owned()));
    }

    #[test]
    fn the_shortest_list_ends_the_run() {
        let sources = sources(Order::OnceEach);
        let data =
            RequestTemplates::default().with_target(template("/{{ people.name }}", &sources));
        assert_eq!(data.count(), Some(2));
    }
}
