//! The facts of a plan in words, beside the figures of its pools.
//!
//! The words follow the facts ([`drumfire_measure::Asked`]) and not the plan, so that a run that
//! was stored reads as it did on its day. A pool whose facts are not known has no words here.
//!
//! A default of the plan has words only where a figure depends on it: a method unless it is GET, a
//! late policy unless requests queue, but the timeout in any case, since it bounds every latency.
//!
//! The page asks for the words at two places: [`print_target`] prints the line of the target, and
//! the line of the load is put together by `run` from [`AskedWords::load`], [`AskedWords::length`]
//! and [`AskedWords::limits`], with the users and connections that it counts itself between them.
//! Where a run has several pools, each has a line of its own [`AskedWords`], and the method and the
//! body beside the target are those of the first.
//!
//! A rate or a law is what was asked for and not what came of it: the figures have that, and the
//! report puts both side by side. Where an order has changed the load, the rows of stages have the
//! later laws; these words stay those of the plan.

use super::foreign;
use crate::line::{Line, wrap};
use crate::page::Page;
use crate::quantity::{counted, rate, span};
use crate::secret;
use drumfire_compare::plan_facts;
use drumfire_measure::{
    Asked, AskedBody, AskedLoad, AskedRequest, AskedSequence, Model, PoolInfo, Summary,
};
use drumfire_plan::{Arrivals, LatePolicy};
use drumfire_units::Nanos;

/// The greatest number of characters of a law. A law of many pieces is in the JSON as a whole, and
/// its pieces are the rows of the table of stages.
const LAW_MAX: usize = 60;

/// The words of one pool's plan; none where its facts are not known.
///
/// Each method gives the words of one subject, in the order in which a line has them, and nothing
/// where the plan has its default. The printers of the page choose the places: [`print_target`]
/// here, the line of the load in `run`.
pub(super) struct AskedWords<'a> {
    pool: &'a PoolInfo,
    asked: Option<&'a Asked>,
}

impl<'a> AskedWords<'a> {
    /// The words of a pool.
    pub(super) const fn of(pool: &'a PoolInfo) -> Self {
        Self {
            pool,
            asked: pool.asked.as_ref(),
        }
    }

    /// The model, its rate or law, and the way in which arrivals are spread; for a closed model,
    /// the times between a user's iterations.
    pub(super) fn load(&self, page: &Page<'_>) -> Vec<String> {
        let mut words = vec![
            match self.pool.model {
                Model::Open => "open model",
                Model::Closed => "closed model",
            }
            .to_owned(),
        ];
        words.extend(self.rate());
        match self.asked.map(|asked| &asked.load) {
            Some(AskedLoad::Open {
                arrivals: Arrivals::Poisson,
                ..
            }) => words.push("Poisson arrivals".to_owned()),
            Some(AskedLoad::Closed { think, pace, .. }) => {
                let unicode = page.style.unicode;
                match think.fixed() {
                    Some(Nanos::ZERO) => {}
                    Some(time) => words.push(format!("think time {}", span(time, unicode))),
                    None => words.push(format!("think time {think}")),
                }
                if *pace > Nanos::ZERO {
                    words.push(format!("pace {}", span(*pace, unicode)));
                }
            }
            _ => {}
        }
        words
    }

    /// The rate of an open model, or the law that it follows; nothing of a closed one. A rate of
    /// iterations says so, lest it be compared with the requests below it.
    fn rate(&self) -> Option<String> {
        let load = self.asked.map(|asked| &asked.load);
        match (self.pool.model, self.pool.intended_rate, load) {
            (Model::Closed, ..) => None,
            (Model::Open, Some(constant), _) => {
                let intended = rate(constant);
                let parted = intended.split_once('/').filter(|_| self.pool.iterations);
                Some(match parted {
                    Some((number, per)) => format!("{number} iterations/{per}"),
                    None => intended,
                })
            }
            (Model::Open, None, Some(AskedLoad::PerUser { law, .. })) => {
                Some(format!("{} per user", shortened(law)))
            }
            (Model::Open, None, Some(AskedLoad::Open { law, .. })) => Some(shortened(law)),
            (Model::Open, None, _) => None,
        }
    }

