//! The interpreter behind templates: minijinja, with our variables and functions.
//!
//! minijinja hands a function its arguments and nothing of ours that would also reach macros, so
//! the state of a rendering lies in a thread-local while it lasts. Renderings do not nest.

use crate::computing::{self, integer, number_of};
use crate::expression::{LETTERS_MAX, Simple};
use crate::feed::json_rows::from_json;
use crate::growth;
use crate::render_context::RenderContext;
use crate::{JsonPlace, Sources, escape_json};
use crate::{date, go_text};
use drumfire_gotemplate::Escape;
use drumfire_plan::{CallSteps, DataCause, DataError, Datum, Functions, percent, secret};
use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

/// Steps that one rendering may take; a loop without an end is then an error and not a hang.
const STEPS_MAX: u64 = 10_000_000;
/// Bytes that one rendering may make.
pub(crate) const RENDERED_MAX: usize = 64 << 20;
thread_local! {
    /// The rendering that is under way on this thread.
    static RENDERING: RefCell<Option<Rendering>> = const { RefCell::new(None) };
}

/// The state that the interpreter's callbacks share in a rendering.
struct Rendering {
    context: RenderContext,
    /// Where the output stands, if it is JSON.
    place: Option<JsonPlace>,
    /// Whether the last value is marked as safe: written without escaping.
    safe: bool,
    /// What failed, where something did.
    cause: DataCause,
    /// The steps of the plan's own functions: the first call has its own, and the others what it
    /// leaves, so that a loop of heavy calls ends as one does.
    steps: CallSteps,
}

/// Compiled templates by name.
pub(crate) struct Jinja {
    environment: Environment<'static>,
    context: Context,
    /// How each template begins, as it was written.
    beginnings: HashMap<String, String>,
}

impl fmt::Debug for Jinja {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment's own form would evaluate its contents.
        let names = self.environment.templates().map(|(name, _)| name);
        f.debug_set().entries(names).finish()
    }
}

