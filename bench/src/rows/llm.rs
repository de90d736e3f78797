//! Language models: what an event of an answer costs, the memory of a stream that is open and
//! silent, the lateness of many requests that are due at once, a trace at its times, and prompts that
//! must not be in a server's cache.
//!
//! Everything runs against the mock of `drumfire serve --llm`, whose own counts are the truth.

use super::Settings;
use crate::machine;
use crate::process::{self, CLIENT_CORE, Finished, MemoryWatch, pinned};
use crate::server::Server;
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::{Nanos, Xoshiro256};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result};
use std::net::Ipv4Addr;

/// The streams of a run that measures CPU time, and the events per second in each of them.
const STREAMS: u32 = 1_000;
const EVENTS_PER_S: u32 = 100;
/// The streams that are open at the same time and silent, if the limit of descriptors allows it, and
/// how long they are silent, in seconds.
const IDLE: u32 = 50_000;
const IDLE_SECONDS: u64 = 20;
/// The requests that are due at once.
const BURST: u32 = 1_000;
/// The requests of the trace, its length in seconds, and the factor by which it is faster.
const TRACE_ROWS: u64 = 23_608;
const TRACE_SECONDS: u64 = 3_600;
const TRACE_SPEED: u64 = 60;
/// The tokens of a block of the trace.
const BLOCK: u64 = 512;
/// The sessions of the trace, whose requests share their first blocks.
const SESSIONS: u64 = 3_000;
/// The maximum length of any run.
const LIMIT: Nanos = Nanos::from_secs(300);

/// A run of `drumfire llm` on one thread.
fn client(
    server: &Server,
    settings: &Settings,
    flags: &[&str],
    watch: MemoryWatch,
) -> Result<(Summary, Value, Finished)> {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["llm", "-m", "m", "--threads=1", "-q", "--json=-"]);
    command.args(flags).arg(server.url("/"));
    let finished = process::run(&mut command, LIMIT, watch)?;
    let summary = Summary::parse(&finished.stdout)?;
    let json = serde_json::from_str(&finished.stdout)?;
    Ok((summary, json, finished))
}

fn mock(settings: &Settings, flags: &[&str]) -> Result<Server> {
    let mut all = vec!["--llm"];
    all.extend(flags);
    Server::serving(Ipv4Addr::LOCALHOST, &all, &settings.programs)
}

fn figure(what: String, spread: Spread, target: Option<Target>) -> Line {
    Line::Figure(Figure {
        what,
        value: spread.median,
        unit: spread.ends(),
        target,
    })
}

/// Fails unless all requests were ok.
fn all_ok(summary: &Summary, requests: u64) -> Result<()> {
    match summary.count("ok")? == requests {
        true => Ok(()),
        false => Err(Error::other(format!(
            "{} of {requests} requests were ok: {:?}",
            summary.count("ok")?,
            summary.failures()
        ))),
    }
}

/// Measures the CPU time of an event with a token.
pub(super) fn events(settings: &Settings) -> Result<Vec<Line>> {
    let tokens = (EVENTS_PER_S * settings.seconds).to_string();
    let streams = STREAMS.to_string();
    let flags = [
        "--input=8",
        "--output",
        &tokens,
        "-c",
        &streams,
        "-n",
        &streams,
    ];
    let mut runs = Vec::new();
    for _ in 0..settings.rounds {
        let server = mock(settings, &["--ttft=200ms", "--itl=10ms"])?;
        let before = server.cpu();
        let (summary, _, finished) = client(&server, settings, &flags, MemoryWatch::Nothing)?;
        all_ok(&summary, STREAMS.into())?;
        let events = f64::from(STREAMS) * f64::from(EVENTS_PER_S * settings.seconds);
        let micros = |cpu: Nanos| cpu.as_secs_f64() * 1e6 / events;
        let of_mock = Nanos(server.cpu().0.saturating_sub(before.0));
        runs.push([
            events / summary.seconds()?,
            micros(finished.cpu()),
            micros(of_mock),
        ]);
    }
    let spread = |of: usize| Spread::from_values(runs.iter().map(|run| run[of]));
    let rate = f64::from(STREAMS * EVENTS_PER_S);
    let share = runs.iter().map(|run| run[1] * rate / 1e6 * 100.0);
    let title = format!("{rate} tokens/s over {STREAMS} answers");
    Ok(vec![
        figure(format!("{title}: tokens/s received"), spread(0), None),
        figure(format!("{title}: client CPU in µs/token"), spread(1), None),
        figure(
            format!("{title}: client CPU in % of a core, at this rate"),
            Spread::from_values(share),
            Some(Target::AtMost(40.0)),
        ),
        figure(
            format!("{title}: the mock's CPU in µs/token"),
            spread(2),
            None,
        ),
    ])
}