    /// Whether the number of users changes during the run.
    pub(super) fn users_change(&self) -> bool {
        let users = self.asked.and_then(|asked| asked.users.as_ref());
        users.is_some_and(|users| users.changes().len() > 1)
    }

    /// The late policy, unless requests queue, and the time limit of one.
    pub(super) fn limits(&self, page: &Page<'_>) -> Vec<String> {
        let late = self.asked.and_then(|asked| asked.load.late());
        let late = late.filter(|late| *late != LatePolicy::Queue);
        let late = late.map(|late| format!("late: {}", plan_facts::late(late)));
        let timeout = self.asked.map(|asked| asked.transport.timeouts.total);
        let timeout = timeout.map(|time| match time {
            // A timeout of 0 is none.
            Nanos::MAX => "no timeout".to_owned(),
            time => format!("timeout {}", span(time, page.style.unicode)),
        });
        late.into_iter().chain(timeout).collect()
    }

    /// The length that the run was to have, with the time that it took where that is longer by more
    /// than two percent: the drain is part of it.
    pub(super) fn length(&self, summary: &Summary, page: &Page<'_>) -> Option<String> {
        let unicode = page.style.unicode;
        let took = summary.duration;
        let whole = Nanos(took.0.saturating_add(summary.left_out().0));
        let asked = self.asked.and_then(|asked| asked.stop.duration);
        match asked.filter(|asked| summary.total.counts.sent > 0 && whole >= *asked) {
            _ if took == Nanos::ZERO => None,
            None => Some(span(took, unicode)),
            Some(asked) if whole.0 / 100 <= asked.0 / 98 => Some(span(asked, unicode)),
            Some(asked) => Some(format!(
                "{} ({} with drain)",
                span(asked, unicode),
                span(whole, unicode)
            )),
        }
    }

    /// The first request, unless it is a call. It stands for the others in the line of the target,
    /// which has no room for a list; the table of steps names all of them.
    fn first_request(&self) -> Option<&'a AskedRequest> {
        let first = self.asked?.requests.first.first();
        first.filter(|first| first.call.is_none())
    }

    /// The method of the first request, unless it is GET, which needs no word.
    fn method(&self) -> Option<&'a str> {
        let method = self.first_request()?.method.as_str();
        Some(method).filter(|method| *method != "GET")
    }

    /// The body of the first request: its size, which decides what a rate costs, and none of its
    /// bytes.
    fn body(&self) -> Option<String> {
        match self.first_request()?.body {
            AskedBody::None => None,
            AskedBody::Bytes(count) => Some(format!("body of {}", counted(count, "byte"))),
            AskedBody::Template => Some("varying body".to_owned()),
        }
    }
}

/// A law cut to [`LAW_MAX`] characters, the last of which then says so.
fn shortened(law: &AskedSequence) -> String {
    let law = law.to_string();
    if law.chars().count() <= LAW_MAX {
        return law;
    }
    let head: String = law.chars().take(LAW_MAX - 1).collect();
    format!("{head}…")
}

/// Prints the target, with the method unless it is GET, and the body.
pub(super) fn print_target(summary: &Summary, page: &mut Page<'_>) {
    let info = &summary.info;
    let asked = AskedWords::of(info.pool());
    let mut text = foreign(&secret::url(&info.target), page.style.unicode);
    if let Some(method) = asked.method() {
        text = format!("{} {text}", foreign(method, page.style.unicode));
    }
    if let Some(body) = asked.body() {
        text = format!("{text}{}{body}", page.style.glyph(" · ", ", "));
    }
    let lines = wrap(&text, page.room());
    page.part("Target", lines.into_iter().map(Line::plain));
}
