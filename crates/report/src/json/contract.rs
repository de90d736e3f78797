//! The document's shape, field by field.
//!
//! Each struct is one object of the document, its fields in the order in which they are printed. A
//! constructor takes its figures from the summary, as the page of text does, so that the two agree.
//! Objects of the run, of pools and of steps have the same fields where they mean the same, so that
//! one reader reads all three.
//!
//! Fields without a comment are those of `docs/schema/drumfire.summary.v1.json`, which says what
//! each means. A field that only some runs have is left out elsewhere rather than `null`, except
//! where a reader would look for it in every run (`intended_per_s` of a closed model).
//!
//! The contract is public and versioned: a field may be added, and none may change its meaning or
//! go. The schema in `docs/schema` is compared with what is printed, so that a field that is added
//! here without a line there is found. Times are whole nanoseconds in fields that end in `_ns`,
//! rates are per second, shares are between 0 and 1, and a number is never a string.
//!
//! Texts of the plan, of servers and of stored runs pass [`prose`] or [`secret::url`] and are not
//! escaped for a terminal: JSON's own escapes suffice, and a program wants the text.
//!
//! `Document::of` is the only way in. It calls the constructors of the objects, each of which reads
//! the summary and computes no figure of its own: a value is a field of `measure`, or a method that
//! the page of text calls too. A constructor may leave out, mask, and replace a number that JSON
//! lacks (`finite`); it rounds nothing.
//!
//! Three rules say when a key is absent. An object that only some runs have, such as `messages`, is
//! an `Option` of its own type. A list that is empty in most runs is left out when it is empty; the
//! others are there, so that a reader can iterate without a question. A number that could not be
//! measured is `null`, since 0 would be a measurement.

use super::connections::Connections;
use super::distribution::Distribution;
use super::drift::Drift;
use super::interval::{Interval, Stage};
use super::plan_facts::PlanFacts;
use super::prose;
use crate::calendar::rfc3339;
use crate::remedy::Naming;
use crate::secret;
use crate::show::content;
use crate::style::Unicode;
use drumfire_measure::{
    Certainty, ErrorRow, Figures, GeneratorHealth, Leniency, LoadAnswer, Outcome, PoolInfo, Reason,
    RunInfo, Settling, Step, Summary, TargetAnswer, status_name,
};
use drumfire_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// The whole document, in the order in which a reader asks: the run, its three answers, the counts,
/// then the distributions and the parts.
///
/// `transport`, `failures` and `parts` are no keys of the document: they are flattened, and exist
/// so that this type has no more fields than a head can hold.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    run: Run<'a>,
    load: Load,
    target: Target,
    verdict: Verdict,
    requests: Requests,
    rate: Rate,
    #[serde(flatten)]
    transport: Transport,
    latency: Latency,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<Iterations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back: Option<HeldBack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages>,
    status: BTreeMap<String, u64>,
    #[serde(flatten)]
    failures: Failures,
    leniencies: BTreeMap<&'static str, u64>,
    warmup: Warmup,
    drift: Vec<Drift>,
    #[serde(flatten)]
    parts: Parts,
    generator: Generator,
    notes: Vec<String>,
}

/// The same figures of parts of the run: of time, of pools, of steps. Pools and intervals add up to
/// the run. Steps have no intended or dropped requests, since arrivals have no step before they are
/// sent, and there are stages only where a load has any.
#[derive(Serialize)]
struct Parts {
    /// One entry for each stage of a load that has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<Stage>,
    /// The run over time in at most 300 entries; of a longer run, each is the merge of several
    /// intervals.
    intervals: Vec<Interval>,
    pools: Vec<PoolFigures>,
    steps: Vec<StepFigures>,
}

