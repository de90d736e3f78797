//! Refuses keys of a plan that have no effect in any of its pools: an entry of `resolve` that no
//! connection uses, a header that the protocol excludes, and a key that another key excludes.
//!
//! A key of `defaults` applies to each pool, and needs an effect in only one of them. Setup and
//! teardown have the same defaults, and are compiled alone ([`crate::compile_phase`]): beside them, a
//! key of `defaults` is not checked.

use crate::idle_flags::{Excluded, Unused, excluded, servers, socket, unconnected, unsent};
use crate::scope::Scope;
use crate::transport::resolved;
use drumfire_document::{Document, Fields, Place, Pool as Written};
use drumfire_plan::{HttpVersion, Pool, Redirects, Resolve};
use std::collections::HashMap;

/// Keys with the pools in which each has an effect.
#[derive(Default)]
struct KeyUses<'a> {
    list: Vec<Use>,
    /// The index of each key in the list, by its place and its text.
    known: HashMap<(String, &'a str), usize>,
}

/// A key, and why it has no effect in the pools so far; `None` after one in which it has.
struct Use {
    place: Place,
    why: Option<Unused>,
}

impl<'a> KeyUses<'a> {
    /// Notes a key's effect in one more pool, or the reason why it has no effect there. Entries of a
    /// list differ by their values.
    fn add(&mut self, place: &Place, value: &'a str, why: Option<Unused>) {
        if !matches!(place, Place::File { .. } | Place::Setting { .. }) {
            return;
        }
        let key = (place.to_string(), value);
        match self.known.get(&key) {
            Some(known) => {
                let known = &mut self.list[*known];
                let before = known.why.take().zip(why);
                known.why = before.map(|(before, why)| before.with_servers_of(why));
            }
            None => {
                self.known.insert(key, self.list.len());
                let place = place.clone();
                self.list.push(Use { place, why });
            }
        }
    }
}

/// Notes the keys of a document that have no effect in its finished pools, which are in the order of
/// the written ones.
pub(crate) fn note(
    document: &Document,
    written: &[Written],
    pools: &[Pool],
    scope: &mut Scope<'_>,
) {
    // The document of a phase has only the defaults, which the load uses.
    if scope.taken.is_some() {
        return;
    }
    let mut uses = KeyUses::default();
    for (written, pool) in written.iter().zip(pools) {
        for text in &written.settings.reach.resolve {
            if let Some(given) = resolved(&text.value) {
                uses.add(&text.place, &text.value, unused(&given, written, pool));
            }
        }
        for Excluded { place, why } in excluded(&written.settings, pool) {
            uses.add(&place, "", why.map(Unused::new));
        }
        let is_http2 = pool.http.version == HttpVersion::Http2;
        let requests = written.every_request();
        let own = requests.flat_map(|request| match &request.fields {
            Fields::Listed(fields) => fields.as_slice(),
            Fields::File(_) => &[],
        });
        for field in written.settings.fields.headers.iter().chain(own) {
            let why = unsent(&field.name.value);
            if why.is_some() {
                let why = why.filter(|_| is_http2).map(Unused::new);
                uses.add(&field.name.place, &field.name.value, why);
            }
        }
    }
    let has_phases = !document.setup.is_empty() || !document.teardown.is_empty();
    let defaults = &document.defaults;
    let shared = defaults.reach.resolve.iter().map(|text| &text.place);
    let headers = defaults.fields.headers.iter();
    let shared = shared
        .chain(headers.map(|field| &field.name.place))
        .cloned();
    let keys = pools.iter().flat_map(|pool| excluded(defaults, pool));
    let shared: Vec<Place> = shared.chain(keys.map(|key| key.place)).collect();
    for Use { place, why } in uses.list {
        if let Some(why) = why
            && !(has_phases && shared.contains(&place))
        {
            scope.found.add(&place, format!("it has no effect: {why}"));
        }
    }
}

/// Why no connection of a pool uses an address that replaces a look-up. With redirects, any name is
/// possible, and the server of the schema may be another one.
fn unused(given: &Resolve, written: &Written, pool: &Pool) -> Option<Unused> {
    let is_open = matches!(pool.http.redirects, Redirects::Follow(1..))
        || written.settings.schema.reflection.target.is_some()
        || pool.requests.is_empty();
    if is_open {
        return None;
    }
    match socket(&written.settings.reach) {
        // The first entry is refused by the socket.
        Some(_) => None,
        None => unconnected(given, &servers(pool)),
    }
}
