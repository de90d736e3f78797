//! A summary in the contract's types.
//!
//! Each function makes one object. It takes its figures from the summary, as the page of text does,
//! and computes and rounds none: it may leave one out, mask a text, and replace a number that JSON
//! does not have ([`finite`]). The objects of the run, of pools and of steps have the same fields if
//! these mean the same.
//!
//! Texts of plans, servers and stored runs are masked by [`prose`] or [`secret::url`]. They are not
//! escaped for a terminal: programs want the text, and [`super::escaped`] escapes the document.

use super::parts::{connections, distribution, drift, interval, stage};
use super::prose;
use crate::calendar::rfc3339;
use crate::failure_kind::failure_kinds;
use crate::plan_name::plan_name;
use crate::remedy::Naming;
use crate::secret;
use crate::show::content;
use crate::step_name::StepName;
use crate::style::Unicode;
use drumfire_compare::contract::summary::{
    AchievedRate, Bound, Bytes, Came, Departures, Document, Ended, Error, FailedBody, FailedStep,
    Failure, Gauge, Generator, HeldBack, Inference, InferenceGauges, Iterations, Latency, Llm,
    LlmGoodput, LlmSpeed, LlmTokens, Load, Messages, Pool, Rate, Requests, Run, Scenario, Slow,
    Stamps, Step, StepLatency, StepRequests, Target, Threshold, Verdict, Waits, Warmup, WarmupEnd,
};
use drumfire_compare::contract::{Named, PlanTexts, SUMMARY_SCHEMA, Texts};
use drumfire_compare::plan_facts;
use drumfire_measure::{
    Certainty, Counts, Figures, GeneratorHealth, InferenceMoment, InferenceRecord, Leniency,
    LlmFigures, LoadAnswer, Outcome, OutcomeCounts, PoolInfo, Reason, RunInfo, Settling, Summary,
    TargetAnswer, status_name,
};
use drumfire_plan::{EventClass, Finish, LlmError};
use drumfire_units::Nanos;
use std::collections::BTreeMap;

/// The document of a run. An active run is printed as if it ended now.
pub(super) fn document(summary: &Summary) -> Document {
    let total = &summary.total;
    let leniencies = Leniency::ALL.iter().zip(total.leniencies);
    Document {
        schema: SUMMARY_SCHEMA.to_owned(),
        run: run(summary),
        load: load(&summary.load),
        target: target(&summary.target),
        verdict: verdict(summary),
        requests: requests(total),
        rate: rate(summary.intended_per_s(), summary.achieved_per_s()),
        bytes: bytes(total.bytes),
        latency: latency(total),
        connections: connections(&total.connections),
        iterations: iterations_of_run(summary),
        held_back: held_back(total),
        messages: Some(&total.messages)
            .filter(|messages| messages.any())
            .map(messages),
        llm: total.llm().map(|of| Llm {
            in_flight_mean: summary.in_flight_mean().map(finite),
            in_flight_max: Some(summary.in_flight_max()),
            ..llm(of, &total.counts, total.outcomes(), summary)
        }),
        inference: summary.inference.as_deref().map(inference),
        status: statuses(total.status()),
        errors: errors(total),
        failures: failures(summary),
        failed_bodies: failed_bodies(summary),
        slowest: slowest(summary),
        leniencies: leniencies
            .filter(|(_, n)| *n > 0)
            .map(|(leniency, n)| (leniency.name().to_owned(), n))
            .collect(),
        warmup: warmup(summary),
        drift: summary.drift.iter().map(drift).collect(),
        stages: summary.stages().iter().map(stage).collect(),
        intervals: summary.intervals().iter().map(interval).collect(),
        pools: summary
            .pools()
            .map(|(info, figures)| pool(summary, info, figures))
            .collect(),
        steps: steps(summary.steps(), summary),
        generator: generator(&summary.generator, &summary.info),
        notes: summary.info.notes.iter().map(prose).collect(),
    }
}

/// The facts of a run. Its connections are the maximum number that may be open at a time, over all
/// pools.
fn run(summary: &Summary) -> Run {
    let info = &summary.info;
    let connections = info.pools.iter().map(|pool| pool.connections);
    Run {
        id: info.id.clone(),
        started_at: rfc3339(info.started_at_unix_ns),
        duration_ns: summary.duration.0,
        coverage: Named(summary.coverage),
        ended: summary.load_end.reason.map(|reason| Ended {
            reason: Named(reason),
            at_ns: summary.load_end.at.map(|at| at.0),
        }),
        load_changes: summary.load_changes(),
        unaccounted_share: finite(summary.unaccounted_share()),
        model: Named(summary.model()),
        latency_kind: Named(summary.latency_kind()),
        seed: info.seed,
        target: secret::url(&info.target),
        name: plan_name(info.name.as_deref()),
        connections: connections.fold(0, u32::saturating_add),
        interval_ns: info.interval.0,
        plan: plan(info),
        version: info.version.clone(),
    }
}