/// The facts of the run: identity, time, seed and plan, by which it can be made again.
///
/// `duration_ns` is the measured span, without the warm-up; `plan` is a map of texts and not the
/// document that was written, for a program compares runs by it and does not run it.
#[derive(Serialize)]
struct Run<'a> {
    id: &'a str,
    started_at: String,
    duration_ns: u64,
    coverage: &'static str,
    ended: Option<Ended>,
    load_changes: u64,
    unaccounted_share: f64,
    model: &'static str,
    latency_kind: &'static str,
    seed: u64,
    target: String,
    connections: u32,
    interval_ns: u64,
    plan: PlanFacts<'a>,
    version: &'a str,
}

/// The end of the load, and why it came then: `duration` and `counted` are the plan's own ends. A run
/// whose end is not known, since it is not recorded, has none.
#[derive(Serialize)]
struct Ended {
    reason: &'static str,
    /// From the run's start; `null` where it is not known.
    at_ns: Option<u64>,
}

/// The answer on the load: whether it was kept, and why not.
///
/// Kept means that at least 99 % of what became due was sent; a closed model asks for no more than
/// it sends and always keeps its load, and has reasons if its users waited for connections.
/// `connections_needed` is an estimate by Little's law from the rate, or the users' time, and the
/// mean service time, and is `null` where these say nothing.
#[derive(Serialize)]
struct Load {
    kept: bool,
    sent_share: f64,
    reasons: Vec<String>,
    connections_needed: Option<u64>,
}

/// The answer on the target: `ok`, `behind`, `degraded`, `failed`, or `unknown` where nothing was asked
/// of it.
#[derive(Serialize)]
struct Target {
    state: &'static str,
    reasons: Vec<String>,
}

/// The answer on the measurement: whether the figures are the target's or the generator's, with the
/// thresholds in the plan's order. Validity says nothing of the target, and a threshold nothing of
/// validity; a reader needs both.
#[derive(Serialize)]
struct Verdict {
    validity: &'static str,
    reasons: Vec<String>,
    thresholds: Vec<Threshold>,
}

/// One threshold: its rule, and the figure that was seen.
///
/// `actual` has the unit of the rule's metric, and is `null` where the rule can't be evaluated,
/// which fails a rule and passes a condition. `actual_text` says the same in words, or why there is
/// none.
#[derive(Serialize)]
struct Threshold {
    expression: String,
    passed: bool,
    actual: Option<f64>,
    /// `at_least` or `at_most`, only where `actual` is no more than that bound of the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_is: Option<&'static str>,
    actual_text: String,
    /// Whether it is a condition that ends the run; absent of a rule.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_condition: bool,
    /// The end of the interval that showed the violation, only of a condition that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_run_at_ns: Option<u64>,
}

/// The requests by what became of them: `intended` = `sent` + `dropped` + `pending`, and `sent` =
/// `ok` + `failed` + `in_flight`.
///
/// A dropped request is counted and in no distribution of time; one that was due at the end and not
/// sent, or still in flight, stands in the distributions as "at least this long".
#[derive(Serialize)]
struct Requests {
    intended: u64,
    sent: u64,
    ok: u64,
    failed: u64,
    dropped: u64,
    in_flight: u64,
    timed_out: u64,
    pending: u64,
    /// Of `failed`, those that had no data and were not sent, though `sent` has them too.
    without_data: u64,
    interim_responses: u64,
    retried: u64,
}

/// Requests per second over the measured span: as the schedule asked for, and as they ended, ok or
/// failed. Of a closed model nothing was asked for, which is `null` and not absent, since every run
/// has the key.
#[derive(Serialize)]
struct Rate {
    intended_per_s: Option<f64>,
    achieved_per_s: f64,
}

/// The keys on connections and their bytes, which the document and nothing else has at its top.
#[derive(Serialize)]
struct Transport {
    bytes: Bytes,
    connections: Connections,
}

/// Bytes as written to and read from connections, within TLS, heads included. Retransmissions and
/// TLS' own bytes are below what the program sees.
#[derive(Serialize)]
struct Bytes {
    sent: u64,
    received: u64,
}

