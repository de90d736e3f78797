//! What templates may read at some place of a pool, and the request with which they are tried.

use crate::scenario::variables;
use crate::scope::Scope;
use drumfire_data::{SetValue, Sources, Template, Text as Kind};
use drumfire_document::{Field, Step as Written, Text};
use drumfire_plan::{Functions, RequestContext, Step, Value as _, VariableId, Variables};
use std::sync::Arc;

/// The text with which templates are tried that read what a response gives: it may stand in a URL,
/// and is a number.
const TRIED: &str = "1";

/// What templates may read at some place of a pool: the feeds, and the variables that the steps
/// before it set.
#[derive(Clone, Debug)]
pub(crate) struct TemplateScope {
    pub(crate) sources: Arc<Sources>,
    /// The first request of the first user, with which templates are tried before the run.
    pub(crate) first: RequestContext,
    /// The functions of the pool's script.
    pub(crate) script: Option<Arc<dyn Functions>>,
}

impl TemplateScope {
    /// The feeds alone.
    pub(crate) fn new(sources: &Arc<Sources>, seed: u64) -> Self {
        Self {
            sources: Arc::clone(sources),
            first: RequestContext {
                seed,
                ..RequestContext::default()
            },
            script: None,
        }
    }

    /// The same with a script, which the sources have already.
    pub(crate) fn with_script(self, script: Option<Arc<dyn Functions>>) -> Self {
        Self { script, ..self }
    }

    /// The same at the start of a scenario, whose variables have no values yet, beside those of
    /// the pool's other scenarios.
    pub(crate) fn declare(&mut self, scenario: &[Written], scope: &mut Scope<'_>) {
        let mut sources = (*self.sources).clone();
        for name in variables(scenario) {
            let declared = sources.declare(&name.value);
            scope.found.ok(&name.place, declared);
        }
        let count = sources.declared_count();
        self.sources = Arc::new(sources);
        if count > 0 {
            self.first.variables = Some(Arc::new(Variables::new(count)));
        }
    }

    /// The step that gives a variable its value, which templates behind it may read.
    pub(crate) fn set(
        &mut self,
        field: &Field,
        number: u32,
        scope: &mut Scope<'_>,
    ) -> Option<Step> {
        // A name that can't be one was noted.
        let variable = self.sources.declared(&field.name.value)?;
        let made = self.value(field, number);
        let text = made.as_ref().map_or("", |(_, text)| text).to_owned();
        self.set_to(variable, &text);
        let (value, _) = scope.found.ok(&field.value.place, made)?;
        Some(Step::Set {
            variable,
            value: Arc::new(value),
        })
    }

    /// The variables that a request takes from its response, which templates behind it may read.
    pub(crate) fn take(&mut self, fields: &[Field]) -> Arc<[VariableId]> {
        let names = fields.iter().map(|field| &field.name.value);
        let taken: Vec<VariableId> = names
            .filter_map(|name| self.sources.declared(name))
            .collect();
        for variable in &taken {
            self.set_to(*variable, TRIED);
        }
        taken.into()
    }

    /// A variable has a value from here on, of which this one is tried.
    fn set_to(&mut self, variable: VariableId, tried: &str) {
        if !self.sources.is_set(variable) {
            self.sources = Arc::new(self.sources.with_set(variable));
        }
        if let Some(variables) = &mut self.first.variables {
            Arc::make_mut(variables).set(variable, Ok(tried));
        }
    }

    /// The variable that counts the passes of a loop, whose steps may read it.
    pub(crate) fn count(&mut self, name: &Text) -> Option<VariableId> {
        let variable = self.sources.declared(&name.value)?;
        self.set_to(variable, TRIED);
        Some(variable)
    }

    /// A value that no variable keeps.
    ///
    /// # Errors
    /// When it can't be computed.
    pub(crate) fn given(&self, text: &str, number: u32) -> Result<SetValue, String> {
        let template = Template::compile(text, Kind::Plain, &self.for_values());
        let template = template.map_err(|error| error.to_string())?;
        Ok(SetValue::new(template, number))
    }

    /// The sources for what is computed while no request is made.
    pub(crate) fn for_values(&self) -> Arc<Sources> {
        Arc::new(self.sources.for_values())
    }

    /// Behind two ways of which each user has gone one: a variable may be read that either sets,
    /// and has no value where the other was gone.
    pub(crate) fn join(&mut self, other: &Self) {
        self.sources = Arc::new(self.sources.with_all_of(&other.sources));
        if let (Some(variables), Some(others)) = (&mut self.first.variables, &other.first.variables)
        {
            Arc::make_mut(variables).fill(others);
        }
    }

    /// The value of a variable, and its text for the first request.
    fn value(&self, field: &Field, number: u32) -> Result<(SetValue, String), String> {
        let value = self.given(&field.value.value, number)?;
        let mut text = String::new();
        let rendered = value.render(&self.first, &mut text);
        rendered.map_err(|error| error.to_string())?;
        Ok((value, text))
    }
}
