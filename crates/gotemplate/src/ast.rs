//! A parsed template: names of functions, variables and templates are numbers already.
//!
//! Nodes keep where they stand and print as Go prints them, for error messages.

use crate::number::Number;
use std::fmt;

/// A list of nodes, executed in turn.
pub(crate) type Block = Vec<Node>;

/// Something at the top level of a template.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Text(Box<str>),
    Action(Pipe),
    If(Box<Branch>),
    Range(Box<Branch>),
    With(Box<Branch>),
    Template(Box<Invocation>),
    Break,
    Continue,
}

/// `if`, `range` or `with`, with its branches.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) pipe: Pipe,
    pub(crate) body: Block,
    pub(crate) otherwise: Option<Block>,
}

/// `template "name" pipe`
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) at: usize,
    pub(crate) name: Box<str>,
    pub(crate) pipe: Option<Pipe>,
    /// Which of the program's templates it is, when there is one.
    pub(crate) index: Option<usize>,
}

/// Commands, each taking the value of the one before as its last argument.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) at: usize,
    pub(crate) assigns: Assigns,
    pub(crate) targets: Vec<Target>,
    pub(crate) commands: Vec<Command>,
}

/// How a pipe gives its value to variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigns {
    /// `:=`
    New,
    /// `=`
    Old,
}

/// A variable that gets a pipe's value.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: Box<str>,
    /// Its place among the template's variables; `None` when it is out of scope.
    pub(crate) slot: Option<usize>,
}

/// A function or value, and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) at: usize,
    /// Never empty.
    pub(crate) terms: Vec<Term>,
}

/// An operand and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) at: usize,
    pub(crate) kind: TermKind,
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) enum TermKind {
    Bool(bool),
    Chain(Box<Term>, Vec<Box<str>>),
    Dot,
    Field(Vec<Box<str>>),
    Function {
        name: Box<str>,
        index: usize,
    },
    Nil,
    Number(Number),
    Pipe(Box<Pipe>),
    Str {
        literal: Box<str>,
        text: Box<str>,
    },
    Variable {
        name: Box<str>,
        slot: Option<usize>,
        fields: Vec<Box<str>>,
    },
}

impl Node {
    /// Whether it prints nothing but space, so that a template of such nodes may be defined anew.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            _ => false,
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, target) in self.targets.iter().enumerate() {
            write!(f, "{}{}", if n > 0 { ", " } else { "" }, target.name)?;
        }
        if !self.targets.is_empty() {
            f.write_str(match self.assigns {
                Assigns::New => " := ",
                Assigns::Old => " = ",
            })?;
        }
        for (n, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if n > 0 { " | " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, term) in self.terms.iter().enumerate() {
            if n > 0 {
                f.write_str(" ")?;
            }
            match &term.kind {
                TermKind::Pipe(pipe) => write!(f, "({pipe})")?,
                _ => write!(f, "{term}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TermKind::Bool(value) => write!(f, "{value}"),
            TermKind::Chain(base, fields) => {
                match &base.kind {
                    TermKind::Pipe(pipe) => write!(f, "({pipe})")?,
                    _ => write!(f, "{base}")?,
                }
                print_fields(f, fields)
            }
            TermKind::Dot => f.write_str("."),
            TermKind::Field(fields) => print_fields(f, fields),
            TermKind::Function { name, .. } => f.write_str(name),
            TermKind::Nil => f.write_str("nil"),
            TermKind::Number(number) => f.write_str(&number.text),
            TermKind::Pipe(pipe) => write!(f, "{pipe}"),
            TermKind::Str { literal, .. } => f.write_str(literal),
            TermKind::Variable { name, fields, .. } => {
                f.write_str(name)?;
                print_fields(f, fields)
            }
        }
    }
}

fn print_fields(f: &mut fmt::Formatter<'_>, fields: &[Box<str>]) -> fmt::Result {
    fields.iter().try_for_each(|field| write!(f, ".{field}"))
}

/// The node that an error message names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'t> {
    Action(&'t Pipe),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Term(&'t Term),
    Template(&'t Invocation),
    /// An `if`, `with` or `range` as a whole.
    Branch(&'t Branch),
}

impl Place<'_> {
    /// Where it begins, in bytes.
    pub(crate) const fn at(&self) -> usize {
        match self {
            Self::Action(pipe) | Self::Pipe(pipe) => pipe.at,
            Self::Command(command) => command.at,
            Self::Term(term) => term.at,
            Self::Template(invocation) => invocation.at,
            Self::Branch(branch) => branch.pipe.at,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Action(pipe) => write!(f, "{{{{{pipe}}}}}"),
            Self::Pipe(pipe) => pipe.fmt(f),
            Self::Command(command) => command.fmt(f),
            Self::Term(term) => term.fmt(f),
            Self::Template(invocation) => {
                let name = crate::quote::quoted(&invocation.name);
                match &invocation.pipe {
                    Some(pipe) => write!(f, "{{{{template {name} {pipe}}}}}"),
                    None => write!(f, "{{{{template {name}}}}}"),
                }
            }
            Self::Branch(branch) => branch.pipe.fmt(f),
        }
    }
}
