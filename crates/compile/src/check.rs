//! The last step: a plan is made of its parts, and each flaw that keeps it from being one gets its
//! place in the document.
//!
//! [`drumfire_plan::Plan::new`] checks what holds of every plan, from a document or not, and names
//! a flaw by a key and an index. Keys of a plan are mostly those of a document; [`MEANT`] has the
//! others. A flaw that only follows from a mistake that was noted already is left out.

use crate::scope::Scope;
use drumfire_document::Layer as _;
use drumfire_document::{Ask, Document, Fields, Place, Pool, Request};
use drumfire_plan::{Flaw, Threshold};

/// Keys of a plan that stand for several of a document: the first of them that was written is
/// meant.
const MEANT: [(&str, &[&str]); 1] = [("users", &["users", "connections"])];

/// Gives a plan or an inquiry that passed its checks, and notes the flaws of one that did not. Its
/// parts were made of as many written pools, in the same order.
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
                    // The scenario has none, which is said of it.
                    ("requests", false) => continue,
                    (key, _) => key,
                };
                // Requests that are wrong are no requests, which was said already.
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

/// The place of a flaw's key; the pool's, where the key was not written.
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

/// The place of the plan's `k`-th rule. Texts that are no rules were noted, and are no rules of the
/// plan.
fn threshold(k: usize, document: &Document) -> Option<&Place> {
    let written = document.thresholds.iter();
    let pools = document.pool_names();
    let mut rules = written.filter(|text| Threshold::rule_of(&text.value, &pools).is_ok());
    rules.nth(k).map(|text| &text.place)
}

/// The place of the fields of the plan's `k`-th request. A list of URLs is many requests of a plan,
/// so that behind one the index does not tell which was written.
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
