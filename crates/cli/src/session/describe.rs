//! A run in words: its target, its plan, and notes for the reader.

use drumfire_engine::{Prepared, thread_count};
use drumfire_measure::{Model, PoolInfo, RunInfo};
use drumfire_net::{Clock, waits_in_one_call};
use drumfire_plan::{
    Arrivals, Body, Call, Compressed, HttpVersion, KeepAlive, LatePolicy, Law, Load, Plan,
    Redirects, Scheme, Spin, Verify,
};
use drumfire_report::secret;
use drumfire_units::Nanos;

/// Requests of a long list that the plan's text names.
const REQUESTS_NAMED: usize = 16;

/// The note on an older kernel, or a sandbox, which costs a call more per wait.
const TWO_CALLS: &str = "there is no epoll_pwait2 here (Linux 5.11): each wait of less than a \
                         millisecond cost a second system call";

/// The facts of a run that are known before it starts.
pub(crate) fn info(prepared: &Prepared) -> RunInfo {
    let plan = &prepared.plan;
    let started_at_unix_ns = Clock::unix_time();
    let tls = plan
        .first()
        .requests
        .iter()
        .any(|request| request.url.origin.scheme == Scheme::Https);
    let tls_verified = tls.then_some(plan.first().reach.tls.verify == Verify::Yes);
    let mut notes = Vec::new();
    if tls_verified == Some(false) {
        notes.push("TLS certificates were not verified (-k)".to_owned());
    }
    if let Some(socket) = &plan.first().reach.unix_socket {
        notes.push(format!(
            "requests went over the Unix socket {}",
            socket.display()
        ));
    }
    if let Some(proxy) = &plan.first().reach.proxy {
        notes.push(format!(
            "requests went through the proxy {}",
            proxy.url.origin
        ));
    }
    // Where there is no queue at all, the run itself fails.
    if waits_in_one_call() == Ok(false) {
        notes.push(TWO_CALLS.to_owned());
    }
    RunInfo {
        id: format!("{:x}-{:x}", started_at_unix_ns / 1_000, std::process::id()),
        started_at_unix_ns,
        seed: plan.generator().seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        threads: thread_count(plan),
        pools: vec![pool(prepared)],
        interval: plan.generator().interval,
        warmup: plan.generator().warmup,
        tls_verified,
        spin: plan.generator().spin == Spin::Yes,
        plan_text: plan_text(plan),
        notes,
        target: target(plan),
    }
}

/// The facts of the plan's only pool.
fn pool(prepared: &Prepared) -> PoolInfo {
    let plan = &prepared.plan;
    PoolInfo {
        name: "main".to_owned(),
        model: match plan.first().load {
            Load::Open { .. } => Model::Open,
            Load::Closed { .. } => Model::Closed,
        },
        steps: prepared.steps.clone(),
        intended_rate: intended_rate(plan),
        connections: plan.first().connections.count * prepared.targets() as u32,
        streams: plan.first().connections.streams,
        users: users(plan),
    }
}

/// The rate of a load that has one.
fn intended_rate(plan: &Plan) -> Option<f64> {
    match &plan.first().load {
        Load::Open { rate, .. } => match rate.0.as_slice() {
            [Law::Const { rate, .. }] => Some(rate.as_per_second()),
            _ => None,
        },
        Load::Closed { .. } => None,
    }
}

/// How many users there are at most; with a rate they are those that a plan speaks of.
fn users(plan: &Plan) -> Option<u32> {
    match (&plan.first().users, &plan.first().load) {
        (Some(users), _) => Some(users.most()),
        (None, Load::Closed { users, .. }) => Some(*users),
        (None, Load::Open { .. }) => None,
    }
}

