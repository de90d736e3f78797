//! The summary of a run, and an interval as a separate line.

use super::{Named, PlanTexts};
use drumfire_measure::{ArrivalClock, Coverage, LatencyKind, Model, TargetState, Validity};
use drumfire_plan::StopReason;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Not;

/// The result of one run. Times are integers in nanoseconds, sizes in bytes, rates in 1/s as
/// numbers, shares from 0 to 1. Later versions only add fields: ignore unknown fields. Secrets are
/// replaced by ***.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::SUMMARY_SCHEMA)))]
    pub schema: String,
    /// The run and its settings.
    pub run: Run,
    /// Whether the requested load was sent to the target.
    pub load: Load,
    /// How the target handled the load.
    pub target: Target,
    /// Whether the figures can be trusted, and whether they pass.
    pub verdict: Verdict,
    /// Counts of requests, each request once: intended = sent + dropped + pending, and sent = ok +
    /// failed + `in_flight`.
    pub requests: Requests,
    /// Rates over the measured time.
    pub rate: Rate,
    /// Bytes on connections, including heads.
    pub bytes: Bytes,
    /// How connections were opened, and how they ended.
    pub connections: Connections,
    /// Distributions of time. Ok and failed requests have separate distributions. A request whose
    /// end was not seen (timed out, in flight at the end, due and not sent) counts among the ok
    /// requests as "at least this long".
    pub latency: Latency,
    /// Iterations; absent if an iteration is a single request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
    /// Requests that waited because servers allow fewer concurrent HTTP/2 streams than requested;
    /// absent if no request waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<HeldBack>,
    /// Messages of gRPC calls; absent if there are no calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// Answers of language models; absent if no response was read as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<Llm>,
    /// What an inference server reported about itself; absent if its metrics were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// The number of responses with each status: the three digits of HTTP, or the name of gRPC.
    pub status: BTreeMap<String, u64>,
    /// Failures, most frequent first. The number of entries is bounded; their counts add up to
    /// requests.failed.
    pub errors: Vec<Error>,
    /// The kinds of failure with their explanations, by blame and most frequent first; absent if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// The first three different bodies of each kind of failure, for at most 32 kinds; absent if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_bodies: Vec<FailedBody>,
    /// The slowest requests by `run.latency_kind`, slowest first, at most 10; absent if no request
    /// was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<Slow>,
    /// Departures from the standard that were tolerated in responses, by name; only those that
    /// occurred.
    pub leniencies: BTreeMap<String, u64>,
    /// Requests of the warm-up, which are not part of any other figure.
    pub warmup: Warmup,
    /// How the figures moved during the run, with an entry for each figure that can be judged.
    /// Empty for a run of less than a minute, with fewer than 52 intervals, or with a planned
    /// change of load.
    pub drift: Vec<Drift>,
    /// The stages of the load as they ran, pool by pool: the stages of its law, and a new stage for
    /// each command that changed it. Absent if there were fewer than two stages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// The run over time: its intervals. If there are more than 300, several intervals are merged
    /// into one span, without loss.
    pub intervals: Vec<Interval>,
    /// One entry for each pool, in the order of the plan; a command line has one pool.
    pub pools: Vec<Pool>,
    /// One entry for each tag, scenario step or URL, named `pool/step` if the run has several
    /// pools. Steps of a pool beyond 10,000 are summed under the name other.
    pub steps: Vec<Step>,
    /// How drumfire itself performed.
    pub generator: Generator,
    /// Notes for the reader, in plain words.
    pub notes: Vec<String>,
}

/// The run and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Run {
    /// The run's name, unique on its machine.
    pub id: String,
    /// The start of the run, in UTC, as in RFC 3339.
    pub started_at: String,
    /// The measured time, from the end of the warm-up to the end of the last request or the stop,
    /// in nanoseconds.
    pub duration_ns: u64,
    /// How much of the run is recorded: whole; resumed: to its end, but a part was lost where it
    /// was cut off and resumed; begun: it is still active or was cut off.
    pub coverage: Named<Coverage>,
    /// The end of the load; null if it is not recorded.
    pub ended: Option<Ended>,
    /// The number of commands that changed the load.
    pub load_changes: u64,
    /// The share of the load of which nothing is known, because agents were lost.
    pub unaccounted_share: f64,
    /// open: requests start by a schedule. closed: a user starts a request when its last request
    /// has ended.
    pub model: Named<Model>,
    /// Which of the times below is the latency: thresholds, quantiles of intervals and stages, and
    /// comparisons use it. The response time in the open model, and in the closed model if at least
    /// one request in a hundred waited for a connection or a stream; otherwise the service time.
    pub latency_kind: Named<LatencyKind>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The target of the load.
    pub target: String,
    /// The name of the plan; null if it has none.
    #[serde(default)]
    pub name: Option<String>,
    /// The maximum number of connections open at a time.
    pub connections: u32,
    /// The length of an interval, in nanoseconds.
    pub interval_ns: u64,
    /// The plan as it was run. A key that occurs more than once has a list.
    pub plan: PlanTexts,
    /// The version of drumfire.
    pub version: String,
}

