//! Where values come from: paths into sources and into what steps have left, and functions.

use super::{Source, SourceKind};
use crate::pandora::lower::TOOL;
use drumfire_plan::document::{Feed, FeedRows};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The alphabet of random texts.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// The longest random text that is made of letters one by one.
const LETTERS_MAX: u64 = 64;

/// The stages of a request, by Pandora's names.
const STAGES: [&str; 2] = ["preprocessor", "postprocessor"];

/// Everything that paths may lead to.
pub(super) struct Scope<'a> {
    sources: &'a [Source],
    /// The feeds that are read, by name.
    feeds: BTreeMap<String, Feed>,
    /// What steps have left, by request, stage and variable: expressions.
    known: BTreeMap<(String, &'static str, String), String>,
    /// Of random values that are made once.
    seed: u64,
}

/// One part of a path.
struct Part<'a> {
    name: &'a str,
    index: Option<&'a str>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(sources: &'a [Source], seed: u64) -> Self {
        Self {
            sources,
            feeds: BTreeMap::new(),
            known: BTreeMap::new(),
            seed,
        }
    }

    pub(super) fn into_feeds(self) -> Vec<Feed> {
        self.feeds.into_values().collect()
    }

    /// Another scenario begins, and no step has left anything.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// From now on, a variable of a request's stage is this expression.
    pub(super) fn learn(&mut self, request: &str, stage: &'static str, name: &str, is: String) {
        self.known
            .insert((request.to_owned(), stage, name.to_owned()), is);
    }

    /// The expression of a mapping: a function, or a path. `round` numbers the repetitions of the
    /// step.
    pub(super) fn mapped(&mut self, text: &str, round: u64) -> Result<String, String> {
        if let Some((name, rest)) = text.split_once('(') {
            let rest = rest.trim_end().strip_suffix(')');
            let rest = rest.ok_or_else(|| format!("`{text}` lacks a closing bracket"))?;
            let args: Vec<&str> = rest.split(',').map(str::trim).collect();
            let args: Vec<&str> = args.into_iter().filter(|arg| !arg.is_empty()).collect();
            return function(name.trim(), &args);
        }
        self.path(text, round)
    }

    /// The expression of a path, with or without a dot before it.
    pub(super) fn path(&mut self, text: &str, round: u64) -> Result<String, String> {
        let parts: Vec<Part<'_>> = parts(text.trim().trim_start_matches('.'))?;
        match &parts[..] {
            [first, source, rest @ ..] if first.name == "source" => self.source(source, rest),
            [first, request, stage, variable, rest @ ..] if first.name == "request" => {
                let wrong = || format!("`{text}` is nothing that a step before has left");
                let known = STAGES.iter().find(|known| **known == stage.name);
                let key =
                    known.map(|stage| (request.name.to_owned(), *stage, variable.name.to_owned()));
                let known = key.and_then(|key| self.known.get(&key));
                let mut is = known.cloned().ok_or_else(wrong)?;
                if let Some(index) = variable.index {
                    is = format!("({is} | item({}))", place(index, round)?);
                }
                for part in rest {
                    is = format!("{is}.{}", part.name);
                }
                Ok(is)
            }
            _ => Err(format!(
                "`{text}` is no path; write source.NAME or request.NAME"
            )),
        }
    }

    fn source(&mut self, source: &Part<'_>, rest: &[Part<'_>]) -> Result<String, String> {
        let mut sources = self.sources.iter();
        let found = sources.find(|known| known.name == source.name);
        let found = found.ok_or_else(|| format!("there is no source `{}`", source.name))?;
        match &found.kind {
            SourceKind::Csv { .. } => {
                let (name, order) = feed_name(&[source.name], source.index)?;
                self.feeds
                    .entry(name.clone())
                    .or_insert_with(|| table(&name, found, order));
                Ok(columns(name, rest))
            }
            SourceKind::Json(value) => self.json(value, source, rest),
            SourceKind::Variables(value) => {
                let found = rest
                    .iter()
                    .try_fold(value, |value, part| value.get(part.name));
                let found = found.ok_or_else(|| format!("`{}` has no such value", source.name))?;
                self.constant(found)
            }
        }
    }

    /// A value of JSON, or the rows of one of its lists.
    fn json(
        &mut self,
        value: &Json,
        source: &Part<'_>,
        rest: &[Part<'_>],
    ) -> Result<String, String> {
        let mut path = vec![source.name];
        let mut value = value;
        let all = std::iter::once(source).chain(rest);
        for (n, part) in all.enumerate() {
            if n > 0 {
                path.push(part.name);
                let found = value.get(part.name);
                value = found.ok_or_else(|| format!("`{}` has no such value", path.join(".")))?;
            }
            let Some(index) = part.index else { continue };
            let list = value.as_array().filter(|list| !list.is_empty());
            let list = list.ok_or_else(|| format!("`{}` is no list", path.join(".")))?;
            match fixed_place(index, list.len()) {
                Some(place) => value = &list[place],
                None => {
                    let (name, order) = feed_name(&path, Some(index))?;
                    let feed = Feed {
                        name: TOOL.text("source", &name),
                        rows: FeedRows::Inline(TOOL.text("source", value)),
                        order: Some(TOOL.text("source", &order)),
                        ..Feed::default()
                    };
                    self.feeds.insert(name.clone(), feed);
                    return Ok(columns(name, &rest[n..]));
                }
            }
        }
        self.constant(value)
    }

    /// A value that never changes. A function is evaluated once.
    fn constant(&mut self, value: &Json) -> Result<String, String> {
        let Json::String(text) = value else {
            return Ok(quoted(&value.to_string()));
        };
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let draw = self.seed >> 33;
        let arguments = |name: &str| -> Option<Vec<i64>> {
            let inner = text
                .strip_prefix(name)?
                .strip_prefix('(')?
                .strip_suffix(')')?;
            let args = inner
                .split(',')
                .map(str::trim)
                .filter(|arg| !arg.is_empty());
            args.map(|arg| arg.parse().ok()).collect()
        };
        if let Some(args) = arguments("randInt") {
            let (least, most) = bounds(&args)?;
            let span = most.abs_diff(least) + 1;
            return Ok((least + (draw % span) as i64).to_string());
        }
        if let Some(args) = arguments("randString") {
            let length = args
                .first()
                .map_or(1, |length| length.unsigned_abs())
                .min(LETTERS_MAX);
            let letter = |n: u64| {
                let mixed = (draw ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                LETTERS.as_bytes()[(mixed % LETTERS.len() as u64) as usize] as char
            };
            let letters: String = (0..length).map(letter).collect();
            return Ok(quoted(&letters));
        }
        Ok(quoted(text))
    }
}

/// The parts of a path: names, each perhaps with an index in brackets.
fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let part = |part: &'_ str| -> Result<(usize, Option<(usize, usize)>), String> {
        match part.split_once('[') {
            None => Ok((part.len(), None)),
            Some((name, rest)) => {
                let index = rest.strip_suffix(']');
                let index = index.ok_or_else(|| format!("`{text}` lacks a closing bracket"))?;
                Ok((name.len(), Some((name.len() + 1, index.len()))))
            }
        }
    };
    let mut found = Vec::new();
    for piece in text.split('.') {
        let (name, index) = part(piece)?;
        found.push(Part {
            name: &piece[..name],
            index: index.map(|(at, length)| &piece[at..at + length]),
        });
    }
    Ok(found)
}

