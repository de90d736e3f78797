//! Every bound of the engine, each with its reason. The limits of responses are in
//! [`drumfire_http1::Limits`].
//!
//! A limit is here where a peer, a plan or a slow observer could make something grow or wait
//! without end, or where the loop has to share itself out. They are no settings: a plan's own
//! limits are in the plan. Those of memory are per worker unless they say otherwise.

use drumfire_units::Nanos;

/// Bytes received in one go. Large enough that a body of this size costs one call, small enough to
/// stay in the second-level cache.
pub const RECEIVE_BYTES: usize = 64 * 1024;

/// Bytes thrown away unseen in one go; the memory behind it is never touched.
pub const DISCARD_BYTES: usize = 1024 * 1024;

/// A body with at least this much to come is discarded unread, where its bytes are not needed.
pub const DISCARD_FROM: u64 = 8 * 1024;

/// Requests started in one turn of the loop before arriving responses are looked after: a send
/// costs some 5 µs, which the next response's time stamp would otherwise wait for.
pub const STARTS_PER_TURN: u32 = 16;

/// Requests started in one turn of the loop on connections that carry many: to start a stream costs
/// a fraction of a microsecond, and all of a turn go out in one write.
pub const STREAMS_PER_TURN: u32 = 256;

/// Receives from one connection before the others and the schedule have their turn: a server that
/// sends faster than we read must not keep the loop for itself.
pub const RECEIVES_PER_TURN: u32 = 16;

/// The time within which a connection has to give a sign of life, after a stream on it was given up
/// and nothing had come since it was sent: as long as gRPC's clients give a ping.
pub const DOUBT_MAX: Nanos = Nanos::from_secs(20);

/// A connection that gave one is not asked again for this reason before this has passed. Servers of
/// gRPC take more frequent pings for abuse.
pub const DOUBT_REST: Nanos = Nanos::from_secs(300);

/// Connections being opened at the same time by one worker before the run's start, so that a
/// server's queue of new connections does not overflow.
pub const DIALS_AT_ONCE: usize = 128;

/// The longest wait of the run's start for connections to open.
pub const OPENING_MAX: Nanos = Nanos::from_secs(2);

/// The period at which it looks for a stop meanwhile.
pub const OPENING_LOOK: Nanos = Nanos::from_millis(10);

/// Arrivals of plans with several origins that wait for a connection of theirs. Beyond it they
/// stay in the schedule, behind which those for other origins wait too.
pub const WAITING_MAX: usize = 64 * 1024;

/// A worker wakes at least this often, to see a signal.
pub const WAIT_MAX: Nanos = Nanos::from_millis(50);

/// A worker that has looked for orders takes nothing that is due later than this after it, before
/// it has looked once more: a turn of its loop takes far less.
pub const ORDERS_WITHIN: Nanos = Nanos::from_millis(50);

/// The lead of a command that is to hold at once: later than [`ORDERS_WITHIN`] after it is
/// given, so that no worker has taken anything due then; and later than [`WAIT_MAX`], so that
/// workers are awake.
pub const COMMAND_LEAD: Nanos = Nanos::from_millis(100);

const _: () = assert!(COMMAND_LEAD.0 > ORDERS_WITHIN.0 && COMMAND_LEAD.0 > WAIT_MAX.0);

/// Commands of one run, of whatever kind.
pub const COMMANDS_MAX: usize = 10_000;

/// Intervals that wait for one observer. Beyond them the newest is merged into the last one: an
/// observer that is slow sees longer intervals, and everything in them. Each is 3 MiB.
pub const OBSERVER_INTERVALS: usize = 8;

/// Samples that wait for one observer, where a plan keeps them all; an interval may have more, if it
/// is the first that waits. Further ones are lost for that observer. They have 120 MiB.
pub const KEPT_SAMPLES_MAX: usize = 1 << 20;

/// The period at which a pending look-up of a redirect's name is asked for its answer.
pub const LOOK_UP: Nanos = Nanos::from_millis(2);

