//! Files in memory, and an engine that runs what was linked.

use drumfire_modules::{LinkError, Linked, Loader, Target, link};
use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Object, Promise, Runtime, Value};

/// Files: a name, then a text.
pub(crate) struct Files<'a>(pub(crate) &'a [(&'a str, &'a str)]);

impl Loader for Files<'_> {
    fn resolve(&mut self, specifier: &str, _: &str) -> Result<Target, String> {
        match specifier {
            "host" => {
                let exports = ["default", "double", "later"].map(str::to_owned).to_vec();
                Ok(Target::Host {
                    name: "host".to_owned(),
                    exports,
                })
            }
            specifier => match specifier.strip_prefix("./") {
                Some(name) => Ok(Target::Module(name.to_owned())),
                None => Err(format!("unknown module `{specifier}`; use a path")),
            },
        }
    }

    fn read(&mut self, name: &str) -> Result<String, String> {
        let file = self.0.iter().find(|(known, _)| *known == name);
        file.map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| format!("no file {name}"))
    }
}

pub(crate) fn linked(files: &[(&str, &str)]) -> Result<Linked, LinkError> {
    link(files[0].0, &mut Files(files))
}

/// The exports of the first file as JSON, without functions; an exception as its text.
pub(crate) fn run(files: &[(&str, &str)]) -> String {
    let linked = match linked(files) {
        Ok(linked) => linked,
        Err(error) => return error.to_string(),
    };
    let runtime = Runtime::new().expect("a runtime");
    let context = Context::full(&runtime).expect("a context");
    context
        .with(|ctx| evaluate(&ctx, &linked))
        .unwrap_or_else(|error| linked.translate(&error))
}

fn evaluate(ctx: &Ctx<'_>, linked: &Linked) -> Result<String, String> {
    let options = || {
        let mut options = rquickjs::context::EvalOptions::default();
        options.strict = false;
        options.filename = Some(Linked::NAME.to_owned());
        options
    };
    let result = || {
        let program: Function<'_> = ctx.eval_with_options(linked.code.as_str(), options())?;
        let host: Object<'_> = ctx
            .eval("({ default: { name: 'host' }, double: (x) => 2 * x, later: async (x) => x })")?;
        let hosts = vec![host; linked.hosts.len()];
        let mut exports: Value<'_> = program.call((hosts,))?;
        if let Some(promise) = exports.as_promise().cloned() {
            exports = Promise::finish(&promise)?;
        }
        ctx.json_stringify(exports)
    };
    match result().catch(ctx) {
        Ok(text) => Ok(text.map_or_else(String::new, |text| text.to_string().expect("a text"))),
        Err(error) => Err(error.to_string()),
    }
}
