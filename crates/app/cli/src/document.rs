//! Converts flags to a document: each value as given, with its flag as its place.
//!
//! `drumfire_document::flags` reads the flags of settings. This module reads the special flags and the
//! requests of a command line. The compiler checks the values.

mod form;
mod grpc;
mod http;
mod llm;
mod once;
mod slo;
mod ws;

use crate::exit::Failure;
use crate::flags::SettingFlags;
use crate::input;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::flags::Given;
use drumfire_document::{
    Ask, Diagnostic, Document, Feed, FeedRows, Layer as _, Outputs, Payload, Place, Placed, Stop,
    Text, names::flag,
};
use drumfire_report::Naming;
use std::fmt::Display;
use std::path::{Path, PathBuf};

pub(crate) use grpc::from_flags as of_grpc;
pub(crate) use http::from_flags as of_http;
pub(crate) use llm::{from_flags as of_llm, renew_prompts};
pub(crate) use once::once;
pub(crate) use ws::from_flags as of_ws;

/// A document with notes on its origin for the report.
pub(crate) struct Written {
    pub(crate) document: Document,
    pub(crate) notes: Vec<String>,
    /// How messages name the settings.
    pub(crate) naming: Naming,
    /// The folder to which relative paths refer; if empty, the working directory.
    pub(crate) folder: PathBuf,
}

impl From<Document> for Written {
    fn from(document: Document) -> Self {
        Self {
            document,
            notes: Vec::new(),
            naming: Naming::Flags,
            folder: PathBuf::new(),
        }
    }
}

/// The place of a flag's value. The key's row must have a flag, because messages name it.
fn flag_place(key: &str) -> Place {
    let place = flag(key);
    debug_assert!(place != Place::Nowhere, "the row of `{key}` has no flag");
    place
}

/// A flag's value, with the key that it sets.
fn text(key: &str, value: &impl Display) -> Text {
    Placed::new(value.to_string(), flag_place(key))
}

/// A value: the content of a file after `@`, standard input after `@-`, or the text itself.
/// Standard input is copied into the document, because it cannot be read again.
fn payload(key: &str, value: &str) -> Result<Payload, Failure> {
    match value.strip_prefix('@') {
        None => Ok(Payload::Text(text(key, &value))),
        Some("-") => {
            let place = match flag_place(key) {
                Place::Flag { name } => Place::Stdin { flag: name },
                place => place,
            };
            let bytes = input::stdin(&place.to_string())?;
            Ok(match String::from_utf8(bytes) {
                Ok(text) => Payload::Text(Placed::new(text, place)),
                Err(error) => {
                    Payload::Base64(Placed::new(STANDARD.encode(error.as_bytes()), place))
                }
            })
        }
        Some(path) => Ok(Payload::File(text(key, &path))),
    }
}

/// The feeds of the flags.
fn feeds<const ON: u8>(flags: &SettingFlags<ON>) -> Result<Vec<Feed>, Failure> {
    let order = flags.value("feed-order");
    let feeds = flags.values("feed").iter();
    feeds.map(|given| feed(given, order)).collect()
}

/// Parses `NAME=FILE`; the file's extension is its format.
fn feed(given: &str, order: Option<&str>) -> Result<Feed, Failure> {
    let parts = given.split_once('=');
    let Some((name, path)) = parts.filter(|(name, path)| !name.is_empty() && !path.is_empty())
    else {
        let shown = given.escape_debug();
        let message =
            format!("`{shown}` is not of the form NAME=FILE; use one such as users=users.csv");
        return Err(Failure::usage(Diagnostic::new(
            &flag_place("feeds"),
            message,
        )));
    };
    let file = text("feeds", &path);
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let extension = extension.map(str::to_ascii_lowercase);
    let (order, at_end) = match order {
        None | Some("turn") => (None, None),
        Some("random") => (Some(text("feeds.order", &"random")), None),
        Some("once") => (None, Some(text("feeds.order", &"stop"))),
        Some(other) => {
            let shown = other.escape_debug();
            let message = format!("unknown order `{shown}`; use turn, random or once");
            let place = flag_place("feeds.order");
            return Err(Failure::usage(Diagnostic::new(&place, message)));
        }
    };
    Ok(Feed {
        name: text("feeds", &name),
        rows: match extension.as_deref() {
            Some("jsonl" | "ndjson") => FeedRows::JsonLines(file),
            Some("json") => FeedRows::Json(file),
            _ => FeedRows::Csv(file),
        },
        order,
        at_end,
        ..Feed::default()
    })
}