/// The distributions of time; in each the times are nanoseconds.
///
/// Ok and failed requests are kept apart, for a target that fails fast must not look fast. A
/// request whose end was not seen (timed out, in flight, due and not sent) stands among the ok ones
/// as "at least this long". `response_time` runs from due to end, `service_time` from sent to end;
/// the difference is `waiting`, which the target caused, and `lag`, which we did.
#[derive(Serialize)]
struct Latency {
    response_time: Distribution,
    service_time: Distribution,
    first_byte: Distribution,
    waiting: Distribution,
    lag: Distribution,
    connect: Distribution,
    tls_handshake: Distribution,
    failed: Distribution,
}

/// Iterations of several requests; absent where each is one request.
///
/// Its counts are the requests' counts under the words of iterations: `started` is `sent`,
/// `completed` is `ok`.
#[derive(Serialize)]
struct Iterations {
    intended: u64,
    started: u64,
    completed: u64,
    failed: u64,
    dropped: u64,
    in_flight: u64,
    timed_out: u64,
    pending: u64,
    rate: Rate,
    time: Distribution,
    time_failed: Distribution,
    /// The iterations of each scenario, of a pool that has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scenarios: Vec<Scenario>,
}

/// The iterations of a scenario, in the order of the plan. Its share of the arrivals is the plan's
/// choice, so that it has achieved figures and none that was intended.
#[derive(Serialize)]
struct Scenario {
    name: String,
    started: u64,
    completed: u64,
    failed: u64,
    in_flight: u64,
    timed_out: u64,
    rate: StepRate,
    time: Distribution,
    time_failed: Distribution,
}

/// Requests that waited because a server allows fewer streams than the plan has (RFC 9113 section
/// 6.5.2); absent where none did.
#[derive(Serialize)]
struct HeldBack {
    requests: u64,
    streams_allowed: u32,
}

/// Messages of gRPC calls; absent where there are none. `unsent` are messages that a call had still
/// to send when it ended; `first` and `gap` are only of calls that the server streams.
#[derive(Serialize)]
struct Messages {
    sent: u64,
    unsent: u64,
    received: u64,
    first: Distribution,
    gap: Distribution,
}

/// Failures of one kind with one message. `kind` and `blame` are stable and may be matched;
/// `message` is for people, bounded, and may change with any version.
#[derive(Serialize)]
struct Error {
    blame: &'static str,
    kind: &'static str,
    message: String,
    count: u64,
}

/// The failures of the run: their kinds, their first bodies, and the slowest requests. Kinds are
/// bounded in `measure`, and their counts add up to `requests.failed`.
#[derive(Serialize)]
struct Failures {
    errors: Vec<Error>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_bodies: Vec<FailedBody>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slowest: Vec<Slow>,
}

/// One of the slowest requests: of the measured ones, whatever their outcome. `trace_id` is that of
/// the traceparent that it carried (W3C Trace Context), by which the target's records are searched;
/// `status` is 0 where no response came. They are the slowest by `run.latency_kind`; one that was
/// not sent has no service time.
#[derive(Serialize)]
struct Slow {
    #[serde(skip_serializing_if = "String::is_empty")]
    trace_id: String,
    response_time_ns: u64,
    service_time_ns: Option<u64>,
    at_ns: u64,
    pool: String,
    step: String,
    kind: &'static str,
    status: u16,
}

/// One of the first bodies of a kind of failure: enough to see what the target said. `bytes` is the
/// length of the whole decoded body, of which `body` is the beginning.
#[derive(Serialize)]
struct FailedBody {
    kind: &'static str,
    status: u16,
    pool: String,
    step: String,
    bytes: u64,
    /// Its rows as the text report shows them.
    body: String,
}

/// The requests that the warm-up left out of everything else; `end` says how its end was found.
/// They are counted, so that all requests that were sent can be accounted for, and have no times.
#[derive(Serialize)]
struct Warmup {
    duration_ns: u64,
    end: &'static str,
    sent: u64,
    ok: u64,
    failed: u64,
}

