//! The functions of the host that the JavaScript of `prelude.js` calls.

mod http;
mod pages;
mod sockets;

use crate::answer::responses;
use crate::arguments::Arguments;
use crate::ask::{Answer, Ask};
use crate::crypto;
use crate::jars;
use crate::loader::joined;
use crate::state::{Shared, Stage};
use crate::surroundings::Level;
use drumfire_k6::MetricId;
use drumfire_plan::Url;
use drumfire_realm::{Host, buffer_bytes};
use drumfire_units::{Nanos, Random};
use rquickjs::context::EvalOptions;
use rquickjs::{Array, Ctx, Object, Result, Value};
use std::rc::Rc;

/// A pause in which a user does not keep the memory of its deeper calls.
const LONG_PAUSE: Nanos = Nanos::from_millis(500);

/// The host of a run's realm.
pub(crate) type RunHost = Host<Ask, Answer>;

/// Makes the object of native functions for a context.
pub(crate) fn object<'js>(
    ctx: &Ctx<'js>,
    host: &RunHost,
    shared: &Rc<Shared>,
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let natives = Natives {
        ctx,
        host,
        shared,
        object: &object,
    };
    natives.facts()?;
    natives.waits()?;
    natives.events()?;
    natives.samples()?;
    natives.groups()?;
    natives.texts()?;
    natives.stores()?;
    Ok(object)
}

struct Natives<'a, 'js> {
    ctx: &'a Ctx<'js>,
    host: &'a RunHost,
    shared: &'a Rc<Shared>,
    object: &'a Object<'js>,
}

