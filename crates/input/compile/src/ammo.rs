//! Pools that take their requests from a file (ammo).
//!
//! The file is read once before the run to find its classes. Rows that differ only in the parts
//! that vary form one class. Each class becomes one request of the plan, and its data render the
//! row of an arrival. The file's order decides which class an arrival takes ([`Choice::By`]). The
//! plan therefore stays small for a file of any length.
//!
//! A file of calls is read twice: the file lists the methods, and a message can be encoded only
//! with the schema of its method. Between the two passes, the schema of each method is fetched
//! once.
//!
//! Fields have an order of precedence. `override_headers` decides whether fields written beside the
//! file override the file's fields; the pool's fields have the lowest precedence
//! ([`AmmoRequests::planned`]). The host of a request is an ordinary field: every connection goes
//! to the pool's target.
//!
//! A mistake in the file is reported with its line at the place where the document names the file.
//! Reading ends at the first mistake, because a file in the wrong format would otherwise give a
//! mistake for every line.

use crate::call::Calls;
use crate::events::events;
use crate::looks::looks;
use crate::made::Made;
use crate::scope::{Scope, is_on};
use crate::template_scope::TemplateScope;
use crate::templates::{HeaderFields, Templates};
use crate::transport::{HTTP_VERSIONS, span};
use drumfire_data::{
    AMMO_FORMATS, Ammo, AmmoData, AmmoField, AmmoFormat, AmmoOptions, AmmoPick, AutoTag,
    Calls as AmmoCalls, FieldTemplate, Precedence, ReadAt, Storage, Timing,
};
use drumfire_document::{Ammo as Written, Ask, Fields, Place, Pool, Request, Switch, Text};
use drumfire_plan::{Body, Choice, HttpRequest, HttpVersion, Method, RequestData, Url};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fastest replay, as a multiple of the file's own times; the slowest is its inverse.
const SPEED_MAX: f64 = 1_000_000.0;

/// The requests of a file, with the settings of their pool and the request that refers to it. A
/// value is made for one file and used once, by [`AmmoRequests::add_requests`] or
/// [`AmmoRequests::add_calls`].
pub(crate) struct AmmoRequests<'a> {
    /// The pool; its only request refers to the file.
    pub(crate) pool: &'a Pool,
    /// The request that refers to the file. Its checks and timeout apply to all requests of the file.
    pub(crate) request: &'a Request,
    /// The document's keys about the file.
    pub(crate) written: &'a Written,
    /// The target of all requests; the hosts in their fields are ignored. A production log must not
    /// be replayed against production because of the fields in it. `None` for calls.
    pub(crate) target: Option<&'a Url>,
    /// The fields written beside the file.
    pub(crate) own: HeaderFields,
    /// The fields of the pool.
    pub(crate) common: &'a HeaderFields,
}