/// The name of the feed of a list, and its order.
fn feed_name(path: &[&str], index: Option<&str>) -> Result<(String, &'static str), String> {
    let name = format!("src_{}", identifier(&path.join("_")));
    match index.map(str::trim) {
        Some("next") => Ok((name, "in_order")),
        Some("rand") => Ok((format!("{name}_rand"), "random")),
        Some(index) => Err(format!(
            "`{}[{index}]` can't be run by drumfire yet; write [next] or [rand]",
            path.join(".")
        )),
        None => Err(format!(
            "`{}` is a table; write which row, [next]",
            path.join(".")
        )),
    }
}

/// A name of templates.
pub(super) fn identifier(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(letter).collect()
}

/// The feed of a table.
fn table(name: &str, source: &Source, order: &str) -> Feed {
    let SourceKind::Csv {
        file,
        fields,
        delimiter,
        ignore_first_line,
    } = &source.kind
    else {
        return Feed::default();
    };
    let fields = fields.iter();
    let fields = fields.map(|field| TOOL.text("fields", &field.replace(' ', "_")));
    let fields: Vec<_> = fields.collect();
    let delimiter = delimiter.as_ref().and_then(|text| text.chars().next());
    Feed {
        name: TOOL.text("variable_source", &name),
        rows: FeedRows::Csv(TOOL.text("file", file)),
        header: (!fields.is_empty() && *ignore_first_line)
            .then(|| TOOL.switch("ignore_first_line", true)),
        fields,
        delimiter: delimiter.filter(|c| *c != ',').map(|c| match c {
            '\t' => TOOL.text("delimiter", &"tab"),
            c => TOOL.text("delimiter", &c),
        }),
        order: Some(TOOL.text("variable_source", &order)),
        ..Feed::default()
    }
}