impl<'js> Natives<'_, 'js> {
    /// Adds a function.
    fn add<F>(&self, name: &str, run: F) -> Result<()>
    where
        F: Fn(&Shared, Arguments<'_, 'js>) -> Result<Value<'js>> + 'js,
    {
        let shared = Rc::clone(self.shared);
        let function = self.host.function(self.ctx, name, move |ctx, list| {
            run(&shared, Arguments { ctx, list })
        })?;
        self.object.set(name, function)
    }

    /// What a script can know of the run.
    fn facts(&self) -> Result<()> {
        self.add("vu", |shared, a| Ok(a.float(f64::from(shared.user.get()))))?;
        self.add("iter", |shared, a| {
            let iterations = shared.with_user(|user| user.iterations);
            Ok(a.float(iterations.saturating_sub(1) as f64))
        })?;
        self.add("env", |shared, a| {
            // The first one is that of the run.
            let place = match shared.stage.get() {
                Stage::Scenarios => shared.with_user(|user| user.scenario) + 1,
                _ => 0,
            };
            let environment = shared.environments.borrow().get(place).cloned();
            match environment {
                Some(environment) => Ok(environment.restore(a.ctx)?.into_value()),
                None => Ok(Object::new(a.ctx.clone())?.into_value()),
            }
        })?;
        self.add("clock", |shared, a| {
            Ok(a.float(shared.now.get().0 as f64 / 1e6))
        })?;
        self.add("nanos", |shared, a| {
            a.string(&shared.unix_time(shared.now.get()).0.to_string())
        })?;
        self.add("load", load)?;
        self.add("options", |shared, a| a.string(&shared.options.borrow()))?;
        self.add("exec", exec)?;
        self.add("running", |shared, a| {
            let name = a.text(0)?;
            match shared.stage.get() {
                Stage::Init => {
                    Err(a.mistake(&format!("{name} in the init context is not supported")))
                }
                Stage::Summary => {
                    Err(a.mistake(&format!("{name} in handleSummary() is not supported")))
                }
                Stage::Setup | Stage::Scenarios | Stage::Teardown => Ok(a.undefined()),
            }
        })?;
        self.add("initOnly", |shared, a| {
            let name = a.text(0)?;
            match shared.stage.get() {
                Stage::Init => Ok(a.undefined()),
                _ => Err(a.mistake(&format!(
                    "{name} is only available in the init stage, at the top level of the script"
                ))),
            }
        })
    }

    /// Functions that suspend their user.
    fn waits(&self) -> Result<()> {
        let host = self.host.clone();
        self.add("http", move |shared, a| {
            let errands = http::errands(shared, a)?;
            match host.wait(a.ctx, Ask::Http(errands))? {
                Answer::Http(outcomes) => responses(shared, a, outcomes),
                _ => Err(a.mistake("the requests have no answer")),
            }
        })?;
        let host = self.host.clone();
        self.add("sleep", move |_, a| {
            let seconds = a.number(0);
            let pause = if seconds > 0.0 {
                Nanos((seconds * 1e9).min(1e18) as u64)
            } else {
                Nanos::ZERO
            };
            if pause >= LONG_PAUSE {
                host.release_stack();
            }
            host.wait(a.ctx, Ask::Sleep(pause))?;
            Ok(a.undefined())
        })?;
        let host = self.host.clone();
        self.add("abort", move |_, a| {
            host.wait(a.ctx, Ask::Abort(a.text(0)?))?;
            Ok(a.undefined())
        })?;
        let host = self.host.clone();
        self.add("jobs", move |_, a| {
            host.run_jobs(a.ctx)?;
            Ok(a.undefined())
        })?;
        self.add("failTest", |shared, a| {
            shared.test_failed.replace(Some(a.text(0)?));
            Ok(a.undefined())
        })
    }

    /// Metrics and checks.
    fn samples(&self) -> Result<()> {
        self.add("metric", |shared, a| {
            if shared.stage.get() != Stage::Init {
                return Err(a.mistake("metrics must be declared in the init context"));
            }
            let declared = shared.declare(&a.text(0)?, &a.text(1)?, a.flag(2));
            let id = declared.map_err(|message| a.mistake(&message))?;
            Ok(a.float(id.number() as f64))
        })?;
        self.add("add", |shared, a| {
            let mut tags = shared.tags();
            for (name, value) in a.pairs(2)? {
                tags.set(&name, &value);
            }
            let id = MetricId::of_number(a.number(0) as usize);
            shared.add(id, a.number(1), &tags);
            Ok(a.undefined())
        })?;
        self.add("refused", |shared, a| {
            let message = a.text(0)?;
            if shared.settings.borrow().throws {
                return Err(a.mistake(&message));
            }
            shared.log(Level::Warning, &message, None);
            Ok(Value::new_bool(a.ctx.clone(), false))
        })?;
        self.add("check", |shared, a| {
            let mut tags = shared.tags();
            if shared.settings.borrow().has_tag("check") {
                tags.set("check", &a.text(0)?);
            }
            for (name, value) in a.pairs(2)? {
                tags.set(&name, &value);
            }
            let value = f64::from(u8::from(a.flag(1)));
            shared.add(shared.builtin.checks, value, &tags);
            Ok(a.undefined())
        })?;
        Ok(())
    }

    /// Groups, tags and the log.
    fn groups(&self) -> Result<()> {
        self.add("enter", |shared, a| {
            let name = a.text(0)?;
            let before = shared.with_user(|user| {
                let inner = format!("{}::{name}", user.group);
                std::mem::replace(&mut user.group, inner)
            });
            let list = Array::new(a.ctx.clone())?;
            list.set(0, before)?;
            list.set(1, shared.now.get().0 as f64)?;
            Ok(list.into_value())
        })?;
        self.add("leave", |shared, a| {
            let before = a.value(0);
            let before = before.as_array().ok_or_else(|| a.mistake("no group"))?;
            let begun: f64 = before.get(1)?;
            let duration = (shared.now.get().0 as f64 - begun) / 1e6;
            shared.add(shared.builtin.group_duration, duration, &shared.tags());
            let group: String = before.get(0)?;
            shared.with_user(|user| user.group = group);
            Ok(a.undefined())
        })?;
        self.add("tag", |shared, a| {
            let name = a.text(0)?;
            match shared.tags().value(&name) {
                Some(value) => a.string(value),
                None => Ok(a.undefined()),
            }
        })?;
        self.add("setTag", |shared, a| {
            let name = a.text(0)?;
            let value: Option<String> = a.value(1).get()?;
            shared.with_user(|user| match value {
                Some(value) => user.tags.set(&name, &value),
                None => {
                    let kept = user.tags.iter().filter(|(own, _)| *own != name);
                    user.tags = kept.collect();
                }
            });
            Ok(a.undefined())
        })?;
        self.add("tagNames", |shared, a| {
            let list = Array::new(a.ctx.clone())?;
            for (at, (name, _)) in shared.tags().iter().enumerate() {
                list.set(at, name)?;
            }
            Ok(list.into_value())
        })?;
        self.add("log", |shared, a| {
            let level = match a.text(0)?.as_str() {
                "debug" => Level::Debug,
                "warning" => Level::Warning,
                "error" => Level::Error,
                _ => Level::Info,
            };
            shared.log(level, &a.text(1)?, Some("console"));
            Ok(a.undefined())
        })
    }

    /// Texts, bytes and random numbers.
    fn texts(&self) -> Result<()> {
        self.add("utf8", |_, a| a.buffer(a.text(0)?.into_bytes()))?;
        self.add("text", |_, a| {
            a.string(&String::from_utf8_lossy(&a.bytes(0)?))
        })?;
        self.add("concat", |_, a| {
            let list = a.value(0);
            let list = list.as_array().ok_or_else(|| a.mistake("no list"))?;
            let mut all = Vec::new();
            for part in list.iter::<Value<'_>>() {
                all.extend(buffer_bytes(&part?).unwrap_or_default());
            }
            a.buffer(all)
        })?;
        self.add("b64encode", |_, a| {
            let alphabet = a.text(1)?;
            match crypto::encode(&a.bytes(0)?, &alphabet) {
                Some(text) => a.string(&text),
                None => Err(a.mistake(&crypto::unknown(&alphabet))),
            }
        })?;
        self.add("b64decode", |_, a| {
            let decoded = crypto::decode(&a.text(0)?, &a.text(1)?);
            a.buffer(decoded.map_err(|message| a.mistake(&message))?)
        })?;
        self.add("compress", |_, a| {
            let packed = crypto::compress(&a.text(0)?, &a.bytes(1)?);
            a.buffer(packed.map_err(|error| a.mistake(&error.to_string()))?)
        })?;
        self.add("hex", |_, a| a.string(&crypto::hex(&a.bytes(0)?)))?;
        self.add("hash", |_, a| {
            let key = buffer_bytes(&a.value(2));
            let sum = crypto::digest(&a.text(0)?, &a.bytes(1)?, key.as_deref());
            a.buffer(sum.ok_or_else(|| a.mistake("unknown hash algorithm"))?)
        })?;
        self.add("random", |shared, a| {
            Ok(a.float(shared.with_user(|user| user.random.unit())))
        })?;
        self.add("seed", |shared, a| {
            let seed = a.number(0).to_bits();
            shared.with_user(|user| user.random = Random::new(seed, 0, 0, 0));
            Ok(a.undefined())
        })?;
        self.add("randomBytes", |shared, a| {
            let count = a.number(0);
            if !(0.0..=67_108_864.0).contains(&count) {
                return Err(a.mistake("invalid number of random bytes"));
            }
            let mut bytes = vec![0; count as usize];
            shared.surroundings.borrow_mut().random(&mut bytes);
            a.buffer(bytes)
        })?;
        self.add("secret", |shared, a| {
            let source: Option<String> = a.value(0).get()?;
            let mut surroundings = shared.surroundings.borrow_mut();
            let secret = surroundings.secret(source.as_deref(), &a.text(1)?);
            drop(surroundings);
            a.string(&secret.map_err(|message| a.mistake(&message))?)
        })?;
        self.add("boundary", |shared, a| {
            let mut bytes = [0; 30];
            shared.surroundings.borrow_mut().random(&mut bytes);
            a.string(&crypto::hex(&bytes))
        })?;
        self.add("uuid", |shared, a| {
            let mut bytes = [0; 8];
            shared.surroundings.borrow_mut().random(&mut bytes);
            let mut text = String::new();
            Random::from_state(u64::from_le_bytes(bytes)).uuid(&mut text);
            a.string(&text)
        })
    }

    /// Files, shared arrays and cookies.
    fn stores(&self) -> Result<()> {
        self.add("hasShared", |shared, a| {
            let known = shared.arrays.borrow().contains_key(&a.text(0)?);
            Ok(Value::new_bool(a.ctx.clone(), known))
        })?;
        self.add("share", |shared, a| {
            let list: Vec<String> = a.value(1).get()?;
            let mut arrays = shared.arrays.borrow_mut();
            arrays.insert(a.text(0)?, Rc::new(list));
            Ok(a.undefined())
        })?;
        self.add("sharedLength", |shared, a| {
            let arrays = shared.arrays.borrow();
            let length = arrays.get(&a.text(0)?).map_or(0, |list| list.len());
            Ok(a.float(length as f64))
        })?;
        self.add("shared", |shared, a| {
            let list = shared.arrays.borrow().get(&a.text(0)?).cloned();
            let item = list
                .as_ref()
                .and_then(|list| list.get(a.number(1) as usize));
            a.string(item.map_or("null", String::as_str))
        })?;
        self.add("open", open)?;
        let host = self.host.clone();
        self.add("page", move |_, a| pages::open(&host, a))?;
        self.add("join", |_, a| pages::join(a))?;
        self.add("jar", jar)
    }
}

