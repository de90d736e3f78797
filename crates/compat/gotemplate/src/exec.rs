//! Executes a program and writes its text.
//!
//! As in Go's executor, the state contains the current node, and errors print that node.

mod argument;
mod field;
mod function_call;
mod pipeline;
mod range;

use crate::ast::{Block, BranchNode, Invocation, Node, Place};
use crate::builtin::html_text;
use crate::call::{Budget, Limits};
use crate::env::Env;
use crate::fault::Fault;
use crate::format;
use crate::parse::{Definition, Program};
use crate::quote;
use crate::raw_bytes;
use crate::sink::Sink;
use crate::value::{IntKind, Value};
use std::fmt;

/// The maximum nesting of branches, loops, parentheses and templates during execution. Each level
/// takes less than 1 KiB of stack.
pub const DEPTH_MAX: usize = 500;

/// The escaping of printed values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// No escaping.
    #[default]
    None,
    /// HTML text escaping, regardless of the position.
    Html,
}

/// An execution error, with Go's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecError {
    text: Box<str>,
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ExecError {}

pub(crate) type Executed<T> = Result<T, ExecError>;

/// The way in which a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// A running execution.
pub(crate) struct State<'t, 'e> {
    name: &'t str,
    text: &'t str,
    program: &'t Program,
    definition: &'t Definition,
    escape: Escape,
    at: Option<Place<'t>>,
    out: &'e mut String,
    output_max: usize,
    env: &'e mut dyn Env,
    budget: Budget,
    /// The variables of all active templates; the current template's start at `slots_from`.
    slots: Vec<Value>,
    slots_from: usize,
    /// The arguments of all active calls.
    arguments: Vec<Value>,
    depth: usize,
}

/// Executes a program.
pub(crate) fn execute<'t>(
    (name, text, program): (&'t str, &'t str, &'t Program),
    escape: Escape,
    dot: &Value,
    env: &mut dyn Env,
    limits: &Limits,
    out: &mut String,
) -> Executed<()> {
    let definition = &program.definitions[program.root];
    let start = out.len();
    let mut slots = vec![Value::Missing; definition.slots];
    slots[0] = dot.clone();
    let mut state = State {
        name,
        text,
        program,
        definition,
        escape,
        at: None,
        output_max: start.saturating_add(limits.output_bytes),
        out: &mut *out,
        env,
        budget: Budget::new(limits),
        slots,
        slots_from: 0,
        arguments: Vec::new(),
        depth: 0,
    };
    let written = state.block(&definition.body, dot).map(drop);
    raw_bytes::finish_output(out, start);
    written
}

impl<'t> State<'t, '_> {
    fn block(&mut self, block: &'t Block, dot: &Value) -> Executed<Flow> {
        for node in block {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &'t Node, dot: &Value) -> Executed<Flow> {
        match node {
            Node::Text(text) => {
                let written = Sink::new(self.out, self.output_max).text(text);
                self.check(written)?;
            }
            Node::Action(pipe) => {
                self.at = Some(Place::Action(pipe));
                self.step()?;
                let value = self.pipe(pipe, dot)?;
                if pipe.targets.is_empty() {
                    self.at = Some(Place::Action(pipe));
                    self.print(&value)?;
                }
            }
            Node::If(branch) => return self.deeper(|state| state.branch(branch, dot, Dot::Kept)),
            Node::With(branch) => return self.deeper(|state| state.branch(branch, dot, Dot::Set)),
            Node::Range(branch) => return self.deeper(|state| state.range(branch, dot)),
            Node::Template(invocation) => self.deeper(|state| state.template(invocation, dot))?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, branch: &'t BranchNode, dot: &Value, sets: Dot) -> Executed<Flow> {
        self.at = Some(Place::Branch(branch));
        self.step()?;
        let value = self.pipe(&branch.pipe, dot)?;
        match (value.is_true(), sets, &branch.otherwise) {
            (true, Dot::Set, _) => self.block(&branch.body, &value),
            (true, Dot::Kept, _) => self.block(&branch.body, dot),
            (false, _, Some(otherwise)) => self.block(otherwise, dot),
            (false, _, None) => Ok(Flow::Next),
        }
    }

    fn template(&mut self, invocation: &'t Invocation, dot: &Value) -> Executed<()> {
        self.at = Some(Place::Template(invocation));
        self.step()?;
        let definition = invocation
            .index
            .and_then(|index| self.program.definitions.get(index));
        let Some(definition) = definition else {
            let name = quote::quoted(&invocation.name);
            return Err(self.error(format!("template {name} not defined")));
        };
        let value = match &invocation.pipe {
            Some(pipe) => self.pipe(pipe, dot)?,
            None => Value::Missing,
        };
        let outer = (self.slots_from, self.definition);
        self.slots_from = self.slots.len();
        self.slots
            .resize(self.slots_from + definition.slots, Value::Missing);
        self.slots[self.slots_from] = value.clone();
        self.definition = definition;
        self.block(&definition.body, &value)?;
        self.slots.truncate(self.slots_from);
        (self.slots_from, self.definition) = outer;
        Ok(())
    }

    fn print(&mut self, value: &Value) -> Executed<()> {
        let start = self.out.len();
        self.print_plain(value)?;
        if self.escape == Escape::Html {
            let plain = self.out.split_off(start);
            let written = html_text(&plain, &mut Sink::new(self.out, self.output_max));
            self.check(written)?;
        }
        Ok(())
    }

    fn print_plain(&mut self, value: &Value) -> Executed<()> {
        let mut sink = Sink::new(self.out, self.output_max);
        let written = match value {
            Value::Str(text) => sink.text(text),
            Value::Missing | Value::Nil => sink.text("<no value>"),
            Value::Int(IntKind::Int | IntKind::Int64, number) => sink.number(*number),
            other => format::plain(&mut sink, other),
        };
        self.check(written)
    }

    /// Runs `run` one nesting level deeper.
    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Executed<T>) -> Executed<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.error(format!("exceeded maximum template depth ({DEPTH_MAX})")));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    fn step(&mut self) -> Executed<()> {
        let taken = self.budget.step(1);
        self.check(taken)
    }

    fn check<T>(&self, result: Result<T, Fault>) -> Executed<T> {
        result.map_err(|fault| self.error(fault.text()))
    }

    /// An error at the current node.
    #[cold]
    fn error(&self, message: impl fmt::Display) -> ExecError {
        let text = match &self.at {
            None => format!("template: {}: {message}", self.definition.name),
            Some(place) => {
                let before = &self.text[..place.offset()];
                let line = 1 + before.matches('\n').count();
                let column = before
                    .rfind('\n')
                    .map_or(before.len(), |n| before.len() - n - 1);
                let executing = quote::quoted(&self.definition.name);
                let name = self.name;
                format!(
                    "template: {name}:{line}:{column}: executing {executing} at <{place}>: {message}"
                )
            }
        };
        ExecError { text: text.into() }
    }
}

/// The dot inside a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dot {
    Kept,
    Set,
}
