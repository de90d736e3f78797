//! The metrics of a run so far, computed from its sums.

use crate::catalogue::{
    ANSWER_COUNTS, ANSWER_TIMES, OWN_DISTRIBUTIONS, OWN_TIMES, POOL_COUNTS, POOL_LEVELS,
    POOL_TIMES, PoolCount, rate,
};
use crate::label_sets::LabelSets;
use crate::{Family, Label, MetricKind, Point, Snapshot, TimeDistribution, Unit, Value};
use drumfire_measure::{
    Figures, Histogram, Interval, Iterations, LlmFigures, Model, PoolInfo, Reading, RunEvent,
    RunInfo, RunState,
};
use std::sync::Arc;

/// The metrics of a run so far.
#[derive(Clone, Debug)]
pub struct Books {
    reading: Reading,
    pools: Vec<PoolBooks>,
    /// The maximum share of time that a worker was busy in the last interval.
    busiest: f64,
}

/// A pool's figures that are not in its sums.
#[derive(Clone, Debug)]
struct PoolBooks {
    label: Label,
    sets: LabelSets,
    is_open: bool,
    /// The number of requests that became due in the last interval, per second.
    rate: f64,
}

impl Books {
    /// The books of a run that begins. The facts must contain no secrets.
    #[must_use]
    pub fn new(info: Arc<RunInfo>) -> Self {
        let pools = info.pools.iter().map(|pool| PoolBooks {
            label: Label::new("pool", &pool.name),
            sets: LabelSets::for_pool(pool),
            is_open: pool.model == Model::Open,
            rate: 0.0,
        });
        Self {
            pools: pools.collect(),
            reading: Reading::of_sums(info),
            busiest: 0.0,
        }
    }

    /// Every metric that a run may have, for a list of them: the metrics of a run with a rate and
    /// scenarios, before its start.
    #[must_use]
    pub fn catalogue() -> Vec<Family> {
        let mut pool = PoolInfo::new("", Model::Open, [""]);
        pool.iterations = true;
        let books = Self::new(Arc::new(RunInfo::new(vec![pool])));
        books.snapshot(0).families
    }

    /// Records an event of the run.
    pub fn observe(&mut self, event: &RunEvent) {
        self.reading.observe(event);
        match event {
            RunEvent::IntervalClosed(interval) => self.add(interval),
            RunEvent::Finished(_) => self.reset_rates(),
            _ => {}
        }
    }

    fn add(&mut self, interval: &Interval) {
        for (mine, theirs) in self.pools.iter_mut().zip(interval.pools()) {
            mine.rate = rate(interval, theirs);
        }
        self.busiest = f64::from(interval.health.busiest_share_ppm) / 1e6;
    }

    /// Each pool with its sums.
    fn pools(&self) -> impl Iterator<Item = (&PoolBooks, &Figures)> {
        let sums = self.reading.so_far().pools();
        self.pools.iter().zip(sums.map(|(_, figures)| figures))
    }

    fn info(&self) -> &RunInfo {
        &self.reading.so_far().info
    }

    /// Resets the rates, because no load is requested any more.
    fn reset_rates(&mut self) {
        self.busiest = 0.0;
        for pool in &mut self.pools {
            pool.rate = 0.0;
        }
    }

    /// All current metrics; `at` is the current time in nanoseconds since 1970-01-01 00:00 UTC.
    #[must_use]
    pub fn snapshot(&self, at: u64) -> Snapshot {
        let mut families = vec![self.info_family()];
        families.extend(self.run_families());
        families.push(self.outcomes());
        families.push(self.statuses());
        families.extend(POOL_COUNTS.iter().map(|count| self.count(count)));
        families.push(self.closings());
        families.push(self.target_rate());
        families.extend(POOL_LEVELS.iter().map(|level| {
            let value = |pool: &Figures| Value::Count((level.of)(pool));
            self.each(level.name, level.help, MetricKind::Gauge, value)
        }));
        families.extend(POOL_TIMES.iter().map(|times| {
            let value = |pool: &Figures| distribution((times.of)(pool));
            let family = self.each(times.name, times.help, MetricKind::Histogram, value);
            family.with_unit(Unit::Seconds)
        }));
        families.extend(self.answer_families());
        families.extend(self.iteration_families());
        families.extend(self.own_families());
        // A metric without values is omitted.
        families.retain(|family| !family.points.is_empty());
        Snapshot {
            at_unix_ns: at,
            started_at_unix_ns: self.info().started_at_unix_ns,
            elapsed: self.reading.so_far().end(),
            run: self.info().id.clone(),
            version: self.info().version.clone(),
            families,
        }
    }