/// The function of a module that has a file of its own.
fn load<'js>(_: &Shared, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let name = a.text(0)?;
    let source = match name.as_str() {
        "secrets" => include_str!("modules/secrets.js"),
        "html" => include_str!("modules/html.js"),
        "webcrypto" => include_str!("modules/webcrypto.js"),
        "websockets" => include_str!("modules/websockets.js"),
        "ws" => include_str!("modules/ws.js"),
        _ => return Err(a.mistake("unknown module")),
    };
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(format!("{name}.js"));
    a.ctx.eval_with_options(source, options)
}

/// A file as a text or an ArrayBuffer. Paths are relative to the file that opens them, which is found in
/// the stack trace.
fn open<'js>(shared: &Shared, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let (path, binary, stack) = (a.text(0)?, a.flag(1), a.text(2)?);
    let translated = shared.linked.translate(&stack);
    // The first line is that of the function `open`.
    let caller = translated.lines().find_map(|line| {
        let place = line.rsplit_once('(').map_or(line, |(_, place)| place);
        let place = place.trim().trim_start_matches("at ").trim_end_matches(')');
        let mut parts = place.rsplitn(3, ':').skip(2);
        let file = parts.next()?;
        (file.contains('.') && file != "prelude.js").then(|| file.to_owned())
    });
    let from = caller.unwrap_or_else(|| shared.entry.clone());
    let full = joined(&from, path.strip_prefix("file://").unwrap_or(&path));
    let known = shared.files.borrow().get(&full).cloned();
    let bytes = match known {
        Some(bytes) => bytes,
        None if !shared.is_first.get() => {
            return Err(a.mistake(&format!(
                "open() can't be used with files that weren't previously opened during initialization (__VU==0), \
                 path: \"{path}\""
            )));
        }
        None => {
            let read = shared.surroundings.borrow_mut().read(&full);
            let bytes =
                read.map_err(|reason| a.mistake(&format!("can't open {path}: {reason}")))?;
            let bytes = Rc::new(bytes);
            shared.files.borrow_mut().insert(full, Rc::clone(&bytes));
            bytes
        }
    };
    match binary {
        true => a.buffer(bytes.to_vec()),
        false => a.string(&String::from_utf8_lossy(&bytes)),
    }
}

