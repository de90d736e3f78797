//! A run in words: its target, its plan, and notes for the reader.

use drumfire_engine::{Prepared, PreparedPool, thread_count};
use drumfire_measure::{Model, PoolInfo, RunInfo};
use drumfire_net::{Clock, waits_in_one_call};
use drumfire_plan::{
    Arrivals, Body, Call, Compressed, Growth, HttpVersion, KeepAlive, LatePolicy, Law, Life, Load,
    Passes, Plan, Pool, Redirects, Scheme, Spin, Step, Verify,
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
    let is_secure = |pool: &&Pool| {
        let mut origins = pool.requests.iter().map(|request| &request.url.origin);
        origins.any(|origin| origin.scheme == Scheme::Https)
    };
    let secure = || plan.pools().iter().filter(is_secure);
    let verifies = |pool: &Pool| pool.reach.tls.verify == Verify::Yes;
    let tls_verified = secure().next().map(|_| secure().all(verifies));
    let mut notes = Vec::new();
    if tls_verified == Some(false) {
        notes.push("TLS certificates were not verified (-k)".to_owned());
    }
    for pool in plan.pools() {
        notes.extend(
            ways(pool)
                .filter(|way| !notes.contains(way))
                .collect::<Vec<_>>(),
        );
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
        pools: prepared
            .pools
            .iter()
            .map(|prepared| pool(prepared))
            .collect(),
        interval: plan.generator().interval,
        warmup: plan.generator().warmup,
        tls_verified,
        spin: plan.generator().spin == Spin::Yes,
        plan_text: plan_text(plan),
        notes,
        target: target(plan),
    }
}

/// The way to the targets of a pool: a socket or a proxy.
fn ways(pool: &Pool) -> impl Iterator<Item = String> {
    let socket = pool.reach.unix_socket.as_ref();
    let socket =
        socket.map(|path| format!("requests went over the Unix socket {}", path.display()));
    let proxy = pool.reach.proxy.as_ref();
    let proxy = proxy.map(|proxy| format!("requests went through the proxy {}", proxy.url.origin));
    socket.into_iter().chain(proxy)
}

/// The facts of a pool.
fn pool(prepared: &PreparedPool) -> PoolInfo {
    let pool = prepared.pool();
    PoolInfo {
        name: pool.name.clone(),
        model: match pool.load.is_open() {
            true => Model::Open,
            false => Model::Closed,
        },
        steps: prepared.steps.clone(),
        intended_rate: intended_rate(pool),
        connections: pool.connections.count * prepared.targets() as u32,
        growth: pool.connections.growth,
        streams: pool.connections.streams,
        users: pool.users_most(),
        iterations: pool.program.has_steps(),
        scenarios: pool.program.scenario_names().to_vec(),
        stages: pool.stages(),
    }
}

/// The rate of a load that has one.
fn intended_rate(pool: &Pool) -> Option<f64> {
    let (law, followers) = match (&pool.load, &pool.users) {
        (Load::Open { rate, .. }, _) => (rate, 1),
        (Load::PerUser { rate, users, .. }, None) => (rate, *users),
        _ => return None,
    };
    match law.0.as_slice() {
        [Law::Const { rate, .. }] => Some(rate.as_per_second() * f64::from(followers)),
        _ => None,
    }
}

/// The target as the user named it.
fn target(plan: &Plan) -> String {
    let requests = || plan.pools().iter().flat_map(|pool| &pool.requests);
    let first = requests().next();
    let first = first.map(|request| secret::url(&request.url.to_string()));
    let first = first.unwrap_or_default();
    match requests().count() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// The lowered plan as keys and values, secrets removed. The keys of several pools begin with their
/// names.
fn plan_text(plan: &Plan) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for pool in plan.pools() {
        let prefix = match plan.pools() {
            [_] => String::new(),
            _ => format!("pools.{}.", pool.name),
        };
        let mut line = |key: &str, value: String| {
            lines.push((format!("{prefix}{key}"), secret::setting(key, &value)));
        };
        requests_text(pool, &mut line);
        load_text(pool, &mut line);
        transport_text(pool, &mut line);
    }
    let generator = plan.generator();
    let mut line = |key: &str, value: String| lines.push((key.to_owned(), value));
    line("warmup", generator.warmup.to_string());
    line("threads", generator.threads.to_string());
    for threshold in plan.thresholds() {
        let key = match threshold.is_condition() {
            true => "abort",
            false => "threshold",
        };
        line(key, threshold.expression.clone());
    }
    lines
}