impl Jinja {
    pub(crate) fn new(sources: &Arc<Sources>) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(STEPS_MAX));
        environment.remove_global("debug");
        // The text that a block captured was escaped where it was written, and must not be again.
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("json".into()));
        environment.set_formatter(format);
        environment.add_function("new_uuid", new_uuid);
        environment.add_function("random_int", random_int);
        environment.add_function("random_float", random_float);
        environment.add_function("random_string", random_string);
        environment.add_function("choose", choose);
        let functions = sources.functions().cloned();
        environment.add_function(
            "js",
            move |state: &mut State<'_, '_>, name: String, arguments: Rest<Value>| {
                call_own(functions.as_deref(), state, &name, &arguments)
            },
        );
        environment.add_filter("urlencode", urlencode);
        environment.add_filter("urlescape", urlescape);
        environment.add_filter("item", item);
        environment.add_filter("fromjson", from_text);
        environment.add_filter("gojson", go_json);
        environment.add_filter("go", go);
        environment.add_filter("http_date", http_date);
        growth::bound(&mut environment);
        computing::add(&mut environment);
        let context = Context {
            sources: Arc::clone(sources),
            by_column: Vec::new(),
            lacking: Vec::new(),
        };
        Self {
            environment,
            context,
            beginnings: HashMap::new(),
        }
    }

    /// Compiles a template that was written as `source`.
    pub(crate) fn add(&mut self, name: &str, source: &str, prepared: &str) -> Result<(), String> {
        self.beginnings.insert(name.to_owned(), shorten(source));
        let added = self
            .environment
            .add_template_owned(name.to_owned(), prepared.to_owned());
        added.map_err(|error| self.explain(name, &error))
    }

    /// A feed of one column is read as an object, by the column's name, and not as a value.
    pub(crate) fn read_by_column(&mut self, feed: usize) {
        self.context.by_column.push(feed);
    }

    /// A variable of the user is undefined where it has no value: a template asks whether it is
    /// defined. Elsewhere it is a mistake to read it.
    pub(crate) fn may_lack(&mut self, variable: &str) {
        self.context.lacking.push(variable.to_owned());
    }

    /// An error, behind the template's beginning.
    fn explain(&self, name: &str, error: &Error) -> String {
        let beginning = self.beginnings.get(name).map_or("", String::as_str);
        in_template(beginning, &describe(error))
    }

    /// The variables that a template needs from outside, with an attribute perhaps: `a` or `a.b`.
    pub(crate) fn free_variables(&self, name: &str) -> Vec<String> {
        let template = self.environment.get_template(name);
        let globals: Vec<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let mut free: Vec<String> = template
            .map(|template| template.undeclared_variables(true))
            .unwrap_or_default()
            .into_iter()
            .filter(|name| !globals.contains(&name.split('.').next().unwrap_or(name)))
            .collect();
        free.sort();
        free
    }

    /// Appends the value of a template that is a single expression, unescaped. Returns whether it
    /// is marked as safe, so that it stays unescaped inside a JSON string.
    pub(crate) fn expression(
        &self,
        name: &str,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<bool, DataError> {
        self.render(name, None, context, out)
    }

    /// Appends a whole template; in JSON, values are escaped inside strings.
    pub(crate) fn whole(
        &self,
        name: &str,
        place: Option<JsonPlace>,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<(), DataError> {
        self.render(name, place, context, out).map(drop)
    }

    fn render(
        &self,
        name: &str,
        place: Option<JsonPlace>,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<bool, DataError> {
        let rendering = Rendering {
            context: context.clone(),
            place,
            safe: false,
            cause: DataCause::Data,
            steps: CallSteps::Own,
        };
        RENDERING.with(|cell| cell.replace(Some(rendering)));
        growth::begin();
        let rendered = match self.environment.get_template(name) {
            Ok(template) => template
                .render_captured_to(Value::from_object(self.context.clone()), Sink(out))
                .map(drop)
                .map_err(|error| (error.kind(), self.explain(name, &error))),
            Err(error) => Err((error.kind(), describe(&error))),
        };
        let rendering = RENDERING.with(RefCell::take);
        let cause = rendering.as_ref().map(|rendering| rendering.cause);
        rendered.map_err(|(kind, words)| DataError {
            words,
            cause: match is_of_name(kind) {
                true => DataCause::Name,
                false => cause.unwrap_or_default(),
            },
        })?;
        let Some(rendering) = rendering else {
            return Ok(false);
        };
        *context = rendering.context;
        Ok(rendering.safe)
    }
}

/// The template's beginning and its error, in one line.
pub(crate) fn in_template(source: &str, error: &str) -> String {
    format!("in the template `{}`: {error}", shorten(source))
}

/// The beginning of a text in one line, without secrets, for an error.
fn shorten(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = secret::excerpt(&words.join(" "));
    match text.char_indices().nth(CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Whether an error of this kind is that of a name which the language lacks. Values have no methods
/// of their own, so that one of any name is unknown.
const fn is_of_name(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnknownFilter
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownMethod
    )
}

/// The error, in one line.
fn describe(error: &Error) -> String {
    let mut text = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    if let Some(line) = error.line().filter(|&line| line > 1) {
        // Writing to a string does not fail.
        let _ = write!(text, " (line {line} of the template)");
    }
    text
}

/// The refusal of a text longer than [`RENDERED_MAX`].
pub(crate) fn too_long() -> String {
    format!("the text is longer than {RENDERED_MAX} bytes")
}

/// Runs with the rendering under way.
fn with_rendering<T>(use_it: impl FnOnce(&mut Rendering) -> T) -> Result<T, Error> {
    RENDERING.with(|cell| match cell.borrow_mut().as_mut() {
        Some(rendering) => Ok(use_it(rendering)),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            "nothing is being rendered",
        )),
    })
}

/// The error of a value, whose cause the rendering keeps.
fn failed(error: DataError) -> Error {
    let DataError { words, cause } = error;
    // Outside of a rendering no cause is asked for.
    let _ = with_rendering(|rendering| rendering.cause = cause);
    Error::new(ErrorKind::InvalidOperation, words)
}

/// Writes a value: texts and numbers as they are, others as JSON. It is escaped inside strings of
/// JSON, unless it is marked as safe.
fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let escape = with_rendering(|rendering| {
        rendering.safe = value.is_safe();
        !rendering.safe && rendering.place.is_some_and(JsonPlace::in_string)
    })?;
    // `tojson` is ours, and bounds what it makes.
    let is_go = value.downcast_object_ref::<go_text::GoJson>().is_some();
    let json = match value.kind() {
        // Only an `if` without an `else` makes one that is no error.
        ValueKind::Undefined => return Ok(()),
        ValueKind::String | ValueKind::Number => None,
        _ if is_go => None,
        _ => Some(state.apply_filter("tojson", std::slice::from_ref(value))?),
    };
    let value = json.as_ref().unwrap_or(value);
    if !escape {
        return Ok(write!(out, "{value}")?);
    }
    let text = value.to_string();
    let mut escaped = String::with_capacity(text.len());
    escape_json(&text, &mut escaped);
    Ok(out.write_str(&escaped)?)
}

