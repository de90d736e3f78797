//! The interpreter of templates and conditions: minijinja, with our variables, functions and
//! operators.
//!
//! minijinja passes a function its arguments and no state of ours that would also reach macros. So
//! the state of a rendering is in a thread-local during the rendering. Renderings do not nest.

use crate::expression::{LETTERS_MAX, Simple};
use crate::feed::json_rows::from_json;
use crate::growth;
use crate::operators::{self, integer};
use crate::program::{self, Kind, Program};
use crate::render_context::RenderContext;
use crate::{JsonPlace, Sources, escape_json, typed};
use crate::{date, go_text};
use drumfire_gotemplate::Escape;
use drumfire_plan::{
    CallSteps, DataCause, DataError, Datum, PlanFunctions, ValueForm, percent, secret,
};
use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{
    Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value, machinery,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

/// Steps of one rendering; a template that needs more fails instead of running for minutes. The
/// interpreter counts 64 bytes of text as a step, too.
const STEPS_MAX: u64 = 10_000_000;
/// Bytes of the text of one rendering.
pub(crate) const RENDERED_MAX: usize = 64 << 20;
/// The template whose one expression starts the program of a template with blocks: only the
/// interpreter can make an output with a writer of ours. No other template can have the name.
const ENTRY: &str = " entry ";

thread_local! {
    /// The rendering that is active on this thread.
    static RENDERING: RefCell<Option<Rendering>> = const { RefCell::new(None) };
}

/// The state that the interpreter's callbacks share in a rendering.
struct Rendering {
    context: RenderContext,
    /// The program to start, of a template with blocks.
    entry: Option<Entry>,
    /// The place of the output, if it is JSON.
    place: Option<JsonPlace>,
    /// Bytes that a single expression may print; the writer of a template with blocks has its own
    /// bound.
    room: usize,
    /// The value that was printed last.
    printed: PrintedValue,
    /// Whether the condition holds.
    holds: bool,
    /// The cause of a failure.
    cause: DataCause,
    /// The steps of the plan's own functions: the first call has its own, and later calls use what
    /// remains, so that a loop of heavy calls ends as a single call does.
    steps: CallSteps,
}

/// A program to start, and its variables.
struct Entry {
    program: Arc<Program>,
    root: Value,
}

/// A value that was printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrintedValue {
    /// Whether the value is marked as safe: written without escaping.
    pub(crate) is_safe: bool,
    /// Its type.
    pub(crate) form: ValueForm,
}

impl Rendering {
    /// Whether the output is inside of a JSON string.
    fn place_in_string(&self) -> bool {
        self.place.is_some_and(JsonPlace::in_string)
    }
}

/// Compiled texts.
pub(crate) struct Jinja {
    environment: Environment<'static>,
    kind: Kind,
    context: Arc<JinjaContext>,
    texts: Vec<CompiledText>,
}

/// The number of a text in its [`Jinja`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextId(usize);

/// A compiled text.
struct CompiledText {
    program: Arc<Program>,
    /// How the text begins, as it was written.
    beginning: String,
}

/// What is computed of a text.
#[derive(Clone, Copy)]
enum Part {
    /// The value of the only expression of the text.
    Value,
    /// The whole text; in JSON, from this place on.
    Whole(Option<JsonPlace>),
}

impl fmt::Debug for Jinja {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment's own form would evaluate its contents.
        let beginnings = self.texts.iter().map(|text| &text.beginning);
        f.debug_list().entries(beginnings).finish()
    }
}

