//! Resolves values: paths into sources and into the results of earlier steps, and functions.

use super::function;
use super::known::{
    Cells, Column, ExtraTake, Form, Known, NO_VALUE, Whole, identifier, literal, quoted,
};
use super::turns::RowFeeds;
use super::{Source, SourceKind};
use crate::pandora::TOOL;
use drumfire_compile::Host;
use drumfire_document::{Feed, FeedRows, Field};
use drumfire_units::Random;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The stages of a request, by Pandora's names.
const STAGES: [&str; 2] = ["preprocessor", "postprocessor"];

/// The column for values of which some are lists or objects.
const ELEMENT: &str = "element";

/// The values that paths can refer to.
pub(super) struct Scope<'a> {
    sources: Vec<Source>,
    host: &'a dyn Host,
    /// The rows that steps take.
    pub(super) turns: RowFeeds,
    /// The results of earlier steps, by request, stage and variable.
    known: BTreeMap<(String, &'static str, String), Known>,
    /// The step of each call whose reply can be read.
    replies: BTreeMap<String, usize>,
    /// The additional takes of steps that later steps need.
    asked: Vec<(usize, Field)>,
    /// Whether values in templates are escaped for HTML.
    pub(super) escapes: bool,
    /// The names of requests and calls.
    names: Vec<String>,
}

