//! The facts of a plan in words, beside the figures of its pools.
//!
//! The words are made from the recorded facts ([`drumfire_measure::Asked`]) and not from the plan,
//! so that a stored run reads as on its day. A pool whose facts are unknown has no words.
//!
//! A default of the plan has words only if a figure depends on it: the timeout always, since it
//! bounds every latency; a method unless it is GET; a late policy unless requests queue. The words
//! are those of the plan even after a command has changed the load; the table of stages has the
//! later laws.

use crate::quantity::{counted, rate, span};
use crate::secret;
use crate::style::Unicode;
use drumfire_compare::plan_facts;
use drumfire_measure::{
    Asked, AskedBody, AskedLoad, AskedRequest, AskedSequence, Model, PoolInfo, Summary,
};
use drumfire_plan::{Arrivals, LatePolicy};
use drumfire_units::Nanos;

/// The maximum number of characters of a law. JSON has the whole law, and the table of stages its
/// pieces.
const LAW_MAX: usize = 60;

/// The words of one pool's plan. Each method gives the words of one subject, and nothing for a
/// default.
pub(super) struct AskedWords<'a> {
    pool: &'a PoolInfo,
    asked: Option<&'a Asked>,
}

impl<'a> AskedWords<'a> {
    /// The words of a pool.
    pub(super) const fn new(pool: &'a PoolInfo) -> Self {
        Self {
            pool,
            asked: pool.asked.as_ref(),
        }
    }

    /// The model, its rate or law, and random arrivals; for a closed model, the times between a
    /// user's iterations.
    pub(super) fn load(&self) -> Vec<String> {
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
            Some(AskedLoad::Open {
                arrivals: Arrivals::Gamma(shape),
                ..
            }) => words.push(format!("gamma arrivals of shape {shape}")),
            Some(AskedLoad::Closed { think, pace, .. }) => {
                match think.fixed() {
                    Some(Nanos::ZERO) => {}
                    Some(time) => words.push(format!("think time {}", span(time, Unicode::On))),
                    None => words.push(format!("think time {think}")),
                }
                if *pace > Nanos::ZERO {
                    words.push(format!("pace {}", span(*pace, Unicode::On)));
                }
            }
            _ => {}
        }
        words
    }

    /// The rate or the law of an open model. A rate of iterations is marked as one, so that nobody
    /// compares it with requests.
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
    pub(super) fn limits(&self) -> Vec<String> {
        let late = self.asked.and_then(|asked| asked.load.late());
        let late = late.filter(|late| *late != LatePolicy::Queue);
        let late = late.map(|late| format!("late: {}", plan_facts::late(late)));
        let timeout = self.asked.map(|asked| asked.transport.timeouts.total);
        let timeout = timeout.map(|time| match time {
            // A plan's timeout of 0.
            Nanos::MAX => "no timeout".to_owned(),
            time => format!("timeout {}", span(time, Unicode::On)),
        });
        late.into_iter().chain(timeout).collect()
    }

    /// The intended length of the run. The length with the drain follows if it is longer by more
    /// than two percent.
    pub(super) fn length(&self, summary: &Summary) -> Option<String> {
        let took = summary.duration;
        let whole = Nanos(took.0.saturating_add(summary.left_out().0));
        let asked = self.asked.and_then(|asked| asked.stop.duration);
        match asked.filter(|asked| summary.total.counts.sent > 0 && whole >= *asked) {
            _ if took == Nanos::ZERO => None,
            None => Some(span(took, Unicode::On)),
            Some(asked) if whole.0 / 100 <= asked.0 / 98 => Some(span(asked, Unicode::On)),
            Some(asked) => Some(format!(
                "{} ({} with drain)",
                span(asked, Unicode::On),
                span(whole, Unicode::On)
            )),
        }
    }

    /// The first request, unless it is a call. It stands for all requests in the line of the target;
    /// the table of steps lists them.
    fn first_request(&self) -> Option<&'a AskedRequest> {
        let first = self.asked?.requests.first.first();
        first.filter(|first| first.call.is_none())
    }

    /// The method of the first request, unless it is GET.
    fn method(&self) -> Option<&'a str> {
        let method = self.first_request()?.method.as_str();
        Some(method).filter(|method| *method != "GET")
    }

    /// The size of the first request's body.
    fn body(&self) -> Option<String> {
        match self.first_request()?.body {
            AskedBody::None => None,
            AskedBody::Bytes(count) => Some(format!("body of {}", counted(count, "byte"))),
            AskedBody::Template => Some("varying body".to_owned()),
        }
    }
}

/// A law, cut to [`LAW_MAX`] characters.
fn shortened(law: &AskedSequence) -> String {
    let law = law.to_string();
    if law.chars().count() <= LAW_MAX {
        return law;
    }
    let head: String = law.chars().take(LAW_MAX - 1).collect();
    format!("{head}…")
}

/// The target, with the method unless it is GET, and the body.
pub(super) fn target(summary: &Summary) -> String {
    let asked = AskedWords::new(summary.info.pool());
    let method = asked
        .method()
        .into_iter()
        .map(|method| format!("{method} "));
    let body = asked.body().into_iter().map(|body| format!(" · {body}"));
    let target = secret::url(&summary.info.target);
    method.chain([target]).chain(body).collect()
}
