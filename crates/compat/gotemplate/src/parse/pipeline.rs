//! Pipelines, commands and operands.

use super::lex::{Keyword, Kind, Token};
use super::{ParseResult, Parser, VARIABLES_MAX};
use crate::ast::{Assigns, Command, Pipe, Target, Term, TermKind};
use crate::number::Number;
use crate::quote;

impl Parser<'_> {
    /// Parses a pipeline with its assignments, up to and including `end`.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> ParseResult<Pipe> {
        let mut pipe = Pipe {
            at: self.peek_solid().at,
            assigns: Assigns::New,
            targets: Vec::new(),
            commands: Vec::new(),
        };
        while self.target(&mut pipe, context)? {}
        loop {
            let token = self.next_solid();
            if token.kind == end {
                self.check(&pipe, context)?;
                self.resolve_targets(&mut pipe)?;
                return Ok(pipe);
            }
            if !begins_operand(token.kind) {
                return Err(self.unexpected(&token, context));
            }
            self.back_up();
            let command = self.command()?;
            pipe.commands.push(command);
        }
    }

    /// Parses one variable of `$i, $e := …`. Returns whether another follows.
    fn target(&mut self, pipe: &mut Pipe, context: &str) -> ParseResult<bool> {
        let variable = self.peek_solid();
        if variable.kind != Kind::Variable {
            return Ok(false);
        }
        self.next();
        // Without an assignment, the space has to be returned as well.
        let after = self.peek();
        let next = self.peek_solid();
        match next.kind {
            Kind::Assign | Kind::Declare => {
                if next.kind == Kind::Assign {
                    pipe.assigns = Assigns::Old;
                }
                self.next_solid();
                self.see(pipe, &variable);
                Ok(false)
            }
            Kind::Char if next.text == "," => {
                self.next_solid();
                self.see(pipe, &variable);
                self.second_target(pipe, context)
            }
            _ if after.kind == Kind::Space => {
                self.back_up_with_two(variable, after);
                Ok(false)
            }
            _ => {
                self.back_up_with(variable);
                Ok(false)
            }
        }
    }

    fn second_target(&mut self, pipe: &Pipe, context: &str) -> ParseResult<bool> {
        if context != "range" || pipe.targets.len() >= 2 {
            return Err(self.error(format!("too many declarations in {context}")));
        }
        match self.peek_solid().kind {
            Kind::Variable | Kind::RightDelim | Kind::RightParen => Ok(true),
            _ => Err(self.error("range can only initialize variables")),
        }
    }

    /// Adds the variable to the scope of Go's parser, even if it is only assigned.
    fn see(&mut self, pipe: &mut Pipe, variable: &Token) {
        self.scope.visible.push(variable.text.clone());
        pipe.targets.push(Target {
            name: variable.text.as_str().into(),
            slot: None,
        });
    }

    /// Sets the slots of the variables that the pipe assigns. Called after the pipe's value is
    /// parsed, because new variables are in scope only after it.
    fn resolve_targets(&mut self, pipe: &mut Pipe) -> ParseResult<()> {
        for target in &mut pipe.targets {
            if pipe.assigns == Assigns::New {
                self.scope.stacked.push(target.name.to_string());
            }
            target.slot = self.slot(&target.name);
        }
        self.scope.slots = self.scope.slots.max(self.scope.stacked.len());
        if self.scope.visible.len().max(self.scope.slots) > VARIABLES_MAX {
            return Err(self.error(format!("more than {VARIABLES_MAX} variables")));
        }
        Ok(())
    }

    fn slot(&self, name: &str) -> Option<usize> {
        let stacked = &self.scope.stacked;
        stacked.iter().rposition(|stacked| stacked == name)
    }

    fn check(&self, pipe: &Pipe, context: &str) -> ParseResult<()> {
        if pipe.commands.is_empty() {
            return Err(self.error(format!("missing value for {context}")));
        }
        for (n, command) in pipe.commands.iter().enumerate().skip(1) {
            if is_constant(&command.terms[0].kind) {
                let stage = n + 1;
                let message = format!("non executable command in pipeline stage {stage}");
                return Err(self.error(message));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> ParseResult<Command> {
        let at = self.peek_solid().at;
        let mut terms = Vec::new();
        loop {
            self.peek_solid();
            if let Some(term) = self.operand()? {
                terms.push(term);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => {}
                Kind::RightDelim | Kind::RightParen => {
                    self.back_up();
                    break;
                }
                Kind::Pipe => break,
                _ => return Err(self.unexpected(&token, "operand")),
            }
        }
        if terms.is_empty() {
            return Err(self.error("empty command"));
        }
        Ok(Command { at, terms })
    }

    /// Parses a term and the fields after it.
    fn operand(&mut self) -> ParseResult<Option<Term>> {
        let Some(mut term) = self.term()? else {
            return Ok(None);
        };
        let token = self.peek();
        if token.kind != Kind::Field {
            return Ok(Some(term));
        }
        let mut chained: Vec<Box<str>> = Vec::new();
        while self.peek().kind == Kind::Field {
            chained.push(self.next().text[1..].into());
        }
        match &mut term.kind {
            TermKind::Field(fields) | TermKind::Variable { fields, .. } => {
                fields.append(&mut chained);
                term.at = token.at;
                Ok(Some(term))
            }
            kind if is_constant(kind) => {
                let text = quote::quoted(&term.to_string());
                Err(self.error(format!("unexpected . after term {text}")))
            }
            _ => Ok(Some(Term {
                at: token.at,
                kind: TermKind::Chain(Box::new(term), chained),
            })),
        }
    }

    fn term(&mut self) -> ParseResult<Option<Term>> {
        let token = self.next_solid();
        let kind = match token.kind {
            Kind::Identifier => TermKind::Function {
                index: self.function(&token.text)?,
                name: token.text.into(),
            },
            Kind::Keyword(Keyword::Dot) => TermKind::Dot,
            Kind::Keyword(Keyword::Nil) => TermKind::Nil,
            Kind::Variable => self.variable(&token)?,
            Kind::Field => TermKind::Field(vec![token.text[1..].into()]),
            Kind::Bool => TermKind::Bool(token.text == "true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                let number = match token.kind {
                    Kind::CharConstant => Number::parse_char(&token.text),
                    _ => Number::parse(&token.text),
                };
                TermKind::Number(number.map_err(|message| self.error(message))?)
            }
            Kind::LeftParen => {
                let pipe = self
                    .deeper(|parser| parser.pipeline("parenthesized pipeline", Kind::RightParen))?;
                return Ok(Some(Term {
                    at: pipe.at,
                    kind: TermKind::Pipe(Box::new(pipe)),
                }));
            }
            Kind::Str | Kind::RawString => TermKind::Str {
                text: self.unquote(&token)?.into(),
                literal: token.text.into(),
            },
            _ => {
                self.back_up();
                return Ok(None);
            }
        };
        Ok(Some(Term { at: token.at, kind }))
    }

    fn variable(&self, token: &Token) -> ParseResult<TermKind> {
        if !self.scope.visible.contains(&token.text) {
            let name = quote::quoted(&token.text);
            return Err(self.error(format!("undefined variable {name}")));
        }
        Ok(TermKind::Variable {
            name: token.text.as_str().into(),
            slot: self.slot(&token.text),
            fields: Vec::new(),
        })
    }
}

const fn is_constant(kind: &TermKind) -> bool {
    matches!(
        kind,
        TermKind::Bool(_)
            | TermKind::Str { .. }
            | TermKind::Number(_)
            | TermKind::Nil
            | TermKind::Dot
    )
}

const fn begins_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Field
            | Kind::Identifier
            | Kind::Keyword(Keyword::Dot | Keyword::Nil)
            | Kind::LeftParen
            | Kind::Number
            | Kind::RawString
            | Kind::Str
            | Kind::Variable
    )
}