/// The figures of one pool, over the whole run's span.
///
/// A pool has answers of its own by the run's rules, so that one pool's failure can be told from
/// another's success. It has no verdict: whether the generator kept up is a question of the run.
#[derive(Serialize)]
struct PoolFigures {
    name: String,
    model: &'static str,
    latency_kind: &'static str,
    load: Load,
    target: Target,
    requests: Requests,
    rate: Rate,
    bytes: Bytes,
    latency: Latency,
    connections: Connections,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<Iterations>,
    status: BTreeMap<String, u64>,
    errors: Vec<Error>,
    steps: Vec<StepFigures>,
}

/// The figures of one step. Arrivals have no step before they are sent, so that nothing is intended
/// or dropped here.
///
/// Its failures have no messages: those are kept for each pool, since a step of a large plan would
/// have room for none.
#[derive(Serialize)]
struct StepFigures {
    name: String,
    requests: StepRequests,
    rate: StepRate,
    bytes: Bytes,
    latency: StepLatency,
    status: BTreeMap<String, u64>,
    errors: Vec<Error>,
}

/// The requests of a step, by how they ended. `sent` may be more than `ok` and `failed` together,
/// by those that were in flight at the end.
#[derive(Serialize)]
struct StepRequests {
    sent: u64,
    ok: u64,
    failed: u64,
    timed_out: u64,
}

/// Requests of a step per second of the run's span, which is the same for all steps: their rates
/// add up to the run's.
#[derive(Serialize)]
struct StepRate {
    achieved_per_s: f64,
}

/// The distributions of time that are kept for single steps: the two from which the latency of a
/// model is taken. The others would cost memory for each of thousands of steps.
#[derive(Serialize)]
struct StepLatency {
    response_time: Distribution,
    service_time: Distribution,
}

/// The generator's own health, by which the verdict is explained.
///
/// Where workers spin before a due time, their share of a core is near 1 by design, and `spin` says
/// so. `limited_by` names what the machine ran out of by outcomes, as they stand among the
/// failures.
#[derive(Serialize)]
struct Generator {
    threads: u32,
    cpu_share_max: f64,
    loop_turn_p99_ns: u64,
    wake_lateness_p99_ns: u64,
    clock: &'static str,
    handling_p50_ns: Option<u64>,
    handling_p99_ns: Option<u64>,
    stamps: Option<Stamps>,
    leaving_p50_ns: Option<u64>,
    leaving_p99_ns: Option<u64>,
    departures: Option<Departures>,
    run_queue_delay_ns: u64,
    steal_share: f64,
    memory_max: Option<u64>,
    connections_opened: u64,
    tls_verified: Option<bool>,
    spin: bool,
    limited_by: Vec<&'static str>,
}

/// The receives of which the kernel's stamps were asked for.
#[derive(Serialize)]
struct Stamps {
    taken: u64,
    missing: u64,
    refused: u64,
}

/// The requests of whose departures the kernel's stamps were asked for, and those passed over.
#[derive(Serialize)]
struct Departures {
    taken: u64,
    missing: u64,
    refused: u64,
    passed: u64,
}

impl<'a> Document<'a> {
    /// The document of a run whose books are closed; one that goes on may be printed as if it ended
    /// now.
    pub(super) fn of(summary: &'a Summary) -> Self {
        let total = &summary.total;
        Self {
            schema: super::SCHEMA,
            run: Run::of(summary),
            load: Load::of(&summary.load),
            target: Target::of(&summary.target),
            verdict: Verdict::of(summary),
            requests: Requests::of(total),
            rate: Rate {
                intended_per_s: summary.intended_per_s().map(finite),
                achieved_per_s: finite(summary.achieved_per_s()),
            },
            transport: Transport::of(total),
            latency: Latency::of(total),
            iterations: Iterations::of_run(summary),
            held_back: HeldBack::of(total),
            messages: Messages::of(total),
            status: statuses(total.status()),
            failures: Failures {
                errors: total.errors().into_iter().map(Error::of).collect(),
                failed_bodies: FailedBody::of_run(summary),
                slowest: Slow::of_run(summary),
            },
            leniencies: Leniency::ALL
                .iter()
                .zip(total.leniencies)
                .filter(|(_, n)| *n > 0)
                .map(|(leniency, n)| (leniency.name(), n))
                .collect(),
            warmup: Warmup {
                duration_ns: summary.left_out().0,
                end: warmup_end(summary),
                sent: total.warmup.sent,
                ok: total.warmup.ok,
                failed: total.warmup.failed,
            },
            drift: summary.drift.iter().map(Drift::of).collect(),
            parts: Parts {
                stages: summary.stages().iter().map(Stage::of).collect(),
                intervals: summary.intervals().iter().map(Interval::of).collect(),
                pools: pool_figures(summary),
                steps: step_figures(summary.steps(), summary.duration),
            },
            generator: Generator::of(&summary.generator, &summary.info),
            notes: summary.info.notes.iter().map(prose).collect(),
        }
    }
}

