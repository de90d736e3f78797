//! A template: parsed once, executed for each request.

use crate::ast::Node;
use crate::call::Limits;
use crate::env::Env;
use crate::exec::{self, Escape, ExecError};
use crate::functions::Functions;
use crate::parse::{self, ParseError, Program};
use crate::value::Value;
use std::sync::Arc;

/// A parsed template. Execution does not change it, so threads can share it.
#[derive(Clone, Debug)]
pub struct GoTemplate {
    name: Arc<str>,
    text: Arc<str>,
    program: Arc<Program>,
    limits: Limits,
    escape: Escape,
    has_actions: bool,
}

impl GoTemplate {
    /// Parses a text. `name` is printed in error messages.
    ///
    /// # Errors
    /// If the text is not a valid template, or uses a function that is not in `functions`.
    pub fn parse(name: &str, text: &str, functions: &Functions) -> Result<Self, ParseError> {
        Ok(Self {
            name: name.into(),
            text: text.into(),
            program: Arc::new(parse::parse(name, text, functions)?),
            limits: Limits::default(),
            escape: Escape::None,
            // Comments and trim markers change the text too.
            has_actions: text.contains("{{"),
        })
    }

    /// Replaces the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the escaping of printed values.
    #[must_use]
    pub const fn escaping(mut self, escape: Escape) -> Self {
        self.escape = escape;
        self
    }

    /// Whether the output equals the text: the text has no actions.
    #[must_use]
    pub const fn is_static(&self) -> bool {
        !self.has_actions
    }

    /// Whether the output is independent of data and environment: the template has only text and
    /// definitions.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let root = &self.program.definitions[self.program.root];
        root.body.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// Appends the output for `data`. After an error, the output written so far stays.
    ///
    /// # Errors
    /// The errors of Go's `Execute`, and exceeded limits.
    pub fn execute(
        &self,
        data: &Value,
        env: &mut dyn Env,
        out: &mut String,
    ) -> Result<(), ExecError> {
        let source = (&*self.name, &*self.text, &*self.program);
        exec::execute(source, self.escape, data, env, &self.limits, out)
    }
}

const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<GoTemplate>();
