//! What templates may read at some place of a pool, and the request with which they are tried.

use crate::scope::Scope;
use drumfire_data::{SetValue, Sources, Template, Text as Kind};
use drumfire_plan::document::{Field, Step as Written};
use drumfire_plan::{RequestContext, Step, Value as _, VariableId, Variables};
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
        }
    }

    /// The same at the start of a scenario, whose variables have no values yet.
    pub(crate) fn declare(&mut self, scenario: &[Written], scope: &mut Scope<'_>) {
        let mut sources = (*self.sources).clone();
        let mut count = 0;
        for step in scenario {
            let fields = match step {
                Written::Set(fields) => fields,
                Written::Request(step) => &step.request.take,
                Written::Pause(_) => continue,
            };
            for field in fields {
                let declared = sources.declare(&field.name.value);
                if scope.found.ok(&field.name.place, declared).is_some() {
                    count += 1;
                }
            }
        }
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
        if !self.sources.is_set(variable) {
            self.sources = Arc::new(self.sources.with_set(variable));
        }
        self.keep(variable, made.as_ref());
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
            if !self.sources.is_set(*variable) {
                self.sources = Arc::new(self.sources.with_set(*variable));
            }
            if let Some(variables) = &mut self.first.variables {
                Arc::make_mut(variables).set(*variable, Ok(TRIED));
            }
        }
        taken.into()
    }

    /// The value of a variable, and its text for the first request.
    fn value(&self, field: &Field, number: u32) -> Result<(SetValue, String), String> {
        let sources = Arc::new(self.sources.for_values());
        let template = Template::compile(&field.value.value, Kind::Plain, &sources);
        let template = template.map_err(|error| error.to_string())?;
        let value = SetValue::new(template, number);
        let mut text = String::new();
        let rendered = value.render(&self.first, &mut text);
        rendered.map_err(|error| error.to_string())?;
        Ok((value, text))
    }

    fn keep(&mut self, variable: VariableId, made: Result<&(SetValue, String), &String>) {
        if let Some(variables) = &mut self.first.variables {
            let text = made.map_or("", |(_, text)| text);
            Arc::make_mut(variables).set(variable, Ok(text));
        }
    }
}
