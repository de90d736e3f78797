//! Actions other than pipelines: branches, loops, templates.

use super::lex::{Keyword, Kind, Token};
use super::{Ending, ParseResult, Parser, Scope};
use crate::ast::{Block, BranchNode, Invocation, Node, Pipe};
use crate::quote;

/// The kind of a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BranchKind {
    If,
    Range,
    With,
}

impl BranchKind {
    const fn word(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Range => "range",
            Self::With => "with",
        }
    }

    /// The keyword that may follow `else` in this branch.
    const fn chained(self) -> Option<Keyword> {
        match self {
            Self::If => Some(Keyword::If),
            Self::Range => None,
            Self::With => Some(Keyword::With),
        }
    }

    fn node(self, branch: BranchNode) -> Node {
        let branch = Box::new(branch);
        match self {
            Self::If => Node::If(branch),
            Self::Range => Node::Range(branch),
            Self::With => Node::With(branch),
        }
    }
}

impl Parser<'_> {
    /// Parses the content of braces, from after the opening braces.
    pub(super) fn action(&mut self) -> ParseResult<Result<Node, Ending>> {
        let token = self.next_solid();
        let Kind::Keyword(keyword) = token.kind else {
            return self.plain_action();
        };
        let node = match keyword {
            Keyword::Block => self.block()?,
            Keyword::Break => self.leave_loop("break", Node::Break)?,
            Keyword::Continue => self.leave_loop("continue", Node::Continue)?,
            Keyword::Else => return self.otherwise().map(Err),
            Keyword::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Err(Ending::End));
            }
            Keyword::If => self.branch(BranchKind::If)?,
            Keyword::Range => self.branch(BranchKind::Range)?,
            Keyword::Template => self.template()?,
            Keyword::With => self.branch(BranchKind::With)?,
            Keyword::Define | Keyword::Dot | Keyword::Nil => return self.plain_action(),
        };
        Ok(Ok(node))
    }

    fn plain_action(&mut self) -> ParseResult<Result<Node, Ending>> {
        self.back_up();
        let pipe = self.pipeline("command", Kind::RightDelim)?;
        Ok(Ok(Node::Action(pipe)))
    }

    fn otherwise(&mut self) -> ParseResult<Ending> {
        let token = self.peek_solid();
        if !matches!(token.kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Ending::Else)
    }

    fn leave_loop(&mut self, word: &str, node: Node) -> ParseResult<Node> {
        let next = self.next_solid();
        if next.kind != Kind::RightDelim {
            return Err(self.unexpected(&next, &format!("{{{{{word}}}}}")));
        }
        if self.scope.ranges == 0 {
            return Err(self.error(format!("{{{{{word}}}}} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    fn branch(&mut self, control: BranchKind) -> ParseResult<Node> {
        let visible = self.scope.visible.len();
        let stacked = self.scope.stacked.len();
        let branch = self.deeper(|parser| parser.branch_parts(control))?;
        self.scope.visible.truncate(visible);
        self.scope.stacked.truncate(stacked);
        Ok(control.node(branch))
    }

    fn branch_parts(&mut self, control: BranchKind) -> ParseResult<BranchNode> {
        let pipe = self.pipeline(control.word(), Kind::RightDelim)?;
        let in_loop = usize::from(control == BranchKind::Range);
        self.scope.ranges += in_loop;
        let (body, ending) = self.scoped_list()?;
        self.scope.ranges -= in_loop;
        let otherwise = match ending {
            Ending::End => None,
            Ending::Else => Some(self.else_part(control)?),
        };
        Ok(BranchNode {
            pipe,
            body,
            otherwise,
        })
    }

    /// Parses a list and removes its variables from the executor's stack at its end. The parser's
    /// scope keeps the variables; therefore Go reports their use in the `else` part only during
    /// execution.
    fn scoped_list(&mut self) -> ParseResult<(Block, Ending)> {
        let stacked = self.scope.stacked.len();
        let parsed = self.list()?;
        self.scope.stacked.truncate(stacked);
        Ok(parsed)
    }

    fn else_part(&mut self, control: BranchKind) -> ParseResult<Block> {
        if let Some(keyword) = control.chained()
            && self.peek().kind == Kind::Keyword(keyword)
        {
            self.next();
            return Ok(vec![self.branch(control)?]);
        }
        let (body, ending) = self.scoped_list()?;
        match ending {
            Ending::End => Ok(body),
            Ending::Else => Err(self.error("expected end; found {{else}}")),
        }
    }

    fn template_name(&self, token: &Token, context: &str) -> ParseResult<String> {
        match token.kind {
            Kind::Str | Kind::RawString => self.unquote(token),
            _ => Err(self.unexpected(token, context)),
        }
    }

    pub(super) fn unquote(&self, token: &Token) -> ParseResult<String> {
        quote::unquote(&token.text).ok_or_else(|| self.error("invalid syntax"))
    }

    fn template(&mut self) -> ParseResult<Node> {
        let context = "template clause";
        let token = self.next_solid();
        let name = self.template_name(&token, context)?;
        let pipe = match self.next_solid().kind {
            Kind::RightDelim => None,
            _ => {
                self.back_up();
                Some(self.pipeline(context, Kind::RightDelim)?)
            }
        };
        Ok(invocation(&token, name, pipe))
    }

    fn block(&mut self) -> ParseResult<Node> {
        let context = "block clause";
        let token = self.next_solid();
        let name = self.template_name(&token, context)?;
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let outer = std::mem::replace(&mut self.scope, Scope::new(&name));
        self.deeper(|parser| parser.define_to_end(context))?;
        self.scope = outer;
        Ok(invocation(&token, name, Some(pipe)))
    }

    /// Parses `define "name"`, from after the keyword.
    pub(super) fn definition(&mut self) -> ParseResult<()> {
        let context = "define clause";
        let outer = std::mem::replace(&mut self.scope, Scope::new(""));
        let token = self.next_solid();
        self.scope.name = self.template_name(&token, context)?;
        self.expect(Kind::RightDelim, context)?;
        self.define_to_end(context)?;
        self.scope = outer;
        Ok(())
    }

    fn define_to_end(&mut self, context: &str) -> ParseResult<()> {
        let (body, ending) = self.list()?;
        if !matches!(ending, Ending::End) {
            return Err(self.error(format!("unexpected {} in {context}", ending.text())));
        }
        self.define(body)?;
        Ok(())
    }
}

fn invocation(token: &Token, name: String, pipe: Option<Pipe>) -> Node {
    Node::Template(Box::new(Invocation {
        at: token.at,
        name: name.into(),
        pipe,
        index: None,
    }))
}