/// Where rendered text goes, bounded.
struct Sink<'a>(&'a mut String);

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > RENDERED_MAX {
            return Err(io::Error::other(too_long()));
        }
        // The interpreter writes whole strings.
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let _ = with_rendering(|rendering| {
            if let Some(place) = &mut rendering.place {
                place.read(text);
            }
        });
        self.0.push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The variables of a rendering.
#[derive(Clone, Debug)]
struct Context {
    sources: Arc<Sources>,
    /// The feeds of one column that are read by the column's name.
    by_column: Vec<usize>,
    /// The variables of the user that are undefined where they have no value.
    lacking: Vec<String>,
}

impl Object for Context {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        if let Some(variable) = Simple::variable(name) {
            return with_rendering(|rendering| variable.value(&mut rendering.context)).ok();
        }
        if self.lacking.iter().any(|lacking| lacking == name) {
            let variable = self.sources.declared(name)?;
            let kept = with_rendering(|rendering| {
                let kept = rendering.context.kept(variable);
                kept.ok().map(Value::from)
            });
            return kept.ok().flatten();
        }
        if let Some(variable) = self.sources.variable(name) {
            let kept = with_rendering(|rendering| {
                let kept = rendering.context.kept(variable);
                kept.map(Value::from)
            });
            let kept = kept.and_then(|kept| kept.map_err(failed));
            return Some(kept.unwrap_or_else(Value::from));
        }
        let feed = self.sources.find(name)?;
        let row = Arc::new(Row {
            sources: Arc::clone(&self.sources),
            feed,
        });
        let is_value = self.sources.feed(feed)?.is_single() && !self.by_column.contains(&feed);
        Some(match is_value {
            true => row.cell(0).unwrap_or_default(),
            false => Value::from_dyn_object(row),
        })
    }
}

/// The row of a feed that this request takes.
#[derive(Debug)]
struct Row {
    sources: Arc<Sources>,
    feed: usize,
}

impl Object for Row {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.cell(self.sources.feed(self.feed)?.column(key.as_str()?)?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let columns = self.sources.feed(self.feed).map(|feed| {
            let names = feed.columns().map(Value::from);
            names.collect()
        });
        Enumerator::Values(columns.unwrap_or_default())
    }
}

impl Row {
    /// The value in a column.
    fn cell(&self, column: usize) -> Option<Value> {
        let taken = with_rendering(|rendering| {
            let request = &rendering.context.call;
            self.sources.value(self.feed, column, request)
        });
        let value = taken.ok()?.map_err(failed);
        Some(value.unwrap_or_else(Value::from))
    }
}

