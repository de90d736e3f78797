//! The data of calls and their varying metadata, as the document's templates define them.
//!
//! A payload is JSON, a template of JSON, or a binary message. The template language decides: the
//! native language, Go's (for ghz), or none. Without templates, JSON is encoded to a message once,
//! here. With a template, each call renders a text and encodes it. Metadata follows the same
//! languages, field by field or as one file.
//!
//! The first call is rendered before the run ([`sent`]), so that a mistake in the data is a mistake
//! in the plan instead of a failure of every call.
//!
//! JSON is read in two ways ([`Reading`]). The native way is protobuf's own mapping, strict in
//! names and types. Data written for ghz is read like Go's library, which accepts more: a file for
//! a tool must not be refused if the tool accepts it, and a new file must not be accepted if other
//! readers refuse it.
//!
//! [`sent`] is the only entry. It is called for each request that is a call, after the schema of
//! its method is known. It decides the language first, then makes the data (`input`), then the
//! metadata (`fields`). Each step takes the language as a value, so only `language` knows the words
//! of a document. The result is an [`Input`], which renders messages and varying metadata for each
//! call, and the fields that are the same for all calls.

use crate::go_template::{CallNames, CallTemplate, FunctionSet, GoTemplates, Role, Workers};
use crate::host::Found;
use crate::json_template;
use crate::metadata;
use crate::scope::{Scope, is_on, place_of};
use crate::template_scope::TemplateScope;
use drumfire_data::{Order, Sources, Template, read_json};
use drumfire_document::names;
use drumfire_document::{Data, Field, Fields, Payload, Place, Request, Text};
use drumfire_plan::{DataError, Header};
use drumfire_schema::{Input, Metadata, Method, Reading, Refresh};
use drumfire_units::utf8;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// The template language of a request's texts.
enum TextLanguage {
    /// Texts are sent unchanged after their JSON was read.
    None(Reading),
    /// The native language.
    Native,
    /// Go's language with ghz's names, for a method whose schema is known.
    Go(GoTemplates),
}

/// The words for languages in a document. There are more words than languages: ghz has two sets of
/// functions, and its `--disable-template-data` still reads JSON in its own way.
#[derive(Clone, Copy)]
enum Word {
    None,
    Native,
    Go,
    GoBuiltin,
    /// Texts are sent unchanged, and their JSON is read as Go reads it.
    GoNone,
}

/// The messages of one request's calls, and their metadata.
pub(crate) struct SentMessages {
    /// The messages, and the metadata that varies.
    pub(crate) input: Input,
    /// Metadata that is the same for all calls.
    pub(crate) fields: Vec<Header>,
}

