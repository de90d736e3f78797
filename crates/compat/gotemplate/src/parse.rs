//! Parses tokens to a program, with Go's error messages.
//!
//! Go's parser tracks the variables in scope by name, Go's executor as a stack. The two differ, and
//! this parser tracks both, so that slots are right and errors occur at the same time as in Go.

pub(crate) mod control;
pub(crate) mod lex;
pub(crate) mod pipeline;

use crate::ast::{Block, Node};
use crate::function::Function;
use crate::functions::Functions;
use crate::quote;
use lex::{Keyword, Kind, Lexer, LoopWords, Token};
use std::collections::HashMap;
use std::fmt;

/// The maximum nesting of actions and parentheses.
pub const NESTING_MAX: usize = 100;

/// The maximum number of variables in a template's scope.
pub const VARIABLES_MAX: usize = 1000;

/// A parse error, with Go's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ParseError {}

/// A template of the program: the whole text, or the body of a `define` or `block`.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Box<str>,
    pub(crate) body: Block,
    /// The maximum number of variables in scope at a time, `$` included.
    pub(crate) slots: usize,
}

/// The result of parsing.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) definitions: Vec<Definition>,
    /// The index of the definition to execute.
    pub(crate) root: usize,
    /// The functions that the program uses.
    pub(crate) functions: Vec<Function>,
}

type ParseResult<T> = Result<T, ParseError>;

/// The end of a list of nodes.
enum Ending {
    End,
    Else,
}

/// A template that is being parsed; `define` and `block` start a nested template.
#[derive(Default)]
struct Scope {
    name: String,
    tokens: [Option<Token>; 3],
    peeked: usize,
    /// The variables in scope for Go's parser.
    visible: Vec<String>,
    /// The variables on the stack of Go's executor; the index is the slot.
    stacked: Vec<String>,
    slots: usize,
    ranges: usize,
    action_line: usize,
}

/// Parses one text.
pub(crate) struct Parser<'t> {
    name: &'t str,
    available: &'t Functions,
    lexer: Lexer<'t>,
    scope: Scope,
    depth: usize,
    program: Program,
    /// The numbers of the templates named so far.
    names: HashMap<String, usize>,
    function_numbers: HashMap<String, usize>,
}

/// Parses a template.
pub(crate) fn parse(name: &str, text: &str, functions: &Functions) -> ParseResult<Program> {
    let loop_words = LoopWords {
        break_is_keyword: !functions.has("break"),
        continue_is_keyword: !functions.has("continue"),
    };
    let mut parser = Parser {
        name,
        available: functions,
        lexer: Lexer::new(text, loop_words),
        scope: Scope::new(name),
        depth: 0,
        program: Program {
            definitions: Vec::new(),
            root: 0,
            functions: Vec::new(),
        },
        names: HashMap::new(),
        function_numbers: HashMap::new(),
    };
    let body = parser.whole()?;
    let root = parser.define(body)?;
    parser.program.root = root;
    parser.link();
    Ok(parser.program)
}

impl Scope {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            visible: vec!["$".to_owned()],
            stacked: vec!["$".to_owned()],
            slots: 1,
            ..Self::default()
        }
    }
}

