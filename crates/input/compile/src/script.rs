//! The script of a pool, and the responses that its functions inspect.
//!
//! A script is loaded once to check it. Each worker thread later has separate interpreters, which
//! `script` bounds in time and memory. Functions inspect a response last, after rules without an
//! interpreter have accepted it ([`ScriptRules`]). A function receives the response as a datum
//! ([`seen`]), which is built once for all functions of a request.
//!
//! A function can only return a value, a text or JSON: it has no files, no network and no clock. An
//! exception fails the exchange with a separate kind ([`MismatchKind::Script`]), so that a mistake
//! in a script is not taken for one of the target.
//!
//! [`sources`] is called for each pool before its requests are compiled. It loads the script and
//! creates the pool's table of sources, in which templates also find the functions.
//! [`ScriptRules::new`] is called for a request that uses a function. Worker threads use its
//! result: its methods borrow it only shared, and an interpreter is taken for the time of a call.

use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use drumfire_data::Sources;
use drumfire_document::{Field, Pool, Text};
use drumfire_extract::Rules;
use drumfire_plan::{
    CallSteps, DataError, Datum, Finding, Inspection, Mismatch, MismatchKind, PlanFunctions,
    RequestContext, Response, Taken, ValueForm, VariableId, secret,
};
use drumfire_script::Script;
use drumfire_units::{ByteSize, utf8};
use std::fmt::Write as _;
use std::sync::Arc;

/// The word before the name of a function in `take`: `token: js token_of`.
const WORD: &str = "js ";

/// The sources of a pool's templates, with its script. All pools share the feeds, but each pool has
/// its own functions.
pub(crate) struct Own {
    pub(crate) sources: Arc<Sources>,
    /// The script's functions; `None` for a pool without a script.
    pub(crate) script: Option<Arc<dyn PlanFunctions>>,
}

/// The sources of a pool, with the functions of its script if it has one.
pub(crate) fn sources(pool: &Pool, sources: &Arc<Sources>, scope: &mut Scope<'_>) -> Own {
    let script = pool
        .settings
        .script
        .as_ref()
        .and_then(|path| load(path, scope));
    let sources = match &script {
        None => Arc::clone(sources),
        Some(script) => Arc::new((**sources).clone().with_functions(Arc::clone(script))),
    };
    Own { sources, script }
}

/// Loads a script from a file. Returns `None` after a mistake was noted. Loading has the bounds of
/// a call, so a script that never ends is refused here.
fn load(path: &Text, scope: &mut Scope<'_>) -> Option<Arc<dyn PlanFunctions>> {
    let bytes = scope.file(path)?;
    let text = utf8::text(&bytes).map_err(|what| format!("the script is {what}"));
    let loaded = text.and_then(|text| {
        let loaded = Script::new(&path.value, text);
        loaded.map_err(|error| format!("the script can't be loaded: {error}"))
    });
    let script = scope.found.ok(&path.place, loaded)?;
    Some(Arc::new(script))
}

/// A variable that gets its value from a function: the variable in a user's state, its name for
/// messages, and the function.
#[derive(Clone, Debug)]
struct ScriptTake {
    variable: VariableId,
    name: String,
    function: String,
}

/// The inspection of a response by a script, after the rules that need no interpreter.
///
/// The inspection requests all header fields, because the fields that a function reads are unknown,
/// and the body up to its bound.
#[derive(Debug)]
pub(crate) struct ScriptRules {
    /// The rules that need no interpreter, which are evaluated first.
    rules: Rules,
    functions: Arc<dyn PlanFunctions>,
    /// The function that judges the response; `None` if functions only take values.
    judge: Option<String>,
    takes: Vec<ScriptTake>,
    /// The maximum size of a decoded body that functions receive.
    body_max: ByteSize,
}

/// The parts of a request that need a script.
pub(crate) struct Asked<'a> {
    /// The function that judges the response, as written in `expect: { js: … }`.
    pub(crate) judge: Option<&'a Text>,
    /// The values that functions take.
    pub(crate) takes: Vec<&'a Field>,
}

impl Asked<'_> {
    /// Whether the request uses no functions.
    pub(crate) const fn is_empty(&self) -> bool {
        self.judge.is_none() && self.takes.is_empty()
    }
}

/// Whether a function takes a value, by its first word.
pub(crate) fn is_scripted(field: &Field) -> bool {
    field.value.value.starts_with(WORD)
}

impl ScriptRules {
    /// Joins rules with a script's functions. Returns `None` after a mistake was noted.
    ///
    /// All names are resolved before anything is joined, so that all missing functions are noted.
    pub(crate) fn new(
        rules: Rules,
        asked: &Asked<'_>,
        body_max: ByteSize,
        may_read: &TemplateScope,
        scope: &mut Scope<'_>,
    ) -> Option<Self> {
        let (sources, functions) = (&may_read.sources, may_read.script.as_ref());
        let places = asked.judge.into_iter();
        let places = places.chain(asked.takes.iter().map(|field| &field.value));
        let mut is_good = true;
        for text in places {
            let name = text.value.strip_prefix(WORD).unwrap_or(&text.value).trim();
            let message = match functions {
                None => "the pool has no `script` with functions".to_owned(),
                Some(functions) if functions.has(name) => continue,
                Some(_) => format!("the script has no function `{}`", name.escape_debug()),
            };
            scope.found.add(&text.place, message);
            is_good = false;
        }
        let takes = asked.takes.iter().filter_map(|field| {
            Some(ScriptTake {
                variable: sources.declared(&field.name.value)?,
                name: field.name.value.clone(),
                function: field.value.value.strip_prefix(WORD)?.trim().to_owned(),
            })
        });
        is_good.then_some(Self {
            rules,
            functions: Arc::clone(functions?),
            judge: asked.judge.map(|text| text.value.trim().to_owned()),
            takes: takes.collect(),
            body_max,
        })
    }