impl Jinja {
    pub(crate) fn new(sources: &Arc<Sources>, kind: Kind) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(match kind {
            Kind::Template => UndefinedBehavior::Strict,
            // A condition can use a missing value as a truth.
            Kind::Condition => UndefinedBehavior::SemiStrict,
        });
        environment.set_fuel(Some(STEPS_MAX));
        environment.remove_global("debug");
        environment.set_auto_escape_callback(|_| program::escaping());
        environment.set_formatter(format);
        environment.add_global("null", ());
        add_functions(&mut environment, sources);
        growth::bound(&mut environment);
        operators::register(&mut environment);
        let added = environment.add_template(ENTRY, "{{ 0 }}");
        debug_assert!(added.is_ok(), "the entry is a template");
        let context = JinjaContext {
            sources: Arc::clone(sources),
            by_column: Vec::new(),
            lacking: Vec::new(),
        };
        Self {
            environment,
            kind,
            context: Arc::new(context),
            texts: Vec::new(),
        }
    }

    /// Compiles a text.
    pub(crate) fn compile_template(&mut self, text: &str) -> Result<TextId, String> {
        let beginning = shorten(text);
        let program = Program::compile(text, self.kind)
            .map_err(|error| explain(self.kind, &beginning, &error))?;
        self.texts.push(CompiledText {
            program: Arc::new(program),
            beginning,
        });
        Ok(TextId(self.texts.len() - 1))
    }

    /// Checks that a text is one expression.
    pub(crate) fn check_expression(&self, text: &str) -> Result<(), String> {
        let compiled = self.environment.compile_expression_owned(text.to_owned());
        compiled.map(drop).map_err(|error| describe(&error))
    }

    /// Reads a feed of one column as an object, by the column's name, and not as a value.
    pub(crate) fn read_by_column(&mut self, feed: usize) {
        Arc::make_mut(&mut self.context).by_column.push(feed);
    }

    /// Makes a variable of the user undefined if it has no value, because a template tests whether
    /// it is defined. Otherwise, reading such a variable is an error.
    pub(crate) fn may_lack(&mut self, variable: &str) {
        let context = Arc::make_mut(&mut self.context);
        context.lacking.push(variable.to_owned());
    }

    /// The variables that a text needs from outside, with an attribute perhaps: `a` or `a.b`.
    pub(crate) fn free_variables(&self, text: &str) -> Vec<String> {
        let environment: &Environment<'_> = &self.environment;
        let template = environment.template_from_str(text);
        let globals: Vec<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let is_global = |name: &str| {
            let root = name.split('.').next().unwrap_or(name);
            globals.contains(&root) && !self.context.sources.has(root)
        };
        let mut free: Vec<String> = template
            .map(|template| template.undeclared_variables(true))
            .unwrap_or_default()
            .into_iter()
            .filter(|name| !is_global(name))
            .collect();
        free.sort();
        free
    }

    /// Appends the value of a text that is a single expression, unescaped.
    pub(crate) fn expression(
        &self,
        text: TextId,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<PrintedValue, DataError> {
        Ok(self.render(text, Part::Value, context, out)?.printed)
    }

    /// Appends a whole text; in JSON, values are escaped inside strings.
    pub(crate) fn whole(
        &self,
        text: TextId,
        place: Option<JsonPlace>,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<(), DataError> {
        self.render(text, Part::Whole(place), context, out)
            .map(drop)
    }

    /// Whether a condition holds.
    pub(crate) fn holds(
        &self,
        text: TextId,
        context: &mut RenderContext,
    ) -> Result<bool, DataError> {
        let mut out = String::new();
        Ok(self.render(text, Part::Value, context, &mut out)?.holds)
    }

    fn render(
        &self,
        text: TextId,
        part: Part,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<Rendering, DataError> {
        let Some(text) = self.texts.get(text.0) else {
            return Err(DataError::new("the text was not compiled"));
        };
        let mut root = Some(Value::from_dyn_object(Arc::clone(&self.context)));
        let (entry, place, room) = match part {
            Part::Value => (None, None, RENDERED_MAX.saturating_sub(out.len())),
            Part::Whole(place) => {
                let program = Arc::clone(&text.program);
                let entry = root.take().map(|root| Entry { program, root });
                (entry, place, usize::MAX)
            }
        };
        RENDERING.set(Some(Rendering {
            context: context.take(),
            entry,
            place,
            room,
            printed: PrintedValue::default(),
            holds: false,
            cause: DataCause::Data,
            steps: CallSteps::Own,
        }));
        growth::start_rendering();
        let rendered = match root {
            Some(root) => {
                let mut out = machinery::make_string_output(out);
                text.program.execute(&self.environment, root, &mut out)
            }
            None => self.enter(out),
        };
        let Some(mut rendering) = RENDERING.take() else {
            return Err(DataError::new("the rendering is over already"));
        };
        *context = rendering.context.take();
        match rendered {
            Ok(()) => Ok(rendering),
            Err(error) => Err(DataError {
                words: explain(self.kind, &text.beginning, &error),
                cause: match is_of_name(error.kind()) {
                    true => DataCause::Name,
                    false => rendering.cause,
                },
            }),
        }
    }

    /// Starts the entry of the rendering, with a writer that has a bound and follows the place in
    /// JSON.
    fn enter(&self, out: &mut String) -> Result<(), Error> {
        let entry = self.environment.get_template(ENTRY)?;
        entry.render_captured_to((), Sink(out)).map(drop)
    }
}

/// An error, after the beginning of its text.
fn explain(kind: Kind, beginning: &str, error: &Error) -> String {
    match kind {
        Kind::Template => in_template(beginning, &describe(error)),
        Kind::Condition => format!("in the condition `{beginning}`: {}", describe(error)),
    }
}

/// Adds the functions and filters that templates have in addition to the interpreter's own.
fn add_functions(environment: &mut Environment<'static>, sources: &Sources) {
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
    environment.add_function("~", concat);
    environment.add_filter("urlencode", urlencode);
    environment.add_filter("urlescape", urlescape);
    environment.add_filter("item", item);
    environment.add_filter("fromjson", from_text);
    environment.add_filter("gojson", go_json);
    environment.add_filter("go", go);
    environment.add_filter("http_date", http_date);
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

/// Whether an error of this kind is an unknown name. Values have no methods, so that every method is
/// unknown.
const fn is_of_name(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnknownFilter
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownMethod
    )
}

/// The error and its line, with advice if a value has the wrong type.
fn describe(error: &Error) -> String {
    let mut text = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    if text.contains("cannot convert string to") {
        text.push_str("; cast a text with `| int` or `| float`");
    } else if text.contains("of type number") {
        text.push_str("; make a text of it with `| string`");
    }
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

/// Runs with the active rendering.
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
    // Without a rendering, no cause is needed.
    let _ = with_rendering(|rendering| rendering.cause = cause);
    Error::new(ErrorKind::InvalidOperation, words)
}

/// Writes a value: texts and numbers as they are, others as JSON. Inside a string of JSON, a value
/// is escaped unless it is marked as safe.
fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if let Some(entry) = with_rendering(|rendering| rendering.entry.take())? {
        return entry.program.execute(state.env(), entry.root, out);
    }
    if state.undefined_behavior() == UndefinedBehavior::SemiStrict {
        let holds = operators::truth(value)?;
        return with_rendering(|rendering| rendering.holds = holds);
    }
    let (escape, room) = with_rendering(|rendering| {
        rendering.printed = PrintedValue {
            is_safe: value.is_safe(),
            form: typed::form(value),
        };
        let escape = !value.is_safe() && rendering.place_in_string();
        (escape, rendering.room)
    })?;
    // Only an `if` without an `else` makes an undefined value that is not an error.
    if value.is_undefined() {
        return Ok(());
    }
    let text = operators::text(value)?;
    if !escape {
        if text.len() > room {
            return Err(Error::new(ErrorKind::WriteFailure, too_long()));
        }
        return Ok(out.write_str(&text)?);
    }
    let mut escaped = String::with_capacity(text.len());
    escape_json(&text, &mut escaped);
    Ok(out.write_str(&escaped)?)
}

/// Joins the texts of two values. If one is marked as safe, the other is escaped as it would be
/// when printed.
fn concat(left: &Value, right: &Value) -> Result<Value, Error> {
    if left.is_undefined() || right.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let is_safe = left.is_safe() || right.is_safe();
    let is_mixed = left.is_safe() != right.is_safe();
    let escapes = is_mixed && with_rendering(|rendering| rendering.place_in_string())?;
    let (a, b) = (operators::text(left)?, operators::text(right)?);
    growth::check_length(a.len().saturating_add(b.len()))?;
    let mut joined = String::with_capacity(a.len() + b.len());
    for (part, value) in [(a, left), (b, right)] {
        match escapes && !value.is_safe() {
            true => escape_json(&part, &mut joined),
            false => joined.push_str(&part),
        }
    }
    Ok(match is_safe {
        true => Value::from_safe_string(joined),
        false => Value::from(joined),
    })
}

/// The writer of rendered text, with a bound.
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
struct JinjaContext {
    sources: Arc<Sources>,
    /// The feeds of one column that are read by the column's name.
    by_column: Vec<usize>,
    /// The variables of the user that are undefined if they have no value.
    lacking: Vec<String>,
}

impl Object for JinjaContext {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        // The names of operators are not identifiers.
        if !name.starts_with(|first: char| first == '_' || first.is_alphabetic()) {
            return None;
        }
        if let Some(variable) = Simple::variable(name) {
            return with_rendering(|rendering| variable.value(&mut rendering.context)).ok();
        }
        if self.lacking.iter().any(|lacking| lacking == name) {
            let variable = self.sources.declared(name)?;
            let value = with_rendering(|rendering| rendering.context.value(variable).ok());
            return value.ok().flatten();
        }
        if let Some(variable) = self.sources.variable(name) {
            let value = with_rendering(|rendering| rendering.context.value(variable));
            let value = value.and_then(|value| value.map_err(failed));
            return Some(value.unwrap_or_else(Value::from));
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

/// The row of a feed that the request takes.
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

/// Percent-encodes all characters that are not unreserved (RFC 3986 section 2.3), also the slash.
fn urlencode(value: &Value) -> Result<String, Error> {
    Ok(percent::encoded(&operators::text(value)?).into_owned())
}

/// Percent-encodes only characters that are invalid in a path and a query: blanks, control
/// characters, characters beyond ASCII, and `"#<>\^{|}` with the grave accent (RFC 3986 section 2).
/// The slash and the percent sign stay.
fn urlescape(value: &Value) -> Result<String, Error> {
    Ok(percent::escaped(&operators::text(value)?).into_owned())
}

/// An element of a list or a member of an object, as [`from_text`] finds it. A list or an object in
/// it is a text: its JSON.
fn item(whole: &Value, place: &Value) -> Result<Value, Error> {
    let found = from_text(whole, Some(place))?;
    if found.is_undefined() {
        let message = "`item` of an empty array";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let is_scalar = matches!(
        found.kind(),
        ValueKind::String | ValueKind::Number | ValueKind::Bool | ValueKind::None
    );
    if is_scalar {
        return Ok(found);
    }
    growth::check(&found)?;
    let mut json = String::new();
    typed::push_json(&found, &mut json);
    Ok(Value::from(json))
}

/// The value of a JSON text, or an element or a member of it. Places beyond the end begin again, and
/// negative places count from the end. Another text is its own value, and its own only element. A
/// value that is not a text has elements and members, too.
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
                true => Err(refused(format!("the object has no member `{name}`"))),
                false => Ok(member),
            }
        }
        (ValueKind::Seq | ValueKind::Iterable, _) => {
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

/// The text of a Go template for a value; `html` escapes printed values.
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
    let min = min.map(operators::float).transpose()?.unwrap_or(0.0);
    let max = max.map(operators::float).transpose()?.unwrap_or(1.0);
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

/// Calls a function of the plan's script.
fn call_own(
    functions: Option<&dyn PlanFunctions>,
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

/// A value as an argument of a script's function.
fn datum(state: &mut State<'_, '_>, value: &Value) -> Result<Datum, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Datum::Text(text.to_owned()));
    }
    if value.is_undefined() {
        let words = "an argument has no value";
        return Err(Error::new(ErrorKind::UndefinedError, words));
    }
    // The filter is ours, which has a bound.
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