/// The end of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Ended {
    /// Why the load ended. duration and counted are the ends of the plan; the others are earlier: a
    /// signal, a threshold or condition, a command, the loss of all agents, the loss of one agent
    /// with --on-loss abort.
    pub reason: Named<StopReason>,
    /// When it ended, from the run's start; null if that is not known.
    pub at_ns: Option<u64>,
}

/// Whether the requested load was sent to the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Load {
    /// Whether at least 99 % of the due requests were sent. In the closed model, users send
    /// everything that is due. Null if the load was not judged, because no request was due or the
    /// only one was not sent; the reason is in `reasons`.
    pub kept: Option<bool>,
    /// The share of due requests that were sent; 1 if none was due.
    pub sent_share: f64,
    /// The reasons if the load was not kept or not judged; in the closed model, what users waited
    /// for. In plain words.
    pub reasons: Vec<String>,
    /// The number of connections that the load needs at the measured mean service time, by Little's
    /// law. Null in the closed model if users did not wait for connections, if nothing was sent,
    /// and for several pools together.
    pub connections_needed: Option<u64>,
}

/// How the target handled the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Target {
    /// ok: fewer than 1 % of the requests failed, and the target kept up with the load. behind: it
    /// answered less than 97 % of the load while the requests without an answer grew. degraded: at
    /// least 1 % failed. failed: no request was answered as expected. unknown: no request was sent.
    pub state: Named<TargetState>,
    /// What failed, in plain words.
    pub reasons: Vec<String>,
}

/// Whether the figures can be trusted, and whether they pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Verdict {
    /// valid: the figures describe the target. suspect: drumfire may have affected them. invalid:
    /// they describe drumfire more than the target.
    pub validity: Named<Validity>,
    /// The reasons if the run is not valid, in plain words, most serious first.
    pub reasons: Vec<String>,
    /// The result of each threshold, in the order of the plan.
    pub thresholds: Vec<Threshold>,
}

/// One threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Threshold {
    /// The rule as it was written.
    pub expression: String,
    /// Whether the run passed. A rule that cannot be evaluated fails; a condition that cannot be
    /// evaluated passes.
    pub passed: bool,
    /// The measured value, in the unit of the metric (nanoseconds, 1/s, share, count); null if it
    /// cannot be evaluated.
    pub actual: Option<f64>,
    /// Present only if `actual` is a bound: `at_least` if requests whose end was not seen (timed
    /// out, in flight or never sent) may make it too small, `at_most` if it is the maximum of too
    /// few samples for a percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_is: Option<Bound>,
    /// The measured value in words, or why it cannot be evaluated.
    pub actual_text: String,
    /// Present only for a condition, which ends the run and fails it, instead of a rule.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub is_condition: bool,
    /// Present only if the threshold ended the run: the end of the interval that showed it, in
    /// nanoseconds from the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_run_at_ns: Option<u64>,
}

/// Counts of requests, each request once: intended = sent + dropped + pending, and sent = ok +
/// failed + `in_flight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Requests {
    /// Due by the schedule.
    pub intended: u64,
    /// Passed to the kernel, or failed on the way there.
    pub sent: u64,
    /// Ended as the plan expects.
    pub ok: u64,
    /// Ended in any other way.
    pub failed: u64,
    /// Due and never sent, because of the late policy.
    pub dropped: u64,
    /// Sent and not ended when the run was over.
    pub in_flight: u64,
    /// The part of the failed requests that timed out.
    pub timed_out: u64,
    /// Due, and neither sent nor dropped when the run was over.
    pub pending: u64,
    /// The part of the failed requests that could not be made for lack of data. They were begun,
    /// and count as sent.
    pub without_data: u64,
    /// Interim (1xx) responses received.
    pub interim_responses: u64,
    /// Requests that a connection took a second time, after the first one gave them back. A server
    /// receives at most sent + retried requests.
    pub retried: u64,
}

/// Rates over the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Rate {
    /// The rate of the schedule; null in the closed model.
    pub intended_per_s: Option<f64>,
    /// Requests that ended, ok or failed.
    pub achieved_per_s: f64,
}

/// Bytes on connections, including heads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Bytes {
    /// Bytes written.
    pub sent: u64,
    /// Bytes read.
    pub received: u64,
}