/// The way in which the warm-up's end was set: given by the plan, or found in the figures, or why
/// it was not found. `given` also stands for a plan without a warm-up, which has a length of 0.
const fn warmup_end(summary: &Summary) -> &'static str {
    match summary.settling {
        None => "given",
        Some(Settling::At(_)) => "found",
        Some(Settling::Never) => "not_settled",
        Some(Settling::TooShort) => "too_short",
    }
}

impl<'a> Run<'a> {
    /// The facts of a run. Its connections are the greatest number that may be open at a time, over
    /// all pools.
    fn of(summary: &'a Summary) -> Self {
        let info: &RunInfo = &summary.info;
        let connections = info.pools.iter().map(|pool| pool.connections);
        Self {
            id: &info.id,
            started_at: rfc3339(info.started_at_unix_ns),
            duration_ns: summary.duration.0,
            coverage: summary.coverage.name(),
            ended: summary.load_end.reason.map(|reason| Ended {
                reason: reason.name(),
                at_ns: summary.load_end.at.map(|at| at.0),
            }),
            load_changes: summary.load_changes(),
            unaccounted_share: finite(summary.unaccounted_share()),
            model: summary.model().name(),
            latency_kind: summary.latency_kind().key(),
            seed: info.seed,
            target: secret::url(&info.target),
            connections: connections.fold(0, u32::saturating_add),
            interval_ns: info.interval.0,
            plan: PlanFacts(info),
            version: &info.version,
        }
    }
}

impl Load {
    /// The answer of the whole run, or of one pool by the same rules.
    fn of(answer: &LoadAnswer) -> Self {
        Self {
            kept: answer.kept,
            sent_share: finite(answer.sent_share),
            reasons: sentences(&answer.reasons),
            connections_needed: answer.connections_needed,
        }
    }
}

impl Target {
    /// The answer of the whole run, or of one pool by the same rules.
    fn of(answer: &TargetAnswer) -> Self {
        Self {
            state: answer.state.name(),
            reasons: sentences(&answer.reasons),
        }
    }
}

impl Verdict {
    /// The verdict with every threshold. A figure that JSON lacks, such as an infinite one, is
    /// `null` here and stands in words beside.
    fn of(summary: &Summary) -> Self {
        let thresholds = summary.thresholds.iter().map(|threshold| Threshold {
            expression: prose(&threshold.expression),
            passed: threshold.passed,
            actual: threshold.actual.filter(|actual| actual.is_finite()),
            actual_is: match threshold.certainty {
                Certainty::Exact => None,
                Certainty::AtLeast => Some("at_least"),
                Certainty::AtMost => Some("at_most"),
            },
            actual_text: prose(&threshold.actual_text),
            is_condition: threshold.is_condition,
            ended_run_at_ns: threshold.ended_run_at.map(|at| at.0),
        });
        Self {
            validity: summary.verdict.validity.name(),
            reasons: sentences(&summary.verdict.reasons),
            thresholds: thresholds.collect(),
        }
    }
}

