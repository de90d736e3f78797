//! A parsed template: functions, variables and templates are resolved to numbers.
//!
//! Each node stores its position and prints as in Go, for error messages.

use crate::number::Number;
use std::fmt;

/// A list of nodes, executed in order.
pub(crate) type Block = Vec<Node>;

/// A top-level element of a template.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Text(Box<str>),
    Action(Pipe),
    If(Box<BranchNode>),
    Range(Box<BranchNode>),
    With(Box<BranchNode>),
    Template(Box<Invocation>),
    Break,
    Continue,
}

/// `if`, `range` or `with`, with its branches.
#[derive(Clone, Debug)]
pub(crate) struct BranchNode {
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
    /// The index of the called template in the program; `None` if it is undefined.
    pub(crate) index: Option<usize>,
}

/// Commands. Each receives the value of the previous command as its last argument.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) at: usize,
    pub(crate) assigns: Assigns,
    pub(crate) targets: Vec<Target>,
    pub(crate) commands: Vec<Command>,
}

/// The assignment of a pipe's value to variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigns {
    /// `:=`
    New,
    /// `=`
    Old,
}

/// A variable that receives the value of a pipe.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: Box<str>,
    /// The variable's slot in the template; `None` if the variable is out of scope.
    pub(crate) slot: Option<usize>,
}

/// A function or value with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) at: usize,
    /// Never empty.
    pub(crate) terms: Vec<Term>,
}

/// An operand and its position.
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
    /// Whether the node prints only white space. A template of blank nodes may be redefined.
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

/// The node in an error message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'t> {
    Action(&'t Pipe),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Term(&'t Term),
    Template(&'t Invocation),
    /// A whole `if`, `with` or `range`.
    Branch(&'t BranchNode),
}

impl Place<'_> {
    /// The byte offset of the node's start.
    pub(crate) const fn offset(&self) -> usize {
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