/// Distributions of time. Ok and failed requests have separate distributions. A request whose end
/// was not seen (timed out, in flight at the end, due and not sent) counts among the ok requests as
/// "at least this long".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Latency {
    /// Intended start to end, for ok requests and all requests whose end was not seen: the latency
    /// of the open model.
    pub response_time: Distribution,
    /// Sent to end, for ok requests and sent requests whose end was not seen: the latency of the
    /// closed model.
    pub service_time: Distribution,
    /// Sent to the first byte of the response, for ok requests.
    pub first_byte: Distribution,
    /// Intended start to a free connection; for requests that were due and not sent, at least this
    /// long.
    pub waiting: Distribution,
    /// Due (a free connection) to sent: drumfire's own lateness.
    pub lag: Distribution,
    /// Time to open a connection.
    pub connect: Distribution,
    /// Time of the TLS handshake.
    pub tls_handshake: Distribution,
    /// Intended start to end, for failed requests; a request that timed out took at least this
    /// long.
    pub failed: Distribution,
}

/// A distribution of times. An empty distribution has the count 0 and no other key. A quantile is
/// absent if there are too few samples for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Distribution {
    /// The number of samples.
    pub count: u64,
    /// The exact minimum, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// The mean, rounded, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<u64>,
    /// The standard deviation, rounded, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stddev: Option<u64>,
    /// The exact maximum, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Samples above the range of the histogram of 1 h, which count in its last bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<u64>,
    /// Quantiles by nearest rank; the keys are shares from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<BTreeMap<String, u64>>,
    /// The shortest time that is only a lower bound, because the end of the request was not seen:
    /// it timed out, was in flight at the end, or was due and not sent. Values below it are exact.
    /// Absent if every end was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least_from_ns: Option<u64>,
    /// The names of the figures that would be larger if those requests never ended: mean, min, max
    /// and quantiles. They are lower bounds; all others are exact. Absent if every end was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
    /// All samples as an HdrHistogram in the compressed V2 encoding, in base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub histogram: String,
}

/// How connections were opened, and how they ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Connections {
    /// Connections opened, without those of the warm-up.
    pub opened: u64,
    /// Connections opened in the warm-up and still open at its end; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_before: Option<u64>,
    /// Connections open when the load ended.
    pub open_at_end: u64,
    /// Connections closed, by reason. peer: the server closed it. announced: a response announced
    /// its end. idle: the server's Keep-Alive field or the plan allows no longer pause. reset: it
    /// was reset. failed: an exchange on it failed, or the TLS handshake failed. spent: it had
    /// carried the maximum number of requests of the plan. aged: it had reached the maximum age of
    /// the plan. moved: its name resolved to other addresses. goaway: the server sent GOAWAY.
    /// silent: a ping was not answered. redirected: it was opened to another origin for a redirect.
    /// ended: the run ended. discarded: bytes after the end of a response made it unusable.
    /// unready: the run ended before it was ready for a request.
    pub closed: BTreeMap<String, u64>,
    /// The part of the TLS handshakes in `latency.tls_handshake` that resumed an earlier session.
    pub tls_resumed: u64,
    /// Pauses before another dial, each after a connection that could not be opened or that failed
    /// without a response; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redial_pauses: Option<u64>,
    /// How long closed connections had been open.
    pub lifetime: Distribution,
    /// The number of requests per closed connection; absent if no connection was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_each: Option<Each>,
    /// Connections by their address, or by the address of the proxy if there is one; Unix sockets
    /// are left out. Sorted, at most 256.
    pub addresses: Vec<Address>,
    /// The sums for all further addresses; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_addresses: Option<OtherAddresses>,
}

/// The number of requests per closed connection; absent if no connection was closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Each {
    /// The minimum.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: u64,
    /// The maximum.
    pub max: u64,
}

/// The connections to one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Address {
    /// The address and port.
    pub address: String,
    /// Connections opened to this address.
    pub opened: u64,
    /// The number of requests on closed connections.
    pub requests: u64,
}

/// The sums for all further addresses; absent if there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct OtherAddresses {
    /// Connections opened to these addresses.
    pub opened: u64,
    /// The number of requests on closed connections.
    pub requests: u64,
}

