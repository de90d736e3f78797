//! A document whose pools send each request once, for `--show`.

use drumfire_document::{
    Connections, Document, Generator, Kept, Load, Place, Placed, Pool, Stop, Text,
};

/// The maximum number of requests that are shown; a longer list is cut.
const REQUESTS_MAX: usize = 16;

/// A copy of the document with one user, one connection and one iteration in each pool: a scenario
/// once, or each request of a list. Rules for whole runs are left out.
pub(crate) fn once(document: Document) -> Document {
    let pools = document.pools.into_iter().map(|pool| Pool {
        load: Load {
            users: one(),
            ..Load::default()
        },
        stop: stop_conditions(&pool),
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

fn stop_conditions(pool: &Pool) -> Stop {
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
        // With several scenarios, as many iterations as scenarios.
        iterations: count(pool.scenarios.len().clamp(1, REQUESTS_MAX) as u64),
        drain,
        ..Stop::default()
    }
}
