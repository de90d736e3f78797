//! Runs parts of test262, the conformance suite of ECMAScript, with the linker and a realm:
//!
//!     cargo run --release -p drumfire-modules --example test262 -- \
//!         CHECKOUT conformance/test262/known-failing.txt language/module-code language/expressions/yield
//!
//! Prints the tests that fail and are not in the list, and those in the list that pass, and ends with 1 if
//! there are any. Modules are linked; other tests run as scripts, in strict mode too. Each test has a fibre and
//! a context of its own, all in one realm, so that tests also see what other tests leave.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]
#![expect(clippy::disallowed_methods, reason = "a program that runs files")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use drumfire_modules::{Linked, Loader, Target, link};
use drumfire_realm::{Realm, Turn};
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Value};

/// Parts of the language that scripts do not have here, or that QuickJS lacks.
const ABSENT: [&str; 10] = [
    "dynamic-import",
    "import-attributes",
    "import-defer",
    "import-text",
    "import-bytes",
    "json-modules",
    "source-phase-imports",
    "source-phase-imports-module-source",
    "explicit-resource-management",
    "decorators",
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [checkout, list, folders @ ..] = arguments.as_slice() else {
        return Err("usage: test262 CHECKOUT LIST FOLDER…".into());
    };
    let checkout = PathBuf::from(checkout);
    let known = known(&fs::read_to_string(list)?);
    let mut files = Vec::new();
    for folder in folders {
        collect(&checkout.join("test").join(folder), &mut files)?;
    }
    files.sort();
    let suite = Suite {
        harness: checkout.join("harness"),
        realm: Realm::new()?,
    };
    let (mut passed, mut failed, mut skipped, mut wrong) = (0, 0, 0, 0);
    for file in files {
        let name = file
            .strip_prefix(checkout.join("test"))?
            .display()
            .to_string();
        let result = suite.run(&file)?;
        let reason = known.get(&name);
        match &result {
            Outcome::Skipped => skipped += 1,
            Outcome::Passed => passed += 1,
            Outcome::Failed(_) => failed += 1,
        }
        match (result, reason) {
            (Outcome::Failed(message), None) => println!("{name} fails: {message}"),
            (Outcome::Passed, Some(_)) => println!("{name} passes, and is in the list"),
            _ => continue,
        }
        wrong += 1;
    }
    println!("{passed} passed, {failed} failed as known or above, {skipped} skipped");
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The names of tests that fail, each with the reason behind ` # `.
fn known(list: &str) -> BTreeMap<String, String> {
    let lines = list.lines().filter_map(|line| line.split_once(" # "));
    lines
        .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
        .collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let is_test = path.extension().is_some_and(|ending| ending == "js")
            && !path.to_string_lossy().contains("_FIXTURE");
        if path.is_dir() || is_test {
            collect(&path, files)?;
        }
    }
    Ok(())
}

enum Outcome {
    Passed,
    Failed(String),
    Skipped,
}

/// What a test says about itself.
struct Facts {
    flags: Vec<String>,
    includes: Vec<String>,
    features: Vec<String>,
    /// The phase and the type of the error that must occur.
    negative: Option<(String, String)>,
}