/// The messages and the metadata of a request's calls. Returns `None` after a mistake was noted.
///
/// Data is tried before metadata, both as rendered for the first request of the first user. Data in
/// the native language was already tried when it was compiled.
pub(crate) fn sent(
    request: &Request,
    common: &[Field],
    method: &Method,
    templates: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Option<SentMessages> {
    let sources = &templates.sources;
    let language = language(request, method, scope)?;
    let mut input = input(request, method, &language, templates, scope)?;
    if let Some(refresh) = refresh(request, scope) {
        input = input.with_refresh(refresh);
    }
    if let (TextLanguage::Go(_), Some(payload)) = (&language, &request.data.payload) {
        scope
            .found
            .ok(place_of(payload), input.check(&templates.first))?;
    }
    let split = fields(request, common, &language, sources, scope)?;
    for metadata in split.varying {
        input = input.with_metadata(metadata);
    }
    metadata::check_first(&split.place, &input, templates, scope);
    Some(SentMessages {
        input,
        fields: split.fixed,
    })
}

/// The language of a request's templates, with the names that Go templates can read; these names
/// are known here and are the same for each call. Without a written language, the native one
/// applies. Returns `None` after an unknown word was noted.
fn language(request: &Request, method: &Method, scope: &mut Scope<'_>) -> Option<TextLanguage> {
    let words = [
        ("jinja", Word::Native),
        ("go", Word::Go),
        ("go-builtin", Word::GoBuiltin),
        ("go-none", Word::GoNone),
        ("none", Word::None),
    ];
    let text = request.data.templates.as_ref();
    let word = match text {
        None => Word::Native,
        Some(_) => scope.word(text, &words, "template language")?,
    };
    let set = match word {
        Word::None => return Some(TextLanguage::None(Reading::Protobuf)),
        Word::GoNone => return Some(TextLanguage::None(Reading::Lenient)),
        Word::Native => return Some(TextLanguage::Native),
        Word::Go => FunctionSet::All,
        Word::GoBuiltin => FunctionSet::Builtin,
    };
    let call = CallNames {
        service: method.service().to_owned(),
        method: method.name().to_owned(),
        input: method.input().name().to_owned(),
        output: method.output().name().to_owned(),
        client_streams: method.kind().client_streams(),
        server_streams: method.kind().server_streams(),
        workers: workers(&request.data, scope),
    };
    Some(TextLanguage::Go(GoTemplates::new(
        call,
        set,
        Arc::clone(scope.host),
    )))
}

/// The workers that Go templates can name, with ghz's numbering. They are names rather than
/// threads: a template that reads its worker must get the value that ghz would give it.
fn workers(data: &Data, scope: &mut Scope<'_>) -> Workers {
    let count = data.workers.as_ref().and_then(|count| {
        let wrong = "it must be between 1 and 4294967295";
        let number = u32::try_from(count.value).ok().filter(|&number| number > 0);
        scope.found.ok(&count.place, number.ok_or(wrong))
    });
    Workers {
        name: data.worker_name.as_ref().map(|name| name.value.clone()),
        count,
    }
}

/// The data of a request's calls. Without a payload, the data is the method's empty message.
///
/// Bytes are used as an encoded message only with `binary`. Otherwise they must be text, and a
/// message that is not UTF-8 gets a hint. The order applies if the data is a list of messages, of
/// which a call takes one.
fn input(
    request: &Request,
    method: &Method,
    language: &TextLanguage,
    templates: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Option<Input> {
    let orders = [
        ("turn", Order::InTurn),
        ("random", Order::Random),
        ("once", Order::OnceEach),
    ];
    let data = &request.data;
    if let Some(Text { place, .. }) = &data.order
        && method.kind().client_streams()
        && !matches!(place, Place::Dialect { .. })
    {
        let (name, service, method) =
            (names::name(place, "order"), method.service(), method.name());
        let message = format!(
            "{name} has no effect: each call of {service}/{method} sends all messages, in their \
             order; leave it out"
        );
        scope.found.add(place, message);
    }
    let order = scope.word(data.order.as_ref(), &orders, "order");
    let order = order.unwrap_or_default();
    let Some(payload) = &data.payload else {
        let place = &request.ask.text().place;
        let input = scope.found.ok(place, Input::blank(method))?;
        return Some(input.with_order(order));
    };
    let bytes = scope.payload(payload)?;
    let place = place_of(payload);
    let made = if is_on(&data.binary) {
        Input::binary(method, &bytes)
    } else {
        match text_of(&bytes, language) {
            Ok(text) => {
                let text = match (payload, language) {
                    // A payload written as a tree becomes one template with all its tags.
                    (Payload::Json(_), TextLanguage::Native) => {
                        json_template::template(text).into()
                    }
                    _ => Cow::Borrowed(text),
                };
                of_text(&text, method, language, templates, place)
            }
            Err(what) => {
                let say = names::setting(place, "binary", "true");
                let message = format!("the data is {what}; for binary data, use {say}");
                Err(DataError::new(message))
            }
        }
    };
    let made = made.map_err(|error| told(payload, &error, scope));
    let input = scope.found.ok(place, made)?;
    Some(input.with_order(order))
}

/// Data as JSON, or as a template of JSON. A text in Go's language without an action is not a
/// template and is encoded once.
fn of_text(
    text: &str,
    method: &Method,
    language: &TextLanguage,
    templates: &TemplateScope,
    place: &Place,
) -> Result<Input, DataError> {
    match language {
        TextLanguage::None(reading) => Input::json_by(method, text, *reading),
        TextLanguage::Native => {
            let spares = |error: &DataError, read: &[_]| templates.spares(error, read, place);
            Input::template_for(method, text, &templates.sources, &templates.first, &spares)
        }
        TextLanguage::Go(go) => match go.parse(text, Role::Data(0))? {
            Some(template) => Ok(Input::text(method, Arc::new(template))),
            None => Input::json_by(method, text, Reading::Lenient),
        },
    }
}

/// A file as a text. ghz refuses a byte order mark where data begin.
fn text_of<'a>(bytes: &'a [u8], language: &TextLanguage) -> Result<&'a str, String> {
    match language {
        TextLanguage::Go(_) => std::str::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned()),
        TextLanguage::Native | TextLanguage::None(_) => utf8::text(bytes),
    }
}

