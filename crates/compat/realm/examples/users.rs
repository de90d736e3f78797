//! Measures what users of one script cost: memory, time to make one, CPU time of a call that waits.
//!
//!     cargo run --release -p drumfire-realm --example users -- 20000
//!     cargo run --release -p drumfire-realm --example users -- 1000 isolated
//!     cargo run --release -p drumfire-realm --example users -- 200 shared library.js
//!
//! `isolated` gives each user a context of its own. Each user evaluates the library, if one is given, and keeps
//! what it leaves in `exports`. CPU times are those of the kernel for the main thread (`/proc/self/schedstat`),
//! and the memory is what is resident (`/proc/self/statm`); so this program needs Linux.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures itself reads files"
)]

use std::error::Error;
use std::fs;
use std::path::Path;

use drumfire_realm::{Fibre, Host, Realm, Turn};
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Object, Persistent, Value};

/// The calls that each user makes while the CPU time is measured.
const ROUNDS: u32 = 20;

/// Two modules, as the linker writes them. The library takes the place of the comment.
const SCRIPT: &str = r#"(function (host) {
"use strict";
const http = host.default, check = host.check, group = host.group, sleep = host.sleep, waiting = host.waiting;
const exports = {};
/* library */
const base = "http://127.0.0.1:8080";
const address = (path, query) => `${base}/${path}?${Object.entries(query).map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&")}`;
function item(response) { return JSON.parse(response.body).items[0]; }

const params = { headers: { "Content-Type": "application/json", Authorization: "Bearer token" }, tags: { name: "items" } };
const customers = [];
for (let i = 0; i < 20; i++) customers.push({ id: i, name: `customer ${i}`, email: `customer${i}@example.com` });
const options = { stages: [{ duration: "30s", target: 20 }, { duration: "1m", target: 20 }], thresholds: { http_req_duration: ["p(95)<500"] } };

function iterate() {
    const customer = customers[Math.floor(Math.random() * customers.length)];
    group("browse", () => {
        const response = http.get(address("items", { customer: customer.id, page: 1 }), params);
        check(response, { "status is 200": (r) => r.status === 200, "is fast": (r) => r.timings.duration < 500 });
        waiting.add(item(response).id);
    });
    sleep(1);
}
return { __proto__: null, default: iterate, options, exports };
})"#;

const BODY: &str = r#"{"ok":true,"items":[{"id":1,"name":"first"},{"id":2,"name":"second"}]}"#;

type Users = Realm<(), ()>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: users COUNT [shared|isolated] [LIBRARY]";
    let count: u32 = arguments.first().ok_or(usage)?.parse()?;
    let isolated = match arguments.get(1).map_or("shared", String::as_str) {
        "shared" => false,
        "isolated" => true,
        _ => return Err(usage.into()),
    };
    let library = match arguments.get(2) {
        None => String::new(),
        Some(path) => format!(
            "(function (exports) {{{}\n}})(exports);",
            fs::read_to_string(path)?
        ),
    };
    measure(&SCRIPT.replace("/* library */", &library), count, isolated)
}

/// An object with the host's functions.
fn host_module<'js>(ctx: &Ctx<'js>, host: &Host<(), ()>) -> rquickjs::Result<Object<'js>> {
    let (get_host, sleep_host) = (host.clone(), host.clone());
    let get = host.function(ctx, "get", move |ctx, arguments| {
        let _: String = arguments.first().map_or(Ok(String::new()), Value::get)?;
        get_host.wait(ctx, ())?;
        let (response, timings) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
        timings.set("duration", 1.5)?;
        response.set("status", 200)?;
        response.set("body", BODY)?;
        response.set("timings", timings)?;
        Ok(response.into_value())
    })?;
    let sleep = host.function(ctx, "sleep", move |ctx, _| {
        sleep_host.wait(ctx, ())?;
        Ok(Value::new_undefined(ctx.clone()))
    })?;
    let check = host.function(ctx, "check", |ctx, arguments| {
        let [value, checks] = arguments else {
            return Err(rquickjs::Error::Unknown);
        };
        let mut passed = true;
        for check in checks.get::<Object<'_>>()?.props::<String, Function<'_>>() {
            passed &= check?.1.call::<_, bool>((value.clone(),))?;
        }
        Ok(Value::new_bool(ctx.clone(), passed))
    })?;
    let group = host.function(ctx, "group", |_, arguments| {
        let [_, run] = arguments else {
            return Err(rquickjs::Error::Unknown);
        };
        run.get::<Function<'_>>()?.call(())
    })?;
    let add = host.function(ctx, "add", |ctx, _| Ok(Value::new_undefined(ctx.clone())))?;
    let (http, waiting, module) = (
        Object::new(ctx.clone())?,
        Object::new(ctx.clone())?,
        Object::new(ctx.clone())?,
    );
    http.set("get", get)?;
    waiting.set("add", add)?;
    module.set("default", http)?;
    module.set("waiting", waiting)?;
    for (name, function) in [("sleep", sleep), ("check", check), ("group", group)] {
        module.set(name, function)?;
    }
    Ok(module)
}

