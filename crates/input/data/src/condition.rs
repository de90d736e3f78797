//! Conditions: `total > 0 and status == 'paid'`.
//!
//! A condition is one expression of the template language. Two things differ from templates: a
//! variable or a column without a value is not an error but equals nothing, and is neither below
//! nor above anything; and a text that is written as a value that does not hold, such as `false`,
//! cannot be used as a truth.

use crate::jinja::TextId;
use crate::program::Kind;
use crate::tags::{self, Tokens};
use crate::template::{Compiler, Language, TemplateError};
use crate::{RenderContext, Sources};
use drumfire_plan::{DataError, RequestContext, VariableId};
use std::sync::Arc;

/// A condition is at most this long, in bytes.
pub const CONDITION_MAX: usize = 4_096;

/// A condition of a scenario's steps.
#[derive(Clone, Debug)]
pub struct StepCondition {
    language: Arc<Language>,
    text: TextId,
    /// Separates the random values from the values of requests and other steps.
    pass: u64,
}

impl StepCondition {
    /// Reads a condition, in double braces or without. `step` is the number of its step, which
    /// separates the random values as for a [`crate::SetValue`].
    ///
    /// # Errors
    /// The mistake, with the place in words.
    pub fn compile(text: &str, step: u32, sources: &Arc<Sources>) -> Result<Self, TemplateError> {
        let inside = text.trim();
        let braces = inside
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        let inside = braces.unwrap_or(inside).trim();
        if inside.len() > CONDITION_MAX {
            let message = format!("a condition has at most {CONDITION_MAX} bytes");
            return Err(TemplateError(message));
        }
        if inside.is_empty() {
            let message = "the condition is empty; write one such as `total > 0`";
            return Err(TemplateError(message.to_owned()));
        }
        let source = format!("{{{{ {inside} }}}}");
        tags::check(&source).map_err(TemplateError)?;
        let mut compiler = Compiler::new(sources, Kind::Condition);
        let checked = compiler.jinja().check_expression(inside);
        checked.map_err(|error| {
            let advice = advice(inside).unwrap_or("write a condition such as `total > 0`");
            TemplateError(format!("{error}; {advice}"))
        })?;
        let text = compiler.compile_template(&source)?;
        Ok(Self {
            language: Arc::new(compiler.language()),
            text,
            pass: crate::set_value::pass_of(step),
        })
    }

    /// The number of iterations for which the feeds have rows, if each row is used once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.language.count()
    }

    /// The variables of the user that the condition may read.
    #[must_use]
    pub fn variables(&self) -> &[VariableId] {
        self.language.variables()
    }
}

impl drumfire_plan::Condition for StepCondition {
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError> {
        let mut context = RenderContext::new(request.clone(), 0, self.pass);
        self.language.jinja()?.holds(self.text, &mut context)
    }
}