/// A row, or a column of it.
fn columns(feed: String, rest: &[Part<'_>]) -> String {
    rest.iter()
        .fold(feed, |is, part| format!("{is}.{}", part.name))
}

/// A place that is the same for all: a number, from the end where it is negative, or the last.
fn fixed_place(index: &str, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok().filter(|length| *length > 0)?;
    let place = match index.trim() {
        "last" => length - 1,
        number => number.parse::<i64>().ok()?.rem_euclid(length),
    };
    usize::try_from(place).ok()
}

/// The place in a list that a step has left, as an expression.
fn place(index: &str, round: u64) -> Result<String, String> {
    match index.trim() {
        "next" => Ok(format!("iteration + {round}")),
        "rand" => Ok("random_int(0, 1000000)".to_owned()),
        "last" => Ok("-1".to_owned()),
        number => {
            let place = number.parse::<i64>();
            let place = place.map_err(|_| format!("`[{number}]` is no place in a list"))?;
            Ok(place.to_string())
        }
    }
}

/// The least and the greatest number of `randInt`, whose second argument is left out.
fn bounds(args: &[i64]) -> Result<(i64, i64), String> {
    match *args {
        [] => Ok((0, 9)),
        [0] => Ok((0, 0)),
        [most] => Ok((0.min(most + 1), 0.max(most - 1))),
        [from, to] if from == to => Ok((from, from)),
        [from, to] => Ok((from.min(to), from.max(to) - 1)),
        _ => Err("randInt has at most two arguments".to_owned()),
    }
}

/// A function as an expression.
pub(super) fn function(name: &str, args: &[&str]) -> Result<String, String> {
    let numbers = || -> Result<Vec<i64>, String> {
        let number = |arg: &&str| arg.parse().map_err(|_| format!("`{arg}` is no number"));
        args.iter().map(number).collect()
    };
    match name {
        "uuid" => Ok("new_uuid()".to_owned()),
        "randInt" => {
            let (least, most) = bounds(&numbers()?)?;
            Ok(format!("random_int({least}, {most})"))
        }
        "randString" => {
            let length = args.first().map_or(Ok(1), |length| length.parse::<u64>());
            let length = length.map_err(|_| format!("`{}` is no length", args[0]))?;
            let letters = args
                .get(1)
                .map_or(LETTERS, |letters| letters.trim_matches('"'));
            if length > LETTERS_MAX {
                return Err(format!(
                    "a random text has at most {LETTERS_MAX} letters here"
                ));
            }
            let letters: Vec<String> = letters.chars().map(|c| quoted(&c.to_string())).collect();
            let letter = format!("choose([{}])", letters.join(","));
            let letters: Vec<&str> = (0..length).map(|_| letter.as_str()).collect();
            Ok(format!("({})", letters.join(" ~ ")))
        }
        other => Err(format!(
            "the function `{other}` can't be run by drumfire yet"
        )),
    }
}

/// A text as a literal of templates.
fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}