/// The facts of the plan, with secrets masked.
pub(super) fn plan(info: &RunInfo) -> PlanTexts {
    let all = plan_facts::texts(info).into_iter();
    let of_key = |(key, mut texts): (String, Vec<String>)| match texts.len() {
        1 => (key, Texts::One(texts.remove(0))),
        _ => (key, Texts::Several(texts)),
    };
    PlanTexts(all.map(of_key).collect())
}

/// The answer on the load, of the run or of a pool.
fn load(answer: &LoadAnswer) -> Load {
    Load {
        kept: answer.kept,
        sent_share: finite(answer.sent_share),
        reasons: sentences(&answer.reasons),
        connections_needed: answer.connections_needed,
    }
}

/// The answer on the target, of the run or of a pool.
fn target(answer: &TargetAnswer) -> Target {
    Target {
        state: Named(answer.state),
        reasons: sentences(&answer.reasons),
    }
}

/// The verdict with every threshold. A value that JSON does not have, such as infinity, is `null`.
fn verdict(summary: &Summary) -> Verdict {
    let thresholds = summary.thresholds.iter().map(|threshold| Threshold {
        expression: prose(&threshold.expression),
        passed: threshold.passed,
        actual: threshold.actual.filter(|actual| actual.is_finite()),
        actual_is: match threshold.certainty {
            Certainty::Exact => None,
            Certainty::AtLeast => Some(Bound::AtLeast),
            Certainty::AtMost => Some(Bound::AtMost),
        },
        actual_text: prose(&threshold.actual_text),
        is_condition: threshold.is_condition,
        ended_run_at_ns: threshold.ended_run_at.map(|at| at.0),
    });
    Verdict {
        validity: Named(summary.verdict.validity),
        reasons: sentences(&summary.verdict.reasons),
        thresholds: thresholds.collect(),
    }
}

fn requests(figures: &Figures) -> Requests {
    let counts = &figures.counts;
    Requests {
        intended: counts.intended,
        sent: counts.sent,
        ok: counts.ok,
        failed: counts.failed,
        dropped: counts.dropped,
        in_flight: counts.in_flight,
        timed_out: counts.timed_out,
        pending: counts.pending,
        without_data: figures.without_data(),
        interim_responses: figures.interim,
        retried: figures.retried,
    }
}

fn rate(intended: Option<f64>, achieved: f64) -> Rate {
    Rate {
        intended_per_s: intended.map(finite),
        achieved_per_s: finite(achieved),
    }
}

const fn bytes(bytes: drumfire_measure::ByteCounts) -> Bytes {
    Bytes {
        sent: bytes.sent,
        received: bytes.received,
    }
}

fn latency(figures: &Figures) -> Latency {
    let times = &figures.latency;
    Latency {
        response_time: distribution(&times.response_time),
        service_time: distribution(&times.service_time),
        first_byte: distribution(&times.first_byte),
        waiting: distribution(&times.waiting),
        lag: distribution(&times.lag),
        connect: distribution(&figures.connections.connect),
        tls_handshake: distribution(&figures.connections.tls_handshake),
        failed: distribution(&times.failed),
    }
}

/// The iterations of all pools. Only a single pool has an intended rate: rates of different
/// iterations have no sum.
fn iterations_of_run(summary: &Summary) -> Option<Iterations> {
    let mut pools = summary.pools();
    match (pools.next(), pools.next()) {
        (Some((pool, figures)), None) => iterations_of_pool(summary, pool, figures),
        _ => iterations(summary, &summary.total, None),
    }
}

/// The iterations of a pool, with its scenarios and the rate of its load.
fn iterations_of_pool(summary: &Summary, pool: &PoolInfo, figures: &Figures) -> Option<Iterations> {
    let intended = summary.iterations_intended_per_s(pool, figures);
    let named = pool.scenarios.iter().zip(&figures.scenarios);
    Some(Iterations {
        scenarios: named
            .map(|(name, iterations)| scenario(summary, name, iterations))
            .collect(),
        ..iterations(summary, figures, intended)?
    })
}