/// The advice on a condition that cannot be read, if it has a word or a sign of another language.
fn advice(text: &str) -> Option<&'static str> {
    let tokens: Vec<_> = Tokens::new(text).collect();
    tokens
        .iter()
        .zip(tokens.iter().skip(1))
        .find_map(|(token, next)| {
            let word = text.get(token.at..next.at).unwrap_or_default().trim_end();
            let is_pair = token.at + 1 == next.at && token.byte == next.byte;
            match (token.byte, next.byte) {
                (b'&', _) if is_pair => Some("write `and` instead of `&&`"),
                (b'|', _) if is_pair => Some("write `or` instead of `||`"),
                (b'!', other) if other != b'=' => Some("write `not` instead of `!`"),
                (b'=', b'=') => None,
                _ if word == "=" => Some("write `==` instead of `=`"),
                _ if word == "contains" => {
                    Some("write `'a' in text` instead of `text contains 'a'`")
                }
                _ => None,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::StepCondition;
    use crate::{Feed, Order, Sources};
    use drumfire_plan::{Condition as _, RequestContext, ValueForm, VariableId, Variables};
    use std::sync::Arc;

    fn sources() -> Arc<Sources> {
        let mut sources = Sources::new();
        let feed =
            Feed::from_csv(b"name,age\nAda,36\n", &crate::CsvForm::default()).expect("a feed");
        sources.add("people", feed, Order::InTurn).expect("a name");
        let feed = b"[{\"yes\": true, \"no\": false, \"null\": null, \"tags\": [\"a\", 1]},
                      {\"yes\": 1, \"no\": \"x\", \"null\": 2, \"tags\": [], \"more\": 3}]";
        let feed = Feed::from_json(feed).expect("a feed");
        sources.add("flags", feed, Order::InTurn).expect("a name");
        for name in ["total", "status", "unset", "never", "taken", "text"] {
            sources.declare(name).expect("a name");
        }
        let ids = [0, 1, 2, 4, 5].map(VariableId).into_iter();
        Arc::new(ids.fold(sources, |sources, id| sources.with_set(id)))
    }

    fn holds(text: &str) -> Result<bool, String> {
        holds_with(text, &sources())
    }

    /// Before there is a request.
    fn holds_of_values(text: &str) -> Result<bool, String> {
        holds_with(text, &Arc::new(sources().for_values()))
    }

    fn holds_with(text: &str, sources: &Arc<Sources>) -> Result<bool, String> {
        let compiled = StepCondition::compile(text, 3, sources);
        let condition = compiled.map_err(|error| error.to_string())?;
        let mut variables = Variables::new(6);
        variables.set_as(VariableId(4), ValueForm::Json, Ok("null"));
        variables.set_as(VariableId(0), ValueForm::Json, Ok("12.50"));
        variables.set_as(VariableId(1), ValueForm::Json, Ok("200"));
        variables.set(VariableId(5), Ok("200 OK"));
        let context = RequestContext {
            iteration: 9,
            variables: Some(Arc::new(variables)),
            ..RequestContext::default()
        };
        condition.holds(&context).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_compare_numbers_and_texts() {
        for (text, expected) in [
            ("{{ total > 0 }}", true),
            ("total > 12.5 or total == 12.5", true),
            ("status == 200 and text == '200 OK'", true),
            ("status != 2e2", false),
            ("people.name == 'Ada' and not people.age | int < 36", true),
            ("people.name == 'ada'", false),
            ("iteration % 10 == 9", true),
            ("-(2 - 5) * 4 / 3 == 4", true),
            ("18446744073709551615 == 18446744073709551614", false),
            ("'0' in text and 'd' in people.name", true),
            ("'20' in status | string and status | string == '200'", true),
            (
                "status in [200, 201] and people.name | upper == 'ADA'",
                true,
            ),
            ("unset is defined", false),
            ("unset is not defined and total is defined", true),
            ("never is defined or not (never is not defined)", false),
            (
                "unset == 1 or unset < 1 or unset >= 1 or unset or unset in 'a'",
                false,
            ),
            ("unset != 1 and not unset", true),
            ("unset | default(3) == 3", true),
            ("'' or 0 or null or false or 0.0 or []", false),
            ("'it\\'s' == \"it's\"", true),
            ("'007' == '7'", false),
            ("random_int(1, 6) >= 1 and random_int(7, 9) > 6", true),
            ("uuid != new_uuid()", true),
            ("choose([1]) == 1", true),
            ("user is defined", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn json_has_its_types() {
        for (text, expected) in [
            ("flags.yes", true),
            ("not flags.no and flags.no == false", true),
            ("flags.yes == true", true),
            ("flags.yes != flags.no", true),
            ("flags.null", false),
            ("flags.null == null and flags.null == none", true),
            ("flags.null != null", false),
            ("flags.null == false", false),
            ("'a' in flags.tags and 1 in flags.tags", true),
            ("flags.tags == ['a', 1]", true),
            ("flags.more or flags.more == null or flags.more < 5", false),
            ("flags.more is defined", false),
            ("flags.null is defined and flags.more is not defined", true),
            ("taken == null and not taken and taken == flags.null", true),
            ("unset == null", false),
            ("unset != null", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_computed_is_an_error_with_advice() {
        for (text, part) in [
            ("unset + 1 == 1", "`+` with a missing value"),
            (
                "people.name < 3",
                "`<` compares the text `Ada` with the number 3",
            ),
            ("people.age < 36", "cast the text with `| int` or `| float`"),
            (
                "people.age == 36",
                "cast the text with `| int` or `| float`",
            ),
            ("people.age + 1 == 37", "cast it with `| int` or `| float`"),
            ("flags.yes == 'true'", "compare with 'true'"),
            ("flags.tags == '[\"a\",1]'", "`| fromjson`"),
            ("flags.null < 3", "compares null with the number 3"),
            ("2 in text", "`| string`"),
            ("'0'", "the text `0` is not a truth"),
            (
                "not choose(['false']) or true",
                "the text `false` is not a truth",
            ),
            ("choose(['0.0']) and true", "the text `0.0` is not a truth"),
            ("text and 'null'", "the text `null` is not a truth"),
            ("1 / (status - 200) > 1", "divides by 0"),
            (
                "5 % 0 == 1",
                "in the condition `{{ 5 % 0 == 1 }}`: `5 % 0` divides by 0",
            ),
        ] {
            let error = holds(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_are_reported_with_advice() {
        let long = format!("1{}", " + 1".repeat(500));
        let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
        let huge = format!("'{}'", "x".repeat(5_000));
        for (text, part) in [
            ("", "the condition is empty"),
            ("total >", "write a condition such as"),
            ("total = 1", "write `==`"),
            ("a && b", "write `and`"),
            ("total || status", "write `or`"),
            ("!total", "write `not`"),
            ("text contains '0'", "write `'a' in text`"),
            ("total > 0)", "write a condition such as"),
            ("(total > 0", "write a condition such as"),
            ("total > 0 }} {{ 1", "write a condition such as"),
            ("'a", "unexpected end of string"),
            ("tota > 1", "did you mean `total`"),
            ("people.nam == 1", "no column `nam`"),
            ("never == 1", "read before any step sets it"),
            ("connection == 1", "belongs to a request"),
            ("1 < total < 3", "write `1 < a and a < 3`"),
            (&deep, "exceeds maximum"),
            (&long, "a chain of more than 500 parts"),
            (&huge, "at most 4096 bytes"),
        ] {
            let error = holds_of_values(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