/// The document of a command's settings, apart from its requests.
fn document<const ON: u8>(flags: &SettingFlags<ON>) -> Result<Document, Failure> {
    let document = flags
        .document()
        .map_err(|found| Failure::from_diagnostics(&found))?;
    Ok(Document {
        feeds: feeds(flags)?,
        ..document
    })
}

/// The outputs for a stored run.
pub(crate) fn outputs<const ON: u8>(flags: &SettingFlags<ON>) -> Result<Outputs, Failure> {
    let document = flags
        .document()
        .map_err(|found| Failure::from_diagnostics(&found))?;
    Ok(document.outputs)
}

/// Overrides the settings of a plan with the settings of flags.
pub(crate) fn apply_flags<const ON: u8>(
    document: &mut Document,
    flags: &SettingFlags<ON>,
) -> Result<(), Failure> {
    let given = flags
        .document()
        .map_err(|found| Failure::from_diagnostics(&found))?;
    let mut outputs = given.outputs;
    let headers = std::mem::take(&mut outputs.monitoring.push_headers);
    outputs.fill(&document.outputs);
    outputs.monitoring.push_headers.extend(headers);
    document.outputs = outputs;
    let mut generator = given.generator;
    generator.fill(&document.generator);
    document.generator = generator;
    document.thresholds.extend(given.thresholds);
    for pool in &mut document.pools {
        without(&mut pool.stop.after, &given.stop.after);
        without(&mut pool.stop.requests, &given.stop.requests);
        without(&mut pool.stop.iterations, &given.stop.iterations);
    }
    let plans = std::mem::take(&mut document.stop);
    let abort = [&*plans.abort, &given.stop.abort].concat();
    document.stop = Stop {
        abort,
        ..given.stop
    };
    document.stop.fill(&plans);
    let speed = flags
        .given()
        .iter()
        .find(|given| given.row.flag.long() == "speed");
    if let Some(speed) = speed.and_then(|given| given.values.last()) {
        set_speed(document, speed)?;
    }
    let Some(given_pool) = given.pools.into_iter().next() else {
        return Ok(());
    };
    let Some(first) = flags.given().iter().find(|given| given.row.is_of_pool()) else {
        return Ok(());
    };
    match document.pools.as_mut_slice() {
        // The compiler reports a plan without pools.
        [] => {}
        [pool] => {
            let (mut load, mut settings) = (given_pool.load, given_pool.settings);
            load.fill(&pool.load);
            settings.fill(&pool.settings);
            (pool.load, pool.settings) = (load, settings);
        }
        pools => return Err(several(pools.len(), &pools[0].name.value, first)),
    }
    Ok(())
}

/// The mistake of a pool's flag for a plan with several pools.
fn several(count: usize, name: &str, first: &Given) -> Failure {
    let key = first.row.plan_key();
    let value = first.values.last().map(String::as_str);
    let value = value.unwrap_or_else(|| first.row.switch_value());
    let message = format!(
        "the plan has {count} pools; for one of them, use --set 'pools.{name}.{key}={value}'"
    );
    let place = Place::Flag {
        name: first.row.flag.name(),
    };
    Failure::usage(Diagnostic::new(&place, message))
}

/// Removes a value if one was given for all.
fn without<T>(own: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        *own = None;
    }
}

/// Sets the speed at which a plan's files of requests replay their own timing.
fn set_speed(document: &mut Document, speed: &str) -> Result<(), Failure> {
    let mut is_set = false;
    for pool in &mut document.pools {
        let trace = &mut pool.llm.trace;
        if trace.file.is_some() {
            trace.speed = Some(text("speed", &speed));
            is_set = true;
        }
    }
    let pools = document.pools.iter_mut();
    for request in pools.flat_map(|pool| &mut pool.requests) {
        if let Ask::Ammo(ammo) = &mut request.ask {
            ammo.speed = Some(text("speed", &speed));
            is_set = true;
        }
    }
    let message = "the plan has no request file and no trace whose timing could change";
    match is_set {
        true => Ok(()),
        false => Err(Failure::usage(Diagnostic::new(
            &flag_place("speed"),
            message,
        ))),
    }
}