fn requests_text(pool: &Pool, line: &mut dyn FnMut(&str, String)) {
    for (index, request) in pool.requests.iter().take(REQUESTS_NAMED).enumerate() {
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
            call_text(call, &place, line);
        }
        if request
            .data
            .as_ref()
            .is_some_and(|data| data.varying().body)
        {
            line(&format!("{place}.body"), "a template".to_owned());
        } else if let Body(Some(body)) = &request.body {
            line(&format!("{place}.body_bytes"), body.len().to_string());
        }
    }
    if pool.requests.len() > REQUESTS_NAMED {
        line("requests", pool.requests.len().to_string());
    }
    let steps = pool.program.scenarios().map_or(&[][..], |all| all.steps());
    for (index, step) in steps.iter().take(REQUESTS_NAMED).enumerate() {
        let (key, value) = step_text(step);
        line(&format!("scenario[{index}].{key}"), value);
    }
    if steps.len() > REQUESTS_NAMED {
        line("scenario", steps.len().to_string());
    }
}

/// A step's key and value; places of other steps are their numbers.
fn step_text(step: &Step) -> (&'static str, String) {
    match step {
        Step::Request { request, .. } => ("request", format!("requests[{request}]")),
        Step::Pause(pause) => ("pause", pause.to_string()),
        Step::Until(time) => ("pause", format!("until {time}")),
        Step::AtLeast(time) => ("pause", format!("at least {time}")),
        Step::Set { variable, .. } => ("set", format!("variable {}", variable.0)),
        Step::If { otherwise, .. } => ("if", format!("else scenario[{otherwise}]")),
        Step::Jump(to) => ("jump", format!("scenario[{to}]")),
        Step::Repeat { passes, .. } => match passes {
            Passes::Fixed(times) => ("repeat", times.to_string()),
            Passes::Given(_) => ("repeat", "a template".to_owned()),
        },
        Step::Again { start, .. } => ("again", format!("scenario[{start}]")),
        Step::End => ("end", String::new()),
    }
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

fn late_text(late: LatePolicy) -> String {
    match late {
        LatePolicy::Queue => "queue".to_owned(),
        LatePolicy::Skip => "skip".to_owned(),
        LatePolicy::Drop(after) => format!("drop({after})"),
    }
}

fn load_text(pool: &Pool, line: &mut dyn FnMut(&str, String)) {
    match &pool.load {
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
            line("load.late", late_text(*late));
        }
        Load::PerUser { users, rate, late } => {
            line("load.users", users.to_string());
            line("load.rate", rate.to_string());
            line("load.rate_per", "user".to_owned());
            line("load.late", late_text(*late));
        }
        Load::Closed { users, think, pace } => {
            line("load.users", users.to_string());
            line("load.think_time", think.to_string());
            if *pace > Nanos::ZERO {
                line("load.pace", pace.to_string());
            }
        }
    }
    if let Some(users) = &pool.users {
        let changes = users.changes().iter().take(REQUESTS_NAMED);
        let text: Vec<String> = changes.map(|(at, n)| format!("{n} from {at}")).collect();
        line("users", text.join(", "));
    }
    let stop = &pool.stop;
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
}

fn transport_text(pool: &Pool, line: &mut dyn FnMut(&str, String)) {
    let connections = &pool.connections;
    let count = connections.count;
    line(
        "connections",
        match connections.growth {
            Growth::Ahead => count.to_string(),
            Growth::AsNeeded => format!("as needed, at most {count}"),
        },
    );
    if pool.http.version == HttpVersion::Http2 {
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
    let Life { age, churn, idle } = connections.life;
    if let Some(age) = age {
        line("connection_age", age.to_string());
    }
    if let Some(churn) = churn {
        line("connection_age.mean", churn.mean.to_string());
    }
    if let Some(idle) = idle {
        line("connection_idle", idle.to_string());
    }
    line("timeout.total", pool.timeouts.total.to_string());
    line("timeout.connect", pool.timeouts.connect.to_string());
    line("timeout.tls", pool.timeouts.tls.to_string());
    line("timeout.head", pool.timeouts.head.to_string());
    if pool.http.compressed != Compressed::AsSent {
        line("compressed", "yes".to_owned());
    }
    if let Redirects::Follow(limit) = pool.http.redirects {
        line("redirects", limit.to_string());
    }
}
