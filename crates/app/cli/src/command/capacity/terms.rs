//! The goal of a search, from its flags, and the plan of its run.

use crate::exit::Failure;
use crate::flags::CapacityFlags;
use drumfire_capacity::Terms;
use drumfire_document::flags::Given;
use drumfire_document::{Document, Place, Placed, Pool, Stop, Text};
use drumfire_measure::RunInfo;
use drumfire_plan::{Metric, Threshold, suggestion_of};
use drumfire_units::{Nanos, Rate};

/// The objective that is added if no other one limits failures. A target that fails requests
/// quickly has no capacity.
const FAILED: &str = "failed<1%";
/// The maximum rate of a search without `--max`.
const RATE_MAX: f64 = 1e6;
/// The limits of the times.
const STEP_MIN: Nanos = Nanos::from_secs(1);
const HOLD_MIN: Nanos = Nanos::from_secs(10);
const TIME_MAX: Nanos = Nanos::from_secs(3_600);
/// The plan lasts longer than the longest search by this time.
const MARGIN: Nanos = Nanos::from_secs(60);

/// The goal of a search.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The objectives, as rules.
    pub(super) rules: Vec<Threshold>,
    /// The terms, without objectives.
    pub(super) terms: Terms,
}

impl Wanted {
    pub(super) fn from_flags(flags: &CapacityFlags) -> Result<Self, Failure> {
        let http = &flags.http;
        let shows = match (http.load.output.show, http.load.print_plan) {
            (true, _) => Some((
                "--show",
                "to send one request and print it, use `drumfire http --show`",
            )),
            (false, true) => Some((
                "--print-plan",
                "to print the plan of the requests, use `drumfire http --print-plan`",
            )),
            (false, false) => None,
        };
        check(http.load.settings.given(), shows)?;
        let mut rules = Vec::new();
        for text in &flags.slos {
            rules.push(rule(text)?);
        }
        let is_of_failures = |rule: &Threshold| match &rule.metric {
            Metric::Pool(_, inner) => **inner == Metric::Failed,
            metric => *metric == Metric::Failed,
        };
        if !rules.iter().any(is_of_failures) {
            rules.push(rule(FAILED)?);
        }
        let from = rate("--from", &flags.from)?;
        let most = flags.max.as_deref().map(|text| rate("--max", text));
        let most = most.transpose()?.unwrap_or_else(|| RATE_MAX.max(from));
        if most < from {
            return Err(Failure::usage(format!(
                "--max {} is below the first rate, --from {}",
                flags.max.as_deref().unwrap_or_default(),
                flags.from
            )));
        }
        let step = time("--step", &flags.step, STEP_MIN)?;
        let hold = time("--hold", &flags.hold, HOLD_MIN)?;
        let confirm = time("--confirm", &flags.confirm, STEP_MIN)?;
        Ok(Self {
            rules,
            terms: Terms {
                slos: Vec::new(),
                from,
                most,
                step,
                hold,
                confirm,
            },
        })
    }

    /// The index of the pool with this name, or of the only pool.
    pub(super) fn pool(&self, document: &Document, name: Option<&str>) -> Result<usize, Failure> {
        let pools = &document.pools;
        let names = || {
            let names: Vec<&str> = pools.iter().map(|pool| &*pool.name.value).collect();
            names.join(", ")
        };
        match (name, pools.len()) {
            // The compiler rejects a plan without pools.
            (None, 0 | 1) => Ok(0),
            (None, _) => Err(Failure::usage(format!(
                "the plan has several pools; select one with --pool: {}",
                names()
            ))),
            (Some(name), _) => {
                let found = pools.iter().position(|pool| pool.name.value == name);
                found.ok_or_else(|| {
                    let shown = name.escape_debug();
                    Failure::usage(format!(
                        "--pool: unknown pool `{shown}`{}",
                        suggestion_of(name, pools.iter().map(|pool| &*pool.name.value), "pools")
                    ))
                })
            }
        }
    }

    /// Puts the load of a search into a document: the first rate, and an end after the latest end
    /// of the search.
    ///
    /// The law continues with the maximum rate after the latest end of the search, when nothing is
    /// sent any more. Checks of how much a plan may send, such as the guard of targets, therefore
    /// see the maximum rate.
    pub(super) fn apply_to(&self, document: &mut Document, pool: usize) -> Result<(), Failure> {
        let Terms { from, most, .. } = self.terms;
        let longest = self.terms.latest() + MARGIN;
        let longest = longest.0.div_ceil(1_000_000_000);
        let text = |text: String| Some(Placed::new(text, Place::Nowhere));
        // Good answers are counted for the thresholds of a run. These always hold.
        let slos = self.rules.iter().filter_map(|rule| rule.metric.slo());
        let counted = slos.map(|slo| Text::new(format!("goodput({slo})>=0%"), Place::Nowhere));
        document.thresholds = counted.collect();
        document.stop = Stop {
            after: text(format!("{longest}s")),
            requests: None,
            iterations: None,
            ..std::mem::take(&mut document.stop)
        };
        document.generator.warmup = None;
        document.generator.interval = text("1s".to_owned());
        let Some(pool) = document.pools.get_mut(pool) else {
            return Ok(());
        };
        check_pool(pool)?;
        pool.stop = Stop::default();
        pool.load.late = None;
        let rate = format!("const({from}/s,{longest}s) const({most}/s)");
        pool.load.rate = text(rate);
        let poisson = || Text::new("poisson".to_owned(), Place::Nowhere);
        pool.load.arrivals.get_or_insert_with(poisson);
        Ok(())
    }
}

