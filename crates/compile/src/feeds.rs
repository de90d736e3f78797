//! The sources of templates: feeds, read from their files.

use crate::scope::Scope;
use drumfire_data::{Feed, Order, Sources};
use drumfire_plan::document::{Feed as Written, FeedForm};
use std::sync::Arc;

/// Every feed of a document.
pub(crate) fn sources(feeds: &[Written], scope: &mut Scope<'_>) -> Arc<Sources> {
    let mut sources = Sources::new();
    for written in feeds {
        let order = order(written, scope);
        let Some(bytes) = scope.file(&written.file) else {
            continue;
        };
        let feed = match written.form {
            FeedForm::Csv => Feed::from_csv(&bytes),
            FeedForm::JsonLines => Feed::from_json_lines(&bytes),
        };
        let path = &written.file;
        let feed = feed.map_err(|error| format!("{}: {error}", path.value));
        if let Some(feed) = scope.found.ok(&path.place, feed) {
            let added = sources.add(&written.name.value, feed, order);
            scope.found.ok(&written.name.place, added);
        }
    }
    Arc::new(sources)
}

/// In which order requests go through a feed, and what becomes of those beyond its end.
fn order(written: &Written, scope: &mut Scope<'_>) -> Order {
    let orders = [("in_order", false), ("random", true)];
    let ends = [("wrap", false), ("stop", true)];
    let random = scope.word(written.order.as_ref(), &orders, "no order");
    let stops = scope.word(written.at_end.as_ref(), &ends, "nothing to do at the end");
    match (random.unwrap_or_default(), stops.unwrap_or_default()) {
        (false, false) => Order::InTurn,
        (false, true) => Order::OnceEach,
        (true, stops) => {
            if let (true, Some(text)) = (stops, &written.at_end) {
                let message = "a feed that is drawn from at random has no end";
                scope.found.add(&text.place, message);
            }
            Order::Random
        }
    }
}
