//! A program that generates its own requests: drumfire as a library.
//!
//! A plan describes the load and everything else of the run. The program adds a request source
//! (`RequestData`), which computes the path, a signature and a body from the number of the request,
//! and a choice (`Pick`), which selects the request of each arrival.
//!
//! ```sh
//! drumfire serve
//! cargo run --example custom_source http://127.0.0.1:8080
//! ```

#![expect(clippy::print_stdout, reason = "a program prints")]

use drumfire_compile::{Host, compile};
use drumfire_document::{Environment, form};
use drumfire_engine::{Resolver, Run, Shares, prepare};
use drumfire_measure::{Asked, Model, PoolInfo, RunEvent, RunInfo, Summary};
use drumfire_net::{Clock, resolve};
use drumfire_placement::{Machine, Placement, fit};
use drumfire_plan::{
    Choice, DataError, Pick, Plan, Program, RenderedFields, RequestContext, RequestData, Varying,
};
use drumfire_report::style::Style;
use drumfire_report::text;
use std::error::Error;
use std::sync::Arc;

/// The settings that all requests share. The plan has one URL for each kind of request.
const PLAN: &str = r#"
drumfire: 1
pools:
  main:
    target: URL
    rate: 300/s
    timeout: 5s
    requests:
      - { get: /orders, name: look }
      - { post: /orders, name: order, headers: { Content-Type: application/json } }
stop: { requests: 300 }
thresholds: [ 'failed<1%' ]
"#;

/// Computed requests. Everything is a function of the request's context, so that any thread on any
/// machine computes the same requests.
#[derive(Debug)]
struct ComputedOrders {
    has_body: bool,
}

impl ComputedOrders {
    /// A number that looks random, but is constant for the request.
    fn sku(request: &RequestContext) -> u64 {
        (request.arrival ^ request.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
    }
}

impl RequestData for ComputedOrders {
    fn varying(&self) -> Varying {
        Varying {
            target: true,
            fields: true,
            body: self.has_body,
            ..Varying::default()
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        out.push_str(&format!(
            "/orders/{}?user={}",
            Self::sku(request),
            request.user
        ));
        Ok(())
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        let checksum = Self::sku(request).wrapping_mul(31) % 9_973;
        out.push("x-checksum", &checksum.to_string())
    }

    fn message(
        &self,
        request: &RequestContext,
        _n: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        if self.has_body {
            out.extend_from_slice(format!("{{\"sku\":{}}}", Self::sku(request)).as_bytes());
        }
        Ok(())
    }
}

/// Two looks, then an order.
#[derive(Debug)]
struct TwoLooks;

impl Pick for TwoLooks {
    fn pick(&self, arrival: u64) -> u32 {
        u32::from(arrival % 3 == 2)
    }

    fn count(&self) -> u64 {
        3
    }
}

/// The plan reads no files, so the host provides nothing.
#[derive(Debug)]
struct NoFiles;

impl Environment for NoFiles {}

impl Host for NoFiles {}

/// The plan, in which the program's data replaces the data of the requests.
fn plan(url: &str) -> Result<Plan, Box<dyn Error>> {
    let said = |all: Vec<drumfire_document::Diagnostic>| {
        let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
        lines.join("\n")
    };
    let document = form::read(&PLAN.replace("URL", url), "the plan").map_err(said)?;
    let host: Arc<dyn Host> = Arc::new(NoFiles);
    let mut parts = compile(&document, &host).map_err(said)?.into_parts();
    for pool in &mut parts.pools {
        for request in &mut pool.requests {
            let has_body = request.step == "order";
            request.data = Some(Arc::new(ComputedOrders { has_body }));
        }
        pool.program = Program::Requests(Choice::By(Arc::new(TwoLooks)));
    }
    Plan::new(parts).map_err(|flaws| format!("{flaws:?}").into())
}

/// The facts about the run that the report shows besides its figures.
fn info(plan: &Plan, placement: &Placement, url: &str) -> RunInfo {
    let started_at_unix_ns = Clock::unix_time();
    let pools = plan.pools().iter().map(|pool| PoolInfo {
        name: pool.name.clone(),
        model: Model::Open,
        steps: pool
            .requests
            .iter()
            .map(|r| r.step.as_str().into())
            .collect(),
        intended_rate: None,
        connections: pool.connections.count,
        growth: pool.connections.growth,
        streams: pool.connections.streams,
        users: None,
        iterations: false,
        scenarios: Vec::new(),
        stages: Vec::new(),
        asked: Some(Asked::from_pool(pool)),
    });
    RunInfo {
        id: format!("custom-{started_at_unix_ns:x}"),
        started_at_unix_ns,
        seed: plan.generator().seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        threads: placement.threads(),
        threads_planned: placement.threads_offered(),
        interval: plan.generator().interval,
        warmup: plan.generator().warmup,
        thresholds: plan.thresholds().to_vec(),
        target: url.to_owned(),
        ..RunInfo::new(pools.collect())
    }
}

/// Runs the plan. The events could feed a custom display.
fn run(plan: Plan, url: &str) -> Result<Arc<Summary>, Box<dyn Error>> {
    let lookup: Arc<Resolver> = Arc::new(|_, host, port, timeout| resolve(host, port, timeout));
    let machine = Machine {
        cores: 1,
        descriptors: None,
        has_address: |_| true,
    };
    let placement = fit(&plan, &machine).map_err(|refused| format!("{refused:?}"))?;
    let shares = Shares::all(&placement);
    let info = Arc::new(info(&plan, &placement, url));
    let prepared = Arc::new(prepare(plan, placement, lookup)?);
    let run = Run::start(prepared, info, shares)?;
    for event in run.events() {
        if let RunEvent::IntervalClosed(interval) = event {
            println!("{} sent", interval.total.counts.sent);
        }
    }
    Ok(run.join()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1);
    let url = url.ok_or("say where: custom_source http://127.0.0.1:8080")?;
    let summary = run(plan(&url)?, &url)?;
    println!("{}", text::summary(&summary, &Style::default()));
    let failed = summary.thresholds.iter().any(|threshold| !threshold.passed);
    if failed {
        Err("a threshold failed".into())
    } else {
        Ok(())
    }
}
