//! The facts of a pool's plan in our own binary form: the fields of each type in the order in which
//! they are declared, a number for the variant before those of an enum.
//!
//! The facts have no version of their own: they are a part of the facts of a run, whose version
//! says which fields there are (`run/form`). A new field is therefore a new version there. Decoding
//! checks all that later code relies on: that a list is not longer than its count, that a pause can
//! be drawn, and that a law has rates with a time (`law_form`).
//!
//! [`encode`] and [`decode`] mirror each other: for each type there is a pair of functions with the
//! same order of fields, and a kind of an enum has one number in both. Numbers of kinds stand in
//! stored runs and are never given to another.

use super::{LISTED_MAX, law_form as law};
use crate::codec::{CodecError, Input, put, put_optional, put_text};
use crate::{
    Asked, AskedBody, AskedCall, AskedHeader, AskedLoad, AskedRequest, AskedStep, AskedStop,
    AskedTransport, Listed,
};
use drumfire_plan::{
    Arrivals, Churn, Growth, HttpVersion, KeepAlive, LatePolicy, Life, Pause, Streaming, Timeouts,
    VariableId,
};
use drumfire_units::Nanos;

/// Appends the facts of a pool's plan.
pub(crate) fn encode(asked: &Asked, out: &mut Vec<u8>) {
    put_listed(&asked.requests, out, encode_request);
    put_listed(&asked.steps, out, encode_step);
    encode_load(&asked.load, out);
    put(out, asked.users.is_some().into());
    if let Some(users) = &asked.users {
        law::encode_users(users, out);
    }
    put_optional(out, asked.stop.duration.map(|span| span.0));
    put_optional(out, asked.stop.requests);
    put_optional(out, asked.stop.iterations);
    encode_transport(&asked.transport, out);
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(input: &mut Input<'_>) -> Result<Asked, CodecError> {
    Ok(Asked {
        requests: listed(input, decode_request)?,
        steps: listed(input, decode_step)?,
        load: decode_load(input)?,
        users: input
            .flag()?
            .then(|| law::decode_users(input))
            .transpose()?,
        stop: AskedStop {
            duration: input.optional()?.map(Nanos),
            requests: input.optional()?,
            iterations: input.optional()?,
        },
        transport: decode_transport(input)?,
    })
}

/// Appends a list: its entries, then the number of all of which they are the first.
fn put_listed<T>(list: &Listed<T>, out: &mut Vec<u8>, one: impl Fn(&T, &mut Vec<u8>)) {
    put(out, list.first.len() as u64);
    for entry in &list.first {
        one(entry, out);
    }
    put(out, list.count);
}

/// Reads what [`put_listed`] wrote. The bound of the list is checked, so that bytes from elsewhere
/// can't make facts that are larger than those that a plan gives.
fn listed<T>(
    input: &mut Input<'_>,
    one: impl FnMut(&mut Input<'_>) -> Result<T, CodecError>,
) -> Result<Listed<T>, CodecError> {
    let first = input.several(one)?;
    let count = input.number()?;
    match first.len() <= LISTED_MAX && first.len() as u64 <= count {
        true => Ok(Listed { first, count }),
        false => Err(CodecError::Malformed(
            "a list with more entries than its length",
        )),
    }
}

fn text(input: &mut Input<'_>) -> Result<String, CodecError> {
    input.text().map(str::to_owned)
}

fn nanos(input: &mut Input<'_>) -> Result<Nanos, CodecError> {
    input.number().map(Nanos)
}

fn encode_request(request: &AskedRequest, out: &mut Vec<u8>) {
    put_text(out, &request.url);
    put_text(out, &request.method);
    put(out, request.headers.len() as u64);
    for header in &request.headers {
        put_text(out, &header.name);
        put_text(out, &header.value);
    }
    put(out, request.call.is_some().into());
    if let Some(call) = &request.call {
        put_text(out, &call.service);
        put_text(out, &call.method);
        put_optional(out, call.deadline.map(|deadline| deadline.0));
        put_optional(out, call.streaming.send);
        put(out, call.streaming.interval.0);
        put_optional(out, call.streaming.duration.map(|span| span.0));
        put_optional(out, call.streaming.receive);
    }
    match request.body {
        AskedBody::None => put(out, 0),
        AskedBody::Bytes(count) => {
            put(out, 1);
            put(out, count);
        }
        AskedBody::Template => put(out, 2),
    }
}

fn decode_request(input: &mut Input<'_>) -> Result<AskedRequest, CodecError> {
    Ok(AskedRequest {
        url: text(input)?,
        method: text(input)?,
        headers: input.several(|input| {
            Ok(AskedHeader {
                name: text(input)?,
                value: text(input)?,
            })
        })?,
        call: input.flag()?.then(|| decode_call(input)).transpose()?,
        body: match input.number()? {
            0 => AskedBody::None,
            1 => AskedBody::Bytes(input.number()?),
            2 => AskedBody::Template,
            _ => return Err(CodecError::Malformed("an unknown body")),
        },
    })
}

fn decode_call(input: &mut Input<'_>) -> Result<AskedCall, CodecError> {
    Ok(AskedCall {
        service: text(input)?,
        method: text(input)?,
        deadline: input.optional()?.map(Nanos),
        streaming: Streaming {
            send: input.optional()?,
            interval: nanos(input)?,
            duration: input.optional()?.map(Nanos),
            receive: input.optional()?,
        },
    })
}

fn encode_step(step: &AskedStep, out: &mut Vec<u8>) {
    let mut with = |kind: u64, number: u64| {
        put(out, kind);
        put(out, number);
    };
    match step {
        AskedStep::Request(request) => with(0, (*request).into()),
        AskedStep::Pause(pause) => {
            put(out, 1);
            encode_pause(pause, out);
        }
        AskedStep::Until(time) => with(2, time.0),
        AskedStep::AtLeast(time) => with(3, time.0),
        AskedStep::Set(variable) => with(4, variable.0.into()),
        AskedStep::If(to) => with(5, (*to).into()),
        AskedStep::Jump(to) => with(6, (*to).into()),
        AskedStep::Repeat(times) => with(7, times.map_or(0, |times| u64::from(times) + 1)),
        AskedStep::Again(start) => with(8, (*start).into()),
        AskedStep::End => put(out, 9),
    }
}

fn decode_step(input: &mut Input<'_>) -> Result<AskedStep, CodecError> {
    Ok(match input.number()? {
        0 => AskedStep::Request(input.small()?),
        1 => AskedStep::Pause(decode_pause(input)?),
        2 => AskedStep::Until(nanos(input)?),
        3 => AskedStep::AtLeast(nanos(input)?),
        4 => {
            let variable = u16::try_from(input.number()?);
            let variable = variable.map_err(|_| CodecError::Malformed("a variable"))?;
            AskedStep::Set(VariableId(variable))
        }
        5 => AskedStep::If(input.small()?),
        6 => AskedStep::Jump(input.small()?),
        7 => AskedStep::Repeat(match input.number()?.checked_sub(1) {
            None => None,
            Some(times) => {
                let times = u32::try_from(times);
                Some(times.map_err(|_| CodecError::Malformed("a number of passes"))?)
            }
        }),
        8 => AskedStep::Again(input.small()?),
        9 => AskedStep::End,
        _ => return Err(CodecError::Malformed("an unknown step")),
    })
}

fn encode_pause(pause: &Pause, out: &mut Vec<u8>) {
    match pause {
        Pause::Even { from, to } => {
            put(out, 0);
            put(out, from.0);
            put(out, to.0);
        }
        Pause::Exponential { mean } => {
            put(out, 1);
            put(out, mean.0);
        }
        Pause::Lognormal { median, sigma } => {
            put(out, 2);
            put(out, median.0);
            put(out, sigma.to_bits());
        }
    }
}

/// Reads what [`encode_pause`] wrote. A pause that no generator could draw (`from` above `to`, a
/// sigma that is no number) is refused here, since reports compute with it.
fn decode_pause(input: &mut Input<'_>) -> Result<Pause, CodecError> {
    let pause = match input.number()? {
        0 => Pause::Even {
            from: nanos(input)?,
            to: nanos(input)?,
        },
        1 => Pause::Exponential {
            mean: nanos(input)?,
        },
        2 => Pause::Lognormal {
            median: nanos(input)?,
            sigma: f64::from_bits(input.number()?),
        },
        _ => return Err(CodecError::Malformed("an unknown pause")),
    };
    let holds = match pause {
        Pause::Even { from, to } => from <= to,
        Pause::Exponential { .. } => true,
        Pause::Lognormal { sigma, .. } => sigma.is_finite(),
    };
    match holds {
        true => Ok(pause),
        false => Err(CodecError::Malformed(
            "a pause without a valid distribution",
        )),
    }
}

fn encode_late(late: LatePolicy, out: &mut Vec<u8>) {
    match late {
        LatePolicy::Queue => put(out, 0),
        LatePolicy::Drop(after) => {
            put(out, 1);
            put(out, after.0);
        }
        LatePolicy::Skip => put(out, 2),
    }
}

fn decode_late(input: &mut Input<'_>) -> Result<LatePolicy, CodecError> {
    Ok(match input.number()? {
        0 => LatePolicy::Queue,
        1 => LatePolicy::Drop(nanos(input)?),
        2 => LatePolicy::Skip,
        _ => return Err(CodecError::Malformed("an unknown late policy")),
    })
}

fn encode_load(load: &AskedLoad, out: &mut Vec<u8>) {
    match load {
        AskedLoad::Open {
            law,
            arrivals,
            late,
        } => {
            put(out, 0);
            law::encode_asked(law, out);
            put(out, (*arrivals == Arrivals::Poisson).into());
            encode_late(*late, out);
        }
        AskedLoad::Closed { users, think, pace } => {
            put(out, 1);
            put(out, (*users).into());
            encode_pause(think, out);
            put(out, pace.0);
        }
        AskedLoad::PerUser { users, law, late } => {
            put(out, 2);
            put(out, (*users).into());
            law::encode_asked(law, out);
            encode_late(*late, out);
        }
    }
}

fn decode_load(input: &mut Input<'_>) -> Result<AskedLoad, CodecError> {
    Ok(match input.number()? {
        0 => AskedLoad::Open {
            law: law::decode_asked(input)?,
            arrivals: match input.flag()? {
                true => Arrivals::Poisson,
                false => Arrivals::Constant,
            },
            late: decode_late(input)?,
        },
        1 => AskedLoad::Closed {
            users: input.small()?,
            think: decode_pause(input)?,
            pace: nanos(input)?,
        },
        2 => AskedLoad::PerUser {
            users: input.small()?,
            law: law::decode_asked(input)?,
            late: decode_late(input)?,
        },
        _ => return Err(CodecError::Malformed("an unknown load")),
    })
}

fn encode_transport(transport: &AskedTransport, out: &mut Vec<u8>) {
    put(out, transport.connections.into());
    put(out, u64::from(transport.growth == Growth::AsNeeded));
    put(out, u64::from(transport.version == HttpVersion::Http2));
    put(out, transport.streams.into());
    match transport.keep_alive {
        KeepAlive::Yes => put(out, 0),
        KeepAlive::AtMost(limit) => {
            put(out, 1);
            put(out, limit);
        }
        KeepAlive::No => put(out, 2),
    }
    let Life { age, churn, idle } = &transport.life;
    put(out, age.is_some().into());
    if let Some(age) = age {
        encode_pause(age, out);
    }
    put_optional(out, churn.map(|churn| churn.mean.0));
    put_optional(out, idle.map(|idle| idle.0));
    let Timeouts {
        total,
        connect,
        tls,
        head,
    } = transport.timeouts;
    for timeout in [total, connect, tls, head] {
        put(out, timeout.0);
    }
    put(out, transport.is_compressed.into());
    put_optional(out, transport.redirects.map(u64::from));
    put(out, transport.is_proxied.into());
}

fn decode_transport(input: &mut Input<'_>) -> Result<AskedTransport, CodecError> {
    Ok(AskedTransport {
        connections: input.small()?,
        growth: match input.flag()? {
            true => Growth::AsNeeded,
            false => Growth::Ahead,
        },
        version: match input.flag()? {
            true => HttpVersion::Http2,
            false => HttpVersion::Http1,
        },
        streams: input.small()?,
        keep_alive: match input.number()? {
            0 => KeepAlive::Yes,
            1 => KeepAlive::AtMost(input.number()?),
            2 => KeepAlive::No,
            _ => return Err(CodecError::Malformed("an unknown keep-alive")),
        },
        life: Life {
            age: input.flag()?.then(|| decode_pause(input)).transpose()?,
            churn: input.optional()?.map(|mean| Churn { mean: Nanos(mean) }),
            idle: input.optional()?.map(Nanos),
        },
        timeouts: Timeouts {
            total: nanos(input)?,
            connect: nanos(input)?,
            tls: nanos(input)?,
            head: nanos(input)?,
        },
        is_compressed: input.flag()?,
        redirects: input.flag()?.then(|| input.small()).transpose()?,
        is_proxied: input.flag()?,
    })
}
