//! A template: parsed once, executed for every request.

use crate::ast::Node;
use crate::call::Limits;
use crate::env::Env;
use crate::exec::{self, Escape, ExecError};
use crate::functions::Functions;
use crate::parse::{self, ParseError, Program};
use crate::value::Value;
use std::sync::Arc;

/// A parsed template. Executing it changes nothing in it, so that threads may share it.
#[derive(Clone, Debug)]
pub struct Template {
    name: Arc<str>,
    text: Arc<str>,
    program: Arc<Program>,
    limits: Limits,
    escape: Escape,
    has_actions: bool,
}

impl Template {
    /// Parses a text; the name stands in error messages.
    ///
    /// # Errors
    /// When the text is no template, or names a function that is not among `functions`.
    pub fn parse(name: &str, text: &str, functions: &Functions) -> Result<Self, ParseError> {
        Ok(Self {
            name: name.into(),
            text: text.into(),
            program: Arc::new(parse::parse(name, text, functions)?),
            limits: Limits::default(),
            escape: Escape::None,
            // Comments and trim markers change the text as well.
            has_actions: text.contains("{{"),
        })
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With values that are escaped where they are printed.
    #[must_use]
    pub const fn escaping(mut self, escape: Escape) -> Self {
        self.escape = escape;
        self
    }

    /// Whether it is its own output: there is no action in it, of any kind.
    #[must_use]
    pub const fn is_static(&self) -> bool {
        !self.has_actions
    }

    /// Whether it prints its text without looking at anything: nothing but text and definitions.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let root = &self.program.definitions[self.program.root];
        root.body.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// Appends its output for these data. Output that was written before an error stays.
    ///
    /// # Errors
    /// Those of Go's `Execute`, and when a limit is reached.
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
const _: () = is_shared::<Template>();