/// The target as the user named it.
fn target(plan: &Plan) -> String {
    let first = plan
        .first()
        .requests
        .first()
        .map(|request| secret::url(&request.url.to_string()));
    let first = first.unwrap_or_default();
    match plan.first().requests.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// The lowered plan as keys and values, secrets removed.
fn plan_text(plan: &Plan) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut line =
        |key: &str, value: String| lines.push((key.to_owned(), secret::setting(key, &value)));
    for (index, request) in plan
        .first()
        .requests
        .iter()
        .take(REQUESTS_NAMED)
        .enumerate()
    {
        let place = format!("requests[{index}]");
        line(&format!("{place}.url"), request.url.to_string());
        line(
            &format!("{place}.method"),
            request.method.as_str().to_owned(),
        );
        for header in &request.headers {
            let value = String::from_utf8_lossy(header.value());
            line(
                &format!("{place}.header"),
                format!("{}: {value}", header.name()),
            );
        }
        if let Some(call) = &request.call {
            call_text(call, &place, &mut line);
        }
        if let Body(Some(body)) = &request.body {
            line(&format!("{place}.body_bytes"), body.len().to_string());
        }
    }
    if plan.first().requests.len() > REQUESTS_NAMED {
        line("requests", plan.first().requests.len().to_string());
    }
    load_text(plan, &mut line);
    transport_text(plan, &mut line);
    lines
}

fn call_text(call: &Call, place: &str, line: &mut dyn FnMut(&str, String)) {
    line(
        &format!("{place}.call"),
        format!("{}/{}", call.service, call.method),
    );
    if let Some(deadline) = call.deadline {
        line(&format!("{place}.deadline"), deadline.to_string());
    }
    let streaming = &call.streaming;
    let counts = [("send", streaming.send), ("receive", streaming.receive)];
    for (key, count) in counts {
        if let Some(count) = count {
            line(&format!("{place}.stream.{key}"), count.to_string());
        }
    }
    if streaming.interval > Nanos::ZERO {
        line(
            &format!("{place}.stream.interval"),
            streaming.interval.to_string(),
        );
    }
    if let Some(duration) = streaming.duration {
        line(&format!("{place}.stream.duration"), duration.to_string());
    }
}

fn load_text(plan: &Plan, line: &mut dyn FnMut(&str, String)) {
    match &plan.first().load {
        Load::Open {
            rate,
            arrivals,
            late,
        } => {
            line("load.rate", rate.to_string());
            line(
                "load.arrivals",
                match arrivals {
                    Arrivals::Constant => "constant".to_owned(),
                    Arrivals::Poisson => "poisson".to_owned(),
                },
            );
            line(
                "load.late",
                match late {
                    LatePolicy::Queue => "queue".to_owned(),
                    LatePolicy::Skip => "skip".to_owned(),
                    LatePolicy::Drop(after) => format!("drop({after})"),
                },
            );
        }
        Load::Closed { users, think_time } => {
            line("load.users", users.to_string());
            line("load.think_time", think_time.to_string());
        }
    }
    if let Some(users) = &plan.first().users {
        let changes = users.changes().iter().take(REQUESTS_NAMED);
        let text: Vec<String> = changes.map(|(at, n)| format!("{n} from {at}")).collect();
        line("users", text.join(", "));
    }
    let stop = &plan.first().stop;
    for (key, value) in [
        ("stop.duration", stop.duration.map(|time| time.to_string())),
        (
            "stop.requests",
            stop.requests.map(|count| count.to_string()),
        ),
        (
            "stop.iterations",
            stop.iterations.map(|count| count.to_string()),
        ),
    ] {
        if let Some(value) = value {
            line(key, value);
        }
    }
    line("warmup", plan.generator().warmup.to_string());
}

fn transport_text(plan: &Plan, line: &mut dyn FnMut(&str, String)) {
    let connections = &plan.first().connections;
    line("connections", connections.count.to_string());
    if plan.first().http.version == HttpVersion::Http2 {
        line("http", "2".to_owned());
        line("streams", connections.streams.to_string());
    }
    line(
        "keep_alive",
        match connections.keep_alive {
            KeepAlive::Yes => "yes".to_owned(),
            KeepAlive::No => "no".to_owned(),
            KeepAlive::AtMost(limit) => format!("{limit} requests"),
        },
    );
    line("threads", plan.generator().threads.to_string());
    line("timeout.total", plan.first().timeouts.total.to_string());
    line("timeout.connect", plan.first().timeouts.connect.to_string());
    line("timeout.tls", plan.first().timeouts.tls.to_string());
    line("timeout.head", plan.first().timeouts.head.to_string());
    if plan.first().http.compressed != Compressed::AsSent {
        line("compressed", "yes".to_owned());
    }
    if let Redirects::Follow(limit) = plan.first().http.redirects {
        line("redirects", limit.to_string());
    }
    for threshold in plan.thresholds() {
        line("threshold", threshold.expression.clone());
    }
}
