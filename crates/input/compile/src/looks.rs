//! Compiles the checks of a request and the values that it takes to an inspection of its responses.
//!
//! A request's own expectations override the pool's, key by key. The result becomes one
//! [`Inspection`] with up to three layers: rules ([`Rules`]), which need no interpreter; around
//! them a script's functions ([`ScriptRules`]); and around both a recorder of values, in a setup or
//! a teardown ([`Recorded`]). A request without any of these has no inspection, and its responses
//! are only counted.
//!
//! The reply of a call is inspected as the JSON of its message ([`looks_of_call`]), with the field
//! names of the schema. Values taken by `reply` use protobuf's JSON names instead, and are separate
//! rules.
//!
//! All responses of a request share one inspection. Workers share its compiled form without a lock.
//! Its texts are not templates: a check that looks like a template is refused, because it would
//! compare with its literal braces.
//!
//! [`looks`] and [`looks_of_call`] are the entries, for HTTP requests and for calls. The second
//! rewrites expectations about replies to rules about JSON and then calls the first. Both need the
//! variables declared in the sources, which `scenario` does before any request is compiled.

use crate::scope::Scope;
use crate::script::{self, Asked, ScriptRules};
use crate::taken::Recorded;
use crate::template_scope::TemplateScope;
use drumfire_data::Sources;
use drumfire_document::{
    Ask, EachSettings, ExpectSettings as Written, Field, Place, Pool, Request, Text,
};
use drumfire_extract::{Check, Expectation, Extractor, MessageRules, Rules, Sampled, Share, Take};
use drumfire_plan::{Expect, Inspection, MismatchKind};
use drumfire_schema::{JsonReplies, Method};
use drumfire_units::ByteSize;
use std::sync::Arc;

/// The maximum size of an inspected body after decoding, in bytes, if the plan does not bound
/// decoded bodies. A longer body fails its request, because a check of its beginning would not be a
/// check of the response.
const LOOK_MAX: ByteSize = ByteSize(1_000_000);

/// The inspection of a request's responses, for the plan. Requests of one list share it.
#[derive(Clone, Default)]
pub(crate) struct Looks {
    /// The statuses that count as ok, if they differ from the pool's.
    pub(crate) expect: Option<Expect>,
    /// The checks and the values to take; `None` without any.
    pub(crate) inspection: Option<Arc<dyn Inspection>>,
}