impl Facts {
    fn of(source: &str) -> Self {
        let text = source
            .split("/*---")
            .nth(1)
            .and_then(|rest| rest.split("---*/").next())
            .unwrap_or("");
        let list = |key: &str| {
            let rest = text
                .split(&format!("\n{key}:"))
                .nth(1)
                .unwrap_or("")
                .trim_start_matches(' ');
            match rest.strip_prefix('[') {
                Some(list) => list
                    .split(']')
                    .next()
                    .unwrap_or("")
                    .split(',')
                    .map(|word| word.trim().to_owned())
                    .collect(),
                None => rest
                    .lines()
                    .skip(1)
                    .map_while(|line| {
                        line.trim_start()
                            .strip_prefix("- ")
                            .map(|word| word.trim().to_owned())
                    })
                    .collect::<Vec<_>>(),
            }
        };
        let negative = text.split("\nnegative:").nth(1).map(|rest| {
            let value = |key: &str| {
                let value = rest.split(&format!("{key}:")).nth(1).unwrap_or("");
                value.lines().next().unwrap_or("").trim().to_owned()
            };
            (value("phase"), value("type"))
        });
        Self {
            flags: list("flags"),
            includes: list("includes"),
            features: list("features"),
            negative,
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

struct Files;

impl Loader for Files {
    fn resolve(&mut self, specifier: &str, from: &str) -> Result<Target, String> {
        let path = Path::new(from).with_file_name(specifier.trim_start_matches("./"));
        Ok(Target::Module(path.display().to_string()))
    }

    fn read(&mut self, name: &str) -> Result<String, String> {
        fs::read_to_string(name).map_err(|error| error.to_string())
    }
}

struct Suite {
    harness: PathBuf,
    realm: Realm<(), ()>,
}

/// How a program ends: the phase and the name of an error, with its message.
type Ended = Result<(), (&'static str, String, String)>;

impl Suite {
    fn run(&self, file: &Path) -> Result<Outcome, Box<dyn Error>> {
        let source = fs::read_to_string(file)?;
        let facts = Facts::of(&source);
        if facts
            .features
            .iter()
            .any(|feature| ABSENT.contains(&feature.as_str()))
            || source.contains("$262")
        {
            return Ok(Outcome::Skipped);
        }
        let mut harness = String::new();
        let done = if facts.has("async") {
            &["doneprintHandle.js"][..]
        } else {
            &[]
        };
        let names = ["assert.js", "sta.js"].iter().chain(done).copied();
        if !facts.has("raw") {
            for name in names.chain(facts.includes.iter().map(String::as_str)) {
                harness += &fs::read_to_string(self.harness.join(name))?;
                harness.push('\n');
            }
        }
        let modes: &[bool] = match (
            facts.has("module") || facts.has("raw"),
            facts.has("onlyStrict"),
            facts.has("noStrict"),
        ) {
            (true, _, _) | (_, _, true) => &[false],
            (_, true, _) => &[true],
            _ => &[false, true],
        };
        for &strict in modes {
            let module = facts.has("module").then(|| file.display().to_string());
            let program = Program {
                harness: harness.clone(),
                source: source.clone(),
                module,
                strict,
                is_async: facts.has("async"),
            };
            let ended = self.end(program)?;
            let message = match (&ended, &facts.negative) {
                (Ok(()), None) => continue,
                (Err((phase, name, _)), Some((wanted, kind)))
                    if name == kind
                        && (*phase == "script"
                            || (*phase == "runtime") == (wanted == "runtime")) =>
                {
                    continue;
                }
                (Err((phase, name, message)), _) => format!("{phase} {name}: {message}"),
                (Ok(()), Some((phase, kind))) => format!("no {kind} in phase {phase}"),
            };
            return Ok(Outcome::Failed(message));
        }
        Ok(Outcome::Passed)
    }

    fn end(&self, program: Program) -> Result<Ended, Box<dyn Error>> {
        let context: Context = self.realm.isolated()?;
        let host = self.realm.host().clone();
        let mut fibre = self.realm.fibre(&context, 0, move |ctx| {
            let printed = Rc::new(Cell::new(None));
            let print = printed.clone();
            let function = host.function(&ctx, "print", move |ctx, arguments| {
                print.set(Some(
                    arguments.first().map_or(Ok(String::new()), Value::get)?,
                ));
                Ok(Value::new_undefined(ctx.clone()))
            });
            let set = function.and_then(|function| ctx.globals().set("print", function));
            set.map_err(|error| ("runtime", "host".to_owned(), error.to_string()))?;
            program.run(&ctx, || host.run_jobs(&ctx))?;
            match printed.take() {
                Some(text) if text != "Test262:AsyncTestComplete" => {
                    Err(("runtime", "async".to_owned(), text))
                }
                None if program.is_async => {
                    Err(("runtime", "async".to_owned(), "not done".to_owned()))
                }
                _ => Ok(()),
            }
        })?;
        match fibre.begin() {
            Turn::Ended(ended) => Ok(ended),
            Turn::Waits(()) => Err("a test waits".into()),
        }
    }
}

struct Program {
    harness: String,
    source: String,
    module: Option<String>,
    strict: bool,
    is_async: bool,
}

impl Program {
    fn run(&self, ctx: &Ctx<'_>, jobs: impl Fn() -> rquickjs::Result<()>) -> Ended {
        let options = |name: &str| {
            let mut options = EvalOptions::default();
            options.strict = false;
            options.filename = Some(name.to_owned());
            options
        };
        let error = |phase, error: CaughtError<'_>| {
            let name = match &error {
                CaughtError::Exception(error) => error
                    .as_object()
                    .get::<_, String>("name")
                    .unwrap_or_default(),
                CaughtError::Value(value) => value
                    .as_object()
                    .and_then(|object| object.get::<_, Object<'_>>("constructor").ok())
                    .and_then(|object| object.get::<_, String>("name").ok())
                    .unwrap_or_default(),
                CaughtError::Error(_) => String::new(),
            };
            (phase, name, error.to_string())
        };
        ctx.eval_with_options::<(), _>(self.harness.as_str(), options("harness"))
            .catch(ctx)
            .map_err(|e| error("harness", e))?;
        let Some(name) = &self.module else {
            let directive = if self.strict { "\"use strict\";\n" } else { "" };
            let source = format!("{directive}{}", self.source);
            let evaluated = ctx
                .eval_with_options::<Value<'_>, _>(source, options("test"))
                .catch(ctx);
            evaluated.map_err(|e| error("script", e))?;
            return jobs().catch(ctx).map_err(|e| error("runtime", e));
        };
        let linked = link(name, &mut Files)
            .map_err(|error| ("link", "SyntaxError".to_owned(), error.to_string()))?;
        let function =
            ctx.eval_with_options::<Function<'_>, _>(linked.code.as_str(), options(Linked::NAME));
        let function = function.catch(ctx).map_err(|e| error("parse", e))?;
        let result = || -> rquickjs::Result<()> {
            let hosts: Vec<Value<'_>> = Vec::new();
            let result: Value<'_> = function.call((hosts,))?;
            jobs()?;
            match result.as_promise() {
                Some(promise) => promise.finish::<Value<'_>>().map(drop),
                None => Ok(()),
            }
        };
        result().catch(ctx).map_err(|e| error("runtime", e))
    }
}