/// Iterations of scenarios, each iteration once: intended = started + dropped + pending, and
/// started = completed + failed + `in_flight`. Absent if an iteration is a single request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Iterations {
    /// Due by the schedule, or begun by users.
    pub intended: u64,
    /// The first step was begun.
    pub started: u64,
    /// Ended without a failure.
    pub completed: u64,
    /// Ended with a request that failed.
    pub failed: u64,
    /// Due and never started, because of the late policy.
    pub dropped: u64,
    /// Started, and not ended when the run's drain was over, including those in a pause.
    pub in_flight: u64,
    /// The part of failed whose first failure was a timeout.
    pub timed_out: u64,
    /// Due, and neither started nor dropped when the run ended.
    pub pending: u64,
    /// Iterations per second.
    pub rate: Rate,
    /// Intended start to end, including all pauses and waits, for completed iterations and, as
    /// lower bounds, all iterations whose end was not seen.
    pub time: Distribution,
    /// Intended start to end, including all pauses and waits, for failed iterations, at whatever
    /// step they failed.
    pub time_failed: Distribution,
    /// The iterations of each scenario. Absent if the pool has fewer than two scenarios, and for
    /// several pools together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
}

/// A scenario: started = completed + failed + `in_flight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Scenario {
    /// The name in the plan.
    pub name: String,
    /// The first step was begun.
    pub started: u64,
    /// Ended without a failure.
    pub completed: u64,
    /// Ended with a request that failed.
    pub failed: u64,
    /// Started, and not ended when the run's drain was over, including those in a pause.
    pub in_flight: u64,
    /// The part of failed whose first failure was a timeout.
    pub timed_out: u64,
    /// Iterations per second.
    pub rate: AchievedRate,
    /// Intended start to end, including all pauses and waits, for completed iterations and, as
    /// lower bounds, all iterations whose end was not seen.
    pub time: Distribution,
    /// Intended start to end, including all pauses and waits, for failed iterations, at whatever
    /// step they failed.
    pub time_failed: Distribution,
}

/// A rate without an intended one: arrivals have neither a step nor a scenario before they start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct AchievedRate {
    /// Completed and failed iterations, over the measured time.
    pub achieved_per_s: f64,
}

/// Requests that waited because servers allow fewer concurrent HTTP/2 streams than requested;
/// absent if no request waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct HeldBack {
    /// The number of requests that waited for a stream on an open connection.
    pub requests: u64,
    /// The lowest `SETTINGS_MAX_CONCURRENT_STREAMS` of those servers.
    pub streams_allowed: u32,
}

/// Messages of gRPC calls and events of event streams; absent if there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Messages {
    /// Messages passed in full to their connections.
    pub sent: u64,
    /// Messages that calls had yet to send when they ended in any way; 0 for calls whose streams
    /// end by time or by received messages.
    pub unsent: u64,
    /// Messages received in full.
    pub received: u64,
    /// From a request's first write to its first received message, for calls with a server stream
    /// and event streams.
    pub first: Distribution,
    /// From one received message to the next, for calls with a server stream and event streams.
    pub gap: Distribution,
    /// The gaps between messages that arrived in one read, which are 0.
    #[serde(default)]
    pub gaps_in_one_read: u64,
}

/// Answers of language models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Llm {
    /// Requests that ended, whose response was read as an answer, with any outcome.
    pub answers: u64,
    /// The part of the answers that streamed at least one token.
    pub streamed: u64,
    /// The part of the answers with the server's count of generated tokens.
    pub counted: u64,
    /// The part of the answers that ended at a limit with fewer tokens than asked for.
    pub short: u64,
    /// Numbers of tokens.
    pub tokens: LlmTokens,
    /// The number of events of each class; only those that occurred.
    pub events: BTreeMap<String, u64>,
    /// Events with tokens that arrived in one read with the previous one.
    pub joined: u64,
    /// The number of answers with each reason for their end; only those that occurred.
    pub finish: BTreeMap<String, u64>,
    /// The number of answers with each kind of error; only those that occurred.
    pub errors: BTreeMap<String, u64>,
    /// From the intended start to the first token.
    pub ttft: Distribution,
    /// From the first write to the first token.
    pub ttft_service: Distribution,
    /// From the intended start to the first visible token.
    pub ttfv: Distribution,
    /// The time per token after the first event, one for each answer.
    pub tpot: Distribution,
    /// From one event with tokens to the next.
    pub gap: Distribution,
    /// From one token to the next; empty unless the server sends a count with each event.
    pub itl: Distribution,
    /// The longest gap of each answer.
    pub stall: Distribution,
    /// The speed of answers after the first event, in tokens per second.
    pub speed: LlmSpeed,
    /// The limits of good answers that thresholds contain, with the number of answers within them.
    pub goodput: Vec<LlmGoodput>,
    /// The mean number of requests in flight over the measured span; absent for steps, and if
    /// requests failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// The maximum number of requests in flight at the end of an interval; absent for steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_max: Option<u64>,
}

