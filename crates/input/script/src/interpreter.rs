//! An interpreter with a loaded script, on one thread.

use crate::{ScriptError, host, search};
use drumfire_plan::{Datum, Random, RequestContext};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::Args;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Persistent, Runtime, Value,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum memory of an interpreter, in bytes.
pub const MEMORY_MAX: usize = 32 * 1024 * 1024;
/// The maximum stack of an interpreter, in bytes.
pub const STACK_MAX: usize = 256 * 1024;
/// The maximum number of steps of one call. The interpreter counts loops, calls and matches; native
/// functions are charged for their work. The maximum takes some tenths of a second.
pub const STEPS_MAX: u64 = 10_000_000;

/// The number of steps between two calls of the interrupt handler; the interpreter's own constant.
const STEPS_PER_LOOK: u64 = 10_000;
/// The place in the random sequence for scripts, which no template uses.
const PLACE: u64 = u64::MAX - 1;

const PRELUDE: &str = include_str!("prelude.js");
const BOUNDS: &str = include_str!("bounds.js");

/// The parts of the language that a script may use: all except clocks and threads.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// An interpreter with a loaded script. The order of the fields matters: the script's values are
/// dropped before the runtime.
pub(crate) struct Interpreter {
    functions: HashMap<String, Persistent<Function<'static>>>,
    begin: Persistent<Function<'static>>,
    context: Context,
    _runtime: Runtime,
    /// The steps left for the current call.
    steps: Steps,
    /// The number of calls since steps were granted.
    calls: u64,
}

/// The steps left for a call. The interrupt handler subtracts steps. The interpreter counts no
/// steps in native functions, so these are charged explicitly ([`BOUNDS`]).
#[derive(Clone)]
struct Steps(Rc<Cell<u64>>);

impl Steps {
    fn new() -> Self {
        Self(Rc::new(Cell::new(STEPS_MAX)))
    }

    /// Starts a call with all steps.
    fn reset(&self) {
        self.0.set(STEPS_MAX);
    }

    fn are_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Subtracts steps. Returns whether all are spent.
    fn spend(&self, count: u64) -> bool {
        self.0.set(self.0.get().saturating_sub(count));
        self.are_spent()
    }
}

/// The error of a failed call, and whether the interpreter must be replaced.
pub(crate) struct FailedCall {
    pub(crate) error: ScriptError,
    /// The call was stopped, or the memory is exhausted: the interpreter must be replaced.
    pub(crate) is_spent: bool,
}

impl Interpreter {
    /// Loads a script: executes its top level.
    pub(crate) fn new(name: &str, source: &str) -> Result<Self, ScriptError> {
        let unusable = |error: rquickjs::Error| ScriptError(error.to_string());
        let runtime = Runtime::new().map_err(unusable)?;
        runtime.set_memory_limit(MEMORY_MAX);
        runtime.set_max_stack_size(STACK_MAX);
        let steps = Steps::new();
        let left = steps.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || left.spend(STEPS_PER_LOOK))));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(unusable)?;
        let begin = context.with(|ctx| {
            let loaded = load(&ctx, name, source, &steps).catch(&ctx);
            loaded.map_err(|error| described(&error, &steps, 1).error)
        })?;
        Ok(Self {
            functions: HashMap::new(),
            begin,
            context,
            _runtime: runtime,
            steps,
            calls: 0,
        })
    }

    /// Whether the script has a function with this name.
    pub(crate) fn has(&mut self, function: &str) -> bool {
        self.find(function).is_some()
    }

    /// A function of the script.
    fn find(&mut self, name: &str) -> Option<Persistent<Function<'static>>> {
        if let Some(known) = self.functions.get(name) {
            return Some(known.clone());
        }
        let is_name = |text: &str| {
            let begins =
                text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
            begins
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_$".contains(&b))
        };
        let found = is_name(name).then(|| {
            self.context.with(|ctx| {
                // An undeclared name is not an error after `typeof`.
                let text = format!("typeof {name} === 'function' ? {name} : undefined");
                let value: Option<Function<'_>> = ctx.eval(text).ok().flatten();
                value.map(|function| Persistent::save(&ctx, function))
            })
        });
        let found = found.flatten()?;
        self.functions.insert(name.to_owned(), found.clone());
        Some(found)
    }

    /// Calls a function of the script for a request.
    pub(crate) fn call(
        &mut self,
        name: &str,
        arguments: &[Datum],
        request: &RequestContext,
    ) -> Result<Option<Datum>, FailedCall> {
        let Some(function) = self.find(name) else {
            return Err(FailedCall {
                error: ScriptError(format!("the script has no function `{name}`")),
                is_spent: false,
            });
        };
        self.calls += 1;
        let calls = self.calls;
        let begin = self.begin.clone();
        self.context.with(|ctx| {
            let run = || {
                start(&ctx, begin, request)?;
                let function = function.restore(&ctx)?;
                let mut given = Args::new(ctx.clone(), arguments.len());
                for argument in arguments {
                    given.push_arg(value_of(&ctx, argument)?)?;
                }
                let returned: Value<'_> = function.call_arg(given)?;
                datum_of(&ctx, returned)
            };
            run()
                .catch(&ctx)
                .map_err(|error| described(&error, &self.steps, calls))
        })
    }

    /// Gives all steps to the next call and the calls after it, which share them.
    pub(crate) fn grant_steps(&mut self) {
        self.steps.reset();
        self.calls = 0;
    }
}