/// Operations on the cookies of the running user.
fn jar<'js>(shared: &Shared, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let act = a.text(0)?;
    if act == "new" {
        let added = shared.with_user(|user| user.jars.add());
        let number = added.ok_or_else(|| a.mistake("too many cookie jars of one user"))?;
        return Ok(a.float(number as f64));
    }
    let number = a.number(1) as usize;
    let url = Url::parse(&a.text(2)?).map_err(|error| a.mistake(&error.message))?;
    let now = shared.unix_time(shared.now.get()).0 / 1_000_000_000;
    let sent = shared.with_user(|user| jars::sent(user.jars.jar(number), &url, now));
    let store = |field: &str| {
        shared.with_user(|user| {
            let jar = user.jars.jar(number);
            jars::with_site(&url, |site| jar.store(field.as_bytes(), site, now))
        })
    };
    match act.as_str() {
        "list" => {
            let list = Array::new(a.ctx.clone())?;
            let flat = jars::pairs(&sent).flat_map(|(name, value)| [name, value]);
            for (at, text) in flat.enumerate() {
                list.set(at, text)?;
            }
            Ok(list.into_value())
        }
        "set" => Ok(Value::new_bool(a.ctx.clone(), store(&a.text(3)?))),
        "delete" => {
            let name = a.text(3)?;
            store(&format!("{name}=; Max-Age=0; Path=/"));
            Ok(a.undefined())
        }
        _ => {
            for (name, _) in jars::pairs(&sent) {
                store(&format!("{name}=; Max-Age=0; Path=/"));
            }
            Ok(a.undefined())
        }
    }
}