/// Numbers of tokens, over all answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LlmTokens {
    /// Tokens of prompts.
    #[serde(rename = "in")]
    pub input: u64,
    /// Tokens of prompts that servers had in their caches; `null` if no server reports them.
    pub cached: Option<u64>,
    /// Generated tokens: by the server's count, or else one for each event.
    pub out: u64,
    /// The maximum number of generated tokens that requests contain; 0 if they contain none.
    pub asked: u64,
    /// Generated tokens that are reasoning.
    pub reasoning: u64,
    /// Generated tokens per second of the measured span.
    pub out_per_s: f64,
}

/// Quantiles of the speed of answers, in tokens per second. A quantile that the number of answers
/// does not support is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LlmSpeed {
    /// The minimum.
    pub min: Option<f64>,
    /// The 1st percentile.
    pub p1: Option<f64>,
    /// The 10th percentile.
    pub p10: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The maximum.
    pub max: Option<f64>,
}

/// What an inference server reported about itself during the run (`--metrics-from`). A figure that
/// the server does not have is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Inference {
    /// The server.
    pub server: String,
    /// How often its metrics were read during the load.
    pub reads: u64,
    /// Reads that failed.
    pub failed_reads: u64,
    /// The mean time from a request's arrival at the server to its first token.
    pub ttft_mean_ns: Option<f64>,
    /// The mean time between two tokens.
    pub gap_mean_ns: Option<f64>,
    /// The share of the prompts' tokens that the server had in its prefix cache.
    pub cached_share: Option<f64>,
    /// Requests that the server interrupted to make room for others.
    pub preemptions: Option<f64>,
    /// The gauges over the whole run; `null` if they were never read.
    pub gauges: Option<InferenceGauges>,
    /// The gauges over time, each entry of one read or of several.
    pub moments: Vec<InferenceGauges>,
}

/// The gauges of an inference server over a span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct InferenceGauges {
    /// The time of the last read, from the run's start.
    pub at_ns: u64,
    /// The number of reads.
    pub reads: u64,
    /// The requests that the server worked on.
    pub running: Option<Gauge>,
    /// The requests that waited in the server.
    pub waiting: Option<Gauge>,
    /// The used share of the cache for keys and values, from 0 to 1; with several engines, of the
    /// fullest.
    pub kv_cache: Option<Gauge>,
}

/// The values of a gauge over a span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Gauge {
    /// The mean over the reads.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
}

/// Limits of good answers, and the answers within them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LlmGoodput {
    /// The limits, as in a threshold.
    pub rule: String,
    /// Answers that are ok and within all limits.
    pub good: u64,
    /// Answers in flight, which could still become good.
    pub open: u64,
    /// Answers that became due: those that began, and, if all requests are answers, those that were
    /// never sent.
    pub due: u64,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Error {
    /// The cause: target, network, plan or generator.
    pub blame: String,
    /// How the exchange ended; the names are stable.
    #[cfg_attr(test, schemars(regex(pattern = "^[a-z0-9_]+(:[a-z0-9_]+){0,2}$")))]
    pub kind: String,
    /// The message of the failure, with a limited length.
    pub message: String,
    /// The number of failures.
    pub count: u64,
}

/// A kind of failure: what came, what the plan expects, where, an example and a remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Failure {
    /// The cause: target, network, plan or generator.
    pub blame: String,
    /// How the exchanges ended; the names are stable.
    pub kind: String,
    /// The number of failures.
    pub count: u64,
    /// Their share of all requests that ended.
    pub share: f64,
    /// What came, most frequent first: the statuses that the plan does not expect, with their
    /// names, or the messages. The number of entries is bounded.
    pub came: Vec<Came>,
    /// The statuses that the plan expects, such as 200-299, 301; absent for failures that are not
    /// about the status, and if requests expect different statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The steps that failed so, most frequent first, at most 100; absent if the run has one step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<FailedStep>,
    /// The beginning of the first kept body, in one line and with secrets masked; absent if no body
    /// was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_body: Option<String>,
    /// An action that may help; absent if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// A response or a message that came instead of the expected response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Came {
    /// The status with its name, or the message of the failure.
    pub text: String,
    /// The number of times that it came.
    pub count: u64,
}

/// The failures of one kind in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FailedStep {
    /// The name of the step, as in `steps` of the run.
    pub step: String,
    /// The number of failures.
    pub count: u64,
}

/// The body of a failed response: an example of a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FailedBody {
    /// The stable name of the outcome.
    pub kind: String,
    /// The status of the response.
    pub status: u16,
    /// The name of the pool.
    pub pool: String,
    /// The name of the step.
    pub step: String,
    /// The length of the decoded body.
    pub bytes: u64,
    /// At most 1,024 bytes of the body, with secrets masked: JSON indented, other text with control
    /// characters escaped, anything else in hexadecimal.
    pub body: String,
}