    /// A metric with one value per pool.
    fn each(
        &self,
        name: &'static str,
        help: &'static str,
        kind: MetricKind,
        value: impl Fn(&Figures) -> Value,
    ) -> Family {
        let point = |(pool, figures): (&PoolBooks, &Figures)| pool.point(&[], value(figures));
        let points = self.pools().map(point).collect();
        Family::new(name, help, kind, points)
    }

    /// The answers of language models, of the pools that have some.
    fn answer_families(&self) -> Vec<Family> {
        let points = |value: &dyn Fn(&LlmFigures) -> Value| {
            let of_pool = |(pool, figures): (&PoolBooks, &Figures)| {
                figures.llm().map(|llm| pool.point(&[], value(llm)))
            };
            self.pools().filter_map(of_pool).collect()
        };
        let counts = ANSWER_COUNTS.iter().map(|count| {
            let points = points(&|llm| Value::Count((count.of)(llm)));
            Family::new(count.name, count.help, MetricKind::Counter, points)
        });
        let times = ANSWER_TIMES.iter().map(|times| {
            let points = points(&|llm| distribution((times.of)(llm)));
            let family = Family::new(times.name, times.help, MetricKind::Histogram, points);
            family.with_unit(Unit::Seconds)
        });
        counts.chain(times).collect()
    }

    fn count(&self, count: &PoolCount) -> Family {
        let value = |pool: &Figures| Value::Count((count.of)(pool));
        let family = self.each(count.name, count.help, MetricKind::Counter, value);
        Family {
            unit: count.unit,
            ..family
        }
    }

    fn info_family(&self) -> Family {
        let info = self.info();
        let labels = [
            ("run", &*info.id),
            ("target", &*info.target),
            ("version", &*info.version),
        ];
        let point = Point {
            labels: labels.map(|(name, value)| Label::new(name, value)).into(),
            value: Value::Count(1),
        };
        let help = "The run of these metrics, which its labels identify; the value is 1.";
        Family::new("drumfire_run", help, MetricKind::Info, vec![point])
    }

    fn run_families(&self) -> Vec<Family> {
        let started = self.info().started_at_unix_ns as f64 / 1e9;
        let is_over = f64::from(u8::from(self.reading.state() == RunState::Over));
        vec![
            Family::alone(
                "drumfire_run_start_time_seconds",
                "When the run started, since 1970-01-01 00:00 UTC.",
                MetricKind::Gauge,
                Value::Number(started),
            )
            .with_unit(Unit::Seconds),
            Family::alone(
                "drumfire_run_elapsed_seconds",
                "Elapsed time of the run: the end of the last interval in these metrics.",
                MetricKind::Gauge,
                Value::Number(self.reading.so_far().end().as_secs_f64()),
            )
            .with_unit(Unit::Seconds),
            Family::alone(
                "drumfire_run_finished",
                "1 if the run is over and these metrics are final, else 0.",
                MetricKind::Gauge,
                Value::Number(is_over),
            ),
        ]
    }

    /// The ended exchanges by outcome.
    fn outcomes(&self) -> Family {
        let of_pool = |(pool, figures): (&PoolBooks, _)| pool.counts(pool.sets.outcomes(figures));
        Family::new(
            "drumfire_requests",
            "Requests that have ended, by outcome.",
            MetricKind::Counter,
            self.pools().flat_map(of_pool).collect(),
        )
    }

    /// The responses by status.
    fn statuses(&self) -> Family {
        let of_pool = |(pool, figures): (&PoolBooks, _)| pool.counts(pool.sets.statuses(figures));
        Family::new(
            "drumfire_responses",
            "Responses, by HTTP or gRPC status.",
            MetricKind::Counter,
            self.pools().flat_map(of_pool).collect(),
        )
    }

    /// The closed connections by reason.
    fn closings(&self) -> Family {
        let of_pool = |(pool, figures): (&PoolBooks, _)| pool.counts(pool.sets.closings(figures));
        Family::new(
            "drumfire_connections_closed",
            "Connections that were closed, by reason.",
            MetricKind::Counter,
            self.pools().flat_map(of_pool).collect(),
        )
    }

