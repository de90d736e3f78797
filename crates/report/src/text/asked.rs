//! What the plan asked for, in words, from its keys and values.

use super::foreign;
use crate::line::{Line, wrap};
use crate::page::Page;
use crate::quantity::{counted, rate, span};
use crate::secret;
use drumfire_measure::{Model, PoolInfo, RunInfo, Summary};
use drumfire_units::Nanos;

/// No law takes more characters.
const LAW_MAX: usize = 60;

/// The lowered plan of one pool.
pub(super) struct Asked<'a> {
    info: &'a RunInfo,
    prefix: String,
}

impl<'a> Asked<'a> {
    /// What was asked of a pool. The keys of several pools begin with their names.
    pub(super) fn of(info: &'a RunInfo, pool: &PoolInfo) -> Self {
        let prefix = match &info.pools[..] {
            [_] => String::new(),
            _ => format!("pools.{}.", pool.name),
        };
        Self { info, prefix }
    }

    /// The value of a key.
    fn get(&self, key: &str) -> Option<&'a str> {
        let mut lines = self.info.plan_text.iter();
        let found = lines.find(|(name, _)| name.strip_prefix(&*self.prefix) == Some(key));
        found.map(|(_, value)| value.as_str())
    }

    fn time(&self, key: &str) -> Option<Nanos> {
        self.get(key)?.parse().ok()
    }

    /// The model, its rate or law, and how arrivals are spread.
    pub(super) fn load(&self, pool: &PoolInfo, page: &Page<'_>) -> Vec<String> {
        let mut words = vec![
            match pool.model {
                Model::Open => "open model",
                Model::Closed => "closed model",
            }
            .to_owned(),
        ];
        match (pool.model, pool.intended_rate, self.get("load.rate")) {
            (Model::Open, Some(constant), _) => {
                let intended = rate(constant);
                words.push(match intended.split_once('/').filter(|_| pool.iterations) {
                    Some((number, per)) => format!("{number} iterations/{per}"),
                    None => intended,
                });
            }
            (Model::Open, None, Some(law)) if self.get("load.rate_per") == Some("user") => {
                words.push(format!("{} for each user", shortened(law)));
            }
            (Model::Open, None, Some(law)) => words.push(shortened(law)),
            _ => {}
        }
        if self.get("load.arrivals") == Some("poisson") {
            words.push("Poisson arrivals".to_owned());
        }
        for (key, words_of) in [("load.think_time", "think time"), ("load.pace", "pace")] {
            let text = match (self.time(key), self.get(key)) {
                (Some(Nanos::ZERO), _) | (None, None) => continue,
                (Some(time), _) => span(time, page.style.unicode),
                (None, Some(law)) => law.to_owned(),
            };
            words.push(format!("{words_of} {text}"));
        }
        words
    }

    /// Whether the number of users changes during the run.
    pub(super) fn users_change(&self) -> bool {
        self.get("users").is_some_and(|users| users.contains(','))
    }

    /// What becomes of requests that wait, and the time limit of one.
    pub(super) fn limits(&self, page: &Page<'_>) -> Vec<String> {
        let late = self.get("load.late").filter(|late| *late != "queue");
        let late = late.map(|late| format!("late: {late}"));
        let timeout = self.time("timeout.total");
        let timeout =
            timeout.map(|timeout| format!("timeout {}", span(timeout, page.style.unicode)));
        late.into_iter().chain(timeout).collect()
    }

    /// How long the run was to take, with what it took where that is longer.
    pub(super) fn length(&self, summary: &Summary, page: &Page<'_>) -> Option<String> {
        let unicode = page.style.unicode;
        let took = summary.duration;
        let whole = Nanos(took.0.saturating_add(summary.left_out().0));
        let asked = self.time("stop.duration");
        match asked.filter(|asked| summary.total.counts.sent > 0 && whole >= *asked) {
            _ if took == Nanos::ZERO => None,
            None => Some(span(took, unicode)),
            Some(asked) if whole.0 / 100 <= asked.0 / 98 => Some(span(asked, unicode)),
            Some(asked) => Some(format!(
                "{} ({} with the drain)",
                span(asked, unicode),
                span(whole, unicode)
            )),
        }
    }

    /// The method of the first request, unless it is GET.
    fn method(&self) -> Option<&'a str> {
        if self.get("requests[0].call").is_some() {
            return None;
        }
        self.get("requests[0].method")
            .filter(|method| *method != "GET")
    }

    /// The body of the first request.
    fn body(&self) -> Option<String> {
        if self.get("requests[0].call").is_some() {
            return None;
        }
        if self.get("requests[0].body").is_some() {
            return Some("a body that varies".to_owned());
        }
        let bytes: u64 = self.get("requests[0].body_bytes")?.parse().ok()?;
        Some(format!("a body of {}", counted(bytes, "byte")))
    }
}

/// A law that fits into a line.
fn shortened(law: &str) -> String {
    if law.chars().count() <= LAW_MAX {
        return law.to_owned();
    }
    let head: String = law.chars().take(LAW_MAX - 1).collect();
    format!("{head}…")
}

/// Prints the target, with the method unless it is GET, and the body.
pub(super) fn print_target(summary: &Summary, page: &mut Page<'_>) {
    let info = &summary.info;
    let asked = Asked::of(info, info.pool());
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