/// One part of a path.
struct Part<'a> {
    name: &'a str,
    index: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// Creates a scope of the sources; random values follow from `seed`.
    pub(super) fn new(sources: &[Source], host: &'a dyn Host, seed: u64) -> Self {
        let mut random = Random::from_state(seed);
        let mut sources = sources.to_vec();
        for source in &mut sources {
            if let SourceKind::Variables(value) = &mut source.kind {
                *value = function::evaluated(value, &mut random);
            }
        }
        Self {
            sources,
            host,
            turns: RowFeeds::of_pool(0),
            known: BTreeMap::new(),
            replies: BTreeMap::new(),
            asked: Vec::new(),
            escapes: false,
            names: Vec::new(),
        }
    }

    /// Returns the scope with these rows of sources.
    pub(super) fn with_turns(self, turns: RowFeeds) -> Self {
        Self { turns, ..self }
    }

    /// Returns the scope with the names of requests and calls.
    pub(super) fn with_names<'n>(mut self, names: impl Iterator<Item = &'n String>) -> Self {
        self.names = names.cloned().collect();
        self
    }

    /// The value of a path in a template. For a request that has not been sent, the result is Go's
    /// text for an absent value.
    pub(super) fn printed(&mut self, path: &str) -> Result<Known, String> {
        let found = self.path(path, 0);
        let mut parts = path.trim_start_matches('.').split('.');
        let is_request = parts.next() == Some("request");
        let name = parts.next().unwrap_or_default();
        let is_named = is_request && self.names.iter().any(|known| known == name);
        match found {
            Err(_) if is_named && self.is_unmade(name) => Ok(Known::text(quoted(NO_VALUE))),
            found => found,
        }
    }

    /// Whether no earlier step has sent the request.
    fn is_unmade(&self, name: &str) -> bool {
        let stage = STAGES[1];
        !self.replies.contains_key(name)
            && !self
                .known
                .keys()
                .any(|(request, known, _)| request == name && *known == stage)
    }

    /// Begins another scenario, without results of steps. Returns the additional takes of the
    /// previous scenario's steps.
    pub(super) fn forget(&mut self) -> Vec<(usize, Field)> {
        self.known.clear();
        self.replies.clear();
        std::mem::take(&mut self.asked)
    }

    /// Sets the value of a variable of a request's stage from now on.
    pub(super) fn learn(&mut self, request: &str, stage: &'static str, name: &str, known: Known) {
        self.known
            .insert((request.to_owned(), stage, name.to_owned()), known);
    }

    /// Sets the step that gives the reply of a call from now on.
    pub(super) fn learn_reply(&mut self, call: &str, step: usize) {
        self.replies.insert(call.to_owned(), step);
    }

    /// Lets a step take a variable.
    fn ask(&mut self, step: usize, variable: &str, what: &str) {
        let field = TOOL.field("mapping", variable, what);
        if !self.asked.contains(&(step, field.clone())) {
            self.asked.push((step, field));
        }
    }

    /// The value of a mapping: a function, or a path. `round` is the number of the step's
    /// repetition.
    pub(super) fn mapped(&mut self, text: &str, round: u64) -> Result<Known, String> {
        let bare = text.trim();
        let called = match function::is_known(bare) {
            true => Some((bare, Vec::new())),
            false => function::call(text),
        };
        let Some((name, args)) = called else {
            return Ok(self.path(text, round)?.needed());
        };
        if !function::is_known(name) {
            return Err(function::unknown(name));
        }
        // Pandora ignores the arguments of `uuid`.
        if name != "uuid" && args.len() > function::ARGUMENTS_MAX {
            return Err(function::too_many(name));
        }
        let mut values = Vec::new();
        let mut words = vec![name.to_owned()];
        for arg in &args {
            match self.path(arg, round) {
                Ok(known) => {
                    let place = format!("a{}", values.len());
                    words.push(format!(".{place}"));
                    values.push(format!("{}: {}", quoted(&place), self.typed(&known)));
                }
                Err(_) if arg.parse::<i64>().is_ok() => words.push((*arg).to_owned()),
                Err(_) => words.push(quoted(arg)),
            }
        }
        Ok(Known::text(match values.is_empty() {
            true => function::expression(name, &args)?,
            false => {
                let text = quoted(&format!("{{{{{}}}}}", words.join(" ")));
                format!("{text} | go({{{}}})", values.join(", "))
            }
        }))
    }

    /// The value of a path, with or without a dot before it.
    pub(super) fn path(&mut self, text: &str, round: u64) -> Result<Known, String> {
        let parts: Vec<Part<'_>> = parts(text.trim().trim_start_matches('.'))?;
        match &parts[..] {
            [first, source, rest @ ..] if first.name == "source" => {
                self.source(source, rest, round)
            }
            [first, request, stage, rest @ ..]
                if first.name == "request" && stage.name == STAGES[1] =>
            {
                match self.replies.get(request.name) {
                    Some(&step) => self.reply(request.name, step, rest, round),
                    None => self.left(text, request, STAGES[1], rest, round),
                }
            }
            [first, request, stage, rest @ ..]
                if first.name == "request" && stage.name == STAGES[0] =>
            {
                self.left(text, request, STAGES[0], rest, round)
            }
            _ => {
                let text = text.escape_debug();
                Err(format!(
                    "`{text}` is not a path; use source.NAME or request.NAME"
                ))
            }
        }
    }

    /// The result of an earlier step.
    fn left(
        &self,
        text: &str,
        request: &Part<'_>,
        stage: &'static str,
        rest: &[Part<'_>],
        round: u64,
    ) -> Result<Known, String> {
        let found = rest.split_first().and_then(|(variable, rest)| {
            let key = (request.name.to_owned(), stage, variable.name.to_owned());
            Some((self.known.get(&key)?.clone(), variable, rest))
        });
        let Some((known, variable, rest)) = found else {
            let text = text.escape_debug();
            return Err(format!("no earlier step provides `{text}`"));
        };
        let known = match variable.index {
            Some(index) => known.into_list().element(&place(index, round)?),
            None => known,
        };
        follow(known, rest, round)
    }

    /// A part of a call's reply. The step of the call then takes it.
    fn reply(
        &mut self,
        call: &str,
        step: usize,
        rest: &[Part<'_>],
        round: u64,
    ) -> Result<Known, String> {
        let indexed = rest.iter().position(|part| part.index.is_some());
        let end = indexed.map_or(rest.len(), |at| at + 1);
        let (taken, behind) = rest.split_at(end);
        let all = format!("v_{}_reply", identifier(call));
        let mut typed = format!("{all} | fromjson");
        let mut variable = all.clone();
        let mut path = String::from("$");
        for (n, part) in taken.iter().enumerate() {
            let name = quoted(part.name);
            variable.push('_');
            variable.push_str(&identifier(part.name));
            path.push_str(&format!("[{name}]"));
            typed.push_str(&match n {
                0 => format!("({name})"),
                _ => format!(" | fromjson({name})"),
            });
        }
        self.ask(step, &variable, &format!("reply {path}"));
        let mut known = Known {
            is: variable,
            form: Form::Taken(ExtraTake {
                step,
                variable: all,
                how: "reply $".to_owned(),
                typed,
            }),
        };
        if let Some(index) = taken.last().and_then(|part| part.index) {
            known = known.element(&place(index, round)?);
        }
        follow(known, behind, round)
    }

    fn source(
        &mut self,
        source: &Part<'_>,
        rest: &[Part<'_>],
        round: u64,
    ) -> Result<Known, String> {
        let mut sources = self.sources.iter();
        let found = sources.rfind(|known| known.name == source.name);
        let found = found.ok_or_else(|| format!("unknown source `{}`", source.name))?;
        let table = match found.kind.clone() {
            SourceKind::Csv(table) => table,
            SourceKind::Json(value) => {
                return self.json((&value, Whole::Float64), source, rest, round);
            }
            SourceKind::Variables(value) => {
                return self.json((&value, Whole::Int), source, rest, round);
            }
        };
        let Some(index) = source.index else {
            let name = source.name;
            return Err(format!("`{name}` is a table; select a row, as with [next]"));
        };
        let Some(order) = Order::read(index) else {
            let rows = Json::Array(table.rows(self.host)?);
            return self.json((&rows, Whole::Float64), source, rest, round);
        };
        let columns = table.columns(self.host)?;
        let feed = table.feed(&columns);
        let is = self.taken(order, source.name, feed);
        let form = Form::Row(columns);
        follow(Known { is, form }, rest, round)
    }

    /// Adds the feed of a row, and returns its name.
    fn taken(&mut self, order: Order, path: &str, feed: Feed) -> String {
        match order {
            Order::Next => self.turns.next(path, feed),
            Order::Any => self.turns.any(path, feed),
        }
    }

    /// A JSON value, or the rows of one of its lists.
    fn json(
        &mut self,
        (value, whole): (&Json, Whole),
        source: &Part<'_>,
        rest: &[Part<'_>],
        round: u64,
    ) -> Result<Known, String> {
        let mut path = vec![source.name];
        let mut value = value;
        for (n, part) in std::iter::once(source).chain(rest).enumerate() {
            if n > 0 {
                path.push(part.name);
                let found = value.get(part.name);
                value = found.ok_or_else(|| format!("`{}` has no such value", path.join(".")))?;
            }
            let Some(index) = part.index else { continue };
            let list = value.as_array().filter(|list| !list.is_empty());
            let list = list.ok_or_else(|| format!("`{}` is not a list", path.join(".")))?;
            match fixed_place(index, list.len()) {
                Some(place) => value = &list[place],
                None => {
                    let row = self.rows((list, whole), &path, index)?;
                    return follow(row, &rest[n..], round);
                }
            }
        }
        Ok(Known::constant(value, whole))
    }

    /// The rows of a list.
    fn rows(
        &mut self,
        (list, whole): (&[Json], Whole),
        path: &[&str],
        index: &str,
    ) -> Result<Known, String> {
        let path = path.join(".");
        let Some(order) = Order::read(index) else {
            let index = index.escape_debug();
            return Err(format!(
                "index should be integer or one of [next, rand, last], but got `{index}` in \
                 `{path}`"
            ));
        };
        let feed = |rows: &Json| Feed {
            rows: FeedRows::Inline(TOOL.text("source", rows)),
            ..Feed::default()
        };
        let mut columns: Vec<String> = Vec::new();
        for row in list.iter().filter_map(Json::as_object) {
            let new = row.keys().filter(|name| !columns.contains(name));
            columns.extend(new.cloned().collect::<Vec<_>>());
        }
        if list.iter().all(Json::is_object) && !columns.is_empty() {
            let is = self.taken(order, &path, feed(&Json::from(list)));
            let column = |name: String| Column {
                cells: Cells::from_values(list.iter().filter_map(|row| row.get(&name)), whole),
                name,
            };
            let form = Form::Row(columns.into_iter().map(column).collect());
            return Ok(Known { is, form });
        }
        if list
            .iter()
            .any(|value| value.is_object() || value.is_array())
        {
            // All values of a feed must have one kind.
            let rows: Json = list.iter().map(|value| json!({ ELEMENT: value })).collect();
            let name = self.taken(order, &path, feed(&rows));
            return Ok(Known::value(format!("{name}.{ELEMENT}"), whole));
        }
        let name = self.taken(order, &path, feed(&Json::from(list)));
        Ok(Cells::from_values(list.iter(), whole).known(name))
    }

    /// A Go template as an expression, with the values that it may read.
    pub(super) fn go(&mut self, text: &str) -> Result<String, String> {
        let mut requests: BTreeMap<String, BTreeMap<&'static str, Vec<String>>> = BTreeMap::new();
        for ((request, stage, name), known) in self.known.clone() {
            if text.contains(&request) {
                let value = format!("{}: {}", quoted(&name), self.typed(&known));
                let stages = requests.entry(request).or_default();
                stages.entry(stage).or_default().push(value);
            }
        }
        let mut requests: BTreeMap<String, Vec<String>> = requests
            .into_iter()
            .map(|(request, stages)| {
                let stages = stages.into_iter();
                let stages = stages
                    .map(|(stage, values)| format!("{}: {{{}}}", quoted(stage), values.join(", ")));
                (request, stages.collect())
            })
            .collect();
        for (call, step) in self.replies.clone() {
            if text.contains(&call) {
                let known = self.reply(&call, step, &[], 0)?;
                let reply = format!("{}: {}", quoted(STAGES[1]), self.typed(&known));
                requests.entry(call).or_default().push(reply);
            }
        }
        let requests = requests.into_iter();
        let requests: Vec<String> = requests
            .map(|(request, stages)| format!("{}: {{{}}}", quoted(&request), stages.join(", ")))
            .collect();
        let sources = self.literals(text)?;
        let values = format!(
            "{{\"source\": {{{}}}, \"request\": {{{}}}}}",
            sources.join(", "),
            requests.join(", ")
        );
        let escape = if self.escapes { ", \"html\"" } else { "" };
        Ok(format!("{} | go({values}{escape})", quoted(text)))
    }

    /// The complete sources that a text refers to.
    fn literals(&self, text: &str) -> Result<Vec<String>, String> {
        let named = self
            .sources
            .iter()
            .filter(|source| text.contains(&source.name));
        let literals = named.map(|source| {
            let value = match &source.kind {
                SourceKind::Csv(table) => Json::Array(table.rows(self.host)?),
                SourceKind::Json(value) | SourceKind::Variables(value) => value.clone(),
            };
            let value = match &source.kind {
                SourceKind::Json(_) => format!("({} | gojson)", literal(&value)),
                SourceKind::Csv(_) | SourceKind::Variables(_) => literal(&value),
            };
            Ok(format!("{}: {value}", quoted(&source.name)))
        });
        literals.collect()
    }

    /// The typed value, as an expression.
    fn typed(&mut self, known: &Known) -> String {
        if let Form::Taken(taken) = &known.form {
            self.ask(taken.step, &taken.variable, &taken.how);
        }
        known.typed()
    }
}

/// The value after the remaining parts of a path.
fn follow(known: Known, rest: &[Part<'_>], round: u64) -> Result<Known, String> {
    let mut known = known;
    for part in rest {
        known = known.member(part.name)?;
        if let Some(index) = part.index {
            known = known.element(&place(index, round)?);
        }
    }
    Ok(known)
}

/// The parts of a path: names, each with an optional index in brackets.
fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let part = |piece: &'_ str| -> Result<(usize, Option<(usize, usize)>), String> {
        match piece.split_once('[') {
            None => Ok((piece.len(), None)),
            Some((name, rest)) => {
                let index = rest.strip_suffix(']');
                let text = text.escape_debug();
                let index = index.ok_or_else(|| format!("`{text}` lacks a closing bracket"))?;
                Ok((name.len(), Some((name.len() + 1, index.len()))))
            }
        }
    };
    let mut found = Vec::new();
    for piece in text.split('.').map(str::trim) {
        let (name, index) = part(piece)?;
        found.push(Part {
            name: &piece[..name],
            index: index.map(|(at, length)| &piece[at..at + length]),
        });
    }
    Ok(found)
}

/// A row of a list that changes with each use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The next row.
    Next,
    /// A random row.
    Any,
}

impl Order {
    fn read(index: &str) -> Option<Self> {
        match index.trim().to_ascii_lowercase().as_str() {
            "next" => Some(Self::Next),
            "rand" => Some(Self::Any),
            _ => None,
        }
    }
}

/// A constant index: a number, counted from the end if negative, or the last element.
fn fixed_place(index: &str, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok().filter(|length| *length > 0)?;
    let place = match index.trim() {
        last if last.eq_ignore_ascii_case("last") => length - 1,
        number => number.parse::<i64>().ok()?.rem_euclid(length),
    };
    usize::try_from(place).ok()
}

/// The index into a list from a step, as an expression.
fn place(index: &str, round: u64) -> Result<String, String> {
    match index.trim().to_ascii_lowercase().as_str() {
        "next" => Ok(format!("iteration + {round}")),
        "rand" => Ok("random_int(0, 1000000)".to_owned()),
        "last" => Ok("-1".to_owned()),
        number => match number.parse::<i64>() {
            Ok(place) => Ok(place.to_string()),
            Err(_) => Err(format!(
                "index should be integer or one of [next, rand, last], but got `{}`",
                number.escape_debug()
            )),
        },
    }
}