impl AmmoRequests<'_> {
    /// Adds a request for each class of the file, and the choice among them. Returns `None` after a
    /// mistake was noted.
    ///
    /// If the options are wrong, nothing is compiled, because the options define how to read the
    /// file. All classes share the inspection and the timeout of the request that names the file.
    pub(crate) fn add_requests(
        &self,
        may_read: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) -> Option<()> {
        let written = self.written;
        let place = &written.file.place;
        self.check(scope);
        let target = self.pool.settings.reach.target.is_some();
        let message = "ammo needs a `target` to send its requests to";
        scope.found.add_if(!target, place, message);
        let options = self.options(scope)?;
        let speed = self.speed(scope);
        let source = self.open(scope)?;
        let ammo = self.read(source, options, scope)?;
        let target = self.target?;
        let looks = looks(self.request, self.pool, may_read, scope);
        let timeout = span(self.request.timeout.as_ref(), scope);
        let events = events(self.request, self.pool, scope);
        for (n, class) in ammo.classes().iter().enumerate() {
            let data = Arc::new(AmmoData::new(Arc::clone(&ammo), n)) as Arc<dyn RequestData>;
            // The decoders return only valid methods.
            let method = scope.found.ok(place, Method::parse(&class.method))?;
            made.requests.push(HttpRequest {
                timeout,
                url: target.clone(),
                method,
                headers: Vec::new(),
                body: match class.parts.body {
                    true => Body(Some(Arc::from([]))),
                    false => Body(None),
                },
                step: class.name.clone(),
                data: Some(data),
                call: None,
                events,
                socket: None,
                expect: looks.expect,
                inspection: looks.inspection.clone(),
            });
        }
        made.times = speed.map(|speed| ammo.times(speed));
        self.choose(ammo, made);
        Some(())
    }

    /// Adds a call for each class of the file, and the choice among them. Times in the file are
    /// ignored: calls have no use for them.
    ///
    /// The first pass skips messages, and the second encodes each message once. A message that does
    /// not fit its method is therefore reported before the run. A method that only the second pass
    /// finds is refused.
    pub(crate) fn add_calls(
        &self,
        calls: &mut Calls<'_>,
        may_read: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) -> Option<()> {
        let place = &self.written.file.place;
        self.check(scope);
        if let Some(speed) = &self.written.speed {
            let message = "a file of calls has no times, so `speed` can't be used";
            scope.found.add(&speed.place, message);
        }
        let mut options = self.options(scope)?;
        options.timing = Timing::Load;
        let source = self.open(scope)?;
        // The first pass finds the methods; messages can be encoded only after that.
        let named = self.read(Arc::clone(&source), options.clone(), scope)?;
        let mut methods = BTreeMap::new();
        for call in named
            .classes()
            .iter()
            .filter_map(|class| class.call.as_ref())
        {
            if !methods.contains_key(call) {
                let name = Text::new(call.clone(), place.clone());
                methods.insert(call.clone(), calls.method(&name, scope)?);
            }
        }
        options.calls = Some(Arc::new(Methods(methods.clone())));
        let ammo = self.read(source, options, scope)?;
        for (n, class) in ammo.classes().iter().enumerate() {
            let method = methods.get(class.call.as_ref()?)?;
            let data = Arc::new(AmmoData::new(Arc::clone(&ammo), n)) as Arc<dyn RequestData>;
            let mut call = calls.called(method, self.request, Some(data), may_read, scope)?;
            call.step.clone_from(&class.name);
            made.requests.push(call);
        }
        self.choose(ammo, made);
        Some(())
    }

    /// Opens the file, or takes the lines that the document contains instead of a file.
    ///
    /// Lines in the document are read as a file with one URI per line. Mistakes are reported with
    /// their line numbers.
    fn open(&self, scope: &mut Scope<'_>) -> Option<Arc<dyn ReadAt>> {
        let lines: Vec<&str> = self.written.lines.iter().map(|line| &*line.value).collect();
        match lines.is_empty() {
            true => scope.open(&self.written.file),
            false => Some(Arc::new(lines.join("\n").into_bytes())),
        }
    }

    /// Reads the file. A mistake is noted with its line, at the place where the document names the
    /// file.
    fn read(
        &self,
        source: Arc<dyn ReadAt>,
        options: AmmoOptions,
        scope: &mut Scope<'_>,
    ) -> Option<Arc<Ammo>> {
        let file = &self.written.file;
        let read = Ammo::read(source, options).map_err(|error| match error.line {
            0 => format!("{}: {}", file.value, error.message),
            line => format!("{}:{line}: {}", file.value, error.message),
        });
        scope.found.ok(&file.place, read).map(Arc::new)
    }

    /// Sets the file's order as the choice of the pool. If the number of passes is bounded, the
    /// length of the file bounds the pool's requests.
    fn choose(&self, ammo: Arc<Ammo>, made: &mut Made) {
        made.count = self.count(&ammo);
        made.choice = Some(Choice::By(Arc::new(AmmoPick(ammo))));
    }

    /// Notes settings that have no effect or contradict the file.
    fn check(&self, scope: &mut Scope<'_>) {
        let place = &self.written.file.place;
        let beside = self.pool.requests.len() > 1 || !self.pool.scenario.is_empty();
        let message =
            "a file of requests must be alone in its pool; move other requests to another pool";
        scope.found.add_if(beside, place, message);
        let data = &self.request.data;
        let message = "the requests of a file have their own bodies; leave out the body";
        scope.found.add_if(data.payload.is_some(), place, message);
        let written = self.written;
        if let Some(all) = written_on(&written.auto_tag_all)
            && written.auto_tag.is_none()
        {
            let message = "`auto_tag_all` has no effect without `auto_tag`, the number of elements \
                           of a path";
            scope.found.add(all, message);
        }
        let mut varying = self.own.varying.iter().chain(&self.common.varying);
        let message = "the `Host` of ammo can't be a template";
        scope
            .found
            .add_if(varying.any(FieldTemplate::is_host), place, message);
    }

    /// The options for reading the file. `None` if the format is unknown. Other mistakes are noted
    /// and do not prevent reading.
    fn options(&self, scope: &mut Scope<'_>) -> Option<AmmoOptions> {
        let written = self.written;
        for count in [&written.limit, &written.passes, &written.auto_tag] {
            if let Some(count) = count.as_ref().filter(|count| count.value == 0) {
                scope
                    .found
                    .add(&count.place, "write 1 or more, or leave it out");
            }
        }
        let auto_tag = written.auto_tag.as_ref().map(|elements| AutoTag {
            elements: usize::try_from(elements.value).unwrap_or(usize::MAX),
            beside: is_on(&written.auto_tag_all),
        });
        Some(AmmoOptions {
            file: written.file.value.clone(),
            format: format(written, scope)?,
            version: self.version(),
            chosen: written.chosen.iter().map(|tag| tag.value.clone()).collect(),
            fields: self.planned(),
            name: self.request.name.as_ref().map(|name| name.value.clone()),
            auto_tag,
            storage: match is_on(&written.preload) {
                true => Storage::Memory,
                false => Storage::BySize,
            },
            timing: match written.speed {
                Some(_) => Timing::Own,
                None => Timing::Load,
            },
            calls: None,
        })
    }

    /// The HTTP version of the requests, which decides which fields may be sent. A mistake in the
    /// version is noted with the pool.
    fn version(&self) -> HttpVersion {
        let written = self.pool.settings.http.http.as_ref();
        let mut known = HTTP_VERSIONS.into_iter();
        let known = known.find(|(word, _)| written.is_some_and(|text| text.value == *word));
        known.map_or_else(HttpVersion::default, |(_, version)| version)
    }

    /// The plan's fields: first the fields written beside the file, which may override the file's
    /// fields, then the fields of the pool with other names.
    ///
    /// The index of a varying field among all fields is its identity, which determines its random
    /// values.
    fn planned(&self) -> Vec<AmmoField> {
        let own = match is_on(&self.written.override_headers) {
            true => Precedence::Plan,
            false => Precedence::File,
        };
        let own = (&self.own, own, None);
        let common = (self.common, Precedence::File, Some(&self.own));
        let mut planned = Vec::new();
        for (fields, precedence, above) in [own, common] {
            let is_named = |name: &str| above.is_some_and(|above| above.has(name));
            for field in fields.fixed.iter().filter(|field| !is_named(field.name())) {
                let value = String::from_utf8_lossy(field.value()).into_owned();
                planned.push(AmmoField::fixed(field.name().to_owned(), value, precedence));
            }
            for field in fields
                .varying
                .iter()
                .filter(|field| !is_named(field.name()))
            {
                let part = planned.len() as u32;
                planned.push(AmmoField::varying(field.clone(), part, precedence));
            }
        }
        planned
    }

    /// The factor by which the file's times are divided, if the file is replayed with its times.
    /// Valid factors are from a millionth to a million. A rate or users in the same pool contradict
    /// the factor and are refused.
    fn speed(&self, scope: &mut Scope<'_>) -> Option<f64> {
        let text = self.written.speed.as_ref()?;
        let number = text.value.strip_suffix('x').unwrap_or(&text.value);
        let speed = number.parse().ok();
        let speed = speed.filter(|speed| (1.0 / SPEED_MAX..=SPEED_MAX).contains(speed));
        let shown = text.value.escape_debug();
        let wrong = format!(
            "`{shown}` is not a speed; write 1 for the recorded speed, or 2 for twice as fast"
        );
        let load = &self.pool.load;
        if let Some(other) = load.rate.as_ref().or(load.users.as_ref()) {
            let message =
                "`speed` replays the recorded times; leave out `rate` and `users`, or `speed`";
            scope.found.add(&other.place, message);
        }
        scope.found.ok(&text.place, speed.ok_or(wrong))
    }

    /// The number of requests that have data. A file without a bound is repeated, unless it is
    /// replayed with its own timing.
    ///
    /// The smallest bound applies: of the file, of its passes, or of a feed that a field beside the
    /// file reads once.
    fn count(&self, ammo: &Ammo) -> Option<u64> {
        let written = self.written;
        let value = |count: &drumfire_document::Count| count.value;
        let passes = written.passes.as_ref().map(value);
        let passes = passes.or_else(|| written.speed.as_ref().map(|_| 1));
        let of_passes = passes.map(|passes| ammo.rows().saturating_mul(passes));
        let limit = written.limit.as_ref().map(value);
        let varying = self.own.varying.iter().chain(&self.common.varying);
        let of_feeds = varying.filter_map(FieldTemplate::count);
        limit.into_iter().chain(of_passes).chain(of_feeds).min()
    }
}

