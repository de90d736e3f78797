//! Turns a scenario into the steps of an iteration.

use super::call;
use super::known::{ExtraTake, Form, Known};
use super::mapping::{field, prepare, variable};
use super::named::Named;
use super::scope::Scope;
use super::template::{translated, translated_path};
use super::turns::RowFeeds;
use super::{After, Assert, File, Request, Scenario};
use crate::go_http::canonical;
use crate::pandora::TOOL;
use crate::pandora::gun::HttpGun;
use crate::pandora::shot::{Uri, complete};
use drumfire_compile::Host;
use drumfire_document::{
    Ask, ExpectSettings, Feed, Fields, Payload, Place, Request as Written, RequestStep,
    Scenario as Weighted, Step, Text,
};
use drumfire_plan::Method;

/// The maximum number of steps of an iteration.
const STEPS_MAX: usize = 10_000;

/// The stage of values from a response.
const AFTER: &str = "postprocessor";

/// Accepts any status; checks may restrict it.
const ANY_STATUS: &str = "100-599";

/// The scenarios of a file, and the feeds for their templates.
pub(in crate::pandora) struct Lowered {
    pub(in crate::pandora) scenarios: Vec<Weighted>,
    pub(in crate::pandora) feeds: Vec<Feed>,
    /// The number of scenarios in one pass.
    pub(in crate::pandora) per_pass: u64,
    /// What a reader of the file should know.
    pub(in crate::pandora) notes: Vec<String>,
}

/// Builds the steps of a file's scenarios. The steps are HTTP requests, or calls if no HTTP gun
/// sends them.
///
/// # Errors
/// The mistakes that prevent the scenarios from running.
pub(in crate::pandora) fn lower(
    file: &File,
    gun: Option<&HttpGun>,
    pool: usize,
    host: &dyn Host,
    seed: u64,
) -> Result<Lowered, String> {
    if file.scenarios.is_empty() {
        return Err("no scenarios in the file".to_owned());
    }
    let requests = file.requests.iter().map(|request| &request.name);
    let calls = file.calls.iter().map(|call| &call.name);
    let scope = Scope::new(&file.sources, host, seed);
    let scope = scope.with_turns(RowFeeds::of_pool(pool).with_owners(file));
    let mut scope = scope.with_names(requests.chain(calls));
    let mut scenarios = Vec::with_capacity(file.scenarios.len());
    for (number, scenario) in file.scenarios.iter().enumerate() {
        scope.turns.enter_scenario(number);
        let mut steps = steps(scenario, file, gun, &mut scope)
            .map_err(|why| format!("scenario {}: {why}", scenario.name))?;
        for (step, field) in scope.forget() {
            if let Some(Step::Request(step)) = steps.get_mut(step) {
                step.request.take.push(field);
            }
        }
        scenarios.push(Weighted {
            name: TOOL.text("name", &scenario.name),
            weight: Some(TOOL.count("weight", scenario.weight)),
            steps,
        });
    }
    let shares = shares(&file.scenarios);
    Ok(Lowered {
        scenarios,
        per_pass: shares
            .iter()
            .fold(0, |sum, share| sum.saturating_add(*share)),
        feeds: scope.turns.into_feeds(&shares),
        notes: [file.notes.clone(), repeats(file), unsent(file, gun)].concat(),
    })
}

/// Notes on headers of a file's requests that are not sent.
fn unsent(file: &File, gun: Option<&HttpGun>) -> Vec<String> {
    let mut notes = Vec::new();
    for request in &file.requests {
        for (name, _) in &request.headers {
            let what = format!("{}: request {}", file.path, request.name);
            notes.extend(gun.and_then(|gun| gun.note(&what, name)));
        }
    }
    notes
}

