//! The value that a step of a scenario gives to a variable.

use crate::{RenderContext, Template};
use drumfire_plan::{DataError, RequestContext, Value, VariableId};

/// Passes up to here are those of a call's messages.
const FIRST_PASS: u64 = 1 << 32;

/// The pass of what a step with this number computes.
pub(crate) const fn pass_of(step: u32) -> u64 {
    FIRST_PASS + step as u64
}

/// The template of a variable's value.
#[derive(Clone, Debug)]
pub struct SetValue {
    template: Template,
    /// Sets its random values apart from those of requests and of other steps.
    pass: u64,
}

impl SetValue {
    /// The value that a step with this number gives.
    #[must_use]
    pub const fn new(template: Template, step: u32) -> Self {
        Self {
            template,
            pass: pass_of(step),
        }
    }

    /// For how many iterations its feeds have rows, when one is gone through once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.template.count()
    }

    /// The variables of the user that it may read.
    #[must_use]
    pub fn variables(&self) -> &[VariableId] {
        self.template.variables()
    }
}

impl Value for SetValue {
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        let mut context = RenderContext::new(request.clone(), 0, self.pass);
        self.template.render_with(&mut context, out)
    }
}

#[cfg(test)]
mod tests {
    use super::SetValue;
    use crate::{Sources, Template, Text, TextTemplate};
    use drumfire_plan::{DataError, RequestContext, Value, VariableId, Variables};
    use std::sync::Arc;

    fn template(text: &str, sources: &Sources) -> Template {
        Template::compile(text, Text::Plain, &Arc::new(sources.clone())).expect(text)
    }

    fn error(text: &str, sources: &Sources) -> String {
        let compiled = Template::compile(text, Text::Plain, &Arc::new(sources.clone()));
        compiled.expect_err(text).to_string()
    }

    /// The sources of a scenario that sets `a` and then `b`, behind the first.
    fn sources() -> Sources {
        let mut sources = Sources::new();
        sources.declare("a").unwrap();
        sources.declare("b").unwrap();
        sources.with_set(VariableId(0))
    }

    fn rendered(template: &Template, variables: Option<Variables>) -> Result<String, DataError> {
        let context = RequestContext {
            variables: variables.map(Arc::new),
            ..RequestContext::default()
        };
        let mut out = String::new();
        template.render(&context, 0, &mut out).map(|()| out)
    }

    #[test]
    fn variables_are_read_by_name_and_by_the_interpreter() {
        let sources = sources();
        let mut variables = Variables::new(2);
        variables.set(VariableId(0), Ok("x\"y"));
        for (text, expected) in [
            ("{{ a }}!", "x\"y!"),
            ("{{ a | upper }}", "X\"Y"),
            (
                "{% if a == '' %}none{% else %}{{ a | length }}{% endif %}",
                "3",
            ),
        ] {
            let shown = rendered(&template(text, &sources), Some(variables.clone()));
            assert_eq!(shown.as_deref(), Ok(expected), "{text}");
        }
        let json = "{\"a\": \"{{ a }}\"}";
        let json = Template::compile(json, Text::Json, &Arc::new(sources)).expect("JSON");
        let shown = rendered(&json, Some(variables));
        assert_eq!(shown.as_deref(), Ok("{\"a\": \"x\\\"y\"}"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_a_mistake() {
        let sources = sources();
        for text in ["{{ b }}", "{{ b | upper }}", "{% if b %}1{% endif %}"] {
            let error = error(text, &sources);
            let why = "the variable `b` is read before any step sets it";
            assert!(error.contains(why), "{error}");
        }
        let near = error("{{ aa }}", &Sources::new());
        assert!(near.contains("templates have no variable `aa`"), "{near}");
        let sources_of_plan =
            Sources::new().with_references([("aa".to_owned(), "${aa}".to_owned())].into());
        for text in ["{{ aa }}", "{{ aa | upper }}", "{% if aa %}1{% endif %}"] {
            let error = error(text, &sources_of_plan);
            let wanted = "no variable `aa`; for the value of the plan, write `${aa}`";
            assert!(error.contains(wanted), "{error}");
        }
        for text in ["{{ connection }}", "{{ message_number + 1 }}"] {
            let error = error(text, &sources.for_values());
            assert!(
                error.contains("belongs to a request, and variables are set before there is one"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_value_that_failed_fails_what_reads_it() {
        let sources = sources();
        let why = DataError::new("no row");
        for text in ["{{ a }}", "{{ a | upper }}"] {
            let mut variables = Variables::new(1);
            variables.set(VariableId(0), Err(why.clone()));
            let failed = rendered(&template(text, &sources), Some(variables));
            assert!(failed.expect_err(text).words.contains("no row"));
            assert!(rendered(&template(text, &sources), None).is_err());
        }
    }

    #[test]
    fn steps_and_requests_draw_apart() {
        let sources = Sources::new();
        let text = "{{ uuid }} {{ new_uuid() }}";
        let context = RequestContext::default();
        let value = |step| {
            let mut out = String::new();
            let value = SetValue::new(template(text, &sources), step);
            value.render(&context, &mut out).map(|()| out)
        };
        let of_request = rendered(&template(text, &sources), None).expect("rendered");
        let texts = [
            value(0).expect("a value"),
            value(1).expect("another"),
            of_request,
        ];
        assert_eq!(value(0).as_deref(), Ok(&*texts[0]), "it is repeatable");
        let words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
        let mut apart = words.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), words.len(), "{words:?}");
    }
}
