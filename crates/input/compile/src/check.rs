//! The last step: builds a plan from its parts, and finds the place in the document of each flaw
//! that prevents it.
//!
//! [`drumfire_plan::Plan::new`] checks the rules for every plan, from a document or not, and
//! identifies a flaw by a key and an index. Most keys of a plan are keys of a document; [`MEANT`]
//! has the others. A flaw that only follows from an earlier noted mistake is omitted.

use crate::scope::Scope;
use drumfire_document::Layer as _;
use drumfire_document::{Ask, Document, Fields, Place, Pool, Request};
use drumfire_plan::{Flaw, Threshold};

/// Keys of a plan that correspond to several keys of a document. The flaw gets the place of the
/// first one that is written.
const MEANT: [(&str, &[&str]); 1] = [("users", &["users", "connections"])];

/// Returns a plan or an inquiry that passed its checks; otherwise notes its flaws. The plan's pools
/// correspond to the written pools, in the same order.
pub(crate) fn checked<T>(
    checked: Result<T, Vec<Flaw>>,
    document: &Document,
    pools: &[Pool],
    scope: &mut Scope<'_>,
) -> Option<T> {
    match checked {
        Ok(checked) => Some(checked),
        Err(flaws) => {
            for flaw in flaws {
                let pool = &pools[flaw.pool.unwrap_or(0)];
                let key = match (flaw.key, pool.scenario.is_empty()) {
                    ("scenario", false) => "requests",
                    // The flaw is a scenario without requests, whose mistake was already
                    // noted at the scenario.
                    ("requests", false) => continue,
                    (key, _) => key,
                };
                // Invalid requests were already noted, and left the pool without requests.
                if key == "requests" && pool.every_request().next().is_some() {
                    continue;
                }
                let place = place(&flaw, document, pool);
                scope.found.add(&place, flaw.message);
            }
            None
        }
    }
}

/// The place of a flaw's key. If the key is not written, the place of the pool.
fn place(flaw: &Flaw, document: &Document, pool: &Pool) -> Place {
    let found = match (flaw.key, flaw.item) {
        ("thresholds", Some(k)) => threshold(k, document),
        ("headers", Some(k)) => headers(k, pool),
        (key, _) => {
            let meant = MEANT.iter().find(|(known, _)| *known == key);
            let keys = meant.map_or_else(|| std::slice::from_ref(&flaw.key), |(_, keys)| *keys);
            keys.iter().find_map(|key| of_key(key, document, pool))
        }
    };
    found.unwrap_or(&pool.name.place).clone()
}

/// The place of a key in a pool's load, its settings, the pool itself or the generator.
fn of_key<'a>(key: &str, document: &'a Document, pool: &'a Pool) -> Option<&'a Place> {
    if let Some(key) = key.strip_prefix("stop.") {
        return pool.stop.place(key);
    }
    let in_settings = || pool.settings.place(key);
    let in_pool = pool.load.place(key).or_else(in_settings);
    let in_pool = in_pool.or_else(|| pool.place(key));
    in_pool.or_else(|| document.generator.place(key))
}

/// The place of the plan's `k`-th rule. Invalid rules were noted and are not part of the plan, so
/// they do not count.
fn threshold(k: usize, document: &Document) -> Option<&Place> {
    let written = document.thresholds.iter();
    let pools = document.pool_names();
    let mut rules = written.filter(|text| Threshold::rule_of(&text.value, &pools).is_ok());
    rules.nth(k).map(|text| &text.place)
}

/// The place of the fields of the plan's `k`-th request. A list of URLs becomes many requests of a
/// plan, so the index does not identify a request written after a list.
fn headers(k: usize, pool: &Pool) -> Option<&Place> {
    let is_one = |request: &Request| !matches!(request.ask, Ask::List { .. } | Ask::Ammo(_));
    let before: Vec<&Request> = pool.every_request().take(k + 1).collect();
    let request = before
        .get(k)
        .filter(|_| before.iter().all(|request| is_one(request)));
    let own = request.and_then(|request| match &request.fields {
        Fields::Listed(fields) => fields.first(),
        Fields::File(_) => None,
    });
    let field = own.or_else(|| pool.settings.fields.headers.first());
    field.map(|field| &field.value.place)
}
