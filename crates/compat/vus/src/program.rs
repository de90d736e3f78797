//! A script: its linked modules, and its users' instances of them.

use crate::loader::Files;
use crate::native::{self, RunHost};
use crate::settings::Settings;
use crate::state::{Shared, Stage};
use crate::surroundings::{Level, Surroundings};
use crate::{ask::Answer, ask::Ask};
use drumfire_k6::{Detail, Registry};
use drumfire_modules::{Linked, link};
use drumfire_realm::{Realm, RealmError};
use rquickjs::context::EvalOptions;
use rquickjs::{Array, CatchResultExt as _, Context, Ctx, Function, Object, Persistent, Value};
use serde_json::{Map, Value as Json};
use std::fmt;
use std::rc::Rc;

/// Why a script cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// The script is wrong, or needs what drumfire lacks.
    Script(String),
    /// The realm could not be made.
    Realm(String),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(text) | Self::Realm(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ProgramError {}

impl From<RealmError> for ProgramError {
    fn from(error: RealmError) -> Self {
        Self::Realm(error.to_string())
    }
}

/// Whether users share the built-in objects of the language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contexts {
    /// They do, unless the script changes such an object.
    #[default]
    Shared,
    /// Each user has its own.
    Isolated,
}

/// What a program is made of.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The path of the script.
    pub name: &'a str,
    /// The text of the script, if it is not that of the file.
    pub text: Option<String>,
    /// What `__ENV` has.
    pub environment: &'a [(String, String)],
    /// The seed of the random numbers of users.
    pub seed: u64,
    /// Which parts of a run have metrics of their own.
    pub detail: Detail,
    /// Whether users share the built-in objects of the language.
    pub contexts: Contexts,
}

/// The script in one context.
struct Compiled {
    context: Context,
    run: Persistent<Function<'static>>,
    hosts: Persistent<Array<'static>>,
    drive: Persistent<Function<'static>>,
}

/// The exports of a user's instance of the script.
pub(crate) struct Instance {
    pub(crate) context: Context,
    pub(crate) exports: Persistent<Object<'static>>,
    pub(crate) drive: Persistent<Function<'static>>,
}

/// A script with its realm. The first instance, which has the number 0, is made by [`Program::load`].
pub struct Program {
    // Dropped in this order: values before the realm.
    pub(crate) first: Instance,
    compiled: Option<Compiled>,
    _environments: Environments,
    pub(crate) shared: Rc<Shared>,
    pub(crate) realm: Realm<Ask, Answer>,
    options: Map<String, Json>,
}

impl Program {
    /// Links the script of a file, or the given text under its name, and runs its top level once.
    ///
    /// # Errors
    ///
    /// The script is wrong: an exception of its top level, a module that does not exist.
    pub fn load(
        source: Source<'_>,
        mut surroundings: Box<dyn Surroundings>,
    ) -> Result<Self, ProgramError> {
        let name = source.name;
        let mut files = Files {
            surroundings: &mut *surroundings,
            entry: source.text.map(|text| (name.to_owned(), text)),
        };
        let linked =
            link(name, &mut files).map_err(|error| ProgramError::Script(error.to_string()))?;
        let is_shared = linked.shared.is_empty() && source.contexts == Contexts::Shared;
        if let Some((place, path)) = linked.shared.first() {
            let text = format!(
                "{place}: the script changes {path}, which users share; each user gets a separate context, some 60 kB"
            );
            surroundings.log(Level::Debug, &text, None);
        }
        let settings =
            Settings::read(&Map::new(), "").map_err(|error| ProgramError::Script(error.0))?;
        let shared = Shared::new(
            Registry::new(source.detail),
            settings,
            surroundings,
            linked,
            name.to_owned(),
        );
        let shared = shared.ok_or_else(|| ProgramError::Realm("a metric is missing".to_owned()))?;
        let shared = Rc::new(shared);
        shared.add_user(source.seed);
        let mut realm = Realm::new()?;
        let environments = Environments(Rc::clone(&shared));
        let compiled = Compiled::new(&realm, &shared, realm.context().clone())?;
        add_environment(&realm, &shared, source.environment)?;
        realm.watch()?;
        let first = compiled.instance(&realm, &shared)?;
        let changes = realm.changes()?;
        let options = read_options(&realm, &first)?;
        let is_shared = is_shared && changes.is_empty();
        Ok(Self {
            first,
            compiled: is_shared.then_some(compiled),
            _environments: environments,
            shared,
            realm,
            options,
        })
    }

    /// The `options` that the script exports.
    #[must_use]
    pub const fn options(&self) -> &Map<String, Json> {
        &self.options
    }

    /// Whether the script exports a function of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let exports = self.first.exports.clone();
        self.realm.enter(&self.first.context, |ctx| {
            let exports = exports.restore(&ctx);
            let value = exports.and_then(|exports| exports.get::<_, Value<'_>>(name));
            value.is_ok_and(|value| value.is_function())
        })
    }

    /// The names of the script's exports.
    #[must_use]
    pub fn exports(&self) -> &[String] {
        &self.shared.linked.exports
    }

    /// Whether users share built-in objects.
    #[must_use]
    pub const fn shares(&self) -> bool {
        self.compiled.is_some()
    }