/// One of the slowest requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Slow {
    /// The id of the trace, 32 hexadecimal digits; absent if the request had no traceparent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trace_id: String,
    /// Intended start to end.
    pub response_time_ns: u64,
    /// Sent to end; null if the request was not sent.
    pub service_time_ns: Option<u64>,
    /// The intended start of the request, from the run's start.
    pub at_ns: u64,
    /// The name of the pool.
    pub pool: String,
    /// The name of the step.
    pub step: String,
    /// The stable name of the outcome.
    pub kind: String,
    /// The status of the response; 0 if there was no response.
    pub status: u16,
}

/// Requests of the warm-up, which are not part of any other figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Warmup {
    /// The length of the warm-up, in nanoseconds.
    pub duration_ns: u64,
    /// given: the plan sets the length; 0 means no warm-up. found: `auto`, and the latencies
    /// settled at this time; 0 if from the start. `not_settled`, `too_short`: `auto`, and nothing
    /// was left out, because the latencies did not settle or there were too few intervals.
    pub end: WarmupEnd,
    /// Requests sent.
    pub sent: u64,
    /// Ended as the plan expects.
    pub ok: u64,
    /// Ended in any other way.
    pub failed: u64,
}

/// A figure that was judged. Its values are in the unit of the figure: nanoseconds, 1/s, bytes, or
/// a share from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Drift {
    /// p50 and p99 of the model's latency, the share of failed requests, the achieved rate, and
    /// drumfire's own resident memory.
    pub figure: String,
    /// The start of the judged part, in nanoseconds from the run's start.
    pub from_ns: u64,
    /// The end, in nanoseconds from the run's start.
    pub to_ns: u64,
    /// steady: it moved no more than chance explains, or too little to matter. trend: it grew or
    /// fell throughout. changes: it changed at certain times.
    pub movement: Movement,
    /// The probability that a steady figure moves this much, corrected for the number of figures
    /// and tests.
    pub p: f64,
    /// The trend; present only if the movement is a trend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// The times at which the figure changed; present only if the movement is changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// The trend; present only if the movement is a trend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Trend {
    /// The change per hour, as a share of `from`; for the failed share, as a difference.
    pub per_hour: f64,
    /// The start of the trend, in nanoseconds from the run's start.
    pub since_ns: u64,
    /// The end, in nanoseconds from the run's start.
    pub until_ns: u64,
    /// The value of the figure at the start.
    pub from: f64,
    /// The value of the figure at the end.
    pub to: f64,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Change {
    /// The time of the change, in nanoseconds from the run's start.
    pub at_ns: u64,
    /// The median of the figure since the previous change.
    pub before: f64,
    /// The median of the figure until the next change.
    pub after: f64,
}

/// A stage of a pool's load as it ran: a piece of its law, a step, a number of users, or a pause.
/// Stages without a separate interval are joined into one, with all their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Stage {
    /// The name of the pool.
    pub pool: String,
    /// The stage in words, such as 100/s.
    pub name: String,
    /// The measured part of the length, without the warm-up and the time between two parts of a
    /// resumed run; absent if the whole length was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_ns: Option<u64>,
    /// The figures over the span of the stage.
    #[serde(flatten)]
    pub figures: Interval,
}

/// The figures of an interval or a span of merged intervals, for all pools together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Interval {
    /// The start, in UTC, as in RFC 3339: the run's start plus the time since then.
    pub at: String,
    /// The start of the interval, from the run's start.
    pub start_ns: u64,
    /// The length.
    pub length_ns: u64,
    /// Exchanges that met the plan's expectation.
    pub good: u64,
    /// Exchanges that were answered, but with another status or a failed check.
    pub bad: u64,
    /// Exchanges without a usable answer: refused, timed out, malformed.
    pub failed: u64,
    /// The part of bad whose headers, body or time failed a check.
    pub checks_failed: u64,
    /// Exchanges of the warm-up, which are not part of any other figure.
    pub warmup: u64,
    /// Requests that became due; null if users decide when to send.
    pub goal: Option<u64>,
    /// Good and bad exchanges divided by the requests that became due; null if none was due.
    pub goal_share: Option<f64>,
    /// Requests that were due and never sent.
    pub dropped: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// The minimum time, in nanoseconds: the response time in the open model, and in the closed
    /// model if users waited for connections; otherwise the service time. Absent if there are too
    /// few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// The median, in nanoseconds: the response time in the open model, and in the closed model if
    /// users waited for connections; otherwise the service time. Absent if there are too few
    /// samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<u64>,
    /// The 90th percentile, in nanoseconds: the response time in the open model, and in the closed
    /// model if users waited for connections; otherwise the service time. Absent if there are too
    /// few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<u64>,
    /// The 95th percentile, in nanoseconds: the response time in the open model, and in the closed
    /// model if users waited for connections; otherwise the service time. Absent if there are too
    /// few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// The 99th percentile, in nanoseconds: the response time in the open model, and in the closed
    /// model if users waited for connections; otherwise the service time. Absent if there are too
    /// few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// The 99.9th percentile, in nanoseconds: the response time in the open model, and in the
    /// closed model if users waited for connections; otherwise the service time. Absent if there
    /// are too few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<u64>,
    /// The maximum time, in nanoseconds: the response time in the open model, and in the closed
    /// model if users waited for connections; otherwise the service time. Absent if there are too
    /// few samples for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Which of the times are lower bounds, because the end of some requests was not seen. Absent
    /// if none of them is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
    /// The 99th percentile of drumfire's own lateness (lag), in nanoseconds; null if there are too
    /// few samples for it.
    pub lag_p99: Option<u64>,
    /// By how many orders of magnitude p99 differs from the mean of the five intervals before, from
    /// -3 to 3.
    pub change: i8,
    /// Answers of language models; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<IntervalLlm>,
}