/// The message on a mistake in data: with the file's name, and with a hint if the text itself is
/// the name of a file.
fn told(payload: &Payload, error: &DataError, scope: &Scope<'_>) -> String {
    match payload {
        Payload::File(path) => format!("{}: {error}", path.value),
        Payload::Text(text) if scope.host.look(&text.value) == Found::File => {
            let (path, place) = (&text.value, &text.place);
            let say = match place.is_flag() {
                true => format!("-d @{path}"),
                false => format!("`data_file: {path}`"),
            };
            format!("{error}; `{path}` is a file: use {say} to send its content")
        }
        Payload::Json(_) => format!("{error}{}", quoted(&error.words)),
        _ => error.to_string(),
    }
}

/// The advice on a value of a tree that has quotes where its message needs none, or lacks required
/// quotes.
fn quoted(error: &str) -> &'static str {
    let is_text = error.contains("invalid type: string");
    if error.contains("expected a string") && !is_text {
        "; quote a string that looks like a number or a boolean, as in \"5\""
    } else if is_text && error.contains("expected a boolean") {
        "; write a boolean without quotes; a template for one ends in a filter, as in \"{{ x | \
         tojson }}\""
    } else {
        ""
    }
}

/// The rule by which templates are evaluated again, per call or per message, if the document sets
/// one.
fn refresh(request: &Request, scope: &mut Scope<'_>) -> Option<Refresh> {
    let words = [("call", Refresh::Call), ("message", Refresh::Message)];
    scope.word(request.stream.refresh.as_ref(), &words, "refresh rule")
}

/// The metadata of a request's calls, with the varying fields separate.
#[derive(Default)]
struct SplitMetadata {
    varying: Vec<Metadata>,
    /// The fields that are the same for all calls.
    fixed: Vec<Header>,
    /// The place of the last field that varies, for mistakes in rendering them together.
    place: Place,
}

/// The metadata of a request, followed by the pool's metadata under other names.
///
/// Names are compared without regard to case, as in HTTP. A metadata file replaces the request's
/// own fields. If the file is one template, its names are known only during the call, so the pool's
/// fields are compared with them there.
fn fields(
    request: &Request,
    common: &[Field],
    language: &TextLanguage,
    sources: &Arc<Sources>,
    scope: &mut Scope<'_>,
) -> Option<SplitMetadata> {
    let own = match &request.fields {
        Fields::Listed(fields) => fields.clone(),
        Fields::File(path) => match of_file(path, language, scope)? {
            FileFields::Template(metadata) => {
                let mut split = SplitMetadata {
                    varying: vec![*metadata],
                    fixed: Vec::new(),
                    place: path.place.clone(),
                };
                for (n, field) in (1..).zip(common) {
                    let made = of_field(n, field, language, sources, scope)?;
                    let (name, value) = (field.name.value.trim(), &field.value.value);
                    let made = made.unwrap_or_else(|| Metadata::fixed(name, value));
                    split.varying.push(made.beneath());
                }
                return Some(split);
            }
            FileFields::Listed(fields) => fields,
        },
    };
    let unnamed = |field: &&Field| {
        let name = &field.name.value;
        let mut own = own.iter();
        !own.any(|own| own.name.value.eq_ignore_ascii_case(name))
    };
    let below: Vec<Field> = common.iter().filter(unnamed).cloned().collect();
    let mut split = SplitMetadata::default();
    for (n, field) in (0..).zip(own.iter().chain(&below)) {
        let Some(header) = metadata::header(field, scope) else {
            continue;
        };
        match of_field(n, field, language, sources, scope)? {
            Some(metadata) => {
                split.varying.push(metadata);
                split.place = field.value.place.clone();
            }
            None => {
                metadata::sendable(&field.value.place, header.name(), header.value(), scope);
                split.fixed.push(header);
            }
        }
    }
    Some(split)
}