impl Requests {
    /// The counts of a run or of a pool, taken as they are: the two sums hold in `measure`.
    fn of(total: &Figures) -> Self {
        let counts = &total.counts;
        Self {
            intended: counts.intended,
            sent: counts.sent,
            ok: counts.ok,
            failed: counts.failed,
            dropped: counts.dropped,
            in_flight: counts.in_flight,
            timed_out: counts.timed_out,
            pending: counts.pending,
            without_data: total.without_data(),
            interim_responses: total.interim,
            retried: total.retried,
        }
    }
}

impl Transport {
    /// Bytes and connections of the whole run.
    fn of(total: &Figures) -> Self {
        Self {
            bytes: Bytes {
                sent: total.bytes.sent,
                received: total.bytes.received,
            },
            connections: Connections::of(&total.connections),
        }
    }
}

impl Latency {
    /// The distributions of a run or of a pool. Openings of connections are times of connections,
    /// not of requests, and stand here since a reader looks for all times in one place.
    fn of(total: &Figures) -> Self {
        Self {
            response_time: Distribution::of(&total.latency.response_time),
            service_time: Distribution::of(&total.latency.service_time),
            first_byte: Distribution::of(&total.latency.first_byte),
            waiting: Distribution::of(&total.latency.waiting),
            lag: Distribution::of(&total.latency.lag),
            connect: Distribution::of(&total.connections.connect),
            tls_handshake: Distribution::of(&total.connections.tls_handshake),
            failed: Distribution::of(&total.latency.failed),
        }
    }
}

impl Iterations {
    /// The iterations of all pools. A rate that was asked for is only that of a single pool, since
    /// rates of different iterations do not add up to anything.
    fn of_run(summary: &Summary) -> Option<Self> {
        let mut pools = summary.pools();
        match (pools.next(), pools.next()) {
            (Some((pool, figures)), None) => Self::of_pool(summary, pool, figures),
            _ => Self::of(summary, &summary.total, None),
        }
    }

    /// The iterations of one pool, with those of its scenarios and the rate that its load asks for.
    fn of_pool(summary: &Summary, pool: &PoolInfo, figures: &Figures) -> Option<Self> {
        let intended = summary.iterations_intended_per_s(pool, figures);
        let named = pool.scenarios.iter().zip(&figures.scenarios);
        let scenarios = named.map(|(name, iterations)| Scenario::of(summary, name, iterations));
        Some(Self {
            scenarios: scenarios.collect(),
            ..Self::of(summary, figures, intended)?
        })
    }

    /// The figures of iterations without those of scenarios; `None` where each iteration is one
    /// request.
    fn of(summary: &Summary, figures: &Figures, intended_per_s: Option<f64>) -> Option<Self> {
        let iterations = figures.iterations.as_ref()?;
        let counts = &iterations.counts;
        Some(Self {
            intended: counts.intended,
            started: counts.sent,
            completed: counts.ok,
            failed: counts.failed,
            dropped: counts.dropped,
            in_flight: counts.in_flight,
            timed_out: counts.timed_out,
            pending: counts.pending,
            rate: Rate {
                intended_per_s: intended_per_s.map(finite),
                achieved_per_s: finite(summary.iterations_per_s(iterations)),
            },
            time: Distribution::of(&iterations.time),
            time_failed: Distribution::of(&iterations.failed),
            scenarios: Vec::new(),
        })
    }
}

impl Scenario {
    /// The iterations of a scenario. Arrivals choose one when they start, so that none is intended
    /// or dropped here.
    fn of(summary: &Summary, name: &str, iterations: &drumfire_measure::Iterations) -> Self {
        let counts = &iterations.counts;
        Self {
            name: prose(name),
            started: counts.sent,
            completed: counts.ok,
            failed: counts.failed,
            in_flight: counts.in_flight,
            timed_out: counts.timed_out,
            rate: StepRate {
                achieved_per_s: finite(summary.iterations_per_s(iterations)),
            },
            time: Distribution::of(&iterations.time),
            time_failed: Distribution::of(&iterations.failed),
        }
    }
}

impl HeldBack {
    /// The requests that were held back; `None` where no server allowed too few streams.
    fn of(total: &Figures) -> Option<Self> {
        total.held_back.allowed.map(|streams_allowed| Self {
            requests: total.held_back.requests,
            streams_allowed,
        })
    }
}

