//! When requests start.

use super::{count, generator, some};
use crate::exit::Failure;
use crate::flags::LoadFlags;
use drumfire_document::Diagnostic;
use drumfire_document::{Document, Load, Stop, Text};

pub(super) fn load(flags: &LoadFlags) -> Load {
    Load {
        rate: some("rate", flags.rate.as_ref()),
        rate_per: None,
        arrivals: some("arrivals", flags.arrivals.as_ref()),
        late: some("late", flags.late.as_ref()),
        users: some("users", flags.users.as_ref()),
        start: None,
        think: some("think", flags.think_time.as_ref()),
        pace: None,
    }
}

pub(super) fn stop(flags: &LoadFlags) -> Stop {
    Stop {
        after: some("after", flags.duration.as_ref()),
        requests: count("requests", flags.requests),
        iterations: count("iterations", flags.iterations),
        ..Stop::default()
    }
}

/// Puts the flags of a load above what a document says.
///
/// The end holds for every pool, in the place of its own; the rest is of one pool, which must be
/// the only one.
pub(crate) fn put(document: &mut Document, flags: &LoadFlags) -> Result<(), Failure> {
    let given = generator(flags, None);
    let own = &mut document.generator;
    or(&mut own.threads, given.threads);
    or(&mut own.seed, given.seed);
    or(&mut own.warmup, given.warmup);
    or(&mut own.i_own_this_target, given.i_own_this_target);
    or(&mut own.spin, given.spin);
    or(&mut own.clock, given.clock);
    let given = stop(flags);
    for pool in &mut document.pools {
        without(&mut pool.stop.after, &given.after);
        without(&mut pool.stop.requests, &given.requests);
        without(&mut pool.stop.iterations, &given.iterations);
    }
    or(&mut document.stop.after, given.after);
    or(&mut document.stop.requests, given.requests);
    or(&mut document.stop.iterations, given.iterations);
    put_pool(document, flags)
}

/// Puts what is of one pool into the only one.
fn put_pool(document: &mut Document, flags: &LoadFlags) -> Result<(), Failure> {
    let Load {
        rate,
        arrivals,
        late,
        users,
        think,
        // No flag sets these.
        rate_per: _,
        start: _,
        pace: _,
    } = load(flags);
    let connections = some("connections", flags.connections.as_ref());
    let of_pool: [(&str, &Option<Text>); 6] = [
        ("rate", &rate),
        ("arrivals", &arrivals),
        ("late", &late),
        ("users", &users),
        ("think", &think),
        ("connections", &connections),
    ];
    let Some((key, text)) = of_pool
        .iter()
        .find_map(|(key, text)| Some((key, text.as_ref()?)))
    else {
        return Ok(());
    };
    let count = document.pools.len();
    if count == 0 {
        // Which is wrong by itself, and is said of the plan.
        return Ok(());
    }
    let [pool] = document.pools.as_mut_slice() else {
        let name = document
            .pools
            .first()
            .map_or("NAME", |pool| &pool.name.value);
        let value = &text.value;
        let message = format!(
            "the plan has {count} pools; for one of them, use --set 'pools.{name}.{key}={value}'"
        );
        return Err(Failure::usage(Diagnostic::new(&text.place, message)));
    };
    or(&mut pool.load.rate, rate);
    or(&mut pool.load.arrivals, arrivals);
    or(&mut pool.load.late, late);
    or(&mut pool.load.users, users);
    or(&mut pool.load.think, think);
    or(&mut pool.settings.connections.connections, connections);
    Ok(())
}

/// Replaces a value by one that was given.
fn or<T>(own: &mut Option<T>, given: Option<T>) {
    if given.is_some() {
        *own = given;
    }
}

/// Takes a value away where one was given for all.
fn without<T>(own: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        *own = None;
    }
}
