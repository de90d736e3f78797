//! The load: a rate, a number of requests at a time, or all at once.

use super::TOOL;
use super::args::{Args, mistake};
use super::dataset::Dataset;
use drumfire_document::{Count, Load};
use drumfire_report::vllm::VllmRamp;
use drumfire_units::Nanos;

/// The number of straight pieces that stand for a rate that changes with the number of requests.
const PIECES: u32 = 40;

/// The time after a ramp for which its last rate lasts, so that a random process reaches the last
/// request.
const AFTER_RAMP: &str = "24h";

/// The load of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GivenLoad {
    /// The rate per second; `None` sends all requests at once, or at the times of a trace.
    pub(super) rate: Option<f64>,
    pub(super) burstiness: f64,
    pub(super) max_concurrency: Option<u64>,
    pub(super) ramp: Option<VllmRamp>,
    /// The rate of small requests beside the load, one at a time.
    pub(super) probes: Option<f64>,
}

impl GivenLoad {
    /// The load of a command line.
    ///
    /// # Errors
    /// If a value is invalid, or flags contradict each other.
    pub(super) fn from_args(args: &Args, dataset: &Dataset) -> Result<Self, String> {
        let rate = args.number("request-rate")?;
        if rate <= 0.0 {
            return Err(mistake("request-rate", "it must be greater than 0, or inf"));
        }
        let burstiness = args.number("burstiness")?;
        if !(burstiness > 0.0 && burstiness.is_finite()) {
            return Err(mistake("burstiness", "it must be greater than 0"));
        }
        let max_concurrency = args.given_count("max-concurrency")?;
        if max_concurrency == Some(0) {
            return Err(mistake("max-concurrency", "it must be greater than 0"));
        }
        let probes = args.number("probe-request-rate")?;
        if !(probes >= 0.0 && probes.is_finite()) {
            let why = "it must be a number of requests per second; 0 sends none";
            return Err(mistake("probe-request-rate", why));
        }
        if probes > 0.0 && dataset.is_file {
            let why = "probes end with the last of --num-prompts, and a file may have fewer; use a \
                       data set of made-up prompts";
            return Err(mistake("probe-request-rate", why));
        }
        let load = Self {
            rate: rate.is_finite().then_some(rate),
            burstiness,
            max_concurrency,
            ramp: ramp(args)?,
            probes: (probes > 0.0).then_some(probes),
        };
        if dataset.is_timed && (args.has("request-rate") || load.ramp.is_some()) {
            let why = "a timed trace is sent at its own times; use --no-self-timed for a rate";
            return Err(mistake("request-rate", why));
        }
        Ok(load)
    }

    /// The law of the plan.
    pub(super) fn to_plan(&self, dataset: &Dataset) -> Load {
        if dataset.is_timed {
            return Load::default();
        }
        let (flag, law) = match (&self.ramp, self.rate) {
            (Some(ramp), _) => ("--ramp-up-strategy", ramp_law(ramp, dataset.count)),
            (None, Some(rate)) => ("--request-rate", format!("{rate}/s")),
            (None, None) => {
                let users = self.max_concurrency.unwrap_or(u64::MAX).min(dataset.count);
                return Load {
                    users: Some(TOOL.text("--max-concurrency", &users)),
                    ..Load::default()
                };
            }
        };
        let arrivals = match self.burstiness {
            1.0 => "poisson".to_owned(),
            shape => format!("gamma:{shape}"),
        };
        Load {
            rate: Some(TOOL.text(flag, &law)),
            arrivals: Some(TOOL.text("--burstiness", &arrivals)),
            ..Load::default()
        }
    }

    /// The number of connections that limits the requests at a time.
    pub(super) fn connections(&self) -> Option<Count> {
        let most = self.max_concurrency?;
        Some(TOOL.count("--max-concurrency", most))
    }
}

fn ramp(args: &Args) -> Result<Option<VllmRamp>, String> {
    let Some(strategy) = args.text("ramp-up-strategy") else {
        let others = ["ramp-up-start-rps", "ramp-up-end-rps"];
        return match others.into_iter().find(|name| args.has(name)) {
            Some(name) => Err(mistake(name, "it needs --ramp-up-strategy")),
            None => Ok(None),
        };
    };
    if !matches!(strategy, "linear" | "exponential") {
        let shown = strategy.escape_debug();
        let why = format!("unknown strategy `{shown}`; use linear or exponential");
        return Err(mistake("ramp-up-strategy", why));
    }
    if args.has("request-rate") {
        let why = "a ramp has its own rates; leave --request-rate out";
        return Err(mistake("request-rate", why));
    }
    let rate = |name| {
        let rate = args.given_count(name)?;
        rate.ok_or_else(|| mistake(name, "a ramp needs it"))
    };
    let (start, end) = (rate("ramp-up-start-rps")?, rate("ramp-up-end-rps")?);
    if start > end || end == 0 {
        let why = "it must not be greater than --ramp-up-end-rps, which is at least 1";
        return Err(mistake("ramp-up-start-rps", why));
    }
    if strategy == "exponential" && start == 0 {
        let why = "it must be at least 1 for an exponential ramp";
        return Err(mistake("ramp-up-start-rps", why));
    }
    Ok(Some(VllmRamp {
        strategy: strategy.to_owned(),
        start,
        end,
    }))
}

/// The rate that changes with the number of the request, as straight pieces over time. Request
/// number i of n has the rate λ(i ÷ (n − 1)), and comes 1 ÷ λ after the one before.
fn ramp_law(ramp: &VllmRamp, count: u64) -> String {
    let (from, to) = (ramp.start as f64, ramp.end as f64);
    let is_linear = ramp.strategy == "linear";
    // A ramp from 0 begins with the rate in the middle of the first gap: its first gap has no end
    // otherwise.
    let lowest = 0.5 * to / count as f64;
    let at = |share: f64| {
        let rate = match is_linear {
            true => from + (to - from) * share,
            false => from * (to / from).powf(share),
        };
        rate.max(lowest)
    };
    let mut law = String::new();
    let each = count as f64 / f64::from(PIECES);
    for piece in 0..PIECES {
        let (low, high) = (f64::from(piece), f64::from(piece + 1));
        let (a, b) = (at(low / f64::from(PIECES)), at(high / f64::from(PIECES)));
        // The mean rate of a straight piece is the mean of its ends.
        let span = Nanos((each / ((a + b) / 2.0) * 1e9).round() as u64);
        law.push_str(&format!("line({a:.6},{b:.6},{span}) "));
    }
    law.push_str(&format!("const({to},{AFTER_RAMP})"));
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_its_requests_before_its_last_rate() {
        for strategy in ["linear", "exponential"] {
            let ramp = VllmRamp {
                strategy: strategy.to_owned(),
                start: 2,
                end: 20,
            };
            let law = ramp_law(&ramp, 400);
            assert!(law.starts_with("line(2.000000,"), "{law}");
            assert_eq!(law.matches("line(").count(), PIECES as usize);
            // The area below the pieces is the number of requests.
            let area: f64 = law.split("line(").skip(1).map(area).sum();
            assert!((area - 400.0).abs() < 0.1, "{strategy}: {area}");
        }
    }

    fn area(piece: &str) -> f64 {
        let inside = piece.split(')').next().unwrap_or_default();
        let parts: Vec<&str> = inside.split(',').collect();
        let rate = |at: usize| parts[at].parse::<f64>().expect("a rate");
        let span: Nanos = parts[2].parse().expect("a span");
        (rate(0) + rate(1)) / 2.0 * span.as_secs_f64()
    }
}
