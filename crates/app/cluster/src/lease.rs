//! The times of the protocol.

use drumfire_units::Nanos;

/// The length of a lease: the time for which an agent may send after it sent a beat that was
/// answered.
pub const LEASE: Nanos = Nanos::from_secs(3);
/// The margin that the coordinator adds to a lease, for clocks of different rates and for workers
/// that finish a turn.
pub(crate) const LEASE_MARGIN: Nanos = Nanos::from_millis(300);
/// The time for which an agent with an expired lease keeps its results for a coordinator.
pub(crate) const STAY: Nanos = Nanos::from_secs(120);
/// The time between two beats.
pub const BEAT: Nanos = Nanos::from_millis(250);
/// The time between two beats of an agent that waits for a run. A nudge makes it beat when there is
/// one.
pub(crate) const BEAT_FREE: Nanos = Nanos::from_secs(1);
/// The time between two beats of an agent with a share that does not have enough round trips to
/// know the clock offset.
pub(crate) const BEAT_SOON: Nanos = Nanos::from_millis(50);
/// The time from setting the start to the start.
pub(crate) const START_LEAD: Nanos = Nanos::from_millis(800);
/// The minimum time from a command to its effect.
pub(crate) const COMMAND_LEAD: Nanos = Nanos::from_secs(1);
/// The time after which an unacknowledged report is sent again: several times within
/// [`REPORTS_LATE`].
pub(crate) const RESEND: Nanos = Nanos::from_millis(500);
/// If an agent answers for this long but its reports do not arrive, the coordinator checks for its
/// own fault: a killed server has lost the stream of reports.
pub(crate) const REPORTS_MISSED: Nanos = Nanos(2 * RESEND.0);
/// The maximum time for which an agent may answer without its reports arriving.
pub(crate) const REPORTS_LATE: Nanos = Nanos(LEASE.0 + LEASE_MARGIN.0);
/// The maximum time, in addition to the length of an interval, for which an agent may answer
/// without reporting an interval.
pub(crate) const INTERVAL_LATE: Nanos = Nanos(3 * LEASE.0);
/// The time for the last reports of agents after requests in flight are aborted.
pub(crate) const END_LATE: Nanos = Nanos::from_millis(2_500);

const _: () = assert!(START_LEAD.0 > 3 * BEAT.0 && COMMAND_LEAD.0 > 2 * BEAT.0);
const _: () = assert!(LEASE.0 > 4 * BEAT.0);
const _: () = assert!(REPORTS_LATE.0 > REPORTS_MISSED.0 + 3 * RESEND.0 && END_LATE.0 < LEASE.0);
