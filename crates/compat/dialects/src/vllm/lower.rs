//! Turns a command line into a document and a presentation.

use super::args::{Args, mistake, parsed};
use super::backend::Backend;
use super::meaning::Meaning;
use super::render::Presentation;
use super::result_file::ResultFile;
use super::{TOOL, lower_setup};
use crate::go_time;
use crate::outcome::Run;
use drumfire_compile::{Host, compile};
use drumfire_document::{
    Ask, CommonFields, Connections, Document, Field, Generator, JsonText, Kept, LlmSettings, Load,
    Pool, ReachSettings, Request, Settings, Stop, TimeoutSettings, TlsSettings,
};
use drumfire_report::vllm::{VllmFacts, VllmMetric};
use drumfire_units::Nanos;
use serde_json::Value;
use std::sync::Arc;

/// vLLM's client gives up a request after this time.
const TIMEOUT: &str = "6h";

/// The prompt of a probe, and the time after which probes end in any case.
const PROBE: &str = "Hi";
const PROBES_MAX: &str = "24h";

/// Builds the run.
///
/// # Errors
/// The mistake in the command line.
pub(super) fn lower(args: &Args, host: &Arc<dyn Host>, nonce: u64) -> Result<Run, String> {
    let meaning = Meaning::new(args, &**host)?;
    let facts = facts(&meaning, &**host)?;
    let file = ResultFile::from_args(args, &facts, &**host)?;
    let document = document(&meaning, nonce)?;
    let plan = compile(&document, host).map_err(|found| {
        let first = found.first();
        first.map_or_else(String::new, ToString::to_string)
    })?;
    let presentation = Presentation::new(&meaning, facts, file)?;
    Ok(Run {
        document,
        plan,
        presentation: Box::new(presentation),
    })
}

fn document(of: &Meaning<'_>, nonce: u64) -> Result<Document, String> {
    let seed = of.args.count("seed")?;
    let (setup, teardown) = lower_setup::steps(of)?;
    Ok(Document {
        setup,
        teardown,
        defaults: Settings {
            timeouts: TimeoutSettings {
                timeout: Some(TOOL.text("", &TIMEOUT)),
                ..TimeoutSettings::default()
            },
            tls: TlsSettings {
                insecure: of
                    .args
                    .has("insecure")
                    .then(|| TOOL.switch("--insecure", true)),
                ..TlsSettings::default()
            },
            ..Settings::default()
        },
        pools: std::iter::once(pool(of, nonce))
            .chain(of.load.probes.map(|rate| probes(of, rate)))
            .collect(),
        generator: Generator {
            seed: Some(TOOL.count("--seed", seed)),
            nonce: Some(TOOL.count("", nonce)),
            ..TOOL.generator(seed)
        },
        ..Document::default()
    })
}

fn pool(of: &Meaning<'_>, nonce: u64) -> Pool {
    let id = of.args.text("request-id-prefix").map(str::to_owned);
    let id = id.unwrap_or_else(|| format!("bench-{:08x}-", nonce as u32));
    let mut headers = of.headers.clone();
    headers.push(Field {
        name: TOOL.text("--request-id-prefix", &"x-request-id"),
        value: TOOL.text(
            "--request-id-prefix",
            &format!("{id}{{{{request_number}}}}"),
        ),
    });
    Pool {
        name: TOOL.text("", &"main"),
        load: of.load.to_plan(&of.dataset),
        settings: Settings {
            connections: Connections {
                connections: of
                    .load
                    .connections()
                    .map(|count| count.with(count.value.to_string())),
                ..Connections::default()
            },
            fields: CommonFields {
                headers,
                ..CommonFields::default()
            },
            ..settings(of)
        },
        requests: vec![Request::new(Ask::Llm(TOOL.text("", &"prompt")))],
        stop: Stop {
            requests: Some(TOOL.count("--num-prompts", of.dataset.count)),
            ..Stop::default()
        },
        llm: llm(of),
        ..Pool::default()
    }
}

/// The small requests beside the load: one at a time, with a pause after each. They end with the
/// load.
fn probes(of: &Meaning<'_>, rate: f64) -> Pool {
    const FLAG: &str = "--probe-request-rate";
    let pause = Nanos((1e9 / rate).round() as u64);
    Pool {
        name: TOOL.text(FLAG, &"probe"),
        load: Load {
            users: Some(TOOL.text(FLAG, &1)),
            think: Some(TOOL.text(FLAG, &pause)),
            ..Load::default()
        },
        settings: Settings {
            fields: CommonFields {
                headers: of.headers.clone(),
                ..CommonFields::default()
            },
            ..settings(of)
        },
        requests: vec![Request::new(Ask::Llm(TOOL.text("", &"prompt")))],
        stop: Stop {
            after: Some(TOOL.text(FLAG, &PROBES_MAX)),
            ..Stop::default()
        },
        llm: LlmSettings {
            prompt: Some(TOOL.text(FLAG, &PROBE)),
            output: of.backend.generates().then(|| TOOL.text(FLAG, &1)),
            api: Some(TOOL.text("--backend", &of.backend.api)),
            path: Some(TOOL.text("--endpoint", &of.path)),
            model: Some(TOOL.text("--model", &of.model)),
            key: of.key.clone(),
            ..LlmSettings::default()
        },
        ..Pool::default()
    }
}