/// Applies the rule to the searched pool, if the run has several pools and the rule names none. A
/// rule that names a pool was parsed before the pools were known; it is parsed again, because names
/// of pools may contain slashes.
pub(super) fn of_pool(rule: &Threshold, info: &RunInfo, pool: usize) -> Threshold {
    let names: Vec<&str> = info.pools.iter().map(|pool| &*pool.name).collect();
    let mut rule = Threshold::rule_of(&rule.expression, &names).unwrap_or_else(|_| rule.clone());
    if names.len() > 1
        && !matches!(rule.metric, Metric::Pool(..))
        && let Some(name) = names.get(pool)
    {
        rule.metric = Metric::Pool((*name).to_owned(), Box::new(rule.metric));
    }
    rule
}

/// Rejects a pool whose load consists of users.
fn check_pool(pool: &Pool) -> Result<(), Failure> {
    let load = &pool.load;
    let closed = [
        (&load.think, "think"),
        (&load.pace, "pace"),
        (&load.start, "start"),
        (&load.rate_per, "rate_per"),
    ];
    let key = closed.into_iter().find(|(value, _)| value.is_some());
    let key = key.map(|(_, key)| key);
    let key = key.or_else(|| (load.users.is_some() && load.rate.is_none()).then_some("users"));
    match key {
        None => Ok(()),
        Some(key) => Err(Failure::usage(format!(
            "pool {} has `{key}`, but a capacity search needs the open model; give the pool a `rate` \
             instead",
            pool.name.value
        ))),
    }
}

/// Rejects flags for a load with a rate, users or an end. `other` is a flag that is refused for
/// another reason, if no setting is.
pub(super) fn check(
    given: &[Given],
    other: Option<(&'static str, &'static str)>,
) -> Result<(), Failure> {
    let closed = "a capacity search uses the open model; to limit the connections, use -c";
    let ends = "a search ends by itself; to set its times, use --hold and --confirm";
    let whole = "figures of the whole run mean little, because its rate changes; to set objectives, \
                 use --slo";
    let refused = [
        (
            "rate",
            "the search sets the rate; to set the first and the maximum rate, use --from and --max",
        ),
        ("users", closed),
        ("think-time", closed),
        ("duration", ends),
        ("requests", ends),
        ("iterations", ends),
        (
            "warmup",
            "the search doubles the rate before it counts anything",
        ),
        (
            "late",
            "requests wait for a free connection, and their response time includes the wait",
        ),
        ("threshold", whole),
        ("strict", whole),
        ("explain", whole),
        ("brief", whole),
        ("junit", whole),
        ("baseline", whole),
        ("interval", "the search checks the load every second"),
    ];
    let of_setting = given.iter().find_map(|given| {
        let flag = given.row.flag;
        let (_, why) = refused.iter().find(|(long, _)| *long == flag.long())?;
        Some((flag.name(), *why))
    });
    of_setting.or(other).map_or(Ok(()), |(flag, why)| {
        Err(Failure::usage(format!("leave out {flag}: {why}")))
    })
}

/// Parses an objective.
fn rule(text: &str) -> Result<Threshold, Failure> {
    text.parse::<Threshold>().map_err(|error| {
        let before = &text[..error.at.min(text.len())];
        let mark = format!("{}^", " ".repeat(before.chars().count()));
        Failure::usage(format!(
            "--slo: {}\n  {}\n  {mark}",
            error.message,
            excerpt_of(text)
        ))
    })
}

/// The text of a rule on one line.
fn excerpt_of(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Parses a rate above 0, per second.
fn rate(flag: &str, text: &str) -> Result<f64, Failure> {
    let rate: Rate = text
        .parse()
        .map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
    match rate.as_per_second() {
        rate if rate > 0.0 && rate <= RATE_MAX => Ok(rate),
        rate if rate > RATE_MAX => Err(Failure::usage(format!(
            "{flag}: {text} is too high; the maximum is 1M/s"
        ))),
        _ => Err(Failure::usage(format!(
            "{flag}: {text} sends nothing; use a rate above 0"
        ))),
    }
}

/// Parses a time of the search.
fn time(flag: &str, text: &str, least: Nanos) -> Result<Nanos, Failure> {
    let time: Nanos = text
        .parse()
        .map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
    if time < least || time > TIME_MAX {
        return Err(Failure::usage(format!(
            "{flag}: {text} is out of range; use a time from {least} to {TIME_MAX}"
        )));
    }
    Ok(time)
}