/// A note for each name that a file defines more than once: only the last definition is used.
fn repeats(file: &File) -> Vec<String> {
    let sources: Vec<&str> = file.sources.iter().map(|it| &*it.name).collect();
    let requests: Vec<&str> = file.requests.iter().map(|it| &*it.name).collect();
    let calls: Vec<&str> = file.calls.iter().map(|it| &*it.name).collect();
    let mut notes = Vec::new();
    for (what, names) in [("source", sources), ("request", requests), ("call", calls)] {
        for (n, name) in names.iter().enumerate() {
            let times = names.iter().filter(|other| *other == name).count();
            if times > 1 && !names[..n].contains(name) {
                notes.push(format!(
                    "{}: {what} {name} is defined {times} times; the last definition is used",
                    file.path
                ));
            }
        }
    }
    notes
}

/// How many of each scenario one pass has.
pub(super) fn shares(scenarios: &[Scenario]) -> Vec<u64> {
    let weights = scenarios.iter().map(|scenario| scenario.weight);
    let divisor = weights.clone().fold(0, greatest_common_divisor).max(1);
    weights.map(|weight| weight / divisor).collect()
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The steps of a scenario.
fn steps(
    scenario: &Scenario,
    file: &File,
    gun: Option<&HttpGun>,
    scope: &mut Scope<'_>,
) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for text in &scenario.requests {
        let named = Named::read(text)?;
        if named.name == "sleep" {
            steps.push(pause(named.count));
            continue;
        }
        let before = steps.len();
        for round in 0..named.count {
            let added = match gun {
                Some(gun) => {
                    // If several requests have the same name, the last one counts.
                    let mut requests = file.requests.iter();
                    let request = requests.rfind(|request| request.name == named.name);
                    let request =
                        request.ok_or_else(|| format!("request {} not found", named.name))?;
                    add_request(request, scenario, round, gun, scope, &mut steps)
                }
                None => {
                    let mut calls = file.calls.iter();
                    let call = calls.rfind(|call| call.name == named.name);
                    let call = call.ok_or_else(|| format!("request {} not found", named.name))?;
                    call::add_call(call, scenario, round, scope, &mut steps)
                }
            };
            added.map_err(|why| format!("request {}: {why}", named.name))?;
            if named.sleep > 0 {
                steps.push(pause(named.sleep));
            }
            if steps.len() > STEPS_MAX {
                return Err(format!("it has more than {STEPS_MAX} steps"));
            }
        }
        let names = format!(
            "{}: scenario {}: request {}",
            file.path, scenario.name, named.name
        );
        steps[before..]
            .iter_mut()
            .for_each(|step| locate(step, &names));
    }
    if steps.iter().all(|step| step.requests().is_empty()) {
        return Err("it has no requests; list one in `requests`".to_owned());
    }
    if scenario.min_waiting_time_ms > 0 {
        let least = format!("at least {}ms", scenario.min_waiting_time_ms);
        steps.push(Step::Pause(TOOL.text("min_waiting_time", &least)));
    }
    Ok(steps)
}

/// Prepends names to the places of a step's texts, so that a mistake names the request.
fn locate(step: &mut Step, names: &str) {
    let place = |text: &mut Text| {
        let path = format!("{names}: {}", text.place.key()).into();
        text.place = Place::Part { path };
    };
    match step {
        Step::Set(fields) => fields.iter_mut().for_each(|field| place(&mut field.value)),
        Step::Request(step) => {
            let request = &mut step.request;
            match &mut request.ask {
                Ask::Url { url: text, .. } | Ask::Call(text) => place(text),
                _ => {}
            }
            if let Fields::Listed(fields) = &mut request.fields {
                fields.iter_mut().for_each(|field| place(&mut field.value));
            }
            if let Some(Payload::Text(text)) = &mut request.data.payload {
                place(text);
            }
            request
                .take
                .iter_mut()
                .for_each(|field| place(&mut field.value));
        }
        _ => {}
    }
}

fn pause(milliseconds: u64) -> Step {
    Step::Pause(TOOL.text("requests", &format!("{milliseconds}ms")))
}