/// The script, compiled, and the module of its host.
struct Program {
    run: Persistent<Function<'static>>,
    host: Persistent<Object<'static>>,
}

impl Program {
    fn new(realm: &Users, context: &Context, script: &str) -> Result<Self, String> {
        realm.enter(context, |ctx| {
            let mut options = EvalOptions::default();
            options.strict = false;
            options.filename = Some("script.js".to_owned());
            let program = || -> rquickjs::Result<Self> {
                let run: Function<'_> = ctx.eval_with_options(script, options)?;
                let host = host_module(&ctx, realm.host())?;
                Ok(Self {
                    run: Persistent::save(&ctx, run),
                    host: Persistent::save(&ctx, host),
                })
            };
            program().catch(&ctx).map_err(|error| error.to_string())
        })
    }

    /// The default export of a new user.
    fn user(
        &self,
        realm: &Users,
        context: &Context,
    ) -> Result<Persistent<Object<'static>>, String> {
        realm.enter(context, |ctx| {
            let user = || -> rquickjs::Result<Persistent<Object<'static>>> {
                let host = self.host.clone().restore(&ctx)?;
                let exports: Object<'_> = self.run.clone().restore(&ctx)?.call((host,))?;
                Ok(Persistent::save(&ctx, exports))
            };
            user().catch(&ctx).map_err(|error| error.to_string())
        })
    }
}

fn measure(script: &str, count: u32, isolated: bool) -> Result<(), Box<dyn Error>> {
    let mut realm = Users::new()?;
    let shared = Program::new(&realm, realm.context(), script)?;
    let before = cpu()?;
    realm.watch()?;
    let watched = cpu()?;
    let changes = realm.changes()?;
    println!(
        "{:.0} µs to remember what users share, {:.0} µs to compare it; changed: {changes:?}",
        (watched - before) as f64 / 1000.0,
        (cpu()? - watched) as f64 / 1000.0,
    );
    let (memory, begin) = (resident()?, cpu()?);
    let mut instances = Vec::new();
    for _ in 0..count {
        instances.push(if isolated {
            let context = realm.isolated()?;
            let own = Program::new(&realm, &context, script)?;
            let exports = own.user(&realm, &context)?;
            (context, exports)
        } else {
            (
                realm.context().clone(),
                shared.user(&realm, realm.context())?,
            )
        });
    }
    let (made, created) = (cpu()?, resident()?);
    let mut users = Vec::new();
    for (user, (context, exports)) in instances.into_iter().enumerate() {
        users.push(begun(&realm, &context, user as u32, exports)?);
    }
    let waiting = resident()?;
    for _ in 0..2 {
        users.iter_mut().for_each(|user| drop(user.resume(())));
    }
    let (iterated, before) = (resident()?, cpu()?);
    for _ in 0..ROUNDS {
        for user in &mut users {
            if let Turn::Ended(result) = user.resume(()) {
                return Err(format!("a user ended: {result:?}").into());
            }
        }
    }
    let after = cpu()?;
    let each = |bytes: u64| bytes.saturating_sub(memory) as f64 / 1000.0 / f64::from(count);
    println!(
        "{count} users, {}: {:.1} µs to make one; kB each: {:.1} made, {:.1} in the first call, {:.1} after an \
         iteration, {:.1} at the end; {:.2} µs of CPU for a call that waits",
        if isolated {
            "a context each"
        } else {
            "one realm"
        },
        (made - begin) as f64 / 1000.0 / f64::from(count),
        each(created),
        each(waiting),
        each(iterated),
        each(resident()?),
        (after - before) as f64 / 1000.0 / f64::from(ROUNDS) / f64::from(count),
    );
    Ok(())
}

type User = Fibre<(), (), Result<(), String>>;

/// A user in the first call that waits.
fn begun(
    realm: &Users,
    context: &Context,
    user: u32,
    exports: Persistent<Object<'static>>,
) -> Result<User, Box<dyn Error>> {
    let mut fibre = realm.fibre(context, user, move |ctx| {
        let iterate = || -> rquickjs::Result<()> {
            let default: Function<'_> = exports.restore(&ctx)?.get("default")?;
            loop {
                default.call::<_, ()>(())?;
            }
        };
        iterate().catch(&ctx).map_err(|error| error.to_string())
    })?;
    match fibre.begin() {
        Turn::Waits(()) => Ok(fibre),
        Turn::Ended(result) => Err(format!("a user ended: {result:?}").into()),
    }
}

/// The bytes of memory that are resident.
fn resident() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string(Path::new("/proc/self/statm"))?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("statm")?.parse()?;
    Ok(pages * 4096)
}

/// The nanoseconds of CPU time that the main thread has used.
fn cpu() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string(Path::new("/proc/self/schedstat"))?;
    Ok(text.split_whitespace().next().ok_or("schedstat")?.parse()?)
}
