//! Random switches in the middle of all kinds of calls, in one realm and in contexts of their own.

use std::cell::RefCell;
use std::rc::Rc;

use drumfire_realm::{Fibre, Host, Realm, Turn, UserId};
use drumfire_units::Random;
use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Persistent, Promise, Value};

/// A number that `wait` was called with, by the user with this number; or nothing to do but promises.
type Call = Option<(UserId, i32)>;
type Users = Fibre<Call, i32, Result<u64, String>>;
type Resolvers = Rc<RefCell<Vec<(Persistent<Function<'static>>, i32)>>>;

/// Frees resolvers at the end of a user. Otherwise they would hold the function that holds them.
struct Clears(Resolvers);

impl Drop for Clears {
    fn drop(&mut self) {
        self.0.borrow_mut().clear();
    }
}

/// Run `users` through `switches` random switches, and end some of them at random times.
fn check(seed: u64, users: u32, switches: u32, isolated: bool) {
    let mut random = Random::from_state(seed);
    let realm = Realm::<Call, i32>::new().expect("a realm");
    let mut fibres: Vec<(Users, Turn<Call, _>)> = (0..users)
        .map(|user| begun(&realm, &context(&realm, isolated), user, seed))
        .collect();
    for switch in 0..switches {
        let at = (random.bits() % u64::from(users)) as usize;
        let user = at as u32;
        if random.bits().is_multiple_of(500) {
            fibres[at] = begun(&realm, &context(&realm, isolated), user, random.bits());
        }
        if switch % 3000 == 0 {
            realm.collect();
        }
        let (fibre, turn) = &mut fibres[at];
        let answer = match turn {
            Turn::Waits(Some((of, number))) => {
                assert_eq!(*of, user, "seed {seed}: another user's call");
                user as i32 * 1000 + *number
            }
            Turn::Waits(None) => 0,
            Turn::Ended(result) => panic!("seed {seed}, user {user}: {result:?}"),
        };
        *turn = fibre.resume(answer);
    }
    // All parts of the script have run, so that the built-in functions are made: what users leave is seen by
    // a second round, and by the assertion of JS_FreeRuntime.
    let left = |fibres| {
        drop::<Vec<_>>(fibres);
        realm.collect();
        realm.usage().objects
    };
    let objects = left(fibres);
    let again = (0..users)
        .map(|user| begun(&realm, &context(&realm, isolated), user, seed))
        .collect();
    assert_eq!(left(again), objects, "seed {seed}: objects are left");
}

fn context(realm: &Realm<Call, i32>, isolated: bool) -> Context {
    if isolated {
        realm.isolated().expect("a context")
    } else {
        realm.context().clone()
    }
}

fn begun(
    realm: &Realm<Call, i32>,
    context: &Context,
    user: UserId,
    seed: u64,
) -> (Users, Turn<Call, Result<u64, String>>) {
    let host = realm.host().clone();
    let mut fibre = realm
        .fibre(context, user, move |ctx| {
            iterate(&ctx, &host, user, Random::from_state(seed))
                .catch(&ctx)
                .map_err(|error| error.to_string())
        })
        .expect("a stack");
    let turn = fibre.begin();
    (fibre, turn)
}

/// Iterations without an end, each of a random part of the script.
fn iterate(
    ctx: &Ctx<'_>,
    host: &Host<Call, i32>,
    user: UserId,
    mut random: Random,
) -> rquickjs::Result<u64> {
    let resolvers = Resolvers::default();
    let _clears = Clears(resolvers.clone());
    let instance: Function<'_> = ctx.eval(include_str!("switching.js"))?;
    let (of, list) = (host.clone(), resolvers.clone());
    let wait = host.function(ctx, "wait", move |ctx, arguments| {
        let [number] = arguments else {
            return Err(rquickjs::Error::Unknown);
        };
        let number: i32 = number.get()?;
        if number % 4 == 0 {
            of.release_stack();
        }
        let answer = of.wait(ctx, Some((user, number)))?;
        assert_eq!(of.user(), Some(user));
        Ok(Value::new_int(ctx.clone(), answer))
    })?;
    let later = host.function(ctx, "later", move |ctx, arguments| {
        let [number] = arguments else {
            return Err(rquickjs::Error::Unknown);
        };
        let (promise, resolve, _) = ctx.promise()?;
        list.borrow_mut()
            .push((Persistent::save(ctx, resolve), number.get()?));
        Ok(promise.into_value())
    })?;
    let run: Function<'_> = instance.call((user, wait, later))?;
    loop {
        let result: Value<'_> = run.call((random.bits() as u32 % 1000,))?;
        let Some(promise) = result.as_promise() else {
            continue;
        };
        settle(ctx, host, user, promise, &resolvers, &mut random)?;
    }
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    host: &Host<Call, i32>,
    user: UserId,
    promise: &Promise<'js>,
    resolvers: &Resolvers,
    random: &mut Random,
) -> rquickjs::Result<()> {
    loop {
        host.run_jobs(ctx)?;
        if let Some(result) = promise.result::<()>() {
            return result;
        }
        host.wait(ctx, None)?;
        let next = {
            let mut list = resolvers.borrow_mut();
            let at = random.bits() as usize % list.len().max(1);
            (at < list.len()).then(|| list.swap_remove(at))
        };
        if let Some((resolve, number)) = next {
            resolve
                .restore(ctx)?
                .call::<_, ()>((user as i32 * 1000 + number,))?;
        }
    }
}

#[test]
fn users_of_one_realm_never_mix() {
    for seed in 1..=3 {
        check(seed, 50, 20_000, false);
    }
}

#[test]
fn users_with_contexts_of_their_own_never_mix() {
    check(4, 20, 10_000, true);
}

/// The proof of the design page: a minute in a release build.
#[test]
#[ignore = "a million switches take a minute"]
fn a_million_switches() {
    for seed in 10..15 {
        check(seed, 200, 160_000, false);
        check(seed + 100, 100, 40_000, true);
    }
}