/// Measures the memory of answers that have begun and are silent. Each lasts long enough for all
/// others to begin.
pub(super) fn idle(settings: &Settings) -> Result<Vec<Line>> {
    let pause = format!("--itl={IDLE_SECONDS}s");
    let server = mock(settings, &["--ttft=10ms", &pause])?;
    let peak = |count: u32| -> Result<f64> {
        let streams = count.to_string();
        let flags = [
            "--input=8",
            "--output=2",
            "--i-own-this-target",
            // An address has fewer ports than there are streams.
            "--source-ip=127.0.0.1",
            "--source-ip=127.0.0.2",
            "--gap-timeout=5m",
            "-c",
            &streams,
            "-n",
            &streams,
        ];
        let (summary, _, finished) = client(&server, settings, &flags, MemoryWatch::Memory)?;
        all_ok(&summary, count.into())?;
        Ok(finished.peak_bytes as f64 / 1000.0)
    };
    let streams = machine::connections(IDLE);
    let (one, many) = (peak(1)?, peak(streams)?);
    let count = f64::from(streams);
    let growth = (many - one) / (count - 1.0);
    let title = format!("{streams} silent answers");
    Ok(vec![
        figure(
            format!("{title}: all memory ÷ answers, kB"),
            Spread::from_values([many / count]),
            Some(Target::AtMost(5.0)),
        ),
        figure(
            format!("{title}: growth per answer, kB"),
            Spread::from_values([growth]),
            None,
        ),
    ])
}

/// Measures how late requests are that are all due at once, on connections that are open.
pub(super) fn burst(settings: &Settings) -> Result<Vec<Line>> {
    let (rate, connections) = (format!("once({BURST})"), BURST.to_string());
    let mut lags = Vec::new();
    for _ in 0..settings.rounds {
        let server = mock(settings, &["--ttft=500ms", "--itl=10ms"])?;
        let flags = ["--input=8", "--output=4", "-r", &rate, "-c", &connections];
        let (summary, ..) = client(&server, settings, &flags, MemoryWatch::Nothing)?;
        all_ok(&summary, BURST.into())?;
        lags.push(summary.micros("lag", "0.99")? / 1e3);
    }
    Ok(vec![figure(
        format!("{BURST} prompts due at once: lag p99 in ms"),
        Spread::from_values(lags),
        Some(Target::AtMost(5.0)),
    )])
}

/// A trace in Mooncake's form, and the tokens that a cache without limits would hit.
struct MadeTrace {
    text: String,
    tokens: u64,
    cached: u64,
}

/// Makes a trace: sessions whose requests begin with the blocks of the requests before.
fn made_trace() -> MadeTrace {
    let mut random = Xoshiro256::new(7, 0);
    let mut below = |limit: u64| random.bits() % limit;
    let mut times: Vec<u64> = (0..TRACE_ROWS)
        .map(|_| below(TRACE_SECONDS * 1_000))
        .collect();
    times.sort_unstable();
    let mut contexts: Vec<Vec<u64>> = vec![Vec::new(); SESSIONS as usize];
    let mut known: HashSet<u64> = HashSet::new();
    let mut next = 0;
    let mut made = MadeTrace {
        text: String::new(),
        tokens: 0,
        cached: 0,
    };
    for time in times {
        let context = &mut contexts[below(SESSIONS) as usize];
        if context.len() > 16 {
            context.clear();
        }
        for _ in 0..1 + below(2) {
            context.push(next);
            next += 1;
        }
        // The last block is in part, so that no other request has it.
        let input = (context.len() as u64 - 1) * BLOCK + 1 + below(BLOCK - 1);
        let whole = &context[..context.len() - 1];
        let cached = whole.iter().take_while(|id| known.contains(*id)).count() as u64;
        known.extend(whole);
        made.tokens += input;
        made.cached += cached * BLOCK;
        let row = json!({
            "timestamp": time,
            "input_length": input,
            "output_length": 1 + below(20),
            "hash_ids": context,
        });
        // The partial block is continued by another one.
        context.pop();
        context.push(next);
        next += 1;
        // Writing to a String can't fail.
        let _ = writeln!(made.text, "{row}");
    }
    made
}

