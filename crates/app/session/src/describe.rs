//! Describes a run: its target, its plan, and notes for the reader.
//!
//! The facts are computed once, before anything is sent. Reports, stored runs and `drumfire ctl`
//! show them. They include what the figures cannot show: certificates that were not verified, a
//! proxy or a socket, a placement that was cut to the machine. Secrets in a URL are masked here
//! ([`secret::url`]). The session's [`Redactor`](crate::Redactor) masks secrets that the plan marks
//! when the facts are shown.

use crate::limits::machine_name;
use drumfire_engine::{Prepared, PreparedPool};
use drumfire_measure::{ArrivalClock, Asked, Model, PoolInfo, RunInfo};
use drumfire_net::{Clock, waits_in_one_call};
use drumfire_plan::{ClockChoice, HttpRequest, Law, Load, Plan, Pool, Scheme, Verify, WaitChoice};
use drumfire_report::secret;

/// The note on an older kernel, or a sandbox, which costs one more call per wait.
const TWO_CALLS: &str = "this kernel has no epoll_pwait2 (Linux 5.11): each wait of less than \
                         a millisecond cost a second system call";

/// The facts of a run that are known before it starts. The id is unique on a machine: the start
/// time in microseconds and the process number.
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
    notes.extend(plan.notes());
    let clamps = prepared.placement.clamps().iter();
    notes.extend(clamps.map(ToString::to_string));
    // Without any queue, the run itself fails.
    if waits_in_one_call() == Ok(false) {
        notes.push(TWO_CALLS.to_owned());
    }
    RunInfo {
        id: format!("{:x}-{:x}", started_at_unix_ns / 1_000, std::process::id()),
        started_at_unix_ns,
        seed: plan.generator().seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        threads: prepared.placement.threads(),
        threads_planned: prepared.placement.threads_offered(),
        pools: prepared
            .pools
            .iter()
            .map(|prepared| pool(prepared))
            .collect(),
        interval: plan.generator().interval,
        warmup: plan.generator().warmup,
        tls_verified,
        spin: plan.generator().wait == WaitChoice::Spin,
        clock: match plan.generator().clock {
            ClockChoice::Program => ArrivalClock::Program,
            ClockChoice::Receive => ArrivalClock::Kernel,
            ClockChoice::Wire => ArrivalClock::Wire,
        },
        thresholds: plan.thresholds().to_vec(),
        notes,
        target: target(plan),
        machine: machine_name(),
        name: plan.name().map(str::to_owned),
    }
}

/// How connections reach the targets of a pool: through a socket or a proxy.
fn ways(pool: &Pool) -> impl Iterator<Item = String> {
    let socket = pool.reach.unix_socket.as_ref();
    let socket =
        socket.map(|path| format!("requests went over the Unix socket {}", path.display()));
    let proxy = pool.reach.proxy.as_ref();
    let proxy = proxy.map(|proxy| format!("requests went through the proxy {}", proxy.url.origin));
    socket.into_iter().chain(proxy)
}

/// The facts of a pool. The number of connections is for all of its targets together.
fn pool(prepared: &PreparedPool) -> PoolInfo {
    let pool = prepared.pool();
    PoolInfo {
        name: pool.name.clone(),
        model: Model::of_load(&pool.load),
        steps: prepared.steps.clone(),
        intended_rate: intended_rate(pool),
        connections: prepared.connections() * prepared.targets() as u32,
        growth: pool.connections.growth,
        streams: pool.connections.streams,
        users: pool.users_most(),
        iterations: pool.program.has_steps(),
        scenarios: pool.program.scenario_names().to_vec(),
        stages: pool.stages(),
        asked: Some(Asked::from_pool(pool)),
    }
}

/// The rate of an open load, in arrivals per second; `None` if the rate changes or depends on the
/// users.
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

/// The URL of a request. If the path is a template, the URL contains the text of the template,
/// which is the request's name unless another name was given.
fn url(request: &HttpRequest) -> String {
    let varies = request.data.as_ref();
    let varies = varies.is_some_and(|data| data.varying().target);
    let name = request.step.as_str();
    let scheme = request.url.origin.scheme.as_str();
    let is_url = name.split_once("://").is_some_and(|(of, _)| of == scheme);
    match name.strip_prefix('/') {
        Some(path) if varies => format!("{}/{path}", request.url.origin),
        None if varies && is_url => name.to_owned(),
        _ => request.url.to_string(),
    }
}

/// The target as the user named it, and the number of further targets.
fn target(plan: &Plan) -> String {
    let requests = || plan.pools().iter().flat_map(|pool| &pool.requests);
    let first = requests().next().map(|request| {
        let shown = secret::url(&url(request));
        match request.socket {
            Some(_) => shown.replacen("http", "ws", 1),
            None => shown,
        }
    });
    let first = first.unwrap_or_default();
    match requests().count() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}
