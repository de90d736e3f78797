//! Measurements: samples, histograms, intervals, summaries, health, thresholds.
//!
//! Knows how to record, merge and judge. Must not know I/O or clocks: every time is an argument.
//! Start reading at [`Sample`], then [`Figures`] and [`Interval`], then [`Reading`] and
//! [`Summary`].
//!
//! The path of a number, with the thread at each step:
//!
//! 1. A worker makes a [`Sample`] when an exchange has ended, and records it into the [`Figures`]
//!    of its pool within the [`Interval`] that it owns. No step on this path locks, and only the
//!    text of a new failure, or the first status of its page, allocates memory.
//! 2. At the end of each span the worker closes its interval and passes it on. The collector
//!    merges the intervals with the same number over all workers and calls [`Interval::sum_up`]
//!    once. After that the sums are valid and the interval is read-only.
//! 3. A [`Reading`] absorbs closed intervals in order of time. The collector's reading makes the
//!    [`Summary`]; observers and the reader of a stored run have their own. All use the same code,
//!    so that they show the same numbers.
//! 4. The reading closes the summary: [`DriftFinding`], [`LoadAnswer`], [`TargetAnswer`] and
//!    [`Verdict`] judge the merged figures, each independently of the others.
//!
//! Everything up to the third step merges by addition. Quantiles, rates and judgements are computed
//! when a number is shown, and are never stored instead of the data.

mod addresses;
mod ages;
mod answer;
mod asked;
mod backlog;
mod buckets;
mod change;
mod changed;
mod connections;
mod counts;
mod coverage;
mod digest;
mod drift;
mod encoding;
mod ending;
mod errors;
mod event;
mod event_stream;
mod figure;
mod figures;
pub mod form;
mod health;
mod held_back;
mod histogram;
mod inference;
mod interval;
mod interval_row;
mod iterations;
mod latency;
mod leniency;
mod llm;
mod load;
mod messages;
mod near_p99;
mod objective;
mod outcome;
mod overview;
mod pool_series;
mod protocols;
mod quantile;
mod reading;
mod reason;
mod run;
mod sample;
mod series;
mod settling;
mod slowest;
mod spread;
mod stages;
mod stamps;
mod status;
mod step;
mod step_timelines;
mod summary;
mod target;
mod threshold;
mod timeline;
mod transcript;
mod verdict;
mod waits;
mod window;
mod window_series;
mod words;

pub use addresses::{ADDRESS_ROWS_MAX, AddressCounts, AddressRow, Addresses};
pub use ages::{Ages, Flow};
pub use answer::{AnswerSample, KeptAnswer};
pub use asked::{
    Asked, AskedBody, AskedCall, AskedHeader, AskedLaw, AskedLoad, AskedRequest, AskedSequence,
    AskedStep, AskedStop, AskedTransport, LISTED_MAX, Listed,
};
pub use buckets::HIGHEST;
pub use change::{Change, Tails};
pub use changed::{Changed, command_note};
pub use connections::{Closing, Connections};
pub use counts::{ByteCounts, Counts, OutcomeCounts, PrevailingFailure};
pub use coverage::{Coverage, StoredState, Unfinished};
pub use digest::{Digest, DigestLatency, DigestTime, PlanKey};
pub use drift::{ChangePoint, DRIFT_LEVEL, DriftFigure, DriftFinding, Movement, Trend};
pub use encoding::{Beside, DecodeError, decode_v2, decode_v2_beside, encode_v2};
pub use ending::{Doubt, Ending, LoadEnd};
pub use errors::{Cause, Detail, ErrorRow, MESSAGE_BYTES, MESSAGES};
pub use event::RunEvent;
pub use event_stream::{decode_event, encode_event, interval_of_event};
pub use figure::Certainty;
pub use figures::Figures;
pub use health::{GeneratorHealth, WorkerHealth};
pub use held_back::HeldBack;
pub use histogram::Histogram;
pub use inference::{Gauge, InferenceMoment, InferenceRecord, MOMENTS_MAX};
pub use interval::Interval;
pub use interval_row::{IntervalRow, Rows};
pub use iterations::{IterationSample, Iterations};
pub use latency::Latency;
pub use leniency::{Leniencies, Leniency};
pub use llm::{LlmFigures, LlmRow};
pub use load::{LoadAnswer, Spans};
pub use messages::{IsFirst, Messages};
pub use objective::{Objected, Objective};
pub use outcome::{Blame, Outcome, OutcomeGroup};
pub use overview::Overview;
pub use pool_series::PoolSeries;
pub use protocols::Protocols;
pub use quantile::count_needed;
pub use reading::{Reading, RunState};
pub use reason::{Reason, Remedy};
pub use run::{LatencyKind, Model, PoolInfo, RunInfo};
pub use sample::{Kept, Particulars, Sample};
pub use settling::Settling;
pub use slowest::{SLOWEST, SlowRequest, Slowest};
pub use spread::{Spread, SpreadTime};
pub use stages::LoadOrders;
pub use stamps::{ArrivalClock, DepartureStamps, Stamps};
pub use status::{GRPC_STATUS, STATUS_ZERO, StatusCounts, status_name};
pub use step::{STEPS, Step};
pub use summary::{StageRow, Summary};
pub use target::{TargetAnswer, TargetState};
pub use threshold::ThresholdResult;
pub use timeline::{Resolution, Timeline};
pub use transcript::{
    Excerpt, FAILED_BODY_BYTES, FAILED_EXAMPLES, FAILED_KINDS, FailedBodies, FailedBody, Field,
    Side, Transcript, Written,
};
pub use verdict::{Validity, Verdict};
pub use waits::Waits;
use window::WindowedThresholds;