/// Answers of language models in an interval. A time that too few answers support is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct IntervalLlm {
    /// Generated tokens that arrived.
    pub tokens: u64,
    /// The median of the time to the first token, in nanoseconds.
    pub ttft_p50: Option<u64>,
    /// Its 99th percentile.
    pub ttft_p99: Option<u64>,
    /// The median of the time per token, in nanoseconds.
    pub tpot_p50: Option<u64>,
    /// Its 99th percentile.
    pub tpot_p99: Option<u64>,
}

/// One pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Pool {
    /// The name in the plan.
    pub name: String,
    /// open: requests start by a schedule. closed: a user starts a request when its last request
    /// has ended.
    pub model: Named<Model>,
    /// Which of the times below is the latency: thresholds, quantiles of intervals and stages, and
    /// comparisons use it. The response time in the open model, and in the closed model if at least
    /// one request in a hundred waited for a connection or a stream; otherwise the service time.
    pub latency_kind: Named<LatencyKind>,
    /// Whether the requested load was sent to the target.
    pub load: Load,
    /// How the target handled the load.
    pub target: Target,
    /// Counts of requests, each request once: intended = sent + dropped + pending, and sent = ok +
    /// failed + `in_flight`.
    pub requests: Requests,
    /// Rates over the measured time.
    pub rate: Rate,
    /// Bytes on connections, including heads.
    pub bytes: Bytes,
    /// Distributions of time. Ok and failed requests have separate distributions. A request whose
    /// end was not seen (timed out, in flight at the end, due and not sent) counts among the ok
    /// requests as "at least this long".
    pub latency: Latency,
    /// How connections were opened, and how they ended.
    pub connections: Connections,
    /// Iterations; absent if an iteration is a single request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
    /// The number of responses with each status: the three digits of HTTP, or the name of gRPC.
    pub status: BTreeMap<String, u64>,
    /// Failures, most frequent first. The number of entries is bounded; their counts add up to
    /// requests.failed.
    pub errors: Vec<Error>,
    /// The steps of the pool.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Step {
    /// The name in the plan.
    pub name: String,
    /// The requests of the step.
    pub requests: StepRequests,
    /// The rate of the step.
    pub rate: AchievedRate,
    /// Bytes on connections, including heads.
    pub bytes: Bytes,
    /// The times of the step, for ok requests and requests whose end was not seen.
    pub latency: StepLatency,
    /// The statuses of the step.
    pub status: BTreeMap<String, u64>,
    /// The failures of the step, by kind.
    pub errors: Vec<Error>,
    /// Messages of the step's gRPC calls, also of calls that have not ended; absent if there are
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// The step's answers of language models; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<Llm>,
}

/// The requests of the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct StepRequests {
    /// Requests sent.
    pub sent: u64,
    /// Ended as the plan expects.
    pub ok: u64,
    /// Ended in any other way.
    pub failed: u64,
    /// The part of the failed requests that timed out.
    pub timed_out: u64,
}

/// The times of the step, for ok requests and requests whose end was not seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct StepLatency {
    /// Intended start to end.
    pub response_time: Distribution,
    /// Sent to end.
    pub service_time: Distribution,
}