/// Adds the calls of a file, with the metadata of its request and of its pool. Returns `None` after
/// a mistake was noted.
pub(crate) fn add_calls(
    calls: &mut Calls<'_>,
    written: &Written,
    request: &Request,
    may_read: &TemplateScope,
    made: &mut Made,
    scope: &mut Scope<'_>,
) -> Option<()> {
    let pool = calls.pool;
    let settings = &pool.settings;
    let language = request
        .data
        .templates
        .as_ref()
        .or(settings.templates.as_ref());
    let templates = Templates::in_language(language, may_read, scope);
    let own = match &request.fields {
        Fields::Listed(own) => templates.metadata(own, scope),
        Fields::File(file) => {
            let message = "a file of calls has its own metadata; add more with `metadata`";
            scope.found.add(&file.place, message);
            HeaderFields::default()
        }
    };
    let requests = AmmoRequests {
        pool,
        request,
        written,
        target: None,
        own,
        common: &templates.metadata(&settings.fields.metadata, scope),
    };
    requests.add_calls(calls, may_read, made, scope)
}

/// The methods of the calls in a file.
#[derive(Debug)]
struct Methods(BTreeMap<String, drumfire_schema::Method>);

impl AmmoCalls for Methods {
    fn message(&self, call: &str, payload: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let method = self.0.get(call).ok_or("the file has changed")?;
        let message = method.encode_input(payload);
        out.extend(message.map_err(|error| format!("{call}: {error}"))?);
        Ok(())
    }