impl<'t> Parser<'t> {
    fn whole(&mut self) -> ParseResult<Block> {
        let mut body = Block::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return Ok(body),
                Kind::LeftDelim => {
                    self.next();
                    if self.next_solid().kind == Kind::Keyword(Keyword::Define) {
                        self.definition()?;
                        continue;
                    }
                    self.back_up_with(token);
                }
                _ => {}
            }
            match self.node()? {
                Ok(node) => body.push(node),
                Err(ending) => {
                    return Err(self.error(format!("unexpected {}", ending.text())));
                }
            }
        }
    }

    /// Parses the nodes up to an `end` or `else`.
    fn list(&mut self) -> ParseResult<(Block, Ending)> {
        let mut body = Block::new();
        while self.peek_solid().kind != Kind::End {
            match self.node()? {
                Ok(node) => body.push(node),
                Err(ending) => return Ok((body, ending)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    /// Parses a text or an action; the inner error is an `end` or `else`.
    fn node(&mut self) -> ParseResult<Result<Node, Ending>> {
        let token = self.next_solid();
        match token.kind {
            Kind::Text => Ok(Ok(Node::Text(token.text.into()))),
            Kind::LeftDelim => {
                self.scope.action_line = token.line;
                let node = self.action()?;
                self.scope.action_line = 0;
                Ok(node)
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    /// Adds a finished template to the program.
    fn define(&mut self, body: Block) -> ParseResult<usize> {
        let definition = Definition {
            name: self.scope.name.as_str().into(),
            body,
            slots: self.scope.slots,
        };
        let known = self.names.get(&self.scope.name).copied();
        let Some(index) = known else {
            let index = self.program.definitions.len();
            self.program.definitions.push(definition);
            self.names.insert(self.scope.name.clone(), index);
            return Ok(index);
        };
        if self.program.definitions[index]
            .body
            .iter()
            .all(Node::is_blank)
        {
            self.program.definitions[index] = definition;
        } else if !definition.body.iter().all(Node::is_blank) {
            let name = quote::quoted(&self.scope.name);
            let message = format!("template: multiple definition of template {name}");
            return Err(self.error(message));
        }
        Ok(index)
    }

    /// Sets the template number of every `template` action.
    fn link(&mut self) {
        for definition in &mut self.program.definitions {
            link_block(&mut definition.body, &self.names);
        }
    }

    /// The number of a function in the program; adds the function at its first use.
    fn function(&mut self, name: &str) -> ParseResult<usize> {
        if let Some(number) = self.function_numbers.get(name) {
            return Ok(*number);
        }
        let Some(function) = self.available.find(name) else {
            let message = format!("function {} not defined", quote::quoted(name));
            return Err(self.error(message));
        };
        let number = self.program.functions.len();
        self.program.functions.push(function.clone());
        self.function_numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    fn next(&mut self) -> Token {
        let scope = &mut self.scope;
        if scope.peeked > 0 {
            scope.peeked -= 1;
        } else {
            scope.tokens[0] = Some(self.lexer.next_token());
        }
        match &scope.tokens[scope.peeked] {
            Some(token) => token.clone(),
            None => self.lexer.next_token(),
        }
    }

    fn peek(&mut self) -> Token {
        let token = self.next();
        self.scope.peeked += 1;
        token
    }

    fn back_up(&mut self) {
        self.scope.peeked += 1;
    }

    /// Returns the last token and `before`, the token before it, to the token queue.
    fn back_up_with(&mut self, before: Token) {
        self.scope.tokens[1] = Some(before);
        self.scope.peeked = 2;
    }

    /// Returns the last token and the two tokens before it to the token queue.
    fn back_up_with_two(&mut self, first: Token, second: Token) {
        self.scope.tokens[1] = Some(second);
        self.scope.tokens[2] = Some(first);
        self.scope.peeked = 3;
    }

    fn next_solid(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_solid(&mut self) -> Token {
        let token = self.next_solid();
        self.back_up();
        token
    }

    fn expect(&mut self, kind: Kind, context: &str) -> ParseResult<Token> {
        let token = self.next_solid();
        match token.kind == kind {
            true => Ok(token),
            false => Err(self.unexpected(&token, context)),
        }
    }

    /// An error at the last token.
    fn error(&self, message: impl fmt::Display) -> ParseError {
        let line = self.scope.tokens[0].as_ref().map_or(0, |token| token.line);
        ParseError {
            text: format!("template: {}:{line}: {message}", self.name),
        }
    }

    fn unexpected(&self, token: &Token, context: &str) -> ParseError {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", print(token)));
        }
        let started = self.scope.action_line;
        if started == 0 || started == token.line {
            return self.error(&token.text);
        }
        let start = format!("action started at {}:{started}", self.name);
        match token.text.strip_suffix(" action") {
            Some(text) => self.error(format!("{text} {start}")),
            None => self.error(format!("{} in {start}", token.text)),
        }
    }

    /// Runs `parse` one nesting level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth >= NESTING_MAX {
            return Err(self.error("max expression depth exceeded"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }
}

impl Ending {
    const fn text(&self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

/// A token as printed in an error message.
fn print(token: &Token) -> String {
    match token.kind {
        Kind::End => "EOF".to_owned(),
        Kind::Error => token.text.clone(),
        Kind::Keyword(_) => format!("<{}>", token.text),
        _ if token.text.len() > 10 => {
            let start: String = token.text.chars().take(10).collect();
            format!("{}...", quote::quoted(&start))
        }
        _ => quote::quoted(&token.text),
    }
}

fn link_block(block: &mut Block, names: &HashMap<String, usize>) {
    for node in block {
        match node {
            Node::If(branch) | Node::Range(branch) | Node::With(branch) => {
                link_block(&mut branch.body, names);
                if let Some(otherwise) = &mut branch.otherwise {
                    link_block(otherwise, names);
                }
            }
            Node::Template(invocation) => {
                invocation.index = names.get(&*invocation.name).copied();
            }
            Node::Action(_) | Node::Break | Node::Continue | Node::Text(_) => {}
        }
    }
}
