//! The value that a step of a scenario gives to a variable.

use crate::{RenderContext, Template};
use drumfire_plan::{DataError, RequestContext, Value, ValueForm, VariableId};

/// Lower passes belong to the messages of a call.
const FIRST_PASS: u64 = 1 << 32;

/// The pass of the values that a step with this number computes.
pub(crate) const fn pass_of(step: u32) -> u64 {
    FIRST_PASS + step as u64
}

/// The template of a variable's value.
#[derive(Clone, Debug)]
pub struct SetValue {
    template: Template,
    /// Separates the random values from the values of requests and other steps.
    pass: u64,
}

impl SetValue {
    /// The value of the step with this number.
    #[must_use]
    pub const fn new(template: Template, step: u32) -> Self {
        Self {
            template,
            pass: pass_of(step),
        }
    }

    /// The number of iterations for which the feeds have rows, if each row is used once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.template.count()
    }

    /// The variables of the user that the value may read.
    #[must_use]
    pub fn variables(&self) -> &[VariableId] {
        self.template.variables()
    }
}

impl Value for SetValue {
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<ValueForm, DataError> {
        let mut context = RenderContext::new(request.clone(), 0, self.pass);
        self.template.render_typed(&mut context, out)
    }
}

#[cfg(test)]
mod tests {
    use super::SetValue;
    use crate::{CsvForm, Feed, Order, Sources, Template, Text, TextTemplate};
    use drumfire_plan::{DataError, RequestContext, Value, ValueForm, VariableId, Variables};
    use std::sync::Arc;

    fn template(text: &str, sources: &Sources) -> Template {
        Template::compile(text, Text::Plain, &Arc::new(sources.clone())).expect(text)
    }

    fn error(text: &str, sources: &Sources) -> String {
        let compiled = Template::compile(text, Text::Plain, &Arc::new(sources.clone()));
        compiled.expect_err(text).to_string()
    }

    /// The sources of a scenario that sets `a` and then `b`, after the first step.
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
    fn a_single_expression_keeps_its_type() {
        let mut sources = sources();
        let csv = Feed::from_csv(b"n\n1\n", &CsvForm::default()).expect("a feed");
        sources.add("csv", csv, Order::InTurn).expect("a name");
        let json = Feed::from_json(b"[{\"n\": 1, \"l\": [1]}]").expect("a feed");
        sources.add("json", json, Order::InTurn).expect("a name");
        let mut variables = Variables::new(2);
        variables.set_as(VariableId(0), ValueForm::Json, Ok("12.50"));
        let context = RequestContext {
            variables: Some(Arc::new(variables)),
            ..RequestContext::default()
        };
        for (text, expected, form) in [
            ("{{ a }}", "12.50", ValueForm::Json),
            ("{{ a + 1 }}", "13.5", ValueForm::Json),
            ("{{ a > 1 }}", "true", ValueForm::Json),
            ("{{ none }}", "null", ValueForm::Json),
            ("{{ [a] }}", "[12.5]", ValueForm::Json),
            ("{{ a | string }}", "12.5", ValueForm::Text),
            ("{{ a }}0", "12.500", ValueForm::Text),
            ("{% if true %}{{ a }}{% endif %}", "12.50", ValueForm::Text),
            ("{{ user }}", "0", ValueForm::Json),
            ("{{ csv.n }}", "1", ValueForm::Text),
            ("{{ csv.n | int }}", "1", ValueForm::Json),
            ("{{ json.n }}", "1", ValueForm::Json),
            ("{{ json.l }}", "[1]", ValueForm::Json),
            ("5", "5", ValueForm::Json),
            ("done", "done", ValueForm::Text),
        ] {
            let mut out = String::new();
            let value = SetValue::new(template(text, &sources), 0);
            let shown = value.render(&context, &mut out).map(|form| (&*out, form));
            // Inside of a whole template, a number prints as the interpreter prints it.
            let expected = match text.starts_with("{%") {
                true => "12.5",
                false => expected,
            };
            assert_eq!(shown, Ok((expected, form)), "{text}");
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
            value.render(&context, &mut out).map(|_| out)
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