/// Sets up a context; returns the function that starts each call.
fn load<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: &str,
    steps: &Steps,
) -> rquickjs::Result<Persistent<Function<'static>>> {
    let begin: Function<'js> = ctx.eval(PRELUDE)?;
    host::register(ctx)?;
    let bound: Function<'js> = ctx.eval(BOUNDS)?;
    let left = steps.clone();
    // If the script catches this exception, the next charge or interrupt stops it again.
    let charge = move |ctx: Ctx<'js>, count: f64| match left.spend(count as u64) {
        true => Err(Exception::throw_range(&ctx, "too many steps")),
        false => Ok(()),
    };
    bound.call::<_, ()>((
        Function::new(ctx.clone(), charge)?,
        Function::new(ctx.clone(), search::find)?,
        Function::new(ctx.clone(), search::split)?,
    ))?;
    let begin = Persistent::save(ctx, begin);
    start(ctx, begin.clone(), &RequestContext::default())?;
    let mut options = EvalOptions::default();
    options.strict = true;
    options.filename = Some(name.to_owned());
    ctx.eval_with_options::<(), _>(source, options)?;
    Ok(begin)
}

/// Sets time and randomness to the values of a request.
fn start(
    ctx: &Ctx<'_>,
    begin: Persistent<Function<'static>>,
    request: &RequestContext,
) -> rquickjs::Result<()> {
    let mut random = Random::new(request.seed, request.number, 0, PLACE);
    // Any 32 bits will do.
    let mut word = || random.below(1 << 32) as u32;
    let milliseconds = (request.now / 1_000_000) as f64;
    let begin = begin.restore(ctx)?;
    begin.call((milliseconds, word(), word(), word(), word()))
}

fn value_of<'js>(ctx: &Ctx<'js>, datum: &Datum) -> rquickjs::Result<Value<'js>> {
    match datum {
        Datum::Text(text) => {
            let text = rquickjs::String::from_str(ctx.clone(), text)?;
            Ok(text.into_value())
        }
        Datum::Json(json) => ctx.json_parse(json.as_str()),
    }
}

/// Converts a returned value; `None` for `undefined` and `null`.
fn datum_of<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Option<Datum>> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    if let Some(text) = value.as_string() {
        return Ok(Some(Datum::Text(text.to_string()?)));
    }
    let json = ctx.json_stringify(value)?;
    json.map(|json| json.to_string().map(Datum::Json))
        .transpose()
}

/// Converts an error to its message.
fn described(error: &CaughtError<'_>, steps: &Steps, calls: u64) -> FailedCall {
    if steps.are_spent() {
        let (take, ended) = match calls {
            0 | 1 => ("it takes".to_owned(), "was"),
            _ => (format!("the first {calls} calls of this text take"), "were"),
        };
        return FailedCall {
            error: ScriptError(format!(
                "{take} more than {STEPS_MAX} steps and {ended} stopped"
            )),
            is_spent: true,
        };
    }
    let mut text = match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            let place = exception.stack().unwrap_or_default();
            let place = place.lines().next().unwrap_or_default().trim();
            match place {
                "" => message,
                place => format!("{message} ({place})"),
            }
        }
        // Without memory for the error object, the interpreter throws null.
        CaughtError::Value(value) if value.is_null() => {
            format!("out of memory: it takes more than {} MiB", MEMORY_MAX >> 20)
        }
        CaughtError::Value(value) => match value.as_string().and_then(|s| s.to_string().ok()) {
            Some(text) => text,
            None => "it threw a value that is not an error".to_owned(),
        },
        CaughtError::Error(error) => error.to_string(),
    };
    let is_spent = text.contains("out of memory") || matches!(error, CaughtError::Error(_));
    if text.starts_with("out of memory") {
        text = format!("it takes more than {} MiB of memory", MEMORY_MAX >> 20);
    }
    FailedCall {
        error: ScriptError(text),
        is_spent,
    }
}