/// The iterations without scenarios; `None` if each iteration is one request.
fn iterations(summary: &Summary, figures: &Figures, intended: Option<f64>) -> Option<Iterations> {
    let iterations = figures.iterations.as_ref()?;
    let counts = &iterations.counts;
    Some(Iterations {
        intended: counts.intended,
        started: counts.sent,
        completed: counts.ok,
        failed: counts.failed,
        dropped: counts.dropped,
        in_flight: counts.in_flight,
        timed_out: counts.timed_out,
        pending: counts.pending,
        rate: rate(intended, summary.iterations_per_s(iterations)),
        time: distribution(&iterations.time),
        time_failed: distribution(&iterations.failed),
        scenarios: Vec::new(),
    })
}

fn scenario(summary: &Summary, name: &str, of: &drumfire_measure::Iterations) -> Scenario {
    let counts = &of.counts;
    Scenario {
        name: prose(name),
        started: counts.sent,
        completed: counts.ok,
        failed: counts.failed,
        in_flight: counts.in_flight,
        timed_out: counts.timed_out,
        rate: AchievedRate {
            achieved_per_s: finite(summary.iterations_per_s(of)),
        },
        time: distribution(&of.time),
        time_failed: distribution(&of.failed),
    }
}

fn held_back(figures: &Figures) -> Option<HeldBack> {
    let held_back = &figures.held_back;
    held_back.allowed.map(|streams_allowed| HeldBack {
        requests: held_back.requests,
        streams_allowed,
    })
}

/// The answers of a run or a step, with its counts and outcomes.
fn llm(of: &LlmFigures, counts: &Counts, outcomes: &OutcomeCounts, summary: &Summary) -> Llm {
    let errors = LlmError::ALL.map(|kind| {
        let outcome = Outcome::of_llm_error(kind);
        (kind.name(), outcomes.get(outcome))
    });
    Llm {
        answers: of.answers,
        streamed: of.streamed,
        counted: of.counted,
        short: of.short,
        tokens: llm_tokens(of, summary.duration),
        events: occurred(EventClass::ALL.map(|class| (class.name(), of.events_of(class)))),
        joined: of.joined,
        finish: occurred(Finish::ALL.map(|reason| (reason.name(), of.finished(reason)))),
        errors: occurred(errors),
        ttft: distribution(&of.ttft),
        ttft_service: distribution(&of.ttft_service),
        ttfv: distribution(&of.ttfv),
        tpot: distribution(&of.tpot),
        gap: distribution(&of.gap),
        itl: distribution(&of.itl),
        stall: distribution(&of.stall),
        speed: llm_speed(of),
        goodput: llm_goodput(of, counts, summary),
        in_flight_mean: None,
        in_flight_max: None,
    }
}