    /// Makes an instance of the script for the user that is set in the shared state.
    pub(crate) fn instance(&self) -> Result<Instance, ProgramError> {
        self.shared.stage.set(Stage::Init);
        match &self.compiled {
            Some(compiled) => compiled.instance(&self.realm, &self.shared),
            None => {
                let context = self.realm.isolated()?;
                Compiled::new(&self.realm, &self.shared, context)?
                    .instance(&self.realm, &self.shared)
            }
        }
    }

    /// Adds the environment of a scenario; the first one is that of the run.
    pub(crate) fn add_environment(
        &self,
        environment: &[(String, String)],
    ) -> Result<(), ProgramError> {
        add_environment(&self.realm, &self.shared, environment)
    }
}

/// Frees the environments when it is dropped, which must be before the realm. Native functions hold the shared
/// state, which holds these values of their runtime: the collector does not see this cycle.
struct Environments(Rc<Shared>);

impl Drop for Environments {
    fn drop(&mut self) {
        self.0.environments.borrow_mut().clear();
    }
}

fn add_environment(
    realm: &Realm<Ask, Answer>,
    shared: &Shared,
    environment: &[(String, String)],
) -> Result<(), ProgramError> {
    let made = realm.enter(realm.context(), |ctx| {
        let object = Object::new(ctx.clone())?;
        for (name, value) in environment {
            object.set(name.as_str(), value.as_str())?;
        }
        Ok::<_, rquickjs::Error>(Persistent::save(&ctx, object))
    });
    let made = made.map_err(|error| ProgramError::Realm(error.to_string()))?;
    shared.environments.borrow_mut().push(made);
    Ok(())
}

/// The options that a script exports, as JSON.
fn read_options(
    realm: &Realm<Ask, Answer>,
    first: &Instance,
) -> Result<Map<String, Json>, ProgramError> {
    let exports = first.exports.clone();
    let text = realm.enter(&first.context, |ctx| {
        let read = || -> rquickjs::Result<String> {
            let exports = exports.restore(&ctx)?;
            let options: Value<'_> = exports.get("options")?;
            let text = ctx.json_stringify(options)?;
            text.map_or_else(|| Ok("{}".to_owned()), |text| text.to_string())
        };
        read().catch(&ctx).map_err(|error| error.to_string())
    });
    let text = text.map_err(ProgramError::Script)?;
    match serde_json::from_str(&text) {
        Ok(Json::Object(map)) => Ok(map),
        _ => Err(ProgramError::Script(
            "the exported `options` must be an object".to_owned(),
        )),
    }
}

impl Compiled {
    fn new(
        realm: &Realm<Ask, Answer>,
        shared: &Rc<Shared>,
        context: Context,
    ) -> Result<Self, ProgramError> {
        let host = realm.host().clone();
        let made = realm.enter(&context, |ctx| {
            let made = prepare(&ctx, &host, shared);
            made.catch(&ctx).map_err(|error| error.to_string())
        });
        let (run, hosts, drive) = made.map_err(ProgramError::Script)?;
        Ok(Self {
            context,
            run,
            hosts,
            drive,
        })
    }

    /// Runs the top level of the script for the user that is set in the shared state.
    fn instance(
        &self,
        realm: &Realm<Ask, Answer>,
        shared: &Rc<Shared>,
    ) -> Result<Instance, ProgramError> {
        let made = realm.enter(&self.context, |ctx| {
            let made = || {
                let run = self.run.clone().restore(&ctx)?;
                let hosts = self.hosts.clone().restore(&ctx)?;
                let result: Value<'_> = run.call((hosts,))?;
                let exports: Object<'_> = match result.as_promise() {
                    Some(promise) => promise.finish()?,
                    None => result.get()?,
                };
                Ok::<_, rquickjs::Error>(Persistent::save(&ctx, exports))
            };
            made().catch(&ctx).map_err(|error| error.to_string())
        });
        let exports = made.map_err(|text| ProgramError::Script(shared.linked.translate(&text)))?;
        Ok(Instance {
            context: self.context.clone(),
            exports,
            drive: self.drive.clone(),
        })
    }
}

type Prepared = (
    Persistent<Function<'static>>,
    Persistent<Array<'static>>,
    Persistent<Function<'static>>,
);

/// Puts the globals and modules of k6 into a context, and compiles the script there.
fn prepare(ctx: &Ctx<'_>, host: &RunHost, shared: &Rc<Shared>) -> rquickjs::Result<Prepared> {
    let options = |name: &str| {
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(name.to_owned());
        options
    };
    let prelude: Function<'_> =
        ctx.eval_with_options(include_str!("prelude.js"), options("prelude.js"))?;
    let native = native::object(ctx, host, shared)?;
    let made: Object<'_> = prelude.call((native,))?;
    let modules: Object<'_> = made.get("modules")?;
    let hosts = Array::new(ctx.clone())?;
    for (at, name) in shared.linked.hosts.iter().enumerate() {
        hosts.set(at, modules.get::<_, Value<'_>>(name.as_str())?)?;
    }
    let drive: Function<'_> = made.get("drive")?;
    let run: Function<'_> =
        ctx.eval_with_options(shared.linked.code.as_str(), options(Linked::NAME))?;
    Ok((
        Persistent::save(ctx, run),
        Persistent::save(ctx, hosts),
        Persistent::save(ctx, drive),
    ))
}
