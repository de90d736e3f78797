//! What a fibre does at its ends: errors, panics, kills, deep stacks.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use drumfire_realm::{Fibre, Realm, Turn};
use rquickjs::{CatchResultExt as _, Ctx, Function, Value};

type Task = Fibre<String, String, Result<String, String>>;

/// A realm whose global functions are `wait(text)`, which waits, `fail()`, which panics, and `note()`, which
/// counts.
struct World {
    realm: Realm<String, String>,
    notes: Rc<Cell<u32>>,
}

impl World {
    fn new() -> Self {
        let realm = Realm::<String, String>::new().expect("a realm");
        let notes = Rc::new(Cell::new(0));
        let (host, count) = (realm.host().clone(), notes.clone());
        realm.enter(realm.context(), |ctx| {
            let of = host.clone();
            let wait = host.function(&ctx, "wait", move |ctx, arguments| {
                let text = arguments.first().map_or(Ok(String::new()), Value::get)?;
                // Nothing that runs later may need what is below.
                of.release_stack();
                let answer = of.wait(ctx, text)?;
                Ok(rquickjs::String::from_str(ctx.clone(), &answer)?.into_value())
            });
            let fail = host.function(&ctx, "fail", |_, _| panic!("the host failed"));
            let note = host.function(&ctx, "note", move |ctx, _| {
                count.set(count.get() + 1);
                Ok(Value::new_undefined(ctx.clone()))
            });
            for (name, function) in [("wait", wait), ("fail", fail), ("note", note)] {
                ctx.globals().set(name, function.expect(name)).expect(name);
            }
        });
        Self { realm, notes }
    }

    /// A fibre that evaluates `source`, and then runs its jobs.
    fn fibre(&self, source: &'static str) -> Task {
        let host = self.realm.host().clone();
        let task = move |ctx: Ctx<'_>| {
            let result = ctx.eval::<Value<'_>, _>(source);
            let text = result.and_then(|value| {
                host.run_jobs(&ctx)?;
                ctx.globals()
                    .get::<_, Function<'_>>("String")?
                    .call((value,))
            });
            text.catch(&ctx).map_err(|error| error.to_string())
        };
        self.realm
            .fibre(self.realm.context(), 7, task)
            .expect("a stack")
    }

    fn objects(&self) -> u64 {
        self.realm.collect();
        self.realm.usage().objects
    }
}

fn waits(text: &str) -> Turn<String, Result<String, String>> {
    Turn::Waits(text.to_owned())
}

#[test]
fn a_call_returns_its_answer() {
    let world = World::new();
    let mut fibre = world.fibre("'a' + wait('one') + wait('two')");
    assert_eq!(fibre.begin(), waits("one"));
    assert_eq!(world.realm.host().user(), None);
    assert_eq!(fibre.resume("1".to_owned()), waits("two"));
    assert_eq!(
        fibre.resume("2".to_owned()),
        Turn::Ended(Ok("a12".to_owned()))
    );
}

#[test]
fn outside_of_a_fibre_nothing_waits() {
    let world = World::new();
    let error = world.realm.enter(world.realm.context(), |ctx| {
        ctx.eval::<(), _>("wait('x')")
            .catch(&ctx)
            .map_err(|error| error.to_string())
    });
    let text = error.expect_err("no fibre");
    assert!(
        text.contains("this function waits, which only a user can do"),
        "{text}"
    );
}

#[test]
fn a_killed_fibre_runs_nothing_more() {
    for source in [
        "try { wait('x') } catch { note() } finally { note() }",
        "(function* () { try { wait('x'); yield 1 } finally { note() } })().next()",
        "for (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: wait('x') }), return: note }) }) note()",
        "(async () => { try { await 1; wait('x') } finally { note() } })()",
        "Promise.resolve().then(note); wait('x')",
        "(function again() { Promise.resolve().then(again).then(() => { note() }) })(); wait('x')",
        "[2, 1].sort(() => { try { wait('x') } finally { note() } }); note()",
        "(() => { const later = (async () => { await null; note() })(); later.finally(note); wait('x') })()",
    ] {
        let world = World::new();
        let killed = || {
            let mut fibre = world.fibre(source);
            assert_eq!(fibre.begin(), waits("x"), "{source}");
            drop(fibre);
            assert_eq!(world.notes.get(), 0, "{source}");
            world.objects()
        };
        // The first one makes the built-in functions that it uses.
        let objects = killed();
        assert_eq!(killed(), objects, "{source}");
        let mut next = world.fibre("wait('still')");
        assert_eq!(next.begin(), waits("still"));
    }
}