/// The inspection of a request's responses. The variables to which it assigns values must be
/// declared in the sources. If the request sets no expectations, the pool's apply.
pub(crate) fn looks(
    request: &Request,
    pool: &Pool,
    may_read: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Looks {
    let sources = &may_read.sources;
    let http = &pool.settings.http;
    let mut written = request.expect.clone();
    let own_status = written.status.take();
    drumfire_document::Layer::fill(&mut written, &http.expect);
    if has_templates(request, pool) {
        refuse_templates(&written, scope);
    }
    let mut expectations = expectations(&written, scope);
    let hash = written.body_hash.as_ref();
    let mut sampled = Vec::new();
    if let Some(hash) = hash.and_then(|text| self::hash(text, scope)) {
        match hash.share {
            None => expectations.push(hash.expectation),
            Some(share) => sampled.push(Sampled::new(hash.expectation, share)),
        }
    }
    let unscripted = request.take.iter();
    let unscripted = unscripted.filter(|field| !script::is_scripted(field));
    let unscripted: Vec<Field> = unscripted.cloned().collect();
    let (takes, each_takes) = takes(&unscripted, sources, scope);
    let each = match has_messages(request, pool) {
        true => message_rules(&written.each, each_takes, scope),
        false => {
            refuse_message_rules(request, scope);
            MessageRules::default()
        }
    };
    let is_needed = !(expectations.is_empty() && sampled.is_empty() && takes.is_empty());
    let is_needed = is_needed || !each.is_empty();
    let body_max = body_max(pool, scope);
    let rules = Rules::new(expectations, takes, body_max).with_sampled(sampled, body_max);
    let rules = rules.with_messages(each);
    let asked = Asked {
        judge: written.js.as_ref(),
        takes: request
            .take
            .iter()
            .filter(|field| script::is_scripted(field))
            .collect(),
    };
    let inspection = match asked.is_empty() {
        true => is_needed.then(|| Arc::new(rules) as Arc<dyn Inspection>),
        false => {
            let rules = ScriptRules::new(rules, &asked, body_max, may_read, scope);
            rules.map(|rules| Arc::new(rules) as Arc<dyn Inspection>)
        }
    };
    let inspection = inspection.map(|inspection| recorded(inspection, request, sources, scope));
    Looks {
        expect: scope.found.parse(own_status.as_ref()),
        inspection,
    }
}

/// The word before the source of a value that is taken from each message.
const EACH: &str = "each ";

/// [`EACH`] or nothing, and the source after it.
fn split_each(field: &Field) -> (&'static str, &str) {
    let source = field.value.value.trim_start();
    source
        .strip_prefix(EACH)
        .map_or(("", source), |source| (EACH, source))
}

/// A value that is taken from each message of a response, with the source in a message; `None` if
/// it is taken from the whole response.
fn of_messages(field: &Field) -> Option<Field> {
    let (EACH, source) = split_each(field) else {
        return None;
    };
    let value = field.value.with(source.to_owned());
    let name = field.name.clone();
    Some(Field { name, value })
}

/// The values of fields that are taken from the whole response, and those that are taken from each
/// message.
fn takes(fields: &[Field], sources: &Sources, scope: &mut Scope<'_>) -> (Vec<Take>, Vec<Take>) {
    let (mut whole, mut each) = (Vec::new(), Vec::new());
    for field in fields {
        let Some(of_message) = of_messages(field) else {
            whole.extend(compile_take(field, sources, scope));
            continue;
        };
        let Some(take) = compile_take(&of_message, sources, scope) else {
            continue;
        };
        if !take.extractor.reads_body() {
            let source = &take.extractor;
            let message = format!("one message does not have `{source}`; remove `each`");
            scope.found.add(&field.value.place, message);
        }
        each.push(take);
    }
    (whole, each)
}

/// The rules for each event of a stream, or for each message of a call.
fn message_rules(written: &EachSettings, takes: Vec<Take>, scope: &mut Scope<'_>) -> MessageRules {
    let fields = [&written.json, &written.xml, &written.css];
    MessageRules {
        expectations: of_body(&written.body, fields, scope),
        takes,
    }
}

/// Notes a request's own rules for messages, which its response does not have. Those of a pool need
/// an effect on one of its requests only.
fn refuse_message_rules(request: &Request, scope: &mut Scope<'_>) {
    let takes = request
        .take
        .iter()
        .filter(|field| split_each(field).0 == EACH);
    let takes = takes.map(|field| &field.value.place);
    for place in first_place(&request.expect.each).into_iter().chain(takes) {
        let message = "the response is read as one body; add `read: events` to check each event";
        scope.found.add(place, message);
    }
}

/// Whether a request receives messages: events, replies, or messages of a WebSocket.
fn has_messages(request: &Request, pool: &Pool) -> bool {
    if let Ask::Socket(socket) = &request.ask {
        return socket.receive.is_some();
    }
    let read = request.events.read.as_ref();
    let read = read.or(pool.settings.events.read.as_ref());
    request.ask.is_call() || read.is_some_and(|way| way.value == "events")
}

/// The place of the first check of each message.
pub(crate) fn first_place(each: &EachSettings) -> Option<&Place> {
    let fields = [&each.json, &each.xml, &each.css].into_iter().flatten();
    let bodies = each.body.iter().map(|text| &text.place);
    bodies.chain(fields.map(|field| &field.name.place)).next()
}

/// Adds a record of the values that the inspection takes, if the scope keeps one. Only a setup or a
/// teardown has a record; its values are inserted into the documents of later phases.
fn recorded(
    inspection: Arc<dyn Inspection>,
    request: &Request,
    sources: &Sources,
    scope: &Scope<'_>,
) -> Arc<dyn Inspection> {
    let Some(taken) = &scope.taken else {
        return inspection;
    };
    let names = request.take.iter().map(|field| &field.name.value);
    let declared = |name: &String| Some((sources.declared(name)?, name.clone()));
    Arc::new(Recorded {
        inspection,
        names: names.filter_map(declared).collect(),
        taken: Arc::clone(taken),
    })
}

/// The inspection of a call's reply, its message as JSON. The expected status is omitted, because
/// the call contains it.
pub(crate) fn looks_of_call(
    request: &Request,
    pool: &Pool,
    method: &Method,
    may_read: &TemplateScope,
    scope: &mut Scope<'_>,
) -> Option<Arc<dyn Inspection>> {
    let mut written = request.clone();
    // The call contains the expected status.
    written.expect.status = None;
    let mut by_json = Vec::new();
    written.take.retain(|field| {
        let (each, source) = split_each(field);
        let path = match source.trim() {
            "reply" => Some("$"),
            other => other.strip_prefix("reply "),
        };
        by_json.extend(path.map(|path| in_json(field, each, path)));
        path.is_none()
    });
    for field in &mut written.take {
        let (each, source) = split_each(field);
        let Some(path) = source.trim().strip_prefix("field ") else {
            continue;
        };
        let path = scope
            .found
            .ok(&field.value.place, method.reply_path(path.trim()));
        let path = path.unwrap_or_else(|| "$".to_owned());
        field.value.value = format!("{each}json {path}");
    }
    let by_json = (!by_json.is_empty()).then(|| {
        let (whole, each) = takes(&by_json, &may_read.sources, scope);
        let rules = Rules::new(Vec::new(), whole, body_max(pool, scope));
        let expectations = Vec::new();
        let takes = each;
        let rules = rules.with_messages(MessageRules {
            expectations,
            takes,
        });
        Arc::new(rules) as Arc<dyn Inspection>
    });
    let by_schema = looks(&written, pool, may_read, scope).inspection;
    if by_schema.is_none() && by_json.is_none() {
        return None;
    }
    let replies = Arc::new(JsonReplies::new(method.clone(), by_schema, by_json));
    Some(recorded(replies, request, &may_read.sources, scope))
}

/// The field, taken from JSON at this path, as `reply` does; from each message if `each` is
/// [`EACH`].
fn in_json(field: &Field, each: &str, path: &str) -> Field {
    let mut field = field.clone();
    field.value.value = format!("{each}json {}", path.trim());
    field
}

/// The maximum size of an inspected body after decoding. A plan that bounds decoded bodies has
/// decided how much memory a body may take. Without that bound, each of many connections would keep
/// 64 MiB for a check.
fn body_max(pool: &Pool, scope: &mut Scope<'_>) -> ByteSize {
    let most = scope.found.parse(pool.settings.http.max_decoded.as_ref());
    most.unwrap_or(LOOK_MAX)
}

/// Whether the texts of a request may be templates. Checks follow this key although they never
/// contain templates: if templates are off, braces are literal.
fn has_templates(request: &Request, pool: &Pool) -> bool {
    let own = request.data.templates.as_ref();
    let written = own.or(pool.settings.templates.as_ref());
    written.is_none_or(|language| !["none", "go-none"].contains(&&*language.value))
}

/// Notes checks that look like templates: a check is the same for each request. The message covers
/// both cases, because a text with braces may be literal.
fn refuse_templates(written: &Written, scope: &mut Scope<'_>) {
    let each = &written.each;
    let fields = [&written.header, &written.json, &written.xml, &written.css];
    let of_messages = [&each.json, &each.xml, &each.css];
    let fields = fields.into_iter().chain(of_messages).flatten();
    let texts = fields.map(|field| &field.value);
    let texts = texts.chain(&written.body).chain(&each.body);
    for text in texts.filter(|text| text.value.contains("{{")) {
        let message = "a check can't contain templates; `take` the value and compare it in an \
                       `if`, or write `templates: none` if the braces are literal";
        scope.found.add(&text.place, message);
    }
}

/// The expectations of a response, except for its status and a hash of its body.
///
/// They are ordered by cost: time and size are already known, a field is looked up, a body is
/// parsed. The first failed expectation decides the exchange's failure.
fn expectations(written: &Written, scope: &mut Scope<'_>) -> Vec<Expectation> {
    let mut all = Vec::new();
    if let Some(text) = &written.time {
        let check = scope.found.ok(&text.place, Check::parse_time(&text.value));
        all.extend(checked(
            "time",
            &text.place,
            check,
            MismatchKind::Time,
            scope,
        ));
    }
    if let Some(text) = &written.body_size {
        let check = scope.found.ok(&text.place, Check::parse_size(&text.value));
        all.extend(checked(
            "size",
            &text.place,
            check,
            MismatchKind::Body,
            scope,
        ));
    }
    for field in &written.header {
        let subject = format!("header {}", field.name.value);
        let (place, kind) = (&field.name.place, MismatchKind::Header);
        all.extend(expectation(&subject, place, &field.value, kind, scope));
    }
    let fields = [&written.json, &written.xml, &written.css];
    all.extend(of_body(&written.body, fields, scope));
    all
}

/// The expectations of a body: of its text, and of the values in its `json`, `xml` and `css`.
fn of_body(texts: &[Text], fields: [&Vec<Field>; 3], scope: &mut Scope<'_>) -> Vec<Expectation> {
    let mut all = Vec::new();
    for text in texts {
        let kind = MismatchKind::Body;
        all.extend(expectation("body", &text.place, text, kind, scope));
    }
    for (kind, fields) in ["json", "xml", "css"].into_iter().zip(fields) {
        for field in fields {
            let subject = format!("{kind} {}", field.name.value);
            let place = of_key(&field.name.place, kind);
            let body = MismatchKind::Body;
            all.extend(expectation(&subject, &place, &field.value, body, scope));
        }
    }
    all
}

/// The place of a name within the value of a key, for messages that quote the key. The name of a
/// check is a JSON path, which a reader would not look for as a key.
fn of_key(place: &Place, key: &str) -> Place {
    let mut place = place.clone();
    if let Place::File { key: own, .. } = &mut place {
        *own = key.into();
    }
    place
}

/// One expectation. Returns `None` after a mistake in its subject or its check was noted. Subjects
/// use the words of `take`, so that any value that can be taken can be checked.
fn expectation(
    subject: &str,
    place: &Place,
    check: &Text,
    kind: MismatchKind,
    scope: &mut Scope<'_>,
) -> Option<Expectation> {
    let check = scope.found.ok(&check.place, Check::parse(&check.value));
    checked(subject, place, check, kind, scope)
}

/// An expectation with an already parsed check. Returns `None` after a mistake in either was noted.
fn checked(
    subject: &str,
    place: &Place,
    check: Option<Check>,
    kind: MismatchKind,
    scope: &mut Scope<'_>,
) -> Option<Expectation> {
    let subject = scope.found.ok(place, Extractor::parse(subject));
    Some(Expectation {
        subject: subject?,
        check: check?,
        kind,
    })
}

/// The algorithms of hashes, each with the hexadecimal digits of its digests: FNV-1a and XXH3 of 64
/// bits, which cost little, and SHA-256 (FIPS 180-4), which others publish beside their files.
pub(crate) const ALGORITHMS: [(&str, usize); 3] = [("fnv1a64", 16), ("sha256", 64), ("xxh3", 16)];

/// The hash of a body, and the share of responses for which it is computed, if less than all. The
/// share bounds the cost: a digest of each body may take longer than the exchange.
struct Hash {
    expectation: Expectation,
    share: Option<Share>,
}

/// Parses a hash. `sha256 9f86…` is an algorithm and the expected digest; an appended `sample 10%`
/// sets the share of responses that are hashed. Returns `None` after a mistake was noted.
///
/// A digest is compared as lower-case text after its length was checked: a truncated digest would
/// fail every response of a run.
fn hash(text: &Text, scope: &mut Scope<'_>) -> Option<Hash> {
    let mut words = text.value.split_whitespace();
    let (algorithm, digest) = (words.next()?, words.next());
    let rest: Vec<&str> = words.collect();
    let share = match rest[..] {
        [] => Some(None),
        ["sample", share] => Share::parse(share).map(Some),
        _ => None,
    };
    let known = ALGORITHMS.iter().find(|(name, _)| *name == algorithm);
    let (Some(digest), Some(share), Some((_, digits))) = (digest, share, known) else {
        let message = "a hash is an algorithm and a digest, such as `sha256 9f86…`, `xxh3 …` or \
                       `fnv1a64 …`; add `sample 10%` to hash only that share of the bodies";
        scope.found.add(&text.place, message);
        return None;
    };
    let is_digest = digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_digest || digest.len() != *digits {
        let digest = digest.escape_debug();
        let message = format!(
            "`{digest}` is not a digest by {algorithm}, which has {digits} hexadecimal digits"
        );
        scope.found.add(&text.place, message);
        return None;
    }
    let check = Text::new(
        format!("equals {}", digest.to_ascii_lowercase()),
        text.place.clone(),
    );
    let kind = MismatchKind::Body;
    let expectation = expectation(algorithm, &text.place, &check, kind, scope)?;
    Some(Hash { expectation, share })
}

/// A value that is taken from a response into a variable. Returns `None` after a mistake was noted.
/// If a response lacks the value, its exchange fails during the run.
fn compile_take(field: &Field, sources: &Sources, scope: &mut Scope<'_>) -> Option<Take> {
    let extractor = Extractor::parse(&field.value.value);
    let extractor = scope.found.ok(&field.value.place, extractor)?;
    // An invalid name was already noted.
    let variable = sources.declared(&field.name.value)?;
    Some(Take {
        variable,
        name: field.name.value.clone(),
        extractor,
    })
}