/// The counts above 0 by name.
fn occurred<const N: usize>(counts: [(&str, u64); N]) -> BTreeMap<String, u64> {
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

/// The tokens of answers, over a span.
fn llm_tokens(of: &LlmFigures, span: Nanos) -> LlmTokens {
    LlmTokens {
        input: of.input,
        cached: (of.cache_reports > 0).then_some(of.cached),
        out: of.tokens(),
        asked: of.asked,
        reasoning: of.reasoning,
        out_per_s: finite(of.tokens() as f64 / span.as_secs_f64()),
    }
}

fn llm_speed(of: &LlmFigures) -> LlmSpeed {
    let speed = |q: f64| of.speed(q).map(finite);
    LlmSpeed {
        min: speed(0.0),
        p1: speed(0.01),
        p10: speed(0.1),
        p50: speed(0.5),
        p90: speed(0.9),
        max: speed(1.0),
    }
}

/// What an inference server reported about itself.
fn inference(of: &InferenceRecord) -> Inference {
    let ns = |seconds: f64| finite(seconds * 1e9);
    Inference {
        server: secret::url(&of.server),
        reads: of.reads,
        failed_reads: of.failed_reads,
        ttft_mean_ns: of.ttft.map(ns),
        gap_mean_ns: of.gap.map(ns),
        cached_share: of.cached_share().map(finite),
        preemptions: of.preemptions.map(finite),
        gauges: of.whole().map(gauges),
        moments: of.moments.iter().copied().map(gauges).collect(),
    }
}

fn gauges(of: InferenceMoment) -> InferenceGauges {
    let gauge = |of: drumfire_measure::Gauge| Gauge {
        mean: finite(of.mean),
        max: finite(of.max),
    };
    InferenceGauges {
        at_ns: of.at.0,
        reads: of.reads,
        running: of.running.map(gauge),
        waiting: of.waiting.map(gauge),
        kv_cache: of.kv_cache.map(gauge),
    }
}

/// The good answers by each of the run's limits.
fn llm_goodput(of: &LlmFigures, counts: &Counts, summary: &Summary) -> Vec<LlmGoodput> {
    let slos = drumfire_plan::Threshold::slos(&summary.info.thresholds).into_iter();
    let goodput = slos.enumerate().map(|(number, slo)| LlmGoodput {
        rule: slo.to_string(),
        good: of.good.get(number).copied().unwrap_or(0),
        open: of.open,
        due: of.due(counts),
    });
    goodput.collect()
}

fn messages(messages: &drumfire_measure::Messages) -> Messages {
    Messages {
        sent: messages.sent,
        unsent: messages.unsent,
        received: messages.received,
        first: distribution(&messages.first),
        gap: distribution(&messages.gap),
        gaps_in_one_read: messages.gaps_in_one_read(),
    }
}

/// Failures by kind and message, as the run and its pools have them.
fn errors(figures: &Figures) -> Vec<Error> {
    let rows = figures.errors().into_iter();
    rows.map(|row| Error {
        blame: row.blame.name().to_owned(),
        kind: row.outcome.name().to_owned(),
        message: prose(row.detail.to_string()),
        count: row.count,
    })
    .collect()
}

/// The kinds of failure with their explanations. Remedies name flags, as in [`sentences`].
fn failures(summary: &Summary) -> Vec<Failure> {
    let kinds = failure_kinds(summary, Naming::Flags).into_iter();
    kinds
        .map(|kind| {
            let came = |(text, count)| Came {
                text: prose(text),
                count,
            };
            let steps = kind.steps.iter().take(FAILED_STEPS_MAX);
            let steps = steps.map(|(step, count)| FailedStep {
                step: step.path(),
                count: *count,
            });
            Failure {
                blame: kind.blame.name().to_owned(),
                kind: kind.outcome.name().to_owned(),
                count: kind.count,
                share: finite(kind.share),
                came: kind.all_that_came().into_iter().map(came).collect(),
                expected: kind.expected.map(|expect| expect.to_string()),
                steps: steps.collect(),
                first_body: kind.first_body_in_words(FIRST_BODY_LETTERS),
                remedy: kind.remedy.clone(),
            }
        })
        .collect()
}

/// The maximum number of steps of a kind of failure.
const FAILED_STEPS_MAX: usize = 100;
/// The maximum number of characters of a first body.
const FIRST_BODY_LETTERS: usize = 200;

/// Failures of a kind, as a step has them: without messages.
fn error_of_kind((outcome, count): (Outcome, u64)) -> Option<Error> {
    Some(Error {
        blame: outcome.blame()?.name().to_owned(),
        kind: outcome.name().to_owned(),
        message: outcome.words().to_owned(),
        count,
    })
}

/// The names of a pool and a step of it; empty if the facts of a stored run lack them.
fn names(info: &RunInfo, pool: usize, step: u16) -> (String, String) {
    let pool = info.pools.get(pool);
    let step = pool.and_then(|pool| pool.steps.get(usize::from(step)));
    (
        pool.map_or_else(String::new, |pool| prose(&pool.name)),
        step.map_or_else(String::new, |step| secret::url(step)),
    )
}

/// The kept bodies of failures. They were cut and masked when they were kept, and are laid out as on
/// the page.
fn failed_bodies(summary: &Summary) -> Vec<FailedBody> {
    let bodies = summary.failed_bodies.iter();
    bodies
        .map(|failed| {
            let (pool, step) = names(&summary.info, failed.pool, failed.step);
            FailedBody {
                kind: failed.outcome.name().to_owned(),
                status: failed.status,
                pool,
                step,
                bytes: failed.body.length,
                body: content(&failed.body, &[], &[], Unicode::On).join("\n"),
            }
        })
        .collect()
}

fn slowest(summary: &Summary) -> Vec<Slow> {
    let (_, slowest) = summary.slowest_requests();
    slowest
        .into_iter()
        .map(|slow| {
            let (pool, step) = names(&summary.info, usize::from(slow.pool), slow.step);
            Slow {
                trace_id: prose(&slow.trace),
                response_time_ns: slow.response_time.0,
                service_time_ns: slow.service_time.map(|time| time.0),
                at_ns: slow.intended.0,
                pool,
                step,
                kind: slow.outcome.name().to_owned(),
                status: slow.status,
            }
        })
        .collect()
}

fn warmup(summary: &Summary) -> Warmup {
    let warmup = &summary.total.warmup;
    Warmup {
        duration_ns: summary.left_out().0,
        end: match summary.settling {
            None => WarmupEnd::Given,
            Some(Settling::At(_)) => WarmupEnd::Found,
            Some(Settling::Never) => WarmupEnd::NotSettled,
            Some(Settling::TooShort) => WarmupEnd::TooShort,
        },
        sent: warmup.sent,
        ok: warmup.ok,
        failed: warmup.failed,
    }
}

/// The figures of a pool over the span of the run, so that the rates of pools add up to the run's.
fn pool(summary: &Summary, info: &PoolInfo, figures: &Figures) -> Pool {
    Pool {
        name: prose(&info.name),
        model: Named(info.model),
        latency_kind: Named(info.model.latency_kind(&figures.latency)),
        load: load(&LoadAnswer::judge(info, figures, summary.spans())),
        target: target(&TargetAnswer::judge(info, figures)),
        requests: requests(figures),
        rate: rate(
            summary.intended_per_s_of(info, figures),
            summary.achieved_per_s_of(figures),
        ),
        bytes: bytes(figures.bytes),
        latency: latency(figures),
        connections: connections(&figures.connections),
        iterations: iterations_of_pool(summary, info, figures),
        status: statuses(figures.status()),
        errors: errors(figures),
        steps: steps(figures.steps_of(info), summary),
    }
}

/// The figures of steps over the span of the run, so that their rates add up to the run's.
fn steps(steps: Vec<drumfire_measure::Step>, summary: &Summary) -> Vec<Step> {
    let duration = summary.duration;
    let steps = steps.iter();
    steps
        .map(|step| Step {
            name: StepName::from_step(step).path(),
            requests: StepRequests {
                sent: step.counts.sent,
                ok: step.counts.ok,
                failed: step.counts.failed,
                timed_out: step.counts.timed_out,
            },
            rate: AchievedRate {
                achieved_per_s: finite(step.counts.finished() as f64 / duration.as_secs_f64()),
            },
            bytes: bytes(step.bytes),
            latency: StepLatency {
                response_time: distribution(&step.response_time),
                service_time: distribution(&step.service_time),
            },
            status: statuses(step.status.iter()),
            errors: step.errors.failures().filter_map(error_of_kind).collect(),
            messages: step.messages().map(messages),
            llm: step
                .llm()
                .map(|of| llm(of, &step.counts, &step.errors, summary)),
        })
        .collect()
}

/// The generator's health. A memory of 0 was not measured. Figures that only the kernel's clock
/// shows are `null` if its timestamps were not requested.
fn generator(health: &GeneratorHealth, info: &RunInfo) -> Generator {
    let stamps = Some(health.stamps).filter(|stamps| stamps.taken + stamps.lost() > 0);
    let departures = Some(health.departures).filter(|departures| departures.asked() > 0);
    let limits = health.limited_by.iter();
    Generator {
        threads: health.threads,
        cpu_share_max: finite(health.cpu_share_max),
        loop_turn_p99_ns: health.loop_turn_p99.0,
        wake_lateness_p99_ns: health.wake_lateness_p99.0,
        clock: Named(health.clock),
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
        waits: Some(health.waits)
            .filter(|waits| waits.any())
            .map(|waits| Waits {
                polled_share: finite(health.polled_share),
                polled_ns: waits.polled.0,
                found: waits.found,
                slept: waits.slept,
            }),
        limited_by: limits.map(|outcome| outcome.name().to_owned()).collect(),
    }
}

/// Counts by status, as three digits or gRPC's name.
fn statuses(counts: impl Iterator<Item = (u16, u64)>) -> BTreeMap<String, u64> {
    counts
        .map(|(status, n)| (status_name(status).into_owned(), n))
        .collect()
}

/// Reasons with their remedies as sentences. They name flags even if a plan configured the run, so
/// that one run has one document.
fn sentences(reasons: &[Reason]) -> Vec<String> {
    let sentences = reasons.iter();
    let sentences = sentences.map(|reason| crate::sentence(reason, Naming::Flags));
    sentences.map(prose).collect()
}

/// A number that JSON has: infinity and NaN, as of a rate over no time, become 0. Used only if
/// there is nothing to count; an unknown figure is an `Option`.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
