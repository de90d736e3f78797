//! The times of the protocol.

use drumfire_units::Nanos;

/// The time for which an answered beat lets an agent send, from when the agent sent the beat.
pub const LEASE: Nanos = Nanos::from_secs(3);
/// The time by which the coordinator waits longer than that, for clocks that differ in rate and
/// workers that finish a turn.
pub(crate) const LEASE_MARGIN: Nanos = Nanos::from_millis(300);
/// The time for which an agent whose lease has passed keeps what it has made for a coordinator.
pub(crate) const STAY: Nanos = Nanos::from_secs(120);
/// The time from one beat to the next.
pub const BEAT: Nanos = Nanos::from_millis(250);
/// The same while an agent waits for a run: a nudge lets it beat when there is one.
pub(crate) const BEAT_FREE: Nanos = Nanos::from_secs(1);
/// The same while it has a share, and not yet the round trips by which it knows the clock.
pub(crate) const BEAT_SOON: Nanos = Nanos::from_millis(50);
/// The time from the naming of the start to the start.
pub(crate) const START_LEAD: Nanos = Nanos::from_millis(800);
/// The least time between a command and the time from which it holds.
pub(crate) const COMMAND_LEAD: Nanos = Nanos::from_secs(1);
/// The time after which a report that is not acknowledged is sent again: several times within
/// [`REPORTS_LATE`].
pub(crate) const RESEND: Nanos = Nanos::from_millis(500);
/// The time for which an agent answers and brings none of the reports that it has made, after which the
/// coordinator looks for its own fault: a server that was killed has lost the stream of reports.
pub(crate) const REPORTS_MISSED: Nanos = Nanos(2 * RESEND.0);
/// The time for which an agent may answer and bring none of the reports that it has made.
pub(crate) const REPORTS_LATE: Nanos = Nanos(LEASE.0 + LEASE_MARGIN.0);
/// The time beyond the length of an interval for which an agent may answer and report none.
pub(crate) const INTERVAL_LATE: Nanos = Nanos(3 * LEASE.0);
/// The time that agents have for their last reports when what is in flight is given up.
pub(crate) const END_LATE: Nanos = Nanos::from_millis(2_500);

const _: () = assert!(START_LEAD.0 > 3 * BEAT.0 && COMMAND_LEAD.0 > 2 * BEAT.0);
const _: () = assert!(LEASE.0 > 4 * BEAT.0);
const _: () = assert!(REPORTS_LATE.0 > REPORTS_MISSED.0 + 3 * RESEND.0 && END_LATE.0 < LEASE.0);