/// A member of `k6/execution`.
fn exec<'js>(shared: &Shared, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let (of, name) = (a.text(0)?, a.text(1)?);
    let user = shared.user.get();
    let facts = shared.with_user(|user| {
        (
            user.scenario,
            user.scenario_iterations,
            user.iteration_in_test,
        )
    });
    let (scenario, in_scenario, in_test) = facts;
    let number = match (of.as_str(), name.as_str()) {
        ("vu", "idInInstance" | "idInTest") => f64::from(user),
        ("vu", "iterationInInstance") => {
            shared.with_user(|user| user.iterations.saturating_sub(1)) as f64
        }
        ("vu", "iterationInScenario") => in_scenario.saturating_sub(1) as f64,
        ("instance", "iterationsInterrupted") => shared.interrupted.get() as f64,
        ("instance", "iterationsCompleted") => shared.completed.get() as f64,
        ("instance", "vusActive") => f64::from(shared.active.get()),
        ("instance", "vusInitialized") => shared.users.borrow().len().saturating_sub(1) as f64,
        ("instance", _) => {
            let run = shared.now.get() - shared.scenario_start.get();
            run.0 as f64 / 1e6
        }
        (_, field) => return scenario_fact(shared, a, field, scenario, in_test),
    };
    Ok(a.float(number))
}

/// A fact about the scenario of the running iteration.
fn scenario_fact<'js>(
    shared: &Shared,
    a: Arguments<'_, 'js>,
    field: &str,
    scenario: usize,
    in_test: u64,
) -> Result<Value<'js>> {
    let scenarios = shared.scenarios.borrow();
    let is_running = shared.stage.get() == Stage::Scenarios;
    let Some(of) = scenarios.get(scenario).filter(|_| is_running) else {
        return Err(
            a.mistake("getting scenario information outside of the VU context is not supported")
        );
    };
    Ok(match field {
        "name" => return a.string(&of.name),
        "executor" => return a.string(of.executor),
        "startTime" => a.float(of.start),
        "progress" => {
            let run = (shared.now.get() - of.started).0 as f64;
            a.float((run / (of.duration.0 as f64).max(1.0)).min(1.0))
        }
        _ => a.float(in_test as f64),
    })
}