impl Messages {
    /// The messages; `None` of a run without calls.
    fn of(total: &Figures) -> Option<Self> {
        let messages = &total.messages;
        messages.any().then(|| Self {
            sent: messages.sent,
            unsent: messages.unsent,
            received: messages.received,
            first: Distribution::of(&messages.first),
            gap: Distribution::of(&messages.gap),
        })
    }
}

impl FailedBody {
    /// The bodies that were kept, by kind of failure. They were cut and masked when they were kept,
    /// and are laid out as the page does it, for a body is read by a person in either.
    fn of_run(summary: &Summary) -> Vec<Self> {
        let steps = |pool: usize| summary.info.pools.get(pool);
        let bodies = summary.failed_bodies.iter();
        bodies
            .map(|failed| {
                let pool = steps(failed.pool);
                let step = pool.and_then(|pool| pool.steps.get(usize::from(failed.step)));
                Self {
                    kind: failed.outcome.name(),
                    status: failed.status,
                    pool: pool.map_or_else(String::new, |pool| prose(&pool.name)),
                    step: step.map_or_else(String::new, |step| secret::url(step)),
                    bytes: failed.body.length,
                    body: content(&failed.body, &[], &[], Unicode::On).join("\n"),
                }
            })
            .collect()
    }
}

impl Slow {
    /// The slowest requests, the slowest first. A stored run whose facts lack the pool or the step
    /// has empty names there.
    fn of_run(summary: &Summary) -> Vec<Self> {
        let (_, slowest) = summary.slowest_requests();
        slowest
            .into_iter()
            .map(|slow| {
                let pool = summary.info.pools.get(usize::from(slow.pool));
                let step = pool.and_then(|pool| pool.steps.get(usize::from(slow.step)));
                Self {
                    trace_id: prose(&slow.trace),
                    response_time_ns: slow.response_time.0,
                    service_time_ns: slow.service_time.map(|time| time.0),
                    at_ns: slow.intended.0,
                    pool: pool.map_or_else(String::new, |pool| prose(&pool.name)),
                    step: step.map_or_else(String::new, |step| secret::url(step)),
                    kind: slow.outcome.name(),
                    status: slow.status,
                }
            })
            .collect()
    }
}

impl Error {
    /// An entry for failures of one kind with one message, as the run and its pools know them.
    fn of(row: ErrorRow) -> Self {
        Self {
            blame: row.blame.name(),
            kind: row.outcome.name(),
            message: prose(&row.detail.to_string()),
            count: row.count,
        }
    }

    /// An entry for failures of one kind, as a step knows them: without messages.
    fn of_kind((outcome, count): (Outcome, u64)) -> Option<Self> {
        Some(Self {
            blame: outcome.blame()?.name(),
            kind: outcome.name(),
            message: outcome.words().to_owned(),
            count,
        })
    }
}

/// The figures of each pool in the plan's order, over the whole run's span: rates of pools then add
/// up to the run's.
fn pool_figures(summary: &Summary) -> Vec<PoolFigures> {
    let pools = summary.pools();
    pools
        .map(|(pool, figures)| PoolFigures {
            name: prose(&pool.name),
            model: pool.model.name(),
            latency_kind: pool.model.latency_kind(&figures.latency).key(),
            load: Load::of(&LoadAnswer::of(pool, figures, summary.duration)),
            target: Target::of(&TargetAnswer::of(pool, figures)),
            requests: Requests::of(figures),
            rate: Rate {
                intended_per_s: summary.intended_per_s_of(pool, figures).map(finite),
                achieved_per_s: finite(summary.achieved_per_s_of(figures)),
            },
            bytes: Bytes {
                sent: figures.bytes.sent,
                received: figures.bytes.received,
            },
            latency: Latency::of(figures),
            connections: Connections::of(&figures.connections),
            iterations: Iterations::of_pool(summary, pool, figures),
            status: statuses(figures.status()),
            errors: figures.errors().into_iter().map(Error::of).collect(),
            steps: step_figures(figures.steps_of(pool), summary.duration),
        })
        .collect()
}

