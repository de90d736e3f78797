//! The state of a run, as its coordinator tells it to anyone who asks.

use crate::bytes::{Input, MessageError, begin, open, put, put_bytes, put_optional, seal};
use crate::message::Beat;
use crate::offset::Offset;
use crate::place::{Place, PlaceState};
use drumfire_engine::Shares;
use drumfire_units::Nanos;

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The run's name.
    pub run: String,
    /// The term of its coordinator.
    pub term: u64,
    /// The number of agents that it is for.
    pub wanted: u64,
    /// The run time; `None` before its start is named.
    pub elapsed: Option<Nanos>,
    /// Whether it is over.
    pub is_over: bool,
    /// Its agents, in the order of their shares, or those that wait for more.
    pub agents: Vec<AgentStatus>,
}

/// The state of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStatus {
    /// Its name.
    pub name: String,
    /// The version of its program.
    pub program: String,
    /// The cores that it may use.
    pub cores: u32,
    /// Its share; `None` while it waits for others.
    pub shares: Option<Shares>,
    /// Its stage.
    pub stage: Stage,
    /// The coordinator's wall clock less its own, with a bound.
    pub offset: Option<Offset>,
    /// The time since its last beat.
    pub silent: Nanos,
    /// The run time up to which its share is accounted for.
    pub reported: Nanos,
    /// The requests that it has sent until then.
    pub sent: u64,
    /// Those that were due and that it has not sent, by the late policy.
    pub dropped: u64,
    /// Its mean lag.
    pub lag_mean: Nanos,
    /// Its greatest lag.
    pub lag_max: Nanos,
}

/// The stage of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits until there are enough agents, or for the start.
    Waits,
    /// Its load goes on.
    Runs,
    /// It has brought its last report.
    Ended,
    /// It has no lease any more.
    Lost,
}

impl Stage {
    /// All of them, by their numbers.
    const ALL: [Self; 4] = [Self::Waits, Self::Runs, Self::Ended, Self::Lost];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Runs => "runs",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }
}

/// The coordinator's wall clock less that of an agent. The clocks that both go by begin with their
/// processes, so that the difference of those says nothing to a reader.
fn offset_of_walls(beat: &Beat, unix_ns: u64) -> Option<Offset> {
    let (offset, own) = beat.offset.zip(beat.clock.unix_ns)?;
    Some(offset.of_walls(unix_ns, own))
}

impl AgentStatus {
    /// That of a place at a time.
    pub(crate) fn of(place: &Place, has_start: bool, now: Nanos, unix_ns: u64) -> Self {
        let (beat, tally) = (&place.beat, &place.tally);
        let stage = match place.state {
            _ if place.is_lost() => Stage::Lost,
            PlaceState::Ended => Stage::Ended,
            _ if has_start && place.has_begun() => Stage::Runs,
            _ => Stage::Waits,
        };
        Self {
            name: place.agent.clone(),
            program: beat.program.clone(),
            cores: beat.machine.cores,
            shares: Some(place.assignment.shares),
            stage,
            offset: offset_of_walls(beat, unix_ns),
            silent: now - place.heard,
            reported: place.reported,
            sent: tally.sent,
            dropped: tally.dropped,
            lag_mean: tally.lag_mean(),
            lag_max: tally.lag_max,
        }
    }

    /// That of an agent without a place, of which this is the last beat.
    pub(crate) fn waiting(beat: &Beat, silent: Nanos, unix_ns: u64) -> Self {
        Self {
            name: beat.agent.clone(),
            program: beat.program.clone(),
            cores: beat.machine.cores,
            shares: None,
            stage: Stage::Waits,
            offset: offset_of_walls(beat, unix_ns),
            silent,
            reported: Nanos::ZERO,
            sent: 0,
            dropped: 0,
            lag_mean: Nanos::ZERO,
            lag_max: Nanos::ZERO,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.name.as_bytes());
        put_bytes(out, self.program.as_bytes());
        put(out, self.cores.into());
        put(out, self.shares.is_some().into());
        if let Some(shares) = self.shares {
            for number in [shares.first, shares.count, shares.of] {
                put(out, number.into());
            }
        }
        put(out, self.stage as u64);
        put(out, self.offset.is_some().into());
        if let Some(offset) = self.offset {
            put(out, offset.ahead.cast_unsigned());
            put(out, offset.uncertainty.0);
        }
        for time in [self.silent, self.reported, self.lag_mean, self.lag_max] {
            put(out, time.0);
        }
        put(out, self.sent);
        put(out, self.dropped);
    }

    fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        let (name, program, cores) = (input.text()?, input.text()?, input.small()?);
        let shares = match input.flag()? {
            false => None,
            true => Some(Shares {
                first: input.small()?,
                count: input.small()?,
                of: input.small()?,
            }),
        };
        let stage = usize::try_from(input.number()?).ok();
        let stage = stage.and_then(|number| Stage::ALL.get(number).copied());
        let stage = stage.ok_or(MessageError::Malformed("an unknown stage"))?;
        let offset = match input.flag()? {
            false => None,
            true => Some(Offset {
                ahead: input.number()?.cast_signed(),
                uncertainty: Nanos(input.number()?),
            }),
        };
        let mut time = || Ok(Nanos(input.number()?));
        let [silent, reported, lag_mean, lag_max] = [time()?, time()?, time()?, time()?];
        Ok(Self {
            name,
            program,
            cores,
            shares,
            stage,
            offset,
            silent,
            reported,
            sent: input.number()?,
            dropped: input.number()?,
            lag_mean,
            lag_max,
        })
    }
}

impl Status {
    /// The bytes of the status.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = begin();
        put_bytes(&mut out, self.run.as_bytes());
        put(&mut out, self.term);
        put(&mut out, self.wanted);
        put_optional(&mut out, self.elapsed.map(|elapsed| elapsed.0));
        put(&mut out, self.is_over.into());
        put(&mut out, self.agents.len() as u64);
        for agent in &self.agents {
            agent.encode(&mut out);
        }
        seal(out)
    }

    /// The status of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut input = open(bytes)?;
        let mut status = Self {
            run: input.text()?,
            term: input.number()?,
            wanted: input.number()?,
            elapsed: input.optional()?.map(Nanos),
            is_over: input.flag()?,
            agents: Vec::new(),
        };
        for _ in 0..input.number()? {
            status.agents.push(AgentStatus::decode(&mut input)?);
        }
        input.end()?;
        Ok(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_comes_back_and_a_cut_off_one_is_refused() {
        let agent = AgentStatus {
            name: "a".to_owned(),
            program: "0.1.0".to_owned(),
            cores: 2,
            shares: Some(Shares {
                first: 1,
                count: 2,
                of: 4,
            }),
            stage: Stage::Lost,
            offset: Some(Offset {
                ahead: -7,
                uncertainty: Nanos(3),
            }),
            silent: Nanos(1),
            reported: Nanos(2),
            sent: 3,
            dropped: 4,
            lag_mean: Nanos(5),
            lag_max: Nanos(6),
        };
        let free = AgentStatus {
            shares: None,
            offset: None,
            stage: Stage::Waits,
            ..agent.clone()
        };
        let status = Status {
            run: "r".to_owned(),
            term: 2,
            wanted: 2,
            elapsed: Some(Nanos(9)),
            is_over: false,
            agents: vec![agent, free],
        };
        let bytes = status.encode();
        assert_eq!(Status::decode(&bytes), Ok(status));
        for end in 0..bytes.len() {
            assert!(Status::decode(&bytes[..end]).is_err(), "{end}");
        }
    }
}