    fn check_metadata(&self, key: &str, value: &str) -> Result<(), String> {
        let checked = drumfire_grpc::metadata::check(key.as_bytes(), value.as_bytes());
        checked.map_err(|error| format!("metadata `{}`: {error}", key.escape_debug()))
    }
}

/// The format named in the document, or the format that the extension of the file's name implies.
/// The content is never guessed: a line can be valid in more than one format.
fn format(written: &Written, scope: &mut Scope<'_>) -> Option<AmmoFormat> {
    if let Some(text) = &written.format {
        return scope.word(Some(text), &AMMO_FORMATS, "ammo format");
    }
    if !written.lines.is_empty() {
        return Some(AmmoFormat::Uri);
    }
    let file = &written.file.value;
    let lower = file.to_ascii_lowercase();
    let endings = [
        (".uri", AmmoFormat::Uri),
        (".uripost", AmmoFormat::UriPost),
        (".raw", AmmoFormat::Raw),
        (".jsonl", AmmoFormat::JsonLine),
        (".jsonline", AmmoFormat::JsonLine),
        (".log", AmmoFormat::AccessLog),
        (".har", AmmoFormat::Har),
    ];
    let known = endings.iter().find(|(ending, _)| lower.ends_with(ending));
    let names = AMMO_FORMATS.map(|(name, _)| name).join(", ");
    let message = format!("the format of {file} is unknown; set `format:` to one of {names}");
    scope.found.ok(
        &written.file.place,
        known.map(|(_, format)| *format).ok_or(message),
    )
}

/// The place of a switch that a user turned on; another tool's configuration follows its rules.
const fn written_on(switch: &Option<Switch>) -> Option<&Place> {
    match switch {
        Some(Switch {
            value: true, place, ..
        }) if !matches!(place, Place::Dialect { .. }) => Some(place),
        _ => None,
    }
}

/// Notes ammo among the steps of a scenario, where it is not allowed.
pub(crate) fn refuse_step(ask: &Ask, scope: &mut Scope<'_>) {
    if let Ask::Ammo(ammo) = ask {
        let message = "a file of requests can't be a step; move it to another pool";
        scope.found.add(&ammo.file.place, message);
    }
}