/// The figures of steps in the plan's order, over the whole run's span.
fn step_figures(steps: Vec<Step>, duration: Nanos) -> Vec<StepFigures> {
    let steps = steps.iter();
    steps.map(|step| StepFigures::of(step, duration)).collect()
}

impl StepFigures {
    /// The figures of a step, whose rate is over the whole run's span: rates of steps add up to the
    /// run's.
    fn of(step: &Step, duration: Nanos) -> Self {
        let counts = &step.counts;
        Self {
            name: secret::url(&step.name),
            requests: StepRequests {
                sent: counts.sent,
                ok: counts.ok,
                failed: counts.failed,
                timed_out: counts.timed_out,
            },
            rate: StepRate {
                achieved_per_s: finite(counts.finished() as f64 / duration.as_secs_f64()),
            },
            bytes: Bytes {
                sent: step.bytes.sent,
                received: step.bytes.received,
            },
            latency: StepLatency {
                response_time: Distribution::of(&step.response_time),
                service_time: Distribution::of(&step.service_time),
            },
            status: statuses(step.status.iter()),
            errors: step.errors.failures().filter_map(Error::of_kind).collect(),
        }
    }
}

impl Generator {
    /// The generator's health. A memory of 0 was not measured, and is absent; so is what only the
    /// kernel's clock shows where its stamps were not asked for.
    fn of(health: &GeneratorHealth, info: &RunInfo) -> Self {
        let stamps = Some(health.stamps).filter(|stamps| stamps.taken + stamps.lost() > 0);
        let departures = Some(health.departures);
        let departures = departures.filter(|departures| departures.asked() > 0);
        Self {
            threads: health.threads,
            cpu_share_max: finite(health.cpu_share_max),
            loop_turn_p99_ns: health.loop_turn_p99.0,
            wake_lateness_p99_ns: health.wake_lateness_p99.0,
            clock: health.clock.name(),
            handling_p50_ns: stamps.map(|_| health.handling_p50.0),
            handling_p99_ns: stamps.map(|_| health.handling_p99.0),
            stamps: stamps.map(|stamps| Stamps {
                taken: stamps.taken,
                missing: stamps.missing,
                refused: stamps.refused,
            }),
            leaving_p50_ns: departures.map(|_| health.leaving_p50.0),
            leaving_p99_ns: departures.map(|_| health.leaving_p99.0),
            departures: departures.map(|departures| Departures {
                taken: departures.taken,
                missing: departures.missing,
                refused: departures.refused,
                passed: departures.passed,
            }),
            run_queue_delay_ns: health.run_queue_delay.0,
            steal_share: finite(health.steal_share),
            memory_max: Some(health.memory_max).filter(|bytes| *bytes > 0),
            connections_opened: health.connections_opened,
            tls_verified: info.tls_verified,
            spin: health.spin,
            limited_by: health
                .limited_by
                .iter()
                .map(|outcome| outcome.name())
                .collect(),
        }
    }
}

/// Counts by status, under three digits or gRPC's word, in the order of these texts: a document of
/// the same run is the same to the byte.
fn statuses(counts: impl Iterator<Item = (u16, u64)>) -> BTreeMap<String, u64> {
    counts
        .map(|(status, n)| (status_name(status).into_owned(), n))
        .collect()
}

/// Reasons with their remedies as sentences. They name flags, whether the run was asked for by a
/// plan or a command line, so that the same run gives the same document.
fn sentences(reasons: &[Reason]) -> Vec<String> {
    let sentences = reasons.iter();
    let sentences = sentences.map(|reason| crate::sentence(reason, Naming::Flags));
    sentences.map(prose).collect()
}

/// A number that JSON has: infinity and NaN, as of a rate over no time, become 0. It is used where
/// there is nothing to count, so that 0 is the truth; a figure that is unknown is an `Option`
/// before.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