fn new_uuid() -> Result<String, Error> {
    with_rendering(|rendering| {
        let mut text = String::with_capacity(36);
        rendering.context.random().uuid(&mut text);
        text
    })
}

/// Percent-encodes what is not unreserved (RFC 3986 section 2.3), the slash included.
fn urlencode(text: Cow<'_, str>) -> String {
    percent::encoded(&text).into_owned()
}

/// Percent-encodes what can't stand in a path or query at all, and leaves what has a meaning there,
/// the slash and the percent sign included: blanks, control characters, those beyond ASCII, and
/// `"#<>\^{|}` with the grave accent (RFC 3986 section 2).
fn urlescape(text: Cow<'_, str>) -> String {
    percent::escaped(&text).into_owned()
}

/// An element of a JSON array, or the member of a JSON object, which a step has taken as text: a
/// string without its quotes, anything else as JSON. Places behind the end begin again, and negative
/// ones count from it. A text that is no array is its own only element, and one that is no object
/// the member of any name.
fn item(whole: Cow<'_, str>, place: &Value) -> Result<String, Error> {
    let refused = |message: String| Error::new(ErrorKind::InvalidOperation, message);
    let parsed = serde_json::from_str(&whole);
    let number = number_of(place).is_some();
    let found = match (parsed, place.as_str()) {
        (Ok(serde_json::Value::Object(mut members)), Some(name)) => members
            .remove(name)
            .ok_or_else(|| refused(format!("`item` found no member `{name}`")))?,
        (Ok(serde_json::Value::Array(elements)), name) if name.is_none() || number => {
            let place = integer(place)?;
            element(elements, place)
                .ok_or_else(|| refused("`item` of an empty array".to_owned()))?
        }
        _ => return Ok(whole.into_owned()),
    };
    Ok(match found {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

/// The element at a place that may lie outside.
fn element(elements: Vec<serde_json::Value>, place: i64) -> Option<serde_json::Value> {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let place = place.checked_rem_euclid(length)?;
    elements.into_iter().nth(usize::try_from(place).ok()?)
}

/// The value of a JSON text, or of an element or a member of it, which [`item`] finds in the same way:
/// another text is its own value. A value that is none of a text has elements and members, too.
fn from_text(text: &Value, place: Option<&Value>) -> Result<Value, Error> {
    let refused = |message: String| Error::new(ErrorKind::InvalidOperation, message);
    let parsed = text.as_str().map(serde_json::from_str);
    let value = match parsed {
        Some(Ok(parsed)) => from_json(parsed),
        Some(Err(_)) | None => text.clone(),
    };
    let Some(place) = place else {
        return Ok(value);
    };
    match (value.kind(), place.as_str()) {
        (ValueKind::Map, Some(name)) => {
            let member = value.get_item(place)?;
            match member.is_undefined() {
                true => Err(refused(format!("`fromjson` found no member `{name}`"))),
                false => Ok(member),
            }
        }
        (ValueKind::Seq, name) if name.is_none() || number_of(place).is_some() => {
            let place: i64 = integer(place)?;
            let length = value.len().and_then(|length| i64::try_from(length).ok());
            match place.checked_rem_euclid(length.unwrap_or_default()) {
                Some(place) => value.get_item(&Value::from(place)),
                None => Ok(Value::default()),
            }
        }
        _ => Ok(value),
    }
}

/// A value that Go has read from JSON.
fn go_json(value: Value) -> Result<Value, Error> {
    growth::check(&value)?;
    Ok(go_text::GoJson::marked(growth::computed(value)))
}

/// The text of a template of Go's for a value; `html` escapes what is printed.
fn go(text: Cow<'_, str>, data: &Value, escape: Option<&str>) -> Result<String, Error> {
    let escape = match escape {
        None => Escape::None,
        Some("html") => Escape::Html,
        Some(other) => {
            let message = format!("unknown escape `{other}` of `go`; use html");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
    };
    growth::check(data)?;
    // The value may be computed, by this rendering, while it is read.
    let data = growth::computed(data.clone());
    let rendered =
        with_rendering(|rendering| go_text::render(&text, &data, escape, &mut rendering.context))?;
    rendered.map_err(|words| Error::new(ErrorKind::InvalidOperation, words))
}

/// A time in seconds since 1970 as header fields have it, in a zone that is as many seconds east of
/// Greenwich.
fn http_date(unix: i64, offset: Option<i64>, zone: Option<&str>) -> String {
    let local = unix.saturating_add(offset.unwrap_or(0));
    let mut text = String::with_capacity(29);
    date::rfc1123(
        u64::try_from(local).unwrap_or(0),
        zone.unwrap_or("GMT"),
        &mut text,
    );
    text
}

/// From `min` to `max`, both included.
fn random_int(min: &Value, max: &Value) -> Result<i64, Error> {
    let (min, max) = (integer(min)?, integer(max)?);
    with_rendering(|rendering| rendering.context.random().int(min, max))
}

/// From `min` up to `max`; 0 and 1 when they are left out.
fn random_float(min: Option<&Value>, max: Option<&Value>) -> Result<f64, Error> {
    let min = min.map(computing::float).transpose()?.unwrap_or(0.0);
    let max = max.map(computing::float).transpose()?.unwrap_or(1.0);
    with_rendering(|rendering| min + (max - min) * rendering.context.random().unit())
}

/// Letters and digits.
fn random_string(length: &Value) -> Result<String, Error> {
    let length: u64 = integer(length)?;
    if length > LETTERS_MAX {
        let message = format!("a random string can have at most {LETTERS_MAX} letters");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    with_rendering(|rendering| {
        let mut text = String::new();
        rendering
            .context
            .random()
            .letters(length as usize, &mut text);
        text
    })
}

/// Calls a function that the plan brings.
fn call_own(
    functions: Option<&dyn Functions>,
    state: &mut State<'_, '_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    let Some(functions) = functions else {
        let words = "the pool has no `script` with functions for `js`";
        return Err(failed(DataError {
            words: words.to_owned(),
            cause: DataCause::Name,
        }));
    };
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(datum(state, argument)?);
    }
    let (request, steps) = with_rendering(|rendering| {
        let steps = std::mem::replace(&mut rendering.steps, CallSteps::Left);
        (rendering.context.call.clone(), steps)
    })?;
    let returned = functions.call(name, &given, &request, steps);
    let returned = returned.map_err(|error| {
        let cause = match functions.has(name) {
            true => error.cause,
            false => DataCause::Function,
        };
        failed(DataError { cause, ..error })
    });
    match returned? {
        None => Err(failed(DataError::of_script(format!(
            "the function `{name}` returned nothing"
        )))),
        Some(Datum::Text(text)) => Ok(Value::from(text)),
        Some(Datum::Json(json)) => {
            let parsed = serde_json::from_str(&json);
            let parsed =
                parsed.map_err(|error| failed(DataError::of_script(format!("{name}: {error}"))));
            parsed.map(from_json)
        }
    }
}

/// A value as an argument of such a function.
fn datum(state: &mut State<'_, '_>, value: &Value) -> Result<Datum, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Datum::Text(text.to_owned()));
    }
    if value.is_undefined() {
        let words = "an argument has no value";
        return Err(Error::new(ErrorKind::UndefinedError, words));
    }
    // A text that `tojson` gives is JSON, and what it is of was none.
    let json = state.apply_filter("tojson", std::slice::from_ref(value))?;
    Ok(Datum::Json(json.to_string()))
}

/// Any element of a list.
fn choose(list: &Value) -> Result<Value, Error> {
    let count = list.len().unwrap_or(0) as u64;
    if count == 0 {
        let message = "`choose` needs a list with at least one element";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let index = with_rendering(|rendering| rendering.context.random().below(count))?;
    list.get_item(&Value::from(index))
}