#[test]
fn a_fibre_that_never_began_is_dropped() {
    let world = World::new();
    drop(world.fibre("note()"));
    assert_eq!(world.notes.get(), 0);
}

#[test]
fn a_panic_of_a_host_function_reaches_the_caller_of_resume() {
    let world = World::new();
    let panics = || {
        let mut other =
            world.fibre("(function named() { wait('other'); return new Error('e').stack })()");
        assert_eq!(other.begin(), waits("other"));
        for source in [
            "wait('x'); fail()",
            "wait('x'); try { [1].map(fail) } catch { note() } finally { note() }",
        ] {
            let mut fibre = world.fibre(source);
            assert_eq!(fibre.begin(), waits("x"));
            let panic =
                catch_unwind(AssertUnwindSafe(|| fibre.resume(String::new()))).expect_err("panic");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"the host failed"));
            assert_eq!(world.notes.get(), 0);
        }
        let Turn::Ended(Ok(stack)) = other.resume(String::new()) else {
            panic!("the other fibre")
        };
        assert!(stack.contains("named"), "{stack}");
        drop(other);
        world.objects()
    };
    let objects = panics();
    assert_eq!(panics(), objects);
}

#[test]
fn a_panic_of_a_task_reaches_the_caller_of_resume() {
    let world = World::new();
    let mut fibre = world
        .realm
        .fibre(world.realm.context(), 1, |_| -> () {
            panic!("the task failed")
        })
        .expect("a stack");
    let panic = catch_unwind(AssertUnwindSafe(|| fibre.begin())).expect_err("panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the task failed"));
}

#[test]
fn jobs_run_on_the_fibre_of_their_user() {
    let world = World::new();
    let source = "let log = ''; Promise.resolve().then(() => { log += wait('job') }).then(() => note()); wait('x')";
    let (mut one, mut two) = (world.fibre(source), world.fibre("wait('y'); 'two'"));
    assert_eq!(one.begin(), waits("x"));
    assert_eq!(two.begin(), waits("y"));
    assert_eq!(two.resume(String::new()), Turn::Ended(Ok("two".to_owned())));
    assert_eq!(world.notes.get(), 0);
    assert_eq!(one.resume("1".to_owned()), waits("job"));
    assert_eq!(one.resume("2".to_owned()), Turn::Ended(Ok("1".to_owned())));
    assert_eq!(world.notes.get(), 1);
}

/// The limit is that of the stack, and not of the place where the fibre was resumed.
#[test]
fn a_fibre_resumed_deep_in_its_stack_has_only_the_rest() {
    let world = World::new();
    let source = "const deepest = () => { let n = 0; try { (function f() { n++; f() })() } catch {} return n };
        const at = (n) => n === 0 ? (wait('deep'), deepest()) : at(n - 1);
        const all = deepest(), rest = at(300);
        [all > 600, all - rest > 250, rest > 100, `${all} ${rest}`].join()";
    let mut fibre = world.fibre(source);
    assert_eq!(fibre.begin(), waits("deep"));
    let Turn::Ended(Ok(text)) = fibre.resume(String::new()) else {
        panic!("ended")
    };
    assert!(text.starts_with("true,true,true"), "{text}");
}

#[test]
fn a_pending_exception_survives_a_switch() {
    let world = World::new();
    let source = "let caught;
        try { for (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { wait('closing'); throw 2 } }) }) throw 'first' }
        catch (e) { caught = e }
        caught";
    let (mut one, mut two) = (world.fibre(source), world.fibre("wait('y'); null.x"));
    assert_eq!(one.begin(), waits("closing"));
    assert_eq!(two.begin(), waits("y"));
    let Turn::Ended(Err(error)) = two.resume(String::new()) else {
        panic!("ended")
    };
    assert!(
        error.contains("cannot read property 'x' of null"),
        "{error}"
    );
    assert_eq!(
        one.resume(String::new()),
        Turn::Ended(Ok("first".to_owned()))
    );
}

/// QuickJS calls these while it makes an error, where a fibre must not be suspended.
#[test]
fn making_an_error_calls_no_script() {
    let world = World::new();
    let source = "Error.prepareStackTrace = () => { wait('never') };
        Error.stackTraceLimit = { valueOf() { wait('never') } };
        typeof new Error('e').stack";
    assert_eq!(
        world.fibre(source).begin(),
        Turn::Ended(Ok("string".to_owned()))
    );
}