    /// The requested rate of the load in the last interval; only for open loads.
    fn target_rate(&self) -> Family {
        let open = self.pools.iter().filter(|pool| pool.is_open);
        Family::new(
            "drumfire_target_rate",
            "Requests, or iterations of scenarios, that became due in the last interval, per second; only \
             for pools with a rate.",
            MetricKind::Gauge,
            open.map(|pool| pool.point(&[], Value::Number(pool.rate)))
                .collect(),
        )
    }

    /// The metrics of iterations, for pools in which an iteration is more than a request.
    fn iteration_families(&self) -> Vec<Family> {
        let with = |values: &dyn Fn(&PoolBooks, &Iterations) -> Vec<Point>| {
            let pools = self.pools();
            let pools =
                pools.filter_map(|(pool, figures)| Some((pool, figures.iterations.as_ref()?)));
            pools
                .flat_map(|(pool, iterations)| values(pool, iterations))
                .collect::<Vec<_>>()
        };
        let ended = with(&|pool, iterations| {
            let counts = &iterations.counts;
            let results = [("ok", counts.ok), ("failed", counts.failed)];
            let point = |(name, count)| {
                let label = Label::new("result", name);
                pool.point(&[label], Value::Count(count))
            };
            results.map(point).into()
        });
        let dropped = with(&|pool, iterations| {
            vec![pool.point(&[], Value::Count(iterations.counts.dropped))]
        });
        let times = with(&|pool, iterations| vec![pool.point(&[], distribution(&iterations.time))]);
        vec![
            Family::new(
                "drumfire_iterations",
                "Iterations that have ended, by result: ok or failed; for pools whose iterations may be \
                 more than one request.",
                MetricKind::Counter,
                ended,
            ),
            Family::new(
                "drumfire_iterations_dropped",
                "Iterations that were due but dropped by the late policy.",
                MetricKind::Counter,
                dropped,
            ),
            Family::new(
                "drumfire_iteration_seconds",
                "Time from when an iteration was due to its end, for completed iterations.",
                MetricKind::Histogram,
                times,
            )
            .with_unit(Unit::Seconds),
        ]
    }

    /// The generator's own health.
    fn own_families(&self) -> Vec<Family> {
        let mut families = vec![
            Family::alone(
                "drumfire_generator_threads",
                "Worker threads.",
                MetricKind::Gauge,
                Value::Count(u64::from(self.info().threads)),
            ),
            Family::alone(
                "drumfire_generator_busiest_thread_ratio",
                "Maximum CPU share of a worker thread in the last interval, from 0 to 1.",
                MetricKind::Gauge,
                Value::Number(self.busiest),
            )
            .with_unit(Unit::Ratio),
        ];
        families.extend(OWN_TIMES.iter().map(|own| {
            let value = Value::Number((own.of)(&self.reading.so_far().health));
            Family::alone(own.name, own.help, MetricKind::Counter, value).with_unit(Unit::Seconds)
        }));
        families.extend(OWN_DISTRIBUTIONS.iter().map(|own| {
            let value = distribution((own.of)(&self.reading.so_far().health));
            Family::alone(own.name, own.help, MetricKind::Histogram, value).with_unit(Unit::Seconds)
        }));
        families
    }
}

impl PoolBooks {
    /// A value of the pool, with these labels in addition to its name.
    fn point(&self, labels: &[Label], value: Value) -> Point {
        let mut all = vec![self.label.clone()];
        all.extend_from_slice(labels);
        Point { labels: all, value }
    }

    /// Counts of the pool, each with its label.
    fn counts(&self, counts: impl Iterator<Item = (Label, u64)>) -> Vec<Point> {
        let points = counts.map(|(label, count)| self.point(&[label], Value::Count(count)));
        points.collect()
    }
}

fn distribution(times: &Histogram) -> Value {
    Value::Distribution(Box::new(TimeDistribution::from_histogram(times)))
}

#[cfg(test)]
mod tests {
    use super::Books;
    use std::collections::BTreeSet;

    #[test]
    fn the_catalogue_has_what_only_some_runs_have() {
        let all = Books::catalogue();
        let names: BTreeSet<&str> = all.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), all.len());
        for name in ["drumfire_target_rate", "drumfire_iteration_seconds"] {
            assert!(names.contains(name), "{name}");
        }
        for family in &all {
            assert!(family.help.ends_with('.'), "{}", family.help);
        }
    }
}