    /// The result of a function for a response. The request's context is not available, because all
    /// responses of the request share the inspection.
    fn call(&self, function: &str, seen: &Datum) -> Result<Option<Datum>, DataError> {
        let request = RequestContext::default();
        self.functions.call(
            function,
            std::slice::from_ref(seen),
            &request,
            CallSteps::Own,
        )
    }

    /// Judges a response with a function: the response is as expected if the function returns
    /// nothing or `true`; any other value is the reason for the mismatch.
    fn judge(&self, function: &str, seen: &Datum) -> Result<(), Mismatch> {
        let said = self.call(function, seen).map_err(failed)?;
        let reason = match said {
            None => return Ok(()),
            Some(Datum::Json(json)) if json == "true" => return Ok(()),
            Some(Datum::Json(json)) => format!("js {function} returned {json}"),
            Some(Datum::Text(text)) => format!("js {function}: {text}"),
        };
        let kind = MismatchKind::Body;
        Err(Mismatch { kind, reason })
    }

    /// The value that a function takes from a response: its text and its type. A function that
    /// returns nothing fails the exchange, as an extractor without a value does.
    fn taken(&self, take: &ScriptTake, seen: &Datum) -> Result<(String, ValueForm), Mismatch> {
        match self.call(&take.function, seen).map_err(failed)? {
            Some(Datum::Text(text)) => Ok((text, ValueForm::Text)),
            Some(Datum::Json(text)) => Ok((text, ValueForm::Json)),
            None => Err(Mismatch {
                kind: MismatchKind::Missing,
                reason: format!("js {} returned nothing", take.function),
            }),
        }
    }
}

impl Inspection for ScriptRules {
    fn fields(&self) -> &[String] {
        self.rules.fields()
    }

    /// Always true: a function may read any field, and the fields are unknown before it runs.
    fn every_field(&self) -> bool {
        true
    }

    fn body_max(&self) -> Option<ByteSize> {
        Some(self.body_max)
    }

    fn answer_max(&self) -> Option<ByteSize> {
        self.rules.answer_max()
    }

    fn inspects_messages(&self) -> bool {
        self.rules.inspects_messages()
    }

    fn inspect_message(&self, message: &[u8], taken: &mut Taken) -> Result<(), Mismatch> {
        self.rules.inspect_message(message, taken)
    }

    fn message_findings(&self, message: &[u8]) -> Vec<Finding> {
        self.rules.message_findings(message)
    }

    /// Inspects a response: the rules first, then the judge, then the values in the order of the
    /// document. The first mismatch ends the inspection and fails the exchange; values already
    /// taken stay taken.
    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        self.rules.inspect(response, taken)?;
        let seen = seen(response);
        if let Some(function) = &self.judge {
            self.judge(function, &seen)?;
        }
        for take in &self.takes {
            taken.store(take.variable, |out| {
                let (text, form) = self.taken(take, &seen)?;
                out.push_str(&text);
                Ok(form)
            })?;
        }
        Ok(())
    }

    /// The results of all rules and functions, for a report that shows the exchange in full. A
    /// mismatch does not end the evaluation, functions are called again, and values with secret
    /// names are masked.
    fn findings(&self, response: &Response<'_>) -> Vec<Finding> {
        let seen = seen(response);
        let mut findings = self.rules.findings(response);
        findings.extend(self.judge.iter().map(|function| Finding {
            rule: format!("js {function}"),
            variable: None,
            result: match self.judge(function, &seen) {
                Ok(()) => Ok(None),
                Err(mismatch) => Err(mismatch.reason),
            },
        }));
        findings.extend(self.takes.iter().map(|take| Finding {
            rule: format!("js {}", take.function),
            variable: Some(take.name.clone()),
            result: match self.taken(take, &seen) {
                Ok(_) if secret::is_secret(&take.name) => Ok(Some(secret::MASK.to_owned())),
                Ok((text, _)) => Ok(Some(text)),
                Err(mismatch) => Err(mismatch.reason),
            },
        }));
        findings
    }
}

/// An error in a function fails its exchange, with the blame on the plan.
fn failed(error: DataError) -> Mismatch {
    Mismatch {
        kind: MismatchKind::Script,
        reason: error.words,
    }
}

/// A response as functions receive it: `{status, headers, body, seconds}`, with header names in
/// lower case and several values of one name joined by commas. Invalid UTF-8 is replaced.
fn seen(response: &Response<'_>) -> Datum {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in response.fields.iter() {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let value = String::from_utf8_lossy(value);
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(&value);
            }
            None => headers.push((name, value.into_owned())),
        }
    }
    let mut json = String::with_capacity(response.body.len() + 256);
    let seconds = response.time.as_secs_f64();
    // Writing to a String can't fail, here and below.
    let _ = write!(
        json,
        "{{\"status\":{},\"seconds\":{seconds},\"headers\":{{",
        response.status
    );
    for (index, (name, value)) in headers.iter().enumerate() {
        json.push_str(if index == 0 { "\"" } else { ",\"" });
        drumfire_data::escape_json(name, &mut json);
        json.push_str("\":\"");
        drumfire_data::escape_json(value, &mut json);
        json.push('"');
    }
    json.push_str("},\"body\":\"");
    drumfire_data::escape_json(&String::from_utf8_lossy(response.body), &mut json);
    json.push_str("\"}");
    Datum::Json(json)
}
