//! The plan of the run: target, load and warm-up.

use super::asked::{AskedWords, target};
use super::{Body, Cell, Facts, PageExtent, Section};
use crate::plan_name::plan_name;
use crate::quantity::{count, counted, span};
use crate::style::Unicode;
use drumfire_measure::{Figures, LoadOrders, Model, PoolInfo, Settling, Summary};
use drumfire_plan::Growth;
use drumfire_units::Nanos;

/// The name of the plan, the target, the load and the warm-up. A single pool's load is a line of items;
/// with several pools, each has a line, and the last line has the facts of the whole run. The warm-up
/// has a label, because it changes what every figure counts.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let info = &summary.info;
    let threads = counted(u64::from(info.threads), "thread");
    let seed = format!("seed {}", info.seed);
    let load = if let [pool] = &info.pools[..] {
        let asked = AskedWords::new(pool);
        let Loads { model, carried } = loads(pool, &summary.total, &asked);
        let model = model.into_iter().chain(changed(summary.orders(0)));
        let run = asked.length(summary);
        let items = model.chain(run).chain(carried).chain(asked.limits());
        let items = items.chain([threads, seed]);
        Facts::items("Load", items.map(Cell::new).collect())
    } else {
        let pools = summary
            .pools()
            .enumerate()
            .map(|(number, (pool, figures))| {
                let asked = AskedWords::new(pool);
                let Loads { model, carried } = loads(pool, figures, &asked);
                let model = model.into_iter().chain(changed(summary.orders(number)));
                let items: Vec<_> = model.chain(carried).chain(asked.limits()).collect();
                Cell::foreign(format!("{}: {}", pool.name, items.join(" · ")))
            });
        let mut run = vec![threads, seed];
        if summary.duration > Nanos::ZERO {
            run.insert(0, span(summary.duration, Unicode::On));
        }
        Facts::lines("Load", pools.chain([Cell::new(run.join(" · "))]).collect())
    };
    let name = plan_name(info.name.as_deref()).into_iter();
    let plan = Facts::lines("Plan", name.map(Cell::foreign).collect());
    let target = Facts::lines("Target", vec![Cell::code(target(summary))]);
    let warmup = left_out(summary).into_iter().map(Cell::new).collect();
    let warmup = Facts::lines("Warm-up", warmup);
    let explanation = match summary.model() {
        Model::Open => {
            "Open model: requests start on schedule, whether or not the target keeps up, like the \
             users of a public service."
        }
        Model::Closed => {
            "Closed model: each user starts the next request after the previous one has ended, so a \
             slow target lowers the load."
        }
    };
    let bodies = [plan, target, load, warmup].map(Body::Facts).into();
    Section::new("load", "Load", explanation, bodies)
}

/// The beginning of the run that the warm-up left out. If the end of the warm-up was to be found in
/// the latencies and was not, the sentence gives the reason.
fn left_out(summary: &Summary) -> Option<String> {
    let how = match summary.settling {
        Some(Settling::Never) => {
            return Some("nothing excluded: latencies did not settle".to_owned());
        }
        Some(Settling::TooShort) => {
            return Some("nothing excluded: too few intervals to find its end".to_owned());
        }
        Some(Settling::At(Nanos::ZERO)) => {
            return Some("nothing excluded: latencies were settled from the start".to_owned());
        }
        Some(Settling::At(_)) => ", until latencies settled",
        None => "",
    };
    let span_left_out = summary.left_out();
    (span_left_out > Nanos::ZERO).then(|| {
        format!(
            "{} in the first {} excluded{how}",
            counted(summary.total.warmup.sent, "request"),
            span(span_left_out, Unicode::On)
        )
    })
}

/// The number of commands that changed a load, and the time of the first, to tenths of a second. The
/// notes have all of them.
fn changed(orders: LoadOrders) -> Option<String> {
    const TENTH: u64 = 100_000_000;
    let first = Nanos((orders.first.0 + TENTH / 2) / TENTH * TENTH);
    let first = span(first, Unicode::On);
    match orders.count {
        0 => None,
        1 => Some(format!("changed at {first}")),
        several => Some(format!("changed {several} times, first at {first}")),
    }
}

/// A pool's load in words, in two parts between which a run of one pool has its length.
struct Loads {
    /// The model, and the rate or the users.
    model: Vec<String>,
    /// The connections that carry it.
    carried: Vec<String>,
}

/// The words of a pool's load. Users have words unless each of them has one connection. The numbers
/// are those of the plan, except for connections that are opened as needed.
fn loads(pool: &PoolInfo, figures: &Figures, asked: &AskedWords<'_>) -> Loads {
    let model = asked.load();
    // The users are left out if each connection carries one of them all the time.
    let is_both = |users: u32| users == pool.connections && pool.growth == Growth::Ahead;
    let users = pool.users;
    let users = users.filter(|users| asked.users_change() || !is_both(*users));
    let most = if asked.users_change() { "up to " } else { "" };
    let users = users.map(|users| format!("{most}{}", counted(u64::from(users), "user")));
    let mut carried: Vec<String> = users.into_iter().collect();
    let connections = match pool.growth {
        Growth::Ahead => counted(u64::from(pool.connections), "connection"),
        Growth::AsNeeded => "connections".to_owned(),
    };
    let mut connections = match pool.streams {
        0 | 1 => connections,
        streams => {
            format!("{connections} × {}", counted(u64::from(streams), "stream"))
        }
    };
    if pool.growth == Growth::AsNeeded {
        let opened = count(figures.connections.known());
        connections.push_str(&format!(" as needed, {opened} opened"));
    }
    carried.push(connections);
    Loads { model, carried }
}