/// Adds the steps of a request: its preprocessing, the request, its postprocessing.
fn add_request(
    request: &Request,
    scenario: &Scenario,
    round: u64,
    gun: &HttpGun,
    scope: &mut Scope<'_>,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    prepare(&request.name, &request.mapping, round, scope, steps)?;
    let step = steps.len();
    scope.escapes = request.escapes;
    let mut written = made(request, scenario, gun, scope)?;
    scope.escapes = false;
    for after in &request.after {
        match after {
            After::JsonPath(mapping) => {
                for (name, path) in mapping {
                    let path = normal(path);
                    let known = match is_list(&path) {
                        true => Known {
                            is: extract_variable(
                                request,
                                name,
                                &format!("json#all {path}"),
                                &mut written,
                            ),
                            form: Form::Many,
                        },
                        false => one(
                            extract_variable(request, name, &format!("json {path}"), &mut written),
                            step,
                            &path,
                        ),
                    };
                    scope.learn(&request.name, AFTER, name, known);
                }
            }
            After::XPath(mapping) => {
                for (name, path) in mapping {
                    let taken =
                        extract_variable(request, name, &format!("html#all {path}"), &mut written);
                    scope.learn(&request.name, AFTER, name, Known::nodes(&taken));
                }
            }
            After::Header(mapping) => {
                for (name, text) in mapping {
                    let (header, pipes) = text.split_once('|').unwrap_or((text, ""));
                    let how = format!("header#maybe {}", header.trim());
                    let taken = extract_variable(request, name, &how, &mut written);
                    let known = Known::optional(&taken, &piped(taken.clone(), pipes)?);
                    scope.learn(&request.name, AFTER, name, known);
                }
            }
            After::Assert(assert) => expect(assert, &mut written.expect),
        }
    }
    steps.push(Step::Request(Box::new(RequestStep {
        request: written,
        on_fail: Some(TOOL.text("postprocessors", &"end_iteration")),
    })));
    Ok(())
}

/// A value that a step takes from a JSON body.
fn one(is: String, step: usize, path: &str) -> Known {
    let variable = format!("{is}_all");
    let form = Form::Taken(ExtraTake {
        step,
        typed: format!("{variable} | fromjson(0)"),
        how: format!("json#all {path}"),
        variable,
    });
    Known { is, form }
}

/// Lets a request take a variable from its response; returns the name of the variable.
fn extract_variable(request: &Request, name: &str, how: &str, written: &mut Written) -> String {
    let variable = variable(&request.name, "post", name);
    written.take.push(field(&variable, how));
    variable
}

/// A JSON path; adds the root if it is missing.
fn normal(path: &str) -> String {
    let path = path.trim();
    match path.chars().next() {
        Some('$') => path.to_owned(),
        Some('.' | '[') => format!("${path}"),
        _ => format!("$.{path}"),
    }
}

/// Whether a JSON path gives a list of values, regardless of their number.
fn is_list(path: &str) -> bool {
    path.contains('*') || path.contains("..") || path.contains('?') || {
        let brackets = path
            .split('[')
            .skip(1)
            .filter_map(|part| part.split(']').next());
        let quoted = |inner: &str| inner.starts_with(['\'', '"']);
        brackets
            .into_iter()
            .any(|inner| !quoted(inner.trim()) && inner.contains([':', ',']))
    }
}

