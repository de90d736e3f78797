//! A document of which each pool sends once, to be looked at.

use drumfire_document::{
    Connections, Document, Generator, Kept, Load, Place, Placed, Pool, Stop, Text,
};

/// Requests of a list that are shown; a longer one is shown by its beginning.
const REQUESTS_MAX: usize = 16;

/// The same document with one user, one connection and one iteration in each pool: a scenario
/// once, or each request of a list. What judges a whole run is left out.
pub(crate) fn once(document: Document) -> Document {
    let pools = document.pools.into_iter().map(|pool| Pool {
        load: Load {
            users: one(),
            ..Load::default()
        },
        stop: end(&pool),
        settings: drumfire_document::Settings {
            connections: Connections {
                connections: one(),
                streams: None,
                ..pool.settings.connections
            },
            kept: Kept::every_exchange(),
            ..pool.settings
        },
        ..pool
    });
    Document {
        pools: pools.collect(),
        stop: Stop {
            drain: document.stop.drain,
            ..Stop::default()
        },
        thresholds: Vec::new(),
        generator: Generator {
            threads: Some(Placed::new(1, Place::Nowhere)),
            seed: document.generator.seed,
            ..Generator::default()
        },
        ..document
    }
}

fn one() -> Option<Text> {
    Some(Placed::new("1".to_owned(), Place::Nowhere))
}

fn end(pool: &Pool) -> Stop {
    let count = |count| Some(Placed::new(count, Place::Nowhere));
    let drain = pool.stop.drain.clone();
    if pool.scenario.is_empty() && pool.scenarios.is_empty() {
        let requests = pool.requests.len().clamp(1, REQUESTS_MAX);
        return Stop {
            requests: count(requests as u64),
            drain,
            ..Stop::default()
        };
    }
    Stop {
        // Of several scenarios as many iterations as there are.
        iterations: count(pool.scenarios.len().clamp(1, REQUESTS_MAX) as u64),
        drain,
        ..Stop::default()
    }
}