/// The time after which a name is looked up again whose answer has no time to live, or that could
/// not be looked up.
pub const LOOK_UP_AGAIN: Nanos = Nanos::from_secs(5);

/// A shorter time to live counts as this.
pub const LOOK_UP_LEAST: Nanos = Nanos::from_secs(1);

/// The end of a reused connection counts as one that was on its way when the request was sent where
/// it comes within this time after that, or within [`RACE_ROUND_TRIPS`] times the time to connect.
pub const RACE_MIN: Nanos = Nanos::from_millis(10);

/// [`RACE_MIN`] as a multiple of the time to connect, which is a round trip and a little more.
pub const RACE_ROUND_TRIPS: u64 = 3;

/// A response that comes with fewer bytes in a second than this trickles: when its time is up, the
/// outcome is the body's timeout, not the exchange's.
pub const TRICKLE: u64 = 1_000;

/// Deadlines are looked for at most this often.
pub const SCAN_MIN: Nanos = Nanos::from_millis(1);

/// A thread that wakes this much later than it meant to has stood still: the bytes that came
/// meanwhile are read before deadlines are looked at.
pub const STOOD_STILL: Nanos = Nanos::from_millis(1);

/// The number of times that readiness is asked for after that, some 256 connections at a time.
pub const CATCH_UPS: usize = 256;

/// The first pause after a failed attempt to connect; it doubles up to the plan's maximum.
pub const BACKOFF_MIN: Nanos = Nanos::from_millis(1);

/// Where many connections fail together, one is dialed again in this time, by each worker: a dial
/// takes some 20 µs, so that a dead target costs a tenth of a core, however many users it has.
pub const REDIAL_INTERVAL: Nanos = Nanos::from_micros(200);

/// This many failures are dialed again by their own pauses alone.
pub const REDIAL_BURST: u64 = 1_000;

/// Connections that failed to open before the run, of which this many are dialed at its start.
pub const REDIALS_AT_START: usize = 64;

/// An address that refused is tried last for this long.
pub const ADDRESS_REST: Nanos = Nanos::from_secs(1);

/// After the stop, exchanges in flight may finish within their own timeouts, and this at most.
pub const DRAIN_MAX: Nanos = Nanos::from_secs(60);

/// Requests that are due and not sent at the end of a run are recorded one by one up to this many,
/// and in equal portions beyond: a portion counts with its shortest wait.
pub const PENDING_PORTIONS: u64 = 65_536;

/// Bytes of a body's memory that an exchange keeps for the next look at a response.
pub const KEPT_LOOK_BYTES: usize = 64 * 1024;

/// Origins met by redirects that are remembered with their addresses.
pub const DETOURS: usize = 64;

/// Bytes of one error's text that are kept.
pub const DETAIL_BYTES: usize = 256;

/// Bytes of it that are kept with a sample, where samples are kept.
pub const KEPT_DETAIL_BYTES: usize = 8_192;

/// Bytes of all of them in one interval of a thread; further ones are cut to [`DETAIL_BYTES`].
pub const KEPT_DETAILS_BYTES: usize = 16 << 20;

/// Bytes of exchanges that are written down in an interval by one thread; the notes of the run count
/// those beyond them.
pub const KEPT_TRANSCRIPTS_BYTES: usize = 64 << 20;

/// Bytes of exchanges that are written down and wait for one observer; further ones are lost for
/// that observer, which logs how many it lacks.
pub const WAITING_TRANSCRIPTS_BYTES: usize = 256 << 20;

/// The bytes that an exchange that is written down counts for beside its bodies.
pub const TRANSCRIPT_BYTES: usize = 1_000;

/// Bytes of a body or a message that are shown.
pub const SHOWN_BYTES: usize = 64 * 1024;

/// Messages of a call, of either side, that are shown.
pub const SHOWN_MESSAGES: u64 = 16;

/// The length to which a body may decode that is sampled to be shown.
pub const SHOWN_DECODED: u64 = 16 * 1024 * 1024;
