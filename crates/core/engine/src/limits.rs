//! Every limit of the engine, each with its reason. The limits of responses are in
//! [`drumfire_http1::Limits`].
//!
//! A limit is here if a peer, a plan or a slow observer could otherwise make something grow or wait
//! without end, or if the loop must divide its time. These limits are not settings: a plan's own
//! limits are in the plan. Limits of memory are per worker unless stated otherwise.

use drumfire_units::Nanos;

/// Bytes received in one call. Large enough that a body of this size costs one call, small enough
/// to stay in the second-level cache.
pub const RECEIVE_BYTES: usize = 64 * 1024;

/// Bytes discarded unread in one call; the memory for them is never touched.
pub const DISCARD_BYTES: usize = 1024 * 1024;

/// A body with at least this many bytes left is discarded unread, if its bytes are not needed.
pub const DISCARD_FROM: u64 = 8 * 1024;

/// Requests started in one turn of the loop before arriving responses are handled: a send costs
/// some 5 µs, which would otherwise delay the next response's time stamp.
pub const STARTS_PER_TURN: u32 = 16;

/// Requests started in one turn of the loop on multiplexed connections: starting a stream costs a
/// fraction of a microsecond, and all streams of a turn are sent in one write.
pub const STREAMS_PER_TURN: u32 = 256;

/// Receives from one connection before the other connections and the schedule get their turn: a
/// server that sends faster than we read must not occupy the loop.
pub const RECEIVES_PER_TURN: u32 = 16;

/// Bytes that wait on a WebSocket for the server to read, beyond which only the latest ping is
/// answered.
pub const PONG_BYTES: usize = 64 * 1024;

/// Messages of a WebSocket that are kept between two steps for the next one that receives.
pub const INBOX_MESSAGES: usize = 1000;

/// Bytes of the messages that a WebSocket keeps between two steps.
pub const INBOX_BYTES: usize = 1024 * 1024;

/// The time within which a connection must show activity, if a stream on it timed out and nothing
/// arrived since the stream was sent. Equal to the ping timeout of gRPC's clients.
pub const DOUBT_MAX: Nanos = Nanos::from_secs(20);

/// The minimum time between two such checks of a connection that showed activity. gRPC servers
/// treat more frequent pings as abuse.
pub const DOUBT_REST: Nanos = Nanos::from_secs(300);

/// Connections that one worker opens at the same time before the run's start, so that a server's
/// queue of new connections does not overflow.
pub const DIALS_AT_ONCE: usize = 128;

/// The maximum time for which the run's start waits for connections to open.
pub const OPENING_MAX: Nanos = Nanos::from_secs(2);

/// The interval at which the run checks for a stop during that wait.
pub const OPENING_LOOK: Nanos = Nanos::from_millis(10);

/// Arrivals that wait for a connection, in plans with several origins. Further arrivals stay in the
/// schedule, where they also delay arrivals for other origins.
pub const WAITING_MAX: usize = 64 * 1024;

/// The maximum time between two wake-ups of a worker, so that it notices a signal.
pub const WAIT_MAX: Nanos = Nanos::from_millis(50);

/// A worker takes nothing that is due more than this after it last looked for orders. A turn of its
/// loop takes far less.
pub const ORDERS_WITHIN: Nanos = Nanos::from_millis(50);

/// The lead of a command without a time. Longer than [`ORDERS_WITHIN`], so that no worker has taken
/// anything due after the command; and longer than [`WAIT_MAX`], so that all workers wake up
/// before.
pub const COMMAND_LEAD: Nanos = Nanos::from_millis(100);

const _: () = assert!(COMMAND_LEAD.0 > ORDERS_WITHIN.0 && COMMAND_LEAD.0 > WAIT_MAX.0);

/// Commands of one run, of any kind.
pub const COMMANDS_MAX: usize = 10_000;

/// Intervals that wait for one observer. Further intervals are merged into the newest waiting one,
/// so a slow observer sees longer intervals that contain everything. Each takes 3 MiB.
pub const OBSERVER_INTERVALS: usize = 8;

/// Samples that wait for one observer, if a plan keeps all samples; the first waiting interval may
/// have more. Further samples are lost for that observer. They take 128 MiB.
pub const KEPT_SAMPLES_MAX: usize = 1 << 20;

/// The interval at which a pending look-up of a redirect's name is polled.
pub const LOOK_UP: Nanos = Nanos::from_millis(2);

/// The time after which a name is looked up again, if its answer has no time to live or the look-up
/// failed.
pub const LOOK_UP_AGAIN: Nanos = Nanos::from_secs(5);