/// How drumfire itself performed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Generator {
    /// The number of worker threads.
    pub threads: u32,
    /// The maximum CPU share of a worker thread, without the time spent on polling.
    pub cpu_share_max: f64,
    /// The 99th percentile of the length of an event loop's turn, in nanoseconds.
    pub loop_turn_p99_ns: u64,
    /// The 99th percentile of how late a wait returned, in nanoseconds.
    pub wake_lateness_p99_ns: u64,
    /// The clock for exchanges. wire: kernel timestamps of requests leaving and responses arriving.
    /// kernel: kernel timestamps of responses arriving. program: the times when drumfire wrote a
    /// request and read a response.
    pub clock: Named<ArrivalClock>,
    /// The median time from the kernel timestamp of the end of a response until a worker had read
    /// it, in nanoseconds; null if timestamps were not requested.
    pub handling_p50_ns: Option<u64>,
    /// The 99th percentile of the time from the kernel timestamp of the end of a response until a
    /// worker had read it, in nanoseconds; null if timestamps were not requested.
    pub handling_p99_ns: Option<u64>,
    /// Receives for which kernel timestamps were requested; null if they were not requested, or if
    /// no socket supports them.
    pub stamps: Option<Stamps>,
    /// The median time from passing a request to the kernel until the kernel timestamp of its
    /// departure, in nanoseconds; null if departures were not requested.
    pub leaving_p50_ns: Option<u64>,
    /// The 99th percentile of the time from passing a request to the kernel until the kernel
    /// timestamp of its departure, in nanoseconds; null if departures were not requested.
    pub leaving_p99_ns: Option<u64>,
    /// Requests for which kernel timestamps of departure were requested; requests that an HTTP/2
    /// connection wrote together count as one. Null if they were not requested, or if no socket
    /// supports them.
    pub departures: Option<Departures>,
    /// The total time in which workers were ready to run but had no core, in nanoseconds.
    pub run_queue_delay_ns: u64,
    /// The share of CPU time that the hypervisor took (steal).
    pub steal_share: f64,
    /// The maximum resident memory of drumfire, in bytes; null if it is unknown.
    pub memory_max: Option<u64>,
    /// The number of connections opened.
    pub connections_opened: u64,
    /// Whether the target's certificate was verified; null without TLS.
    pub tls_verified: Option<bool>,
    /// Whether workers busy-waited before a due time, which makes their CPU share meaningless.
    pub spin: bool,
    /// The waits of workers that poll for responses before they sleep; null if none does.
    pub waits: Option<Waits>,
    /// What drumfire or its machine ran out of.
    pub limited_by: Vec<String>,
}

/// Receives for which kernel timestamps were requested; null if they were not requested, or if no
/// socket supports them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Stamps {
    /// With a timestamp that was used.
    pub taken: u64,
    /// Without a timestamp: drumfire's clock was used instead.
    pub missing: u64,
    /// With an impossible timestamp, before the request or in the future: drumfire's clock was used
    /// instead.
    pub refused: u64,
}

/// Requests for which kernel timestamps of departure were requested; requests that an HTTP/2
/// connection wrote together count as one. Null if they were not requested, or if no socket
/// supports them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Departures {
    /// With a timestamp that was used.
    pub taken: u64,
    /// Without a timestamp: drumfire's clock was used instead.
    pub missing: u64,
    /// With an impossible timestamp, before the request was passed to the kernel or after the
    /// response: drumfire's clock was used instead.
    pub refused: u64,
    /// Skipped, because there were more requests than timestamps are requested for: they count from
    /// when they were passed to the kernel.
    pub passed: u64,
}

/// The waits of workers that poll for responses before they sleep. Waits that found something at
/// their first look are not counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Waits {
    /// The share of the workers' time that they spent on polling.
    pub polled_share: f64,
    /// The time spent on polling, in nanoseconds.
    pub polled_ns: u64,
    /// Waits in which polling found something, so that the worker did not sleep.
    pub found: u64,
    /// Waits that slept, after polling in vain or at once.
    pub slept: u64,
}

/// What a bound of a figure excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Bound {
    /// The figure may be larger.
    AtLeast,
    /// The figure may be smaller.
    AtMost,
}

/// How the end of the warm-up was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum WarmupEnd {
    /// By the plan.
    Given,
    /// The latencies settled.
    Found,
    /// The latencies did not settle.
    NotSettled,
    /// There were too few intervals.
    TooShort,
}

/// How a figure moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Movement {
    /// No more than chance explains, or too little to matter.
    Steady,
    /// It grew or fell throughout.
    Trend,
    /// It changed at certain times.
    Changes,
}

/// An interval of a run. The lines of several runs may be joined in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Line {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::INTERVAL_SCHEMA)))]
    pub schema: String,
    /// The name of the run.
    pub run: String,
    /// The figures.
    #[serde(flatten)]
    pub interval: Interval,
}