/// The request itself.
fn made(
    request: &Request,
    scenario: &Scenario,
    gun: &HttpGun,
    scope: &mut Scope<'_>,
) -> Result<Written, String> {
    // A value from a response may be a whole URL.
    let is_given = request.uri.trim_start().starts_with("{{");
    let uri = match is_given {
        true => Uri {
            host: None,
            target: request.uri.clone(),
        },
        false => Uri::read(&request.uri)?,
    };
    let mut headers = Vec::new();
    // As in Go's client, the host of a request is not among its fields, and the fields that follow
    // from its body are generated.
    let made = ["host", "content-length", "transfer-encoding"];
    for (name, value) in &request.headers {
        if !made.iter().any(|made| name.eq_ignore_ascii_case(made)) && gun.sends(name) {
            headers.push((name.clone(), translated(value, scope)?));
        }
    }
    if let Some(host) = uri.host {
        headers.push(("Host".to_owned(), host.to_owned()));
    }
    complete(&mut headers, gun);
    let mut written = Written::new(Ask::Url {
        method: TOOL.text("method", &request.method),
        url: TOOL.text("uri", &translated_path(&uri.target, scope)?),
    });
    let fields = headers.iter();
    let fields = fields.map(|(name, value)| TOOL.field("headers", &canonical(name), value));
    written.fields = Fields::Listed(fields.collect());
    let body = request.body.as_deref().unwrap_or_default();
    if !body.is_empty() || Method::announces_content(&request.method) {
        let body = translated(body, scope)?;
        written.data.payload = Some(Payload::Text(TOOL.text("body", &body)));
    }
    let name = format!("{}.{}", scenario.name, request.name);
    written.name = Some(TOOL.text("name", &name));
    written.expect.status = Some(TOOL.text("status_code", &ANY_STATUS));
    Ok(written)
}

/// A value after the pipes of a header.
pub(super) fn piped(variable: String, pipes: &str) -> Result<String, String> {
    let mut is = variable;
    for pipe in pipes
        .split('|')
        .map(str::trim)
        .filter(|pipe| !pipe.is_empty())
    {
        let (name, args) = pipe.split_once('(').unwrap_or((pipe, ")"));
        let args = args.strip_suffix(')').unwrap_or(args);
        let args: Vec<&str> = args.split(',').map(str::trim).collect();
        let number = |text: &str| match text.is_empty() {
            true => Ok(String::new()),
            false => {
                let number = text.parse::<i64>();
                number
                    .map(|number| number.to_string())
                    .map_err(|_| format!("`{pipe}`: `{text}` is not a number"))
            }
        };
        is = match (name.trim(), &args[..]) {
            ("lower", _) => format!("({is} | lower)"),
            ("upper", _) => format!("({is} | upper)"),
            ("substr", [from]) => format!("({is})[{}:]", number(from)?),
            ("substr", [from, to]) => {
                let (from, to) = (number(from)?, number(to)?);
                let place = |text: &str| text.parse::<u64>().ok();
                match (place(&from), place(&to)) {
                    // If the end precedes the start, the slice is taken with the bounds swapped.
                    (Some(first), Some(last)) if first > last && last > 0 => {
                        format!("({is})[{to}:{from}]")
                    }
                    _ => format!("({is})[{from}:{to}]"),
                }
            }
            ("replace", [from, to]) => {
                let literal = |text: &str| serde_json::Value::from(text).to_string();
                format!("({is} | replace({}, {}))", literal(from), literal(to))
            }
            _ => {
                return Err(format!("unknown function `{pipe}` for a header value"));
            }
        };
    }
    Ok(is)
}

/// Adds checks to the expectations. An empty text is contained in every text, also in an absent
/// one.
fn expect(assert: &Assert, expect: &mut ExpectSettings) {
    for (name, text) in assert.headers.iter().filter(|(_, text)| !text.is_empty()) {
        let check = format!("contains {text}");
        expect.header.push(TOOL.field("headers", name, &check));
    }
    for text in assert.body.iter().filter(|text| !text.is_empty()) {
        expect
            .body
            .push(TOOL.text("body", &format!("contains {text}")));
    }
    if assert.status > 0 {
        expect.status = Some(TOOL.text("status_code", &assert.status));
    }
    if let Some((sign, value)) = &assert.size {
        expect.body_size = Some(TOOL.text("size", &format!("{sign}{value}")));
    }
}