/// The minimum time to live: shorter ones are raised to this.
pub const LOOK_UP_LEAST: Nanos = Nanos::from_secs(1);

/// The end of a reused connection counts as sent before the request arrived if it occurs within
/// this time after the request, or within [`RACE_ROUND_TRIPS`] times the time to connect.
pub const RACE_MIN: Nanos = Nanos::from_millis(10);

/// [`RACE_MIN`] as a multiple of the time to connect, which is slightly more than a round trip.
pub const RACE_ROUND_TRIPS: u64 = 3;

/// A body that arrives at fewer bytes per second than this is too slow: if its time is up, the
/// outcome is the body's timeout, not the exchange's.
pub const TRICKLE: u64 = 1_000;

/// The minimum time between two scans for deadlines.
pub const SCAN_MIN: Nanos = Nanos::from_millis(1);

/// A thread that wakes this much too late was stopped: the bytes that arrived meanwhile are read
/// before deadlines are checked.
pub const STOOD_STILL: Nanos = Nanos::from_millis(1);

/// The maximum number of polls for readiness after such a stop, with some 256 connections each.
pub const CATCH_UPS: usize = 256;

/// The first pause after a failed attempt to connect; it doubles up to the plan's maximum.
pub const BACKOFF_MIN: Nanos = Nanos::from_millis(1);

/// If many connections fail together, each worker dials one per this time: a dial takes some 20 µs,
/// so a dead target costs a tenth of a core, for any number of users.
pub const REDIAL_INTERVAL: Nanos = Nanos::from_micros(200);

/// Up to this many failed connections are dialed again after their own pauses only.
pub const REDIAL_BURST: u64 = 1_000;

/// The number of connections dialed at the run's start, among those that failed to open before it.
pub const REDIALS_AT_START: usize = 64;

/// The time for which an address that refused a connection is tried last.
pub const ADDRESS_REST: Nanos = Nanos::from_secs(1);

/// The maximum duration of the drain, in which exchanges in flight may finish within their own
/// timeouts.
pub const DRAIN_MAX: Nanos = Nanos::from_secs(60);

/// Requests that are due and not sent at the end of a run are recorded one by one up to this
/// number, and in equal portions beyond it: each portion counts with its shortest wait.
pub const PENDING_PORTIONS: u64 = 65_536;

/// Bytes of a body's buffer that an exchange keeps for the next look at a response.
pub const KEPT_LOOK_BYTES: usize = 64 * 1024;

/// Origins of redirects that are kept with their addresses.
pub const DETOURS: usize = 64;

/// Bytes kept of one error's text.
pub const DETAIL_BYTES: usize = 256;

/// Bytes kept of one error's text with a sample, if samples are kept.
pub const KEPT_DETAIL_BYTES: usize = 8_192;

/// Bytes of all such texts per interval and thread; further ones are cut to [`DETAIL_BYTES`].
pub const KEPT_DETAILS_BYTES: usize = 16 << 20;

/// Gaps between the events of an answer that are kept with its sample, if samples are kept.
pub const KEPT_GAPS: usize = 16_384;

/// Bytes of such gaps per interval and thread; samples beyond them have none.
pub const KEPT_GAPS_BYTES: usize = 32 << 20;

/// Bytes of transcripts per interval and thread; the notes of the run count the exchanges beyond
/// them.
pub const KEPT_TRANSCRIPTS_BYTES: usize = 64 << 20;

/// Bytes of transcripts that wait for one observer; further transcripts are lost for that observer,
/// which logs their number.
pub const WAITING_TRANSCRIPTS_BYTES: usize = 256 << 20;

/// The bytes that a transcript counts for in addition to its bodies.
pub const TRANSCRIPT_BYTES: usize = 1_000;

/// Bytes shown of a body or a message.
pub const SHOWN_BYTES: usize = 64 * 1024;

/// Messages shown of each side of a call.
pub const SHOWN_MESSAGES: u64 = 16;

/// Bytes of one event of an event stream, and of one of its lines.
pub const EVENT_BYTES: usize = 1024 * 1024;

/// Bytes of an answer of a language model that is not streamed. Embeddings are the longest.
pub const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// The maximum decoded length of a body that is sampled to be shown.
pub const SHOWN_DECODED: u64 = 16 * 1024 * 1024;

/// The maximum number of origins that the requests of a program reach.
pub const SITES_MAX: usize = 1_000;

/// The time between two looks for the answers to look-ups of a client's origins.
pub const SITE_LOOK: Nanos = Nanos::from_micros(500);