/// Sends a trace at its times, sixty times as fast.
pub(super) fn trace(settings: &Settings) -> Result<Vec<Line>> {
    let made = made_trace();
    let cache = format!("--prefix-cache=4000000,{BLOCK}");
    let log = format!("--arrival-log={}", TRACE_ROWS * 30);
    let server = mock(settings, &["--ttft=5ms", "--itl=1ms", &cache, &log])?;
    let file = server.folder().join("trace.jsonl");
    fs::write(&file, &made.text)?;
    let (file, speed) = (file.display().to_string(), TRACE_SPEED.to_string());
    let flags = ["--data", &file, "--speed", &speed, "--i-own-this-target"];
    let (summary, _, finished) = client(&server, settings, &flags, MemoryWatch::Memory)?;
    all_ok(&summary, TRACE_ROWS)?;
    let log = server.get("/llm/log")?;
    let (mut tokens, mut cached) = (0, 0);
    for line in log.lines().skip(1) {
        let request: Value = serde_json::from_str(line)?;
        tokens += request["prompt_tokens"].as_u64().unwrap_or(0);
        cached += request["cached_tokens"].as_u64().unwrap_or(0);
    }
    let title = format!("{TRACE_ROWS} requests of a trace in a minute");
    let one = |value: f64| Spread::from_values([value]);
    let share = |cached: u64, tokens: u64| 100.0 * cached as f64 / tokens.max(1) as f64;
    let millis = |figure: &str| Ok::<_, Error>(summary.micros("lag", figure)? / 1e3);
    Ok(vec![
        figure(
            format!("{title}: lag p99 in ms"),
            one(millis("0.99")?),
            Some(Target::AtMost(1.0)),
        ),
        figure(
            format!("{title}: lag max in ms"),
            one(millis("max")?),
            Some(Target::AtMost(10.0)),
        ),
        figure(
            format!("{title}: prompt tokens of the mock less those of the trace"),
            one(tokens as f64 - made.tokens as f64),
            Some(Target::Exactly(0.0)),
        ),
        figure(
            format!("{title}: the mock's cache hits in %"),
            one(share(cached, tokens)),
            None,
        ),
        figure(
            format!("{title}: the mock's cached tokens less the trace's ideal"),
            one(cached as f64 - made.cached as f64),
            Some(Target::Exactly(0.0)),
        ),
        figure(
            format!("{title}: peak memory in MB"),
            one(finished.peak_bytes as f64 / 1e6),
            Some(Target::AtMost(200.0)),
        ),
    ])
}

/// Sends one load twice, and measures how much of the second the server has in its cache.
pub(super) fn again(settings: &Settings) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (flag, target) in [
        (None, Target::AtMost(1.0)),
        (Some("--same-prompts"), Target::AtLeast(95.0)),
    ] {
        let server = mock(
            settings,
            &["--ttft=1ms", "--itl=1ms", "--prefix-cache=1000000"],
        )?;
        let mut flags = vec![
            "--input=lognormal:400,0.6",
            "--output=4",
            "-c",
            "16",
            "-n",
            "500",
        ];
        flags.extend(flag);
        client(&server, settings, &flags, MemoryWatch::Nothing)?;
        let (_, json, _) = client(&server, settings, &flags, MemoryWatch::Nothing)?;
        let of = |name: &str| json["llm"]["tokens"][name].as_f64();
        let missing = || Error::other("the summary has no tokens");
        let (cached, all) = of("cached").zip(of("in")).ok_or_else(missing)?;
        lines.push(figure(
            format!(
                "a second run{}: prompt tokens in the server's cache, %",
                flag.map_or(String::new(), |flag| format!(" with `{flag}`"))
            ),
            Spread::from_values([100.0 * cached / all.max(1.0)]),
            Some(target),
        ));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, TRACE_ROWS, made_trace};
    use serde_json::Value;

    #[test]
    fn a_made_trace_has_valid_rows_and_shares_blocks() {
        let made = made_trace();
        let mut tokens = 0;
        for line in made.text.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let input = row["input_length"].as_u64().unwrap();
            let blocks = row["hash_ids"].as_array().unwrap().len() as u64;
            assert_eq!(blocks, input.div_ceil(BLOCK));
            tokens += input;
        }
        assert_eq!(made.text.lines().count() as u64, TRACE_ROWS);
        assert_eq!(tokens, made.tokens);
        let share = made.cached as f64 / made.tokens as f64;
        assert!((0.3..0.95).contains(&share), "{share}");
    }
}