/// Compiles a field. Returns `Some(Some(_))` if the value varies, `Some(None)` if it does not, and
/// `None` after a mistake was noted. `n` is the field's index among all fields of the request; the
/// random values of Go's functions follow from it.
#[expect(
    clippy::option_option,
    reason = "the outer one is an error, which was noted"
)]
fn of_field(
    n: u32,
    field: &Field,
    language: &TextLanguage,
    sources: &Arc<Sources>,
    scope: &mut Scope<'_>,
) -> Option<Option<Metadata>> {
    let (name, value) = (field.name.value.trim(), field.value.value.trim());
    let made = match language {
        TextLanguage::None(_) => Ok(None),
        TextLanguage::Native if Template::is_static(value) => Ok(None),
        TextLanguage::Native => Metadata::template(name, value, sources).map(Some),
        TextLanguage::Go(templates) => templates
            .parse(value, Role::Metadata(n))
            .map(|template| template.map(|template| Metadata::value(name, Arc::new(template)))),
    };
    scope.found.ok(&field.value.place, made)
}

/// The content of a metadata file. The variant depends on when the names are known: before the run,
/// or only when a call renders them.
enum FileFields {
    /// A template of a JSON object.
    Template(Box<Metadata>),
    /// An object whose values may be templates.
    Listed(Vec<Field>),
}

/// The metadata of a file: a JSON object of texts, or a template of one.
///
/// A value other than a text is refused, because a number could be sent in more than one way.
fn of_file(path: &Text, language: &TextLanguage, scope: &mut Scope<'_>) -> Option<FileFields> {
    let bytes = scope.file(path)?;
    let text = text_of(&bytes, language);
    let text = text.map_err(|what| format!("{} is {what}", path.value));
    let text = scope.found.ok(&path.place, text)?;
    let template: Option<CallTemplate> = match language {
        TextLanguage::Go(templates) => {
            let parsed = templates.parse(text, Role::Metadata(0));
            scope.found.ok(&path.place, parsed)?
        }
        TextLanguage::Native | TextLanguage::None(_) => None,
    };
    if let Some(template) = template {
        let metadata = Metadata::object(Arc::new(template));
        return Some(FileFields::Template(Box::new(metadata)));
    }
    let object = serde_json::from_str::<Map<String, Value>>(text);
    let object = object.map_err(|error| format!("{} is not a JSON object: {error}", path.value));
    let object = scope.found.ok(&path.place, object)?;
    // Go's reader keeps the last of two values, and ghz's notes name the key.
    if !matches!(
        language,
        TextLanguage::Go(_) | TextLanguage::None(Reading::Lenient)
    ) && let Ok((_, Some(key))) = read_json(text)
    {
        let key = key.escape_debug();
        let message = format!("{}: `{key}` is given twice; write it once", path.value);
        scope.found.add(&path.place, message);
        return None;
    }
    let mut fields = Vec::new();
    for (name, value) in object {
        let Some(value) = value.as_str() else {
            let message = format!(
                "{}: the value of `{name}` is not a string; quote it",
                path.value
            );
            scope.found.add(&path.place, message);
            continue;
        };
        let place = |text: &str| Text::new(text.to_owned(), path.place.clone());
        fields.push(Field {
            name: place(&name),
            value: place(value),
        });
    }
    Some(FileFields::Listed(fields))
}