/// The settings of every pool.
fn settings(of: &Meaning<'_>) -> Settings {
    Settings {
        reach: ReachSettings {
            target: Some(TOOL.text("--base-url", &of.target)),
            ..ReachSettings::default()
        },
        kept: Kept {
            samples: Some(TOOL.switch("", true)),
            ..Kept::default()
        },
        ..Settings::default()
    }
}

fn llm(of: &Meaning<'_>) -> LlmSettings {
    let extra = match of.extra.is_empty() {
        true => None,
        false => Some(TOOL.text("--extra-body", &Value::Object(of.extra.clone()))),
    };
    LlmSettings {
        api: Some(TOOL.text("--backend", &of.backend.api)),
        path: Some(TOOL.text("--endpoint", &of.path)),
        model: Some(TOOL.text("--model", &of.model)),
        key: of.key.clone(),
        extra: JsonText(extra),
        ..of.dataset.llm.clone()
    }
}

/// What the result says about the run.
fn facts(of: &Meaning<'_>, host: &dyn Host) -> Result<VllmFacts, String> {
    let args = of.args;
    let model_id = args.text("model").unwrap_or(&of.model).to_owned();
    let skips = args.has("skip-tokenizer-init");
    let tokenizer = args.text("tokenizer").unwrap_or(&model_id).to_owned();
    let now = u64::try_from(host.unix_seconds()).unwrap_or(0);
    let now = go_time::seconds(host, now.saturating_mul(1_000_000_000));
    let now: String = now
        .chars()
        .take(19)
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    Ok(VllmFacts {
        date: now.replace('T', "-"),
        backend: of.backend.name.to_owned(),
        label: args.text("label").map(str::to_owned),
        tokenizer_id: (!skips).then_some(tokenizer),
        model_id,
        num_prompts: Some(of.dataset.count),
        metadata: metadata(args)?,
        request_rate: of.load.rate,
        burstiness: of.load.burstiness,
        max_concurrency: of.load.max_concurrency,
        ramp: of.load.ramp.clone(),
        generates: of.backend.generates(),
        metrics: metrics(args, of.backend)?,
        percentiles: percentiles(args)?,
        limits: limits(args)?,
        is_detailed: args.has("save-detailed"),
    })
}

fn metadata(args: &Args) -> Result<Vec<(String, String)>, String> {
    let pairs = args.values("metadata").iter().map(|text| {
        let split = text.split_once('=');
        let (key, value) = split.ok_or_else(|| {
            let shown = text.escape_debug();
            mistake(
                "metadata",
                format!("`{shown}` is not of the form KEY=VALUE"),
            )
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    });
    pairs.collect()
}

/// The metric with this name.
fn metric(flag: &'static str, name: &str) -> Result<VllmMetric, String> {
    let found = VllmMetric::ALL
        .into_iter()
        .find(|metric| metric.name() == name);
    found.ok_or_else(|| {
        let names = VllmMetric::ALL.map(VllmMetric::name).join(", ");
        let name = name.escape_debug();
        mistake(flag, format!("unknown metric `{name}`; use {names}"))
    })
}

/// The times of the result, in the order of the table.
fn metrics(args: &Args, backend: Backend) -> Result<Vec<VllmMetric>, String> {
    const NAME: &str = "percentile-metrics";
    let text = match backend.generates() {
        true => args.or_default(NAME),
        false => args.text(NAME).unwrap_or("e2el"),
    };
    let names = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let given: Vec<VllmMetric> = names
        .map(|name| metric(NAME, name))
        .collect::<Result<_, _>>()?;
    let all = VllmMetric::ALL.into_iter();
    Ok(all.filter(|metric| given.contains(metric)).collect())
}

fn percentiles(args: &Args) -> Result<Vec<f64>, String> {
    const NAME: &str = "metric-percentiles";
    let parts = args.or_default(NAME).split(',').map(|part| {
        let percent: f64 = parsed(NAME, part, "a percentile such as 99 or 99.9")?;
        match (0.0..=100.0).contains(&percent) {
            true => Ok(percent),
            false => Err(mistake(NAME, "a percentile is from 0 to 100")),
        }
    });
    parts.collect()
}

/// The limits of a good answer.
fn limits(args: &Args) -> Result<Vec<(VllmMetric, f64)>, String> {
    const NAME: &str = "goodput";
    let pairs = args.values(NAME).iter().map(|text| {
        let shown = text.escape_debug();
        let split = text.split_once(':');
        let (name, limit) = split
            .ok_or_else(|| mistake(NAME, format!("`{shown}` is not of the form ttft:VALUE")))?;
        let metric = metric(NAME, name)?;
        if !matches!(
            metric,
            VllmMetric::Ttft | VllmMetric::Tpot | VllmMetric::E2el
        ) {
            return Err(mistake(NAME, format!("`{shown}`: use ttft, tpot or e2el")));
        }
        let limit: f64 = parsed(NAME, limit, "a number of milliseconds such as 200")?;
        match limit >= 0.0 {
            true => Ok((metric, limit)),
            false => Err(mistake(NAME, format!("`{shown}`: a limit is not negative"))),
        }
    });
    pairs.collect()
}
